//! One result: compiled code, the row engine and the oracle, on any number of threads and with any
//! instructions, give the same bits.

use physics::systems::{Acoustics, ElasticWave, Heat, IsothermalNs};
use stencil_runtime::compiler::algorithm::Role;
use stencil_runtime::compiler::algorithm::interp::Oracle;
use stencil_runtime::problem::Change;
use stencil_runtime::{Engine, Error, Instructions, Number, Simulation, SystemDef, ToSystem};

const STEPS: u64 = 3;
const EXTENT: [f64; 3] = [11.0, 6.0, 7.0];
const DT: f64 = 0.02;

/// Smooth values, different in every component and along every axis.
fn initial(component: usize, x: f64, y: f64, z: f64) -> f64 {
    let (c, tau) = (component as f64, std::f64::consts::TAU);
    let (x, y, z) = (
        tau * x / EXTENT[0],
        tau * y / EXTENT[1],
        tau * z / EXTENT[2],
    );
    0.1 * (x + 0.3 * c).sin() * (2.0 * y - 0.1 * c).cos()
        + 0.05 * (z + x + 0.7 * c).cos()
        + 0.02 * (3.0 * z - y).sin()
}

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
struct Way {
    engine: Engine,
    threads: usize,
    instructions: Instructions,
    preset: Option<&'static str>,
}

/// Returns the bits of all components after some steps.
fn run<T: Number>(system: &SystemDef, cells: [usize; 3], way: Way) -> Vec<Vec<u64>> {
    let mut builder = Simulation::<T>::builder(system)
        .cells(cells)
        .extent(EXTENT)
        .dt(DT)
        .unchecked_step(true)
        .engine(way.engine)
        .threads(way.threads)
        .instructions(way.instructions);
    if let Some(name) = way.preset {
        builder = builder.schedule(system.preset(name, T::PRECISION).unwrap());
    }
    let mut simulation = builder.build().unwrap();
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (i, name) in names.iter().enumerate() {
        simulation.set(name, |x, y, z| initial(i, x, y, z)).unwrap();
    }
    simulation.run(STEPS, |_, _| ()).unwrap();
    names
        .iter()
        .map(|name| {
            simulation
                .field(name)
                .unwrap()
                .iter()
                .map(|v| v.canonical_bits())
                .collect()
        })
        .collect()
}

/// Returns the same by the oracle.
fn oracle<T: Number>(system: &SystemDef, cells: [usize; 3]) -> Vec<Vec<u64>> {
    let algorithm = system.algorithm();
    let params: Vec<f64> = algorithm
        .params
        .iter()
        .map(|p| p.default.unwrap())
        .collect();
    let spacing: [f64; 3] = std::array::from_fn(|axis| EXTENT[axis] / cells[axis] as f64);
    let mut oracle = Oracle::<T>::new(algorithm, cells, &params, spacing, DT).unwrap();
    let fields: Vec<_> = algorithm.states_of(Role::Field).map(|(id, _)| id).collect();
    for (i, id) in fields.iter().enumerate() {
        let mut values = Vec::new();
        for z in 0..cells[2] {
            for y in 0..cells[1] {
                for x in 0..cells[0] {
                    let at = [x, y, z];
                    let [x, y, z]: [f64; 3] =
                        std::array::from_fn(|axis| 0.0 + at[axis] as f64 * spacing[axis]);
                    values.push(T::from_f64(initial(i, x, y, z)));
                }
            }
        }
        oracle.set(*id, &values);
    }
    (0..STEPS).for_each(|_| oracle.step());
    fields
        .iter()
        .map(|id| oracle.get(*id).iter().map(|v| v.canonical_bits()).collect())
        .collect()
}

