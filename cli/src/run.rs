//! `stencil run`: a problem from its initial values to files and pictures.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use physics::problems;
use stencil_compiler::diag::Code;
use stencil_compiler::expr::real;
use stencil_report::Failure;
use stencil_report::run::{Summary, restored, start};
use stencil_report::{ByPlan, Render};
use stencil_runtime::io::way_out;
use stencil_runtime::problem::{Problem, ProblemError};
use stencil_runtime::report::Progress;
use stencil_runtime::transport::{Carrier, Ranks};
use stencil_runtime::{Error, Number, Restored, Schedule, Simulation};

use crate::source::settled;
use crate::source::{self, Backend, Precision};
use crate::{BUG, INTERRUPTED, NUMERICAL, OUTPUT, USAGE, output};

mod changes;
mod drive;
mod files;
mod folder;
mod ranks;
mod signals;
pub(crate) mod target;
mod timed;

use drive::{Done, Drive, End};
use files::Files;
use folder::{Folder, IfUsed, State};
use signals::Stop;
pub(crate) use signals::outlive_limits;

/// Arguments of `stencil run`; the problem has the defaults.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunArgs {
    /// The problem: a name from `stencil list`, or a problem file
    #[arg(value_name = "NAME|FILE.toml", default_value = problems::ALL[0].name)]
    problem: String,
    /// A setting in place of the file's, such as mesh.cells=64,64, params.nu=1e-3 or, for the first
    /// `[[plot]]`, plot.1.value=rho; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Number of dimensions of a system `in nd`
    #[arg(long, value_name = "N", value_parser = source::dimension())]
    dimension: Option<usize>,
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
    /// A parameter of the system; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Precision of the values
    #[arg(long, value_enum)]
    precision: Option<Precision>,
    /// Folder for pictures and data
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the run that the folder holds
    #[arg(long, conflicts_with = "number")]
    overwrite: bool,
    /// Take the next free folder, such as DIR-2, if DIR holds a run; the default if no folder is named
    #[arg(long)]
    number: bool,
    /// Continue from the state in a file such as final.npz
    #[arg(long, value_name = "FILE.npz")]
    restart: Option<PathBuf>,
    /// Number of threads; one for each core if not given, and fewer for a mesh of a few thousand cells
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// The engine that computes the steps; the results are the same
    #[arg(long, value_enum, default_value = "cpu")]
    backend: Backend,
    /// The schedule: a preset or a file; the results are the same. Without it a run on a card begins by the preset gpu, and
    /// goes on by the schedule that the performance model picks meanwhile. The next run begins by that
    #[arg(long, value_name = "PRESET|FILE")]
    schedule: Option<String>,
    /// Time schedules on the card for so many seconds before the run begins, and take the fastest. Later runs of the same
    /// problem on the same mesh begin by it, too
    #[arg(long, value_name = "SECONDS", conflicts_with = "schedule")]
    tune: Option<u64>,
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
        let keys = self.set.iter().filter_map(|set| set.split_once('='));
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
            Error::Output(_) => OUTPUT,
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
    let ranks = ranks::begin()?;
    match run_on(&ranks, args, out) {
        Err(ended) if ranks.count() > 1 => ranks::end(&ranks, &ended),
        result => result,
    }
}

