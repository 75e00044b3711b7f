//! The performance model: traffic, operations and resources of a kernel, counted before it runs.
//!
//! All counts are for one interior cell of a large patch; tiles that overhang the patch, and the planes by which a
//! march warms up, are left out. The reads of a block follow the model of Pekkilä et al. 2017: each point of the tile
//! and of the halo around it, once (Eqs. 12 and 19), times the number of blocks (Eq. 11), plus reads and writes without
//! a halo (Eqs. 13, 20 and 21).

use std::collections::BTreeSet;

use crate::algorithm::footprint::{bounds, footprint};
use crate::algorithm::{Algorithm, FnId, Offset};
use crate::compile::Compiled;
use crate::kernel::Kernel;
use crate::kernel::count::Counts;
use crate::plan::{Launch, Plan};
use crate::schedule::COPY_BYTES;

mod cards;
mod exchange;
mod known;
mod links;
mod memory;
mod occupancy;
mod power;
mod sectors;
mod step;
#[cfg(test)]
mod tests;
mod time;
mod timeline;

pub use cards::{MODELS, Model, called, model, power};
pub use exchange::{DeviceBox, Exchange, Links, Mover, computed_cells, redundant_share};
pub use known::{Costs, ScheduleCost};
pub use links::{KnownLink, LINKS, Link, link, usual_bus, usual_link};
pub use memory::Card;
pub use occupancy::{Bound, Occupancy};
pub use power::Power;
pub use step::{Fills, StepTime};
pub use time::{Limit, Rates, Time, rank_correlation};
pub use timeline::{Beside, Place, Span, Stream, Task, Timeline, Wait};

/// Registers of a thread that hold no value: positions, addresses, the loop.
const ADDRESS_REGISTERS: u32 = 24;

/// Arrays of which these hold the addresses; of each more, the compiler keeps as many registers as the second number says.
const ARRAYS: u32 = 16;

/// See [`ARRAYS`].
const OF_ARRAY: u32 = 5;

/// Instructions for each quotient or root, below which a compiler moves little across them: it needs the registers that
/// the order of the statements asks for. This number, the two before it and the three behind it were fitted to what a
/// compiler reports of 120 kernels with many quotients and 320 with few.
const BETWEEN: u64 = 80;

/// Registers that quotients take beside values, and values that are on their way to them: rather too many, since one that is
/// lacking may cost a block.
const TEMPORARY_REGISTERS: u32 = 6;

/// See [`TEMPORARY_REGISTERS`].
const TEMPORARY_VALUES: u32 = 14;

/// Bytes that are spilled for each register that is lacking, in a kernel with divisions.
const SPILLED: f64 = 2.5;

/// Bytes that are spilled for each register that is lacking in a march that computes planes of shared memory: cells of
/// a tile and of its rim are computed side by side. For 30 reported kernels, most with fused substeps, it is 5 to 23.
const SPILLED_BESIDE_PLANES: u32 = 14;

/// Registers that may be lacking there and are found: values that are in shared memory are read again.
const FOUND: u32 = 8;

/// Registers that the threads of a block share, on every multiprocessor of today.
const REGISTER_FILE: u32 = 65_536;

/// Most registers of a thread.
pub(crate) const MOST_REGISTERS: u32 = 255;

/// Bytes of a register.
const REGISTER_BYTES: usize = 4;

