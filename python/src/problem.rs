//! Problems: settings that were read and checked, from Python, a file or the library.

use pyo3::prelude::*;
use stencil_runtime::problem::{self, Change};

use crate::errors::Result;
use crate::system::System;

/// A problem, read and checked.
#[pyclass(frozen, module = "stencil._stencil")]
#[derive(Debug)]
pub(crate) struct Problem(pub(crate) problem::Problem);

/// Changes of settings: each a path such as `mesh.cells` with the text of a TOML value, or none to take the default.
fn changes(given: &[(String, Option<String>)]) -> Vec<Change> {
    let change = |(key, value): &(String, Option<String>)| match value {
        Some(value) => Change::option(&format!("{key} ="), key, value),
        None => Change::remove(key),
    };
    given.iter().map(change).collect()
}

/// Writes a problem file. Of an open problem it has the initial state alone.
fn written(problem: &problem::Problem) -> String {
    let mut ended = problem.clone();
    if ended.time.end.is_none() && ended.time.steps.is_none() {
        ended.time.steps = Some(0);
    }
    ended.to_toml(None)
}

impl Problem {
    /// Coordinates half a cell above the points of cells along some axes.
    fn at(&self, halves: [bool; 3]) -> Vec<Vec<f64>> {
        let mesh = self.0.mesh.at(halves);
        let along = |axis: usize| {
            let cells = 0..mesh.cells[axis] as isize;
            cells.map(|cell| mesh.coordinate(axis, cell)).collect()
        };
        (0..self.0.system.model().dimension).map(along).collect()
    }
}

#[pymethods]
impl Problem {
    /// Reads a problem from the text of a problem file; `source` is its name in messages. An open one has no end, whatever
    /// the text says.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        source: &str,
        text: &str,
        folder: &str,
        is_open: bool,
    ) -> Result<Self> {
        let library = physics::systems::library();
        let read = || problem::Problem::parse(source, text, folder, &library, &[]);
        let mut problem = py.detach(read)?;
        if is_open {
            (problem.time.end, problem.time.steps) = (None, None);
        }
        Ok(Problem(problem))
    }

    /// Reads a problem file with some settings changed.
    #[staticmethod]
    fn open(py: Python<'_>, path: &str, changed: Vec<(String, Option<String>)>) -> Result<Self> {
        let library = physics::systems::library();
        let read = || problem::Problem::open(path, &library, &changes(&changed));
        Ok(Problem(py.detach(read)?))
    }

    /// Reads a problem of the library with some settings changed.
    #[staticmethod]
    fn library(py: Python<'_>, name: &str, changed: Vec<(String, Option<String>)>) -> Result<Self> {
        let found = physics::problems::find(name)?;
        Ok(Problem(py.detach(|| found.open(&changes(&changed)))?))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// One line that describes it.
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    /// Its system.
    #[getter]
    fn system(&self) -> System {
        System(self.0.system.clone())
    }

    /// The precision of its values.
    #[getter]
    fn precision(&self) -> &'static str {
        self.0.precision.name()
    }

    /// Cells along the axes of the system.
    #[getter]
    fn cells(&self) -> Vec<usize> {
        self.0.mesh.cells[..self.0.system.model().dimension].to_vec()
    }

    /// Coordinates of cells along each axis of the system, x first.
    #[getter]
    fn axes(&self) -> Vec<Vec<f64>> {
        self.at([false; 3])
    }

    /// Coordinates of the values of a component along each axis of the system, x first. Those of other names are in the
    /// centres of cells.
    fn axes_of(&self, component: &str) -> Vec<Vec<f64>> {
        let algorithm = self.0.system.algorithm();
        let state = algorithm.find_state(component);
        self.at(state.map_or([false; 3], |state| algorithm.state(state).halves))
    }

    /// Parameters with their values.
    #[getter]
    fn params(&self) -> Vec<(String, f64)> {
        self.0.params.clone()
    }

    /// The time at which a run ends, if it has one.
    #[getter]
    fn end(&self) -> Option<f64> {
        self.0.time.end
    }

    /// The number of steps after which a run ends, if it has one.
    #[getter]
    fn steps(&self) -> Option<u64> {
        self.0.time.steps
    }

    /// The problem file with everything resolved.
    fn to_toml(&self) -> String {
        written(&self.0)
    }

    /// A short page about the problem.
    fn summary(&self) -> String {
        stencil_report::check::settings(&self.0)
    }

    /// The same problem with these pictures alone, as text of `[[plot]]` sections.
    fn with_plots(&self, plots: &str) -> Result<Self> {
        let mut bare = self.0.clone();
        bare.plots.clear();
        // Values are in the run, and the file that the first ones came from may be gone.
        bare.initial = problem::Initial::default();
        let zeros: String = bare.components().map(|name| format!("{name} = 0\n")).collect();
        let text = format!("{}\n[init]\n{zeros}\n{plots}", written(&bare));
        let source = format!("{}.toml", bare.name);
        let library = physics::systems::library();
        Ok(Problem(problem::Problem::parse(&source, &text, "", &library, &[])?))
    }
}
