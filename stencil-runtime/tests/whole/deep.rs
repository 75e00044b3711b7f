//! Ghost cells that last for several substeps change no bit: between exchanges devices compute cells of their neighbours.

use crate::boundaries::Vectors;
use crate::patches::{FLOW, faces, shown, text, water};
use stencil_runtime::compiler::schedule::{Halo, Placement, Schedule, text as schedules};
use stencil_runtime::compiler::search::presets;
use stencil_runtime::{Axis, Boundary, Builder, Engine, Number, Simulation, SystemDef};

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

/// Sources, repairs, observables, speeds and retakes, at each kind of face. Numbers on faces may be functions unless the
/// mesh is joined along a cut axis; functions of the user have no place where cells are computed twice.
fn laws<T: Number>() {
    let cuts = [[2, 1, 1], [1, 2, 1], [3, 2, 1]];
    for (about, boundary) in faces::<T>() {
        let make = || water(&boundary).ghosts(2);
        let cuts = match about {
            "functions of the user" => &[],
            "numbers beside what is periodic" => &cuts[1..2],
            _ => &cuts[..],
        };
        check(about, make, 4, cuts);
    }
}

#[test]
fn a_law_has_the_same_bits_at_every_kind_of_face() {
    laws::<f64>();
    laws::<f32>();
}

/// Patches that differ by a cell, several of them on a device, cut along all axes.
#[test]
fn patches_may_differ_by_a_cell() {
    let system = text(&FLOW.replace("DIM", "3").replace("order = 4", "order = 2"));
    for walls in [false, true] {
        let make = || {
            let run = Simulation::<f64>::builder(&system).cells([25, 19, 21]).dt(1e-4);
            let run = run.schedule(lasting::<f64>(&system, "single_pass", 3));
            let ends = [Boundary::outflow(), Boundary::wall(), Boundary::extrapolate()];
            match walls {
                true => Axis::ALL.into_iter().zip(ends).fold(run, |run, (a, b)| run.boundary(a, b)),
                false => run,
            }
        };
        check(&format!("{walls}"), make, 2, &[[2, 2, 2], [1, 3, 3]]);
    }
}

/// Accumulators come along where values are sent amid a step.
#[test]
fn some_substeps_of_a_step_have_the_same_bits() {
    for (time, ghosts) in
        [("rk4", 2), ("rk4_carpenter_kennedy", 5), ("ssprk43", 2), ("ssprk104", 5)]
    {
        let source = FLOW.replace("DIM", "2").replace("rk3_williamson", time);
        let system = text(&source.replace("order = 4", "order = 2"));
        let make = || {
            let run = Simulation::<f64>::builder(&system).cells([20, 49, 1]).dt(1e-4);
            run.schedule(lasting::<f64>(&system, "single_pass", ghosts))
                .boundary(Axis::X, Boundary::wall())
        };
        check(time, make, 3, &[[1, 2, 1]]);
    }
}

/// The compiled program computes rows beyond a patch like others.
#[test]
fn compiled_programs_have_the_same_bits() {
    for walls in [false, true] {
        let make = || {
            let run = Simulation::<f64>::builder(&Vectors).cells([48, 38, 37]).dt(1e-4);
            let run = run.engine(Engine::Compiled).ghosts(3);
            if walls { run.boundary(Axis::Y, Boundary::wall()) } else { run }
        };
        check(&format!("{walls}"), make, 2, &[[2, 1, 1], [1, 2, 2]]);
    }
}

/// Steps that are too long are done again, and values that are not finite are found in the cells of their own device.
#[test]
fn failures_are_those_of_one_device() {
    let burst = text(
        "pub system Burst in 1d { field q: scalar; ddt(q) = q^3 - q * d[x](q);
            cfl { advective: abs(q) } }
        scheme s for Burst { space: central<order = 2>; time: rk3_williamson; }",
    );
    let make = || {
        let run = Simulation::<f64>::builder(&burst).cells([64, 1, 1]).cfl(0.8).cfl_limit(0.8);
        run.ghosts(3)
    };
    check("burst", make, 5, &[[2, 1, 1], [4, 1, 1]]);
    let roots = text(
        "pub system Roots in 2d { field q: scalar; ddt(q) = sqrt(q) + lap(q); }
        scheme s for Roots { space: central<order = 2>; time: ssprk2; }",
    );
    let message = |patches: [usize; 3]| {
        let run = Simulation::<f64>::builder(&roots).cells([20, 8, 1]).dt(1e-4).ghosts(2);
        let run = run.patches(patches).devices(patches.iter().product::<usize>());
        let mut simulation = run.build().unwrap();
        let value = |x: f64, y: f64, _: f64| if x > 0.6 && y > 0.5 { -1e-3 } else { 2e-3 };
        simulation.set("q", value).unwrap();
        let error = simulation.run(9, |_, _| ()).unwrap_err();
        (error.to_string(), simulation.field("q").unwrap().sum().to_bits())
    };
    for patches in [[2, 1, 1], [2, 2, 1], [4, 1, 1]] {
        assert_eq!(message(patches), message([1; 3]), "{patches:?}");
    }
}

#[test]
fn ghost_cells_that_cannot_last_are_refused() {
    let flow = text(&FLOW.replace("DIM", "2"));
    let error = |of: &dyn Fn(Builder<f64>) -> Builder<f64>| {
        let run = Simulation::<f64>::builder(&flow).cells([40, 40, 1]).dt(1e-4);
        let run = of(run.patches([1, 2, 1]).devices(2).ghosts(3));
        run.build().unwrap_err().to_string()
    };
    let thin = error(&|run| run.cells([40, 22, 1]));
    assert!(thin.contains("12 deep along y then, where a patch has 11 cells"), "{thin}");
    let part = error(&|run| run.ghosts(2));
    assert!(part.contains("cannot last for 2 of the 3 substeps of a step; give 1 or 3"), "{part}");
    let custom = error(&|run| run.boundary(Axis::X, Boundary::custom(["q"], |at| at.nearest[0])));
    assert!(custom.contains("a boundary is a function of several components"), "{custom}");
    let function = Boundary::dirichlet_with(|_, y, _, _| y);
    let joined = error(&|run| run.boundary(Axis::X, function.clone()));
    assert!(joined.contains("across the periodic ends of y"), "{joined}");
    let twice = schedules::parse("schedule ghosts = 2 ghosts = 2").unwrap_err().message;
    assert_eq!(twice, "`ghosts` is given twice");
    let shown = schedules::print(&schedules::parse("schedule ghosts = 2 kernel direct").unwrap());
    assert_eq!(shown, "schedule\nghosts = 2\nkernel direct\n");
}
