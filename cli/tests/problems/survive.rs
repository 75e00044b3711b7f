//! Runs that are killed at any moment, and go on from their latest state: the files of the end are those of a run that nothing
//! has killed.
//!
//! `STENCIL_KILLS` sets the number of kills, and `STENCIL_KILLS_BY` the engine.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stencil_runtime::io::{Npz, NpzWriter, Table};

use super::folders::{files, wait};
use super::{assert_has, bytes, common, folder, good, text};

/// Kills in the usual suite.
const KILLS: u32 = 5;

/// Steps that adapt, are done again and meet the end; a source that changes with time; random initial values; frames, rows
/// and states at steps that do not divide each other.
const TUBE: &str = "\
system = '''
pub system Tube in 2d {
    conserved h: scalar [m] where h > 0;
    conserved m: vector [m^2/s];
    source rain: scalar [m/s];
    param g: real [m/s^2] = 10;
    let u = m/h;
    let p = g*h^2/2;
    let c = sqrt(g*h);
    flux h -> m;
    flux m -> outer(m, u) + p*I;
    primitive { h; u; m = h*u; }
    waves { flow: u; sound: c; density: h; pressure: p; }
    ddt(h) = rain;
    observe water = sum(h);
    observe top = max(h);
}
scheme s for Tube { reconstruct: plm; riemann: hll; time: ssprk2; }
'''
[mesh]
cells = [20, 16]
extent = [2, 2]
[random]
noise = { spectrum = \"1e-3*k^2*exp(-k)\", seed = 7 }
[init]
h = \"1 + exp(-40*((x - 1)^2 + (y - 1)^2))\"
m = [\"noise_x\", \"noise_y\"]
[source]
rain = \"6*sin(20*t)^2\"
[time]
dt = \"cfl(0.4)\"
cfl_limit = 0.402
end = 0.3
[output]
every = 14
series_every = 5
[checkpoint]
every_steps = 3
keep = 3
[[plot]]
value = \"h\"
";

/// Numbers of one seed (xorshift).
struct Moments(u64);

impl Moments {
    /// Returns a number from zero up to one.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn kills() -> u32 {
    let given = std::env::var("STENCIL_KILLS").ok();
    given.map_or(KILLS, |count| count.parse().unwrap_or_else(|e| panic!("STENCIL_KILLS: {e}")))
}

/// The files of two folders are equal but for the folder's name in the settings.
fn assert_same(whole: &Path, parts: &Path, when: &str) {
    let plain = |folder: &Path| -> BTreeMap<String, Vec<u8>> {
        let mut files = files(folder);
        let settings = text(&files["problem.toml"]);
        let lines = settings.lines().filter(|line| !line.starts_with("dir = "));
        let lines: Vec<&str> = lines.collect();
        files.insert("problem.toml".into(), lines.join("\n").into_bytes());
        files
    };
    let (whole, parts) = (plain(whole), plain(parts));
    let names = |of: &BTreeMap<String, Vec<u8>>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&whole), names(&parts), "{when}");
    for (name, one) in &whole {
        assert!(one == &parts[name], "{name} {when}");
    }
}

#[test]
fn runs_that_are_killed_at_any_moment_have_the_bits_of_whole_ones() {
    let here = folder("killed_often");
    super::write(&here.join("tube.toml"), TUBE);
    let engine = std::env::var("STENCIL_KILLS_BY").unwrap_or_else(|_| "cpu".into());
    let run = format!("run tube.toml --backend {engine}");
    good(&format!("{run} -q --out whole"), &here);
    // The first run may have compiled kernels.
    let begun = Instant::now();
    let summary = common::json(&format!("{run} --json --out other"), &here);
    let whole = begun.elapsed();
    assert!(summary["retaken"].as_u64() > Some(0), "no step is done again: {summary}");

    let (mut moments, mut killed, mut rounds, mut late) = (Moments(0x5eed), 0, 0, 0);
    let kills = kills();
    while killed < kills {
        let parts = here.join("parts");
        let _ = std::fs::remove_dir_all(&parts);
        loop {
            let words = format!("{run} -q --restart latest --out parts");
            let mut child = started(&words, &here);
            std::thread::sleep(whole.mul_f64(1.1 * moments.next()));
            // A run that has ended meanwhile is not killed.
            let _ = child.kill();
            let output = child.wait_with_output().unwrap_or_else(|e| panic!("{e}"));
            if output.status.success() {
                break;
            }
            assert_eq!(output.status.code(), None, "{}", text(&output.stderr));
            killed += 1;
            late += u32::from(!states(&parts).is_empty());
            if killed == kills {
                good(&words, &here);
                break;
            }
        }
        rounds += 1;
        assert_same(&here.join("whole"), &parts, &format!("after {killed} kills"));
    }
    println!("{killed} kills, {late} of them with a state on the disk; {rounds} runs to the end");
}

fn started(words: &str, here: &Path) -> Child {
    let mut command = common::command(words, here);
    let silent = command.stdout(Stdio::null()).stderr(Stdio::piped());
    silent.spawn().unwrap_or_else(|e| panic!("{e}"))
}

/// The states on the way of a folder.
fn states(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter(|n| n.starts_with("checkpoint_") && n.ends_with(".npz")).collect();
    names.sort_unstable();
    names
}

#[test]
fn states_on_the_way_stay_as_many_as_are_kept() {
    let here = folder("kept");
    let run = "run drift.toml -q --set time.dt=0.01 --set time.steps=20";
    good(&format!("{run} --checkpoint-steps 4 --checkpoint-keep 3 --out a"), &here);
    // The last step has a state of its own, `final.npz`.
    let expected = [8, 12, 16].map(|step| format!("checkpoint_{step:06}.npz"));
    assert_eq!(states(&here.join("a")), expected);
    // After the steps that reach 0.07 and 0.14.
    good(&format!("{run} --checkpoint-time 0.07 --out b"), &here);
    let steps = states(&here.join("b")).into_iter().map(|name| {
        let state = Npz::open(here.join("b").join(name));
        let mut state = state.unwrap_or_else(|e| panic!("{e}"));
        (state.u64("step").unwrap(), state.f64("t").unwrap())
    });
    for ((step, t), least) in steps.zip([0.07, 0.14]) {
        assert!(t >= least && t < least + 0.0101, "{step}: {t}");
    }
    assert_eq!(states(&here.join("b")).len(), 2);
    // A hundred thousandth of a minute is over after each step.
    good(&format!("{run} --checkpoint-minutes 1e-5 --checkpoint-keep 1 --out c"), &here);
    assert_eq!(states(&here.join("c")).len(), 1);
    // No bit depends on them.
    good(&format!("{run} --out d"), &here);
    for other in ["a", "b", "c"] {
        let state = |of: &str| bytes(&here.join(of).join("final.npz"));
        assert!(state(other) == state("d"), "{other}");
    }
    let wrong = [("--checkpoint-keep 3", "nothing says when"), ("--wall soon", "`time.wall`")];
    common::all_refused("run drift.toml", &wrong, &here);
}

#[test]
fn a_damaged_state_is_passed_over_and_named() {
    let here = folder("damaged");
    let run = "run drift.toml -q --set time.dt=0.01 --set time.steps=20 --checkpoint-steps 4";
    good(&format!("{run} --out whole --checkpoint-keep 3"), &here);
    let again = format!("{run} --out a --restart latest --checkpoint-keep 3");
    // There is none yet: the run begins.
    good(&again, &here);
    let newest = here.join("a/checkpoint_000016.npz");
    let damage = |path: &Path| {
        let mut state = bytes(path);
        let middle = state.len() / 2;
        state[middle] ^= 1;
        std::fs::write(path, state).unwrap();
    };
    std::fs::remove_file(here.join("a/final.npz")).unwrap();
    damage(&newest);
    let output = common::stencil(&again, &here);
    let warned = text(&output.stderr);
    assert!(output.status.success(), "{warned}");
    assert_has(&warned, &["warning: ", "a/checkpoint_000016.npz", "passed over"]);
    assert_same(&here.join("whole"), &here.join("a"), "after damage");
    // None is whole.
    for name in files(&here.join("a")).keys().filter(|name| name.ends_with(".npz")) {
        let cut = bytes(&here.join("a").join(name));
        std::fs::write(here.join("a").join(name), &cut[..cut.len() - 9]).unwrap();
    }
    let printed = common::refused(&again, &here, 2);
    assert_has(&printed, &["error[R0202]: no state in `a` is whole", "--overwrite"]);
    // A state of a later version is no damage.
    let mut later = NpzWriter::create(here.join("a/final.npz")).unwrap();
    later.u64("step", 20).unwrap();
    later.u64("state_version", 999).unwrap();
    later.finish().unwrap();
    let printed = common::refused(&again, &here, 2);
    assert_has(&printed, &["error[R0203]", "version 999"]);
}

#[test]
fn the_latest_state_of_another_run_is_not_mixed() {
    let here = folder("mixed");
    let run = "run drift.toml -q --out a --restart latest";
    good(&format!("{run} --set time.steps=5"), &here);
    let before = files(&here.join("a"));
    // Other settings: the state is taken, and the folder is not.
    let printed = common::refused(&format!("{run} --set time.steps=9 --param k=0.1"), &here, 2);
    assert_has(&printed, &["error[R0102]", "--number", "--overwrite"]);
    assert_eq!(files(&here.join("a")), before);
    // Killed before its first state: begun again, by the same problem alone.
    std::fs::remove_file(here.join("a/final.npz")).unwrap();
    let printed = common::refused(&format!("{run} --set time.steps=5 --param k=0.1"), &here, 2);
    assert_has(&printed, &["error[R0102]"]);
    good(&format!("{run} --set time.steps=5"), &here);
    assert_eq!(files(&here.join("a")), before);
    // Without a name, the last folder of the name is meant.
    for _ in 0..2 {
        good("run drift.toml -q --set time.steps=4", &here);
    }
    good("run drift.toml -q --set time.steps=6 --restart latest", &here);
    let step = |file: &str| Npz::open(here.join(file)).unwrap().u64("step").unwrap();
    assert_eq!((step("out/final.npz"), step("out-2/final.npz")), (4, 6));
    assert!(!here.join("out-3").exists());
}

#[test]
fn signals_and_the_wall_end_a_run_with_a_code_each() {
    let here = folder("signals");
    let run =
        "run drift.toml -q --set time.dt=1e-7 --set output.every=100000 --restart latest --out a";
    let mut step = 0;
    for (signal, code) in [("-TERM", 143), ("-USR1", 138), ("-INT", 130)] {
        let child = started(&format!("{run} --set time.end=9"), &here);
        // Signals are caught before the series goes on.
        wait(|| here.join("a/run.lock").is_file() && here.join("a/series.csv.part").is_file());
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
        let output = child.wait_with_output().unwrap_or_else(|e| panic!("{e}"));
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{signal}: {printed}");
        assert_has(&printed, &["the state is in a/interrupted.npz", "the same command goes on"]);
        let mut state = Npz::open(here.join("a/interrupted.npz")).unwrap();
        let now = state.u64("step").unwrap();
        assert!(now >= step, "{signal}: {now} after {step}");
        step = now;
    }
    let begun = Instant::now();
    let printed = common::refused(&format!("{run} --set time.end=9 --wall 1s"), &here, 124);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_has(&printed, &["ended by the limit of the time on the wall", "a/interrupted.npz"]);
    let last = Npz::open(here.join("a/interrupted.npz")).unwrap().u64("step").unwrap() + 7;
    good(&format!("{run} --set time.steps={last}"), &here);
    let whole = run.replace("--restart latest --out a", "--out whole");
    good(&format!("{whole} --set time.steps={last}"), &here);
    for file in ["final.npz", "series.csv"] {
        assert!(
            bytes(&here.join("a").join(file)) == bytes(&here.join("whole").join(file)),
            "{file}"
        );
    }
    let series = Table::read(here.join("a/series.csv")).unwrap();
    let steps = series.column("step").unwrap();
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]));
}

/// Files of one run have its name; another end has the same one, other parameters have another.
#[test]
fn files_carry_the_name_of_their_run() {
    let here = folder("named");
    let run = "run drift.toml --set time.steps=8 --checkpoint-steps 4";
    let summary = common::json(&format!("{run} --json --out a"), &here);
    let name = summary["run"].as_str().unwrap_or_default().to_string();
    assert_eq!(name.len(), 16, "{summary}");
    let settings = text(&bytes(&here.join("a/problem.toml")));
    assert!(settings.starts_with(&format!("# run {name}\n")), "{settings}");
    for file in ["final.npz", "frame_000004.npz", "checkpoint_000004.npz"] {
        let mut file = Npz::open(here.join("a").join(file)).unwrap();
        assert_eq!(file.text("run").unwrap(), name);
    }
    let holds = |folder: &str, name: &str| {
        let chunk = format!("iTXtRun\0\0\0\0\0{name}").into_bytes();
        let picture = bytes(&here.join(folder).join("q.png"));
        picture.windows(chunk.len()).any(|part| part == chunk)
    };
    assert!(holds("a", &name));
    let of = |more: &str| {
        let summary = common::json(&format!("{run} --json {more}"), &here);
        summary["run"].as_str().unwrap_or_default().to_string()
    };
    assert_eq!(of("--out b --set output.every=2 --steps 3"), name);
    assert_eq!(of("--out a --restart a/final.npz --steps 2"), name);
    let other = of("--out c --param k=0.1");
    let branch = of("--out d --param k=0.1 --restart a/final.npz --steps 2");
    assert!(other != name && branch != other && branch != name);
    assert!(holds("d", &branch));
}
