//! A plan as pictures: dependencies and placements of grid functions, the points that kernels read, and all candidates
//! below the roof of the card.

use std::borrow::Cow;

use stencil_runtime::plot::Scene;

use super::candidates::Problem;
use super::report::Report;
use crate::pictures::{MARGIN, centred, faint, heading};

mod graph;
mod layers;
mod roofline;
mod stencil;

/// All pictures by name.
pub(super) fn scenes(report: &Report<'_>) -> [(&'static str, Scene); 3] {
    let problem = &report.problem;
    // The plan of fused substeps is about other grid functions.
    let scheduled = report.plan.schedule.problem(problem.algorithm);
    let algorithm = scheduled.unwrap_or(Cow::Borrowed(problem.algorithm));
    let planned = Problem { algorithm: &algorithm, ..*problem };
    [
        ("graph", graph::draw(&planned, report)),
        ("stencil", stencil::draw(&planned, report)),
        ("roofline", roofline::draw(report)),
    ]
}

/// The system, the precision and the schedule in a line.
fn subtitle(report: &Report<'_>) -> String {
    let [x, y, z] = report.problem.cells;
    format!(
        "{}, {x} x {y} x {z} cells on {}; schedule: {}",
        report.problem.precision.name(),
        report.problem.on.name,
        report.plan.name
    )
}
