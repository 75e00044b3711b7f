//! Shared functions: all threads of a block fill and read them plane by plane.

use stencil_compiler::kernel::interp::faults;
use stencil_compiler::kernel::{BarrierId, Condition, Index, Kernel, Relation, SharedId, Stmt};
use stencil_compiler::schedule::{Blocking, Placement};
use stencil_compiler::search::heuristic;
use stencil_tests::{ISOTHERMAL_NS, algorithm_of, with_mixed};

use super::{Bench, shrink};

/// Makes a march whose divergence is shared; its derivative along z is carried, or gathered from seven planes.
fn bench(carried: bool) -> &'static Bench {
    bench_with(carried, &[])
}

/// Makes the same with a split barrier, and a ring whose number of slots is unique.
fn split(carried: bool, loader: u32) -> &'static Bench {
    bench_with(carried, &[("barrier", 1), ("loader", loader), ("ring", 10)])
}

fn bench_with(carried: bool, more: &[(&str, u32)]) -> &'static Bench {
    let algorithm = algorithm_of(&with_mixed(ISOTHERMAL_NS, "composed"));
    let mut placements = heuristic::shared(&algorithm);
    assert!(!placements.is_empty());
    if carried {
        heuristic::carry(&algorithm, &mut placements);
    }
    let params = [("tile_x", 32), ("tile_y", 8), ("points", 2), ("chunk", 8)];
    let params = [&params[..], more].concat();
    Bench::with(algorithm, placements, Blocking::new("march", &params))
}

#[test]
fn a_barrier_and_what_is_stored_before_and_read_after_it() {
    let bench = bench(true);
    bench.catches_all("a dropped barrier", 1, 1, faults::drop_sync);
    // Stores beside the tile along x, along y, and of its own cells.
    bench.catches_all("a dropped store", 3, 1, faults::drop_store_shared);
    bench.catches_all("a store off by one", 3, 1, |kernel, n| {
        faults::shift_store_shared(kernel, n, 2)
    });
    bench.catches_all("a read off by one", 2, 61, |kernel, n| faults::shift_shared(kernel, n, 2));
    bench.catches_all("the last cell of a band left out", 2, 1, shortened);
}

#[test]
fn a_plane_of_the_stage_too_few() {
    for (carried, slots) in [(false, 8), (true, 2)] {
        let bench = bench(carried);
        let found = bench.catches("a plane too few", |kernel| {
            Some(faults::map_indices(kernel, &mut |index| shrink(index, slots, slots - 1)))
        });
        assert!(found);
    }
}

#[test]
fn a_split_barrier_that_is_arrived_on_or_waited_at_elsewhere() {
    for loader in [0, 1] {
        let bench = split(loader == 1, loader);
        bench.catches_all("a wait on the wrong phase", 3, 1, faults::flip_wait);
        bench.catches_all("a dropped arrival", 2, 1, faults::drop_arrive);
        bench.catches_all("a dropped store", 3, 1, faults::drop_store_shared);
        let arrives = |stmt: &Stmt| matches!(stmt, Stmt::Arrive { .. });
        let caught = |what: &str, fault: &dyn Fn(&mut Vec<Stmt>)| {
            assert!(bench.catches(what, |kernel| in_iteration(kernel, fault)));
        };
        caught("an arrival before the planes are read", &|body| {
            let arrival = body.remove(place(body, arrives));
            body.insert(place(body, waits) + 1, arrival);
        });
        caught("no wait before the planes are read", &|body| {
            body.remove(place(body, waits));
        });
        caught("a wait after the planes are read", &|body| {
            let wait = body.remove(place(body, waits));
            body.insert(place(body, arrives), wait);
        });
    }
}

/// Functions of shared functions are written after the wait: an earlier arrival does not cover them.
#[test]
fn a_split_barrier_that_is_arrived_on_before_the_last_store() {
    let algorithm = algorithm_of(
        "system Film in 3d { field q: scalar; field w: scalar;
            ddt(q) = -lap(lap(q) - q^3) + d[x](w*d[y](q)); ddt(w) = lap(lap(w)) + d[y](d[x](q)^2); }
         scheme s for Film { space: central<order = 2>; mixed: composed; time: rk3_williamson; }",
    );
    let names = heuristic::recomputed(&algorithm).into_iter();
    let placements = names.map(|(name, _)| (name, Placement::Shared)).collect();
    let params = [("tile_x", 32), ("tile_y", 8), ("chunk", 8), ("barrier", 1)];
    let bench = Bench::with(algorithm, placements, Blocking::new("march", &params));
    let found = bench.catches("an arrival before the last store", |kernel| {
        in_iteration(kernel, &|body| {
            let arrival = body.remove(place(body, |s| matches!(s, Stmt::Arrive { .. })));
            let is_store = |stmt: &Stmt| matches!(stmt, Stmt::StoreShared { .. });
            let last = body.iter().rposition(is_store).expect("a store");
            assert!(last > place(body, waits));
            body.insert(last, arrival);
        })
    });
    assert!(found);
}

/// The ring has the slots that are enough if all threads wait at once.
#[test]
fn a_plane_too_few_for_a_split_barrier() {
    for (carried, slots, loader) in [(false, 9, 1), (true, 3, 0)] {
        let found = split(carried, loader).catches("a plane too few", |kernel| {
            Some(faults::map_indices(kernel, &mut |index| tighter(index, slots)))
        });
        assert!(found);
    }
}

/// Is it the wait for the work of all warps?
fn waits(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Wait { barrier, .. } if *barrier == BarrierId(1))
}

fn place(body: &[Stmt], is: impl Fn(&Stmt) -> bool) -> usize {
    body.iter().position(is).expect("such a statement")
}

/// Returns the kernel with a change in those iterations that read the stage.
fn in_iteration(kernel: &Kernel, change: &dyn Fn(&mut Vec<Stmt>)) -> Option<Kernel> {
    fn find(body: &mut Vec<Stmt>) -> Option<&mut Vec<Stmt>> {
        let reads =
            |stmt: &Stmt| matches!(stmt, Stmt::LoadShared { array, .. } if *array == SharedId(1));
        if body.iter().any(reads) {
            return Some(body);
        }
        body.iter_mut().find_map(|stmt| match stmt {
            Stmt::If { body, .. } | Stmt::For { body, .. } => find(body),
            _ => None,
        })
    }
    let mut kernel = kernel.clone();
    change(find(&mut kernel.body)?);
    Some(kernel)
}

/// Returns a place in a ring of this many slots as one in a ring of one less.
fn tighter(index: Index, slots: i64) -> Index {
    match index {
        Index::Rem(at, by) if by == slots => {
            let at = match *at {
                Index::Add(of, back) => match *back {
                    Index::Const(back) => *of + Index::Const(back - 1),
                    back => *of + back,
                },
                at => at,
            };
            Index::Rem(Box::new(at), slots - 1)
        }
        other => other,
    }
}

/// Returns the kernel whose n-th share of a rim ends one cell early.
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
