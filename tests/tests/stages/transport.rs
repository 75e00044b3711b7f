//! Fields on faces that predictors take to the middle of the step, and another solver where waves lead out of a range, through all
//! stages: schedules give the oracle's bits.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::expr::Real;
use stencil_tests::{Case, Reference, algorithm_of, larger, takes_in_turn};

/// Gas of one density in a magnetic field; arrays may have any values.
const PLASMA: &str =
    "conserved m: vector<3>; face conserved b: vector<3>; let u = m/2; let c = to_cells(b);
    flux m -> outer(u, m) - outer(c, c) + (1 + dot(c, c)/2)*I;
    flux b -> outer(u, c) - outer(c, u);
    waves { flow: u; sound: sqrt(1 + dot(c, c)); }";

/// Sound by its waves; arrays may have any values.
const SOUND: &str = "conserved p: scalar where p > -0.25; conserved u: vector;
    flux p -> u; flux u -> p*I;
    waves { sound: 1; }
    riemann acoustic {
        let rise = above.p - below.p;
        let push = dot(above.u - below.u, normal);
        wave (push - rise)/2 at -1 { p = -1; u = normal; }
        wave 1 at 0 { u = above.u - below.u - push*normal; }
        wave (push + rise)/2 at 1 { p = 1; u = normal; }
    }";

/// Numbers of cells along each axis, and a scheme.
const BY_PREDICTORS: &str = "\
    14 11: reconstruct: plm<limiter = mc>; riemann: hll; time: van_leer;
    13 12: reconstruct: plm<limiter = mc>; riemann: hll; time: muscl_hancock;
    12 11: reconstruct: plm<limiter = minmod>; riemann: rusanov; time: corner_transport;
";

/// The same in space, one of them a run in each precision.
const IN_SPACE: [&str; 3] = [
    "8 7 6: reconstruct: plm<limiter = mc>; riemann: hll; time: van_leer;",
    "8 7 6: reconstruct: plm<limiter = mc>; riemann: hll; time: muscl_hancock;",
    "8 7 6: reconstruct: plm<limiter = minmod>; riemann: rusanov; time: corner_transport;",
];

const WITH_ANOTHER: &str = "\
    15 12: reconstruct: plm<limiter = mc>; riemann: acoustic<else = hll>; time: ssprk2; repair: none;
";

fn walk<T: Real>(items: &str, schemes: &str) {
    for line in schemes.lines() {
        let (counts, scheme) = line.split_once(": ").expect("cells and a scheme");
        let counts: Vec<usize> = counts.split_whitespace().flat_map(str::parse).collect();
        let cells = std::array::from_fn(|axis| counts.get(axis).copied().unwrap_or(1));
        let algorithm = law(items, counts.len(), scheme);
        let case = Case::new(&algorithm, cells.map(larger)).stepping(1e-3);
        Reference::<T>::of(&algorithm, case, 2).agree_in_turn(2);
    }
}

fn law(items: &str, dimension: usize, scheme: &str) -> Algorithm {
    algorithm_of(&format!(
        "system Law in {dimension}d {{ {items} }} scheme s for Law {{ space: central<order = 2>; {scheme} }}"
    ))
}

#[test]
fn fields_on_faces_in_the_middle_of_the_step_have_the_same_bits_on_all_engines() {
    walk::<f32>(PLASMA, BY_PREDICTORS);
    walk::<f64>(PLASMA, BY_PREDICTORS);
}

fn walk_in_space<T: Real>() {
    for (number, scheme) in IN_SPACE.into_iter().enumerate() {
        if takes_in_turn::<T>(number) {
            walk::<T>(PLASMA, scheme);
        }
    }
}

#[test]
fn fields_on_faces_in_space_have_the_same_bits_on_all_engines() {
    walk_in_space::<f32>();
    walk_in_space::<f64>();
}

#[test]
fn another_solver_where_waves_leave_a_range_has_the_same_bits_on_all_engines() {
    walk::<f32>(SOUND, WITH_ANOTHER);
    walk::<f64>(SOUND, WITH_ANOTHER);
}
