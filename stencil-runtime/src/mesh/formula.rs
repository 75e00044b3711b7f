//! Formulas of users: texts over coordinates, time, parameters and components, read when a
//! simulation is built.

use std::cell::RefCell;
use std::sync::Arc;

use stencil_compiler::model::formula::{self, Formula, Meaning, Scratch};

use super::{GhostFunction, PointFunction, Sampled, Written};
use crate::{Error, SystemDef};

/// Prefix of a component's name for its value next to the face.
const NEAR: &str = "near_";

thread_local! {
    /// Memory of evaluations; formulas are evaluated on many threads.
    static WORK: RefCell<(Scratch, Vec<f64>)> = RefCell::default();
}

/// Evaluates a formula over parameters, coordinates, time and further values.
fn evaluate(formula: &Formula, params: &[f64], at: [f64; 4], more: [&[f64]; 2]) -> f64 {
    WORK.with_borrow_mut(|(scratch, values)| {
        values.clear();
        for part in [params, &at, more[0], more[1]] {
            values.extend_from_slice(part);
        }
        formula.eval_with(scratch, values)
    })
}

/// Reads a formula; `what` names it in messages.
fn read(what: &str, text: &str, names: &[String]) -> Result<Formula, Error> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Formula::parse(text, &names).map_err(|errors| Error::Formula {
        what: what.to_string(),
        formula: text.to_string(),
        errors,
    })
}

fn function(formula: Formula, params: &[f64]) -> PointFunction {
    let (parameters, params, evaluated) = (params, params.to_vec(), formula.clone());
    let value = move |x, y, z, t| evaluate(&evaluated, &params, [x, y, z, t], [&[], &[]]);
    PointFunction::new(value).with_formula(formula, parameters)
}

/// Reads a function of x, y, z and t.
pub(crate) fn point(
    system: &SystemDef,
    params: &[f64],
    what: &str,
    text: &str,
) -> Result<PointFunction, Error> {
    let formula = read(what, text, &formula::source_names(system.model()))?;
    Ok(function(formula, params))
}

/// Reads a ghost value from these components: returns the components that the formula reads, and the function.
pub(crate) fn ghost(
    system: &SystemDef,
    params: &[f64],
    what: &str,
    text: &str,
    components: &[&str],
) -> Result<(Vec<usize>, Arc<GhostFunction>), Error> {
    let near = |name: &str| format!("{NEAR}{name}");
    let mut names = formula::source_names(system.model());
    names.extend(components.iter().map(|name| (*name).to_string()));
    names.extend(components.iter().map(|name| near(name)));
    let used = read(what, text, &names)?;
    let is_used = |name: &str| used.uses(name) || used.uses(&near(name));
    let reads: Vec<usize> = (0..components.len()).filter(|i| is_used(components[*i])).collect();
    // Read again, with only as many names as there are values.
    let mut names = formula::source_names(system.model());
    names.extend(reads.iter().map(|i| components[*i].to_string()));
    names.extend(reads.iter().map(|i| near(components[*i])));
    let formula = read(what, text, &names)?;
    let params = params.to_vec();
    let ghost: Arc<GhostFunction> = Arc::new(move |point| {
        let [x, y, z] = point.position;
        evaluate(&formula, &params, [x, y, z, point.t], [point.mirrored, point.nearest])
    });
    Ok((reads, ghost))
}

/// Reads a source from a text, or takes a formula of x, y, z and t.
pub(crate) fn source(
    system: &SystemDef,
    params: &[f64],
    what: &str,
    written: &Written,
) -> Result<Sampled, Error> {
    let names = formula::source_names(system.model());
    let formula = match written {
        Written::Text(text) => read(what, text, &names)?,
        Written::Formula(formula) => {
            let first = names.len() - 4;
            let meanings: Vec<Meaning<'_>> = (first..names.len()).map(Meaning::Name).collect();
            formula.over(&names, &meanings)
        }
    };
    Ok(sampled(formula, params))
}

/// Returns the default of a component of a source, if its declaration has one.
pub(crate) fn default_source(
    system: &SystemDef,
    params: &[f64],
    component: &str,
) -> Option<Sampled> {
    let model = system.model();
    let mut sources = model.sources.iter().enumerate();
    let (source, indices) = sources.find_map(|(i, source)| {
        Some((i, crate::system::indices(&source.name, source.rank, component)?))
    })?;
    let at = indices.iter().fold(0, |at, axis| at * model.components + axis);
    let formulas = formula::of_source(model, source)?;
    Some(sampled(formulas.into_iter().nth(at)?, params))
}

fn sampled(formula: Formula, params: &[f64]) -> Sampled {
    if formula.uses("t") {
        return Sampled::Unsteady(function(formula, params));
    }
    let params = params.to_vec();
    Sampled::Steady(Arc::new(move |x, y, z| {
        evaluate(&formula, &params, [x, y, z, 0.0], [&[], &[]])
    }))
}
