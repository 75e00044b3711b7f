//! Every time integrator has its order on a partial differential equation.

use std::f64::consts::TAU;

use stencil_compiler::discretize::integrators;
use stencil_runtime::{Simulation, SystemDef};

use crate::support::{observed, settle};

/// A nonlinear wave with all that a right-hand side has; the velocity at the end of the run.
fn run(integrator: &str, steps: u64) -> Vec<f64> {
    let text = format!(
        "system S in 1d {{
            field h: scalar; field u: scalar;
            ddt(h) = -d[x](h*u);
            ddt(u) = -u*d[x](u) - d[x](h) + 0.02*d2[x](u);
         }}
         scheme s for S {{ space: central<order = 6>; time: {integrator}; }}"
    );
    let system = SystemDef::from_text("S", &text).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::<f64>::builder(&system)
        .cells([24, 1, 1])
        .extent([TAU, 1.0, 1.0])
        .dt(1.0 / steps as f64)
        .build()
        .unwrap_or_else(|e| panic!("{e}"));
    settle(&mut simulation, "h", |at| 1.0 + 0.2 * at[0].cos());
    settle(&mut simulation, "u", |at| 0.3 * (at[0] + 0.5).sin());
    simulation
        .run(steps, |_, _| ())
        .unwrap_or_else(|e| panic!("{e}"));
    let values = simulation.field("u").expect("a component");
    values.iter().copied().collect()
}

#[test]
fn every_integrator_has_its_order_on_an_equation_in_space() {
    let reference = run("rk4", 1000);
    for integrator in integrators::ALL {
        let error = |steps| {
            let values = run(integrator.name, steps);
            let differences = values.iter().zip(&reference).map(|(a, b)| (a - b).abs());
            differences.fold(0.0, f64::max)
        };
        let (coarse, fine) = (error(50), error(100));
        let observed = observed(coarse, fine, 2.0);
        assert!(
            (observed - f64::from(integrator.order)).abs() < 0.1,
            "{}: {coarse:e}, {fine:e}, observed {observed:.3}",
            integrator.name
        );
    }
}
