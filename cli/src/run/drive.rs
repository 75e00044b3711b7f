//! The loop over time steps, and the files that it writes on the way.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use stencil_report::run::Changed;
use stencil_runtime::io::SeriesWriter;
use stencil_runtime::problem::{Problem, TimeStep};
use stencil_runtime::report::Progress;
use stencil_runtime::{Number, Simulation};

use super::Ended;
use super::checkpoints::Checkpoints;
use super::files::{Files, cannot_write};
use super::folder::{INTERRUPTED, LAST_GOOD, SERIES};
use super::frames::RunFrames;
use super::signals::{Action, Reason, Stop};
use super::watch::Watched;

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At the problem's end.
    Finished,
    /// Before it, for this reason.
    Early(Reason),
}

/// A run that goes on.
pub(super) struct Drive<'a, T> {
    pub(super) problem: Problem,
    pub(super) simulation: Simulation<T>,
    pub(super) files: Files,
    checkpoints: Checkpoints,
    /// The frames, if the run has some.
    frames: Option<RunFrames>,
    progress: Progress,
    /// The time series, if this process writes it.
    series: Option<SeriesWriter>,
    /// Observables when it began, and now.
    first: BTreeMap<String, f64>,
    last: BTreeMap<String, f64>,
    /// The step of the last row of the series.
    written: u64,
    /// The viewers of the run, if it has some.
    pub(super) watched: Option<Watched<'a, T>>,
    /// The parameters that viewers have changed, in the order of their steps.
    pub(super) changed: Vec<Changed>,
}

/// A run that is over.
pub(super) struct Done<T> {
    /// The problem, with the parameters that the run ended by.
    pub(super) problem: Problem,
    /// The parameters that viewers have changed.
    pub(super) changed: Vec<Changed>,
    pub(super) simulation: Simulation<T>,
    pub(super) files: Files,
    /// Observables when it began.
    pub(super) first: BTreeMap<String, f64>,
    /// Observables when it ended.
    pub(super) last: BTreeMap<String, f64>,
}

/// The steps that a run will take from here; a guess where time steps adapt.
pub(super) fn steps_left<T: Number>(problem: &Problem, simulation: &Simulation<T>) -> u64 {
    let by_count = problem.time.steps.map(|steps| steps.saturating_sub(simulation.step_count()));
    let by_time = problem.time.end.map(|end| {
        let steps = ((end - simulation.t()) / simulation.dt() * (1.0 - 1e-9)).ceil();
        // An adaptive step is not known before the first one.
        if steps.is_finite() { steps.max(0.0) as u64 } else { 0 }
    });
    match (by_count, by_time) {
        (Some(count), Some(time)) => count.min(time),
        (count, time) => count.or(time).unwrap_or(0),
    }
}

