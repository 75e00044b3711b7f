//! The meaning of the functions of the language, against formulas written out by hand.

use stencil_compiler::algorithm::Role;
use stencil_compiler::algorithm::interp::Oracle;
use stencil_tests::{Case, OrPanic, algorithm_of};

type Vector = [f64; 3];

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Checks the right-hand side of `r` in every cell, given a, b and c there.
fn check(rhs: &str, expected: impl Fn(Vector, Vector, f64) -> f64) {
    let source = format!(
        "system S in 3d {{ field a: vector; field b: vector; field c: scalar; field r: scalar;
           ddt(a) = 0*a; ddt(b) = 0*b; ddt(c) = 0; ddt(r) = {rhs}; }}
         scheme s for S {{ space: central<order = 2>; time: euler; }}"
    );
    let algorithm = algorithm_of(&source);
    let case = Case::new(&algorithm, [5, 4, 3]).stepping(1.0);
    let mut oracle =
        Oracle::<f64>::new(&algorithm, case.cells, &[], case.spacing, case.dt).or_panic();
    let states: Vec<_> = algorithm.states_of(Role::Field).map(|(id, _)| id).collect();
    let values: Vec<Vec<f64>> = (0..7).map(|i| case.initial::<f64>(i)).collect();
    for (state, values) in states.iter().zip(&values) {
        oracle.set(*state, values);
    }
    oracle.set(states[7], &vec![0.0; values[0].len()]);
    oracle.step();
    for (cell, got) in oracle.get(states[7]).iter().enumerate() {
        let at =
            |first: usize| [values[first][cell], values[first + 1][cell], values[first + 2][cell]];
        let want = expected(at(0), at(3), values[6][cell]);
        assert!((got - want).abs() < 1e-12, "{rhs}: {got} in place of {want}");
    }
}

#[test]
fn functions_mean_what_they_say() {
    check("dot(a, b)", |a, b, _| dot(a, b));
    check("dot(cross(a, b), [1, 2, 3])", |a, b, _| dot(cross(a, b), [1.0, 2.0, 3.0]));
    check("dot(a, dot(outer(b, a), b))", |a, b, _| dot(a, b) * dot(a, b));
    check("dot(dot(transpose(outer(a, b)), a), b)", |a, b, _| dot(b, b) * dot(a, a));
    check("trace(outer(a, b))", |a, b, _| dot(a, b));
    check("trace(sym_traceless(outer(a, b))) + c", |_, _, c| c);
    check("dot(a, dot(sym(outer(a, b)), b))", |a, b, _| {
        (dot(a, a) * dot(b, b) + dot(a, b).powi(2)) / 2.0
    });
    check("outer(a, b).xz - outer(a, b).zx", |a, b, _| a[0] * b[2] - a[2] * b[0]);
    check("a.x - b.y*c^3 + 2^-2", |a, b, c| a[0] - b[1] * c.powi(3) + 0.25);
    check("min(a.x, b.x)/(2 + max(c, a.z)) - sqrt(abs(b.z))", |a, b, c| {
        a[0].min(b[0]) / (2.0 + c.max(a[2])) - b[2].abs().sqrt()
    });
    check("(a.x + b.x)^2 - (a.x - b.x)^2 - 4*a.x*b.x + c", |_, _, c| c);
}

/// Identities of vector calculus hold for discrete operators that commute.
#[test]
fn vector_identities_hold() {
    check("div(curl(a)) + c", |_, _, c| c);
    check("dot(curl(grad(c)), b) + c", |_, _, c| c);
    check("dot(curl(curl(a)) - grad(div(a)) + lap(a), b) + c", |_, _, c| c);
}

/// A traceless part has no trace, for any number of axes and of components.
#[test]
fn traceless_parts_have_no_trace_in_any_dimension() {
    for (dimension, vector) in [(1, "vector"), (2, "vector"), (3, "vector"), (2, "vector<3>")] {
        let source = format!(
            "system S in {dimension}d {{ field a: {vector}; field c: scalar; field r: scalar;
               ddt(a) = 0*a; ddt(c) = 0; ddt(r) = trace(sym_traceless(outer(a, a))) + c; }}
             scheme s for S {{ space: central<order = 2>; time: euler; }}"
        );
        let algorithm = algorithm_of(&source);
        let cells = [5, 4, 3];
        let cells = std::array::from_fn(|axis| if axis < dimension { cells[axis] } else { 1 });
        let case = Case::new(&algorithm, cells).stepping(1.0);
        let mut oracle =
            Oracle::<f64>::new(&algorithm, case.cells, &[], case.spacing, case.dt).or_panic();
        let states: Vec<_> = algorithm.states_of(Role::Field).map(|(id, _)| id).collect();
        let (r, others) = states.split_last().expect("fields");
        for (i, state) in others.iter().enumerate() {
            oracle.set(*state, &case.initial::<f64>(i));
        }
        let c = case.initial::<f64>(others.len() - 1);
        oracle.set(*r, &vec![0.0; c.len()]);
        oracle.step();
        for (got, want) in oracle.get(*r).iter().zip(&c) {
            assert!((got - want).abs() < 1e-12, "{dimension}d, {vector}: {got} in place of {want}");
        }
    }
}
