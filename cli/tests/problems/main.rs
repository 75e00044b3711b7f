//! Problem files through the command: runs, their files, restarts, signals and messages.

use std::path::{Path, PathBuf};

use stencil_runtime::io::{Npz, Table};

#[path = "../common/mod.rs"]
mod common;
mod compiled;
mod folders;
mod frames;
mod hostile;
mod restarts;
mod survive;
mod watch;

use common::{assert_has, good, json, refused, stencil, text};

const DECLARATION: &str = "\
/// Advection and diffusion.
pub system Drift in 2d {
    field q: scalar;
    param k: real = 0.05 where k >= 0;
    ddt(q) = k*lap(q) - d[x](q);
    observe mass = sum(q);
    observe top = max(q);
    cfl { advective: 1; diffusive: k }
}
";

const PROBLEM: &str = "\
title = \"Drift\"
system = \"drift.pde\"

[mesh]
cells = [24, 16]
extent = [\"2*pi\", 4]

[boundary]
y = { lo = \"wall\", hi = { dirichlet = \"1 + t\" } }

[init]
q = \"1 + 0.5*sin(x)*exp(-y^2)\"

[time]
dt = \"cfl(0.3)\"
end = 0.5

[output]
dir = \"out\"
every = 4
series_every = 3

[[plot]]
value = \"q\"

[[plot]]
value = \"d[x](q)\"
file = \"slope\"
map = \"diverging\"
";

/// A folder of a test's own, with the declaration and the problem in it.
fn folder(name: &str) -> PathBuf {
    let folder = common::folder(name);
    write(&folder.join("drift.pde"), DECLARATION);
    write(&folder.join("drift.toml"), PROBLEM);
    folder
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|e| panic!("{e}"));
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn schedules_are_timed_for_runs_on_a_card_alone() {
    let here = folder("timed");
    for backend in ["", "--backend cpu", "--backend rows"] {
        let words = format!("run drift.toml --tune 5 {backend}");
        let printed = common::refused(&words, &here, 2);
        assert_has(&printed, &["error: `--tune` times", "help: add --backend cuda"]);
    }
}

#[test]
fn a_run_leaves_what_its_file_asks_for() {
    let here = folder("files");
    let printed = good("run drift.toml", &here);
    assert_has(
        &printed,
        &["ddt(q)", "dt by cfl(0.3)", "y.lo: wall", "Mpts/s", "mass", "final.npz"],
    );
    let out = here.join("out");
    for picture in ["q.png", "slope.png"] {
        assert_eq!(&bytes(&out.join(picture))[1..4], b"PNG", "{picture}");
    }
    let mut last = Npz::open(out.join("final.npz")).unwrap_or_else(|e| panic!("{e}"));
    let (t, steps) = (last.f64("t").unwrap(), last.u64("step").unwrap());
    assert_eq!(t, 0.5);
    let series = Table::read(out.join("series.csv")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(series.names().collect::<Vec<_>>(), ["step", "t", "dt", "mass", "top"]);
    let rows = series.column("step").unwrap();
    assert!(steps > 6 && rows.starts_with(&[0.0, 3.0, 6.0]), "{rows:?}");
    assert_eq!(rows.last(), Some(&(steps as f64)));
    let frames: Vec<u64> = (0..=steps).filter(|s| s.is_multiple_of(4)).collect();
    for step in frames {
        assert!(out.join(format!("frame_{step:06}.npz")).is_file(), "{step}");
    }
    let parts = std::fs::read_dir(&out).unwrap();
    let parts =
        parts.filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|e| e == "part"));
    assert_eq!(parts.count(), 0);
}

#[test]
fn the_resolved_problem_gives_the_same_bits() {
    let here = folder("round");
    let args = "run drift.toml --set params.k=0.03 --cells 12,10 -q";
    assert_eq!(good(args, &here), "");
    std::fs::create_dir(here.join("elsewhere")).unwrap();
    std::fs::rename(here.join("out/problem.toml"), here.join("elsewhere/again.toml")).unwrap();
    let again = "run again.toml --out again --threads 1 --backend rows -q";
    good(again, &here.join("elsewhere"));
    for file in ["final.npz", "series.csv", "frame_000004.npz", "slope.png"] {
        let (one, two) = (here.join("out").join(file), here.join("elsewhere/again").join(file));
        assert!(bytes(&one) == bytes(&two), "{file}");
    }
}

#[test]
fn pictures_are_set_by_number() {
    let here = folder("pictures");
    let run = "run drift.toml -q --set time.steps=1 --set";
    good(&format!("{run} plot.2.file=steep --set plot.1.title=Q"), &here);
    assert!(here.join("out/steep.png").is_file() && !here.join("out/slope.png").exists());
    let resolved = std::fs::read_to_string(here.join("out/problem.toml")).unwrap();
    assert_has(&resolved, &["title = \"Q\""]);
    let printed = refused(&format!("{run} plot.3.value=q"), &here, 2);
    assert_has(&printed, &["`plot` has no entry 3", "plot.2 is d[x](q)"]);
}

#[test]
fn json_is_one_object_with_all_results() {
    let here = folder("json");
    write(
        &here.join("wave.toml"),
        "system = 'pub system Wave in 1d { field q: scalar; ddt(q) = -d[x](q); observe sum = sum(q); }'\n\
         mesh = { cells = 64, extent = '2*pi' }\nexact.q = 'sin(x - t)'\ntime = { dt = 'h/4', end = 1 }\n",
    );
    let printed = good("run wave.toml --json", &here);
    assert_eq!(printed.lines().count(), 1, "{printed}");
    let value: serde_json::Value = serde_json::from_str(&printed).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(value["system"], "Wave");
    assert_eq!(value["mesh"]["cells"], serde_json::json!([64]));
    assert_eq!((&value["precision"], value["t"].as_f64()), (&"f64".into(), Some(1.0)));
    let linf = value["errors"]["q"]["linf"].as_f64().unwrap();
    let l1 = value["errors"]["q"]["l1"].as_f64().unwrap();
    assert!(linf > 0.0 && linf < 1e-4 && l1 < linf, "{printed}");
    assert!(value["sums"]["sum"]["first"].as_f64().unwrap().abs() < 1e-12);
    assert!(value["mpts_per_s"].as_f64().unwrap() > 0.0 && value["wall_s"].is_number());
    assert!(value["retaken"] == 0 && value["last_retaken"].is_null());
    assert!(value["steps"].as_u64().unwrap() > 10 && value["scheme"].is_string());
    for file in value["files"].as_array().unwrap() {
        assert!(here.join(file.as_str().unwrap()).is_file(), "{file}");
    }
}

#[test]
fn the_summary_names_the_cell_that_made_a_step_too_long() {
    let here = folder("retaken");
    write(
        &here.join("burst.toml"),
        "system = 'pub system Burst in 2d { field q: scalar; ddt(q) = q^3; cfl { advective: abs(q) } }'\n\
         mesh = { cells = [8, 6], extent = [8, 6], centered = false }\ninit.q = '1 + exp(-(x - 5)^2 - (y - 2)^2)'\n\
         time = { dt = 'cfl(0.2)', cfl_limit = 0.2, steps = 1 }\n",
    );
    let printed = good("run burst.toml", &here);
    assert_has(
        &printed,
        &[
            " of them done again, shorter;",
            "the last was step 1, at t = 0: the advective speed became ",
            " in cell [5, 2]",
        ],
    );
    let value = json("run burst.toml --json", &here);
    let last = &value["last_retaken"];
    assert_eq!(last["cell"], serde_json::json!([5, 2]));
    assert_eq!(last["at"], serde_json::json!([5.0, 2.0]));
    assert!(value["retaken"].as_u64().unwrap() > 0 && last["value"].as_f64().unwrap() > 2.0);
}

#[test]
fn a_blow_up_keeps_the_last_good_state() {
    let here = folder("blowup");
    let args = "run drift.toml --set time.dt=1 --unchecked-step --set time.end=1e6";
    let printed = refused(args, &here, 5);
    assert_has(&printed, &["`q` is not finite", "last_good.npz"]);
    let mut state = Npz::open(here.join("out/last_good.npz")).unwrap_or_else(|e| panic!("{e}"));
    let finite = state.array_f64("q").unwrap().iter().all(|v| v.is_finite());
    assert!(finite && state.u64("step").unwrap() > 0);
}

/// The library's tube by a step that is far too long: refused before step 1, or on demand stopped when it grows.
#[test]
fn a_step_beyond_the_limit_is_refused() {
    let here = folder("too_long");
    let run = |more, code| {
        let words = format!("run sod --cells 50 --dt 0.1 {more}");
        refused(&words, &here, code)
    };
    let printed = run("", 2);
    assert_has(
        &printed,
        &[
            "error[R0401]",
            "the advective speed allows no more than 0.0169",
            "at [0.01]",
            "write dt = ",
            "--unchecked-step",
        ],
    );
    run("--unchecked-step --set time.end=1e9", 5);
    // A scheme that repairs fluxes keeps ranges in shorter steps.
    let printed = run("--set scheme='plm_hll'", 2);
    let expected = "the advective speed, keeping rho > 0 and p > 0, allows no more than";
    assert!(printed.contains(expected), "no `{expected}` in\n{printed}");
}

/// A root of zero has no derivative, so its limit is unknown; a run with an unchecked step is not told so.
#[test]
fn a_step_that_cannot_be_checked_is_told_of_before_the_first() {
    let here = folder("unknown_limit");
    write(
        &here.join("grows.toml"),
        "system = 'pub system Grows in 1d { field q: scalar; ddt(q) = sqrt(q); }'\n\
         mesh = { cells = 8, extent = 1 }\ninit.q = 0\ntime = { dt = 0.1, steps = 2 }\n",
    );
    let said = |more: &str| {
        let output = stencil(&format!("run grows.toml -q {more}"), &here);
        assert_eq!(output.status.code(), Some(0));
        text(&output.stderr)
    };
    let told = said("");
    assert!(told.starts_with("note: the length of steps is not checked"), "{told}");
    assert_eq!(said("--unchecked-step --overwrite"), "");
}

#[test]
fn initial_values_from_a_file_travel_with_the_run() {
    let here = folder("initial");
    good("run drift.toml --out first --set time.steps=3 -q", &here);
    let from = PROBLEM.replace("q = \"1 + 0.5*sin(x)*exp(-y^2)\"", "file = \"first/final.npz\"");
    write(&here.join("second.toml"), &from);
    good("run second.toml --out second -q", &here);
    std::fs::remove_dir_all(here.join("first")).unwrap();
    good("run second/problem.toml --out third -q", &here);
    let (one, two) = (here.join("second/final.npz"), here.join("third/final.npz"));
    assert!(bytes(&one) == bytes(&two));
}

#[test]
fn check_shows_what_is_understood() {
    let here = folder("check");
    let printed = good("check drift.pde", &here);
    assert_has(
        &printed,
        &[
            "Drift, in 2d",
            "components  q",
            "k = 0.05",
            "observed    mass, top",
            "ddt(q)",
            "3 substeps",
        ],
    );
    let printed = good("check drift.toml --set time.dt=0.1", &here);
    assert_has(&printed, &["24 × 16 cells", "y.hi: dirichlet = 1 + t", "dt = 0.1"]);
    write(
        &here.join("bad.pde"),
        "system A in 1d {\n    field q: scalar;\n    ddt(q) = lap(p);\n}\n",
    );
    let any = "system B in nd {\n    field q: scalar;\n    ddt(q) = lap(q);\n}\n";
    write(&here.join("any.pde"), any);
    let printed = good("check any.pde", &here);
    assert_has(&printed, &["B, in 1d", "B, in 3d"]);
    let printed = refused("check bad.pde", &here, 2);
    assert_has(&printed, &["error[P0101]", "bad.pde:3:18"]);
}

#[test]
fn wrong_targets_and_settings_exit_with_2_and_help() {
    let here = folder("wrong");
    write(&here.join("typo.toml"), &PROBLEM.replace("cells", "cels"));
    let cases = [
        ("run drift.pde", "system = \"drift.pde\""),
        ("run drift", "did you mean the file `drift.toml`?"),
        ("run explosoin", "did you mean `explosion`?"),
        ("run isothermal_ns", "IsothermalNs is a system"),
        ("run none.toml", "cannot read `none.toml`"),
        ("run typo.toml", "typo.toml:5:1"),
        ("check typo.toml", "did you mean `cells`?"),
        ("run drift.toml --cells 4,x", "--cells 4,x"),
        ("run drift.toml --param kk=1", "--param kk=1"),
        ("run drift.toml --restart none.npz", "none.npz"),
        ("run drift.toml --set time.end=0", "above zero"),
    ];
    common::all_refused("", &cases, &here);
    assert!(!here.join("out").exists());
}

#[test]
fn the_way_out_of_a_declaration_runs() {
    let here = folder("minimal");
    let printed = text(&stencil("run drift.pde", &here).stderr);
    let start = printed.find("    system = ").unwrap_or_else(|| panic!("{printed}"));
    let lines = printed[start..].lines().map(|line| line.trim_start());
    write(&here.join("minimal.toml"), &lines.collect::<Vec<_>>().join("\n"));
    good("run minimal.toml --steps 2 -q", &here);
}

#[test]
fn the_list_names_problems_and_systems_once() {
    let printed = good("list", &folder("list"));
    for expected in ["explosion", "gray_scott", "IsothermalNs"] {
        let begins = |line: &&str| line.split_whitespace().next() == Some(expected);
        assert_eq!(printed.lines().filter(begins).count(), 1, "{expected}: {printed}");
    }
}
