//! Stages of the compiler as text, between the declaration and the source text of a device.

use std::fmt::Write as _;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{self, Compiled};
use stencil_compiler::emit::{self, EmitError, Places, Source};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::{self, Kernel};
use stencil_compiler::model::Model;
use stencil_compiler::schedule::{LaunchKind, Schedule};
use stencil_compiler::search::advice::advised;
use stencil_compiler::{algorithm, model, plan, schedule};
use stencil_runtime::backend::cuda::usual_device;

use crate::Failure;

/// Bytes of the registers of C text.
const C_REGISTER: usize = 64;

/// A stage with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The declaration as understood.
    Model,
    /// The discrete problem: grid functions, roundings fixed.
    Algorithm,
    /// The placement of grid functions and the blockings of kernels.
    Schedule,
    /// Launches, buffers and fills of a step.
    Plan,
    /// Launches as statements over blocks and threads.
    Kernel,
    /// The program of the processor: kernels over rows.
    Rust,
    /// The same in C, as it is compiled at run time.
    C,
    /// CUDA C++.
    Cuda,
}

impl Stage {
    /// Every stage with its name and a line about it, in the order of the pipeline.
    pub const ALL: [(&'static str, Stage, &'static str); 8] = [
        ("model", Stage::Model, "The declaration as understood"),
        ("algorithm", Stage::Algorithm, "The discrete problem: grid functions, roundings fixed"),
        (
            "schedule",
            Stage::Schedule,
            "The placement of grid functions and the blockings of kernels",
        ),
        ("plan", Stage::Plan, "Launches, buffers and fills of a step"),
        ("kernel", Stage::Kernel, "Launches as statements over blocks and threads"),
        ("rust", Stage::Rust, "The program of the CPU: kernels over rows"),
        (
            "c",
            Stage::C,
            "The same in C, for registers of 64 bytes: the program of a system in a file",
        ),
        ("cuda", Stage::Cuda, "CUDA C++"),
    ];

    /// Returns the stage of a name.
    pub fn of_name(name: &str) -> Option<Stage> {
        Stage::ALL.iter().find(|(own, ..)| *own == name).map(|(_, stage, _)| *stage)
    }

    /// Does it need a schedule?
    pub fn is_scheduled(self) -> bool {
        !matches!(self, Stage::Model | Stage::Algorithm)
    }

    /// Returns the preset that it is printed by if no schedule is given.
    pub fn usual_preset(self) -> &'static str {
        if matches!(self, Stage::Rust | Stage::C) { "cpu" } else { "gpu" }
    }
}

/// A system on its way through the compiler.
#[derive(Clone, Debug)]
pub struct Emission<'a> {
    /// The equations.
    pub model: &'a Model,
    /// The discrete problem.
    pub algorithm: &'a Algorithm,
    /// Of the values.
    pub precision: Precision,
    /// Cells of a periodic mesh, if it is known.
    pub cells: Option<[usize; 3]>,
    /// The schedule with its name in messages; stages that are [scheduled](Stage::is_scheduled) need one.
    pub schedule: Option<(&'a str, Schedule)>,
    /// The architecture of the card whose multiprocessors share the mesh.
    pub architecture: &'a str,
    /// Only this launch of a step, from 0, in place of all.
    pub launch: Option<usize>,
    /// Has CUDA C++ lines that lead back to the declaration?
    pub marks: bool,
}

