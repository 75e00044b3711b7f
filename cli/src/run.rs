//! `stencil run`: a problem from its initial values to files and pictures.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use physics::problems;
use stencil_compiler::diag::Code;
use stencil_compiler::expr::real;
use stencil_report::Failure;
use stencil_report::run::{Summary, restored, start};
use stencil_report::{ByPlan, Render};
use stencil_runtime::io::way_out;
use stencil_runtime::problem::{Change, Problem, ProblemError};
use stencil_runtime::report::Progress;
use stencil_runtime::transport::{Carrier, Ranks};
use stencil_runtime::{Error, Number, Schedule, Simulation};

use crate::source::settled;
use crate::source::{self, Backend};
use crate::{BUG, NUMERICAL, OUTPUT, USAGE, output};

mod alone;
mod changes;
mod checkpoints;
mod common;
mod drive;
mod files;
mod folder;
mod frames;
mod laps;
mod latest;
mod ranks;
mod signals;
mod states;
pub(crate) mod target;
mod timed;
mod watch;

pub(crate) use alone::{Shared, alone, identity, refuse_ranks};
use common::Common;
use drive::{Done, Drive, End};
use files::Files;
use folder::IfUsed;
use laps::Laps;
use signals::Stop;
pub(crate) use signals::{Signals, leaves_state, outlive_limits};
use states::{Old, StateArgs};
use watch::{WatchArgs, Watched};

/// Arguments of `stencil run`; the problem has the defaults.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunArgs {
    /// The problem: a name from `stencil list`, or a problem file
    #[arg(value_name = "NAME|FILE.toml", default_value = problems::ALL[0].name)]
    problem: String,
    #[command(flatten)]
    common: Common,
    /// Settings that another command makes for this run.
    #[arg(skip)]
    over: Vec<Change>,
    /// Cells along x, y, z; one number is for all axes
    #[arg(long, value_name = "NX,NY,NZ")]
    cells: Option<String>,
    /// Patches along x, y, z that the mesh is cut into; the results are the same
    #[arg(long, value_name = "P,Q,R")]
    patches: Option<String>,
    /// Devices that share the patches, by default a box of the mesh each; on the processor they are simulated. A number,
    /// cards such as 0,1, or all cards; the results are the same
    #[arg(long, value_name = "all|N|CARD,..")]
    devices: Option<String>,
    /// Keep the mesh in the memory of the host, and let it pass through the device slab by slab, so that it may be larger than
    /// the memory of a card: off, auto if a card has no room for it, or the number of steps that a slab does each time; the
    /// results are the same
    #[arg(long, value_name = "off|auto|STEPS")]
    stream: Option<String>,
    /// Bytes of the memory of a card that the run may take, such as 8GiB or 20GB; all that are free if not given
    #[arg(long, value_name = "BYTES", value_parser = source::bytes)]
    card_memory: Option<usize>,
    /// The library that carries values between the cards of ranks: nccl; mpi, which is to reach the memory of cards; or staged,
    /// MPI through the memory of the host. Without it, the first of them that all ranks have; the results are the same
    #[arg(long, value_name = "nccl|mpi|staged")]
    transport: Option<Carrier>,
    /// Number of time steps from the start of this run, whatever its time
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Time step: a number, cfl(NUMBER) or auto
    #[arg(long, value_name = "TIME")]
    dt: Option<String>,
    /// Allow steps that are longer than is stable
    #[arg(long)]
    unchecked_step: bool,
    /// Folder for pictures and data
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the run that the folder holds
    #[arg(long, conflicts_with = "number")]
    overwrite: bool,
    /// Take the next free folder, such as DIR-2, if DIR holds a run; the default if no folder is named
    #[arg(long, alias = "numbered")]
    number: bool,
    #[command(flatten)]
    states: StateArgs,
    /// Time schedules on the card for so many seconds before the run begins, and take the fastest. Later runs of the same
    /// problem on the same mesh begin by it, too
    #[arg(long, value_name = "SECONDS", conflicts_with = "schedule")]
    tune: Option<u64>,
    #[command(flatten)]
    watch: WatchArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl RunArgs {
    /// The first problem, as it comes.
    pub(crate) fn first() -> Self {
        RunArgs { problem: problems::ALL[0].name.to_string(), ..RunArgs::default() }
    }

    /// Decides about a folder that holds a run. A folder that the command names is taken as meant.
    fn if_used(&self) -> IfUsed {
        let is_named = self.out.is_some() || self.sets("output.dir");
        match (self.overwrite, self.number || !is_named) {
            (true, _) => IfUsed::Overwrite,
            (false, true) => IfUsed::Number,
            (false, false) => IfUsed::Refuse,
        }
    }

    /// Does an option `--set` give this setting?
    fn sets(&self, key: &str) -> bool {
        let keys = self.common.set.iter().filter_map(|set| set.split_once('='));
        keys.map(|(key, _)| key.trim()).any(|found| found == key)
    }

    /// The step at which `--steps` ends a run that starts at this one.
    fn last_step(&self, first: u64) -> Option<u64> {
        let steps = self.steps.filter(|_| !self.sets("time.steps"))?;
        Some(first.saturating_add(steps))
    }
}

