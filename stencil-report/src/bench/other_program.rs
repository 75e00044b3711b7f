//! Another program, timed between our own timings.

use std::process::{Command, Output, Stdio};
use std::time::Instant;

use super::case::best_and_median;
use super::report;
use crate::Failure;

/// Lines of a failed program's error output that are shown.
const TAIL: usize = 10;

/// A command of the shell, and the times of its runs.
#[derive(Debug)]
pub(super) struct OtherProgram {
    command: String,
    /// Variables of its environment, which describe the case.
    told: Vec<(&'static str, String)>,
    seconds: Vec<f64>,
    /// The speeds that it reported itself.
    speeds: Vec<f64>,
}

impl OtherProgram {
    pub(super) fn new<const N: usize>(command: &str, told: [(&'static str, String); N]) -> Self {
        OtherProgram {
            command: command.to_string(),
            told: told.into(),
            seconds: Vec::new(),
            speeds: Vec::new(),
        }
    }

    /// Runs it once, to its end.
    pub(super) fn run(&mut self) -> Result<(), Failure> {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let start = Instant::now();
        let output = Command::new(shell)
            .args([flag, &self.command])
            .envs(self.told.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .map_err(|e| self.failed(&format!("cannot be started: {e}"), ""))?;
        let seconds = start.elapsed().as_secs_f64();
        let Output { status, stdout, stderr } = output;
        if !status.success() {
            let tail = String::from_utf8_lossy(&stderr);
            return Err(self.failed(&format!("failed with {status}"), &tail));
        }
        self.seconds.push(seconds);
        let text = String::from_utf8_lossy(&stdout);
        self.speeds.extend(speed(&text));
        Ok(())
    }

    fn failed(&self, what: &str, stderr: &str) -> Failure {
        let lines: Vec<&str> = stderr.lines().collect();
        let tail = &lines[lines.len().saturating_sub(TAIL)..];
        let mut message = format!(
            "error: the program beside, `{}`, {what} in round {}",
            self.command,
            self.seconds.len() + 1
        );
        if tail.is_empty() {
            message.push_str("; it wrote nothing to its error output");
        } else {
            message.push_str("; the end of its error output:");
        }
        for line in tail {
            message.push_str("\n  ");
            message.push_str(line);
        }
        Failure::Told(message)
    }

    pub(super) fn result(self) -> report::BesideResult {
        let (best, median) = best_and_median(&self.seconds);
        // The best speed is the one that the shortest time would have.
        let inverse: Vec<f64> = self.speeds.iter().map(|speed| 1.0 / speed).collect();
        let (fast, usual) = best_and_median(&inverse);
        report::BesideResult {
            command: self.command,
            best_s: best,
            median_s: median,
            best_mpts: (1.0 / fast).is_finite().then_some(1.0 / fast),
            median_mpts: (1.0 / usual).is_finite().then_some(1.0 / usual),
        }
    }
}

/// The last number after `mpts_per_s` and `=` or `:`, as in a line of text or a JSON object.
pub(super) fn speed(output: &str) -> Option<f64> {
    let number = |rest: &str| {
        let rest = rest.trim_start_matches(['"', '\'']).trim_start();
        let rest = rest.strip_prefix(['=', ':'])?.trim_start();
        let end =
            rest.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(rest.len());
        rest[..end].parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0)
    };
    output.split("mpts_per_s").skip(1).filter_map(number).last()
}
