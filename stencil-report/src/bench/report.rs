//! Results as a table and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};
use stencil_compiler::diag::counted;
use stencil_runtime::{MemoryUse, Passes};

use super::card::{self, Card};
use super::parts::{self, PartCosts};
use crate::passes;
use crate::pictures::timeline::Drawn;

/// The schedule of a case in which the performance model picked it.
pub(super) const PICK: &str = "pick";

/// The measurements of one case.
#[derive(Clone, Debug)]
pub struct Measured {
    pub(super) system: String,
    pub(super) precision: &'static str,
    pub(super) mixed: &'static str,
    /// Order of the central differences.
    pub(super) order: u32,
    pub(super) engine: &'static str,
    /// If one was asked for, or picked.
    pub(super) schedule: Option<String>,
    /// The Courant number of steps that adapt to speeds.
    pub(super) cfl: Option<f64>,
    /// The length of a step of the run, of the last one if they differ.
    pub(super) dt: f64,
    pub(super) cells: [usize; 3],
    pub(super) patches: [usize; 3],
    /// Devices that share the patches.
    pub(super) devices: usize,
    /// The number of dimensions.
    pub(super) dimension: usize,
    /// Steps in a timing, and timings.
    pub(super) steps: u64,
    pub(super) repeat: usize,
    /// Million points a second; a point counts once a full step.
    pub(super) best_mpts: f64,
    pub(super) median_mpts: f64,
    pub(super) ms_per_step: f64,
    /// Of the processor, if it did the steps.
    pub(super) processor: Option<Processor>,
    /// Of the card, if one did.
    pub(super) card: Option<Card>,
    /// The parts of a step, if they were asked for.
    pub(super) parts: Option<PartCosts>,
    /// The tasks of a step on each card, if they were asked for.
    pub(super) timeline: Vec<Drawn>,
    /// The rate over that of the first schedule, where there are several.
    pub(super) of_first: Option<f64>,
    /// The speed of a copy in the memory that the fields are in.
    pub(super) copy_gb_s: f64,
    /// Bytes a point and step that must move where substeps are done one by one.
    pub(super) floor_bytes: f64,
    /// Time of a step that only moves what must move.
    pub(super) floor_ms: f64,
    /// The memory that the run takes.
    pub(super) room: MemoryUse,
    /// How the mesh passes through its device, if it does.
    pub(super) passes: Option<Passes>,
    pub(super) beside: Option<BesideResult>,
    /// Million points a second where no cell reads another one.
    pub(super) bare_mpts: Option<f64>,
}

/// Rates of the processor, and the operations of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Processor {
    pub(super) instructions: &'static str,
    pub(super) threads: usize,
    pub(super) peak_gflops: f64,
    pub(super) triad_gb_s: f64,
    /// Operations a second of the best timing, if they can be counted.
    pub(super) gflops: Option<f64>,
}

impl Processor {
    fn peak_fraction(&self) -> Option<f64> {
        self.gflops.map(|gflops| gflops / self.peak_gflops)
    }
}

/// The measurements of the other program.
#[derive(Clone, Debug)]
pub(super) struct BesideResult {
    pub(super) command: String,
    pub(super) best_s: f64,
    pub(super) median_s: f64,
    pub(super) best_mpts: Option<f64>,
    pub(super) median_mpts: Option<f64>,
}

impl Measured {
    /// The time of the floor over the time of a step: 1 where nothing but memory takes time.
    fn floor_fraction(&self) -> f64 {
        self.floor_ms / self.ms_per_step
    }

    /// Does the processor simulate several devices?
    pub(super) fn is_simulated(&self) -> bool {
        self.devices > 1 && self.card.is_none()
    }

    /// The simulated time a second of steps that adapt to speeds; others are of no particular length.
    fn simulated(&self) -> Option<f64> {
        self.cfl.map(|_| self.dt / (1e-3 * self.ms_per_step))
    }

    /// Compares it, and the parts of its steps, with the first of these that differs from it in nothing but the schedule; with itself
    /// if there is none.
    pub(super) fn compare(&mut self, before: &[Measured]) {
        let first = self.first(before);
        self.of_first = Some(first.map_or(1.0, |first| self.best_mpts / first.best_mpts));
        let parts = first.and_then(|first| first.parts.as_ref());
        if let Some(own) = &mut self.parts {
            let itself = own.clone();
            own.compare(parts.unwrap_or(&itself));
        }
    }

