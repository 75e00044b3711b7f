//! Helpers of the tests across stages: systems as text, and a machine that walks a plan on the
//! kernel interpreter.

use std::collections::BTreeMap;

use stencil_compiler::algorithm::interp::Oracle;
use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::Kernel;
use stencil_compiler::kernel::interp::{self, Fault, GlobalArray, Options, Shadow};
use stencil_compiler::plan::{Plan, Step};
use stencil_compiler::schedule::check::Compiled;
use stencil_compiler::{discretize, model};

/// Isothermal Navier-Stokes in vector notation.
pub const ISOTHERMAL_NS: &str = include_str!("../systems/isothermal_ns.pde");

/// Elastic waves in a cubic crystal: mixed derivatives in all equations.
pub const ELASTIC: &str = include_str!("../systems/elastic.pde");

/// The algorithm of a system given as text.
pub fn algorithm_of(source: &str) -> Algorithm {
    let model =
        model::parse::parse_str(source).unwrap_or_else(|e| panic!("{}", e.render("test", source)));
    let algorithm = discretize::discretize(&model).unwrap_or_else(|e| panic!("{e}"));
    algorithm.check().unwrap_or_else(|e| panic!("{e}"));
    algorithm
}

/// The same system with another `mixed`.
pub fn with_mixed(source: &str, mixed: &str) -> String {
    source.replace("mixed: bidiagonal", &format!("mixed: {mixed}"))
}

/// The same source with another identifier.
pub fn rename(source: &str, from: &str, to: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in source.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        out.push_str(if word == from { to } else { &word });
        word.clear();
        out.push(c);
    }
    out
}

/// A run to compare engines on: sizes, constants and initial values.
#[derive(Clone, Debug)]
pub struct Case {
    /// Interior cells.
    pub cells: [usize; 3],
    /// Parameters in order of declaration.
    pub params: Vec<f64>,
    /// Grid spacings.
    pub spacing: [f64; 3],
    /// Time step.
    pub dt: f64,
}

impl Case {
    /// The default case of an algorithm on these cells: unequal spacings, default parameters.
    pub fn new(algorithm: &Algorithm, cells: [usize; 3]) -> Self {
        let params = algorithm
            .params
            .iter()
            .map(|p| p.default.unwrap_or(0.5))
            .collect();
        Case {
            cells,
            params,
            spacing: [0.31, 0.27, 0.35],
            dt: 0.02,
        }
    }

    /// Smooth initial values of a field, different in every component and along every axis.
    pub fn initial<T: Real>(&self, component: usize) -> Vec<T> {
        let [nx, ny, nz] = self.cells;
        let tau = std::f64::consts::TAU;
        let c = component as f64;
        let mut out = Vec::with_capacity(nx * ny * nz);
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let (x, y, z) = (
                        x as f64 / nx as f64,
                        y as f64 / ny as f64,
                        z as f64 / nz as f64,
                    );
                    let value =
                        0.1 * (tau * (x + 0.3 * c)).sin() * (tau * (2.0 * y - 0.1 * c)).cos()
                            + 0.05 * (tau * (z + x + 0.7 * c)).cos()
                            + 0.02 * (tau * (3.0 * z - y)).sin();
                    out.push(T::from_f64(value));
                }
            }
        }
        out
    }

    /// Uniforms rounded to the precision.
    pub fn uniforms<T: Real>(&self, algorithm: &Algorithm) -> Vec<T> {
        algorithm
            .uniform_values(&self.params, self.spacing, self.dt)
            .into_iter()
            .map(T::from_f64)
            .collect()
    }
}

/// Interior values of all fields after some steps, by the oracle.
pub fn oracle<T: Real>(algorithm: &Algorithm, case: &Case, steps: usize) -> Vec<Vec<T>> {
    let mut oracle = Oracle::<T>::new(algorithm, case.cells, &case.params, case.spacing, case.dt)
        .unwrap_or_else(|e| panic!("{e}"));
    for (i, (state, _)) in algorithm.states_of(Role::Field).enumerate() {
        oracle.set(state, &case.initial::<T>(i));
    }
    for _ in 0..steps {
        oracle.step();
    }
    algorithm
        .states_of(Role::Field)
        .map(|(state, _)| oracle.get(state))
        .collect()
}

/// Walks a plan on the kernel interpreter.
pub struct Machine<'a, T> {
    compiled: &'a Compiled,
    arrays: BTreeMap<String, GlobalArray<T>>,
    uniforms: BTreeMap<String, T>,
    cells: [usize; 3],
    seed: u64,
    shadow: Shadow,
}

