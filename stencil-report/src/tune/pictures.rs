//! Pictures of a search: every schedule that was timed under the roof of the card, and how the search went.

use stencil_compiler::cost::KernelCost;
use stencil_runtime::plot::{LinePlot, Scene, Style};
use stencil_runtime::tune::{Fate, Form, Trial, Tuned};

use super::table::name;
use super::{Report, words};
use crate::Picture;
use crate::pictures::roofline::{Dot, Mark, Roofline, Roofs};

/// Both pictures, with their names.
pub(super) fn all(report: &Report<'_>) -> Vec<(String, Picture)> {
    let Report { forms, cells, tuned, .. } = *report;
    let (system, name) = (name(forms), report.file_name());
    let title = format!("{system}, {name}");
    let roofline = roofline((&title, forms), cells, tuned).into();
    let search = search((&title, forms), cells, tuned).into();
    let named = |what: &str, picture| (format!("{system}-{name}-{what}"), picture);
    vec![named("roofline", roofline), named("search", search)]
}

fn timed(tuned: &Tuned) -> impl Iterator<Item = &Trial> {
    tuned.trials.iter().filter(|t| t.seconds().is_finite())
}

/// Every schedule that was timed, by its blocking, below the roof of the card.
fn roofline((title, forms): (&str, &[Form]), cells: [usize; 3], tuned: &Tuned) -> Scene {
    let points: f64 = cells.iter().map(|n| *n as f64).product();
    let rates = &tuned.rates;
    let dot = |trial: &Trial| {
        let rate =
            |a_cell: f64| a_cell / trial.time_steps() as f64 * points / trial.seconds() / 1e9;
        let moved = |c: &KernelCost| c.memory_bytes(cells, &rates.card);
        let (label, mark) = match trial.fate == Fate::Best {
            true => (Some("found".to_string()), Mark::Main),
            false => (None, Mark::Plain),
        };
        Dot {
            flops: rate(trial.costs.iter().map(|c| c.flops).sum()),
            bytes: rate(trial.costs.iter().filter_map(moved).sum()),
            most: None,
            kind: kind(trial, forms),
            label,
            mark,
        }
    };
    let first = tuned.trials.first().and_then(|t| t.costs.first());
    let value_bytes = first.map_or(4, |cost| cost.value_bytes);
    let mut dots: Vec<Dot> = timed(tuned).map(dot).collect();
    // The schedule that was found is on top.
    dots.sort_by_key(|dot| dot.mark == Mark::Main);
    let [x, y, z] = cells;
    let picture = Roofline {
        title: format!("{title}: schedules below the roof"),
        subtitle: format!("{x} x {y} x {z} cells"),
        rate: "billion flops a second",
        roofs: Roofs::of_card(rates, value_bytes),
        dots,
        marks: vec![(Mark::Plain, "timed"), (Mark::Main, "found")],
    };
    picture.draw()
}

/// Rates in the order in which schedules were come to, and the best so far.
fn search((title, forms): (&str, &[Form]), cells: [usize; 3], tuned: &Tuned) -> LinePlot {
    let points: f64 = cells.iter().map(|n| *n as f64).product();
    let rate = |t: &Trial| points / t.seconds() / 1e6;
    let all: Vec<&Trial> = timed(tuned).collect();
    let mut plot = LinePlot::new()
        .title(format!("{title}: the search as it went"))
        .labels("schedules that were timed", "million points a second");
    let numbered = || all.iter().enumerate().map(|(at, t)| (at as f64 + 1.0, *t));
    for name in kinds(tuned, forms) {
        let of = numbered().filter(|(_, t)| kind(t, forms) == name);
        let (xs, ys): (Vec<f64>, Vec<f64>) = of.map(|(x, t)| (x, rate(t))).unzip();
        plot = plot.series(&name, &xs, &ys, Style::Points);
    }
    let predicted = numbered().map(|(x, t)| (x, points / t.predicted / 1e6));
    let (px, py): (Vec<f64>, Vec<f64>) = predicted.unzip();
    let best = numbered().scan(0.0f64, |best, (x, t)| {
        *best = best.max(rate(t));
        Some((x, *best))
    });
    let (bx, by): (Vec<f64>, Vec<f64>) = best.unzip();
    plot.series("predicted", &px, &py, Style::Dashed).series("best so far", &bx, &by, Style::Line)
}

/// The blocking of the first kernel, and of several formulations the one that is blocked.
fn kind(trial: &Trial, forms: &[Form]) -> String {
    let strategy = trial.schedule.kernels.first();
    let strategy = strategy.map_or("", |k| &k.strategy);
    match forms.len() {
        1 => strategy.to_string(),
        _ => strategy.to_string() + &words(forms[trial.form].chosen),
    }
}

/// The kinds of timed schedules, each once.
fn kinds(tuned: &Tuned, forms: &[Form]) -> Vec<String> {
    let mut kinds: Vec<String> = timed(tuned).map(|t| kind(t, forms)).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}
