//! Marches whose planes come as boxes.

use stencil_compiler::kernel::interp::faults;
use stencil_compiler::kernel::{Index, IntVar, Kernel, Stmt};

use super::{Bench, shrink};

#[test]
fn boxes_miscounted_misplaced_and_early() {
    for carried in [false, true] {
        let bench = Bench::boxes(carried);
        bench.catches_all("a dropped wait", 2, 1, faults::drop_wait);
        bench.catches_all("a wait on the wrong phase", 2, 1, faults::flip_wait);
        bench.catches_all("a dropped arrival", 1, 1, faults::drop_arrive);
        let boxes = |kernel: &Kernel| of_kind(&kernel.body, &|s| matches!(s, Stmt::CopyBox { .. }));
        let counts = |kernel: &Kernel| of_kind(&kernel.body, &|s| matches!(s, Stmt::Expect { .. }));
        let kernel = &bench.compiled.kernels[1];
        // All fields come in one box.
        assert!(boxes(kernel) >= 4 && counts(kernel) >= 2);
        bench.catches_all("a box that is not started", 4, 1, faults::drop_box);
        bench.catches_all("fields in another order", 3, 1, faults::turn_box);
        bench.catches_all("bytes that are not counted", 2, 1, faults::drop_expect);
        for by in [-16, 16] {
            bench.catches_all("bytes miscounted", 2, 1, |kernel, n| {
                let counts = faults::miscount(kernel, n, by)?;
                // A count that awaits no bytes cannot await fewer.
                (counts != *kernel).then_some(counts)
            });
        }
        // Planes that the first iterations of a block read in are used in part only.
        let prologue = boxes(kernel) - in_loops(kernel);
        for (axis, by) in [(0, 4), (0, -4), (1, 1), (2, 1), (2, -1)] {
            bench.catches_all("a box off by one", 2, 1, |kernel, n| {
                faults::shift_box(kernel, prologue + n, axis, by)
            });
        }
        bench.catches_all("a box in the place of another", 2, 1, |kernel, n| {
            faults::shift_box_to(kernel, prologue + n, 32)
        });
        bench.catches_all("a shared offset off by one", 4, 9, |kernel, n| {
            faults::shift_shared(kernel, n, 1)
        });
    }
}

/// Counts statements of a kind, those in loops and conditions too.
fn of_kind(body: &[Stmt], is: &dyn Fn(&Stmt) -> bool) -> usize {
    let count = |stmt: &Stmt| match stmt {
        Stmt::For { body, .. } | Stmt::If { body, .. } => of_kind(body, is),
        other => usize::from(is(other)),
    };
    body.iter().map(count).sum()
}

fn in_loops(kernel: &Kernel) -> usize {
    let of_loop = |stmt: &Stmt| match stmt {
        Stmt::For { body, .. } => of_kind(body, &|s| matches!(s, Stmt::CopyBox { .. })),
        _ => 0,
    };
    kernel.body.iter().map(of_loop).sum()
}

/// Boxes that no thread waits for, and slots that are filled before they are free.
#[test]
fn boxes_of_iterations_that_do_not_come() {
    for carried in [false, true] {
        let bench = Bench::boxes(carried);
        let turns = |kernel: &Kernel| kernel.ints.iter().position(|name| name == "turns");
        let found = bench.catches("an iteration too many is filled", |kernel| {
            let turns = Index::Var(IntVar(turns(kernel)? as u32));
            let mut broken = kernel.clone();
            more(&mut broken.body, &turns);
            Some(broken)
        });
        assert!(found);
        let mut early = 0;
        for (which, by) in [(0, 1), (1, 1), (1, 2)] {
            let found = bench.catches("a barrier that opens early", |kernel| {
                let mut broken = kernel.clone();
                let arrivals = &mut broken.barriers[which].arrivals;
                *arrivals = arrivals.checked_sub(by).filter(|left| *left > 0)?;
                Some(broken)
            });
            early += usize::from(found);
        }
        assert_eq!(early, 2);
    }
}

/// Makes conditions that something is below `of` hold for one more.
fn more(body: &mut [Stmt], of: &Index) {
    for stmt in body {
        if let Stmt::If { conditions, .. } = stmt {
            for condition in conditions.iter_mut() {
                if condition.right == *of {
                    condition.right = of.clone() + Index::Const(1);
                }
            }
        }
        if let Stmt::If { body, .. } | Stmt::For { body, .. } = stmt {
            more(body, of);
        }
    }
}

#[test]
fn rings_of_boxes_that_are_too_small() {
    for (carried, slots) in [(false, 9), (true, 6)] {
        let bench = Bench::boxes(carried);
        let phases = i64::from(bench.compiled.kernels[1].barriers[0].slots);
        for (what, from) in [("slots", slots), ("phases", phases)] {
            for by in [1, 2] {
                let found = bench.catches(&format!("{by} {what} too few"), |kernel| {
                    let shrunk = |index| shrink(index, from, from - by);
                    let broken = faults::map_indices(kernel, &mut |index| shrunk(index));
                    (broken != *kernel).then_some(broken)
                });
                assert!(found);
            }
        }
    }
}
