//! Accuracy: observed orders on refined grids, the discrete decay of a shear wave, symmetry.

use stencil_compiler::algorithm::Role;
use stencil_compiler::algorithm::interp::Oracle;
use stencil_tests::{Case, ISOTHERMAL_NS, algorithm_of, oracle, with_mixed};

/// The right-hand side of a one-field system on a periodic box, by one Euler step of length one.
fn rate(source: &str, n: usize, f: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
    let algorithm = algorithm_of(source);
    let h = std::f64::consts::TAU / n as f64;
    let mut oracle =
        Oracle::<f64>::new(&algorithm, [n; 3], &[], [h; 3], 1.0).unwrap_or_else(|e| panic!("{e}"));
    let values = grid(n, f);
    let (state, _) = algorithm.states_of(Role::Field).next().expect("a field");
    oracle.set(state, &values);
    oracle.step();
    oracle
        .get(state)
        .iter()
        .zip(&values)
        .map(|(new, old)| new - old)
        .collect()
}

fn grid(n: usize, f: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
    let h = std::f64::consts::TAU / n as f64;
    let mut out = Vec::new();
    for z in 0..n {
        for y in 0..n {
            for x in 0..n {
                out.push(f([x as f64 * h, y as f64 * h, z as f64 * h]));
            }
        }
    }
    out
}

