//! Marches that read around the ends of periodic axes, by copies in the blocks there and boxes in all others: the bits
//! are those of the definition, for any wrapped axes.

use stencil_compiler::compile::{Compiled, Target, compile};
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::{Kernel, Stmt};
use stencil_compiler::plan::Step;
use stencil_compiler::schedule::{Schedule, text};
use stencil_compiler::search::heuristic;
use stencil_tests::{
    ELASTIC, ISOTHERMAL_NS, OrPanic, Reference, algorithm_of, takes_in_turn, with_mixed,
};

use crate::invariance::STEPS;

/// Rows of whole copies, and tiles of 16 and 32 cells by 4 and 8 away from all ends.
const CELLS: [usize; 3] = [72, 21, 7];

fn schedule(text: &str) -> Schedule {
    text::parse(text).or_panic()
}

fn count(body: &[Stmt], is: fn(&Stmt) -> bool) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::For { body, .. } | Stmt::If { body, .. } => count(body, is),
        other => usize::from(is(other)),
    };
    body.iter().map(of).sum()
}

fn boxes(kernel: &Kernel) -> usize {
    count(&kernel.body, |stmt| matches!(stmt, Stmt::CopyBox { .. }))
}

fn copies(kernel: &Kernel) -> usize {
    count(&kernel.body, |stmt| matches!(stmt, Stmt::Copy { .. }))
}

fn fills(compiled: &Compiled) -> usize {
    let is_fill = |step: &&Step| matches!(step, Step::Fill { .. });
    compiled.plan.steps.iter().filter(is_fill).count()
}

/// Checks gathered and carried functions, tiles and chunks that fit and that do not, rings as short as may be.
fn around<T: Real>(source: &str, cells: [usize; 3], blockings: &[&str]) {
    let algorithm = algorithm_of(source);
    let reference = Reference::<T>::new(&algorithm, cells, STEPS);
    let all = blockings.iter().enumerate();
    for (seed, blocking) in all.filter(|(seed, _)| takes_in_turn::<T>(*seed)) {
        let mut schedule = schedule(&format!("schedule kernel march loader=2 {blocking}"));
        if seed % 2 == 0 {
            heuristic::carry(&algorithm, &mut schedule.placements);
        }
        let compiled = reference.agree_around([true; 3], &schedule, seed as u64);
        assert_eq!(fills(&compiled), 0);
        for kernel in &compiled.kernels {
            assert!(boxes(kernel) > 0 && copies(kernel) > 0);
        }
    }
}

#[test]
fn ends_have_the_same_bits_in_three_dimensions() {
    let blockings = [
        "tile_x=32 tile_y=4 chunk=4",
        "tile_x=16 tile_y=8 points=2 chunk=5 column=0",
        "tile_x=16 tile_y=8 points=2 chunk=64",
        "tile_x=32 tile_y=4 chunk=64 ring=9",
    ];
    around::<f32>(ISOTHERMAL_NS, CELLS, &blockings);
    around::<f64>(ISOTHERMAL_NS, [70, 19, 8], &blockings[..2]);
    around::<f32>(ELASTIC, [40, 17, 5], &blockings[2..]);
    around::<f64>(ELASTIC, CELLS, &blockings[1..3]);
}

#[test]
fn ends_have_the_same_bits_in_two_dimensions() {
    let blockings =
        ["tile_x=32 chunk=8", "tile_x=64 points=2 chunk=5 column=0", "tile_x=64 chunk=64"];
    let flow = ISOTHERMAL_NS.replace("in 3d", "in 2d");
    let waves = ELASTIC.replace("in 3d", "in 2d");
    let waves = waves.replace(", d2[z](w.z)]", "]");
    for source in [flow, waves] {
        around::<f32>(&source, [204, 23, 1], &blockings);
        around::<f64>(&source, [202, 18, 1], &blockings);
    }
}

/// Rows that are no whole copies, walls, several patches: some axes are wrapped and others have ghost cells.
#[test]
fn some_axes_have_ends_and_others_ghost_cells() {
    let algorithm = algorithm_of(ISOTHERMAL_NS);
    let schedule = schedule("schedule kernel march loader=2 tile_x=16 tile_y=4 chunk=4");
    for (seed, (cells, axes)) in [
        ([37, 21, 7], [false, true, true]),
        ([72, 21, 7], [true, false, false]),
        ([72, 9, 7], [true, false, true]),
        ([37, 21, 7], [false, true, false]),
        ([37, 9, 7], [false, false, true]),
    ]
    .into_iter()
    .enumerate()
    {
        let reference = Reference::<f32>::new(&algorithm, cells, STEPS);
        let compiled = reference.agree_around(axes, &schedule, seed as u64);
        assert_eq!(compiled.plan.launches[0].wrapped, axes);
        let is_across = axes[0] || axes[1];
        for kernel in &compiled.kernels {
            assert!(boxes(kernel) > 0);
            // Along the march each plane may be from the other end.
            assert_eq!(copies(kernel) > 0, is_across);
            assert_eq!(kernel.barriers.len(), 2 + usize::from(is_across));
        }
    }
}

