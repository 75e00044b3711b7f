//! `stencil tune`: searches for the fastest schedule on a card, and keeps it in a plan file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use clap::Args;
use stencil_compiler::cost::Model;
use stencil_compiler::schedule::plans::{Key, Plan, Plans};
use stencil_runtime::io::read_text;
use stencil_runtime::report::{clear_note, note};
use stencil_runtime::tune::{Form, Options, Progress, Subject, Tuned, survey, tune};
use stencil_runtime::{Number, SystemDef};

use crate::source::{Failure, MixedChoice, Precision};
use crate::{Ended, bench, explain, smooth, source, usage};

mod forms;
mod pictures;
mod table;

/// What is searched for.
#[derive(Args, Clone, Debug)]
pub(crate) struct TuneArgs {
    /// Systems by name, or files with declarations
    #[arg(value_name = "SYSTEM|FILE.pde", default_value = "isothermal_ns")]
    systems: Vec<String>,
    /// Number of dimensions of systems `in nd`; 3 for those of files and 2 for those of the library if not given
    #[arg(long, value_name = "N", value_parser = source::dimension())]
    dimension: Option<usize>,
    /// Cells along x, y, z; one number is for all axes
    #[arg(long, value_name = "NX,NY,NZ", value_delimiter = ',', num_args = 1)]
    cells: Vec<usize>,
    /// Precisions of the values
    #[arg(long, value_name = "f32,f64", value_enum, value_delimiter = ',', default_values = ["f32", "f64"])]
    precision: Vec<Precision>,
    /// What a derivative of a derivative means, in place of the declared choice; each in turn
    #[arg(long, value_name = "CHOICE,..", value_enum, value_delimiter = ',')]
    mixed: Vec<MixedChoice>,
    /// Search the formulations that a declaration leaves open (`mixed: either`, or none), too: the plan says which one it is of,
    /// and so changes bits
    #[arg(long, conflicts_with = "survey")]
    tune_scheme: bool,
    /// The file that what is found is added to
    #[arg(long, value_name = "FILE", default_value = "stencil.plans")]
    plans: PathBuf,
    /// Seconds after which no further schedules are looked for; of these, half are for what the performance model orders before
    /// anything is timed, or with --on three quarters, before the best are compiled
    #[arg(long, value_name = "SECONDS", default_value = "45")]
    budget: u64,
    /// Schedules of each race
    #[arg(long, value_name = "N", default_value = "24", value_parser = clap::value_parser!(u32).range(3..))]
    first: u32,
    /// Races among neighbours of the fastest, at most
    #[arg(long, value_name = "N", default_value = "4")]
    rounds: usize,
    /// Search again where the file has a plan for the same card, declaration, precision and cells
    #[arg(long)]
    again: bool,
    /// Search for nothing: fail if the file lacks a plan
    #[arg(long, conflicts_with_all = ["again", "survey"])]
    locked: bool,
    /// The card, counted from 0
    #[arg(long, value_name = "N", default_value = "0")]
    card: usize,
    /// Time nothing: believe the performance model of a card that need not be there, H200, A100 or K40
    #[arg(long, value_name = "CARD", value_parser = explain::card, conflicts_with_all = ["card", "survey", "pictures"])]
    on: Option<&'static Model>,
    /// Time so many schedules drawn at random, as many of each blocking, or those that the budget suffices for, in place of
    /// a search, and say how well the performance model predicts them
    #[arg(long, value_name = "N")]
    survey: Option<usize>,
    /// The seeds of surveys, each of which is one
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values = ["1"])]
    seed: Vec<u64>,
    /// Write all that was tried to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw all that was timed into this folder: below the roof of the card, and as the search went
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &TuneArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let plans = read(&args.plans)?;
    let seeds: Vec<Option<u64>> = match args.survey {
        Some(_) => args.seed.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let (mut tried, mut errors) = (Vec::new(), Vec::new());
    for system in bench::systems(&args.systems, args.dimension, &args.mixed)? {
        for precision in &args.precision {
            let key = options(args, &system).key(&system, precision.get())?;
            let (forms, note) = forms::of(args, &plans, &system, &key)?;
            source::write(out, note.as_bytes())?;
            if args.survey.is_none() && is_there(args, &plans, &forms, &key, out)? {
                continue;
            }
            for seed in &seeds {
                let tuned = match precision {
                    Precision::F32 => one::<f32>(args, &forms, *seed)?,
                    Precision::F64 => one::<f64>(args, &forms, *seed)?,
                };
                let what = (&forms[..], precision.get().name(), *seed);
                source::write(out, table::text(what, &tuned).as_bytes())?;
                tried.push(table::json(what, &tuned));
                errors.push(tuned.model_error());
                save(args, what, &tuned, out)?;
            }
        }
    }
    if let Some(file) = &args.json {
        let text = format!("{:#}\n", serde_json::Value::from(tried));
        fs::write(file, text).map_err(|e| Ended::unwritten(file, &e))?;
    }
    let end = match args.survey {
        Some(_) => table::surveys(&errors),
        None => {
            let file = args.plans.display();
            format!("kept in {file}; use it with --schedule {file}\n")
        }
    };
    Ok(source::write(out, end.as_bytes())?)
}

