//! Laws of one scalar with exact solutions: Burgers' equation, until its waves break and after.

use std::f64::consts::TAU;

use physics::systems::BurgersLaw;
use stencil_runtime::{Boundary, Simulation, System, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::{RECONSTRUCTIONS, SOLVERS, error_of_fan, of_library, started};

/// Returns Burgers' equation of the library.
fn burgers(reconstruct: &str, riemann: &str) -> SystemDef {
    of_library(&BurgersLaw::<1>::DEFINITION, reconstruct, riemann)
}

/// Returns solvers that need no contact.
fn solvers() -> impl Iterator<Item = &'static str> {
    SOLVERS.into_iter().filter(|solver| !["exact", "hllc"].contains(solver))
}

/// Returns the wave `1 + sin(2πx)/2` before it breaks: each value has its own speed (LeVeque 2002, section 11.1).
fn steepened(x: f64, t: f64) -> f64 {
    let start = |x: f64| 1.0 + 0.5 * (TAU * x).sin();
    let mut from = x - t * start(x);
    for _ in 0..100 {
        let slope = 1.0 + t * 0.5 * TAU * (TAU * from).cos();
        from -= (from + t * start(from) - x) / slope;
    }
    start(from)
}

/// Returns the mean over a cell, by Gauss's rule of three points.
fn mean(x: f64, h: f64, t: f64) -> f64 {
    let off = 0.5 * h * 0.6f64.sqrt();
    (5.0 * steepened(x - off, t) + 8.0 * steepened(x, t) + 5.0 * steepened(x + off, t)) / 18.0
}

#[test]
fn waves_steepen_at_the_order_of_each_reconstruction() {
    let end = 0.15;
    let error = |reconstruct: &str, riemann: &str, n: usize| {
        let system = burgers(reconstruct, riemann);
        let h = 1.0 / n as f64;
        // The integrator is of third order.
        let steps = (0.3 * (n as f64).powf(5.0 / 3.0)).ceil();
        let mut simulation: Simulation<f64> = started(&system, [n, 1, 1], false, Some(end / steps));
        simulation.fill("q", |x, _, _| mean(x, h, 0.0));
        let run = simulation.run(steps as u64, |_, _| ());
        run.unwrap_or_else(|e| panic!("{reconstruct}, {riemann}: {e}"));
        simulation.error("q", |x, _, _| mean(x, h, end))
    };
    let lines = solvers().map(|solver| ("plm<limiter = van_leer>", solver));
    let all = RECONSTRUCTIONS.iter().map(|made| (*made, "rusanov"));
    for (reconstruct, riemann) in lines.chain(all) {
        let [coarse, fine] = [40, 80].map(|n| error(reconstruct, riemann, n));
        let order = (coarse / fine).log2();
        println!("{riemann}, {reconstruct}: {coarse:.2e} {fine:.2e}, order {order:.2}");
        let least = match reconstruct {
            "constant" => 0.8,
            "plm<limiter = superbee>" => 1.2,
            "plm<limiter = minmod>" => 1.6,
            "weno5" | "weno_z" => 4.4,
            // They smear jumps by an amount that the mesh allows in a step: a shorter step smears more.
            _ if ["force", "musta"].contains(&riemann) => 1.3,
            _ => 1.8,
        };
        assert!(order > least, "{riemann}, {reconstruct}: {order}");
    }
}

/// A shock at its speed, and a fan through which the speed of waves changes its sign: no solver leaves a jump there.
#[test]
fn shocks_and_fans_are_those_of_the_entropy() {
    let end = 0.3;
    let exact = |left: f64, right: f64, s: f64| match left > right {
        true if s < 0.5 * (left + right) => left,
        true => right,
        false => s.clamp(left, right),
    };
    for (left, right) in [(1.0, -0.4), (0.2, 1.0), (-0.6, 1.0), (-0.5, -1.0)] {
        for riemann in solvers() {
            for reconstruct in ["constant", "plm<limiter = mc>", "ppm", "weno_z"] {
                let error = |n: usize| {
                    let system = burgers(reconstruct, riemann);
                    let mut simulation: Simulation<f64> = started(&system, [n, 1, 1], true, None);
                    simulation.fill("q", |x, _, _| if x < 0.5 { left } else { right });
                    let error = error_of_fan(&mut simulation, "q", end, |s| exact(left, right, s));
                    error.or_panic()
                };
                let [coarse, fine] = [50, 150].map(error);
                let order = (coarse / fine).ln() / 3f64.ln();
                println!(
                    "{left} {right}, {riemann}, {reconstruct}: {coarse:.2e} {fine:.2e}, order {order:.2}"
                );
                let least = if reconstruct == "constant" { 0.6 } else { 0.75 };
                assert!(
                    order > least && fine < 0.04,
                    "{left} {right}, {riemann}, {reconstruct}: {order} {fine}"
                );
            }
        }
    }
}