/// The reason why the command ends, and its exit code.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: u8,
    pub(crate) message: String,
}

impl Ended {
    /// `error[CODE]: message`
    pub(crate) fn coded(exit: u8, code: Code, message: &str) -> Self {
        Ended { code: exit, message: format!("error[{code}]: {message}") }
    }

    /// A file cannot be read.
    pub(crate) fn unread(path: &Path, error: &io::Error) -> Self {
        let (shown, out) = (path.display(), way_out(error));
        let message = format!("cannot read `{shown}`: {error}{out}");
        Ended::coded(USAGE, Code::CannotRead, &message)
    }

    /// A file or folder cannot be written.
    pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Self {
        let (shown, out) = (path.display(), way_out(error));
        let message = format!("cannot write `{shown}`: {error}{out}");
        Ended::coded(OUTPUT, Code::CannotWrite, &message)
    }
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::NotFinite { .. }
            | Error::NoTimeStep { .. }
            | Error::StepRejected { .. }
            | Error::Speed(_) => NUMERICAL,
            Error::Output(_) | Error::Frame(_) => OUTPUT,
            Error::Bug(_) => BUG,
            _ => USAGE,
        };
        match error.code() {
            Some(known) => Ended::coded(code, known, &error.to_string()),
            None => {
                let text = error.to_string();
                // Errors of a declaration come with their label, code and place.
                let message = match error {
                    Error::Declaration(_) => text,
                    _ => format!("error: {text}"),
                };
                Ended { code, message }
            }
        }
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Run(error) => error.into(),
            Failure::Told(message) => {
                Ended { code: USAGE, message: message.trim_end().to_string() }
            }
        }
    }
}

impl From<ProblemError> for Ended {
    fn from(error: ProblemError) -> Self {
        Ended { code: USAGE, message: error.to_string() }
    }
}

/// Runs the command.
pub(crate) fn run(args: &RunArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let begun = Instant::now();
    let ranks = ranks::begin()?;
    match run_on((&ranks, begun), args, out) {
        Err(ended) if ranks.count() > 1 => ranks::end(&ranks, &ended),
        result => result,
    }
}

fn run_on(
    (ranks, begun): (&Ranks, Instant),
    args: &RunArgs,
    out: &mut dyn Write,
) -> Result<(), Ended> {
    args.watch.check(ranks.count())?;
    let own = ranks::arguments(ranks, args)?;
    let mut problem = target::open(&own.problem, &changes::of(&own))?;
    let (wanted, cells) = (own.common.schedule.as_deref(), problem.mesh.cells);
    let (system, chosen) = settled(&problem.system, wanted, problem.precision, cells)?;
    problem.system = system;
    ranks::agree(ranks, "version or problem", || {
        let (version, algorithm) = (env!("STENCIL_VERSION"), problem.system.algorithm());
        format!("{version} {args:?} {} {algorithm:?}", problem.to_toml(None))
    })?;
    let on = (ranks, chosen.as_ref(), begun);
    match problem.precision {
        real::Precision::F32 => run_as::<f32>(&own, &problem, on, out),
        real::Precision::F64 => run_as::<f64>(&own, &problem, on, out),
    }
}

/// Prints a text, unless the run is quiet or prints JSON.
fn say(args: &RunArgs, out: &mut dyn Write, text: &str) -> Result<(), Ended> {
    if args.quiet || args.json { Ok(()) } else { Ok(output::write(out, text.as_bytes())?) }
}

/// Returns the schedule that is found by timing before the run, if that is asked for.
fn timed<T: Number>(
    args: &RunArgs,
    problem: &Problem,
    out: &mut dyn Write,
) -> Result<Option<Schedule>, Ended> {
    match args.tune {
        Some(_)
            if matches!(args.common.backend, Backend::Cpu | Backend::Compiled | Backend::Rows) =>
        {
            let message = "error: `--tune` times schedules on a card, and this run is on the processor\n  \
                 help: add --backend cuda, or leave --tune out";
            Err(Failure::new(message).into())
        }
        Some(seconds) => timed::schedule::<T>(problem, seconds, |text| say(args, out, text)),
        None => Ok(None),
    }
}

