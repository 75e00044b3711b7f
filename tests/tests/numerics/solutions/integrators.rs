//! Every time integrator has its order on ordinary and partial differential equations.

use std::f64::consts::TAU;

use stencil_compiler::catalogue::integrators;
use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::OrPanic;

use super::support::{observed, root_mean_square, settle};

/// Returns the velocity at the end of the run of a nonlinear wave with every kind of term.
fn run(integrator: &str, steps: u64) -> Vec<f64> {
    let text = format!(
        "system S in 1d {{
            field h: scalar; field u: scalar;
            ddt(h) = -d[x](h*u);
            ddt(u) = -u*d[x](u) - d[x](h) + 0.02*d2[x](u);
         }}
         scheme s for S {{ space: central<order = 6>; time: {integrator}; }}"
    );
    let system = SystemDef::from_text("S", &text).or_panic();
    let mut simulation = Simulation::<f64>::builder(&system)
        .cells([24, 1, 1])
        .extent([TAU, 1.0, 1.0])
        .dt(1.0 / steps as f64)
        .unchecked_step(true)
        .build()
        .or_panic();
    settle(&mut simulation, "h", |at| 1.0 + 0.2 * at[0].cos());
    settle(&mut simulation, "u", |at| 0.3 * (at[0] + 0.5).sin());
    simulation.run(steps, |_, _| ()).or_panic();
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

/// `f' = -f² cos t`, which is not linear and depends on the time: `f = f0/(1 + f0 sin t)`, here for
/// another f0 in each cell.
#[test]
fn every_integrator_has_its_order_on_an_ordinary_equation() {
    let start = |x: f64| 0.5 + x;
    let exact = |x: f64, t: f64| start(x) / (1.0 + start(x) * t.sin());
    for integrator in integrators::ALL {
        let text = format!(
            "system S in 1d {{ field f: scalar; ddt(f) = -f^2*cos(t); }}
             scheme s for S {{ space: central<order = 2>; time: {}; }}",
            integrator.name
        );
        let system = SystemDef::from_text("S", &text).or_panic();
        let error = |steps: u64| {
            let mut simulation = Simulation::<f64>::builder(&system)
                .cells([8, 1, 1])
                .dt(1.5 / steps as f64)
                .build()
                .or_panic();
            settle(&mut simulation, "f", |at| start(at[0]));
            simulation.run(steps, |_, _| ()).or_panic();
            let values = simulation.field("f").expect("a component");
            let mesh = simulation.mesh();
            let cells = values.iter().zip(0..);
            root_mean_square(cells.map(|(f, i)| f - exact(mesh.coordinate(0, i), 1.5)))
        };
        let (coarse, fine) = (error(160), error(320));
        let observed = observed(coarse, fine, 2.0);
        assert!(
            (observed - f64::from(integrator.order)).abs() < 0.1,
            "{}: {coarse:e}, {fine:e}, observed {observed:.3}",
            integrator.name
        );
    }
}
