//! The steps of a plan as actions on the arrays of a patch.

use std::collections::BTreeMap;

use stencil_compiler::plan::{Plan, Step};

use super::ghosts::Job;
use super::patch::Patch;
use crate::{Error, Number};

/// What is done in a substep; arrays are given by their place in the patch.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Ghost cells of fields, for each array.
    Fill(Vec<Option<Job>>),
    /// Ghost cells of stored grid functions.
    Exchange {
        arrays: Vec<usize>,
        depth: [usize; 3],
    },
    /// A launch of the plan.
    Launch(usize),
    /// Fields and their new values change places.
    Swap(Vec<(usize, usize)>),
}

impl<T: Number> Patch<T> {
    /// The actions of each substep.
    pub(crate) fn actions(&self, plan: &Plan) -> Result<Vec<Vec<Action>>, Error> {
        let ends = |step: &Step| matches!(step, Step::Swap { .. });
        let substeps = plan.steps.split_inclusive(ends);
        substeps.map(|steps| self.actions_of(steps)).collect()
    }

    /// The actions of one substep. Fields do not change before its end, so they are filled once,
    /// as deep as any of its launches reads them.
    fn actions_of(&self, steps: &[Step]) -> Result<Vec<Action>, Error> {
        let mut deepest: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
        for step in steps {
            if let Step::Fill { buffers, depth } = step {
                for name in buffers.iter().filter(|name| self.is_field(name)) {
                    let known = deepest.entry(name).or_default();
                    *known = std::array::from_fn(|axis| known[axis].max(depth[axis] as usize));
                }
            }
        }
        let mut actions = Vec::new();
        let jobs = self.jobs(|name| deepest.get(name).copied());
        if jobs.iter().any(Option::is_some) {
            actions.push(Action::Fill(jobs));
        }
        for step in steps {
            match step {
                Step::Fill { buffers, depth } => {
                    let stored = buffers.iter().filter(|name| !self.is_field(name));
                    let arrays = self.indices(stored.map(String::as_str))?;
                    if !arrays.is_empty() {
                        let depth = depth.map(|d| d as usize);
                        actions.push(Action::Exchange { arrays, depth });
                    }
                }
                Step::Launch(at) => actions.push(Action::Launch(*at)),
                Step::Swap { fields } => {
                    let pair = |name: &String| {
                        let new = stencil_compiler::plan::make::new_name(name);
                        Ok((self.index(name)?, self.index(&new)?))
                    };
                    let pairs = fields.iter().map(pair).collect::<Result<_, Error>>()?;
                    actions.push(Action::Swap(pairs));
                }
            }
        }
        Ok(actions)
    }
}
