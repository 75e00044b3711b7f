//! Kills runs at random moments, and compares the files of those that go on with the files of one that nothing has killed.

use std::process::Command;

use crate::nvrtc;
use crate::workspace::{Workspace, cargo};

/// The test, which the usual suite runs with a few kills.
const TEST: &str = "survive::runs_that_are_killed_at_any_moment_have_the_bits_of_whole_ones";

/// Runs the test with so many kills, by an engine.
pub(crate) fn run(workspace: &Workspace, kills: &str, backend: &str) -> Result<(), String> {
    if !kills.parse::<u32>().is_ok_and(|kills| kills > 0) {
        return Err(format!("`{kills}` is no number of kills: cargo xtask survive 200"));
    }
    let nvrtc = nvrtc::fetch(workspace)?;
    let mut command = Command::new(cargo());
    command.current_dir(&workspace.root).args(["test", "-p", "stencil-cli", "--test", "problems"]);
    command.args(["--", "--exact", TEST, "--nocapture"]);
    command.envs([("STENCIL_KILLS", kills), ("STENCIL_KILLS_BY", backend)]);
    let status = command.env("STENCIL_NVRTC_DIR", nvrtc).env("INSTA_UPDATE", "no").status();
    match status.map_err(|error| format!("cargo: {error}"))?.success() {
        true => Ok(()),
        false => Err("a run that was killed differs from one that was not".to_string()),
    }
}
