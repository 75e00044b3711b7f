//! Overlaps: the way in which several devices that share a mesh get ghost cells from each other.

/// The order in time of a launch and of the values that it needs of other devices. On one device there is nothing to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overlap {
    /// Values are on their way while blocks that need none of them run; all others, the rim, run behind them.
    Rim,
    /// Launches store the values that other devices need in their memory, too, and wait for each other. Devices that cannot do
    /// so, those of the processor for example, exchange the values as with [`None`](Overlap::None).
    Store,
    /// Launches wait for the values.
    None,
}

impl Overlap {
    /// Every overlap.
    pub const ALL: [Overlap; 3] = [Overlap::Rim, Overlap::Store, Overlap::None];

    /// Its word in schedules.
    pub fn word(self) -> &'static str {
        match self {
            Overlap::Rim => "rim",
            Overlap::Store => "store",
            Overlap::None => "none",
        }
    }

    /// The overlap of this name.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|overlap| overlap.word() == word)
    }
}
