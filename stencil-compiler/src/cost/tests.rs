//! Costs against counts by hand and the equations of the paper.

mod times;

use std::collections::BTreeSet;

use super::*;
use crate::compile::{Target, compile};
use crate::discretize::discretize;
use crate::model::parse::parse_str;
use crate::schedule::{Blocking, Schedule};

fn heat(time: &str) -> Algorithm {
    let source = format!(
        "system Heat in 3d {{ field q: scalar; param k: real = 1; ddt(q) = k * lap(q); }}
        scheme s for Heat {{ space: central<order = 2>; mixed: bidiagonal; time: {time}; }}"
    );
    discretize(&parse_str(&source).unwrap()).unwrap()
}

fn cost_of(algorithm: &Algorithm, blocking: Blocking, bytes: usize) -> Vec<KernelCost> {
    let schedule =
        Schedule { placements: Default::default(), kernels: vec![blocking], ..Schedule::default() };
    kernels(&compile(algorithm, &schedule, &Target::new(bytes)).unwrap()).unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12 * b
}

#[test]
fn points_on_the_axes_are_fetched_as_in_equation_19() {
    let radius = 3;
    let mut cross = BTreeSet::from([[0; 3]]);
    for axis in 0..3 {
        for k in 1..=radius {
            for sign in [-1, 1] {
                let mut at = [0; 3];
                at[axis] = sign * k;
                cross.insert(at);
            }
        }
    }
    assert_eq!(cross.len(), 19);
    let [x, y, z] = [16, 8, 32];
    let halo = 2 * radius as u32 * (x * y + x * z + y * z);
    let expected = f64::from(x * y * z + halo) / f64::from(x * y * z);
    assert!(close(fetched_points([x, y, z], &cross), expected));
    // Rows as long as the patch: 13 of them are read for each that is computed.
    assert!(close(fetched_points([0, 1, 1], &cross), 13.0));
}

#[test]
fn a_cube_of_points_is_fetched_as_in_equation_12() {
    let side = || -2..=2;
    let cube = side().flat_map(|x| side().flat_map(move |y| side().map(move |z| [x, y, z])));
    let expected = f64::from((8 + 4) * (6 + 4) * (4 + 4)) / f64::from(8 * 6 * 4);
    assert!(close(fetched_points([8, 6, 4], &cube.collect()), expected));
    assert!(close(fetched_points([8, 6, 4], &BTreeSet::from([[0, 0, 1]])), 1.0));
}

#[test]
fn one_thread_a_cell_by_hand() {
    let algorithm = heat("euler");
    let [cost] =
        &cost_of(&algorithm, Blocking::new("direct", &[("x", 32), ("y", 4), ("z", 2)]), 8)[..]
    else {
        panic!()
    };
    assert_eq!((cost.inputs[0].name.as_str(), cost.inputs[0].points), ("q", 7));
    assert_eq!(
        (cost.outputs.as_slice(), cost.cells, cost.threads, cost.shared_bytes),
        (["q_new".to_string()].as_slice(), 1, 256, 0)
    );
    // Three sums of neighbours, one product and three multiply-adds, one multiply-add for the step.
    assert_eq!((cost.operations, cost.flops), (8.0, 12.0));
    assert!(close(cost.inputs[0].fetched, f64::from(256 + 2 * (32 * 4 + 32 * 2 + 4 * 2)) / 256.0));
    assert_eq!(cost.least_bytes(), 16.0);
    assert_eq!(cost.least_bytes(), floor_bytes(&algorithm, 0, 8));
    assert!(close(cost.intensity(), 0.75));
}

#[test]
fn a_march_moves_what_equation_13_says() {
    let algorithm = heat("rk3_williamson<storage = accumulator>");
    for points in [1, 2] {
        let blocking = Blocking::new(
            "march",
            &[("tile_x", 32), ("tile_y", 8), ("points", points), ("chunk", 64)],
        );
        let cost = &cost_of(&algorithm, blocking, 4)[1];
        assert_eq!((cost.substep, cost.cells, cost.threads), (1, points, 256 / points));
        // The field with its halo, rows widened to whole copies of four values; the accumulator
        // without; both are written.
        let fetched = f64::from((32 + 8) * (8 + 2) * (64 + 2)) / f64::from(32 * 8 * 64);
        assert!(close(cost.fetched_bytes(), 4.0 * (fetched + 1.0 + 2.0)));
        assert_eq!(cost.least_bytes(), 16.0);
        assert_eq!(cost.least_bytes(), floor_bytes(&algorithm, 1, 4));
        assert!(cost.shared_bytes > 4 * (32 + 8) * (8 + 2) * 3);
        assert!(cost.registers > ADDRESS_REGISTERS);
    }
}

