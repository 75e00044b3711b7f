//! Passes that a search tries: new values of fields, or the stored functions of one kernel, split into about equal
//! work.

use std::collections::{BTreeMap, BTreeSet};

use super::joining::{Group, Work, joined};
use crate::algorithm::footprint::needed;
use crate::algorithm::{Algorithm, FnId, Role};
use crate::schedule::{Placement, Schedule, stored_together};

/// Numbers of kernels that a search splits one into.
pub const PARTS: [usize; 2] = [2, 3];

/// Ways to part the functions that one kernel stores: into as many, or into groups that need different functions, such as
/// the fluxes along each axis.
pub const WAYS: [Parts; 3] = [Parts::Of(2), Parts::Of(3), Parts::ByNeed];

/// The number of parts of the functions that one kernel stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// As many.
    Of(usize),
    /// As many as there are groups of functions of which none shares half of the work of another one.
    ByNeed,
}

/// The share of the work of one group that another one needs, too, from which both stay together.
const ALIKE: f64 = 0.5;

/// Passes of about the same work: components in the order of the declaration, cut where the largest
/// part is smallest. `None` if there are fewer components than parts.
pub fn balanced(algorithm: &Algorithm, parts: usize) -> Option<BTreeMap<String, u32>> {
    let substep = algorithm.substeps.last()?;
    let fields: Vec<(&str, BTreeSet<FnId>)> = substep
        .updates
        .iter()
        .filter(|(state, _)| algorithm.state(*state).role == Role::Field)
        .map(|(state, id)| {
            let needed = needed(algorithm, &[*id], &BTreeSet::new());
            (algorithm.state(*state).name.as_str(), needed)
        })
        .collect();
    let work = |part: &[(&str, BTreeSet<FnId>)]| {
        let all: BTreeSet<FnId> = part.iter().flat_map(|(_, needed)| needed).copied().collect();
        all.into_iter().map(|id| algorithm.cost(id)).sum::<u32>()
    };
    let largest = |cuts: &Vec<usize>| {
        let ends = cuts.iter().copied().chain([fields.len()]);
        let begins = [0].into_iter().chain(cuts.iter().copied());
        begins.zip(ends).map(|(begin, end)| work(&fields[begin..end])).max()
    };
    let cuts = cuts(fields.len(), parts)?.into_iter().min_by_key(largest)?;
    let pass = |at: usize| cuts.iter().filter(|cut| **cut <= at).count() as u32;
    let names = fields.iter().enumerate();
    Some(
        names.map(|(at, (name, _))| (name.to_string(), pass(at))).filter(|(_, p)| *p > 0).collect(),
    )
}

/// Passes of the stored functions of the kernel with the most work: as many parts, each of functions that
/// need the same others. `None` where that kernel has too few, or where a part has nearly all of its work.
pub fn of_stored(
    algorithm: &Algorithm,
    placements: &BTreeMap<String, Placement>,
    parts: Parts,
) -> Option<BTreeMap<String, u32>> {
    let least = match parts {
        Parts::Of(parts) => parts,
        Parts::ByNeed => 2,
    };
    let schedule = Schedule::placing(placements.clone());
    let kernels = stored_together(algorithm, &schedule);
    let costs: Vec<u32> = algorithm.ids().map(|(id, _)| algorithm.cost(id)).collect();
    let all: BTreeSet<FnId> = kernels.iter().flatten().copied().collect();
    let whole = |groups: &[Group]| {
        let mut all = Work::default();
        groups.iter().for_each(|group| all.join(&group.work));
        all.cost(&costs)
    };
    let groups = kernels.iter().map(|kernel| work(algorithm, kernel, &all, &costs));
    let groups = groups.max_by_key(|of| whole(of))?;
    if groups.len() < least {
        return None;
    }
    let total = whole(&groups);
    let alike = if parts == Parts::ByNeed { ALIKE } else { 0.0 };
    let groups = joined(groups, least, alike, &costs);
    let largest = groups.iter().map(|group| group.cost).max()?;
    if largest * 5 > total * 4 {
        return None;
    }
    let of = |(pass, group): (usize, &Group)| -> Vec<(String, u32)> {
        let name = |id: &FnId| (algorithm.function(*id).name.clone(), pass as u32);
        group.functions.iter().map(name).collect()
    };
    let named = groups.iter().enumerate().skip(1).flat_map(of);
    Some(named.collect())
}

