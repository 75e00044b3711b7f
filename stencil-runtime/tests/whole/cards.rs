//! A run on several cards has the bits of one card. A machine with one card lets it take all shares.

use std::{env, fs, process};

use stencil_runtime::backend::cuda::nvrtc::Nvrtc;
use stencil_runtime::backend::cuda::{Cache, Card};
use stencil_runtime::compiler::schedule::{Overlap, Schedule, text as schedules};
use stencil_runtime::compiler::search::presets;
use stencil_runtime::{
    Axis, Boundary, Builder, Engine, Error, Number, Pick, Picked, Real, Simulation, Source,
    SystemDef,
};

use crate::patches::{FLOW, WATER, faces, shown, text, water};
use crate::runs::there_is_a_card;

/// Returns the cards of some runs, and says why there are no more.
fn shares() -> Vec<Vec<usize>> {
    let count = if there_is_a_card() { Card::all().map_or(0, |all| all.len()) } else { 0 };
    match count {
        0 => eprintln!("skipped: this machine has no card"),
        1 => eprintln!("skipped on two cards: this machine has one"),
        _ => {}
    }
    let all: Vec<usize> = (0..count).collect();
    let mut shares = vec![vec![0, 0], vec![0, 0, 0], vec![1, 0], vec![0, 1], all];
    shares.retain(|cards| cards.len() > 1 && cards.iter().all(|card| *card < count));
    shares.dedup();
    shares
}

/// Compares runs in these patches on several cards with a run in one patch on one card.
fn check<T: Number>(about: &str, make: impl Fn() -> Builder<T>, steps: u64, cuts: &[[usize; 3]]) {
    let shares = shares();
    if shares.is_empty() {
        return;
    }
    let on_card = || make().engine(Engine::Cuda);
    let whole = shown(on_card(), steps).unwrap_or_else(|e| panic!("{about}: {e}"));
    for cut in cuts {
        for cards in &shares {
            if cards.len() > cut.iter().product() {
                continue;
            }
            let parts = shown(on_card().patches(*cut).devices(cards.clone()), steps);
            let parts = parts.unwrap_or_else(|e| panic!("{about}, {cut:?} on {cards:?}: {e}"));
            assert!(parts == whole, "{about}, {cut:?} on {cards:?}");
        }
    }
}

#[test]
fn a_law_has_the_same_bits_at_every_kind_of_face() {
    let cuts = [[2, 1, 1], [4, 3, 1]];
    for (about, boundary) in faces::<f64>() {
        check(about, || water(&boundary), 4, &cuts);
    }
    let formulas = |run: Builder<f32>| {
        let run = run.boundary(Axis::X, Boundary::dirichlet_text("1 + y*t/9"));
        run.boundary(Axis::Y, Boundary::wall()).source("push_x", Source::text("x - y*t"))
    };
    // More steps than lie between two checks of values.
    check("formulas", || water(&formulas), 40, &cuts);
}

#[test]
fn a_flow_has_the_same_bits_by_every_schedule() {
    for (dimension, cells, cuts) in [
        (1, [41, 1, 1], vec![[2, 1, 1], [5, 1, 1]]),
        (2, [25, 16, 1], vec![[3, 1, 1], [2, 2, 1]]),
        (3, [32, 17, 17], vec![[2, 1, 1], [1, 1, 2], [2, 2, 2]]),
    ] {
        let system = text(&FLOW.replace("DIM", &dimension.to_string()));
        for name in ["direct", "single_pass", "decomposed", "gathered", "shared", "gpu"] {
            let make = || {
                let preset = presets::find(name).unwrap_or_else(|| panic!("{name}"));
                let schedule = preset.schedule(system.algorithm(), f64::PRECISION);
                let run = Simulation::<f64>::builder(&system).cells(cells).dt(1e-4);
                run.schedule(schedule)
            };
            check(&format!("{dimension} {name}"), make, 3, &cuts);
        }
    }
}

