//! How fast systems step, beside what the machine can do and beside other programs.

use serde_json::{Value, json};
use stencil_compiler::schedule::Schedule;
use stencil_runtime::{Engine, Number, Stream, SystemDef};

use crate::smooth::along_axes;
use crate::{Failure, Picture, Render};

mod card;
mod case;
mod names;
mod other_program;
mod parts;
mod picture;
mod report;
mod scaling;
mod shares;
#[cfg(test)]
mod tests;
mod work;

use case::Case;
pub(crate) use case::best_and_median;
use other_program::OtherProgram;
pub use report::Measured;
pub use scaling::Scaling;

/// A mesh, and the engine that computes the steps on it.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// Cells along each axis.
    pub cells: [usize; 3],
    /// Patches: none is one for each device, one number is for all axes, or one for each.
    pub patches: &'a [usize],
    /// Devices that share the patches.
    pub devices: usize,
    /// The engine.
    pub engine: Engine,
    /// Threads of the processor; one for each core if not given.
    pub threads: Option<usize>,
    /// The Courant number of steps that adapt to speeds.
    pub cfl: Option<f64>,
    /// Are no fields kept to go back to?
    pub lean: bool,
    /// Whether the mesh passes through its device slab by slab.
    pub stream: Stream,
    /// Bytes of the memory of a card that the run may take, if not all that are free.
    pub card_memory: Option<usize>,
    /// A schedule with its name; the system's own if not given.
    pub schedule: Option<(&'a str, Schedule)>,
}

/// How steps of a card are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// In short batches after rests: at the clock that the card reaches.
    Burst,
    /// Without rests: at the clock that it holds.
    Sustained,
    /// One after the other.
    Both,
}

impl Protocol {
    fn name(self) -> &'static str {
        match self {
            Protocol::Burst => "burst",
            Protocol::Sustained => "sustained",
            Protocol::Both => "both",
        }
    }
}

/// How often and how cases are timed.
#[derive(Clone, Copy, Debug)]
pub struct Timings<'a> {
    /// How steps of a card are timed.
    pub protocol: Protocol,
    /// The number of timings.
    pub repeat: u32,
    /// Steps of each, if that was asked for.
    pub steps: Option<u64>,
    /// Is each part of a step timed by itself?
    pub kernels: bool,
    /// A command of the shell that is timed beside the steps.
    pub beside: Option<&'a str>,
    /// Are steps timed once more in which no cell reads another one?
    pub bare: bool,
}

/// Returns cells along each axis as they are given: none for a mesh that no cache holds, one number for all axes, or one for each.
pub fn cells(system: &SystemDef, given: &[usize]) -> [usize; 3] {
    let usual = [1 << 22, 2048, 128][system.model().dimension.clamp(1, 3) - 1];
    along_axes(system, given, usual)
}

/// Measures a system.
///
/// # Errors
/// If a run or the program beside fails.
pub fn measure<T: Number>(
    system: &SystemDef,
    setup: &Setup<'_>,
    timings: &Timings<'_>,
) -> Result<Measured, Failure> {
    let mut case = Case::<T>::new(system, setup)?;
    let told = case.told();
    let mut beside = timings.beside.map(|command| OtherProgram::new(command, told));
    let bare = timings.bare.then(|| case.bare(setup)).transpose()?;
    case.measure(timings, beside.as_mut())?;
    let mut measured = case.result(beside);
    if let Some(mut bare) = bare {
        let timings = Timings { kernels: false, ..*timings };
        bare.measure(&timings, None)?;
        measured.bare_mpts = Some(bare.result(None).best_mpts);
    }
    Ok(measured)
}

/// The cases that were measured, in their order.
#[derive(Clone, Debug)]
pub struct Results {
    all: Vec<Measured>,
    compares: bool,
    kernels: bool,
    scaling: Option<Scaling>,
}

impl Results {
    /// Makes an empty list. Schedules are compared with the first of them if `compares`, and the text shows kernels and parts of
    /// steps if `kernels`.
    pub fn new(compares: bool, kernels: bool) -> Self {
        Results { all: Vec::new(), compares, kernels, scaling: None }
    }

    /// Sets whether cases that differ in the number of devices are compared, and how their meshes differ.
    pub fn scaling(mut self, scaling: Option<Scaling>) -> Self {
        self.scaling = scaling;
        self
    }

    /// Adds a case and returns its lines of the table.
    pub fn push(&mut self, mut measured: Measured) -> String {
        if self.compares {
            measured.compare(&self.all);
        }
        self.all.push(measured);
        self.lines(self.all.len() - 1)
    }

    /// The lines of a case, below a heading where its columns are others than those before.
    fn lines(&self, at: usize) -> String {
        let (measured, before) = (&self.all[at], self.all[..at].last());
        // Cards and processors have other columns.
        let is_new = before.is_none_or(|last| last.is_other(measured));
        match is_new {
            true => measured.heading() + &measured.row(),
            false => measured.row(),
        }
    }

    /// Returns the text below the table: kernels and the scaling if they are wanted, and notes.
    pub fn end(&self) -> String {
        let kernels = self.kernels.then(|| report::kernels(&self.all));
        let scaling = self.scaling.map(|scaling| scaling::table(&self.all, scaling));
        kernels.unwrap_or_default() + &scaling.unwrap_or_default() + &report::notes(&self.all)
    }
}

impl Render for Results {
    fn text(&self) -> String {
        let lines = (0..self.all.len()).map(|at| self.lines(at));
        lines.collect::<String>() + &self.end()
    }

    fn json(&self) -> Value {
        let cases: Vec<Value> = self.all.iter().map(Measured::json).collect();
        match self.scaling {
            None => json!({ "cases": cases }),
            Some(scaling) => {
                json!({ "cases": cases, "scaling": scaling::json(&self.all, scaling) })
            }
        }
    }

    fn pictures(&self) -> Vec<(String, Picture)> {
        match self.scaling {
            None => picture::all(&self.all),
            Some(scaling) => scaling::pictures(&self.all, scaling),
        }
    }
}
