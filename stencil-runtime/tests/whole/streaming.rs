//! A mesh that passes through its device slab by slab has the bits of one that stays there.

use stencil_runtime::compiler::compile::{self, Target};
use stencil_runtime::compiler::schedule::{Halo, Placement};
use stencil_runtime::compiler::search::presets;
use stencil_runtime::{
    Axis, Boundary, Builder, Engine, Error, Face, Number, Passes, Real, Simulation, Source, Stream,
    SystemDef, Transit,
};

use crate::patches::{FLOW, WATER, Whole, text};
use crate::runs::there_is_a_card;

/// Compares runs that stream with one that does not, with windows for these shares of the mesh.
fn check<T: Number>(about: &str, make: impl Fn() -> Builder<T>, steps: u64, streams: &[usize]) {
    let whole = Whole::new(about, make(), steps);
    let all = make().keep_last(false).build().unwrap().memory_use().bytes();
    for at_once in streams {
        let streamed = || make().stream(Stream::Steps(*at_once));
        let mut counts = Vec::new();
        for share in [3.5, 2.7, 2.0, 1.3] {
            let run = || streamed().card_memory((all as f64 * share) as usize);
            match run().build() {
                Ok(built) => counts.push(built.passes().unwrap().slabs),
                Err(Error::Stream { reason, .. }) if reason.contains("no room") => continue,
                Err(error) => panic!("{about}, {at_once} steps: {error}"),
            }
            whole.is(run(), &format!("{at_once} steps at once, {counts:?} slabs"));
        }
        eprintln!("{about}, {at_once} steps at once: {counts:?} slabs");
        assert!(counts.iter().any(|count| *count > 2), "{about}, {at_once}: {counts:?}");
    }
}

#[test]
fn heat_has_the_same_bits_through_any_window() {
    for (dimension, cells) in [(2, [12, 60, 1]), (3, [7, 6, 50])] {
        let heat = format!(
            "pub system Heat in {dimension}d {{ field q: scalar; ddt(q) = lap(q); observe heat = sum(q); }}
             scheme s for Heat {{ space: central<order = 2>; time: rk3_williamson; }}"
        );
        let system = text(&heat);
        let run = || Simulation::<f64>::builder(&system).cells(cells).dt(1e-6);
        check("heat", run, 7, &[1, 2, 3]);
    }
}

/// A given field is read beyond the cells of a slab, and beyond the faces of the mesh.
#[test]
fn given_fields_go_with_their_slabs() {
    let heat =
        "pub system Heat in 2d { field q: scalar; source k: scalar; ddt(q) = div(k*grad(q)); }
        scheme s for Heat { space: central<order = 4>; mixed: composed; time: rk3_williamson; }";
    let system = text(heat);
    for walls in [false, true] {
        let run = || {
            let run = Simulation::<f64>::builder(&system).cells([8, 160, 1]).dt(1e-6);
            let run = run.source("k", Source::steady(|x, y, _| 1.0 + 0.3 * (9.0 * y - x).sin()));
            if walls { run.boundary(Axis::Y, Boundary::outflow()) } else { run }
        };
        check(&format!("walls: {walls}"), run, 5, &[1, 2]);
    }
}

/// Stored functions of a composed derivative, recomputed and filled, between walls and around ends.
#[test]
fn a_flow_has_the_same_bits_between_walls_and_around_ends() {
    for (dimension, cells) in [(2, [10, 120, 1]), (3, [8, 6, 110])] {
        let system = text(&FLOW.replace("DIM", &dimension.to_string()));
        let last = Axis::ALL[dimension - 1];
        for walls in [false, true] {
            for name in ["single_pass", "decomposed"] {
                let make = || {
                    let preset = presets::find(name).unwrap_or_else(|| panic!("{name}"));
                    let mut schedule = preset.schedule(system.algorithm(), f64::PRECISION);
                    for placement in schedule.placements.values_mut().filter(|_| walls) {
                        // Stored functions have no rules beyond walls.
                        if *placement == Placement::Global(Halo::Exchange) {
                            *placement = Placement::Global(Halo::Recompute);
                        }
                    }
                    let run = Simulation::<f64>::builder(&system).cells(cells).dt(1e-5);
                    let run = run.schedule(schedule);
                    match walls {
                        true => run.boundary(last, Boundary::wall()),
                        false => run,
                    }
                };
                check(&format!("{dimension} {walls} {name}"), make, 3, &[1]);
            }
        }
    }
}

fn water<T: Number>(run: Builder<T>) -> Builder<T> {
    let push = Source::steady(|x, y, _| 0.1 * (3.0 * x - y).sin());
    run.cells([18, 150, 1]).source("push_y", push)
}

/// Numbers, polynomials and walls at the faces that slabs have and at those that they do not.
fn boundaries<T: Number>() -> [fn(Builder<T>) -> Builder<T>; 4] {
    [
        |run| run,
        |run| run.boundary(Axis::X, Boundary::wall()).boundary(Axis::Y, Boundary::outflow()),
        |run| {
            run.boundary(Axis::X, Boundary::neumann(0.1)).boundary(Axis::Y, Boundary::extrapolate())
        },
        |run| {
            let run = run.boundary(Axis::Y, Boundary::wall());
            run.boundary_of("h", Face::Y_HI, Boundary::dirichlet(1.1))
        },
    ]
}

#[test]
fn a_law_has_the_same_bits_in_steps_that_adapt_and_in_several_at_once() {
    let system = text(WATER);
    for (at, boundary) in boundaries::<f64>().into_iter().enumerate() {
        let run = || boundary(water(Simulation::<f64>::builder(&system)));
        check(&format!("adapting, {at}"), || run().cfl(0.4), 4, &[1, 2]);
        check(&format!("fixed, {at}"), || run().dt(2e-4), 5, &[2, 3]);
    }
    let run = || water(Simulation::<f32>::builder(&system)).auto_step();
    check("single precision", run, 3, &[1]);
}

