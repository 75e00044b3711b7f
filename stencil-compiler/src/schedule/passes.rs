//! Passes: kernels that each give some fields their new values, or compute some of the stored functions
//! that one kernel could compute. All passes of fields read the old values, so any fields may go
//! together; the accumulators of a field go with it, as they are renewed in place.

use std::collections::{BTreeMap, BTreeSet};

use super::{Blame, Refusal, Schedule};
use crate::algorithm::footprint::{is_needed, needed};
use crate::algorithm::{Algorithm, Def, FnId, Role, StateId};

/// Checks that the passes of a schedule are of components of fields and stored functions, and that none
/// of fields is empty or parts fields from accumulators that they read.
///
/// # Errors
/// Names the component or the pass.
pub(crate) fn check(algorithm: &Algorithm, schedule: &Schedule) -> Result<(), Refusal> {
    let fields: BTreeSet<&str> =
        algorithm.states_of(Role::Field).map(|(_, state)| state.name.as_str()).collect();
    for name in schedule.passes.keys() {
        if !fields.contains(name.as_str()) && !schedule.stores(name) {
            let known: Vec<&str> = fields.iter().copied().collect();
            return Err(Refusal {
                blame: Blame::Nothing,
                message: format!(
                    "the schedule has a pass for `{name}`, which is neither stored nor a component of a field; there are {}",
                    known.join(", ")
                ),
            });
        }
    }
    let pass = |name: &&str| schedule.passes.get(*name).copied().unwrap_or(0) as usize;
    let used: BTreeSet<usize> = fields.iter().map(pass).collect();
    if let Some(empty) = (0..schedule.more_passes()).find(|pass| !used.contains(pass)) {
        return Err(Refusal {
            blame: Blame::Nothing,
            message: format!("pass {empty} of the schedule is empty: number passes from 0"),
        });
    }
    for substep in 0..algorithm.substeps.len() {
        apart(algorithm, substep, &schedule.passes)?;
    }
    Ok(())
}

/// The pass of each update of a substep.
pub(crate) fn of_updates(
    algorithm: &Algorithm,
    substep: usize,
    passes: &BTreeMap<String, u32>,
) -> Vec<usize> {
    let updates = &algorithm.substeps[substep].updates;
    let own = |state: StateId| {
        let state = algorithm.state(state);
        let pass = passes.get(&state.name).copied().unwrap_or(0) as usize;
        (state.role == Role::Field).then_some(pass)
    };
    if passes.is_empty() {
        return vec![0; updates.len()];
    }
    let needed = |id: FnId| is_needed(algorithm, &[id], &BTreeSet::new());
    let fields: Vec<(usize, Vec<bool>)> =
        updates.iter().filter_map(|(state, id)| Some((own(*state)?, needed(*id)))).collect();
    let of = |(state, id): &(StateId, FnId)| {
        own(*state).unwrap_or_else(|| {
            let old = reading(algorithm, *state);
            let with = |(_, needed): &&(usize, Vec<bool>)| {
                needed[id.0 as usize] || old.is_some_and(|old| needed[old.0 as usize])
            };
            fields.iter().find(with).map_or(0, |(pass, _)| *pass)
        })
    };
    updates.iter().map(of).collect()
}

/// The grid function that is the old value of a state.
fn reading(algorithm: &Algorithm, state: StateId) -> Option<FnId> {
    let is = |def: &Def| matches!(def, Def::State(of) if *of == state);
    algorithm.ids().find_map(|(id, function)| is(&function.def).then_some(id))
}

/// Refuses passes of which one reads an accumulator that another one renews.
fn apart(
    algorithm: &Algorithm,
    substep: usize,
    passes: &BTreeMap<String, u32>,
) -> Result<(), Refusal> {
    let updates = &algorithm.substeps[substep].updates;
    let of = of_updates(algorithm, substep, passes);
    if of.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    let none = BTreeSet::new();
    let read: Vec<BTreeSet<FnId>> =
        updates.iter().map(|(_, id)| needed(algorithm, &[*id], &none)).collect();
    for ((state, _), own) in updates.iter().zip(&of) {
        let state = algorithm.state(*state);
        if state.role != Role::Accumulator {
            continue;
        }
        for (((other, _), read), pass) in updates.iter().zip(&read).zip(&of) {
            let reads = || {
                let mut names = read.iter().map(|id| &algorithm.function(*id).name);
                names.any(|name| *name == state.name)
            };
            if pass != own && reads() {
                return Err(Refusal {
                    blame: Blame::Nothing,
                    message: format!(
                        "`{}` of pass {pass} reads the accumulator `{}`, which pass {own} renews: they belong to one pass",
                        algorithm.state(*other).name,
                        state.name
                    ),
                });
            }
        }
    }
    Ok(())
}
