//! Waves of small amplitude on a uniform state: after some steps each has the amplitude and phase
//! that the linearized equations give with the symbols of the differences and the stability
//! polynomial of the integrator.

use std::f64::consts::TAU;
use std::ops::{Add, Mul, Sub};

use physics::systems;
use stencil_compiler::model::Mixed;
use stencil_runtime::{Simulation, Source, SystemDef};
use stencil_tests::OrPanic;

use super::support::{changed, model_of, settle};
use super::symbols;

/// `cos` times cos(k·x) plus `sin` times sin(k·x).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Wave {
    cos: f64,
    sin: f64,
}

impl Add for Wave {
    type Output = Wave;
    fn add(self, other: Wave) -> Wave {
        Wave { cos: self.cos + other.cos, sin: self.sin + other.sin }
    }
}

impl Sub for Wave {
    type Output = Wave;
    fn sub(self, other: Wave) -> Wave {
        self + other * -1.0
    }
}

impl Mul<f64> for Wave {
    type Output = Wave;
    fn mul(self, factor: f64) -> Wave {
        Wave { cos: factor * self.cos, sin: factor * self.sin }
    }
}

type Vector = [Wave; 3];

/// The differences of a scheme as they act on waves of one wavenumber.
struct Differences {
    first: [f64; 3],
    second: [f64; 3],
    /// Derivatives of derivatives.
    nested: [[f64; 3]; 3],
}

impl Differences {
    fn new(order: usize, mixed: Mixed, k: [i32; 3], spacing: [f64; 3]) -> Self {
        let angle: [f64; 3] = std::array::from_fn(|i| f64::from(k[i]) * spacing[i]);
        let first = std::array::from_fn(|i| symbols::odd(order, angle[i]) / spacing[i]);
        let second = std::array::from_fn(|i| symbols::even(order, angle[i]) / spacing[i].powi(2));
        let entry = |i: usize, j: usize| match mixed {
            Mixed::Bidiagonal | Mixed::Either if i != j => {
                symbols::diagonal(order, angle[i], angle[j]) / (spacing[i] * spacing[j])
            }
            Mixed::Bidiagonal | Mixed::Either | Mixed::Product if i == j => second[i],
            _ => -first[i] * first[j],
        };
        Differences {
            first,
            second,
            nested: std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))),
        }
    }

    fn d(&self, axis: usize, a: Wave) -> Wave {
        Wave { cos: self.first[axis] * a.sin, sin: -self.first[axis] * a.cos }
    }

    fn lap(&self, a: Wave) -> Wave {
        a * self.second.iter().sum()
    }

    fn div(&self, u: Vector) -> Wave {
        self.d(0, u[0]) + self.d(1, u[1]) + self.d(2, u[2])
    }

    fn grad(&self, a: Wave) -> Vector {
        std::array::from_fn(|i| self.d(i, a))
    }

    fn grad_div(&self, u: Vector) -> Vector {
        std::array::from_fn(|i| {
            u[0] * self.nested[i][0] + u[1] * self.nested[i][1] + u[2] * self.nested[i][2]
        })
    }

    /// Returns `∇²u + ∇∇·u/3`.
    fn viscous(&self, u: Vector) -> Vector {
        let grad_div = self.grad_div(u);
        std::array::from_fn(|i| self.lap(u[i]) + grad_div[i] * (1.0 / 3.0))
    }
}

fn cross(a: Vector, b: [f64; 3]) -> Vector {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i] * b[j] - a[j] * b[i])
}

fn vector(values: &[Wave]) -> Vector {
    [values[0], values[1], values[2]]
}

/// A system, a uniform state, and the linearized equations around it.
struct Case {
    system: &'static str,
    params: &'static [(&'static str, f64)],
    /// Values of given fields.
    sources: &'static [(&'static str, f64)],
    state: &'static [f64],
    rate: fn(&Differences, &[Wave]) -> Vec<Wave>,
}

