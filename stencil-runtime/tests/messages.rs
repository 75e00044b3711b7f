//! What users read when a setting does not fit.

use stencil_runtime::{Engine, Error, Schedule, Simulation, SystemDef, pde};

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
    Simulation::builder(&Heat)
        .cells([8, 8, 1])
        .param("kappa", 1.0)
        .dt(1e-3)
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn settings_that_do_not_fit() {
    let cases: Vec<(stencil_runtime::Builder<f64>, &str)> = vec![
        (
            builder().param("kapa", 1.0),
            "Heat has no parameter `kapa`; did you mean `kappa`?",
        ),
        (
            builder().param("kappa", -1.0),
            "the parameter `kappa` is -1; the declaration asks for kappa >= 0",
        ),
        (
            builder().param("kappa", f64::NAN),
            "the parameter `kappa` is NaN",
        ),
        (
            builder().dt(0.0),
            "the time step is 0; give a positive number",
        ),
        (
            builder().cells([8, 8, 8]),
            "Heat is 2-dimensional and cannot have [8, 8, 8] cells; give 1 along",
        ),
        (builder().cells([0, 8, 1]), "give from 1 to 1048576 cells"),
        (
            builder().extent([1.0, -1.0, 1.0]),
            "the extent along y is -1; give a positive length",
        ),
        (
            builder().origin([f64::INFINITY, 0.0, 0.0]),
            "the origin along x is inf",
        ),
        (
            builder().engine(Engine::Compiled),
            "Heat has no compiled program in this binary; use `Engine::Auto`",
        ),
        (builder().schedule(Schedule::default()), "illegal schedule"),
        (
            Simulation::builder(&Heat).cells([8, 8, 1]).dt(1.0),
            "the parameter `kappa` is not set; it has no default; add `.param(\"kappa\", ..)`",
        ),
        (
            Simulation::builder(&Heat).param("kappa", 1.0).dt(1.0),
            "the number of cells is not set",
        ),
        (
            Simulation::builder(&Heat)
                .param("kappa", 1.0)
                .cells([8, 8, 1]),
            "the time step is not set; add `.dt(..)`",
        ),
    ];
    for (builder, expected) in cases {
        let found = message(builder.build());
        assert!(found.contains(expected), "{found:?} has no {expected:?}");
    }
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
    let text = message(
        Simulation::<f64>::builder(&system)
            .cells(cells)
            .dt(1.0)
            .build(),
    );
    assert!(text.contains("no memory for 2 arrays"), "{text}");
}

#[test]
fn saved_files_read_back() {
    let mut simulation = builder().origin([0.5; 3]).build().unwrap();
    simulation
        .set("temperature", |x, y, _| x + 10.0 * y)
        .unwrap();
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
