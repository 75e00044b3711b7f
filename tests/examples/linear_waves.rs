//! Errors of waves oblique to all axes, by the schemes that advance gases in space, on finer and finer meshes. Prints tables.
//!
//! ```text
//! cargo run --release -p stencil-tests --example linear_waves -- 32
//! ```
//!
//! takes up to 64 by 32 by 32 cells.

use physics::systems::{IdealGas, IdealMhd};
use stencil_runtime::{System, SystemDef};
use stencil_tests::linear_waves::{Wave, of_gas, of_magnetized_gas};
use stencil_tests::with_scheme;

/// The shares of the longest stable steps, and the time: that in which sound passes half of a wave.
const COURANT: f64 = 0.6;
const TIME: f64 = 0.5;

/// Prints the errors of all waves by a scheme.
fn rows(system: &SystemDef, name: &str, waves: &[Wave], finest: usize) {
    let sizes: Vec<usize> = [8, 16, 32, 64].into_iter().filter(|n| *n <= finest).collect();
    for wave in waves {
        let errors = sizes.iter().map(|n| wave.error(system, *n, COURANT, TIME));
        let errors: Vec<f64> = errors.collect();
        let orders = errors.windows(2).map(|pair| (pair[0] / pair[1]).log2());
        let [errors, orders]: [Vec<String>; 2] = [
            errors.iter().map(|error| format!("{error:.2e}")).collect(),
            orders.map(|order| format!("{order:.2}")).collect(),
        ];
        println!("| {name} | {} | {} | {} |", wave.name, errors.join(" | "), orders.join(", "));
    }
}

fn main() {
    let finest = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(32);
    for (name, time) in [
        ("RK2", "ssprk2"),
        ("MHM", "muscl_hancock"),
        ("VL", "van_leer"),
        ("CTU", "corner_transport"),
    ] {
        // Parabolas are traced by the methods that can.
        let parabolas = match time {
            "muscl_hancock" | "corner_transport" => "ppm<follow = characteristics>",
            _ => "ppm",
        };
        for (with, made) in [("PLM", "plm<limiter = mc>"), ("PPM", parabolas)] {
            let settings = format!(
                "reconstruct: {made} in primitive; riemann: hllc; time: {time}; repair: none;"
            );
            let system = with_scheme(&IdealGas::<3>::DEFINITION, &settings);
            rows(&system, &format!("{name}, {with}"), &of_gas(), finest);
        }
    }
    for riemann in ["hll", "hlld"] {
        for (with, made) in [("PLM", "plm<limiter = mc>"), ("PPM", "ppm")] {
            let settings = format!(
                "space: central<order = 2>; reconstruct: {made} in primitive; riemann: {riemann}; time: ssprk2; repair: none;"
            );
            let system = with_scheme(&IdealMhd::<3>::DEFINITION, &settings);
            rows(&system, &format!("RK2, {with}, `{riemann}`"), &of_magnetized_gas(), finest);
        }
    }
}
