//! A schedule that the performance model picks for a run on a card, and the change to it.

use std::mem;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::Simulation;
use crate::backend::cuda::{Cache, Card};
use crate::pick;
use crate::{Builder, Error, Number, Schedule, SystemDef};

/// The time of steps after which a search begins: a shorter run would not gain by it.
const DELAY: Duration = Duration::from_millis(200);

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
    /// A thread searches.
    Begun(Arc<OnceLock<Found>>),
    Over(Picked),
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
            Picking::Open(..) | Picking::Begun(_) => Picked::NotYet,
        }
    }

    /// Begins a search for a pick, or goes on by the pick if it is there. A pick that fails changes nothing.
    ///
    /// # Errors
    /// If a step that a card has begun before turns out to have failed.
    pub(super) fn use_pick(&mut self) -> Result<(), Error> {
        let found = match &self.picking {
            Picking::Over(_) => return Ok(()),
            Picking::Open(until, _) if self.timings.steps < *until => return Ok(()),
            Picking::Open(..) => {
                self.begin_pick();
                return Ok(());
            }
            Picking::Begun(found) => match found.get() {
                Some(found) => found.clone(),
                None => return Ok(()),
            },
        };
        self.settle()?;
        let used = found.and_then(|schedule| {
            let changed = self.go_on_by(&schedule);
            changed.map_err(|error| pick::reason(&error))
        });
        self.picking = Picking::Over(match used {
            Ok(()) => Picked::Since(self.steps),
            Err(reason) => Picked::Failed(reason),
        });
        Ok(())
    }

    fn begin_pick(&mut self) {
        let open = mem::replace(&mut self.picking, Picking::Over(Picked::Unwanted));
        if let Picking::Open(_, wanted) = open {
            self.picking = match pick::begin(wanted) {
                Ok(found) => Picking::Begun(found),
                // Another run searches: this one asks again later.
                Err(wanted) => Picking::Open(self.timings.steps + DELAY, wanted),
            };
        }
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
        simulation.picking = Picking::Begun(cell.clone());
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
        simulation.picking = Picking::Begun(Arc::new(OnceLock::from(Ok(picked.unwrap()))));
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
}
