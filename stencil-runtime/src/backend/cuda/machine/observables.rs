//! The kernels of observed functions: updates of an algorithm, evaluated into arrays that are free between steps.

use std::collections::BTreeMap;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{self, Device, Target};
use stencil_compiler::discretize::Observation;
use stencil_compiler::emit::Source;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::{Buffer, Extreme, Kernel, WARP};
use stencil_compiler::model::Reduction;
use stencil_compiler::plan::{BufferRole, Place, Plan};
use stencil_compiler::schedule::Schedule;
use stencil_compiler::search::presets;

use crate::backend::cuda::kernels::launch::{Text, halo as halo_of, texts_changed};
use crate::backend::cuda::memory::patches::launched_over;
use crate::mesh::Patches;
use crate::step::groups;
use crate::{Error, Number};

/// The schedule of functions that are observed in each cell by itself, or beside ghost cells.
const DIRECT: &str = "direct";

/// The schedule of functions that read other cells around the ends of the mesh: arrays need no ghost cells for it.
const AROUND: &str = "gathered";

/// The arrays and the card that such kernels are made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct On {
    pub(super) patches: Patches,
    /// Axes along which they may read beyond one end at the other.
    around: [bool; 3],
    device: Device,
    /// The number of values of a cell that they have room for.
    pub(super) room: usize,
    /// The layout of fields and of that room.
    like: Place,
}

impl On {
    /// The room is that of new values of fields in the arrays of a plan.
    pub(crate) fn new(
        plan: &Plan,
        (patches, around): (Patches, [bool; 3]),
        device: Device,
    ) -> Self {
        let buffers = plan.buffers.iter().zip(plan.places());
        let free: Vec<Place> = buffers
            .filter(|(buffer, _)| buffer.role == BufferRole::NewField)
            .map(|(_, place)| place)
            .collect();
        On {
            patches,
            around,
            device,
            room: free.len(),
            like: free.first().copied().unwrap_or(Place::alone(0)),
        }
    }

    /// Returns the target of kernels that may read around the ends of these axes, and the precision.
    fn target<T: Number>(&self, around: [bool; 3]) -> (Target, Precision) {
        let target = Target::new(T::BYTES)
            .around(around)
            .over(self.patches.largest(), self.patches.of_a_device())
            .on(self.device);
        (target, T::PRECISION)
    }

    /// Returns the value that warps keep of a quantity, if each of them has cells of one row of the mesh.
    fn extreme(&self, reduction: Reduction, schedule: &str) -> Option<Extreme> {
        let of_one_row = schedule == DIRECT && self.patches.counts[0] == 1 && !self.like.surface;
        let extreme = match reduction {
            Reduction::Max => Extreme::Largest,
            Reduction::Min => Extreme::Smallest,
            Reduction::Sum | Reduction::Mean => return None,
        };
        of_one_row.then_some(extreme)
    }

    /// Returns groups of updates that are evaluated at once, if there is room for the values of so many.
    pub(super) fn rounds<'a>(
        &self,
        updates: &'a [(usize, Reduction)],
    ) -> impl Iterator<Item = &'a [(usize, Reduction)]> {
        updates.chunks(self.room.max(1))
    }
}

/// The updates that one launch evaluates, as a problem of its own.
pub(super) struct ObservedUpdates {
    pub(super) problem: Problem,
    pub(super) texts: Vec<Text>,
    /// Cells of a row from one that has a value to the next, for each quantity.
    pub(super) every: Vec<i32>,
}

/// The problem of a launch, and its plan.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) algorithm: Algorithm,
    pub(super) schedule: Schedule,
    pub(super) plan: Plan,
}

impl ObservedUpdates {
    /// Some updates of an algorithm with one substep.
    pub(super) fn new<T: Number>(
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
        on: &On,
    ) -> Result<Self, Error> {
        let mut part = algorithm.clone();
        let substep = part.substeps.first_mut();
        let all = substep.ok_or_else(|| bug("without a substep"))?;
        let chosen = updates.iter().filter_map(|(at, _)| all.updates.get(*at));
        all.updates = chosen.copied().collect();
        match Self::reading_around::<T>((&part, updates), on)? {
            Some(around) => Ok(around),
            None => Self::scheduled::<T>((part, updates), DIRECT, [false; 3], on),
        }
    }

