//! The schedules that are tried: legal ones, in the order of the model.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rayon::prelude::*;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::schedule::{Blocking, LaunchKind, Layout, Schedule, strategies};
use stencil_compiler::search::space::{Draws, Space};
use stencil_compiler::search::{self, Case, On, heuristic, presets};

use super::trial::{Fate, Trial};
use super::{Candidate, Progress, Tuner};

/// Placements whose kernels are blocked each by itself.
const APART: usize = 8;

/// With more schedules than this, some of each placement and kind of blocking are predicted before the others.
const MANY: usize = 2000;

/// The number of placements and kinds of which all schedules are predicted then: those with the best among the first.
const SCOUTED: usize = 24;

/// Rounds in which each of those placements is blocked anew.
const ROUNDS: usize = 3;

/// Draws for each schedule of a survey before its blocking is given up.
const MOST_DRAWS: usize = 200;

/// Draws of one batch.
const AT_ONCE: usize = 64;

/// The presets of a formulation for a card.
struct Presets {
    all: Vec<Candidate>,
    /// The schedule of a run without a plan.
    usual: Candidate,
}

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
            let trial = |predicted| Trial::new(candidate, predicted, cells, &rates);
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

    /// Returns the first race: presets of the usual formulation, the best of each other one, and of all others the
    /// best of each kind, as far as they are predicted until this time.
    pub(super) fn beginning(&mut self, until: Duration) -> Vec<usize> {
        let presets: Vec<Presets> = (0..self.forms.len()).map(|form| self.presets(form)).collect();
        let mut alike = Vec::new();
        for of_form in &presets {
            alike.extend(self.in_any_case(of_form));
        }
        let begun = self.track.elapsed();
        // A third is left for kernels that are blocked each by itself.
        let scouting = 2 * until.saturating_sub(begun) / 3;
        for (form, own) in presets.iter().enumerate() {
            let until = begun + scouting * (form as u32 + 1) / self.forms.len() as u32;
            alike.extend(self.scouted(&own.all, form, until));
        }
        let order = self.blocked_apart(alike, until);
        let Presets { all: own, usual } = &presets[0];
        let mut seen = BTreeSet::from([0]);
        let is_own = |at: &usize| {
            let trial = &self.trials[*at];
            // Only a measurement tells how far the model is off between formulations.
            seen.insert(trial.form) || own.contains(&trial.candidate())
        };
        let (mut chosen, others): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_own);
        // No kind may fill the race, even if the model prefers it.
        let most = (self.options.first / 5).max(2);
        let mut of_kind: BTreeMap<Kind, usize> = BTreeMap::new();
        for at in others {
            if chosen.len() >= self.options.first {
                break;
            }
            let trial = &self.trials[at];
            let kind = (trial.form, kind(&trial.schedule));
            let count = of_kind.entry(kind).or_default();
            if *count < most {
                *count += 1;
                chosen.push(at);
            }
        }
        self.sort(&mut chosen);
        // The schedule of a run without a plan is in every race, even without time.
        let is_usual = |at: &usize| self.trials[*at].candidate() == *usual;
        if let Some(at) = chosen.iter().position(is_usual) {
            chosen[..=at].rotate_right(1);
        }
        chosen
    }

    /// Returns the precision and the multiprocessors that schedules are chosen for.
    fn on(&self, form: usize) -> On {
        let unit = self.track.rates().multiprocessor;
        On::from((self.track.key(form).precision, unit))
    }

    /// Adds the trial of the schedule of a run of a formulation without a plan, or of the first preset that is legal,
    /// even without time.
    fn in_any_case(&mut self, presets: &Presets) -> Vec<usize> {
        let each = [&presets.usual].into_iter().chain(&presets.all);
        let mut each = each.map(|preset| self.ranked(std::slice::from_ref(preset), Duration::MAX));
        each.find(|trial| !trial.is_empty()).unwrap_or_default()
    }

    /// Returns the presets of a formulation for a card.
    fn presets(&self, form: usize) -> Presets {
        let case = Case::new(self.algorithm(form), self.on(form));
        let of_card = |schedule: &Schedule| schedule.is_for(LaunchKind::Blocks);
        let all = presets::ALL.par_iter().map(|preset| preset.schedule_for(&case));
        let all = all.filter(of_card).map(|schedule| Candidate { form, schedule });
        let all: Vec<Candidate> = all.collect();
        Presets { all, usual: Candidate { form, schedule: heuristic::gpu_of(&case) } }
    }

    /// Returns the share of a formulation in so many: the default one gets as many as if it were alone, and the others
    /// share as many.
    fn share(&self, form: usize, number: usize) -> usize {
        match form {
            0 => number,
            _ => number.div_ceil(self.forms.len() - 1),
        }
    }

    /// Adds trials of legal schedules of a formulation: of its own and of all that a search begins with, or if these
    /// are many, of some of each placement and kind, and of all of the best of these. Returns their numbers, in no
    /// order.
    fn scouted(&mut self, own: &[Candidate], form: usize, until: Duration) -> Vec<usize> {
        let all = search::first(self.algorithm(form));
        let candidates = |all: &mut dyn Iterator<Item = &Schedule>| -> Vec<Candidate> {
            let all = all.cloned();
            all.map(|schedule| Candidate { form, schedule }).collect()
        };
        let (many, scouted) = (self.share(form, MANY), self.share(form, SCOUTED));
        let of = |s: &Schedule| (way(s), s.kernels.first().map(|k| k.strategy.clone()));
        let groups: Vec<&[Schedule]> = all.chunk_by(|a, b| of(a) == of(b)).collect();
        let scouts = candidates(&mut in_turn(&groups, is_usual).into_iter());
        if all.len() <= many {
            let rest = candidates(&mut all.iter());
            return self.ranked(&[own, &scouts, &rest].concat(), until);
        }
        let mut order = self.ranked(&[own, &scouts].concat(), until);
        let mut promising: Vec<usize> = Vec::new();
        for at in &order {
            let of_trial = of(&self.trials[*at].schedule);
            let group = groups.iter().position(|group| of(&group[0]) == of_trial);
            promising.extend(group.filter(|group| !promising.contains(group)));
            if promising.len() == scouted {
                break;
            }
        }
        let mut rest = promising.iter().flat_map(|group| groups[*group]);
        order.extend(self.ranked(&candidates(&mut rest), until));
        order
    }

    /// Returns trials in the order of the model, with trials whose kernels are blocked each as the model prefers, for
    /// the placements that are among the first.
    fn blocked_apart(&mut self, mut order: Vec<usize>, until: Duration) -> Vec<usize> {
        self.sort(&mut order);
        let mut ways: Vec<Vec<usize>> = Vec::new();
        for at in &order {
            let way = |at: usize| (self.trials[at].form, way(&self.trials[at].schedule));
            match ways.iter_mut().find(|of| way(of[0]) == way(*at)) {
                Some(of) => of.push(*at),
                None => ways.push(vec![*at]),
            }
        }
        let mut left: Vec<usize> =
            (0..self.forms.len()).map(|form| self.share(form, APART)).collect();
        ways.retain(|of| {
            let left = &mut left[self.trials[of[0]].form];
            let stays = *left > 0;
            *left = left.saturating_sub(1);
            stays
        });
        for mut of in ways {
            for _ in 0..ROUNDS {
                let Some(best) = self.best_of_each(&of) else {
                    break;
                };
                let form = best.form;
                let dimension = self.algorithm(form).dimension;
                let around = search::reblocked(dimension, &best.schedule).into_iter();
                let around = around.map(|schedule| Candidate { form, schedule });
                let around: Vec<Candidate> = [best].into_iter().chain(around).collect();
                let new = self.ranked(&around, until);
                order.extend(&new);
                of.extend(new);
            }
        }
        self.sort(&mut order);
        order
    }

    /// Puts trials in the order of the model.
    pub(super) fn sort(&self, order: &mut [usize]) {
        let predicted = |at: &usize| self.trials[*at].predicted;
        order.sort_by(|a, b| predicted(a).total_cmp(&predicted(b)));
    }

    /// Returns the schedule whose kernels are each blocked as predicted to be fastest among these trials of one
    /// placement; `None` if there are none.
    fn best_of_each(&self, trials: &[usize]) -> Option<Candidate> {
        let mut best = self.trials[*trials.first()?].candidate();
        let rates = self.track.rates();
        for (number, kernel) in best.schedule.kernels.iter_mut().enumerate() {
            let of = trials.iter().map(|at| &self.trials[*at]);
            let timed = of.filter_map(|trial| {
                let seconds = trial.kernel_seconds(number, self.options.cells, &rates)?;
                Some((seconds, trial.schedule.kernels.get(number)?))
            });
            let (_, fastest) = timed.min_by(|a, b| a.0.total_cmp(&b.0))?;
            *kernel = fastest.clone();
        }
        Some(best)
    }

    /// Adds neighbours of some schedules that may be faster than the best one, by the model.
    pub(super) fn around(&mut self, of: &[usize]) -> Vec<usize> {
        let best = self.best_of(of);
        let around = self.neighbours(of);
        let mut order = self.late(&around);
        order.extend(self.ranked(&around, self.half_of_rest()));
        self.sort(&mut order);
        let mut chosen = Vec::new();
        for at in order {
            let trial = &mut self.trials[at];
            if trial.least > best {
                trial.fate = Fate::Hopeless;
            } else if chosen.len() < 2 * self.options.first {
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
        of.iter().flat_map(around).collect()
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

/// Returns the wanted schedules, the first of each group before the second of any.
fn in_turn<'a>(groups: &[&'a [Schedule]], wanted: impl Fn(&Schedule) -> bool) -> Vec<&'a Schedule> {
    let each = groups.iter().flat_map(|group| {
        let own = group.iter().filter(|schedule| wanted(schedule));
        own.enumerate()
    });
    let mut each: Vec<(usize, &Schedule)> = each.collect();
    each.sort_by_key(|(turn, _)| *turn);
    each.into_iter().map(|(_, schedule)| schedule).collect()
}

