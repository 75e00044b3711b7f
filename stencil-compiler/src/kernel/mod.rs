//! The `Kernel`: one launch as statements over block and thread axes, without a vendor's word.
//!
//! A kernel is the code of one thread. Values live in registers, each assigned once, except for
//! the queues, which are assigned at the end of an iteration. Integer variables hold positions
//! and slots. Invariants (kept by [`check`](Kernel::check) and, run for real, by [`interp`]): a
//! barrier or wait stands between every store and another thread's load; accesses are in bounds;
//! values are defined before use.

use std::collections::BTreeMap;

use crate::expr::{Defined, Lit, Op};
use crate::plan::Place;
use crate::schedule::LaunchKind;

mod blocking;
mod branches;
mod chain;
pub mod check;
pub mod count;
mod extreme;
mod index;
pub mod interp;
mod iteration;
mod lanes;
mod layout;
pub mod lower;
mod moves;
mod multiprocessor;
mod order;
pub mod pipeline;
mod rename;
pub mod rim;
mod shape;
mod split;
pub mod text;
mod values;

pub use extreme::Extreme;
pub use multiprocessor::Multiprocessor;
pub use split::{BlockBox, Split};

/// Threads that run in lockstep.
pub const WARP: u32 = 32;

/// Bytes that shared arrays, and the boxes copied into them, begin on a multiple of.
pub const BOX_ALIGNMENT: usize = 128;

/// Most cells of a box along an axis, and most buffers.
pub const MOST_BOX: u32 = 256;

/// One launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its name, an identifier.
    pub name: String,
    /// Comment lines: the equations it computes.
    pub notes: Vec<String>,
    /// Number of space dimensions.
    pub dimension: usize,
    /// Bytes of a value: asynchronous copies move [`COPY_BYTES`](crate::schedule::COPY_BYTES), so widths depend on it.
    pub value_bytes: usize,
    /// The cover of the patch by threads.
    pub launch: Launch,
    /// Arrays in global memory, in the order of parameters.
    pub buffers: Vec<Buffer>,
    /// Names of the uniforms it uses, in the order of parameters.
    pub uniforms: Vec<String>,
    /// Arrays in shared memory.
    pub shared: Vec<SharedArray>,
    /// Barriers in shared memory that asynchronous copies, boxes and warps arrive on.
    pub barriers: Vec<BarrierArray>,
    /// Names of value registers; [`Reg`] indexes them.
    pub registers: Vec<String>,
    /// For registers in which a grid function is computed, its name.
    pub origins: BTreeMap<Reg, String>,
    /// Registers that start as zero and may be assigned again with [`Stmt::Set`].
    pub queues: Vec<Reg>,
    /// Names of integer variables; [`IntVar`] indexes them.
    pub ints: Vec<String>,
    /// Names of cells; [`CellVar`] indexes them.
    pub cells: Vec<String>,
    /// The code of one thread.
    pub body: Vec<Stmt>,
}

/// The cover of the region `-extend .. n + extend` of a patch of n cells along each axis by threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Rows, of which [`Index::Thread`] along x counts the cells, or blocks of threads.
    pub kind: LaunchKind,
    /// Threads of a block along x, y, z (1 for rows).
    pub threads: [u32; 3],
    /// Cells that a block covers along x, y, z; 0 is the whole extent of the region. There are
    /// `ceil(region / tile)` blocks along each axis.
    pub tile: [u32; 3],
    /// Does a block cover a run of `tile[0]` cells in the order of x, y, z, wherever rows and planes end?
    /// Then all blocks stand along x.
    pub runs: bool,
    /// Cells beyond the interior that are computed too, along each axis.
    pub extend: [u32; 3],
    /// Blocks that should fit on one multiprocessor, a bound for the register allocator.
    pub blocks_per_unit: u32,
}

/// An array in global memory: a padded box of cells that all buffers of a launch share in shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name in the plan.
    pub name: String,
    /// The use that the kernel makes of it.
    pub mode: Mode,
    /// Cells beyond the interior that may be accessed along x, y, z.
    pub halo: [u32; 3],
    /// The place of its values, if those of other buffers lie between them.
    pub beside: Option<Place>,
    /// Is it a surface? It has no addresses: cells are read and written one by one, by their places along the axes.
    /// Values that a launch has written to it may not be read before the launch has ended.
    pub surface: bool,
    /// Does a launch on one of several devices also store its values in the ghost cells of others that show them?
    pub sent: bool,
    /// Does it get one value for each warp, in the cell of the first thread, in place of one for each cell?
    pub extreme: Option<Extreme>,
}

