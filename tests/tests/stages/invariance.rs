//! No schedule changes a bit: the row engine, every preset and sampled schedules on the kernel
//! interpreter, all against the oracle.

use std::collections::BTreeSet;

use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::Multiprocessor;
use stencil_compiler::kernel::lower::lower;
use stencil_compiler::plan::Step;
use stencil_compiler::schedule::{Carry, Placement, strategies, text};
use stencil_compiler::search::heuristic;
use stencil_compiler::search::space::{Draws, Space};
use stencil_tests::{
    ELASTIC, ISOTHERMAL_NS, OrPanic, Reference, algorithm_of, differing, larger, rename, samples,
    takes_in_turn, with_mixed,
};

pub(super) const ODD: [usize; 3] = [37, 9, 19];
/// Rows of whole copies, so that kernels may read around all ends.
const WHOLE: [usize; 3] = [36, 9, 19];
/// Slots of fields swap every step, so a schedule repeats itself after two.
pub(super) const STEPS: usize = 2;
const MIXED: [&str; 3] = ["bidiagonal", "product", "composed"];

fn engines_and_presets<T: Real>(source: &str) {
    for mixed in MIXED {
        let algorithm = algorithm_of(&with_mixed(source, mixed));
        Reference::<T>::new(&algorithm, ODD.map(larger), STEPS).agree_in_turn(0);
    }
}

/// Checks sampled schedules: as many as `count`, spread over the mixed forms.
fn sampled<T: Real>(source: &str, count: usize, seed: u64) {
    for (form, mixed) in MIXED.iter().enumerate() {
        let algorithm = algorithm_of(&with_mixed(source, mixed));
        let references =
            [ODD, WHOLE].map(|cells| Reference::<T>::new(&algorithm, cells.map(larger), STEPS));
        let space = Space::new(&algorithm, T::BYTES);
        let mut draws = Draws::new(seed + form as u64);
        for number in (form..samples(count)).step_by(MIXED.len()) {
            let schedule = space.sample(&mut draws).expect("legal schedules exist");
            // Forms and cells alternate with other periods.
            if takes_in_turn::<T>(number / MIXED.len() + form) {
                references[number % 2].agree(&schedule, number as u64);
            }
        }
    }
}

/// A blocking that samples hardly ever have would pass unseen, and so would a parameter that they never set.
#[test]
fn samples_hold_every_blocking() {
    let algorithm = algorithm_of(ISOTHERMAL_NS);
    let (space, mut draws) = (Space::new(&algorithm, 4), Draws::new(1));
    let (mut drawn, mut placed, mut fused) = (Vec::new(), BTreeSet::new(), 0);
    for _ in 0..120 {
        let schedule = space.sample(&mut draws).expect("legal schedules exist");
        fused += usize::from(schedule.fuse > 1);
        drawn.extend(schedule.kernels.into_iter().next());
        placed.extend(schedule.placements.into_values());
    }
    for strategy in strategies::ALL {
        let of = drawn.iter().filter(|kernel| kernel.strategy == strategy.name);
        let count = of.clone().count();
        assert!((8..40).contains(&count), "{count} of {}", strategy.name);
        for param in strategy.params {
            let values: BTreeSet<u32> = of.clone().map(|k| strategy.param(k, param.name)).collect();
            assert!(values.len() > 1, "{}: {} is {values:?}", strategy.name, param.name);
        }
    }
    assert!(fused > 0, "no fused substeps");
    for placement in [Carry::Behind, Carry::Ahead].map(Placement::Carried) {
        assert!(placed.contains(&placement), "no {placement:?}");
    }
}

#[test]
fn navier_stokes_has_the_same_bits_on_all_engines_in_f32() {
    engines_and_presets::<f32>(ISOTHERMAL_NS);
}

#[test]
fn navier_stokes_has_the_same_bits_on_all_engines_in_f64() {
    engines_and_presets::<f64>(ISOTHERMAL_NS);
}

#[test]
fn elastic_waves_have_the_same_bits_on_all_engines_in_f32() {
    engines_and_presets::<f32>(ELASTIC);
}

#[test]
fn elastic_waves_have_the_same_bits_on_all_engines_in_f64() {
    engines_and_presets::<f64>(ELASTIC);
}

#[test]
fn sampled_schedules_of_navier_stokes_have_the_same_bits_in_f32() {
    sampled::<f32>(ISOTHERMAL_NS, 24, 1);
}

