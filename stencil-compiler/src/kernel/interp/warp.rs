//! A warp: 32 threads in lockstep, each with its registers.

use super::barrier::join;
use super::program::{Scalar, Test};
use crate::expr::{Op, Real};
use crate::kernel::{Index, Kernel, WARP};

/// Threads of a warp.
pub(super) const LANES: usize = WARP as usize;

/// An integer of each thread.
pub(super) type Ints = [i64; LANES];

/// The lanes of a mask, in order.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask & (1 << lane) != 0)
}

/// The state of a warp: ready, or the reason why it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// Waits for this barrier (of all slots of all arrays) to complete a phase of this parity.
    Waiting {
        barrier: usize,
        parity: u64,
    },
    AtSync,
    Done,
}

/// A loop that a warp is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    pub(super) var: usize,
    pub(super) now: i64,
    pub(super) to: i64,
    pub(super) start: usize,
}

/// A cell of each thread, and the box that holds those of active threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellLanes {
    pub(super) at: [Ints; 3],
    pub(super) low: [i64; 3],
    pub(super) high: [i64; 3],
}

/// The position of a warp in the launch.
#[derive(Clone, Debug)]
pub(super) struct Position {
    pub(super) block: [i64; 3],
    pub(super) size: [i64; 3],
    pub(super) thread: [Ints; 3],
    numbers: Numbers,
}

/// The numbering of the cells of a region.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    extend: [i64; 3],
    region: [i64; 3],
    /// The slowest axis.
    last: usize,
}

impl Numbers {
    fn new(kernel: &Kernel, cells: [usize; 3]) -> Self {
        let extend = kernel.launch.extend.map(i64::from);
        Numbers {
            extend,
            region: std::array::from_fn(|axis| cells[axis] as i64 + 2 * extend[axis]),
            last: kernel.dimension.saturating_sub(1),
        }
    }

    /// The coordinate along an axis of the cell with a number.
    fn at(&self, number: i64, axis: usize) -> i64 {
        let faster: i64 = self.region[..axis].iter().product();
        let place = match number / faster {
            place if axis < self.last => place % self.region[axis],
            place => place,
        };
        place - self.extend[axis]
    }
}

/// The state of a warp.
#[derive(Clone, Debug)]
pub(super) struct Warp<T> {
    pub(super) state: State,
    pub(super) pc: usize,
    /// Threads that run the current statement.
    pub(super) mask: u32,
    /// Threads that exist.
    pub(super) alive: u32,
    pub(super) masks: Vec<u32>,
    pub(super) loops: Vec<Loop>,
    /// The kernel's registers, and behind them its constants.
    pub(super) regs: Vec<[T; LANES]>,
    /// Registers that are not constants.
    own: usize,
    /// For each register, the threads in which it has a value.
    pub(super) defined: Vec<u32>,
    pub(super) ints: Vec<Ints>,
    pub(super) cells: Vec<CellLanes>,
    pub(super) position: Position,
    /// The known times of every warp and, behind them, of the copies of every warp and the boxes of every barrier.
    pub(super) clock: Vec<u32>,
    /// The further times known to threads that waited without the others.
    pub(super) alone: Vec<u32>,
    pub(super) alone_lanes: u32,
    /// Time of the copies that the warp starts now.
    pub(super) engine: u32,
}

