//! Where kernels have the numbers from that are the same in every cell.

/// Where kernels have those uniforms from that do not change in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coefficients {
    /// They are handed to the kernel, with those that change.
    #[default]
    Parameter,
    /// They stand in the text of the kernel, which is one of the run then.
    Literal,
}

impl Coefficients {
    /// All of them.
    pub const ALL: [Coefficients; 2] = [Coefficients::Parameter, Coefficients::Literal];

    /// Its word in schedules.
    pub fn word(self) -> &'static str {
        match self {
            Coefficients::Parameter => "parameter",
            Coefficients::Literal => "literal",
        }
    }

    /// The choice of this name.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.word() == word)
    }
}