/// Keeps and draws what was found.
fn save(
    args: &TuneArgs,
    (forms, precision, seed): table::What<'_>,
    tuned: &Tuned,
    out: &mut dyn Write,
) -> Result<(), Ended> {
    if let Some(plan) = &tuned.plan {
        // A search that is cut off, or cannot draw, leaves what it has found.
        keep(&args.plans, plan.clone())?;
    }
    let Some(folder) = &args.pictures else {
        return Ok(());
    };
    // Each of several surveys has pictures of its own.
    let name = match seed {
        Some(seed) if args.seed.len() > 1 => format!("{precision}-seed-{seed}"),
        _ => precision.to_string(),
    };
    let what = (forms, name.as_str(), cells(args, &forms[0].system));
    for file in pictures::save(folder, what, tuned)? {
        source::write(out, format!("  {}\n", file.display()).as_bytes())?;
    }
    Ok(())
}

/// Has the file a plan for this? After a change of a declaration it has none: its fingerprint is
/// another one.
fn is_there(
    args: &TuneArgs,
    plans: &Plans,
    forms: &[Form],
    key: &Key,
    out: &mut dyn Write,
) -> Result<bool, Ended> {
    let (name, precision, [x, y, z]) = (&key.system, key.precision.name(), key.cells);
    let what = format!("{name} {precision} {x}x{y}x{z}");
    match forms::plan(plans, forms, key) {
        Some(plan) if !args.again => {
            let line = format!(
                "{what}: {} million points a second{}, as found before\n",
                plan.rate,
                forms::words(plan.chosen)
            );
            source::write(out, line.as_bytes())?;
            Ok(true)
        }
        None if args.locked => Err(usage(Failure::new(format!(
            "error: {} has no plan for {what} on {}, as it is declared now{}\n  help: run it without --locked",
            args.plans.display(),
            key.card,
            match forms.len() {
                1 => "",
                _ => ", that chose its formulation",
            }
        )))),
        Some(_) | None => Ok(false),
    }
}

/// Cells of the mesh that is tuned for.
fn cells(args: &TuneArgs, system: &SystemDef) -> [usize; 3] {
    let usual = [1 << 24, 4096, 256][system.model().dimension.clamp(1, 3) - 1];
    smooth::along_axes(system, &args.cells, usual)
}

/// What the tuner is told.
fn options(args: &TuneArgs, system: &SystemDef) -> Options {
    Options {
        budget: Duration::from_secs(args.budget),
        first: args.first as usize,
        rounds: args.rounds,
        card: args.card,
        on: args.on,
        ..Options::on(cells(args, system))
    }
}

fn one<T: Number>(args: &TuneArgs, forms: &[Form], seed: Option<u64>) -> Result<Tuned, Ended> {
    let system = &forms[0].system;
    let options = options(args, system);
    let subject = Subject::<T> {
        forms,
        run: &smooth::run,
        fill: &smooth::fill,
    };
    let begun = Instant::now();
    let what = format!("{} {}", system.name(), T::NAME);
    let mut tell = |progress: Progress| {
        let seconds = begun.elapsed().as_secs_f64();
        note(&format!("{what}, {seconds:.0} s: {}", state(progress)));
    };
    let tuned = match args.survey.zip(seed) {
        None => tune(subject, &options, &mut tell),
        Some(drawn) => survey(subject, &options, drawn, &mut tell),
    };
    clear_note();
    Ok(tuned?)
}

/// How far a search is.
fn state(progress: Progress) -> String {
    match progress {
        Progress::Ranked { legal, all } => format!("{legal} of {all} schedules are legal"),
        Progress::Compiled { done, all } => format!("compiled {done} of {all}"),
        Progress::Racing { left, best } => format!("{left} in the race, best {best:.0} Mpts/s"),
    }
}

/// The plans of a file; none where there is no file yet.
fn read(file: &Path) -> Result<Plans, Ended> {
    let text = match read_text(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Plans::default()),
        Err(error) => {
            let message = format!("error: `{}` cannot be read: {error}", file.display());
            return Err(usage(Failure::new(message)));
        }
    };
    Plans::parse(&text).map_err(|error| {
        usage(Failure::new(format!(
            "error: {}: {error}\n  help: name another file with --plans",
            file.display()
        )))
    })
}

/// Adds a plan to a file, which others may have added to since, and which is replaced at once.
fn keep(file: &Path, plan: Plan) -> Result<(), Ended> {
    let mut plans = read(file)?;
    plans.merge(plan);
    let part = file.with_extension(format!("{}.part", process::id()));
    let written = fs::write(&part, plans.print()).and_then(|()| fs::rename(&part, file));
    written.map_err(|e| Ended::unwritten(file, &e))
}
