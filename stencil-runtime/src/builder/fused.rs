//! Steps that are done several at once.

use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::discretize::Observation;
use stencil_compiler::plan::{BufferRole, Plan};
use stencil_compiler::schedule::check::ScheduleError;

use super::Builder;
use super::build::{plan, wrapped};
use crate::mesh::{Boundaries, Given, Mesh, Patches};
use crate::simulation::Sampled;
use crate::{Error, Number, Schedule, SystemDef, formula};

/// What a run does in its steps: single ones, and where it can several at once, on the same arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plans<'a> {
    /// The problem and the plan of a step.
    pub(crate) single: (&'a Algorithm, &'a Plan),
    pub(crate) fused: Option<&'a Fused>,
    /// What is evaluated between steps.
    pub(crate) watched: Option<&'a Observation>,
}

impl<'a> Plans<'a> {
    /// Each plan with its problem, that of single steps first.
    pub(crate) fn all(self) -> impl Iterator<Item = (&'a Algorithm, &'a Plan)> {
        let fused = self.fused.map(|fused| (&fused.problem, &fused.plan));
        std::iter::once(self.single).chain(fused)
    }
}

/// The plan of fused substeps.
#[derive(Clone, Debug)]
pub(crate) struct Fused {
    /// The problem that it is a plan of.
    pub(crate) problem: Algorithm,
    pub(crate) plan: Plan,
}

impl Fused {
    /// The plan of a schedule, if it fuses substeps: on periodic meshes only, where ghost cells of any depth
    /// are cells of the mesh.
    pub(super) fn new<T: Number>(
        system: &SystemDef,
        schedule: &Schedule,
        boundaries: &Boundaries,
        on: (&Mesh, &Patches),
    ) -> Result<Option<Self>, Error> {
        if schedule.fuse == 1 {
            return Ok(None);
        }
        let problem = schedule.problem(system.algorithm());
        let problem = problem.map_err(ScheduleError::from)?.into_owned();
        let wrapped = wrapped::<T>(system, schedule, boundaries, on)?;
        let plan = plan(system, schedule, wrapped)?;
        Ok(Some(Fused { problem, plan }))
    }

    /// Have both plans the same arrays? They work on one memory, and in turn.
    pub(super) fn fits(&self, single: &Plan) -> bool {
        let arrays = |plan: &Plan| -> Vec<(String, BufferRole)> {
            let buffers = plan.buffers.iter();
            buffers.map(|b| (b.name.clone(), b.role)).collect()
        };
        arrays(&self.plan) == arrays(single)
    }
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