/// The use that a kernel makes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Reads and writes, each thread its own cells only.
    ReadWrite,
}

/// An array of values in the shared memory of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedArray {
    /// Its name.
    pub name: String,
    /// Values in it; the array starts on [`BOX_ALIGNMENT`] bytes.
    pub len: u32,
}

/// Barriers with phases in shared memory. A phase completes when `arrivals` have come and all bytes
/// that it was told to expect; waiting for parity p passes when the phase of that parity has
/// completed (initially: parity 1 passes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierArray {
    /// Its name.
    pub name: String,
    /// The number of barriers.
    pub slots: u32,
    /// Arrivals that complete a phase.
    pub arrivals: u32,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);
    };
}
id!(
    /// Index into [`Kernel::registers`].
    Reg
);
id!(
    /// Index into [`Kernel::ints`].
    IntVar
);
id!(
    /// Index into [`Kernel::cells`].
    CellVar
);
id!(
    /// Index into [`Kernel::buffers`].
    BufferId
);
id!(
    /// Index into [`Kernel::shared`].
    SharedId
);
id!(
    /// Index into [`Kernel::barriers`].
    BarrierId
);

/// An argument of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// Index into [`Kernel::uniforms`].
    Uniform(u32),
    /// A literal.
    Lit(Lit),
}

/// An integer expression; division rounds toward zero and is used on values that are not negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Index {
    /// A constant.
    Const(i64),
    /// An integer variable.
    Var(IntVar),
    /// Index of the block along an axis. For rows: of the row along y and z (x is 0).
    Block(usize),
    /// Index of the thread along an axis. For rows: of the cell along x.
    Thread(usize),
    /// Interior cells of the patch along an axis.
    Size(usize),
    /// Sum.
    Add(Box<Index>, Box<Index>),
    /// Difference.
    Sub(Box<Index>, Box<Index>),
    /// Product with a constant.
    Mul(Box<Index>, i64),
    /// Quotient by a positive constant.
    Div(Box<Index>, i64),
    /// Remainder by a positive constant.
    Rem(Box<Index>, i64),
    /// The smaller.
    Min(Box<Index>, Box<Index>),
    /// Remainder by the interior cells along an axis, for a value from -n to 2 n - 1.
    Wrap(Box<Index>, usize),
    /// The coordinate along an axis of the cell with this number. The cells of the region are numbered from 0 along x,
    /// then y, then z; behind the last of them the slowest axis goes on.
    Numbered(Box<Index>, usize),
}

/// A comparison of integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Left side.
    pub left: Index,
    /// Their relation.
    pub relation: Relation,
    /// Right side.
    pub right: Index,
}

/// The relation of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `>=`
    GreaterEqual,
}

