//! A card that is not there: the search follows the predictions of the performance model, and nothing runs.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use stencil_compiler::cost::{
    KernelCost, Link, Links, Model, Rates, ScheduleCost, called, usual_link,
};
use stencil_compiler::search::plans::{Key, Plan};

use super::track::{Predictors, Track};
use super::trial::Among;
use super::{Candidate, Fate, GAIN, Options, Progress, Subject, Trial, Tuned, Tuner};
use crate::backend::cuda::nvrtc::{Nvrtc, Resources};
use crate::backend::cuda::{BOXES, Doubt, Launched, OLDEST};
use crate::bench::Sustained;
use crate::{Error, Number};

/// Schedules that are compiled at once.
const AT_ONCE: usize = 4;

/// Returns the name of such a card in plan files, which no measured card has.
pub(super) fn name(model: &Model) -> String {
    format!("{} by the model", model.name)
}

/// Returns the name of a card's model in plan files, if there is one: its plans are used if the card has none.
///
/// ```
/// use stencil_runtime::tune::by_the_model;
///
/// assert_eq!(by_the_model("NVIDIA H200").as_deref(), Some("H200 by the model"));
/// assert_eq!(by_the_model("NVIDIA GeForce 256"), None);
/// ```
pub fn by_the_model(card: &str) -> Option<String> {
    called(card).map(name)
}

/// A card as far as predictions need it.
#[derive(Clone, Debug)]
pub(crate) struct Unseen {
    /// Its name in plan files.
    pub(crate) name: String,
    /// Its compute capability.
    pub(crate) capability: (u32, u32),
    /// The work that it does in a second.
    pub(crate) rates: Rates,
    /// Its link to others.
    pub(crate) link: Link,
}

impl From<&Model> for Unseen {
    fn from(model: &Model) -> Self {
        Unseen {
            name: name(model),
            capability: model.capability,
            rates: model.rates,
            link: usual_link(model.name).link,
        }
    }
}

/// The parts of such a search.
pub(super) struct Modelled<'a, T: Number> {
    subject: Subject<'a, T>,
    options: &'a Options,
    card: Unseen,
    predictors: Predictors<'a>,
    begun: Instant,
}

impl<'a, T: Number> Modelled<'a, T> {
    pub(super) fn new(subject: Subject<'a, T>, options: &'a Options, card: Unseen) -> Self {
        let begun = Instant::now();
        let predictors = subject.predictors(options.cells, card.rates.device());
        Modelled { subject, options, card, predictors, begun }
    }
}

/// Returns the schedule that the model prefers among presets and the best blockings of each placement. It takes
/// seconds, and no card.
///
/// # Errors
/// If no schedule is legal.
pub(crate) fn pick<T: Number>(
    subject: Subject<'_, T>,
    options: &Options,
    card: Unseen,
) -> Result<Plan, Error> {
    let mut track = Modelled::new(subject, options, card);
    let nothing = &mut |_: Progress| {};
    let tuned = Tuner::new(subject.forms, options, &mut track, nothing).picked()?;
    tuned.plan.ok_or_else(|| Error::Bug("a search without a result".into()))
}

