//! The layout of arrays in memory: the place of each value of an array.

use super::make::new_name;
use super::{BufferRole, Plan, Step};
use crate::algorithm::NEW;
use crate::schedule::Layout;

/// Do the arrays of this role lie side by side?
fn joins(layout: Layout, role: BufferRole) -> bool {
    let together = match role {
        BufferRole::Field | BufferRole::NewField | BufferRole::Accumulator | BufferRole::Kept => {
            true
        }
        BufferRole::Count | BufferRole::Derived | BufferRole::Given => false,
    };
    layout == Layout::Aos && together
}

/// The place of an array: it has the `at`-th of `of` values that lie side by side for each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Arrays in front of these, all of one size: no two structures have the same. Of a surface, the surfaces.
    pub before: usize,
    /// The number of its value among those of a cell, from 0.
    pub at: usize,
    /// The number of values of a cell there: the values from one cell to the next.
    pub of: usize,
    /// Is it a surface, by itself?
    pub surface: bool,
}

impl Place {
    /// Returns the place of an array by itself.
    pub fn alone(before: usize) -> Self {
        Place { before, at: 0, of: 1, surface: false }
    }

    /// Returns the number of values in front of that of the `cell`-th cell, if each array has room for `room` values.
    pub fn value(&self, cell: usize, room: usize) -> usize {
        self.before * room + cell * self.of + self.at
    }
}

impl Plan {
    /// Returns the place of each buffer; a buffer that lives in the memory of another one has the place of that one.
    pub fn places(&self) -> Vec<Place> {
        let homes: Vec<usize> = (0..self.buffers.len()).map(|at| self.memory_of(at)).collect();
        let own = |at: &usize| homes[*at] == *at;
        let beside = |a: usize, b: usize| {
            let role = self.buffers[a].role;
            a == b || role == self.buffers[b].role && joins(self.layout, role)
        };
        let all: Vec<usize> = (0..homes.len()).filter(own).collect();
        // A structure stands where the first of its arrays would.
        let first = |at: usize| all.iter().copied().find(|other| beside(*other, at));
        let firsts: Vec<Option<usize>> = (0..homes.len()).map(first).collect();
        let first = |at: usize| firsts[at];
        let surface = |at: usize| self.layout == Layout::Surface && self.is_neighbours(&homes, at);
        let surfaces: Vec<bool> = (0..homes.len()).map(surface).collect();
        let surface = |at: usize| surfaces[at];
        let alike = |at: usize| all.iter().filter(move |o| surface(**o) == surface(at));
        let place = |at: usize| Place {
            before: alike(at).filter(|o| first(**o) < first(at)).count(),
            at: all.iter().filter(|o| **o < at && beside(**o, at)).count(),
            of: all.iter().filter(|o| beside(**o, at)).count().max(1),
            surface: surface(at),
        };
        homes.iter().map(|home| place(*home)).collect()
    }

    /// Parts buffers into series of arrays that are equally far apart in memory, each in its order there and as
    /// long as possible. Fields in a series change places with their new values and with kept ones together, in each
    /// substep, so they are as far apart whichever of these places they are in.
    pub fn series(&self, buffers: &[usize]) -> Vec<Vec<usize>> {
        let places = self.places();
        let before = |at: usize| places.get(at).map_or(0, |place| place.before);
        let mut order = buffers.to_vec();
        order.sort_by_key(|at| before(*at));
        let mut series: Vec<Vec<usize>> = Vec::new();
        for at in order {
            let joins = |last: &&mut Vec<usize>| {
                let follows = last.last().is_some_and(|other| {
                    before(*other) < before(at) && self.are_together(&places, [*other, at])
                });
                let apart = |a: usize, b: usize| before(b).wrapping_sub(before(a));
                let equally = match last[..] {
                    [.., a, b] => apart(a, b) == apart(b, at),
                    _ => true,
                };
                follows && equally
            };
            match series.last_mut().filter(joins) {
                Some(last) => last.push(at),
                None => series.push(vec![at]),
            }
        }
        series
    }

