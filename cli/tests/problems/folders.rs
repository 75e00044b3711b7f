//! The folder of a run: one run at a time, none mixed with another, none lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use stencil_runtime::io::{Npz, Table};

use super::{assert_has, bytes, common, folder, good, text, write};

/// All files of a folder.
pub(super) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{e}"));
    let paths = entries.map(|entry| entry.unwrap().path());
    let named = paths.map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        (name.into_owned(), bytes(&path))
    });
    named.collect()
}

/// A run that goes on until it is stopped.
fn endless(options: &str, here: &Path) -> Child {
    let words = format!("run drift.toml --set time.dt=1e-7 {options}");
    let mut command = common::command(&words, here);
    let silent = command.stdout(Stdio::null()).stderr(Stdio::null());
    silent.spawn().unwrap_or_else(|e| panic!("{e}"))
}

/// Waits for something that a run does soon.
pub(super) fn wait(is_there: impl Fn() -> bool) {
    for _ in 0..3000 {
        if is_there() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the run does not do it");
}

fn refused(words: &str, here: &Path, code: &str) -> String {
    let printed = common::refused(words, here, 2);
    assert!(printed.starts_with(&format!("error[{code}]: ")), "{printed}");
    printed
}

#[test]
fn a_folder_has_one_run_at_a_time() {
    let here = folder("locked");
    let mut first = endless("--out one --set output.every=100000", &here);
    wait(|| here.join("one/frame_000000.npz").is_file());
    let before = bytes(&here.join("one/problem.toml"));
    for word in ["-q", "--overwrite"] {
        let printed = refused(&format!("run drift.toml --out one {word}"), &here, "R0101");
        assert_has(&printed, &["--number"]);
    }
    good("run drift.toml --out one --number -q", &here);
    assert!(here.join("one-2/final.npz").is_file() && !here.join("one/final.npz").exists());
    assert_eq!(bytes(&here.join("one/problem.toml")), before);
    first.kill().unwrap();
    first.wait().unwrap();
    // Nobody holds it any longer.
    let printed = refused("run drift.toml --out one", &here, "R0102");
    assert_has(&printed, &["--overwrite"]);
    good("run drift.toml --out one --overwrite -q", &here);
    let left = files(&here.join("one"));
    assert_eq!(left, files_of("drift.toml", &here), "{:?}", left.keys());
}

/// The files that a run leaves in a folder of its own, without the name of the folder.
fn files_of(problem: &str, here: &Path) -> BTreeMap<String, Vec<u8>> {
    let elsewhere = here.join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    for name in ["drift.pde", problem] {
        std::fs::copy(here.join(name), elsewhere.join(name)).unwrap();
    }
    good(&format!("run {problem} --out one -q"), &elsewhere);
    files(&elsewhere.join("one"))
}

#[test]
fn a_used_folder_is_refused_numbered_or_replaced() {
    let here = folder("used");
    let run = "run drift.toml -q --set time.steps=9 --out a";
    let named = "run drift.toml -q --set time.steps=5 --set plot.2.file=steep --out a";
    good(run, &here);
    write(&here.join("a/notes.txt"), "mine");
    let before = files(&here.join("a"));
    refused(named, &here, "R0102");
    // The same problem is refused, too: a slip of the hand costs no result.
    refused(run, &here, "R0102");
    assert_eq!(files(&here.join("a")), before);
    good(&format!("{named} --number"), &here);
    assert_eq!(files(&here.join("a")), before);
    let second = files(&here.join("a-2"));
    assert!(second.contains_key("steep.png") && second.contains_key("frame_000004.npz"));

    good(&format!("{named} --overwrite"), &here);
    let after = files(&here.join("a"));
    assert_eq!(after["notes.txt"], b"mine");
    let names = |of: &BTreeMap<String, Vec<u8>>| of.keys().cloned().collect::<Vec<_>>();
    let own: Vec<String> = names(&after).into_iter().filter(|n| n != "notes.txt").collect();
    assert_eq!(own, names(&second));
    assert_eq!(after["final.npz"], second["final.npz"]);
}

/// A command without a folder's name never fails because of an earlier run, and loses none of its files.
#[test]
fn runs_without_a_name_are_numbered() {
    let here = folder("numbered");
    let run = "run drift.toml --set time.steps=2";
    let first = good(run, &here);
    assert!(!first.contains("another run"), "{first}");
    let before = files(&here.join("out"));
    let second = good(run, &here);
    assert_has(&second, &["`out` holds another run; this one goes to `out-2`", "out-2/final.npz"]);
    good(run, &here);
    assert_eq!(files(&here.join("out")), before);
    assert_eq!(bytes(&here.join("out-3/final.npz")), before["final.npz"]);
    let settings = text(&bytes(&here.join("out-3/problem.toml")));
    assert_has(&settings, &["dir = \"out-3\""]);
}

/// A run that cannot write its files leaves those of an earlier one, or none.
#[cfg(unix)]
#[test]
fn a_file_that_grows_too_large_is_an_error() {
    let here = folder("full");
    let program = env!("CARGO_BIN_EXE_stencil");
    let limited = |args: &str| {
        // Blocks of 512 or 1024 bytes.
        let line = format!("ulimit -f 60; exec {program} run drift.toml --cells 120,120 {args}");
        let mut command = Command::new("sh");
        let output = command.args(["-c", &line]).current_dir(&here).output();
        output.unwrap_or_else(|e| panic!("{e}"))
    };
    let output = limited("--set time.steps=2 --out a -q");
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{printed}");
    assert_has(&printed, &["error[R0201]: cannot write `a/frame_000000.npz`", "ulimit -f"]);
    let left = files(&here.join("a"));
    assert_eq!(left.keys().collect::<Vec<_>>(), ["problem.toml", "series.csv"]);
    // Nor does it mix with the files of another run.
    good("run drift.toml --out b -q", &here);
    assert_eq!(limited("--set time.steps=2 --out b --overwrite -q").status.code(), Some(6));
    let left = files(&here.join("b"));
    assert_eq!(left.keys().collect::<Vec<_>>(), ["problem.toml", "series.csv"]);
}

/// A killed run goes on from its files, and has each row once.
#[test]
fn a_killed_run_goes_on_as_if_it_had_not_been_killed() {
    let here = folder("killed");
    let short = "run drift.toml --set time.dt=1e-7 -q";
    let run = |steps: u32, more: &str| {
        good(&format!("{short} --set time.steps={steps} {more}"), &here);
    };
    run(15, "--out whole");
    run(6, "--out parts");
    let again = "--restart parts/final.npz --out parts";
    let mut killed = endless(&format!("{again} --set time.end=1e6"), &here);
    wait(|| here.join("parts/frame_000020.npz").is_file());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(here.join("parts/series.csv.part").is_file());
    run(15, again);
    let (whole, parts) = (files(&here.join("whole")), files(&here.join("parts")));
    assert_eq!(whole.keys().collect::<Vec<_>>(), parts.keys().collect::<Vec<_>>());
    for (name, one) in &whole {
        let same = one == &parts[name] || name == "problem.toml";
        assert!(same, "{name}: {}", text(&parts["series.csv"]));
    }
}

/// Nothing is left to do, and nothing changes: neither the time step in the state nor the series.
#[test]
fn a_restart_at_the_last_step_changes_nothing() {
    let here = folder("last");
    for steps in ["7", "9"] {
        let run = format!("run drift.toml -q --out {steps} --set time.steps={steps}");
        good(&run, &here);
        let before = files(&here.join(steps));
        let state = format!("{steps}/final.npz");
        good(&format!("{run} --restart {state}"), &here);
        let after = files(&here.join(steps));
        for (name, one) in &before {
            assert!(one == &after[name], "{name} after {steps} steps");
        }
        let mut state = Npz::open(here.join(&state)).unwrap();
        assert!(state.f64("dt").unwrap() > 0.0);
        let series = Table::read(here.join(steps).join("series.csv")).unwrap();
        assert!(series.column("dt").unwrap().last().is_some_and(|dt| *dt > 0.0));
    }
}

#[test]
fn steps_count_from_where_a_run_starts() {
    let here = folder("steps");
    let step = |file: &str| Npz::open(here.join(file)).unwrap().u64("step").unwrap();
    let printed = good("run drift.toml --steps 0 --out none", &here);
    assert!(printed.contains("after 0 steps") && !printed.contains("NaN"), "{printed}");
    assert_eq!(step("none/final.npz"), 0);
    let series = Table::read(here.join("none/series.csv")).unwrap();
    assert_eq!(series.column("step").unwrap(), [0.0]);
    good("run drift.toml --steps 3 --out a -q", &here);
    let again = "run drift.toml --restart a/final.npz -q";
    for (more, last) in [("4", 7), ("0", 7)] {
        good(&format!("{again} --steps {more} --out a"), &here);
        assert_eq!(step("a/final.npz"), last);
    }
    // A setting is that of the file: this many steps from the beginning.
    good(&format!("{again} --set time.steps=9 --out b"), &here);
    assert_eq!(step("b/final.npz"), 9);
    let settings = text(&bytes(&here.join("a/problem.toml")));
    assert_has(&settings, &["steps = 7"]);
    // The written problem goes on by itself: its end is the same.
    good("run a/problem.toml --restart a/final.npz -q", &here);
    assert_eq!(step("a/final.npz"), 7);
}
