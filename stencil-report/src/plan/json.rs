//! A report as JSON.

use serde_json::{Value, json};
use stencil_compiler::schedule::text::{placement_words, print, print_blocking};

use super::alternatives;
use super::candidates::Candidate;
use super::cuts::{Cut, Side};
use super::declared::Declared;
use super::diff;
use super::report::{Entry, Kernel, Planned, Report};

/// Everything.
pub(super) fn report(report: &Report<'_>) -> Value {
    let problem = &report.problem;
    let rejected: Vec<Value> =
        report.rejected.iter().map(|candidate| self::candidate(report, candidate)).collect();
    json!({
        "system": report.problem.algorithm.name,
        "file": report.problem.algorithm.file,
        "scheme": report.problem.algorithm.scheme,
        "formulation": problem.chosen.map(|chosen| chosen.formulation.to_string()),
        "precision": report.problem.precision.name(),
        "cells": report.problem.cells,
        "card": report.problem.on.name,
        "plan": planned(report, &report.plan),
        "devices": report.shared.as_ref().map(|(shared, ways)| {
            let mut devices = shared.json(problem.points(), report.plan.predicted.seconds);
            devices["ways"] = ways.json(problem.points());
            devices
        }),
        "streamed": report.streamed.as_ref().map(|streamed| streamed.json(problem.points())),
        "against": report.against.as_ref().map(|other| planned(report, other)),
        "differences": report.against.as_ref().map(|other| diff::json(other, &report.plan)),
        "cuts": report.cuts.iter().map(cut).collect::<Vec<_>>(),
        "rejected": rejected,
    })
}

/// One schedule.
fn planned(report: &Report<'_>, plan: &Planned) -> Value {
    let placements: serde_json::Map<String, Value> = plan
        .schedule
        .placements
        .iter()
        .map(|(name, placement)| (name.clone(), placement_words(*placement).into()))
        .collect();
    let seconds = plan.predicted.seconds;
    let substeps: Vec<Vec<Value>> =
        plan.substeps.iter().map(|entries| entries.iter().map(entry).collect()).collect();
    json!({
        "name": plan.name,
        "why": plan.why,
        "schedule": print(&plan.schedule),
        "placements": placements,
        "compiler": plan.compiler,
        "measured": plan.measured.as_ref().map(|found| json!({
            "card": found.card,
            "best_s": found.best,
            "median_s": found.median,
            "predicted_s": found.predicted,
            "doubts": found.doubts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "copy_bytes_per_s": found.copy_bytes,
            "launches": found.launches,
            "mpts_per_s": report.rate(found.best),
        })),
        "predicted_s": seconds,
        "mpts_per_s": report.rate(seconds),
        "sustained": {
            "predicted_s": plan.predicted.sustained,
            "mpts_per_s": report.rate(plan.predicted.sustained),
            "clock_held": plan.predicted.held,
            "is_power_known": !report.problem.on.rates.power.is_unknown(),
        },
        "floor_bytes": plan.floor_bytes,
        "floor_s": plan.floor_seconds,
        "of_floor": plan.floor_seconds / seconds,
        "substeps": substeps,
    })
}

fn entry(entry: &Entry) -> Value {
    match entry {
        Entry::Fill { buffers, depth, fills, seconds } => json!({
            "fill": buffers, "depth": depth, "bytes": fills.bytes, "predicted_s": seconds,
        }),
        Entry::Kernel(kernel) => self::kernel(kernel),
    }
}

fn kernel(kernel: &Kernel) -> Value {
    let (cost, time) = (&kernel.cost, &kernel.time);
    let inputs: Vec<Value> = cost
        .inputs
        .iter()
        .map(|i| json!({ "name": i.name, "points": i.points, "fetched": i.fetched }))
        .collect();
    let (registers, spilled) = kernel.likely;
    let compiled = kernel.compiled.as_ref().map(|own| {
        json!({
            "registers": own.registers,
            "spilled_bytes": own.spill_stores + own.spill_loads,
            "barriers": own.barriers,
        })
    });
    json!({
        "kernel": kernel.launch.name,
        "substep": kernel.launch.substep + 1,
        "equations": kernel.equations.iter().map(declared).collect::<Vec<_>>(),
        "stores": kernel.stores.iter().map(declared).collect::<Vec<_>>(),
        "uses": kernel.lets.iter().map(declared).collect::<Vec<_>>(),
        "reads": inputs,
        "writes": cost.outputs,
        "blocking": print_blocking(&kernel.launch.blocking),
        "tile": cost.tile,
        "threads": cost.threads,
        "cells_per_thread": cost.cells,
        "bytes": { "least": cost.least_bytes(), "tiled": cost.fetched_bytes(), "memory": kernel.moved },
        "operations": cost.operations,
        "flops": cost.flops,
        "shared_bytes": cost.shared_bytes,
        "registers": { "predicted": registers, "predicted_spilled_bytes": spilled, "compiled": compiled },
        "occupancy": {
            "blocks": kernel.occupancy.blocks,
            "warps": kernel.warps,
            "bound_by": kernel.occupancy.bound.name(),
        },
        "predicted_s": {
            "total": time.total, "memory": time.memory, "issue": time.issue,
            "arithmetic": time.arithmetic, "shared": time.shared, "texture": time.texture,
            "waste": time.waste,
        },
        "measured_s": kernel.measured,
        "bound_by": time.limit().0.name(),
        "of_floor": kernel.of_floor(),
    })
}

fn declared(of: &Declared) -> Value {
    json!({ "name": of.name, "lines": of.lines.map(|(first, last)| [first, last]) })
}

fn cut(cut: &Cut) -> Value {
    json!({
        "what": cut.what,
        "line": cut.line,
        "is_made": cut.is_made,
        "bytes": cut.bytes(),
        "operations_saved": cut.operations,
        "filling_s": cut.filling,
        "bound": cut.bound(),
        "predicted": cut.predicted(),
        "uncut": side(&cut.initial),
        "cut": side(&cut.cut),
    })
}

fn side(side: &Side) -> Value {
    json!({
        "schedule": side.words,
        "bytes": side.bytes,
        "predicted_s": side.seconds,
        "of_copy": side.speed,
    })
}

fn candidate(report: &Report<'_>, candidate: &Candidate) -> Value {
    let (seconds, reason) = match &candidate.outcome {
        Ok(found) => (
            Some(found.seconds),
            alternatives::slower(&report.problem, &report.plan.predicted, found),
        ),
        Err(rejection) => (None, rejection.words().to_string()),
    };
    json!({
        "name": candidate.name,
        "same_as": candidate.twins,
        "schedule": print(&candidate.schedule),
        "predicted_s": seconds,
        "runs": candidate.outcome.is_ok(),
        "reason": reason,
    })
}
