//! `stencil new` as a user runs it: the package builds, passes its tests and draws its picture
//! without a network.

use std::path::Path;
use std::process::{Command, Stdio};

mod common;

use common::{all_refused, assert_has, folder, good, scratch, text};

/// Runs Cargo in a folder, and returns what it printed.
fn cargo(args: &[&str], folder: &Path) -> String {
    let mut command = Command::new(option_env!("CARGO").unwrap_or("cargo"));
    let output = command
        .args(args)
        .current_dir(folder)
        // One folder for all runs of this test: the second one builds little.
        .env("CARGO_TARGET_DIR", scratch().join("new-target"))
        .stdin(Stdio::null())
        .output();
    let output = output.unwrap_or_else(|e| panic!("{e}"));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    out
}

#[test]
fn a_new_package_runs_and_passes_its_tests_offline() {
    let here = folder("package");
    let printed = good("new my-dye", &here);
    assert_has(&printed, &["my-dye/src/main.rs", "cargo test"]);
    let package = here.join("my-dye");

    // Its optimized profile is left out, and what a debugger reads: to make them takes longer than these few cells.
    let unoptimized = [
        "--config",
        "profile.dev.opt-level=0",
        "--config",
        "profile.dev.debug=false",
        "--config",
        "profile.dev.package.stencil-runtime.opt-level=0",
    ];
    let offline = |command: &'static str| [&[command, "--offline"][..], &unoptimized].concat();

    let printed = cargo(&offline("test"), &package);
    assert_has(
        &printed,
        &[
            "errors_shrink_with_the_sixth_power_of_the_spacing ... ok",
            "the_amount_of_dye_is_conserved ... ok",
        ],
    );
    let printed = cargo(&offline("run"), &package);
    assert_has(&printed, &["largest error"]);
    let picture = std::fs::read(package.join("out/dye.png")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(&picture[1..4], b"PNG");
    good("plot out/final.npz", &package);

    // The same without Rust.
    let printed = good("explain system.pde", &package);
    assert_has(&printed, &["ddt(c) = "]);
}

#[test]
fn nothing_is_overwritten_and_names_are_checked() {
    let here = folder("refused");
    std::fs::create_dir(here.join("taken")).unwrap_or_else(|e| panic!("{e}"));
    std::fs::write(here.join("taken/mine"), "mine").unwrap_or_else(|e| panic!("{e}"));
    all_refused(
        "",
        &[
            ("new taken", "`taken` is not empty; nothing was changed"),
            ("new waves --dir taken/mine", "is no empty folder"),
            ("new 2d-waves", "begins with a letter; write d-waves"),
            ("new Waves", "no capital letters; write waves"),
            ("new std", "write my-std"),
            ("new waves --source taken", "give their folder with --source"),
        ],
        &here,
    );
    let left: Vec<_> = std::fs::read_dir(&here)
        .unwrap_or_else(|e| panic!("{e}"))
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, ["taken"]);
    let mine = std::fs::read_to_string(here.join("taken/mine")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(mine, "mine");
}
