//! The steps of a plan as actions on buffers, given by their numbers.

use std::collections::BTreeMap;

use stencil_compiler::plan::{Depth, Phase, Plan, Region, Step};

use crate::Error;
use crate::field::{Buffers, GhostDepth};

/// Ghost cells that are filled together.
#[derive(Clone, Debug)]
pub(crate) enum Ghosts {
    /// Of fields, for each buffer.
    OfFields(Vec<Option<GhostDepth>>),
    /// Of stored grid functions, or of accumulators.
    OfStored { buffers: Vec<usize>, depth: Depth },
}

/// One action of a substep.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Fills ghost cells from cells of the same device.
    Fill(Ghosts),
    /// Sends values for ghost cells to other devices.
    Post(Ghosts),
    /// Fills ghost cells with the values that were sent first and have not come yet.
    Wait,
    /// A launch of the plan.
    Launch { launch: usize, region: Region },
    /// Buffers change places, pair by pair.
    Swap(Vec<(usize, usize)>),
}

/// Returns the actions of each substep. With `all_alike`, ghost cells of all fields are filled to the same depth.
pub(crate) fn actions(
    buffers: &Buffers,
    plan: &Plan,
    all_alike: bool,
) -> Result<Vec<Vec<Action>>, Error> {
    plan.substeps().map(|steps| of_substep(buffers, steps, all_alike)).collect()
}

/// Returns the actions of one substep. Fields do not change before its end, so they are filled once, as deep as any of
/// its launches reads them.
fn of_substep(buffers: &Buffers, steps: &[Step], all_alike: bool) -> Result<Vec<Action>, Error> {
    let is_field = |name: &str| buffers.field(name).is_some();
    let mut deepest: BTreeMap<&str, Depth> = BTreeMap::new();
    for step in steps {
        if let Step::Fill { buffers, depth } = step {
            for name in buffers.iter().filter(|name| is_field(name)) {
                let known = deepest.entry(name).or_insert(*depth);
                *known = known.join(*depth);
            }
        }
    }
    let fields = buffers.ghosts(all_alike, |name| deepest.get(name).copied());
    let fields = Some(fields).filter(|ghosts| ghosts.iter().any(Option::is_some));
    let fields = fields.map(Ghosts::OfFields);
    let mut actions: Vec<Action> = fields.iter().cloned().map(Action::Fill).collect();
    // Fields that are sent once, with all that later launches need, are waited for once.
    let (mut to_send, mut to_come) = (fields.as_ref(), fields.is_some());
    for step in steps {
        match step {
            Step::Fill { buffers: names, depth } => {
                actions.extend(stored(buffers, names, *depth)?.map(Action::Fill))
            }
            Step::Exchange { phase, buffers: names, depth } => {
                let has_fields = names.iter().any(|name| is_field(name));
                let stored = stored(buffers, names, *depth)?;
                match phase {
                    Phase::Post => {
                        let fields = has_fields.then(|| to_send.take().cloned()).flatten();
                        actions.extend(fields.into_iter().chain(stored).map(Action::Post));
                    }
                    Phase::Wait => {
                        let fields = has_fields && std::mem::take(&mut to_come);
                        let waits = usize::from(fields) + usize::from(stored.is_some());
                        actions.extend(std::iter::repeat_n(Action::Wait, waits));
                    }
                }
            }
            Step::Launch { launch, region } => {
                actions.push(Action::Launch { launch: *launch, region: *region })
            }
            // The steps that begin a step: see the device.
            Step::Reduce { .. } | Step::Accept | Step::Uniforms => {}
            Step::Swap { .. } => {
                let pairs = step.exchanged().into_iter();
                let pairs = pairs.map(|(a, b)| Ok((buffers.index(&a)?, buffers.index(&b)?)));
                actions.push(Action::Swap(pairs.collect::<Result<_, Error>>()?));
            }
        }
    }
    Ok(actions)
}

/// Returns the buffers among these that are no fields.
fn stored(buffers: &Buffers, names: &[String], depth: Depth) -> Result<Option<Ghosts>, Error> {
    let stored = names.iter().filter(|name| buffers.field(name).is_none());
    let buffers = buffers.indices(stored.map(String::as_str))?;
    Ok((!buffers.is_empty()).then_some(Ghosts::OfStored { buffers, depth }))
}
