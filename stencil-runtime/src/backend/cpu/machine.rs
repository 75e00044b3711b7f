//! The arrays of a patch, and the steps of a plan on them.

use std::collections::BTreeSet;

use ndarray::ArrayView3;
use rayon::prelude::*;
use stencil_compiler::algorithm::rows::RowProgram;
use stencil_compiler::algorithm::{Algorithm, FnId};
use stencil_compiler::plan::{BufferRole, Launch, Plan, Step};

use super::array::{Array, Shape};
use super::instructions::{self, Checked, Vectorized};
use super::parts::{Part, Region, cut};
use super::program::{CompiledKernel, Entry, Work};
use crate::{Error, Number};

/// Bytes of the planes around a part that should stay in a core's cache.
const CACHE: usize = 512 * 1024;

/// What computes the launches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    /// Kernels compiled into the program, one for each launch.
    Compiled(&'static [CompiledKernel]),
    /// The row engine.
    Rows,
}

/// Arrays and what is done with them in a step.
#[derive(Debug)]
pub(crate) struct Machine<T> {
    shape: Shape,
    names: Vec<(String, BufferRole)>,
    arrays: Vec<Array<T>>,
    actions: Vec<Action>,
    launches: Vec<Prepared<T>>,
    instructions: Checked,
}

#[derive(Clone, Debug)]
enum Action {
    Fill {
        arrays: Vec<usize>,
        depth: [usize; 3],
    },
    Launch(usize),
    Swap(Vec<(usize, usize)>),
}

/// A launch with names looked up.
#[derive(Debug)]
struct Prepared<T> {
    extend: [usize; 3],
    rows: usize,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    uniforms: Vec<T>,
    code: Code<T>,
}

#[derive(Debug)]
enum Code<T> {
    Compiled {
        entry: Entry<T>,
        uniforms: Vec<usize>,
        shifts: Vec<isize>,
        margins: Vec<usize>,
        arrays: Vec<usize>,
    },
    Rows(RowProgram),
}

impl<T: Number> Machine<T> {
    /// Allocates the buffers of a plan, all zero, and prepares its launches.
    pub(crate) fn new(
        algorithm: &Algorithm,
        plan: &Plan,
        cells: [usize; 3],
        choice: Choice,
        instructions: Checked,
    ) -> Result<Self, Error> {
        let memory = || Error::Memory {
            cells,
            buffers: plan.buffers.len(),
        };
        let shape =
            Shape::new(cells, plan.halo().map(|h| h as usize), T::BYTES).ok_or_else(memory)?;
        let names: Vec<_> = plan
            .buffers
            .iter()
            .map(|b| (b.name.clone(), b.role))
            .collect();
        let arrays: Result<Vec<_>, _> = names.iter().map(|_| Array::new(&shape)).collect();
        let mut machine = Machine {
            shape,
            names,
            arrays: arrays.map_err(|_| memory())?,
            actions: Vec::new(),
            launches: Vec::new(),
            instructions,
        };
        for (at, launch) in plan.launches.iter().enumerate() {
            let mut prepared = match choice {
                Choice::Compiled(kernels) => {
                    machine.compiled(algorithm, launch, kernels.get(at))?
                }
                Choice::Rows => machine.interpreted(algorithm, plan, launch)?,
            };
            if prepared
                .inputs
                .iter()
                .any(|input| prepared.outputs.contains(input))
            {
                return Err(Error::Bug(format!(
                    "launch {} reads what it writes",
                    launch.name
                )));
            }
            prepared.rows = machine.rows_of_a_part(launch);
            machine.launches.push(prepared);
        }
        machine.actions = plan
            .steps
            .iter()
            .map(|step| machine.action(step))
            .collect::<Result<_, _>>()?;
        Ok(machine)
    }

    fn index(&self, name: &str) -> Result<usize, Error> {
        let found = self.names.iter().position(|(n, _)| n == name);
        found.ok_or_else(|| Error::Bug(format!("the plan has no buffer `{name}`")))
    }

    fn indices<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Vec<usize>, Error> {
        names.into_iter().map(|name| self.index(name)).collect()
    }

    fn action(&self, step: &Step) -> Result<Action, Error> {
        Ok(match step {
            Step::Fill { buffers, depth } => Action::Fill {
                arrays: self.indices(buffers.iter().map(String::as_str))?,
                depth: depth.map(|d| d as usize),
            },
            Step::Launch(at) => Action::Launch(*at),
            Step::Swap { fields } => {
                let pair = |name: &String| {
                    Ok((
                        self.index(name)?,
                        self.index(&stencil_compiler::plan::make::new_name(name))?,
                    ))
                };
                Action::Swap(fields.iter().map(pair).collect::<Result<_, Error>>()?)
            }
        })
    }

