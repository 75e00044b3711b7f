//! Shared functions: what all threads of a block fill and read plane by plane.

use stencil_compiler::kernel::interp::faults;
use stencil_compiler::kernel::{Condition, Index, Kernel, Relation, Stmt};
use stencil_compiler::schedule::{Blocking, heuristic};
use stencil_tests::{ISOTHERMAL_NS, algorithm_of, with_mixed};

use super::{Bench, shrink};

/// The divergence is shared; its derivative along z is carried, or gathered from seven planes.
fn bench(carried: bool) -> Bench {
    let algorithm = algorithm_of(&with_mixed(ISOTHERMAL_NS, "composed"));
    let mut placements = heuristic::shared(&algorithm);
    assert!(!placements.is_empty());
    if carried {
        heuristic::carry(&algorithm, &mut placements);
    }
    let params = [("tile_x", 32), ("tile_y", 8), ("points", 2), ("chunk", 8)];
    Bench::with(algorithm, placements, Blocking::new("march", &params))
}

#[test]
fn a_barrier_and_what_is_stored_before_and_read_after_it() {
    let bench = bench(true);
    bench.catches_all("a dropped barrier", 1, 1, faults::drop_sync);
    // Beside the tile along x, along y, and its own cells.
    bench.catches_all("a dropped store", 3, 1, faults::drop_store_shared);
    bench.catches_all("a store off by one", 3, 1, |kernel, n| {
        faults::shift_store_shared(kernel, n, 2)
    });
    bench.catches_all("a read off by one", 2, 61, |kernel, n| {
        faults::shift_shared(kernel, n, 2)
    });
    bench.catches_all("the last cell of a band left out", 2, 1, shortened);
}

#[test]
fn a_plane_of_the_stage_too_few() {
    for (carried, slots) in [(false, 8), (true, 2)] {
        let bench = bench(carried);
        let found = bench.catches("a plane too few", |kernel| {
            Some(faults::map_indices(kernel, &mut |index| {
                shrink(index, slots, slots - 1)
            }))
        });
        assert!(found);
    }
}

/// The kernel whose n-th share of a rim ends one cell early.
fn shortened(kernel: &Kernel, n: usize) -> Option<Kernel> {
    let mut kernel = kernel.clone();
    let is_rim = |c: &Condition| match (&c.left, &c.relation) {
        (Index::Var(var), Relation::Less) => kernel.ints[var.0 as usize].starts_with("rim"),
        _ => false,
    };
    fn find<'k>(body: &'k mut [Stmt], all: &mut Vec<&'k mut Condition>) {
        for stmt in body {
            match stmt {
                Stmt::If { conditions, body } => {
                    all.extend(conditions.iter_mut());
                    find(body, all);
                }
                Stmt::For { body, .. } => find(body, all),
                _ => {}
            }
        }
    }
    let mut body = kernel.body.clone();
    let mut all = Vec::new();
    find(&mut body, &mut all);
    let condition = all.into_iter().filter(|c| is_rim(c)).nth(n)?;
    condition.right = condition.right.clone() - Index::Const(1);
    kernel.body = body;
    Some(kernel)
}
