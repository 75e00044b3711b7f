//! The library of systems and problems, the cards of the machine, and the pages of errors.

use pyo3::prelude::*;
use stencil_compiler::diag::Code;
use stencil_runtime::backend::cuda::Card;
use stencil_runtime::problem::KEYS;

use crate::errors::{Raised, Result};

/// The systems of the library: names and numbers of dimensions.
#[pyfunction]
pub(crate) fn systems() -> Result<Vec<(String, usize)>> {
    let all = physics::systems::ALL.iter();
    all.map(|definition| {
        let system = stencil_runtime::SystemDef::new(definition)?;
        Ok((system.name().to_string(), system.model().dimension))
    })
    .collect()
}

/// The problems of the library: names and titles.
#[pyfunction]
pub(crate) fn problems() -> Vec<(&'static str, &'static str)> {
    physics::problems::ALL.iter().map(|problem| (problem.name, problem.summary)).collect()
}

/// The names of the cards of this machine; none if there is no driver.
#[pyfunction]
pub(crate) fn cards() -> Vec<String> {
    let cards = Card::all().unwrap_or_default();
    cards.into_iter().map(|card| card.name).collect()
}

/// The page of an error code.
#[pyfunction]
pub(crate) fn error_page(code: &str) -> Result<String> {
    let known = Code::from_text(&code.to_ascii_uppercase());
    let known = known.ok_or_else(|| {
        let list = stencil_report::explain::error_list();
        Raised::new("UnknownName", format!("no error code `{code}`; there are\n{list}"))
    })?;
    Ok(stencil_report::explain::error_page(known))
}

/// All settings of problem files: sections, keys, examples and meanings.
#[pyfunction]
pub(crate) fn settings() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    KEYS.iter().map(|key| (key.section, key.key, key.example, key.meaning)).collect()
}
