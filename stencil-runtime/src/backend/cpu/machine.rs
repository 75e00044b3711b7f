//! The arrays of a patch, and the steps of a plan on them.

use std::collections::BTreeMap;

use ndarray::ArrayView3;
use rayon::prelude::*;
use stencil_compiler::algorithm::{Algorithm, NEW};
use stencil_compiler::plan::{BufferRole, Plan, Step};

use super::array::{Array, Shape};
use super::finite::finite;
use super::ghosts::{Beyond, Job};
use super::instructions::Checked;
use super::parts::{Part, Region, cut};
use super::prepare::{Choice, Code, Prepared};
use super::program::Work;
use crate::mesh::{Boundaries, Mesh};
use crate::{Error, Number};

/// What a machine is made for, apart from its plan.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub(crate) mesh: Mesh,
    pub(crate) boundaries: Boundaries,
    /// Ghost cells that are read outside of the plan.
    pub(crate) halo: [usize; 3],
    /// Keep the fields as they were before the step?
    pub(crate) keep_last: bool,
}

/// Arrays and what is done with them in a step.
#[derive(Debug)]
pub(crate) struct Machine<T> {
    pub(super) shape: Shape,
    pub(super) names: Vec<(String, BufferRole)>,
    pub(super) arrays: Vec<Array<T>>,
    pub(super) domain: Domain,
    /// The actions of each substep.
    substeps: Vec<Vec<Action>>,
    launches: Vec<Prepared<T>>,
    pub(super) instructions: Checked,
    /// A third array of each field, by that of the field.
    spares: BTreeMap<usize, Array<T>>,
    /// Do the spare arrays hold the fields as they were before the step?
    holds_last: bool,
}

#[derive(Clone, Debug)]
enum Action {
    /// Ghost cells of fields, for each array.
    Fill(Vec<Option<Job>>),
    /// Ghost cells of stored grid functions.
    Exchange {
        arrays: Vec<usize>,
        depth: [usize; 3],
    },
    Launch(usize),
    Swap(Vec<(usize, usize)>),
}

