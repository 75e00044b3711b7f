//! Steps that are done several at once.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::plan::Plan;
use stencil_compiler::schedule::check::ScheduleError;

use super::build::{plan, wrapped};
use crate::mesh::{Boundaries, Mesh, Patches};
use crate::{Error, Number, Schedule, SystemDef};

/// What a run does in its steps: single ones, and where it can several at once, on the same arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plans<'a> {
    /// The problem and the plan of a step.
    pub(crate) single: (&'a Algorithm, &'a Plan),
    pub(crate) fused: Option<&'a Fused>,
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
    /// The plan of a schedule, if it fuses substeps.
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
}
