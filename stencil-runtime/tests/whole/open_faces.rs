//! Open faces, through which waves leave: the order up to them is that of the ghost values.

use stencil_runtime::{Boundary, Face, Simulation, Source, SystemDef};

/// Returns the exact solution: a wave along x at speed one that a source drives. It is neither even nor odd at faces.
fn exact(x: f64, t: f64) -> f64 {
    2.0 + (3.0 * x - 2.0 * t).sin()
}

/// Returns the rate that transport alone lacks.
fn source(x: f64, t: f64) -> f64 {
    (3.0 * x - 2.0 * t).cos()
}

/// Returns the mean error after half a crossing, with values on the face where it comes in.
fn error(text: &str, boundary: &Boundary, n: usize) -> f64 {
    let system = SystemDef::from_text("open", text).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::<f64>::builder(&system)
        .cells([n, 1, 1])
        .boundary(Face::X_LO, Boundary::dirichlet_with(|_, _, _, t| exact(0.0, t)))
        .boundary(Face::X_HI, boundary.clone())
        .source("f", Source::unsteady(|x, _, _, t| source(x, t)))
        .dt(0.2 / n as f64)
        .build()
        .unwrap_or_else(|e| panic!("{e}"));
    run.set("q", |x, _, _| exact(x, 0.0)).unwrap();
    run.run_until(0.5, |_, _| ()).unwrap();
    let q = run.to_f64("q").unwrap();
    let errors =
        q.iter().enumerate().map(|(i, q)| (q - exact((i as f64 + 0.5) / n as f64, 0.5)).abs());
    errors.sum::<f64>() / n as f64
}

fn differences(order: u32) -> String {
    format!(
        "system Open in 1d {{ field q: scalar; source f: scalar; ddt(q) = f - d[x](q); }}
         scheme s for Open {{ space: central<order = {order}>; time: rk4; }}"
    )
}

fn fluxes(reconstruct: &str) -> String {
    format!(
        "system Open in 1d {{ conserved q: scalar; source f: scalar; param a: real = 1; flux q -> [a*q]; ddt(q) = f;
             waves {{ flow: [a]; }} }}
         scheme s for Open {{ reconstruct: {reconstruct}; riemann: hll; time: ssprk3; }}"
    )
}

#[test]
fn waves_leave_with_the_order_of_the_ghost_values() {
    let mut missed = String::new();
    for (text, outflow, extrapolate) in [
        (differences(2), 1.0, 2.0),
        (differences(4), 1.0, 2.0),
        (differences(6), 1.0, 2.0),
        (fluxes("constant"), 1.0, 1.0),
        (fluxes("plm<limiter = van_leer>"), 2.0, 2.0),
        (fluxes("weno5"), 2.0, 2.0),
    ] {
        for (boundary, order) in
            [(Boundary::outflow(), outflow), (Boundary::extrapolate(), extrapolate)]
        {
            let errors = [64, 128].map(|n| error(&text, &boundary, n));
            let found = (errors[0] / errors[1]).log2();
            let row = format!("{boundary}, order {found:.2} of {order} from {errors:?}: {text}\n");
            print!("{row}");
            // NaN fails this comparison.
            let right = found > order - 0.1;
            if !right {
                missed += &row;
            }
        }
    }
    assert!(missed.is_empty(), "\n{missed}");
}
