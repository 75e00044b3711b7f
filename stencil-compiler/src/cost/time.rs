//! The time of a kernel: memory, the instruction issue, the shared memory, the texture units, the start of blocks, the
//! copy engine and waiting each need a time, and these overlap in part.
//!
//! The bytes are those of [`KernelCost::memory_bytes`]; instructions, and the rounds in which shared memory
//! serves a warp, are counted in the kernel's main loop. Blocks run in waves; a wave that is not full, and
//! a tile that overhangs the patch, take time that gives no cells.
//!
//! Constants below that have no unit, and those in cycles, were fitted on an H200: to 889 schedules drawn at
//! random, of four systems in two and three dimensions and both precisions; those of issue slots again to 164
//! such schedules and presets of Navier-Stokes; what quotients cost, and spills that find no room in the first cache, to 86
//! schedules of conservation laws and 15 of their kernels.

use super::{Card, KernelCost, Power};
use crate::compile::Device;
use crate::kernel::Multiprocessor;

/// Issue slots of an arithmetic instruction on four bytes, including the wait for its operands.
const ARITHMETIC: f64 = 1.15;

/// Cycles of a step in which a value waits for another ([`Counts::chain`](crate::kernel::count::Counts::chain)),
/// including instructions that branches and full registers keep the compiler from mixing in.
const STEP: f64 = 15.0;

/// Issue slots of an access to global memory, with its address and its wait.
const ACCESS: f64 = 4.0;

/// Issue slots of a thread in an iteration of the main loop beside its work: positions, the loop, barriers.
const ITERATION: f64 = 77.0;

/// Cycles of a multiprocessor from the start of a block to that of the next.
const BLOCK: f64 = 138.0;

/// Cycles of the copy engine of a multiprocessor for a box of one array. Those of a box of several are assumed to add
/// up: nothing was fitted to it.
const BOX: f64 = 27.5;

/// Cycles in which an iteration waits for values that it has asked for itself.
const ANSWER: f64 = 1_110.0;

/// Values of surfaces that a multiprocessor serves in a cycle: recent ones have four texture units, each for one
/// value, whatever its bytes. Nothing was fitted to it.
const TEXELS: f64 = 4.0;

/// The degree to which times add up if the threads of a block wait for planes that others compute. All threads begin at
/// once and ask shared memory for values while nobody computes. 0: the times overlap, and their squares are added; 1:
/// they follow each other. Fitted, with the cycles, to 22 kernels, most of fused substeps, with one block on a
/// multiprocessor; of several each has the time of the others.
const IN_STEP: f64 = 0.5;

/// Cycles that each iteration takes longer then: with whole barriers, or with split ones, at which a thread says that it has come and
/// waits later.
const TOGETHER: [f64; 2] = [300.0, 100.0];

/// The share of a block's begin and end that is lost if one block is resident and no other uses the time; half as much
/// is lost if two are.
const ALONE: f64 = 0.5;

/// The part of the time of spilled words that is seen: of four kernels with 8 warps on a multiprocessor 0.14 to 0.17. More
/// warps see less, which is not in it.
const SPILLS: f64 = 0.16;

/// The share of a copy's time that the spilled bytes take which the first cache cannot hold.
const LOST: f64 = 0.7;

/// The work that a card does in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Bytes of a copy, read and written.
    pub copy_bytes: f64,
    /// Cycles of a multiprocessor under load, after a rest.
    pub clock: f64,
    /// Lanes of a multiprocessor that compute on four bytes: multiply-adds in a cycle.
    pub lanes: f64,
    /// The factor by which arithmetic on eight bytes takes longer.
    pub double: f64,
    /// Words of four bytes that a multiprocessor's shared memory gives in a cycle.
    pub words: f64,
    /// Seconds between the end of a kernel and the begin of the next one in a captured step.
    pub launch: f64,
    /// Seconds that a launch that fills ghost cells takes at least.
    pub fill: f64,
    /// The share of its clock that it holds without rests.
    pub power: Power,
    /// The resources of a multiprocessor for its blocks.
    pub multiprocessor: Multiprocessor,
    /// Its multiprocessors, and the cache that they share.
    pub card: Card,
}