impl<'a, T: Number> Drive<'a, T> {
    /// Opens the time series and writes the files that precede the first step.
    pub(super) fn start(
        problem: &Problem,
        mut simulation: Simulation<T>,
        mut files: Files,
        progress: Progress,
        (is_new, watched): (bool, Option<Watched<'a, T>>),
    ) -> Result<Self, Ended> {
        let first = simulation.observe()?;
        let mut columns = vec!["step".to_string(), "t".to_string(), "dt".to_string()];
        columns.extend(first.keys().cloned());
        let path = files.path(SERIES);
        let step = simulation.step_count();
        let is_regular = step.is_multiple_of(problem.output.series_every);
        let open = || {
            if files.go_on() {
                // The last row of the earlier run would be in no uninterrupted one if it is between two others.
                let last = if is_regular { step } else { step.saturating_sub(1) };
                SeriesWriter::resume(&path, &columns, last)
            } else {
                SeriesWriter::create(&path, &columns)
            }
        };
        let series = files.writes().then(open).transpose().map_err(|e| cannot_write(&e))?;
        let last = series.as_ref().and_then(SeriesWriter::last_step).map(|step| step as u64);
        files.add(path);
        let mut drive = Drive {
            checkpoints: Checkpoints::start(problem.checkpoint, &simulation),
            problem: problem.clone(),
            simulation,
            files,
            frames: None,
            progress,
            series,
            last: first.clone(),
            first,
            written: last.unwrap_or(step),
            watched,
            changed: Vec::new(),
        };
        drive.show_row();
        if last.is_none_or(|last| is_regular && last != step) {
            drive.row()?;
        }
        drive.written = drive.simulation.ranks().of_first(drive.written);
        drive.frames = RunFrames::begin(problem, &drive.simulation, &mut drive.files, is_new)?;
        Ok(drive)
    }

    /// Steps to the end, or to the step in which a signal comes or the time on the wall is over.
    pub(super) fn run(&mut self, stop: &Stop) -> Result<End, Ended> {
        if !self.is_over()
            && let Some(why) = self.simulation.check_length()?
            && self.files.writes()
        {
            // Whoever has left misses nothing.
            let _ = writeln!(io::stderr(), "note: {why}");
        }
        while !self.is_over() {
            let events = stop.events(self.checkpoints.is_late());
            match events.agree(self.simulation.ranks()) {
                Action::None => {}
                Action::Write => self.checkpoint()?,
                Action::End(reason) => {
                    self.simulation.settle()?;
                    return Ok(End::Early(reason));
                }
            }
            let end = self.problem.time.end.unwrap_or(f64::INFINITY);
            let most = self.look()?;
            if most > 0 {
                self.simulation.step_some(self.until_event().min(most), end)?;
                self.after_step()?;
            }
        }
        Ok(End::Finished)
    }

    /// Steps to the next one after which something is written, or the last one.
    fn until_event(&self) -> u64 {
        let step = self.simulation.step_count();
        let (output, time) = (&self.problem.output, &self.problem.time);
        let next = |every: u64| (step / every.max(1) + 1).saturating_mul(every.max(1));
        let states = self.checkpoints.every_steps().map(next);
        let frame = self.frames.as_ref();
        let frame = frame.map(|frames| frames.steps_until(&self.problem, &self.simulation));
        let frame = frame.map(|steps| step.saturating_add(steps));
        let events = [Some(next(output.series_every)), frame, states, time.steps];
        events.into_iter().flatten().min().map_or(1, |event| event.saturating_sub(step).max(1))
    }

    fn is_over(&self) -> bool {
        let time = &self.problem.time;
        time.end.is_some_and(|end| self.simulation.t() >= end)
            || time.steps.is_some_and(|steps| self.simulation.step_count() >= steps)
    }

    fn after_step(&mut self) -> Result<(), Ended> {
        let step = self.simulation.step_count();
        let output = &self.problem.output;
        if step.is_multiple_of(output.series_every) {
            self.observe_row()?;
        }
        if let Some(frames) = &mut self.frames {
            frames.after_step(&self.problem, &self.simulation, &mut self.files)?;
        }
        if !matches!(self.problem.time.dt, TimeStep::Fixed(_)) && !self.is_over() {
            let left = steps_left(&self.problem, &self.simulation).max(1);
            self.progress.expect(step.saturating_add(left));
        }
        if self.checkpoints.is_due(step, self.simulation.t()) && !self.is_over() {
            self.checkpoint()?;
        }
        self.progress.update(step, self.simulation.t());
        Ok(())
    }

    /// Writes the state of this step. Values of a card are checked before, and rows of the series before the state are
    /// on the disk.
    fn checkpoint(&mut self) -> Result<(), Ended> {
        self.simulation.settle()?;
        let sync = |series: &SeriesWriter| series.sync().map_err(|e| cannot_write(&e));
        self.series.as_ref().map_or(Ok(()), sync)?;
        self.checkpoints.write(&self.problem, &self.simulation, &mut self.files)
    }

    fn observe_row(&mut self) -> Result<(), Ended> {
        self.last = self.simulation.observe()?;
        self.show_row();
        self.row()
    }

    /// Shows the observables to viewers.
    fn show_row(&self) {
        if let Some(watched) = &self.watched {
            watched.watching.observed(self.simulation.t(), self.last.values().copied());
        }
    }

    fn row(&mut self) -> Result<(), Ended> {
        let simulation = &self.simulation;
        self.written = simulation.step_count();
        let mut row = vec![self.written as f64, simulation.t(), simulation.dt()];
        row.extend(self.last.values());
        let push = |series: &mut SeriesWriter| series.push(&row).map_err(|e| cannot_write(&e));
        self.series.as_mut().map_or(Ok(()), push)
    }

    /// Writes the state and, at the problem's end, the pictures, and closes the time series.
    pub(super) fn finish(mut self, end: End) -> Result<Done<T>, Ended> {
        self.progress.finish();
        self.frames.take().map_or(Ok(()), RunFrames::finish)?;
        match end {
            End::Finished => {
                if self.written != self.simulation.step_count() {
                    self.observe_row()?;
                }
                self.files.end(&self.problem, &mut self.simulation)?;
            }
            // The row of a step between two others would be in no uninterrupted run.
            End::Early(_) => self.files.last(&self.problem, &self.simulation, INTERRUPTED)?,
        }
        let finish = |series: SeriesWriter| series.finish().map_err(|e| cannot_write(&e));
        self.series.take().map_or(Ok(()), finish)?;
        if let Some(watched) = self.watched.take() {
            watched.watching.end(&self.simulation);
        }
        Ok(Done {
            problem: self.problem,
            changed: self.changed,
            simulation: self.simulation,
            files: self.files,
            first: self.first,
            last: self.last,
        })
    }

    /// The message of a run that failed, which keeps the last good state.
    pub(super) fn fail(mut self, mut ended: Ended) -> Ended {
        self.progress.finish();
        if let Some(watched) = self.watched.take() {
            watched.watching.end(&self.simulation);
        }
        // Frames that were handed over are good, too.
        let frames = self.frames.take().map_or(Ok(()), RunFrames::finish);
        if let Err(also) = frames {
            ended.message.push_str(&format!("\n{}", also.message));
        }
        let good = self.simulation.step_count();
        if ended.code == crate::NUMERICAL
            && self.files.last(&self.problem, &self.simulation, LAST_GOOD).is_ok()
        {
            let path = self.files.state().display().to_string();
            ended.message.push_str(&format!(
                "\n  help: the state after step {good} is in {path}; --restart goes on from it, with other settings"
            ));
        }
        ended
    }
}