#[test]
fn sampled_schedules_of_navier_stokes_have_the_same_bits_in_f64() {
    sampled::<f64>(ISOTHERMAL_NS, 24, 100);
}

#[test]
fn sampled_schedules_of_elastic_waves_have_the_same_bits_in_f32() {
    sampled::<f32>(ELASTIC, 24, 200);
}

#[test]
fn sampled_schedules_of_elastic_waves_have_the_same_bits_in_f64() {
    sampled::<f64>(ELASTIC, 24, 300);
}

/// Ghost cells of a stored grid function that are computed, not copied: kernels cover more than
/// the interior.
#[test]
fn recomputed_halos_have_the_same_bits() {
    let algorithm = algorithm_of(&with_mixed(ISOTHERMAL_NS, "composed"));
    let single = Reference::<f32>::new(&algorithm, ODD, 1);
    let double = Reference::<f64>::new(&algorithm, ODD, 1);
    for (number, blocking) in [
        "rows",
        "direct",
        "march tile_x=32 tile_y=4 chunk=8",
        "march tile_x=16 tile_y=8 points=2 chunk=16 column=0",
        "march tile_x=32 tile_y=4 chunk=8 loader=1",
        "plane tile_x=32 tile_y=4 chunk=8",
        "plane tile_x=16 tile_y=8 points=2 chunk=16 buffers=1",
    ]
    .into_iter()
    .enumerate()
    {
        let schedule =
            format!("schedule place div_u global recompute kernel {blocking} kernel {blocking}");
        single.agree_by(&schedule, 2);
        if takes_in_turn::<f64>(number) {
            double.agree_by(&schedule, 3);
        }
    }
}

/// Checks planes that come as boxes: carried and gathered functions, tiles and chunks that fit and that do not, rings
/// as short as may be, periodic axes that are filled all the same.
fn boxes<T: Real>(source: &str, cells: [[usize; 3]; 2]) {
    let algorithm = algorithm_of(source);
    let tiles = match algorithm.dimension {
        3 => [[32, 4], [16, 8], [64, 4], [32, 8]],
        _ => [[32, 8], [64, 8], [128, 8], [32, 8]],
    };
    for (at, cells) in cells.into_iter().enumerate() {
        let reference = Reference::<T>::new(&algorithm, cells, STEPS);
        for (seed, params) in
            ["chunk=8", "chunk=16 points=2 column=0", "chunk=5 points=2", "chunk=64 ring=9"]
                .into_iter()
                .enumerate()
        {
            let [x, y] = tiles[seed];
            let text = format!("schedule kernel march loader=1 tile_x={x} tile_y={y} {params}");
            let mut schedule = text::parse(&text).or_panic();
            // Each on one of the grids.
            if (at + seed) % 2 == 0 {
                heuristic::carry(&algorithm, &mut schedule.placements);
            }
            if takes_in_turn::<T>(at + seed) {
                reference.agree(&schedule, (at + 2 * seed) as u64);
            }
        }
    }
}

#[test]
fn boxes_have_the_same_bits_in_three_dimensions() {
    boxes::<f32>(ISOTHERMAL_NS, [ODD, WHOLE]);
    boxes::<f64>(ISOTHERMAL_NS, [ODD, [33, 9, 7]]);
    boxes::<f32>(ELASTIC, [ODD, [16, 8, 3]]);
    boxes::<f64>(ELASTIC, [ODD, WHOLE]);
}

#[test]
fn boxes_have_the_same_bits_in_two_dimensions() {
    let flow = ISOTHERMAL_NS.replace("in 3d", "in 2d");
    let waves = ELASTIC.replace("in 3d", "in 2d");
    let waves = waves.replace(", d2[z](w.z)]", "]");
    for source in [flow, waves] {
        boxes::<f32>(&source, [[45, 23, 1], [36, 18, 1]]);
        boxes::<f64>(&source, [[45, 23, 1], [36, 18, 1]]);
    }
}

