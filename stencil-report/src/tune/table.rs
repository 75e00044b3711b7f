//! A search as a table of the fastest schedules, and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};
use stencil_compiler::cost::{KernelCost, Power, Rates};
use stencil_compiler::diag::counted;
use stencil_compiler::schedule::text;
use stencil_compiler::search::plans::Chosen;
use stencil_runtime::tune::{Fate, Form, ModelError, Trial, Tuned};

use super::{Report, words};

/// Rows of the table.
const ROWS: usize = 8;

/// A table of the fastest, and how well they were predicted.
pub(super) fn text(report: &Report<'_>) -> String {
    let (forms, tuned) = (report.forms, report.tuned);
    let count = |is: &dyn Fn(&Trial) -> bool| tuned.trials.iter().filter(|t| is(t)).count();
    let timed = count(&|t| t.seconds().is_finite());
    let failed = count(&|t| matches!(t.fate, Fate::Failed { .. }));
    let mut out = format!(
        "{} {}{}{}: {}, {timed} timed, {} without hope, {failed} failed, {:.0} s\n",
        name(forms),
        report.precision.name(),
        report.seed.map_or(String::new(), |seed| format!(", seed {seed}")),
        match forms.len() {
            1 => String::new(),
            forms => format!(", {}", counted(forms, "formulation")),
        },
        counted(tuned.trials.len(), "legal schedule"),
        count(&|t| t.fate == Fate::Hopeless),
        tuned.took.as_secs_f64()
    );
    let _ = writeln!(
        out,
        "  {:>9} {:>9} {:>9} {:>5} {:>5} {:>5} {:>7}  {:<13} kernels",
        "ms/step", "predicted", "sustained", "MHz", "W", "regs", "spilled", "bound by"
    );
    let mut order: Vec<&Trial> = tuned.trials.iter().collect();
    // If nothing was timed the model decides.
    let time = |trial: &Trial| match timed {
        0 => trial.predicted,
        _ => trial.seconds(),
    };
    order.retain(|trial| time(trial).is_finite());
    order.sort_by(|a, b| time(a).total_cmp(&time(b)));
    for trial in order.iter().take(ROWS) {
        let _ = writeln!(out, "{}{}", row(trial), words(forms[trial.form].chosen));
    }
    let late = count(&|t| t.fate == Fate::Late);
    if late > 0 {
        let _ = writeln!(out, "  no time was left for {late} more; --budget gives it");
    }
    let error = tuned.model_error();
    if error.measured > 0 {
        let _ = writeln!(
            out,
            "  the model: rank correlation {:.2} over {}, median error {:.0} % of those without spills",
            error.correlation,
            counted(error.measured, "timed schedule"),
            100.0 * error.median
        );
    }
    for doubt in &tuned.doubts {
        let _ = writeln!(out, "  note: {doubt}");
    }
    if let Some(plan) = &tuned.plan {
        let (rate, chosen) = (plan.rate, words(plan.chosen));
        let predicted = if timed == 0 { ", predicted for a burst" } else { "" };
        let _ = writeln!(out, "  found: {rate} million points a second{predicted}{chosen}");
        out += &sustained(tuned);
    }
    out
}

/// The prediction for the found schedule in a long run; empty if no limit of power is known.
fn sustained(tuned: &Tuned) -> String {
    let best = tuned.trials.iter().find(|trial| trial.fate == Fate::Best);
    let Some(best) = best.filter(|_| !tuned.rates.power.is_unknown()) else {
        return String::new();
    };
    format!(
        "  predicted without rests: {:.2} of the clock, {:.2} times the time of a burst\n",
        best.held,
        best.predicted_sustained / best.predicted
    )
}

/// The name of the system.
pub(super) fn name(forms: &[Form]) -> &str {
    forms.first().map_or("", |form| form.system.name())
}

/// Tells how well the model predicts, over several surveys; nothing where there is but one.
pub fn surveys(errors: &[ModelError]) -> String {
    let errors: Vec<&ModelError> = errors.iter().filter(|e| e.measured > 0).collect();
    if errors.len() < 2 {
        return String::new();
    }
    let sorted = |of: fn(&ModelError) -> f64| {
        let mut all: Vec<f64> = errors.iter().copied().map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let (correlations, medians) = (sorted(|e| e.correlation), sorted(|e| e.median));
    let middle = errors.len() / 2;
    format!(
        "{}: rank correlation {:.2} in the middle and {:.2} at least, median error {:.0} % in the middle \
         and {:.0} % at most\n",
        counted(errors.len(), "survey"),
        correlations[middle],
        correlations[0],
        100.0 * medians[middle],
        100.0 * medians[errors.len() - 1]
    )
}

fn row(trial: &Trial) -> String {
    let registers = trial.resources().iter().map(|(own, _)| *own).max();
    let mut kernels: Vec<String> =
        trial.schedule.kernels.iter().map(text::print_blocking).collect();
    kernels.dedup();
    let carried = match trial.schedule.placements.len() {
        0 => String::new(),
        n => format!(" ({n} placed)"),
    };
    let layout = text::layout_line(trial.schedule.layout);
    let layout = layout.map_or_else(String::new, |line| format!(" {line}"));
    let dash = || "-".to_string();
    let held = trial.sustained.as_ref();
    let rounded = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.0}"));
    format!(
        "{}{:>9} {:>9.4} {:>9} {:>5} {:>5} {:>5} {:>7}  {:<13} {}{carried}{layout}",
        if trial.fate == Fate::Best { "> " } else { "  " },
        match trial.seconds() {
            seconds if seconds.is_finite() => format!("{:.4}", 1e3 * seconds),
            _ => dash(),
        },
        1e3 * trial.predicted,
        held.map_or_else(dash, |held| format!("{:.4}", 1e3 * held.seconds())),
        rounded(held.and_then(|held| held.load.clock_mhz)),
        rounded(held.and_then(|held| held.load.power_w)),
        registers.unwrap_or(0),
        trial.spilled(),
        trial.limit.name(),
        kernels.join("; ")
    )
}