impl Rates {
    /// The facts about the card that kernels are made for.
    pub fn device(&self) -> Device {
        Device { multiprocessor: self.multiprocessor, units: Some(self.card.units) }
    }

    /// Floating-point operations of the card in a second, on values of this many bytes; a multiply-add is two.
    pub fn peak_flops(&self, value_bytes: usize) -> f64 {
        let wide = if value_bytes > 4 { self.double } else { 1.0 };
        let lanes = self.lanes * f64::from(self.card.units);
        2.0 * lanes * self.clock / wide
    }
}

/// The bottleneck of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Memory moves bytes.
    Memory,
    /// Multiprocessors issue instructions.
    Issue,
    /// Arithmetic units compute.
    Arithmetic,
    /// Shared memory gives words.
    Shared,
    /// Texture units serve values of surfaces.
    Texture,
}

impl Limit {
    /// The limit in words.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Memory => "memory",
            Limit::Issue => "issue",
            Limit::Arithmetic => "arithmetic",
            Limit::Shared => "shared memory",
            Limit::Texture => "texture units",
        }
    }
}

/// Predicted seconds of a launch over a patch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Time {
    /// Moving bytes.
    pub memory: f64,
    /// Issuing instructions.
    pub issue: f64,
    /// Computing.
    pub arithmetic: f64,
    /// Giving words of shared memory.
    pub shared: f64,
    /// Serving values of surfaces.
    pub texture: f64,
    /// The time over that of full waves of tiles that fit the patch.
    pub waste: f64,
    /// Blocks that a multiprocessor holds at once.
    pub resident: u32,
    /// The times that overlap, joined as the root of the sum of squares: memory, and all that scales with the clock.
    pub joined: [f64; 2],
    /// The time of spills: bytes, and words, which scale with the clock.
    pub spilled: [f64; 2],
    /// The time in which threads wait for values that others of their block compute; it scales with the clock.
    pub together: f64,
    /// The whole time, with the parts that do not overlap.
    pub total: f64,
}

impl Time {
    /// The largest part, and its time: no kernel with this work is faster.
    pub fn limit(&self) -> (Limit, f64) {
        let parts = [
            (Limit::Memory, self.memory),
            (Limit::Issue, self.issue),
            (Limit::Arithmetic, self.arithmetic),
            (Limit::Shared, self.shared),
            (Limit::Texture, self.texture),
        ];
        let most = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.unwrap_or((Limit::Memory, 0.0))
    }

    /// The whole time at this share of the clock.
    pub fn at(&self, held: f64) -> f64 {
        if held >= 1.0 {
            return self.total;
        }
        let ([memory, clocked], [bytes, words]) = (self.joined, self.spilled);
        let clocked = clocked / held;
        let after = bytes + (words + self.together) / held;
        (memory * memory + clocked * clocked).sqrt() + after
    }
}

