//! Launches of a plan, prepared: names looked up, code chosen.

use std::collections::BTreeSet;

use stencil_compiler::algorithm::rows::RowProgram;
use stencil_compiler::algorithm::{Algorithm, FnId, NEW};
use stencil_compiler::plan::{BufferRole, Launch, Plan};

use super::machine::Machine;
use super::program::{CompiledKernel, Entry};
use crate::field::{Domain, Ends};
use crate::mesh::Axis;
use crate::{Error, Number};

/// Bytes of the planes around a part that should stay in a core's cache.
const CACHE: usize = 512 * 1024;

/// The code that computes the launches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    /// Kernels compiled into the program, one for each launch.
    Compiled(&'static [CompiledKernel]),
    /// The row engine.
    Rows,
}

/// A launch with names looked up.
#[derive(Debug)]
pub(super) struct Prepared<T> {
    pub(super) substep: usize,
    pub(super) extend: [usize; 3],
    pub(super) rows: usize,
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    /// Indices of the outputs that are new values of fields.
    pub(super) fields: Vec<usize>,
    /// For each output the rules that fill the ends of its rows as they are computed.
    pub(super) ends: Vec<Option<Ends<T>>>,
    pub(super) uniforms: Vec<T>,
    pub(super) code: Code<T>,
}

#[derive(Debug)]
pub(super) enum Code<T> {
    Compiled { entry: Entry<T>, uniforms: Vec<usize>, arrays: Vec<usize> },
    Rows(RowProgram),
}

impl<T: Number> Machine<T> {
    /// Prepares a launch.
    pub(super) fn prepare(
        &self,
        algorithm: &Algorithm,
        plan: &Plan,
        at: usize,
        choice: Choice,
    ) -> Result<Prepared<T>, Error> {
        let launch = &plan.launches[at];
        let mut prepared = match choice {
            Choice::Compiled(kernels) => self.compiled(algorithm, launch, kernels.get(at))?,
            Choice::Rows => self.interpreted(algorithm, plan, launch)?,
        };
        let Prepared { inputs, outputs, .. } = &prepared;
        if inputs.iter().any(|input| outputs.contains(input)) {
            return Err(Error::Bug(format!("launch {} reads what it writes", launch.name)));
        }
        prepared.rows = self.rows_of_a_part(launch);
        let is_field =
            |at: &usize| self.fields.buffers.role(prepared.outputs[*at]) == BufferRole::NewField;
        prepared.fields = (0..prepared.outputs.len()).filter(is_field).collect();
        let ends = prepared.outputs.iter().map(|at| self.ends(*at, launch));
        prepared.ends = ends.collect();
        Ok(prepared)
    }

    /// Returns the rules for the ends of the rows of a new field, if they are constants.
    fn ends(&self, output: usize, launch: &Launch) -> Option<Ends<T>> {
        let buffers = &self.fields.buffers;
        let shape = self.fields.shape();
        let depth = shape.halo[0];
        let is_new = buffers.role(output) == BufferRole::NewField;
        // Ends of a patch that lie within the mesh follow other patches.
        let is_whole = shape.cells[0] == self.fields.domain.mesh.cells[0];
        if !is_new || !is_whole || depth == 0 || launch.extend != [0; 3] {
            return None;
        }
        let field = buffers.name(output).strip_suffix(NEW)?;
        let component = buffers.fields().position(|name| name == field)?;
        let Domain { mesh, boundaries, .. } = &self.fields.domain;
        let rules = &boundaries.rules[component][Axis::X.index()];
        let ends = Ends::new(rules, shape.cells[0], depth, mesh.spacing()[0]);
        ends.are_plain().then_some(ends)
    }

    /// Returns the number of rows of a part: enough to use each plane that is brought into the cache, few enough that
    /// the planes around them stay there.
    pub(super) fn rows_of_a_part(&self, launch: &Launch) -> usize {
        let planes: usize = launch.inputs.iter().map(|(_, reach)| 2 * reach[2] as usize + 1).sum();
        let rim = launch.inputs.iter().map(|(_, reach)| 2 * reach[1] as usize).max().unwrap_or(0);
        let rows = CACHE
            / (self.fields.shape().layout.pitch
                * T::BYTES
                * (planes + 2 * launch.outputs.len()).max(1));
        rows.saturating_sub(rim).clamp(4, 64)
    }

