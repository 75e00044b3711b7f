//! Runs that several threads read.

use std::thread;

use stencil_runtime::{Engine, Simulation, SystemDef};

use crate::runs::{text, there_is_a_card};

/// Threads that read other fields than each other get their own, wherever the values lie on a card.
#[test]
fn threads_that_share_a_run_read_their_own_fields() {
    if !there_is_a_card() {
        return;
    }
    let system = text(
        "pub system Many in 2d { field a: vector; field b: vector; field c: vector;
            ddt(a) = 0 * a; ddt(b) = 0 * b; ddt(c) = 0 * c; }
        scheme s for Many { space: central<order = 2>; time: euler; }",
    );
    for layout in ["aos", "surface"] {
        share(&system, layout);
    }
}

fn share(system: &SystemDef, layout: &str) {
    let schedule = format!("schedule layout {layout} kernel lexicographic");
    let schedule = stencil_runtime::compiler::schedule::text::parse(&schedule);
    let builder = Simulation::<f64>::builder(system).cells([512, 512, 1]);
    let builder = builder.dt(0.5).schedule(schedule.unwrap());
    let mut simulation = builder.engine(Engine::Cuda).build().unwrap();
    let names: Vec<String> = simulation.components().map(String::from).collect();
    for (at, name) in names.iter().enumerate() {
        simulation.set(name, |_, _, _| at as f64).unwrap();
    }
    for _ in 0..50 {
        // After a step all of them come from the card again.
        simulation.step().unwrap();
        let shared = &simulation;
        thread::scope(|scope| {
            for (at, name) in names.iter().enumerate() {
                scope.spawn(move || {
                    let values = shared.field(name).unwrap();
                    assert!(values.iter().all(|value| *value == at as f64), "{name}");
                });
            }
        });
    }
}
