//! A plan as pictures: what depends on what and where it lives, the points that kernels read, and all
//! candidates below the roof of the card.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use stencil_runtime::plot::Scene;

use super::candidates::Problem;
use super::report::Report;
use crate::pictures::{MARGIN, centred, faint, heading};
use crate::source::Failure;

mod graph;
mod layers;
mod roofline;
mod stencil;

/// Draws all of them into a folder, each as SVG and PNG; the files.
///
/// # Errors
/// If the folder or a file cannot be written.
pub(super) fn save(
    folder: &Path,
    problem: &Problem<'_>,
    report: &Report,
) -> Result<Vec<PathBuf>, Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        Failure::new(format!(
            "error: `{}` cannot be made: {error}\n  help: --pictures names a folder that can be written",
            folder.display()
        ))
    })?;
    let mut files = Vec::new();
    for (name, scene) in scenes(problem, report) {
        let stem = folder.join(format!("{}-{}-{name}", report.system, report.precision));
        let saved = scene.save(stem);
        files.extend(saved.map_err(|error| Failure::new(format!("error: {error}")))?);
    }
    Ok(files)
}

/// All pictures by name.
pub(super) fn scenes(problem: &Problem<'_>, report: &Report) -> [(&'static str, Scene); 3] {
    // The plan of fused substeps is about other grid functions.
    let scheduled = report.plan.schedule.problem(problem.algorithm);
    let algorithm = scheduled.unwrap_or(Cow::Borrowed(problem.algorithm));
    let planned = Problem {
        algorithm: &algorithm,
        ..*problem
    };
    [
        ("graph", graph::draw(&planned, report)),
        ("stencil", stencil::draw(&planned, report)),
        ("roofline", roofline::draw(problem, report)),
    ]
}

/// The system, the precision and the schedule in a line.
fn subtitle(report: &Report) -> String {
    let [x, y, z] = report.cells;
    format!(
        "{}, {x} x {y} x {z} cells on {}; schedule: {}",
        report.precision, report.on.name, report.plan.name
    )
}
