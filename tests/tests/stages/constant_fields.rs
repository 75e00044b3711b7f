//! Fields that a substep leaves as they are, alone and beside fields that change: every integrator,
//! every preset and every engine, against the oracle.

use stencil_compiler::algorithm::{Algorithm, text};
use stencil_compiler::catalogue::integrators;
use stencil_compiler::expr::Real;
use stencil_tests::{Case, Reference, algorithm_of};

const STEPS: usize = 2;

/// Items of systems with a field `b` that does not change.
const SYSTEMS: [&str; 6] = [
    "field b: scalar; ddt(b) = 0;",
    "field b: vector; ddt(b) = 0*b;",
    "field b: scalar; field c: scalar; ddt(b) = 0; ddt(c) = 0;",
    "field b: scalar; field q: scalar; ddt(b) = 0; ddt(q) = b*lap(q) + q;",
    "field q: scalar; field p: scalar; field b: scalar; ddt(b) = 0; ddt(q) = lap(q)*b; ddt(p) = lap(q)*b;",
    "field b: scalar; field u: vector; ddt(b) = 0; ddt(u) = grad(div(u)) - b*u;",
];

/// Substeps whose updates are unchanged states: their own, another's, an accumulator's.
const SUBSTEPS: [&str; 9] = [
    "substep { b = b, q = q_1 }",
    "substep { b = b, q = q }",
    "substep { b = q, q = b }",
    "substep { b = q, q = r }",
    "substep { b = q_1, q = q_1 }",
    "substep { b = r, q = r, b_old = r, q_old = r }",
    "substep { b = b, q = q_1, q_old = q, b_old = b }\nsubstep 0.5 { b = b_old, q = q_2 }",
    "substep { b = b, q = r, q_old = s }\nsubstep 0.5 { b = s, q = q_2 }",
    "substep { b = b, q = q_1, q_old = q }\nsubstep 0.5 { b = b, q = q_2, q_old = q_old }\nsubstep 1.0 { b = b, q = q_2 }",
];

/// Returns an algorithm of two fields with these substeps.
fn written(dimension: usize, substeps: &str) -> Algorithm {
    let last = ["[1,0,0]", "[0,1,0]", "[0,0,1]"][dimension - 1];
    let first = last.replace('1', "-1");
    let source = format!(
        "algorithm S {dimension}d\nscheme \"by hand\"\nstate b field\nstate q field\n\
         state b_old accumulator\nstate q_old accumulator\nuniform c = dt\n\
         fn b = state b\nfn q = state q\nfn b_old = state b_old\nfn q_old = state q_old\n\
         fn s = q[1,0,0] + q[-1,0,0]\nfn q_1 = fma(c, s, q)\nfn q_2 = fma(c, q_old, b)\n\
         fn r = sum {{ + c * q{first}, + c * q{last} }}\n{substeps}\n"
    );
    let algorithm = text::parse(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    algorithm.check().unwrap_or_else(|e| panic!("{e}\n{source}"));
    algorithm
}

/// Returns the oracle's fields, after a comparison with all engines and presets, `alone` if in one precision.
fn agree<T: Real>(algorithm: &Algorithm, alone: bool) -> Vec<Vec<T>> {
    let sizes = [7, 6, 5];
    let cells = std::array::from_fn(|a| if a < algorithm.dimension { sizes[a] } else { 1 });
    let reference = Reference::<T>::new(algorithm, cells, STEPS);
    match alone {
        true => reference.agree_by_all(0),
        false => reference.agree_in_turn(0),
    }
    reference.fields
}

/// Returns initial values of a field, by its place among the fields.
fn initial(algorithm: &Algorithm, field: usize, like: &[f64]) -> Vec<f64> {
    let sizes = [7, 6, 5];
    let cells = std::array::from_fn(|a| if a < algorithm.dimension { sizes[a] } else { 1 });
    let values = Case::new(algorithm, cells).initial::<f64>(field);
    assert_eq!(values.len(), like.len());
    values
}

#[test]
fn a_field_without_a_rate_stays_by_every_integrator() {
    for system in SYSTEMS {
        for integrator in integrators::ALL {
            let time = integrator.name;
            for arith in ["collected", "as_written"] {
                let algorithm = algorithm_of(&format!(
                    "system S in 2d {{ {system} }}
                     scheme s for S {{ space: central<order = 2>; arith: {arith}; time: {time}; }}"
                ));
                let fields = agree::<f64>(&algorithm, true);
                let states = algorithm.states.iter();
                let b = states.take(fields.len()).position(|s| s.name.starts_with('b'));
                let b = b.expect("a field b");
                let error = |(now, was): (&f64, f64)| (now - was).abs();
                let was = initial(&algorithm, b, &fields[b]);
                let largest = fields[b].iter().zip(was).map(error).fold(0.0, f64::max);
                assert!(largest == 0.0, "{time}: {system} changes by {largest}");
            }
        }
    }
}

#[test]
fn an_update_may_be_a_state_as_it_is() {
    for dimension in 1..=3 {
        for substeps in SUBSTEPS {
            let algorithm = written(dimension, substeps);
            let fields = agree::<f64>(&algorithm, false);
            agree::<f32>(&algorithm, false);
            if !substeps.contains("b = q")
                && !substeps.contains("b = r")
                && !substeps.contains("b = s")
            {
                assert_eq!(fields[0], initial(&algorithm, 0, &fields[0]), "{substeps}");
            }
        }
    }
}

#[test]
fn fields_may_change_places() {
    let algorithm = written(2, "substep { b = q, q = b }");
    let fields = agree::<f64>(&algorithm, true);
    // An even number of exchanges.
    assert_eq!(STEPS % 2, 0);
    assert_eq!(fields[0], initial(&algorithm, 0, &fields[0]));
    assert_eq!(fields[1], initial(&algorithm, 1, &fields[1]));
}
