//! The plans of a run by a schedule.

use stencil_compiler::algorithm::Role;
use stencil_compiler::compile::{self, ScheduleError, Target};
use stencil_compiler::plan::Plan;

use super::Builder;
use super::engine::Chosen;
use crate::mesh::{Boundaries, Given, Patches, Sampled, formula};
use crate::simulation::Pace;
use crate::step::Fused;
use crate::{Error, Number, Schedule, SystemDef};

/// The schedule of a run, the engine that follows it, and the plans that it gives.
pub(crate) struct Scheduled {
    pub(crate) engine: Chosen,
    pub(crate) schedule: Schedule,
    /// The plan of single steps.
    pub(crate) plan: Plan,
    pub(crate) fused: Option<Fused>,
}

/// The mesh of a run that is planned.
#[derive(Clone, Copy)]
pub(crate) struct On<'a> {
    pub(crate) boundaries: &'a Boundaries,
    pub(crate) patches: &'a Patches,
    /// Ghost cells that are read outside of the plan.
    pub(crate) halo: [usize; 3],
    /// The number of processes that share the patches.
    pub(crate) processes: usize,
}

impl On<'_> {
    /// Returns the target of a run whose card is not known yet: kernels may read around the ends of periodic axes if a patch
    /// has both of them, and store values for other cards if patches are layers.
    pub(super) fn target<T: Number>(&self) -> Target {
        let On { boundaries, patches, processes, .. } = *self;
        let layers = boundaries.layers_to_store(patches, processes);
        let target = Target::new(T::BYTES).around(boundaries.around(patches)).storing(layers);
        target.over(patches.largest(), patches.of_a_device()).cut(patches.cut())
    }
}

impl Scheduled {
    /// Plans a run by a schedule.
    pub(crate) fn new<T: Number>(
        system: &SystemDef,
        (engine, schedule): (Chosen, Schedule),
        on: On<'_>,
    ) -> Result<Self, Error> {
        let On { boundaries, patches, halo, .. } = on;
        let target = match engine {
            Chosen::Cuda => on.target::<T>(),
            Chosen::Cpu(_) => Target::processor(T::BYTES).cut(patches.cut()),
        };
        let (mut plan, mut fused) = plans(system, &schedule, &target)?;
        if let Some(fused) = fused.as_mut().filter(|fused| !fused.fits(&plan)) {
            plan = plan.with_own_accumulators(system.algorithm());
            fused.plan = fused.plan.clone().with_own_accumulators(&fused.problem);
            if !fused.fits(&plan) {
                let bug = "fused steps have other arrays than single ones";
                return Err(Error::Bug(bug.into()));
            }
        }
        let all = std::iter::once(&plan).chain(fused.as_ref().map(|fused| &fused.plan));
        if schedule.ghosts > 1 && patches.cut().contains(&true) {
            all.clone().try_for_each(|plan| boundaries.check_redundant(plan, patches))?;
        }
        boundaries.check_exchanges(&plan)?;
        boundaries.check_depth(system, &plan, halo, patches)?;
        Ok(Scheduled { engine, schedule, plan, fused })
    }

    /// Returns the plans of steps of this pace on these patches: steps that adapt reduce speeds first, and devices that
    /// share the patches exchange values.
    pub(crate) fn at_pace(
        mut self,
        system: &SystemDef,
        pace: Pace,
        patches: &Patches,
    ) -> Result<Self, Error> {
        if let (Pace::Adaptive { limit, .. }, Some(observation)) = (pace, system.observation()) {
            let quantities = observation.quantities.iter();
            let speeds = quantities.filter(|quantity| quantity.speed.is_some());
            let names = speeds.map(|quantity| quantity.name.clone()).collect();
            self.plan = self.plan.adaptive(names, limit.is_some()).map_err(Error::Bug)?;
        }
        self.among(patches)
    }

    /// Returns the plans of devices that share these patches, which exchange values if they are several.
    pub(crate) fn among(mut self, patches: &Patches) -> Result<Self, Error> {
        if patches.devices > 1 {
            self.plan = self.plan.among_devices().map_err(Error::Bug)?;
            if let Some(fused) = &mut self.fused {
                fused.plan = fused.plan.among_devices().map_err(Error::Bug)?;
            }
        }
        Ok(self)
    }
}

/// Returns the plan of single steps, and the one of fused substeps of a card. Both store values for other cards, or none does.
fn plans(
    system: &SystemDef,
    schedule: &Schedule,
    target: &Target,
) -> Result<(Plan, Option<Fused>), Error> {
    let algorithm = system.algorithm();
    let single = compile::plan(algorithm, &schedule.unfused(algorithm), target)?;
    let fused = if target.keeps_fields { None } else { fused(system, schedule, target)? };
    match &fused {
        Some(of) if of.plan.overlap != single.overlap => {
            plans(system, schedule, &target.storing(None))
        }
        _ => Ok((single, fused)),
    }
}

/// Returns the plan of a schedule, if it fuses substeps: on periodic meshes only, on which ghost cells of any depth
/// are cells of the mesh.
fn fused(system: &SystemDef, schedule: &Schedule, target: &Target) -> Result<Option<Fused>, Error> {
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
                Some(Given::Written(written)) => {
                    formula::source(system, params, name, written).ok()
                }
                Some(Given::Constant(_) | Given::Steady(_) | Given::Values(_)) => return true,
                None => formula::default_source(system, params, name),
            };
            !matches!(source, Some(Sampled::Unsteady(_)))
        };
        let mut given = system.algorithm().states_of(Role::Given);
        self.cfl.is_none() && !self.auto && given.all(|(_, state)| is_steady(&state.name))
    }
}
