//! The command as a user runs it: output, files and exit codes.

#[cfg(unix)]
use std::process::Stdio;

mod common;

use common::{all_refused, assert_has, folder, good, json, refused, scratch, stencil, text};

#[test]
fn a_run_leaves_a_picture_and_the_fields() {
    let here = folder("run");
    let run = "run explosion --cells 16,16,16 --steps 2 --precision f64 --out here";
    let printed = good(run, &here);
    assert_has(&printed, &["ddt(lnrho)", "plan of a step", "Mpts/s", "final.npz", "next:"]);
    let picture = std::fs::read(here.join("here/explosion.png")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(&picture[1..4], b"PNG");
    let mut fields = stencil_runtime::io::Npz::open(here.join("here/final.npz"))
        .unwrap_or_else(|e| panic!("{e}"));
    let density = fields.array_f64("lnrho").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(density.shape(), [16, 16, 16]);
    assert_eq!(fields.u64("step").unwrap_or_else(|e| panic!("{e}")), 2);
}

/// An expression may read farther than any launch.
#[test]
fn a_run_has_the_ghost_cells_that_its_pictures_read() {
    let here = folder("far");
    good("run double_mach --cells 40,11 --steps 1 --out here", &here);
    assert!(here.join("here/double_mach_gradient.png").is_file());
}

#[test]
fn mistakes_exit_with_2_and_say_what_there_is() {
    let here = folder("mistakes");
    all_refused(
        "",
        &[
            ("run explosoin", "explosion"),
            ("run explosion --param mu=1", "nu"),
            ("explain isothermal", "IsothermalNs"),
            ("emit --target cuda isothermal_ns --schedule sideways", "carried"),
            ("explain-error P9999", "P0101"),
        ],
        &here,
    );
}

#[test]
fn a_mistake_in_a_file_is_underlined() {
    let here = folder("file");
    let source = "system A in 3d {\n    field heat: scalar;\n    ddt(heat) = lap(haet);\n}\n";
    std::fs::write(here.join("a.pde"), source).unwrap_or_else(|e| panic!("{e}"));
    let printed = refused("explain a.pde", &here, 2);
    assert_has(&printed, &["error[P0101]", "a.pde:3:", "^^^^", "did you mean `heat`?"]);
}

#[test]
fn a_schedule_goes_through_a_file() {
    let here = folder("schedule");
    let of = "isothermal_ns --schedule";
    let printed = good(&format!("emit --target schedule {of} carried"), &here);
    std::fs::write(here.join("mine"), printed).unwrap_or_else(|e| panic!("{e}"));
    let emit = |schedule| good(&format!("emit --target cuda {of} {schedule}"), &here);
    let (named, read) = (emit("carried"), emit("mine"));
    assert!(named.contains("__global__"));
    assert_eq!(named, read);
}

#[test]
fn explain_counts_the_papers_points() {
    let here = folder("explain");
    let single = good("explain isothermal_ns", &here);
    assert!(single.lines().any(|l| l.contains("all together") && l.contains("55")), "{single}");
    let decomposed = good("explain isothermal_ns --mixed composed", &here);
    let nineteen = decomposed.lines().filter(|l| l.contains("div_u") && l.contains("19 ")).count();
    assert!(nineteen > 0, "{decomposed}");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let child = common::command("explain isothermal_ns", scratch())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|e| panic!("{e}"));
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap_or_else(|e| panic!("{e}"));
    assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
}

/// With a driver the card does the work; without one the command names everything that is missing.
#[test]
fn what_is_there_for_cards_is_said_and_used() {
    let here = folder("cards");
    let found = good("doctor", &here);
    assert_has(&found, &["processor ", "card", "NVRTC ", "cache ", "NCCL ", "MPI "]);
    let usable = found.contains("compute capability") && !found.contains("no usable NVRTC");
    let run = "run explosion --backend cuda --cells 16,16,16 --steps 2 --out here";
    let run = stencil(run, &here);
    let cut = "run explosion --backend cuda --patches 2,1,4 --cells 16,16,16 --steps 2 --out cut";
    let cut = stencil(cut, &here);
    let verify = stencil("verify heat --precision f64", &here);
    let tune = "tune heat --cells 64 --precision f64 --first 3 --rounds 0 --plans heat.plans";
    let locked = format!("{tune} --locked");
    // There is no plan yet.
    refused(&locked, &here, 2);
    for output in [run, cut, verify, stencil(tune, &here)] {
        let said = text(&output.stderr);
        if usable {
            assert!(output.status.success(), "{said}");
        } else {
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("without `--backend cuda`") || said.contains("NVRTC"), "{said}");
        }
    }
    // The search is not repeated for a plan that was found.
    if usable {
        assert!(good(&locked, &here).contains("as found before"));
    }
}

