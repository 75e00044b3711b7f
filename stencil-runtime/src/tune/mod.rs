//! The tuner: finds a fast schedule for a problem on the card at hand, by search.
//!
//! It begins with schedules spread over all placements and blockings ([`search`](stencil_compiler::search)),
//! in the order of the performance model. The best of each kind are compiled, many at once, and race: all are timed in
//! turn, the slower half leaves, and the rest are timed for longer. Then the neighbours of the winners race, until
//! none of them is faster or the time is up. At last the winners race against their own small variations. Races are of
//! short batches after rests; the last schedules are timed without rests, too. The winner must give the bits of the
//! processor on a mesh that no tile divides.
//!
//! If a scheme leaves choices open, its formulations may race, too: each candidate is a schedule of one of them, and
//! its bits must be those of the same formulation on the processor.

mod candidates;
mod first;
mod modelled;
pub(crate) mod pick;
mod race;
mod report;
#[cfg(test)]
mod tests;
mod track;
mod trial;

use std::time::Duration;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::algorithm::text::fingerprint;
use stencil_compiler::cost::Model;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::schedule::Schedule;
use stencil_compiler::search::plans::{Chosen, Key, Plan};

use crate::backend::cuda::{Card, CudaError};
use crate::{Builder, Error, Number, Simulation, SystemDef};
use modelled::Modelled;
use track::{OnCard, Track};

pub use modelled::by_the_model;
pub use report::{ModelError, Tuned};
pub use track::ODD;
pub use trial::{Fate, Trial};

/// The share of a step's time by which a schedule must be faster for the search to continue from it.
const GAIN: f64 = 0.005;

/// The settings of the tuner.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Cells along x, y, z.
    pub cells: [usize; 3],
    /// The time of the search. No race begins that would end later if it took as long as the one before. Predicting for
    /// a race and then compiling for it take up to half of the time that is left, each. A search without a card has
    /// three quarters for its first predictions, and compiles no schedule later than this.
    pub budget: Duration,
    /// Schedules of the first race.
    pub first: usize,
    /// Races of neighbours, at most.
    pub rounds: usize,
    /// The card, counted from 0.
    pub card: usize,
    /// A card of the performance model in place of that one: nothing runs, and predictions count.
    pub on: Option<&'static Model>,
}

impl Options {
    /// Returns the usual settings on a mesh of so many cells.
    pub fn on(cells: [usize; 3]) -> Self {
        Options { cells, budget: Duration::from_secs(45), first: 24, rounds: 4, card: 0, on: None }
    }

    /// Returns the key of a plan for a system: its card and its problem.
    ///
    /// # Errors
    /// If there is no such card.
    pub fn key(&self, system: &SystemDef, precision: Precision) -> Result<Key, Error> {
        let card = match self.on {
            Some(model) => modelled::name(model),
            None => self.find_card()?.name,
        };
        Ok(self.key_on(&card, system, precision))
    }

    fn key_on(&self, card: &str, system: &SystemDef, precision: Precision) -> Key {
        Key {
            system: system.name().to_string(),
            problem: fingerprint(system.algorithm()),
            precision,
            cells: self.cells,
            card: card.to_string(),
        }
    }

    fn find_card(&self) -> Result<Card, Error> {
        let cards = Card::all().map_err(Error::Cuda)?;
        let none = CudaError::Ordinal { ordinal: self.card, count: cards.len() };
        let card = cards.into_iter().nth(self.card);
        card.ok_or(Error::Cuda(none))
    }
}

/// A discrete problem to find schedules for: one of several formulations of a system, or the only one.
#[derive(Clone, Debug)]
pub struct Form {
    /// The system by this formulation.
    pub system: SystemDef,
    /// The choice as a plan names it, if it does.
    pub chosen: Option<Chosen>,
}

/// A schedule of one of the discrete problems that are searched, by its number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    form: usize,
    schedule: Schedule,
}

/// The subject of a search: a run on a mesh of any size, and its initial values.
#[derive(Clone, Copy)]
pub struct Subject<'a, T: Number> {
    /// The discrete problems that race, the usual one first.
    pub forms: &'a [Form],
    /// The run of a system on so many cells, without an engine and a schedule.
    pub run: &'a (dyn Fn(&SystemDef, [usize; 3]) -> Builder<T> + Sync),
    /// Sets the values of a run.
    pub fill: &'a (dyn Fn(&mut Simulation<T>) -> Result<(), Error> + Sync),
}

impl<T: Number> std::fmt::Debug for Subject<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.forms.first().map_or("", |form| form.system.name());
        write!(f, "Subject({name}, {})", T::NAME)
    }
}

/// The progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// So many of the predicted schedules are legal, and fit the card.
    Ranked {
        /// Legal ones.
        legal: usize,
        /// All of them.
        all: usize,
    },
    /// So many schedules of a race are compiled.
    Compiled {
        /// Compiled ones.
        done: usize,
        /// All of them.
        all: usize,
    },
    /// So many schedules are left in a race, and the fastest makes so many million points a second.
    Racing {
        /// Schedules in the race.
        left: usize,
        /// The best rate so far.
        best: f64,
    },
}

/// The part of the budget that is kept for the last race.
const LAST: u32 = 6;

/// A search on one machine.
struct Tuner<'a> {
    forms: &'a [Form],
    options: &'a Options,
    track: &'a mut (dyn Track + Sync),
    progress: &'a mut (dyn FnMut(Progress) + Send),
    trials: Vec<Trial>,
    /// Time of the last race, without compiling for it.
    raced: Duration,
    /// The end of the current work: the budget, less the share of the last race.
    until: Duration,
}