/// A plane with its rim, whose corners a stencil on the axes leaves alone, and columns: Eq. 19.
#[test]
fn a_plane_moves_what_its_stencil_reads() {
    let algorithm = heat("rk3_williamson<storage = accumulator>");
    let params = [("tile_x", 32), ("tile_y", 8), ("chunk", 64), ("buffers", 1)];
    let cost = &cost_of(&algorithm, Blocking::new("plane", &params), 4)[1];
    let [x, y, z] = [32, 8, 64];
    let fetched = f64::from(x * y * z + 2 * (x * y + x * z + y * z)) / f64::from(x * y * z);
    assert!(close(cost.fetched_bytes(), 4.0 * (fetched + 1.0 + 2.0)));
    assert_eq!(cost.shared_bytes, (4 * (32 + 2) * (8 + 2) as usize).next_multiple_of(128));
    assert_eq!((cost.cells, cost.threads), (1, 256));
}

#[test]
fn registers_are_shared_among_threads() {
    let algorithm = heat("euler");
    let limit = |x, y| {
        cost_of(&algorithm, Blocking::new("direct", &[("x", x), ("y", y), ("z", 1)]), 4)[0]
            .register_limit()
    };
    assert_eq!([limit(32, 4), limit(128, 3), limit(128, 8)], [255, 168, 64]);
}

#[test]
fn the_last_substep_writes_no_accumulator() {
    let algorithm = heat("rk3_williamson<storage = accumulator>");
    let bytes: Vec<f64> = (0..4).map(|s| floor_bytes(&algorithm, s, 4)).collect();
    assert_eq!(bytes, [12.0, 16.0, 12.0, 0.0]);
}

/// Bytes a cell of the one kernel of a blocking on a cube of cells.
fn memory(blocking: Blocking, side: usize, card: &Card) -> f64 {
    let costs = cost_of(&heat("euler"), blocking, 4);
    costs[0].memory_bytes([side; 3], card).unwrap()
}

#[test]
fn rims_that_the_cache_holds_cost_nothing() {
    let direct = || Blocking::new("direct", &[("x", 32), ("y", 4), ("z", 2)]);
    let card = Card::default();
    // One input with its ghost cells (whole sectors along x), one output.
    let ghosts = (1.0 + 16.0 / 256.0) * (1.0 + 2.0 / 256.0) * (1.0 + 2.0 / 256.0);
    assert!(close(memory(direct(), 256, &card), 4.0 * (ghosts + 1.0)));
    // A layer of blocks reads four planes and writes two: 6 * 256^2 * 4 bytes.
    let layer = 6 * 256 * 256 * 4;
    let fits = Card { cache: layer, ..card };
    assert!(close(memory(direct(), 256, &fits), 4.0 * (ghosts + 1.0)));
    let small = Card { cache: layer - 1, ..card };
    assert!(close(memory(direct(), 256, &small), 4.0 * (ghosts + 1.0 + 2.0 / 2.0)));
    // Without a cache worth mentioning a row of blocks is lost too.
    let none = Card { cache: 1000, ..card };
    assert!(close(memory(direct(), 256, &none), 4.0 * (ghosts + 1.0 + 1.0 + 2.0 / 4.0)));
}

/// Runs of cells waste no thread at the ends of rows, and a rim is as far away as it is for rows of blocks.
#[test]
fn runs_of_cells_do_not_overhang() {
    let run = Blocking::new("lexicographic", &[("threads", 256)]);
    let algorithm = heat("euler");
    let costs = cost_of(&algorithm, run.clone(), 4);
    let kernel = &costs[0];
    assert!(kernel.runs && kernel.tile == [256, 1, 1]);
    let h200 = &MODELS[0].rates;
    let waste = |blocking: Blocking, cells| {
        let costs = cost_of(&algorithm, blocking, 4);
        costs[0].time(cells, h200, (32, 0)).unwrap().waste
    };
    // 65 cells along x: a tile of 32 computes 96 (Kim et al. 2022, Fig. 4).
    let tiles = Blocking::new("direct", &[("x", 32), ("y", 8), ("z", 1)]);
    assert!(waste(tiles, [65, 512, 512]) > 1.4);
    assert!(waste(run.clone(), [65, 512, 512]) < 1.01);
    assert!(waste(run.clone(), [3, 1, 1]) >= 1.0);
    // Several planes of few cells fit into one run, a part of a row into another.
    assert!(close(kernel.along(2, [8, 8, 64]), 4.0) && close(kernel.along(0, [8, 8, 64]), 8.0));
    assert!(close(kernel.along(1, [512, 512, 512]), 1.0));
    // With no cache, neighbours along y and z are read again; with one, nothing is.
    let card = Card::default();
    let ghosts = (1.0 + 16.0 / 256.0) * (1.0 + 2.0 / 256.0) * (1.0 + 2.0 / 256.0);
    assert!(close(memory(run.clone(), 256, &card), 4.0 * (ghosts + 1.0)));
    let none = Card { cache: 0, ..card };
    assert!(close(memory(run, 256, &none), 4.0 * (ghosts + 1.0 + 2.0 + 2.0)));
}