/// A statement of one thread.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A comment line for readers of the source.
    Note(String),
    /// Defines an integer variable (or, inside a loop, redefines it each iteration).
    Int {
        /// The variable.
        var: IntVar,
        /// Its value.
        value: Index,
    },
    /// Defines a cell by its coordinates; interior cells count from 0 along each axis.
    Cell {
        /// The cell.
        cell: CellVar,
        /// Coordinates along x, y, z.
        at: [Index; 3],
    },
    /// Computes a value.
    Let {
        /// The register, assigned once an iteration.
        reg: Reg,
        /// The operation.
        op: Op,
        /// The arguments, as many as the operation takes.
        args: Vec<Operand>,
    },
    /// Assigns a queue register.
    Set {
        /// One of [`Kernel::queues`].
        reg: Reg,
        /// Its new value.
        value: Operand,
    },
    /// Reads a cell of a buffer at a constant offset.
    Load {
        /// The register that receives the value.
        reg: Reg,
        /// The buffer.
        buffer: BufferId,
        /// The cell.
        cell: CellVar,
        /// Offset from it along x, y, z.
        offset: [i32; 3],
    },
    /// Writes consecutive cells of a buffer along x (1, 2 or 4; x of the first is a multiple of it).
    Store {
        /// The buffer.
        buffer: BufferId,
        /// The cell.
        cell: CellVar,
        /// Offset of the first from it along x, y, z.
        offset: [i32; 3],
        /// The values to write.
        values: Vec<Operand>,
    },
    /// Reads consecutive values of a shared array (1, 2 or 4; the start is a multiple of it).
    LoadShared {
        /// The registers that receive the values.
        regs: Vec<Reg>,
        /// The array.
        array: SharedId,
        /// Integer variable with the index of a first value.
        base: IntVar,
        /// Constant added to it.
        offset: i32,
    },
    /// Writes consecutive values of a shared array (1, 2 or 4; the start is a multiple of it).
    StoreShared {
        /// The array.
        array: SharedId,
        /// Integer variable with the index of a first value.
        base: IntVar,
        /// Constant added to it.
        offset: i32,
        /// The values to write.
        values: Vec<Operand>,
    },
    /// Starts an asynchronous copy of [`COPY_BYTES`](crate::schedule::COPY_BYTES) from global to shared memory.
    Copy {
        /// The array.
        array: SharedId,
        /// Index of the first value, a multiple of the values copied.
        to: Index,
        /// The buffer.
        buffer: BufferId,
        /// Coordinates of the first cell; x is a multiple of the values copied.
        from: [Index; 3],
    },
    /// The thread arrives on a barrier once all copies that it has started are complete.
    ArriveCopies {
        /// The array of barriers.
        barrier: BarrierId,
        /// The barrier among them.
        slot: Index,
    },
    /// The warp arrives on a barrier, once, after all its threads came here.
    Arrive {
        /// The array of barriers.
        barrier: BarrierId,
        /// The barrier among them.
        slot: Index,
    },
    /// Starts an asynchronous copy of a box of the same cells of some buffers from global to shared memory, whose rows
    /// then lie one behind the other, all of a buffer before those of the next. It counts in bytes on the present phase
    /// of a barrier, however much of the box is outside of the buffers: such values are undefined, and must not be
    /// used.
    ///
    /// The buffers are equally far apart in memory ([`Plan::series`](crate::plan::Plan::series)). Rows are a
    /// multiple of [`COPY_BYTES`](crate::schedule::COPY_BYTES), and each box of the same buffers has the same extent, which is at most
    /// [`MOST_BOX`] along each axis, and as many buffers. One thread starts a box for its block.
    CopyBox {
        /// The array.
        array: SharedId,
        /// Index of the first value, which begins on [`BOX_ALIGNMENT`].
        to: Index,
        /// The buffers, in their order in memory.
        buffers: Vec<BufferId>,
        /// Coordinates of the first cell; x is a multiple of the values of [`COPY_BYTES`](crate::schedule::COPY_BYTES).
        from: [Index; 3],
        /// Cells along x, y, z.
        extent: [u32; 3],
        /// The array of barriers.
        barrier: BarrierId,
        /// The barrier among them.
        slot: Index,
    },
    /// The present phase of a barrier awaits this many bytes of boxes more.
    Expect {
        /// The array of barriers.
        barrier: BarrierId,
        /// The barrier among them.
        slot: Index,
        /// Bytes, including those of parts outside of a buffer.
        bytes: u32,
        /// Does the thread arrive as well, once and after that?
        arrives: bool,
    },
    /// The thread waits until the phase of this parity has completed. Under a condition that depends
    /// on the thread, only the boxes that it then starts are behind the wait, not its warp.
    Wait {
        /// The array of barriers.
        barrier: BarrierId,
        /// The barrier among them.
        slot: Index,
        /// 0 or 1.
        parity: Index,
    },
    /// All threads of the block wait for each other.
    Sync,
    /// A loop, with the same bounds in all threads of a block.
    For {
        /// The loop variable.
        var: IntVar,
        /// Its first value.
        from: Index,
        /// Its end (exclusive).
        to: Index,
        /// Write all iterations out.
        unroll: bool,
        /// The statements of an iteration.
        body: Vec<Stmt>,
    },
    /// Runs statements where all conditions hold.
    If {
        /// The conditions.
        conditions: Vec<Condition>,
        /// The statements.
        body: Vec<Stmt>,
    },
}

impl Kernel {
    /// The loops and routines that it calls.
    pub fn defined(&self) -> Defined {
        fn find(body: &[Stmt], found: &mut Defined) {
            for stmt in body {
                match stmt {
                    Stmt::Let { op, .. } => found.add(*op),
                    Stmt::For { body, .. } | Stmt::If { body, .. } => find(body, found),
                    _ => {}
                }
            }
        }
        let mut found = Defined::default();
        find(&self.body, &mut found);
        found
    }
}

impl Condition {
    /// Is a variable less than this?
    pub(crate) fn below(var: IntVar, right: Index) -> Self {
        Condition { left: Index::Var(var), relation: Relation::Less, right }
    }

    /// Is a variable not less than this?
    pub(crate) fn at_least(var: IntVar, right: Index) -> Self {
        Condition { left: Index::Var(var), relation: Relation::GreaterEqual, right }
    }
}
