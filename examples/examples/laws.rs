//! Measures conservation laws in the plane on one thread of the processor, in million cells a second of processor time.
//!
//! `cargo run --release --package stencil-examples --example laws -- 1024` takes 1024 cells along both axes. Other programs on the same
//! cores lengthen the wall time, and hardly the processor time.

use std::f64::consts::TAU;

use stencil_examples::processor_time;
use stencil_runtime::{Engine, Error, Simulation, System, pde};

mod lines {
    use super::pde;
    pde! {
        /// Linear acoustics (LeVeque 2002, Eqs. 2.52 and 18.24), by lines.
        pub system Acoustics in 2d {
            conserved p: scalar;
            conserved u: vector;
            flux p -> u;
            flux u -> p * I;
            waves { sound: 1; }
        }
        scheme plm_hll for Acoustics { reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk2; }
    }
    pde! {
        /// Shallow water over a flat bed (LeVeque 2002, Eq. 13.5), by lines.
        pub system Water in 2d {
            conserved h: scalar;
            conserved m: vector;
            param g: real = 9.81;
            let u = m / h;
            flux h -> m;
            flux m -> outer(m, u) + g*h^2/2 * I;
            waves { flow: u; sound: sqrt(g*h); }
        }
        scheme plm_hll for Water { reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk2; }
    }
}

mod waves {
    use super::pde;
    pde! {
        /// The same by wave propagation.
        pub system Acoustics in 2d {
            conserved p: scalar;
            conserved u: vector;
            flux p -> u;
            flux u -> p * I;
            waves { sound: 1; }
        }
        scheme waves_roe for Acoustics { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; }
    }
    pde! {
        /// The same by wave propagation.
        pub system Water in 2d {
            conserved h: scalar;
            conserved m: vector;
            param g: real = 9.81;
            let u = m / h;
            flux h -> m;
            flux m -> outer(m, u) + g*h^2/2 * I;
            waves { flow: u; sound: sqrt(g*h); }
            average { h; u by sqrt(h); m = h*u; }
            primitive { h; u; m = h*u; }
        }
        scheme waves_roe for Water { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; }
    }
}

/// Times steps of smooth waves several times, for about a second each, and prints the best rate.
fn timed<S: System>(system: &S, name: &str, engine: Engine, n: usize) -> Result<(), Error> {
    let builder = Simulation::<f64>::builder(system).cells([n, n, 1]);
    let builder = builder.threads(1).engine(engine).dt(0.1 / n as f64);
    let mut simulation = builder.build()?;
    let fields: Vec<String> = simulation.components().map(str::to_string).collect();
    for (c, field) in fields.iter().enumerate() {
        let mean = if c == 0 { 1.0 } else { 0.0 };
        let shift = 0.2 * c as f64;
        simulation.set(field, |x, y, _| {
            mean + 0.1 * (TAU * (x + shift)).sin() * (TAU * (y - shift)).cos()
        })?;
    }
    simulation.step()?;
    let mut best = 0.0;
    for _ in 0..8 {
        let (start, mut steps) = (processor_time(), 0);
        while processor_time() < start + 1.0 {
            simulation.run(4, |_, _| ())?;
            steps += 4;
        }
        let rate = (n * n * steps) as f64 / (processor_time() - start) * 1e-6;
        best = f64::max(best, rate);
    }
    println!("{name:<28} {engine:?}: {best:.1} million cells a second");
    Ok(())
}

fn main() -> Result<(), Error> {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let n = n.unwrap_or(1024);
    for engine in [Engine::Compiled, Engine::Rows] {
        timed(&lines::Acoustics, "acoustics, plm and hll", engine, n)?;
        timed(&lines::Water, "water, plm and hll", engine, n)?;
        timed(&waves::Acoustics, "acoustics, waves and roe", engine, n)?;
        timed(&waves::Water, "water, waves and roe", engine, n)?;
    }
    Ok(())
}