impl<'a, T: Real> Machine<'a, T> {
    /// Allocates the buffers and sets the fields.
    pub fn new(
        algorithm: &Algorithm,
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
        let new = |name: &String| {
            (
                name.clone(),
                GlobalArray::new(case.cells, halo(&compiled.plan, name)),
            )
        };
        let names: Vec<String> = compiled
            .plan
            .buffers
            .iter()
            .map(|b| b.name.clone())
            .collect();
        let mut arrays: BTreeMap<String, GlobalArray<T>> = names.iter().map(new).collect();
        for (i, (_, state)) in algorithm.states_of(Role::Field).enumerate() {
            let values = case.initial::<T>(i);
            let array = arrays.get_mut(&state.name).expect("a field has a buffer");
            let mut at = values.iter();
            each(case.cells, |cell| {
                array.set(cell, *at.next().expect("as many values as cells"))
            });
        }
        let values = case.uniforms::<T>(algorithm);
        let uniforms = algorithm
            .uniforms
            .iter()
            .map(|u| u.name.clone())
            .zip(values)
            .collect();
        Machine {
            compiled,
            arrays,
            uniforms,
            cells: case.cells,
            seed,
            shadow,
        }
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
                Step::Launch(at) => self.launch(&self.compiled.kernels[*at])?,
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
        Ok(())
    }

    fn launch(&mut self, kernel: &Kernel) -> Result<(), Fault> {
        let take = |name: &str| {
            self.arrays
                .get(name)
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
            self.cells,
            &mut buffers,
            &uniforms,
            Options {
                seed: self.seed,
                shadow: self.shadow,
            },
        )?;
        for (buffer, array) in kernel.buffers.iter().zip(buffers) {
            self.arrays.insert(buffer.name.clone(), array);
        }
        Ok(())
    }

    fn fill(&mut self, name: &str, depth: [u32; 3]) {
        let array = self.arrays.get_mut(name).expect("a buffer of the plan");
        let n = self.cells.map(|n| n as i64);
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
        each(self.cells, |cell| {
            out.push(self.arrays[name].get(cell).expect("a value in every cell"))
        });
        out
    }
}

fn each(cells: [usize; 3], mut f: impl FnMut([i64; 3])) {
    let [nx, ny, nz] = cells.map(|n| n as i64);
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                f([x, y, z]);
            }
        }
    }
}

/// Fields after some steps of a compiled schedule on the kernel interpreter.
///
/// # Errors
/// The first fault that the interpreter finds.
pub fn interpreted<T: Real>(
    algorithm: &Algorithm,
    compiled: &Compiled,
    case: &Case,
    steps: usize,
    seed: u64,
    shadow: Shadow,
) -> Result<Vec<Vec<T>>, Fault> {
    let mut machine = Machine::<T>::new(algorithm, compiled, case, seed, shadow);
    for _ in 0..steps {
        machine.step()?;
    }
    Ok(algorithm
        .states_of(Role::Field)
        .map(|(_, state)| machine.get(&state.name))
        .collect())
}

/// Number of values whose bits differ, NaNs alike.
pub fn differing<T: Real>(a: &[Vec<T>], b: &[Vec<T>]) -> usize {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs
        .filter(|(a, b)| a.canonical_bits() != b.canonical_bits())
        .count()
}

/// Fields after some steps of the row engine, everything recomputed, with plain padded arrays.
pub fn row_engine<T: Real>(algorithm: &Algorithm, case: &Case, steps: usize) -> Vec<Vec<T>> {
    rows::Rows::new(algorithm, case).run(steps)
}

mod rows {
    use super::{Case, each};
    use stencil_compiler::algorithm::rows::{Layout, RowProgram};
    use stencil_compiler::algorithm::{Algorithm, Def, FnId, Role, StateId};
    use stencil_compiler::expr::Real;

