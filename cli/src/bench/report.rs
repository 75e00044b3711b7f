//! Results as a table and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// What one case gave.
#[derive(Clone, Debug)]
pub(super) struct Result {
    pub(super) system: String,
    pub(super) precision: &'static str,
    pub(super) engine: &'static str,
    pub(super) instructions: String,
    /// If one was asked for.
    pub(super) schedule: Option<String>,
    pub(super) threads: usize,
    pub(super) cells: [usize; 3],
    pub(super) patches: [usize; 3],
    /// Steps in a timing, and timings.
    pub(super) steps: u64,
    pub(super) repeat: usize,
    /// Million points a second; a point counts once a full step.
    pub(super) best_mpts: f64,
    pub(super) median_mpts: f64,
    pub(super) ms_per_step: f64,
    /// Operations a second of the best timing, if they can be counted.
    pub(super) gflops: Option<f64>,
    pub(super) peak_gflops: f64,
    pub(super) copy_gb_s: f64,
    pub(super) triad_gb_s: f64,
    /// Time of a step that only moves what must move.
    pub(super) floor_ms: f64,
    pub(super) beside: Option<BesideResult>,
}

/// What the other program gave.
#[derive(Clone, Debug)]
pub(super) struct BesideResult {
    pub(super) command: String,
    pub(super) best_s: f64,
    pub(super) median_s: f64,
    pub(super) best_mpts: Option<f64>,
    pub(super) median_mpts: Option<f64>,
}

/// The first line of the table.
pub(super) fn heading() -> String {
    format!(
        "{:<18} {:<4} {:<9} {:>7} {:>15}  {:>9} {:>9} {:>9}  {:>8} {:>8}\n",
        "system",
        "",
        "engine",
        "threads",
        "cells",
        "Mpts/s",
        "median",
        "ms/step",
        "of peak",
        "of floor"
    )
}

impl Result {
    /// The time of the floor over the time of a step: 1 where nothing but memory takes time.
    fn floor_fraction(&self) -> f64 {
        self.floor_ms / self.ms_per_step
    }

    fn peak_fraction(&self) -> Option<f64> {
        self.gflops.map(|gflops| gflops / self.peak_gflops)
    }

    /// Those of the mesh, behind them the patches if there are many: `256×256×256/2×1×3`.
    fn cells(&self) -> String {
        let axes = (0..3).filter(|axis| *axis == 0 || self.cells[*axis] > 1);
        let axes: Vec<usize> = axes.collect();
        let text = |of: &[usize; 3]| {
            let counts: Vec<String> = axes.iter().map(|axis| of[*axis].to_string()).collect();
            counts.join("×")
        };
        match self.patches {
            [1, 1, 1] => text(&self.cells),
            _ => format!("{}/{}", text(&self.cells), text(&self.patches)),
        }
    }

    /// A line of the table, and one for the other program.
    pub(super) fn row(&self) -> String {
        let peak = self.peak_fraction().map_or("-".to_string(), percent);
        let mut text = format!(
            "{:<18} {:<4} {:<9} {:>7} {:>15}  {:>9.2} {:>9.2} {:>9.3}  {:>8} {:>8}\n",
            self.system,
            self.precision,
            self.schedule.as_deref().unwrap_or(self.engine),
            self.threads,
            self.cells(),
            self.best_mpts,
            self.median_mpts,
            self.ms_per_step,
            peak,
            percent(self.floor_fraction()),
        );
        if let Some(beside) = &self.beside {
            let speed = |mpts: Option<f64>| mpts.map_or("-".to_string(), |v| format!("{v:.2}"));
            let _ = writeln!(
                text,
                "  beside: {:>47}  {:>9} {:>9}  {:.3} s, median {:.3} s{}",
                shortened(&beside.command, 47),
                speed(beside.best_mpts),
                speed(beside.median_mpts),
                beside.best_s,
                beside.median_s,
                beside.best_mpts.map_or(String::new(), |theirs| format!(
                    "; ours is {:.2} times as fast",
                    self.best_mpts / theirs
                )),
            );
        }
        text
    }

    fn json(&self) -> Value {
        json!({
            "system": self.system,
            "precision": self.precision,
            "engine": self.engine,
            "instructions": self.instructions,
            "schedule": self.schedule,
            "threads": self.threads,
            "cells": self.cells,
            "patches": self.patches,
            "steps": self.steps,
            "repeat": self.repeat,
            "mpts_per_s": self.best_mpts,
            "median_mpts_per_s": self.median_mpts,
            "ms_per_step": self.ms_per_step,
            "gflops": self.gflops,
            "peak_gflops": self.peak_gflops,
            "peak_fraction": self.peak_fraction(),
            "copy_gb_per_s": self.copy_gb_s,
            "triad_gb_per_s": self.triad_gb_s,
            "floor_ms": self.floor_ms,
            "floor_fraction": self.floor_fraction(),
            "beside": self.beside.as_ref().map(|b| json!({
                "command": b.command,
                "best_s": b.best_s,
                "median_s": b.median_s,
                "mpts_per_s": b.best_mpts,
                "median_mpts_per_s": b.median_mpts,
            })),
        })
    }
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// A text of at most `width` characters.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let head: String = text.chars().take(width - 2).collect();
    head + ".."
}

/// All results as one object.
pub(super) fn json(results: &[Result]) -> String {
    let cases: Vec<Value> = results.iter().map(Result::json).collect();
    format!("{:#}\n", json!({ "cases": cases }))
}

/// What the columns mean, and what the machine gave.
pub(super) fn notes(results: &[Result]) -> String {
    let mut text = String::from("\nmachine, the best measured between the timings\n");
    let mut seen = Vec::new();
    for r in results {
        if seen.contains(&(r.precision, r.threads)) {
            continue;
        }
        seen.push((r.precision, r.threads));
        let same = |o: &&Result| (o.precision, o.threads) == (r.precision, r.threads);
        let most =
            |value: fn(&Result) -> f64| results.iter().filter(same).map(value).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "  {} on {} threads ({}): {:.1} GFLOP/s of multiply-adds, copy {:.1} GB/s, triad {:.1} GB/s",
            r.precision,
            r.threads,
            r.instructions,
            most(|r| r.peak_gflops),
            most(|r| r.copy_gb_s),
            most(|r| r.triad_gb_s),
        );
    }
    text.push_str(
        "Mpts/s: million points a full step and second, best and median of the timings\n\
         of peak: operations of the schedule, a multiply-add is two, over the peak of multiply-adds\n\
         of floor: the time to read and write each field and accumulator once a substep, at the speed of a copy\n",
    );
    text
}
