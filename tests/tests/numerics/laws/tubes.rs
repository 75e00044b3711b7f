//! Riemann problems of the library against their exact solutions.

use stencil_runtime::Simulation;

use super::exact::{GAMMA, Gas, gas};
use crate::solutions::support::{begun, solved};

/// Problems, and the most that the mean errors of density, velocity and pressure may be on 200 cells, over the mean
/// of the solution.
const TUBES: [(&str, [f64; 3]); 7] = [
    ("sod", [0.007, 0.015, 0.006]),
    ("lax", [0.026, 0.012, 0.006]),
    ("toro_1", [0.008, 0.009, 0.005]),
    ("toro_2", [0.011, 0.013, 0.014]),
    ("toro_3", [0.1, 0.023, 0.011]),
    ("toro_4", [0.03, 0.009, 0.017]),
    ("toro_5", [0.043, 0.029, 0.011]),
];

/// Density, velocity and pressure in all cells.
fn states(simulation: &Simulation<f64>) -> Vec<Gas> {
    let fields = ["rho", "m_x", "E"].map(|name| simulation.to_f64(name));
    let [rho, m, e] = fields.map(|field| field.unwrap_or_else(|e| panic!("{e}")));
    let cells = rho.iter().zip(&m).zip(&e);
    let state = |((rho, m), e): ((&f64, &f64), &f64)| Gas {
        rho: *rho,
        u: m / rho,
        p: (GAMMA - 1.0) * (e - m * m / (2.0 * rho)),
    };
    cells.map(state).collect()
}

fn values(gas: &Gas) -> [f64; 3] {
    [gas.rho, gas.u, gas.p]
}

/// The mean errors over the means of the solution. Both states, and the place of the membrane between them, are those at
/// the begin.
fn errors(name: &str, n: usize) -> [f64; 3] {
    let changes = format!("mesh.cells={n}");
    let (_, start) = begun::<f64>(name, &[&changes]);
    let (_, end) = solved::<f64>(name, &[&changes]);
    let (initial, found) = (states(&start), states(&end));
    let (left, right) = (initial[0], initial[n - 1]);
    let differ = |pair: &[Gas]| values(&pair[0]) != values(&pair[1]);
    let last = initial.windows(2).position(differ).expect("a membrane");
    let (mesh, t) = (end.mesh(), end.t());
    let membrane = mesh.coordinate(0, last as isize) + 0.5 * mesh.spacing()[0];
    let (mut errors, mut means) = ([0.0; 3], [0.0; 3]);
    for (i, found) in found.iter().enumerate() {
        let x = mesh.coordinate(0, i as isize);
        let exact = values(&gas(left, right, (x - membrane) / t));
        for (k, found) in values(found).into_iter().enumerate() {
            errors[k] += (found - exact[k]).abs();
            means[k] += exact[k].abs();
        }
    }
    std::array::from_fn(|k| errors[k] / means[k])
}

#[test]
fn tubes_of_the_library_meet_their_exact_solutions() {
    let mut wrong = String::new();
    for (name, bounds) in TUBES {
        let [coarse, fine] = [50, 200].map(|n| errors(name, n));
        println!("{name}: {coarse:.4?} {fine:.4?}");
        // Comparisons that a NaN fails.
        let met = (0..3).all(|k| fine[k] < bounds[k] && fine[k] < 0.45 * coarse[k]);
        if !met {
            wrong += &format!("{name}: {coarse:?} {fine:?}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