fn error(
    source: &str,
    n: usize,
    f: impl Fn([f64; 3]) -> f64,
    exact: impl Fn([f64; 3]) -> f64,
) -> f64 {
    let exact = grid(n, exact);
    rate(source, n, f)
        .iter()
        .zip(&exact)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

#[test]
fn every_derivative_converges_with_its_order() {
    // sin(x) sin(y) sin(z) is an eigenfunction of even derivatives; the mixed one turns two axes.
    let f = |[x, y, z]: [f64; 3]| x.sin() * y.sin() * z.sin();
    type Exact = fn([f64; 3]) -> f64;
    let operators: [(&str, Exact); 9] = [
        ("d[x](f)", |[x, y, z]| x.cos() * y.sin() * z.sin()),
        ("d[y](f)", |[x, y, z]| x.sin() * y.cos() * z.sin()),
        ("d[z](f)", |[x, y, z]| x.sin() * y.sin() * z.cos()),
        ("d2[x](f)", |[x, y, z]| -x.sin() * y.sin() * z.sin()),
        ("d2[z](f)", |[x, y, z]| -x.sin() * y.sin() * z.sin()),
        ("lap(f)", |[x, y, z]| -3.0 * x.sin() * y.sin() * z.sin()),
        ("d[x](d[y](f))", |[x, y, z]| x.cos() * y.cos() * z.sin()),
        ("d[y](d[z](f))", |[x, y, z]| x.sin() * y.cos() * z.cos()),
        ("d[x](f*f)", |[x, y, z]| {
            2.0 * x.sin() * x.cos() * (y.sin() * z.sin()).powi(2)
        }),
    ];
    for order in [2, 4, 6, 8] {
        for mixed in ["bidiagonal", "product", "composed"] {
            for (rhs, exact) in operators {
                let source = format!(
                    "system S in 3d {{ field f: scalar; ddt(f) = {rhs}; }}
                     scheme s for S {{ space: central<order = {order}>; mixed: {mixed}; time: euler; }}"
                );
                let (coarse, fine) = (16, 32);
                let observed =
                    (error(&source, coarse, f, exact) / error(&source, fine, f, exact)).log2();
                let expected = f64::from(order);
                // Products have twice the wavenumber: the leading term is not alone yet.
                let slack = if rhs.contains('*') { 0.6 } else { 0.25 };
                assert!(
                    (observed - expected).abs() < slack,
                    "{rhs} {mixed} order {order}: observed {observed:.3}"
                );
            }
        }
    }
}

/// Pekkilä et al. 2017, Eq. 22, in its discrete form: each step multiplies a transverse wave by
/// the stability polynomial of the integrator at the symbol of Eq. 7.
#[test]
fn a_shear_wave_decays_with_its_discrete_amplitude() {
    let (n, k, nu, dt, steps) = (32, 3, 5e-3, 0.05, 20);
    let h = std::f64::consts::TAU / n as f64;
    let weights = [-490.0 / 180.0, 270.0 / 180.0, -27.0 / 180.0, 2.0 / 180.0];
    let angle = f64::from(k) * h;
    let symbol: f64 = weights[0]
        + (1..4)
            .map(|j| 2.0 * weights[j] * (angle * j as f64).cos())
            .sum::<f64>();
    let z = nu * symbol / (h * h) * dt;
    let growth = 1.0 + z + z * z / 2.0 + z * z * z / 6.0;
    for mixed in ["bidiagonal", "product", "composed"] {
        let algorithm = algorithm_of(&with_mixed(ISOTHERMAL_NS, mixed));
        let mut oracle = Oracle::<f64>::new(&algorithm, [n, 5, 4], &[1.0, nu], [h; 3], dt)
            .unwrap_or_else(|e| panic!("{e}"));
        let state = algorithm.find_state("u_y").expect("a velocity");
        let wave: Vec<f64> = (0..n * 20)
            .map(|i| (f64::from(k) * h * (i % n) as f64).sin())
            .collect();
        oracle.set(state, &wave);
        for _ in 0..steps {
            oracle.step();
        }
        let amplitude = growth.powi(steps);
        for (got, wave) in oracle.get(state).iter().zip(&wave) {
            assert!(
                (got - amplitude * wave).abs() < 1e-12,
                "{mixed}: {got} against {}",
                amplitude * wave
            );
        }
    }
}

/// How an array index and vector components change under a symmetry of the box.
struct Symmetry {
    name: &'static str,
    /// New axis of each old one.
    axes: [usize; 3],
    /// Axes that are reversed.
    flip: [bool; 3],
    exact: bool,
}

#[test]
fn reflections_keep_the_bits_and_permutations_a_few_of_them() {
    let symmetries = [
        Symmetry {
            name: "reflection in x",
            axes: [0, 1, 2],
            flip: [true, false, false],
            exact: true,
        },
        Symmetry {
            name: "reflection in y",
            axes: [0, 1, 2],
            flip: [false, true, false],
            exact: true,
        },
        Symmetry {
            name: "reflection in z",
            axes: [0, 1, 2],
            flip: [false, false, true],
            exact: false,
        },
        Symmetry {
            name: "x and y exchanged",
            axes: [1, 0, 2],
            flip: [false; 3],
            exact: false,
        },
        Symmetry {
            name: "x to y to z to x",
            axes: [1, 2, 0],
            flip: [false; 3],
            exact: false,
        },
    ];
    for mixed in ["bidiagonal", "product", "composed"] {
        for name in ["IsothermalNs", "ElasticWave", "IsothermalMhd", "Mhd"] {
            let library = physics::systems::find(name).unwrap_or_else(|e| panic!("{e}"));
            let declared = stencil_compiler::model::text::print(library.model());
            let algorithm = algorithm_of(&with_mixed(&declared, mixed));
            for symmetry in &symmetries {
                symmetric(&algorithm, symmetry, mixed);
            }
        }
    }
}

fn symmetric(algorithm: &stencil_compiler::algorithm::Algorithm, symmetry: &Symmetry, mixed: &str) {
    let steps = 3;
    let case = Case::new(algorithm, [14, 11, 9]);
    let straight = oracle::<f32>(algorithm, &case, steps);
    let moved_cells: [usize; 3] = permuted(case.cells, symmetry);
    let spacing = permuted(case.spacing, symmetry);
    let mut other = Oracle::<f32>::new(algorithm, moved_cells, &case.params, spacing, case.dt)
        .unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = algorithm
        .states_of(Role::Field)
        .map(|(_, state)| state.name.as_str())
        .collect();
    let cells = (case.cells, moved_cells);
    for (i, name) in names.iter().enumerate() {
        let (to, values) = moved(name, &case.initial::<f32>(i), cells, symmetry);
        other.set(algorithm.find_state(&to).expect("a state"), &values);
    }
    for _ in 0..steps {
        other.step();
    }
    for (name, straight) in names.iter().zip(&straight) {
        let (to, expected) = moved(name, straight, cells, symmetry);
        let got = other.get(algorithm.find_state(&to).expect("a state"));
        let largest = expected.iter().fold(0.0f32, |m, v| m.max(v.abs()));
        let tolerance = match symmetry.exact {
            true => 0.0,
            false => 8.0 * steps as f32 * largest * f32::EPSILON,
        };
        for (a, b) in expected.iter().zip(&got) {
            assert!(
                (a - b).abs() <= tolerance,
                "{}, {mixed}, {}: {name} is {b} in place of {a}",
                algorithm.name,
                symmetry.name
            );
        }
    }
}

fn permuted<T: Copy>(values: [T; 3], symmetry: &Symmetry) -> [T; 3] {
    let mut out = values;
    for (old, new) in symmetry.axes.iter().enumerate() {
        out[*new] = values[old];
    }
    out
}

/// Component and values after the symmetry; a name's last letter after `_` is a vector's axis.
fn moved(
    name: &str,
    values: &[f32],
    (cells, to_cells): ([usize; 3], [usize; 3]),
    symmetry: &Symmetry,
) -> (String, Vec<f32>) {
    let axis = name
        .rsplit_once('_')
        .and_then(|(field, axis)| Some((field, "xyz".find(axis)?)));
    let (to, sign) = match axis {
        None => (name.to_string(), 1.0),
        Some((field, axis)) => (
            format!("{field}_{}", ["x", "y", "z"][symmetry.axes[axis]]),
            if symmetry.flip[axis] { -1.0 } else { 1.0 },
        ),
    };
    let mut out = vec![0.0; values.len()];
    for (at, value) in values.iter().enumerate() {
        let mut old = [
            at % cells[0],
            at / cells[0] % cells[1],
            at / (cells[0] * cells[1]),
        ];
        for axis in 0..3 {
            if symmetry.flip[axis] {
                old[axis] = (cells[axis] - old[axis]) % cells[axis];
            }
        }
        let new = permuted(old, symmetry);
        out[new[0] + to_cells[0] * (new[1] + to_cells[1] * new[2])] = sign * value;
    }
    (to, out)
}
