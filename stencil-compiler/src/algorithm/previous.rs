//! Values that fields had before a substep, which accumulators keep.

use std::collections::{BTreeMap, BTreeSet};

use super::{Algorithm, Atom, Def, FnId, Role, StateId, Substep};
use crate::catalogue::integrators::{OLD, PREVIOUS};
use crate::expr::Node;

impl Algorithm {
    /// Returns the accumulators that hold the previous value of a field in each substep that reads them, each with its field. Only
    /// the new value of the field reads its accumulator. After a substep the array for new values has the previous ones, so the
    /// accumulator needs no array.
    ///
    /// ```
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse;
    ///
    /// let heat = |time: &str| parse::parse_str(&format!(
    ///     "pub system Heat in 1d {{ field q: scalar; ddt(q) = lap(q); }}
    ///     scheme s for Heat {{ space: central<order = 2>; time: {time}; }}"
    /// ));
    /// let of_states = discretize(&heat("rk3_williamson")?)?;
    /// let [q, previous] = ["q", "q_previous"].map(|name| of_states.find_state(name));
    /// assert_eq!(of_states.previous_fields().into_iter().next(), previous.zip(q));
    /// let of_accumulators = discretize(&heat("rk3_williamson<storage = accumulator>")?)?;
    /// assert!(of_accumulators.previous_fields().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn previous_fields(&self) -> BTreeMap<StateId, StateId> {
        let holds = |(accumulator, field): &(StateId, StateId)| {
            let made = self.made_of(*accumulator);
            self.substeps.iter().enumerate().all(|(substep, Substep { updates, .. })| {
                let readers = updates.iter().filter(|(_, id)| made[id.0 as usize]);
                let readers: Vec<StateId> = readers.map(|(reader, _)| *reader).collect();
                let before = substep.checked_sub(1);
                readers.is_empty()
                    || readers == [*field]
                        && before.is_some_and(|s| self.keeps(s, *accumulator, *field))
            })
        };
        self.keepers().into_iter().filter(holds).collect()
    }

    /// Returns the accumulators that may hold values that a field had before a substep, each with its field: one of a field at most.
    pub fn keepers(&self) -> BTreeMap<StateId, StateId> {
        let changes = |field: StateId| {
            let mut updates = self.substeps.iter().flat_map(|s| &s.updates);
            updates.any(|(state, _)| *state == field)
        };
        let pairs = self.states_of(Role::Field).filter_map(|(field, state)| {
            let accumulator = [PREVIOUS, OLD]
                .iter()
                .find_map(|register| self.find_state(&format!("{}_{register}", state.name)))?;
            let is_kept = self.state(accumulator).role == Role::Accumulator;
            (is_kept && changes(field)).then_some((accumulator, field))
        });
        pairs.collect()
    }

    /// Returns the accumulators that a substep gives the value that a field had at its start, each with its field. The array of the
    /// field has that value when the substep ends, so nothing needs to be copied.
    pub fn kept(&self, substep: usize) -> BTreeMap<StateId, StateId> {
        let pairs = self.keepers().into_iter();
        pairs.filter(|(accumulator, field)| self.keeps(substep, *accumulator, *field)).collect()
    }

    /// Returns the updates of a substep that kernels store: all but values that are in an array already.
    pub fn stored_updates(&self, substep: usize) -> Vec<(StateId, FnId)> {
        let (previous, kept) = (self.previous_fields(), self.kept(substep));
        let updates = self.substeps[substep].updates.iter().copied();
        let is_stored =
            |state: &StateId| !previous.contains_key(state) && !kept.contains_key(state);
        updates.filter(|(state, _)| is_stored(state)).collect()
    }

    /// Drops values of accumulators that no later substep reads before it renews them: a step begins without accumulators.
    pub(super) fn drop_unread_accumulators(&mut self) {
        let is_read_after = |substep: usize, state: StateId| {
            let made = self.made_of(state);
            let reads = |s: &Substep| s.updates.iter().any(|(_, id)| made[id.0 as usize]);
            let renews = |s: &Substep| s.updates.iter().any(|(of, _)| *of == state);
            let next = self.substeps[substep + 1..].iter().find(|s| reads(s) || renews(s));
            next.is_some_and(reads)
        };
        let mut unread = BTreeSet::new();
        for (at, substep) in self.substeps.iter().enumerate() {
            for (state, _) in &substep.updates {
                let is_accumulator = self.state(*state).role == Role::Accumulator;
                if is_accumulator && !is_read_after(at, *state) {
                    unread.insert((at, *state));
                }
            }
        }
        for (at, substep) in self.substeps.iter_mut().enumerate() {
            substep.updates.retain(|(state, _)| !unread.contains(&(at, *state)));
        }
    }

    /// Is each grid function made of the value that a state has at the start of a substep?
    fn made_of(&self, state: StateId) -> Vec<bool> {
        let mut made: Vec<bool> = Vec::with_capacity(self.functions.len());
        // Functions read those defined before them.
        for (_, function) in self.ids() {
            let of_it = function.def == Def::State(state);
            let is_made = of_it || function.def.reads().any(|read| made[read.of.0 as usize]);
            made.push(is_made);
        }
        made
    }

    /// Does a substep change a field, and give an accumulator the value that the field had?
    fn keeps(&self, substep: usize, accumulator: StateId, field: StateId) -> bool {
        let updates = &self.substeps[substep].updates;
        let new = |of: StateId| updates.iter().find(|(state, _)| *state == of);
        let kept = new(accumulator).map(|(_, id)| &self.function(*id).def);
        let copied = match kept {
            Some(Def::Point(expr)) => match expr.nodes[..] {
                [Node::Atom(Atom::Access(access))] => Some(&self.function(access.of).def),
                _ => None,
            },
            other => other,
        };
        copied == Some(&Def::State(field)) && new(field).is_some()
    }
}