impl KernelCost {
    /// Predicted time over a patch of `cells`; `registers` and `spilled` bytes as the compiler of the card reports
    /// them, or those predicted. `None` for kernels over rows, and if not even one block fits.
    pub fn time(
        &self,
        cells: [usize; 3],
        rates: &Rates,
        (registers, spilled): (u32, u32),
    ) -> Option<Time> {
        let bytes = self.memory_bytes(cells, &rates.card)?;
        let n = cells.iter().product::<usize>() as f64;
        let unit = &rates.multiprocessor;
        let resident = unit.occupancy(self.threads, registers, self.shared_bytes).blocks;
        if resident == 0 {
            return None;
        }
        let wide = if self.value_bytes > 4 { rates.double } else { 1.0 };
        let work = &self.work;
        let computed = work.cost as f64 * wide;
        let moved = (work.loads + work.stores) as f64;
        let on_chip = (work.shared_loads + work.shared_stores + work.moves) as f64;
        // A kernel that does both copies in blocks at the ends of axes alone.
        let copies = match work.boxes {
            0 => work.copies,
            boxes => boxes,
        } as f64;
        // The work of each thread, in seconds of all multiprocessors.
        let cycles = n / (f64::from(rates.card.units) * rates.clock);
        let each = cycles / f64::from(self.cells.max(1));
        let memory = bytes * n / rates.copy_bytes;
        let shared = work.rounds as f64 * each / rates.words;
        let texture = work.texels as f64 * each / TEXELS;
        let alone = match self.ahead {
            true => 1.0,
            false => 1.0 + ALONE / f64::from(resident),
        };
        let planes = self.planes(cells);
        let slots = ARITHMETIC * computed + ACCESS * moved + ITERATION * planes;
        // All warps wait at once; their instructions fill the waits as far as they suffice.
        let threads = f64::from(resident * self.threads.max(1));
        let chain = STEP * work.chain as f64 * planes * each / threads;
        let square = |part: f64| part * part;
        let issued = square(alone * slots * each / rates.lanes);
        let issued = (square(issued) + square(square(chain))).sqrt();
        let others = [memory, shared, texture].into_iter();
        let others = others.chain(self.overheads(cells, rates, resident));
        let in_step = match self.computes_planes() {
            true => 2.0 * IN_STEP / f64::from(resident) * issued.sqrt() * alone * shared,
            false => 0.0,
        };
        let squares = others.map(|part| square(alone * part)).sum::<f64>() + issued + in_step;
        let clocked = (squares - square(alone * memory)).max(0.0).sqrt();
        let waste = self.waste(cells, rates.card.units, resident);
        let spills = self.spills(rates, resident, spilled).map(|part| part * n);
        let together = self.together(cells, rates, resident);
        Some(Time {
            memory,
            issue: (work.cost as f64 + moved + on_chip + copies) * each / rates.lanes,
            arithmetic: computed * each / rates.lanes,
            shared,
            texture,
            waste,
            resident,
            joined: [alone * memory, clocked].map(|part| part * waste),
            spilled: spills.map(|part| part * waste),
            together: together * waste,
            total: (squares.sqrt() + spills.iter().sum::<f64>() + together) * waste,
        })
    }

    /// Seconds for the spills of the threads that compute a cell: the bytes that do not fit in the memory that is both
    /// the first cache and shared memory, seven eighths of which can be shared, and words.
    fn spills(&self, rates: &Rates, resident: u32, spilled: u32) -> [f64; 2] {
        let spilled = f64::from(spilled);
        let of_cell = spilled / f64::from(self.cells.max(1));
        let words = SPILLS * of_cell / 4.0 / (f64::from(rates.card.units) * rates.clock);
        // Each value is written and read.
        let kept = spilled / 2.0 * f64::from(resident * self.threads);
        let unit = &rates.multiprocessor;
        let shared = resident as usize * (self.shared_bytes + unit.reserved_bytes);
        let room = (unit.shared_bytes * 8 / 7).saturating_sub(shared) as f64;
        let lost = if kept > room { 1.0 - room / kept } else { 0.0 };
        [LOST * lost * of_cell / rates.copy_bytes, words]
    }

    /// Seconds in which threads do nothing but wait for values that others of their block compute.
    fn together(&self, cells: [usize; 3], rates: &Rates, resident: u32) -> f64 {
        if !self.computes_planes() {
            return 0.0;
        }
        let cycles = TOGETHER[usize::from(self.work.syncs == 0)];
        let across = [0, 1, 2].map(|axis| match self.passes == Some(axis) {
            true => 1.0,
            false => self.along(axis, cells),
        });
        let n: f64 = cells.iter().map(|n| *n as f64).product();
        let iterations = n / across.iter().product::<f64>() * self.planes(cells);
        cycles / f64::from(resident) * iterations / (f64::from(rates.card.units) * rates.clock)
    }

