//! A declaration of a few lines goes with every reconstruction, of all variables, and every solver, but for those that the book excepts.

use std::f64::consts::TAU;

use stencil_runtime::{Error, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs, takes_in_turn};

use super::{RECONSTRUCTIONS, SOLVERS, started};

/// The gas that the book's page on the language shows, as a user would write it.
const GAS: &str = include_str!("../../../../examples/gas.pde");

fn gas(scheme: &str) -> Result<SystemDef, Error> {
    let text = format!("{GAS}\nscheme s for Gas {{ {scheme} }}");
    SystemDef::from_text_in("gas.pde", &text, Some(1)).and_then(|system| system.with_scheme("s"))
}

/// Runs two states, once around: conserved sums stay, and density and pressure stay positive.
fn runs(scheme: &str, system: &SystemDef) {
    let mut simulation: Simulation<f64> = started(system, [24, 1, 1], false, None);
    simulation.fill("rho", |x, _, _| if x < 0.5 { 1.0 } else { 0.5 });
    simulation.fill("m_x", |x, _, _| 0.2 * (TAU * x).sin());
    simulation.fill("E", |x, _, _| if x < 0.5 { 2.5 } else { 1.0 });
    let values = |s: &Simulation<f64>| ["rho", "m_x", "E"].map(|name| s.values(name));
    let before = values(&simulation);
    let run = simulation.run(8, |_, _| ());
    run.unwrap_or_else(|e| panic!("{scheme}: {e}"));
    let after = values(&simulation);
    for (before, after) in before.iter().zip(&after) {
        assert!((after.sum() - before.sum()).abs() < 1e-12, "{scheme}");
        assert!(before != after, "{scheme}");
    }
    let [rho, m, e] = after;
    for ((rho, m), e) in rho.iter().zip(&m).zip(&e) {
        assert!(*rho > 0.4 && e - m * m / (2.0 * rho) > 0.5, "{scheme}");
    }
}

/// Those that run do so in turn.
#[test]
fn a_gas_has_every_reconstruction_of_all_variables_with_every_solver() {
    let (mut ran, mut refused) = (0, 0);
    for made in RECONSTRUCTIONS.iter() {
        for variables in ["conserved", "primitive", "characteristic", "fluxes"] {
            for riemann in SOLVERS {
                let scheme = format!(
                    "reconstruct: {made} in {variables}; riemann: {riemann}; time: ssprk3;"
                );
                // A system has the solvers that it declares, and a state between has no reconstructed fluxes.
                let code = match (variables, riemann) {
                    (_, "exact") => Some("P0313"),
                    ("fluxes", "force" | "musta" | "hllc") => Some("P0319"),
                    _ => None,
                };
                match (gas(&scheme), code) {
                    (Ok(system), None) => {
                        if takes_in_turn::<f64>(ran) {
                            runs(&scheme, &system);
                        }
                        ran += 1;
                    }
                    (Err(error), Some(code)) => {
                        let error = error.to_string();
                        assert!(error.contains(code), "{scheme}: {error}");
                        refused += 1;
                    }
                    (Ok(_), Some(code)) => panic!("{scheme} is not {code}"),
                    (Err(error), None) => panic!("{scheme}: {error}"),
                }
            }
        }
    }
    let n = RECONSTRUCTIONS.len();
    assert_eq!((ran, refused), (n * (4 * 7 - 3), n * (4 + 3)));
}

#[test]
fn a_gas_has_waves_with_every_limiter() {
    let limiters = RECONSTRUCTIONS.iter().filter(|made| made.starts_with("plm"));
    for made in limiters {
        let made = made.replace("plm", "waves");
        let scheme = format!("reconstruct: {made}; riemann: roe; time: euler;");
        runs(&scheme, &gas(&scheme).or_panic());
    }
}

/// Speeds of waves follow from fluxes here, so all schemes without pressure and primitive variables work.
#[test]
fn fluxes_alone_do_where_speeds_follow_from_them() {
    let declared: String = GAS
        .lines()
        .filter(|line| !line.trim_start().starts_with("primitive"))
        .filter(|line| !line.trim_start().starts_with("waves"))
        .filter(|line| !line.starts_with("scheme"))
        .map(|line| format!("{line}\n"))
        .collect();
    for (variables, riemann, code) in [
        ("conserved", "force", None),
        ("conserved", "musta", None),
        ("conserved", "rusanov", None),
        ("conserved", "hll", None),
        ("conserved", "hlle", None),
        ("conserved", "roe", None),
        ("characteristic", "roe", None),
        ("fluxes", "roe", None),
        ("conserved", "hllc", Some("P0316")),
        ("primitive", "hll", Some("P0315")),
    ] {
        let scheme = format!("reconstruct: plm in {variables}; riemann: {riemann}; time: ssprk3;");
        let text = format!("{declared}scheme s for Gas {{ {scheme} }}");
        match (SystemDef::from_text_in("gas.pde", &text, Some(1)), code) {
            (Ok(system), None) => runs(&scheme, &system),
            (found, code) => {
                let found = found.map(|_| "it is none".to_string());
                let error = found.unwrap_or_else(|e| e.to_string());
                assert!(code.is_some_and(|code| error.contains(code)), "{scheme}: {error}");
            }
        }
    }
}