impl<T: Real> Warp<T> {
    /// Warp `w` of a block of this many threads in this shape.
    pub(super) fn new(
        kernel: &Kernel,
        constants: &[T],
        w: usize,
        threads: usize,
        shape: [usize; 3],
        (cells, actors): ([usize; 3], usize),
    ) -> Self {
        let first = w * LANES;
        let thread = |axis: usize| {
            std::array::from_fn(|lane| {
                let id = first + lane;
                let along = [id % shape[0], id / shape[0] % shape[1], id / (shape[0] * shape[1])];
                along[axis] as i64
            })
        };
        let count = (threads - first).min(LANES);
        let alive = if count == LANES { u32::MAX } else { (1 << count) - 1 };
        let nowhere = CellLanes { at: [[0; LANES]; 3], low: [0; 3], high: [0; 3] };
        let own = kernel.registers.len();
        let mut regs = vec![[T::ZERO; LANES]; own];
        regs.extend(constants.iter().map(|value| [*value; LANES]));
        Warp {
            state: State::Ready,
            pc: 0,
            mask: alive,
            alive,
            masks: Vec::new(),
            loops: Vec::new(),
            own,
            defined: vec![0; regs.len()],
            regs,
            ints: vec![[0; LANES]; kernel.ints.len()],
            cells: vec![nowhere; kernel.cells.len()],
            position: Position {
                block: [0; 3],
                size: cells.map(|n| n as i64),
                thread: [thread(0), thread(1), thread(2)],
                numbers: Numbers::new(kernel, cells),
            },
            clock: vec![0; actors],
            alone: vec![0; actors],
            alone_lanes: 0,
            engine: 0,
        }
    }

    /// Some threads wait without the others: their warp does not learn the times.
    pub(super) fn learn_alone(&mut self, mut learnt: Vec<u32>) {
        if self.alone_lanes == self.mask {
            join(&mut learnt, &self.alone);
        }
        self.alone = learnt;
        self.alone_lanes = self.mask;
    }

    /// The times known to the threads that run now.
    pub(super) fn known(&self) -> Vec<u32> {
        let mut known = self.clock.clone();
        if self.mask & !self.alone_lanes == 0 {
            join(&mut known, &self.alone);
        }
        known
    }

    /// Back to the start of the kernel.
    pub(super) fn restart(&mut self, block: [i64; 3], queues: &[usize]) {
        self.state = State::Ready;
        self.pc = 0;
        self.mask = self.alive;
        self.masks.clear();
        self.loops.clear();
        self.alone.fill(0);
        self.alone_lanes = 0;
        self.defined.fill(0);
        self.defined[self.own..].fill(u32::MAX);
        for queue in queues {
            self.regs[*queue] = [T::ZERO; LANES];
            self.defined[*queue] = u32::MAX;
        }
        self.position.block = block;
    }

    pub(super) fn operation(
        &mut self,
        reg: usize,
        op: Op,
        args: &[usize; Op::MOST_ARGUMENTS],
        count: usize,
    ) {
        let mut defined = self.mask;
        for arg in &args[..count] {
            defined &= self.defined[*arg];
        }
        let mut values = [T::ZERO; LANES];
        op.eval_lanes(&args.map(|arg| &self.regs[arg]), &mut values);
        self.regs[reg] = values;
        self.defined[reg] = defined;
    }

    /// A loop or a value of a routine, in each thread that is at work. Returns the iterations of its loops: those that
    /// the threads do, and those for which the warp takes time.
    pub(super) fn called(&mut self, reg: usize, op: Op, args: &[usize]) -> [u64; 2] {
        let mut values = [T::ZERO; LANES];
        // The most iterations of a thread, of each loop.
        let mut most: Vec<u32> = Vec::new();
        let mut done = 0;
        for lane in lanes(self.mask) {
            let own: Vec<T> = args.iter().map(|arg| self.regs[*arg][lane]).collect();
            let mut iterations = Vec::new();
            values[lane] = op.eval_counted(&own, &mut iterations);
            done += iterations.iter().map(|n| u64::from(*n)).sum::<u64>();
            most.resize(iterations.len(), 0);
            most.iter_mut().zip(iterations).for_each(|(most, n)| *most = (*most).max(n));
        }
        let defined = args.iter().fold(self.mask, |all, arg| all & self.defined[*arg]);
        self.regs[reg] = values;
        self.defined[reg] = defined;
        [done, most.into_iter().map(|n| LANES as u64 * u64::from(n)).sum()]
    }

    pub(super) fn set(&mut self, reg: usize, value: usize) {
        for lane in lanes(self.mask) {
            self.regs[reg][lane] = self.regs[value][lane];
        }
        self.defined[reg] = (self.defined[reg] & !self.mask) | (self.defined[value] & self.mask);
    }

