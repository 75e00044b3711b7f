//! How long a kernel takes: the time that memory, the instruction issue, the arithmetic units and
//! the shared memory of a card each need for it, and how well they overlap.
//!
//! The bytes are those of [`KernelCost::memory_bytes`]; instructions and shared words are counted
//! in the kernel's main loop. Blocks run in waves; a wave that is not full, a tile that overhangs the
//! patch and the planes before and behind a chunk take time that gives no cells.
//!
//! What instructions of a kind cost beside themselves (addresses, the loop, waiting) and how parts
//! overlap was fitted to measured schedules, drawn at random, of four fields on an H200: constants
//! below that have no unit.

use super::{Card, KernelCost, Multiprocessor};

/// Threads of a warp.
const WARP: f64 = 32.0;

/// Warps of one cell a thread that hide the latency of a multiprocessor's units; with fewer it is seen.
const WARPS: f64 = 8.0;

/// Issue slots of an arithmetic instruction on four bytes: many pair with others.
const ARITHMETIC: f64 = 0.85;

/// Issue slots of an access to global memory, with its address and its wait.
const ACCESS: f64 = 6.8;

/// Issue slots of an access to shared memory, or of a move.
const SHARED: f64 = 2.75;

/// Issue slots of an asynchronous copy.
const COPY: f64 = 16.5;

/// How much longer words of shared memory take than they would one behind the other.
const CONFLICTS: f64 = 1.4;

/// The part of the time of spilled words that is seen.
const SPILLS: f64 = 0.17;

/// What a card does in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Bytes of a copy, read and written.
    pub copy_bytes: f64,
    /// Cycles of a multiprocessor under load.
    pub clock: f64,
    /// Lanes of a multiprocessor that compute on four bytes: multiply-adds in a cycle.
    pub lanes: f64,
    /// How much longer arithmetic on eight bytes takes.
    pub double: f64,
    /// Words of four bytes that a multiprocessor's shared memory and first cache give in a cycle.
    pub words: f64,
    /// Seconds between the end of a kernel and the begin of the next one in a captured step.
    pub launch: f64,
    /// Seconds that a launch that fills ghost cells takes at least.
    pub fill: f64,
    /// What a multiprocessor has for its blocks.
    pub multiprocessor: Multiprocessor,
    /// Its multiprocessors, and the cache that they share.
    pub card: Card,
}

impl Rates {
    /// Floating-point operations of the card in a second, on values of so many bytes; a multiply-add is two.
    pub fn peak_flops(&self, value_bytes: usize) -> f64 {
        let wide = if value_bytes > 4 { self.double } else { 1.0 };
        let lanes = self.lanes * f64::from(self.card.units);
        2.0 * lanes * self.clock / wide
    }
}

/// What bounds a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Memory moves bytes.
    Memory,
    /// Multiprocessors issue instructions.
    Issue,
    /// Arithmetic units compute.
    Arithmetic,
    /// Shared memory and the first cache give words.
    Shared,
}

impl Limit {
    /// The limit in words.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Memory => "memory",
            Limit::Issue => "issue",
            Limit::Arithmetic => "arithmetic",
            Limit::Shared => "shared memory",
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
    /// Giving words of shared memory and the first cache.
    pub shared: f64,
    /// How much longer it takes than full waves of tiles that fit the patch would, without planes to
    /// warm up.
    pub waste: f64,
    /// All of it, with what does not overlap.
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
        ];
        let most = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.unwrap_or((Limit::Memory, 0.0))
    }
}

