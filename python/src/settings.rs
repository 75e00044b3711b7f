//! Words of settings that several calls take.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::cost;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::schedule::{Schedule, text};
use stencil_compiler::search::On;
use stencil_report::schedules;
use stencil_runtime::Engine;

use crate::errors::{Raised, Result};

/// The engines that a user may ask for.
const ENGINES: [Engine; 5] =
    [Engine::Auto, Engine::Cpu, Engine::Compiled, Engine::Rows, Engine::Cuda];

/// Returns the engine of this name.
pub(crate) fn engine(name: &str) -> Result<Engine> {
    let found = ENGINES.into_iter().find(|engine| engine.name() == name);
    found.ok_or_else(|| {
        let names = ENGINES.map(|engine| format!("`{}`", engine.name()));
        Raised::setting(format!("no backend `{name}`; there are {}", names.join(", ")))
    })
}

/// Returns the precision of this name.
pub(crate) fn precision(name: &str) -> Result<Precision> {
    let all = [Precision::F32, Precision::F64];
    let found = all.into_iter().find(|precision| precision.name() == name);
    found
        .ok_or_else(|| Raised::setting(format!("no precision `{name}`; there are `f32` and `f64`")))
}

/// Returns the model of the card of this name.
pub(crate) fn card(name: &str) -> Result<&'static cost::Model> {
    cost::model(name).ok_or_else(|| {
        let names: Vec<&str> = cost::MODELS.iter().map(|model| model.name).collect();
        Raised::setting(format!("no card `{name}`; there are {}", names.join(", ")))
    })
}

/// Returns a schedule by the name of a preset or a file, or from its text, which has several lines.
pub(crate) fn schedule(
    wanted: &str,
    algorithm: &Algorithm,
    on: impl Into<On>,
    cells: Option<[usize; 3]>,
) -> Result<Schedule> {
    if wanted.contains('\n') {
        return text::parse(wanted).map_err(|error| Raised::new("ScheduleError", error));
    }
    schedules::schedule(wanted, algorithm, on, cells)
        .map_err(|failure| Raised::new("ScheduleError", failure))
}

/// Returns the name of a schedule in messages.
pub(crate) fn name_of(wanted: &str) -> &str {
    if wanted.contains('\n') { "given" } else { wanted }
}

/// Returns cells along x, y, z: one number for all axes of a system, or one for each; `None` if none are given.
pub(crate) fn cells(given: &[usize], dimension: usize) -> Result<Option<[usize; 3]>> {
    if given.is_empty() {
        return Ok(None);
    }
    if given.contains(&0) || ![1, dimension].contains(&given.len()) {
        return Err(Raised::setting(format!(
            "cells are {given:?}; give one number, or {dimension} of them, none of them 0"
        )));
    }
    let along = |axis: usize| given.get(axis).or(given.first()).copied().unwrap_or(1);
    Ok(Some(std::array::from_fn(|axis| if axis < dimension { along(axis) } else { 1 })))
}
