//! A schedule that the performance model picks for a run on a card, and the change to it.

use std::mem;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::Simulation;
use crate::backend::cuda::{Cache, Card};
use crate::pick::{self, Slot};
use crate::{Builder, Error, Number, Schedule, SystemDef};

/// The time of steps after which a search begins: a shorter run would not gain by it.
const DELAY: Duration = Duration::from_millis(200);

/// The time of steps by a pick after which it is compared with the steps before.
const TRIAL: Duration = Duration::from_millis(500);

/// The least time of steps that are compared.
const LEAST: Duration = Duration::from_millis(100);

/// The ratio of times of a step from which on a run goes back: clocks sink while a card works.
const SLOWER: f64 = 1.1;

/// The use that a run on a card makes of the performance model, if it was given no schedule. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    /// It does all steps by the preset `gpu`.
    Off,
    /// It begins by the pick of an earlier run, or else by the preset. In that case the model picks a schedule meanwhile,
    /// by which the run goes on once its kernels are compiled: [`run`](crate::Simulation::run) and
    /// [`step_some`](crate::Simulation::step_some) change to it between two steps. A run of less than 0.2 s picks none.
    #[default]
    Meanwhile,
    /// It waits for the pick before it begins.
    Before,
}

/// The schedule that the performance model has picked for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picked {
    /// The run needs none: it was given a schedule, it is not on a card, or [`Pick::Off`] was set.
    Unwanted,
    /// There is none yet.
    NotYet,
    /// The steps after this number are done by it.
    Since(u64),
    /// There is none, for this reason: the run keeps its schedule.
    Failed(String),
}

/// The schedule that a search has found, or the reason why it found none.
pub(crate) type Found = Result<Schedule, String>;

/// The subject of a search: a run without a schedule, and its card.
#[derive(Debug)]
pub(crate) struct Wanted<T> {
    pub(crate) system: SystemDef,
    pub(crate) cells: [usize; 3],
    /// The facts beside the problem and its cells on which a pick depends.
    pub(crate) on: String,
    pub(crate) run: Builder<T>,
    pub(crate) card: Card,
    pub(crate) cache: Option<Cache>,
}

/// The state of a pick.
#[derive(Debug)]
pub(crate) enum Picking<T> {
    /// No search has begun; one may after this time of steps.
    Open(Duration, Box<Wanted<T>>),
    /// A thread searches, since this moment.
    Begun(Arc<OnceLock<Found>>, Moment, Slot),
    /// The run has changed to the pick, which stands its trial.
    Tried(Box<Trial>),
    Over(Picked),
}

/// A moment of a run: the time of its steps, and their number.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moment {
    time: Duration,
    steps: u64,
}

/// The trial of a pick.
#[derive(Debug)]
pub(crate) struct Trial {
    /// The schedule before.
    old: Schedule,
    /// Seconds of a step by it.
    seconds: f64,
    since: Moment,
    /// The time that it takes.
    long: Duration,
    slot: Slot,
}

impl<T> Picking<T> {
    /// Returns the state before the first step of a run that may want a pick.
    pub(crate) fn open(wanted: Wanted<T>) -> Self {
        Picking::Open(DELAY, Box::new(wanted))
    }

    /// Returns the state of a pick that cannot be used.
    pub(crate) fn failed(error: &Error) -> Self {
        Picking::Over(Picked::Failed(pick::reason(error)))
    }
}

