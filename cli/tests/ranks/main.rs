//! Runs on several ranks of MPI: the bits of one process, its messages, and its exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use stencil_runtime::backend::cuda::Card;
use stencil_runtime::transport::{Carrier, mpi_reaches_cards, mpirun, nccl_version};

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod signals;

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

/// Runs on cards: laws and flows, walls and numbers on them that change, sources, steps that adapt, rows that are whole.
const CARD_RUNS: [(&str, usize); 6] = [
    ("explosion --cells 13,10,9 --steps 5", 2),
    ("explosion --cells 12,8,10 --steps 4 --precision f64 --set mesh.patches=[1,2,3]", 3),
    ("turbulence --cells 32 --steps 3", 2),
    ("kelvin_helmholtz --cells 21,17 --steps 4", 3),
    ("gray_scott --cells 48,48 --steps 8", 2),
    ("drift.toml", 4),
];

/// Waits for other tests: ranks of two runs would wait for the same cores. `None` if there is no `mpirun`, which it says.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    if mpirun().is_none() {
        println!("skipped: no mpirun");
    }
    mpirun().map(|_| ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Prepares `mpirun` in a folder: ranks that wait leave the cores to the others.
fn mpi(folder: &Path) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--bind-to", "none"]);
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.env("OMPI_MCA_mpi_yield_when_idle", "1").current_dir(folder);
    command
}

/// Runs `stencil` on several ranks.
fn ranks(count: usize, words: &str, folder: &Path) -> Output {
    let mut command = mpi(folder);
    command.args(["-n", &count.to_string(), env!("CARGO_BIN_EXE_stencil")]);
    common::output(command.args(words.split_whitespace()))
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
    let Some(_alone) = alone() else {
        return;
    };
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
    let Some(_alone) = alone() else {
        return;
    };
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
    let Some(_alone) = alone() else {
        return;
    };
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
    let tune = badly(2, "run drift.toml --backend cuda --tune 5", &here, 2);
    assert_has(
        &tune,
        &["`--tune` times schedules in one process", "give the ranks its --schedule"],
    );
    let alone = refused("run drift.toml --transport nccl", &here, 2);
    assert_has(&alone, &["`--transport nccl` is between ranks", "leave --transport out"]);
    if Card::count().is_err() {
        let cuda = badly(2, "run drift.toml --backend cuda", &here, 2);
        assert_eq!(cuda.matches("error: ").count(), 1, "{cuda}");
    }
    let cut = badly(4, "run drift.toml --patches 3,1", &here, 2);
    assert_has(&cut, &["4 devices cannot share 3 patches"]);
}

/// The ranks of one run are to have one problem.
#[test]
fn ranks_with_other_problems_are_refused() {
    let Some(_alone) = alone() else {
        return;
    };
    let here = home("unlike");
    let stencil = env!("CARGO_BIN_EXE_stencil");
    let of = |k: &str| ["-n", "1", stencil, "run", "drift.toml", "--param", k].map(str::to_string);
    let output = common::output(mpi(&here).args(of("k=0.05")).arg(":").args(of("k=0.06")));
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_has(&message, &["rank 1 has another version or problem than rank 0"]);
    assert!(!here.join("out").exists());
}

/// Ranks that share a card, or have one each, by each carrier that is there.
#[test]
fn ranks_with_cards_have_the_bits_of_one_process() {
    let cards = Card::count().unwrap_or(0);
    let Some(_alone) = alone().filter(|_| cards > 0) else {
        println!("skipped: no card");
        return;
    };
    let is_usable = |carrier: &Carrier| match carrier {
        Carrier::Nccl => cards > 1 && nccl_version().is_ok(),
        Carrier::Mpi => mpi_reaches_cards(),
        Carrier::Staged => true,
    };
    for carrier in Carrier::ALL.iter().filter(|carrier| is_usable(carrier)) {
        for (run, count) in CARD_RUNS {
            let here = home("cards");
            println!("{carrier} {run}");
            let count = if *carrier == Carrier::Nccl { cards.min(count) } else { count };
            good(&format!("run {run} --out one -q --threads 1"), &here);
            let on_cards = format!("--backend cuda --transport {carrier}");
            well(count, &format!("run {run} --out ranks -q {on_cards}"), &here);
            assert_same(&here, &["final.npz", "series.csv"]);
        }
    }
}
