//! Kernels whose planes come as boxes, right ones and broken ones.

use super::*;

const BOXES: &str = include_str!("boxes.kernel");

/// The faults of the text with a part replaced.
fn changed(from: &str, to: &str) -> Vec<FaultKind> {
    assert!(BOXES.contains(from), "{from}");
    faults(&kernel(&BOXES.replace(from, to)))
}

#[test]
fn boxes_agree_with_a_loop_in_every_order() {
    let kernel = kernel(BOXES);
    for seed in 0..27 {
        for shadow in [Shadow::Full, Shadow::Off] {
            let report = run_heat(&kernel, SIZE, Options { seed, shadow }).unwrap();
            // One a plane and block.
            assert_eq!(report.copies, 2 * 3 * (10 + 10 + 5));
        }
    }
    for size in [[1, 1, 1], [32, 8, 8], [33, 9, 9], [5, 30, 2]] {
        run_heat(&kernel, size, options(4)).unwrap();
    }
}

#[test]
fn every_wait_for_boxes_is_needed() {
    let kernel = kernel(BOXES);
    for n in 0..4 {
        let found = faults(&drop_wait(&kernel, n).unwrap());
        assert!(found.contains(&FaultKind::Race), "wait {n}: {found:?}");
        let found = faults(&flip_wait(&kernel, n).unwrap());
        assert!(!found.is_empty(), "wait {n} for the other parity");
    }
    assert!(drop_wait(&kernel, 4).is_none());
    assert_eq!(faults(&drop_arrive(&kernel, 0).unwrap()), [FaultKind::Deadlock]);
    // The wait of one thread teaches its warp nothing.
    let alone = "if t < 1 { wait full[(i + 1) % 4] parity (i + 1) / 4 % 2 }";
    let found = changed("wait full[(i + 1) % 4] parity (i + 1) / 4 % 2", alone);
    assert!(found.contains(&FaultKind::Race), "{found:?}");
}

#[test]
fn bytes_are_counted() {
    let kernel = kernel(BOXES);
    for n in 0..3 {
        for by in [-1600, -16, 16, 1600] {
            let Some(broken) = miscount(&kernel, n, by) else {
                continue;
            };
            assert!(!faults(&broken).is_empty(), "count {n} off by {by}");
        }
        assert!(!faults(&drop_expect(&kernel, n).unwrap()).is_empty());
    }
    assert!(drop_expect(&kernel, 3).is_none());
    for n in 0..2 {
        assert!(!faults(&drop_box(&kernel, n).unwrap()).is_empty());
    }
}

#[test]
fn boxes_from_and_to_other_places_are_found() {
    let kernel = kernel(BOXES);
    for n in 0..2 {
        // A device would end the launch.
        for by in [1, 2, 3] {
            let broken = shift_box(&kernel, n, 0, by).unwrap();
            assert_eq!(faults(&broken), [FaultKind::Invalid]);
        }
        assert!(!faults(&shift_box(&kernel, n, 0, 4).unwrap()).is_empty());
        for axis in 1..3 {
            assert!(!faults(&shift_box(&kernel, n, axis, 1).unwrap()).is_empty());
        }
        let broken = shift_box_to(&kernel, n, 4).unwrap();
        assert_eq!(faults(&broken), [FaultKind::Invalid]);
        for by in [32, 416] {
            let found = faults(&shift_box_to(&kernel, n, by).unwrap());
            assert!(!found.is_empty(), "box {n} {by} values on");
        }
    }
}

#[test]
fn a_slot_that_is_refilled_early_is_found() {
    let kernel = kernel(BOXES);
    let shrunk = map_indices(&kernel, &mut |index| match index {
        Index::Rem(a, 4) => Index::Rem(a, 3),
        Index::Div(a, 4) => Index::Div(a, 3),
        other => other,
    });
    assert!(!faults(&shrunk).is_empty());
    let mut early = kernel.clone();
    early.barriers[1].arrivals -= 1;
    assert!(!faults(&early).is_empty());
    let ahead = changed("int p = i + 2", "int p = i + 3");
    assert!(!ahead.is_empty());
}

#[test]
fn one_thread_starts_a_box() {
    let twice = changed("if t < 1 and p < n", "if t < 2 and p < n");
    assert!(twice.contains(&FaultKind::Race), "{twice:?}");
    let nobody = changed("if t < 1 and p < n", "if t < 0 and p < n");
    assert_eq!(nobody, [FaultKind::Deadlock]);
}

