//! A mesh in patches on the processor, on one device or several, has the bits of one patch, for all boundaries and all
//! kinds of steps.

use std::collections::BTreeSet;

use crate::boundaries::Vectors;
use stencil_runtime::compiler::schedule::{Halo, Placement};
use stencil_runtime::compiler::search::presets;
use stencil_runtime::{
    Axis, Boundary, Builder, Engine, Error, Face, Instructions, Number, Quantity, Real, Simulation,
    Source, SystemDef,
};

/// Fluxes, sources, repairs, observables and speeds.
pub(crate) const WATER: &str = "pub system Water in 2d {
    conserved h: scalar where h > 0; conserved m: vector;
    source push: vector = 0;
    param g: real = 9.81;
    let u = m/h;
    flux h -> m;
    flux m -> outer(m, u) + 0.5*g*h^2*I;
    ddt(m) = h*push;
    observe volume = sum(h);
    observe fastest = max(norm(u));
    waves { flow: u; sound: sqrt(g*h); }
}
scheme s for Water { reconstruct: plm; riemann: hll; time: ssprk2; }";

/// Stored functions of two kinds, at high order.
pub(crate) const FLOW: &str = "pub system Flow in DIMd {
    field q: scalar; field u: vector;
    ddt(q) = -dot(u, grad(q)) - div(u);
    ddt(u) = lap(u)/9 + grad(div(u))/5 - dot(u, grad(u)) - q*grad(q);
    observe energy = mean(dot(u, u));
}
scheme s for Flow { space: central<order = 4>; mixed: composed; time: rk3_williamson; }";

pub(crate) fn text(source: &str) -> SystemDef {
    SystemDef::from_text("test.pde", source).unwrap_or_else(|e| panic!("{e}"))
}

fn set_all<T: Number>(simulation: &mut Simulation<T>) -> Result<(), Error> {
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (at, name) in names.iter().enumerate() {
        let base = if name == "h" { 1.0 } else { 0.0 };
        let k = 2.0 + at as f64;
        let value = move |x: f64, y: f64, z: f64| {
            base + 0.2 * (k * x + 0.3).sin() * (1.7 * y - k).cos() * (0.9 * z + 1.0).sin()
        };
        simulation.set(name, value)?;
    }
    Ok(())
}

/// Returns all results of a run after some steps.
pub(crate) fn shown<T: Number>(builder: Builder<T>, steps: u64) -> Result<Vec<u64>, Error> {
    let mut simulation = builder.build()?;
    set_all(&mut simulation)?;
    simulation.run(steps, |_, _| ())?;
    assert_eq!(simulation.uncaptured(), 0);
    let mut bits = simulation.bits()?;
    bits.push(simulation.t().to_bits());
    bits.push(simulation.rejected_steps());
    let text = match simulation.system().name() {
        "Water" => "norm(m)/h",
        "Burst" | "Heat" => "d[x](q)",
        _ => "div(u)",
    };
    let slope = Quantity::new(simulation.system(), text).unwrap_or_else(|e| panic!("{e}"));
    let slope = simulation.evaluate(&slope)?;
    bits.extend(slope.iter().map(|v| v.to_bits()));
    if let Some(repairs) = simulation.repairs()? {
        bits.extend(repairs.iter());
    }
    Ok(bits)
}

/// A run as it is, whose results another one is to have.
pub(crate) struct Whole {
    about: String,
    steps: u64,
    bits: Vec<u64>,
}

impl Whole {
    pub(crate) fn new<T: Number>(about: &str, run: Builder<T>, steps: u64) -> Self {
        let bits = shown(run, steps).unwrap_or_else(|e| panic!("{about}: {e}"));
        Whole { about: about.into(), steps, bits }
    }

    /// Compares all results of another run, in words that say how it differs.
    pub(crate) fn is<T: Number>(&self, other: Builder<T>, how: &str) {
        let Whole { about, steps, bits } = self;
        let parts = shown(other, *steps).unwrap_or_else(|e| panic!("{about}, {how}: {e}"));
        assert!(parts == *bits, "{about}, {how}");
    }
}

fn check<T: Number>(about: &str, make: impl Fn() -> Builder<T>, steps: u64, cuts: &[[usize; 3]]) {
    let whole = Whole::new(about, make(), steps);
    for cut in cuts {
        // All patches on one device, some on each of two to six, and each on a device of its own.
        let all: usize = cut.iter().product();
        for devices in BTreeSet::from([1, 2, all.min(6), all]) {
            let parts = make().patches(*cut).devices(devices);
            whole.is(parts, &format!("{cut:?} on {devices}"));
        }
    }
}