/// Fused steps, other layouts, boxes that the card copies by itself, and patches thinner than what is read.
#[test]
fn other_steps_have_the_same_bits() {
    let heat = text(
        "pub system Heat in 2d { field q: scalar; field u: vector; ddt(q) = lap(q)/100; ddt(u) = lap(u)/90; }
        scheme s for Heat { space: central<order = 2>; time: euler; }",
    );
    for schedule in ["fuse 3 kernel direct", "layout aos kernel lexicographic"] {
        let make = || {
            let schedule = schedules::parse(&format!("schedule {schedule}")).unwrap();
            let run = Simulation::<f32>::builder(&heat).cells([48, 24, 1]).dt(1e-3);
            run.schedule(schedule)
        };
        check(schedule, make, 70, &[[2, 1, 1], [3, 2, 1], [12, 1, 1]]);
    }
    let flow = text(&FLOW.replace("DIM", "3"));
    // Some blocks run beside an exchange.
    for schedule in ["kernel march loader=1", "kernel march loader=2", "kernel direct x=16 y=2 z=2"]
    {
        let make = || {
            let schedule = schedules::parse(&format!("schedule {schedule}")).unwrap();
            let run = Simulation::<f32>::builder(&flow).cells([64, 24, 32]).dt(1e-4);
            run.schedule(schedule)
        };
        check(schedule, make, 3, &[[1, 1, 2], [2, 2, 1]]);
    }
    let thin = text(&FLOW.replace("DIM", "2"));
    let thin = || Simulation::<f64>::builder(&thin).cells([6, 5, 1]).dt(1e-3);
    check("thin", thin, 3, &[[6, 1, 1], [6, 5, 1]]);
}

/// A law whose steps grow too long for its speeds.
const BURST: &str =
    "pub system Burst in 2d { field q: scalar; ddt(q) = q^3 - q * (d[x](q) + d[y](q));
    cfl { advective: abs(q) } }
scheme s for Burst { space: central<order = 2>; time: rk3_williamson; }";

/// Returns a schedule that overlaps in this way.
fn at(schedule: Schedule, overlap: Overlap) -> Schedule {
    Schedule { overlap: Some(overlap), ..schedule }
}

/// Returns the schedule of a preset for a system.
fn preset(system: &SystemDef, name: &str) -> Schedule {
    let preset = presets::find(name).unwrap_or_else(|| panic!("{name}"));
    preset.schedule(system.algorithm(), f64::PRECISION)
}

/// Ghost cells come by copies beside the interior or before the launch, or launches store them themselves.
#[test]
fn each_overlap_has_the_same_bits() {
    for (dimension, names, cells, cuts) in [
        (2, ["direct", "decomposed"], [25, 20, 1], vec![[1, 2, 1], [1, 3, 1], [2, 2, 1]]),
        (3, ["decomposed", "gpu"], [32, 12, 21], vec![[1, 1, 2], [1, 1, 3], [1, 2, 1]]),
    ] {
        let system = text(&FLOW.replace("DIM", &dimension.to_string()));
        for (name, overlap) in names.into_iter().flat_map(|name| Overlap::ALL.map(|o| (name, o))) {
            let make = || {
                let run = Simulation::<f64>::builder(&system).cells(cells).dt(1e-4);
                run.schedule(at(preset(&system, name), overlap))
            };
            check(&format!("{dimension} {name} {overlap:?}"), make, 40, &cuts);
        }
    }
    for (about, boundary) in faces::<f64>() {
        for overlap in Overlap::ALL {
            let gpu = preset(&text(WATER), "gpu");
            let make = || water(&boundary).schedule(at(gpu.clone(), overlap));
            check(&format!("{about} {overlap:?}"), make, 40, &[[1, 2, 1], [1, 3, 1]]);
        }
    }
}

/// Steps that may be done again: each overlap comes to the same step sizes.
#[test]
fn steps_done_again_have_the_same_bits_by_each_overlap() {
    let burst = text(BURST);
    for overlap in Overlap::ALL {
        let make = || {
            let run = Simulation::<f64>::builder(&burst).cells([12, 64, 1]).cfl(0.8).cfl_limit(0.8);
            run.schedule(at(preset(&burst, "gpu"), overlap))
        };
        check(&format!("burst {overlap:?}"), make, 5, &[[1, 4, 1], [1, 2, 1]]);
    }
}