/// Boxes are copied as they lie in memory: nothing is read around the end of an axis.
#[test]
fn boxes_need_ghost_cells() {
    let algorithm = algorithm_of(ISOTHERMAL_NS);
    let fills = |loader: u32| {
        let schedule = format!("schedule kernel march tile_x=32 tile_y=4 loader={loader}");
        let schedule = text::parse(&schedule).or_panic();
        let plan =
            compile(&algorithm, &schedule, &Target::new(4).around([true; 3])).or_panic().plan;
        let is_fill = |step: &&Step| matches!(step, Step::Fill { .. });
        (plan.steps.iter().filter(is_fill).count(), plan)
    };
    assert_eq!(fills(0).0, 0);
    let (filled, mut plan) = fills(1);
    assert!(filled > 0);
    assert_eq!(plan.launches[0].wrapped, [false; 3]);
    // A plan may come from a text.
    plan.launches[0].wrapped = [true, false, false];
    let refusal =
        lower(&algorithm, &plan, 0, (4, &Multiprocessor::NEWEST)).expect_err("it cannot wrap");
    assert!(refusal.message.contains("use `loader=0`"), "{}", refusal.message);
}

/// The same declaration with other names, orders and dimensions goes through the same code.
#[test]
fn other_orders_dimensions_and_names_have_the_same_bits() {
    for (order, cells) in [(2, [13, 9, 7]), (4, [12, 11, 9]), (8, [21, 10, 9])] {
        let source = ISOTHERMAL_NS.replace("order = 6", &format!("order = {order}"));
        small::<f64>(&source, cells);
    }
    let flat = ISOTHERMAL_NS.replace("in 3d", "in 2d");
    small::<f32>(&flat, [45, 23, 1]);
    small::<f64>(&flat.replace("order = 6", "order = 2"), [36, 18, 1]);
    small::<f64>(&ISOTHERMAL_NS.replace("in 3d", "in 1d"), [50, 1, 1]);
}

fn small<T: Real>(source: &str, cells: [usize; 3]) {
    for mixed in MIXED {
        let source = with_mixed(source, mixed);
        let algorithm = algorithm_of(&source);
        let renamed = algorithm_of(&rename(&rename(&source, "lnrho", "heat"), "u", "wind"));
        let references = [&algorithm, &renamed].map(|a| Reference::<T>::new(a, cells, STEPS));
        let [own, other] = references.each_ref().map(|reference| &reference.fields);
        assert_eq!(differing(own, other), 0, "names change bits: {mixed}");
        for reference in references {
            reference.agree_by_all(0);
        }
    }
}

/// A chain of stored functions: every other one uses the memory of one before, and one is computed together with a
/// function that it reads.
#[test]
fn shared_memory_and_kernels_have_the_same_bits() {
    let chain = "algorithm Chain 3d scheme \"chain\" state q field fn q = state q
        fn a = q[1,0,0] - q[0,0,-1]
        fn b = a[0,1,0] - a[-1,0,0]
        fn c = b[0,0,2] - b[0,-1,0]
        fn d = c[1,0,0] + c[0,0,1]
        fn e = d + q[0,1,1]
        fn f = d[0,0,-1] + e
        fn q_1 = f * 0.25
        substep { q = q_1 }";
    let algorithm = stencil_compiler::algorithm::text::parse(chain).or_panic();
    let reference = Reference::<f64>::new(&algorithm, [19, 11, 9], 3);
    for halo in ["exchange", "recompute"] {
        for blocking in [
            "rows",
            "direct",
            "lexicographic threads=96",
            "tile3d",
            "march tile_x=16 tile_y=4 chunk=8",
            "march tile_x=16 tile_y=4 chunk=8 loader=1",
        ] {
            let placed =
                ["a", "b", "c", "d", "e"].map(|name| format!("place {name} global {halo} "));
            let kernels = format!("kernel {blocking} ").repeat(5);
            let schedule = format!("schedule {} {kernels}", placed.concat());
            let schedule = text::parse(&schedule).or_panic();
            let plan = reference.agree_around([false; 3], &schedule, 7).plan;
            assert!(plan.memories() + 2 <= plan.buffers.len());
        }
    }
}

