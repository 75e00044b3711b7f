//! Cuts: costs and savings of each stored grid function and of each further pass, and the bound of the speed that it adds
//! to a step, by the paper that named the method.

use std::collections::BTreeSet;

use stencil_compiler::cost::Fills;
use stencil_compiler::schedule::{Halo, Placement, Schedule};
use stencil_compiler::search::heuristic;

use super::candidates::{Candidate, Predicted, Problem, words};

/// Functions that are not stored and whose storing is looked at: those that are recomputed at the most
/// cost, and of them those that are shown, the fastest.
const OTHERS: [usize; 2] = [8, 3];

/// A kernel that is cut in two, or may be.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// The name of the stored grid function, or of another cut.
    pub(super) what: String,
    /// The line on which a stored function is declared.
    pub(super) line: Option<u32>,
    /// Does the plan have it?
    pub(super) is_made: bool,
    /// Operations a point and step that it saves.
    pub(super) operations: f64,
    /// Seconds a step of filling the ghost cells of what is stored.
    pub(super) filling: f64,
    /// The step without the cut.
    pub(super) initial: Side,
    /// The step with it.
    pub(super) cut: Side,
    /// Seconds of a copy of what the kernels move that are cut.
    copying: f64,
}

/// One side of a cut.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// Bytes a point and step that memory moves.
    pub(super) bytes: f64,
    /// Seconds of a step.
    pub(super) seconds: f64,
    /// Its schedule in a few words.
    pub(super) words: String,
    /// The share of the speed of a copy at which it moves its bytes.
    pub(super) speed: f64,
}

impl Cut {
    /// The bound of the ratio by which the cut makes the step faster: all that is cut moves its bytes at the speed of a
    /// copy (Pekkilä et al. 2017, Eq. 27).
    pub(super) fn bound(&self) -> f64 {
        self.initial.seconds / self.copying
    }

    /// The predicted ratio.
    pub(super) fn predicted(&self) -> f64 {
        self.initial.seconds / self.cut.seconds
    }

    /// Bytes a point and step that memory moves more.
    pub(super) fn bytes(&self) -> f64 {
        self.cut.bytes - self.initial.bytes
    }
}

/// Looks for the cuts of a schedule among others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts<'a> {
    /// The problem.
    pub(super) problem: &'a Problem<'a>,
    /// Schedules that a step without a cut may have.
    pub(super) candidates: &'a [Candidate],
}

/// A schedule that runs.
type Runs<'a> = (&'a Schedule, &'a Predicted);

impl Cuts<'_> {
    /// Those that a schedule makes: each alone, and all of them where there are several; then some that
    /// it might make.
    pub(super) fn of(&self, chosen: Runs<'_>) -> Vec<Cut> {
        let schedule = chosen.0;
        let stored = stored(schedule);
        let mut wanted: Vec<(String, Vec<&str>, Schedule)> = stored
            .iter()
            .map(|name| {
                let names = BTreeSet::from([*name]);
                (name.to_string(), vec![*name], recomputed(schedule, &names))
            })
            .collect();
        let mut whole = schedule.clone();
        whole.passes.retain(|name, _| schedule.stores(name));
        if schedule.more_passes() > 0 {
            let what = format!("{} passes over the fields", schedule.more_passes() + 1);
            wanted.push((what, Vec::new(), whole.clone()));
        }
        if wanted.len() > 1 {
            let all = stored.iter().copied().collect();
            wanted.push(("all of them".into(), all, recomputed(&whole, &stored)));
        }
        let made = wanted.into_iter().filter_map(|(what, names, without)| {
            let (initial, found) = self.fastest(without)?;
            Some(self.cut((&what, &names), true, (&initial, &found), chosen))
        });
        let mut cuts: Vec<Cut> = made.collect();
        let others = heuristic::recomputed(self.problem.algorithm).into_iter();
        let others = others.filter(|(name, _)| !stored.contains(name.as_str()));
        let possible = others.take(OTHERS[0]).filter_map(|(name, _)| {
            let mut with = schedule.clone();
            let placement = Placement::Global(Halo::Exchange);
            with.placements.insert(name.clone(), placement);
            let (cut, found) = self.fastest(with)?;
            Some(self.cut((&name, &[&name]), false, chosen, (&cut, &found)))
        });
        let mut possible: Vec<Cut> = possible.collect();
        possible.sort_by(|a, b| b.predicted().total_cmp(&a.predicted()));
        cuts.extend(possible.into_iter().take(OTHERS[1]));
        cuts
    }

    /// The fastest of a schedule and the candidates that cut as it does.
    fn fastest(&self, mut schedule: Schedule) -> Option<(Schedule, Predicted)> {
        schedule.resize(self.problem.algorithm);
        let (own, passes) = (stored(&schedule), schedule.passes.clone());
        let same = |c: &&Candidate| stored(&c.schedule) == own && c.schedule.passes == passes;
        let others = self.candidates.iter().filter(same).cloned();
        let candidate = self.problem.candidate("", false, schedule.clone());
        let all = others.chain([candidate]);
        let runs = all.filter_map(|c| Some((c.schedule, c.outcome.ok()?)));
        runs.min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))
    }

    fn cut(&self, of: (&str, &[&str]), is_made: bool, initial: Runs<'_>, cut: Runs<'_>) -> Cut {
        let (problem, (what, names)) = (self.problem, of);
        let operations = |of: &Predicted| of.sum(|c| c.operations);
        let line = match names {
            [name] => problem.line(name),
            _ => None,
        };
        Cut {
            what: what.to_string(),
            line,
            is_made,
            operations: operations(initial.1) - operations(cut.1),
            filling: self.filling(cut.1, names),
            initial: self.side(initial),
            copying: problem.copying(cut.1.moved(problem)),
            cut: self.side(cut),
        }
    }

    fn side(&self, (schedule, found): Runs<'_>) -> Side {
        let bytes = found.moved(self.problem);
        Side {
            bytes,
            seconds: found.seconds,
            words: words(schedule),
            speed: self.problem.copying(bytes) / found.seconds,
        }
    }

    /// Seconds of a step to fill ghost cells of some buffers.
    fn filling(&self, found: &Predicted, names: &[&str]) -> f64 {
        let (cells, rates) = (self.problem.cells, &self.problem.on.rates);
        let fills = found.plan.fills().filter_map(|(buffers, depth)| {
            let own = |buffer: &&String| names.contains(&buffer.as_str());
            let count = buffers.iter().filter(own).count();
            let bytes = self.problem.precision.bytes();
            (count > 0).then(|| Fills::new(count, depth, cells, bytes).seconds(rates))
        });
        fills.fold(0.0, |sum, seconds| sum + seconds)
    }
}

/// Names of the functions that a schedule stores.
fn stored(schedule: &Schedule) -> BTreeSet<&str> {
    let placed = schedule.placements.iter();
    placed
        .filter(|(_, placement)| matches!(placement, Placement::Global(_)))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// The schedule with functions recomputed that it stores.
fn recomputed(schedule: &Schedule, names: &BTreeSet<&str>) -> Schedule {
    let mut other = schedule.clone();
    names.iter().for_each(|name| other.place(name, Placement::Inline));
    other
}
