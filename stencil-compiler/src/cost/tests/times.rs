//! The use of a card's resources by kernels, and their times.

use super::*;
use crate::compile::{Target, compile};

#[test]
fn times_follow_what_bounds_a_kernel() {
    let algorithm = heat("rk3_williamson<storage = accumulator>");
    let cells = [256; 3];
    let time = |blocking: &Blocking, rates: &Rates, registers: (u32, u32)| {
        let costs = cost_of(&algorithm, blocking.clone(), 8);
        costs[1].time(cells, rates, registers)
    };
    let h200 = MODELS[0].rates;
    let march = Blocking::new("march", &[("tile_x", 64), ("tile_y", 8)]);
    let usual = time(&march, &h200, (64, 0)).unwrap();
    // A field and an accumulator are read and written at a few operations.
    assert_eq!(usual.limit().0, Limit::Memory);
    assert!(usual.total >= usual.memory && usual.total < 2.0 * usual.memory);
    // Half the bandwidth takes twice the time; spills take more.
    let slow = Rates { copy_bytes: h200.copy_bytes / 2.0, ..h200 };
    let slower = time(&march, &slow, (64, 0)).unwrap();
    assert!(close(slower.memory, 2.0 * usual.memory) && slower.total > 1.5 * usual.total);
    assert!(time(&march, &h200, (64, 800)).unwrap().total > usual.total);
    // A share of the clock is another clock.
    let (mut held, spills) = (h200, (64, 4_000));
    held.clock *= 0.8;
    let at = time(&march, &h200, spills).unwrap().at(0.8);
    assert!(close(at, time(&march, &held, spills).unwrap().total));
    let rows = cost_of(&algorithm, Blocking::new("rows", &[]), 8);
    assert!(rows[1].time(cells, &h200, (64, 0)).is_none());
    // Shared memory of the oldest card.
    let large = Blocking::new("march", &[("tile_x", 128), ("tile_y", 8), ("ring", 9)]);
    assert!(time(&large, &h200, (64, 0)).is_some());
    assert!(time(&large, &model("k40").unwrap().rates, (64, 0)).is_none());
}

#[test]
fn ranks_are_correlated_whatever_the_scale() {
    let rising: Vec<(f64, f64)> = (0..9).map(|i| (f64::from(i), f64::from(i * i))).collect();
    assert!(close(rank_correlation(&rising), 1.0));
    let falling: Vec<(f64, f64)> = rising.iter().map(|(a, b)| (*a, -b)).collect();
    assert!(close(-rank_correlation(&falling), 1.0));
    assert!(rank_correlation(&[]) == 0.0 && rank_correlation(&rising[..1]) == 0.0);
}

/// Costs that no count of instructions contains: starting blocks, waiting, banks of shared memory.
#[test]
fn small_blocks_and_exposed_waits_take_time() {
    let algorithm = heat("euler");
    let total = |strategy: &str, params: &[(&str, u32)]| {
        let costs = cost_of(&algorithm, Blocking::new(strategy, params), 4);
        let time = costs[0].time([512; 3], &MODELS[0].rates, (32, 0));
        time.unwrap_or_default().total
    };
    let direct = |x, y, z| total("direct", &[("x", x), ("y", y), ("z", z)]);
    // A block of one warp starts as soon as one of eight; a multiprocessor with two large blocks idles more.
    assert!(direct(32, 1, 1) > 2.0 * direct(32, 8, 1));
    assert!(direct(128, 8, 1) > direct(128, 4, 1));
    // A march asks for planes ahead of time; a rolling box and a plane wait for their own requests.
    let tile = |strategy| total(strategy, &[("tile_x", 32), ("tile_y", 8), ("chunk", 128)]);
    assert!(tile("plane") > 1.2 * tile("march"));
    // Rows of 16 values and a rim overlap in the banks.
    let march = |x, y| total("march", &[("tile_x", x), ("tile_y", y), ("points", 1)]);
    assert!(march(16, 16) > 1.02 * march(32, 8));
}