/// The cost of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelCost {
    /// Name of the launch.
    pub name: String,
    /// Number of the substep it belongs to, from 0.
    pub substep: usize,
    /// Number of its kernel in the substep: index into the blockings of the schedule.
    pub kernel: usize,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Arrays that it reads.
    pub inputs: Vec<InputCost>,
    /// Arrays that it writes.
    pub outputs: Vec<String>,
    /// Values that memory moves for those that the kernel writes to a cell.
    pub written: f64,
    /// Cells that a thread computes at once.
    pub cells: u32,
    /// Arithmetic instructions a cell; a multiply-add is one, a division eight.
    pub operations: f64,
    /// Floating-point operations a cell as they are usually counted: a multiply-add is two.
    pub flops: f64,
    /// The work of a thread on its cells.
    pub work: Counts,
    /// Predicted registers of a thread: values that are live at once, and an estimate for addresses.
    /// A compiler moves loads and may need more or fewer.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: usize,
    /// Cells that a block covers along x, y, z; 0 is the whole extent.
    pub tile: [u32; 3],
    /// Are these as many cells as the first number says that follow each other in the order of x, y, z?
    pub runs: bool,
    /// The axis along which a block goes from plane to plane of its tile, if it does.
    pub passes: Option<usize>,
    /// Are the planes of coming iterations under way while one is computed?
    pub ahead: bool,
    /// Threads of a block; 1 where rows are computed one by one.
    pub threads: u32,
    /// Blocks that are to fit on a multiprocessor.
    pub blocks: u32,
}

/// The reads of a kernel from one array.
#[derive(Clone, Debug, PartialEq)]
pub struct InputCost {
    /// Name of the array.
    pub name: String,
    /// Points that one cell reads.
    pub points: usize,
    /// Values that a block reads from memory for each of its cells: 1 and the share of the halo.
    pub fetched: f64,
    /// Cells before and behind the tile that are read too, along x, y, z.
    pub rim: [u32; 3],
    /// Values that memory moves for each value read: more than one if a sector also holds values of arrays that are not
    /// read.
    pub moved: f64,
}

impl KernelCost {
    /// Bytes a cell that must move: each input read once, each output written once.
    pub fn least_bytes(&self) -> f64 {
        let read: f64 = self.inputs.iter().map(|input| input.moved).sum();
        (read + self.written) * self.value_bytes as f64
    }

    /// Bytes a cell where each block reads its own tiles with their halos, and blocks share
    /// nothing (Pekkilä et al. 2017, Eq. 13, divided by the number of cells).
    pub fn fetched_bytes(&self) -> f64 {
        let read = self.inputs.iter().map(|input| input.fetched * input.moved);
        (read.sum::<f64>() + self.written) * self.value_bytes as f64
    }

    /// Registers that a thread may have if its blocks are to fit; they are handed out in eights.
    pub fn register_limit(&self) -> u32 {
        let threads = self.threads.saturating_mul(self.blocks).max(1);
        (REGISTER_FILE / threads / 8 * 8).min(MOST_REGISTERS)
    }

    /// Registers that a thread is likely to get, and bytes that it then spills.
    pub fn likely_registers(&self) -> (u32, u32) {
        let limit = self.register_limit();
        let is_straight = BETWEEN * self.work.divisions < self.work.cost;
        if is_straight || self.passes.is_none() {
            let bytes = match self.computes_planes() {
                true => SPILLED_BESIDE_PLANES * self.registers.saturating_sub(limit + FOUND),
                // The estimate is on the high side.
                false => 2 * (self.registers * 4 / 5).saturating_sub(limit) * REGISTER_BYTES as u32,
            };
            return ((self.registers + self.addresses()).min(limit), bytes);
        }
        let words = self.value_bytes.div_ceil(REGISTER_BYTES) as u32;
        let wanted = self.registers + TEMPORARY_REGISTERS + TEMPORARY_VALUES * words;
        let lacking = (wanted * 17 / 20).saturating_sub(limit);
        // The fewer there are, the more often a value is spilled.
        let bytes = SPILLED * f64::from(lacking * words) * f64::from(wanted) / f64::from(limit);
        ((wanted + self.addresses()).min(limit), bytes as u32)
    }

    /// Does a march compute planes of shared memory, in addition to those that it loads?
    fn computes_planes(&self) -> bool {
        self.ahead && self.work.shared_stores > 0
    }