    /// Are two arrays of `layout soa` as far apart whenever a launch finds them?
    fn are_together(&self, places: &[Place], pair: [usize; 2]) -> bool {
        let [Some(a), Some(b)] = pair.map(|at| self.buffers.get(at)) else {
            return false;
        };
        let changes =
            |role| matches!(role, BufferRole::Field | BufferRole::NewField | BufferRole::Kept);
        if !changes(a.role) && !changes(b.role) {
            return true;
        }
        let fields = [a, b].map(|buffer| match buffer.role {
            BufferRole::NewField => buffer.name.strip_suffix(NEW),
            BufferRole::Kept => self.kept_field(&buffer.name),
            _ => Some(buffer.name.as_str()),
        });
        let [Some(of_a), Some(of_b)] = fields else {
            return false;
        };
        let apart = [of_a, of_b].map(|field| self.apart(places, field));
        let is_alike = |step: &Step| match step {
            Step::Swap { fields, kept } => {
                let is_swapped = |of: &str| fields.iter().any(|name| name == of);
                let is_kept = |of: &str| kept.iter().any(|(field, _)| field == of);
                is_swapped(of_a) == is_swapped(of_b) && is_kept(of_a) == is_kept(of_b)
            }
            _ => true,
        };
        let together = self.steps.iter().all(is_alike);
        a.role == b.role && apart[0].is_some() && apart[0] == apart[1] && together
    }

    /// Returns the arrays from a field to its new values, and to its kept ones if they change places.
    fn apart(&self, places: &[Place], field: &str) -> Option<(usize, Option<usize>)> {
        let find = |name: &str| self.buffers.iter().position(|buffer| buffer.name == name);
        let old = find(field)?;
        let from = |at: usize| places[at].before.wrapping_sub(places[old].before);
        let kept = self.kept_pairs().find(|(of, _)| of == field);
        Some((from(find(&new_name(field))?), kept.and_then(|(_, kept)| find(kept)).map(from)))
    }

    /// Returns the field whose previous values an accumulator takes.
    fn kept_field(&self, name: &str) -> Option<&str> {
        self.kept_pairs().find(|(_, kept)| kept == name).map(|(field, _)| field.as_str())
    }

    fn kept_pairs(&self) -> impl Iterator<Item = &(String, String)> {
        let kept = self.steps.iter().filter_map(|step| match step {
            Step::Swap { kept, .. } => Some(kept),
            _ => None,
        });
        kept.flatten()
    }

