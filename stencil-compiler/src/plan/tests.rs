//! Lifetimes: what shares memory, and what a check finds where it may not.

use super::{Plan, plan, text};
use crate::algorithm::text::parse;
use crate::schedule;

/// Each function reads the one before at two cells, and its own at the end.
const CHAIN: &str = "algorithm Chain 1d scheme \"chain\"
state q field
fn q = state q
fn a = q[1,0,0] - q[-1,0,0]
fn b = a[1,0,0] - a[-1,0,0]
fn c = b[1,0,0] - b[-1,0,0]
fn d = c[1,0,0] - c[-1,0,0]
fn e = d + q
fn q_1 = q + e
substep { q = q_1 }";

fn planned(placed: &str, kernels: usize) -> Plan {
    let lines = "kernel direct ".repeat(kernels);
    let schedule = schedule::text::parse(&format!("schedule {placed} {lines}")).unwrap();
    let plan = plan(&parse(CHAIN).unwrap(), &schedule, [false; 3]).unwrap();
    plan.check().unwrap();
    assert_eq!(text::parse(&text::print(&plan)).unwrap(), plan);
    plan
}

fn all() -> Plan {
    planned(
        "place a global exchange place b global exchange place c global exchange",
        4,
    )
}

#[test]
fn what_is_never_needed_at_once_shares_memory() {
    let plan = all();
    assert_eq!(plan.buffer("a").unwrap().within, None);
    assert_eq!(plan.buffer("b").unwrap().within, None);
    assert_eq!(plan.buffer("c").unwrap().within.as_deref(), Some("a"));
    assert_eq!((plan.buffers.len(), plan.memories()), (5, 4));
    assert!(text::print(&plan).contains("buffer c derived halo [1, 0, 0] in a\n"));
    let places: Vec<usize> = (0..5).map(|at| plan.memory_of(at)).collect();
    assert_eq!(places, [0, 1, 2, 3, 2]);
}

#[test]
fn a_check_finds_what_is_overwritten_too_early() {
    let mut wrong = all();
    wrong.buffers[3].within = Some("a".to_string());
    let message = wrong.check().unwrap_err();
    assert!(
        message.contains("uses `a` and writes `b` to the same memory"),
        "{message}"
    );
    for (at, home) in [(1, "a"), (3, "q"), (3, "nothing"), (3, "c"), (2, "a")] {
        let mut wrong = all();
        wrong.buffers[at].within = Some(home.to_string());
        let message = wrong.check().unwrap_err();
        assert!(
            message.contains("cannot live in the memory of"),
            "{home}: {message}"
        );
    }
    // Read once more, behind the launch that writes its memory anew.
    let mut wrong = all();
    wrong.launches[3].inputs.push(("a".to_string(), [0; 3]));
    let message = wrong.check().unwrap_err();
    assert!(
        message.contains("reads `a` before it is written"),
        "{message}"
    );
}

#[test]
fn what_is_needed_in_its_own_cell_only_comes_from_the_same_kernel() {
    let plan = planned("place d global exchange place e global exchange", 2);
    let first = &plan.launches[0];
    assert_eq!(first.outputs.len(), 2);
    assert!(
        first.inputs.iter().all(|(name, _)| name == "q"),
        "{:?}",
        first.inputs
    );
    // The last kernel reads the sum in its own cell: no ghost cells are filled for it.
    assert_eq!(plan.buffer("e").unwrap().halo, [0; 3]);
    assert!(!text::print(&plan).contains("fill [0, 0, 0]"));
    assert_eq!(text::print(&plan).matches("fill").count(), 1);
}

#[test]
fn what_a_plan_has_once_is_given_once() {
    for (source, message) in [
        ("plan layout soa layout aos", "`layout` is given twice"),
        ("plan steps 1 steps 2", "`steps` is given twice"),
    ] {
        assert_eq!(text::parse(source).unwrap_err().message, message);
    }
}
