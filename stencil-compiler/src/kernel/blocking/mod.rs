//! Blocking strategies: how one kernel covers its patch. One file each, listed in [`ALL`]; a
//! strategy brings its parameters (the tuner's space) and its lowering.

use crate::kernel::Kernel;
use crate::kernel::lower::Context;
use crate::schedule::{Blame, Blocking, Refusal};

pub mod direct;
pub mod march;
pub mod plane;
pub mod rows;
pub mod tile3d;

/// Every strategy.
pub const ALL: &[&Strategy] = &[
    &rows::STRATEGY,
    &direct::STRATEGY,
    &tile3d::STRATEGY,
    &march::STRATEGY,
    &plane::STRATEGY,
];

/// A way to cover a patch.
#[derive(Debug)]
pub struct Strategy {
    /// Its name in schedules.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// May grid functions ride along in registers (`register`, `carried`)?
    pub marches: bool,
    /// Can it read beyond one end of a periodic axis at the other, so that no ghost cells are needed?
    pub wraps: bool,
    /// Smallest number of space dimensions it can cover.
    pub least_dimension: usize,
    /// Lowers a launch, or says why it cannot.
    pub lower: fn(&Context<'_>) -> Result<Kernel, Refusal>,
}

/// A parameter of a strategy.
#[derive(Debug)]
pub struct Param {
    /// Its name in schedules.
    pub name: &'static str,
    /// What it means.
    pub summary: &'static str,
    /// The value where a schedule gives none.
    pub default: u32,
    /// Values worth trying.
    pub values: &'static [u32],
}

/// A parameter of every blocking of a device: what bounds the registers of a thread.
pub(crate) const BLOCKS: Param = Param {
    name: "blocks",
    summary: "blocks that are to fit on a multiprocessor, which bounds registers",
    default: 1,
    values: &[1, 2, 3],
};

/// The strategy of this name.
///
/// # Errors
/// Lists the strategies where there is none.
pub fn find(name: &str) -> Result<&'static Strategy, Refusal> {
    let known: Vec<&str> = ALL.iter().map(|s| s.name).collect();
    ALL.iter()
        .copied()
        .find(|s| s.name == name)
        .ok_or_else(|| Refusal {
            blame: Blame::Strategy,
            message: format!("no blocking `{name}`; there are {}", known.join(", ")),
        })
}

impl Strategy {
    /// Checks that a blocking names only parameters of this strategy.
    ///
    /// # Errors
    /// Lists the parameters.
    pub fn check_params(&self, blocking: &Blocking) -> Result<(), Refusal> {
        for name in blocking.params.keys() {
            if !self.params.iter().any(|p| p.name == name) {
                let known: Vec<&str> = self.params.iter().map(|p| p.name).collect();
                let message = format!(
                    "`{}` has no parameter `{name}`; it has {}",
                    self.name,
                    known.join(", ")
                );
                return Err(Refusal::params(&[name], message));
            }
        }
        Ok(())
    }
}
