//! Faults of a run, and their places.

use std::fmt;

/// The kind of a [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The kernel does not pass its check, or does not fit the arguments of the run.
    Invalid,
    /// A value that was never written is stored.
    Uninitialised,
    /// An access outside an array.
    OutOfBounds,
    /// An access at a place that is not a multiple of its width.
    Misaligned,
    /// Two accesses, one of them a write, that nothing orders.
    Race,
    /// A wait that passes on a phase which the warp has already seen.
    StalePhase,
    /// More arrivals than a phase has.
    OverArrival,
    /// No warp can go on.
    Deadlock,
    /// A block that ends before it has waited for a box: the box lands in the memory of another.
    InFlight,
    /// Warps of a block wait for each other at different statements.
    DivergentSync,
    /// Two threads store to the same cell, or a thread to one of another part of the launch.
    DoubleStore,
    /// A cell of the region that nothing was stored to.
    NotWritten,
}

/// A fault of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// A description.
    pub message: String,
    /// The statement, as text; empty if there is none.
    pub statement: String,
    /// The block along x, y, z.
    pub block: Option<[u32; 3]>,
    /// The warp within the block.
    pub warp: Option<u32>,
    /// The thread within the warp.
    pub lane: Option<u32>,
    /// Loop variables, outermost first.
    pub loops: Vec<(String, i64)>,
}

impl Fault {
    pub(super) fn of_kernel(kind: FaultKind, message: impl Into<String>) -> Self {
        Fault {
            kind,
            message: message.into(),
            statement: String::new(),
            block: None,
            warp: None,
            lane: None,
            loops: Vec::new(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)?;
        if !self.statement.is_empty() {
            write!(f, " in `{}`", self.statement)?;
        }
        if let Some(block) = self.block {
            write!(f, ", block {block:?}")?;
        }
        if let Some(warp) = self.warp {
            write!(f, ", warp {warp}")?;
        }
        if let Some(lane) = self.lane {
            write!(f, ", lane {lane}")?;
        }
        self.loops.iter().try_for_each(|(name, value)| write!(f, ", {name} = {value}"))
    }
}

impl std::error::Error for Fault {}

/// A [`Fault`] before the machine adds its place.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) kind: FaultKind,
    pub(super) message: String,
    pub(super) lane: Option<usize>,
}

impl Problem {
    pub(super) fn new(kind: FaultKind, message: String) -> Self {
        Problem { kind, message, lane: None }
    }

    pub(super) fn at(kind: FaultKind, lane: usize, message: String) -> Self {
        Problem { kind, message, lane: Some(lane) }
    }
}