/// Returns these functions of a kernel, each by itself, with the work that it needs beside `stored` functions of other kernels.
pub(super) fn work(
    algorithm: &Algorithm,
    kernel: &[FnId],
    stored: &BTreeSet<FnId>,
    costs: &[u32],
) -> Vec<Group> {
    let others = stored.iter().filter(|id| !kernel.contains(id)).copied().collect();
    let own = |id: &FnId| Group::new(*id, &needed(algorithm, &[*id], &others), costs);
    kernel.iter().map(own).collect()
}

/// Joins groups of which one shares half of the work of another one.
pub(super) fn by_need(groups: Vec<Group>, costs: &[u32]) -> Vec<Group> {
    joined(groups, 1, ALIKE, costs)
}

/// All ways to cut a row of `n` into parts that are not empty.
fn cuts(n: usize, parts: usize) -> Option<Vec<Vec<usize>>> {
    if parts < 2 || parts > n {
        return None;
    }
    let mut all = vec![Vec::new()];
    for part in 1..parts {
        let longer = |cuts: Vec<usize>| {
            let begin = cuts.last().map_or(1, |last| last + 1);
            (begin..=n - (parts - part)).map(move |cut| {
                let mut cuts = cuts.clone();
                cuts.push(cut);
                cuts
            })
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Target, compile};
    use crate::discretize::discretize;
    use crate::model::parse;
    use crate::schedule::{Blocking, text};

    fn flow(time: &str) -> Algorithm {
        let text = format!(
            "pub system Flow in 2d {{ field h: scalar; field u: vector;
                ddt(h) = -div(h*u); ddt(u) = -dot(u, grad(u)) - grad(h); }}
             scheme s for Flow {{ space: central<order = 2>; mixed: bidiagonal; time: {time}; }}"
        );
        discretize(&parse::parse_str(&text).unwrap()).unwrap()
    }

    #[test]
    fn passes_are_cut_where_the_largest_is_smallest() {
        assert_eq!(cuts(3, 2), Some(vec![vec![1], vec![2]]));
        assert_eq!(cuts(4, 3), Some(vec![vec![1, 2], vec![1, 3], vec![2, 3]]));
        assert_eq!((cuts(2, 3), cuts(2, 1)), (None, None));
        let passes = balanced(&flow("euler"), 3).unwrap();
        let wanted = [("u_x".to_string(), 1), ("u_y".to_string(), 2)];
        assert_eq!(passes, BTreeMap::from(wanted));
    }

    #[test]
    fn each_pass_is_a_kernel_and_takes_the_accumulators_of_its_fields() {
        let algorithm = flow("rk3_williamson<storage = accumulator>");
        let schedule = Schedule {
            passes: BTreeMap::from([("u_x".into(), 1), ("u_y".into(), 1)]),
            kernels: vec![Blocking::new("direct", &[]); 2],
            ..Schedule::default()
        };
        assert_eq!(text::parse(&text::print(&schedule)), Ok(schedule.clone()));
        let compiled = compile(&algorithm, &schedule, &Target::new(8)).unwrap();
        let second: Vec<Vec<&str>> = compiled.plan.launches[2..4]
            .iter()
            .map(|launch| launch.outputs.iter().map(|(buffer, _)| buffer.as_str()).collect())
            .collect();
        assert!(second[0].iter().all(|name| name.contains('h')), "{second:?}");
        assert!(second[1].iter().all(|name| name.contains('u')), "{second:?}");
        assert_eq!((second[0].len(), second[1].len()), (2, 4));
    }

    /// Fluxes of two axes, which share little beside the fields.
    fn fluxes() -> (Algorithm, BTreeMap<String, Placement>) {
        let algorithm = discretize(
            &parse::parse_str(
                "pub system Water in 2d { conserved h: scalar; conserved m: vector; let u = m/h;
                    flux h -> m; flux m -> outer(m, u) + h^2/2*I; }
                 scheme s for Water { reconstruct: plm; riemann: hll; time: euler; }",
            )
            .unwrap(),
        )
        .unwrap();
        let names = algorithm.functions.iter().map(|f| f.name.clone());
        let fluxes = names.filter(|name| name.ends_with("_flux"));
        let global = Placement::Global(crate::schedule::Halo::Exchange);
        let stored = fluxes.map(|name| (name, global)).collect();
        (algorithm, stored)
    }

    #[test]
    fn stored_functions_are_parted_by_what_they_need() {
        let (algorithm, stored) = fluxes();
        let passes = of_stored(&algorithm, &stored, Parts::Of(2)).unwrap();
        let later: Vec<&str> = passes.keys().map(String::as_str).collect();
        assert_eq!(later, ["h_y_flux", "m_x_y_flux", "m_y_y_flux"]);
        assert!(passes.values().all(|pass| *pass == 1));
        // Fluxes along one axis share their work, and those along two do not.
        assert_eq!(of_stored(&algorithm, &stored, Parts::ByNeed), Some(passes.clone()));
        assert_eq!(of_stored(&algorithm, &stored, Parts::Of(7)), None);
        let parted = Schedule { passes, ..Schedule::placing(stored.clone()) };
        let schedule = parted.blocked(&algorithm, Blocking::new("direct", &[]));
        assert_eq!((schedule.kernels.len(), schedule.more_passes()), (3, 0));
        assert_eq!(text::parse(&text::print(&schedule)), Ok(schedule.clone()));
        let compiled = compile(&algorithm, &schedule, &Target::new(8)).unwrap();
        let outputs: Vec<usize> =
            compiled.plan.launches.iter().map(|launch| launch.outputs.len()).collect();
        assert_eq!(outputs, [3, 3, 3]);
    }

    #[test]
    fn what_needs_a_later_pass_goes_with_it() {
        let algorithm = discretize(
            &parse::parse_str(
                "pub system Two in 1d { field q: scalar; let a = d[x](q)^2; let b = exp(a) + a; ddt(q) = d[x](b) + d[x](a); }
                 scheme s for Two { space: central<order = 2>; mixed: composed; time: euler; }",
            )
            .unwrap(),
        )
        .unwrap();
        let global = Placement::Global(crate::schedule::Halo::Exchange);
        let stored = BTreeMap::from(["dx_q", "b"].map(|name| (name.to_string(), global)));
        let kernels = |pass: &str| {
            let passes = BTreeMap::from([(pass.to_string(), 1)]);
            let schedule = Schedule { passes, ..Schedule::placing(stored.clone()) };
            let of = crate::schedule::stored_together(&algorithm, &schedule);
            of.iter().map(Vec::len).collect::<Vec<_>>()
        };
        // `b` needs `dx_q` of its own cell: it may come later, and not before it.
        assert_eq!((kernels("b"), kernels("dx_q")), (vec![1, 1], vec![2]));
    }

    #[test]
    fn what_is_no_pass_is_refused() {
        let algorithm = flow("euler");
        for (passes, kernels, message) in [
            ([("v", 1)], 2, "neither stored nor a component of a field; there are h, u_x, u_y"),
            ([("h", 2)], 3, "pass 1 of the schedule is empty"),
            ([("h", 1)], 1, "make 2 kernels"),
        ] {
            let schedule = Schedule {
                passes: passes.map(|(name, pass)| (name.to_string(), pass)).into(),
                kernels: vec![Blocking::new("direct", &[]); kernels],
                ..Schedule::default()
            };
            let error = compile(&algorithm, &schedule, &Target::new(4)).unwrap_err();
            assert!(error.message.contains(message), "{error}");
        }
    }
}
