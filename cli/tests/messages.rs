//! Messages as their readers meet them: the command, and everything on standard error. The texts are in `snapshots/`;
//! after an intended change, `INSTA_UPDATE=always cargo test -p stencil-cli --test messages` writes them anew, and the
//! difference shows the new messages.

use std::fs;

mod common;

use common::{folder, stencil, text};

/// A declaration with a word or two in place of others.
const HEAT: &str = "\
/// Diffusion.
pub system Heat in 2d {
    field q: scalar [K];
    param kappa: real [m^2/s] = 0.1 where kappa >= 0;
    ddt(q) = kappa * lap(q);
}
scheme central4 for Heat { space: central<order = 4>; mixed: bidiagonal; time: rk4; }
";

/// A problem of it.
const PROBLEM: &str = "\
system = \"heat.pde\"

[mesh]
cells = [16, 16]
extent = [1, 1]

[boundary]
x = \"periodic\"
y = \"periodic\"

[init]
q = \"exp(-50*((x - 0.5)^2 + (y - 0.5)^2))\"

[time]
dt = 1e-4
steps = 3
";

/// The body of the declaration and its scheme.
const BODY: &str = "\
    field q: scalar [K];
    param kappa: real [m^2/s] = 0.1 where kappa >= 0;
    ddt(q) = kappa * lap(q);
}
scheme central4 for Heat { space: central<order = 4>; mixed: bidiagonal; time: rk4; }";

/// A solver that smears nothing, in place of both.
const MEAN: &str = "\
    conserved q: scalar [K];
    param a: real [m/s] = 1;
    flux q -> [a*q, 0];
    riemann mean { flux q -> (flux(below.q) + flux(above.q))/2; }
}
scheme first for Heat { reconstruct: plm; riemann: mean; time: ssprk2; }";

/// Lines of a message that are shown.
const SHOWN: usize = 12;

/// Types words after `stencil` in a folder with `heat.pde` and `heat.toml`, in which a text is replaced; the words, and the
/// text on standard error.
fn met(replaced: Option<(&str, &str)>, words: &str) -> String {
    let hash = crc32fast::hash(format!("{replaced:?}{words}").as_bytes());
    let here = folder(&format!("{hash:08x}"));
    let (mut heat, mut problem) = (HEAT.to_string(), PROBLEM.to_string());
    if let Some((text, by)) = replaced {
        assert!(heat.contains(text) != problem.contains(text), "{text}");
        (heat, problem) = (heat.replacen(text, by, 1), problem.replacen(text, by, 1));
    }
    fs::write(here.join("heat.pde"), heat).unwrap_or_else(|e| panic!("{e}"));
    fs::write(here.join("heat.toml"), problem).unwrap_or_else(|e| panic!("{e}"));
    let output = stencil(words, &here);
    let code = output.status.code().unwrap_or(-1);
    assert_ne!(code, 0, "{words} is right");
    let said = text(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    let change = replaced.map_or(String::new(), |(text, by)| format!("`{text}` becomes `{by}`\n"));
    format!("{change}$ stencil {words}\n{}\n[exit code {code}]", beginning(said.trim_end()))
}

/// The first lines: lists of names grow with the library.
fn beginning(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    match lines.get(..SHOWN) {
        Some(first) => first.join("\n") + "\n..",
        None => lines.join("\n"),
    }
}

/// One page of messages.
fn page(cases: &[(Option<(&str, &str)>, &str)]) -> String {
    let all: Vec<String> = cases.iter().map(|(replaced, words)| met(*replaced, words)).collect();
    all.join("\n\n")
}

#[test]
fn mistakes_on_the_command_line() {
    let cases = [
        "ran heat.toml",
        "run haet.toml",
        "run explosoin",
        "run heat.pde",
        "run heat.toml --cell 8",
        "run heat.toml --precision f16",
        "run heat.toml --set mesh.cell=8,8",
        "run heat.toml --cells 8,8,8",
        "run heat.toml --param nu=1",
        "explain haet.pde",
        "explain isothermal",
        "explain heat.pde --schedule sideways",
        "emit heat.pde",
        "emit --target fortran heat.pde",
        "explain-error P9999",
        "plot nowhere",
        "plot heat.toml --out picture.jpg",
        "new 2d-heat",
        "check heat.pde --dimension 5",
        "bench heat.pde --dimension 3",
    ];
    let cases = cases.map(|words| (None, words));
    insta::assert_snapshot!("command_line", page(&cases));
}

#[test]
fn mistakes_in_declarations() {
    let cases = [
        ("lap(q)", "lap(p)"),
        ("lap(q)", "grad(q)"),
        ("lap(q);", "lap(q)"),
        ("lap(q)", "laplacian(q)"),
        ("kappa * lap", "kappa lap"),
        ("lap(q);", "lap(q;"),
        ("[K]", "[K"),
        ("in 2d", "in 4d"),
        ("scalar", "skalar"),
        ("ddt(q)", "ddt(kappa)"),
        ("= 0.1 where", "= -0.1 where"),
        ("time: rk4", "time: rk5"),
        ("order = 4", "order = 5"),
        ("mixed:", "mixing:"),
        (BODY, MEAN),
    ];
    let cases = cases.map(|replaced| (Some(replaced), "check heat.pde"));
    insta::assert_snapshot!("declarations", page(&cases));
}

#[test]
fn mistakes_in_problem_files() {
    let cases = [
        ("heat.pde", "heet.pde"),
        ("[mesh]", "[mesh"),
        ("cells = [16, 16]", "cell = [16, 16]"),
        ("cells = [16, 16]", "cells = [16, 16, 16]"),
        ("cells = [16, 16]", "cells = [16, -16]"),
        ("extent = [1, 1]", "extent = [1, 0]"),
        ("x = \"periodic\"", "x = \"periodical\""),
        ("y = \"periodic\"", "z = \"periodic\""),
        ("x - 0.5", "r - 0.5"),
        ("+ (y", "+ y"),
        ("dt = 1e-4", "dt = \"fast\""),
        ("dt = 1e-4\n", ""),
        ("steps = 3", "steps = \"three\""),
    ];
    let cases = cases.map(|replaced| (Some(replaced), "check heat.toml"));
    insta::assert_snapshot!("problem_files", page(&cases));
}