    /// Do launches read values of other cells in this memory? Buffers that change places with fields are like these.
    fn is_neighbours(&self, homes: &[usize], memory: usize) -> bool {
        let here = homes.iter().zip(&self.buffers);
        let mut here = here.filter(|(home, _)| **home == memory);
        here.any(|(_, buffer)| match buffer.role {
            BufferRole::Field | BufferRole::NewField | BufferRole::Kept => true,
            BufferRole::Derived => buffer.halo != [0; 3],
            BufferRole::Accumulator | BufferRole::Count | BufferRole::Given => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::plan::Buffer;

    fn plan(layout: Layout) -> Plan {
        let buffer = |name: &str, role, within: Option<&str>| Buffer {
            name: name.into(),
            role,
            halo: [0; 3],
            within: within.map(String::from),
        };
        Plan {
            time_steps: 1,
            layout,
            overlap: Default::default(),
            buffers: vec![
                buffer("a", BufferRole::Field, None),
                buffer("a_new", BufferRole::NewField, None),
                buffer("b", BufferRole::Field, None),
                buffer("b_new", BufferRole::NewField, None),
                buffer("sum", BufferRole::Accumulator, None),
                buffer("p", BufferRole::Derived, None),
                buffer("q", BufferRole::Derived, Some("p")),
                buffer("f", BufferRole::Given, None),
            ],
            launches: Vec::new(),
            steps: Vec::new(),
        }
    }

    #[test]
    fn fields_lie_side_by_side_and_no_two_values_in_one_place() {
        let places = plan(Layout::Aos).places();
        let tuple = |p: &Place| (p.before, p.at, p.of);
        let found: Vec<_> = places.iter().map(tuple).collect();
        let fields = [(0, 0, 2), (2, 0, 2), (0, 1, 2), (2, 1, 2)];
        let others = [(4, 0, 1), (5, 0, 1), (5, 0, 1), (6, 0, 1)];
        assert_eq!(found, [fields, others].concat());
        for layout in Layout::ALL {
            let places = plan(layout).places();
            let of_memories = |surface: bool| {
                let all = (0..8).filter(|at| *at != 6);
                all.filter(|at| places[*at].surface == surface).collect::<Vec<_>>()
            };
            let room = 10;
            for memories in [true, false].map(of_memories) {
                let values = memories
                    .iter()
                    .flat_map(|at| (0..room).map(|cell| (*at, cell)))
                    .map(|(at, cell)| places[at].value(cell, room));
                let (values, count): (BTreeSet<usize>, _) =
                    (values.collect(), room * memories.len());
                assert!(values.into_iter().eq(0..count), "{layout:?}");
            }
        }
    }

    #[test]
    fn arrays_in_a_series_are_equally_far_apart_whatever_changes_places() {
        let mut plan = plan(Layout::Soa);
        let buffer =
            |name: &str, role| Buffer { name: name.into(), role, halo: [0; 3], within: None };
        for (at, name) in [(4, "c"), (5, "d")] {
            let new = new_name(name);
            plan.buffers.insert(at, buffer(name, BufferRole::Field));
            plan.buffers.push(buffer(&new, BufferRole::NewField));
        }
        // a, a_new, b, b_new, c, d, sum, p, q in p, f, c_new, d_new: c and d are as far from theirs.
        let swap = |fields: &[&str]| Step::Swap {
            fields: fields.iter().map(|name| name.to_string()).collect(),
            kept: Vec::new(),
        };
        let of = |plan: &Plan, some: &[usize]| plan.series(some);
        plan.steps = vec![swap(&["a", "b", "c", "d"])];
        assert_eq!(of(&plan, &[4, 2, 0]), [vec![0, 2], vec![4]]);
        assert_eq!(of(&plan, &[5, 4]), [[4, 5]]);
        // What does not change places is where it is; two that share a memory are not apart.
        assert_eq!(of(&plan, &[6, 7, 9]), [[6, 7, 9]]);
        assert_eq!(of(&plan, &[6, 8, 7]), [vec![6, 8], vec![7]]);
        assert_eq!(of(&plan, &[5, 6]), [[5], [6]]);
        assert_eq!(of(&plan, &[]), Vec::<Vec<usize>>::new());
        plan.steps = vec![swap(&["a", "c", "d"]), swap(&["b", "c", "d"])];
        assert_eq!(of(&plan, &[0, 2, 4, 5]), [vec![0], vec![2], vec![4, 5]]);
    }

    #[test]
    fn kept_values_are_in_series_where_all_are_kept_alike() {
        let kept = |fields: &[&str]| Step::Swap {
            fields: ["a", "b"].map(String::from).to_vec(),
            kept: fields.iter().map(|of| (of.to_string(), format!("{of}_old"))).collect(),
        };
        let mut plan = plan(Layout::Soa);
        let old = |of: &str| Buffer {
            name: format!("{of}_old"),
            role: BufferRole::Kept,
            halo: [0; 3],
            within: None,
        };
        plan.buffers.insert(2, old("a"));
        plan.buffers.insert(5, old("b"));
        // a, a_new, a_old, b, b_new, b_old.
        let pairs = [[0, 3], [1, 4], [2, 5]];
        for (steps, together) in [
            (vec![kept(&["a", "b"]), kept(&[])], true),
            (vec![kept(&["a"]), kept(&["b"])], false),
            (vec![kept(&["a"])], false),
        ] {
            plan.steps = steps;
            for [a, b] in pairs {
                let found = plan.series(&[a, b]);
                assert_eq!(found.len() == 1, together, "{:?} {a} {b}", plan.steps);
            }
        }
        plan.steps = vec![kept(&["a", "b"])];
        plan.check_apart(&["a", "b"]).unwrap();
        plan.check_apart(&["a_old", "b_old"]).unwrap();
        plan.steps = vec![kept(&["a"])];
        plan.check_apart(&["a", "b"]).unwrap_err();
        // Elsewhere behind their fields: as far apart at first, and not later.
        plan.buffers.swap(5, 6);
        plan.steps = vec![kept(&["a", "b"])];
        assert_eq!(plan.series(&[0, 3]).len(), 2);
    }

    #[test]
    fn what_neighbours_read_is_in_surfaces() {
        let found = |plan: &Plan| -> Vec<_> {
            let places = plan.places().into_iter();
            places.map(|p| (p.surface, p.before, p.of)).collect()
        };
        let mut plan = plan(Layout::Surface);
        let surfaces = [0, 1, 2, 3].map(|before| (true, before, 1));
        let arrays = [0, 1, 1, 2].map(|before| (false, before, 1));
        assert_eq!(found(&plan), [surfaces, arrays].concat());
        // One of two functions that live in one memory is read by neighbours.
        plan.buffers[6].halo = [0, 1, 0];
        let others = [(false, 0, 1), (true, 4, 1), (true, 4, 1), (false, 1, 1)];
        assert_eq!(found(&plan), [surfaces, others].concat());
    }

    #[test]
    fn arrays_that_are_alone_lie_one_behind_the_other() {
        let places = plan(Layout::Soa).places();
        let wanted = [0, 1, 2, 3, 4, 5, 5, 6].map(Place::alone);
        assert_eq!(places, wanted);
        assert_eq!(Layout::find("aos"), Some(Layout::Aos));
        assert_eq!(Layout::find("surface"), Some(Layout::Surface));
        assert_eq!(Layout::find("sao"), None);
    }
}
