//! A signal to one rank, and the time on the wall of all: they end after the same step, and leave one state.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use stencil_runtime::io::Npz;

use crate::common::{assert_has, folder, good, text};
use crate::faults::{END, ended, processes, wait};
use crate::{PROBLEM, alone, badly, mpi, well};

#[test]
fn a_signal_to_one_rank_ends_all_after_one_step() {
    let Some(_alone) = alone() else {
        return;
    };
    let here = folder("signals");
    fs::write(here.join("drift.toml"), PROBLEM).unwrap_or_else(|e| panic!("{e}"));
    let words = "run drift.toml --threads 1 -q --precision f64 --checkpoint-steps 4 --set output.every=100000 --out ranks --restart latest";
    for (rank, signal, code) in [(2, "-USR1", 138), (0, "-TERM", 143)] {
        let mut run = mpi(&here);
        run.args(["-n", "3", env!("CARGO_BIN_EXE_stencil")]).args(words.split_whitespace());
        let run = run.args(["--set", "time.steps=1000000"]);
        let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let run = run.unwrap_or_else(|e| panic!("{e}"));
        let ranks = wait(4 * END, "ranks", || processes(&run, 3));
        // Signals are caught before the series goes on.
        let series = here.join("ranks/series.csv.part");
        wait(4 * END, "rows", || series.is_file().then_some(()));
        std::thread::sleep(Duration::from_millis(200));
        let kill = Command::new("kill").args([signal, &ranks[rank].to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
        let output = ended(run);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert_has(&message, &["the state is in ranks/interrupted.npz"]);
        assert_eq!(message.matches("the state is in").count(), 1, "{message}");
    }
    let message = badly(2, &format!("{words} --set time.steps=1000000 --wall 2s"), &here, 124);
    assert_has(&message, &["ended by the limit of the time on the wall"]);
    let step = || Npz::open(here.join("ranks/interrupted.npz")).ok()?.u64("step").ok();
    let last = step().unwrap_or_else(|| panic!("no state")) + 3;
    let end = format!("--set time.steps={last}");
    well(3, &format!("{words} {end}"), &here);
    let alone = words.replace("--out ranks --restart latest", "--out one");
    good(&format!("{alone} {end}"), &here);
    for file in ["final.npz", "series.csv"] {
        let [one, ranks] = ["one", "ranks"].map(|run| fs::read(here.join(run).join(file)).ok());
        assert!(one.is_some() && one == ranks, "{file}");
    }
}
