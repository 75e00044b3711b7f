//! Plans: a whole step as a tree, with the cost of each kernel.

use std::path::Path;

use pyo3::prelude::*;
use stencil_report::plan::{Problem, Report, Wanted};
use stencil_report::{Picture, Render};

use crate::errors::{Raised, Result};

/// A report of a plan.
#[pyclass(frozen, module = "stencil._stencil")]
#[derive(Debug)]
pub(crate) struct Plan {
    text: String,
    json: String,
    pictures: Vec<(String, Picture)>,
}

impl Plan {
    /// Makes the report of a problem, with its texts and its pictures.
    pub(crate) fn new(problem: Problem<'_>, wanted: Wanted<'_>) -> Result<Self> {
        let report = Report::new(problem, wanted)?;
        let pictures = report.pictures();
        Ok(Plan { text: report.text(), json: report.json().to_string(), pictures })
    }
}

#[pymethods]
impl Plan {
    /// The report for a terminal.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The report as a JSON object.
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    /// The names of its pictures.
    #[getter]
    fn pictures(&self) -> Vec<&str> {
        self.pictures.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Writes a picture, by the ending of the file's name.
    fn save(&self, name: &str, path: &str) -> Result<()> {
        let found = self.pictures.iter().find(|(known, _)| known == name);
        let (_, picture) = found.ok_or_else(|| {
            let known = self.pictures().join(", ");
            Raised::new("UnknownName", format!("no picture `{name}`; there are {known}"))
        })?;
        match picture {
            Picture::Scene(scene) => scene.save_as(Path::new(path))?,
            Picture::Plot(plot) => plot.save(Path::new(path))?,
        }
        Ok(())
    }
}
