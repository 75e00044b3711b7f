//! What accumulators hold: fields before their last change, and values that nothing reads.

use std::collections::{BTreeMap, BTreeSet};

use super::footprint::needed;
use super::{Algorithm, Atom, Def, FnId, Role, StateId, Substep};
use crate::expr::Node;

impl Algorithm {
    /// Returns the accumulators that are a field before its last change wherever they are read, each with the field. Only the
    /// new value of the field reads one, and the substep before kept it. The array that has these values then is the one that takes
    /// the new values of the field.
    ///
    /// ```
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse;
    ///
    /// let heat = |time: &str| parse::parse_str(&format!(
    ///     "pub system Heat in 1d {{ field q: scalar; ddt(q) = lap(q); }}
    ///     scheme s for Heat {{ space: central<order = 2>; time: {time}; }}"
    /// ));
    /// let states = discretize(&heat("rk3_williamson<storage = states>")?)?;
    /// let (q, before) = (states.find_state("q"), states.find_state("q_before"));
    /// let found = states.fields_before().into_iter().next();
    /// assert_eq!(found, before.zip(q));
    /// assert!(discretize(&heat("rk3_williamson")?)?.fields_before().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fields_before(&self) -> BTreeMap<StateId, StateId> {
        let read: Vec<Vec<(StateId, BTreeSet<FnId>)>> =
            self.substeps.iter().map(|s| self.read_by(s)).collect();
        let of = |accumulator: StateId| {
            let value = self.value_of(accumulator)?;
            let mut field = None;
            for (s, updates) in read.iter().enumerate() {
                let mut readers = updates.iter().filter(|(_, read)| read.contains(&value));
                let Some((reader, _)) = readers.next() else {
                    continue;
                };
                let kept = self.kept_by(s.checked_sub(1)?, accumulator)?;
                if kept != *reader || readers.next().is_some() || *field.get_or_insert(kept) != kept
                {
                    return None;
                }
            }
            Some((accumulator, field?))
        };
        let accumulators = self.states_of(Role::Accumulator);
        accumulators.filter_map(|(id, _)| of(id)).collect()
    }

    /// Does any substep read a state or give it a new value?
    pub fn uses(&self, state: StateId) -> bool {
        let value = self.value_of(state);
        let mut all = self.substeps.iter().flat_map(|s| self.read_by(s));
        all.any(|(of, read)| of == state || value.is_some_and(|value| read.contains(&value)))
    }

    /// Drops new values of accumulators that no later substep reads before it renews them: none is read in the next step.
    pub(super) fn drop_unread(&mut self) {
        let read: Vec<Vec<(StateId, BTreeSet<FnId>)>> =
            self.substeps.iter().map(|s| self.read_by(s)).collect();
        let is_read = |from: usize, state: StateId| {
            let value = self.value_of(state);
            for updates in &read[from + 1..] {
                if updates
                    .iter()
                    .any(|(_, read)| value.is_some_and(|value| read.contains(&value)))
                {
                    return true;
                }
                if updates.iter().any(|(renewed, _)| *renewed == state) {
                    return false;
                }
            }
            false
        };
        let keeps = |from: usize, state: StateId| {
            self.state(state).role != Role::Accumulator || is_read(from, state)
        };
        let kept = self.substeps.iter().enumerate().map(|(at, substep)| {
            let updates = substep.updates.iter().copied();
            updates.filter(|(state, _)| keeps(at, *state)).collect()
        });
        let kept: Vec<Vec<(StateId, FnId)>> = kept.collect();
        for (substep, updates) in self.substeps.iter_mut().zip(kept) {
            substep.updates = updates;
        }
    }

    /// What each new value of a substep is made of.
    fn read_by(&self, substep: &Substep) -> Vec<(StateId, BTreeSet<FnId>)> {
        let needed = |id: FnId| needed(self, &[id], &BTreeSet::new()).into_iter().collect();
        let updates = substep.updates.iter();
        updates.map(|(state, id)| (*state, needed(*id))).collect()
    }

    /// The grid function that is the value of a state at the start of a substep.
    fn value_of(&self, state: StateId) -> Option<FnId> {
        let mut all = self.ids();
        all.find_map(|(id, f)| (f.def == Def::State(state)).then_some(id))
    }

    /// The field that a substep changes, and whose value before that it keeps in an accumulator.
    fn kept_by(&self, substep: usize, accumulator: StateId) -> Option<StateId> {
        let updates = &self.substeps[substep].updates;
        let (_, kept) = updates.iter().find(|(state, _)| *state == accumulator)?;
        let of = match &self.function(*kept).def {
            Def::Point(expr) => match expr.nodes[..] {
                [Node::Atom(Atom::Access(access))] if access.at == [0; 3] => access.of,
                _ => return None,
            },
            Def::State(_) => *kept,
            Def::Sum(_) => return None,
        };
        let Def::State(field) = self.function(of).def else {
            return None;
        };
        let is_changed = updates.iter().any(|(state, _)| *state == field);
        (is_changed && self.state(field).role == Role::Field).then_some(field)
    }
}