/// A state that is set amid a run reaches the ghost cells on the other card.
#[test]
fn a_state_set_amid_a_run_has_the_same_bits_by_each_overlap() {
    let burst = text(BURST);
    for overlap in Overlap::ALL {
        let run = |of: &dyn Fn(Builder<f64>) -> Builder<f64>| {
            let run = Simulation::<f64>::builder(&burst).cells([12, 64, 1]).dt(1e-4);
            let run = run.schedule(at(preset(&burst, "direct"), overlap));
            let mut simulation = of(run.engine(Engine::Cuda)).build()?;
            for step in 0..3 {
                let phase = f64::from(step);
                simulation.set("q", |x, y, _| (6.0 * x + phase).sin() * y)?;
                simulation.run(3, |_, _| ())?;
            }
            simulation.bits()
        };
        for cards in shares().into_iter().filter(|cards| cards.len() == 2) {
            let whole: Result<Vec<u64>, Error> = run(&|run| run);
            let whole = whole.unwrap_or_else(|e| panic!("{overlap:?} on one card: {e}"));
            let parts = run(&|run| run.patches([1, 2, 1]).devices(cards.clone()));
            let parts = parts.unwrap_or_else(|e| panic!("{overlap:?} {cards:?}: {e}"));
            assert!(parts == whole, "{overlap:?} {cards:?}");
        }
    }
}

/// Schedules whose ghost cells last for a step.
const LASTING: [&str; 6] = [
    "kernel direct x=16 y=2 z=2",
    "kernel march",
    "kernel march loader=1",
    "kernel march loader=2",
    "kernel tile3d",
    "layout aos kernel lexicographic",
];

/// Returns a run by such a schedule.
fn lasting(schedule: &str) -> Builder<f32> {
    let flow = text(&FLOW.replace("DIM", "3"));
    let schedule = schedules::parse(&format!("schedule ghosts = 3 {schedule}")).unwrap();
    Simulation::<f32>::builder(&flow).cells([64, 33, 48]).dt(1e-4).schedule(schedule)
}

/// Cards compute cells of each other between exchanges.
#[test]
fn ghost_cells_that_last_change_no_bit() {
    for schedule in LASTING {
        for walls in [false, true] {
            let make = || match walls {
                true => lasting(schedule).boundary(Axis::Y, Boundary::wall()),
                false => lasting(schedule),
            };
            let about = format!("ghosts = 3, {schedule}, {walls}");
            check(&about, make, 40, &[[1, 1, 2], [2, 2, 1], [2, 1, 2]]);
        }
    }
    let flow = text(&FLOW.replace("DIM", "3"));
    for name in ["single_pass", "decomposed", "gathered", "shared", "gpu"] {
        let make = || {
            let preset = presets::find(name).unwrap_or_else(|| panic!("{name}"));
            let schedule = preset.schedule(flow.algorithm(), f64::PRECISION);
            let run = Simulation::<f64>::builder(&flow).cells([64, 32, 48]).dt(1e-4);
            run.schedule(schedule.unfused(flow.algorithm())).ghosts(3)
        };
        check(&format!("ghosts = 3, {name}"), make, 3, &[[1, 1, 2], [1, 2, 2]]);
    }
    // Adaptive steps, sources and repairs.
    for (about, boundary) in faces::<f64>().into_iter().take(4) {
        let make = || water(&boundary).ghosts(2);
        check(&format!("ghosts = 2, {about}"), make, 4, &[[1, 2, 1]]);
    }
    // Accumulators that come along amid a step, and groups of fused substeps.
    for (time, schedule) in
        [("rk4", "ghosts = 2 kernel march"), ("rk3_williamson", "fuse 2 ghosts = 2 kernel direct")]
    {
        let heat = text(&format!(
            "pub system Heat in 3d {{ field q: scalar; field u: vector; ddt(q) = lap(q)/100; ddt(u) = lap(u)/90; }}
            scheme s for Heat {{ space: central<order = 4>; time: {time}; }}"
        ));
        let make = || {
            let schedule = schedules::parse(&format!("schedule {schedule}")).unwrap();
            let run = Simulation::<f32>::builder(&heat).cells([64, 48, 64]).dt(1e-3);
            run.schedule(schedule)
        };
        check(schedule, make, 40, &[[1, 1, 2], [2, 2, 1], [1, 2, 2]]);
    }
}