/// With a compiler its registers are in the plan; with a card the plan runs on it.
#[test]
fn a_plan_has_what_the_machine_can_tell_of_it() {
    let here = folder("plan");
    let doctor = good("doctor", &here);
    let words = "explain heat --schedule direct --candidates 1 --cells 64 --json";
    let plan = json(&format!("{words} --plan"), &here);
    let kernel = &plan["plan"]["substeps"][0][1];
    let registers = kernel["registers"]["compiled"]["registers"].as_u64();
    match doctor.contains("no usable NVRTC") {
        true => assert_eq!(registers, None, "{plan:#}"),
        false => assert!(registers.is_some_and(|n| (16..=255).contains(&n)), "{plan:#}"),
    }
    let analyzed = stencil(&format!("{words} --analyze"), &here);
    if doctor.contains("compute capability") && !doctor.contains("no usable NVRTC") {
        let found: serde_json::Value =
            serde_json::from_slice(&analyzed.stdout).unwrap_or_else(|e| panic!("{e}"));
        assert!(found["plan"]["measured"]["best_s"].as_f64() > Some(0.0));
    } else {
        assert_eq!(analyzed.status.code(), Some(2));
        assert!(text(&analyzed.stderr).starts_with("error: "));
    }
}

/// A run on several devices has the bits of one, and its record has the devices.
#[test]
fn several_devices_are_simulated_and_recorded() {
    let here = folder("devices");
    let run = "run explosion --cells 12,16,21 --steps 2 --precision f64 --out";
    good(&format!("{run} one"), &here);
    let printed = good(&format!("{run} two --devices 2"), &here);
    let told = "2 devices, simulated by the processor";
    assert_has(&printed, &["1 × 1 × 2 patches of at most 12 × 16 × 11 cells", told, "│ devices "]);
    let again = json("run two/problem.toml --out again --json", &here);
    assert_eq!(
        (&again["backend"]["devices"], &again["mesh"]["patches"][2]),
        (&2.into(), &2.into())
    );
    let field = |folder: &str| {
        let file = here.join(folder).join("final.npz");
        let mut file = stencil_runtime::io::Npz::open(file).unwrap_or_else(|e| panic!("{e}"));
        file.array_f64("lnrho").unwrap_or_else(|e| panic!("{e}"))
    };
    assert!(field("one") == field("two") && field("one") == field("again"));
    for (devices, message) in [
        ("0", "0 devices do no steps"),
        ("1,1", "card 1 is listed twice; "),
        ("two", "write `all`, a count such as `2`, or cards such as `0,1`"),
        ("7 --patches 2,1,2", "7 devices cannot share 4 patches"),
        ("7919", "a mesh of 12 × 16 × 21 cells cannot be cut into 7919 boxes"),
    ] {
        let words = format!("run explosion --cells 12,16,21 --devices {devices}");
        let said = refused(&words, &here, 2);
        assert_has(&said, &[message.trim_end_matches("; ")]);
    }
}

/// Simulated devices are compared with one, without a card.
#[test]
fn devices_are_verified_against_one() {
    let of = "verify heat --backend cpu --steps 3 --precision f64 --cells 12,19 --devices";
    let printed = good(&format!("{of} 3"), scratch());
    let line = "Heat 1x3x1               2d  f64          8";
    assert_has(&printed, &["3 devices, simulated by the processor\n", line, "all bits are equal"]);
    let said = refused(&format!("{of} 3 --patches 2,1"), scratch(), 2);
    assert_has(&said, &["3 devices cannot share 2 patches"]);
    refused("verify heat --devices 0", scratch(), 2);
}

#[test]
fn patches_that_cannot_be_are_refused() {
    let here = folder("patches");
    let said = |args: &str| refused(args, &here, 2);
    let run = said("run explosion --cells 16,16,16 --patches 2,1,17");
    assert_has(
        &run,
        &[
            "--patches 2,1,17",
            "the cells along z (16) cannot be cut into 17 patches",
            "give a number of patches from 1 to 16",
        ],
    );
    let thin = said("run sod --cells 64 --patches 64 --set boundary.x=wall");
    assert_has(&thin, &["a patch has 1 along x"]);
}

/// Processes of MPI would each do the whole run.
#[cfg(not(feature = "mpi"))]
#[test]
fn ranks_take_a_binary_with_mpi() {
    let here = common::folder("without-mpi");
    let mut command = common::command("run sod -q", &here);
    let output = common::output(command.env("OMPI_COMM_WORLD_SIZE", "2"));
    let message = common::text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("built without MPI") && message.contains("--features mpi"),
        "{message}"
    );
    assert!(!here.join("out").exists());
}
