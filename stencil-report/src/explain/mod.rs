//! The page about a system: how it is understood, what it reads and what schedules cost; and the pages of error codes.

use stencil_compiler::algorithm::{Algorithm, FnId};
use stencil_compiler::cost;
use stencil_compiler::diag::Code;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::Model;
use stencil_compiler::schedule::Schedule;

use crate::table::paragraph;
use crate::{ByPlan, Failure};

pub(crate) mod equations;
mod footprints;
pub(crate) mod functions;
mod planes;
pub(crate) mod schedules;

/// A system to explain, and for which schedules and cards.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The equations.
    pub model: &'a Model,
    /// The discrete problem.
    pub algorithm: &'a Algorithm,
    /// Its formulation, if a plan file chose it.
    pub chosen: Option<&'a ByPlan>,
    /// The precision of the values.
    pub precision: Precision,
    /// A schedule with its name; all presets are shown if there is none.
    pub schedule: Option<(&'a str, Schedule)>,
    /// The cells of a mesh that times are predicted for.
    pub cells: Option<[usize; 3]>,
    /// The card that times are predicted for.
    pub on: &'static cost::Model,
}

impl Page<'_> {
    /// Returns the page.
    ///
    /// # Errors
    /// If a kernel of a schedule has no cost.
    pub fn text(&self) -> Result<String, Failure> {
        let sections = [
            equations::section(self.model, self.chosen),
            functions::section(self.algorithm),
            footprints::section(self.algorithm, self.precision),
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
    all.map(|code| format!("  {code}  {}\n", code.title()))
        .collect()
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
