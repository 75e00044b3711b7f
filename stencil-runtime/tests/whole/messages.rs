//! Messages about settings that do not fit.

use stencil_runtime::{
    Axis, Boundary, Engine, Error, Face, Faces, Instructions, Schedule, Simulation, Source,
    SystemDef, pde,
};

pde! {
    /// Diffusion with a bound.
    #[interpreted]
    pub(crate) system Heat in 2d {
        field temperature: scalar [K];
        param kappa: real [m^2/s] where kappa >= 0;
        ddt(temperature) = kappa * lap(temperature);
    }
    scheme central2 for Heat { space: central<order = 2>; mixed: bidiagonal; time: euler; }
}

fn builder() -> stencil_runtime::Builder<f64> {
    Simulation::builder(&Heat).cells([8, 8, 1]).param("kappa", 1.0).dt(1e-3)
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn settings_that_do_not_fit() {
    let cases: Vec<(stencil_runtime::Builder<f64>, &str)> = vec![
        (builder().param("kapa", 1.0), "Heat has no parameter `kapa`; did you mean `kappa`?"),
        (
            builder().param("kappa", -1.0),
            "the parameter `kappa` is -1; the declaration asks for kappa >= 0",
        ),
        (builder().param("kappa", f64::NAN), "the parameter `kappa` is NaN"),
        (builder().dt(0.0), "the time step is 0; give a positive number"),
        (
            builder().cells([8, 8, 8]),
            "Heat is 2-dimensional and cannot have [8, 8, 8] cells; give 1 along",
        ),
        (builder().cells([0, 8, 1]), "give from 1 to 1073741824 cells"),
        (builder().extent([1.0, -1.0, 1.0]), "the extent along y is -1; give a positive length"),
        (builder().origin([f64::INFINITY, 0.0, 0.0]), "the origin along x is inf"),
        (builder().schedule(Schedule::default()), "illegal schedule"),
        (
            Simulation::builder(&Heat).cells([8, 8, 1]).dt(1.0),
            "the parameter `kappa` is not set; it has no default; add `.param(\"kappa\", ..)`",
        ),
        (Simulation::builder(&Heat).param("kappa", 1.0).dt(1.0), "the number of cells is not set"),
        (
            Simulation::builder(&Heat).param("kappa", 1.0).cells([8, 8, 1]),
            "the time step is not set; add `.dt(..)`",
        ),
    ];
    for (builder, expected) in cases {
        let found = message(builder.build());
        assert!(found.contains(expected), "{found:?} has no {expected:?}");
    }
}

/// Every processor of this architecture has these instructions, and no program can be compiled for them.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_program_that_cannot_be_compiled() {
    let run = builder().engine(Engine::Compiled).instructions(Instructions::Baseline);
    let found = message(run.build());
    let expected = "Heat has no compiled program in this binary, and none was made: the instructions `baseline`";
    assert!(found.starts_with(expected), "{found}");
}

fn flow() -> stencil_runtime::Builder<f64> {
    let text = "pub system Flow in 2d { field u: vector; field rho: scalar; source f: scalar = 0;
            ddt(u) = lap(u) + grad(div(u)); ddt(rho) = f - div(u); }
        scheme s for Flow { space: central<order = 6>; mixed: bidiagonal; time: euler; }";
    let system = SystemDef::from_text("flow.pde", text).unwrap();
    Simulation::builder(&system).cells([8, 8, 1]).dt(1e-3)
}

#[test]
fn boundaries_that_cannot_be_met() {
    let cases: Vec<(stencil_runtime::Builder<f64>, &str)> = vec![
        (
            flow().boundary(Face::X_HI, Boundary::outflow()),
            "boundary of x.hi: it is outflow, but x.lo is periodic; give x.lo a boundary of its own, or make both faces of x periodic for all fields",
        ),
        (
            flow().boundary_of("rho", Axis::Y, Boundary::dirichlet(1.0)),
            "boundary of y.lo: it is dirichlet 1 for `rho`, but y.lo is periodic for `u_x`",
        ),
        (
            flow().boundary(Axis::Z, Boundary::wall()),
            "boundary of z: Flow has 2 dimensions; set boundaries along x, y only",
        ),
        (
            flow().boundary_of("roh", Axis::Y, Boundary::wall()),
            "Flow has no field or component `roh`; did you mean `rho`?",
        ),
        (
            flow().boundary_of("u_z", Axis::Y, Boundary::wall()),
            "Flow has no field or component `u_z`; did you mean `u",
        ),
        (
            flow().cells([2, 8, 1]).boundary(Faces::All, Boundary::wall()),
            "boundary of `u_x` at x.lo: it mirrors 3 cells for the equation of `u_",
        ),
        (
            flow().cells([8, 1, 1]).boundary(Axis::Y, Boundary::extrapolate()),
            "boundary of `u_x` at y.lo: it extrapolates 2 cells for the equation of `u_",
        ),
        (
            flow().cells([8, 1, 1]).boundary(Axis::Y, Boundary::extrapolate()),
            "there are 1 along y; give at least 2 cells along y, or another boundary",
        ),
        (
            flow().boundary(Axis::X, Boundary::custom(["p"], |_| 0.0)),
            "Flow has no component `p`; there are: u_x, u_y, rho",
        ),
        (
            flow().boundary(Axis::X, Boundary::neumann(f64::NAN)),
            "the slope of `u_x` at x.lo is NaN; give a number",
        ),
        (flow().source("g", 1.0), "Flow has no component of a source `g`; there are: f"),
        (flow().source("f", f64::INFINITY), "the source `f` is inf; give a number"),
        (
            flow().source("f", Source::array(ndarray::Array3::zeros((1, 8, 7)))),
            "`f` has (1, 8, 8) values [z, y, x], not (1, 8, 7)",
        ),
        (flow().cfl(-1.0), "the cfl number is -1; give a positive number"),
    ];
    for (builder, expected) in cases {
        let found = message(builder.build());
        assert!(found.contains(expected), "{found:?} has no {expected:?}");
    }
}