/// Copies to the card and back beside the steps, between walls and around ends, in steps of one length and in steps that adapt.
#[test]
fn a_card_has_the_same_bits() {
    if !there_is_a_card() {
        eprintln!("skipped: this machine has no card");
        return;
    }
    for (dimension, cells) in [(2, [70, 300, 1]), (3, [40, 24, 160])] {
        let system = text(&FLOW.replace("DIM", &dimension.to_string()));
        let last = Axis::ALL[dimension - 1];
        for walls in [false, true] {
            let run = || {
                let run = Simulation::<f64>::builder(&system).cells(cells).dt(1e-6);
                let run = run.engine(Engine::Cuda);
                if walls { run.boundary(last, Boundary::wall()) } else { run }
            };
            check(&format!("on a card, {dimension}, walls: {walls}"), run, 7, &[1, 2]);
        }
    }
    let system = text(WATER);
    for (at, boundary) in boundaries::<f64>().into_iter().enumerate() {
        let run = || boundary(water(Simulation::<f64>::builder(&system))).engine(Engine::Cuda);
        check(&format!("on a card, adapting, {at}"), || run().cfl(0.4), 5, &[1]);
        check(&format!("on a card, fixed, {at}"), || run().dt(2e-4), 6, &[2]);
    }
}

/// Bad values are told by their cell of the mesh, whatever becomes of the layers around a slab.
#[test]
fn a_bad_value_is_told_by_its_cell_of_the_mesh() -> Result<(), Error> {
    let engines = [Some(Engine::Cpu), there_is_a_card().then_some(Engine::Cuda)];
    engines.into_iter().flatten().try_for_each(a_bad_value)
}

fn a_bad_value(engine: Engine) -> Result<(), Error> {
    let grows = text(
        "pub system Grows in 2d { field q: scalar; ddt(q) = q^3; }
         scheme s for Grows { space: central<order = 2>; time: euler; }",
    );
    let run = Simulation::<f32>::builder(&grows).cells([6, 40, 1]).dt(0.5).unchecked_step(true);
    let run = run.engine(engine).card_memory(8 << 10);
    let mut run = run.stream(Stream::Steps(1)).build()?;
    assert!(run.passes().unwrap().slabs > 3);
    let spacing = run.spacing();
    run.set("q", |x, y, _| {
        let cell = [x / spacing[0], y / spacing[1]].map(|at| at.round() as usize);
        if cell == [4, 33] { 1e9 } else { 0.1 }
    })?;
    let error = run.run(40, |_, _| ()).unwrap_err();
    let Error::NotFinite(bad) = &error else { panic!("{error}") };
    assert_eq!((bad.cell, bad.kept), ([4, 33, 0], None));
    assert!(matches!(run.step(), Err(Error::Lost)));
    Ok(())
}

#[test]
fn a_run_that_cannot_stream_is_told_why() {
    let water = || {
        let run = Simulation::<f64>::builder(&text(WATER)).cells([16, 64, 1]);
        run.cfl(0.4).stream(Stream::Steps(1))
    };
    let told = |run: Builder<f64>| run.build().unwrap_err().to_string();
    let unsteady = Source::unsteady(|x, _, _, t| x * t);
    let moving = Boundary::dirichlet_with(|x, _, _, t| x + t);
    for (run, message) in [
        (water().source("push_y", unsteady), "a source changes with time"),
        (
            water().boundary(Axis::X, moving),
            "a boundary is a function of place, time or several components",
        ),
        (water().cfl_limit(0.9), "cannot be undone"),
        (water().patches([1, 2, 1]), "for one device and one patch"),
        (water().devices(2), "for one device and one patch"),
        (water().card_memory(20_000), "has no room for a slab of 8 layers"),
    ] {
        let told = told(run);
        assert!(
            told.starts_with("the mesh cannot be streamed: ") && told.contains(message),
            "{told}"
        );
    }
    let cells = [64, 64, 1 << 26];
    let heat = text("pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }");
    let large = Simulation::<f64>::builder(&heat).cells(cells).dt(1e-30);
    let large = told(large.stream(Stream::Steps(1)).card_memory(64 << 20));
    assert!(large.contains("of memory, and ") && large.contains("1 fields"), "{large}");
    let line: SystemDef = text("pub system Line in 1d { field q: scalar; ddt(q) = lap(q); }");
    let run = Simulation::<f64>::builder(&line).cells([64, 1, 1]).dt(1e-6);
    assert!(told(run.stream(Stream::Steps(1))).contains("one dimension has no layers"));
}

/// A forecast by the plan alone has the slabs and the bytes of the run.
#[test]
fn a_forecast_is_of_the_passes_that_a_run_does() {
    let heat = "pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
        scheme s for Heat { space: central<order = 2>; time: rk3_williamson; }";
    let system = text(heat);
    let (cells, memory) = ([8, 12, 90], 400_000);
    let run = Simulation::<f64>::builder(&system).cells(cells).dt(1e-6).card_memory(memory);
    let run = run.stream(Stream::Steps(2)).build().unwrap();
    let passes = run.passes().unwrap();
    let plan = compile::plan(system.algorithm(), run.schedule(), &Target::processor(8)).unwrap();
    let transit = Transit::new(&plan, (cells, [0; 3], 8), (2, true), Some(memory));
    let forecast = transit.passes(2).unwrap();
    let of = |p: &Passes| (p.slabs, p.layers, p.overlap, p.steps, p.up, p.down);
    assert_eq!(of(&forecast), of(&passes));
    assert!(forecast.slabs > 1, "{forecast:?} {passes:?}");
}