/// Finds a fast schedule.
///
/// # Errors
/// If there is no card or no compiler; if no schedule runs and gives the bits of the processor, with the reason of the
/// first.
pub fn tune<T: Number>(
    subject: Subject<'_, T>,
    options: &Options,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Tuned, Error> {
    if let Some(model) = options.on {
        let mut track = Modelled::new(subject, options, model.into());
        return Tuner::new(subject.forms, options, &mut track, progress).by_model();
    }
    let mut track = OnCard::new(subject, options)?;
    Tuner::new(subject.forms, options, &mut track, progress).search()
}

/// Times schedules drawn at random with a seed, as many of each blocking, and compares the times with the predictions
/// of the performance model. Schedules beyond the budget are left out. They are of the first formulation.
///
/// # Errors
/// If there is no card.
pub fn survey<T: Number>(
    subject: Subject<'_, T>,
    options: &Options,
    (count, seed): (usize, u64),
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Tuned, Error> {
    let mut track = OnCard::new(subject, options)?;
    let mut tuner = Tuner::new(subject.forms, options, &mut track, progress);
    let mut drawn = tuner.drawn(count, seed);
    // In the order of drawing: the budget must not leave out those that the model predicts to be slow.
    drawn.sort_unstable();
    tuner.prepare(&mut drawn, 1);
    for at in drawn {
        if tuner.track.elapsed() < options.budget {
            tuner.time_alone(at);
        } else {
            tuner.trials[at].fate = Fate::Late;
        }
    }
    Ok(tuner.report(None))
}

impl<'a> Tuner<'a> {
    fn new(
        forms: &'a [Form],
        options: &'a Options,
        track: &'a mut (dyn Track + Sync),
        progress: &'a mut (dyn FnMut(Progress) + Send),
    ) -> Self {
        Tuner {
            forms,
            options,
            track,
            progress,
            trials: Vec::new(),
            raced: Duration::ZERO,
            until: options.budget,
        }
    }

    /// Races, until neighbours are no faster or the time is up.
    fn search(mut self) -> Result<Tuned, Error> {
        self.until = self.options.budget - self.options.budget / LAST;
        let mut finalists = self.first_race();
        for _ in 0..self.options.rounds {
            // Compiling for a race gets half of the time that is left.
            if !self.has_time(2 * self.raced) {
                break;
            }
            let before = self.best_of(&finalists);
            finalists = self.next_race(&finalists);
            if self.best_of(&finalists) > before * (1.0 - GAIN) {
                break;
            }
        }
        self.until = self.options.budget;
        // A few schedules take a small part of the time of many.
        if self.has_time(self.raced / 2) {
            finalists = self.last_race(&finalists);
        }
        self.end(finalists)
    }

    /// Is there so much time left?
    fn has_time(&self, long: Duration) -> bool {
        self.track.elapsed() + long <= self.until
    }

    /// Returns the end of half of the time that is left.
    fn half_of_rest(&self) -> Duration {
        (self.track.elapsed() + self.until) / 2
    }

    /// Returns the winner of finalists, the fastest first: the first that gives the right bits.
    fn end(mut self, finalists: Vec<usize>) -> Result<Tuned, Error> {
        for at in finalists {
            self.trials[at].fate = Fate::Slower;
            // A schedule that cannot run for that long has no such number.
            self.trials[at].sustained = self.track.sustained(at).unwrap_or_default();
        }
        let mut order: Vec<usize> = (0..self.trials.len()).collect();
        order.retain(|at| self.trials[*at].fate == Fate::Slower);
        let seconds = |at: &usize| self.trials[*at].seconds();
        order.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        for at in order {
            match self.track.differing(&self.trials[at].candidate())? {
                0 => {
                    let rate = self.rate(self.trials[at].seconds());
                    return Ok(self.found(at, rate));
                }
                differing => self.trials[at].fate = Fate::Wrong { differing },
            }
        }
        Err(self.nothing())
    }

    /// Ends a search that has found a schedule.
    fn found(mut self, at: usize, rate: f64) -> Tuned {
        let trial = &mut self.trials[at];
        trial.fate = Fate::Best;
        let plan = Plan {
            key: self.track.key(trial.form),
            chosen: self.forms[trial.form].chosen,
            rate,
            schedule: trial.schedule.clone(),
        };
        self.report(Some(plan))
    }

    /// Returns the discrete problem of a candidate.
    fn algorithm(&self, form: usize) -> &'a Algorithm {
        self.forms[form].system.algorithm()
    }

    /// Returns the reason why there is no schedule.
    fn nothing(&self) -> Error {
        let reason = self.trials.iter().find_map(|trial| match &trial.fate {
            Fate::Failed { reason } => Some(reason.clone()),
            Fate::Wrong { differing } => {
                Some(format!("{differing} values are not the processor's"))
            }
            Fate::Ranked | Fate::Late | Fate::Hopeless | Fate::Slower | Fate::Best => None,
        });
        Error::NoSchedule {
            system: self.track.key(0).system,
            reason: reason.unwrap_or_else(|| "none is legal".into()),
        }
    }

    /// Returns the million points a second of a step that takes so long, rounded to the accuracy of the measurement.
    fn rate(&self, seconds: f64) -> f64 {
        let points: usize = self.options.cells.iter().product();
        (points as f64 / seconds / 1e5).round() / 10.0
    }
}