/// Everything that was tried.
pub(super) fn json(report: &Report<'_>) -> Value {
    let (forms, tuned) = (report.forms, report.tuned);
    let error = tuned.model_error();
    let trials = tuned.trials.iter().map(|t| trial(t, &forms[t.form]));
    let trials: Vec<Value> = trials.collect();
    json!({
        "system": name(forms),
        "precision": report.precision.name(),
        "seed": report.seed,
        "took_s": tuned.took.as_secs_f64(),
        "copy_bytes_per_s": tuned.rates.copy_bytes,
        "clock_hz": tuned.rates.clock,
        "rates": rates(&tuned.rates),
        "power": power(&tuned.rates.power),
        "doubts": tuned.doubts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "model": {
            "measured": error.measured,
            "rank_correlation": error.correlation,
            "median_error": error.median,
        },
        "formulation": tuned.plan.as_ref().and_then(|plan| formulation(plan.chosen)),
        "found": tuned.plan.as_ref().map(|plan| text::print(&plan.schedule)),
        "mpts_per_s": tuned.plan.as_ref().map(|plan| plan.rate),
        "trials": trials,
    })
}

/// Rates of the card, for the model.
fn rates(rates: &Rates) -> Value {
    json!({
        "multiply_adds_per_cycle": rates.lanes,
        "double": rates.double,
        "shared_words_per_cycle": rates.words,
        "launch_s": rates.launch,
        "fill_s": rates.fill,
    })
}

/// The share of its clock that it holds without rests.
fn power(power: &Power) -> Value {
    json!({
        "most": power.most, "spare": power.spare, "memory": power.memory, "arithmetic": power.arithmetic,
    })
}

/// The choice, if there was one.
fn formulation(chosen: Option<Chosen>) -> Option<String> {
    chosen.map(|chosen| chosen.formulation.to_string())
}

fn trial(trial: &Trial, form: &Form) -> Value {
    let fate = match &trial.fate {
        Fate::Ranked => "ranked".to_string(),
        Fate::Late => "late".into(),
        Fate::Hopeless => "hopeless".into(),
        Fate::Failed { reason } => format!("failed: {reason}"),
        Fate::Slower => "slower".into(),
        Fate::Wrong { differing } => format!("values that differ: {differing}"),
        Fate::Best => "best".into(),
    };
    let seconds = trial.seconds();
    let kernels: Vec<Value> = trial.costs.iter().map(cost).collect();
    let resources = trial.resources().into_iter().enumerate();
    let launched: Vec<Value> = resources
        .map(|(at, (registers, spilled))| {
            json!({
                "registers": registers,
                "spilled_bytes": spilled,
                "resident": trial.kernels.get(at).map(|kernel| kernel.resident),
            })
        })
        .collect();
    json!({
        "formulation": formulation(form.chosen),
        "scheme": form.system.algorithm().scheme,
        "schedule": text::print(&trial.schedule),
        "fate": fate,
        "predicted_s": trial.predicted,
        "predicted_sustained_s": trial.predicted_sustained,
        "predicted_clock_held": trial.held,
        "least_s": trial.least,
        "bound_by": trial.limit.name(),
        "seconds": seconds.is_finite().then_some(seconds),
        "batches": trial.batches,
        "sustained": trial.sustained.as_ref().map(|held| json!({
            "seconds": held.seconds(),
            "batches": held.batches,
            "clock_mhz": held.load.clock_mhz,
            "power_w": held.load.power_w,
        })),
        "costs": kernels,
        "kernels": launched,
    })
}

fn cost(cost: &KernelCost) -> Value {
    let work = &cost.work;
    let inputs: Vec<Value> = cost
        .inputs
        .iter()
        .map(|i| json!({ "fetched": i.fetched, "rim": i.rim, "points": i.points }))
        .collect();
    json!({
        "substep": cost.substep,
        "value_bytes": cost.value_bytes,
        "inputs": inputs,
        "outputs": cost.outputs.len(),
        "cells": cost.cells,
        "tile": cost.tile,
        "threads": cost.threads,
        "blocks": cost.blocks,
        "registers": cost.registers,
        "shared_bytes": cost.shared_bytes,
        "passes": cost.passes,
        "ahead": cost.ahead,
        "work": {
            "cost": work.cost, "moves": work.moves, "loads": work.loads, "stores": work.stores,
            "shared_words": work.shared_words, "shared_loads": work.shared_loads,
            "shared_stores": work.shared_stores, "copies": work.copies, "boxes": work.boxes,
            "syncs": work.syncs, "divisions": work.divisions,
            "rounds": work.rounds, "texels": work.texels, "chain": work.chain,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_surveys_are_summed_up() {
        let error = |correlation, median| ModelError { measured: 100, correlation, median };
        let all = [error(0.9, 0.1), error(0.95, 0.05), error(0.7, 0.3)];
        assert_eq!(
            surveys(&all),
            "3 surveys: rank correlation 0.90 in the middle and 0.70 at least, median error 10 % in the middle and \
             30 % at most\n"
        );
        assert_eq!(surveys(&all[..1]), "");
    }
}