    fn first<'a>(&self, before: &'a [Measured]) -> Option<&'a Measured> {
        let case = |r: &Measured| {
            let threads = r.processor.map(|processor| processor.threads);
            let of = (r.system.clone(), r.precision, r.mixed, r.order);
            (of, r.cells, r.patches, r.devices, r.engine, threads)
        };
        before.iter().find(|other| case(other) == case(self))
    }

    /// Does it stand below another heading?
    pub(super) fn is_other(&self, than: &Measured) -> bool {
        (self.card.is_some(), self.of_first.is_some())
            != (than.card.is_some(), than.of_first.is_some())
    }

    /// The line above rows such as this one.
    pub(super) fn heading(&self) -> String {
        let of_all = |how: &str, special: &str| {
            format!(
                "{:<18} {:<4} {:<10} {:>5} {how:<16} {:>15}  {:>9} {:>9} {:>9}  {:>8} {:>8} {:>9}{special}\n",
                "system",
                "",
                "mixed",
                "order",
                "cells",
                "Mpts/s",
                "median",
                "ms/step",
                "of floor",
                "memory",
                "of values"
            )
        };
        let heading = match &self.card {
            Some(_) => of_all("schedule", &card::heading()),
            None => of_all("engine", &format!("  {:>8} {:>8}", "of peak", "threads")),
        };
        match self.of_first {
            Some(_) => format!("{} {:>8}\n", heading.trim_end(), "of first"),
            None => heading,
        }
    }

    /// Those of the mesh, behind them the patches if there are many: `256×256×256/2×1×3`.
    pub(super) fn cells(&self) -> String {
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
        let mut text = format!(
            "{:<18} {:<4} {:<10} {:>5} {:<16} {:>15}  {:>9.2} {:>9.2} {:>9.3}  {:>8} {:>8} {:>9.3}",
            self.system,
            self.precision,
            self.mixed,
            self.order,
            self.schedule.as_deref().unwrap_or(self.engine),
            self.cells(),
            self.best_mpts,
            self.median_mpts,
            self.ms_per_step,
            percent(self.floor_fraction()),
            of_memory(self.room.bytes()),
            self.room.ratio(),
        );
        if let Some(processor) = &self.processor {
            let peak = processor.peak_fraction().map_or("-".to_string(), percent);
            let _ = write!(text, "  {peak:>8} {:>8}", processor.threads);
        }
        if let Some(card) = &self.card {
            text += &card.columns();
        }
        if let Some(ratio) = self.of_first {
            let _ = write!(text, " {ratio:>8.2}");
        }
        text.push('\n');
        if let Some(time) = self.simulated() {
            let _ = writeln!(
                text,
                "  simulated: {time:.3e} of time a second, in steps of {:.3e}",
                self.dt
            );
        }
        if let Some(passes) = &self.passes {
            let [up, down] = passes::rates(passes, 1e-3 * self.ms_per_step).map(|rate| rate / 1e9);
            let lines = passes::lines(passes, self.room.bytes()).join("; ");
            let _ = writeln!(text, "  {lines}; {up:.2} GB/s to the device and {down:.2} GB/s back");
        }
        if let Some(beside) = &self.beside {
            let speed = |mpts: Option<f64>| mpts.map_or("-".to_string(), |v| format!("{v:.2}"));
            let _ = writeln!(
                text,
                "  beside: {:>59}  {:>9} {:>9}  {:.3} s, median {:.3} s{}",
                shortened(&beside.command, 59),
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
        if let Some(bare) = self.bare_mpts {
            let _ = writeln!(
                text,
                "  without neighbours: {:>47}  {bare:>9.2} {:>9}  ours is {} of it",
                "",
                "",
                percent(self.best_mpts / bare),
            );
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "system": self.system,
            "precision": self.precision,
            "engine": self.engine,
            "mixed": self.mixed,
            "order": self.order,
            "schedule": self.schedule,
            "cfl": self.cfl,
            "dt": self.dt,
            "cells": self.cells,
            "patches": self.patches,
            "devices": self.devices,
            "steps": self.steps,
            "repeat": self.repeat,
            "mpts_per_s": self.best_mpts,
            "median_mpts_per_s": self.median_mpts,
            "ms_per_step": self.ms_per_step,
            "simulated_per_s": self.simulated(),
            "processor": self.processor.as_ref().map(|p| json!({
                "instructions": p.instructions,
                "threads": p.threads,
                "gflops": p.gflops,
                "peak_gflops": p.peak_gflops,
                "peak_fraction": p.peak_fraction(),
                "triad_gb_per_s": p.triad_gb_s,
            })),
            "card": self.card.as_ref().map(Card::json),
            "parts": self.parts.as_ref().map(PartCosts::json),
            "timeline": self.timeline.iter().map(Drawn::json).collect::<Vec<_>>(),
            "rate_of_first": self.of_first,
            "copy_gb_per_s": self.copy_gb_s,
            "floor_bytes_per_point": self.floor_bytes,
            "floor_ms": self.floor_ms,
            "floor_fraction": self.floor_fraction(),
            "memory": json!({
                "bytes": self.room.bytes(),
                "of_values": self.room.ratio(),
                "values_bytes": self.room.values,
                "kept_bytes": self.room.kept,
                "ghost_bytes": self.room.ghosts,
                "padding_bytes": self.room.padding,
                "other_bytes": self.room.others,
            }),
            "streamed": self.passes.as_ref().map(|p| passes::json(p, 1e-3 * self.ms_per_step)),
            "bare_mpts_per_s": self.bare_mpts,
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

/// Bytes in a short form: `1.25G`.
fn of_memory(bytes: usize) -> String {
    let bytes = bytes as f64;
    let (unit, name) = match bytes {
        b if b < 1e6 => (1e3, "K"),
        b if b < 1e9 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    format!("{:.2}{name}", bytes / unit)
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// A text of at most `width` characters.
pub(super) fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let head: String = text.chars().take(width - 2).collect();
    head + ".."
}

/// Why parts of a step have no times.
const UNTIMED: &str = "parts have times of their own where a card does all of a step; the processor does the kernels of a step together\n";

/// The use of the card by each kernel of each case, and the costs of the parts of a step.
pub(super) fn kernels(results: &[Measured]) -> String {
    let mut text = String::new();
    for result in results {
        let Some(parts) = &result.parts else { continue };
        let schedule = result.schedule.as_deref().unwrap_or("its own schedule");
        let resources = result.card.as_ref().map_or(String::new(), Card::table);
        let seconds = 1e-3 * result.ms_per_step;
        let _ = writeln!(
            text,
            "\n{} {}, {schedule}, mixed {}, order {}, {}\n{resources}{}",
            result.system,
            result.precision,
            result.mixed,
            result.order,
            result.cells(),
            parts.table(seconds, result.of_first).trim_end()
        );
    }
    let has_times = |r: &Measured| r.parts.as_ref().is_some_and(|p| p.seconds().is_some());
    text.push('\n');
    text.push_str(parts::NOTES);
    if !results.iter().any(has_times) {
        text.push_str(UNTIMED);
    }
    text
}

/// The meaning of the columns, and the rates of the machine.
pub(super) fn notes(results: &[Measured]) -> String {
    let mut text = String::from("\nmachine, the best measured between the timings\n");
    let mut seen: Vec<String> = Vec::new();
    for result in results {
        let machine = result.machine();
        if seen.contains(&machine) {
            continue;
        }
        let same = results.iter().filter(|other| other.machine() == machine);
        let most = |value: fn(&Measured) -> f64| same.clone().map(value).fold(0.0, f64::max);
        let _ = write!(text, "  {machine}: copy {:.1} GB/s", most(|r| r.copy_gb_s));
        if result.processor.is_some() {
            let peak = most(|r| r.processor.map_or(0.0, |p| p.peak_gflops));
            let triad = most(|r| r.processor.map_or(0.0, |p| p.triad_gb_s));
            let _ = write!(text, ", triad {triad:.1} GB/s, {peak:.1} GFLOP/s of multiply-adds");
        }
        text.push('\n');
        seen.push(machine);
    }
    text.push_str(
        "Mpts/s: million points a full step and second, best and median of the timings\n\
         of floor: the time to read and write each field and accumulator once a substep, at the speed of a copy\n\
         memory: bytes that the run takes; of values: these over the values of cells that a step cannot do without: the rest is ghost cells,\n\
         \x20 rows that are filled up, and fields as they were, to go back to (--json has each)\n",
    );
    if results.iter().any(|r| r.schedule.as_deref() == Some(PICK)) {
        text.push_str(
            "pick: the schedule that the performance model picks for the card, as a run without --schedule has it\n",
        );
    }
    if results.iter().any(|r| r.cfl.is_some()) {
        text.push_str("steps adapt to speeds: the reduction for each of them is in its time\n");
    }
    if results.iter().any(|r| r.processor.is_some()) {
        text.push_str(
            "of peak: operations of the schedule, a multiply-add is two, over the peak of multiply-adds\n",
        );
    }
    if results.iter().any(|r| r.card.is_some()) {
        text.push_str(
            "timings of a card: short batches after rests, at the clock that it reaches (--protocol)\n\
             sustained: million points a second of steps without rests, at the clock that it holds\n\
             launches: kernels of a step, with those that fill ghost cells\n\
             B/point: predicted bytes a point and step that blocks ask for, halos included; caches serve a part of them\n\
             regs, shared, warps: of the kernel that takes most: registers a thread, shared memory a block,\n\
             \x20 the share of a multiprocessor's warps that are resident; each kernel by itself with --kernels\n\
             MHz, W: clock and power, left of `sustained` after rests and right of it without, - where the card does not tell\n\
             start: seconds from the settings to the end of the first step, kernels compiled or found\n",
        );
    }
    text
}

impl Measured {
    /// The name of the machine.
    pub(super) fn machine(&self) -> String {
        match (&self.card, &self.processor) {
            (Some(card), _) => card.name.clone(),
            (None, Some(processor)) => format!(
                "{} on {} ({})",
                self.precision,
                counted(processor.threads, "thread"),
                processor.instructions
            ),
            (None, None) => self.engine.to_string(),
        }
    }
}
