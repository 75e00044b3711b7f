//! Predicts the cost of a run on a card, without a card.

use stencil_compiler::compile::{Compiled, Device, compile};
use stencil_compiler::cost::{self, KernelCost};
use stencil_compiler::emit::{self, Places};
use stencil_compiler::hash::fnv1a;
use stencil_compiler::kernel::text;
use stencil_compiler::plan::Plan;

use super::Builder;
use super::check::params;
use super::engine::on_mesh;
use super::scheduled::target;
use crate::backend::cuda::nvrtc::Resources;
use crate::backend::cuda::{self, CudaError};
use crate::mesh::{Boundaries, Patches};
use crate::{Error, Number, Schedule, SystemDef};

/// A schedule lowered as far as is possible without a card.
#[derive(Clone, Debug)]
pub(crate) struct Predicted {
    pub(crate) plan: Plan,
    /// The costs of its kernels.
    pub(crate) costs: Vec<KernelCost>,
    /// A hash of the kernels: schedules with the same hash do the same.
    pub(crate) kernels: u64,
}

impl<T: Number> Builder<T> {
    /// Returns the plan of a schedule of its system on a device, and the costs of its kernels.
    ///
    /// # Errors
    /// The first setting that does not fit; if the schedule is illegal, without the legal choices.
    pub(crate) fn predicted(
        &self,
        system: &SystemDef,
        schedule: &Schedule,
        device: Device,
    ) -> Result<Predicted, Error> {
        let compiled = self.carried(system, schedule, device)?;
        let costs = cost::kernels(&compiled).map_err(Error::Bug)?;
        let texts = compiled.kernels.iter().map(text::print);
        Ok(Predicted {
            kernels: fnv1a(texts.collect::<String>().as_bytes()),
            plan: compiled.plan,
            costs,
        })
    }

    /// Returns the resources of the kernels of a schedule on a device of an architecture that the compiler knows.
    ///
    /// # Errors
    /// As [`predicted`](Self::predicted); if there is no compiler, or it does not take a kernel.
    pub(crate) fn resources(
        &self,
        system: &SystemDef,
        schedule: &Schedule,
        (device, architecture): (Device, &str),
    ) -> Result<Vec<Resources>, Error> {
        let compiled = self.carried(system, schedule, device)?;
        let over = match self.patches {
            [1, 1, 1] => emit::Patches::One,
            _ => emit::Patches::Many,
        };
        let kernels = compiled.kernels.iter();
        let sources = kernels.map(|kernel| emit::cuda_over(over, kernel, T::PRECISION));
        let sources = sources.collect::<Result<Vec<_>, _>>().map_err(CudaError::from)?;
        let places = Places::of(&compiled.problem);
        Ok(cuda::resources(&sources, &places, architecture)?)
    }

    /// Lowers a schedule as far as is possible without a compiler, for a run on a device.
    fn carried(
        &self,
        system: &SystemDef,
        schedule: &Schedule,
        device: Device,
    ) -> Result<Compiled, Error> {
        let mesh = self.mesh(system)?;
        let params = params(system, &self.params)?;
        let boundaries = Boundaries::new(system, &params, &self.boundaries, mesh.cells)?;
        let patches = Patches::new(&mesh, self.patches, self.devices)?;
        let algorithm = system.algorithm();
        let steps_alike = self.steps_alike(system, &params);
        let schedule = on_mesh(algorithm, schedule, boundaries.periodic, steps_alike);
        let target = target::<T>(&boundaries, &patches).on(device);
        let carried = |schedule: &Schedule| -> Result<Compiled, Error> {
            Ok(compile(algorithm, schedule, &target)?)
        };
        let compiled = carried(&schedule)?;
        // A run makes single steps, too.
        if schedule.fuse > 1 {
            carried(&schedule.unfused(algorithm))?;
        }
        Ok(compiled)
    }
}

#[cfg(test)]
mod tests {
    use stencil_compiler::schedule::text::parse;

    use super::*;
    use crate::backend::cuda::usual_device;
    use crate::{Axis, Boundary, Faces, Simulation};

    /// The mesh decides whether a march reads around ends: walls and several patches have ghost cells.
    #[test]
    fn ends_are_read_around_where_a_patch_has_both() {
        let text = "pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
             scheme s for Heat { space: central<order = 4>; time: euler; }";
        let system = SystemDef::from_text("heat.pde", text).unwrap();
        let builder = || {
            let builder = Simulation::<f32>::builder(&system);
            builder.cells([72, 24, 16]).dt(1e-6)
        };
        let predicted = |builder: Builder<f32>, loader: u32| {
            let march = format!("schedule kernel march tile_x=32 tile_y=4 loader={loader}");
            let schedule = parse(&march).unwrap();
            let predicted = builder.predicted(&system, &schedule, usual_device("sm_90")).unwrap();
            let depth = predicted.plan.fills().next().map(|(_, depth)| depth);
            (depth, predicted.kernels)
        };
        for loader in [0, 2] {
            assert_eq!(predicted(builder(), loader).0, None);
            let walls = builder().boundary(Axis::Y, Boundary::wall());
            assert_eq!(predicted(walls, loader).0, Some([0, 2, 0]));
            let patches = builder().patches([2, 1, 1]);
            assert_eq!(predicted(patches, loader).0, Some([2, 0, 0]));
            // Rows of a length that is not whole copies.
            let odd = builder().cells([70, 24, 16]);
            assert_eq!(predicted(odd, loader).0, Some([2, 0, 0]));
        }
        let (boxes, both) = (predicted(builder(), 1), predicted(builder(), 2));
        assert_eq!(boxes.0, Some([2; 3]));
        assert_ne!(boxes.1, both.1);
        let outflow = || builder().boundary(Faces::All, Boundary::outflow());
        assert_eq!(predicted(outflow(), 1), predicted(outflow(), 2));
    }
}