fn all_ways_agree<T: Number>(system: &SystemDef, cells: [usize; 3], presets: &[&'static str]) {
    let reference = oracle::<T>(system, cells);
    assert!(reference.iter().flatten().any(|bits| *bits != 0));
    let best = Instructions::best();
    let engines = if system.is_compiled() {
        [Engine::Compiled, Engine::Rows].to_vec()
    } else {
        vec![Engine::Rows]
    };
    let mut ways = Vec::new();
    for engine in engines {
        ways.extend([1, 2, 7].map(|threads| Way {
            engine,
            threads,
            instructions: best,
            preset: None,
        }));
        let slower = Instructions::available();
        ways.extend(slower.into_iter().map(|instructions| Way {
            engine,
            threads: 2,
            instructions,
            preset: None,
        }));
    }
    ways.extend(presets.iter().map(|p| Way {
        engine: Engine::Rows,
        threads: 2,
        instructions: best,
        preset: Some(p),
    }));
    for way in ways {
        let result = run::<T>(system, cells, way);
        let differing = result
            .iter()
            .flatten()
            .zip(reference.iter().flatten())
            .filter(|(a, b)| a != b)
            .count();
        assert_eq!(differing, 0, "{} {way:?} {}", system.name(), T::NAME);
    }
}

const CELLS: [usize; 3] = [37, 22, 19];

#[test]
fn isothermal_ns_f32() {
    all_ways_agree::<f32>(
        &IsothermalNs.to_system().unwrap(),
        CELLS,
        &["rows", "decomposed", "gpu"],
    );
}

#[test]
fn isothermal_ns_f64() {
    all_ways_agree::<f64>(
        &IsothermalNs.to_system().unwrap(),
        CELLS,
        &["direct", "carried"],
    );
}

#[test]
fn elastic_waves() {
    all_ways_agree::<f64>(&ElasticWave.to_system().unwrap(), CELLS, &["decomposed"]);
}

#[test]
fn heat_in_a_plane() {
    all_ways_agree::<f32>(&Heat::<2>.to_system().unwrap(), [70, 45, 1], &["rows"]);
    all_ways_agree::<f64>(&Heat::<2>.to_system().unwrap(), [2, 3, 1], &[]);
}

/// Rings keep rows of slopes and fluxes: some meshes are cut along x, others along y, or into parts for threads.
#[test]
fn sound_as_a_conservation_law() {
    let plane = Acoustics::<2>.to_system().unwrap();
    all_ways_agree::<f64>(&plane, [37, 90, 1], &["rows", "decomposed"]);
    all_ways_agree::<f32>(&plane, [2001, 9, 1], &[]);
    let space = Acoustics::<3>.to_system().unwrap();
    all_ways_agree::<f64>(&space, [9, 40, 35], &["rows"]);
}

#[test]
fn stored_derivatives_of_a_composed_scheme() {
    let source = physics::systems::ALL
        .iter()
        .find(|d| d.name == "IsothermalNs")
        .unwrap()
        .model;
    let composed = SystemDef::from_text(
        "composed",
        &source.replace("mixed: bidiagonal", "mixed: composed"),
    )
    .unwrap();
    assert!(composed.schedule().kernels.len() > 1, "div u is stored");
    all_ways_agree::<f64>(&composed, CELLS, &["rows", "decomposed"]);
    all_ways_agree::<f32>(&composed, [5, 4, 3], &["decomposed"]);
}

#[test]
fn a_recomputed_halo_is_no_other_result() {
    let source = physics::systems::ALL
        .iter()
        .find(|d| d.name == "IsothermalNs")
        .unwrap()
        .model;
    let composed = SystemDef::from_text(
        "composed",
        &source.replace("mixed: bidiagonal", "mixed: composed"),
    )
    .unwrap();
    let mut schedule = composed.schedule().clone();
    let recompute = stencil_runtime::compiler::schedule::Placement::Global(
        stencil_runtime::compiler::schedule::Halo::Recompute,
    );
    schedule
        .placements
        .values_mut()
        .for_each(|placement| *placement = recompute);
    let of = |schedule| {
        let mut simulation = Simulation::<f64>::builder(&composed)
            .cells([9, 8, 7])
            .dt(DT)
            .schedule(schedule)
            .build()
            .unwrap();
        simulation
            .set_vector("u", |x, y, z| {
                [
                    initial(0, y, z, x),
                    initial(1, x, y, z),
                    initial(2, z, x, y),
                ]
            })
            .unwrap();
        simulation.run(STEPS, |_, _| ()).unwrap();
        simulation.to_f64("u_y").unwrap()
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
        .unwrap();
    simulation
        .set("temperature", |x, y, _| (9.0 * x).sin() * y)
        .unwrap();
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
        let problem = built_in.open(&fewer).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(problem.title, built_in.summary);
        assert!(!problem.plots.is_empty(), "{} shows nothing", built_in.name);
        let mut simulation = problem.builder::<f32>().build().unwrap();
        problem.initialize(&mut simulation).unwrap();
        simulation.run(1, |_, _| ()).unwrap();
        assert!(
            !simulation.observe().unwrap().is_empty(),
            "{}",
            built_in.name
        );
    }
}