#[test]
fn formulas_that_do_not_read() {
    let cases = [
        (
            flow().boundary(Axis::X, Boundary::dirichlet_text("sin(tt)")),
            "the value of `u_x` at x.lo is no formula",
            "no name `tt` in the formula",
        ),
        (
            flow().boundary(Axis::X, Boundary::text("2*u_x - roh")),
            "the ghost value of `u_x` at x.lo is no formula",
            "did you mean `rho`?",
        ),
        (flow().source("f", Source::text("x +")), "the source `f` is no formula", "P0"),
    ];
    for (builder, what, why) in cases {
        let found = message(builder.build());
        assert!(found.contains(what) && found.contains(why), "{found}");
    }
    let mut simulation = flow().build().unwrap();
    let found = message(simulation.set_text("rho", "exp(-x^2) * q0"));
    assert!(found.contains("the initial value of `rho` is no formula"), "{found}");
    simulation.set_text("rho", "if x < 0.5 { 1 } else { 2 }").unwrap();
    assert_eq!(simulation.field("rho").unwrap().sum(), 1.5 * 64.0);
}

/// Only fields have boundary conditions: stored functions are computed beyond faces, not exchanged.
#[test]
fn stored_functions_do_not_cross_walls() {
    let text = "pub system Flow in 2d { field u: vector; ddt(u) = lap(u) + grad(div(u)); }
        scheme s for Flow { space: central<order = 6>; mixed: composed; time: euler; }";
    let system = SystemDef::from_text("flow.pde", text).unwrap();
    let stored = system
        .algorithm()
        .functions
        .iter()
        .find(|f| f.name.starts_with("div"))
        .map(|f| f.name.clone())
        .unwrap();
    let schedule = |halo: &str| {
        let text = format!("schedule\nplace {stored} global {halo}\nkernel rows\nkernel rows\n");
        stencil_runtime::compiler::schedule::text::parse(&text).unwrap()
    };
    let run = |halo: &str| {
        Simulation::<f64>::builder(&system)
            .cells([16, 16, 1])
            .boundary(Axis::X, Boundary::wall())
            .schedule(schedule(halo))
            .dt(1e-3)
            .build()
    };
    run("recompute").unwrap();
    let found = message(run("exchange"));
    let way_out = format!("place `{stored} global recompute`, or make x periodic");
    assert!(
        found.contains("only fields have boundary conditions") && found.contains(&way_out),
        "{found}"
    );
}

#[test]
fn names_that_do_not_exist() {
    let mut simulation = builder().build().unwrap();
    assert!(
        message(simulation.set("temprature", |_, _, _| 0.0))
            .contains("did you mean `temperature`?")
    );
    assert!(
        message(simulation.set_vector("u", |_, _, _| [0.0; 3]))
            .contains("no vector field `u`; it has none")
    );
    assert!(message(simulation.set_dt(-1.0)).contains("the time step is -1"));
    let wrong = ndarray::Array3::zeros((1, 8, 9));
    assert!(
        message(simulation.set_array("temperature", wrong.view()))
            .contains("has (1, 8, 8) values [z, y, x], not (1, 8, 9)")
    );
}

#[test]
fn memory_that_is_not_there() {
    let text = "pub system Box in 3d { field q: scalar; ddt(q) = lap(q); }
        scheme s for Box { space: central<order = 2>; mixed: bidiagonal; time: euler; }";
    let system = SystemDef::from_text("box.pde", text).unwrap();
    let cells = [1 << 20, 1 << 20, 1 << 20];
    let text = message(Simulation::<f64>::builder(&system).cells(cells).dt(1.0).build());
    for part in
        ["a run of 1048576 x 1048576 x 1048576 cells needs", "the largest mesh of this shape"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn saved_files_read_back() {
    let mut simulation = builder().origin([0.5; 3]).build().unwrap();
    simulation.set("temperature", |x, y, _| x + 10.0 * y).unwrap();
    let path = std::env::temp_dir().join(format!("stencil-messages-{}.npz", std::process::id()));
    simulation.save_npz(&path).unwrap();
    let mut file = stencil_runtime::io::Npz::open(&path).unwrap();
    let values = file.array_f64("temperature").unwrap();
    assert_eq!(values, simulation.field("temperature").unwrap().into_dyn());
    assert_eq!(values[[0, 2, 1]], (0.5 + 0.125) + 10.0 * (0.5 + 0.25));
    assert_eq!(file.u64("step").unwrap(), 0);
    assert_eq!(file.text("params").unwrap(), "kappa = 1.0");
    assert!(file.text("system").unwrap().contains("system Heat in 2d"));
    std::fs::remove_file(&path).unwrap();
    assert!(message(simulation.save_npz("/nonexistent/a.npz")).contains("cannot write"));
}