impl Emission<'_> {
    /// Returns the text of a stage.
    ///
    /// # Errors
    /// If the schedule is illegal, there is no such launch, or the schedule has no text of this kind.
    pub fn text(&self, stage: Stage) -> Result<String, Failure> {
        match stage {
            Stage::Model => return Ok(model::text::print(self.model)),
            Stage::Algorithm => return Ok(algorithm::text::print(self.algorithm)),
            Stage::Schedule => return Ok(schedule::text::print(self.scheduled()?.1)),
            Stage::Plan | Stage::Kernel | Stage::Rust | Stage::C | Stage::Cuda => {}
        }
        let compiled = self.compiled()?;
        match stage {
            Stage::Rust => emit::rust(&self.kernels(&compiled)?)
                .map_err(|error| unwritten(&error, &over_rows("Rust"))),
            Stage::C => {
                let lanes = C_REGISTER / self.precision.bytes();
                emit::c(&self.kernels(&compiled)?, self.precision, lanes)
                    .map_err(|error| unwritten(&error, &over_rows("C")))
            }
            Stage::Cuda => joined(&self.kernels(&compiled)?, |kernel| {
                let source = self.cuda(kernel)?;
                if !self.marks {
                    return Ok(source.text);
                }
                Ok(source.marked(&Places::of(&compiled.problem), &file_name(&source)).text)
            }),
            Stage::Kernel => {
                joined(&self.kernels(&compiled)?, |kernel| Ok(kernel::text::print(kernel)))
            }
            Stage::Plan | Stage::Model | Stage::Algorithm | Stage::Schedule => {
                Ok(plan::text::print(&compiled.plan))
            }
        }
    }

    /// Carries the schedule through.
    ///
    /// # Errors
    /// If it is illegal.
    pub fn compiled(&self) -> Result<Compiled, Failure> {
        let (name, schedule) = self.scheduled()?;
        let device = usual_device(self.architecture);
        let bytes = self.precision.bytes();
        // The processor has ghost cells, and fits nothing.
        let target = match (self.cells, schedule.is_for(LaunchKind::Blocks)) {
            (Some(cells), true) => compile::Target::periodic(bytes, cells, device),
            (None, true) => compile::Target::new(bytes).on(device),
            (_, false) => compile::Target::processor(bytes),
        };
        advised(self.algorithm, schedule, &target)
            .map_err(|error| Failure::new(format!("error: schedule `{name}` is illegal: {error}")))
    }

    fn scheduled(&self) -> Result<(&str, &Schedule), Failure> {
        let given = self.schedule.as_ref().map(|(name, schedule)| (*name, schedule));
        given.ok_or_else(|| {
            Failure::new("error: this stage needs a schedule\n  help: name a preset such as `gpu`")
        })
    }

    /// Returns the kernel of the launch that is asked for, or all.
    ///
    /// # Errors
    /// If there is no such launch.
    pub fn kernels<'a>(&self, compiled: &'a Compiled) -> Result<Vec<&'a Kernel>, Failure> {
        match self.launch {
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

    /// Returns the CUDA C++ of a kernel.
    ///
    /// # Errors
    /// If its schedule is not one of thread blocks.
    pub fn cuda(&self, kernel: &Kernel) -> Result<Source, Failure> {
        let help = "schedules of thread blocks have CUDA text: `direct`, `decomposed`, `gathered`, `carried` and `gpu` do";
        emit::cuda(kernel, self.precision).map_err(|error| unwritten(&error, help))
    }
}

/// Returns a line for each launch of a step, with its number.
pub fn launches(compiled: &Compiled) -> String {
    let mut list = String::new();
    for (at, kernel) in compiled.kernels.iter().enumerate() {
        let _ = writeln!(list, "  {at}  {}", kernel.name);
    }
    list
}

/// Returns the name of the file that marks call the text of a kernel.
pub fn file_name(source: &Source) -> String {
    format!("{}.cu", source.name)
}

fn joined(
    kernels: &[&Kernel],
    print: impl Fn(&Kernel) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let texts: Vec<String> =
        kernels.iter().map(|kernel| print(kernel)).collect::<Result<_, _>>()?;
    Ok(texts.join("\n"))
}

/// The schedules with a text of the processor.
fn over_rows(language: &str) -> String {
    format!("schedules over rows have {language} text: `cpu` and `rows` do")
}

fn unwritten(error: &EmitError, help: &str) -> Failure {
    match error {
        EmitError::Launch { .. } | EmitError::Rows { .. } => {
            Failure::new(format!("error: {error}\n  help: {help}"))
        }
        _ => Failure::new(format!("error: {error}")),
    }
}
