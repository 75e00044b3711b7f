//! A run: the settings and the plan before it, its pictures, and the summary at its end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use stencil_compiler::diag::counted;
use stencil_runtime::problem::{Norms, Origin, Problem};
use stencil_runtime::report::{self, significant};
use stencil_runtime::{Number, Picked, Program, Simulation};

use crate::{ByPlan, Render};

mod changed;
mod pictures;
mod start;

pub use changed::Changed;
pub use pictures::{Picture, pictures};
pub(crate) use start::{mesh, step};
pub use start::{plan, restored, start};

/// Digits of times and of observables.
const DIGITS: usize = 6;

/// A run that is over.
#[derive(Debug)]
pub struct Summary<'a, T> {
    /// The problem.
    pub problem: &'a Problem,
    /// Its name on the command line.
    pub called: &'a str,
    /// The command that runs it, for what to try next.
    pub command: &'a str,
    /// The formulation, if a plan file chose it.
    pub chosen: Option<&'a ByPlan>,
    /// The simulation as the run left it.
    pub simulation: &'a Simulation<T>,
    /// The files that the run wrote.
    pub files: &'a [PathBuf],
    /// Observables when it began.
    pub first: &'a BTreeMap<String, f64>,
    /// Observables when it ended.
    pub last: &'a BTreeMap<String, f64>,
    /// Errors against the exact solution.
    pub errors: &'a BTreeMap<String, Norms>,
    /// Parameters that were changed while the run went on, in the order of their steps. Errors are none then.
    pub changed: &'a [Changed],
    /// Time on the wall of all steps, with the output between them.
    pub seconds: f64,
    /// The parts of the time on the wall since the start of the command, in their order, with their names.
    pub phases: &'a [(&'static str, f64)],
    /// Steps of this run, without those before a restart.
    pub steps: u64,
    /// The number of repaired fluxes, if the scheme keeps ranges, and of those by another solver than the scheme's, if it names one.
    pub repaired: Option<u64>,
}

impl<T: Number> Summary<'_, T> {
    /// Million points a second; a point counts once a step.
    fn speed(&self) -> f64 {
        let points: usize = self.simulation.cells().iter().product();
        points as f64 * self.steps as f64 / self.seconds.max(1e-9) / 1e6
    }

    fn cells(&self) -> &[usize] {
        &self.problem.mesh.cells[..self.problem.system.model().dimension]
    }

    /// Returns the schedule that the performance model picked, in words, if one was wanted.
    fn picked(&self) -> Option<String> {
        match self.simulation.picked() {
            Picked::Unwanted => None,
            Picked::NotYet => {
                Some("the preset gpu: the run was over before the model's pick".into())
            }
            Picked::Since(0) => Some("the model's pick".into()),
            Picked::Since(step) => {
                Some(format!("the preset gpu, the model's pick from step {} on", step + 1))
            }
            Picked::Failed(reason) => Some(format!("the preset gpu: no pick, {reason}")),
        }
    }

    /// Returns the use of a program that was compiled for the run, in words, if one was wanted and the run was long enough.
    fn program(&self) -> Option<String> {
        match self.simulation.program() {
            Program::Unwanted | Program::NotYet => None,
            Program::Since(step) => {
                Some(format!("compiled meanwhile, used from step {} on", step + 1))
            }
            Program::Failed(reason) => Some(format!("none was compiled: {reason}")),
        }
    }

    /// The number of steps that were done again, and the reason for the last of them.
    fn rejected_steps(&self) -> String {
        let simulation = self.simulation;
        let Some(last) = simulation.last_rejected() else {
            return String::new();
        };
        format!(
            ", {} of them done again, shorter;\nthe last was step {}, at t = {}: the {} speed became {} in cell {:?}",
            simulation.rejected_steps(),
            last.step,
            significant(last.t, DIGITS),
            last.speed,
            significant(last.value, 4),
            &last.cell[..self.cells().len()]
        )
    }

    fn next(&self) -> String {
        let (stencil, problem) = (self.command, self.called);
        let twice = self.cells().iter().map(|n| if *n > 1 { 2 * n } else { *n });
        let twice: Vec<String> = twice.map(|n| n.to_string()).collect();
        let explain = match &self.problem.origin {
            Origin::Library(name) => {
                format!("  {stencil} explain {name}\n")
            }
            Origin::Text(_) => String::new(),
        };
        format!(
            "next:\n  {stencil} run {problem} --precision f32 --cells {}\n{explain}  {stencil} list\n",
            twice.join(",")
        )
    }
}

