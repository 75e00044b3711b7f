//! The schedules of the first race: presets, and the best of each placement and kind of blocking by the model.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::time::Duration;

use rayon::prelude::*;
use stencil_compiler::schedule::{Blocking, LaunchKind, Schedule, strategies};
use stencil_compiler::search::{self, Case, On, presets};

use super::{Candidate, Tuner};

/// Placements whose kernels are blocked each by itself.
const APART: usize = 8;

/// Rounds in which each of those placements is blocked anew.
const ROUNDS: usize = 3;

/// Schedules of which all ways are tried in which several devices get values from each other.
const SHARED: usize = 4;

/// Legal schedules of each placement and kind of blocking that are looked at before others.
const SCOUTS: usize = 2;

/// Schedules of each that are tried for it.
const TURNS: usize = 6;

/// The number of placements and kinds of which all schedules are predicted last: those with the best scouts.
const SCOUTED: usize = 24;

/// The presets of a formulation for a card.
pub(super) struct Presets {
    all: Vec<Candidate>,
    /// The place of the schedule of a run without a plan.
    usual: usize,
}

/// The schedules that a search begins with, of one formulation, by placement and kind of blocking.
struct Groups {
    form: usize,
    groups: Vec<Vec<Schedule>>,
    places: BTreeMap<GroupKey, usize>,
}

/// A schedule's placements and cuts, and the blocking of its first kernel.
type GroupKey = (Schedule, Option<String>);

fn group_key(schedule: &Schedule) -> GroupKey {
    (way(schedule), schedule.kernels.first().map(|kernel| kernel.strategy.clone()))
}

impl Groups {
    fn new(form: usize, all: Vec<Schedule>) -> Self {
        let mut of = Groups { form, groups: Vec::new(), places: BTreeMap::new() };
        for schedule in all {
            let new = of.groups.len();
            let place = *of.places.entry(group_key(&schedule)).or_insert(new);
            match of.groups.get_mut(place) {
                Some(group) => group.push(schedule),
                None => of.groups.push(vec![schedule]),
            }
        }
        of
    }

    /// Returns the group of a schedule, if it is like those of one.
    fn place(&self, schedule: &Schedule) -> Option<usize> {
        self.places.get(&group_key(schedule)).copied()
    }

    fn candidate(&self, schedule: &Schedule) -> Candidate {
        Candidate { form: self.form, schedule: schedule.clone() }
    }
}

