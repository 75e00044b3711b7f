//! Cuts through the functions that a kernel evaluates: the set to keep, through which all uses of the functions below
//! pass, that costs least (Ford and Fulkerson, Can. J. Math. 8, 399, 1956; Dinic, Sov. Math. Dokl. 11, 1277, 1970).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::algorithm::{Algorithm, FnId};

/// A cost that no cut pays.
pub(super) const NEVER: u32 = u32::MAX;

/// The graph of the functions of a kernel: edges with capacities lead from the roots through functions to those that
/// they read, and from each function to its work.
#[derive(Default)]
pub(super) struct Graph {
    numbers: BTreeMap<End, usize>,
    /// The edges that begin at each end.
    from: Vec<Vec<usize>>,
    /// The ends to which edges lead, and their capacities; each has the opposite one beside it.
    edges: Vec<(usize, u32)>,
}

/// The begin and the end of all paths, and the two ends of a function, as it is read and as it reads: the cut may lie
/// between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Roots,
    Read(FnId),
    Reading(FnId),
    Work,
}

impl Graph {
    /// Adds a function that the kernel evaluates in its own cell in any case.
    pub(super) fn add_root(&mut self, algorithm: &Algorithm, id: FnId, evaluating: u32) {
        self.edge(End::Roots, End::Reading(id), NEVER);
        self.reads(algorithm, id, evaluating);
    }

    /// Adds a function, with the costs of keeping it, and of evaluating it where it is used.
    pub(super) fn add(&mut self, algorithm: &Algorithm, id: FnId, [keeping, evaluating]: [u32; 2]) {
        self.edge(End::Read(id), End::Reading(id), keeping);
        self.reads(algorithm, id, evaluating);
    }

    fn reads(&mut self, algorithm: &Algorithm, id: FnId, evaluating: u32) {
        self.edge(End::Reading(id), End::Work, evaluating);
        for access in algorithm.function(id).def.accesses() {
            self.edge(End::Reading(id), End::Read(access.of), NEVER);
        }
    }

    fn edge(&mut self, from: End, to: End, capacity: u32) {
        let [from, to] = [from, to].map(|end| {
            let next = self.from.len();
            let number = *self.numbers.entry(end).or_insert(next);
            if number == next {
                self.from.push(Vec::new());
            }
            number
        });
        for (from, to, capacity) in [(from, to, capacity), (to, from, 0)] {
            self.from[from].push(self.edges.len());
            self.edges.push((to, capacity));
        }
    }

    /// The functions of the cut that costs least, of several the one nearest to the roots.
    pub(super) fn cut(mut self) -> BTreeSet<FnId> {
        let number = |end: &End| self.numbers.get(end).copied();
        let (Some(roots), Some(work)) = (number(&End::Roots), number(&End::Work)) else {
            return BTreeSet::new();
        };
        let mut steps = self.steps_from(roots);
        while steps[work].is_some() {
            self.block(&steps, roots, work);
            steps = self.steps_from(roots);
        }
        let is_near = |end: &End| self.numbers.get(end).map(|at| steps[*at].is_some());
        let is_cut = |id: &FnId| {
            let [read, reading] = [End::Read(*id), End::Reading(*id)];
            is_near(&read) == Some(true) && is_near(&reading) == Some(false)
        };
        let functions = self.numbers.keys().filter_map(|end| match end {
            End::Reading(id) => Some(*id),
            End::Roots | End::Read(_) | End::Work => None,
        });
        functions.filter(is_cut).collect()
    }

    /// The least number of edges with room between the roots and each end that they lead to.
    fn steps_from(&self, roots: usize) -> Vec<Option<u32>> {
        let mut steps = vec![None; self.from.len()];
        steps[roots] = Some(0);
        let mut next = VecDeque::from([roots]);
        while let Some(end) = next.pop_front() {
            for edge in &self.from[end] {
                let (to, room) = self.edges[*edge];
                if room > 0 && steps[to].is_none() {
                    steps[to] = steps[end].map(|before| before + 1);
                    next.push_back(to);
                }
            }
        }
        steps
    }

    /// Takes the room of shortest paths between two ends until none is left.
    fn block(&mut self, steps: &[Option<u32>], begin: usize, end: usize) {
        // The edges of each end that are still to be tried: those before lead nowhere any more.
        let mut tried = vec![0; self.from.len()];
        let mut path: Vec<usize> = Vec::new();
        let mut at = begin;
        loop {
            if at == end {
                self.fill(&path);
                path.clear();
                at = begin;
            }
            let is_next = |edge: &usize| {
                let (to, room) = self.edges[*edge];
                room > 0 && steps[to].is_some() && steps[to] == steps[at].map(|before| before + 1)
            };
            let untried = self.from[at][tried[at]..].iter().position(is_next);
            match untried {
                Some(more) => {
                    tried[at] += more;
                    let edge = self.from[at][tried[at]];
                    path.push(edge);
                    at = self.edges[edge].0;
                }
                None => {
                    let Some(edge) = path.pop() else {
                        return;
                    };
                    at = self.edges[edge ^ 1].0;
                    tried[at] += 1;
                }
            }
        }
    }

    /// Takes the room of a path.
    fn fill(&mut self, path: &[usize]) {
        let room = path.iter().map(|edge| self.edges[*edge].1).min().unwrap_or(0);
        for edge in path {
            let [own, opposite] = [*edge, *edge ^ 1].map(|edge| self.edges[edge].1);
            if own != NEVER {
                self.edges[*edge].1 = own - room;
            }
            if opposite != NEVER {
                self.edges[*edge ^ 1].1 = opposite + room;
            }
        }
    }
}
