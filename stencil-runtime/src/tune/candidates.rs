//! The schedules that are tried: legal ones, in the order of the model.

use std::collections::BTreeSet;
use std::time::Duration;

use rayon::prelude::*;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::schedule::{LaunchKind, Layout, Overlap, Schedule, strategies};
use stencil_compiler::search;
use stencil_compiler::search::space::{Draws, Space};

use super::trial::{Fate, Trial};
use super::{Candidate, Progress, Tuner};

/// Draws for each schedule of a survey before its blocking is given up.
const MOST_DRAWS: usize = 200;

/// Draws of one batch.
const AT_ONCE: usize = 64;

impl Tuner<'_> {
    /// Adds trials of those candidates that are legal and new, of several with the same kernels the first; returns
    /// their numbers, the fastest predicted first. Candidates after this time are not predicted.
    pub(super) fn ranked(&mut self, candidates: &[Candidate], until: Duration) -> Vec<usize> {
        let there = self.trials.iter().map(|t| (t.form, &t.schedule));
        let mut known: BTreeSet<(usize, &Schedule)> = there.collect();
        let new = candidates.iter();
        let new = new.filter(|c| known.insert((c.form, &c.schedule)));
        let new: Vec<Candidate> = new.cloned().collect();
        let (cells, rates) = (self.options.cells, self.track.rates());
        let track = &*self.track;
        // Cores take them in order, so that the last ones are those without time.
        let in_time = new.into_iter().enumerate();
        let in_time = in_time.take_while(|_| track.elapsed() < until);
        let looked_at = in_time.par_bridge().map(|(at, candidate)| {
            let predicted = track.predicted(&candidate);
            let among = track.among(candidate.form);
            let trial = |predicted| Trial::new(candidate, predicted, (cells, among), &rates);
            (at, predicted.map(trial))
        });
        let mut looked_at: Vec<(usize, Option<Trial>)> = looked_at.collect();
        looked_at.sort_by_key(|(at, _)| *at);
        let all = looked_at.len();
        let trials = looked_at.into_iter().filter_map(|(_, trial)| trial);
        let mut trials: Vec<Trial> = trials.collect();
        // Parameters fitted to a run may give kernels that are known.
        let mut seen: BTreeSet<u64> = self.trials.iter().map(|t| t.identity).collect();
        trials.retain(|trial| seen.insert(trial.identity));
        let begin = self.trials.len();
        let mut order: Vec<usize> = (begin..begin + trials.len()).collect();
        self.trials.extend(trials);
        self.sort(&mut order);
        (self.progress)(Progress::Ranked { legal: order.len(), all });
        order
    }

    /// Puts trials in the order of the model.
    pub(super) fn sort(&self, order: &mut [usize]) {
        let predicted = |at: &usize| self.trials[*at].predicted;
        order.sort_by(|a, b| predicted(a).total_cmp(&predicted(b)));
    }

    /// Adds neighbours of some schedules that may be faster than the best one, by the model.
    pub(super) fn around(&mut self, of: &[usize]) -> Vec<usize> {
        let best = self.best_of(of);
        let around = self.neighbours(of);
        // Few pairs of devices were measured, so races look at all ways in which they get values.
        let ways = self.shared_otherwise(of);
        let mut order = self.late(&around);
        order.extend(self.ranked(&around, self.half_of_rest()));
        self.sort(&mut order);
        let mut chosen = Vec::new();
        for at in order {
            let trial = &mut self.trials[at];
            if trial.least > best {
                trial.fate = Fate::Hopeless;
            } else if chosen.len() < 2 * self.options.first || ways.contains(&trial.candidate()) {
                // Each finalist gets about as many.
                chosen.push(at);
            }
        }
        chosen
    }

    /// Adds trials of the schedules that a search tries last, near one schedule.
    pub(super) fn refined(&mut self, of: usize) -> Vec<usize> {
        let Trial { form, schedule, .. } = &self.trials[of];
        let form = *form;
        let refined = schedule.refined(self.algorithm(form).dimension);
        let refined = refined.into_iter();
        let refined = refined.map(|schedule| Candidate { form, schedule });
        self.ranked(&refined.collect::<Vec<_>>(), self.options.budget)
    }

    /// Returns schedules of the same formulations that differ in one choice.
    pub(super) fn neighbours(&self, of: &[usize]) -> Vec<Candidate> {
        let around = |at: &usize| {
            let Trial { form, schedule, .. } = &self.trials[*at];
            let around = search::neighbours(self.algorithm(*form), schedule).into_iter();
            around.map(|schedule| Candidate { form: *form, schedule })
        };
        of.iter().flat_map(around).chain(self.shared_otherwise(of)).collect()
    }

    /// Returns the schedules of the same formulations by which several devices get values from each other in another way; none
    /// on one device.
    pub(super) fn shared_otherwise(&self, of: &[usize]) -> Vec<Candidate> {
        let among = of.iter().map(|at| &self.trials[*at]).filter(|trial| trial.is_shared());
        let others = among.flat_map(|Trial { form, schedule, .. }| {
            let others = search::among_devices(self.algorithm(*form), schedule).into_iter();
            // Devices store where they can if no line says otherwise.
            let chosen = |overlap: &Overlap| *overlap != Overlap::Store;
            others.map(move |schedule| {
                let overlap = schedule.overlap.filter(chosen);
                Candidate { form: *form, schedule: Schedule { overlap, ..schedule } }
            })
        });
        others.collect()
    }

    /// Returns trials of those candidates that an earlier race had no time for.
    fn late(&self, among: &[Candidate]) -> Vec<usize> {
        let all = self.trials.iter().enumerate();
        let late = all.filter(|(_, t)| t.fate == Fate::Late && among.contains(&t.candidate()));
        late.map(|(at, _)| at).collect()
    }

    /// Adds trials of schedules drawn at random in half of the time, as many of each blocking; returns their numbers.
    pub(super) fn drawn(&mut self, count: usize, seed: u64) -> Vec<usize> {
        let form = 0;
        let bytes = self.track.key(form).precision.bytes();
        let (track, half) = (&*self.track, self.options.budget / 2);
        let is_late = || track.elapsed() > half;
        let drawn = draw(self.algorithm(form), bytes, (count, seed), is_late).into_iter();
        let drawn = drawn.map(|schedule| Candidate { form, schedule });
        self.ranked(&drawn.collect::<Vec<_>>(), self.half_of_rest())
    }
}

