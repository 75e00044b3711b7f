//! States on the command line: the one that a run goes on from, the ones that it writes, and the one that it leaves.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;
use stencil_runtime::problem::{Problem, branched};
use stencil_runtime::transport::Ranks;
use stencil_runtime::{Error, Number, Restored, Simulation};

use super::drive::Done;
use super::folder::{Folder, IfUsed, State};
use super::latest::{self, LATEST};
use super::signals::Reason;
use super::{Ended, RunArgs};
use crate::USAGE;

/// Options about states.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct StateArgs {
    /// Continue from the state in a file such as final.npz; or from the latest whole one in the folder of the run, which begins
    /// if there is none
    #[arg(long, value_name = "latest|FILE.npz")]
    pub(super) restart: Option<PathBuf>,
    /// Write a state every so many steps
    #[arg(long, value_name = "N")]
    checkpoint_steps: Option<u64>,
    /// Write a state after the step that reaches a multiple of this time
    #[arg(long, value_name = "TIME")]
    checkpoint_time: Option<String>,
    /// Write a state every so many minutes on the wall
    #[arg(long, value_name = "MINUTES")]
    checkpoint_minutes: Option<String>,
    /// The number of these states that stay, the last ones
    #[arg(long, value_name = "N")]
    checkpoint_keep: Option<u64>,
    /// Write the state and end after this time on the wall, such as 3h55m, with exit code 124
    #[arg(long, value_name = "TIME")]
    pub(super) wall: Option<String>,
}

impl StateArgs {
    /// Gives the settings of these options, as an option, a key and a value each.
    pub(super) fn changes(&self, option: &mut impl FnMut(&str, &str, &str)) {
        let words = [
            ("steps", "every_steps", self.checkpoint_steps.map(|steps| steps.to_string())),
            ("time", "every_time", self.checkpoint_time.clone()),
            ("minutes", "every_minutes", self.checkpoint_minutes.clone()),
            ("keep", "keep", self.checkpoint_keep.map(|keep| keep.to_string())),
        ];
        for (word, key, value) in words {
            if let Some(value) = value {
                option(&format!("--checkpoint-{word}"), &format!("checkpoint.{key}"), &value);
            }
        }
    }

    /// Does the run go on from the latest state, if there is one?
    fn wants_latest(&self) -> bool {
        self.restart.as_deref() == Some(Path::new(LATEST))
    }
}

/// The state that a run goes on from.
#[derive(Debug)]
pub(super) struct Old {
    pub(super) path: PathBuf,
    pub(super) restored: Restored,
}

impl Old {
    /// Returns the state as that of a run that goes on unchanged, if it is one.
    pub(super) fn unchanged(&self) -> Option<State<'_>> {
        let (path, step) = (self.path.as_path(), self.restored.step);
        self.restored.changed.is_empty().then_some(State { path, step })
    }
}

/// Restores the state that the command names, and gives the run its name.
pub(super) fn go_on<T: Number>(
    args: &RunArgs,
    (problem, ranks): (&Problem, &Ranks),
    simulation: &mut Simulation<T>,
) -> Result<Option<Old>, Ended> {
    let path = match &args.states.restart {
        Some(_) if args.states.wants_latest() => of_first(ranks, || newest(args, problem))?,
        given => given.clone(),
    };
    let Some(path) = path else {
        return Ok(None);
    };
    let restored = restore(problem, simulation, &path)?;
    if !restored.changed.is_empty() {
        let own = problem.run_id()?;
        simulation.set_run_id(branched(&own, simulation.run_id(), restored.step));
    } else if simulation.run_id().is_none() {
        simulation.set_run_id(problem.run_id()?);
    }
    Ok(Some(Old { path, restored }))
}

/// Takes the folder of a run: that of the state that it goes on from, or its own. A run that begins because there is no
/// state yet takes the folder of its name again, which holds what was killed before its first state.
pub(super) fn take(
    args: &RunArgs,
    problem: &mut Problem,
    run: Option<&str>,
    old: Option<&Old>,
) -> Result<Folder, Ended> {
    let mut if_used = args.if_used();
    if old.is_none() && args.states.wants_latest() {
        let last = Folder::last_of(problem, if_used);
        if run.is_some_and(|run| latest::holds(&last, run)) {
            problem.output.dir = last;
            if_used = IfUsed::Overwrite;
        }
    }
    Folder::take(problem, if_used, old.and_then(Old::unchanged))
}

/// Finds the newest whole state, and says which files are passed over.
fn newest(args: &RunArgs, problem: &Problem) -> Result<Option<PathBuf>, Ended> {
    let latest = latest::find(&Folder::last_of(problem, args.if_used()))?;
    for line in latest.skipped {
        // Whoever has left misses nothing.
        let _ = writeln!(io::stderr(), "warning: {}", crate::output::visible(&line));
    }
    Ok(latest.state)
}

/// Returns what the first rank finds, on all ranks: others may see a folder later.
fn of_first(
    ranks: &Ranks,
    find: impl FnOnce() -> Result<Option<PathBuf>, Ended>,
) -> Result<Option<PathBuf>, Ended> {
    let own = if ranks.is_first() { find()? } else { None };
    let own = own.unwrap_or_default();
    let bytes = ranks.bytes_of_first(own.as_os_str().as_bytes());
    Ok(Some(PathBuf::from(OsStr::from_bytes(&bytes))).filter(|path| !path.as_os_str().is_empty()))
}

/// Restores a state. Changes are named in the words of the problem file, if the state has them.
fn restore<T: Number>(
    problem: &Problem,
    simulation: &mut Simulation<T>,
    path: &Path,
) -> Result<Restored, Ended> {
    let usage = |error: Error| Ended { code: USAGE, ..Ended::from(error) };
    let mut restored = simulation.restore(path).map_err(usage)?;
    if let Some(changed) = problem.changed_since(simulation, path).map_err(usage)? {
        restored.changed = changed;
    }
    Ok(restored)
}

/// The message of a run that ends before its end, and has left its state.
pub(super) fn ended_early<T: Number>(args: &RunArgs, done: &Done<T>, reason: Reason) -> Ended {
    let state = done.files.state().display();
    let left = done.problem.time.steps.filter(|_| args.last_step(0).is_some());
    let left = left.map(|last| last.saturating_sub(done.simulation.step_count()));
    let mut steps = left.map_or(String::new(), |left| format!(" and --steps {left}"));
    for change in &done.changed {
        steps.push_str(&format!(" and --param {}={:?}", change.param, change.to));
    }
    let way_out = match &args.states.restart {
        Some(_) if args.states.wants_latest() && steps.is_empty() => {
            "the same command goes on".to_string()
        }
        Some(_) => format!(
            "the same command with --restart {state}{steps} goes on (in place of the earlier --restart)"
        ),
        None => format!("the same command with --restart {state}{steps} goes on"),
    };
    Ended {
        code: reason.code(),
        message: format!(
            "{} after step {}, t = {}; the state is in {state}\n  help: {way_out}",
            reason.words(),
            done.simulation.step_count(),
            done.simulation.t(),
        ),
    }
}
