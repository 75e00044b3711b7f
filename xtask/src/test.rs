//! The one test command: every check in order, timed, stopping at the first failure.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::workspace::{Workspace, cargo};
use crate::{book, mpi, nvrtc, python, tidy};

/// The share of all tests that a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The inner loop.
    Fast,
    /// A change before it is sent.
    Usual,
    /// All samples in both precisions, on larger meshes.
    Deep,
}

/// Whether `--fast` runs a program of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Small,
    Large,
}

/// All programs of tests in folders `tests`. Unit tests are small.
const PROGRAMS: [(&str, Size); 18] = [
    ("bench", Size::Small),
    ("commands", Size::Small),
    ("declared", Size::Large),
    ("documented", Size::Large),
    ("exports", Size::Small),
    ("formulations", Size::Large),
    ("generated", Size::Large),
    ("messages", Size::Small),
    ("new", Size::Large),
    ("numerics", Size::Large),
    ("plot", Size::Small),
    ("problems", Size::Large),
    ("ranks", Size::Large),
    ("shell", Size::Small),
    ("stages", Size::Small),
    ("sweep", Size::Small),
    ("ui", Size::Large),
    ("whole", Size::Large),
];

/// Tests of small programs that `--fast` leaves out.
const LONG: [&str; 15] = [
    "all_of_the_language_has_the_same_bits",
    "conservation_laws_have_the_same_bits",
    "even_seeds_agree_in_double_precision",
    "every_kernel_compiles_and_its_resources_are_pinned",
    "faults::",
    "goes_on_from_its_own_file",
    "no_system_of_the_library_is_known_by_its_name",
    "other_layouts_compile",
    "other_orders_dimensions_and_names_have_the_same_bits",
    "presets_are_legal_on_meshes_with_walls",
    "repaired_fluxes_have_the_same_bits",
    "samples_hold_every_blocking",
    "systems_of_the_library_take_states",
    "the_exact_solver_has_the_same_bits",
    "what_was_compiled_ahead_needs_no_compiler",
];

/// The variable by which tests learn the depth: `fast`, `deep`, or none.
const DEPTH: &str = "STENCIL_TESTS";

/// The variable that chooses the thirds of all schedules that both precisions walk, and the ninths of other cases: 0 to 8, or `all`.
const TURN: &str = "STENCIL_TURN";

/// The record of deep runs.
const RECORD: &str = "docs/measurements/deep.md";

/// Tests counted over all test programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
}

/// Returns what `--fast` leaves out, in words.
pub(crate) fn left_out() -> String {
    let large = PROGRAMS.iter().filter(|(_, size)| *size == Size::Large);
    let names: Vec<&str> = large.map(|(name, _)| *name).collect();
    format!(
        "clippy, the book, documentation, examples, the package of Python, the programs {}, and the tests {}",
        names.join(", "),
        LONG.join(", ")
    )
}