/// Draws legal schedules of a card, as many of each blocking, each once, until the time is up.
fn draw(
    algorithm: &Algorithm,
    value_bytes: usize,
    (count, seed): (usize, u64),
    is_late: impl Fn() -> bool,
) -> Vec<Schedule> {
    let of_card = |s: &&&strategies::Strategy| {
        s.kind == LaunchKind::Blocks && s.least_dimension <= algorithm.dimension
    };
    let names: Vec<&str> = strategies::ALL.iter().filter(of_card).map(|s| s.name).collect();
    let each = count.div_ceil(names.len().max(1));
    let space = Space::new(algorithm, value_bytes);
    let mut seeds = Draws::new(seed);
    let mut all: Vec<Schedule> = Vec::new();
    let mut counts = vec![0; names.len()];
    for turn in 0..count * MOST_DRAWS / AT_ONCE + 1 {
        if counts.iter().all(|count| *count >= each) || turn > 0 && is_late() {
            break;
        }
        let seeds: Vec<u64> = (0..AT_ONCE).map(|_| seeds.below(u64::MAX)).collect();
        let drawn = seeds.into_par_iter();
        let drawn = drawn.filter_map(|seed| space.sample(&mut Draws::new(seed)));
        for schedule in drawn.collect::<Vec<_>>() {
            if schedule.layout != Layout::Soa {
                // No search chooses another, and the model was not fitted to one.
                continue;
            }
            let first = schedule.kernels.first().map(|k| k.strategy.as_str());
            let Some(at) = names.iter().position(|name| Some(*name) == first) else {
                continue;
            };
            if counts[at] < each && !all.contains(&schedule) {
                counts[at] += 1;
                all.push(schedule);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemDef;

    #[test]
    fn a_survey_has_as_many_of_each_blocking() {
        let system = SystemDef::from_text(
            "waves.pde",
            "pub system Waves in 2d { field h: scalar; field v: vector;
                ddt(h) = -div(v); ddt(v) = -grad(h); }",
        )
        .unwrap();
        let draw = || draw(system.algorithm(), 4, (25, 3), || false);
        let all = draw();
        assert_eq!(all, draw());
        for name in ["direct", "lexicographic", "tile3d", "march", "plane"] {
            let of = all.iter().filter(|s| s.kernels[0].strategy == name);
            assert_eq!(of.count(), 5, "{name}");
        }
    }
}
