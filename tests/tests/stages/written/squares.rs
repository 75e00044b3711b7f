//! Squares, roots of squares and norms of small numbers keep their digits.

use stencil_compiler::algorithm::interp::Oracle;
use stencil_compiler::discretize;
use stencil_compiler::expr::Real;
use stencil_compiler::model::Model;
use stencil_tests::Case;
use stencil_tests::written::within;

use super::{cells, read, run};

/// A small square of a difference keeps its digits, and its root is not NaN.
#[test]
fn squares_keep_the_digits_of_what_is_squared() {
    let mut failures = Vec::new();
    for (name, dimension, value) in [
        ("a square", 1, "(q - r)^2"),
        ("a product", 1, "(q - r)*(q - r)"),
        ("a function", 1, "square(q - r)"),
        ("a root", 1, "sqrt((q - r)^2)"),
        ("a let", 1, "apart*apart"),
        ("a weighted square", 1, "(k*q - k*r)^2/2"),
        ("a cube", 1, "(q - r)^3"),
        ("a quotient", 1, "(q - r)^2/(q + r)"),
        ("a norm", 2, "norm([q - r, r - q])"),
        ("a dot", 2, "dot([q - r, 2*q - 2*r], [q - r, r - q])"),
        ("strain", 2, "norm(sym_traceless(grad([q, r])))"),
        ("a gradient", 3, "dot(grad(q) - grad(r), grad(q) - grad(r))"),
    ] {
        let watched = if name == "strain" { "turned" } else { "watched" };
        let text = format!(
            "fn square(a: scalar) -> scalar {{ a*a }}
             pub system S in {dimension}d {{
                 field q: scalar; field r: scalar; param k: real = 0.7;
                 let apart = q - r;
                 ddt(q) = 1e-3*({value}); ddt(r) = 0*q;
                 observe {watched} = mean({value});
             }}
             scheme s for S {{ space: central<order = 4>; mixed: bidiagonal; arith: collected; time: euler; }}"
        );
        let model = read(&text);
        for (precision, found) in [("f64", squares::<f64>(&model)), ("f32", squares::<f32>(&model))]
        {
            if let Err(e) = found {
                failures.push(format!("{name} in {precision}: {e}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Checks an observable of two fields as they are written.
fn squares<T: Real>(model: &Model) -> Result<(), String> {
    let observation = discretize::observe(model).map_err(|e| e.to_string())?;
    let observation = observation.expect("an observable");
    let algorithm = &observation.algorithm;
    let case = Case::new(algorithm, cells(model.dimension));
    let apart = if T::BYTES == 4 { 1e-2 } else { 1e-9 };
    // A rotation without strain, or two fields around 1000 that hardly differ.
    let turned = model.observables[0].name == "turned";
    let [nx, ny, _] = case.cells;
    let cells = |of: fn(usize, usize, usize) -> f64| -> Vec<T> {
        let count = case.cells.iter().product::<usize>();
        (0..count).map(|at| T::from_f64(of(at, nx, ny))).collect()
    };
    let wave = |component: usize| -> Vec<T> {
        let values = case.initial::<f64>(component).into_iter();
        values.map(|v| T::from_f64(1000.0 + apart * v)).collect()
    };
    let values = match turned {
        false => vec![wave(0), wave(1)],
        true => vec![
            cells(|at, nx, ny| -3.0 * 0.27 * (at / nx % ny) as f64),
            cells(|at, nx, _| 3.0 * 0.31 * (at % nx) as f64),
        ],
    };
    let mut engine = Oracle::<T>::new(algorithm, case.cells, &case.params, case.spacing, case.dt)?;
    for (i, state) in case.set_states(algorithm) {
        engine.set(state, &values[i]);
    }
    engine.step();
    let (state, _) = algorithm.substeps[0].updates[0];
    let bound = run(model, &case).scalar::<T>(&model.observables[0].value, &values);
    if bound.iter().any(|value| value.error.is_infinite()) {
        return Err("no bound".into());
    }
    within(&[engine.get(state)], &[bound]).map(|_| ())
}