/// A value that is infinite or not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadValue {
    /// The component.
    pub(crate) component: String,
    /// Its cell: x, y, z.
    pub(crate) cell: [usize; 3],
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
        let fields = plan.buffers.iter().filter(|b| b.role == BufferRole::Field);
        let spare = if domain.keep_last { fields.count() } else { 0 };
        let cells = domain.mesh.cells;
        let memory = || Error::Memory {
            cells,
            buffers: plan.buffers.len() + spare,
        };
        let halo = plan.halo();
        let halo = std::array::from_fn(|axis| domain.halo[axis].max(halo[axis] as usize));
        let shape = Shape::new(cells, halo, T::BYTES).ok_or_else(memory)?;
        let names = plan.buffers.iter().map(|b| (b.name.clone(), b.role));
        let names: Vec<(String, BufferRole)> = names.collect();
        let arrays = names.iter().map(|_| Array::new(&shape));
        let arrays: Result<Vec<_>, _> = arrays.collect();
        let mut machine = Machine {
            shape,
            names,
            arrays: arrays.map_err(|_| memory())?,
            domain,
            substeps: Vec::new(),
            launches: Vec::new(),
            instructions,
            spares: BTreeMap::new(),
            holds_last: false,
        };
        if machine.domain.keep_last {
            for (at, (_, role)) in machine.names.iter().enumerate() {
                if *role == BufferRole::Field {
                    let spare = Array::new(&shape).map_err(|_| memory())?;
                    machine.spares.insert(at, spare);
                }
            }
        }
        for at in 0..plan.launches.len() {
            let prepared = machine.prepare(algorithm, plan, at, choice)?;
            machine.launches.push(prepared);
        }
        for steps in plan
            .steps
            .split_inclusive(|step| matches!(step, Step::Swap { .. }))
        {
            let actions = machine.actions(steps)?;
            machine.substeps.push(actions);
        }
        Ok(machine)
    }

    pub(super) fn index(&self, name: &str) -> Result<usize, Error> {
        let found = self.names.iter().position(|(n, _)| n == name);
        found.ok_or_else(|| Error::Bug(format!("the plan has no buffer `{name}`")))
    }

    pub(super) fn indices<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<usize>, Error> {
        names.into_iter().map(|name| self.index(name)).collect()
    }

    /// The actions of one substep. Fields do not change before its end, so they are filled once,
    /// as deep as any of its launches reads them.
    fn actions(&self, steps: &[Step]) -> Result<Vec<Action>, Error> {
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

    fn is_field(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    /// What is to be filled of each array, if it is a component of this depth. Where a function of
    /// the user reads any component, all are filled to the same depth.
    pub(super) fn jobs(&self, depth: impl Fn(&str) -> Option<[usize; 3]>) -> Vec<Option<Job>> {
        let depths = || self.fields().filter_map(&depth);
        let union = depths().fold([0; 3], |union: [usize; 3], depth| {
            std::array::from_fn(|axis| union[axis].max(depth[axis]))
        });
        let all = self.domain.boundaries.has_custom() && union != [0; 3];
        let mut component = 0;
        let mut job = |(name, role): &(String, BufferRole)| {
            if *role != BufferRole::Field {
                return None;
            }
            component += 1;
            let depth = if all { union } else { depth(name)? };
            Some(Job {
                component: component - 1,
                depth,
            })
        };
        self.names.iter().map(&mut job).collect()
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

    /// Fills ghost cells of components, as they are beyond the faces at the time `t`.
    pub(super) fn fill(&mut self, jobs: &[Option<Job>], t: f64) {
        let beyond = Beyond {
            shape: &self.shape,
            mesh: &self.domain.mesh,
            boundaries: &self.domain.boundaries,
            t,
        };
        beyond.fill(&mut self.arrays, jobs);
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
            Action::Fill(jobs) => self.fill(jobs, t),
            Action::Exchange { arrays, depth } => {
                let beyond = Beyond {
                    shape: &self.shape,
                    mesh: &self.domain.mesh,
                    boundaries: &self.domain.boundaries,
                    t,
                };
                let all = self.arrays.par_iter_mut().enumerate();
                all.filter(|(i, _)| arrays.contains(i))
                    .for_each(|(_, array)| beyond.exchange(array, *depth));
            }
            Action::Launch(at) => {
                let prepared = &self.launches[*at];
                if !launch(prepared, &self.shape, &mut self.arrays, self.instructions) {
                    return Err(self.find_not_finite(prepared));
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
            self.arrays.swap(*field, *new);
            if !self.holds_last
                && let Some(spare) = self.spares.get_mut(field)
            {
                std::mem::swap(&mut self.arrays[*new], spare);
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
        if !self.domain.keep_last {
            return false;
        }
        for (field, spare) in &mut self.spares {
            std::mem::swap(&mut self.arrays[*field], spare);
        }
        self.holds_last = false;
        true
    }

    /// The first new value of a launch that is not finite.
    fn find_not_finite(&self, launch: &Prepared<T>) -> BadValue {
        let fields = launch.fields.iter().map(|at| launch.outputs[*at]);
        let found = fields.filter_map(|i| self.first_not_finite_of(i)).next();
        let (at, cell) = found.unwrap_or_default();
        let name = &self.names[at].0;
        BadValue {
            component: name.strip_suffix(NEW).unwrap_or(name).to_string(),
            cell,
        }
    }

    /// Index of the buffer that holds a component of a field.
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.names
            .iter()
            .position(|(n, role)| n == name && *role == BufferRole::Field)
    }

    /// Names of the components of all fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.of_role(BufferRole::Field)
    }

    /// The interior of a buffer.
    pub(crate) fn interior(&self, buffer: usize) -> Option<ArrayView3<'_, T>> {
        self.arrays.get(buffer)?.interior(&self.shape)
    }

    fn of_role(&self, role: BufferRole) -> impl Iterator<Item = &str> {
        let names = self.names.iter().filter(move |(_, r)| *r == role);
        names.map(|(name, _)| name.as_str())
    }

    /// Sets a buffer and some ghost cells around it.
    pub(crate) fn set(
        &mut self,
        buffer: usize,
        depth: [usize; 3],
        value: impl Fn([isize; 3]) -> T + Sync,
    ) {
        self.arrays[buffer].set(&self.shape, depth, value);
    }

    /// Sets a given field, ghost cells and all.
    pub(crate) fn set_given(&mut self, name: &str, value: impl Fn([isize; 3]) -> T + Sync) {
        let is_it = |(n, role): &(String, BufferRole)| n == name && *role == BufferRole::Given;
        if let Some(at) = self.names.iter().position(is_it) {
            self.set(at, self.shape.halo, value);
        }
    }

    /// Bytes of all arrays.
    pub(crate) fn bytes(&self) -> usize {
        let all = self.arrays.iter().chain(self.spares.values());
        all.map(|a| a.values().len() * T::BYTES).sum()
    }

    /// The first component with a cell that is infinite or not a number.
    pub(crate) fn first_not_finite(&self) -> Option<BadValue> {
        self.fields().find_map(|name| {
            let (_, cell) = self.first_not_finite_of(self.field(name)?)?;
            let component = name.to_string();
            Some(BadValue { component, cell })
        })
    }

    fn first_not_finite_of(&self, buffer: usize) -> Option<(usize, [usize; 3])> {
        let values = self.interior(buffer)?;
        let rows = |z: usize| (0..values.dim().1).map(move |y| (z, y));
        let bad = (0..values.dim().0).into_par_iter().find_first(|z| {
            rows(*z).any(|(z, y)| {
                let row = values.slice(ndarray::s![z, y, ..]);
                !row.fold(true, |ok, v| ok & is_finite(v))
            })
        })?;
        let plane = values.slice(ndarray::s![bad, .., ..]);
        let (at, _) = plane.indexed_iter().find(|(_, v)| !is_finite(*v))?;
        Some((buffer, [at.1, at.0, bad]))
    }
}

fn is_finite<T: Number>(value: &T) -> bool {
    value.to_f64().is_finite()
}

/// Runs a launch; `false` if a new value of a field is not finite.
fn launch<T: Number>(
    launch: &Prepared<T>,
    shape: &Shape,
    arrays: &mut [Array<T>],
    instructions: Checked,
) -> bool {
    // What is written leaves the list meanwhile, so that the rest can be shared.
    let mut written: Vec<Array<T>> = launch
        .outputs
        .iter()
        .map(|i| std::mem::take(&mut arrays[*i]))
        .collect();
    let finite = {
        let inputs: Vec<&[T]> = launch.inputs.iter().map(|i| arrays[*i].values()).collect();
        let region = Region {
            shape,
            extend: launch.extend,
            rows: launch.rows,
        };
        let outputs = written.iter_mut().map(Array::values_mut).collect();
        let parts = cut(region, &inputs, &launch.uniforms, outputs).into_par_iter();
        match &launch.code {
            Code::Compiled {
                entry,
                shifts,
                arrays,
                ..
            } => {
                let work = Work { shifts, arrays };
                let run = |mut part: Part<'_, T>| {
                    (entry.0)(instructions, work, part.borrowed());
                    finish(instructions, &mut part, launch)
                };
                parts.map(run).reduce(|| true, |a, b| a & b)
            }
            Code::Rows(program) => {
                let scratch = || program.scratch(&launch.uniforms);
                let run = |scratch: &mut _, mut part: Part<'_, T>| {
                    T::rows(instructions, program, scratch, part.borrowed());
                    finish(instructions, &mut part, launch)
                };
                parts.map_init(scratch, run).reduce(|| true, |a, b| a & b)
            }
        }
    };
    for ((i, mut array), ends) in launch.outputs.iter().zip(written).zip(&launch.ends) {
        array.ends = if ends.is_some() { shape.halo[0] } else { 0 };
        arrays[*i] = array;
    }
    finite
}

/// What is done with a part as long as it is in the cache: the ends of its rows are filled. Are
/// the new values of fields finite?
fn finish<T: Number>(instructions: Checked, part: &mut Part<'_, T>, launch: &Prepared<T>) -> bool {
    let (pitch, length) = (part.shape.layout.pitch, part.length + 2 * part.margin);
    for (values, ends) in part.outputs.iter_mut().zip(&launch.ends) {
        if let Some(ends) = ends {
            for row in values.chunks_mut(pitch) {
                // Sides that take more than constants are none here.
                let _ = ends.fill(&mut row[..length]);
            }
        }
    }
    finite(instructions, part, &launch.fields)
}

impl<T> Part<'_, T> {
    /// The same part for a while.
    fn borrowed(&mut self) -> Part<'_, T> {
        Part {
            shape: self.shape,
            first: self.first,
            rows: self.rows,
            length: self.length,
            inputs: self.inputs,
            margin: self.margin,
            outputs: self.outputs.iter_mut().map(|rows| &mut **rows).collect(),
            uniforms: self.uniforms,
        }
    }
}
