//! `stencil bench`: how fast systems step, beside what the machine can do and beside other programs.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stencil_runtime::report::{clear_note, note};
use stencil_runtime::{Number, SystemDef};

use crate::source::{Backend, MixedChoice, Precision};
use crate::{Ended, Failure, source};

mod beside;
mod card;
mod case;
mod names;
mod parts;
mod picture;
mod report;
mod shares;
mod work;

#[cfg(test)]
mod tests;

use beside::Beside;
pub(crate) use case::best_and_median;
use case::{Case, Setup};
use report::Result as Measured;

/// What is measured.
#[derive(Args, Clone, Debug)]
pub(crate) struct BenchArgs {
    /// Systems by name, or files with declarations
    #[arg(value_name = "SYSTEM|FILE.pde", default_value = "isothermal_ns")]
    systems: Vec<String>,
    /// Number of dimensions of systems `in nd`; 3 for those of files and 2 for those of the library if not given
    #[arg(long, value_name = "N", value_parser = source::dimension())]
    dimension: Option<usize>,
    /// Cells along x, y, z; one number is for all axes. May be repeated
    #[arg(long, value_name = "NX,NY,NZ", value_parser = counts)]
    cells: Vec<Cells>,
    /// Patches along x, y, z that a card cuts the mesh into; one number is for all axes
    #[arg(long, value_name = "P,Q,R", value_delimiter = ',', num_args = 1)]
    patches: Vec<usize>,
    /// Precisions of the values
    #[arg(long, value_name = "f32,f64", value_enum, value_delimiter = ',', default_values = ["f32", "f64"])]
    precision: Vec<Precision>,
    /// What computes the steps
    #[arg(long, value_name = "NAME,..", value_enum, value_delimiter = ',', default_values = ["cpu"])]
    backend: Vec<Backend>,
    /// What a derivative of a derivative means, in place of the declared choice
    #[arg(long, value_name = "CHOICE,..", value_enum, value_delimiter = ',')]
    mixed: Vec<MixedChoice>,
    /// Orders of the central differences, in place of the declared one: 2, 4, 6, 8 or 10
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    order: Vec<u32>,
    /// Where intermediate results live: presets or files; the system's own choice if not given
    #[arg(long, value_name = "PRESET|FILE,..", value_delimiter = ',')]
    schedule: Vec<String>,
    /// Numbers of threads; one for each core if not given
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    threads: Vec<usize>,
    /// How a card is timed: in short batches after rests, by steps without rests for some seconds, or both
    #[arg(
        long,
        value_name = "burst|sustained|both",
        value_enum,
        default_value = "both"
    )]
    protocol: Protocol,
    /// Timings of each case, of which the best and the median are shown; of a card those after rests
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Steps in a timing; as many as take about a fifth of a second if not given, on a card 12 ms
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Let steps adapt to speeds, with this Courant number: the reduction that a time step takes is in the time of
    /// the steps. Otherwise all steps are alike
    #[arg(long, value_name = "NUMBER")]
    cfl: Option<f64>,
    /// Keep no fields to go back to, and look at values as seldom as with them: what a run takes on a card is then what its
    /// arrays take
    #[arg(long)]
    lean: bool,
    /// Show what each kernel takes of a card, and what each part of a step costs: bytes, operations and, on
    /// a card, its time and how near it comes to what memory and arithmetic allow. With --pictures, draw these parts
    /// below the roof of the machine, and their shares of the time
    #[arg(long)]
    kernels: bool,
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
    /// Another program to run after each of our timings, by the shell. Its environment has the
    /// case as BENCH_SYSTEM, BENCH_MIXED, BENCH_ORDER, BENCH_SCHEDULE, BENCH_PRECISION and BENCH_CELLS
    /// (`256,256,256`). If it prints `mpts_per_s = 12.3`, that is shown beside its time
    #[arg(long, value_name = "COMMAND")]
    beside: Option<String>,
    /// Measure each case once more with every read in the cell itself: the same arrays, operations
    /// and traversal, but no stencil
    #[arg(long)]
    bare: bool,
    /// Draw the rates against the size of the mesh into this folder, a picture for each system and
    /// precision, and against the order where there are several; of several schedules also how much faster
    /// they are than the first
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
}

/// How steps of a card are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Protocol {
    /// Short batches after rests: at the clock that the card reaches.
    Burst,
    /// Steps without rests: at the clock that it holds.
    Sustained,
    /// One after the other.
    Both,
}

impl Protocol {
    /// As it is given.
    fn name(self) -> &'static str {
        match self {
            Protocol::Burst => "burst",
            Protocol::Sustained => "sustained",
            Protocol::Both => "both",
        }
    }
}

/// How often and how cases are timed.
#[derive(Clone, Copy, Debug)]
struct Timings {
    /// Of a card.
    protocol: Protocol,
    repeat: u32,
    /// Steps of each, if that was asked for.
    steps: Option<u64>,
    /// Is each part of a step timed by itself?
    kernels: bool,
}

/// Numbers of cells as they were given: none, one, or one for each axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cells(Vec<usize>);

fn counts(text: &str) -> Result<Cells, String> {
    let number = |n: &str| n.trim().parse().map_err(|e| format!("`{n}`: {e}"));
    let counts: Vec<usize> = text.split(',').map(number).collect::<Result<_, _>>()?;
    match counts.len() {
        1..=3 => Ok(Cells(counts)),
        n => Err(format!("{n} axes; there are three at most")),
    }
}