impl KernelCost {
    /// Predicted time over a patch of `cells`; `registers` and `spilled` bytes as the compiler of
    /// the card reports them, or those predicted. `None` for kernels over rows, and where not even one
    /// block fits.
    pub fn time(
        &self,
        cells: [usize; 3],
        rates: &Rates,
        (registers, spilled): (u32, u32),
    ) -> Option<Time> {
        let bytes = self.memory_bytes(cells, &rates.card)?;
        let n = cells.iter().product::<usize>() as f64;
        let words = self.value_bytes as f64 / 4.0;
        let wide = if self.value_bytes > 4 {
            rates.double
        } else {
            1.0
        };
        let own = f64::from(self.cells.max(1));
        let work = &self.work;
        let unit = &rates.multiprocessor;
        let resident = unit
            .occupancy(self.threads, registers, self.shared_bytes)
            .blocks;
        if resident == 0 {
            return None;
        }
        let cycles = n / (f64::from(rates.card.units) * rates.clock);
        let (global, on_chip) = (
            (work.loads + work.stores) as f64,
            (work.shared_loads + work.shared_stores + work.moves) as f64,
        );
        let copies = (work.copies + work.boxes) as f64;
        let computed = work.cost as f64;
        let slots = |arithmetic: f64, access: f64, shared: f64, copy: f64| {
            let all = arithmetic * computed + access * global + shared * on_chip + copy * copies;
            all / own * cycles / rates.lanes
        };
        let moved = (work.shared_words + work.shared_stores + work.loads + work.stores) as f64;
        let spills = f64::from(spilled) / 4.0 / own * cycles;
        let memory = bytes * n / rates.copy_bytes;
        let shared = moved * words / own * cycles / rates.words;
        let parts = [
            memory,
            slots(ARITHMETIC * wide, ACCESS, SHARED, COPY),
            CONFLICTS * shared,
        ];
        // Copies that nobody waits for together overlap with all else; where all threads wait, or
        // loads are used at once, only other blocks go on meanwhile.
        let squares = parts.map(|part| part * part);
        let joined = match self.passes.is_some() && work.syncs == 0 {
            true => squares.map(|s| s * s).iter().sum::<f64>().sqrt().sqrt(),
            false => squares.iter().sum::<f64>().sqrt(),
        };
        let warps = f64::from(resident) * f64::from(self.threads) / WARP * own.sqrt();
        let seen = (WARPS / warps).max(1.0).sqrt().sqrt();
        let waste = self.waste(cells, rates.card.units * resident);
        Some(Time {
            memory,
            issue: slots(1.0, 1.0, 1.0, 1.0),
            arithmetic: computed * wide / own * cycles / rates.lanes,
            shared,
            waste,
            total: (joined * seen + SPILLS * spills) * waste,
        })
    }

    /// The time that waves take over the one that their cells would take in full waves.
    fn waste(&self, cells: [usize; 3], at_once: u32) -> f64 {
        let blocks: [usize; 3] = [0, 1, 2].map(|axis| match self.tile[axis] as usize {
            0 => 1,
            tile => cells[axis].div_ceil(tile),
        });
        let all: usize = blocks.iter().product();
        let waves = all.div_ceil(at_once.max(1) as usize) as f64;
        let along = |axis: usize| match self.tile[axis] {
            0 => cells[axis] as f64,
            tile => f64::from(tile),
        };
        let before = self.passes.map_or(0.0, |axis| {
            let rim = self.inputs.iter().map(|input| input.rim[axis]).max();
            f64::from(rim.unwrap_or(0)) / along(axis)
        });
        // Planes that only arrive take less than those that are computed: their share to the power 3/4.
        let planes = (1.0 + before).sqrt() * (1.0 + before).sqrt().sqrt();
        let tile: f64 = [0, 1, 2].map(along).iter().product();
        let cells: f64 = cells.iter().map(|n| *n as f64).product();
        let full = cells / (tile * f64::from(at_once.max(1)));
        // Many short waves run into each other; few long ones do not.
        let waves = if waves > 8.0 {
            full.max(1.0) + 0.5
        } else {
            waves
        };
        let overhang = all as f64 * tile / cells;
        (waves / full).max(overhang) * planes
    }
}

/// Spearman's rank correlation of pairs; 0 where there are fewer than two.
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
    if of_all > 0.0 {
        product(&a, &b) / of_all
    } else {
        0.0
    }
}
