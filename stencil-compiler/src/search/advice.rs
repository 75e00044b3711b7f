//! Legal choices in place of illegal ones, found by trying, so that every choice listed is legal.

use std::collections::BTreeSet;

use crate::algorithm::Algorithm;
use crate::compile::{Compiled, ScheduleError, Target, compile};
use crate::diag::nearest;
use crate::schedule::strategies::{self, Param, Strategy};
use crate::schedule::text::{placement_words, print_blocking};
use crate::schedule::{Blame, Blocking, Carry, Halo, Layout, Placement, Schedule};

/// Schedules that are tried, at most: each is planned and lowered whole.
const MOST_TRIES: usize = 48;

/// Blockings that are listed, at most.
const MOST_LISTED: usize = 3;

/// Every placement, the cheapest to try first.
const PLACEMENTS: [Placement; 7] = [
    Placement::Inline,
    Placement::Register,
    Placement::Carried(Carry::Behind),
    Placement::Carried(Carry::Ahead),
    Placement::Shared,
    Placement::Global(Halo::Exchange),
    Placement::Global(Halo::Recompute),
];

/// Compiles a schedule as [`compile`] does, for those who write schedules: errors list legal choices.
///
/// # Errors
/// If the schedule is illegal; the help lists placements, blockings and parameters with which it is legal.
pub fn advised(
    algorithm: &Algorithm,
    schedule: &Schedule,
    target: &Target,
) -> Result<Compiled, ScheduleError> {
    let with_help =
        |error| ScheduleError { help: advice(algorithm, schedule, target, &error), ..error };
    compile(algorithm, schedule, target).map_err(with_help)
}

/// Ways out of an error, one a line.
fn advice(
    algorithm: &Algorithm,
    schedule: &Schedule,
    target: &Target,
    error: &ScheduleError,
) -> Vec<String> {
    // If it cannot be fused, only another number of substeps is legal.
    let Ok(problem) = schedule.problem(algorithm) else {
        return Vec::new();
    };
    let mut search = Search { algorithm, problem: &problem, schedule, target, left: MOST_TRIES };
    let kernel = error.kernel.unwrap_or(0);
    match &error.blame {
        Blame::Name(name) => search.names(name),
        Blame::Placement(name) => search.placements(name),
        Blame::Count(kernels) => search.count(*kernels),
        Blame::Strategy => search.strategies(kernel),
        Blame::Layout => search.layout(kernel),
        Blame::Params(names) => search.params(kernel, names),
        Blame::Nothing => Vec::new(),
    }
}

struct Search<'a> {
    algorithm: &'a Algorithm,
    /// The problem that is scheduled: the algorithm, or the one with fused substeps.
    problem: &'a Algorithm,
    schedule: &'a Schedule,
    target: &'a Target,
    /// Tries that are left.
    left: usize,
}