/// There are no fills, and at most the work of the case in which all planes are boxes, as blocks away from ends have
/// it.
#[test]
fn boxes_inside_and_copies_at_ends_are_counted_as_boxes() {
    let algorithm = heat("euler");
    let cells = [256; 3];
    let target = Target::periodic(4, cells, MODELS[0].rates.device());
    let of = |loader: u32| {
        let params = [("tile_x", 32), ("tile_y", 8), ("loader", loader)];
        let schedule =
            Schedule { kernels: vec![Blocking::new("march", &params)], ..Schedule::default() };
        let compiled = compile(&algorithm, &schedule, &target).unwrap();
        let costs = kernels(&compiled).unwrap();
        let time = costs[0].time(cells, &MODELS[0].rates, (64, 0)).unwrap();
        (costs[0].work, time, Fills::of(&compiled.plan, cells, 4))
    };
    let (copies, boxes, both) = (of(0), of(1), of(2));
    assert!(copies.0.copies > 0 && copies.0.boxes == 0);
    assert!(boxes.0.copies == 0 && boxes.0.boxes > 0);
    assert!(both.0.copies > 0 && both.0.boxes == boxes.0.boxes);
    assert!(close(both.1.issue, boxes.1.issue));
    assert!(boxes.2.launches == 1 && boxes.2.bytes > 0.0);
    assert_eq!((copies.2.launches, both.2.launches), (0, 0));
}

/// A field with this many quotients one after the other.
fn fraction(quotients: usize) -> Algorithm {
    let fraction = (0..quotients).fold("q".to_string(), |inner, _| format!("1/(1 + {inner})"));
    let source = format!(
        "system Fraction in 3d {{ field q: scalar; ddt(q) = lap(q) + {fraction}; }}
        scheme s for Fraction {{ space: central<order = 2>; time: euler; }}"
    );
    discretize(&parse_str(&source).unwrap()).unwrap()
}

/// Values that wait for each other take time where few warps are there to fill it.
#[test]
fn a_lone_warp_waits_for_its_quotients() {
    let march = |params: &[(&str, u32)]| Blocking::new("march", params);
    let slim = march(&[("tile_x", 32), ("tile_y", 4), ("chunk", 128)]);
    let seconds = |cost: &KernelCost, registers: u32| {
        let time = cost.time([256; 3], &MODELS[0].rates, (registers, 0));
        time.unwrap().total
    };
    let cost = cost_of(&fraction(40), slim.clone(), 8).swap_remove(0);
    assert_eq!(cost.work.divisions, 40);
    // A quotient and the sum before it, one after the other.
    assert!((9 * 40..9 * 40 + 20).contains(&cost.work.chain));
    let mut loose = cost.clone();
    loose.work.chain = 0;
    // With 255 registers two blocks of four warps are there, with 40 twelve.
    let slower = |registers| seconds(&cost, registers) / seconds(&loose, registers);
    assert!(slower(255) > 2.0 && slower(40) < 1.3 && slower(255) > slower(128));
    // If nothing waits for long, the chain does not show.
    let heat = cost_of(&heat("euler"), slim, 8).swap_remove(0);
    let mut loose = heat.clone();
    loose.work.chain = 0;
    assert!(seconds(&heat, 40) < 1.005 * seconds(&loose, 40));
}

/// Spilled words stay in the first cache as long as they have room there, beside shared memory.
#[test]
fn spills_without_room_go_to_memory() {
    let blocking = Blocking::new("direct", &[("x", 32), ("y", 8), ("z", 1)]);
    let cost = cost_of(&heat("euler"), blocking, 8).swap_remove(0);
    let seconds = |cost: &KernelCost, spilled: u32| {
        let time = cost.time([256; 3], &MODELS[0].rates, (255, spilled));
        time.unwrap().total
    };
    let more = |cost: &KernelCost, few, many| seconds(cost, many) - seconds(cost, few);
    // 256 threads that keep 400 bytes each have room, those that keep 4,000 do not.
    assert!(close(more(&cost, 400, 800), more(&cost, 0, 400)));
    assert!(more(&cost, 4_000, 8_000) > 20.0 * more(&cost, 0, 400));
    // Shared memory takes that room away.
    let full = KernelCost { shared_bytes: 220 << 10, ..cost.clone() };
    assert!(more(&full, 0, 800) > 1.5 * more(&cost, 0, 800));
}

