//! The numbers of the paper, and pages as a whole.

use clap::Parser;
use stencil_compiler::algorithm::footprint::points;
use stencil_compiler::expr::real::Precision;

use super::*;

const HEAT: &str = "system Heat in 3d { field q: scalar [K]; param k: real = 0.5 where k >= 0; ddt(q) = k * lap(q); }";
const NAVIER_STOKES: &str = include_str!("../../../tests/systems/isothermal_ns.pde");

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

/// What the command line writes, or says is wrong.
pub(super) fn try_explain(line: &str) -> Result<String, Failure> {
    let args = Command::parse_from(["explain"].into_iter().chain(line.split_whitespace())).args;
    let mut out = Vec::new();
    run(&args, &built_ins(), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

pub(super) fn explain(line: &str) -> String {
    try_explain(line).unwrap()
}

/// Points of a component, and of all together.
fn footprint_of(mixed: &str, stored: bool, component: &str) -> [usize; 2] {
    let text = NAVIER_STOKES.replace("mixed: bidiagonal", &format!("mixed: {mixed}"));
    let model = stencil_compiler::model::parse::parse_str(&text).unwrap();
    let algorithm = stencil_compiler::discretize::discretize(&model).unwrap();
    let stored = if stored {
        footprints::stored(&algorithm, Precision::F32)
    } else {
        Default::default()
    };
    let read = footprints::read(&algorithm, &stored);
    [
        read[&algorithm.find(component).unwrap()].len(),
        points(&read),
    ]
}

#[test]
fn navier_stokes_reads_what_the_paper_says() {
    assert_eq!(footprint_of("bidiagonal", false, "u_x"), [43, 55]);
    assert_eq!(footprint_of("bidiagonal", false, "lnrho"), [19, 55]);
    assert_eq!(footprint_of("composed", false, "u_z")[0], 97);
    for component in ["u_x", "u_y", "u_z", "lnrho", "div_u"] {
        assert_eq!(footprint_of("composed", true, component), [19, 19]);
    }
}

#[test]
fn heat_is_explained() {
    let page = explain("heat");
    for line in [
        "Heat in 3d",
        "  ddt(q) = k * lap(q)",
        "  k     parameter           0.5, >= 0.0",
        "    all together      19  3 3 3",
        "direct: one pass, one thread a cell (the 55-point form)",
        "  decomposed         1        16",
    ] {
        assert!(
            page.lines().any(|found| found.starts_with(line)),
            "{line}\n{page}"
        );
    }
}

#[test]
fn pages_fit_a_terminal_and_do_not_change() {
    for line in [
        "heat",
        "ns",
        "ns --mixed composed --precision f64",
        "ns --mixed product --order 2",
    ] {
        let page = explain(line);
        for line in page.lines() {
            assert!(
                line.chars().count() <= table::WIDTH && line.trim_end() == line,
                "{line}"
            );
        }
        assert_eq!(page, explain(line));
    }
}

#[test]
fn carried_sums_are_shown_with_their_lags() {
    let page = explain("ns --schedule carried");
    assert!(
        page.contains("stores plane p-3: u_x_new, u_y_new, u_z_new"),
        "{page}"
    );
    assert!(page.lines().any(|line| {
        line.split_whitespace()
            .eq(["ddt_u_x", "carried", "p", "p-3", "0", "6"])
    }));
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

#[test]
fn codes_have_pages() {
    for code in Code::ALL {
        assert!(
            error_page(&code.text().to_lowercase())
                .unwrap()
                .starts_with(&format!("{code}: "))
        );
    }
    let text = error_page("P9999").unwrap_err().to_string();
    assert!(
        text.starts_with("error: no error code `P9999`") && text.contains("P0101  unknown name"),
        "{text}"
    );
}
