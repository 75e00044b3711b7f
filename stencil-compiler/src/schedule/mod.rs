//! The `Schedule`: plain data that says where each grid function lives and how each kernel is
//! blocked. It cannot change a bit of the result.
//!
//! Invariants (kept by [`check`](check::check)): names exist; there is one blocking for each
//! kernel that the placements make; a placement is one that its kernel's blocking can serve.

use std::collections::BTreeMap;

use crate::algorithm::Algorithm;
use crate::kernel::LaunchKind;
use crate::kernel::blocking;
use crate::plan::kernel_count;

mod advice;
pub mod check;
pub mod cuts;
pub mod heuristic;
pub mod passes;
pub mod plans;
pub mod presets;
mod refusal;
pub mod search;
pub mod space;
mod sums;
#[cfg(test)]
mod tests;
pub mod text;

pub use refusal::{Blame, Refusal};

/// Where grid functions live and how kernels are blocked; the same for every substep.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Schedule {
    /// Placements by name; a grid function that is not listed is [`Placement::Inline`].
    pub placements: BTreeMap<String, Placement>,
    /// The pass in which a component of a field gets its new values, from 0; one that is not listed
    /// gets them in pass 0. Each pass is a kernel: several small ones have registers enough where one
    /// has not, and read the fields again.
    pub passes: BTreeMap<String, u32>,
    /// One blocking for each kernel of a substep, in order of execution: those of stored functions, then
    /// those of the passes. If there are fewer, the first passes share kernels with stored functions.
    pub kernels: Vec<Blocking>,
}

/// Where a grid function lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// Recomputed wherever it is used.
    Inline,
    /// Computed once in its own column and kept in registers while a march passes.
    Register,
    /// A sum whose partial sums ride along the march: each plane adds its terms when it is there.
    Carried,
    /// Computed once for each plane of a block's tile and the rim that neighbours read, and kept in
    /// shared memory while a march passes.
    Shared,
    /// Materialized in global memory by a kernel of its own.
    Global(Halo),
}

/// How the ghost cells of a stored grid function come to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Halo {
    /// Copied from the neighbouring patch or across the periodic seam.
    Exchange,
    /// Computed from ghost cells of the fields, which must be deeper for it.
    Recompute,
}

/// How one kernel covers its patch: a strategy of `kernel::blocking` and its parameters.
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
        let params = params
            .iter()
            .map(|(name, value)| ((*name).to_string(), *value))
            .collect();
        Blocking {
            strategy: strategy.to_string(),
            params,
        }
    }
}

impl Schedule {
    /// The placement of a grid function.
    pub fn placement(&self, name: &str) -> Placement {
        self.placements
            .get(name)
            .copied()
            .unwrap_or(Placement::Inline)
    }

    /// Kernels of stored functions that are passes, too.
    pub fn shared_kernels(&self, algorithm: &Algorithm) -> usize {
        let most = kernel_count(algorithm, &self.placements) + self.more_passes();
        most.saturating_sub(self.kernels.len())
    }

    /// Gives it as many blockings as it has kernels where none is shared: the last ones stay, the first is
    /// repeated before them. Returns their number.
    pub fn resize(&mut self, algorithm: &Algorithm) -> usize {
        self.resize_sharing(algorithm, 0)
    }

    /// The same where so many kernels of stored functions are passes, too, or as many as there can be.
    pub fn resize_sharing(&mut self, algorithm: &Algorithm, shared: usize) -> usize {
        let stages = kernel_count(algorithm, &self.placements) - 1;
        let passes = self.more_passes() + 1;
        let least = if passes > 1 {
            stages.max(passes)
        } else {
            stages + 1
        };
        let wanted = (stages + passes).saturating_sub(shared).max(least);
        let kernels = &mut self.kernels;
        if let Some(first) = kernels.first().cloned() {
            kernels.drain(..kernels.len().saturating_sub(wanted));
            let missing = wanted.saturating_sub(kernels.len());
            kernels.splice(..0, std::iter::repeat_n(first, missing));
        }
        wanted
    }

    /// Passes after the first one.
    pub fn more_passes(&self) -> usize {
        self.passes.values().max().map_or(0, |last| *last as usize)
    }

    /// Are all its kernels blocked for a processor, or all for a card?
    pub fn is_for(&self, kind: LaunchKind) -> bool {
        let of = |kernel: &Blocking| blocking::find(&kernel.strategy).is_ok_and(|s| s.kind == kind);
        self.kernels.iter().all(of)
    }
}
