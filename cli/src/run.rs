//! `stencil run`: a problem of the library from its initial values to pictures.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use physics::problems::{self, Plane, Problem};
use stencil_compiler::schedule::Schedule;
use stencil_runtime::report::{Progress, Summary};
use stencil_runtime::{Engine, Error, Number, Simulation, SystemDef};

use crate::source::{self, Failure, Precision};
use crate::{BUG, NUMERICAL, OUTPUT, USAGE};

mod plan;

/// How a run goes; whatever is not given is the problem's choice.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArgs {
    /// Which problem; `stencil list` names all
    #[arg(value_name = "PROBLEM", default_value = problems::ALL[0].name)]
    problem: String,
    /// Cells along x, y, z; one number is for all axes
    #[arg(long, value_name = "NX,NY,NZ", value_parser = cells)]
    cells: Option<[usize; 3]>,
    /// Number of time steps
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Time step
    #[arg(long, value_name = "TIME")]
    dt: Option<f64>,
    /// A parameter of the system; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = param)]
    params: Vec<(String, f64)>,
    /// Precision of the values
    #[arg(long, value_enum, default_value = "f64")]
    precision: Precision,
    /// Number of threads; one for each core if not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// What computes the steps; the results are the same
    #[arg(long, value_enum, default_value = "auto")]
    engine: EngineChoice,
    /// Where intermediate results live: a preset or a file; the results are the same
    #[arg(long, value_name = "PRESET|FILE")]
    schedule: Option<String>,
    /// Folder for pictures and data; `out/PROBLEM` if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// The engine on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineChoice {
    /// Compiled code where there is some
    Auto,
    /// Compiled code
    Compiled,
    /// The row engine
    Rows,
}

