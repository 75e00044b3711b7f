//! Boundaries have their order of accuracy.

use stencil_runtime::{Axis, Boundary, Face, Simulation, SystemDef};

fn text(system: &str) -> SystemDef {
    SystemDef::from_text("test.pde", system).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the largest error of heat between two faces after a time, against an exact solution.
fn heat_error(n: usize, lo: Boundary, hi: Boundary, exact: impl Fn(f64, f64) -> f64 + Sync) -> f64 {
    let system = text(
        "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
         scheme s for Heat { space: central<order = 2>; mixed: bidiagonal; time: rk3_williamson; }",
    );
    let h = 1.0 / n as f64;
    let mut simulation = Simulation::<f64>::builder(&system)
        .cells([n, 1, 1])
        .boundary(Face::X_LO, lo)
        .boundary(Face::X_HI, hi)
        .dt(0.25 * h * h)
        .build()
        .unwrap();
    simulation.set("q", |x, _, _| exact(x, 0.0)).unwrap();
    simulation.run_until(0.05, |_, _| ()).unwrap();
    let values = simulation.field("q").unwrap();
    let error = |(i, q): (usize, &f64)| (q - exact((i as f64 + 0.5) * h, 0.05)).abs();
    values.iter().enumerate().map(error).fold(0.0, f64::max)
}

#[test]
fn values_and_slopes_are_of_second_order() {
    use std::f64::consts::PI;
    // Between moving values, a moving slope on one side, and by formulas.
    let exact = |x: f64, t: f64| (-PI * PI * t).exp() * (PI * (x + 0.3)).sin() + x;
    let slope = |x: f64, t: f64| (-PI * PI * t).exp() * PI * (PI * (x + 0.3)).cos() + 1.0;
    let value = move |x, _: f64, _: f64, t| exact(x, t);
    let pairs: [(&str, Boundary, Boundary); 3] = [
        ("dirichlet", Boundary::dirichlet_with(value), Boundary::dirichlet_with(value)),
        (
            "neumann",
            Boundary::neumann_with(move |x, _, _, t| -slope(x, t)),
            Boundary::neumann_with(move |x, _, _, t| slope(x, t)),
        ),
        (
            "text",
            Boundary::dirichlet_text(
                "exp(-9.869604401089358*t) * sin(3.141592653589793*(x + 0.3)) + x",
            ),
            Boundary::neumann_with(move |x, _, _, t| slope(x, t)),
        ),
    ];
    for (name, lo, hi) in pairs {
        let errors = [20, 40].map(|n| heat_error(n, lo.clone(), hi.clone(), exact));
        let order = (errors[0] / errors[1]).log2();
        assert!((1.9..2.2).contains(&order), "{name}: order {order} from {errors:?}");
    }
}

/// A wave that is even at walls stays as accurate as the scheme, which is of order 6.
#[test]
fn walls_keep_the_order_of_the_scheme() {
    let system = text(
        "pub system Sound in 1d { field p: scalar; field u: vector; ddt(p) = -div(u); ddt(u) = -grad(p); }
         scheme s for Sound { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }",
    );
    let error = |n: usize| {
        let mut simulation = Simulation::<f64>::builder(&system)
            .cells([n, 1, 1])
            .boundary(Axis::X, Boundary::wall())
            .dt(2e-4)
            .build()
            .unwrap();
        let pi = std::f64::consts::PI;
        simulation.set("p", |x, _, _| (pi * x).cos()).unwrap();
        simulation.run_until(0.3, |_, _| ()).unwrap();
        let exact = |i: usize| (pi * (i as f64 + 0.5) / n as f64).cos() * (pi * 0.3).cos();
        let values = simulation.field("p").unwrap();
        let errors = values.iter().enumerate().map(|(i, p)| (p - exact(i)).abs());
        errors.fold(0.0, f64::max)
    };
    let order = (error(8) / error(16)).log2();
    assert!((5.7..6.4).contains(&order), "order {order}");
}

#[test]
fn extrapolation_is_exact_for_linear_functions() {
    let system = text(
        "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
         scheme s for Heat { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }",
    );
    let mut simulation = Simulation::<f64>::builder(&system)
        .cells([5, 7, 1])
        .boundary(stencil_runtime::Faces::All, Boundary::extrapolate())
        .dt(1e-3)
        .build()
        .unwrap();
    simulation.set("q", |x, y, _| 1.0 + 2.0 * x - 3.0 * y).unwrap();
    let before = simulation.to_f64("q").unwrap();
    simulation.run(20, |_, _| ()).unwrap();
    for (was, is) in before.iter().zip(simulation.field("q").unwrap()) {
        assert!((was - is).abs() < 1e-12, "{was} {is}");
    }
}
