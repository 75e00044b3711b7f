//! The one test command: every check in order, timed, stopping at the first failure.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::workspace::{Workspace, cargo};
use crate::{nvrtc, tidy};

/// Tests counted over all test programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
}

/// Runs all stages. The counts are the last line printed, once tests have run.
pub(crate) fn run(workspace: &Workspace) -> Result<(), String> {
    let start = Instant::now();
    let root = workspace.root.as_path();
    stage("format", || check(root, &["fmt", "--all", "--check"], &[]))?;
    stage("tidy", || tidy::run(workspace))?;
    stage("clippy", || {
        check(
            root,
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ],
            &[],
        )
    })?;
    let folder = stage("nvrtc", || nvrtc::fetch(workspace))?;
    println!("{}", folder.display());
    let mut counts = Counts::default();
    let documented = stage("test", || test(root, &folder, &mut counts)).and_then(|()| {
        stage("documentation", || {
            check(
                root,
                &["doc", "--workspace", "--no-deps"],
                &[("RUSTDOCFLAGS", "-Dwarnings")],
            )
        })
    });
    println!("\nall stages: {:.1} s", start.elapsed().as_secs_f64());
    println!("{} passed, {} failed", counts.passed, counts.failed);
    documented
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

/// Runs all tests, passing their output through while counting.
fn test(root: &Path, nvrtc: &Path, counts: &mut Counts) -> Result<(), String> {
    let mut child = Command::new(cargo())
        // All failures of one run, not the first program's alone.
        .args(["test", "--workspace", "--no-fail-fast"])
        .env("STENCIL_NVRTC_DIR", nvrtc)
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
        while output
            .read_until(b'\n', &mut line)
            .map_err(|error| error.to_string())?
            > 0
        {
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
    before
        .rsplit(' ')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
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
        assert_eq!(
            counts,
            Counts {
                passed: 17,
                failed: 2
            }
        );
    }

    #[test]
    fn a_failed_stage_is_named() {
        assert_eq!(
            stage("x", || Err::<(), _>("why".to_owned())),
            Err("stage `x`: why".to_owned())
        );
    }
}
