//! Walks a plan on the kernel interpreter.

use std::collections::BTreeMap;

use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::Kernel;
use stencil_compiler::kernel::interp::{self, Fault, GlobalArray, Options, Shadow};
use stencil_compiler::plan::{Plan, Step};
use stencil_compiler::schedule::check::Compiled;

use super::{Case, each};

/// Walks a plan on the kernel interpreter.
pub struct Machine<'a, T> {
    compiled: &'a Compiled,
    arrays: BTreeMap<String, GlobalArray<T>>,
    algorithm: &'a Algorithm,
    case: Case,
    t: f64,
    substep: Option<usize>,
    uniforms: BTreeMap<String, T>,
    seed: u64,
    shadow: Shadow,
}

/// The buffer in whose memory a buffer lives.
fn memory(plan: &Plan, name: &str) -> String {
    let within = plan.buffer(name).and_then(|b| b.within.clone());
    within.unwrap_or_else(|| name.to_string())
}

impl<'a, T: Real> Machine<'a, T> {
    /// Allocates the buffers and sets the fields.
    pub fn new(
        algorithm: &'a Algorithm,
        compiled: &'a Compiled,
        case: &Case,
        seed: u64,
        shadow: Shadow,
    ) -> Self {
        let halo = |plan: &Plan, name: &str| {
            plan.buffer(name)
                .map_or([0; 3], |b| b.halo)
                .map(|h| h as usize)
        };
        // A memory is as large as the largest of the buffers that live in it.
        let plan = &compiled.plan;
        let mut halos: BTreeMap<String, [usize; 3]> = BTreeMap::new();
        for buffer in &plan.buffers {
            let known = halos.entry(memory(plan, &buffer.name)).or_default();
            *known = std::array::from_fn(|axis| known[axis].max(buffer.halo[axis] as usize));
        }
        let new = |(name, halo)| (name, GlobalArray::new(case.cells, halo));
        let mut arrays: BTreeMap<String, GlobalArray<T>> = halos.into_iter().map(new).collect();
        for (i, state) in case.set_states(algorithm) {
            let values = case.initial::<T>(i);
            let name = &algorithm.state(state).name;
            let array = arrays.get_mut(name).expect("a state has a buffer");
            let mut at = values.iter();
            each(case.cells, |cell| {
                array.set(cell, *at.next().expect("as many values as cells"))
            });
        }
        let mut machine = Machine {
            compiled,
            arrays,
            algorithm,
            case: case.clone(),
            t: 0.0,
            substep: None,
            uniforms: BTreeMap::new(),
            seed,
            shadow,
        };
        for (_, state) in algorithm.states_of(Role::Given) {
            machine.fill(
                &state.name,
                halo(&compiled.plan, &state.name).map(|h| h as u32),
            );
        }
        machine
    }

    /// One time step.
    ///
    /// # Errors
    /// The first fault that the interpreter finds.
    pub fn step(&mut self) -> Result<(), Fault> {
        for step in &self.compiled.plan.steps {
            match step {
                Step::Fill { buffers, depth } => {
                    buffers.iter().for_each(|name| self.fill(name, *depth))
                }
                Step::Launch(at) => {
                    self.enter(self.compiled.plan.launches[*at].substep);
                    self.launch(&self.compiled.kernels[*at])?;
                }
                Step::Swap { fields } => {
                    for field in fields {
                        let (old, new) = (field.clone(), format!("{field}_new"));
                        let (a, b) = (self.arrays.remove(&old), self.arrays.remove(&new));
                        self.arrays
                            .extend([(old, b.expect("new values")), (new, a.expect("old values"))]);
                    }
                }
            }
        }
        self.t += self.case.dt;
        self.substep = None;
        Ok(())
    }

    /// Sets the uniforms of a substep.
    fn enter(&mut self, substep: usize) {
        if self.substep == Some(substep) {
            return;
        }
        self.substep = Some(substep);
        let at = self.algorithm.substeps[substep].at;
        let t = self.case.dt.mul_add(at, self.t);
        let values = self.case.uniforms_at::<T>(self.algorithm, t);
        let names = self.algorithm.uniforms.iter().map(|u| u.name.clone());
        self.uniforms = names.zip(values).collect();
    }

    fn launch(&mut self, kernel: &Kernel) -> Result<(), Fault> {
        let take = |name: &str| {
            self.arrays
                .get(&memory(&self.compiled.plan, name))
                .cloned()
                .expect("a buffer of the plan")
        };
        let mut buffers: Vec<GlobalArray<T>> =
            kernel.buffers.iter().map(|b| take(&b.name)).collect();
        let uniforms: Vec<T> = kernel
            .uniforms
            .iter()
            .map(|name| self.uniforms[name])
            .collect();
        self.seed += 1;
        interp::run(
            kernel,
            self.case.cells,
            &mut buffers,
            &uniforms,
            Options {
                seed: self.seed,
                shadow: self.shadow,
            },
        )?;
        for (buffer, array) in kernel.buffers.iter().zip(buffers) {
            self.arrays
                .insert(memory(&self.compiled.plan, &buffer.name), array);
        }
        Ok(())
    }

    fn fill(&mut self, name: &str, depth: [u32; 3]) {
        let name = memory(&self.compiled.plan, name);
        let array = self.arrays.get_mut(&name).expect("a buffer of the plan");
        let n = self.case.cells.map(|n| n as i64);
        let d = depth.map(i64::from);
        for z in -d[2]..n[2] + d[2] {
            for y in -d[1]..n[1] + d[1] {
                for x in -d[0]..n[0] + d[0] {
                    let from = [x.rem_euclid(n[0]), y.rem_euclid(n[1]), z.rem_euclid(n[2])];
                    if let (true, Some(value)) = (from != [x, y, z], array.get(from)) {
                        array.set([x, y, z], value);
                    }
                }
            }
        }
    }

    /// Interior values of a buffer, x fastest.
    pub fn get(&self, name: &str) -> Vec<T> {
        let mut out = Vec::new();
        each(self.case.cells, |cell| {
            out.push(self.arrays[name].get(cell).expect("a value in every cell"))
        });
        out
    }
}
