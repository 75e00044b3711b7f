//! Errors in a schedule, each with the part that is to blame, so that legal choices can be looked for there.

use std::fmt;

/// The reason why a schedule cannot be planned or lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The part to blame.
    pub blame: Blame,
    /// The error.
    pub message: String,
}

/// The part of a schedule that is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// A name that is not a grid function.
    Name(String),
    /// The placement of a grid function.
    Placement(String),
    /// The number of blockings, which is not this number of kernels.
    Count(usize),
    /// The strategy of a blocking.
    Strategy,
    /// The layout of arrays, which a blocking cannot serve.
    Layout,
    /// Parameters of a blocking.
    Params(Vec<String>),
    /// No part of a schedule: a mistake of the compiler.
    Nothing,
}

impl Refusal {
    /// The placement of this grid function is to blame.
    pub fn placement(name: &str, message: String) -> Self {
        Refusal { blame: Blame::Placement(name.to_string()), message }
    }

    /// These parameters of the blocking are to blame.
    pub fn params(names: &[&str], message: String) -> Self {
        Refusal { blame: Blame::Params(names.iter().map(ToString::to_string).collect()), message }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Refusal { blame: Blame::Nothing, message }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