const CASES: &[Case] = &[
    Case {
        system: "Advection",
        params: &[],
        sources: &[("u_x", 0.7), ("u_y", -0.4), ("u_z", 0.9)],
        state: &[0.5],
        rate: |d, w| vec![carried(d, [0.7, -0.4, 0.9], w[0])],
    },
    Case {
        system: "Heat",
        params: &[("kappa", 0.04)],
        sources: &[],
        state: &[0.5],
        rate: |d, w| vec![d.lap(w[0]) * 0.04],
    },
    Case {
        system: "Wave",
        params: &[("c", 1.3)],
        sources: &[],
        state: &[0.0, 0.0],
        rate: |d, w| vec![w[1], d.lap(w[0]) * 1.69],
    },
    Case {
        system: "GrayScott",
        params: &[("du", 0.02), ("dv", 0.03), ("feed", 0.4), ("kill", 0.6)],
        sources: &[],
        state: &[1.0, 0.0],
        rate: |d, w| vec![d.lap(w[0]) * 0.02 - w[0] * 0.4, d.lap(w[1]) * 0.03 - w[1]],
    },
    Case {
        system: "Burgers",
        params: &[("nu", 0.05)],
        sources: &[],
        state: &[0.8],
        rate: |d, w| vec![w[0] * (0.05 * d.second[0]) - d.d(0, w[0]) * 0.8],
    },
    Case {
        system: "ElasticWave",
        params: &[("c11", 2.7), ("c12", 1.1), ("c44", 0.7)],
        sources: &[],
        state: &[0.0; 6],
        rate: |d, w| {
            let displacement = vector(w);
            let grad_div = d.grad_div(displacement);
            let force = |i: usize| {
                let cubic = displacement[i] * d.second[i];
                d.lap(displacement[i]) * 0.7 + grad_div[i] * 1.8 + cubic * 0.2
            };
            vec![w[3], w[4], w[5], force(0), force(1), force(2)]
        },
    },
    Case {
        system: "IsothermalNs",
        params: &[("cs", 1.2), ("nu", 0.03)],
        sources: &[],
        state: &[0.0, 0.3, -0.2, 0.1],
        rate: |d, w| {
            let (u, pressure) = (vector(&w[1..]), d.grad(w[0]));
            let viscous = d.viscous(u);
            let flow = |a: Wave| carried(d, [0.3, -0.2, 0.1], a);
            let mut out = vec![flow(w[0]) - d.div(u)];
            out.extend((0..3).map(|i| flow(u[i]) - pressure[i] * 1.44 + viscous[i] * 0.03));
            out
        },
    },
    Case {
        system: "IsothermalMhd",
        params: &MAGNETIC,
        sources: &[],
        state: &[0.0; 7],
        rate: |d, w| {
            let (u, a, pressure) = (vector(&w[1..]), vector(&w[4..]), d.grad(w[0]));
            let (viscous, force) = (d.viscous(u), lorentz(d, a));
            let mut out = vec![d.div(u) * -1.0];
            out.extend((0..3).map(|i| viscous[i] * 0.03 + force[i] - pressure[i] * 1.44));
            out.extend(induction(d, u, a));
            out
        },
    },
    Case {
        system: "Mhd",
        params: &[
            ("cs0", 1.2),
            ("gamma", 1.4),
            ("cp", 1.5),
            ("zeta", 0.01),
            ("conductivity", 0.02),
            MAGNETIC[1],
            MAGNETIC[2],
            MAGNETIC[3],
            MAGNETIC[4],
            MAGNETIC[5],
            MAGNETIC[6],
        ],
        sources: &[],
        state: &[0.0; 8],
        rate: |d, w| {
            let (u, a) = (vector(&w[1..]), vector(&w[4..]));
            let pressure = d.grad(w[0] + w[7] * (1.0 / 1.5));
            let (viscous, force, bulk) = (d.viscous(u), lorentz(d, a), d.grad_div(u));
            let mut out = vec![d.div(u) * -1.0];
            let total = |i: usize| viscous[i] * 0.03 + bulk[i] * 0.01 + force[i];
            out.extend((0..3).map(|i| total(i) - pressure[i] * 1.44));
            out.extend(induction(d, u, a));
            out.push((d.lap(w[7]) * (1.4 / 1.5) + d.lap(w[0]) * 0.4) * 0.02);
            out
        },
    },
];

const MAGNETIC: [(&str, f64); 7] = [
    ("cs", 1.2),
    ("nu", 0.03),
    ("eta", 0.02),
    ("mu0", 0.8),
    ("bx0", 0.9),
    ("by0", 0.4),
    ("bz0", -0.3),
];
const FIELD: [f64; 3] = [0.9, 0.4, -0.3];

fn carried(d: &Differences, u: [f64; 3], a: Wave) -> Wave {
    (d.d(0, a) * u[0] + d.d(1, a) * u[1] + d.d(2, a) * u[2]) * -1.0
}

/// Returns `j×B` at density one.
fn lorentz(d: &Differences, a: Vector) -> Vector {
    let grad_div = d.grad_div(a);
    let current = std::array::from_fn(|i| (grad_div[i] - d.lap(a[i])) * (1.0 / 0.8));
    cross(current, FIELD)
}

fn induction(d: &Differences, u: Vector, a: Vector) -> impl Iterator<Item = Wave> {
    let electric = cross(u, FIELD);
    let change: Vector = std::array::from_fn(|i| electric[i] + d.lap(a[i]) * 0.02);
    change.into_iter()
}

