//! Barriers around shared functions that are split compile on every architecture, and leave no barrier
//! of the block in the loop.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::emit;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::Kernel;
use stencil_compiler::schedule::{Blocking, Schedule};
use stencil_compiler::search::heuristic;
use stencil_runtime::backend::cuda::capability;
use stencil_tests::{ISOTHERMAL_NS, OrPanic, algorithm_of, with_mixed};

use super::device_code::text;
use super::nvrtc::{ARCHITECTURES, compiler, resources};
use super::storage::{ACCUMULATORS, by};

/// Returns kernels that share functions within a substep, and new fields between two.
fn kernels(time: &str, precision: Precision, params: &[(&str, u32)]) -> Vec<Kernel> {
    let flow = algorithm_of(&by(&with_mixed(ISOTHERMAL_NS, "composed"), time));
    let heat = algorithm_of(
        "system Heat in 2d { field q: scalar; ddt(q) = lap(q) + d[x](q)*d[y](q); }
         scheme s for Heat { space: central<order = 4>; mixed: composed; time: euler; }",
    );
    let pair = heat.fused(2).or_panic();
    let on = |tile: &[(&str, u32)]| vec![Blocking::new("march", &[tile, params].concat())];
    let within = Schedule {
        placements: heuristic::shared(&flow),
        kernels: on(&[("tile_x", 32), ("tile_y", 8)]),
        ..Schedule::default()
    };
    let between = Schedule {
        fuse: 2,
        placements: heuristic::fused(&pair),
        kernels: on(&[("tile_x", 128)]),
        ..Schedule::default()
    };
    let first = |algorithm: &Algorithm, schedule: &Schedule| {
        let compiled = compile(algorithm, schedule, &Target::new(precision.bytes())).or_panic();
        compiled.kernels.into_iter().next().expect("a kernel")
    };
    vec![first(&flow, &within), first(&heat, &between)]
}

#[test]
fn split_barriers_compile_and_leave_none_of_the_block() {
    for (time, more) in [("rk3_williamson", 96), (ACCUMULATORS, 64)] {
        for precision in [Precision::F32, Precision::F64] {
            for (loader, points) in [(0, 1), (1, 2)] {
                let params = [("points", points), ("loader", loader)];
                let split = kernels(time, precision, &[&params[..], &[("barrier", 1)]].concat());
                for (whole, split) in kernels(time, precision, &params).into_iter().zip(split) {
                    let waits = |kernel: &Kernel| kernel.operations().syncs;
                    assert_eq!((waits(&whole), waits(&split)), (1, 0));
                    compiles(whole, split, precision, more);
                }
            }
        }
    }
}

/// One slot more makes room for values that are written before the wait; registers hardly change. If they are at their limit
/// already, a split barrier may have so many bytes `more` spilled.
fn compiles(whole: Kernel, split: Kernel, precision: Precision, more: u32) {
    assert!(split.shared_bytes() > whole.shared_bytes());
    let shared = split.shared_bytes();
    let source = emit::cuda(&split, precision).or_panic();
    let [whole, split] = [whole, split].map(|kernel| text(kernel, precision));
    let Some(nvrtc) = compiler() else { return };
    for (architecture, most) in ARCHITECTURES {
        if shared > most || capability(architecture) < Some(source.needs) {
            continue;
        }
        let [whole, split] = [&whole, &split].map(|text| resources(nvrtc, text, architecture));
        let spilled = [&split, &whole].map(|of| of.spill_stores + of.spill_loads);
        println!(
            "{architecture}: {} registers, {} bytes spilled; {} and {} where all wait at once",
            split.registers, spilled[0], whole.registers, spilled[1]
        );
        assert!(spilled[0] <= spilled[1] + more, "{spilled:?}");
    }
}
