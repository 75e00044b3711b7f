//! `stencil emit`: any stage between the declaration and machine code, as text.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{self, Compiled};
use stencil_compiler::diag::counted;
use stencil_compiler::emit::{self, EmitError, Places, Source};
use stencil_compiler::kernel::{self, Kernel};
use stencil_compiler::schedule::LaunchKind;
use stencil_compiler::search::advice::advised;
use stencil_compiler::{algorithm, model, plan, schedule};
use stencil_report::Failure;
use stencil_runtime::backend::cuda::nvrtc::{Nvrtc, Resources};
use stencil_runtime::backend::cuda::{check_needs, usual_device};

use crate::explain::cells;
use crate::output;
use crate::source::{self, BuiltIn, ScheduleArgs, SystemArgs};

#[cfg(test)]
mod tests;

/// Prints one stage of the compiler for a system (schedule without one: `cpu` for rust, else `gpu`).
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

/// The stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// The declaration as understood
    Model,
    /// The discrete problem: grid functions, roundings fixed
    Algorithm,
    /// The placement of grid functions and the blockings of kernels
    Schedule,
    /// Launches, buffers and fills of a step
    Plan,
    /// Launches as statements over blocks and threads
    Kernel,
    /// The program of the CPU: kernels over rows
    Rust,
    /// CUDA C++
    Cuda,
    /// Machine code of one launch, compiled by NVRTC
    Cubin,
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
    let text = match args.target {
        Target::Model => model::text::print(&loaded.model),
        Target::Algorithm => algorithm::text::print(&loaded.algorithm),
        _ => return scheduled(args, (&loaded.algorithm, cells), out, notes),
    };
    deliver(args, text.as_bytes(), out)
}

/// Stages that need a schedule.
fn scheduled(
    args: &EmitArgs,
    (algorithm, cells): (&Algorithm, Option<[usize; 3]>),
    out: &mut dyn Write,
    notes: &mut dyn Write,
) -> Result<(), Failure> {
    let default = if args.target == Target::Rust { "cpu" } else { "gpu" };
    let wanted = args.schedule.schedule.as_deref().unwrap_or(default);
    let precision = args.schedule.precision.get();
    let device = usual_device(&args.arch);
    let on = (precision, device.multiprocessor);
    let schedule = source::schedule(wanted, algorithm, on, cells)?;
    if args.target == Target::Schedule {
        return deliver(args, schedule::text::print(&schedule).as_bytes(), out);
    }
    // The processor has ghost cells, and fits nothing.
    let target = match (cells, schedule.is_for(LaunchKind::Blocks)) {
        (Some(cells), true) => compile::Target::periodic(precision.bytes(), cells, device),
        (None, true) => compile::Target::new(precision.bytes()).on(device),
        (_, false) => compile::Target::processor(precision.bytes()),
    };
    let compiled = advised(algorithm, &schedule, &target)
        .map_err(|error| Failure::new(format!("error: schedule `{wanted}` is illegal: {error}")))?;
    let text = match args.target {
        Target::Plan => plan::text::print(&compiled.plan),
        Target::Kernel => {
            joined(&chosen(args, &compiled)?, |kernel| Ok(kernel::text::print(kernel)))?
        }
        Target::Rust => emit::rust(&chosen(args, &compiled)?).map_err(|error| {
            unwritten(&error, "schedules over rows have Rust text: `cpu` and `rows` do")
        })?,
        Target::Cuda => joined(&chosen(args, &compiled)?, |kernel| {
            let source = cuda(args, kernel)?;
            if args.no_marks {
                return Ok(source.text);
            }
            Ok(source.marked(&Places::of(&compiled.problem), &file_name(&source)).text)
        })?,
        Target::Cubin => {
            let code = machine_code(args, &compiled, notes)?;
            return deliver(args, &code, out);
        }
        Target::Model | Target::Algorithm | Target::Schedule => String::new(),
    };
    deliver(args, text.as_bytes(), out)
}

/// The kernel that `--launch` names, or all.
fn chosen<'a>(args: &EmitArgs, compiled: &'a Compiled) -> Result<Vec<&'a Kernel>, Failure> {
    match args.launch {
        None => Ok(compiled.kernels.iter().collect()),
        Some(at) => match compiled.kernels.get(at) {
            Some(kernel) => Ok(vec![kernel]),
            None => Err(Failure::new(format!(
                "error: no launch {at}; a step has\n{}",
                launches(compiled)
            ))),
        },
    }
}

fn launches(compiled: &Compiled) -> String {
    let mut list = String::new();
    for (at, kernel) in compiled.kernels.iter().enumerate() {
        let _ = writeln!(list, "  {at}  {}", kernel.name);
    }
    list
}

fn joined(
    kernels: &[&Kernel],
    print: impl Fn(&Kernel) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let texts: Vec<String> =
        kernels.iter().map(|kernel| print(kernel)).collect::<Result<_, _>>()?;
    Ok(texts.join("\n"))
}

fn cuda(args: &EmitArgs, kernel: &Kernel) -> Result<Source, Failure> {
    let help = "schedules of thread blocks have CUDA text: `direct`, `decomposed`, `gathered`, `carried` and `gpu` do";
    emit::cuda(kernel, args.schedule.precision.get()).map_err(|error| unwritten(&error, help))
}

/// The file that marks call the text of a kernel.
fn file_name(source: &Source) -> String {
    format!("{}.cu", source.name)
}

fn unwritten(error: &EmitError, help: &str) -> Failure {
    match error {
        EmitError::Launch { .. } | EmitError::Rows { .. } => {
            Failure::new(format!("error: {error}\n  help: {help}"))
        }
        _ => Failure::new(format!("error: {error}")),
    }
}

/// Compiles one launch and reports the resources of a multiprocessor that it takes.
fn machine_code(
    args: &EmitArgs,
    compiled: &Compiled,
    notes: &mut dyn Write,
) -> Result<Vec<u8>, Failure> {
    if args.output.is_none() && io::stdout().is_terminal() {
        return Err(Failure::new(
            "error: machine code is not for a terminal\n  help: give a file with --output",
        ));
    }
    let kernels = chosen(args, compiled)?;
    let [kernel] = kernels[..] else {
        return Err(Failure::new(format!(
            "error: machine code is of one launch; choose it with --launch\n{}",
            launches(compiled)
        )));
    };
    let source = cuda(args, kernel)?;
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