/// Runs the command.
pub(crate) fn run(args: &BenchArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let systems = of_orders(
        systems(&args.systems, args.dimension, &args.mixed)?,
        &args.order,
    )?;
    let mut results: Vec<Measured> = Vec::new();
    for system in &systems {
        for (precision, setup) in setups(args) {
            tell(system, precision, &setup);
            let mut measured = match precision {
                Precision::F32 => measure::<f32>(args, system, setup)?,
                Precision::F64 => measure::<f64>(args, system, setup)?,
            };
            clear_note();
            if args.schedule.len() > 1 {
                measured.compare(&results);
            }
            if !args.json {
                // Cards and processors have other columns.
                let is_new = results.last().is_none_or(|last| last.is_other(&measured));
                let heading = if is_new {
                    measured.heading()
                } else {
                    "".into()
                };
                source::write(out, (heading + &measured.row()).as_bytes())?;
            }
            results.push(measured);
        }
    }
    let end = match (args.json, args.kernels) {
        (true, _) => report::json(&results),
        (false, true) => report::kernels(&results) + &report::notes(&results),
        (false, false) => report::notes(&results),
    };
    source::write(out, end.as_bytes())?;
    if let Some(folder) = &args.pictures {
        let files = picture::save(folder, &results)?;
        // A JSON object stands alone.
        for file in files.iter().filter(|_| !args.json) {
            source::write(out, format!("{}\n", file.display()).as_bytes())?;
        }
    }
    Ok(())
}

fn measure<T: Number>(
    args: &BenchArgs,
    system: &SystemDef,
    setup: Setup<'_>,
) -> Result<Measured, Ended> {
    let mut case = Case::<T>::new(system, setup.clone())?;
    let told = case.told();
    let mut beside = args
        .beside
        .as_deref()
        .map(|command| Beside::new(command, told));
    let mut bare = match args.bare {
        true => Some(case.bare(setup)?),
        false => None,
    };
    let timings = Timings {
        protocol: args.protocol,
        repeat: args.repeat,
        steps: args.steps,
        kernels: args.kernels,
    };
    case.measure(timings, beside.as_mut())?;
    let bare_mpts = match &mut bare {
        Some(bare) => {
            let timings = Timings {
                kernels: false,
                ..timings
            };
            bare.measure(timings, None)?;
            Some(bare.result(None).best_mpts)
        }
        None => None,
    };
    Ok(Measured {
        bare_mpts,
        ..case.result(beside)
    })
}

/// Systems by name or from files, by each choice of mixed derivatives if any are given.
pub(crate) fn systems(
    names: &[String],
    dimension: Option<usize>,
    mixed: &[MixedChoice],
) -> Result<Vec<SystemDef>, Ended> {
    let mut systems = Vec::new();
    for name in names {
        let declared = source::system(name, dimension)?;
        if mixed.is_empty() {
            systems.push(declared);
            continue;
        }
        for mixed in mixed {
            systems.push(declared.with_mixed(mixed.get())?);
        }
    }
    Ok(systems)
}

/// The systems with differences of each order, if any are given.
pub(crate) fn of_orders(systems: Vec<SystemDef>, orders: &[u32]) -> Result<Vec<SystemDef>, Ended> {
    if orders.is_empty() {
        return Ok(systems);
    }
    for system in &systems {
        if !system.has_differences()? {
            let (name, scheme) = (system.name(), &system.model().scheme.name);
            return Err(crate::usage(Failure::new(format!(
                "`{name}` has no central differences whose order could be another, by its scheme `{scheme}`\n  \
                 help: leave --order out for this system, and give it to the others alone"
            ))));
        }
    }
    let each = systems
        .iter()
        .flat_map(|system| orders.iter().map(|order| system.with_order(*order)));
    Ok(each.collect::<Result<_, _>>()?)
}

/// All that one system is measured with, in the order of the table.
fn setups(args: &BenchArgs) -> Vec<(Precision, Setup<'_>)> {
    let usual = [Cells::default()];
    let cells = match &args.cells[..] {
        [] => &usual[..],
        given => given,
    };
    let threads = some_or_usual(args.threads.iter().copied());
    let schedules = some_or_usual(args.schedule.iter().map(String::as_str));
    let mut setups = Vec::new();
    for precision in &args.precision {
        for cells in cells {
            for backend in &args.backend {
                for threads in &threads {
                    setups.extend(schedules.iter().map(|schedule| {
                        let setup = Setup {
                            cells: cells.0.clone(),
                            patches: &args.patches,
                            engine: backend.engine(),
                            threads: *threads,
                            cfl: args.cfl,
                            lean: args.lean,
                            schedule: *schedule,
                        };
                        (*precision, setup)
                    }));
                }
            }
        }
    }
    setups
}

/// What was given, or `None`, which is the usual.
fn some_or_usual<T>(given: impl Iterator<Item = T>) -> Vec<Option<T>> {
    let given: Vec<Option<T>> = given.map(Some).collect();
    if given.is_empty() { vec![None] } else { given }
}

/// Says on a terminal what is being measured: a case takes seconds.
fn tell(system: &SystemDef, precision: Precision, setup: &Setup<'_>) {
    let precision = precision.get().name();
    let schedule = setup.schedule.unwrap_or("its own schedule");
    let (name, engine) = (system.name(), setup.engine.name());
    note(&format!("{name} {precision} {engine}, {schedule} .."));
}