impl Search<'_> {
    /// Tells whether a schedule is legal; `None` if no tries are left.
    fn try_it(&mut self, schedule: &Schedule) -> Option<Result<(), ScheduleError>> {
        self.left = self.left.checked_sub(1)?;
        Some(compile(self.algorithm, schedule, self.target).map(drop))
    }

    fn is_legal(&mut self, schedule: &Schedule) -> bool {
        matches!(self.try_it(schedule), Some(Ok(())))
    }

    /// The schedule without an unknown name, and with similar names in its place.
    fn names(&mut self, name: &str) -> Vec<String> {
        let functions = || self.problem.functions.iter().map(|f| f.name.as_str());
        let near = nearest(name, functions());
        let akin = functions().filter(|other| is_in(name, other) && near != Some(other));
        let listed = near.into_iter().chain(akin).map(|near| format!("`{near}`"));
        let listed: Vec<String> = listed.collect();
        let mut help = match &listed[..listed.len().min(MOST_LISTED)] {
            [] => Vec::new(),
            [one] => vec![format!("did you mean {one}?")],
            [others @ .., last] => vec![format!("did you mean {} or {last}?", others.join(", "))],
        };
        let mut without = self.schedule.clone();
        without.place(name, Placement::Inline);
        without.resize(self.problem);
        if self.is_legal(&without) {
            help.push(format!("the schedule is legal without `place {name}`"));
        }
        help
    }

    /// Legal placements of a grid function in this schedule.
    fn placements(&mut self, name: &str) -> Vec<String> {
        let mut legal = Vec::new();
        let mut other = None;
        let kernels = self.schedule.kernels.len();
        let shared = self.schedule.shared_kernels(self.problem);
        for placement in PLACEMENTS {
            let mut changed = self.schedule.clone();
            changed.place(name, placement);
            let wanted = changed.resize_sharing(self.problem, shared);
            let words = placement_words(placement);
            match self.try_it(&changed) {
                Some(Ok(())) if wanted == kernels => legal.push(words.to_string()),
                Some(Ok(())) => legal.push(format!("{words} (with {})", of_kernels(wanted))),
                Some(Err(error)) if error.blame != Blame::Placement(name.to_string()) => {
                    other.get_or_insert((words, error.message));
                }
                Some(Err(_)) | None => {}
            }
        }
        match other {
            _ if !legal.is_empty() => {
                vec![format!("`{name}` may be placed {}", legal.join(", "))]
            }
            Some((words, next)) => vec![format!(
                "no placement of `{name}` alone makes the schedule legal; if it is {words}, then {next}"
            )],
            None => Vec::new(),
        }
    }

    /// The same placements with as many blockings as they make kernels.
    fn count(&mut self, kernels: usize) -> Vec<String> {
        let mut changed = self.schedule.clone();
        if changed.kernels.is_empty() {
            changed.kernels.push(Blocking::new(strategies::direct::STRATEGY.name, &[]));
        }
        changed.resize(self.problem);
        if !self.is_legal(&changed) {
            return vec![format!("write {kernels} lines that begin with `kernel`")];
        }
        let lines = changed.kernels.iter().map(print_blocking);
        let lines: Vec<String> = lines.map(|line| format!("kernel {line}")).collect();
        vec![format!("legal with `{}`", lines.join("`, `"))]
    }

    /// The schedule with another blocking of one kernel.
    fn with(&self, kernel: usize, blocking: &Blocking) -> Schedule {
        let mut changed = self.schedule.clone();
        if let Some(slot) = changed.kernels.get_mut(kernel) {
            *slot = blocking.clone();
        }
        changed
    }

    /// The schedule with arrays one behind the other, and the blockings that are legal for the kernel with the present
    /// layout.
    fn layout(&mut self, kernel: usize) -> Vec<String> {
        let mut help = Vec::new();
        let mut alone = self.schedule.clone();
        alone.layout = Layout::Soa;
        if self.is_legal(&alone) {
            let word = self.schedule.layout.word();
            help.push(format!("the schedule is legal without `layout {word}`"));
        }
        help.extend(self.strategies(kernel));
        help
    }

    /// Legal blockings of a kernel.
    fn strategies(&mut self, kernel: usize) -> Vec<String> {
        let mut legal = Vec::new();
        for strategy in strategies::ALL {
            let plain = Blocking::new(strategy.name, &[]);
            if self.is_legal(&self.with(kernel, &plain)) {
                legal.push(print_blocking(&plain));
            } else {
                legal.extend(self.blockings(kernel, &plain, strategy.params, 1));
            }
        }
        list(kernel, &legal)
    }

    /// Values of the parameters to blame, one by one, then together, then other strategies.
    fn params(&mut self, kernel: usize, names: &[String]) -> Vec<String> {
        let Some(blocking) = self.schedule.kernels.get(kernel).cloned() else {
            return Vec::new();
        };
        let Ok(strategy) = strategies::find(&blocking.strategy) else {
            return self.strategies(kernel);
        };
        if let Some(unknown) = names.iter().find(|n| param(strategy, n).is_none()) {
            return self.unknown(kernel, strategy, &blocking, unknown);
        }
        let mut help = Vec::new();
        for param in names.iter().filter_map(|name| param(strategy, name)) {
            let legal = self.values(kernel, &blocking, param);
            if !legal.is_empty() {
                help.push(format!("`{}` may be {}", param.name, legal.join(", ")));
            }
        }
        if !help.is_empty() {
            return help;
        }
        let blamed = strategy.params.iter().filter(|p| names.iter().any(|n| n == p.name));
        let together = self.blockings(kernel, &blocking, blamed, MOST_LISTED);
        match together.is_empty() {
            true => self.strategies(kernel),
            false => list(kernel, &together),
        }
    }

    /// A parameter that the strategy does not have.
    fn unknown(
        &mut self,
        kernel: usize,
        strategy: &Strategy,
        blocking: &Blocking,
        name: &str,
    ) -> Vec<String> {
        let near = nearest(name, strategy.params.iter().map(|p| p.name));
        let near = near.filter(|near| !blocking.params.contains_key(*near));
        let mut changed = blocking.clone();
        let value = changed.params.remove(name);
        if let (Some(near), Some(value)) = (near, value) {
            changed.params.insert(near.to_string(), value);
        }
        match self.is_legal(&self.with(kernel, &changed)) {
            true => list(kernel, &[print_blocking(&changed)]),
            false => near.map(|near| format!("did you mean `{near}`?")).into_iter().collect(),
        }
    }

    /// Values of one parameter with which the schedule is legal, with everything else as it is.
    fn values(&mut self, kernel: usize, blocking: &Blocking, param: &Param) -> Vec<String> {
        let mut legal = Vec::new();
        for value in values(param, self.algorithm.dimension) {
            let mut changed = blocking.clone();
            changed.params.insert(param.name.to_string(), value);
            if self.is_legal(&self.with(kernel, &changed)) {
                legal.push(value.to_string());
            }
        }
        legal
    }

    /// Up to `most` legal blockings with other values of these parameters, the smallest first:
    /// small tiles fit where large ones do not.
    fn blockings<'p>(
        &mut self,
        kernel: usize,
        blocking: &Blocking,
        params: impl IntoIterator<Item = &'p Param>,
        most: usize,
    ) -> Vec<String> {
        let params: Vec<(&str, Vec<u32>)> = params
            .into_iter()
            .map(|param| {
                (param.name, values(param, self.algorithm.dimension).into_iter().collect())
            })
            .collect();
        let number: usize = params.iter().map(|(_, values)| values.len()).product();
        let mut legal = Vec::new();
        for mut at in 0..number.min(self.left) {
            if legal.len() >= most {
                break;
            }
            let mut changed = blocking.clone();
            for (name, values) in &params {
                let value = values[at % values.len()];
                at /= values.len();
                changed.params.insert((*name).to_string(), value);
            }
            if self.is_legal(&self.with(kernel, &changed)) {
                legal.push(print_blocking(&changed));
            }
        }
        legal
    }
}

/// Does a name hold all words of another one, except for a number at its end?
fn is_in(name: &str, other: &str) -> bool {
    let words = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let words = words.trim_matches('_');
    !words.is_empty() && format!("_{other}_").contains(&format!("_{words}_"))
}

fn of_kernels(number: usize) -> String {
    match number {
        1 => "1 kernel".to_string(),
        _ => format!("{number} kernels"),
    }
}

fn param<'s>(strategy: &'s Strategy, name: &str) -> Option<&'s Param> {
    strategy.params.iter().find(|p| p.name == name)
}

/// Values that are tried.
fn values(param: &Param, dimension: usize) -> BTreeSet<u32> {
    let values = param.values(dimension).iter().copied();
    values.chain([param.default]).collect()
}

fn list(kernel: usize, blockings: &[String]) -> Vec<String> {
    let line = |blocking: &String| format!("kernel {} may be `kernel {blocking}`", kernel + 1);
    blockings.iter().map(line).collect()
}
