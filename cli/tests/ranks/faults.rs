//! Faults of one rank: all ranks end within seconds, with a message, and files are whole.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use stencil_runtime::io::{Npz, whole_of};

use crate::common::{assert_has, folder, good, text};
use crate::{PROBLEM, alone, mpi, well};

/// Time for all ranks to end after the fault of one.
pub(super) const END: Duration = Duration::from_secs(10);

/// Returns the processes of a run by their ranks.
pub(super) fn processes(mpirun: &Child, count: usize) -> Option<Vec<u32>> {
    let is_child = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.split_whitespace().eq(["PPid:", &mpirun.id().to_string()]))
    };
    let rank = |pid: u32| {
        let set = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let set = String::from_utf8_lossy(&set).into_owned();
        let rank = set.split('\0').find_map(|set| set.strip_prefix("OMPI_COMM_WORLD_RANK="))?;
        Some((rank.parse::<usize>().ok()?, pid))
    };
    let all = fs::read_dir("/proc").ok()?;
    let all = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut ranks: Vec<(usize, u32)> = all.filter(is_child).filter_map(rank).collect();
    ranks.sort_unstable();
    (ranks.len() == count).then(|| ranks.into_iter().map(|(_, pid)| pid).collect())
}

/// Waits for something at most so long.
pub(super) fn wait<T>(most: Duration, what: &str, look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    let mut looks = std::iter::repeat_with(look).map_while(|found| {
        sleep(Duration::from_millis(if found.is_some() { 0 } else { 20 }));
        (found.is_some() || begun.elapsed() < most).then_some(found)
    });
    looks.find_map(|found| found).unwrap_or_else(|| panic!("no {what} within {most:?}"))
}

/// Waits for the end of all ranks, which comes soon.
pub(super) fn ended(mut run: Child) -> Output {
    wait(END, "end", || run.try_wait().unwrap_or_else(|e| panic!("{e}")));
    run.wait_with_output().unwrap_or_else(|e| panic!("{e}"))
}

/// Asserts that all files of a folder that have their names are whole.
fn assert_whole(folder: &Path) -> usize {
    let files = fs::read_dir(folder).unwrap_or_else(|e| panic!("{e}"));
    let files = files.map(|file| file.unwrap_or_else(|e| panic!("{e}")).path());
    let (mut states, mut checked) = (files.collect::<Vec<_>>(), 0);
    states.retain(|file| whole_of(file).is_none() && file.extension().is_some_and(|e| e == "npz"));
    for state in states {
        let mut file = Npz::open(&state).unwrap_or_else(|e| panic!("{e}"));
        assert!(file.is_sealed(), "{}", state.display());
        file.array_f64("q").unwrap_or_else(|e| panic!("{e}"));
        checked += 1;
    }
    checked
}

/// A rank that is killed, the one that writes or another: `mpirun` ends the others, and the run goes on from its last frame.
#[test]
fn a_rank_that_is_killed_ends_all() {
    let Some(_alone) = alone() else {
        return;
    };
    for killed in [1, 0] {
        let here = folder(&format!("killed{killed}"));
        fs::write(here.join("drift.toml"), PROBLEM).unwrap_or_else(|e| panic!("{e}"));
        let set = ["--set", "output.every=3", "--set", "time.steps=1000000", "--precision", "f64"];
        let mut run = mpi(&here);
        run.args(["-n", "3", env!("CARGO_BIN_EXE_stencil"), "run", "drift.toml", "--threads", "1"]);
        let run = run.args(set).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let run = run.unwrap_or_else(|e| panic!("{e}"));
        let ranks = wait(4 * END, "ranks", || processes(&run, 3));
        let out = here.join("out");
        wait(4 * END, "frames", || out.join("frame_000009.npz").is_file().then_some(()));
        let kill = Command::new("kill").args(["-9", &ranks[killed].to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
        let output = ended(run);
        assert!(!output.status.success());
        let message = text(&output.stderr);
        assert_has(&message, &["signal 9"]);
        for rank in ranks {
            // Nobody may have asked for the end of one whose parent has ended.
            let status = fs::read_to_string(format!("/proc/{rank}/status")).unwrap_or_default();
            assert!(status.is_empty() || status.contains("State:\tZ"), "{status}");
        }
        assert!(assert_whole(&out) >= 4);
        let go_on = "run drift.toml --precision f64 --set output.every=3 -q --threads 1 --set time.steps=12";
        good(&format!("{go_on} --restart out/frame_000009.npz"), &here);
        good(&format!("{go_on} --out one"), &here);
        let [one, again] =
            ["one", "out"].map(|run| fs::read(here.join(run).join("final.npz")).ok());
        assert!(one.is_some() && one == again);
    }
}

/// Runs `stencil` on two ranks, one of them behind a command of the shell; they fail, and the message is returned.
fn limited(limited: usize, limit: &str, words: &str, here: &Path, code: i32) -> String {
    let stencil = env!("CARGO_BIN_EXE_stencil");
    let line = format!("{limit}; exec {stencil} {words}");
    let mut run = mpi(here);
    for rank in 0..2 {
        run.args(["-n", "1"]);
        match rank == limited {
            true => run.args(["sh", "-c", &line]),
            false => run.arg(stencil).args(words.split_whitespace()),
        };
        run.arg(":");
    }
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let output = ended(run.unwrap_or_else(|e| panic!("{e}")));
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert_eq!(message.matches("error[").count(), 1, "{message}");
    message
}

fn home(name: &str) -> std::path::PathBuf {
    let here = folder(name);
    fs::write(here.join("drift.toml"), PROBLEM).unwrap_or_else(|e| panic!("{e}"));
    here
}

/// A rank without room for its arrays.
#[test]
fn a_rank_without_memory_ends_all() {
    let Some(_alone) = alone() else {
        return;
    };
    for rank in [0, 1] {
        let here = home("memory");
        let words = "run drift.toml --threads 1 --cells 6000,6000 --precision f64";
        let message = limited(rank, "ulimit -v 1000000", words, &here, 2);
        assert_has(&message, &["error[R0301]: a run of 6000 x 6000 x 1 cells needs"]);
        assert!(!here.join("out").exists());
    }
}

/// The first rank cannot write: its disk is full, or the place of its folder is a file.
#[test]
fn a_rank_that_cannot_write_ends_all() {
    let Some(_alone) = alone() else {
        return;
    };
    let here = home("full");
    let words = "run drift.toml --threads 1 --cells 120,120 -q";
    let message = limited(0, "ulimit -f 60", words, &here, 6);
    assert_has(&message, &["error[R0201]: cannot write `out/frame_000000.npz`"]);
    assert_eq!(assert_whole(&here.join("out")), 0);
    // The limit of a rank that writes nothing changes nothing.
    let here = home("full of another");
    let stencil = env!("CARGO_BIN_EXE_stencil");
    let line = format!("ulimit -f 60; exec {stencil} {words}");
    let output = mpi(&here)
        .args(["-n", "1", stencil])
        .args(words.split_whitespace())
        .args([":", "-n", "1", "sh", "-c", &line])
        .output();
    assert!(output.is_ok_and(|output| output.status.success()));
    assert_eq!(assert_whole(&here.join("out")), 4);

    let here = home("no folder");
    fs::write(here.join("file"), "").unwrap_or_else(|e| panic!("{e}"));
    let message = limited(0, "true", "run drift.toml --threads 1 --out file/out", &here, 6);
    assert_has(&message, &["R0201", "file/out"]);
    well(2, "run drift.toml --threads 1 --out other -q", &here);
}
