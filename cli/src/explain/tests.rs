//! Pages as a whole.

use clap::Parser;
use stencil_report::WIDTH;

use super::*;

const HEAT: &str = "system Heat in 3d { field q: scalar [K]; param k: real = 0.5 where k >= 0; ddt(q) = k * lap(q); }";
pub(super) const NAVIER_STOKES: &str = include_str!("../../../tests/systems/isothermal_ns.pde");

#[derive(Debug, Parser)]
pub(super) struct Command {
    #[command(flatten)]
    pub(super) args: ExplainArgs,
}

pub(super) fn built_ins() -> Vec<BuiltIn> {
    let built_in = |name: &str, text: &str| BuiltIn {
        name: name.into(),
        summary: String::new(),
        text: text.into(),
    };
    vec![built_in("heat", HEAT), built_in("ns", NAVIER_STOKES)]
}

/// Runs the command: its output, or its failure.
pub(super) fn try_explain(line: &str) -> Result<String, Failure> {
    let args = Command::parse_from(["explain"].into_iter().chain(line.split_whitespace())).args;
    let mut out = Vec::new();
    run(&args, &built_ins(), &mut out).map_err(|ended| Failure::new(ended.message))?;
    Ok(String::from_utf8(out).unwrap())
}

pub(super) fn explain(line: &str) -> String {
    try_explain(line).unwrap()
}

/// Asserts that some line of a page begins with each of these.
pub(super) fn has_lines(page: &str, begins: &[&str]) {
    for begin in begins {
        let has = page.lines().any(|line| line.starts_with(begin));
        assert!(has, "{begin}\n{page}");
    }
}

/// Asserts that a page fits a terminal.
pub(super) fn fits(page: &str) {
    for line in page.lines() {
        let is_short = line.chars().count() <= WIDTH;
        assert!(is_short && line.trim_end() == line, "{line}");
    }
}

#[test]
fn heat_is_explained() {
    let page = explain("heat");
    has_lines(
        &page,
        &[
            "Heat in 3d",
            "  ddt(q) = k * lap(q)",
            "  k     parameter           0.5, >= 0.0",
            "    all together      19  3 3 3",
            "direct: one pass, one thread a cell (the 55-point form)",
            "  decomposed         1        12",
        ],
    );
}

#[test]
fn pages_fit_a_terminal_and_do_not_change() {
    for line in
        ["heat", "ns", "ns --mixed composed --precision f64", "ns --mixed product --order 2"]
    {
        let page = explain(line);
        fits(&page);
        assert_eq!(page, explain(line));
    }
}

#[test]
fn carried_sums_are_shown_with_their_lags() {
    let page = explain("ns --schedule carried");
    assert!(page.contains("stores plane p-3: u_x_new, u_y_new, u_z_new"), "{page}");
    assert!(
        page.lines().any(|line| {
            line.split_whitespace().eq(["ddt_u_x", "carried", "p", "p-3", "0", "6"])
        })
    );
    assert!(page.contains("All numbers") && !page.contains("gathered"));
}

#[test]
fn sums_ahead_are_shown_on_the_plane_that_they_complete_on() {
    let file = std::env::temp_dir().join(format!("stencil-ahead-{}.pde", std::process::id()));
    let text = "system Two in 3d { field q: scalar; field w: scalar;
        ddt(q) = q*d[x](q)*d[x](d[z](w)); ddt(w) = lap(w) + d[y](d[z](w)); }
        scheme s for Two { space: central<order = 6>; mixed: bidiagonal; time: euler; }";
    std::fs::write(&file, text).unwrap();
    let page = explain(&format!("{} --schedule ahead", file.display()));
    std::fs::remove_file(&file).unwrap();
    let has = |row: &[&str]| {
        let mut lines = page.lines().map(str::split_whitespace);
        lines.any(|line| line.eq(row.iter().copied()))
    };
    let ahead = ["dxz_w", "carried", "ahead", "p+3", "p", "0", "6"];
    assert!(has(&ahead), "{page}");
    assert!(has(&["ddt_w", "carried", "p", "p-3", "0", "6"]), "{page}");
    assert!(page.contains("placed carried ahead: dxz_w"), "{page}");
    assert!(page.contains("stores plane p: q_new"), "{page}");
}

/// The page of an error code.
fn explain_error(code: &str) -> Result<String, Failure> {
    let code = Some(code.to_string());
    let mut out = Vec::new();
    run_error(&ExplainErrorArgs { code }, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn codes_have_pages() {
    for code in Code::ALL {
        let page = explain_error(&code.text().to_lowercase()).unwrap();
        assert!(page.starts_with(&format!("{code}: ")));
    }
    let text = explain_error("P9999").unwrap_err().to_string();
    assert!(
        text.starts_with("error: no error code `P9999`") && text.contains("P0101  unknown name"),
        "{text}"
    );
}