impl<T: Number> Render for Summary<'_, T> {
    fn json(&self) -> Value {
        let simulation = self.simulation;
        let mesh = &self.problem.mesh;
        let axes = self.cells().len();
        let errors = self.errors.iter().map(|(name, norms)| {
            let Norms { l1, l2, linf } = norms;
            (name.clone(), json!({ "l1": l1, "l2": l2, "linf": linf }))
        });
        let sums = self.first.iter().map(|(name, first)| {
            let last = self.last.get(name);
            (name.clone(), json!({ "first": first, "last": last }))
        });
        let files = self.files.iter();
        let files: Vec<String> = files.map(|path| path.display().to_string()).collect();
        json!({
            "problem": self.problem.name,
            "system": simulation.system().name(),
            "scheme": simulation.system().algorithm().scheme,
            "formulation": self.chosen.map(|chosen| json!({
                "choice": chosen.formulation.to_string(),
                "by": chosen.file,
            })),
            "mesh": {
                "cells": self.cells(),
                "extent": &mesh.extent[..axes],
                "origin": &mesh.origin[..axes],
                "centered": mesh.centered,
                "patches": &simulation.patches()[..axes],
            },
            "precision": T::NAME,
            "backend": {
                "device": simulation.card().map_or("cpu", |card| card.name.as_str()),
                "devices": simulation.devices(),
                "engine": simulation.engine().name(),
                "instructions": simulation.instructions().name(),
                "threads": simulation.threads(),
            },
            "picked": match simulation.picked() {
                Picked::Unwanted | Picked::NotYet => Value::Null,
                Picked::Since(step) => json!({ "since": step }),
                Picked::Failed(reason) => json!({ "failed": reason }),
            },
            "program": match simulation.program() {
                Program::Unwanted | Program::NotYet => Value::Null,
                Program::Since(step) => json!({ "since": step }),
                Program::Failed(reason) => json!({ "failed": reason }),
            },
            "run": simulation.run_id(),
            "changed": self.changed.iter().map(Changed::json).collect::<Vec<_>>(),
            "steps": simulation.step_count(),
            "retaken": simulation.rejected_steps(),
            "repaired": self.repaired,
            "last_retaken": simulation.last_rejected().map(|last| json!({
                "step": last.step,
                "t": last.t,
                "dt": last.dt,
                "speed": last.speed,
                "value": last.value,
                "cell": &last.cell[..axes],
                "at": last.at,
            })),
            "t": simulation.t(),
            "wall_s": self.seconds,
            "phases_s": self.phases.iter().copied().collect::<BTreeMap<_, _>>(),
            "mpts_per_s": self.speed(),
            "errors": Value::Object(errors.collect::<Map<_, _>>()),
            "sums": Value::Object(sums.collect::<Map<_, _>>()),
            "files": files,
        })
    }

    /// A box of results, and commands to try next.
    fn text(&self) -> String {
        let simulation = self.simulation;
        let mut summary = report::Summary::new(self.problem.title.as_str())
            .row(
                "time",
                format_args!(
                    "t = {} after {}{}",
                    significant(simulation.t(), DIGITS),
                    counted(simulation.step_count(), "step"),
                    self.rejected_steps()
                ),
            )
            .row(
                "engine",
                match simulation.card() {
                    Some(card) => format!("{}, {}", simulation.engine().name(), card.name),
                    None => format!(
                        "{}, {}, {}",
                        simulation.engine().name(),
                        simulation.instructions().name(),
                        counted(simulation.threads(), "thread")
                    ),
                },
            )
            .row("wall time", format_args!("{:.2} s", self.seconds))
            .row("of the command", parts(self.phases))
            .row("speed", format_args!("{:.2} Mpts/s ({})", self.speed(), T::NAME));
        for change in self.changed {
            summary = summary.row("changed", change.line());
        }
        if let Some(picked) = self.picked() {
            summary = summary.row("schedule", picked);
        }
        if let Some(program) = self.program() {
            summary = summary.row("program", program);
        }
        if let Some(chosen) = self.chosen {
            let words = format_args!("{}, by {}", chosen.formulation, chosen.file);
            summary = summary.row("formulation", words);
        }
        if let Some(repaired) = self.repaired {
            let model = simulation.system().model();
            let kept = model
                .repairs()
                .then(|| format!("to keep {} (`repair: none` does not)", model.ranges_text()));
            let other = model.scheme.fallback.iter();
            let other =
                other.map(|name| format!("by `{name}` where `{}` fails", model.scheme.riemann));
            let why: Vec<String> = kept.into_iter().chain(other).collect();
            let repaired = counted(repaired, "flux");
            summary = summary.row("repaired", format_args!("{repaired}, {}", why.join(", or ")));
        }
        if let Some(patches) = start::patches(simulation) {
            summary = summary.row("patches", patches);
        }
        if let Some(devices) = start::devices(simulation) {
            summary = summary.row("devices", devices);
        }
        if !self.errors.is_empty() {
            summary = summary.section("Errors against the exact solution");
        }
        for (name, Norms { l1, l2, linf }) in self.errors {
            let text = format_args!("l1 {l1:.3e}   l2 {l2:.3e}   linf {linf:.3e}");
            summary = summary.row(name, text);
        }
        if !self.first.is_empty() {
            summary = summary.section("Observed: at first, at last, the change");
        }
        for (name, first) in self.first {
            let last = self.last.get(name).copied().unwrap_or(f64::NAN);
            summary = summary.row(name, observed(*first, last));
        }
        format!("{}\n\n{}", with_files(summary, self.files), self.next())
    }
}

