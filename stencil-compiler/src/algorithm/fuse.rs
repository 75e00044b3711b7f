//! Fusion in time: several substeps as one, whose intermediate fields are grid functions like others.
//!
//! A later substep reads a field through the function that computes it in an earlier one. A schedule may recompute that
//! function, or keep it in registers or in shared memory. No rounding changes: each function computes the same value,
//! and no arrays of intermediate values are read or written.

use std::collections::BTreeMap;

use super::prune::{map_reads, prune};
use super::{Access, Algorithm, Def, FnId, GridFn, Role, StateId, Substep, Uniform, UniformAtom};
use crate::diag::Span;

/// Most substeps that are fused: footprints grow with each of them.
pub const MOST_FUSED: usize = 8;

impl Algorithm {
    /// The number of time steps that a group of this many substeps takes: one, unless a group is several steps.
    pub fn steps_of(&self, group: usize) -> usize {
        (group / self.substeps.len().max(1)).max(1)
    }

    /// The problem in which each group of `group` substeps is one, over [`steps_of`](Self::steps_of) time steps; the
    /// last group of a step may be smaller. Functions of the second and later substeps of a group get the name of the
    /// original with a suffix, `q_1_at_2`.
    ///
    /// If a field has walls, conditions and not these functions set the ghost cells of intermediate fields, so this is
    /// the same problem only if all axes are periodic.
    ///
    /// # Errors
    /// If the group is empty, larger than [`MOST_FUSED`], or not a whole number of steps or a part of one; if a uniform
    /// changes with time, as a group has one time; if neighbours of a function of an accumulator would be read, since
    /// accumulators have no ghost cells.
    ///
    /// ```
    /// use stencil_compiler::algorithm::footprint::{footprint, radius};
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse;
    ///
    /// let model = parse::parse_str("pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme s for Heat { space: central<order = 2>; mixed: bidiagonal; time: euler; }")?;
    /// let fused = discretize(&model)?.fused(2)?;
    /// let (_, last) = fused.substeps[0].updates[0];
    /// assert_eq!(fused.function(last).name, "q_1_at_2");
    /// assert_eq!(radius(&footprint(&fused, &[last], &Default::default())), [2, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fused(&self, group: usize) -> Result<Algorithm, String> {
        self.check_group(group)?;
        if group == 1 {
            return Ok(self.clone());
        }
        let steps = self.steps_of(group);
        let mut fused = Algorithm {
            name: format!("{}_by_{group}", self.name),
            substeps: Vec::new(),
            ..self.clone()
        };
        let groups: Vec<Vec<&Substep>> = match steps {
            1 => self.substeps.chunks(group).map(|g| g.iter().collect()).collect(),
            _ => vec![(0..steps).flat_map(|_| &self.substeps).collect()],
        };
        for group in groups {
            let at = group.first().map_or(0.0, |first| first.at);
            let updates = Group::new(&mut fused).updates(&group);
            fused.substeps.push(Substep { at, updates });
        }
        fused.drop_unread_accumulators();
        let fused = prune(fused);
        let why =
            |why| format!("groups of {group} substeps of `{}` are no substeps: {why}", self.name);
        fused.check().map_err(why)?;
        Ok(fused)
    }

    fn check_group(&self, group: usize) -> Result<(), String> {
        if !(1..=MOST_FUSED).contains(&group) {
            return Err(format!("{group} substeps cannot be fused; 1 to {MOST_FUSED} can"));
        }
        let own = self.substeps.len();
        if group > own && !group.is_multiple_of(own) {
            return Err(format!(
                "a step of `{}` has {own} substeps: fewer than that can be fused, or whole steps, and \
                 {group} are neither",
                self.name
            ));
        }
        let by_time = |u: &&Uniform| u.value.atoms().any(|atom| *atom == UniformAtom::Time);
        match self.uniforms.iter().find(by_time) {
            Some(uniform) if group > 1 => Err(format!(
                "substeps of `{}` cannot be fused: `{}` changes with time, and one pass has one time",
                self.name, uniform.name
            )),
            Some(_) | None => Ok(()),
        }
    }
}

/// Substeps that are fused into one.
struct Group<'a> {
    algorithm: &'a mut Algorithm,
    /// The functions that hold the current values of the states that have changed.
    now: BTreeMap<StateId, FnId>,
}

impl<'a> Group<'a> {
    fn new(algorithm: &'a mut Algorithm) -> Self {
        Group { algorithm, now: BTreeMap::new() }
    }

    /// The combined updates of all substeps.
    fn updates(mut self, substeps: &[&Substep]) -> Vec<(StateId, FnId)> {
        for (at, substep) in substeps.iter().enumerate() {
            let mut stand_ins: BTreeMap<FnId, FnId> = BTreeMap::new();
            let new = substep
                .updates
                .iter()
                .map(|(state, id)| (*state, self.stand_in(*id, at + 1, &mut stand_ins)));
            let new: Vec<(StateId, FnId)> = new.collect();
            self.now.extend(new);
        }
        let is_field = |state: &StateId| self.algorithm.state(*state).role == Role::Field;
        let (fields, others): (Vec<_>, Vec<_>) =
            self.now.iter().partition(|(state, _)| is_field(state));
        let own = |(state, id): (&StateId, &FnId)| (*state, *id);
        others.into_iter().chain(fields).map(own).collect()
    }

    /// Returns the function that replaces another one in the substep of this number of the group: the function itself
    /// if it reads no state that has changed.
    fn stand_in(&mut self, id: FnId, number: usize, known: &mut BTreeMap<FnId, FnId>) -> FnId {
        if let Some(found) = known.get(&id) {
            return *found;
        }
        let GridFn { name, def, span } = self.algorithm.function(id).clone();
        let found = if let Def::State(state) = def {
            self.now.get(&state).copied().unwrap_or(id)
        } else {
            let reads: BTreeMap<FnId, FnId> = def
                .accesses()
                .iter()
                .map(|access| (access.of, self.stand_in(access.of, number, known)))
                .collect();
            if reads.iter().all(|(old, new)| old == new) {
                id
            } else {
                let def = map_reads(&def, |access| Access { of: reads[&access.of], ..access });
                self.add(format!("{name}_at_{number}"), def, span)
            }
        };
        known.insert(id, found);
        found
    }

    /// Adds a function of this name, or of a longer one if the name is taken. An identical function of an earlier group
    /// is used again.
    fn add(&mut self, mut name: String, def: Def, span: Span) -> FnId {
        while let Some(there) = self.algorithm.find(&name) {
            if self.algorithm.function(there).def == def {
                return there;
            }
            name += "_";
        }
        let id = FnId(self.algorithm.functions.len() as u32);
        self.algorithm.functions.push(GridFn { name, def, span });
        id
    }
}
