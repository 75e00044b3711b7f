//! Failures of systems declared in Rust name the file and the place of the equation.

use stencil_runtime::{Error, Simulation, ToSystem};

/// The line of the equation of `q`.
const LINE: u32 = line!() + 9;

stencil_runtime::pde! {
    /// Grows beyond all bounds.
    #[interpreted]
    pub system Blows in nd {
        field p: scalar;
        field q: scalar;
        ddt(p) = lap(p);
        ddt(q) = q^3 + p;
    }
    scheme s for Blows { space: central<order = 2>; time: euler; }
}

fn failure(system: &impl ToSystem) -> String {
    let builder = Simulation::<f64>::builder(system).cells([8, 1, 1]);
    let builder = builder.dt(1e3).unchecked_step(true);
    let mut simulation = builder.build().unwrap();
    simulation.set("q", |x, _, _| 10.0 + x).unwrap();
    match simulation.run(50, |_, _| ()) {
        Err(error @ Error::NotFinite(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failure_names_file_line_and_column() {
    assert_eq!(
        include_str!("places.rs").lines().nth(LINE as usize - 1),
        Some("        ddt(q) = q^3 + p;")
    );
    let message = failure(&Blows::<1>);
    let place = format!("by `ddt(q) = q^3 + p` ({}:{LINE}:9)", file!());
    assert!(message.contains(&place), "no {place} in {message}");
    assert!(file!().ends_with("tests/whole/places.rs"));
}
