//! Sums that are carried ahead, beside others that complete behind.

use std::collections::BTreeMap;

use stencil_compiler::kernel::interp::faults;
use stencil_compiler::schedule::Blocking;
use stencil_compiler::search::heuristic;
use stencil_tests::algorithm_of;

use super::{Bench, late_shift, shrink};
use crate::ahead::INDUCTION;

fn bench(more: &[(&str, u32)]) -> &'static Bench {
    let algorithm = algorithm_of(INDUCTION);
    let mut placements = BTreeMap::new();
    heuristic::carry_ahead(&algorithm, &mut placements);
    let params = [("tile_x", 32), ("tile_y", 4), ("chunk", 8)];
    let params = [&params[..], more].concat();
    Bench::with(algorithm, placements, Blocking::new("march", &params))
}

#[test]
fn waits_offsets_and_shifts_of_sums_ahead() {
    let bench = bench(&[]);
    bench.catches_all("a dropped wait", 2, 1, faults::drop_wait);
    bench.catches_all("a shared offset off by one", 4, 31, |kernel, n| {
        faults::shift_shared(kernel, n, 1)
    });
    // Sums of the plane before: others may replace a sum without a term on this one.
    bench.catches_all("a partial sum shifted late", 6, 4, |kernel, n| {
        late_shift(kernel, "_sum", n + 1)
    });
}

/// The ring keeps planes that neighbours read on the plane of the iteration until it has passed them.
#[test]
fn a_ring_one_plane_too_small_for_sums_ahead() {
    for (params, slots) in [(&[][..], 5), (&[("loader", 1)][..], 5)] {
        let bench = bench(params);
        for by in [1, 2] {
            assert!(bench.catches(&format!("a ring {by} planes too small"), |kernel| {
                let shrunk = |index| shrink(index, slots, slots - by);
                Some(faults::map_indices(kernel, &mut |index| shrunk(index)))
            }));
        }
    }
}
