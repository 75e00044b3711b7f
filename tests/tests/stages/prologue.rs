//! Planes around a chunk get less work with a prologue, and planes are requested at either prefetch point: checks that the
//! compared kernels differ.

use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::{BarrierId, Kernel, Stmt};
use stencil_compiler::schedule::Blocking;
use stencil_compiler::search::presets;
use stencil_tests::{ISOTHERMAL_NS, OrPanic, algorithm_of};

use super::ahead::INDUCTION;

/// Returns the kernel of the second substep with sums that ride along.
fn kernel(source: &str, params: &[(&str, u32)]) -> Kernel {
    let algorithm = algorithm_of(source);
    let carried = presets::find("carried").expect("it is a preset");
    let mut schedule = carried.schedule(&algorithm, Precision::F32);
    let tile = [("tile_x", 32), ("tile_y", 8)];
    schedule.kernels = vec![Blocking::new("march", &[&tile[..], params].concat())];
    let compiled = compile(&algorithm, &schedule, &Target::new(4)).or_panic();
    compiled.kernels.into_iter().nth(1).expect("three substeps")
}

fn iteration(kernel: &Kernel) -> &[Stmt] {
    let loops = kernel.body.iter().rev().find_map(|stmt| match stmt {
        Stmt::For { body, .. } => Some(body.as_slice()),
        _ => None,
    });
    loops.expect("a march has a loop")
}

/// Returns the operations of each branch that computes.
fn branches(kernel: &Kernel) -> Vec<usize> {
    let operations = |stmt: &Stmt| match stmt {
        Stmt::If { body, .. } => body.iter().filter(|s| matches!(s, Stmt::Let { .. })).count(),
        _ => 0,
    };
    let all = iteration(kernel).iter().map(operations);
    all.filter(|count| *count > 0).collect()
}

#[test]
fn planes_around_a_chunk_get_an_eighth_of_the_work_and_it_is_not_counted() {
    for (source, most) in [(ISOTHERMAL_NS, 8), (INDUCTION, 4)] {
        let (whole, separate) = (kernel(source, &[]), kernel(source, &[("prologue", 1)]));
        let ([all], [core, before, behind]) = (&branches(&whole)[..], &branches(&separate)[..])
        else {
            panic!("{:?} and {:?}", branches(&whole), branches(&separate));
        };
        assert_eq!(all, core);
        assert!(*before > 0 && before * most <= core + most, "{before} of {core}");
        assert!(*behind > 0 && behind * most <= core + most * most, "{behind} of {core}");
        assert_eq!(whole.operations().cost, separate.operations().cost);
        assert_eq!(whole.operations().chain, separate.operations().chain);
    }
}

#[test]
fn planes_are_asked_for_before_the_work_or_behind_it() {
    let order = |params: &[(&str, u32)]| {
        let kernel = kernel(ISOTHERMAL_NS, params);
        let done = kernel.barriers.iter().position(|b| b.name == "done");
        let done = BarrierId(done.expect("slots are handed back") as u32);
        let at = |wanted: &dyn Fn(&Stmt) -> bool| iteration(&kernel).iter().position(wanted);
        let asks = at(&|s| matches!(s, Stmt::Wait { barrier, .. } if *barrier == done));
        let works = at(&|s| matches!(s, Stmt::If { body, .. } if body.len() > 100));
        (asks.expect("a wait"), works.expect("the work"))
    };
    let (asks, works) = order(&[]);
    assert!(asks < works);
    let (asks, works) = order(&[("prefetch_point", 1)]);
    assert!(works < asks);
}