    /// Registers of a march for addresses of many arrays.
    fn addresses(&self) -> u32 {
        let arrays = (self.inputs.len() + self.outputs.len()) as u32;
        self.passes.map_or(0, |_| OF_ARRAY * arrays.saturating_sub(ARRAYS))
    }

    /// Floating-point operations for each byte that must move.
    pub fn intensity(&self) -> f64 {
        self.flops / self.least_bytes()
    }
}

/// The cost of every kernel of a compiled schedule, in the order of the launches.
///
/// # Errors
/// If the plan names a grid function that the algorithm lacks.
pub fn kernels(compiled: &Compiled) -> Result<Vec<KernelCost>, String> {
    let pairs = compiled.plan.launches.iter().zip(&compiled.kernels);
    pairs
        .map(|(launch, kernel)| self::kernel(&compiled.problem, &compiled.plan, launch, kernel))
        .collect()
}

/// The cost of one kernel, which `launch` was lowered to.
///
/// # Errors
/// If the launch names a grid function that the algorithm lacks.
pub fn kernel(
    algorithm: &Algorithm,
    plan: &Plan,
    launch: &Launch,
    kernel: &Kernel,
) -> Result<KernelCost, String> {
    let find =
        |name: &String| algorithm.find(name).ok_or_else(|| format!("no grid function `{name}`"));
    let roots: Vec<FnId> =
        launch.outputs.iter().map(|(_, name)| find(name)).collect::<Result<_, _>>()?;
    let stored: BTreeSet<FnId> =
        launch.inputs.iter().map(|(name, _)| find(name)).collect::<Result<_, _>>()?;
    let read = footprint(algorithm, &roots, &stored);
    let counts = kernel.operations();
    let reads = |name: &str| {
        let mut inputs = launch.inputs.iter();
        inputs.any(|(input, _)| plan.array_of(input) == name)
    };
    let writes = |name: &str| launch.outputs.iter().any(|(output, _)| output == name);
    let mut inputs = Vec::new();
    for (name, reach) in &launch.inputs {
        let points = read.get(&find(name)?).cloned().unwrap_or_default();
        let fetched = if counts.copies + counts.boxes == 0 {
            fetched_points(kernel.launch.tile, &points)
        } else {
            fetched_box(kernel, &points, *reach)
        };
        inputs.push(InputCost {
            name: name.clone(),
            points: points.len(),
            fetched,
            rim: rim(&points),
            moved: sectors::moved(kernel, plan.array_of(name), &reads),
        });
    }
    let cells = counts.cells.max(1);
    let words = kernel.value_bytes.div_ceil(REGISTER_BYTES);
    let flops = counts.adds + counts.muls + 2 * counts.fmas + counts.divisions;
    Ok(KernelCost {
        name: launch.name.clone(),
        substep: launch.substep,
        kernel: launch.kernel,
        value_bytes: kernel.value_bytes,
        inputs,
        outputs: launch.outputs.iter().map(|(buffer, _)| buffer.clone()).collect(),
        written: launch
            .outputs
            .iter()
            .map(|(buffer, _)| sectors::moved(kernel, buffer, &writes))
            .sum(),
        cells: u32::try_from(cells).unwrap_or(u32::MAX),
        operations: counts.cost as f64 / cells as f64,
        flops: flops as f64 / cells as f64,
        work: counts,
        registers: u32::try_from(counts.live * words)
            .unwrap_or(u32::MAX)
            .saturating_add(ADDRESS_REGISTERS),
        shared_bytes: kernel.shared_bytes(),
        tile: kernel.launch.tile,
        runs: kernel.launch.runs,
        passes: (!kernel.shared.is_empty()).then(|| kernel.dimension.saturating_sub(1)),
        ahead: kernel.barriers.iter().any(|barrier| barrier.slots > 1),
        threads: kernel.threads(),
        blocks: kernel.launch.blocks_per_unit,
    })
}

