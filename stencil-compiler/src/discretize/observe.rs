//! Quantities that a run observes: the model's observables, and the speeds that limit its time step.

use std::collections::BTreeSet;

use super::components::Components;
use super::expand::Expander;
use super::{DiscretizeError, Roots, integrator};
use crate::algorithm::prune::prune;
use crate::algorithm::{Algorithm, FnId, NEW, Role, StateId, Substep};
use crate::catalogue::Rank;
use crate::diag::Span;
use crate::model::{Model, Reduction};

/// The observed quantities of a model, as an algorithm that evaluates them once.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// One substep that updates no field; each quantity's values in the cells are the new value of
    /// one accumulator, in the order of the quantities.
    pub algorithm: Algorithm,
    /// The reduction of the values to quantities.
    pub quantities: Vec<Quantity>,
}

/// One number for all cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Its name. The accumulator that holds its values has the same one, or one like it where a component has that.
    pub name: String,
    /// The reduction of the values of all cells.
    pub reduction: Reduction,
    /// For a speed that limits the time step, the power of the length in its unit; see
    /// [`Speed::power`](crate::model::Speed::power).
    pub speed: Option<u32>,
    /// The axis along which a speed goes; `None` for one in every direction.
    pub axis: Option<usize>,
}

/// The observables and speeds of a checked model; `None` if it has none.
///
/// # Errors
/// The same as for [`discretize`](super::discretize()).
pub fn observe(model: &Model) -> Result<Option<Observation>, DiscretizeError> {
    if model.observables.is_empty() && model.speeds.is_empty() {
        return Ok(None);
    }
    let components = Components::new(model, &integrator(model)?)?;
    let mut expander = Expander::new(model, &components, model.scheme.mixed.settled())?;
    let mut quantities = Vec::new();
    let mut roots = Vec::new();
    for observable in &model.observables {
        quantities.push(Quantity {
            name: observable.name.clone(),
            reduction: observable.reduction,
            speed: None,
            axis: None,
        });
        roots.extend(expander.term(&observable.value)?);
    }
    let taken: BTreeSet<String> = quantities.iter().map(|q| q.name.clone()).collect();
    let mut spans: Vec<Span> = model.observables.iter().map(|o| o.span).collect();
    for speed in &model.speeds {
        let along_axes = speed.value.rank == Rank::Vector;
        // A vector may have more components than there are axes.
        let along = expander.term(&speed.value)?.into_iter();
        for (axis, root) in along.take(model.dimension).enumerate() {
            let axis = along_axes.then_some(axis);
            let beside = axis.map_or(String::new(), |axis| format!("_{}", ["x", "y", "z"][axis]));
            quantities.push(Quantity {
                name: free(&taken, &format!("speed_{}{beside}", speed.power)),
                reduction: Reduction::Max,
                speed: Some(speed.power),
                axis,
            });
            roots.push(root);
            spans.push(speed.span);
        }
    }
    let equations = roots.into_iter().zip(spans).collect();
    let names = arrays(model, &components, &quantities);
    let labels = names.iter().map(|n| [format!("value_{n}"), format!("value_{n}")]);
    let labels = labels.collect();
    let made = Roots { equations, labels }.grid_functions(
        model,
        &components,
        expander,
        &[&names],
        &None,
    )?;
    let values: Vec<FnId> = made.rates;
    let offset = components.fields.len();
    let updates = values.iter().enumerate();
    let updates = updates.map(|(i, value)| (StateId((offset + i) as u32), *value));
    let substep = Substep { at: 0.0, updates: updates.collect() };
    let algorithm = super::algorithm(model, made.states, made.functions, vec![substep]);
    debug_assert_eq!(algorithm.states_of(Role::Accumulator).count(), quantities.len());
    Ok(Some(Observation { algorithm: prune(algorithm), quantities }))
}

/// Names of the accumulators: an observable may have the name of a component, such as `u_x`.
fn arrays(model: &Model, components: &Components, quantities: &[Quantity]) -> Vec<String> {
    let states = components.fields.iter().chain(&components.sources);
    let new = states.clone().map(|name| format!("{name}{NEW}"));
    let params = model.params.iter().map(|param| param.name.clone());
    let mut taken: BTreeSet<String> = states.cloned().chain(new).chain(params).collect();
    let named = quantities.iter().map(|quantity| {
        let name = free(&taken, &quantity.name);
        taken.insert(name.clone());
        name
    });
    named.collect()
}

/// The name, or one like it that is free.
fn free(taken: &BTreeSet<String>, name: &str) -> String {
    let mut free = name.to_string();
    while taken.contains(&free) {
        free.push('_');
    }
    free
}
