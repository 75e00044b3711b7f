//! A run that another command makes: its arguments, its problem, and all that its results depend on.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use stencil_compiler::diag::Code;
use stencil_runtime::problem::{Change, Problem};
use stencil_runtime::transport::{Ranks, started_rank};

use super::common::Common;
use super::folder::INTERRUPTED;
use super::{Ended, RunArgs, changes, run_on, target};
use crate::USAGE;
use stencil_report::schedules::settled;

/// Arguments that are those of each run.
#[derive(Args, Clone, Debug)]
pub(crate) struct Shared {
    /// The problem: a name from `stencil list`, or a problem file
    #[arg(value_name = "NAME|FILE.toml")]
    problem: String,
    #[command(flatten)]
    common: Common,
}

impl Shared {
    /// Returns the settings that all runs have in place of the file's.
    pub(crate) fn changes(&self) -> Vec<Change> {
        changes::of(&self.arguments(Vec::new(), None, None))
    }

    /// Returns the arguments of a run with more settings, in a folder of its own; it prints one JSON object.
    pub(crate) fn arguments(
        &self,
        over: Vec<Change>,
        folder: Option<&Path>,
        threads: Option<usize>,
    ) -> RunArgs {
        RunArgs {
            problem: self.problem.clone(),
            common: Common { threads: self.common.threads.or(threads), ..self.common.clone() },
            over,
            out: folder.map(Path::to_path_buf),
            json: true,
            ..RunArgs::default()
        }
    }
}

impl RunArgs {
    /// Does the run again in its folder: from a state that a signal left there, if there is one, else from the start.
    pub(crate) fn again(&mut self, goes_on: bool) {
        self.overwrite = true;
        let state = self.out.as_ref().map(|folder| folder.join(INTERRUPTED));
        self.states.restart = state.filter(|state| goes_on && state.is_file());
    }

    /// Shows no progress.
    pub(crate) fn hush(&mut self) {
        self.quiet = true;
    }

    /// Reads the problem, with the formulation that a plan file chooses.
    pub(crate) fn read(&self) -> Result<Problem, Ended> {
        let mut problem = target::open(&self.problem, &changes::of(self))?;
        let (wanted, cells) = (self.common.schedule.as_deref(), problem.mesh.cells);
        problem.system = settled(&problem.system, wanted, problem.precision, cells)?.0;
        Ok(problem)
    }
}

/// Runs in this process alone; the JSON object goes to `out`.
pub(crate) fn alone(args: &RunArgs, out: &mut dyn Write) -> Result<(), Ended> {
    run_on((&Ranks::alone(), Instant::now()), args, out)
}

/// Refuses ranks: each of them would do all runs.
pub(crate) fn refuse_ranks() -> Result<(), Ended> {
    match started_rank() {
        None => Ok(()),
        Some(_) => {
            let message = "error: a sweep is one process, and mpirun has started ranks\n  \
                           help: start it without mpirun; --jobs does several runs at once";
            Err(Ended { code: USAGE, message: message.to_string() })
        }
    }
}

/// Returns all that the results of a problem depend on, as text: the settings without the folder, the program's version, and
/// checksums of the algorithm and of a file of initial values.
pub(crate) fn identity(problem: &Problem) -> Result<String, Ended> {
    let mut own = problem.clone();
    own.output.dir = PathBuf::from(".");
    let initial = problem.initial_file().map(|path| path.display().to_string());
    let algorithm = crc32fast::hash(format!("{:?}", problem.system.algorithm()).as_bytes());
    let mut text = own.to_toml(initial.as_deref());
    text += &format!("# stencil {}; algorithm {algorithm:08x}", env!("CARGO_PKG_VERSION"));
    if let Some(path) = problem.initial_file() {
        text += &format!("; initial values {:08x}", checksum(path)?);
    }
    Ok(text + "\n")
}

fn checksum(path: &Path) -> Result<u32, Ended> {
    let unread = |error: std::io::Error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Ended::coded(USAGE, Code::CannotRead, &message)
    };
    let mut file = BufReader::new(File::open(path).map_err(unread)?);
    let mut hasher = crc32fast::Hasher::new();
    loop {
        let bytes = file.fill_buf().map_err(unread)?;
        if bytes.is_empty() {
            return Ok(hasher.finalize());
        }
        hasher.update(bytes);
        let count = bytes.len();
        file.consume(count);
    }
}
