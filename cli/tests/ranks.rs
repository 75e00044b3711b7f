//! Runs on several ranks of MPI: the bits of one process, its messages, and its exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use stencil_runtime::transport::mpirun;

mod common;

use common::{assert_has, folder, good, refused, text};

/// A source and boundaries that change with time, on a mesh of odd sizes.
const PROBLEM: &str = "\
system = '''
pub system Drift in 2d {
    field q: scalar;
    source s: scalar;
    param k: real = 0.05 where k >= 0;
    ddt(q) = k*lap(q) - d[x](q) + s;
    observe mass = sum(q);
    observe top = max(q);
    cfl { advective: 1; diffusive: k }
}
'''
mesh = { cells = [23, 17], extent = [3, 4] }
boundary.x = { lo = { dirichlet = \"sin(5*t)\" }, hi = \"outflow\" }
boundary.y = { lo = \"wall\", hi = { dirichlet = \"1 + t\" } }
source.s = \"cos(t)*x\"
init.q = \"1 + 0.5*sin(x)*exp(-y^2)\"
time = { dt = \"cfl(0.3)\", steps = 12 }
output = { dir = \"out\", every = 5, series_every = 3 }

[[plot]]
value = \"d[x](q)\"
";

/// Runs, each on so many ranks: laws and flows with steps of given lengths and adaptive ones, in one to three dimensions,
/// with patches of one size and of several, rows that are cut and rows that are whole.
const RUNS: [(&str, usize); 9] = [
    ("explosion --cells 13,10,9 --steps 5", 2),
    ("explosion --cells 12,8,10 --steps 4 --precision f64 --set mesh.patches=[2,2,3]", 4),
    ("blast --cells 20 --steps 6", 4),
    ("four_states --cells 80,21 --steps 4", 4),
    ("kelvin_helmholtz --cells 21,17 --steps 4", 3),
    ("sod --cells 101 --steps 9", 4),
    ("turbulence --cells 16 --steps 3", 2),
    ("gray_scott --cells 17,15 --steps 6 --patches 3,2", 4),
    ("drift.toml", 4),
];

/// Is there an `mpirun`? Says so if there is none.
fn is_there() -> bool {
    if mpirun().is_none() {
        println!("skipped: no mpirun");
    }
    mpirun().is_some()
}

/// Runs `stencil` on several ranks.
fn ranks(count: usize, words: &str, folder: &Path) -> Output {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--bind-to", "none", "-n", &count.to_string()]);
    command.arg(env!("CARGO_BIN_EXE_stencil")).args(words.split_whitespace());
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    // Ranks that wait leave the cores to the others.
    command.env("OMPI_MCA_mpi_yield_when_idle", "1").current_dir(folder);
    common::output(&mut command)
}

/// Runs `stencil` on several ranks; it goes well, and what it prints is returned.
fn well(count: usize, words: &str, folder: &Path) -> String {
    let output = ranks(count, words, folder);
    let (printed, wrong) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{words}: {printed}\n{wrong}");
    printed
}

/// Runs `stencil` on several ranks; it fails with a code, and its message is returned.
fn badly(count: usize, words: &str, folder: &Path, code: i32) -> String {
    let output = ranks(count, words, folder);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words}: {message}");
    message
}

fn home(name: &str) -> PathBuf {
    let here = folder(name);
    std::fs::write(here.join("drift.toml"), PROBLEM).unwrap_or_else(|e| panic!("{e}"));
    here
}

fn assert_same(here: &Path, files: &[&str]) {
    for file in files {
        let read = |run: &str| {
            let path = here.join(run).join(file);
            std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        assert!(read("one") == read("ranks"), "{file}");
    }
}

#[test]
fn ranks_have_the_bits_of_one_process() {
    if !is_there() {
        return;
    }
    for (run, count) in RUNS {
        let here = home("bits");
        println!("{run}");
        good(&format!("run {run} --out one -q --threads 1"), &here);
        assert_eq!(well(count, &format!("run {run} --out ranks -q --threads 1"), &here), "");
        assert_same(&here, &["final.npz", "series.csv"]);
        if run == "drift.toml" {
            assert_same(&here, &["frame_000005.npz", "d_x_q.png"]);
        }
    }
}

#[test]
fn the_first_rank_talks_and_states_go_on_on_other_ranks() {
    if !is_there() {
        return;
    }
    let here = home("restart");
    let run = "run drift.toml --threads 1";
    good(&format!("{run} --out one"), &here);
    let printed = well(2, &format!("{run} --out ranks --set time.steps=7"), &here);
    assert_has(&printed, &["2 ranks of MPI"]);
    assert_eq!(printed.matches("ranks of MPI").count(), 2, "{printed}");
    let printed = well(3, &format!("{run} --out ranks --restart ranks/final.npz"), &here);
    assert_has(&printed, &["goes on from ranks/final.npz: step 7", "3 ranks of MPI"]);
    assert_same(&here, &["final.npz", "series.csv", "frame_000010.npz"]);
}

/// All ranks fail alike, and the first one tells it.
#[test]
fn failures_are_told_once() {
    if !is_there() {
        return;
    }
    let here = home("failures");
    let long = "run drift.toml --threads 1 --unchecked-step --dt 0.7 --steps 4000 --out out --overwrite -q";
    let of_one = refused(long, &here, 5);
    let message = badly(3, long, &here, 5);
    let first = of_one.trim();
    assert_eq!(message.matches(first).count(), 1, "{message}\n{of_one}");
    assert!(here.join("out/last_good.npz").is_file());

    let used = badly(2, "run drift.toml --out out", &here, 2);
    assert_eq!(used.matches("holds files of a run").count(), 1, "{used}");
    let devices = badly(2, "run drift.toml --devices 3", &here, 2);
    assert_has(&devices, &["`--devices 3` and 2 ranks", "leave --devices out"]);
    let cuda = badly(2, "run drift.toml --backend cuda", &here, 2);
    assert_has(&cuda, &["ranks run on processors only"]);
    let cut = badly(4, "run drift.toml --patches 3,1", &here, 2);
    assert_has(&cut, &["4 devices cannot share 3 patches"]);
}

/// The ranks of one run are to have one problem.
#[test]
fn ranks_with_other_problems_are_refused() {
    if !is_there() {
        return;
    }
    let here = home("unlike");
    let stencil = env!("CARGO_BIN_EXE_stencil");
    let of = |k: &str| ["-n", "1", stencil, "run", "drift.toml", "--param", k].map(str::to_string);
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--bind-to", "none"]).args(of("k=0.05")).arg(":");
    command.args(of("k=0.06")).current_dir(&here);
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    let output = common::output(&mut command);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_has(&message, &["rank 1 has another version or problem than rank 0"]);
    assert!(!here.join("out").exists());
}
