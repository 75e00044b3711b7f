//! `stencil bench`: the rates of systems, next to those that the machine can reach and those of other programs.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stencil_report::Failure;
use stencil_report::bench::{self, Measured, Results, Scaling, Setup, Timings};
use stencil_runtime::report::{clear_note, note};
use stencil_runtime::{Engine, Number, Stream, SystemDef};

use crate::source::{self, Backend, MixedChoice, Precision};
use crate::systems::{of_orders, systems};
use crate::{Ended, output};

/// Arguments of `stencil bench`.
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
    /// Patches along x, y, z that the mesh is cut into; one number is for all axes
    #[arg(long, value_name = "P,Q,R", value_delimiter = ',', num_args = 1)]
    patches: Vec<usize>,
    /// Numbers of devices that share the patches, by default a box of the mesh each; on the processor they are simulated
    #[arg(long, value_name = "N,..", value_parser = source::devices, value_delimiter = ',')]
    devices: Vec<usize>,
    /// Keep the mesh in the memory of the host, and let it pass through the device slab by slab; the bytes a second over the bus
    /// are shown
    #[arg(long, value_name = "off|auto|STEPS", default_value = "off")]
    stream: Stream,
    /// Bytes of the memory of a card that a run may take, such as 8GiB or 20GB; all that are free if not given
    #[arg(long, value_name = "BYTES", value_parser = source::bytes)]
    card_memory: Option<usize>,
    /// The mesh of several devices: that of one in strong scaling, and in weak scaling one that grows with them along its
    /// last axis, which is cut; strong if not given. Efficiencies are shown, and with --pictures they and the rates are drawn against the devices
    #[arg(long, value_name = "strong|weak", value_enum, requires = "devices")]
    scaling: Option<Growth>,
    /// Precisions of the values
    #[arg(long, value_name = "f32,f64", value_enum, value_delimiter = ',', default_values = ["f32", "f64"])]
    precision: Vec<Precision>,
    /// The engines that compute the steps
    #[arg(long, value_name = "NAME,..", value_enum, value_delimiter = ',', default_values = ["cpu"])]
    backend: Vec<Backend>,
    /// The meaning of a derivative of a derivative, in place of the declared choice
    #[arg(long, value_name = "CHOICE,..", value_enum, value_delimiter = ',')]
    mixed: Vec<MixedChoice>,
    /// Orders of the central differences, in place of the declared one: 2, 4, 6, 8 or 10
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    order: Vec<u32>,
    /// The schedules: presets or files; the system's own choice if not given, and on a card the one that the performance model
    /// picks, for which the first measurement waits
    #[arg(long, value_name = "PRESET|FILE,..", value_delimiter = ',')]
    schedule: Vec<String>,
    /// Numbers of threads; one for each core if not given
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    threads: Vec<usize>,
    /// How a card is timed: in short batches after rests, by steps without rests for some seconds, or both
    #[arg(long, value_name = "burst|sustained|both", value_enum, default_value = "both")]
    protocol: Protocol,
    /// Timings of each case, of which the best and the median are shown; for a card those after rests
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Steps in a timing; as many as take about a fifth of a second if not given, on a card 12 ms
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Let steps adapt to speeds, with this Courant number: the reduction that a time step takes is in the time of
    /// the steps. Otherwise all steps are alike
    #[arg(long, value_name = "NUMBER")]
    cfl: Option<f64>,
    /// Keep no fields to go back to, and check values as seldom as if they were kept: a run then takes no more of a card than
    /// its arrays
    #[arg(long)]
    lean: bool,
    /// Show the resources of a card that each kernel takes, and the cost of each part of a step: bytes, operations and,
    /// on a card, its time as a share of the limits by memory and arithmetic. With --pictures, draw these parts below
    /// the roof of the machine, their shares of the time and, on cards, when each task of a step begins and ends
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
    /// Draw the rates against the size of the mesh into this folder, a picture for each system and precision, and
    /// against the order if there are several; of several schedules also their rates relative to the first
    #[arg(long, value_name = "FOLDER")]
    pictures: Option<PathBuf>,
}

/// The way in which steps of a card are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Protocol {
    /// Short batches after rests: at the clock that the card reaches.
    Burst,
    /// Steps without rests: at the clock that it holds.
    Sustained,
    /// Bursts first, then steps without rests.
    Both,
}

impl BenchArgs {
    /// The scaling to show: strong, where there are several numbers of devices and none is named.
    fn scaling(&self) -> Option<Scaling> {
        match (self.scaling, &self.devices[..]) {
            (None, [] | [_]) => None,
            (given, _) => Some(given.map_or(Scaling::Strong, Growth::get)),
        }
    }
}

/// The growth of the mesh with the number of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Growth {
    /// None: all devices share the cells.
    Strong,
    /// As many more cells as there are devices.
    Weak,
}

impl Growth {
    /// The word of the library.
    pub(crate) fn get(self) -> Scaling {
        match self {
            Growth::Strong => Scaling::Strong,
            Growth::Weak => Scaling::Weak,
        }
    }
}