/// Does one step of a Runge-Kutta method of order 3 with 3 substeps on linear equations.
fn step(case: &Case, differences: &Differences, waves: &[Wave], dt: f64) -> Vec<Wave> {
    let mut power = waves.to_vec();
    let mut out = power.clone();
    for (n, factorial) in [(1, 1.0), (2, 2.0), (3, 6.0)] {
        power = (case.rate)(differences, &power);
        for (out, power) in out.iter_mut().zip(&power) {
            *out = *out + *power * (dt.powi(n) / factorial);
        }
    }
    out
}

/// Returns the part of a component that is a wave of this wavenumber.
fn measured(simulation: &Simulation<f64>, name: &str, k: [i32; 3]) -> Wave {
    let (field, spacing) = (simulation.field(name).expect("a component"), simulation.spacing());
    let mut wave = Wave::default();
    for ((z, y, x), value) in field.indexed_iter() {
        let phase = phase(k, [0, 1, 2].map(|i| [x, y, z][i] as f64 * spacing[i]));
        wave = wave + Wave { cos: value * phase.cos(), sin: value * phase.sin() };
    }
    wave * (2.0 / field.len() as f64)
}

fn phase(k: [i32; 3], at: [f64; 3]) -> f64 {
    (0..3).map(|i| f64::from(k[i]) * at[i]).sum()
}

const AMPLITUDE: f64 = 1e-6;
const STEPS: u64 = 12;

/// Returns the largest difference of a wave's amplitudes, over the amplitude.
fn difference(case: &Case, system: &SystemDef, k: [i32; 3], order: usize, mixed: Mixed) -> f64 {
    let dimension = system.model().dimension;
    let cells = std::array::from_fn(|i| {
        [16, 12, 10][i] * usize::from(i < dimension) + usize::from(i >= dimension)
    });
    let extent = std::array::from_fn(|i| if i < dimension { TAU } else { 1.0 });
    let dt = 0.05;
    let mut builder =
        Simulation::<f64>::builder(system).cells(cells).extent(extent).dt(dt).unchecked_step(true);
    for (name, value) in case.params {
        if system.model().params.iter().any(|p| p.name == *name) {
            builder = builder.param(*name, *value);
        }
    }
    for (name, value) in case.sources.iter().take(dimension) {
        builder = builder.source(*name, Source::constant(*value));
    }
    let mut simulation = builder.build().or_panic();
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    let mut waves: Vec<Wave> = (0..names.len())
        .map(|c| Wave {
            cos: AMPLITUDE * (1.0 + c as f64).cos(),
            sin: AMPLITUDE * (2.0 - 3.0 * c as f64).sin(),
        })
        .collect();
    for (c, name) in names.iter().enumerate() {
        let wave = waves[c];
        settle(&mut simulation, name, |at| {
            let phase = phase(k, at);
            case.state[c] + wave.cos * phase.cos() + wave.sin * phase.sin()
        });
    }
    simulation.run(STEPS, |_, _| ()).or_panic();
    let differences = Differences::new(order, mixed, k, simulation.spacing());
    for _ in 0..STEPS {
        waves = step(case, &differences, &waves, dt);
    }
    let errors = names.iter().zip(&waves).map(|(name, wave)| {
        let error = measured(&simulation, name, k) - *wave;
        error.cos.abs().max(error.sin.abs()) / AMPLITUDE
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn small_waves_follow_the_discrete_dispersion_relation() {
    for case in CASES {
        for definition in systems::ALL.iter().filter(|d| d.name == case.system) {
            let dimension = SystemDef::new(definition).expect("a system").model().dimension;
            let nested = definition.model.contains("grad(div(");
            for mixed in [Mixed::Bidiagonal, Mixed::Product, Mixed::Composed] {
                if mixed != Mixed::Bidiagonal && !nested {
                    continue;
                }
                for (order, k) in [(6, [1, 0, 0]), (4, [2, -1, 0]), (6, [3, 2, -1])] {
                    let k = std::array::from_fn(|i| if i < dimension { k[i] } else { 0 });
                    let system = changed(definition, |model| {
                        model.scheme.order = order;
                        model.scheme.mixed = mixed;
                        model.scheme.time = "rk3_williamson".to_string();
                    });
                    let difference = difference(case, &system, k, order as usize, mixed);
                    assert!(
                        difference < 1e-9,
                        "{} in {dimension}d, {mixed:?}, order {order}, k = {k:?}: {difference:e}",
                        case.system
                    );
                }
            }
        }
    }
}

/// All systems are among the cases, except the one that is not linear around any uniform state, those whose schemes
/// are not, and those with values on faces and edges, whose waves are compared with exact ones.
#[test]
fn every_system_has_a_linear_case() {
    for definition in systems::ALL {
        let tested = CASES.iter().any(|case| case.system == definition.name);
        let model = model_of(definition);
        let in_cells = model.fluxes.is_empty() && !model.is_staggered();
        let linear = in_cells && definition.name != "Kdv";
        assert_eq!(tested, linear, "{}", definition.name);
    }
}