/// Kernels that compute cells of other cards compile without a card.
#[test]
fn kernels_beside_ghost_cells_that_last_compile() {
    if let Err(error) = Nvrtc::open() {
        eprintln!("skipped: {error}");
        return;
    }
    let folder = env::temp_dir().join(format!("stencil-lasting-{}", process::id()));
    let cache = Cache::at(&folder);
    for schedule in LASTING {
        let run = lasting(schedule).patches([2, 1, 2]).devices(4);
        let entries = run.compile_into(&cache, "sm_90");
        entries.unwrap_or_else(|e| panic!("{schedule}: {e}"));
    }
    let _ = fs::remove_dir_all(&folder);
}

/// Pages of memory of several cards: each has some of its own.
#[test]
fn large_arrays_lie_in_the_memories_of_their_cards() {
    let flow = text(&FLOW.replace("DIM", "3"));
    let make = || Simulation::<f32>::builder(&flow).cells([96, 96, 96]).dt(1e-5);
    check("large", make, 40, &[[1, 1, 3], [2, 2, 2]]);
}

/// A value that is not finite is found in the mesh, in the step that made it, and steps that are too long are done again.
#[test]
fn failures_are_those_of_one_card() {
    let roots = text(
        "pub system Roots in 2d { field q: scalar; ddt(q) = sqrt(q) + lap(q); }
        scheme s for Roots { space: central<order = 2>; time: ssprk2; }",
    );
    let message = |of: &dyn Fn(Builder<f64>) -> Builder<f64>| {
        let run = Simulation::<f64>::builder(&roots).cells([8, 6, 1]).dt(1e-3);
        let mut simulation = of(run.engine(Engine::Cuda)).build().unwrap();
        let value = |x: f64, y: f64, _: f64| if x > 0.6 && y > 0.5 { -1e-3 } else { 2e-3 };
        simulation.set("q", value).unwrap();
        let error = simulation.run(9, |_, _| ()).unwrap_err();
        (error.to_string(), simulation.field("q").unwrap().sum().to_bits())
    };
    for cards in shares().into_iter().filter(|cards| cards.len() <= 12) {
        let parts = message(&|run| run.patches([4, 3, 1]).devices(cards.clone()));
        assert_eq!(parts, message(&|run| run), "{cards:?}");
    }
    let burst = text(
        "pub system Burst in 1d { field q: scalar; ddt(q) = q^3 - q * d[x](q);
            cfl { advective: abs(q) } }
        scheme s for Burst { space: central<order = 2>; time: rk3_williamson; }",
    );
    let make = || Simulation::<f64>::builder(&burst).cells([64, 1, 1]).cfl(0.8).cfl_limit(0.8);
    check("burst", make, 5, &[[4, 1, 1]]);
}

/// Times of parts change nothing, nor does another schedule amid a run.
#[test]
fn a_run_goes_on_after_timings_and_by_another_schedule() {
    let flow = text(&FLOW.replace("DIM", "2"));
    let run = |of: &dyn Fn(Builder<f64>) -> Builder<f64>| {
        let run = Simulation::<f64>::builder(&flow).cells([24, 16, 1]).dt(1e-4);
        let mut simulation = of(run.engine(Engine::Cuda)).build()?;
        simulation.set("q", |x, y, _| (6.0 * x).sin() * y)?;
        simulation.run(3, |_, _| ())?;
        assert!(!simulation.part_times()?.is_empty());
        assert_eq!(simulation.uncaptured(), 0);
        let direct = schedules::parse("schedule kernel direct").unwrap();
        simulation.reschedule(&direct)?;
        simulation.run(3, |_, _| ())?;
        simulation.bits()
    };
    for cards in shares().into_iter().filter(|cards| cards.len() <= 4) {
        let parts = run(&|run| run.patches([2, 2, 1]).devices(cards.clone()));
        let whole: Result<Vec<u64>, Error> = run(&|run| run);
        assert!(parts.unwrap() == whole.unwrap(), "{cards:?}");
    }
}

