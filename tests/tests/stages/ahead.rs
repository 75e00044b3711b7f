//! Sums that are carried ahead, which complete on the plane of the iteration: alone, of each other and of other carried
//! functions, with the bits of the definition.

use std::collections::BTreeMap;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::kernel::{Kernel, Stmt};
use stencil_compiler::schedule::{Carry, Placement, Schedule, text};
use stencil_compiler::search::{heuristic, presets};
use stencil_compiler::{algorithm, expr::Op};
use stencil_tests::{
    Case, Layout, OrPanic, Reference, algorithm_of, differing, interpreted_on, oracle,
    takes_in_turn,
};

use super::invariance::STEPS;

type Placements = BTreeMap<String, Placement>;

/// Currents from a potential, multiplied by the field they flow across, beside stresses that nothing multiplies.
pub(super) const INDUCTION: &str =
    "system Induction in 3d { field a: vector; field u: vector; param nu: real = 0.3;
    let b = curl(a); let j = grad(div(a)) - lap(a);
    ddt(a) = cross(u, b) + nu*lap(a);
    ddt(u) = cross(j, b) - dot(u, grad(u)) + nu*(lap(u) + grad(div(u))/3); }
    scheme s for Induction { space: central<order = 4>; mixed: bidiagonal; time: rk3_williamson; }";

/// The same in the plane, with sums of two fields.
const FLAT: &str = "system Flat in 2d { field q: scalar; field w: scalar; param nu: real = 0.3;
    ddt(q) = d[x](w)*(d[x](d[y](w)) + d[x](d[y](q))) + nu*d[x](d[y](q));
    ddt(w) = q*d[y](d[x](w))^2 + lap(w)*d[x](q); }
    scheme s for Flat { space: central<order = 6>; mixed: bidiagonal; time: ssprk2; }";

fn schedule(source: &str) -> Schedule {
    text::parse(&format!("schedule {source}")).or_panic()
}

/// Returns placements by the rule, and with all that is carried ahead.
fn placed(algorithm: &Algorithm) -> [Placements; 2] {
    let (mut rule, mut all) = (Placements::new(), Placements::new());
    heuristic::carry_ahead(algorithm, &mut rule);
    heuristic::carry(algorithm, &mut all);
    for placement in all.values_mut() {
        if *placement == Placement::Carried(Carry::Behind) {
            *placement = Placement::Carried(Carry::Ahead);
        }
    }
    [rule, all]
}

fn same_bits<T: Real>(source: &str, cells: [usize; 3], blockings: &[&str]) {
    let algorithm = algorithm_of(source);
    let reference = Reference::<T>::new(&algorithm, cells, STEPS);
    let all = blockings.iter().enumerate();
    for (seed, blocking) in all.filter(|(seed, _)| takes_in_turn::<T>(*seed)) {
        for placements in placed(&algorithm) {
            let schedule = Schedule { placements, ..schedule(&format!("kernel {blocking}")) };
            reference.agree(&schedule, seed as u64);
        }
    }
}

const IN_SPACE: [&str; 6] = [
    "march tile_x=16 tile_y=4 points=1 chunk=5 prologue=1",
    "march tile_x=16 tile_y=8 points=2 chunk=3 column=0 prefetch_point=1 prologue=1",
    "march tile_x=16 tile_y=4 loader=1 chunk=4 prefetch_point=1",
    "march tile_x=16 tile_y=8 points=2 loader=2 chunk=64",
    "plane tile_x=16 tile_y=4 chunk=4",
    "plane tile_x=16 tile_y=8 points=2 buffers=1 chunk=16",
];

const IN_PLANE: [&str; 5] = [
    "march tile_x=64 chunk=5",
    "march tile_x=64 points=2 chunk=7 loader=1 prologue=1",
    "march tile_x=128 points=4 chunk=64 column=0 prefetch_point=1",
    "march tile_x=128 points=2 loader=2 chunk=8 prefetch_point=1 prologue=1",
    "plane tile_x=64 points=2 chunk=6",
];

#[test]
fn sums_ahead_have_the_same_bits_in_three_dimensions() {
    same_bits::<f32>(INDUCTION, [37, 9, 11], &IN_SPACE);
    same_bits::<f64>(INDUCTION, [36, 9, 7], &IN_SPACE);
    let sixth = INDUCTION.replace("order = 4", "order = 6");
    same_bits::<f64>(&sixth, [36, 7, 5], &IN_SPACE[..2]);
}

#[test]
fn sums_ahead_have_the_same_bits_in_two_dimensions() {
    same_bits::<f32>(FLAT, [140, 23, 1], &IN_PLANE);
    let of_two = [IN_PLANE[0], IN_PLANE[1], IN_PLANE[3], IN_PLANE[4]];
    same_bits::<f64>(FLAT, [75, 18, 1], &of_two);
}

