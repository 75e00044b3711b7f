//! The steps of a plan as actions on buffers, given by their numbers.

use std::collections::BTreeMap;

use stencil_compiler::plan::{Plan, Step, make};

use crate::Error;
use crate::field::{Buffers, GhostDepth};

/// One action of a substep.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Ghost cells of fields, for each buffer.
    Fill(Vec<Option<GhostDepth>>),
    /// Ghost cells of stored grid functions.
    Exchange {
        buffers: Vec<usize>,
        depth: [usize; 3],
    },
    /// A launch of the plan.
    Launch(usize),
    /// Fields and their new values change places.
    Swap(Vec<(usize, usize)>),
}

/// Returns the actions of each substep. With `all_alike`, ghost cells of all fields are filled to the same depth.
pub(crate) fn actions(
    buffers: &Buffers,
    plan: &Plan,
    all_alike: bool,
) -> Result<Vec<Vec<Action>>, Error> {
    plan.substeps()
        .map(|steps| of_substep(buffers, steps, all_alike))
        .collect()
}

/// Returns the actions of one substep. Fields do not change before its end, so they are filled once, as deep as any of
/// its launches reads them.
fn of_substep(buffers: &Buffers, steps: &[Step], all_alike: bool) -> Result<Vec<Action>, Error> {
    let is_field = |name: &str| buffers.field(name).is_some();
    let mut deepest: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for step in steps {
        if let Step::Fill { buffers, depth } = step {
            for name in buffers.iter().filter(|name| is_field(name)) {
                let known = deepest.entry(name).or_default();
                *known = std::array::from_fn(|axis| known[axis].max(depth[axis] as usize));
            }
        }
    }
    let mut actions = Vec::new();
    let ghosts = buffers.ghosts(all_alike, |name| deepest.get(name).copied());
    if ghosts.iter().any(Option::is_some) {
        actions.push(Action::Fill(ghosts));
    }
    for step in steps {
        match step {
            Step::Fill {
                buffers: names,
                depth,
            } => {
                let stored = names.iter().filter(|name| !is_field(name));
                let buffers = buffers.indices(stored.map(String::as_str))?;
                if !buffers.is_empty() {
                    let depth = depth.map(|d| d as usize);
                    actions.push(Action::Exchange { buffers, depth });
                }
            }
            Step::Launch { launch, .. } => actions.push(Action::Launch(*launch)),
            // The steps that begin a step: see the device.
            Step::Reduce { .. } | Step::Accept | Step::Uniforms => {}
            Step::Exchange { .. } => {
                return Err(Error::Bug("a plan of several devices on one".into()));
            }
            Step::Swap { fields } => {
                let pair = |name: &String| {
                    let new = make::new_name(name);
                    Ok((buffers.index(name)?, buffers.index(&new)?))
                };
                let pairs = fields.iter().map(pair).collect::<Result<_, Error>>()?;
                actions.push(Action::Swap(pairs));
            }
        }
    }
    Ok(actions)
}