/// The performance model picks for a card and its share, and the pick changes no bit; nor does the way back from it.
#[test]
fn a_run_begins_by_a_pick_and_goes_back() {
    let flow = text(&FLOW.replace("DIM", "3"));
    let run = |of: &dyn Fn(Builder<f32>) -> Builder<f32>| {
        let run = Simulation::<f32>::builder(&flow).cells([32, 16, 32]).dt(1e-4);
        let run = run.engine(Engine::Cuda).pick(Pick::Before);
        let mut simulation = of(run).build()?;
        assert_eq!(simulation.picked(), Picked::Since(0));
        simulation.set("q", |x, y, z| (6.0 * x).sin() * y - z)?;
        simulation.run(3, |_, _| ())?;
        let gpu = presets::find("gpu").map(|gpu| gpu.schedule(flow.algorithm(), f32::PRECISION));
        simulation.reschedule(&gpu.unwrap())?;
        simulation.run(3, |_, _| ())?;
        assert_eq!(simulation.uncaptured(), 0);
        simulation.bits()
    };
    for cards in shares().into_iter().filter(|cards| cards.len() == 2) {
        let parts = run(&|run| run.patches([1, 1, 2]).devices(cards.clone()));
        let whole: Result<Vec<u64>, Error> = run(&|run| run);
        assert!(parts.unwrap() == whole.unwrap(), "{cards:?}");
    }
}

#[test]
fn cards_that_cannot_share_are_refused() {
    let heat = SystemDef::from_text(
        "heat.pde",
        "pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
        scheme s for Heat { space: central<order = 2>; time: euler; }",
    );
    let heat = heat.unwrap();
    let run = || Simulation::<f32>::builder(&heat).cells([32, 8, 8]).dt(1e-4);
    let error = |run: Builder<f32>| run.engine(Engine::Cuda).build().unwrap_err().to_string();
    let few = error(run().patches([2, 1, 1]).devices([0, 0, 0]));
    assert!(few.contains("3 devices cannot share 2 patches"), "{few}");
    if shares().is_empty() {
        return;
    }
    let missing = error(run().patches([2, 1, 1]).devices([0, 1000]));
    assert!(missing.contains("there is no card 1000"), "{missing}");
    let surface = schedules::parse("schedule layout surface kernel lexicographic").unwrap();
    let refused = error(run().patches([2, 1, 1]).devices([0, 0]).schedule(surface));
    assert!(refused.contains("use `layout soa` on several cards"), "{refused}");
}

/// Without room on the second card, a run on both is refused, and the cards are as they were.
#[test]
fn a_second_card_without_room_is_an_error() {
    let heat = text(
        "pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
        scheme s for Heat { space: central<order = 2>; time: euler; }",
    );
    let cards = if there_is_a_card() { Card::all().unwrap_or_default() } else { Vec::new() };
    let [_, second, ..] = cards.as_slice() else {
        eprintln!("skipped: this machine has no two cards");
        return;
    };
    // Three arrays take seven tenths of the second card; half of three others have no room beside them.
    let planes =
        |share: f64| (share * second.memory as f64 / (3.0 * 8.0 * 1024.0 * 1024.0)) as usize;
    let run = |planes: usize| {
        let run = Simulation::<f64>::builder(&heat).cells([1024, 1024, planes]).dt(1e-9);
        run.engine(Engine::Cuda).patches([1, 1, 4])
    };
    let first = run(planes(0.7)).devices([1]).build().unwrap();
    let both = |planes: usize| run(planes).devices([0, 1]).build();
    let refused = both(planes(0.9)).unwrap_err().to_string();
    assert!(refused.contains("card 1"), "{refused}");
    let mut small = both(8).unwrap();
    small.set("q", |x, _, _| x).unwrap();
    small.run(2, |_, _| ()).unwrap();
    drop(first);
    assert!(both(planes(0.9)).is_ok());
}
