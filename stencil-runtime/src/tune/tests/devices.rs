//! Searches for several devices: how they get values from each other is one of the choices.

use stencil_compiler::schedule::Overlap;

use super::*;

/// A system whose steps have three substeps.
fn slow_heat() -> SystemDef {
    SystemDef::from_text(
        "heat.pde",
        "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
         scheme s for Heat { space: central<order = 4>; time: rk3_williamson; }",
    )
    .unwrap()
}

/// Searches on so many devices that behave so.
fn searched(devices: usize, behaves: Behaves) -> Tuned {
    let forms = alone(slow_heat());
    let mut machine = Machine { devices, ..Machine::of(&forms, behaves, |_| false) };
    let options = Options { first: 12, ..Options::on(CELLS) };
    Tuner::new(&forms, &options, &mut machine, &mut |_| ()).search().unwrap()
}

/// The lines of a schedule about devices.
fn lines(schedule: &Schedule) -> (Option<Overlap>, usize) {
    (schedule.overlap, schedule.ghosts)
}

#[test]
fn a_search_on_several_devices_finds_the_overlap_and_the_ghost_cells_that_are_fast_there() {
    let found = |behaves| lines(&searched(2, behaves).plan.unwrap().schedule);
    // Schedules that cannot store leave a rim without a line.
    let waits = |schedule: &Schedule, model: f64| match schedule.overlap {
        Some(Overlap::None) => Ok(0.3 * model),
        _ => Ok(model),
    };
    assert_eq!(found(waits).0, Some(Overlap::None));
    let deep = |schedule: &Schedule, model: f64| match schedule.ghosts {
        3 => Ok(0.3 * model),
        _ => Ok(model),
    };
    assert_eq!(found(deep).1, 3);
}

#[test]
fn one_device_has_no_such_choice() {
    let tuned = searched(1, |_, model| Ok(model));
    assert!(tuned.trials.iter().all(|trial| lines(&trial.schedule) == (None, 1)));
}

/// Devices store without a line where they can, and no schedule asks for it.
#[test]
fn schedules_that_do_the_same_on_devices_are_tried_once() {
    let tuned = searched(2, |_, model| Ok(model));
    let of = |overlap, ghosts| {
        let trials = tuned.trials.iter();
        trials.filter(|trial| lines(&trial.schedule) == (overlap, ghosts)).count()
    };
    assert!(of(None, 1) > 0 && of(Some(Overlap::Rim), 1) > 0);
    assert_eq!(of(Some(Overlap::Store), 1), 0);
    let plan = tuned.plan.unwrap().schedule;
    let best = tuned.trials.iter().map(|trial| trial.predicted).fold(f64::MAX, f64::min);
    let own = tuned.trials.iter().find(|trial| trial.schedule == plan).unwrap();
    assert_eq!(own.predicted, best);
}