fn run_on(ranks: &Ranks, args: &RunArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let own = ranks::arguments(ranks, args)?;
    let mut problem = target::open(&own.problem, &changes::of(&own))?;
    let (wanted, cells) = (own.schedule.as_deref(), problem.mesh.cells);
    let (system, chosen) = settled(&problem.system, wanted, problem.precision, cells)?;
    problem.system = system;
    ranks::agree(ranks, "version or problem", || {
        let (version, algorithm) = (env!("STENCIL_VERSION"), problem.system.algorithm());
        format!("{version} {args:?} {} {algorithm:?}", problem.to_toml(None))
    })?;
    let on = (ranks, chosen.as_ref());
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
        Some(_) if matches!(args.backend, Backend::Cpu | Backend::Rows) => {
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
    (ranks, chosen): (&Ranks, Option<&ByPlan>),
    out: &mut dyn Write,
) -> Result<(), Ended> {
    let timed = timed::<T>(args, problem, out)?;
    let mut simulation = set_up::<T>(args, problem, (ranks, timed))?;
    ranks::agree(ranks, "plan", || format!("{:?}", simulation.plan()))?;
    let old = match &args.restart {
        Some(path) => Some((path, restore(problem, &mut simulation, path)?)),
        None => None,
    };
    let mut problem = problem.clone();
    let first = simulation.step_count();
    problem.time.steps = args.last_step(first).or(problem.time.steps);
    say(args, out, &start((&problem, chosen), &simulation))?;
    let state = match &old {
        Some((path, old)) => {
            // The words are those of a file.
            say(args, out, &output::visible(&restored(path, old)))?;
            let step = old.step;
            old.changed.is_empty().then_some(State { path, step })
        }
        None => {
            problem.initialize(&mut simulation)?;
            None
        }
    };
    // The first rank clears the folder once all have read the state.
    ranks.any(false);
    let take = || Folder::take(&problem, args.if_used(), state);
    let folder = ranks.is_first().then(take).transpose()?;
    if let Some(folder) = &folder
        && folder.path() != problem.output.dir
    {
        let (wanted, taken) = (problem.output.dir.display(), folder.path().display());
        let note = format!("`{wanted}` holds another run; this one goes to `{taken}`\n\n");
        say(args, out, &note)?;
        problem.output.dir = folder.path().to_path_buf();
    }
    let problem = &problem;
    let files = Files::create(problem, folder)?;
    let points: usize = simulation.cells().iter().product();
    let left = drive::steps_left(problem, &simulation);
    let total = left.saturating_add(simulation.step_count());
    let progress =
        Progress::new(total, points as u64, args.quiet).starting_at(simulation.step_count());
    let stop = Stop::on_signals();
    let is_new = args.restart.is_none();
    let mut drive = Drive::start(problem, simulation, files, progress, is_new)?;
    let begun = Instant::now();
    let end = drive.run(&stop);
    let seconds = begun.elapsed().as_secs_f64();
    let end = match end {
        Ok(end) => end,
        Err(error) => return Err(drive.fail(error)),
    };
    let mut done = drive.finish(end)?;
    if end == End::Interrupted {
        return Err(interrupted(args, problem, &done));
    }
    sum_up(args, (problem, chosen), &mut done, (first, seconds), out)
}

/// Draws the pictures of a run that is over, and prints its summary.
fn sum_up<T: Number>(
    args: &RunArgs,
    (problem, chosen): (&Problem, Option<&ByPlan>),
    done: &mut Done<T>,
    (first, seconds): (u64, f64),
    out: &mut dyn Write,
) -> Result<(), Ended> {
    let errors = problem.errors(&done.simulation)?;
    done.files.pictures(problem, &mut done.simulation)?;
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
        seconds,
        steps: done.simulation.step_count() - first,
        repaired: repairs.map(|repairs| repairs.sum()),
    };
    if args.json {
        let line = format!("{}\n", summary.json());
        return Ok(output::write(out, line.as_bytes())?);
    }
    say(args, out, &summary.text())
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

fn interrupted<T: Number>(args: &RunArgs, problem: &Problem, done: &Done<T>) -> Ended {
    let state = done.files.state();
    let left = problem.time.steps.filter(|_| args.last_step(0).is_some());
    let left = left.map(|last| last.saturating_sub(done.simulation.step_count()));
    let steps = left.map_or(String::new(), |left| format!(" and --steps {left}"));
    Ended {
        code: INTERRUPTED,
        message: format!(
            "interrupted after step {}, t = {}; the state is in {}\n  help: the same command with --restart {}{steps} goes on{}",
            done.simulation.step_count(),
            done.simulation.t(),
            state.display(),
            state.display(),
            match &args.restart {
                Some(_) => " (in place of the earlier --restart)",
                None => "",
            }
        ),
    }
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
    if let Some(threads) = args.threads {
        builder = builder.threads(threads);
    }
    if let Some(wanted) = &args.schedule {
        let (algorithm, cells) = (problem.system.algorithm(), problem.mesh.cells);
        let schedule = source::schedule(wanted, algorithm, T::PRECISION, Some(cells))?;
        builder = builder.schedule(schedule);
    }
    Ok(builder.engine(args.backend.engine()).build()?)
}
