//! Fused substeps are the substeps one after the other, to the bit.

use super::*;
use crate::algorithm::interp::Oracle;
use crate::algorithm::{Role, StateId};
use crate::discretize::discretize;
use crate::model::parse;

const REACTING: &str = "ddt(u) = kappa * lap(u) - u * v^2; ddt(v) = lap(v) + div(u * grad(v));";

fn system(time: &str, equations: &str) -> Algorithm {
    let source = format!(
        "pub system S in 2d {{ field u: scalar; field v: scalar; param kappa: real = 0.5; {equations} }}
         scheme s for S {{ space: central<order = 4>; mixed: composed; time: {time}; }}"
    );
    discretize(&parse::parse_str(&source).unwrap()).unwrap()
}

/// Values of all fields after this many calls that each take `steps_of` time steps.
fn after(algorithm: &Algorithm, walks: usize) -> Vec<Vec<u64>> {
    let cells = [9, 7, 1];
    let mut oracle = Oracle::<f64>::new(algorithm, cells, &[0.5], [0.4, 0.3, 1.0], 0.01).unwrap();
    let fields: Vec<StateId> = algorithm.states_of(Role::Field).map(|(id, _)| id).collect();
    for (number, id) in fields.iter().enumerate() {
        let value = |i: usize| 1.0 + ((i * (3 + number)) % 11) as f64 * 0.1;
        oracle.set(*id, &(0..63).map(value).collect::<Vec<_>>());
    }
    (0..walks).for_each(|_| oracle.step());
    let bits = |id: &StateId| oracle.get(*id).iter().map(|v| v.to_bits()).collect();
    fields.iter().map(bits).collect()
}

#[test]
fn fused_substeps_give_the_bits_of_single_ones() {
    for (time, groups) in [
        ("euler", &[2, 3, 5][..]),
        ("ssprk2", &[2, 4]),
        ("rk3_williamson", &[2, 3, 6]),
        ("rk3_williamson<storage = accumulator>", &[2, 3, 6]),
        ("rk4", &[2, 4]),
    ] {
        let algorithm = system(time, REACTING);
        for group in groups {
            let fused = match algorithm.fused(*group) {
                Ok(fused) => fused,
                // The second half of a step reads registers, which have no ghost cells.
                Err(why) => {
                    assert!(why.contains("accumulator") && (time, *group) == ("rk4", 2), "{why}");
                    continue;
                }
            };
            let steps = algorithm.steps_of(*group);
            assert_eq!(after(&fused, 2), after(&algorithm, 2 * steps), "{time} by {group}");
        }
    }
}

#[test]
fn groups_within_a_step_end_with_it() {
    let algorithm = system("rk3_williamson", REACTING);
    let sizes = |group| algorithm.fused(group).unwrap().substeps.len();
    assert_eq!([1, 2, 3, 6].map(sizes), [3, 2, 1, 1]);
    assert_eq!([1, 2, 3, 6].map(|group| algorithm.steps_of(group)), [1, 1, 1, 2]);
}

#[test]
fn what_is_no_group_is_refused() {
    let algorithm = system("rk3_williamson", REACTING);
    for (group, message) in [(0, "0 substeps"), (9, "1 to 8 can"), (4, "3 substeps")] {
        let why = algorithm.fused(group).unwrap_err();
        assert!(why.contains(message), "{why}");
    }
    let driven = "ddt(u) = lap(u) + sin(t); ddt(v) = lap(v);";
    let why = system("euler", driven).fused(2).unwrap_err();
    assert!(why.contains("changes with time"), "{why}");
}
