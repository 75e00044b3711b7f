//! A value that is not finite is traced to its cause.

use stencil_runtime::{Axis, Boundary, Builder, Error, Simulation, Source, SystemDef};

fn builder(equations: &str) -> Builder<f64> {
    let text = format!(
        "system Gas in 1d {{ field q: scalar; field p: scalar; {equations} }}
         scheme s for Gas {{ space: central<order = 2>; time: ssprk2; }}"
    );
    let system = SystemDef::from_text("gas", &text).unwrap_or_else(|e| panic!("{e}"));
    Simulation::<f64>::builder(&system).cells([16, 1, 1]).dt(0.1).unchecked_step(true)
}

/// Returns the message of a run that begins with `q` and `p` and fails.
fn said(builder: Builder<f64>, q: fn(f64) -> f64) -> String {
    let mut gas = builder.build().unwrap_or_else(|e| panic!("{e}"));
    gas.set("q", |x, _, _| q(x)).unwrap();
    gas.set("p", |_, _, _| 1.0).unwrap();
    let error = gas.run(2000, |_, _| ()).unwrap_err();
    assert!(matches!(error, Error::NotFinite(_)), "{error}");
    error.to_string()
}

fn holds(text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "{text} has no {part}");
    }
}

#[test]
fn ghost_values_are_told_from_equations() {
    let walled = builder("ddt(q) = -d[x](q); ddt(p) = d[x](sqrt(q));");
    let odd = Boundary::text("-q");
    let text = said(walled.boundary(Axis::X, odd), |_| 1.0);
    holds(&text, &["square root of -1", "beyond x.lo", "boundary of x.lo"]);
    assert!(!text.contains("larger viscosity"), "{text}");
    let endless = builder("ddt(q) = 0; ddt(p) = d[x](q);");
    let text = said(endless.boundary(Axis::X, Boundary::text("1/(t - t)")), |_| 1.0);
    holds(&text, &["ghost value of `q`", "beyond x.", "boundary of x."]);
}

#[test]
fn roots_and_quotients_are_told_with_their_arguments() {
    let text = said(builder("ddt(q) = -1; ddt(p) = sqrt(q);"), |_| 0.25);
    holds(&text, &["the square root of -0.05", "`if` or `max`"]);
    let text = said(builder("ddt(q) = 0; ddt(p) = p/q;"), |x| x - 0.5);
    holds(&text, &["the quotient of 1 by zero", "at [0.5]"]);
    let text = said(builder("ddt(q) = 0; ddt(p) = log(q);"), |x| x - 0.5);
    holds(&text, &["the logarithm of -0.5", "at [0]"]);
}

/// A branch that is not taken has no part in it, and growth without bound is still reported as such.
#[test]
fn what_grows_without_bound_is_told_to_take_smaller_steps() {
    let text =
        said(builder("ddt(q) = q^3 + if q > 0 { 0 } else { sqrt(-1 - q) }; ddt(p) = 0;"), |_| 1.0);
    holds(&text, &["smaller time step", "larger viscosity"]);
}

/// Sources are checked even if nothing that follows from them is stored.
#[test]
fn sources_are_finite_in_all_cells() {
    let gas = builder("source k: scalar; ddt(q) = max(0, k); ddt(p) = 0;");
    let root = gas.source("k", Source::text("sqrt(x - 1/2)"));
    let error = root.build().unwrap_err().to_string();
    holds(&error, &["the source `k` at [0.0", "NaN", "finite in all cells"]);
}
