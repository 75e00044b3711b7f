//! Hostile files and surroundings: they are refused, and nothing panics.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::common::{self, refused};
use super::{PROBLEM, assert_has, folder, good, stencil, text, write};

#[test]
fn pictures_stay_in_the_folder_of_the_run() {
    let here = folder("outside");
    let above = here.join("above.png");
    let absolute = here.join("absolute");
    let absolute = absolute.to_string_lossy();
    let long = "a".repeat(201);
    let names = [
        "../above",
        "../../above",
        "a/b",
        "..",
        ".",
        ".hidden",
        "",
        &absolute,
        "a\\b",
        "a\u{1b}b",
        "a\0b",
        &long,
    ];
    for name in names {
        let quoted = format!("{name:?}").replace("\\u{1b}", "\\u001B").replace("\\0", "\\u0000");
        let wrong = PROBLEM.replace("file = \"slope\"", &format!("file = {quoted}"));
        write(&here.join("wrong.toml"), &wrong);
        let printed = refused("run wrong.toml -q", &here, 2);
        assert!(printed.contains("error[F0104]"), "{name:?}: {printed}");
        assert!(!here.join("out").exists(), "{name:?}");
    }
    assert!(!above.exists() && !here.join("absolute.png").exists());
    let spectrum =
        stencil("run taylor_green --set output.spectrum=true --set plot.1.file=spectrum", &here);
    assert!(text(&spectrum.stderr).contains("error[F0106]"));
    // Ordinary names stay as they are.
    let fine = PROBLEM.replace("file = \"slope\"", "file = \"steep Δq, t = 1\"");
    write(&here.join("fine.toml"), &fine);
    good("run fine.toml -q --steps 1", &here);
    assert!(here.join("out/steep Δq, t = 1.png").is_file());
}

/// Escape sequences could do anything to a terminal.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let here = folder("control");
    let evil = "\\u001B]0;owned\\u0007\\u009B31m";
    let of = |from: &str, to: &str| PROBLEM.replace(from, &to.replace("EVIL", evil));
    let texts = [
        of("\"Drift\"", "\"EVIL\""),
        of("\"slope\"", "\"EVIL\""),
        of("\"diverging\"", "\"EVIL\""),
        of("dir = \"out\"", "dir = \"EVIL\""),
        of("system = \"drift.pde\"", "system = \"EVIL\""),
        of("system = \"drift.pde\"", "system = \"EVIL.pde\""),
        of("system = \"drift.pde\"", "system = \"system EVIL in 1d {}\""),
        of("q = \"1 + 0.5", "q = \"EVIL 1 + 0.5"),
        of("[time]", "[time]\n\"EVIL\" = 1"),
        of("end = 0.5", "end = \"EVIL\""),
        of("fields", "fields = [\"EVIL\"]\nfields"),
    ];
    for (at, wrong) in texts.iter().enumerate() {
        write(&here.join("wrong.toml"), wrong);
        for command in ["run", "check"] {
            let output = stencil(&format!("{command} wrong.toml"), &here);
            let all = [output.stdout, output.stderr].concat();
            let printed = text(&all);
            let control = printed.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert_eq!(control, None, "text {at}, {command}: {}", printed.escape_debug());
        }
    }
}

/// The sum of all arrays counts, and a refused run takes no memory before.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_predicted() {
    let here = folder("memory");
    let printed = refused("run drift.toml --cells 1000000,900000", &here, 2);
    assert_has(
        &printed,
        &["error[R0301]", "1000000 x 900000 x 1 cells", "the largest mesh", "new values of fields"],
    );
    // 2^64 cells.
    let cells = "mesh.cells=4194304,2097152,2097152";
    let printed = refused(&format!("run explosion --set {cells}"), &here, 2);
    assert!(printed.contains("error[R0301]") && !printed.contains("needs 0"), "{printed}");
    // Each of the arrays has room, and all of them have not.
    let program = env!("CARGO_BIN_EXE_stencil");
    let line =
        format!("ulimit -v 2000000; exec {program} run drift.toml --threads 1 --cells 9000,10000");
    let output = Command::new("sh").args(["-c", &line]).current_dir(&here).output().unwrap();
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert_has(&printed, &["error[R0301]"]);
    assert!(!here.join("out").exists());
}

/// A state that is a pipe, a folder, a device, cut off or changed.
#[cfg(unix)]
#[test]
fn what_is_no_state_is_refused() {
    let here = folder("states");
    good("run drift.toml --steps 2 -q", &here);
    let whole = std::fs::read(here.join("out/final.npz")).unwrap();
    let restart = |file: &str| {
        let words = format!("run drift.toml --restart {file} --out again");
        let printed = refused(&words, &here, 2);
        assert!(!here.join("again").exists(), "{file}");
        printed
    };
    let made = Command::new("mkfifo").arg(here.join("pipe.npz")).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(restart("pipe.npz").starts_with("error[F0201]: cannot read `pipe.npz`"));
    }
    assert!(restart("/dev/zero").contains("no regular file"));
    assert!(restart("out").contains("a folder"));
    assert!(restart("none.npz").contains("the file, or a folder on the way to it, is not there"));
    for (name, bytes) in
        [("cut.npz", &whole[..whole.len() - 1]), ("half.npz", &whole[..whole.len() / 2])]
    {
        std::fs::write(here.join(name), bytes).unwrap();
        let printed = restart(name);
        assert_has(&printed, &["error[R02"]);
    }
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 4;
    std::fs::write(here.join("changed.npz"), changed).unwrap();
    assert!(restart("changed.npz").contains("error[R0202]"));
}