/// Runs all stages. The counts are the last line printed, once tests have run.
pub(crate) fn run(workspace: &Workspace, depth: Depth) -> Result<(), String> {
    let start = Instant::now();
    let root = workspace.root.as_path();
    let ranks = mpi::features();
    let clippy = [&["clippy", "--workspace", "--all-targets"], ranks, &["--", "-D", "warnings"]];
    let documentation = ["doc", "--workspace", "--no-deps"];
    let turn = turn(root, depth);
    stage("format", || check(root, &["fmt", "--all", "--check"], &[]))?;
    stage("tidy", || tidy::run(workspace))?;
    if depth != Depth::Fast {
        stage("clippy", || check(root, &clippy.concat(), &[]))?;
        stage("book", || book::build(workspace))?;
    }
    let folder = stage("nvrtc", || nvrtc::fetch(workspace))?;
    println!("{}\n{TURN}={turn}: each precision walks a third of the schedules", folder.display());
    let mut counts = Counts::default();
    let tested = stage("test", || test(root, (&folder, depth, &turn), ranks, &mut counts));
    let finished = tested.and_then(|()| match depth {
        Depth::Fast => {
            println!("\nleft out: {}", left_out());
            Ok(())
        }
        _ => {
            stage("python", || python::run(workspace, !ranks.is_empty()))?;
            stage("documentation", || {
                check(root, &documentation, &[("RUSTDOCFLAGS", "-Dwarnings")])
            })
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    if depth == Depth::Deep {
        record(root, counts, seconds)?;
    }
    println!("\nall stages: {seconds:.1} s");
    println!("{} passed, {} failed", counts.passed, counts.failed);
    finished
}

/// Returns the words that git answers with, none if it fails.
fn git(root: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(root).output();
    let text = output.map_or(Vec::new(), |output| output.stdout);
    String::from_utf8_lossy(&text).trim().to_string()
}

/// Returns the turn that the environment sets, else the one that follows from the commit. Turns of commits that follow each
/// other do so, too: three of them walk all schedules in both precisions, and nine take all cases. A shallow clone has no count of commits, and
/// takes the hash.
fn turn(root: &Path, depth: Depth) -> String {
    if let Ok(set) = std::env::var(TURN) {
        return set;
    }
    if depth == Depth::Deep {
        return "all".to_string();
    }
    let number = match git(root, &["rev-parse", "--is-shallow-repository"]).as_str() {
        "false" => git(root, &["rev-list", "--first-parent", "--count", "HEAD"]).parse().ok(),
        _ => u64::from_str_radix(&git(root, &["rev-parse", "--short=8", "HEAD"]), 16).ok(),
    };
    (number.unwrap_or_default() % 9).to_string()
}

/// Adds a deep run to the record.
fn record(root: &Path, counts: Counts, seconds: f64) -> Result<(), String> {
    let commit = git(root, &["describe", "--always", "--dirty", "--exclude=*"]);
    let date = git(root, &["show", "-s", "--format=%cs", "HEAD"]);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let Counts { passed, failed } = counts;
    let row = format!("| {date} | {commit} | {cores} | {passed} | {failed} | {seconds:.0} |\n");
    let file = std::fs::OpenOptions::new().append(true).open(root.join(RECORD));
    let written = file.and_then(|mut file| file.write_all(row.as_bytes()));
    written.map_err(|error| format!("{RECORD}: {error}"))
}

fn stage<T>(name: &str, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    println!("\n== {name}");
    let start = Instant::now();
    let result = work().map_err(|reason| format!("stage `{name}`: {reason}"));
    println!(
        "== {name}: {} in {:.1} s",
        if result.is_ok() { "ok" } else { "FAILED" },
        start.elapsed().as_secs_f64()
    );
    result
}

fn check(root: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    let status = Command::new(cargo())
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(root)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("`cargo {}` failed", arguments.join(" "))),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// Returns the arguments of cargo that choose the programs of a depth.
fn chosen(depth: Depth) -> Vec<&'static str> {
    if depth != Depth::Fast {
        return Vec::new();
    }
    let small = PROGRAMS.iter().filter(|(_, size)| *size == Size::Small);
    let programs = small.flat_map(|(name, _)| ["--test", name]);
    let skipped = LONG.iter().flat_map(|name| ["--skip", name]);
    let programs = ["--lib", "--bins"].into_iter().chain(programs);
    programs.chain(["--"]).chain(skipped).collect()
}

/// Runs the tests of a depth and a turn, passing their output through while counting.
fn test(
    root: &Path,
    (nvrtc, depth, turn): (&Path, Depth, &str),
    ranks: &[&str],
    counts: &mut Counts,
) -> Result<(), String> {
    let name = match depth {
        Depth::Fast => "fast",
        Depth::Usual => "",
        Depth::Deep => "deep",
    };
    let mut child = Command::new(cargo())
        // All failures of one run, not the first program's alone.
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(ranks)
        .args(chosen(depth))
        .env("STENCIL_NVRTC_DIR", nvrtc)
        .env(DEPTH, name)
        .env(TURN, turn)
        // Programs would be compiled beside tests of other things; the tests of programs look for a compiler themselves.
        .env("STENCIL_CC", "")
        // A message that differs from its snapshot fails, and no file is written.
        .env("INSTA_UPDATE", "no")
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo: {error}"))?;
    if let Some(output) = child.stdout.take() {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        // Bytes, not text: a test may print anything.
        while output.read_until(b'\n', &mut line).map_err(|error| error.to_string())? > 0 {
            // Counting goes on if nobody reads our output.
            let _ = std::io::stdout().write_all(&line);
            counts.add(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    // A program that did not compile or was killed prints no counts of its own.
    counts.failed = counts.failed.max(1);
    Err("`cargo test --workspace` failed".to_owned())
}

impl Counts {
    /// Adds the counts of a line of the form `test result: ok. 3 passed; 0 failed; ..`.
    fn add(&mut self, line: &str) {
        if let Some((_, result)) = line.split_once("test result: ") {
            self.passed += number_before(result, " passed;");
            self.failed += number_before(result, " failed;");
        }
    }
}

fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split_once(word).map_or("", |(before, _)| before);
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_summed_over_programs() {
        let mut counts = Counts::default();
        for line in [
            "test a ... ok",
            "test result: ok. 14 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.22s\n",
            "test result: \u{1b}[31mFAILED\u{1b}[m. 3 passed; 2 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0s",
            "3 passed; 9 failed;",
        ] {
            counts.add(line);
        }
        assert_eq!(counts, Counts { passed: 17, failed: 2 });
    }

    /// Every program has a size, and CONTRIBUTING names all that the inner loop leaves out.
    #[test]
    fn programs_are_those_of_the_workspace() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let target = root.join("target");
        let workspace = Workspace { root, target };
        let mut found = std::collections::BTreeSet::new();
        for path in workspace.rust_files().expect("files") {
            let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
            match parts[..] {
                [_, "tests", name] | [_, "tests", name, "main.rs"] | ["tests", "batch", name]
                    if name != "build.rs" =>
                {
                    found.insert(name.trim_end_matches(".rs").to_string());
                }
                _ => {}
            }
        }
        assert!(found.iter().eq(PROGRAMS.iter().map(|(name, _)| name)), "{found:?}");
        let page = workspace.read(Path::new("CONTRIBUTING.md")).expect("a page");
        let named = |name: &str| page.contains(&format!("`{name}`"));
        let large = PROGRAMS.iter().filter(|(_, size)| *size == Size::Large);
        for (name, _) in large {
            assert!(named(name), "CONTRIBUTING.md does not name {name}");
        }
    }

    /// Else the tests of one package compile again what the tests of all compiled: add the dependency that turns a feature on
    /// to the package, for tests alone.
    #[test]
    fn tests_of_one_package_have_the_features_of_all() {
        let features = |chosen: &[&str]| -> std::collections::BTreeSet<String> {
            let output = Command::new(cargo())
                .args(["tree", "--offline", "--prefix=none", "--format={p} {f}"])
                .args(chosen)
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .output()
                .expect("cargo");
            let text = String::from_utf8_lossy(&output.stdout);
            let lines = text.lines().map(|line| line.replace(" (*)", ""));
            lines.filter(|line| !line.is_empty()).collect()
        };
        let all = features(&["--workspace"]);
        assert!(all.len() > 50);
        for package in
            ["stencil-cli", "stencil-physics", "stencil-report", "stencil-runtime", "stencil-tests"]
        {
            let own = features(&["-p", package]);
            let apart: Vec<&String> = own.difference(&all).collect();
            assert!(!own.is_empty() && apart.is_empty(), "{package}: {apart:#?}");
        }
    }

    #[test]
    fn a_failed_stage_is_named() {
        assert_eq!(stage("x", || Err::<(), _>("why".to_owned())), Err("stage `x`: why".to_owned()));
    }
}