/// Adds the files that a run has written, with its frames in one line.
fn with_files(mut summary: report::Summary, files: &[PathBuf]) -> report::Summary {
    summary = summary.section("Files");
    let (frames, others): (Vec<_>, Vec<_>) = files.iter().partition(|path| is_frame(path));
    for file in others {
        summary = summary.text(file.display());
    }
    if let [first, .., last] = frames[..] {
        let (first, last) = (first.display(), last.file_name().unwrap_or_default());
        let last = last.to_string_lossy();
        summary = summary.text(format_args!("{first} .. {last} ({})", frames.len()));
    } else if let [only] = frames[..] {
        summary = summary.text(only.display());
    }
    summary
}

/// An observable at the begin and at the end of a run, and by how much it changed: that is told to the last bit, where the
/// values beside it may look alike.
fn observed(first: f64, last: f64) -> String {
    let values = [first, last].map(|value| significant(value, DIGITS));
    let change = significant(last - first, 3);
    format!("{:<13}{:<13}{change}", values[0], values[1])
}

/// Returns the parts of a time, as `0.31 s initial values, 2.50 s steps`.
fn parts(phases: &[(&str, f64)]) -> String {
    let parts = phases.iter().map(|(name, seconds)| format!("{seconds:.2} s {name}"));
    parts.collect::<Vec<_>>().join(", ")
}

fn is_frame(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("frame_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_below_the_digits_of_the_values_is_seen() {
        let words = observed(0.1 + 0.2, 0.3);
        let words: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(words, ["0.3", "0.3", "-5.55e-17"]);
        assert_eq!(observed(2.0, 2.0).split_whitespace().next_back(), Some("0"));
    }
}