/// Waves along the diagonal of two or three axes equal faster waves along one, by the library's schemes.
#[test]
fn waves_steepen_along_the_diagonal() {
    fn error<S: System>(scheme: &str, n: usize) -> f64 {
        let system = SystemDef::new(&S::DEFINITION).and_then(|s| s.with_scheme(scheme)).or_panic();
        let axes = system.model().dimension;
        let cells = std::array::from_fn(|axis| if axis < axes { n } else { 1 });
        let end = 0.08 / axes as f64;
        let steps = (1.2 * end * (axes * n) as f64 / 0.35).ceil();
        let mut simulation: Simulation<f64> = started(&system, cells, false, Some(end / steps));
        let coordinate = |x: f64, y: f64, z: f64| [x, y, z][..axes].iter().sum::<f64>();
        simulation.fill("q", |x, y, z| steepened(coordinate(x, y, z), 0.0));
        let run = simulation.run(steps as u64, |_, _| ());
        run.unwrap_or_else(|e| panic!("{scheme}: {e}"));
        simulation.error("q", |x, y, z| steepened(coordinate(x, y, z), axes as f64 * end))
    }
    // Time is of third order at most.
    for (scheme, least) in [
        ("plm_roe", 1.7),
        ("ppm_hll", 1.7),
        ("weno5_roe", 1.8),
        ("weno_z_fluxes", 2.9),
        ("waves_roe", 1.6),
    ] {
        let plane = [24, 48].map(|n| error::<BurgersLaw<2>>(scheme, n));
        let space = [12, 24].map(|n| error::<BurgersLaw<3>>(scheme, n));
        for (axes, [coarse, fine]) in [(2, plane), (3, space)] {
            let order = (coarse / fine).log2();
            println!("{scheme}, {axes}d: {coarse:.2e} {fine:.2e}, order {order:.2}");
            // Twelve cells are few.
            let least = if axes == 2 { least } else { least - 0.3 };
            assert!(order > least, "{scheme}, {axes}d: {order}");
        }
    }
}

/// A shock with viscosity is as wide as that (Whitham, Linear and Nonlinear Waves, section 4.3), and moves at the mean of both sides.
#[test]
fn viscosity_makes_the_profile_of_a_shock() {
    let (nu, end) = (0.01, 0.2);
    let exact = |x: f64, t: f64| 0.5 - 0.5 * (0.5 * (x - 0.4 - 0.5 * t) / (2.0 * nu)).tanh();
    // Derivatives take means for values in the middle, but for `fluxes`, which are made of these.
    for (scheme, least) in [("plm_roe", 1.6), ("weno5_roe", 1.8), ("weno_z_fluxes", 3.5)] {
        let error = |n: usize| {
            let system = SystemDef::new(&BurgersLaw::<1>::DEFINITION);
            let system = system.and_then(|s| s.with_scheme(scheme)).or_panic();
            let steps = (n * n / 16) as u64;
            let builder = Simulation::<f64>::builder(&system).cells([n, 1, 1]);
            let builder = builder.centered(true).param("nu", nu);
            let builder = builder.boundary(stencil_runtime::Axis::X, Boundary::outflow());
            let mut simulation = builder.dt(end / steps as f64).build().or_panic();
            simulation.fill("q", |x, _, _| exact(x, 0.0));
            let run = simulation.run(steps, |_, _| ());
            run.unwrap_or_else(|e| panic!("{scheme}: {e}"));
            simulation.error("q", |x, _, _| exact(x, end))
        };
        let [coarse, fine] = [80, 160].map(error);
        let order = (coarse / fine).log2();
        println!("{scheme}: {coarse:.2e} {fine:.2e}, order {order:.2}");
        assert!(order > least, "{scheme}: {order}");
    }
}
