//! Products of sums of cell values are not multiplied out: a small difference keeps its digits, a square its sign.

use super::*;
use crate::algorithm::StateId;
use crate::algorithm::interp::Oracle;

const SCHEMES: [&str; 2] = ["collected", "as_written"];

/// The values of an observable `value`, cell by cell, for components of fields in order.
pub(super) fn observed(
    source: &str,
    cells: [usize; 3],
    params: &[f64],
    fields: &[Vec<f64>],
) -> Vec<f64> {
    let observation = observe(&model(source)).unwrap_or_else(|e| panic!("{e}"));
    let algorithm = observation.expect("an observable").algorithm;
    let oracle = Oracle::<f64>::new(&algorithm, cells, params, [1.0 / 3.0; 3], 0.1);
    let mut oracle = oracle.unwrap_or_else(|e| panic!("{e}"));
    for (i, values) in fields.iter().enumerate() {
        oracle.set(StateId(i as u32), values);
    }
    oracle.step();
    oracle.get(algorithm.find_state("value").expect("the observable"))
}

fn size(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// Two values that differ by a billionth, in 64 cells.
fn near(seed: f64) -> [Vec<f64>; 2] {
    let of = |i: usize| 1000.0 + 3.0 * seed * i as f64;
    let differ = |i: usize| 1e-6 * (1.0 + seed + (7 * i % 64) as f64 / 64.0) * [1.0, -1.0][i % 2];
    let below: Vec<f64> = (0..64).map(of).collect();
    let above = (0..64).map(|i| of(i) + differ(i)).collect();
    [above, below]
}

#[test]
fn small_differences_keep_their_digits() {
    let ([a_x, b_x], [a_y, b_y]) = (near(0.3), near(0.7));
    let fields = [a_x.clone(), a_y.clone(), b_x.clone(), b_y.clone()];
    let params = [2.5, 1.5, 1.0 + 1e-9];
    // The differences and the parameter; `true` if only a collected sum keeps their digits.
    type Exact = fn([f64; 2], [f64; 3]) -> f64;
    let cases: [(&str, bool, Exact); 21] = [
        ("(a_x - b_x)^2", false, |[x, _], _| x * x),
        ("(b_x - a_x)*(a_x - b_x)", false, |[x, _], _| -(x * x)),
        ("(a_x - b_x)^3", false, |[x, _], _| x * x * x),
        ("square(a_x - b_x)", false, |[x, _], _| x * x),
        ("gap_x^2", false, |[x, _], _| x * x),
        ("norm(a - b)", false, |[x, y], _| size(x, y)),
        ("norm(gap)", false, |[x, y], _| size(x, y)),
        ("norm(k*a - k*b)", true, |[x, y], [k, ..]| k * size(x, y)),
        ("norm(k*(a - b))", false, |[x, y], [k, ..]| k * size(x, y)),
        ("dot(a - b, a - b)", false, |[x, y], _| x * x + y * y),
        ("dot(gap, k*gap)", false, |[x, y], [k, ..]| k * (x * x + y * y)),
        ("trace(outer(a - b, b - a))", false, |[x, y], _| -(x * x + y * y)),
        ("sqrt((a_x - b_x)*(a_x - b_x)/k)", false, |[x, _], [k, ..]| x.abs() / k.sqrt()),
        ("1/(a_x - b_x)^2", false, |[x, _], _| 1.0 / (x * x)),
        ("k*(a_x - b_x)", false, |[x, _], [k, ..]| k * x),
        ("(a_x - b_x)/k", false, |[x, _], [k, ..]| x / k),
        ("sqrt(k*abs(k*a_x - b_x*k))", true, |[x, _], [k, ..]| k * x.abs().sqrt()),
        ("1/(k*gap_x)", false, |[x, _], [k, ..]| 1.0 / (k * x)),
        ("min(l*(b_x - a_x), 0)", false, |[x, _], [_, l, _]| (-l * x).min(0.0)),
        ("norm((m - 1)*gap)", false, |[x, y], [.., m]| (m - 1.0) * size(x, y)),
        ("sqrt((m - 1)*k*(m - 1))*gap_x/(1 - m)", false, |[x, _], [k, ..]| -k.sqrt() * x),
    ];
    for arith in SCHEMES {
        let all = cases.iter().filter(|(_, collected, _)| !collected || arith == "collected");
        for (value, _, exact) in all {
            let source = format!(
                "pub system S in 2d {{ field a: vector; field b: vector;
                 param k: real = 1; param l: real = 1; param m: real = 1;
                 fn square(x: scalar) -> scalar {{ x*x }}
                 let gap = a - b; let a_x = dot(a, [1, 0]); let b_x = dot(b, [1, 0]); let gap_x = dot(gap, [1, 0]);
                 ddt(a) = 0*lap(a); ddt(b) = 0*lap(b); observe value = max({value}); }}
                 scheme s for S {{ space: central<order = 2>; arith: {arith}; time: euler; }}"
            );
            for (i, got) in observed(&source, [8, 8, 1], &params, &fields).iter().enumerate() {
                let exact = exact([a_x[i] - b_x[i], a_y[i] - b_y[i]], params);
                let error = (got - exact).abs();
                assert!(error <= 8.0 * f64::EPSILON * exact.abs(), "{value}: {got}, {exact}");
            }
        }
    }
}

