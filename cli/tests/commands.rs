//! The command as a user runs it: output, files and exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn stencil(args: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stencil"));
    let output = command
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    output.unwrap_or_else(|e| panic!("{e}"))
}

/// An empty folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{e}"));
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_run_leaves_a_picture_and_the_fields() {
    let here = folder("run");
    let output = stencil(
        &[
            "run",
            "explosion",
            "--cells",
            "16,16,16",
            "--steps",
            "2",
            "--precision",
            "f64",
            "--out",
            "here",
        ],
        &here,
    );
    let printed = text(&output.stdout);
    assert!(
        output.status.success(),
        "{printed}\n{}",
        text(&output.stderr)
    );
    for expected in [
        "ddt(lnrho)",
        "plan of a step",
        "Mpts/s",
        "final.npz",
        "next:",
    ] {
        assert!(printed.contains(expected), "no `{expected}` in\n{printed}");
    }
    let picture = std::fs::read(here.join("here/explosion.png")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(&picture[1..4], b"PNG");
    let mut fields = stencil_runtime::io::Npz::open(here.join("here/final.npz"))
        .unwrap_or_else(|e| panic!("{e}"));
    let density = fields.array_f64("lnrho").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(density.shape(), [16, 16, 16]);
    assert_eq!(fields.u64("step").unwrap_or_else(|e| panic!("{e}")), 2);
}

#[test]
fn mistakes_exit_with_2_and_say_what_there_is() {
    let here = folder("mistakes");
    for (args, expected) in [
        (&["run", "explosoin"][..], "explosion"),
        (&["run", "explosion", "--param", "mu=1"], "nu"),
        (&["explain", "isothermal"], "IsothermalNs"),
        (
            &[
                "emit",
                "--target",
                "cuda",
                "isothermal_ns",
                "--schedule",
                "sideways",
            ],
            "carried",
        ),
        (&["explain-error", "P9999"], "P0101"),
    ] {
        let output = stencil(args, &here);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {printed}");
        assert!(
            printed.contains(expected),
            "{args:?}: no `{expected}` in\n{printed}"
        );
    }
}

#[test]
fn a_mistake_in_a_file_is_underlined() {
    let here = folder("file");
    let source = "system A in 3d {\n    field heat: scalar;\n    ddt(heat) = lap(haet);\n}\n";
    std::fs::write(here.join("a.pde"), source).unwrap_or_else(|e| panic!("{e}"));
    let output = stencil(&["explain", "a.pde"], &here);
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    for expected in ["error[P0101]", "a.pde:3:", "^^^^", "did you mean `heat`?"] {
        assert!(printed.contains(expected), "no `{expected}` in\n{printed}");
    }
}

#[test]
fn a_schedule_goes_through_a_file() {
    let here = folder("schedule");
    let printed = stencil(
        &[
            "emit",
            "--target",
            "schedule",
            "isothermal_ns",
            "--schedule",
            "carried",
        ],
        &here,
    );
    std::fs::write(here.join("mine"), &printed.stdout).unwrap_or_else(|e| panic!("{e}"));
    let emit = |schedule| {
        stencil(
            &[
                "emit",
                "--target",
                "cuda",
                "isothermal_ns",
                "--schedule",
                schedule,
            ],
            &here,
        )
    };
    let (named, read) = (emit("carried"), emit("mine"));
    assert!(named.status.success(), "{}", text(&named.stderr));
    assert!(text(&named.stdout).contains("__global__"));
    assert_eq!(text(&named.stdout), text(&read.stdout));
}

#[test]
fn explain_counts_the_papers_points() {
    let here = folder("explain");
    let single = text(&stencil(&["explain", "isothermal_ns"], &here).stdout);
    assert!(
        single
            .lines()
            .any(|l| l.contains("all together") && l.contains("55")),
        "{single}"
    );
    let decomposed =
        text(&stencil(&["explain", "isothermal_ns", "--mixed", "composed"], &here).stdout);
    let nineteen = decomposed
        .lines()
        .filter(|l| l.contains("div_u") && l.contains("19 "))
        .count();
    assert!(nineteen > 0, "{decomposed}");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stencil"));
    let child = command
        .args(["explain", "isothermal_ns"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|e| panic!("{e}"));
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap_or_else(|e| panic!("{e}"));
    assert!(
        !text(&output.stderr).contains("panicked"),
        "{}",
        text(&output.stderr)
    );
}

/// Where there is a driver, the card must do what it is asked for; elsewhere all is said that is missing.
#[test]
fn what_is_there_for_cards_is_said_and_used() {
    let here = folder("cards");
    let doctor = stencil(&["doctor"], &here);
    let found = text(&doctor.stdout);
    assert!(doctor.status.success(), "{found}");
    for line in ["processor ", "card", "NVRTC ", "cache "] {
        assert!(found.contains(line), "no `{line}` in\n{found}");
    }
    let usable = found.contains("compute capability") && !found.contains("no usable NVRTC");
    let run = "run explosion --backend cuda --cells 16,16,16 --steps 2 --out here";
    let run = stencil(&run.split(' ').collect::<Vec<_>>(), &here);
    let cut = "run explosion --backend cuda --patches 2,1,4 --cells 16,16,16 --steps 2 --out cut";
    let cut = stencil(&cut.split(' ').collect::<Vec<_>>(), &here);
    let verify = stencil(&["verify", "heat", "--precision", "f64"], &here);
    let tune = "tune heat --cells 64 --precision f64 --first 3 --rounds 0 --plans heat.plans";
    let tune: Vec<&str> = tune.split(' ').collect();
    let locked = stencil(&[&tune[..], &["--locked"]].concat(), &here);
    assert_eq!(locked.status.code(), Some(2), "there is no plan yet");
    for output in [run, cut, verify, stencil(&tune, &here)] {
        let said = text(&output.stderr);
        if usable {
            assert!(output.status.success(), "{said}");
        } else {
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(
                said.contains("without `--backend cuda`") || said.contains("NVRTC"),
                "{said}"
            );
        }
    }
    // What was found once is not looked for again.
    if usable {
        let again = stencil(&[&tune[..], &["--locked"]].concat(), &here);
        assert!(text(&again.stdout).contains("as found before"));
    }
}

/// Where there is a compiler its registers are in the plan; where there is a card, the plan runs on it.
#[test]
fn a_plan_has_what_the_machine_can_tell_of_it() {
    let here = folder("plan");
    let doctor = text(&stencil(&["doctor"], &here).stdout);
    let words = "explain heat --schedule direct --candidates 1 --cells 64 --json";
    let words: Vec<&str> = words.split(' ').collect();
    let report = |way: &str| stencil(&[&words[..], &[way]].concat(), &here);
    let planned = report("--plan");
    assert!(planned.status.success(), "{}", text(&planned.stderr));
    let plan: serde_json::Value =
        serde_json::from_slice(&planned.stdout).unwrap_or_else(|e| panic!("{e}"));
    let kernel = &plan["plan"]["substeps"][0][1];
    let registers = kernel["registers"]["compiled"]["registers"].as_u64();
    match doctor.contains("no usable NVRTC") {
        true => assert_eq!(registers, None, "{plan:#}"),
        false => assert!(
            registers.is_some_and(|n| (16..=255).contains(&n)),
            "{plan:#}"
        ),
    }
    let analyzed = report("--analyze");
    if doctor.contains("compute capability") && !doctor.contains("no usable NVRTC") {
        let found: serde_json::Value =
            serde_json::from_slice(&analyzed.stdout).unwrap_or_else(|e| panic!("{e}"));
        assert!(found["plan"]["measured"]["best_s"].as_f64() > Some(0.0));
    } else {
        assert_eq!(analyzed.status.code(), Some(2));
        assert!(text(&analyzed.stderr).starts_with("error: "));
    }
}

#[test]
fn patches_that_cannot_be_are_refused() {
    let here = folder("patches");
    let said = |args: &str| {
        let output = stencil(&args.split(' ').collect::<Vec<_>>(), &here);
        assert_eq!(output.status.code(), Some(2), "{args}");
        text(&output.stderr)
    };
    let run = said("run explosion --cells 16,16,16 --patches 2,1,5");
    for part in [
        "--patches 2,1,5",
        "the cells along z (16) do not divide into 5 patches",
        "give 4 or 8 patches along z, or 15 or 20 cells",
    ] {
        assert!(run.contains(part), "no `{part}` in {run}");
    }
    let thin = "run sod --cells 64 --patches 64";
    let thin = said(thin);
    assert!(thin.contains("a patch has 1 along x"), "{thin}");
}
