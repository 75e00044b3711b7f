//! Layouts: how the arrays that a schedule works on lie in memory, and the strategies that serve them.

use super::strategies::{self, Strategy};
use super::{Blame, Refusal};

/// The layout of the arrays of fields, of their new values, and of accumulators in memory; other arrays are alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// A structure of arrays: one array behind the other.
    #[default]
    Soa,
    /// An array of structures: all values of a cell side by side.
    Aos,
    /// Fields, their new values, and stored functions that neighbours read, in surfaces: memory that is read and
    /// written through the texture units, which choose the layout (Cygert et al. 2014, section 2). Functions that are
    /// read in their own cell alone do not use them.
    Surface,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Layout; 3] = [Layout::Soa, Layout::Aos, Layout::Surface];

    /// Its word in schedules.
    pub fn word(self) -> &'static str {
        match self {
            Layout::Soa => "soa",
            Layout::Aos => "aos",
            Layout::Surface => "surface",
        }
    }

    /// The layout of this name.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.word() == word)
    }
}

impl Strategy {
    /// Checks that its kernels read and write arrays of this layout.
    ///
    /// # Errors
    /// Names the layouts and the strategies that may be used.
    pub fn check_layout(&self, layout: Layout) -> Result<(), Refusal> {
        if self.layouts.contains(&layout) {
            return Ok(());
        }
        let own = self.layouts.iter().map(|own| format!("`layout {}`", own.word()));
        let others = strategies::ALL.iter().filter(|s| s.layouts.contains(&layout));
        let others = others.map(|s| format!("`kernel {}`", s.name));
        Err(Refusal {
            blame: Blame::Layout,
            message: format!(
                "`kernel {}` does not serve `layout {}`; use {}",
                self.name,
                layout.word(),
                own.chain(others).collect::<Vec<_>>().join(" or ")
            ),
        })
    }
}
