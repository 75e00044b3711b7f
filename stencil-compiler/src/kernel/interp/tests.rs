//! Small kernels written by hand: right ones agree with a plain loop under every order, and each
//! fault put into them is found.

use super::faults::*;
use super::*;
use crate::kernel::text::{parse, print};
use crate::kernel::{Index, Kernel, Split};

mod boxes;

const DIRECT: &str = include_str!("tests/direct.kernel");
const MARCH: &str = include_str!("tests/march.kernel");
const ROWS: &str = include_str!("tests/rows.kernel");
const SIZE: [usize; 3] = [37, 22, 19];
const K: f32 = 0.1;

fn kernel(text: &str) -> Kernel {
    let kernel = parse(text).unwrap();
    kernel.check().unwrap();
    assert_eq!(parse(&print(&kernel)).unwrap(), kernel);
    kernel
}

fn value([x, y, z]: [i64; 3]) -> f32 {
    ((x * 7 + y * 13 + z * 29).rem_euclid(31)) as f32 * 0.37 - 2.0
}

fn expected([x, y, z]: [i64; 3]) -> f32 {
    let at = |dx, dy, dz| value([x + dx, y + dy, z + dz]);
    let mut sum = at(-1, 0, 0) + at(1, 0, 0);
    for (dy, dz) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
        sum += at(0, dy, dz);
    }
    K.mul_add(sum, at(0, 0, 0))
}

fn run_heat(kernel: &Kernel, size: [usize; 3], options: Options) -> Result<Report, Fault> {
    let mut buffers = [GlobalArray::from_fn(size, [1; 3], value), GlobalArray::new(size, [0; 3])];
    let report = run(kernel, size, &mut buffers, &[K], options)?;
    for z in 0..size[2] as i64 {
        for y in 0..size[1] as i64 {
            for x in 0..size[0] as i64 {
                let found = buffers[1].get([x, y, z]);
                if found != Some(expected([x, y, z])) {
                    return Err(Fault::of_kernel(
                        FaultKind::Uninitialised,
                        format!("a wrong value {found:?}"),
                    ));
                }
            }
        }
    }
    Ok(report)
}

fn options(seed: u64) -> Options {
    Options { seed, shadow: Shadow::Full }
}