/// Quotients keep the compiler from moving statements, so a march full of them needs the registers that its order asks
/// for.
#[test]
fn quotients_need_registers_and_spill_sooner() {
    let blocking = Blocking::new("march", &[("tile_x", 32), ("tile_y", 8)]);
    let mut cost = cost_of(&fraction(20), blocking, 8).swap_remove(0);
    let straight = |cost: &KernelCost| {
        let mut straight = cost.clone();
        straight.work.divisions = 1;
        straight.likely_registers()
    };
    (cost.registers, cost.threads, cost.blocks) = (100, 256, 1);
    assert_eq!(straight(&cost), (100, 0));
    assert_eq!(cost.likely_registers(), (134, 0));
    // 128 registers are not enough: 185 of 218 at once, and each lacking one is spilled more than once.
    (cost.registers, cost.blocks) = (184, 2);
    assert_eq!(straight(&cost), (128, 8 * (147 - 128)));
    assert_eq!(cost.likely_registers(), (128, 485));
    // Nor are there fewer than the estimate for those that compute planes of shared memory.
    let mut staged = cost.clone();
    (staged.ahead, staged.work.shared_stores) = (true, 1);
    assert_eq!(straight(&staged), (128, 14 * (184 - 128 - 8)));
    // Addresses of many arrays take registers, but are computed again if none are free.
    (cost.registers, cost.blocks) = (100, 1);
    let input = cost.inputs[0].clone();
    cost.inputs.resize(30, input);
    let arrays = 30 + cost.outputs.len() as u32;
    assert_eq!(cost.likely_registers(), (134 + 5 * (arrays - 16), 0));
}

/// Threads that wait for planes which others compute lose cycles in each iteration, and overlap less.
#[test]
fn marches_that_compute_planes_wait_for_them() {
    let blocking = Blocking::new("march", &[("tile_x", 32), ("tile_y", 8), ("chunk", 256)]);
    let alone = cost_of(&heat("euler"), blocking, 4).swap_remove(0);
    assert!(alone.ahead && alone.work.shared_stores == 0);
    let (cells, rates) = ([256; 3], MODELS[0].rates);
    // One block on a multiprocessor, because of its registers.
    let time = |cost: &KernelCost| cost.time(cells, &rates, (255, 0)).unwrap();
    let of = |stores: u64, syncs: u64, ahead: bool| {
        let mut cost = alone.clone();
        (cost.work.shared_stores, cost.work.syncs) = (stores, syncs);
        (cost.ahead, cost.shared_bytes) = (ahead, 200 << 10);
        time(&cost)
    };
    let (loads, whole, split) = (of(0, 1, true), of(1, 1, true), of(1, 0, true));
    assert!(loads.together == 0.0 && whole.total > split.total && split.total > loads.total);
    // 8 by 32 blocks of 256 iterations, and two planes more.
    let iterations = 8.0 * 32.0 * (256.0 + 2.0);
    let cycles = iterations / (f64::from(rates.card.units) * rates.clock);
    assert!(close(whole.together, 300.0 * cycles * whole.waste));
    assert!(close(split.together, whole.together / 3.0));
    // Cycles go with the clock.
    let slower = whole.at(0.5) - loads.at(0.5);
    assert!(slower > 2.0 * whole.together);
    // A plane that waits for its own loads pays for that alone.
    assert!(close(of(1, 1, false).total, of(0, 1, false).total));
}

/// A wave with half of the blocks that there is room for takes more than half of the time of a full one, and less than all.
#[test]
fn blocks_of_a_wave_that_is_not_full_have_more_each() {
    let rates = MODELS[0].rates;
    let units = rates.card.units as usize;
    let blocking = Blocking::new("direct", &[("x", 32), ("y", 1), ("z", 1)]);
    let cost = cost_of(&heat("euler"), blocking, 8).swap_remove(0);
    // 16 blocks of 32 threads with this many registers.
    let waste = |blocks: usize| {
        let time = cost.time([32 * units, blocks, 1], &rates, (128, 0));
        time.unwrap().waste
    };
    assert!(close(waste(16), 1.0) && close(waste(32), 1.0));
    assert!(close(waste(8), 2.0_f64.sqrt().sqrt()));
    assert!(close(waste(24) * 1.5, 1.0 + 0.5 * waste(8)));
}
