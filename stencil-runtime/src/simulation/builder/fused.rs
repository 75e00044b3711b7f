//! Steps that are fused.

use stencil_compiler::algorithm::Role;
use stencil_compiler::compile::{self, ScheduleError, Target};

use super::Builder;
use crate::mesh::{Given, Sampled, formula};
use crate::step::Fused;
use crate::{Error, Number, Schedule, SystemDef};

/// Returns the plan of a schedule, if it fuses substeps: on periodic meshes only, on which ghost cells of any depth
/// are cells of the mesh.
pub(super) fn fused(
    system: &SystemDef,
    schedule: &Schedule,
    target: &Target,
) -> Result<Option<Fused>, Error> {
    if schedule.fuse == 1 {
        return Ok(None);
    }
    let problem = schedule.problem(system.algorithm());
    let problem = problem.map_err(ScheduleError::from)?.into_owned();
    let plan = compile::plan(system.algorithm(), schedule, target)?;
    Ok(Some(Fused { problem, plan }))
}

impl<T: Number> Builder<T> {
    /// Is each step like the one before: of the same length, with the same sources?
    pub(super) fn steps_alike(&self, system: &SystemDef, params: &[f64]) -> bool {
        let is_steady = |name: &str| {
            let source = match self.sources.get(name).map(|source| &source.0) {
                Some(Given::Unsteady(_)) => return false,
                Some(Given::Text(text)) => formula::source(system, params, name, text).ok(),
                Some(Given::Constant(_) | Given::Steady(_) | Given::Values(_)) => return true,
                None => formula::default_source(system, params, name),
            };
            !matches!(source, Some(Sampled::Unsteady(_)))
        };
        let mut given = system.algorithm().states_of(Role::Given);
        self.cfl.is_none() && !self.auto && given.all(|(_, state)| is_steady(&state.name))
    }
}
