//! Faults of a schedule, with the part of it that is to blame: legal choices are searched there.

use std::fmt;

/// Why a schedule cannot be planned or lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The part that is to blame.
    pub blame: Blame,
    /// The fault.
    pub message: String,
}

/// The part of a schedule that is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// It places what is no grid function.
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
    /// Nothing that a schedule says: a mistake of the compiler.
    Nothing,
}

impl Refusal {
    /// The placement of this grid function is to blame.
    pub fn placement(name: &str, message: String) -> Self {
        Refusal {
            blame: Blame::Placement(name.to_string()),
            message,
        }
    }

    /// These parameters of the blocking are to blame.
    pub fn params(names: &[&str], message: String) -> Self {
        Refusal {
            blame: Blame::Params(names.iter().map(ToString::to_string).collect()),
            message,
        }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Refusal {
            blame: Blame::Nothing,
            message,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
