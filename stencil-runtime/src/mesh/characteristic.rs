//! Open faces of conservation laws: ghost values that let waves out and bring none in.
//!
//! The law is linear about a far state q∞, with the Jacobian `A` of its fluxes along the normal. The ghost cells hold
//! `q∞ + P (q - q∞)` with the state q of the cell next to the face and the projection `P` on the waves of `A` that leave
//! (Thompson, J. Comput. Phys. 68, 1, 1987; Hirsch, Numerical Computation of Internal and External Flows, vol. 2, 1990,
//! section 19.1): outgoing waves find what they carry, and incoming ones have the amplitude that they have in q∞.

use std::collections::BTreeMap;

use stencil_compiler::algorithm::{Offset, StateId};
use stencil_compiler::discretize::discretize;
use stencil_compiler::stability::{About, Matrix, SplitLaw, Symbol, outgoing};

use super::{Face, Side};
use crate::system::Component;
use crate::{Error, SystemDef};

/// The way out where waves are not known.
const INSTEAD: &str = "take an absorbing layer, which needs no waves, or another kind of face";

/// A ghost value that is linear in the differences of components from their far values.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    /// The far value of the component itself.
    pub(crate) far: f64,
    /// The components that matter, in the order of the sum.
    pub(crate) parts: Vec<LinearPart>,
}

/// A component in such a sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearPart {
    /// Its place in the list of components.
    pub(crate) component: usize,
    pub(crate) weight: f64,
    pub(crate) far: f64,
}

impl Linear {
    /// Returns the ghost value, in double precision; a function gives the values of the cell next to the face.
    pub(crate) fn value(&self, near: impl Fn(usize) -> f64) -> f64 {
        let parts = self.parts.iter();
        parts.fold(self.far, |sum, part| sum + part.weight * (near(part.component) - part.far))
    }
}

/// Far states, with their projections, each found once.
#[derive(Debug, Default)]
pub(super) struct FarStates(BTreeMap<Face, FarState>);

/// A far state beyond a face.
#[derive(Clone, Debug)]
struct FarState {
    /// The setting that it follows from.
    given: Vec<(String, f64)>,
    /// The components with a flux.
    flowing: Vec<usize>,
    /// Their far values.
    far: Vec<f64>,
    /// The projection on outgoing waves, row by row.
    leaving: Matrix,
}

impl FarStates {
    /// Returns the ghost value of a component beyond a face; `None` for one without flux.
    pub(super) fn ghost(
        &mut self,
        of: (&SystemDef, &[f64], &[Component]),
        face: Face,
        component: &Component,
        given: &[(String, f64)],
    ) -> Result<Option<Linear>, Error> {
        let known = self.0.get(&face).filter(|known| known.given == given).cloned();
        let state = match known {
            Some(known) => known,
            None => {
                let made = FarState::new(of, face, given)?;
                self.0.insert(face, made.clone());
                made
            }
        };
        let all = of.2;
        let own = |at: &usize| all[*at].name == component.name;
        let Some(row) = state.flowing.iter().position(own) else {
            return Ok(None);
        };
        let weights = state.leaving[row].iter().zip(state.flowing.iter().zip(&state.far));
        let parts = weights.filter(|(weight, _)| **weight != 0.0);
        let part = |(weight, (component, far)): (&f64, (&usize, &f64))| LinearPart {
            component: *component,
            weight: *weight,
            far: *far,
        };
        Ok(Some(Linear { far: state.far[row], parts: parts.map(part).collect() }))
    }
}

impl FarState {
    fn new(
        (system, params, components): (&SystemDef, &[f64], &[Component]),
        face: Face,
        given: &[(String, f64)],
    ) -> Result<Self, Error> {
        let model = system.model();
        let refused = |reason: String, help: &str| Error::Boundary {
            place: face.to_string(),
            reason,
            help: help.to_string(),
        };
        let Some(law) = SplitLaw::of(model) else {
            let reason = format!("its waves are not known: {} has no fluxes", system.name());
            return Err(refused(reason, INSTEAD));
        };
        if model.flows_by_sources() {
            let reason = "its waves differ from place to place: fluxes depend on a source";
            return Err(refused(reason.to_string(), INSTEAD));
        }
        let values = values(system, components, face, given)?;
        let algorithm = discretize(&law.flows)
            .map_err(|e| Error::Bug(format!("fluxes of {} at {face}: {e}", system.name())))?;
        if algorithm.depends_on_time() {
            let reason = "its waves are not known: fluxes depend on the time";
            return Err(refused(reason.to_string(), INSTEAD));
        }
        let Some(symbol) = Symbol::new(&law.flows, &algorithm) else {
            return Err(Error::Bug(format!("{} has no symbol", system.name())));
        };
        let place = |id: StateId| {
            let name = &algorithm.state(id).name;
            components.iter().position(|component| component.name == *name)
        };
        // Alike in all cells; sources have no effect.
        let alike = |id: StateId, _: Offset| place(id).map_or(0.0, |at| values[at]);
        let spacing = [1.0; 3];
        let about = About { params, spacing, cells: [3; 3], t: 0.0, state: &alike };
        let all = symbol.jacobian(&symbol.about(&about), spacing, face.axis.index());
        let flows = |at: &usize| model.flux_of(components[*at].of).is_some();
        let rows: Vec<(usize, usize)> = symbol
            .fields()
            .iter()
            .enumerate()
            .filter_map(|(row, id)| Some((row, place(*id).filter(flows)?)))
            .collect();
        let entries = |row: &(usize, usize)| rows.iter().map(|c| all[row.0][c.0]).collect();
        let jacobian: Matrix = rows.iter().map(entries).collect();
        let outwards = if face.side == Side::Lo { -1.0 } else { 1.0 };
        let Some(leaving) = outgoing(&jacobian, outwards) else {
            let reason = "the far state has no waves: speeds by it are not real numbers";
            let help = "give a state within the ranges of the fields";
            return Err(refused(reason.to_string(), help));
        };
        let flowing: Vec<usize> = rows.iter().map(|(_, component)| *component).collect();
        let far = flowing.iter().map(|at| values[*at]).collect();
        Ok(FarState { given: given.to_vec(), flowing, far, leaving })
    }
}

/// Returns the far value of each component.
fn values(
    system: &SystemDef,
    components: &[Component],
    face: Face,
    given: &[(String, f64)],
) -> Result<Vec<f64>, Error> {
    for (name, value) in given {
        if !components.iter().any(|component| component.name == *name) {
            let known = components.iter().map(|component| component.name.as_str());
            return Err(Error::unknown(system.name(), "component", name, known));
        }
        if !value.is_finite() {
            let what = format!("the far value of `{name}` at {face}");
            return Err(Error::Value { what, value: *value, help: "give a number".into() });
        }
    }
    let value = |component: &Component| {
        let found = given.iter().find(|(name, _)| *name == component.name);
        found.map(|(_, value)| *value).ok_or_else(|| Error::Boundary {
            place: face.to_string(),
            reason: format!("the far state has no `{}`", component.name),
            help: format!("add {} = .., its value far away", component.name),
        })
    };
    components.iter().map(value).collect()
}
