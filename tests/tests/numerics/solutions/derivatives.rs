//! Derivatives through the whole pipeline: exact on polynomials of the degree that the order
//! promises, and of that order on waves.

use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::OrPanic;

use super::support::{observed, settle};

const MIXED: [&str; 3] = ["bidiagonal", "product", "composed"];

fn system(rhs: &str, dimension: usize, order: usize, mixed: &str) -> SystemDef {
    let text = format!(
        "system S in {dimension}d {{ field f: scalar; ddt(f) = {rhs}; }}
         scheme s for S {{ space: central<order = {order}>; mixed: {mixed}; time: euler; }}"
    );
    SystemDef::from_text("S", &text).or_panic()
}

/// Returns the largest error of a right-hand side in the cells that are this far from the seam.
fn error(
    system: &SystemDef,
    cells: usize,
    spacing: f64,
    margin: usize,
    f: impl Fn([f64; 3]) -> f64 + Sync,
    exact: impl Fn([f64; 3]) -> f64,
) -> f64 {
    let d = system.model().dimension;
    let mut simulation = Simulation::<f64>::builder(system)
        .cells(std::array::from_fn(|i| if i < d { cells } else { 1 }))
        .extent([cells as f64 * spacing; 3])
        .origin(std::array::from_fn(|i| if i < d { -0.5 * cells as f64 * spacing } else { 0.0 }))
        .dt(1.0)
        .unchecked_step(true)
        .build()
        .or_panic();
    settle(&mut simulation, "f", &f);
    simulation.step().or_panic();
    let mesh = simulation.mesh();
    let inner = |i: usize, axis: usize| axis >= d || (margin..cells - margin).contains(&i);
    let field = simulation.field("f").expect("a component");
    let cells =
        field.indexed_iter().filter(|((z, y, x), _)| inner(*x, 0) && inner(*y, 1) && inner(*z, 2));
    let errors = cells.map(|((z, y, x), new)| {
        let at = [x, y, z].map(|i| i as isize);
        let at = std::array::from_fn(|i| if i < d { mesh.coordinate(i, at[i]) } else { 0.0 });
        (new - f(at) - exact(at)).abs()
    });
    errors.fold(0.0, f64::max)
}

/// Returns the n-th derivative of `x^degree`.
fn power(x: f64, degree: i32, n: i32) -> f64 {
    let factor: f64 = (0..n).map(|i| f64::from(degree - i)).product();
    if n > degree { 0.0 } else { factor * x.powi(degree - n) }
}

#[test]
fn derivatives_are_exact_on_polynomials() {
    for order in [2, 4, 6, 8, 10] {
        for dimension in 1..=3 {
            for (axis, letter) in ["x", "y", "z"].into_iter().enumerate().take(dimension) {
                for times in 1..=2 {
                    let degree = order as i32 + times - 1;
                    let operator = if times == 1 { "d" } else { "d2" };
                    let system =
                        system(&format!("{operator}[{letter}](f)"), dimension, order, MIXED[0]);
                    let error = error(
                        &system,
                        12,
                        0.25,
                        order / 2,
                        |at| at[axis].powi(degree) + 3.0,
                        |at| power(at[axis], degree, times),
                    );
                    // Rounding of values up to 1.5^degree and of weights over h^times.
                    let bound = 1e-13 * (3.0 + 1.5f64.powi(degree)) * 4f64.powi(times);
                    assert!(
                        error < bound,
                        "{operator}[{letter}] in {dimension}d, order {order}: {error:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn mixed_derivatives_are_exact_on_polynomials() {
    for order in [2, 4, 6, 8, 10] {
        for mixed in MIXED {
            for (dimension, axes) in [(2, [0, 1]), (3, [0, 2]), (3, [2, 1])] {
                let letters = axes.map(|axis: usize| ["x", "y", "z"][axis]);
                let rhs = format!("d[{}](d[{}](f))", letters[0], letters[1]);
                // Differences on the diagonals are exact up to the whole degree order + 1.
                let (a, b) = (order as i32 / 2 + 1, order as i32 / 2);
                let error = error(
                    &system(&rhs, dimension, order, mixed),
                    12,
                    0.25,
                    order / 2,
                    |at| at[axes[0]].powi(a) * at[axes[1]].powi(b) + 1.0,
                    |at| power(at[axes[0]], a, 1) * power(at[axes[1]], b, 1),
                );
                let bound = 1e-12 * 1.5f64.powi(a + b);
                assert!(error < bound, "{rhs} {mixed}, order {order}: {error:e}");
            }
        }
    }
}

#[test]
fn derivatives_have_their_order_on_waves() {
    let wave = |[x, y, z]: [f64; 3]| (x + 0.4).sin() * (y - 0.2).cos() * (z + 0.9).sin();
    type Exact = fn([f64; 3]) -> f64;
    let operators: [(&str, usize, Exact); 5] = [
        ("d[x](f)", 1, |[x, y, z]| (x + 0.4).cos() * (y - 0.2).cos() * (z + 0.9).sin()),
        ("d2[y](f)", 2, |[x, y, z]| -(x + 0.4).sin() * (y - 0.2).cos() * (z + 0.9).sin()),
        ("d3[x](f)", 1, |[x, y, z]| -(x + 0.4).cos() * (y - 0.2).cos() * (z + 0.9).sin()),
        ("d4[y](f)", 2, |[x, y, z]| (x + 0.4).sin() * (y - 0.2).cos() * (z + 0.9).sin()),
        ("d[x](d[z](f))", 3, |[x, y, z]| (x + 0.4).cos() * (y - 0.2).cos() * (z + 0.9).cos()),
    ];
    for order in [2, 4, 6, 8, 10] {
        for (rhs, dimension, exact) in operators {
            let system = system(rhs, dimension, order, MIXED[0]);
            let error =
                |n: usize| error(&system, n, std::f64::consts::TAU / n as f64, 0, wave, exact);
            // Errors of high orders are soon those of rounding, so meshes are coarse; on the diagonals
            // of a plane waves are shorter. (The oracle shows orders with more digits.)
            let meshes = if dimension == 3 { [32, 40] } else { [20, 24] };
            let [coarse, fine] = meshes.map(error);
            let observed = observed(coarse, fine, meshes[1] as f64 / meshes[0] as f64);
            assert!((observed - order as f64).abs() < 0.1, "{rhs}, order {order}: {observed:.3}");
        }
    }
}