impl<T: Number> Simulation<T> {
    /// Returns the schedule that the performance model has picked.
    ///
    /// ```
    /// # use stencil_runtime::{Pick, Picked, Simulation, SystemDef};
    /// # let heat = SystemDef::from_text("h", "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }")?;
    /// let run = Simulation::<f64>::builder(&heat).cells([8, 1, 1]).dt(1e-3);
    /// let simulation = run.pick(Pick::Before).build()?;
    /// // The processor has no use for it.
    /// assert_eq!(simulation.picked(), Picked::Unwanted);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn picked(&self) -> Picked {
        match &self.picking {
            Picking::Over(picked) => picked.clone(),
            Picking::Tried(trial) => Picked::Since(trial.since.steps),
            Picking::Open(..) | Picking::Begun(..) => Picked::NotYet,
        }
    }

    /// Begins a search for a pick, goes on by the pick if it is there, or goes back if it turns out to be slower. A pick
    /// that fails changes nothing.
    ///
    /// # Errors
    /// If a step that a card has begun before turns out to have failed.
    pub(super) fn use_pick(&mut self) -> Result<(), Error> {
        let time = self.timings.steps;
        let is_due = match &self.picking {
            Picking::Over(_) => false,
            Picking::Open(until, _) => time >= *until,
            Picking::Begun(found, ..) => found.get().is_some(),
            Picking::Tried(trial) => time >= trial.since.time + trial.long,
        };
        if !is_due {
            return Ok(());
        }
        self.settle()?;
        let now = Moment { time: self.timings.steps, steps: self.steps };
        let state = mem::replace(&mut self.picking, Picking::Over(Picked::Unwanted));
        self.picking = match state {
            Picking::Open(_, wanted) => {
                let slot = Slot::of(&wanted);
                match pick::begin(wanted) {
                    Ok(found) => Picking::Begun(found, now, slot),
                    // Another run searches: this one asks again later.
                    Err(wanted) => Picking::Open(now.time + DELAY, wanted),
                }
            }
            Picking::Begun(found, since, slot) => {
                let found = found.get().cloned();
                let found = found.unwrap_or_else(|| Err("it was lost".to_string()));
                match found {
                    Ok(schedule) => self.try_pick(&schedule, now.seconds_since(since), slot),
                    Err(reason) => Picking::Over(Picked::Failed(reason)),
                }
            }
            Picking::Tried(trial) => self.judge(&trial, now),
            Picking::Over(picked) => Picking::Over(picked),
        };
        Ok(())
    }

    /// Goes on by a pick, and lets it stand its trial if the seconds of a step before are known.
    fn try_pick(&mut self, schedule: &Schedule, before: Option<f64>, slot: Slot) -> Picking<T> {
        let old = self.schedule().clone();
        if let Err(error) = self.go_on_by(schedule) {
            return Picking::failed(&error);
        }
        let since = Moment { time: self.timings.steps, steps: self.steps };
        match before {
            Some(seconds) => {
                Picking::Tried(Box::new(Trial { old, seconds, since, long: TRIAL, slot }))
            }
            None => Picking::Over(Picked::Since(self.steps)),
        }
    }

    /// Ends the trial of a pick: goes back, and keeps the old schedule in its place for later runs, if it is slower.
    fn judge(&mut self, trial: &Trial, now: Moment) -> Picking<T> {
        let seconds = now.seconds_since(trial.since);
        if seconds.is_none_or(|seconds| seconds <= SLOWER * trial.seconds) {
            return Picking::Over(Picked::Since(trial.since.steps));
        }
        match self.go_on_by(&trial.old) {
            Ok(()) => {
                trial.slot.keep(&trial.old);
                Picking::Over(Picked::Failed("the one that was found is slower".to_string()))
            }
            // The pick goes on.
            Err(_) => Picking::Over(Picked::Since(trial.since.steps)),
        }
    }
}

impl Moment {
    /// Returns the seconds of a step since an earlier moment, if these were enough to tell.
    fn seconds_since(self, earlier: Moment) -> Option<f64> {
        let time = self.time.saturating_sub(earlier.time);
        let steps = self.steps.saturating_sub(earlier.steps);
        (time >= LEAST && steps > 0).then(|| time.as_secs_f64() / steps as f64)
    }
}

#[cfg(test)]
mod tests {
    use stencil_compiler::schedule::text::parse;

    use super::*;

