//! Fused substeps give the bits of single ones, for any placement of the fields between them.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::schedule::text;
use stencil_compiler::search::{heuristic, presets};
use stencil_tests::{OrPanic, Reference, algorithm_of};

/// Returns two fields that react, in so many dimensions, with a time scheme.
fn reacting(dimension: usize, time: &str, order: u32) -> Algorithm {
    algorithm_of(&format!(
        "system Reacting in {dimension}d {{ field u: scalar; field v: scalar; param k: real = 0.3;
            ddt(u) = lap(u) - u * v^2; ddt(v) = k * div(u * grad(v)) + u * v^2; }}
         scheme s for Reacting {{ space: central<order = {order}>; mixed: composed; time: {time}; }}"
    ))
}

/// Fields between fused substeps: recomputed, in shared memory, in columns; steps and parts of one.
#[test]
fn fused_substeps_have_the_same_bits() {
    for (time, fuse) in [
        ("euler", 2),
        ("euler", 3),
        ("ssprk2", 2),
        ("rk3_williamson", 2),
        ("rk3_williamson", 3),
        ("rk3_williamson<storage = accumulator>", 2),
        ("rk3_williamson<storage = accumulator>", 3),
    ] {
        for (dimension, cells) in [(3, [20, 9, 11]), (2, [52, 21, 1]), (1, [70, 1, 1])] {
            let algorithm = reacting(dimension, time, 2);
            let problem = algorithm.fused(fuse).or_panic();
            let steps = 2 * algorithm.steps_of(fuse);
            let reference = Reference::<f32>::new(&algorithm, cells, steps);
            let tile = ["", "tile_x=64", "tile_x=32 tile_y=4"][dimension - 1];
            let blockings = [
                "direct".to_string(),
                format!("march {tile} chunk=8"),
                format!("march {tile} chunk=5 column=2 points=2 prologue=1"),
                format!("march {tile} column=0 prefetch_point=1"),
                format!("march {tile} chunk=6 loader=1 column=2"),
                format!("march {tile} chunk=7 points=2 barrier=1 prologue=1"),
                format!("march {tile} chunk=6 loader=1 column=2 barrier=1"),
            ];
            for (seed, blocking) in blockings.iter().enumerate() {
                let is_direct = seed == 0;
                if dimension == 1 && !is_direct {
                    continue;
                }
                let mut schedule =
                    text::parse(&format!("schedule fuse {fuse} kernel {blocking}")).or_panic();
                if !is_direct {
                    schedule.placements = heuristic::fused(&problem);
                    assert!(!schedule.placements.is_empty());
                }
                if seed % 2 == 1 {
                    heuristic::carry(&problem, &mut schedule.placements);
                }
                reference.agree(&schedule, seed as u64);
            }
        }
    }
    let algorithm = reacting(3, "euler", 2);
    let reference = Reference::<f64>::new(&algorithm, [36, 9, 19], 2);
    let preset = presets::find("fused").expect("a preset");
    let mut schedule = preset.schedule(&algorithm, Precision::F64);
    assert_eq!(schedule.fuse, 2);
    reference.agree(&schedule, 9);
    for (seed, loader) in [0, 1, 2].into_iter().enumerate() {
        let params = &mut schedule.kernels[0].params;
        params.extend([("barrier".to_string(), 1), ("loader".to_string(), loader)]);
        reference.agree(&schedule, seed as u64);
    }
}