    /// Rows enough to use what a plane brings into the cache, few enough that the planes around
    /// them stay there.
    fn rows_of_a_part(&self, launch: &Launch) -> usize {
        let planes: usize = launch
            .inputs
            .iter()
            .map(|(_, reach)| 2 * reach[2] as usize + 1)
            .sum();
        let rim = launch
            .inputs
            .iter()
            .map(|(_, reach)| 2 * reach[1] as usize)
            .max()
            .unwrap_or(0);
        let rows = CACHE
            / (self.shape.layout.pitch * T::BYTES * (planes + 2 * launch.outputs.len()).max(1));
        rows.saturating_sub(rim).clamp(4, 64)
    }

    fn compiled(
        &self,
        algorithm: &Algorithm,
        launch: &Launch,
        kernel: Option<&CompiledKernel>,
    ) -> Result<Prepared<T>, Error> {
        let other = || {
            Error::Bug(format!(
                "the compiled program has no kernel for launch {}",
                launch.name
            ))
        };
        let kernel = kernel
            .filter(|k| k.tables.name == launch.name)
            .ok_or_else(other)?;
        let tables = kernel.tables;
        let buffers = self.indices(tables.buffers.iter().copied())?;
        let uniform = |name: &&str| {
            algorithm
                .uniforms
                .iter()
                .position(|u| u.name == *name)
                .ok_or_else(other)
        };
        let uniforms = tables
            .uniforms
            .iter()
            .map(uniform)
            .collect::<Result<Vec<_>, _>>()?;
        let mut inputs: Vec<usize> = Vec::new();
        let (mut shifts, mut margins, mut arrays) = (Vec::new(), Vec::new(), Vec::new());
        for row in tables.inputs {
            let array = buffers[row.buffer];
            let at = inputs
                .iter()
                .position(|i| *i == array)
                .unwrap_or(inputs.len());
            if at == inputs.len() {
                inputs.push(array);
            }
            arrays.push(at);
            let (pitch, plane) = (
                self.shape.layout.pitch as isize,
                self.shape.layout.plane as isize,
            );
            shifts.push(row.dz as isize * plane + row.dy as isize * pitch - row.x_lo as isize);
            margins.push(row.x_lo + row.x_hi);
        }
        Ok(Prepared {
            extend: launch.extend.map(|e| e as usize),
            rows: 1,
            inputs,
            outputs: tables.outputs.iter().map(|o| buffers[*o]).collect(),
            uniforms: Vec::new(),
            code: Code::Compiled {
                entry: T::entry(kernel),
                uniforms,
                shifts,
                margins,
                arrays,
            },
        })
    }

    fn interpreted(
        &self,
        algorithm: &Algorithm,
        plan: &Plan,
        launch: &Launch,
    ) -> Result<Prepared<T>, Error> {
        let function = |name: &str| {
            algorithm
                .find(name)
                .ok_or_else(|| Error::Bug(format!("no grid function `{name}`")))
        };
        let derived = plan
            .buffers
            .iter()
            .filter(|b| b.role == BufferRole::Derived);
        let stored: BTreeSet<FnId> = derived
            .map(|b| function(&b.name))
            .collect::<Result<_, _>>()?;
        let mut outputs = Vec::new();
        for (buffer, name) in &launch.outputs {
            let state = buffer
                .strip_suffix("_new")
                .and_then(|name| algorithm.find_state(name));
            let role = plan.buffer(buffer).map(|b| b.role);
            let state = if role == Some(BufferRole::NewField) {
                state
            } else {
                algorithm.find_state(buffer)
            };
            outputs.push((function(name)?, state));
        }
        let program = RowProgram::of_launch(algorithm, &outputs, &stored).map_err(Error::Bug)?;
        let inputs = program
            .inputs()
            .iter()
            .map(|id| algorithm.function(*id).name.as_str());
        Ok(Prepared {
            extend: launch.extend.map(|e| e as usize),
            rows: 1,
            inputs: self.indices(inputs)?,
            outputs: self.indices(launch.outputs.iter().map(|(buffer, _)| buffer.as_str()))?,
            uniforms: Vec::new(),
            code: Code::Rows(program),
        })
    }

    /// Replaces the uniforms, given in the algorithm's order.
    pub(crate) fn set_uniforms(&mut self, values: &[f64]) {
        let all: Vec<T> = values.iter().map(|v| T::from_f64(*v)).collect();
        for launch in &mut self.launches {
            launch.uniforms = match &launch.code {
                Code::Compiled { uniforms, .. } => uniforms.iter().map(|i| all[*i]).collect(),
                Code::Rows(_) => all.clone(),
            };
        }
    }

