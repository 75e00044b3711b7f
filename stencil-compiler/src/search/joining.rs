//! Groups of stored functions that share work, joined pair by pair.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::algorithm::FnId;

/// Joins the two groups that share most of their work, again and again, until only `least` are left, or none share as much as
/// `alike`. Of equal pairs the one with the least work is first.
pub(super) fn joined(groups: Vec<Group>, least: usize, alike: f64, costs: &[u32]) -> Vec<Group> {
    let mut joining = Joining::new(groups, costs);
    while joining.groups.len() > least && joining.join(alike) {}
    let mut groups = joining.groups;
    groups.sort_by_key(|group| group.functions.iter().min().copied());
    groups
}

/// Stored functions that are computed together, and their work.
pub(super) struct Group {
    pub(super) functions: Vec<FnId>,
    pub(super) work: Work,
    pub(super) cost: u32,
}

impl Group {
    pub(super) fn new(function: FnId, needed: &BTreeSet<FnId>, costs: &[u32]) -> Self {
        let work = Work::of(needed);
        Group { functions: vec![function], cost: work.cost(costs), work }
    }

    /// Does it need a function, one of its own for one?
    pub(super) fn needs(&self, id: FnId) -> bool {
        let word = self.work.0.get(id.0 as usize / 64);
        word.is_some_and(|word| word >> (id.0 % 64) & 1 == 1)
    }

    fn join(&mut self, other: Self, costs: &[u32]) {
        self.functions.extend(other.functions);
        self.work.join(&other.work);
        self.cost = self.work.cost(costs);
    }
}

/// A set of functions: a bit for each.
#[derive(Default)]
pub(super) struct Work(Vec<u64>);

impl Work {
    fn of(functions: &BTreeSet<FnId>) -> Self {
        let last = functions.last().map_or(0, |id| id.0 as usize);
        let mut words = vec![0; last / 64 + 1];
        for id in functions {
            words[id.0 as usize / 64] |= 1 << (id.0 % 64);
        }
        Work(words)
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// Returns the cost of all functions.
    pub(super) fn cost(&self, costs: &[u32]) -> u32 {
        sum(self.0.iter().copied(), costs)
    }

    /// Returns the cost of the functions that another one has, too.
    fn shared(&self, other: &Self, costs: &[u32]) -> u32 {
        sum(self.0.iter().zip(&other.0).map(|(own, other)| own & other), costs)
    }
}

/// Returns the sum of the costs whose bits are set in these words.
fn sum(words: impl Iterator<Item = u64>, costs: &[u32]) -> u32 {
    let mut all = 0;
    for (mut word, costs) in words.zip(costs.chunks(64)) {
        while word != 0 {
            all += costs[word.trailing_zeros() as usize];
            word &= word - 1;
        }
    }
    all
}

/// The work that two groups share, relative to that of the smaller one, and the cost of that one.
#[derive(Clone, Copy)]
struct Alike {
    share: f64,
    cost: u32,
}

impl Alike {
    fn new(a: &Group, b: &Group, costs: &[u32]) -> Self {
        let cost = a.cost.min(b.cost).max(1);
        Alike { share: f64::from(a.work.shared(&b.work, costs)) / f64::from(cost), cost }
    }

    fn order(&self, other: &Self) -> Ordering {
        self.share.total_cmp(&other.share).then(other.cost.cmp(&self.cost))
    }
}

/// Groups that are being joined. Only pairs with a group that has grown are compared again.
struct Joining<'a> {
    groups: Vec<Group>,
    costs: &'a [u32],
    /// Of each group with those before it.
    pairs: Vec<Vec<Alike>>,
    /// The last of the groups before each that share most with it.
    best: Vec<Option<usize>>,
}

impl<'a> Joining<'a> {
    fn new(groups: Vec<Group>, costs: &'a [u32]) -> Self {
        let with_before = |(at, group): (usize, &Group)| -> Vec<Alike> {
            groups[..at].iter().map(|other| Alike::new(other, group, costs)).collect()
        };
        let pairs: Vec<_> = groups.iter().enumerate().map(with_before).collect();
        let best = pairs.iter().map(|row| best(row)).collect();
        Joining { groups, costs, pairs, best }
    }