impl<T: Number> Track for Modelled<'_, T> {
    fn key(&self, form: usize) -> Key {
        let system = &self.subject.forms[form].system;
        self.options.key_on(&self.card.name, system, T::PRECISION)
    }

    fn rates(&self) -> Rates {
        self.card.rates
    }

    fn doubts(&self) -> Vec<Doubt> {
        Vec::new()
    }

    fn among(&self, form: usize) -> Option<Among> {
        Some((self.predictors.device(form)?, Links::in_host(self.card.link)))
    }

    fn predicted(&self, candidate: &Candidate) -> Option<ScheduleCost> {
        let rates = &self.card.rates;
        let device = self.predictors.device(candidate.form);
        let cells = device.map_or(self.options.cells, |device| device.cells);
        let predicted = self.predictors.predicted(candidate)?;
        let fits = |cost: &KernelCost| {
            let has_boxes = cost.work.boxes == 0 || self.card.capability >= BOXES;
            let time = || cost.time(cells, rates, cost.likely_registers());
            has_boxes && time().is_some()
        };
        predicted.kernels.iter().all(fits).then_some(predicted)
    }

    fn compiles(&self) -> bool {
        self.card.capability >= OLDEST && Nvrtc::shared().is_ok()
    }

    fn compiled(&self, Candidate { form, schedule }: &Candidate) -> Result<Vec<(u32, u32)>, Error> {
        let (major, minor) = self.card.capability;
        let on = (self.card.rates.device(), format!("sm_{major}{minor}"));
        let run = self.subject.run_of(*form, self.options.cells);
        let system = &self.subject.forms[*form].system;
        let found = run.resources(system, schedule, (on.0, &on.1))?;
        Ok(found.iter().map(Resources::taken).collect())
    }

    fn prepare(
        &self,
        _: &[Candidate],
        _: (Duration, usize),
        _: &mut (dyn FnMut(usize) + Send),
    ) -> BTreeSet<usize> {
        BTreeSet::new()
    }

    fn time(&mut self, _: usize, _: &Candidate) -> Result<f64, Error> {
        Err(Error::Bug("a card that is not there was timed".into()))
    }

    fn sustained(&mut self, _: usize) -> Result<Option<Sustained>, Error> {
        Ok(None)
    }

    fn kernels(&self, _: usize) -> Vec<Launched> {
        Vec::new()
    }

    fn leave(&mut self, _: usize) {}

    fn differing(&self, _: &Candidate) -> Result<usize, Error> {
        Ok(0)
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

impl Tuner<'_> {
    /// Predicts presets and the best of each placement.
    fn picked(mut self) -> Result<Tuned, Error> {
        self.beginning_of_pick();
        match self.fastest() {
            Some(best) => {
                let rate = self.rate(self.trials[best].predicted);
                Ok(self.found(best, rate))
            }
            None => Err(self.nothing()),
        }
    }

    /// Goes to the neighbour that is predicted to be fastest, until none is or the time is up.
    pub(super) fn by_model(mut self) -> Result<Tuned, Error> {
        // A race would not time all schedules that are predicted.
        let budget = self.options.budget;
        self.beginning(3 * budget / 4);
        let Some(mut best) = self.fastest() else {
            return Err(self.nothing());
        };
        for _ in 0..self.options.rounds {
            if self.track.elapsed() > budget {
                break;
            }
            let around = self.neighbours(&[best]);
            self.ranked(&around, budget);
            let Some(next) = self.fastest() else {
                return Err(self.nothing());
            };
            if self.trials[next].predicted > self.trials[best].predicted * (1.0 - GAIN) {
                break;
            }
            best = next;
        }
        let rate = self.rate(self.trials[best].predicted);
        Ok(self.found(best, rate))
    }

    /// Returns the schedule that is predicted to be fastest with the compiler's registers, if there is a compiler:
    /// their estimate is most often wrong for the most promising schedules. Without time it is one of those compiled,
    /// if any was.
    fn fastest(&mut self) -> Option<usize> {
        let can_be = |trial: &Trial| !matches!(trial.fate, Fate::Failed { .. });
        let mut order: Vec<usize> = (0..self.trials.len()).collect();
        order.retain(|at| can_be(&self.trials[*at]));
        self.sort(&mut order);
        while self.track.compiles() {
            let best = *order.first()?;
            let is_known = |at: &usize| self.trials[*at].compiled.is_some();
            let known = order.iter().copied().find(is_known);
            if known == Some(best) || self.track.elapsed() > self.options.budget {
                return known.or(Some(best));
            }
            let first = order.iter().take(AT_ONCE).copied();
            self.compile(&first.filter(|at| !is_known(at)).collect::<Vec<_>>());
            order.retain(|at| can_be(&self.trials[*at]));
            self.sort(&mut order);
        }
        order.first().copied()
    }

    /// Compiles schedules at once, and predicts them with the compiler's numbers.
    fn compile(&mut self, open: &[usize]) {
        let (cells, rates) = (self.options.cells, self.track.rates());
        let (track, trials) = (&*self.track, &self.trials);
        let compiled = open.par_iter().map(|at| track.compiled(&trials[*at].candidate()));
        let compiled: Vec<Result<_, Error>> = compiled.collect();
        for (at, compiled) in open.iter().zip(compiled) {
            let trial = &mut self.trials[*at];
            match compiled {
                Ok(compiled) => trial.compiled = Some(compiled),
                Err(error) => {
                    let reason = error.to_string();
                    trial.fate = Fate::Failed { reason };
                }
            }
            trial.predict(cells, &rates);
        }
    }
}
