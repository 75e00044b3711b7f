//! `stencil bench`: how fast systems step, beside what the machine can do and beside other programs.

use std::io::{self, IsTerminal, Write};

use clap::{Args, ValueEnum};
use stencil_runtime::{Engine, Number, SystemDef};

use crate::source::Precision;
use crate::{Ended, source};

mod beside;
mod case;
mod report;

#[cfg(test)]
mod tests;

use beside::Beside;
use case::{Case, Setup};
use report::Result as Measured;

/// What is measured.
#[derive(Args, Clone, Debug)]
pub(crate) struct BenchArgs {
    /// Systems by name, or files with declarations
    #[arg(value_name = "SYSTEM|FILE.pde", default_value = "isothermal_ns")]
    systems: Vec<String>,
    /// Cells along x, y, z; one number is for all axes
    #[arg(long, value_name = "NX,NY,NZ", value_delimiter = ',', num_args = 1)]
    cells: Vec<usize>,
    /// Patches along x, y, z that a card cuts the mesh into; one number is for all axes
    #[arg(long, value_name = "P,Q,R", value_delimiter = ',', num_args = 1)]
    patches: Vec<usize>,
    /// Precisions of the values
    #[arg(long, value_name = "f32,f64", value_enum, value_delimiter = ',', default_values = ["f32", "f64"])]
    precision: Vec<Precision>,
    /// What computes the steps; the compiled program where there is one if not given
    #[arg(long, value_name = "NAME,..", value_enum, value_delimiter = ',')]
    engine: Vec<EngineName>,
    /// Where intermediate results live: presets or files; the system's own choice if not given
    #[arg(long, value_name = "PRESET|FILE,..", value_delimiter = ',')]
    schedule: Vec<String>,
    /// Numbers of threads; one for each core if not given
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    threads: Vec<usize>,
    /// Timings of each case, of which the best and the median are shown
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Steps in a timing; as many as take about a fifth of a second if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
    /// Another program to run after each of our timings, by the shell. If it prints
    /// `mpts_per_s = 12.3`, that is shown beside its time
    #[arg(long, value_name = "COMMAND")]
    beside: Option<String>,
}

/// The engine on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Compiled code
    Compiled,
    /// The row engine
    Rows,
    /// An NVIDIA GPU
    Cuda,
}

/// Runs the command.
pub(crate) fn run(args: &BenchArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let systems: Vec<SystemDef> = args
        .systems
        .iter()
        .map(|name| system(name))
        .collect::<Result<_, _>>()?;
    let mut results = Vec::new();
    if !args.json {
        source::write(out, report::heading().as_bytes())?;
    }
    for system in &systems {
        for precision in &args.precision {
            for engine in engines(args, system) {
                for (threads, schedule) in choices(args) {
                    note(system, *precision, engine, threads);
                    let setup = Setup {
                        engine,
                        threads,
                        schedule,
                    };
                    let measured = match precision {
                        Precision::F32 => measure::<f32>(args, system, setup)?,
                        Precision::F64 => measure::<f64>(args, system, setup)?,
                    };
                    if !args.json {
                        source::write(out, measured.row().as_bytes())?;
                    }
                    results.push(measured);
                }
            }
        }
    }
    let end = if args.json {
        report::json(&results)
    } else {
        report::notes(&results)
    };
    Ok(source::write(out, end.as_bytes())?)
}

fn measure<T: Number>(
    args: &BenchArgs,
    system: &SystemDef,
    setup: Setup<'_>,
) -> Result<Measured, Ended> {
    let mut case = Case::<T>::new(system, (&args.cells, &args.patches), setup)?;
    let mut beside = args.beside.as_deref().map(Beside::new);
    case.measure(args.repeat, args.steps, beside.as_mut())?;
    Ok(case.result(beside))
}

/// A system by name or from a file.
pub(crate) fn system(name: &str) -> Result<SystemDef, Ended> {
    let is_file = name.ends_with(".pde") || std::path::Path::new(name).is_file();
    let found = if is_file {
        SystemDef::from_file(name)
    } else {
        physics::systems::find(name)
    };
    Ok(found?)
}

fn engines(args: &BenchArgs, system: &SystemDef) -> Vec<Engine> {
    if args.engine.is_empty() {
        let best = if system.is_compiled() {
            Engine::Compiled
        } else {
            Engine::Rows
        };
        return vec![best];
    }
    let engine = |name: &EngineName| match name {
        EngineName::Compiled => Engine::Compiled,
        EngineName::Rows => Engine::Rows,
        EngineName::Cuda => Engine::Cuda,
    };
    args.engine.iter().map(engine).collect()
}

/// Numbers of threads and schedules, all of one with each of the other; `None` is the usual.
fn choices(args: &BenchArgs) -> Vec<(Option<usize>, Option<&str>)> {
    let mut threads: Vec<Option<usize>> = args.threads.iter().copied().map(Some).collect();
    let mut schedules: Vec<Option<&str>> = args.schedule.iter().map(|s| Some(&**s)).collect();
    if threads.is_empty() {
        threads.push(None);
    }
    if schedules.is_empty() {
        schedules.push(None);
    }
    let with_all = |n: Option<usize>| schedules.iter().map(move |s| (n, *s));
    threads.into_iter().flat_map(with_all).collect()
}

/// Says on a terminal what is being measured: a case takes seconds.
fn note(system: &SystemDef, precision: Precision, engine: Engine, threads: Option<usize>) {
    if io::stderr().is_terminal() {
        let threads = threads.map_or("all".to_string(), |n| n.to_string());
        let precision = match precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        };
        let name = (system.name(), engine.name());
        let _ = write!(
            io::stderr(),
            "\r\x1b[K{} {precision} {} on {threads} threads ..\r",
            name.0,
            name.1
        );
    }
}
