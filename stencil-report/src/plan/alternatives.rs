//! Why a candidate is slower than the plan, and which of many are worth a line.

use std::collections::{BTreeMap, BTreeSet};

use stencil_compiler::cost::Time;
use stencil_compiler::diag::counted;

use super::candidates::{Candidate, Predicted, Problem, kind};
use super::report::Report;

/// Lines for candidates that are no presets.
const OTHERS: usize = 8;

/// Reasons why candidates cannot run.
const REASONS: usize = 6;

/// Times that differ by no more are the same.
const SAME: f64 = 1e-3;

/// The least share of a difference in time that counts as its reason.
const MOST: f64 = 0.2;

/// The cost of fused substeps, or why there are none; `None` if the plan has them.
pub(super) fn fused(report: &Report<'_>) -> Option<String> {
    let problem = &report.problem;
    if report.plan.schedule.fuse > 1 {
        return None;
    }
    if let Err(why) = problem.algorithm.fused(2) {
        return Some(format!("not possible: {why}"));
    }
    let tried = || report.rejected.iter().filter(|c| c.schedule.fuse > 1);
    let best = &report.plan.predicted;
    // The fastest is the first.
    tried().next().map(|first| match &first.outcome {
        Ok(found) => format!(
            "{}, {:+.0} % a step: {}",
            first.names(),
            100.0 * (found.seconds / best.seconds - 1.0),
            slower(problem, best, found)
        ),
        Err(reason) => format!(
            "none of {} that were tried can run, such as {}: {}",
            tried().count(),
            first.name,
            reason.words()
        ),
    })
}

/// The reason why a candidate is slower than the plan, or a saving that does not help.
pub(super) fn slower(problem: &Problem<'_>, plan: &Predicted, other: &Predicted) -> String {
    let more = other.seconds - plan.seconds;
    if more.abs() <= SAME * plan.seconds {
        return "as fast".to_string();
    }
    if more < 0.0 {
        return "nothing: the plan is what was asked for".to_string();
    }
    let part = |of: fn(&Time) -> f64| -> f64 {
        let sum = |p: &Predicted| p.times.iter().map(of).sum::<f64>() / p.plan.time_steps as f64;
        sum(other) - sum(plan)
    };
    let times = |what: &str, of: [f64; 2]| match of[1] / of[0] {
        ratio if ratio.is_finite() && ratio >= 1.01 => format!("{ratio:.2} times the {what}"),
        _ => format!("slightly more {what}"),
    };
    let both = |of: &dyn Fn(&Predicted) -> f64| [of(plan), of(other)];
    let launches = [plan.costs.len(), other.costs.len()];
    let parts = [
        (part(|t| t.memory), times("bytes", both(&|p| p.moved(problem)))),
        (
            part(|t| t.issue.max(t.arithmetic)),
            times("operations", both(&|p| p.sum(|c| c.operations))),
        ),
        (part(|t| t.shared), times("rounds of shared memory", both(&rounds))),
        (part(|t| t.texture), times("values of surfaces", both(&texels))),
    ];
    let mut reasons: Vec<(f64, String)> = parts.into_iter().filter(|p| p.0 > MOST * more).collect();
    reasons.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut reasons: Vec<String> = reasons.into_iter().map(|(_, words)| words).take(2).collect();
    let (own, spilled) = (plan.spilled(), other.spilled());
    if spilled > own {
        reasons.push(format!("spills {spilled} bytes a thread"));
    }
    let waste = |p: &Predicted| waste(&p.times);
    if waste(other) > waste(plan) * 1.05 {
        reasons.push(format!(
            "waves and overhanging tiles take {:.0} % more",
            100.0 * (waste(other) / waste(plan) - 1.0)
        ));
    }
    let steps = [plan.plan.time_steps, other.plan.time_steps];
    if reasons.is_empty() && launches[1] * steps[0] > launches[0] * steps[1] {
        reasons.push(format!("{}, not {}", counted(launches[1], "launch"), launches[0]));
    }
    let waits = |p: &Predicted| p.costs.iter().any(|cost| cost.work.syncs > 0);
    if waits(other) && !waits(plan) {
        reasons.push("all threads of a block wait for each other, so less overlaps".to_string());
    }
    if reasons.is_empty() {
        reasons.push("its parts overlap less".to_string());
    }
    reasons.join("; ")
}

/// Rounds of shared memory that a point takes.
fn rounds(of: &Predicted) -> f64 {
    of.sum(|cost| cost.work.rounds as f64 / f64::from(cost.cells.max(1)))
}

/// Values of surfaces that a point takes.
fn texels(of: &Predicted) -> f64 {
    of.sum(|cost| cost.work.texels as f64 / f64::from(cost.cells.max(1)))
}

/// The waste of the kernels of a step, weighted by their times.
fn waste(times: &[Time]) -> f64 {
    let total: f64 = times.iter().map(|t| t.total).sum();
    let useful: f64 = times.iter().map(|t| t.total / t.waste.max(1.0)).sum();
    total / useful
}

/// Candidates that are worth a line: presets, and the best of each other kind; the number of those
/// left out, and the time of the slowest.
pub(super) fn shown<'a>(
    report: &'a Report<'_>,
) -> (Vec<(&'a Candidate, &'a Predicted)>, usize, f64) {
    let runs = report.rejected.iter();
    let runs = runs.filter_map(|c| Some((c, c.outcome.as_ref().ok()?)));
    let mut kinds = BTreeSet::from([kind(&report.plan.schedule)]);
    let (mut shown, mut left, mut slowest, mut others) = (Vec::new(), 0, 0.0_f64, 0);
    for (candidate, found) in runs {
        let is_new = kinds.insert(kind(&candidate.schedule));
        if candidate.is_preset || (is_new && others < OTHERS) {
            others += usize::from(!candidate.is_preset);
            shown.push((candidate, found));
        } else {
            left += 1;
            slowest = slowest.max(found.seconds);
        }
    }
    (shown, left, slowest)
}

/// Reasons why candidates cannot run: each with their number, and the first of them; the reason that
/// most have first, and the number of candidates that are left out. Numbers within a reason, and the
/// kernel that it is of, do not make it another one.
pub(super) fn reasons(rejected: &[Candidate]) -> (Vec<(usize, String, &Candidate)>, usize) {
    let mut by: BTreeMap<String, (usize, String, &Candidate)> = BTreeMap::new();
    for candidate in rejected {
        let Err(rejection) = &candidate.outcome else {
            continue;
        };
        let words = rejection.words();
        let plain: String = words.chars().filter(|c| !c.is_ascii_digit()).collect();
        let plain = plain.trim_start_matches("kernel : ").to_string();
        let one = by.entry(plain);
        one.or_insert_with(|| (0, words.to_string(), candidate)).0 += 1;
    }
    let mut all: Vec<_> = by.into_values().collect();
    all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let others = all.iter().skip(REASONS).map(|(number, ..)| number).sum();
    all.truncate(REASONS);
    (all, others)
}
