//! A race: all schedules are timed in turn, the slower half leaves, the rest is timed for longer.

use super::trial::{Fate, Trial};
use super::{Candidate, Progress, Tuner};
use crate::Error;

/// Batches of each schedule in the first heat; twice as many in each later one.
const BATCHES: usize = 2;

/// The largest ratio of a schedule's time to that of the fastest in a race.
const SLOWEST: f64 = 1.5;

/// Schedules that are timed even without time: the one of a run without a plan, and the one predicted to be fastest.
const LEAST: usize = 2;

/// Schedules that are left at the end of a race.
const WINNERS: usize = 3;

impl Tuner<'_> {
    /// Runs the race of the schedules that the search begins with; returns its winners.
    pub(super) fn first_race(&mut self) -> Vec<usize> {
        let mut field = self.beginning(self.half_of_rest());
        loop {
            let late = self.prepare(&mut field, WINNERS);
            let winners = self.race(field);
            if !winners.is_empty() || late.is_empty() {
                return winners;
            }
            // The schedules that were predicted to be fastest do not run.
            field = late;
        }
    }

    /// Runs the race of the neighbours of some schedules against these; returns its winners.
    pub(super) fn next_race(&mut self, finalists: &[usize]) -> Vec<usize> {
        let mut field = self.around(&finalists[..finalists.len().min(2)]);
        self.prepare(&mut field, 0);
        // Earlier winners are timed in any case.
        field.splice(0..0, finalists.iter().copied());
        self.race(field)
    }

    /// Runs the race of some schedules, the fastest first, against small variations of that one; returns its winners.
    pub(super) fn last_race(&mut self, finalists: &[usize]) -> Vec<usize> {
        let best = finalists.first().copied();
        let mut field = best.map_or_else(Vec::new, |best| self.refined(best));
        self.prepare(&mut field, 0);
        if field.is_empty() {
            return finalists.to_vec();
        }
        field.splice(0..0, finalists.iter().copied());
        self.race(field)
    }

    /// Returns the seconds of a step of the fastest.
    pub(super) fn best_of(&self, of: &[usize]) -> f64 {
        let seconds = of.iter().map(|at| self.trials[*at].seconds());
        seconds.fold(f64::INFINITY, f64::min)
    }

    /// Prepares schedules, many at once, in half of the time that is left, but waits for as many as are needed. Leaves
    /// out the others, and returns them.
    pub(super) fn prepare(&mut self, which: &mut Vec<usize>, needed: usize) -> Vec<usize> {
        let candidates = which.iter().map(|at| self.trials[*at].candidate());
        let candidates: Vec<Candidate> = candidates.collect();
        let all = candidates.len();
        let until = self.half_of_rest();
        let progress = &mut *self.progress;
        let mut told = |done: usize| progress(Progress::Compiled { done, all });
        let ready = self.track.prepare(&candidates, (until, needed), &mut told);
        let (mut number, mut late) = (0, Vec::new());
        which.retain(|at| {
            let is_ready = ready.contains(&number);
            number += 1;
            if !is_ready {
                late.push(*at);
            }
            is_ready
        });
        for at in &late {
            self.trials[*at].fate = Fate::Late;
        }
        late
    }

    /// Times a batch of a schedule, or keeps the reason why it cannot be timed.
    fn time(&mut self, at: usize) -> bool {
        let trial = &mut self.trials[at];
        match self.track.time(at, &trial.candidate()) {
            Ok(seconds) => {
                trial.batches.push(seconds);
                if trial.kernels.is_empty() {
                    trial.kernels = self.track.kernels(at);
                    trial.predict(self.options.cells, &self.track.rates());
                }
                true
            }
            Err(error) => {
                trial.fate = Fate::Failed { reason: first_line(&error) };
                self.track.leave(at);
                false
            }
        }
    }

    /// Times a schedule by itself.
    pub(super) fn time_alone(&mut self, at: usize) {
        if (0..=BATCHES).all(|_| self.time(at)) {
            self.trials[at].fate = Fate::Slower;
            let best = self.rate(self.best_of(&[at]));
            (self.progress)(Progress::Racing { left: 1, best });
        }
        self.track.leave(at);
    }

    /// Runs heats in which all are timed in turn; after each the slower half leaves.
    fn race(&mut self, field: Vec<usize>) -> Vec<usize> {
        let begun = self.track.elapsed();
        let winners = self.heats(field);
        self.raced = self.track.elapsed().saturating_sub(begun);
        winners
    }

    fn heats(&mut self, mut field: Vec<usize>) -> Vec<usize> {
        let mut batches = BATCHES;
        // Times of another race are not comparable: the card was cooler or warmer.
        for at in &field {
            self.trials[*at].batches.clear();
        }
        loop {
            for _ in 0..batches {
                self.heat(&mut field);
            }
            let seconds = |at: &usize| self.trials[*at].seconds();
            field.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
            let is_late = self.is_late();
            let is_over = is_late || field.len() <= WINNERS;
            let best = self.best_of(&field);
            let half = match is_late {
                true => WINNERS,
                false => field.len().div_ceil(2).max(WINNERS),
            };
            let near = field.iter().filter(|at| seconds(at) <= SLOWEST * best);
            let stay = near.count().min(half);
            for at in field.drain(stay.min(field.len())..) {
                self.trials[at].fate = Fate::Slower;
                self.track.leave(at);
            }
            let best = self.rate(best);
            (self.progress)(Progress::Racing { left: field.len(), best });
            if is_over {
                return field;
            }
            batches *= 2;
        }
    }
}

impl Tuner<'_> {
    fn is_late(&self) -> bool {
        self.track.elapsed() > self.until
    }

    /// Times each once. If the time is up, timed schedules stay, and untimed ones leave if a few were timed.
    fn heat(&mut self, field: &mut Vec<usize>) {
        let was_timed = |trials: &[Trial], at: usize| !trials[at].batches.is_empty();
        let timed = field.iter().filter(|at| was_timed(&self.trials, **at));
        let mut count = timed.count();
        field.retain(|at| {
            if self.is_late() && count >= LEAST {
                let stays = was_timed(&self.trials, *at);
                if !stays {
                    self.trials[*at].fate = Fate::Late;
                }
                return stays;
            }
            let is_timed = self.time(*at);
            count += usize::from(is_timed);
            is_timed
        });
    }
}

fn first_line(error: &Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_string()
}