    /// Drives the row engine over one periodic box.
    pub(super) struct Rows<'a, T> {
        algorithm: &'a Algorithm,
        programs: Vec<RowProgram>,
        states: Vec<Vec<T>>,
        uniforms: Vec<T>,
        cells: [usize; 3],
        halo: [usize; 3],
    }

    impl<'a, T: Real> Rows<'a, T> {
        pub(super) fn new(algorithm: &'a Algorithm, case: &Case) -> Self {
            let programs: Vec<RowProgram> = (0..algorithm.substeps.len())
                .map(|s| RowProgram::new(algorithm, s).unwrap_or_else(|e| panic!("{e}")))
                .collect();
            let mut halo = [0; 3];
            for program in &programs {
                let needed = program.halo().map(|n| n as usize);
                halo = std::array::from_fn(|axis| needed[axis].max(halo[axis]));
            }
            let len = (0..3).map(|a| case.cells[a] + 2 * halo[a]).product();
            let states = vec![vec![T::ZERO; len]; algorithm.states.len()];
            let mut this = Rows {
                algorithm,
                programs,
                states,
                uniforms: case.uniforms(algorithm),
                cells: case.cells,
                halo,
            };
            for (i, (state, _)) in algorithm.states_of(Role::Field).enumerate() {
                let values = case.initial::<T>(i);
                let mut next = values.into_iter();
                each(case.cells, |at| {
                    let place = this.place(at);
                    this.states[state.0 as usize][place] =
                        next.next().expect("a value for each cell");
                });
            }
            this
        }

        fn layout(&self) -> Layout {
            let pitch = self.cells[0] + 2 * self.halo[0];
            let plane = pitch * (self.cells[1] + 2 * self.halo[1]);
            let origin = self.halo[2] * plane + self.halo[1] * pitch + self.halo[0];
            Layout {
                origin,
                pitch,
                plane,
            }
        }

        fn place(&self, at: [i64; 3]) -> usize {
            let layout = self.layout();
            (layout.origin as i64
                + at[0]
                + at[1] * layout.pitch as i64
                + at[2] * layout.plane as i64) as usize
        }

        fn fill(&mut self, state: StateId) {
            let n = self.cells.map(|n| n as i64);
            let h = self.halo.map(|h| h as i64);
            for z in -h[2]..n[2] + h[2] {
                for y in -h[1]..n[1] + h[1] {
                    for x in -h[0]..n[0] + h[0] {
                        let from = self.place([
                            x.rem_euclid(n[0]),
                            y.rem_euclid(n[1]),
                            z.rem_euclid(n[2]),
                        ]);
                        let to = self.place([x, y, z]);
                        self.states[state.0 as usize][to] = self.states[state.0 as usize][from];
                    }
                }
            }
        }

        fn state_of(&self, id: FnId) -> StateId {
            match self.algorithm.function(id).def {
                Def::State(state) => state,
                Def::Point(_) | Def::Sum(_) => panic!("an input is no state"),
            }
        }

        fn substep(&mut self, program: &RowProgram) {
            let fields: Vec<StateId> = self
                .algorithm
                .states_of(Role::Field)
                .map(|(s, _)| s)
                .collect();
            fields.into_iter().for_each(|s| self.fill(s));
            let old = self.states.clone();
            let inputs: Vec<&[T]> = program
                .inputs()
                .iter()
                .map(|id| old[self.state_of(*id).0 as usize].as_slice())
                .collect();
            let mut scratch = program.scratch(&self.uniforms);
            let nx = self.cells[0];
            for z in 0..self.cells[2] as i64 {
                for y in 0..self.cells[1] as i64 {
                    let at = self.place([0, y, z]);
                    let states: Vec<StateId> = program
                        .outputs()
                        .iter()
                        .map(|o| o.state.expect("a substep updates states"))
                        .collect();
                    let mut rows: Vec<Vec<T>> = states
                        .iter()
                        .map(|s| self.states[s.0 as usize][at..at + nx].to_vec())
                        .collect();
                    let mut slices: Vec<&mut [T]> =
                        rows.iter_mut().map(Vec::as_mut_slice).collect();
                    program.run(
                        &mut scratch,
                        &inputs,
                        self.layout(),
                        [0, y as isize, z as isize],
                        &mut slices,
                    );
                    for (state, row) in states.iter().zip(rows) {
                        self.states[state.0 as usize][at..at + nx].copy_from_slice(&row);
                    }
                }
            }
        }

        pub(super) fn run(mut self, steps: usize) -> Vec<Vec<T>> {
            let programs = std::mem::take(&mut self.programs);
            for _ in 0..steps {
                programs.iter().for_each(|program| self.substep(program));
            }
            let fields: Vec<StateId> = self
                .algorithm
                .states_of(Role::Field)
                .map(|(s, _)| s)
                .collect();
            let interior = |state: &StateId| {
                let mut out = Vec::new();
                each(self.cells, |at| {
                    out.push(self.states[state.0 as usize][self.place(at)])
                });
                out
            };
            fields.iter().map(interior).collect()
        }
    }
}

/// The programs of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
