//! The page about a system: how it is understood, what it reads and what schedules cost; and the pages of error codes.

use stencil_compiler::algorithm::{Algorithm, FnId};
use stencil_compiler::diag::Code;
use stencil_compiler::schedule::Schedule;

use crate::Failure;
use crate::plan::Problem;
use crate::table::paragraph;

pub(crate) mod equations;
mod footprints;
pub(crate) mod functions;
mod planes;
pub(crate) mod schedules;
mod solver;

/// A system to explain, and its schedules.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The problem.
    pub problem: Problem<'a>,
    /// A schedule with its name; all presets are shown if there is none.
    pub schedule: Option<(&'a str, Schedule)>,
    /// Are times predicted for the mesh of the problem?
    pub predicts: bool,
}

impl Page<'_> {
    /// Returns the page.
    ///
    /// # Errors
    /// If a kernel of a schedule has no cost.
    pub fn text(&self) -> Result<String, Failure> {
        let Problem { model, algorithm, chosen, precision, .. } = self.problem;
        let sections = [
            equations::section(model, chosen),
            functions::section(algorithm),
            footprints::section(algorithm, precision),
            schedules::section(self)?,
        ];
        Ok(sections.join("\n"))
    }
}

/// Returns the page of an error code.
pub fn error_page(code: Code) -> String {
    let (title, explanation) = (code.title(), paragraph("", code.explanation()));
    format!("{code}: {title}\n\n{explanation}")
}

/// Returns a line for each error code.
pub fn error_list() -> String {
    let all = Code::ALL.iter();
    all.map(|code| format!("  {code}  {}\n", code.title())).collect()
}

/// The substep that the page looks at: the second, where the accumulator takes part, or the only
/// one.
pub(crate) fn substep(algorithm: &Algorithm) -> usize {
    1.min(algorithm.substeps.len().saturating_sub(1))
}

/// The grid functions that are the new values of a substep.
pub(crate) fn updates(algorithm: &Algorithm, substep: usize) -> Vec<FnId> {
    let substep = algorithm.substeps.get(substep);
    let updates = substep.map_or(&[][..], |s| s.updates.as_slice());
    updates.iter().map(|(_, id)| *id).collect()
}
