//! Pictures of runs.

use std::path::Path;

use pyo3::prelude::*;
use stencil_report::run;

use crate::errors::Result;

/// Heat maps beside each other, or curves.
#[pyclass(frozen, module = "stencil._stencil")]
#[derive(Debug)]
pub(crate) struct Picture(pub(crate) run::Picture);

#[pymethods]
impl Picture {
    /// Writes it as PNG, SVG or PDF, by the ending of the file's name.
    fn save(&self, py: Python<'_>, path: &str) -> Result<()> {
        Ok(py.detach(|| self.0.save(Path::new(path)))?)
    }
}