    fn run() -> Simulation<f64> {
        let text =
            "pub system Heat in 2d { field q: scalar; let g = grad(q); ddt(q) = div(g)/100; }
             scheme s for Heat { space: central<order = 4>; mixed: composed; time: ssprk2; }";
        let system = SystemDef::from_text("heat.pde", text).unwrap();
        let run = Simulation::builder(&system).cells([16, 12, 1]).dt(1e-3);
        let mut simulation = run.build().unwrap();
        simulation.set("q", |x, y, _| x - y * y).unwrap();
        simulation
    }

    /// Does five steps; the pick is there after the second.
    fn after(found: Found) -> Simulation<f64> {
        let mut simulation = run();
        let cell = Arc::new(OnceLock::new());
        simulation.picking = Picking::Begun(cell.clone(), Moment::default(), Slot::default());
        let progress = |step, _| {
            if step == 2 {
                cell.set(found.clone()).unwrap();
            }
        };
        simulation.run(5, progress).unwrap();
        simulation
    }

    #[test]
    fn a_schedule_of_the_user_stands_against_a_pick() {
        let mut simulation = run();
        let (own, picked) = (parse("schedule kernel direct"), parse("schedule kernel march"));
        simulation.picking = Picking::Begun(
            Arc::new(OnceLock::from(Ok(picked.unwrap()))),
            Moment::default(),
            Slot::default(),
        );
        simulation.reschedule(own.as_ref().unwrap()).unwrap();
        simulation.run(3, |_, _| ()).unwrap();
        assert_eq!((simulation.picked(), simulation.schedule()), (Picked::Unwanted, &own.unwrap()));
    }

    #[test]
    fn a_run_goes_on_by_the_pick_once() {
        let mut unpicked = run();
        unpicked.run(5, |_, _| ()).unwrap();
        let bits = unpicked.bits().unwrap();
        let text = "schedule place g_x global exchange place g_y global exchange kernel direct kernel direct";
        let other = parse(text).unwrap();
        assert_ne!(*unpicked.schedule(), other);
        let mut picked = after(Ok(other.clone()));
        assert_eq!((picked.picked(), picked.schedule()), (Picked::Since(2), &other));
        assert!(picked.bits().unwrap() == bits);
        // Reasons are told, and nothing else changes.
        let illegal = parse("schedule place nothing shared kernel direct").unwrap();
        for (found, why) in
            [(Err("no compiler".to_string()), "no compiler"), (Ok(illegal), "nothing")]
        {
            let mut failed = after(found);
            assert!(matches!(failed.picked(), Picked::Failed(reason) if reason.contains(why)));
            assert_eq!(failed.schedule(), unpicked.schedule());
            assert!(failed.bits().unwrap() == bits);
        }
    }

    #[test]
    fn a_run_goes_back_from_a_pick_that_is_slower() {
        let mut unpicked = run();
        let old = unpicked.schedule().clone();
        unpicked.run(5, |_, _| ()).unwrap();
        for (before, is_kept) in [(0.0, false), (f64::INFINITY, true)] {
            let mut simulation = run();
            let other = parse("schedule kernel direct").unwrap();
            simulation.reschedule(&other).unwrap();
            simulation.run(1, |_, _| ()).unwrap();
            // As if that step had taken so long.
            simulation.timings.steps = LEAST;
            let trial = Trial {
                old: old.clone(),
                seconds: before,
                since: Moment::default(),
                long: LEAST,
                slot: Slot::default(),
            };
            simulation.picking = Picking::Tried(Box::new(trial));
            simulation.run(4, |_, _| ()).unwrap();
            let picked = simulation.picked();
            match is_kept {
                true => assert_eq!((picked, simulation.schedule()), (Picked::Since(0), &other)),
                false => {
                    assert!(matches!(picked, Picked::Failed(why) if why.contains("slower")));
                    assert_eq!(simulation.schedule(), &old);
                }
            }
            assert!(simulation.bits().unwrap() == unpicked.bits().unwrap());
        }
    }
}