fn run_as<T: Number>(
    args: &RunArgs,
    problem: &Problem,
    (ranks, chosen, begun): (&Ranks, Option<&ByPlan>, Instant),
    out: &mut dyn Write,
) -> Result<(), Ended> {
    let mut laps = Laps::since(begun);
    let timed = timed::<T>(args, problem, out)?;
    let mut simulation = set_up::<T>(args, problem, (ranks, timed.clone()))?;
    ranks::agree(ranks, "plan", || format!("{:?}", simulation.plan()))?;
    let old = states::go_on(args, (problem, ranks), &mut simulation)?;
    let mut problem = problem.clone();
    let first = simulation.step_count();
    problem.time.steps = args.last_step(first).or(problem.time.steps);
    say(args, out, &start((&problem, chosen), &simulation))?;
    laps.end("preparation");
    match &old {
        // The words are those of a file.
        Some(old) => say(args, out, &output::visible(&restored(&old.path, &old.restored)))?,
        None => problem.initialize(&mut simulation)?,
    }
    let files = files(args, &mut problem, (&simulation, old.as_ref()), out)?;
    let problem = &problem;
    let points: usize = simulation.cells().iter().product();
    laps.end("initial values");
    let left = drive::steps_left(problem, &simulation);
    let total = left.saturating_add(simulation.step_count());
    let is_quiet = args.quiet || args.watch.takes_terminal();
    let progress =
        Progress::new(total, points as u64, is_quiet).starting_at(simulation.step_count());
    let watched = Watched::begin(args, (problem, &simulation), (ranks, timed))?;
    let viewer = watched.as_ref().map_or_else(Arc::default, Watched::stop);
    let stop = Stop::on_signals(begun, problem.time.wall, viewer);
    let mut drive = Drive::start(problem, simulation, files, progress, (old.is_none(), watched))?;
    let begun = Instant::now();
    let end = drive.run(&stop);
    let seconds = begun.elapsed().as_secs_f64();
    let end = match end {
        Ok(end) => end,
        Err(error) => return Err(drive.fail(error)),
    };
    let mut done = drive.finish(end)?;
    laps.end_of_steps(done.simulation.timings().steps);
    if let End::Early(reason) = end {
        return Err(states::ended_early(args, &done, reason));
    }
    sum_up(args, chosen, &mut done, (first, seconds, laps), out)
}

/// Takes the folder of a run, on the first rank, and writes the settings into it.
fn files<T: Number>(
    args: &RunArgs,
    problem: &mut Problem,
    (simulation, old): (&Simulation<T>, Option<&Old>),
    out: &mut dyn Write,
) -> Result<Files, Ended> {
    let ranks = simulation.ranks();
    // The first rank clears the folder once all have read the state.
    ranks.any(false);
    let wanted = problem.output.dir.clone();
    let run = simulation.run_id();
    let folder = match ranks.is_first() {
        true => Some(states::take(args, problem, run, old)?),
        false => None,
    };
    if let Some(folder) = &folder
        && folder.path() != wanted
    {
        let (wanted, taken) = (wanted.display(), folder.path().display());
        let note = format!("`{wanted}` holds another run; this one goes to `{taken}`\n\n");
        say(args, out, &note)?;
        problem.output.dir = folder.path().to_path_buf();
    }
    Files::create((problem, run), folder)
}

/// Finds the errors of a run that is over, and prints its summary.
fn sum_up<T: Number>(
    args: &RunArgs,
    chosen: Option<&ByPlan>,
    done: &mut Done<T>,
    (first, seconds, mut laps): (u64, f64, Laps),
    out: &mut dyn Write,
) -> Result<(), Ended> {
    let problem = &done.problem;
    // The exact solution is that of a run whose parameters stay.
    let errors = match done.changed.is_empty() {
        true => problem.errors(&done.simulation)?,
        false => BTreeMap::new(),
    };
    done.files.spectra(problem, &mut done.simulation)?;
    laps.end("errors and spectrum");
    let repairs = done.simulation.repairs()?;
    // Under `cargo run` the command is not on the path.
    let command = match std::env::var_os("CARGO") {
        Some(_) => "cargo run --release --",
        None => "stencil",
    };
    let summary = Summary {
        problem,
        called: &args.problem,
        command,
        chosen,
        simulation: &done.simulation,
        files: done.files.written(),
        first: &done.first,
        last: &done.last,
        errors: &errors,
        changed: &done.changed,
        seconds,
        phases: laps.list(),
        steps: done.simulation.step_count() - first,
        repaired: repairs.map(|repairs| repairs.sum()),
    };
    if args.json {
        let line = format!("{}\n", summary.json());
        return Ok(output::write(out, line.as_bytes())?);
    }
    say(args, out, &summary.text())
}

fn set_up<T: Number>(
    args: &RunArgs,
    problem: &Problem,
    (ranks, timed): (&Ranks, Option<Schedule>),
) -> Result<Simulation<T>, Ended> {
    let mut builder = problem.builder::<T>().ranks(ranks.clone());
    if let Some(timed) = timed {
        builder = builder.timed(timed);
    }
    if let Some(bytes) = args.card_memory {
        builder = builder.card_memory(bytes);
    }
    if let Some(carrier) = args.transport {
        builder = builder.carrier(carrier);
    }
    if let Some(threads) = args.common.threads {
        builder = builder.threads(threads);
    }
    if let Some(wanted) = &args.common.schedule {
        let (algorithm, cells) = (problem.system.algorithm(), problem.mesh.cells);
        let schedule = source::schedule(wanted, algorithm, T::PRECISION, Some(cells))?;
        builder = builder.schedule(schedule);
    }
    Ok(builder.engine(args.common.backend.engine()).build()?)
}