    /// One time step, on the threads of the current pool.
    pub(crate) fn step(&mut self) {
        for action in &self.actions {
            match action {
                Action::Fill { arrays, depth } => {
                    let (shape, depth) = (self.shape, *depth);
                    let chosen = self
                        .arrays
                        .par_iter_mut()
                        .enumerate()
                        .filter(|(i, _)| arrays.contains(i));
                    chosen.for_each(|(_, array)| array.fill_periodic(&shape, depth));
                }
                Action::Launch(at) => launch(
                    &self.launches[*at],
                    &self.shape,
                    &mut self.arrays,
                    self.instructions,
                ),
                Action::Swap(pairs) => pairs.iter().for_each(|(a, b)| self.arrays.swap(*a, *b)),
            }
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
        self.names
            .iter()
            .filter(|(_, role)| *role == BufferRole::Field)
            .map(|(name, _)| name.as_str())
    }

    /// The interior of a buffer.
    pub(crate) fn interior(&self, buffer: usize) -> Option<ArrayView3<'_, T>> {
        self.arrays.get(buffer)?.interior(&self.shape)
    }

    /// Sets the interior of a buffer.
    pub(crate) fn set(&mut self, buffer: usize, value: impl Fn([usize; 3]) -> T + Sync) {
        self.arrays[buffer].set(&self.shape, value);
    }

    /// Bytes of all arrays.
    pub(crate) fn bytes(&self) -> usize {
        self.arrays
            .iter()
            .map(|a| a.values().len() * T::BYTES)
            .sum()
    }

    /// The first component with a cell that is infinite or not a number.
    pub(crate) fn first_not_finite(&self) -> Option<(String, [usize; 3])> {
        self.fields().find_map(|name| {
            let values = self.interior(self.field(name)?)?;
            let rows = |z: usize| (0..values.dim().1).map(move |y| (z, y));
            let bad = (0..values.dim().0).into_par_iter().find_first(|z| {
                // Without an early exit a row is vector code.
                rows(*z).any(|(z, y)| {
                    !values
                        .slice(ndarray::s![z, y, ..])
                        .fold(true, |ok, v| ok & is_finite(v))
                })
            })?;
            let (at, _) = values
                .indexed_iter()
                .skip(bad * values.dim().1 * values.dim().2)
                .find(|(_, v)| !is_finite(*v))?;
            Some((name.to_string(), [at.2, at.1, at.0]))
        })
    }
}

fn is_finite<T: Number>(value: &T) -> bool {
    value.to_f64().is_finite()
}

fn launch<T: Number>(
    launch: &Prepared<T>,
    shape: &Shape,
    arrays: &mut [Array<T>],
    instructions: Checked,
) {
    // What is written leaves the list meanwhile, so that the rest can be shared.
    let mut written: Vec<Array<T>> = launch
        .outputs
        .iter()
        .map(|i| std::mem::take(&mut arrays[*i]))
        .collect();
    {
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
                margins,
                arrays,
                ..
            } => {
                let work = Work {
                    shifts,
                    margins,
                    arrays,
                };
                parts.for_each(|part| (entry.0)(instructions, work, part));
            }
            Code::Rows(program) => {
                let scratch = || program.scratch(&launch.uniforms);
                parts.for_each_init(scratch, |scratch, part| {
                    T::rows(instructions, program, scratch, part)
                });
            }
        }
    }
    for (i, array) in launch.outputs.iter().zip(written) {
        arrays[*i] = array;
    }
}

/// A part computed by the row engine.
pub(crate) struct Interpreted<'a, T> {
    pub(crate) program: &'a RowProgram,
    pub(crate) scratch: &'a mut stencil_compiler::algorithm::rows::RowScratch<T>,
    pub(crate) part: Part<'a, T>,
}

impl<T: Number> Vectorized for Interpreted<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Part {
            shape,
            first,
            rows,
            length,
            inputs,
            outputs,
            ..
        } = self.part;
        let pitch = shape.layout.pitch;
        let mut outputs: Vec<_> = outputs
            .into_iter()
            .map(|values| values.chunks_mut(pitch))
            .collect();
        for row in 0..rows {
            let mut now: Vec<&mut [T]> = outputs
                .iter_mut()
                .filter_map(|rows| rows.next())
                .map(|r| &mut r[..length])
                .collect();
            let first = [first[0], first[1] + row as isize, first[2]];
            self.program
                .run(self.scratch, inputs, shape.layout, first, &mut now);
        }
    }
}

/// Computes a part by the row engine; not generic, so that it is compiled here and once.
macro_rules! interpreted {
    ($name:ident, $type:ty) => {
        pub(crate) fn $name(
            instructions: Checked,
            program: &RowProgram,
            scratch: &mut stencil_compiler::algorithm::rows::RowScratch<$type>,
            part: Part<'_, $type>,
        ) {
            instructions::run(
                instructions,
                Interpreted {
                    program,
                    scratch,
                    part,
                },
            );
        }
    };
}
interpreted!(rows_f32, f32);
interpreted!(rows_f64, f64);