#[test]
fn a_block_waits_for_all_its_boxes() {
    let more = changed("p < n {", "p < n + 1 {");
    assert!(more.contains(&FaultKind::InFlight), "{more:?}");
}

#[test]
fn cells_of_a_buffer_are_behind_those_of_the_one_before() {
    let text = "kernel minus { dimension 2 value_bytes 4
        launch blocks threads [32, 1, 1] tile [32, 1, 1] extend [0, 0, 0] blocks_per_unit 1
        barrier full[1] arrivals 1 shared line[128] buffer a read halo [0, 0, 0]
        buffer b read halo [0, 0, 0] buffer c write halo [0, 0, 0] registers u, v, w ints to cells d
        code {
            if thread.x < 1 {
                arrive full[0] bytes 256
                copy box line[32] <- a, b(block.x * 32, block.y, 0) by (32, 1, 1) to full[0]
            }
            wait full[0] parity 0
            int to = thread.x
            cell d = (block.x * 32 + thread.x, block.y, 0)
            u = line[to + 32]
            v = line[to + 64]
            w = u - v
            store c[d] = w
        } }";
    let size = [64, 2, 1];
    let run_on = |text: &str, seed: u64| {
        let a = GlobalArray::from_fn(size, [0; 3], |[x, y, _]| (x + 100 * y) as f32);
        let b = GlobalArray::from_fn(size, [0; 3], |[x, y, _]| (7 * x - 3 * y) as f32);
        let mut buffers = [a, b, GlobalArray::new(size, [0; 3])];
        let done = run(&kernel(text), size, &mut buffers, &[], options(seed));
        done.map(|report| (report.copies, buffers[2].get([40, 1, 0]), buffers[2].get([3, 0, 0])))
    };
    for seed in 0..8 {
        assert_eq!(run_on(text, seed).unwrap(), (4, Some(-137.0), Some(-18.0)));
    }
    let turned = run_on(&text.replace("<- a, b(", "<- b, a("), 1);
    assert_eq!(turned.unwrap().1, Some(137.0));
    for (from, to, kind) in [
        ("a, b(", "a(", FaultKind::Deadlock),
        ("bytes 256", "bytes 128", FaultKind::Race),
        ("line[to + 64]", "line[to]", FaultKind::Uninitialised),
        ("line[32]", "line[96]", FaultKind::OutOfBounds),
    ] {
        assert!(text.contains(from));
        let fault = run_on(&text.replace(from, to), 1).unwrap_err();
        assert_eq!(fault.kind, kind, "{to}: {fault}");
    }
}

#[test]
fn what_is_outside_of_a_buffer_is_nobodys() {
    let text = "kernel shift { dimension 1 value_bytes 8
        launch blocks threads [32, 1, 1] tile [32, 1, 1] extend [0, 0, 0] blocks_per_unit 1
        barrier full[1] arrivals 1 shared line[48] buffer a read halo [2, 0, 0] buffer b write halo [0, 0, 0]
        registers v ints to cells c
        code {
            if thread.x < 1 {
                arrive full[0] bytes 288
                copy box line[0] <- a(block.x * 32 - 2, 0, 0) by (36, 1, 1) to full[0]
            }
            wait full[0] parity 0
            int to = thread.x
            cell c = (block.x * 32 + thread.x, 0, 0)
            v = line[to + 4]
            if block.x * 32 + thread.x < size.x { store b[c] = v }
        } }";
    let run_on = |text: &str| {
        let a = GlobalArray::from_fn([41, 1, 1], [2, 0, 0], |[x, ..]| x as f64);
        let mut buffers = [a, GlobalArray::new([41, 1, 1], [0; 3])];
        let done = run(&kernel(text), [41, 1, 1], &mut buffers, &[], options(1));
        done.map(|_| buffers[1].get([40, 0, 0]))
    };
    assert_eq!(run_on(text).unwrap(), Some(42.0));
    for (from, to) in [("- 2, 0, 0)", "- 2, 1, 0)"), ("* 32 - 2", "* 32 + 32")] {
        let fault = run_on(&text.replace(from, to)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Uninitialised);
    }
}