impl Protocol {
    /// The word of the library.
    fn get(self) -> bench::Protocol {
        match self {
            Protocol::Burst => bench::Protocol::Burst,
            Protocol::Sustained => bench::Protocol::Sustained,
            Protocol::Both => bench::Protocol::Both,
        }
    }
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
    if args.scaling == Some(Growth::Weak) && !args.patches.is_empty() {
        let message = "error: --patches are of one mesh, and --scaling weak has several\n  \
             help: leave --patches out, or write --scaling strong";
        return Err(Failure::new(message).into());
    }
    let systems = of_orders(systems(&args.systems, args.dimension, &args.mixed)?, &args.order)?;
    let mut results = Results::new(args.schedule.len() > 1, args.kernels).scaling(args.scaling());
    for system in &systems {
        for case in cases(args) {
            tell(system, &case);
            let measured = match case.precision {
                Precision::F32 => measure::<f32>(args, system, &case)?,
                Precision::F64 => measure::<f64>(args, system, &case)?,
            };
            clear_note();
            let lines = results.push(measured);
            if !args.json {
                output::write(out, lines.as_bytes())?;
            }
        }
    }
    match args.json {
        true => output::print(&results, true, out)?,
        false => output::write(out, results.end().as_bytes())?,
    }
    if let Some(folder) = &args.pictures {
        let files = output::draw(&results, folder)?;
        // A JSON object stands alone.
        if !args.json {
            output::list(&files, "", out)?;
        }
    }
    Ok(())
}

/// Measures a system, in the formulation and by the schedule that a file may name.
fn measure<T: Number>(
    args: &BenchArgs,
    system: &SystemDef,
    case: &Case<'_>,
) -> Result<Measured, Ended> {
    let cells = bench::cells(system, case.cells);
    let dimension = system.model().dimension;
    let is_weak = args.scaling() == Some(Scaling::Weak);
    let cells = args.scaling().map_or(cells, |s| s.cells(cells, dimension, case.devices));
    let slabs: Vec<usize> =
        (1..=dimension).map(|axis| if axis == dimension { case.devices } else { 1 }).collect();
    let (system, _) = source::settled(system, case.schedule, T::PRECISION, cells)?;
    let named = |name| -> Result<_, Failure> {
        let schedule = source::schedule(name, system.algorithm(), T::PRECISION, Some(cells))?;
        Ok((name, schedule))
    };
    let setup = Setup {
        cells,
        patches: if is_weak { &slabs } else { &args.patches },
        devices: case.devices,
        engine: case.engine,
        threads: case.threads,
        cfl: args.cfl,
        lean: args.lean,
        stream: args.stream,
        card_memory: args.card_memory,
        schedule: case.schedule.map(named).transpose()?,
    };
    let timings = Timings {
        protocol: args.protocol.get(),
        repeat: args.repeat,
        steps: args.steps,
        kernels: args.kernels,
        beside: args.beside.as_deref(),
        bare: args.bare,
    };
    Ok(bench::measure::<T>(&system, &setup, &timings)?)
}

/// One combination of the values that the command line lists for a system.
struct Case<'a> {
    precision: Precision,
    cells: &'a [usize],
    devices: usize,
    engine: Engine,
    threads: Option<usize>,
    schedule: Option<&'a str>,
}

/// All cases of one system, in the order of the table.
fn cases(args: &BenchArgs) -> Vec<Case<'_>> {
    let cells: Vec<&[usize]> = match &args.cells[..] {
        [] => vec![&[]],
        given => given.iter().map(|cells| &cells.0[..]).collect(),
    };
    let threads = some_or_usual(args.threads.iter().copied());
    let devices = if args.devices.is_empty() { &[1][..] } else { &args.devices };
    let schedules = some_or_usual(args.schedule.iter().map(String::as_str));
    let mut cases = Vec::new();
    for precision in &args.precision {
        for cells in &cells {
            for backend in &args.backend {
                for threads in &threads {
                    let each = schedules.iter().flat_map(|s| devices.iter().map(move |d| (s, d)));
                    cases.extend(each.map(|(schedule, devices)| Case {
                        precision: *precision,
                        cells,
                        devices: *devices,
                        engine: backend.engine(),
                        threads: *threads,
                        schedule: *schedule,
                    }));
                }
            }
        }
    }
    cases
}

/// The given values, or `None`, which stands for the usual one.
fn some_or_usual<T>(given: impl Iterator<Item = T>) -> Vec<Option<T>> {
    let given: Vec<Option<T>> = given.map(Some).collect();
    if given.is_empty() { vec![None] } else { given }
}

/// Prints to a terminal which case is being measured, as it takes seconds.
fn tell(system: &SystemDef, case: &Case<'_>) {
    let precision = case.precision.get().name();
    let schedule = case.schedule.unwrap_or(match case.engine {
        Engine::Cuda => "the model's pick, which may take a minute",
        _ => "its own schedule",
    });
    let (name, engine) = (system.name(), case.engine.name());
    let devices = match case.devices {
        1 => String::new(),
        several => format!(", {several} devices"),
    };
    note(&format!("{name} {precision} {engine}, {schedule}{devices} .."));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_one_number_or_one_for_each_axis() {
        assert_eq!(counts("128"), Ok(Cells(vec![128])));
        assert_eq!(counts("8, 16,1"), Ok(Cells(vec![8, 16, 1])));
        for (wrong, expected) in
            [("8,,8", "``"), ("x", "`x`"), ("1,2,3,4", "4 axes"), ("-8", "`-8`")]
        {
            let message = counts(wrong).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