/// Functions that ride along, of every kind: sums of registers, of shared functions, of each other; sums with offsets
/// to one side only; at every chunk's first planes and last.
#[test]
fn sums_ahead_of_what_rides_along_have_the_same_bits() {
    let chain = "algorithm Chain 3d scheme \"chain\" uniform c = 0.25 state q field state w field
        fn q = state q fn w = state w
        fn r = q[1,0,0] - w[-1,0,0]
        fn a = sum { - c * r[0,0,-2], + c * w[0,1,1], + r[0,0,2] }
        fn b = sum { + a[0,0,-1], - c * a, + q[-1,0,3] }
        fn f = sum { + q[0,0,-3], - c * w[1,0,-1] }
        fn g = sum { + c * q[0,0,1], - w[0,1,3] }
        fn h = fma(a, g, b * f)
        fn q_1 = fma(c, h, q)
        fn w_1 = fma(c, a * g, w)
        substep { q = q_1, w = w_1 }";
    let algorithm = algorithm::text::parse(chain).or_panic();
    let cells = [[21, 5, 9], [20, 6, 7]];
    let references = cells.map(|cells| Reference::<f32>::new(&algorithm, cells, STEPS));
    let carried = ["carried", "carried ahead"];
    let mut seed = 0;
    for of_r in ["inline", "register", "shared"] {
        for choice in 0..16_usize {
            let way = |at: usize| carried[choice >> at & 1];
            let placed = [way(0), way(1), way(2), way(3)];
            let placed: Vec<String> = ["a", "b", "f", "g"]
                .into_iter()
                .zip(placed)
                .map(|(name, way)| format!("place {name} {way} "))
                .collect();
            let more = match (of_r, seed % 3) {
                ("shared", 0) => "barrier=1 prologue=1",
                ("shared", 1) => "barrier=1 loader=1 column=2",
                ("shared", _) => "prologue=1 prefetch_point=1",
                (_, 1) => "points=2 loader=2 prologue=1",
                (_, 2) => "points=2 column=0 loader=1 prefetch_point=1",
                _ => "prologue=1 prefetch_point=1",
            };
            let source = format!(
                "place r {of_r} {} kernel march tile_x=16 tile_y=4 chunk={} {more}",
                placed.concat(),
                [3, 4, 64][seed % 3]
            );
            references[seed % 2].agree(&schedule(&source), seed as u64);
            seed += 1;
        }
    }
}

/// Kernels that store functions which others read around a cell, in ghost cells of their own, too.
#[test]
fn sums_ahead_of_what_is_stored_have_the_same_bits() {
    let chain =
        "algorithm Stored 3d scheme \"stored\" uniform c = 0.25 state q field fn q = state q
        fn a = sum { - c * q[1,0,-2], + c * q[0,1,1] }
        fn b = q[1,0,0] - q[-1,0,0]
        fn h = a * b
        fn k = sum { + h[1,0,-1], - c * h[0,-1,2], + c * q[0,1,3] }
        fn q_1 = fma(c, k * b, q)
        substep { q = q_1 }";
    let algorithm = algorithm::text::parse(chain).or_panic();
    for (seed, cells) in [[21, 5, 9], [20, 6, 7]].into_iter().enumerate() {
        let reference = Reference::<f64>::new(&algorithm, cells, STEPS);
        for halo in ["exchange", "recompute"] {
            for more in ["prologue=1", "loader=1 prefetch_point=1"] {
                let kernel = format!("kernel march tile_x=16 tile_y=4 chunk=3 {more}");
                let source = format!(
                    "place a carried ahead place h global {halo} place k carried ahead {kernel} {kernel}"
                );
                reference.agree(&schedule(&source), seed as u64);
            }
        }
    }
}

#[test]
fn sums_ahead_in_patches_and_fused_substeps_have_the_same_bits() {
    let algorithm = algorithm_of(INDUCTION);
    let case = Case::new(&algorithm, [8, 6, 9]);
    let reference = oracle::<f32>(&algorithm, &case, STEPS);
    let [placements, _] = placed(&algorithm);
    let march = schedule("kernel march tile_x=16 tile_y=4 chunk=2 prologue=1");
    let in_patches = Schedule { placements, ..march };
    let compiled = compile(&algorithm, &in_patches, &Target::new(4)).or_panic();
    for devices in [1, 2] {
        let patches = [2, 1, 3];
        let layout = Layout { patches, devices };
        let run = (&algorithm, &compiled);
        let found =
            interpreted_on::<f32>(layout, run.0, run.1, &case, STEPS, (1, Shadow::Full)).or_panic();
        assert_eq!(differing(&found, &reference), 0, "{devices} devices");
    }
    let heat = algorithm_of(
        "system Heat in 3d { field q: scalar; ddt(q) = lap(q)*d[x](d[z](q)); }
         scheme s for Heat { space: central<order = 2>; mixed: bidiagonal; time: euler; }",
    );
    let mut fused = schedule("fuse 2 kernel march tile_x=16 tile_y=4 chunk=5 barrier=1");
    let problem = heat.fused(2).or_panic();
    let [_, all] = placed(&problem);
    fused.placements = heuristic::fused(&problem);
    let late = all.into_iter().filter(|(name, _)| name.ends_with("_at_2"));
    let late: Placements = late.collect();
    assert!(late.values().any(|p| *p == Placement::Carried(Carry::Ahead)));
    fused.placements.extend(late);
    Reference::<f64>::new(&heat, [20, 6, 7], 2).agree(&fused, 3);
}

