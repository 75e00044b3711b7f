//! Ghost cells that last for several substeps change no bit: between exchanges devices compute cells of their neighbours.

use crate::patches::{FLOW, faces, shown, text, water};
use stencil_runtime::compiler::schedule::{Halo, Placement, Schedule, text as schedules};
use stencil_runtime::compiler::search::presets;
use stencil_runtime::{Axis, Boundary, Builder, Number, Real, Simulation, SystemDef};

/// Returns a preset of a system for the processor whose ghost cells last for so many substeps.
fn lasting<T: Number>(system: &SystemDef, preset: &str, ghosts: usize) -> Schedule {
    let preset = presets::find(preset).unwrap_or_else(|| panic!("{preset}"));
    Schedule { ghosts, ..preset.schedule(system.algorithm(), T::PRECISION) }
}

/// Compares runs on several devices with a run in one patch.
fn check<T: Number>(about: &str, make: impl Fn() -> Builder<T>, steps: u64, cuts: &[[usize; 3]]) {
    let whole = shown(make(), steps).unwrap_or_else(|e| panic!("{about}: {e}"));
    for cut in cuts {
        let all: usize = cut.iter().product();
        for devices in [2, all].into_iter().filter(|devices| *devices <= all) {
            let parts = shown(make().patches(*cut).devices(devices), steps);
            let parts = parts.unwrap_or_else(|e| panic!("{about}, {cut:?} on {devices}: {e}"));
            assert!(parts == whole, "{about}, {cut:?} on {devices}");
        }
    }
}

#[test]
fn a_flow_has_the_same_bits() {
    for (dimension, cells, cuts) in [
        (1, [60, 1, 1], vec![[2, 1, 1], [3, 1, 1]]),
        (2, [48, 40, 1], vec![[1, 2, 1], [2, 2, 1]]),
        (3, [24, 8, 41], vec![[1, 1, 2], [1, 1, 3]]),
    ] {
        let system = text(&FLOW.replace("DIM", &dimension.to_string()));
        for walls in [false, true] {
            for preset in ["single_pass", "decomposed"] {
                let mut schedule = lasting::<f64>(&system, preset, 3);
                for placement in schedule.placements.values_mut().filter(|_| walls) {
                    if *placement == Placement::Global(Halo::Exchange) {
                        *placement = Placement::Global(Halo::Recompute);
                    }
                }
                let last = [Axis::X, Axis::Y, Axis::Z][dimension - 1];
                let make = || {
                    let run = Simulation::<f64>::builder(&system).cells(cells).dt(1e-4);
                    let run = run.schedule(schedule.clone());
                    if walls { run.boundary(last, Boundary::wall()) } else { run }
                };
                check(&format!("{dimension} {walls} {preset}"), make, 3, &cuts);
            }
        }
    }
}