/// The faults that a kernel has under some seeds.
fn faults(kernel: &Kernel) -> Vec<FaultKind> {
    let mut kinds: Vec<FaultKind> = (0..9)
        .filter_map(|seed| run_heat(kernel, SIZE, options(seed)).err())
        .map(|fault| fault.kind)
        .collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[test]
fn direct_kernel_agrees_with_a_loop() {
    let kernel = kernel(DIRECT);
    for (seed, size) in [SIZE, [1, 1, 1], [8, 4, 2], [9, 5, 3], [33, 3, 1]].into_iter().enumerate()
    {
        let report = run_heat(&kernel, size, options(seed as u64)).unwrap();
        assert_eq!(
            report.blocks,
            (size[0].div_ceil(8) * size[1].div_ceil(4) * size[2].div_ceil(2)) as u64
        );
    }
}

#[test]
fn rows_kernel_agrees_with_a_loop() {
    let kernel = kernel(ROWS);
    for (seed, size) in [SIZE, [1, 1, 1], [70, 2, 3]].into_iter().enumerate() {
        let report = run_heat(&kernel, size, options(seed as u64)).unwrap();
        assert_eq!(report.blocks, (size[1] * size[2]) as u64);
    }
}

#[test]
fn march_agrees_with_a_loop_in_every_order() {
    let kernel = kernel(MARCH);
    for seed in 0..27 {
        for shadow in [Shadow::Full, Shadow::Off] {
            run_heat(&kernel, SIZE, Options { seed, shadow }).unwrap();
        }
    }
    for size in [[1, 1, 1], [32, 8, 8], [33, 9, 9], [5, 30, 2]] {
        run_heat(&kernel, size, options(4)).unwrap();
    }
}

#[test]
fn faults_of_a_direct_kernel_are_found() {
    let kernel = kernel(DIRECT);
    assert_eq!(faults(&drop_store(&kernel, 0).unwrap()), [FaultKind::NotWritten]);
    for (n, axis) in [(1, 0), (0, 0), (3, 1), (5, 2)] {
        let shifted = shift_load(&kernel, n, axis, if n == 0 { 2 } else { 1 }).unwrap();
        assert!(!faults(&shifted).is_empty(), "load {n}");
    }
    // Blocks that overlap store the same cell twice.
    let overlap = map_indices(&kernel, &mut |index| match index {
        Index::Mul(block, 8) => Index::Mul(block, 7),
        other => other,
    });
    assert_eq!(faults(&overlap), [FaultKind::DoubleStore]);
}

#[test]
fn every_wait_of_a_march_is_needed() {
    let kernel = kernel(MARCH);
    let mut n = 0;
    while let Some(broken) = drop_wait(&kernel, n) {
        let found = faults(&broken);
        assert!(found.contains(&FaultKind::Race), "without wait {n}: {found:?}");
        n += 1;
    }
    assert_eq!(n, 4);
    for n in 0..4 {
        let found = faults(&flip_wait(&kernel, n).unwrap());
        assert!(!found.is_empty(), "wait {n} for the other parity");
    }
}

#[test]
fn every_arrival_of_a_march_is_needed() {
    let kernel = kernel(MARCH);
    assert_eq!(faults(&drop_arrive(&kernel, 0).unwrap()), [FaultKind::Deadlock]);
    for n in 0..2 {
        let found = faults(&drop_arrive_copies(&kernel, n).unwrap());
        assert!(!found.is_empty(), "without arrival of copies {n}");
    }
    assert!(drop_arrive(&kernel, 1).is_none());
}

#[test]
fn a_shrunk_ring_is_found() {
    let kernel = kernel(MARCH);
    let shrunk = map_indices(&kernel, &mut |index| match index {
        Index::Rem(a, 4) => Index::Rem(a, 3),
        Index::Div(a, 4) => Index::Div(a, 3),
        other => other,
    });
    assert!(!faults(&shrunk).is_empty());
    let mut small = kernel.clone();
    small.shared[0].len -= 4;
    assert_eq!(faults(&small), [FaultKind::OutOfBounds]);
    let mut few = kernel.clone();
    few.barriers[1].slots -= 1;
    assert_eq!(faults(&few), [FaultKind::OutOfBounds]);
    let mut early = kernel.clone();
    early.barriers[1].arrivals -= 1;
    assert!(!faults(&early).is_empty());
    let mut many = kernel;
    many.barriers[0].arrivals += 1;
    assert!(!faults(&many).is_empty());
}

#[test]
fn shifted_reads_and_copies_of_a_march_are_found() {
    let kernel = kernel(MARCH);
    let mut n = 0;
    while let Some(shifted) = shift_shared(&kernel, n, 1) {
        assert!(!faults(&shifted).is_empty(), "read {n}");
        n += 1;
    }
    assert_eq!(n, 7);
    for n in 0..2 {
        assert_eq!(faults(&shift_copy(&kernel, n, 0, 1).unwrap()), [FaultKind::Misaligned]);
        for axis in 1..3 {
            assert!(!faults(&shift_copy(&kernel, n, axis, 1).unwrap()).is_empty());
        }
    }
}

#[test]
fn faults_tell_where_they_are() {
    let kernel = kernel(MARCH);
    let fault = (0..9)
        .find_map(|seed| run_heat(&drop_wait(&kernel, 3).unwrap(), SIZE, options(seed)).err())
        .unwrap();
    assert!(fault.block.is_some() && fault.warp.is_some());
    let text = fault.to_string();
    assert!(text.starts_with("Race") && text.contains("ring[") && text.contains("i = "), "{text}");
}

#[test]
fn a_wait_for_a_phase_already_seen_is_found() {
    let text = MARCH.replace("wait full[1] parity 0", "wait full[0] parity 0");
    assert_eq!(faults(&kernel(&text)), [FaultKind::StalePhase]);
}

#[test]
fn arriving_twice_in_a_phase_is_found() {
    let text = MARCH.replace(
        "arrive empty[(i - 1) % 4]",
        "arrive empty[(i - 1) % 4] arrive empty[(i - 1) % 4]",
    );
    assert!(faults(&kernel(&text)).contains(&FaultKind::OverArrival));
}

#[test]
fn a_cell_of_another_thread_is_not_read_where_it_is_written() {
    let text = "kernel own { dimension 1 value_bytes 8
        launch blocks threads [8, 1, 1] tile [8, 1, 1] extend [0, 0, 0] blocks_per_unit 1
        buffer a readwrite halo [0, 0, 0] registers v, w cells c, d
        code {
            cell c = (block.x * 8 + thread.x, 0, 0)
            if block.x * 8 + thread.x < size.x { v = load a[c] w = v + 1.0 store a[c] = w }
        } }";
    let run_on = |kernel: &Kernel| {
        let mut a = [GlobalArray::from_fn([13, 1, 1], [0; 3], |[x, ..]| x as f64)];
        run(kernel, [13, 1, 1], &mut a, &[], options(1)).map(|_| a[0].get([12, 0, 0]))
    };
    assert_eq!(run_on(&kernel(text)).unwrap(), Some(13.0));
    let other = text.replace(
        "v = load a[c]",
        "cell d = (size.x - 1 - block.x * 8 - thread.x, 0, 0) v = load a[d]",
    );
    assert_eq!(run_on(&kernel(&other)).unwrap_err().kind, FaultKind::Race);
}