/// Kernels that store functions which others read around ends, or in ghost cells of their own; shared functions, with
/// one barrier and with a split one; fused substeps.
#[test]
fn ends_have_the_same_bits_whatever_is_placed() {
    let algorithm = algorithm_of(&with_mixed(ISOTHERMAL_NS, "composed"));
    let march = "kernel march loader=2 tile_x=16 tile_y=4 chunk=5";
    let schedules = [
        format!("place div_u global exchange {march} {march}"),
        format!("place div_u global recompute {march} {march}"),
        format!("place div_u global recompute {march} kernel direct"),
        format!("place div_u global exchange kernel direct {march}"),
        format!("place div_u shared {march}"),
        format!("place div_u shared {march} barrier=1 column=2 ring=9"),
    ];
    let cells = [56, 17, 7];
    let reference = Reference::<f32>::new(&algorithm, cells, STEPS);
    for (seed, text) in schedules.iter().enumerate() {
        let schedule = schedule(&format!("schedule {text}"));
        reference.agree_around([true; 3], &schedule, seed as u64);
    }
    let heat = "system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
        scheme s for Heat { space: central<order = 2>; mixed: bidiagonal; time: euler; }";
    let heat = algorithm_of(heat);
    let mut fused = schedule(&format!("schedule fuse 2 {march}"));
    let problem = heat.fused(fused.fuse).or_panic();
    fused.placements = heuristic::fused(&problem);
    Reference::<f64>::new(&heat, cells, STEPS).agree_around([true; 3], &fused, 0);
}

/// A kernel of stored fluxes reads behind its tiles and never before them.
#[test]
fn ends_have_the_same_bits_where_only_what_is_behind_is_read() {
    let law = algorithm_of(
        "system Traffic in 3d {
            conserved q: scalar; flux q -> [q*q/2, q*q/3, 0.25*q]; waves { sound: 1 + q*q; }
        }
        scheme s for Traffic { reconstruct: constant; riemann: rusanov; time: euler; }",
    );
    let reference = Reference::<f32>::new(&law, [56, 17, 7], STEPS);
    let placed = "place q_x_flux global exchange place q_y_flux global exchange place q_z_flux global exchange";
    let march = "kernel march loader=2 tile_x=16 tile_y=4 chunk=5";
    let schedule = schedule(&format!("schedule {placed} {march} kernel direct"));
    for (seed, axes) in
        [[true; 3], [true, false, true], [false, true, true]].into_iter().enumerate()
    {
        let compiled = reference.agree_around(axes, &schedule, seed as u64);
        let reads = compiled.plan.launches[0].inputs.iter().map(|(name, _)| name.as_str());
        assert_eq!(reads.collect::<Vec<_>>(), ["q"]);
        let fluxes = &compiled.kernels[0];
        assert!(boxes(fluxes) > 0 && copies(fluxes) > 0, "{axes:?}");
    }
}

/// If no end is read around, all blocks have boxes, and the kernels are the same.
#[test]
fn where_nothing_is_wrapped_all_planes_are_boxes() {
    let algorithm = algorithm_of(ISOTHERMAL_NS);
    let of = |loader: u32| {
        let text = format!("schedule kernel march loader={loader} tile_x=32 tile_y=4");
        let schedule = schedule(&text);
        compile(&algorithm, &schedule, &Target::new(4)).or_panic()
    };
    let (boxes, both) = (of(1), of(2));
    assert_eq!(boxes.kernels, both.kernels);
    assert!(fills(&both) > 0 && fills(&both) == fills(&boxes));
}

#[test]
fn fields_may_be_called_like_rings_and_barriers() {
    let source = "system Names in 3d {
        field ring: scalar; field full: scalar; field done: scalar; field copied: scalar;
        ddt(ring) = lap(full); ddt(full) = lap(done); ddt(done) = lap(copied); ddt(copied) = lap(ring);
    }
    scheme s for Names { space: central<order = 2>; mixed: bidiagonal; time: euler; }";
    let algorithm = algorithm_of(source);
    let reference = Reference::<f32>::new(&algorithm, [56, 17, 7], STEPS);
    let schedule = schedule("schedule kernel march loader=2 tile_x=32 tile_y=4");
    reference.agree_around([true; 3], &schedule, 1);
}
