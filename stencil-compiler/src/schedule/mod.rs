//! The `Schedule`: plain data that gives each grid function a place and each kernel a blocking. It cannot change a bit
//! of the result.
//!
//! Invariants (kept by [`compile`](crate::compile::compile)): names exist; there is one blocking for each
//! kernel that the placements make; a placement is one that its kernel's blocking can serve.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::algorithm::{Algorithm, FnId};

mod kernels;
mod layout;
mod overlap;
pub(crate) mod passes;
mod refusal;
mod retired;
pub mod strategies;
pub mod text;

pub use kernels::{kernel_count, stored_together};
pub(crate) use kernels::{kernels_of, levels};
pub use layout::Layout;
pub use overlap::Overlap;
pub use refusal::{Blame, Refusal};
use strategies::march::BARRIER;
pub use strategies::{COPY_BYTES, LaunchKind};

/// The placements of grid functions and the blockings of kernels; the same for every substep.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Schedule {
    /// Substeps that are done at once, 1 if each is done by itself. The problem that is scheduled is then the one
    /// [fused](Algorithm::fused) by this number, and its functions have the placements and passes below.
    pub fuse: usize,
    /// Substeps, or groups of fused ones, that ghost cells from other devices last for: devices exchange values before the
    /// first of them, and compute what they need of their neighbours' cells in the others.
    pub ghosts: usize,
    /// The layout of the arrays of fields and accumulators in memory.
    pub layout: Layout,
    /// The way in which devices that share a mesh get values from each other; [`Overlap::Rim`] without one.
    pub overlap: Option<Overlap>,
    /// Placements by name; a grid function that is not listed is [`Placement::Inline`].
    pub placements: BTreeMap<String, Placement>,
    /// The pass in which a component of a field gets its new values, from 0, or a stored function is computed, of those
    /// that could be computed together; names that are not listed are in pass 0. Each pass is a kernel: several small
    /// ones have registers enough where one has not, and read the fields again.
    pub passes: BTreeMap<String, u32>,
    /// One blocking for each kernel of a substep, in order of execution: those of stored functions, then
    /// those of the passes. If there are fewer, the first passes share kernels with stored functions.
    pub kernels: Vec<Blocking>,
}

/// The placement of a grid function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// Recomputed wherever it is used.
    Inline,
    /// Computed once in its own column and kept in registers while a march passes.
    Register,
    /// A sum whose partial sums ride along the march: each plane adds its terms when it is there.
    Carried(Carry),
    /// Computed once for each plane of a block's tile and the rim that neighbours read, and kept in
    /// shared memory while a march passes.
    Shared,
    /// Materialized in global memory by a kernel of its own.
    Global(Halo),
}

/// The plane whose terms a carried sum takes in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carry {
    /// The plane of the iteration: the sum completes some planes behind it, and its other operands wait.
    Behind,
    /// The newest that a term reaches: the sum completes on the plane of the iteration, and nothing waits.
    Ahead,
}

/// The way in which the ghost cells of a stored grid function are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Halo {
    /// Copied from the neighbouring patch or across the periodic seam.
    Exchange,
    /// Computed from ghost cells of the fields, which must be deeper for it.
    Recompute,
}

/// The way in which one kernel covers its patch: one of the [`strategies`] and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blocking {
    /// The strategy's name.
    pub strategy: String,
    /// Its parameters by name; one that is not listed has the strategy's default.
    pub params: BTreeMap<String, u32>,
}

impl Blocking {
    /// A strategy with some parameters set.
    pub fn new(strategy: &str, params: &[(&str, u32)]) -> Self {
        let params = params.iter().map(|(name, value)| ((*name).to_string(), *value)).collect();
        Blocking { strategy: strategy.to_string(), params }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            fuse: 1,
            ghosts: 1,
            layout: Layout::default(),
            overlap: None,
            placements: BTreeMap::new(),
            passes: BTreeMap::new(),
            kernels: Vec::new(),
        }
    }
}

