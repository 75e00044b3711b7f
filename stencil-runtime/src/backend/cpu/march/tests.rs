//! Functions in rings have the same bits as functions in arrays.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::plan;
use stencil_compiler::schedule::{Blocking, Halo, Placement, Schedule};

use super::super::pipeline::{Pipeline, has_rings, substeps};
use crate::{Engine, Simulation, SystemDef};

/// Sound as conservation laws, whose slopes and fluxes are read at neighbours along each axis.
fn sound(dimension: usize) -> SystemDef {
    let source = format!(
        "pub system Sound in {dimension}d {{
            conserved p: scalar; conserved u: vector;
            param c: real = 1;
            flux p -> u; flux u -> p*I + outer(u, u)/4;
            waves {{ sound: c; }}
        }}
        scheme s for Sound {{ reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk2; }}"
    );
    SystemDef::from_text("sound.pde", &source).unwrap()
}

/// Stores the functions whose names end like this.
fn storing(algorithm: &Algorithm, endings: &[&str], halo: Halo) -> Schedule {
    let names = algorithm.functions.iter().map(|f| &f.name);
    let stored = names.filter(|name| endings.iter().any(|end| name.ends_with(end)));
    let mut schedule = Schedule {
        placements: stored.map(|n| (n.clone(), Placement::Global(halo))).collect(),
        kernels: vec![Blocking::new("rows", &[])],
        ..Schedule::default()
    };
    schedule.resize(algorithm);
    schedule
}

const STORED: [&str; 2] = ["_slope", "_flux"];

#[test]
fn each_stage_is_as_far_ahead_as_it_is_read() {
    let system = sound(2);
    let algorithm = system.algorithm();
    let schedule = storing(algorithm, &STORED, Halo::Recompute);
    let plan = plan::plan(algorithm, &schedule, [false; 3]).unwrap();
    assert!(has_rings(&plan));
    let launches = substeps(&plan).next().unwrap();
    let pipeline = Pipeline::new(algorithm, &plan, &launches).unwrap();
    let [slopes, fluxes, update] = &pipeline.links[..] else {
        panic!("{:?}", pipeline.links);
    };
    // A flux belongs to the cell below its face: it reads slopes there and of the next cell.
    assert_eq!((slopes.low, slopes.high), ([-1, -1, 0], [1, 1, 0]));
    assert_eq!((fluxes.low, fluxes.high), ([-1, -1, 0], [0; 3]));
    assert_eq!((update.low, update.high), ([0; 3], [0; 3]));
    // Slopes along y are read in two rows, the others in their own row.
    let kept = |name: &str| slopes.windows.get(name).or(fluxes.windows.get(name));
    assert_eq!(kept("p_y_slope"), Some(&2));
    assert_eq!(kept("p_y_flux"), Some(&2));
    assert_eq!(kept("p_x_flux"), Some(&1));
}

#[test]
fn ghost_cells_that_are_exchanged_need_arrays() {
    let system = sound(2);
    let algorithm = system.algorithm();
    let schedule = storing(algorithm, &STORED, Halo::Exchange);
    assert!(!has_rings(&plan::plan(algorithm, &schedule, [false; 3]).unwrap()));
}

#[test]
fn rings_change_no_bit() {
    // Rows that are cut, and lines that threads share.
    for cells in [[3001, 1, 1], [21, 70, 1], [9, 11, 40]] {
        let dimension = cells.iter().filter(|n| **n > 1).count();
        let system = sound(dimension);
        let run = |endings: &[&str], halo: Halo, threads: usize| {
            let mut simulation = Simulation::<f64>::builder(&system)
                .cells(cells)
                .dt(1e-4)
                .engine(Engine::Rows)
                .threads(threads)
                .schedule(storing(system.algorithm(), endings, halo))
                .build()
                .unwrap();
            let wave = |x: f64, y: f64, z: f64| (6.2 * (x + 2.0 * y - z)).sin();
            simulation.set("p", wave).unwrap();
            simulation.run(2, |_, _| ()).unwrap();
            simulation.bits().unwrap()
        };
        let expected = run(&[], Halo::Recompute, 1);
        for endings in [&STORED[..], &STORED[..1], &STORED[1..]] {
            for threads in [1, 3] {
                let bits = run(endings, Halo::Recompute, threads);
                assert!(bits == expected, "{cells:?} {endings:?} {threads}");
            }
        }
        let bits = run(&STORED, Halo::Exchange, 2);
        assert!(bits == expected, "{cells:?}");
    }
}
