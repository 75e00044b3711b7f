//! `stencil new` as a user runs it: the package builds, passes its tests and draws its picture
//! without a network.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("new")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{e}"));
    folder
}

fn run(program: &str, args: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(program);
    let output = command
        .args(args)
        .current_dir(folder)
        // One folder for all runs of this test: the second one builds little.
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-target"),
        )
        .stdin(Stdio::null())
        .output();
    output.unwrap_or_else(|e| panic!("{e}"))
}

fn stencil(args: &[&str], folder: &Path) -> Output {
    run(env!("CARGO_BIN_EXE_stencil"), args, folder)
}

fn good(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    out
}

#[test]
fn a_new_package_runs_and_passes_its_tests_offline() {
    let here = folder("package");
    let printed = good(&stencil(&["new", "my-dye"], &here));
    assert!(
        printed.contains("my-dye/src/main.rs") && printed.contains("cargo test"),
        "{printed}"
    );
    let package = here.join("my-dye");
    let cargo = option_env!("CARGO").unwrap_or("cargo");

    // What its profile optimizes is left out: that takes longer than these few cells.
    let unoptimized = [
        "--config",
        "profile.dev.opt-level=0",
        "--config",
        "profile.dev.package.stencil-runtime.opt-level=0",
    ];
    let offline = |command: &'static str| [&[command, "--offline"][..], &unoptimized].concat();

    let printed = good(&run(cargo, &offline("test"), &package));
    for test in [
        "errors_shrink_with_the_sixth_power_of_the_spacing ... ok",
        "the_amount_of_dye_is_conserved ... ok",
    ] {
        assert!(printed.contains(test), "no `{test}` in\n{printed}");
    }
    let printed = good(&run(cargo, &offline("run"), &package));
    assert!(printed.contains("largest error"), "{printed}");
    let picture = std::fs::read(package.join("out/dye.png")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(&picture[1..4], b"PNG");
    good(&stencil(&["plot", "out/final.npz"], &package));

    // The same without Rust.
    let printed = good(&stencil(&["explain", "system.pde"], &package));
    assert!(printed.contains("ddt(c) = "), "{printed}");
}

#[test]
fn nothing_is_overwritten_and_names_are_checked() {
    let here = folder("refused");
    std::fs::create_dir(here.join("taken")).unwrap_or_else(|e| panic!("{e}"));
    std::fs::write(here.join("taken/mine"), "mine").unwrap_or_else(|e| panic!("{e}"));
    for (args, expected) in [
        (
            &["new", "taken"][..],
            "`taken` is not empty; nothing was changed",
        ),
        (
            &["new", "waves", "--dir", "taken/mine"],
            "is no empty folder",
        ),
        (&["new", "2d-waves"], "begins with a letter; write d-waves"),
        (&["new", "Waves"], "no capital letters; write waves"),
        (&["new", "std"], "write my-std"),
        (
            &["new", "waves", "--source", "taken"],
            "give their folder with --source",
        ),
    ] {
        let output = stencil(args, &here);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(
            message.contains(expected),
            "{args:?}: no `{expected}` in {message}"
        );
    }
    let left: Vec<_> = std::fs::read_dir(&here)
        .unwrap_or_else(|e| panic!("{e}"))
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, ["taken"]);
    let mine = std::fs::read_to_string(here.join("taken/mine")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(mine, "mine");
}
