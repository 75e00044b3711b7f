//! Laws of one scalar with exact solutions: Burgers' equation, until its waves break and after.

use std::f64::consts::TAU;

use stencil_runtime::Simulation;

use super::{RECONSTRUCTIONS, SOLVERS, error_of_fan, law, started};

/// LeVeque 2002, Eq. 11.12.
const BURGERS: &str = "system Burgers in 1d {
    conserved q: scalar;
    flux q -> [q^2/2];
    primitive { q; }
    waves { flow: [q]; }
    cfl { advective: abs(q); }
}";

/// Solvers that need no contact.
fn solvers() -> impl Iterator<Item = &'static str> {
    SOLVERS
        .into_iter()
        .filter(|solver| !["exact", "hllc"].contains(solver))
}

/// The wave `1 + sin(2πx)/2` after a time, before it breaks at 1/π: each value goes with its own speed (LeVeque 2002, section 11.1).
fn steepened(x: f64, t: f64) -> f64 {
    let start = |x: f64| 1.0 + 0.5 * (TAU * x).sin();
    let mut from = x - t * start(x);
    for _ in 0..100 {
        let slope = 1.0 + t * 0.5 * TAU * (TAU * from).cos();
        from -= (from + t * start(from) - x) / slope;
    }
    start(from)
}

/// The mean over a cell, by Gauss's rule of three points.
fn mean(x: f64, h: f64, t: f64) -> f64 {
    let off = 0.5 * h * 0.6f64.sqrt();
    (5.0 * steepened(x - off, t) + 8.0 * steepened(x, t) + 5.0 * steepened(x + off, t)) / 18.0
}

#[test]
fn waves_steepen_at_the_order_of_each_reconstruction() {
    let end = 0.15;
    let error = |reconstruct: &str, riemann: &str, n: usize| {
        let system = law(BURGERS, 1, reconstruct, riemann);
        let h = 1.0 / n as f64;
        // The integrator is of third order.
        let steps = (0.3 * (n as f64).powf(5.0 / 3.0)).ceil();
        let mut simulation: Simulation<f64> = started(&system, [n, 1, 1], false, Some(end / steps));
        let set = simulation.set("q", |x, _, _| mean(x, h, 0.0));
        set.unwrap_or_else(|e| panic!("{e}"));
        let run = simulation.run(steps as u64, |_, _| ());
        run.unwrap_or_else(|e| panic!("{reconstruct}, {riemann}: {e}"));
        let q = simulation.to_f64("q").unwrap_or_else(|e| panic!("{e}"));
        let errors = q.iter().enumerate();
        let errors = errors.map(|(i, q)| (q - mean((i as f64 + 0.5) * h, h, end)).abs());
        errors.sum::<f64>() * h
    };
    let lines = solvers().map(|solver| ("plm<limiter = van_leer>", solver));
    let all = RECONSTRUCTIONS.into_iter().map(|made| (made, "rusanov"));
    for (reconstruct, riemann) in lines.chain(all) {
        let [coarse, fine] = [40, 80].map(|n| error(reconstruct, riemann, n));
        let order = (coarse / fine).log2();
        println!("{riemann}, {reconstruct}: {coarse:.2e} {fine:.2e}, order {order:.2}");
        let least = match reconstruct {
            "constant" => 0.8,
            "plm<limiter = superbee>" => 1.2,
            "plm<limiter = minmod>" => 1.6,
            "weno5" | "weno_z" => 4.4,
            // They smear jumps by what the mesh allows in a step, which is the more the shorter it is.
            _ if ["force", "musta"].contains(&riemann) => 1.3,
            _ => 1.8,
        };
        assert!(order > least, "{riemann}, {reconstruct}: {order}");
    }
}

/// A shock at its speed, and a fan through which the speed of waves changes its sign: no solver lets that stand as a jump.
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
                    let system = law(BURGERS, 1, reconstruct, riemann);
                    let mut simulation: Simulation<f64> = started(&system, [n, 1, 1], true, None);
                    let set = simulation.set("q", |x, _, _| if x < 0.5 { left } else { right });
                    set.unwrap_or_else(|e| panic!("{e}"));
                    let error = error_of_fan(&mut simulation, "q", end, |s| exact(left, right, s));
                    error.unwrap_or_else(|e| panic!("{e}"))
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
