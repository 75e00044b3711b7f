//! Results of a search for a fast schedule.

use serde_json::Value;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::search::plans::Chosen;
use stencil_runtime::tune::{Form, Tuned};

use crate::{Picture, Render};

mod pictures;
mod table;

pub use table::surveys;

/// A search, or a survey.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The formulations of a system that were searched.
    pub forms: &'a [Form],
    /// The precision of the values.
    pub precision: Precision,
    /// The seed of a survey.
    pub seed: Option<u64>,
    /// Is it one of several surveys, each of which has pictures of its own?
    pub is_one_of_several: bool,
    /// The cells of the mesh.
    pub cells: [usize; 3],
    /// The schedule that was found, and all that was tried.
    pub tuned: &'a Tuned,
}

impl Report<'_> {
    /// The precision, and the seed of one of several surveys.
    fn file_name(&self) -> String {
        let precision = self.precision.name();
        match self.seed.filter(|_| self.is_one_of_several) {
            Some(seed) => format!("{precision}-seed-{seed}"),
            None => precision.to_string(),
        }
    }
}

impl Render for Report<'_> {
    fn text(&self) -> String {
        table::text(self)
    }

    fn json(&self) -> Value {
        table::json(self)
    }

    fn pictures(&self) -> Vec<(String, Picture)> {
        pictures::all(self)
    }
}

/// Returns the formulation behind a comma, where one was chosen: `, mixed composed`.
pub fn words(chosen: Option<Chosen>) -> String {
    chosen.map_or(String::new(), |chosen| format!(", {}", chosen.formulation))
}
