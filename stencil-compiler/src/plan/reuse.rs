//! Buffers of stored grid functions that are never needed at the same time share memory.

use std::collections::BTreeMap;

use super::{BufferRole, Plan, Step};

/// Entries of the plan from the one that writes values to the last that reads them.
type Life = (usize, usize);

/// Puts each stored function into the first memory of another that is free whenever it is needed.
pub(super) fn share(plan: &mut Plan) {
    let lives = lives(plan);
    let mut memories: Vec<(String, Vec<Life>)> = Vec::new();
    let derived = |role: BufferRole| role == BufferRole::Derived;
    for buffer in plan.buffers.iter_mut().filter(|b| derived(b.role)) {
        let own = lives.get(&buffer.name).cloned().unwrap_or_default();
        let is_free = |taken: &[Life]| taken.iter().all(|a| own.iter().all(|b| apart(*a, *b)));
        match memories.iter_mut().find(|(_, taken)| is_free(taken)) {
            Some((home, taken)) => {
                buffer.within = Some(home.clone());
                taken.extend(own);
            }
            None => memories.push((buffer.name.clone(), own)),
        }
    }
}

/// A launch may not write what it reads, so lives that touch are not apart.
fn apart(a: Life, b: Life) -> bool {
    a.1 < b.0 || b.1 < a.0
}

/// Returns the lives of the values of each buffer: one for each time that it is written.
fn lives(plan: &Plan) -> BTreeMap<String, Vec<Life>> {
    let mut lives: BTreeMap<String, Vec<Life>> = BTreeMap::new();
    let read = |lives: &mut BTreeMap<String, Vec<Life>>, name: &String, at: usize| {
        if let Some(life) = lives.get_mut(name).and_then(|lives| lives.last_mut()) {
            life.1 = at;
        }
    };
    for (at, step) in plan.steps.iter().enumerate() {
        match step {
            Step::Launch { launch, .. } => {
                let launch = &plan.launches[*launch];
                launch.inputs.iter().for_each(|(name, _)| read(&mut lives, name, at));
                for (name, _) in &launch.outputs {
                    lives.entry(name.clone()).or_default().push((at, at));
                }
            }
            Step::Fill { buffers, .. } | Step::Exchange { buffers, .. } => {
                buffers.iter().for_each(|name| read(&mut lives, name, at));
            }
            Step::Reduce { .. } | Step::Accept | Step::Uniforms | Step::Swap { .. } => {}
        }
    }
    lives
}
