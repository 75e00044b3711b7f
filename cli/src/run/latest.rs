//! `--restart latest`: the newest whole state of a folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use stencil_compiler::diag::Code;
use stencil_runtime::io::{Npz, NpzError, read_text};

use super::Ended;
use super::folder::{FINAL, INTERRUPTED, LAST_GOOD, PROBLEM, checkpoints};
use crate::USAGE;

/// The word in place of a file.
pub(super) const LATEST: &str = "latest";

/// The first words of a settings file, before the name of its run.
const RUN: &str = "# run ";

/// The newest state of a folder.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Latest {
    /// The newest whole one, if there is one.
    pub(super) state: Option<PathBuf>,
    /// A line about each newer one, which is damaged.
    pub(super) skipped: Vec<String>,
}

/// Finds the newest state of a folder.
///
/// # Errors
/// If a file or the folder cannot be read, or all states are damaged.
pub(super) fn find(folder: &Path) -> Result<Latest, Ended> {
    let mut latest = Latest::default();
    if !folder.is_dir() {
        return Ok(latest);
    }
    let mut newest: Option<(u64, PathBuf)> = None;
    for name in [FINAL, INTERRUPTED, LAST_GOOD] {
        let path = folder.join(name);
        if !path.is_file() {
            continue;
        }
        match step_of(&path)? {
            Ok(step) if newest.as_ref().is_none_or(|(known, _)| *known < step) => {
                newest = Some((step, path));
            }
            Ok(_) => {}
            Err(line) => latest.skipped.push(line),
        }
    }
    let mut states = checkpoints(folder)?;
    states.sort_unstable();
    for (step, path) in states.into_iter().rev() {
        if newest.as_ref().is_some_and(|(known, _)| *known >= step) {
            break;
        }
        match step_of(&path)? {
            Ok(_) => {
                newest = Some((step, path));
                break;
            }
            Err(line) => latest.skipped.push(line),
        }
    }
    latest.state = newest.map(|(_, path)| path);
    if latest.state.is_none() && !latest.skipped.is_empty() {
        return Err(none_is_whole(folder, &latest.skipped));
    }
    Ok(latest)
}

/// Reads the step of a state, and all its bytes for their checksum; else the reason why it is passed over.
fn step_of(path: &Path) -> Result<Result<u64, String>, Ended> {
    let passed = |why: &str| Ok(Err(format!("{why}; it is passed over")));
    let read = || -> Result<(bool, u64), NpzError> {
        let mut file = Npz::open(path)?;
        // A component may be called `step`; then the other entry is `step_`.
        let step = file.u64("step").or_else(|_| file.u64("step_"))?;
        Ok((file.is_sealed(), step))
    };
    match read() {
        Ok((true, step)) => Ok(Ok(step)),
        Ok((false, _)) => passed(&format!("`{}` is damaged: its end is lost", path.display())),
        Err(NpzError::Io { source, .. })
            if !matches!(source.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) =>
        {
            Err(Ended::unread(path, &source))
        }
        Err(error) => passed(&error.to_string()),
    }
}

fn none_is_whole(folder: &Path, skipped: &[String]) -> Ended {
    let message = format!(
        "no state in `{}` is whole\n  {}\n  help: leave --restart out and add --overwrite to begin anew, or name another folder with --out",
        folder.display(),
        skipped.join("\n  ")
    );
    Ended::coded(USAGE, Code::Damaged, &message)
}

/// Returns the line of a settings file that names its run.
pub(super) fn run_line(run: Option<&str>) -> String {
    run.map_or_else(String::new, |run| format!("{RUN}{run}\n"))
}

/// Does a folder hold files of the run of this name?
pub(super) fn holds(folder: &Path, run: &str) -> bool {
    let text = read_text(&folder.join(PROBLEM)).unwrap_or_default();
    text.lines().next().and_then(|line| line.strip_prefix(RUN)) == Some(run)
}
