//! The `Schedule`: plain data that says where each grid function lives and how each kernel is
//! blocked. It cannot change a bit of the result.
//!
//! Invariants (kept by [`check`](check::check)): names exist; there is one blocking for each
//! kernel that the placements make; a placement is one that its kernel's blocking can serve.

use std::collections::BTreeMap;

mod advice;
pub mod check;
pub mod heuristic;
pub mod presets;
mod refusal;
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
    /// One blocking for each kernel of a substep, in order of execution.
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
}