    /// Returns one march that reads around the ends of all axes that allow it, if any does and it is legal.
    fn reading_around<T: Number>(
        (algorithm, updates): (&Algorithm, &[(usize, Reduction)]),
        on: &On,
    ) -> Result<Option<Self>, Error> {
        let reach = planned(algorithm, DIRECT, on.target::<T>([false; 3]))?;
        let reach = reach.1.halo();
        let reads = |axis: usize| on.around[axis] && reach[axis] > 0;
        // A march copies rows of values.
        if !(0..3).any(reads) || on.like.of > 1 || on.like.surface {
            return Ok(None);
        }
        // If a march is not legal, or has no room in a block, ghost cells are filled.
        let part = match Self::scheduled::<T>((algorithm.clone(), updates), AROUND, on.around, on) {
            Ok(part) => part,
            Err(bug @ Error::Bug(_)) => return Err(bug),
            Err(_) => return Ok(None),
        };
        let halo = halo_of(&part.texts);
        let is_less =
            part.texts.len() == 1 && (0..3).all(|axis| halo[axis] <= reach[axis] as usize);
        Ok(is_less.then_some(part))
    }

    fn scheduled<T: Number>(
        (algorithm, updates): (Algorithm, &[(usize, Reduction)]),
        schedule_name: &str,
        around: [bool; 3],
        on: &On,
    ) -> Result<Self, Error> {
        let (schedule, plan) = planned(&algorithm, schedule_name, on.target::<T>(around))?;
        // It reads fields and writes to the arrays of their new values.
        let place = |buffer: &mut Buffer| match plan.buffer(&buffer.name).map(|b| b.role) {
            Some(BufferRole::Given) | None => {}
            Some(_) => {
                buffer.beside =
                    (on.like.of > 1).then_some(Place { of: on.like.of, ..Place::alone(0) });
                buffer.surface = on.like.surface;
            }
        };
        let names = algorithm.substeps.iter().flat_map(|substep| &substep.updates);
        let names = names.map(|(state, _)| algorithm.state(*state).name.as_str());
        let kept: Vec<_> = updates.iter().map(|(_, of)| on.extreme(*of, schedule_name)).collect();
        let extremes: BTreeMap<&str, Extreme> =
            names.zip(&kept).filter_map(|(name, kept)| Some((name, (*kept)?))).collect();
        let placed = |mut kernel: Kernel| {
            for buffer in &mut kernel.buffers {
                place(buffer);
                buffer.extreme = extremes.get(buffer.name.as_str()).copied();
            }
            kernel
        };
        Ok(ObservedUpdates {
            texts: texts_changed::<T>(
                &algorithm,
                &plan,
                (launched_over(&on.patches), &on.device),
                placed,
            )?,
            every: kept.iter().map(|kept| kept.map_or(1, |_| WARP as i32)).collect(),
            problem: Problem { algorithm, schedule, plan },
        })
    }

    /// Returns the depth of the ghost cells of a field that it reads.
    pub(super) fn depth(&self, field: &str) -> [usize; 3] {
        let launches = self.problem.plan.launches.iter();
        let reads = launches.flat_map(|launch| {
            let inputs = launch.inputs.iter().filter(|(name, _)| name == field);
            inputs.map(|(_, read)| launch.depth(*read))
        });
        deepest(reads.map(|depth| depth.map(|n| n as usize)))
    }

    /// Returns the least depth of ghost cells of its arrays.
    fn halo(&self) -> [usize; 3] {
        let of_plan = self.problem.plan.halo().map(|n| n as usize);
        deepest([of_plan, halo_of(&self.texts)])
    }
}

/// Returns the observed functions and their plan by a preset.
fn planned(
    algorithm: &Algorithm,
    schedule: &str,
    (target, precision): (Target, Precision),
) -> Result<(Schedule, Plan), Error> {
    let preset = presets::find(schedule).ok_or_else(|| bug("without a schedule"))?;
    let schedule = preset.schedule(algorithm, precision);
    let plan = compile::plan(algorithm, &schedule, &target);
    let plan = plan.map_err(|e| Error::Bug(e.message))?;
    Ok((schedule, plan))
}

/// Returns the largest of some depths along each axis.
pub(super) fn deepest(halos: impl IntoIterator<Item = [usize; 3]>) -> [usize; 3] {
    let deeper = |a: [usize; 3], b: [usize; 3]| std::array::from_fn(|axis| a[axis].max(b[axis]));
    halos.into_iter().fold([0; 3], deeper)
}

/// Returns all launches that evaluate observed functions, and the speeds.
fn parts<T: Number>(observation: &Observation, on: &On) -> Result<Vec<ObservedUpdates>, Error> {
    let groups = groups(observation);
    let rounds = groups.iter().flat_map(|updates| on.rounds(updates));
    let parts =
        rounds.map(|updates| ObservedUpdates::new::<T>(&observation.algorithm, updates, on));
    parts.collect()
}