#[test]
fn a_block_waits_for_itself_in_one_place() {
    let text = "kernel stop { dimension 1 value_bytes 8
        launch blocks threads [64, 1, 1] tile [64, 1, 1] extend [0, 0, 0] blocks_per_unit 1
        barrier full[1] arrivals 64 shared box[64] buffer a read halo [0, 0, 0] buffer b write halo [0, 0, 0]
        registers v ints to, i cells c
        code {
            int to = thread.x * 2
            if thread.x < 32 { copy box[to] <- a(to, 0, 0) }
            arrive copies full[0]
            wait full[0] parity 0
            sync
            int i = 63 - thread.x
            v = box[i]
            cell c = (thread.x, 0, 0)
            store b[c] = v
        } }";
    let run_on = |kernel: &Kernel, seed| {
        let a = GlobalArray::from_fn([64, 1, 1], [0; 3], |[x, ..]| x as f64);
        let mut buffers = [a, GlobalArray::new([64, 1, 1], [0; 3])];
        run(kernel, [64, 1, 1], &mut buffers, &[], options(seed)).map(|_| buffers[1].get([5, 0, 0]))
    };
    for seed in 0..9 {
        assert_eq!(run_on(&kernel(text), seed).unwrap(), Some(58.0));
        // Waiting for the block is not waiting for copies.
        let unwaited = drop_wait(&kernel(text), 0).unwrap();
        assert_eq!(run_on(&unwaited, seed).unwrap_err().kind, FaultKind::Race);
        let twice = text.replace("if thread.x < 32", "if thread.x < 33");
        assert!(run_on(&kernel(&twice), seed).is_err());
    }
}

