//! `stencil emit`: any stage between the declaration and machine code, as text.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use stencil_compiler::diag::counted;
use stencil_compiler::emit::{Places, Source};
use stencil_report::Failure;
use stencil_report::emit::{Emission, Stage, file_name, launches};
use stencil_runtime::backend::cuda::nvrtc::{Nvrtc, Resources};
use stencil_runtime::backend::cuda::{check_needs, usual_device};

use crate::explain::cells;
use crate::output;
use crate::source::{self, BuiltIn, ScheduleArgs, SystemArgs};

#[cfg(test)]
mod tests;

/// Prints one stage of the compiler for a system (schedule without one: `cpu` for rust and c, else `gpu`).
#[derive(Args, Clone, Debug)]
pub(crate) struct EmitArgs {
    /// The stage
    #[arg(long, value_enum)]
    target: Target,
    #[command(flatten)]
    system: SystemArgs,
    #[command(flatten)]
    schedule: ScheduleArgs,
    /// Cells of a run, as one number for all axes or one each: a plan file has a schedule for them, and kernels are those of
    /// a periodic box, with chunks for the usual card of --arch
    #[arg(long, value_name = "N[,N,N]", value_delimiter = ',', num_args = 1)]
    cells: Vec<usize>,
    /// Only this launch of a step, from 0, in place of all
    #[arg(long, value_name = "N")]
    launch: Option<usize>,
    /// The architecture of the machine code, and with --cells of the card whose multiprocessors share the mesh
    #[arg(long, value_name = "ARCH", default_value = "sm_90")]
    arch: String,
    /// CUDA C++ and machine code without marks (`#line`) that lead back to the declaration
    #[arg(long)]
    no_marks: bool,
    /// Write to a file in place of the terminal
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The texts of stages, and machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Text(Stage),
    Cubin,
}

impl ValueEnum for Target {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Target; Stage::ALL.len() + 1] = {
            let mut all = [Target::Cubin; Stage::ALL.len() + 1];
            let mut at = 0;
            while at < Stage::ALL.len() {
                all[at] = Target::Text(Stage::ALL[at].1);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, about) = match self {
            Target::Text(stage) => {
                let row = Stage::ALL.iter().find(|(_, own, _)| own == stage);
                row.map(|(name, _, about)| (*name, *about))?
            }
            Target::Cubin => ("cubin", "Machine code of one launch, compiled by NVRTC"),
        };
        Some(PossibleValue::new(name).help(about))
    }
}

impl Target {
    /// The stage whose text it is; none of machine code.
    fn stage(self) -> Option<Stage> {
        match self {
            Target::Text(stage) => Some(stage),
            Target::Cubin => None,
        }
    }
}

/// Runs the command. Resources of machine code go to `notes`.
pub(crate) fn run(
    args: &EmitArgs,
    built_ins: &[BuiltIn],
    out: &mut dyn Write,
    notes: &mut dyn Write,
) -> Result<(), Failure> {
    let loaded = source::load(&args.system, built_ins)?;
    let cells = cells(&args.cells, loaded.algorithm.dimension)?;
    let loaded = loaded.settled(&args.schedule, cells)?;
    let stage = args.target.stage();
    let usual = stage.unwrap_or(Stage::Cuda).usual_preset();
    let wanted = args.schedule.schedule.as_deref().unwrap_or(usual);
    let precision = args.schedule.precision.get();
    let on = (precision, usual_device(&args.arch).multiprocessor);
    let schedule =
        || Ok::<_, Failure>((wanted, source::schedule(wanted, &loaded.algorithm, on, cells)?));
    let is_scheduled = stage.is_none_or(Stage::is_scheduled);
    let emission = Emission {
        model: &loaded.model,
        algorithm: &loaded.algorithm,
        precision,
        cells,
        schedule: is_scheduled.then(schedule).transpose()?,
        architecture: &args.arch,
        launch: args.launch,
        marks: !args.no_marks,
    };
    match stage {
        Some(stage) => deliver(args, emission.text(stage)?.as_bytes(), out),
        None => deliver(args, &machine_code(args, &emission, notes)?, out),
    }
}

/// Compiles one launch and reports the resources of a multiprocessor that it takes.
fn machine_code(
    args: &EmitArgs,
    emission: &Emission<'_>,
    notes: &mut dyn Write,
) -> Result<Vec<u8>, Failure> {
    if args.output.is_none() && io::stdout().is_terminal() {
        return Err(Failure::new(
            "error: machine code is not for a terminal\n  help: give a file with --output",
        ));
    }
    let compiled = emission.compiled()?;
    let kernels = emission.kernels(&compiled)?;
    let [kernel] = kernels[..] else {
        return Err(Failure::new(format!(
            "error: machine code is of one launch; choose it with --launch\n{}",
            launches(&compiled)
        )));
    };
    let source = emission.cuda(kernel)?;
    check_needs(&source, &args.arch).map_err(|error| Failure::new(format!("error: {error}")))?;
    let compiler = Nvrtc::shared().map_err(|error| Failure::new(format!("error: {error}")))?;
    let name = file_name(&source);
    let compiled = if args.no_marks {
        compiler.compile(&source.text, &name, &args.arch)
    } else {
        compiler.compile_marked(
            &source.marked(&Places::of(&compiled.problem), &name),
            &name,
            &args.arch,
        )
    };
    let compiled = compiled.map_err(|error| Failure::new(format!("error: {error}")))?;
    let mut text = String::new();
    for kernel in &compiled.kernels {
        let _ = writeln!(text, "{}", resources(kernel, &source, &args.arch));
    }
    output::write(notes, text.as_bytes())?;
    Ok(compiled.cubin)
}

fn resources(kernel: &Resources, source: &Source, arch: &str) -> String {
    let shared = source.shared_bytes + kernel.shared_bytes as usize;
    format!(
        "{} for {arch}: {}, {} of spill stores, {} of spill loads, {} of shared memory, {}, {} a block",
        kernel.name,
        counted(kernel.registers, "register"),
        counted(kernel.spill_stores, "byte"),
        counted(kernel.spill_loads, "byte"),
        counted(shared, "byte"),
        counted(kernel.barriers, "barrier"),
        counted(source.threads.iter().product::<u32>(), "thread"),
    )
}

fn deliver(args: &EmitArgs, bytes: &[u8], out: &mut dyn Write) -> Result<(), Failure> {
    match &args.output {
        None => output::write(out, bytes),
        Some(path) => fs::write(path, bytes).map_err(|error| {
            Failure::new(format!("error: {} cannot be written: {error}", path.display()))
        }),
    }
}
