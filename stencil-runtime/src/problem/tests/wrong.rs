//! Wrong files: each mistake is underlined in its place, and has a way out.

use ndarray::Array3;

use super::cases::CASES;
use super::*;
use crate::io::NpzWriter;

#[test]
fn every_mistake_is_underlined_and_has_a_way_out() {
    let mut missed = Vec::new();
    for (old, new, marked, code, way_out) in CASES {
        let text = with(old, new);
        let Err(error) = parse(&text, &[]) else {
            missed.push(format!("`{new}` is not refused"));
            continue;
        };
        let report = error.to_string();
        let position = match new.find(marked) {
            Some(inside) => text.find(new).unwrap() + inside,
            // A missing setting is marked at its section.
            None => text.find(marked).unwrap_or_else(|| panic!("{marked}")),
        };
        let before = &text[..position];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap().chars().count();
        let marks = format!("| {}{}\n", " ".repeat(column), "^".repeat(marked.chars().count()));
        let place = format!("error[{code}]");
        for expected in [&place, &format!("flow.toml:{line}:{}", column + 1), &marks, *way_out] {
            let shown = format!("{report}\n");
            if !shown.contains(expected) {
                missed.push(format!("no `{expected}` for `{new}` in\n{report}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
    assert!(CASES.len() >= 30);
}

#[test]
fn a_file_without_a_system_says_what_there_is() {
    let report = parse("mesh.cells = [4]", &[]).unwrap_err().to_string();
    assert!(report.contains("error[F0102]: no `system` is given"), "{report}");
    assert!(report.contains("add system = \"FILE.pde\""), "{report}");
    let text = with("system = '''", "system = \"haet.pde\"\ntitle2 = '''");
    let report = parse(&text, &[]).unwrap_err().to_string();
    assert!(report.contains("error[F0201]: cannot read `haet.pde`"), "{report}");
    assert!(report.contains("flow.toml:2:10"), "{report}");
    let text = with("system = '''", "system = \"heat\"\ntitle2 = '''");
    let report = parse(&text, &[]).unwrap_err().to_string();
    assert!(report.contains("no system `heat` in the library"), "{report}");
}

#[test]
fn a_picture_says_what_it_shows() {
    let text = with("value = \"rho\"\n", "title = \"?\"\n");
    let report = parse(&text, &[]).unwrap_err().to_string();
    let line = text.lines().position(|l| l == "title = \"?\"").unwrap();
    assert!(report.contains(&format!("flow.toml:{line}:1")), "{report}");
    assert!(report.contains("error[F0102]") && report.contains("add value = .."), "{report}");
}

#[test]
fn a_declaration_inside_of_the_file_is_underlined_there() {
    let text = with("ddt(rho) = -div(u)", "ddt(rho) = -div(v)");
    let report = parse(&text, &[]).unwrap_err().to_string();
    assert!(report.contains("error[P0101]") && report.contains("flow.toml:9:21"), "{report}");
}

#[test]
fn all_mistakes_come_at_once_in_order() {
    let text = with("cells = [16, 12]", "cells = [16]")
        .replace("rho = \"1 + bump\"", "rho = \"1 +\"")
        .replace("end = 1\n", "end = -1\n");
    let error = parse(&text, &[]).unwrap_err();
    let report = error.to_string();
    assert_eq!(error.count(), 3, "{report}");
    let places: Vec<usize> = ["error[F0105]", "error[P00", "error[F0104]"]
        .map(|code| report.find(code).unwrap_or_else(|| panic!("{code}: {report}")))
        .to_vec();
    assert!(places.is_sorted(), "{report}");
}

#[test]
fn a_mistake_on_the_command_line_is_shown_there() {
    for (change, expected) in [
        ("mesh.cells=64,x", ["--set mesh.cells=64,x", "                    ^", "error[F0103]"]),
        ("params.mu=1", ["--set params.mu=1", "      ^^^^^^^^^", "did you mean `nu`?"]),
        ("init.rho=sin(q)", ["--set init.rho=sin(q)", "                   ^", "error[P0101]"]),
        ("mesh.cells", ["--set mesh.cells", "^^^^", "--set mesh.cells=64,64"]),
        ("let=3", ["--set let=3", "          ^", "write [let] in a line of its own"]),
        ("title.short=a", ["--set title.short=a", "`title` is a string", "as a whole"]),
        (
            "plot.4.value=rho",
            [
                "      ^^^^^^^^^^^^",
                "`plot` has no entry 4",
                "there are: plot.1 is sqrt(u_x^2 + u_y^2), plot.2 is rho, plot.3 is d[x](u.y)",
            ],
        ),
        ("plot.0.value=rho", ["--set plot.0.value", "`plot` has no entry 0", "plot.2 is rho"]),
        ("plot.value=rho", ["`plot` is a list", "`value` is no number", "write `plot.1.value`"]),
        (
            "plot.2.valu=rho",
            ["--set plot.2.valu=rho", "      ^^^^^^^^^^^", "did you mean `value`?"],
        ),
        ("init.w.1=rho", ["there is no `init.w`", "no entry 1", "set `init.w` as a whole"]),
        (
            "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1",
            ["a path of 18 names", "--set a.a", "at most 16"],
        ),
    ] {
        let report = parse(FLOW, &[Change::set(change)]).expect_err(change).to_string();
        for part in ["command line:1:"].iter().chain(&expected) {
            assert!(report.contains(part), "no `{part}` in\n{report}");
        }
    }
}

#[test]
fn arrays_that_do_not_fit_are_named() {
    let path = std::env::temp_dir().join(format!("problem-misfit-{}.npz", std::process::id()));
    let mut file = NpzWriter::create(&path).unwrap();
    let small = Array3::<f64>::zeros((1, 16, 12));
    file.array("rho", &small.view()).unwrap();
    file.array("ux", &small.view()).unwrap();
    file.finish().unwrap();
    let section = format!("[init]\nfile = '{}'\n", path.display());
    let text = with("[init]\nrho = \"1 + bump\"\nu = [0, \"speed*y\"]\n", &section);
    let report = parse(&text, &[]).unwrap_err().to_string();
    for expected in [
        "error[F0202]",
        "`rho` of",
        "has the shape [1, 16, 12]",
        "the shape [12, 16], which is [y, x]",
        "has no array `u_x`",
        "it has `ux`; write the array u_x, or add u_x = .. under [init]",
        "has no array `u_y`",
    ] {
        assert!(report.contains(expected), "no `{expected}` in\n{report}");
    }
    std::fs::remove_file(&path).unwrap();
}