    pub(super) fn compiled(
        &self,
        algorithm: &Algorithm,
        launch: &Launch,
        kernel: Option<&CompiledKernel>,
    ) -> Result<Prepared<T>, Error> {
        let other =
            || Error::Bug(format!("the compiled program has no kernel for launch {}", launch.name));
        let kernel = kernel.filter(|k| k.tables.name == launch.name).ok_or_else(other)?;
        let (tables, entry) = (kernel.tables, T::entry(kernel));
        if matches!(entry, Entry::Missing) {
            return Err(other());
        }
        let buffers = self.fields.buffers.indices(tables.buffers.iter().copied())?;
        let uniform =
            |name: &&str| algorithm.uniforms.iter().position(|u| u.name == *name).ok_or_else(other);
        let uniforms = tables.uniforms.iter().map(uniform).collect::<Result<Vec<_>, _>>()?;
        let mut inputs: Vec<usize> = Vec::new();
        let mut arrays = Vec::new();
        for row in tables.inputs {
            let array = buffers[row.buffer];
            let at = inputs.iter().position(|i| *i == array).unwrap_or(inputs.len());
            if at == inputs.len() {
                inputs.push(array);
            }
            arrays.push(at);
        }
        Ok(Prepared {
            substep: launch.substep,
            extend: launch.extend.map(|e| e as usize),
            rows: 1,
            inputs,
            outputs: tables.outputs.iter().map(|o| buffers[*o]).collect(),
            fields: Vec::new(),
            ends: Vec::new(),
            uniforms: Vec::new(),
            code: Code::Compiled { entry, uniforms, arrays },
        })
    }

    pub(super) fn interpreted(
        &self,
        algorithm: &Algorithm,
        plan: &Plan,
        launch: &Launch,
    ) -> Result<Prepared<T>, Error> {
        let function = |name: &str| {
            algorithm.find(name).ok_or_else(|| Error::Bug(format!("no grid function `{name}`")))
        };
        // A stored function that the launch computes is no input of it.
        let is_input = |name: &str| launch.inputs.iter().any(|(input, _)| input == name);
        let derived = plan.buffers.iter();
        let derived = derived.filter(|b| b.role == BufferRole::Derived && is_input(&b.name));
        let stored: BTreeSet<FnId> =
            derived.map(|b| function(&b.name)).collect::<Result<_, _>>()?;
        let mut outputs = Vec::new();
        for (buffer, name) in &launch.outputs {
            // A previous value is read in the row that the new one is written to.
            let mut inputs = launch.inputs.iter().map(|(name, _)| name.as_str());
            let in_place = inputs.find(|input| plan.array_of(input) == buffer);
            let role = plan.buffer(buffer).map(|b| b.role);
            let state = match in_place {
                None if role == Some(BufferRole::NewField) => buffer.strip_suffix(NEW),
                None => Some(buffer.as_str()),
                Some(_) => in_place,
            };
            let state = state.and_then(|name| algorithm.find_state(name));
            outputs.push((function(name)?, state));
        }
        let program = RowProgram::of_launch(algorithm, &outputs, &stored).map_err(Error::Bug)?;
        let inputs = program.inputs().iter().map(|id| algorithm.function(*id).name.as_str());
        Ok(Prepared {
            substep: launch.substep,
            extend: launch.extend.map(|e| e as usize),
            rows: 1,
            inputs: self.fields.buffers.indices(inputs)?,
            outputs: self
                .fields
                .buffers
                .indices(launch.outputs.iter().map(|(buffer, _)| buffer.as_str()))?,
            fields: Vec::new(),
            ends: Vec::new(),
            uniforms: Vec::new(),
            code: Code::Rows(program),
        })
    }
}
