//! Predicts the cost of a run on a card, without a card.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{self, Device, Target};
use stencil_compiler::cost::{Costs, DeviceBox, ScheduleCost};
use stencil_compiler::emit::{self, Places, Source};
use stencil_compiler::hash::fnv1a;
use stencil_compiler::plan::Plan;

use super::Builder;
use super::check::params;
use super::engine::on_mesh;
use crate::backend::cuda::nvrtc::Resources;
use crate::backend::cuda::{self, CudaError};
use crate::mesh::{Boundaries, Patches};
use crate::{Error, Number, Schedule, SystemDef};

/// The costs of schedules of a run on a device, as far as they are known without one.
#[derive(Debug)]
pub(crate) struct Predictor<'a> {
    costs: Costs<'a>,
    on: OnMesh,
}

/// The facts of a run that decide how it does a schedule.
#[derive(Debug)]
struct OnMesh {
    target: Target,
    patches: Patches,
    boundaries: Boundaries,
    steps_alike: bool,
    /// Substeps that ghost cells of other devices last for, whatever the schedule is.
    ghosts: Option<usize>,
}

impl OnMesh {
    /// Returns the schedule that a run follows if it is given this one.
    fn followed(&self, algorithm: &Algorithm, schedule: &Schedule) -> Schedule {
        let periodic = self.boundaries.periodic;
        let schedule = on_mesh(algorithm, schedule, periodic, self.steps_alike);
        Schedule { ghosts: self.ghosts.unwrap_or(schedule.ghosts), ..schedule }
    }
}

impl Predictor<'_> {
    /// Returns the plan of a schedule, and the costs of its kernels.
    ///
    /// # Errors
    /// If the schedule is illegal, without the legal choices.
    pub(crate) fn predicted(&self, schedule: &Schedule) -> Result<ScheduleCost, Error> {
        let algorithm = self.costs.algorithm();
        let schedule = self.on.followed(algorithm, schedule);
        let cost = self.costs.of(&schedule)?;
        // A run makes single steps, too.
        let single = match schedule.fuse {
            1 => None,
            _ => Some(self.costs.of(&schedule.unfused(algorithm))?.plan),
        };
        let OnMesh { patches, boundaries, .. } = &self.on;
        if schedule.ghosts > 1 && patches.cut().contains(&true) {
            let mut plans = single.iter().chain([&cost.plan]);
            plans.try_for_each(|plan| boundaries.check_redundant(plan, patches))?;
        }
        if patches.devices == 1 {
            return Ok(cost);
        }
        let apart = single.is_some_and(|single| single.overlap != cost.plan.overlap);
        let plan = match apart {
            true => Plan { overlap: schedule.overlap, ..cost.plan }.settled(None),
            false => cost.plan,
        };
        // Kernels are the same whenever values of other devices come, and whatever moves them.
        let way = (plan.overlap(), schedule.ghosts);
        let among = format!("{} {way:?}", cost.identity);
        Ok(ScheduleCost { plan, identity: fnv1a(among.as_bytes()), ..cost })
    }

    /// Returns the box of one device, if several share the mesh.
    pub(crate) fn device(&self) -> Option<DeviceBox> {
        let patches = &self.on.patches;
        (patches.devices > 1).then(|| patches.device_box())
    }
}

impl<T: Number> Builder<T> {
    /// Returns the predictor of its run by a system on a device.
    ///
    /// # Errors
    /// The first setting that does not fit.
    pub(crate) fn predictor<'a>(
        &self,
        system: &'a SystemDef,
        device: Device,
    ) -> Result<Predictor<'a>, Error> {
        let on = self.on_mesh(system, device)?;
        Ok(Predictor { costs: Costs::new(system.algorithm(), on.target), on })
    }

    /// Returns the resources of the kernels of a schedule on a device of an architecture that the compiler knows.
    ///
    /// # Errors
    /// The first setting that does not fit; if the schedule is illegal, without the legal choices; if there is no
    /// compiler, or it does not take a kernel.
    pub(crate) fn resources(
        &self,
        system: &SystemDef,
        schedule: &Schedule,
        (device, architecture): (Device, &str),
    ) -> Result<Vec<Resources>, Error> {
        let on = self.on_mesh(system, device)?;
        let algorithm = system.algorithm();
        let schedule = on.followed(algorithm, schedule);
        let mut plan = compile::plan(algorithm, &schedule, &on.target)?;
        if on.patches.devices > 1 {
            plan = plan.among_devices().map_err(Error::Bug)?;
        }
        let compiled = compile::lower(algorithm, &schedule, plan, &on.target)?;
        let over = cuda::launched_over(&on.patches);
        let mut sources: Vec<Source> = Vec::new();
        for (at, kernel) in compiled.kernels.iter().enumerate() {
            sources.push(match compiled.plan.like(at) {
                Some(before) => sources[before].clone(),
                None => emit::cuda_over(over, kernel, T::PRECISION).map_err(CudaError::from)?,
            });
        }
        let places = Places::of(&compiled.problem);
        Ok(cuda::resources(&sources, &places, architecture)?)
    }

    fn on_mesh(&self, system: &SystemDef, device: Device) -> Result<OnMesh, Error> {
        let mesh = self.mesh(system)?;
        let params = params(system, &self.params)?;
        let boundaries = Boundaries::new(system, &params, &self.boundaries, mesh.cells)?;
        let patches = self.cut(&mesh, boundaries.periodic, true)?;
        let target = self.on_patches(&boundaries, &patches, self.halo).target::<T>().on(device);
        let (steps_alike, ghosts) = (self.steps_alike(system, &params), self.ghosts);
        Ok(OnMesh { target, patches, boundaries, steps_alike, ghosts })
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
            let predictor = builder.predictor(&system, usual_device("sm_90")).unwrap();
            let predicted = predictor.predicted(&schedule).unwrap();
            let depth = predicted.plan.fills().next().map(|(_, depth)| depth.towards);
            (depth, predicted.identity)
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
