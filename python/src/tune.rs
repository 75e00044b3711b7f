//! The search for fast schedules.

use std::path::Path;
use std::time::Duration;

use pyo3::prelude::*;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::search::plans::Plan;
use stencil_report::tune::Report;
use stencil_report::{Render, schedules, smooth};
use stencil_runtime::Number;
use stencil_runtime::tune::{Form, Options, Subject};

use crate::errors::{Raised, Result};
use crate::settings;
use crate::system::System;

/// The result of a search.
#[pyclass(frozen, module = "stencil._stencil")]
#[derive(Debug)]
pub(crate) struct Tuned {
    text: String,
    plan: Option<Plan>,
}

#[pymethods]
impl Tuned {
    /// The report for a terminal.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The text of the fastest schedule, if one was found.
    #[getter]
    fn schedule(&self) -> Option<String> {
        let plan = self.plan.as_ref();
        plan.map(|plan| stencil_compiler::schedule::text::print(&plan.schedule))
    }

    /// Adds the plan to a plan file, which is replaced at once.
    fn keep(&self, path: &str) -> Result<()> {
        let Some(plan) = &self.plan else {
            return Ok(());
        };
        let mut plans = schedules::read(Path::new(path))?;
        plans.merge(plan.clone());
        let written = schedules::write(Path::new(path), &plans);
        written.map_err(|error| {
            let out = stencil_runtime::io::way_out(&error);
            Raised::new("FileError", format!("cannot write `{path}`: {error}{out}"))
        })
    }
}

/// Searches for the fastest schedule of a system on a card of this machine, or by the model of another one.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn tune(
    py: Python<'_>,
    system: &System,
    cells: Vec<usize>,
    precision: &str,
    card: usize,
    on: Option<&str>,
    seconds: u64,
    first: usize,
    rounds: usize,
) -> Result<Tuned> {
    let dimension = system.0.model().dimension;
    let cells = settings::cells(&cells, dimension)?;
    let options = Options {
        budget: Duration::from_secs(seconds),
        first,
        rounds,
        card,
        on: on.map(settings::card).transpose()?,
        ..Options::on(cells.unwrap_or(stencil_report::plan::usual_cells(dimension)))
    };
    py.detach(|| match settings::precision(precision)? {
        Precision::F32 => search::<f32>(system, &options),
        Precision::F64 => search::<f64>(system, &options),
    })
}

fn search<T: Number>(system: &System, options: &Options) -> Result<Tuned> {
    let forms = [Form { system: system.0.clone(), chosen: None }];
    let subject = Subject::<T> { forms: &forms, run: &smooth::run, fill: &smooth::fill };
    let tuned = stencil_runtime::tune::tune(subject, options, &mut |_| ())?;
    let report = Report {
        forms: &forms,
        precision: T::PRECISION,
        seed: None,
        is_one_of_several: false,
        cells: options.cells,
        tuned: &tuned,
    };
    let text = report.text();
    Ok(Tuned { text, plan: tuned.plan })
}
