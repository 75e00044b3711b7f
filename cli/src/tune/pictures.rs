//! Pictures of a search: every schedule that was timed under the roof of the card, and how the search went.

use std::fs;
use std::path::{Path, PathBuf};

use stencil_runtime::SystemDef;
use stencil_runtime::plot::{LinePlot, PlotError, Style};
use stencil_runtime::tune::{Fate, Trial, Tuned};

use crate::{Ended, OUTPUT};

/// Points of a roof.
const POINTS: usize = 60;

/// Draws both into a folder; the files.
pub(super) fn save(
    folder: &Path,
    (system, precision, cells): (&SystemDef, &str, [usize; 3]),
    tuned: &Tuned,
) -> Result<Vec<PathBuf>, Ended> {
    let failed = |what: String| Ended {
        code: OUTPUT,
        message: format!("error: {what}"),
    };
    fs::create_dir_all(folder)
        .map_err(|e| failed(format!("`{}` cannot be made: {e}", folder.display())))?;
    let name = format!("{}-{precision}", system.name());
    let title = format!("{}, {precision}", system.name());
    let pictures = [
        ("roofline", roofline(&title, cells, tuned)),
        ("search", search(&title, cells, tuned)),
    ];
    let saved = |(what, plot): (&str, LinePlot)| -> Result<PathBuf, PlotError> {
        let file = folder.join(format!("{name}-{what}.png"));
        plot.save(&file)?;
        Ok(file)
    };
    pictures
        .into_iter()
        .map(|picture| saved(picture).map_err(|e| failed(e.to_string())))
        .collect()
}

fn timed(tuned: &Tuned) -> impl Iterator<Item = &Trial> {
    tuned.trials.iter().filter(|t| t.seconds().is_finite())
}

/// Operations a byte and billions of operations a second: of every schedule that was timed, by its
/// blocking, below what memory and arithmetic allow.
fn roofline(title: &str, cells: [usize; 3], tuned: &Tuned) -> LinePlot {
    let points: f64 = cells.iter().map(|n| *n as f64).product();
    let rates = &tuned.rates;
    let at = |trial: &Trial| {
        let flops = trial.costs.iter().map(|c| c.flops).sum::<f64>();
        let bytes = trial
            .costs
            .iter()
            .filter_map(|c| c.memory_bytes(cells, &rates.card));
        (
            flops / bytes.sum::<f64>(),
            flops / trial.time_steps() as f64 * points / trial.seconds() / 1e9,
        )
    };
    let mut plot = LinePlot::new()
        .title(format!("{title}: schedules below the roof"))
        .labels(
            "operations for each byte that memory moves",
            "billion operations a second",
        )
        .log_x()
        .log_y();
    let first = tuned.trials.first().and_then(|t| t.costs.first());
    let value_bytes = first.map_or(4, |cost| cost.value_bytes);
    let peak = rates.peak_flops(value_bytes) / 1e9;
    let found: Vec<f64> = timed(tuned).map(|t| at(t).0).collect();
    let low = found
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min)
        .clamp(0.05, 50.0)
        / 2.0;
    let high = found
        .iter()
        .copied()
        .fold(peak * 1e9 / rates.copy_bytes, f64::max)
        * 3.0;
    let step = (high / low).powf(1.0 / (POINTS - 1) as f64);
    let xs: Vec<f64> = (0..POINTS).map(|at| low * step.powi(at as i32)).collect();
    let roof: Vec<f64> = xs
        .iter()
        .map(|x| peak.min(x * rates.copy_bytes / 1e9))
        .collect();
    for name in names(tuned) {
        let of = timed(tuned).filter(|t| strategy(t) == name).map(at);
        let (xs, ys): (Vec<f64>, Vec<f64>) = of.unzip();
        plot = plot.series(name, &xs, &ys, Style::Points);
    }
    let best = timed(tuned).filter(|t| t.fate == Fate::Best).map(at);
    let (bx, by): (Vec<f64>, Vec<f64>) = best.unzip();
    plot.series("memory and arithmetic", &xs, &roof, Style::Line)
        .series("found", &bx, &by, Style::Points)
}

/// Rates in the order in which schedules were come to, and the best so far.
fn search(title: &str, cells: [usize; 3], tuned: &Tuned) -> LinePlot {
    let points: f64 = cells.iter().map(|n| *n as f64).product();
    let rate = |t: &Trial| points / t.seconds() / 1e6;
    let all: Vec<&Trial> = timed(tuned).collect();
    let mut plot = LinePlot::new()
        .title(format!("{title}: the search as it went"))
        .labels("schedules that were timed", "million points a second");
    let numbered = || all.iter().enumerate().map(|(at, t)| (at as f64 + 1.0, *t));
    for name in names(tuned) {
        let of = numbered().filter(|(_, t)| strategy(t) == name);
        let (xs, ys): (Vec<f64>, Vec<f64>) = of.map(|(x, t)| (x, rate(t))).unzip();
        plot = plot.series(name, &xs, &ys, Style::Points);
    }
    let predicted = numbered().map(|(x, t)| (x, points / t.predicted / 1e6));
    let (px, py): (Vec<f64>, Vec<f64>) = predicted.unzip();
    let best = numbered().scan(0.0f64, |best, (x, t)| {
        *best = best.max(rate(t));
        Some((x, *best))
    });
    let (bx, by): (Vec<f64>, Vec<f64>) = best.unzip();
    plot.series("predicted", &px, &py, Style::Dashed)
        .series("best so far", &bx, &by, Style::Line)
}

/// The blocking of the first kernel.
fn strategy(trial: &Trial) -> &str {
    trial.schedule.kernels.first().map_or("", |k| &k.strategy)
}

/// The blockings of what was timed, each once.
fn names(tuned: &Tuned) -> Vec<String> {
    let mut names: Vec<String> = timed(tuned).map(|t| strategy(t).to_string()).collect();
    names.sort();
    names.dedup();
    names
}