/// For values that lie side by side memory moves whole sectors of 32 bytes, however many of them are read.
#[test]
fn what_lies_between_moves_too() {
    let source =
        "pub system Two in 3d { field a: scalar; field b: scalar; field c: scalar; field e: scalar;
            ddt(a) = lap(a); ddt(b) = a*b; ddt(c) = a; ddt(e) = e; }
         scheme s for Two { space: central<order = 2>; time: euler; }";
    let algorithm = discretize(&parse_str(source).unwrap()).unwrap();
    let costs = |layout: &str, passes: &str, value_bytes: usize| {
        let kernels = "kernel direct ".repeat(1 + passes.matches("pass").count());
        let text = format!("schedule {layout} {passes} {kernels}");
        let schedule = crate::schedule::text::parse(&text).unwrap();
        let compiled = compile(&algorithm, &schedule, &Target::new(value_bytes)).unwrap();
        super::kernels(&compiled).unwrap()
    };
    // All together: every byte between is used.
    let [soa, aos] = ["", "layout aos"].map(|layout| costs(layout, "", 8).swap_remove(0));
    assert_eq!(soa.least_bytes(), 64.0);
    assert_eq!(aos.least_bytes(), 64.0);
    // A kernel that takes one of four values of eight bytes moves the sector of all of them.
    let [soa, aos] = ["", "layout aos"].map(|layout| costs(layout, "pass e 1", 8).swap_remove(1));
    assert_eq!((soa.inputs.len(), soa.least_bytes()), (1, 16.0));
    assert_eq!((aos.inputs[0].moved, aos.written, aos.least_bytes()), (4.0, 4.0, 64.0));
    // A warp touches 8 lines of 128 bytes in place of 2, for its reads and for its writes.
    assert_eq!((soa.work.rounds, aos.work.rounds), (0, 12));
    let card = Card::default();
    let [few, many] = [&soa, &aos].map(|cost| cost.memory_bytes([64; 3], &card).unwrap());
    assert!(close(many, 4.0 * few));
    // Two that are read out of four share the traffic.
    let two = &costs("layout aos", "pass c 1", 4)[1];
    assert_eq!((two.inputs.len(), two.inputs[0].moved, two.written), (2, 2.0, 4.0));
}

/// Surfaces cause the traffic of arrays, but their values pass through the texture units.
#[test]
fn values_of_surfaces_wait_for_the_texture_units() {
    let source = "pub system Heat in 3d { field a: scalar; ddt(a) = lap(a); }
         scheme s for Heat { space: central<order = 2>; time: euler; }";
    let algorithm = discretize(&parse_str(source).unwrap()).unwrap();
    for value_bytes in [4, 8] {
        let [soa, surface] = ["", "layout surface"].map(|layout| {
            let schedule = format!("schedule {layout} kernel direct");
            let schedule = crate::schedule::text::parse(&schedule).unwrap();
            let compiled = compile(&algorithm, &schedule, &Target::new(value_bytes)).unwrap();
            super::kernels(&compiled).unwrap().swap_remove(0)
        });
        assert_eq!(soa.least_bytes(), surface.least_bytes());
        // Seven values are read and one is written.
        assert_eq!((soa.work.texels, surface.work.texels), (0, 8));
        let rates = &MODELS[0].rates;
        let time = |cost: &KernelCost| cost.time([256; 3], rates, (64, 0)).unwrap();
        let (array, surface) = (time(&soa), time(&surface));
        assert_eq!(array.texture, 0.0);
        let cycles = f64::from(256 * 256 * 256) * 8.0 / 4.0 / f64::from(rates.card.units);
        assert!(close(surface.texture * rates.clock, cycles));
        assert!(surface.total > array.total);
    }
}

#[test]
fn chunks_of_a_march_read_their_ends_again() {
    let march = Blocking::new("march", &[("tile_x", 32), ("tile_y", 8), ("chunk", 128)]);
    let card = Card::default();
    let ghosts = (1.0 + 16.0 / 512.0) * (1.0 + 2.0 / 512.0) * (1.0 + 2.0 / 512.0);
    // 16 blocks a row: 16 of 132 have their neighbour along y in the next wave, which moves
    // 132 * 32 * 8 * 128 cells of 8 bytes and more.
    let rims = 2.0 / 128.0 + 16.0 / 132.0 * 2.0 / 8.0;
    assert!(close(memory(march.clone(), 512, &card), 4.0 * (ghosts + 1.0 + rims)));
    // One chunk has no neighbour.
    let whole = Blocking::new("march", &[("tile_x", 32), ("tile_y", 8), ("chunk", 512)]);
    let rims = 16.0 / 132.0 * 2.0 / 8.0;
    assert!(close(memory(whole, 512, &card), 4.0 * (ghosts + 1.0 + rims)));
    let large = Card { cache: 1 << 40, ..card };
    assert!(close(memory(march, 512, &large), 4.0 * (ghosts + 1.0)));
}

#[test]
fn rows_are_none_of_a_card() {
    let costs = cost_of(&heat("euler"), Blocking::new("rows", &[]), 4);
    assert_eq!(costs[0].memory_bytes([64; 3], &Card::default()), None);
}
