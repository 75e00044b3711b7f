//! Runs of a comparison: the one on the processor, and the one that is compared with it.

use stencil_compiler::algorithm::Role;
use stencil_compiler::schedule::Schedule;
use stencil_report::smooth::mean;
use stencil_runtime::backend::cuda::Cache;
use stencil_runtime::{Axis, Builder, Engine, Number, Simulation, Source};

use super::{ALIKE, Batch, WHOLE_COPIES, boundaries};

/// Settings that all runs share.
#[derive(Clone, Debug)]
pub(in crate::verify) struct Runs {
    pub(in crate::verify) steps: u64,
    pub(in crate::verify) card: usize,
    /// The kernels that were compiled before, if nothing is to be compiled.
    pub(in crate::verify) cache: Option<Cache>,
    /// The devices of the runs that are compared with one device of the processor, and whether they are cards.
    pub(in crate::verify) devices: usize,
    pub(in crate::verify) on_cards: bool,
}

impl Runs {
    /// A run with a kind of boundaries.
    fn builder<T: Number>(&self, batch: &Batch, kind: usize) -> Builder<T> {
        let system = &batch.system;
        let dimension = system.algorithm().dimension;
        let grid = match kind {
            WHOLE_COPIES | ALIKE if batch.grid.patches == [1; 3] => batch.grid.even(),
            _ => batch.grid,
        };
        let cells = grid.cells;
        let finest = cells.iter().copied().max().unwrap_or(1) as f64;
        let mut builder = Simulation::<T>::builder(system)
            .cells(cells)
            .unchecked_step(true)
            .dt(0.01 / (finest * finest));
        if system.has_speeds() && kind != ALIKE {
            builder = builder.cfl(0.1);
        }
        for param in &system.algorithm().params {
            if param.default.is_none() {
                builder = builder.param(param.name.as_str(), 1.0);
            }
        }
        for (_, source) in system.algorithm().states_of(Role::Given) {
            // Formulas are evaluated where the steps are done, functions by the host.
            let value = match kind % 3 {
                _ if kind == ALIKE => Source::constant(0.01),
                0 => Source::text("0.01*sin(3*x - y + 2*z + t)"),
                1 => Source::steady(|x, y, z| 0.01 * (3.0 * x - y + 2.0 * z).sin()),
                _ => Source::unsteady(|x, y, z, t| 0.01 * (3.0 * x - y + 2.0 * z + t).sin()),
            };
            builder = builder.source(source.name.as_str(), value);
        }
        let axes = || Axis::ALL.into_iter().take(dimension);
        for field in &system.model().fields {
            let (_, beyond) = boundaries(system, kind, mean(field.rank));
            for (axis, boundary) in axes().zip(beyond) {
                builder = builder.boundary_of(field.name.as_str(), axis, boundary);
            }
        }
        builder
    }

    /// A run on the processor.
    pub(in crate::verify) fn on_processor<T: Number>(
        &self,
        batch: &Batch,
        kind: usize,
    ) -> Builder<T> {
        self.builder(batch, kind).engine(Engine::Cpu)
    }

    /// A run of a schedule on the card, or on several devices.
    pub(in crate::verify) fn compared<T: Number>(
        &self,
        batch: &Batch,
        kind: usize,
        schedule: &Schedule,
    ) -> Builder<T> {
        let builder = self.builder(batch, kind).patches(batch.grid.patches).threads(1);
        if !self.on_cards {
            let builder = match schedule.ghosts {
                1 => builder,
                _ => builder.schedule(schedule.clone()),
            };
            return builder.devices(self.devices).engine(Engine::Cpu);
        }
        let builder = builder.schedule(schedule.clone()).engine(Engine::Cuda).card(self.card);
        let builder = match self.devices {
            1 => builder,
            several => builder.devices(several),
        };
        match &self.cache {
            Some(cache) => builder.kernels(cache.clone()),
            None => builder,
        }
    }
}