#[test]
fn stores_to_shared_memory_are_ordered_by_barriers() {
    let text = "kernel mirror { dimension 1 value_bytes 8
        launch blocks threads [64, 1, 1] tile [128, 1, 1] extend [0, 0, 0] blocks_per_unit 1
        shared box[128] buffer a read halo [0, 0, 0] buffer b write halo [0, 0, 0]
        registers v, w, p, q ints to, i cells c
        code {
            int to = thread.x * 2
            cell c = (to, 0, 0)
            v = load a[c]
            w = load a[c + (1, 0, 0)]
            store box[to] = v, w
            sync
            int i = 126 - to
            p, q = box[i]
            store b[c] = q, p
        } }";
    let run_on = |text: &str, seed| {
        let a = GlobalArray::from_fn([128, 1, 1], [0; 3], |[x, ..]| x as f64);
        let mut buffers = [a, GlobalArray::new([128, 1, 1], [0; 3])];
        let done = run(&kernel(text), [128, 1, 1], &mut buffers, &[], options(seed));
        done.map(|_| buffers[1].get([5, 0, 0]))
    };
    for seed in 0..9 {
        assert_eq!(run_on(text, seed).unwrap(), Some(122.0));
        let kind = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            run_on(&text.replace(from, to), seed).unwrap_err().kind
        };
        // The warp that runs ahead reads values that are being written or not written yet.
        let unordered = [FaultKind::Race, FaultKind::Uninitialised];
        assert!(unordered.contains(&kind(" sync", "")));
        // No warp may overwrite values that others may still read.
        assert_eq!(kind("p, q = box[i]", "p, q = box[i] store box[to] = v, w"), FaultKind::Race);
        assert_eq!(kind("to = thread.x * 2", "to = thread.x / 2 * 2"), FaultKind::Race);
        assert_eq!(kind("box[to]", "box[to + 1]"), FaultKind::Misaligned);
        assert_eq!(kind("box[to]", "box[to + 2]"), FaultKind::OutOfBounds);
        assert_eq!(kind("store box[to] = v, w", "store box[to] = v"), FaultKind::Uninitialised);
    }
}

#[test]
fn stores_of_two_cells_begin_at_even_ones() {
    let text = "kernel pairs { dimension 1 value_bytes 8
        launch blocks threads [8, 1, 1] tile [16, 1, 1] extend [0, 0, 0] blocks_per_unit 1
        buffer a read halo [0, 0, 0] buffer b write halo [0, 0, 0]
        registers v, w cells c, d
        code {
            cell c = (thread.x * 2, 0, 0)
            cell d = (15 - thread.x * 2, 0, 0)
            v = load a[c]
            w = load a[c + (1, 0, 0)]
            store b[c] = w, v
        } }";
    let run_on = |kernel: &Kernel| {
        let a = GlobalArray::from_fn([16, 1, 1], [0; 3], |[x, ..]| x as f64);
        let mut buffers = [a, GlobalArray::new([16, 1, 1], [0; 3])];
        let done = run(kernel, [16, 1, 1], &mut buffers, &[], options(1));
        done.map(|_| [4, 5].map(|x| buffers[1].get([x, 0, 0])))
    };
    assert_eq!(run_on(&kernel(text)).unwrap(), [Some(5.0), Some(4.0)]);
    let odd = text.replace("store b[c]", "store b[c + (1, 0, 0)]");
    let fault = run_on(&kernel(&odd)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Misaligned);
    // The second cell of a pair belongs to its thread as the first does.
    let twice = text.replace("store b[c] = w, v", "store b[c] = w, v store b[d] = v");
    let fault = run_on(&kernel(&twice)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::DoubleStore);
}