pub(crate) fn water<T: Number>(boundary: &dyn Fn(Builder<T>) -> Builder<T>) -> Builder<T> {
    let run = Simulation::<T>::builder(&text(WATER)).cells([24, 18, 1]);
    let run = run.source("push_x", Source::unsteady(|x, y, _, t| x - y * t));
    boundary(run.cfl(0.4).cfl_limit(0.9))
}

pub(crate) type Faces<T> = (&'static str, fn(Builder<T>) -> Builder<T>);

pub(crate) fn faces<T: Number>() -> [Faces<T>; 6] {
    [
        ("periodic", |run| run),
        ("walls and open ends", |run| {
            run.boundary(Axis::X, Boundary::wall()).boundary(Axis::Y, Boundary::outflow())
        }),
        ("extrapolation beside what is periodic", |run| {
            run.boundary(Axis::Y, Boundary::extrapolate())
        }),
        ("numbers", |run| {
            let moving = Boundary::dirichlet_with(|_, y, _, t| 1.0 + 0.1 * (y + t).sin());
            run.boundary(Axis::X, Boundary::neumann(0.1))
                .boundary_of("h", Face::X_LO, moving)
                .boundary(Axis::Y, Boundary::wall())
        }),
        ("numbers beside what is periodic", |run| {
            let slope = Boundary::neumann_with(|x, _, _, t| 0.1 * (3.0 * x - t).cos());
            run.boundary(Axis::Y, slope)
        }),
        ("functions of the user", |run| {
            let own = Boundary::custom(["h", "m_x"], |at| {
                at.mirrored[0] + 0.1 * at.nearest[1] + 0.01 * at.position[1]
            });
            run.boundary(Axis::X, Boundary::outflow())
                .boundary_of("h", Face::X_HI, own)
                .boundary(Axis::Y, Boundary::wall())
        }),
    ]
}

#[test]
fn a_law_has_the_same_bits_at_every_kind_of_face() {
    // Patches of 4 and 5 cells in the last cut.
    let cuts = [[2, 1, 1], [1, 3, 1], [5, 4, 1]];
    for (about, boundary) in faces::<f64>() {
        check(about, || water(&boundary), 4, &cuts);
    }
    for (about, boundary) in faces::<f32>() {
        check(about, || water(&boundary), 3, &cuts[2..]);
    }
}

/// Along z, some planes of a patch read none of another device.
#[test]
fn a_flow_has_the_same_bits_in_one_to_three_dimensions() {
    for (dimension, cells, cuts) in [
        (1, [40, 1, 1], vec![[2, 1, 1], [5, 1, 1]]),
        (2, [24, 16, 1], vec![[3, 1, 1], [2, 2, 1]]),
        (3, [12, 8, 20], vec![[2, 1, 1], [1, 2, 1], [1, 1, 2], [2, 2, 2]]),
    ] {
        let system = text(&FLOW.replace("DIM", &dimension.to_string()));
        for walls in [false, true] {
            for name in ["single_pass", "decomposed"] {
                let make = || {
                    let preset = presets::find(name).unwrap_or_else(|| panic!("{name}"));
                    let mut schedule = preset.schedule(system.algorithm(), f64::PRECISION);
                    let last = [Axis::X, Axis::Y, Axis::Z][dimension - 1];
                    for placement in schedule.placements.values_mut().filter(|_| walls) {
                        // Stored functions have no rules beyond walls.
                        if *placement == Placement::Global(Halo::Exchange) {
                            *placement = Placement::Global(Halo::Recompute);
                        }
                    }
                    let run = Simulation::<f64>::builder(&system).cells(cells).dt(1e-4);
                    let run = run.schedule(schedule);
                    match walls {
                        true => run.boundary(last, Boundary::wall()),
                        false => run,
                    }
                };
                check(&format!("{dimension} {walls} {name}"), make, 3, &cuts);
            }
        }
    }
}

/// Patches that differ by a cell along each axis, at each kind of face.
fn uneven<T: Number>() {
    // Walls mirror as many cells as the thinnest patch has.
    let system = text(&FLOW.replace("DIM", "3").replace("order = 4", "order = 2"));
    let dirichlet = || Boundary::dirichlet_with(|x, y, z, t| 0.1 * (x - y + 2.0 * z + t).sin());
    type Faces<'a, T> = &'a dyn Fn(Builder<T>) -> Builder<T>;
    let faces: [(&str, Faces<'_, T>); 4] = [
        ("periodic", &|run| run),
        ("walls beside what is periodic", &|run| run.boundary(Axis::Y, Boundary::wall())),
        ("open ends and numbers", &|run| {
            let run = run.boundary(Axis::X, Boundary::outflow()).boundary(Axis::Y, dirichlet());
            run.boundary(Axis::Z, Boundary::extrapolate())
        }),
        ("functions of the user", &|run| {
            let own = Boundary::custom(["q", "u_z"], |at| {
                at.mirrored[0] + 0.1 * at.nearest[1] + 0.01 * at.position[1]
            });
            let run = run.boundary_of("q", Face::X_LO, own);
            run.boundary_of("q", Face::X_HI, Boundary::outflow())
                .boundary_of("u", Face::X_LO, Boundary::neumann(0.1))
                .boundary_of("u", Face::X_HI, Boundary::wall())
        }),
    ];
    for (about, boundary) in faces {
        let run = || Simulation::<T>::builder(&system).cells([13, 9, 11]).dt(1e-4);
        let cuts = [[2, 1, 1], [3, 2, 2], [1, 4, 3]];
        check(&format!("uneven, {about}"), || boundary(run()), 2, &cuts);
    }
}

#[test]
fn patches_may_differ_by_a_cell() {
    uneven::<f64>();
    uneven::<f32>();
}

/// Compiled kernels, with the widest instructions and with the plainest.
#[test]
fn compiled_programs_have_the_same_bits() {
    for instructions in [Instructions::best(), Instructions::Baseline] {
        for walls in [false, true] {
            let make = || {
                let run = Simulation::<f64>::builder(&Vectors).cells([12, 11, 17]);
                let run = run.dt(1e-3).engine(Engine::Compiled);
                let run = run.instructions(instructions);
                match walls {
                    true => run.boundary(Axis::Y, Boundary::wall()),
                    false => run,
                }
            };
            let cuts = [[2, 1, 1], [1, 1, 2], [1, 2, 2], [5, 2, 4]];
            check(&format!("{instructions:?} {walls}"), make, 2, &cuts[..]);
        }
    }
}

/// Ghost cells may lie several patches away, and go round the mesh.
#[test]
fn patches_may_be_thinner_than_what_is_read() {
    let system = text(&FLOW.replace("DIM", "2"));
    let make = || Simulation::<f64>::builder(&system).cells([6, 5, 1]).dt(1e-3);
    check("thin", make, 3, &[[6, 1, 1], [2, 5, 1], [4, 3, 1]]);
    let walls = make().boundary(Axis::X, Boundary::wall()).patches([6, 1, 1]);
    let error = walls.build().unwrap_err().to_string();
    assert!(
        error.contains("a patch has 1 along x")
            && error.contains("give each patch at least 2 cells"),
        "{error}"
    );
}

/// The error of a value that is not finite names its cell of the mesh.
#[test]
fn values_that_are_no_numbers_are_found_in_the_mesh() {
    let system = text(
        "pub system Roots in 2d { field q: scalar; ddt(q) = sqrt(q) + lap(q); }
        scheme s for Roots { space: central<order = 2>; time: ssprk2; }",
    );
    let message = |patches| {
        let run = Simulation::<f64>::builder(&system).cells([8, 6, 1]).dt(1e-3);
        let mut simulation = run.patches(patches).build().unwrap_or_else(|e| panic!("{e}"));
        let value = |x: f64, y: f64, _: f64| match x > 0.6 && y > 0.5 {
            true => -1e-3,
            false => 2e-3,
        };
        simulation.set("q", value).unwrap_or_else(|e| panic!("{e}"));
        let error = simulation.run(9, |_, _| ()).unwrap_err();
        let kept = simulation.field("q").map(|q| q.sum()).unwrap_or_default();
        (error.to_string(), kept.to_bits())
    };
    let whole = message([1; 3]);
    assert!(whole.0.contains("sqrt"), "{}", whole.0);
    for cut in [[2, 1, 1], [3, 4, 1]] {
        assert_eq!(message(cut), whole);
    }
}
