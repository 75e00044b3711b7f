//! `stencil tune`: searches for the fastest schedule on a card, and keeps it in a plan file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use stencil_compiler::cost::Model;
use stencil_compiler::search::plans::{Key, Plan, Plans};
use stencil_report::Failure;
use stencil_report::tune::{Report, surveys, words};
use stencil_report::{Render, schedules, smooth};
use stencil_runtime::report::{clear_note, note};
use stencil_runtime::tune::{Form, Options, Progress, Subject, Tuned, survey, tune};
use stencil_runtime::{Number, SystemDef};

use crate::source::Precision;
use crate::systems::SystemsArgs;
use crate::{Ended, explain, output};

mod formulations;

/// Arguments of `stencil tune`.
#[derive(Args, Clone, Debug)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    of: SystemsArgs,
    /// Search the formulations that a declaration leaves open (`mixed: either`, or none), too: the plan says which one it is of,
    /// and so changes bits
    #[arg(long, conflicts_with = "survey")]
    tune_scheme: bool,
    /// The file that the schedules found are added to
    #[arg(long, value_name = "FILE", default_value = "stencil.plans")]
    plans: PathBuf,
    /// Seconds after which the search for further schedules ends. Half of them are for ordering
    /// schedules by the performance model before any is timed; with --on three quarters, before the best are compiled
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
    /// Time nothing: believe the performance model of a card that need not be there, H200, H100, A100 or K40
    #[arg(long, value_name = "CARD", value_parser = explain::card, conflicts_with_all = ["card", "survey", "pictures"])]
    on: Option<&'static Model>,
    /// Time this many schedules drawn at random, as many of each blocking, or those that the budget suffices for, in
    /// place of a search, and report how well the performance model predicts them
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
    let plans = schedules::read(&args.plans)?;
    let seeds: Vec<Option<u64>> = match args.survey {
        Some(_) => args.seed.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let (mut tried, mut errors) = (Vec::new(), Vec::new());
    for system in args.of.systems()? {
        for precision in &args.of.precision {
            let key = options(args, &system).key(&system, precision.get())?;
            let (forms, note) = formulations::of(args, &plans, &system, &key)?;
            output::write(out, note.as_bytes())?;
            if args.survey.is_none() && is_there(args, &plans, &forms, &key, out)? {
                continue;
            }
            for seed in &seeds {
                let tuned = match precision {
                    Precision::F32 => one::<f32>(args, &forms, *seed)?,
                    Precision::F64 => one::<f64>(args, &forms, *seed)?,
                };
                let report = Report {
                    forms: &forms,
                    precision: precision.get(),
                    seed: *seed,
                    is_one_of_several: args.seed.len() > 1,
                    cells: cells(args, &forms[0].system),
                    tuned: &tuned,
                };
                output::print(&report, false, out)?;
                tried.push(report.json());
                errors.push(tuned.model_error());
                save(args, &report, out)?;
            }
        }
    }
    if let Some(file) = &args.json {
        let text = format!("{:#}\n", serde_json::Value::from(tried));
        fs::write(file, text).map_err(|e| Ended::unwritten(file, &e))?;
    }
    let end = match args.survey {
        Some(_) => surveys(&errors),
        None => {
            let file = args.plans.display();
            format!("kept in {file}; use it with --schedule {file}\n")
        }
    };
    Ok(output::write(out, end.as_bytes())?)
}

/// Keeps and draws the result.
fn save(args: &TuneArgs, report: &Report<'_>, out: &mut dyn Write) -> Result<(), Ended> {
    if let Some(plan) = &report.tuned.plan {
        // A search that is cut off, or cannot draw, leaves its results.
        keep(&args.plans, plan.clone())?;
    }
    let Some(folder) = &args.pictures else {
        return Ok(());
    };
    Ok(output::list(&output::draw(report, folder)?, "  ", out)?)
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
    match formulations::plan(plans, forms, key) {
        Some(plan) if !args.again => {
            let line = format!(
                "{what}: {} million points a second{}, as found before\n",
                plan.rate,
                words(plan.chosen)
            );
            output::write(out, line.as_bytes())?;
            Ok(true)
        }
        None if args.locked => Err(Failure::new(format!(
            "error: {} has no plan for {what} on {}, as it is declared now{}\n  help: run it without --locked",
            args.plans.display(),
            key.card,
            match forms.len() {
                1 => "",
                _ => ", that chose its formulation",
            }
        ))
        .into()),
        Some(_) | None => Ok(false),
    }
}

/// Cells of the mesh that is tuned for.
fn cells(args: &TuneArgs, system: &SystemDef) -> [usize; 3] {
    let usual = [1 << 24, 4096, 256][system.model().dimension.clamp(1, 3) - 1];
    smooth::along_axes(system, &args.of.cells, usual)
}

/// The options of the tuner.
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
    let subject = Subject::<T> { forms, run: &smooth::run, fill: &smooth::fill };
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

/// The progress of a search in words.
fn state(progress: Progress) -> String {
    match progress {
        Progress::Ranked { legal, all } => format!("{legal} of {all} schedules are legal"),
        Progress::Compiled { done, all } => format!("compiled {done} of {all}"),
        Progress::Racing { left, best } => format!("{left} in the race, best {best:.0} Mpts/s"),
    }
}

/// Adds a plan to a file, which others may have added to since, and which is replaced at once.
fn keep(file: &Path, plan: Plan) -> Result<(), Ended> {
    let mut plans = schedules::read(file)?;
    plans.merge(plan);
    schedules::write(file, &plans).map_err(|e| Ended::unwritten(file, &e))
}
