//! Reports on systems, schedules, plans, measurements and runs.
//!
//! A report is one value. Its facts are computed when it is made; [`Render::text`], [`Render::json`] and
//! [`Render::pictures`] render them. Nothing here reads a command line or prints.

use std::fmt;

use serde_json::Value;
use stencil_compiler::model::Formulation;
use stencil_runtime::Error;

pub mod bench;
pub mod check;
pub mod emit;
pub mod explain;
pub mod machine;
mod passes;
mod pictures;
pub mod plan;
mod planes;
pub mod predict;
pub mod run;
pub mod schedules;
pub mod smooth;
pub mod snapshot;
pub mod sweep;
mod table;
pub mod tune;
pub mod verify;
pub mod watch;

pub use pictures::Picture;
pub use table::WIDTH;

/// Facts that are computed once and rendered in several forms.
pub trait Render {
    /// Returns the text for a terminal.
    fn text(&self) -> String;

    /// Returns the object for programs.
    fn json(&self) -> Value;

    /// Draws the pictures, each with the name of its file without an ending.
    fn pictures(&self) -> Vec<(String, Picture)> {
        Vec::new()
    }
}

/// A reason why a report cannot be made.
#[derive(Debug)]
pub enum Failure {
    /// A message for the user, of one or more lines.
    Told(String),
    /// An error of a run.
    Run(Error),
}

impl Failure {
    /// Makes a failure from a message of one or more lines.
    pub fn new(message: impl Into<String>) -> Self {
        Failure::Told(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Told(message) => f.write_str(message.trim_end()),
            Failure::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Run(error)
    }
}

/// A formulation that a plan file chose, and the name of the file.
#[derive(Clone, Debug)]
pub struct ByPlan {
    /// The formulation.
    pub formulation: Formulation,
    /// The name of the file.
    pub file: String,
}

impl ByPlan {
    /// Names the choice and who made it.
    pub fn words(&self) -> String {
        let ByPlan { formulation, file } = self;
        format!("{formulation}, as {file} chose; the declaration leaves it open")
    }
}