    /// Seconds for the work that depends on the number of blocks and iterations: starting blocks, copying boxes, and
    /// waiting for values that an iteration has requested itself.
    fn overheads(&self, cells: [usize; 3], rates: &Rates, resident: u32) -> [f64; 3] {
        let each = self.blocks_on(cells) as f64 / (f64::from(rates.card.units) * rates.clock);
        let march = self.passes.map_or(1.0, |axis| self.along(axis, cells));
        let iterations = self.tile_cells(cells) / f64::from(self.threads * self.cells.max(1));
        let planes = self.planes(cells);
        let waits = match self.passes.is_some() && !self.ahead {
            true => ANSWER * iterations * planes / f64::from(resident),
            false => 0.0,
        };
        let boxes = BOX * self.work.boxed as f64 * march * planes;
        [BLOCK * each, boxes * each, waits * each]
    }

    /// Cells of a tile, including those that overhang the patch.
    fn tile_cells(&self, cells: [usize; 3]) -> f64 {
        if self.runs {
            return f64::from(self.tile[0]);
        }
        let sides = [0, 1, 2].map(|axis| self.along(axis, cells));
        sides.iter().product()
    }

    /// Blocks that cover the patch.
    pub(super) fn blocks_on(&self, cells: [usize; 3]) -> usize {
        if self.runs {
            let all: usize = cells.iter().product();
            return all.div_ceil(self.tile[0].max(1) as usize);
        }
        let along = [0, 1, 2].map(|axis| self.blocks_along(axis, cells));
        along.iter().product()
    }

    /// Planes that a block passes for each that it computes, including those before and behind its chunk.
    fn planes(&self, cells: [usize; 3]) -> f64 {
        self.passes.map_or(1.0, |axis| {
            let rim = self.inputs.iter().map(|input| input.rim[axis]).max();
            1.0 + f64::from(rim.unwrap_or(0)) / self.along(axis, cells)
        })
    }

    /// The time that waves take over the one that their cells would take in full waves.
    fn waste(&self, cells: [usize; 3], units: u32, resident: u32) -> f64 {
        let all = self.blocks_on(cells);
        let full = all as f64 / f64::from((units * resident).max(1));
        let n: f64 = cells.iter().map(|n| *n as f64).product();
        (waves(all, units, resident) / full).max(1.0) * all as f64 * self.tile_cells(cells) / n
    }
}

/// The share of the time of a launch of `all` blocks that so many of them take by themselves.
pub(super) fn share(blocks: usize, all: usize, units: u32, resident: u32) -> f64 {
    match all {
        0 => 0.0,
        all => waves(blocks, units, resident) / waves(all, units, resident),
    }
}

/// The time of so many blocks in those of full waves.
fn waves(blocks: usize, units: u32, resident: u32) -> f64 {
    let (units, at_once) = (units as usize, (units * resident).max(1) as usize);
    let full = blocks as f64 / at_once as f64;
    if full > 8.0 {
        // Many short waves run into each other; few long ones do not.
        return full + 0.5;
    }
    let left = (blocks % at_once).div_ceil(units.max(1)) as f64 / f64::from(resident.max(1));
    (blocks / at_once) as f64 + not_full(left)
}

/// The time of a wave that fills this share of the places for blocks, over that of a full one: each block has more of a
/// multiprocessor. The power 3/4 lies between blocks that gain nothing by it and those that gain all.
fn not_full(part: f64) -> f64 {
    part.sqrt() * part.sqrt().sqrt()
}

/// Spearman's rank correlation of pairs; 0 for fewer than two.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |value: fn(&(f64, f64)) -> f64| {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by(|a, b| value(&pairs[*a]).total_cmp(&value(&pairs[*b])));
        let mut ranks = vec![0.0; pairs.len()];
        for (rank, at) in order.into_iter().enumerate() {
            ranks[at] = rank as f64;
        }
        ranks
    };
    let (a, b) = (ranks(|p| p.0), ranks(|p| p.1));
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let of_all = (product(&a, &a) * product(&b, &b)).sqrt();
    if of_all > 0.0 { product(&a, &b) / of_all } else { 0.0 }
}