impl RunArgs {
    /// The first problem, as it comes.
    pub(crate) fn first() -> Self {
        RunArgs {
            problem: problems::ALL[0].name.to_string(),
            cells: None,
            steps: None,
            dt: None,
            params: Vec::new(),
            precision: Precision::F64,
            threads: None,
            engine: EngineChoice::Auto,
            schedule: None,
            out: None,
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
            Error::NotFinite { .. } => NUMERICAL,
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

fn cannot_write(what: &str, error: &dyn std::fmt::Display) -> Ended {
    Ended {
        code: OUTPUT,
        message: format!("error: {what}: {error}"),
    }
}

fn cells(text: &str) -> Result<[usize; 3], String> {
    let numbers: Result<Vec<usize>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([n]) => Ok([*n; 3]),
        Ok([nx, ny]) => Ok([*nx, *ny, 1]),
        Ok([nx, ny, nz]) => Ok([*nx, *ny, *nz]),
        _ => Err("write one number, or up to three with commas between them: 64,64,32".into()),
    }
}

fn param(text: &str) -> Result<(String, f64), String> {
    let pair = text
        .split_once('=')
        .and_then(|(name, value)| Some((name.trim().to_string(), value.trim().parse().ok()?)));
    pair.ok_or_else(|| "write a name, `=` and a number: nu=5e-3".into())
}

/// Runs the command.
pub(crate) fn run(args: &RunArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let problem = problems::find(&args.problem)?;
    match args.precision {
        Precision::F32 => run_as::<f32>(args, problem, out),
        Precision::F64 => run_as::<f64>(args, problem, out),
    }
}

/// Says something to someone who may have left.
fn say(args: &RunArgs, out: &mut dyn Write, text: &str) -> Result<(), Ended> {
    if args.quiet {
        Ok(())
    } else {
        Ok(source::write(out, text.as_bytes())?)
    }
}

fn run_as<T: Number>(args: &RunArgs, problem: &Problem, out: &mut dyn Write) -> Result<(), Ended> {
    let system = SystemDef::new(&problem.system)?;
    let (mut simulation, steps) = set_up::<T>(args, problem, &system)?;
    say(args, out, &plan::report(problem, &simulation))?;
    problem.initialize(&mut simulation)?;
    let points: usize = simulation.cells().iter().product();
    let mut progress = Progress::new(steps, points as u64, args.quiet);
    let start = Instant::now();
    let result = simulation.run(steps, |step, t| progress.update(step, t));
    let seconds = start.elapsed();
    progress.finish();
    result?;
    let files = save(args, problem, &simulation)?;
    say(
        args,
        out,
        &summary(problem, &simulation, points, seconds, &files),
    )
}

fn set_up<T: Number>(
    args: &RunArgs,
    problem: &Problem,
    system: &SystemDef,
) -> Result<(Simulation<T>, u64), Ended> {
    let mut cells = args.cells.unwrap_or(problem.cells);
    // One number is for all axes that there are.
    cells[system.model().dimension..].fill(1);
    let mut params: BTreeMap<&str, f64> = system
        .algorithm()
        .params
        .iter()
        .filter_map(|p| Some((p.name.as_str(), p.default?)))
        .collect();
    params.extend(problem.params.iter().copied());
    params.extend(
        args.params
            .iter()
            .map(|(name, value)| (name.as_str(), *value)),
    );
    let spacings =
        (0..system.model().dimension).map(|axis| problem.extent[axis] / cells[axis].max(1) as f64);
    let h = spacings.fold(f64::INFINITY, f64::min);
    let stable = (problem.dt)(h, &|name| params.get(name).copied().unwrap_or(0.0));
    let (dt, steps) = match (args.dt, args.steps) {
        (Some(dt), Some(steps)) => (dt, steps),
        (None, Some(steps)) => (stable, steps),
        (Some(dt), None) => (dt, (problem.end / dt).ceil().max(1.0) as u64),
        // The last step ends at the problem's end.
        (None, None) => {
            let steps = (problem.end / stable).ceil().max(1.0);
            (problem.end / steps, steps as u64)
        }
    };
    let mut builder = problem.builder::<T>().cells(cells).dt(dt);
    for (name, value) in &args.params {
        builder = builder.param(name, *value);
    }
    if let Some(threads) = args.threads {
        builder = builder.threads(threads);
    }
    if let Some(schedule) = schedule::<T>(args, system)? {
        builder = builder.schedule(schedule);
    }
    let engine = match args.engine {
        EngineChoice::Auto => Engine::Auto,
        EngineChoice::Compiled => Engine::Compiled,
        EngineChoice::Rows => Engine::Rows,
    };
    Ok((builder.engine(engine).build()?, steps))
}

fn schedule<T: Number>(args: &RunArgs, system: &SystemDef) -> Result<Option<Schedule>, Ended> {
    let Some(wanted) = &args.schedule else {
        return Ok(None);
    };
    Ok(Some(
        source::schedule(wanted, system.algorithm(), T::PRECISION)?.1,
    ))
}

/// Writes pictures and data; the paths of what was written.
fn save<T: Number>(
    args: &RunArgs,
    problem: &Problem,
    simulation: &Simulation<T>,
) -> Result<Vec<PathBuf>, Ended> {
    let folder = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("out").join(problem.name));
    let failed = |e: io::Error| {
        cannot_write(
            &format!("cannot make the folder `{}`", folder.display()),
            &e,
        )
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let mut files = Vec::new();
    let plane = Plane::of(simulation)?;
    for picture in (problem.pictures)(&plane) {
        let path = folder.join(picture.file);
        picture
            .save(&plane, &path)
            .map_err(|e| cannot_write("picture", &e))?;
        files.push(path);
    }
    let path = folder.join("final.npz");
    simulation.save_npz(&path)?;
    files.push(path);
    Ok(files)
}

fn summary<T: Number>(
    problem: &Problem,
    simulation: &Simulation<T>,
    points: usize,
    time: Duration,
    files: &[PathBuf],
) -> String {
    let seconds = time.as_secs_f64();
    let speed = points as f64 * simulation.step_count() as f64 / seconds.max(1e-9) / 1e6;
    let mut summary = Summary::new(problem.name)
        .row(
            "time",
            format_args!(
                "t = {:.4} after {} steps",
                simulation.t(),
                simulation.step_count()
            ),
        )
        .row(
            "engine",
            format_args!(
                "{}, {}, {} threads",
                simulation.engine().name(),
                simulation.instructions().name(),
                simulation.threads()
            ),
        )
        .row("wall time", format_args!("{seconds:.2} s"))
        .row("speed", format_args!("{speed:.2} Mpts/s ({})", T::NAME))
        .section("Files");
    for file in files {
        summary = summary.text(file.display());
    }
    // Under `cargo run` the command is not on the path.
    let stencil = if std::env::var_os("CARGO").is_some() {
        "cargo run --release --"
    } else {
        "stencil"
    };
    let twice = simulation
        .cells()
        .map(|n| if n > 1 { 2 * n } else { n }.to_string());
    let (name, system) = (problem.name, problem.system.name);
    format!(
        "{summary}\n\nnext:\n  {stencil} run {name} --precision f32 --cells {}\n  {stencil} explain {system}\n  {stencil} list\n",
        twice.join(","),
    )
}
