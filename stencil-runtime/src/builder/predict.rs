//! What a run on a card would cost, without a card.

use stencil_compiler::cost::{self, KernelCost};
use stencil_compiler::hash::fnv1a;
use stencil_compiler::kernel::text;
use stencil_compiler::plan::{Plan, Room};
use stencil_compiler::schedule::check;

use super::Builder;
use super::build::{on_mesh, wrapped};
use super::check::params;
use crate::mesh::{Boundaries, Patches};
use crate::{Error, Number, Schedule, SystemDef};

/// A schedule carried as far as it goes without a card.
#[derive(Clone, Debug)]
pub(crate) struct Predicted {
    pub(crate) plan: Plan,
    /// What its kernels cost.
    pub(crate) costs: Vec<KernelCost>,
    /// A number for the kernels: schedules with the same ones do the same.
    pub(crate) kernels: u64,
}

impl<T: Number> Builder<T> {
    /// The plan of a schedule of its system on a card with so many multiprocessors, and what its kernels cost.
    ///
    /// # Errors
    /// The first setting that does not fit; if the schedule is illegal, without what would be legal.
    pub(crate) fn predicted(
        &self,
        system: &SystemDef,
        schedule: &Schedule,
        units: u32,
    ) -> Result<Predicted, Error> {
        let mesh = self.mesh(system)?;
        let params = params(system, &self.params)?;
        let boundaries = Boundaries::new(system, &params, &self.boundaries)?;
        let patches = Patches::new(&mesh, self.patches)?;
        let algorithm = system.algorithm();
        let steps_alike = self.steps_alike(system, &params);
        let schedule = on_mesh(algorithm, schedule, boundaries.periodic, steps_alike);
        let wrapped = wrapped::<T>(system, &schedule, &boundaries, (&mesh, &patches))?;
        let plan = super::build::plan(system, &schedule, wrapped)?.fitted(Room {
            dimension: algorithm.dimension,
            cells: patches.cells,
            patches: patches.count(),
            units,
        });
        let compiled = check::check_plan(algorithm, &schedule, T::BYTES, plan)?;
        let costs = cost::kernels(&compiled).map_err(Error::Bug)?;
        let texts = compiled.kernels.iter().map(text::print);
        Ok(Predicted {
            kernels: fnv1a(texts.collect::<String>().as_bytes()),
            plan: compiled.plan,
            costs,
        })
    }
}