/// A library that a C compiler makes of a text, under the names that are tried for the driver.
fn library(folder: &Path, source: &str, names: &[&str]) -> bool {
    write(&folder.join("fake.c"), source);
    names.iter().all(|name| {
        let mut command = Command::new("cc");
        let made =
            command.args(["-shared", "-fPIC", "-o", name, "fake.c"]).current_dir(folder).status();
        made.is_ok_and(|status| status.success())
    })
}

fn with_driver(folder: &Path, libraries: &Path, words: &str) -> Output {
    let mut command = common::command(words, folder);
    common::output(command.env("LD_LIBRARY_PATH", libraries))
}

/// Drivers that load: one without functions, one whose start fails, with and without words for it, and
/// one that knows no card.
#[cfg(target_os = "linux")]
#[test]
fn a_driver_that_does_not_work_is_an_error_or_passed_over() {
    let here = folder("driver");
    let all: String =
        DRIVER.split_whitespace().map(|name| format!("int {name}() {{ return 999; }}\n")).collect();
    let with = |own: &[&str]| {
        let name_of = |text: &str| text.split(['(', ' ']).nth(1).unwrap_or_default().to_string();
        let own_names: Vec<String> = own.iter().map(|text| name_of(text)).collect();
        let rest = all.lines().filter(|line| !own_names.contains(&name_of(line)));
        rest.map(str::to_string)
            .chain(own.iter().map(|text| text.to_string()))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let silent = "int cuGetErrorString(int e, const char **t) { return 0; }";
    let spoken = "int cuGetErrorString(int e, const char **t) { *t = \"made up\"; return 0; }";
    let cases = [
        ("empty", String::new(), "has no cuInit"),
        ("partial", "int cuInit(unsigned f) { return 0; }".into(), "has no cuDriverGetVersion"),
        ("dumb", with(&[]), "starting the driver failed"),
        ("silent", with(&[silent]), "starting the driver failed"),
        ("spoken", with(&[spoken]), "made up"),
        (
            "bare",
            with(&[
                "int cuInit(unsigned f) { return 0; }",
                "int cuDeviceGetCount(int *n) { *n = 0; return 0; }",
            ]),
            "finds no card",
        ),
        (
            "mute",
            with(&[
                "int cuInit(unsigned f) { return 0; }",
                "int cuDeviceGetCount(int *n) { *n = 1; return 0; }",
            ]),
            "failed",
        ),
    ];
    for (name, source, expected) in cases {
        let libraries: PathBuf = here.join(name);
        std::fs::create_dir_all(&libraries).unwrap();
        if !library(&libraries, &source, &["libcuda.so", "libcuda.so.1"]) {
            eprintln!("skipped: this machine has no C compiler");
            return;
        }
        let run = "run drift.toml --steps 1 -q --backend";
        let output = with_driver(&here, &libraries, &format!("{run} cuda"));
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {printed}");
        assert!(printed.contains(expected) && !printed.contains("panicked"), "{name}: {printed}");
        let output = with_driver(&here, &libraries, &format!("{run} auto"));
        let printed = text(&output.stderr);
        assert!(output.status.success() && printed.is_empty(), "{name}: {printed}");
        let output = with_driver(&here, &libraries, "doctor");
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(
            output.status.code().is_some() && !printed.contains("panicked"),
            "{name}: {printed}"
        );
    }
}

/// The functions of a driver.
const DRIVER: &str = "
cuInit cuDriverGetVersion cuGetErrorName cuGetErrorString cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount
cuDeviceGetName cuDeviceGetUuid cuDeviceGetPCIBusId cuDeviceTotalMem_v2 cuDevicePrimaryCtxRetain
cuDevicePrimaryCtxRelease_v2 cuCtxGetCurrent cuCtxSetCurrent cuCtxSynchronize cuModuleLoadData cuModuleUnload
cuModuleGetFunction cuFuncGetAttribute cuFuncSetAttribute cuStreamCreate cuStreamDestroy_v2 cuStreamSynchronize
cuStreamWaitEvent cuStreamBeginCapture_v2 cuStreamEndCapture cuStreamIsCapturing cuEventCreate cuEventDestroy_v2
cuEventElapsedTime cuEventQuery cuEventRecord cuEventSynchronize cuLaunchKernel cuMemAllocAsync cuMemAlloc_v2
cuMemFreeAsync cuMemFree_v2 cuMemGetInfo_v2 cuMemcpy3DAsync_v2 cuMemcpyDtoDAsync_v2 cuMemcpyDtoHAsync_v2
cuMemcpyHtoDAsync_v2 cuMemsetD8Async cuGraphInstantiateWithFlags cuGraphLaunch cuGraphDestroy cuGraphExecDestroy
cuOccupancyMaxActiveBlocksPerMultiprocessor cuArray3DCreate_v2 cuArrayDestroy cuSurfObjectCreate cuSurfObjectDestroy
cuStreamCreateWithPriority cuDeviceCanAccessPeer cuMemAddressReserve cuMemAddressFree cuMemCreate cuMemRelease cuMemMap
cuMemUnmap cuMemSetAccess cuMemGetAllocationGranularity cuMemHostAlloc cuMemFreeHost
";