impl Tuner<'_> {
    /// Returns the first race: presets of the usual formulation, the best of each other one, and of all others the
    /// best of each kind, as far as they are predicted until this time.
    pub(super) fn beginning(&mut self, until: Duration) -> Vec<usize> {
        let presets = self.all_presets();
        let (alike, groups) = self.scouted_forms(&presets, until);
        let alike = self.shared_apart(alike, until);
        let mut order = self.blocked_apart(alike, until);
        // Few of the others are better than what was found.
        for of_form in &groups {
            let rest = self.rest(of_form, &order, until);
            order.extend(rest);
        }
        let order = self.blocked_apart(order, until);
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
        let is_usual = |at: &usize| self.trials[*at].candidate() == own[*usual];
        if let Some(at) = chosen.iter().position(is_usual) {
            chosen[..=at].rotate_right(1);
        }
        chosen
    }

    /// Adds trials of presets and of the best of each placement; the rest of a search is not waited for.
    pub(super) fn beginning_of_pick(&mut self) {
        let presets = self.all_presets();
        let (alike, _) = self.scouted_forms(&presets, Duration::MAX);
        let alike = self.overlapped_apart(alike);
        let order = self.blocked_apart(alike, Duration::MAX);
        // The blockings of a kernel decide how much of an exchange it hides.
        self.overlapped_apart(order);
    }

    /// Returns trials with those by which several devices overlap in other ways, of the placements that are among the first.
    /// Only a race decides for ghost cells that last: where the model preferred them they were 0.84 times as fast as stores.
    fn overlapped_apart(&mut self, mut order: Vec<usize>) -> Vec<usize> {
        self.sort(&mut order);
        let best = &order[..order.len().min(SHARED)];
        let mut others = self.shared_otherwise(best);
        others.retain(|other| other.schedule.ghosts == 1);
        order.extend(self.ranked(&others, Duration::MAX));
        order
    }

    /// Returns trials with those by which several devices get values from each other in other ways, of the placements that are
    /// among the first.
    fn shared_apart(&mut self, mut order: Vec<usize>, until: Duration) -> Vec<usize> {
        self.sort(&mut order);
        let best = &order[..order.len().min(SHARED)];
        order.extend(self.ranked(&self.shared_otherwise(best), until));
        order
    }

    /// Adds trials of the usual schedule of each formulation, even without time, and of its presets and scouts.
    fn scouted_forms(&mut self, presets: &[Presets], until: Duration) -> (Vec<usize>, Vec<Groups>) {
        let mut alike = Vec::new();
        for of_form in presets {
            alike.extend(self.in_any_case(of_form));
        }
        let begun = self.track.elapsed();
        // A third is left for kernels that are blocked each by itself.
        let scouting = until.saturating_sub(begun) / 3 * 2;
        let mut groups = Vec::new();
        for (form, own) in presets.iter().enumerate() {
            let share = scouting / self.forms.len() as u32 * (form as u32 + 1);
            let all = Groups::new(form, search::first(self.algorithm(form)));
            alike.extend(self.scouted(own, &all, begun.saturating_add(share)));
            groups.push(all);
        }
        (alike, groups)
    }

    /// Returns the precision and the multiprocessors that schedules are chosen for.
    fn on(&self, form: usize) -> On {
        let unit = self.track.rates().multiprocessor;
        On::from((self.track.key(form).precision, unit))
    }

    /// Adds the trial of the schedule of a run of a formulation without a plan, or of the first preset that is legal,
    /// even without time.
    fn in_any_case(&mut self, presets: &Presets) -> Vec<usize> {
        let each = presets.all.get(presets.usual).into_iter().chain(&presets.all);
        let mut each = each.map(|preset| self.ranked(slice::from_ref(preset), Duration::MAX));
        each.find(|trial| !trial.is_empty()).unwrap_or_default()
    }

    /// Returns the presets of each formulation.
    fn all_presets(&self) -> Vec<Presets> {
        (0..self.forms.len()).map(|form| self.presets(form)).collect()
    }

    /// Returns the presets of a formulation for a card.
    fn presets(&self, form: usize) -> Presets {
        let case = Case::new(self.algorithm(form), self.on(form));
        let all: Vec<(&str, Schedule)> = presets::ALL
            .par_iter()
            .map(|preset| (preset.name, preset.schedule_for(&case)))
            .filter(|(_, schedule)| schedule.is_for(LaunchKind::Blocks))
            .collect();
        let usual = all.iter().position(|(name, _)| *name == "gpu").unwrap_or_default();
        let all = all.into_iter().map(|(_, schedule)| Candidate { form, schedule });
        Presets { all: all.collect(), usual }
    }

    /// Returns the share of a formulation in so many: the default one gets as many as if it were alone, and the others
    /// share as many.
    fn share(&self, form: usize, number: usize) -> usize {
        match form {
            0 => number,
            _ => number.div_ceil(self.forms.len() - 1),
        }
    }

    /// Adds trials of the presets of a formulation, and of some schedules of each group: the first of each before the
    /// second of any, until some are legal. Returns their numbers, in no order.
    fn scouted(&mut self, own: &Presets, all: &Groups, until: Duration) -> Vec<usize> {
        let mut order = self.ranked(&own.all, until);
        let mut legal = vec![0; all.groups.len()];
        let scouts: Vec<Vec<&Schedule>> =
            all.groups.iter().map(|group| group.iter().filter(|s| is_usual(s)).collect()).collect();
        for turn in 0..TURNS {
            let wanted = scouts.iter().zip(&legal).filter(|(_, legal)| **legal < SCOUTS);
            let wanted = wanted.filter_map(|(group, _)| group.get(turn));
            let wanted: Vec<Candidate> = wanted.map(|schedule| all.candidate(schedule)).collect();
            let new = self.ranked(&wanted, until);
            for at in &new {
                if let Some(group) = all.place(&self.trials[*at].schedule) {
                    legal[group] += 1;
                }
            }
            order.extend(new);
        }
        order
    }

    /// Adds trials of all schedules of the groups of those that are predicted to be fastest.
    fn rest(&mut self, all: &Groups, order: &[usize], until: Duration) -> Vec<usize> {
        let most = self.share(all.form, SCOUTED);
        let mut promising: Vec<usize> = Vec::new();
        for at in order.iter().filter(|at| self.trials[**at].form == all.form) {
            let group = all.place(&self.trials[*at].schedule);
            promising.extend(group.filter(|group| !promising.contains(group)));
            if promising.len() == most {
                break;
            }
        }
        let rest = promising.iter().flat_map(|group| &all.groups[*group]);
        let rest: Vec<Candidate> = rest.map(|schedule| all.candidate(schedule)).collect();
        self.ranked(&rest, until)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemDef;

    #[test]
    fn usual_blockings_are_few_of_each_way_and_kind_and_none_is_without() {
        let system = SystemDef::from_text(
            "waves.pde",
            "pub system Waves in 3d { field h: scalar; field v: vector;
                ddt(h) = -div(v); ddt(v) = -grad(h); }",
        )
        .unwrap();
        let all = search::first(system.algorithm());
        let (number, mut count) = (all.len(), 0);
        for group in Groups::new(0, all).groups {
            let usual = group.iter().filter(|s| is_usual(s)).count();
            assert!((1..=20).contains(&usual), "{usual} of {}", group.len());
            count += usual;
        }
        assert!(5 * count < number, "{count} of {number}");
    }
}