    pub(super) fn cell(&mut self, cell: usize, at: &[Scalar<'_>; 3]) {
        let at = [self.each(at[0]), self.each(at[1]), self.each(at[2])];
        let (mut low, mut high) = ([i64::MAX; 3], [i64::MIN; 3]);
        for axis in 0..3 {
            for lane in lanes(self.mask) {
                low[axis] = low[axis].min(at[axis][lane]);
                high[axis] = high[axis].max(at[axis][lane]);
            }
        }
        self.cells[cell] = CellLanes { at, low, high };
    }

    /// An index in each thread.
    pub(super) fn each(&self, scalar: Scalar<'_>) -> Ints {
        if scalar.uniform { [self.one(scalar.index); LANES] } else { self.lanes(scalar.index) }
    }

    /// An index on which all threads agree.
    pub(super) fn one(&self, index: &Index) -> i64 {
        match index {
            Index::Const(value) => *value,
            Index::Var(var) => self.ints[var.0 as usize][0],
            Index::Block(axis) => self.position.block[*axis],
            Index::Thread(axis) => self.position.thread[*axis][0],
            Index::Size(axis) => self.position.size[*axis],
            Index::Add(a, b) => self.one(a).wrapping_add(self.one(b)),
            Index::Sub(a, b) => self.one(a).wrapping_sub(self.one(b)),
            Index::Mul(a, by) => self.one(a).wrapping_mul(*by),
            Index::Div(a, by) => self.one(a).wrapping_div(*by),
            Index::Rem(a, by) => self.one(a).wrapping_rem(*by),
            Index::Min(a, b) => self.one(a).min(self.one(b)),
            Index::Wrap(a, axis) => wrapped(self.one(a), self.position.size[*axis]),
            Index::Numbered(a, axis) => self.position.numbers.at(self.one(a), *axis),
        }
    }

    fn lanes(&self, index: &Index) -> Ints {
        match index {
            Index::Const(value) => [*value; LANES],
            Index::Var(var) => self.ints[var.0 as usize],
            Index::Block(axis) => [self.position.block[*axis]; LANES],
            Index::Thread(axis) => self.position.thread[*axis],
            Index::Size(axis) => [self.position.size[*axis]; LANES],
            Index::Add(a, b) => pairs(self.lanes(a), &self.lanes(b), i64::wrapping_add),
            Index::Sub(a, b) => pairs(self.lanes(a), &self.lanes(b), i64::wrapping_sub),
            Index::Min(a, b) => pairs(self.lanes(a), &self.lanes(b), i64::min),
            Index::Mul(a, by) => pairs(self.lanes(a), &[*by; LANES], i64::wrapping_mul),
            Index::Div(a, by) => pairs(self.lanes(a), &[*by; LANES], i64::wrapping_div),
            Index::Rem(a, by) => pairs(self.lanes(a), &[*by; LANES], i64::wrapping_rem),
            Index::Wrap(a, axis) => {
                let size = [self.position.size[*axis]; LANES];
                pairs(self.lanes(a), &size, wrapped)
            }
            Index::Numbered(a, axis) => {
                let numbers = &self.position.numbers;
                self.lanes(a).map(|number| numbers.at(number, *axis))
            }
        }
    }

    /// The active threads where all tests hold.
    pub(super) fn test(&self, tests: &[Test<'_>]) -> u32 {
        let mut mask = self.mask;
        for test in tests {
            let (left, right) = (self.each(test.left), self.each(test.right));
            for lane in 0..LANES {
                if (left[lane] < right[lane]) != test.less {
                    mask &= !(1 << lane);
                }
            }
        }
        mask
    }
}

/// The index that a device computes: one size is added or subtracted, never two.
fn wrapped(at: i64, size: i64) -> i64 {
    match at {
        at if at < 0 => at.wrapping_add(size),
        at if at >= size => at.wrapping_sub(size),
        at => at,
    }
}

/// `f` of the integers of each thread; a loop over one array, which is not copied about.
#[inline(always)]
fn pairs(mut a: Ints, b: &Ints, f: impl Fn(i64, i64) -> i64) -> Ints {
    for lane in 0..LANES {
        a[lane] = f(a[lane], b[lane]);
    }
    a
}
