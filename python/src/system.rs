//! Systems: declarations that were read and discretized.

use pyo3::prelude::*;
use stencil_compiler::algorithm::Role;
use stencil_compiler::catalogue::Rank;
use stencil_compiler::cost;
use stencil_compiler::model::parse::{Dimensions, dimensions};
use stencil_compiler::model::text;
use stencil_report::explain::Page;
use stencil_report::plan::{Problem, Wanted, usual_cells};
use stencil_runtime::SystemDef;

use crate::errors::{Raised, Result};
use crate::plan::Plan;
use crate::{emit, settings};

/// Dimensions of a declaration `in nd` if none are given.
const USUAL: usize = 2;

/// A system of equations with its scheme.
#[pyclass(frozen, module = "stencil._stencil")]
#[derive(Debug)]
pub(crate) struct System(pub(crate) SystemDef);

/// The mesh, the card and the precision that a page or a plan is for.
#[derive(Clone, Copy, Debug)]
struct On {
    precision: stencil_compiler::expr::real::Precision,
    cells: Option<[usize; 3]>,
    card: &'static cost::Model,
}

impl System {
    fn on(&self, cells: &[usize], precision: &str, card: Option<&str>) -> Result<On> {
        Ok(On {
            precision: settings::precision(precision)?,
            cells: settings::cells(cells, self.0.model().dimension)?,
            card: card.map_or(Ok(&cost::MODELS[0]), settings::card)?,
        })
    }

    /// Returns the problem of a page or a plan, and the schedule that it is to show.
    fn scheduled<'a>(
        &'a self,
        schedule: Option<&'a str>,
        on: On,
    ) -> Result<(Problem<'a>, Option<(&'a str, stencil_runtime::Schedule)>)> {
        let problem = Problem {
            model: self.0.model(),
            algorithm: self.0.algorithm(),
            chosen: None,
            precision: on.precision,
            cells: on.cells.unwrap_or(usual_cells(self.0.model().dimension)),
            on: on.card,
        };
        Ok((problem, self.named(schedule, on)?))
    }

    fn named<'a>(
        &self,
        schedule: Option<&'a str>,
        on: On,
    ) -> Result<Option<(&'a str, stencil_runtime::Schedule)>> {
        let found = |wanted: &'a str| {
            let name = settings::name_of(wanted);
            let unit = (on.precision, on.card.rates.multiprocessor);
            Ok((name, settings::schedule(wanted, self.0.algorithm(), unit, on.cells)?))
        };
        schedule.map(found).transpose()
    }

    fn states(&self, role: Role) -> Vec<String> {
        let states = self.0.algorithm().states_of(role);
        states.map(|(_, state)| state.name.clone()).collect()
    }
}

#[pymethods]
impl System {
    /// Reads a declaration; `source` is its name in messages.
    #[staticmethod]
    #[pyo3(signature = (source, text, dimension=None, scheme=None))]
    fn declare(
        py: Python<'_>,
        source: &str,
        text: &str,
        dimension: Option<usize>,
        scheme: Option<&str>,
    ) -> Result<Self> {
        let dimension = dimension.or(match dimensions(text) {
            Some(Dimensions::Any) => Some(USUAL),
            Some(Dimensions::Fixed(_)) | None => None,
        });
        let read = || SystemDef::from_text_with(source, text, dimension, scheme);
        Ok(System(py.detach(read)?))
    }