/// Has each of its kernels at most one unusual parameter?
fn is_usual(schedule: &Schedule) -> bool {
    schedule.kernels.iter().all(|kernel| {
        let Ok(strategy) = strategies::find(&kernel.strategy) else {
            return false;
        };
        let usual = Blocking::new(strategy.name, &[]);
        let names = strategy.params.iter().map(|param| param.name);
        let other = names.filter(|n| strategy.param(kernel, n) != strategy.param(&usual, n));
        other.count() <= 1
    })
}

/// Returns a schedule's placements and cuts, without its blockings.
fn way(schedule: &Schedule) -> Schedule {
    Schedule { kernels: Vec::new(), ..schedule.clone() }
}

/// The kind of a candidate: its formulation, the blocking of its kernels, and the functions that it places.
type Kind = (usize, (String, Vec<String>));

/// Returns the kind of a schedule: the blocking of its kernels, and the functions that it places.
fn kind(schedule: &Schedule) -> (String, Vec<String>) {
    let strategies: Vec<&str> = schedule.kernels.iter().map(|k| k.strategy.as_str()).collect();
    (strategies.join(" "), schedule.placements.keys().cloned().collect())
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

    #[test]
    fn usual_blockings_are_few_of_each_way_and_kind_and_none_is_without() {
        let system = SystemDef::from_text(
            "waves.pde",
            "pub system Waves in 3d { field h: scalar; field v: vector;
                ddt(h) = -div(v); ddt(v) = -grad(h); }",
        )
        .unwrap();
        let all = search::first(system.algorithm());
        let of = |s: &Schedule| (way(s), s.kernels.first().map(|k| k.strategy.clone()));
        let mut count = 0;
        for group in all.chunk_by(|a, b| of(a) == of(b)) {
            let usual = group.iter().filter(|s| is_usual(s)).count();
            assert!((1..=20).contains(&usual), "{usual} of {}", group.len());
            count += usual;
        }
        assert!(5 * count < all.len(), "{count} of {}", all.len());
    }
}