/// Returns the depth of ghost cells that arrays have for observed functions.
pub(super) fn halo<T: Number>(observation: &Observation, on: &On) -> Result<[usize; 3], Error> {
    let parts = parts::<T>(observation, on)?;
    Ok(deepest(parts.iter().map(ObservedUpdates::halo)))
}

/// Returns the texts of its kernels.
pub(crate) fn sources<T: Number>(observation: &Observation, on: &On) -> Result<Vec<Source>, Error> {
    let parts = parts::<T>(observation, on)?;
    let texts = parts.into_iter().flat_map(|part| part.texts);
    Ok(texts.map(|text| text.source).collect())
}

pub(super) fn bug(what: &str) -> Error {
    Error::Bug(format!("an observation on a card {what}"))
}

#[cfg(test)]
mod tests {
    use stencil_compiler::kernel::Multiprocessor;

    use super::*;
    use crate::SystemDef;
    use crate::mesh::Mesh;

    /// Returns the ghost cells for the vorticity of a flow, which is read around the ends along these axes, if a block
    /// has so much shared memory.
    fn halo_on(cells: [usize; 3], around: [bool; 3], shared_bytes: usize) -> [usize; 3] {
        let text = "pub system Flow in 3d {
            field u: vector; ddt(u) = lap(u);
            let w = curl(u); observe swirl = mean(dot(w, w));
        }
        scheme s for Flow { space: central<order = 6>; time: euler; }";
        let system = SystemDef::from_text("flow.pde", text).unwrap();
        let mesh = Mesh { cells, extent: [1.0; 3], origin: [0.0; 3], centered: false };
        let patches = Patches::new(&mesh, [1; 3], 1).unwrap();
        let device = Device {
            multiprocessor: Multiprocessor { shared_bytes, ..Multiprocessor::NEWEST },
            units: Some(132),
        };
        let target = Target::new(4).over(cells, 1).around(around).on(device);
        let plan = planned(system.algorithm(), AROUND, (target, Precision::F32));
        let on = On::new(&plan.unwrap().1, (patches, around), device);
        halo::<f32>(system.observation().unwrap(), &on).unwrap()
    }

    /// Of a largest value a warp writes one, if the rows of the mesh are not divided; a mean needs all.
    #[test]
    fn warps_write_one_of_their_largest_values() {
        let text = "pub system Flow in 3d {
            field u: vector; ddt(u) = lap(u);
            observe fastest = max(dot(u, u)); observe slowest = min(dot(u, u)); observe energy = mean(dot(u, u));
        }
        scheme s for Flow { space: central<order = 2>; time: euler; }";
        let system = SystemDef::from_text("flow.pde", text).unwrap();
        let every = |counts: [usize; 3]| {
            let mesh =
                Mesh { cells: [80, 6, 4], extent: [1.0; 3], origin: [0.0; 3], centered: false };
            let patches = Patches::new(&mesh, counts, 1).unwrap();
            let device = Device { multiprocessor: Multiprocessor::NEWEST, units: Some(132) };
            let target = Target::new(8).over(patches.largest(), patches.of_a_device()).on(device);
            let plan = planned(system.algorithm(), DIRECT, (target, Precision::F64));
            let on = On::new(&plan.unwrap().1, (patches, [true; 3]), device);
            let observation = system.observation().unwrap();
            let updates = &groups(observation)[0];
            let part = ObservedUpdates::new::<f64>(&observation.algorithm, updates, &on).unwrap();
            let text = part.texts.first().unwrap().source.text.clone();
            assert_eq!(text.contains("store_smallest(&slowest["), counts[0] == 1, "{text}");
            (part.every, part.texts.first().unwrap().source.text.matches("store_").count())
        };
        // Each is declared, too.
        assert_eq!(every([1, 2, 1]), (vec![32, 32, 1], 4));
        assert_eq!(every([2, 1, 1]), (vec![1, 1, 1], 0));
    }

    #[test]
    fn what_reads_around_the_ends_needs_no_ghost_cells() {
        let all = [true; 3];
        assert_eq!(halo_on([32; 3], all, 228 << 10), [0; 3]);
        // A wall, rows of no whole copies, a block without room for planes of three fields.
        assert_eq!(halo_on([32; 3], [true, true, false], 228 << 10), [0, 0, 3]);
        assert!(halo_on([33, 32, 32], all, 228 << 10)[0] >= 3);
        assert_eq!(halo_on([32; 3], all, 5 << 10), [3; 3]);
    }
}
