//! The arrays of a patch, and the steps of a plan on them.

use std::collections::BTreeMap;

use stencil_compiler::algorithm::{Algorithm, NEW};
use stencil_compiler::plan::{BufferRole, Plan};

use super::actions::Action;
use super::array::Array;
use super::instructions::Checked;
use super::march::March;
use super::patch::{BadValue, Domain, Patch};
use super::pipeline::{self, Pipeline};
use super::prepare::{Choice, Code, Prepared};
use crate::{Error, Number, Room};

/// Arrays and what is done with them in a step.
#[derive(Debug)]
pub(crate) struct Machine<T> {
    pub(crate) patch: Patch<T>,
    /// The actions of each substep.
    substeps: Vec<Vec<Action>>,
    launches: Vec<Prepared<T>>,
    /// How launches are done, by the last of those that are done together.
    marches: BTreeMap<usize, March>,
    /// A third array of each field, by that of the field.
    spares: BTreeMap<usize, Array<T>>,
    /// Do the spare arrays hold the fields as they were before the step?
    holds_last: bool,
}

impl<T: Number> Machine<T> {
    /// Allocates the buffers of a plan, all zero, and prepares its launches.
    pub(crate) fn new(
        algorithm: &Algorithm,
        plan: &Plan,
        domain: Domain,
        choice: Choice,
        instructions: Checked,
    ) -> Result<Self, Error> {
        let (halo, keep_last) = (plan.halo(), domain.keep_last);
        let halo = std::array::from_fn(|axis| domain.halo[axis].max(halo[axis] as usize));
        let patch = Patch::new(plan, domain, halo, instructions)?;
        let mut machine = Machine {
            patch,
            substeps: Vec::new(),
            launches: Vec::new(),
            marches: BTreeMap::new(),
            spares: BTreeMap::new(),
            holds_last: false,
        };
        if keep_last {
            for (at, (_, role)) in machine.patch.names.iter().enumerate() {
                if *role == BufferRole::Field {
                    machine.spares.insert(at, machine.patch.array()?);
                }
            }
        }
        for at in 0..plan.launches.len() {
            let prepared = machine.prepare(algorithm, plan, at, choice)?;
            machine.launches.push(prepared);
        }
        machine.substeps = machine.patch.actions(plan)?;
        machine.marches = machine.marches(algorithm, plan)?;
        Ok(machine)
    }

    /// The launches of each substep together where what they store lives in rings, else one by one.
    fn marches(&self, algorithm: &Algorithm, plan: &Plan) -> Result<BTreeMap<usize, March>, Error> {
        let mut marches = BTreeMap::new();
        for substep in pipeline::substeps(plan) {
            let together = if self.patch.has_rings {
                substep.len()
            } else {
                1
            };
            for launches in substep.chunks(together.max(1)) {
                let pipeline = Pipeline::new(algorithm, plan, launches)?;
                let march = March::new(pipeline, &self.launches, &self.patch);
                marches.extend(launches.last().map(|last| (*last, march)));
            }
        }
        Ok(marches)
    }

    /// Replaces the uniforms of a substep, given in the algorithm's order.
    pub(crate) fn set_uniforms(&mut self, substep: usize, values: &[f64]) {
        let all: Vec<T> = values.iter().map(|v| T::from_f64(*v)).collect();
        for launch in self.launches.iter_mut().filter(|l| l.substep == substep) {
            launch.uniforms = match &launch.code {
                Code::Compiled { uniforms, .. } => uniforms.iter().map(|i| all[*i]).collect(),
                Code::Rows(_) => all.clone(),
            };
        }
    }

    /// One substep at the time `t`, on the threads of the current pool.
    ///
    /// # Errors
    /// The first new value that is not finite. The fields are then those before the substep.
    pub(crate) fn substep(&mut self, substep: usize, t: f64) -> Result<(), BadValue> {
        if substep == 0 {
            self.holds_last = false;
        }
        // The list leaves the machine meanwhile, so that the rest can change.
        let actions = std::mem::take(&mut self.substeps[substep]);
        let result = actions.iter().try_for_each(|action| self.act(action, t));
        self.substeps[substep] = actions;
        result
    }

    fn act(&mut self, action: &Action, t: f64) -> Result<(), BadValue> {
        match action {
            Action::Fill(jobs) => self.patch.fill(jobs, t),
            Action::Exchange { arrays, depth } => {
                self.patch.exchange(arrays, *depth, t);
            }
            Action::Launch(at) => {
                if let Some(march) = self.marches.get(at)
                    && !march.run(&self.launches, &mut self.patch)
                {
                    return Err(self.find_not_finite(&self.launches[*at]));
                }
            }
            Action::Swap(pairs) => self.swap(pairs),
        }
        Ok(())
    }

    /// Puts new values in the place of the old ones. Those from before the step stay in the spare
    /// array, which costs nothing but its memory.
    fn swap(&mut self, pairs: &[(usize, usize)]) {
        for (field, new) in pairs {
            self.patch.arrays.swap(*field, *new);
            if !self.holds_last
                && let Some(spare) = self.spares.get_mut(field)
            {
                std::mem::swap(&mut self.patch.arrays[*new], spare);
            }
        }
        self.holds_last = true;
    }

    /// Puts the fields back that were there before the last step; `false` if they are lost.
    pub(crate) fn restore_last(&mut self) -> bool {
        if !self.holds_last {
            // No substep was completed.
            return true;
        }
        if !self.patch.domain.keep_last {
            return false;
        }
        for (field, spare) in &mut self.spares {
            std::mem::swap(&mut self.patch.arrays[*field], spare);
        }
        self.holds_last = false;
        true
    }

    /// The first new value of a launch that is not finite.
    fn find_not_finite(&self, launch: &Prepared<T>) -> BadValue {
        let fields = launch.fields.iter().map(|at| launch.outputs[*at]);
        let found = fields
            .filter_map(|i| self.patch.first_not_finite_of(i))
            .next();
        let (at, cell) = found.unwrap_or_default();
        let name = &self.patch.names[at].0;
        BadValue {
            component: name.strip_suffix(NEW).unwrap_or(name).to_string(),
            cell,
        }
    }

    /// What its arrays take. Functions that live in rings have none: these are a few planes.
    pub(crate) fn room(&self) -> Room {
        let (arrays, spares) = (&self.patch.arrays, &self.spares);
        let used = arrays.iter().filter(|array| !array.values().is_empty());
        let all = used.clone().chain(spares.values());
        let bytes = all.map(|array| array.values().len() * T::BYTES).sum();
        let counts = [used.count(), spares.len()];
        Room::of_arrays(&self.patch.shape, T::BYTES, counts, 1, bytes)
    }
}
