//! Helpers of the tests across stages: systems as text, and a machine that walks a plan on the
//! kernel interpreter.

use std::fmt::Display;

use ndarray::Array3;
use stencil_compiler::algorithm::interp::Oracle;
use stencil_compiler::algorithm::{Algorithm, Role, StateId};
use stencil_compiler::compile::Compiled;
use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::interp::{Fault, Shadow};
use stencil_compiler::schedule::Schedule;
use stencil_compiler::search::presets;
use stencil_compiler::{discretize, model};
use stencil_runtime::{Definition, Number, Simulation, SystemDef};

mod depth;
pub mod fuzz;
pub mod laws;
pub mod linear_waves;
mod machine;
mod memory;
pub mod random;
mod reference;
mod rows;
pub mod shrink;
mod simulated;
pub mod written;

pub use depth::{larger, samples, takes, takes_in_turn, takes_seldom};
pub use machine::{Machine, Seeded};
pub use memory::Layout;
pub use reference::Reference;
pub use simulated::{agree_in_all_ways, simulated};

/// Results of which a test needs the value.
pub trait OrPanic<T> {
    /// Returns the value.
    ///
    /// # Panics
    /// With the message of the error.
    fn or_panic(self) -> T;
}

impl<T, E: Display> OrPanic<T> for Result<T, E> {
    #[track_caller]
    fn or_panic(self) -> T {
        self.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Runs of which each step succeeds.
pub trait Runs {
    /// Sets a component from a function of the point.
    fn fill(&mut self, name: &str, value: impl Fn(f64, f64, f64) -> f64 + Sync);

    /// Returns the values of a component, `[z, y, x]`.
    fn values(&self, name: &str) -> Array3<f64>;

    /// Returns them one after the other.
    fn flat(&self, name: &str) -> Vec<f64>;

    /// Does some time steps.
    fn steps(&mut self, count: usize);

    /// Returns the mean error of a component, whose exact values are a function of the centre of each cell.
    fn error(&self, name: &str, exact: impl Fn(f64, f64, f64) -> f64) -> f64;
}

impl<T: Number> Runs for Simulation<T> {
    fn fill(&mut self, name: &str, value: impl Fn(f64, f64, f64) -> f64 + Sync) {
        self.set(name, value).or_panic();
    }

    fn values(&self, name: &str) -> Array3<f64> {
        self.to_f64(name).or_panic()
    }

    fn flat(&self, name: &str) -> Vec<f64> {
        self.values(name).into_iter().collect()
    }

    fn steps(&mut self, count: usize) {
        self.run(count as u64, |_, _| ()).or_panic();
    }

    fn error(&self, name: &str, exact: impl Fn(f64, f64, f64) -> f64) -> f64 {
        let (values, mesh) = (self.values(name), self.mesh());
        let at = |axis: usize, cell: usize| mesh.coordinate(axis, cell as isize);
        let cells = values.indexed_iter();
        let errors = cells.map(|((z, y, x), v)| (v - exact(at(0, x), at(1, y), at(2, z))).abs());
        errors.sum::<f64>() / values.len() as f64
    }
}

/// Isothermal Navier-Stokes in vector notation.
pub const ISOTHERMAL_NS: &str = include_str!("../systems/isothermal_ns.pde");

/// Elastic waves in a cubic crystal: mixed derivatives in all equations.
pub const ELASTIC: &str = include_str!("../systems/elastic.pde");

/// Returns the algorithm of a system given as text.
pub fn algorithm_of(source: &str) -> Algorithm {
    let model =
        model::parse::parse_str(source).unwrap_or_else(|e| panic!("{}", e.render("test", source)));
    discretized(&model)
}

/// Returns the algorithm of a model.
pub fn discretized(model: &model::Model) -> Algorithm {
    let algorithm = discretize::discretize(model).or_panic();
    algorithm.check().or_panic();
    algorithm
}

/// Returns the same system with another `mixed`.
pub fn with_mixed(source: &str, mixed: &str) -> String {
    source.replace("mixed: bidiagonal", &format!("mixed: {mixed}"))
}

/// Returns a system with a scheme in place of its own.
pub fn with_scheme(definition: &Definition, settings: &str) -> SystemDef {
    let name = definition.name;
    let text = format!("{}\nscheme s for {name} {{ {settings} }}", definition.model);
    SystemDef::from_text(name, &text).and_then(|system| system.with_scheme("s")).or_panic()
}

/// Returns the same source with another identifier.
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

/// Returns the schedules of all presets, each once, by the name of the first preset that has it.
pub fn of_presets(algorithm: &Algorithm, precision: Precision) -> Vec<(&'static str, Schedule)> {
    let mut all: Vec<(&'static str, Schedule)> = Vec::new();
    for preset in presets::ALL {
        let schedule = preset.schedule(algorithm, precision);
        if all.iter().all(|(_, known)| *known != schedule) {
            all.push((preset.name, schedule));
        }
    }
    all
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
    /// The centre of the initial values of each component; zero for components beyond the last.
    pub means: Vec<f64>,
}

impl Case {
    /// Makes the default case of an algorithm on these cells: unequal spacings, default parameters.
    pub fn new(algorithm: &Algorithm, cells: [usize; 3]) -> Self {
        let params = algorithm.params.iter().map(|p| p.default.unwrap_or(0.5)).collect();
        Case { cells, params, spacing: [0.31, 0.27, 0.35], dt: 0.02, means: Vec::new() }
    }

    /// Returns the case with another time step.
    pub fn stepping(self, dt: f64) -> Self {
        Self { dt, ..self }
    }

    /// Returns smooth initial values of a field, different in every component and along every axis.
    pub fn initial<T: Real>(&self, component: usize) -> Vec<T> {
        let [nx, ny, nz] = self.cells;
        let tau = std::f64::consts::TAU;
        let c = component as f64;
        let mean = self.means.get(component).copied().unwrap_or(0.0);
        let mut out = Vec::with_capacity(nx * ny * nz);
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let (x, y, z) =
                        (x as f64 / nx as f64, y as f64 / ny as f64, z as f64 / nz as f64);
                    let value =
                        0.1 * (tau * (x + 0.3 * c)).sin() * (tau * (2.0 * y - 0.1 * c)).cos()
                            + 0.05 * (tau * (z + x + 0.7 * c)).cos()
                            + 0.02 * (tau * (3.0 * z - y)).sin();
                    out.push(T::from_f64(mean + value));
                }
            }
        }
        out
    }

