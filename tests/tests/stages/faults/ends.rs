//! Marches that copy at the ends of periodic axes and have boxes inside.

use std::collections::BTreeMap;

use stencil_compiler::kernel::interp::faults;
use stencil_compiler::kernel::{BarrierArray, Condition, Index, IntVar, Kernel, Relation, Stmt};
use stencil_compiler::schedule::Blocking;
use stencil_compiler::search::heuristic;
use stencil_tests::{ISOTHERMAL_NS, algorithm_of};

use super::Bench;

/// Of twelve columns of blocks one reads around no end, and one around an end by one cell.
const CELLS: [usize; 3] = [40, 26, 9];

fn bench(carried: bool) -> &'static Bench {
    let algorithm = algorithm_of(ISOTHERMAL_NS);
    let mut placements = BTreeMap::new();
    if carried {
        heuristic::carry(&algorithm, &mut placements);
    }
    let params = [("tile_x", 16), ("tile_y", 8), ("chunk", 8), ("loader", 2)];
    let blocking = Blocking::new("march", &params);
    Bench::on((CELLS, [true; 3]), algorithm, placements, blocking)
}

/// Counts copies and boxes of the first iterations, which are read in part.
fn prologue(kernel: &Kernel, is: fn(&Stmt) -> bool) -> usize {
    fn count(body: &[Stmt], is: fn(&Stmt) -> bool) -> usize {
        let of = |stmt: &Stmt| match stmt {
            Stmt::If { body, .. } => count(body, is),
            other => usize::from(is(other)),
        };
        body.iter().map(of).sum()
    }
    count(&kernel.body, is)
}

#[test]
fn waits_arrivals_and_planes_of_both_loaders() {
    for carried in [false, true] {
        let bench = bench(carried);
        bench.catches_all("a dropped wait", 4, 1, faults::drop_wait);
        bench.catches_all("a wait on the wrong phase", 4, 1, faults::flip_wait);
        bench.catches_all("a dropped arrival", 1, 1, faults::drop_arrive);
        bench.catches_all("a dropped arrival of copies", 2, 1, faults::drop_arrive_copies);
        bench.catches_all("a box that is not started", 4, 1, faults::drop_box);
        bench.catches_all("fields in another order", 3, 1, faults::turn_box);
        bench.catches_all("bytes that are not counted", 2, 1, faults::drop_expect);
        let kernel = &bench.compiled.kernels[1];
        let copies = prologue(kernel, |stmt| matches!(stmt, Stmt::Copy { .. }));
        let boxes = prologue(kernel, |stmt| matches!(stmt, Stmt::CopyBox { .. }));
        assert!(copies > 0 && boxes > 0);
        for (axis, by) in [(0, 4), (1, 1), (2, 1)] {
            bench.catches_all("a copy off by one", 4, 1, |kernel, n| {
                faults::shift_copy(kernel, copies + n, axis, by)
            });
            bench.catches_all("a box off by one", 2, 1, |kernel, n| {
                faults::shift_box(kernel, boxes + n, axis, by)
            });
        }
    }
}

fn room(kernel: &Kernel) -> Option<IntVar> {
    let at = kernel.ints.iter().position(|name| name == "room")?;
    Some(IntVar(at as u32))
}

fn each(body: &mut [Stmt], change: &mut dyn FnMut(&mut Stmt)) {
    for stmt in body {
        change(stmt);
        if let Stmt::If { body, .. } | Stmt::For { body, .. } = stmt {
            each(body, change);
        }
    }
}

/// Blocks that read around an end by a cell, or a copy, less than their condition tells.
#[test]
fn a_block_that_reads_around_an_end_and_has_boxes() {
    let bench = bench(true);
    for nearer in [1, 4, 8] {
        let found = bench.catches(&format!("{nearer} cells nearer"), |kernel| {
            let (mut broken, room) = (kernel.clone(), room(kernel)?);
            each(&mut broken.body, &mut |stmt| {
                if let Stmt::Int { var, value } = stmt
                    && *var == room
                {
                    *value = value.clone() + Index::Const(nearer);
                }
            });
            Some(broken)
        });
        assert!(found);
    }
}

/// Each condition on the ends by itself the other way round: a block has both, or waits for copies that do not come.
#[test]
fn conditions_the_other_way_round() {
    let bench = bench(false);
    let turned = |kernel: &Kernel, n: usize| {
        let (mut broken, room, mut at) = (kernel.clone(), room(kernel)?, 0);
        let mut turn = |condition: &mut Condition| {
            if condition.left != Index::Var(room) {
                return;
            }
            if at == n {
                condition.relation = match condition.relation {
                    Relation::Less => Relation::GreaterEqual,
                    Relation::GreaterEqual => Relation::Less,
                };
            }
            at += 1;
        };
        each(&mut broken.body, &mut |stmt| {
            if let Stmt::If { conditions, .. } = stmt {
                conditions.iter_mut().for_each(&mut turn);
            }
        });
        (broken != *kernel).then_some(broken)
    };
    bench.catches_all("a condition turned", 6, 1, turned);
}

#[test]
fn barriers_that_open_early() {
    let bench = bench(true);
    let names = |barrier: &BarrierArray| barrier.name.clone();
    let barriers: Vec<String> = bench.compiled.kernels[1].barriers.iter().map(names).collect();
    assert_eq!(barriers, ["full", "done", "copied"]);
    for which in [1, 2] {
        let found = bench.catches("a barrier that opens early", |kernel| {
            let mut broken = kernel.clone();
            broken.barriers[which].arrivals -= 1;
            Some(broken)
        });
        assert!(found);
    }
}