    /// Returns a system of the library.
    #[staticmethod]
    #[pyo3(signature = (name, dimension=None, scheme=None))]
    fn library(name: &str, dimension: Option<usize>, scheme: Option<&str>) -> Result<Self> {
        let found = match dimension {
            Some(dimension) => physics::systems::find_in(name, dimension)?,
            None => physics::systems::find(name)?,
        };
        Ok(System(match scheme {
            Some(scheme) => found.with_scheme(scheme)?,
            None => found,
        }))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Its number of dimensions.
    #[getter]
    fn dimension(&self) -> usize {
        self.0.model().dimension
    }

    /// Its fields, each with its rank: 0 of a scalar, 1 of a vector, 2 of a tensor.
    #[getter]
    fn fields(&self) -> Vec<(String, usize)> {
        let rank = |rank: Rank| match rank {
            Rank::Scalar => 0,
            Rank::Vector => 1,
            Rank::Tensor => 2,
        };
        let fields = self.0.model().fields.iter();
        fields.map(|field| (field.name.clone(), rank(field.rank))).collect()
    }

    /// The components of its fields, each with an array of its own.
    #[getter]
    fn components(&self) -> Vec<String> {
        self.states(Role::Field)
    }

    /// The components of its sources.
    #[getter]
    fn sources(&self) -> Vec<String> {
        self.states(Role::Given)
    }

    /// Its parameters with their defaults.
    #[getter]
    fn params(&self) -> Vec<(String, Option<f64>)> {
        let params = self.0.algorithm().params.iter();
        params.map(|param| (param.name.clone(), param.default)).collect()
    }

    /// The names of its observables.
    #[getter]
    fn observables(&self) -> Vec<String> {
        self.0.model().observables.iter().map(|observable| observable.name.clone()).collect()
    }

    /// The names of its schemes, the one that it is discretized by first.
    #[getter]
    fn schemes(&self) -> Vec<String> {
        self.0.model().schemes().map(|scheme| scheme.name.clone()).collect()
    }

    /// Its scheme in words.
    #[getter]
    fn scheme(&self) -> &str {
        &self.0.algorithm().scheme
    }

    /// Its intermediates and equations as they were understood, a line each.
    #[getter]
    fn equations(&self) -> Vec<String> {
        self.0.equations()
    }

    /// Its declaration as it was understood.
    #[getter]
    fn text(&self) -> String {
        text::print(self.0.model())
    }

    /// Has it speeds that a Courant number can adapt steps to?
    #[getter]
    fn has_speeds(&self) -> bool {
        self.0.has_speeds()
    }

    /// The same system with central differences of another order.
    fn with_order(&self, order: u32) -> Result<Self> {
        Ok(System(self.0.with_order(order)?))
    }

    /// Names, equations and footprints on a short page.
    fn summary(&self) -> String {
        stencil_report::check::system(&self.0)
    }

    /// The page of `stencil explain`: equations, grid functions, footprints, and what schedules cost.
    #[pyo3(signature = (cells, precision, schedule=None, card=None))]
    fn explain(
        &self,
        py: Python<'_>,
        cells: Vec<usize>,
        precision: &str,
        schedule: Option<&str>,
        card: Option<&str>,
    ) -> Result<String> {
        let on = self.on(&cells, precision, card)?;
        let (problem, schedule) = self.scheduled(schedule, on)?;
        let page = Page { problem, schedule, predicts: on.cells.is_some() };
        Ok(py.detach(|| page.text())?)
    }

    /// The plan of a step: of a schedule, or of the candidate that is predicted to be the fastest on a card.
    #[pyo3(signature = (cells, precision, schedule=None, card=None, candidates=64, compile=false))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn plan(
        &self,
        py: Python<'_>,
        cells: Vec<usize>,
        precision: &str,
        schedule: Option<&str>,
        card: Option<&str>,
        candidates: usize,
        compile: bool,
    ) -> Result<Plan> {
        let on = self.on(&cells, precision, card)?;
        let (problem, schedule) = self.scheduled(schedule, on)?;
        let wanted = Wanted { schedule, candidates, compile, ..Wanted::default() };
        py.detach(|| Plan::new(problem, wanted))
    }

    /// The text of a schedule: of a preset, or of a plan file.
    #[pyo3(signature = (wanted, cells, precision, card=None))]
    fn schedule(
        &self,
        wanted: &str,
        cells: Vec<usize>,
        precision: &str,
        card: Option<&str>,
    ) -> Result<String> {
        let on = self.on(&cells, precision, card)?;
        let found = self.named(Some(wanted), on)?;
        let found = found.ok_or_else(|| Raised::bug("a schedule was lost"))?;
        Ok(stencil_compiler::schedule::text::print(&found.1))
    }

    /// One stage of the compiler as text.
    #[pyo3(signature = (stage, cells, precision, schedule=None, launch=None, arch="sm_90", marks=false))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn emit(
        &self,
        py: Python<'_>,
        stage: &str,
        cells: Vec<usize>,
        precision: &str,
        schedule: Option<&str>,
        launch: Option<usize>,
        arch: &str,
        marks: bool,
    ) -> Result<String> {
        let on = self.on(&cells, precision, None)?;
        let asked = emit::Asked {
            stage,
            cells: on.cells,
            precision: on.precision,
            schedule,
            launch,
            architecture: arch,
            marks,
        };
        py.detach(|| emit::text(&self.0, &asked))
    }
}
