//! `stencil run`: a problem from its initial values to files and pictures.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use physics::problems;
use stencil_compiler::expr::real;
use stencil_runtime::problem::{Problem, ProblemError};
use stencil_runtime::report::Progress;
use stencil_runtime::{Error, Number, Simulation};

use crate::source::plans::{ByPlan, settled};
use crate::source::{self, Backend, Failure, Precision};
use crate::{BUG, INTERRUPTED, NUMERICAL, OUTPUT, USAGE};

mod changes;
mod drive;
mod files;
mod picture;
mod plan;
mod signals;
mod summary;
pub(crate) mod target;

use drive::{Drive, End};
use files::Files;
use signals::Stop;

/// How a run goes; whatever is not given is the problem's choice.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArgs {
    /// Which problem: a name from `stencil list`, or a problem file
    #[arg(value_name = "NAME|FILE.toml", default_value = problems::ALL[0].name)]
    problem: String,
    /// A setting in place of the file's, such as mesh.cells=64,64, params.nu=1e-3 or, for the first
    /// `[[plot]]`, plot.1.value=rho; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Cells along x, y, z; one number is for all axes
    #[arg(long, value_name = "NX,NY,NZ")]
    cells: Option<String>,
    /// Patches along x, y, z that a card cuts the mesh into; the results are the same
    #[arg(long, value_name = "P,Q,R")]
    patches: Option<String>,
    /// Number of time steps, whatever time that is
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Time step: a number or cfl(NUMBER)
    #[arg(long, value_name = "TIME")]
    dt: Option<String>,
    /// A parameter of the system; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Precision of the values
    #[arg(long, value_enum)]
    precision: Option<Precision>,
    /// Folder for pictures and data
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on from the state in a file such as final.npz
    #[arg(long, value_name = "FILE.npz")]
    restart: Option<PathBuf>,
    /// Number of threads; one for each core if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// What computes the steps; the results are the same
    #[arg(long, value_enum, default_value = "cpu")]
    backend: Backend,
    /// Where intermediate results live: a preset or a file; the results are the same
    #[arg(long, value_name = "PRESET|FILE")]
    schedule: Option<String>,
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
        RunArgs {
            problem: problems::ALL[0].name.to_string(),
            set: Vec::new(),
            cells: None,
            patches: None,
            steps: None,
            dt: None,
            params: Vec::new(),
            precision: None,
            out: None,
            restart: None,
            threads: None,
            backend: Backend::Cpu,
            schedule: None,
            json: false,
            quiet: false,
        }
    }
}

/// Why the command ends, and with which code.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: u8,
    pub(crate) message: String,
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::NotFinite { .. }
            | Error::NoTimeStep { .. }
            | Error::Retaken { .. }
            | Error::Speed { .. } => NUMERICAL,
            Error::Output(_) => OUTPUT,
            Error::Bug(_) => BUG,
            _ => USAGE,
        };
        Ended {
            code,
            message: format!("error: {error}"),
        }
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Ended {
            code: USAGE,
            message: failure.to_string(),
        }
    }
}

impl From<ProblemError> for Ended {
    fn from(error: ProblemError) -> Self {
        Ended {
            code: USAGE,
            message: error.to_string(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &RunArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let mut problem = target::open(&args.problem, &changes::of(args))?;
    let (wanted, cells) = (args.schedule.as_deref(), problem.mesh.cells);
    let (system, chosen) = settled(&problem.system, wanted, problem.precision, cells)?;
    problem.system = system;
    match problem.precision {
        real::Precision::F32 => run_as::<f32>(args, (&problem, chosen.as_ref()), out),
        real::Precision::F64 => run_as::<f64>(args, (&problem, chosen.as_ref()), out),
    }
}

/// Says something to someone who may have left.
fn say(args: &RunArgs, out: &mut dyn Write, text: &str) -> Result<(), Ended> {
    if args.quiet || args.json {
        Ok(())
    } else {
        Ok(source::write(out, text.as_bytes())?)
    }
}

fn run_as<T: Number>(
    args: &RunArgs,
    (problem, chosen): (&Problem, Option<&ByPlan>),
    out: &mut dyn Write,
) -> Result<(), Ended> {
    let mut simulation = set_up::<T>(args, problem)?;
    say(args, out, &plan::report((problem, chosen), &simulation))?;
    let restored = match &args.restart {
        Some(path) => {
            let mut restored = simulation.restore(path).map_err(|error| Ended {
                code: USAGE,
                message: format!("error: {error}"),
            })?;
            // In the words of the problem file, if the state has them.
            if let Some(changed) = problem.changed_since(&simulation, path)? {
                restored.changed = changed;
            }
            say(args, out, &plan::restored(path, &restored))?;
            true
        }
        None => {
            problem.initialize(&mut simulation)?;
            false
        }
    };
    let files = Files::create(problem)?;
    let points: usize = simulation.cells().iter().product();
    let total = drive::steps_left(problem, &simulation) + simulation.step_count();
    let progress =
        Progress::new(total, points as u64, args.quiet).starting_at(simulation.step_count());
    let stop = Stop::on_signals();
    let first = simulation.step_count();
    let mut drive = Drive::start(problem, simulation, files, progress, restored)?;
    let start = Instant::now();
    let end = drive.run(&stop);
    let seconds = start.elapsed().as_secs_f64();
    let end = match end {
        Ok(end) => end,
        Err(error) => return Err(drive.fail(error)),
    };
    let mut done = drive.finish(end)?;
    if end == End::Interrupted {
        return Err(interrupted(args, &done));
    }
    let errors = problem.errors(&done.simulation)?;
    done.files.pictures(problem, &mut done.simulation)?;
    let repairs = done.simulation.repairs()?;
    let facts = summary::Facts {
        repaired: repairs.map(|repairs| repairs.sum()),
        problem,
        chosen,
        done: &done,
        errors: &errors,
        seconds,
        steps: done.simulation.step_count() - first,
        points,
    };
    if args.json {
        return Ok(source::write(out, facts.json().as_bytes())?);
    }
    say(args, out, &facts.text(&args.problem))
}

fn interrupted<T: Number>(args: &RunArgs, done: &drive::Done<T>) -> Ended {
    let state = done.files.state();
    Ended {
        code: INTERRUPTED,
        message: format!(
            "interrupted after step {}, t = {}; the state is in {}\n  help: the same command with --restart {} goes on{}",
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

fn set_up<T: Number>(args: &RunArgs, problem: &Problem) -> Result<Simulation<T>, Ended> {
    let mut builder = problem.builder::<T>();
    if let Some(threads) = args.threads {
        builder = builder.threads(threads);
    }
    if let Some(wanted) = &args.schedule {
        let (algorithm, cells) = (problem.system.algorithm(), problem.mesh.cells);
        let (_, schedule) = source::schedule(wanted, algorithm, T::PRECISION, Some(cells))?;
        builder = builder.schedule(schedule);
    }
    Ok(builder.engine(args.backend.engine()).build()?)
}