impl Schedule {
    /// The problem whose functions it places.
    ///
    /// # Errors
    /// If the substeps cannot be [fused](Algorithm::fused) by its number.
    pub fn problem<'a>(&self, algorithm: &'a Algorithm) -> Result<Cow<'a, Algorithm>, Refusal> {
        match self.fuse {
            1 => Ok(Cow::Borrowed(algorithm)),
            group => match algorithm.fused(group) {
                Ok(fused) => Ok(Cow::Owned(fused)),
                Err(message) => Err(Refusal { blame: Blame::Nothing, message }),
            },
        }
    }

    /// The schedule for substeps done one by one: fields in between are new fields then, and these, and functions that
    /// replace others, are not placed. Ghost cells last for one of them.
    pub fn unfused(&self, algorithm: &Algorithm) -> Self {
        if self.fuse == 1 {
            return self.clone();
        }
        let mut schedule = Schedule { fuse: 1, ghosts: 1, ..self.clone() };
        let updates = algorithm.substeps.iter().flat_map(|s| &s.updates);
        let updates: BTreeSet<FnId> = updates.map(|(_, id)| *id).collect();
        schedule.placements.retain(|name, _| {
            let found = algorithm.find(name);
            found.is_some_and(|id| !updates.contains(&id))
        });
        // The functions shared between substeps may have been all that a kernel shares.
        schedule.unsplit();
        schedule
    }

    /// Splits no barrier of a kernel that shares nothing.
    pub(crate) fn unsplit(&mut self) {
        for kernel in &mut self.kernels {
            kernel.params.remove(BARRIER.name);
        }
    }

    /// The schedule with as many kernels as its placements and passes make, all blocked like this.
    pub fn blocked(self, problem: &Algorithm, blocking: Blocking) -> Self {
        let kernels = vec![blocking; kernel_count(problem, &self)];
        Schedule { kernels, ..self }
    }

    /// The schedule with each blocking replaced by the plainest that wraps as it does: all that decides a plan but for the
    /// blockings in it.
    pub(crate) fn outlined(&self) -> Self {
        let plain = |kernel: &Blocking| {
            let wraps = strategies::find(&kernel.strategy).is_ok_and(|s| (s.wraps)(kernel));
            let strategy = match wraps {
                true => &strategies::tile3d::STRATEGY,
                false => &strategies::direct::STRATEGY,
            };
            Blocking::new(strategy.name, &[])
        };
        let kernels = self.kernels.iter().map(plain).collect();
        Schedule { kernels, ..self.clone() }
    }

    /// A schedule of placements alone, without kernels.
    pub fn placing(placements: BTreeMap<String, Placement>) -> Self {
        Schedule { placements, ..Schedule::default() }
    }

    /// Places a grid function; one that is not stored has no pass.
    pub fn place(&mut self, name: &str, placement: Placement) {
        match placement {
            Placement::Inline => self.placements.remove(name),
            _ => self.placements.insert(name.to_string(), placement),
        };
        if !self.stores(name) {
            self.passes.remove(name);
        }
    }

    /// The placement of a grid function.
    pub fn placement(&self, name: &str) -> Placement {
        self.placements.get(name).copied().unwrap_or(Placement::Inline)
    }

    /// Kernels of stored functions of its [problem](Self::problem) that are passes, too.
    pub fn shared_kernels(&self, problem: &Algorithm) -> usize {
        kernel_count(problem, self).saturating_sub(self.kernels.len())
    }

    /// Gives it as many blockings as it has kernels where none is shared: the last ones stay, the first is
    /// repeated before them. Returns their number.
    pub fn resize(&mut self, problem: &Algorithm) -> usize {
        self.resize_sharing(problem, 0)
    }

    /// The same with `shared` kernels of stored functions that are passes, too, or as many as possible.
    pub fn resize_sharing(&mut self, problem: &Algorithm, shared: usize) -> usize {
        let passes = self.more_passes() + 1;
        let stages = kernel_count(problem, self) - passes;
        let least = if passes > 1 { stages.max(passes) } else { stages + 1 };
        let wanted = (stages + passes).saturating_sub(shared).max(least);
        let kernels = &mut self.kernels;
        if let Some(first) = kernels.first().cloned() {
            kernels.drain(..kernels.len().saturating_sub(wanted));
            let missing = wanted.saturating_sub(kernels.len());
            kernels.splice(..0, std::iter::repeat_n(first, missing));
        }
        wanted
    }

    /// Passes after the first one that give fields their new values.
    pub fn more_passes(&self) -> usize {
        let of_fields = self.passes.iter().filter(|(name, _)| !self.stores(name));
        let last = of_fields.map(|(_, pass)| *pass).max();
        last.map_or(0, |last| last as usize)
    }

    /// Stored functions in later kernels than others that could be computed with them.
    pub fn parted(&self) -> impl Iterator<Item = &str> {
        let later = self.passes.iter().filter(|(_, pass)| **pass > 0);
        let names = later.map(|(name, _)| name.as_str());
        names.filter(|name| self.stores(name))
    }

    /// Is this function stored?
    pub fn stores(&self, name: &str) -> bool {
        matches!(self.placement(name), Placement::Global(_))
    }

    /// Are all its kernels blocked for a processor, or all for a card?
    pub fn is_for(&self, kind: LaunchKind) -> bool {
        let of =
            |kernel: &Blocking| strategies::find(&kernel.strategy).is_ok_and(|s| s.kind == kind);
        self.kernels.iter().all(of)
    }
}