/// Fields and accumulators side by side, or fields in surfaces, for each blocking that reads cell by cell, with stored
/// functions and several passes.
#[test]
fn other_layouts_have_the_same_bits() {
    fn all<T: Real>(source: &str, cells: [usize; 3], schedules: &[&str]) {
        let algorithm = algorithm_of(source);
        let reference = Reference::<T>::new(&algorithm, cells, STEPS);
        let all = schedules.iter().enumerate();
        for (seed, schedule) in all.filter(|(seed, _)| takes_in_turn::<T>(*seed)) {
            for layout in ["aos", "surface"] {
                reference.agree_by(&format!("schedule layout {layout} {schedule}"), seed as u64);
            }
        }
    }
    let composed = with_mixed(ISOTHERMAL_NS, "composed");
    let schedules = [
        "kernel direct",
        "kernel lexicographic threads=64",
        "place div_u global exchange kernel direct kernel lexicographic",
        "place div_u global recompute kernel lexicographic kernel direct",
        "pass u_x 1 kernel direct kernel lexicographic",
    ];
    all::<f32>(&composed, ODD, &schedules);
    all::<f64>(&composed, WHOLE, &schedules[1..4]);
    let flat = ISOTHERMAL_NS.replace("in 3d", "in 2d");
    all::<f64>(&flat, [45, 23, 1], &schedules[..2]);
    all::<f64>(ELASTIC, [16, 8, 3], &schedules[..2]);
    let line = ISOTHERMAL_NS.replace("in 3d", "in 1d");
    all::<f32>(&line, [50, 1, 1], &["kernel lexicographic threads=7", "kernel direct"]);
}

/// Checks shared functions, read by neighbours along x, y and z, alone and of one another, with tiles and chunks that
/// fit and that do not.
fn staged<T: Real>(source: &str, cells: [usize; 3], placements: &str, blockings: &[&str]) {
    let algorithm = algorithm_of(source);
    let reference = Reference::<T>::new(&algorithm, cells, STEPS);
    let all = blockings.iter().enumerate();
    for (seed, blocking) in all.filter(|(seed, _)| takes_in_turn::<T>(*seed)) {
        let schedule = format!("schedule {placements} kernel march {blocking}");
        reference.agree_by(&schedule, seed as u64);
    }
}

#[test]
fn shared_functions_have_the_same_bits() {
    let source = with_mixed(ISOTHERMAL_NS, "composed");
    let blockings = [
        "tile_x=16 tile_y=8 points=2 chunk=16 column=0",
        "tile_x=32 tile_y=4 chunk=8 loader=1",
        "tile_x=16 tile_y=8 points=2 chunk=16 column=0 barrier=1",
        "tile_x=32 tile_y=4 chunk=8 loader=1 column=2 barrier=1",
    ];
    staged::<f32>(&source, ODD, "place div_u shared", &blockings);
    staged::<f64>(
        &source,
        WHOLE,
        "place div_u shared",
        &[
            "tile_x=32 tile_y=4 chunk=8",
            "tile_x=16 tile_y=8 chunk=5 barrier=1",
            "tile_x=32 tile_y=4 chunk=8 ring=9 loader=1 barrier=1",
        ],
    );
}

/// All functions that are evaluated at several places are shared, each made of others: rims of rims, with and without
/// corners.
#[test]
fn functions_made_of_shared_ones_have_the_same_bits() {
    for (dimension, cells) in [(2, [37, 19, 1]), (3, [21, 9, 7])] {
        let source = format!(
            "pub system Film in {dimension}d {{ field q: scalar; field w: scalar;
                ddt(q) = -lap(lap(q) - q^3) + d[x](w*d[y](q));
                ddt(w) = lap(lap(w)) + d[y](d[x](q)^2); }}
             scheme s for Film {{ space: central<order = 2>; mixed: composed; time: euler; }}"
        );
        let algorithm = algorithm_of(&source);
        let names = heuristic::recomputed(&algorithm);
        assert!(names.len() > 4);
        let placed: Vec<String> =
            names.iter().map(|(name, _)| format!("place {name} shared")).collect();
        let blockings = match dimension {
            2 => [
                "tile_x=32 chunk=8",
                "tile_x=64 points=2 chunk=16",
                "tile_x=64 chunk=8 barrier=1",
                "tile_x=128 points=2 chunk=16 loader=1 column=2 barrier=1",
            ],
            _ => [
                "tile_x=32 tile_y=4 chunk=8",
                "tile_x=16 tile_y=8 points=2",
                "tile_x=32 tile_y=4 chunk=8 column=2 barrier=1",
                "tile_x=32 tile_y=8 points=2 loader=1 barrier=1",
            ],
        };
        staged::<f32>(&source, cells, &placed.join(" "), &blockings);
        staged::<f64>(&source, cells, &placed.join(" "), &blockings[2..]);
    }
}