/// Ghost cells are poison, as if they were on their way.
#[test]
fn a_part_writes_its_own_cells_and_the_interior_needs_no_ghost_cells() {
    let size = [97, 22, 19];
    let run_on = |kernel: &Kernel, part: BlockBox| {
        let mut heat = GlobalArray::new(size, [1; 3]);
        let [nx, ny, nz] = size.map(|n| n as i64);
        for (y, z) in (0..nz).flat_map(|z| (0..ny).map(move |y| (y, z))) {
            (0..nx).for_each(|x| heat.set([x, y, z], value([x, y, z])));
        }
        let mut buffers = [heat, GlobalArray::new(size, [0; 3])];
        let done = run_parts(kernel, size, &mut buffers, &[K], options(1), &[part]);
        done.map(|report| report.blocks).map_err(|fault| fault.kind)
    };
    for text in [DIRECT, MARCH] {
        let kernel = kernel(text);
        let Split { interior, rim } = kernel.split(size, [1; 3]);
        let interior = interior.unwrap();
        assert_eq!(run_on(&kernel, interior), Ok(interior.count() as u64));
        for part in rim {
            assert_eq!(run_on(&kernel, part), Err(FaultKind::Uninitialised));
        }
        let Split { interior, rim } = kernel.split(size, [0; 3]);
        assert_eq!((interior, rim), (Some(kernel.whole(size)), Vec::new()));
    }
    let part = BlockBox { first: [1; 3], blocks: [2; 3] };
    let one = || Box::new(Index::Const(1));
    for (shift, kind) in [
        (Index::Sub as fn(Box<Index>, Box<Index>) -> Index, FaultKind::DoubleStore),
        (Index::Add, FaultKind::NotWritten),
    ] {
        let shifted = map_indices(&kernel(DIRECT), &mut |index| match index {
            Index::Mul(block, 8) => shift(Box::new(Index::Mul(block, 8)), one()),
            other => other,
        });
        assert_eq!(run_on(&shifted, part), Err(kind));
    }
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let kernel = kernel(DIRECT);
    let mut small = [GlobalArray::from_fn(SIZE, [0; 3], value), GlobalArray::new(SIZE, [0; 3])];
    let fault = run(&kernel, SIZE, &mut small, &[K], options(0)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Invalid);
    let fault = run::<f32>(&kernel, SIZE, &mut [], &[K], options(0)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Invalid);
}

/// Memory and kernel must have the same values side by side.
#[test]
fn values_that_lie_apart_are_found_there() {
    let kernel = |beside: &str| {
        let text = format!(
            "kernel k {{ dimension 1 value_bytes 8
            launch blocks threads [32, 1, 1] tile [32, 1, 1] extend [0, 0, 0] blocks_per_unit 1
            buffer u read halo [1, 0, 0]{beside} buffer v write halo [0, 0, 0]
            registers a ints x cells c
            code {{
                int x = block.x * 32 + thread.x
                if x < size.x {{ cell c = (x, 0, 0) a = load u[c + (1, 0, 0)] store v[c] = a }}
            }} }}"
        );
        parse(&text).unwrap_or_else(|e| panic!("{e}"))
    };
    let run = |beside: &str, apart: usize| {
        let mut u = GlobalArray::with_cell_stride([40, 1, 1], [1, 0, 0], apart);
        (-1..41).for_each(|x| u.set([x, 0, 0], x as f64));
        let mut buffers = [u, GlobalArray::new([40, 1, 1], [0; 3])];
        let options = Options { seed: 1, shadow: Shadow::Full };
        super::run(&kernel(beside), [40, 1, 1], &mut buffers, &[], options)
            .map(|_| (0..40).map(|x| buffers[1].get([x, 0, 0])).collect::<Vec<_>>())
    };
    let wanted: Vec<Option<f64>> = (1..41).map(|x| Some(f64::from(x))).collect();
    assert_eq!(run("", 1).unwrap(), wanted);
    assert_eq!(run(" at 2 of 5 behind 0", 5).unwrap(), wanted);
    for (beside, apart) in [("", 5), (" at 2 of 5 behind 0", 1), (" at 2 of 5 behind 0", 4)] {
        assert_eq!(run(beside, apart).unwrap_err().kind, FaultKind::Invalid);
    }
    let wrong = kernel(" at 1 of 1 behind 0").check().unwrap_err();
    assert!(wrong.contains("beside nothing"), "{wrong}");
    let mut rows = kernel(" at 0 of 2 behind 0");
    rows.launch = parse(ROWS).unwrap().launch;
    let wrong = rows.check().unwrap_err();
    assert!(wrong.contains("lie apart"), "{wrong}");
}