/// Cells before and behind a tile that some point reaches, along each axis.
fn rim(points: &BTreeSet<Offset>) -> [u32; 3] {
    [0, 1, 2].map(|axis: usize| {
        let along = || points.iter().map(move |at| at[axis]).chain([0]);
        let (low, high) = (along().min().unwrap_or(0), along().max().unwrap_or(0));
        low.abs_diff(high)
    })
}

/// Bytes a cell that a substep must move, however it is scheduled: each array of a state variable
/// that it needs is read once, each that it changes is written once. A value that a field had is in an array, and not written.
pub fn floor_bytes(algorithm: &Algorithm, substep: usize, value_bytes: usize) -> f64 {
    if substep >= algorithm.substeps.len() {
        return 0.0;
    }
    let roots: Vec<FnId> = algorithm.stored_updates(substep).iter().map(|(_, id)| *id).collect();
    let read = bounds(algorithm, &roots, &BTreeSet::new());
    ((read.len() + roots.len()) * value_bytes) as f64
}

/// Distinct points that a block reads for a tile, divided by the cells of the tile. Along an axis where the tile is 0
/// it covers the whole extent and has no halo.
///
/// For points on the axes up to a radius this is Pekkilä et al. 2017, Eq. 19; for a full cube of
/// points it is Eq. 12.
pub fn fetched_points(tile: [u32; 3], points: &BTreeSet<Offset>) -> f64 {
    let bounded = tile.map(|cells| cells > 0);
    let flat: BTreeSet<[i32; 3]> = points
        .iter()
        .map(|at| [0, 1, 2].map(|axis| if bounded[axis] { at[axis] } else { 0 }))
        .collect();
    let tile = tile.map(|cells| cells.max(1) as usize);
    let bound = |axis: usize| {
        let along = || flat.iter().map(move |at| at[axis]);
        (along().min().unwrap_or(0), along().max().unwrap_or(0))
    };
    let bounds = [bound(0), bound(1), bound(2)];
    let size =
        [0, 1, 2].map(|axis: usize| tile[axis] + bounds[axis].0.abs_diff(bounds[axis].1) as usize);
    let mut seen = vec![false; size[0] * size[1] * size[2]];
    for at in &flat {
        let first = [0, 1, 2].map(|axis: usize| at[axis].abs_diff(bounds[axis].0) as usize);
        for z in first[2]..first[2] + tile[2] {
            for y in first[1]..first[1] + tile[1] {
                let row = (z * size[1] + y) * size[0] + first[0];
                seen[row..row + tile[0]].fill(true);
            }
        }
    }
    let count = seen.into_iter().filter(|seen| *seen).count();
    count as f64 / (tile[0] * tile[1] * tile[2]) as f64
}

/// Values that a kernel with copied planes moves for each of its cells: whole boxes, whose rows
/// start and end on full copies, on all planes of the chunk and the halo before and behind it
/// (Pekkilä et al. 2017, Eq. 12, with the true halo on each side).
fn fetched_box(kernel: &Kernel, points: &BTreeSet<Offset>, reach: [u32; 3]) -> f64 {
    let vector = (COPY_BYTES / kernel.value_bytes).max(1) as u32;
    let march = kernel.dimension.saturating_sub(1);
    let along = |axis: usize| {
        let tile = kernel.launch.tile[axis];
        if tile == 0 {
            return 1.0;
        }
        let offsets = || points.iter().map(move |at| at[axis]);
        let before = offsets().min().unwrap_or(0).min(0).unsigned_abs();
        let behind = offsets().max().unwrap_or(0).max(0).unsigned_abs();
        let rim = match axis {
            axis if axis == march => 2 * reach[axis],
            0 => before.next_multiple_of(vector) + behind.next_multiple_of(vector),
            _ => before + behind,
        };
        f64::from(tile + rim) / f64::from(tile)
    };
    along(0) * along(1) * along(2)
}
