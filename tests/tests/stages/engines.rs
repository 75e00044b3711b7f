//! One result: compiled code, the row engine and the oracle, on any number of threads and with any
//! instructions, give the same bits.

use physics::systems::{Acoustics, ElasticWave, Heat, IsothermalNs};
use stencil_compiler::model::text;
use stencil_compiler::schedule::{Halo, Placement};
use stencil_runtime::problem::Change;
use stencil_runtime::{Error, Simulation, SystemDef, ToSystem};
use stencil_tests::{Case, OrPanic, agree_in_all_ways, simulated, with_mixed};

/// Steps of runs that are compared with each other.
const STEPS: u64 = 3;
const CELLS: [usize; 3] = [37, 22, 19];

#[test]
fn isothermal_ns_f32() {
    agree_in_all_ways::<f32>(
        &IsothermalNs.to_system().or_panic(),
        CELLS,
        &["rows", "decomposed", "gpu"],
    );
}

#[test]
fn isothermal_ns_f64() {
    agree_in_all_ways::<f64>(&IsothermalNs.to_system().or_panic(), CELLS, &["direct", "carried"]);
}

#[test]
fn elastic_waves() {
    agree_in_all_ways::<f64>(&ElasticWave.to_system().or_panic(), CELLS, &["decomposed"]);
}

#[test]
fn heat_in_a_plane() {
    agree_in_all_ways::<f32>(&Heat::<2>.to_system().or_panic(), [70, 45, 1], &["rows"]);
    agree_in_all_ways::<f64>(&Heat::<2>.to_system().or_panic(), [2, 3, 1], &[]);
}

/// Rings keep rows of slopes and fluxes: some meshes are cut along x, others along y, or into parts for threads.
#[test]
fn sound_as_a_conservation_law() {
    let plane = Acoustics::<2>.to_system().or_panic();
    agree_in_all_ways::<f64>(&plane, [37, 90, 1], &["rows", "decomposed"]);
    agree_in_all_ways::<f32>(&plane, [2001, 9, 1], &[]);
    let space = Acoustics::<3>.to_system().or_panic();
    agree_in_all_ways::<f64>(&space, [9, 40, 35], &["rows"]);
}

/// Returns the library's isothermal gas by derivatives of derivatives.
fn composed() -> SystemDef {
    let declared = IsothermalNs.to_system().or_panic();
    let text = text::print(declared.model());
    SystemDef::from_text("composed", &with_mixed(&text, "composed")).or_panic()
}

#[test]
fn stored_derivatives_of_a_composed_scheme() {
    let composed = composed();
    assert!(composed.schedule().kernels.len() > 1, "div u is stored");
    agree_in_all_ways::<f64>(&composed, CELLS, &["rows", "decomposed"]);
    agree_in_all_ways::<f32>(&composed, [5, 4, 3], &["decomposed"]);
}

#[test]
fn a_recomputed_halo_is_no_other_result() {
    let composed = composed();
    let mut schedule = composed.schedule().clone();
    let placements = schedule.placements.values_mut();
    placements.for_each(|placement| *placement = Placement::Global(Halo::Recompute));
    let case = Case::new(composed.algorithm(), [9, 8, 7]);
    let of = |schedule| {
        simulated::<f64>(&composed, &case, STEPS, |builder| builder.schedule(schedule)).or_panic()
    };
    assert_eq!(of(schedule), of(composed.schedule().clone()));
}

#[test]
fn a_run_that_blows_up_says_where() {
    let mut simulation = Simulation::<f64>::builder(&Heat::<2>)
        .cells([16, 16, 1])
        .dt(1.0)
        .unchecked_step(true)
        .threads(1)
        .build()
        .or_panic();
    simulation.set("temperature", |x, y, _| (9.0 * x).sin() * y).or_panic();
    let error = simulation.run(400, |_, _| ()).unwrap_err();
    assert!(matches!(error, Error::NotFinite { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("`temperature` is not finite, or larger than")
            && text.contains("smaller time step"),
        "{text}"
    );
}

#[test]
fn problems_start() {
    for built_in in physics::problems::ALL {
        let fewer = [Change::set("mesh.cells=12"), Change::set("time.dt=1e-4")];
        let problem = built_in.open(&fewer).or_panic();
        assert_eq!(problem.title, built_in.summary);
        assert!(!problem.plots.is_empty(), "{} shows nothing", built_in.name);
        let mut simulation = problem.builder::<f32>().build().or_panic();
        problem.initialize(&mut simulation).or_panic();
        simulation.run(1, |_, _| ()).or_panic();
        assert!(!simulation.observe().or_panic().is_empty(), "{}", built_in.name);
    }
}