    /// Joins the two groups that share most of their work, if they share so much.
    fn join(&mut self, alike: f64) -> bool {
        let rows = self.best.iter().enumerate();
        let found = rows.filter_map(|(from, into)| into.map(|into| (from, into)));
        let at = |(from, into): (usize, usize)| &self.pairs[from][into];
        let most = found.max_by(|a, b| at(*a).order(at(*b)));
        let Some((from, into)) = most.filter(|pair| at(*pair).share >= alike) else {
            return false;
        };
        let other = self.groups.remove(from);
        self.groups[into].join(other, self.costs);
        self.pairs.remove(from);
        self.best.remove(from);
        self.compare(into, from);
        true
    }

    /// Compares a group that has grown with all others. The one with the number `gone` is no more.
    fn compare(&mut self, grown: usize, gone: usize) {
        let Joining { groups, costs, pairs, best: all } = self;
        for (at, row) in pairs.iter_mut().enumerate().skip(grown) {
            if at >= gone {
                row.remove(gone);
            }
            if at == grown {
                for (other, pair) in row.iter_mut().enumerate() {
                    *pair = Alike::new(&groups[other], &groups[at], costs);
                }
                all[at] = best(row);
                continue;
            }
            row[grown] = Alike::new(&groups[grown], &groups[at], costs);
            all[at] = match all[at] {
                Some(found) if found != grown && found != gone => {
                    let found = if found > gone { found - 1 } else { found };
                    let is_before = match row[grown].order(&row[found]) {
                        Ordering::Less => true,
                        Ordering::Equal => grown < found,
                        Ordering::Greater => false,
                    };
                    Some(if is_before { found } else { grown })
                }
                _ => best(row),
            };
        }
    }
}

/// Returns the last of the groups that share most.
fn best(row: &[Alike]) -> Option<usize> {
    (0..row.len()).max_by(|a, b| row[*a].order(&row[*b]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, by a comparison of all pairs each time.
    fn joined_slowly(
        mut groups: Vec<Group>,
        least: usize,
        alike: f64,
        costs: &[u32],
    ) -> Vec<Group> {
        while groups.len() > least {
            let pairs = (0..groups.len()).flat_map(|from| (0..from).map(move |into| (into, from)));
            let pairs = pairs.map(|(a, b)| ((a, b), Alike::new(&groups[a], &groups[b], costs)));
            let most = pairs.max_by(|a, b| a.1.order(&b.1));
            let Some(((into, from), _)) = most.filter(|(_, most)| most.share >= alike) else {
                break;
            };
            let other = groups.remove(from);
            groups[into].join(other, costs);
        }
        groups.sort_by_key(|group| group.functions.iter().min().copied());
        groups
    }

    #[test]
    fn comparing_the_grown_group_is_enough() {
        // Numbers of a linear congruence: sets of functions with many equal shares.
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            (state >> 33) % below
        };
        for case in 0..60 {
            let costs: Vec<u32> = (0..150).map(|_| next(4) as u32).collect();
            let count = 2 + next(24) as u32;
            let sets: Vec<BTreeSet<FnId>> = (0..count)
                .map(|_| (0..1 + next(20)).map(|_| FnId(next(150) as u32)).collect())
                .collect();
            let groups = || {
                let all = sets.iter().enumerate();
                all.map(|(at, set)| Group::new(FnId(at as u32), set, &costs)).collect::<Vec<_>>()
            };
            let alike = [0.0, 0.3, 0.5][case % 3];
            let least = 1 + case % 4;
            let shown = |groups: Vec<Group>| -> Vec<(Vec<FnId>, u32)> {
                groups.into_iter().map(|group| (group.functions, group.cost)).collect()
            };
            let fast = shown(joined(groups(), least, alike, &costs));
            assert_eq!(fast, shown(joined_slowly(groups(), least, alike, &costs)), "case {case}");
        }
    }
}
