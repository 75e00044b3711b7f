//! Random conservation laws as text, the same for the same seed.

use std::fmt::Write as _;

use stencil_compiler::search::space::Draws;

use crate::rename;

/// Returns a conservation law of one to three scalars with random fluxes and other terms, by any solver that needs only
/// bounds of speeds, and by any reconstruction; with `few` by those that the second oracle knows.
pub fn random(seed: u64, few: bool) -> String {
    let mut draws = Draws::new(seed ^ 0x1a3);
    let mut pick = |n: usize| draws.below(n as u64) as usize;
    let dimension = 1 + pick(3);
    let names = &["q", "r", "s"][..1 + pick(3)];
    let mut text = format!("pub system Law in {dimension}d {{\n");
    for name in names {
        let _ = writeln!(text, "    conserved {name}: scalar;");
    }
    text.push_str("    param a: real = 0.7;\n    param b: real = 0.3;\n    source f: scalar;\n");
    for name in names {
        let other = names[pick(names.len())];
        let with = |text: &str| rename(&rename(text, "q", name), "p", other);
        let flux: Vec<String> = (0..dimension).map(|_| with(FLUXES[pick(FLUXES.len())])).collect();
        let rest = with(RESTS[pick(RESTS.len())]);
        let _ = writeln!(text, "    flux {name} -> [{}];", flux.join(", "));
        let _ = writeln!(text, "    ddt({name}) = {rest};");
    }
    // No flux above changes faster.
    let squares: Vec<String> = names.iter().map(|name| format!("{name}^2")).collect();
    let _ = writeln!(text, "    waves {{ sound: 3 + {}; }}", squares.join(" + "));
    let own = [
        "constant",
        "plm<limiter = minmod>",
        "plm<limiter = mc>",
        "plm<limiter = van_leer>",
        "plm<limiter = central>",
        "plm<limiter = superbee>",
    ];
    let others = ["ppm", "weno5", "weno_z", "plm<limiter = van_albada>"];
    let solvers = ["rusanov", "hll", "hlle", "force", "musta<stages = 2>"];
    let reconstruct = match pick(if few { own.len() } else { own.len() + others.len() }) {
        at if at < own.len() => own[at],
        at => others[at - own.len()],
    };
    let riemann = solvers[pick(if few { 2 } else { solvers.len() })];
    let time = ["euler", "ssprk2", "ssprk3"][pick(3)];
    let order = 2 + 2 * pick(2);
    text + &format!(
        "}}\nscheme random{seed} for Law {{ space: central<order = {order}>; reconstruct: {reconstruct}; riemann: {riemann}; time: {time}; }}\n"
    )
}

/// Fluxes of a scalar q beside another one, p.
const FLUXES: [&str; 8] = [
    "q^2/2",
    "a*q*(1 - q)",
    "sin(q)",
    "q^2/(1 + q^2 + b*(1 - q)^2)",
    "a*q",
    "(q - b)^3/3",
    "sqrt(1 + (q - a)^2)",
    "q/(1 + p^2)",
];

/// Other terms of its rate.
const RESTS: [&str; 5] = ["0", "0.1*lap(q)", "f - b*q", "(q - p)^2*f", "a*f*p/(1 + q^2)"];