/// A warp keeps one value of its cells of a row: of equal ones the first, and a NaN before all others.
#[test]
fn a_warp_keeps_the_largest_value() {
    let text = |threads: &str, kept: &str| {
        format!(
            "kernel k {{ dimension 1 value_bytes 8
            launch blocks threads {threads} tile [64, 1, 1] extend [0, 0, 0] blocks_per_unit 1
            buffer u read halo [0, 0, 0]
            buffer most write halo [0, 0, 0]{kept}
            registers a ints x cells c
            code {{
                int x = block.x * 64 + thread.x
                if x < size.x {{
                    cell c = (x, 0, 0) a = load u[c] store most[c] = a
                }}
            }} }}"
        )
    };
    let run = |apart: usize, kept: &str, special: f64| {
        let beside = if apart == 1 { "" } else { " at 1 of 2 behind 0" };
        let kernel = parse(&text("[64, 1, 1]", &format!("{beside}{kept}")));
        let kernel = kernel.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(kernel.buffers[1].extreme.unwrap().name(), kept.trim());
        let mut u = GlobalArray::new([80, 1, 1], [0; 3]);
        (0..80).for_each(|x| u.set([x, 0, 0], ((x * 7) % 80) as f64));
        u.set([70, 0, 0], special);
        let most = GlobalArray::with_cell_stride([80, 1, 1], [0; 3], apart);
        let mut buffers = [u, most];
        super::run(&kernel, [80, 1, 1], &mut buffers, &[], options(1)).unwrap();
        [0, 32, 64, 1, 79].map(|x| buffers[1].get([x, 0, 0]))
    };
    let values =
        |warp: std::ops::Range<i64>| warp.filter(|x| *x != 70).map(|x| ((x * 7) % 80) as f64);
    let [first, second, third] = [0..32, 32..64, 64..80].map(|warp| values(warp).reduce(f64::max));
    assert_eq!(run(1, " largest", 0.0), [first, second, third, None, None]);
    assert_eq!(run(2, " largest", 0.0), [first, second, third, None, None]);
    let [first, second] = [0..32, 32..64].map(|warp| values(warp).reduce(f64::min));
    assert_eq!(run(1, " smallest", -3.0), [first, second, Some(-3.0), None, None]);
    assert!(run(1, " largest", f64::NAN)[2].unwrap().is_nan());
    let wrong = parse(&text("[16, 4, 1]", " largest")).unwrap().check().unwrap_err();
    assert!(wrong.contains("one value of most is kept by threads"), "{wrong}");
}

/// A surface is read and written like an array, by kernels that take no rows of it and read nothing again that
/// they have written.
#[test]
fn what_was_written_to_a_surface_is_not_read_by_the_same_launch() {
    let run = |surface: &str, again: &str| {
        let text = format!(
            "kernel k {{ dimension 1 value_bytes 8
            launch blocks threads [32, 1, 1] tile [32, 1, 1] extend [0, 0, 0] blocks_per_unit 1
            buffer u readwrite halo [0, 0, 0]{surface}
            registers a, b, d ints x cells c
            code {{
                int x = block.x * 32 + thread.x
                if x < size.x {{
                    cell c = (x, 0, 0) a = load u[c] b = a + 1.0 store u[c] = b {again}
                }}
            }} }}"
        );
        let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}"));
        let mut u = GlobalArray::new([40, 1, 1], [0; 3]);
        (0..40).for_each(|x| u.set([x, 0, 0], x as f64));
        let mut buffers = [u];
        let ran = super::run(&kernel, [40, 1, 1], &mut buffers, &[], options(1));
        ran.map(|_| buffers[0].get([39, 0, 0]))
    };
    let again = "d = load u[c]";
    assert_eq!(run(" surface", "").unwrap(), Some(40.0));
    assert_eq!(run("", again).unwrap(), Some(40.0));
    let fault = run(" surface", again).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Race, "{fault}");
}
