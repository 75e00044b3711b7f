//! A card that is not there: the search follows what the performance model predicts, and nothing runs.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use stencil_compiler::cost::{KernelCost, Model, Rates, called};
use stencil_compiler::schedule::plans::Key;

use super::track::Track;
use super::{Candidate, GAIN, Options, Subject, Tuned, Tuner};
use crate::backend::cuda::nvrtc::Resources;
use crate::backend::cuda::{BOXES, Doubt, Launched};
use crate::bench::Sustained;
use crate::builder::Predicted;
use crate::{Error, Number};

/// Schedules that are compiled at once.
const AT_ONCE: usize = 4;

/// How plan files call such a card, so that none takes it for a measured one.
pub(super) fn name(model: &Model) -> String {
    format!("{} by the model", model.name)
}

/// How plan files call the model of a card, if there is one: their plans for it stand in where none was made on the card.
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

/// What is known of it.
pub(super) struct Modelled<'a, T: Number> {
    subject: Subject<'a, T>,
    options: &'a Options,
    model: &'static Model,
    begun: Instant,
}

impl<'a, T: Number> Modelled<'a, T> {
    pub(super) fn new(
        subject: Subject<'a, T>,
        options: &'a Options,
        model: &'static Model,
    ) -> Self {
        Modelled {
            subject,
            options,
            model,
            begun: Instant::now(),
        }
    }
}

impl<T: Number> Track for Modelled<'_, T> {
    fn key(&self, form: usize) -> Key {
        let system = &self.subject.forms[form].system;
        self.options.key_on(&name(self.model), system, T::PRECISION)
    }

    fn rates(&self) -> Rates {
        self.model.rates
    }

    fn doubts(&self) -> Vec<Doubt> {
        Vec::new()
    }

    fn predicted(&self, candidate: &Candidate) -> Option<Predicted> {
        let (cells, rates) = (self.options.cells, &self.model.rates);
        let predicted = self.subject.predicted(candidate, cells, rates.card.units)?;
        let fits = |cost: &KernelCost| {
            let has_boxes = cost.work.boxes == 0 || self.model.capability >= BOXES;
            let time = || cost.time(cells, rates, cost.likely_registers());
            has_boxes && time().is_some()
        };
        predicted.costs.iter().all(fits).then_some(predicted)
    }

    fn compiled(&self, Candidate { form, schedule }: &Candidate) -> Option<Vec<(u32, u32)>> {
        let (major, minor) = self.model.capability;
        let on = (self.model.rates.card.units, format!("sm_{major}{minor}"));
        let run = self.subject.run_of(*form, self.options.cells);
        let system = &self.subject.forms[*form].system;
        let found = run.resources(system, schedule, (on.0, &on.1)).ok()?;
        Some(found.iter().map(Resources::taken).collect())
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
    /// Goes to the neighbour that is predicted to be fastest, until none is or the time is up.
    pub(super) fn by_model(mut self) -> Result<Tuned, Error> {
        // Not all that was predicted would be in a race.
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
            let next = self.fastest().unwrap_or(best);
            if self.trials[next].predicted > self.trials[best].predicted * (1.0 - GAIN) {
                break;
            }
            best = next;
        }
        let rate = self.rate(self.trials[best].predicted);
        Ok(self.found(best, rate))
    }

    /// What is predicted to be fastest with the registers of the compiler, if there is one: an estimate of them is most often
    /// wrong where it promises most. Where the time is up it is one of those that were compiled; where there is no compiler,
    /// estimates have to do.
    fn fastest(&mut self) -> Option<usize> {
        let mut order: Vec<usize> = (0..self.trials.len()).collect();
        let (cells, rates) = (self.options.cells, self.track.rates());
        loop {
            self.sort(&mut order);
            let best = order.first().copied()?;
            let is_open = |at: &usize| self.trials[*at].compiled.is_empty();
            let known = order.iter().copied().find(|at| !is_open(at));
            let is_late = self.track.elapsed() > self.options.budget;
            if let Some(known) = known.filter(|known| is_late || *known == best) {
                return Some(known);
            }
            let first = order[..order.len().min(AT_ONCE)].iter().copied();
            let open: Vec<usize> = first.filter(is_open).collect();
            let (track, trials) = (&*self.track, &self.trials);
            let compiled: Vec<_> = open
                .par_iter()
                .map(|at| (*at, track.compiled(&trials[*at].candidate())))
                .collect();
            if compiled.iter().all(|(_, compiled)| compiled.is_none()) {
                return Some(best);
            }
            for (at, compiled) in compiled {
                let trial = &mut self.trials[at];
                // The compiler takes it, and a card would not.
                match compiled {
                    Some(compiled) => trial.compiled = compiled,
                    None => order.retain(|other| *other != at),
                }
                trial.predict(cells, &rates);
            }
        }
    }
}