/// Returns the kernel of the second substep, and its notes on functions that ride along.
fn lowered(algorithm: &Algorithm, schedule: &Schedule) -> (Kernel, Vec<String>) {
    let compiled = compile(algorithm, schedule, &Target::new(4)).or_panic();
    let kernel = compiled.kernels[1].clone();
    let notes = kernel.notes.iter().filter(|n| n.contains("evaluated on"));
    let notes = notes.cloned().collect();
    (kernel, notes)
}

/// Factors complete on the plane of the iteration, and nothing is kept for them; other sums complete behind it.
#[test]
fn factors_complete_with_the_plane_and_sums_of_products_behind_it() {
    let algorithm = algorithm_of(INDUCTION);
    let blocked =
        |placements| Schedule { placements, ..schedule("kernel march tile_x=32 tile_y=4") };
    let [rule, _] = placed(&algorithm);
    assert!(!rule.values().any(|p| *p == Placement::Register));
    let (_, notes) = lowered(&algorithm, &blocked(rule));
    let (ahead, behind): (Vec<_>, Vec<_>) = notes.iter().partition(|n| n.contains("carried ahead"));
    assert!(ahead.len() == 3 && behind.len() == 3, "{notes:?}");
    for note in &ahead {
        assert!(note.contains("on plane p+2, complete on plane p+0, 4 registers"), "{note}");
    }
    for note in &behind {
        assert!(note.contains("on plane p+0, complete on plane p-2, 4 registers"), "{note}");
    }
    let mut late = Placements::new();
    heuristic::carry(&algorithm, &mut late);
    let (_, notes) = lowered(&algorithm, &blocked(late));
    assert!(notes.iter().any(|n| n.contains("complete on plane p-4")));
}

/// A preset carries factors ahead, and equals the one without if there are none.
#[test]
fn the_preset_is_carried_where_no_sum_is_a_factor() {
    let make = |name: &str, algorithm: &Algorithm| {
        let preset = presets::find(name).unwrap_or_else(|| panic!("no {name}"));
        preset.schedule(algorithm, Precision::F32)
    };
    let induction = algorithm_of(INDUCTION);
    assert_ne!(make("ahead", &induction), make("carried", &induction));
    let flow = algorithm_of(stencil_tests::ISOTHERMAL_NS);
    assert_eq!(make("ahead", &flow), make("carried", &flow));
}

fn operations(body: &[Stmt], of: Op) -> usize {
    let count = |stmt: &Stmt| match stmt {
        Stmt::If { body, .. } | Stmt::For { body, .. } => operations(body, of),
        Stmt::Let { op, .. } => usize::from(*op == of),
        _ => 0,
    };
    body.iter().map(count).sum()
}

/// A difference along x is in a first derivative and in two mixed ones, each of them a sum of its own. If all add on
/// one plane, it is formed once an iteration; if some add on a newer one, once for each of the two planes.
#[test]
fn differences_that_sums_share_are_formed_once_for_each_plane() {
    let shared =
        "algorithm Shared 3d scheme \"shared\" uniform c = 0.25 state q field fn q = state q
        fn e = q[1,0,0] - q[-1,0,0]
        fn first = sum { + c * e }
        fn mixed = sum { - c * e[0,0,-1], + c * e[0,0,1] }
        fn other = sum { + e[0,0,-1], + c * e, + c * e[0,0,1] }
        fn q_1 = fma(first, mixed, fma(other, c, q))
        substep { q = q_1 }";
    let algorithm = algorithm::text::parse(shared).or_panic();
    for (mixed, other, formed) in [
        ("carried", "carried", 2),
        ("carried ahead", "carried ahead", 2),
        ("carried", "carried ahead", 3),
        ("inline", "carried", 3),
    ] {
        let place = format!("place mixed {mixed} place other {other}");
        for points in [1, 2] {
            let march = format!("kernel march tile_x=32 tile_y=4 points={points}");
            let schedule = schedule(&format!("{place} {march}"));
            let compiled = compile(&algorithm, &schedule, &Target::new(4)).or_panic();
            let found = operations(&compiled.kernels[0].body, Op::Sub);
            assert_eq!(found, formed * points, "{place}");
        }
    }
}

#[test]
fn the_preset_gpu_carries_ahead_where_sums_behind_leave_too_few_registers() {
    let gpu = presets::find("gpu").unwrap();
    for (name, wanted) in [("mhd", true), ("isothermal_ns", false)] {
        let system = physics::systems::find(name).unwrap();
        for precision in [Precision::F32, Precision::F64] {
            let schedule = gpu.schedule(system.algorithm(), precision);
            let has = |carry| {
                let mut placements = schedule.placements.values();
                placements.any(|p| *p == Placement::Carried(carry))
            };
            assert!(has(Carry::Behind), "{name} {precision:?}");
            assert_eq!(has(Carry::Ahead), wanted, "{name} {precision:?}");
        }
    }
}
