//! Symmetries of the box: reflected or permuted initial values give reflected or permuted results.

use stencil_compiler::algorithm::interp::Oracle;
use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_tests::{Case, OrPanic, algorithm_of, oracle, with_mixed};

/// The change of an array index and of vector components under a symmetry of the box.
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
        Symmetry { name: "x and y exchanged", axes: [1, 0, 2], flip: [false; 3], exact: false },
        Symmetry { name: "x to y to z to x", axes: [1, 2, 0], flip: [false; 3], exact: false },
    ];
    for mixed in ["bidiagonal", "product", "composed"] {
        for name in ["IsothermalNs", "ElasticWave", "IsothermalMhd", "Mhd"] {
            let library = physics::systems::find(name).or_panic();
            let declared = stencil_compiler::model::text::print(library.model());
            let algorithm = algorithm_of(&with_mixed(&declared, mixed));
            let case = Case::new(&algorithm, [13, 11, 9]);
            let straight = oracle::<f32>(&algorithm, &case, STEPS);
            for symmetry in &symmetries {
                symmetric(&algorithm, (&case, &straight), symmetry, mixed);
            }
        }
    }
}

const STEPS: usize = 2;

/// Compares a case and its result with those after a symmetry.
fn symmetric(
    algorithm: &Algorithm,
    (case, straight): (&Case, &[Vec<f32>]),
    symmetry: &Symmetry,
    mixed: &str,
) {
    let moved_cells: [usize; 3] = permuted(case.cells, symmetry);
    let spacing = permuted(case.spacing, symmetry);
    let mut other =
        Oracle::<f32>::new(algorithm, moved_cells, &case.params, spacing, case.dt).or_panic();
    let names: Vec<&str> =
        algorithm.states_of(Role::Field).map(|(_, state)| state.name.as_str()).collect();
    let cells = (case.cells, moved_cells);
    for (i, name) in names.iter().enumerate() {
        let (to, values) = moved(name, &case.initial::<f32>(i), cells, symmetry);
        other.set(algorithm.find_state(&to).expect("a state"), &values);
    }
    for _ in 0..STEPS {
        other.step();
    }
    for (name, straight) in names.iter().zip(straight) {
        let (to, expected) = moved(name, straight, cells, symmetry);
        let got = other.get(algorithm.find_state(&to).expect("a state"));
        let largest = expected.iter().fold(0.0f32, |m, v| m.max(v.abs()));
        let tolerance = match symmetry.exact {
            true => 0.0,
            false => 8.0 * STEPS as f32 * largest * f32::EPSILON,
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

/// Returns component and values after the symmetry; a name's last letter after `_` is a vector's axis.
fn moved(
    name: &str,
    values: &[f32],
    (cells, to_cells): ([usize; 3], [usize; 3]),
    symmetry: &Symmetry,
) -> (String, Vec<f32>) {
    let axis = name.rsplit_once('_').and_then(|(field, axis)| Some((field, "xyz".find(axis)?)));
    let (to, sign) = match axis {
        None => (name.to_string(), 1.0),
        Some((field, axis)) => (
            format!("{field}_{}", ["x", "y", "z"][symmetry.axes[axis]]),
            if symmetry.flip[axis] { -1.0 } else { 1.0 },
        ),
    };
    let mut out = vec![0.0; values.len()];
    for (at, value) in values.iter().enumerate() {
        let mut old = [at % cells[0], at / cells[0] % cells[1], at / (cells[0] * cells[1])];
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
