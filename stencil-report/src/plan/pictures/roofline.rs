//! All candidates below the roof of the card.

use stencil_compiler::schedule::Schedule;
use stencil_compiler::search::presets;
use stencil_runtime::plot::Scene;

use super::subtitle;
use crate::pictures::roofline::{Dot, Mark, Roofline, Roofs};
use crate::plan::candidates::{Candidate, Predicted};
use crate::plan::report::Report;

/// Draws them.
pub(super) fn draw(report: &Report<'_>) -> Scene {
    let problem = &report.problem;
    let roofs = Roofs::of_card(&problem.on.rates, problem.precision.bytes());
    let dot = |found: &Predicted, schedule: &Schedule, label, mark| {
        let rate = |a_cell: f64| a_cell * problem.points() / found.seconds / 1e9;
        Dot {
            flops: rate(found.sum(|c| c.flops)),
            bytes: rate(found.moved(problem)),
            most: None,
            kind: strategy(schedule),
            label,
            mark,
        }
    };
    let other = |candidate: &Candidate| {
        let found = candidate.outcome.as_ref().ok()?;
        let (label, mark) = match candidate.is_preset {
            true => (Some(candidate.name.clone()), Mark::Named),
            false => (None, Mark::Plain),
        };
        Some(dot(found, &candidate.schedule, label, mark))
    };
    let name = match presets::find(&report.plan.name) {
        Some(preset) => format!("the plan, {}", preset.name),
        None => "the plan".to_string(),
    };
    let plan = &report.plan;
    let plan = dot(&plan.predicted, &plan.schedule, Some(name), Mark::Main);
    let others = report.rejected.iter().rev().filter_map(other);
    let picture = Roofline {
        title: format!("{}: candidates below the roof", report.problem.algorithm.name),
        subtitle: subtitle(report),
        rate: "billion flops a second, predicted",
        roofs,
        dots: others.chain([plan]).collect(),
        marks: vec![(Mark::Named, "a preset"), (Mark::Main, "the plan")],
    };
    picture.draw()
}

fn strategy(schedule: &Schedule) -> String {
    let first = schedule.kernels.first();
    first.map_or(String::new(), |kernel| kernel.strategy.clone())
}