/// The strain of a rigid rotation is zero up to rounding, and its root is a number.
#[test]
fn rigid_rotation_has_no_strain() {
    let n = 12;
    let at = |axis: usize| {
        let h = 1.0 / 3.0;
        move |i: usize| ([i % n, i / n % n, i / n / n][axis] as f64 - 0.37 * n as f64) * h
    };
    let (x, y) = (at(0), at(1));
    let all = 0..n * n * n;
    let turn: Vec<Vec<f64>> = vec![
        all.clone().map(|i| -0.7 * y(i)).collect(),
        all.clone().map(|i| 0.7 * x(i)).collect(),
        vec![0.0; n * n * n],
    ];
    for (arith, mixed) in SCHEMES.iter().flat_map(|a| [(a, "composed"), (a, "bidiagonal")]) {
        let source = |items: &str| {
            format!(
                "pub system S in 3d {{ field u: vector; param c: real = 0.2;
                 let s = sym_traceless(grad(u)); let nu = c^2*sqrt(2)*norm(s);
                 ddt(u) = -dot(u, grad(u)) + div(2*nu*s); {items} }}
                 scheme s for S {{ space: central<order = 6>; mixed: {mixed}; arith: {arith}; time: euler; }}"
            )
        };
        let inside =
            |i: usize| [i % n, i / n % n, i / n / n].iter().all(|at| (3..n - 3).contains(at));
        let strain = observed(&source("observe value = max(norm(s));"), [n; 3], &[0.2], &turn);
        for (i, strain) in strain.iter().enumerate() {
            assert!(strain.is_finite(), "{arith}: {strain} in cell {i}");
            assert!(!inside(i) || *strain <= 1e-14, "{arith}: {strain} in cell {i}");
        }
        let algorithm = algorithm(&source(""));
        let mut oracle =
            Oracle::<f64>::new(&algorithm, [n; 3], &[0.2], [1.0 / 3.0; 3], 1e-3).unwrap();
        for (i, values) in turn.iter().enumerate() {
            oracle.set(StateId(i as u32), values);
        }
        oracle.step();
        let finite = |i: u32| oracle.get(StateId(i)).iter().all(|v| v.is_finite());
        assert!((0..3).all(finite), "{arith}, {mixed}");
    }
}

/// A tensor that is symmetric only when it is multiplied out is accepted for a symmetric field.
#[test]
fn symmetry_is_seen_behind_products_of_sums() {
    let source = |value: &str| {
        format!(
            "pub system S in 2d {{ field u: vector; field w: vector; field m: symmetric;
             ddt(u) = 0*u; ddt(w) = 0*w; ddt(m) = {value}; }}"
        )
    };
    algorithm(&source("outer(u + w, u) + outer(u, w)"));
    let error = discretize(&model(&source("outer(u + w, u) + outer(w, u)"))).unwrap_err();
    assert_eq!(error.code, Code::NotSymmetric);
}