    /// Returns the same values as an array `[z, y, x]`.
    pub fn array<T: Real>(&self, component: usize) -> Array3<T> {
        let [nx, ny, nz] = self.cells;
        let values = Array3::from_shape_vec((nz, ny, nx), self.initial(component));
        values.expect("a value for each cell")
    }

    /// Returns the states that are set from outside, fields and given ones, each with the number of its initial values.
    pub fn set_states(&self, algorithm: &Algorithm) -> Vec<(usize, StateId)> {
        let set = [Role::Field, Role::Given].into_iter();
        let states = set.flat_map(|role| algorithm.states_of(role));
        states.map(|(state, _)| state).enumerate().collect()
    }

    /// Returns the uniforms at a time, rounded to the precision.
    pub fn uniforms_at<T: Real>(&self, algorithm: &Algorithm, t: f64) -> Vec<T> {
        algorithm
            .uniform_values(T::PRECISION, &self.params, self.spacing, (self.dt, t))
            .into_iter()
            .map(T::from_f64)
            .collect()
    }
}

/// Returns the interior values of all fields after some steps, by the oracle.
pub fn oracle<T: Real>(algorithm: &Algorithm, case: &Case, steps: usize) -> Vec<Vec<T>> {
    let mut oracle =
        Oracle::<T>::new(algorithm, case.cells, &case.params, case.spacing, case.dt).or_panic();
    for (i, state) in case.set_states(algorithm) {
        oracle.set(state, &case.initial::<T>(i));
    }
    for _ in 0..steps {
        oracle.step();
    }
    algorithm.states_of(Role::Field).map(|(state, _)| oracle.get(state)).collect()
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

/// Returns the fields after some steps of a compiled schedule on the kernel interpreter.
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
    interpreted_on(Layout::ONE, algorithm, compiled, case, steps, (seed, shadow))
}

/// Does the same on a mesh in patches.
///
/// # Errors
/// The first fault that the interpreter finds.
pub fn interpreted_on<T: Real>(
    layout: Layout,
    algorithm: &Algorithm,
    compiled: &Compiled,
    case: &Case,
    steps: usize,
    (seed, shadow): (u64, Shadow),
) -> Result<Vec<Vec<T>>, Fault> {
    let mut machine = Machine::<T>::new(algorithm, compiled, case, layout, seed, shadow);
    let at_once = compiled.plan.time_steps;
    assert!(steps.is_multiple_of(at_once), "{steps} steps, {at_once} at once");
    for _ in 0..steps / at_once {
        machine.step()?;
    }
    Ok(algorithm.states_of(Role::Field).map(|(_, state)| machine.get(&state.name)).collect())
}

/// Returns the number of values whose bits differ, NaNs alike.
pub fn differing<T: Real>(a: &[Vec<T>], b: &[Vec<T>]) -> usize {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.filter(|(a, b)| a.canonical_bits() != b.canonical_bits()).count()
}

/// Returns the fields after some steps of the row engine, everything recomputed, with plain padded arrays.
pub fn row_engine<T: Real>(algorithm: &Algorithm, case: &Case, steps: usize) -> Vec<Vec<T>> {
    rows::Rows::new(algorithm, case).run(steps)
}

/// The programs of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// Returns half of a value, for systems of other crates.
#[stencil_runtime::pointwise]
pub fn half(a: scalar) -> scalar {
    a / 2
}
