//! `stencil explain --plan`: a whole step as one tree, with what each kernel costs and why the schedule
//! was chosen over others; `--analyze` runs it.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use super::ExplainArgs;
use crate::source::{self, BuiltIn, Failure};

mod candidates;
mod cuts;
mod json;
mod report;
mod rivals;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use candidates::Problem;
use report::Report;

/// What of a plan is shown.
#[derive(Args, Clone, Debug)]
#[group(id = "plan_args")]
pub(crate) struct PlanArgs {
    /// Show a whole step as one tree: fills, kernels, what each computes and costs; then what storing
    /// grid functions costs and saves, and the other candidates. Without --schedule it is of the
    /// candidate that is predicted to be the fastest
    #[arg(long)]
    plan: bool,
    /// Write JSON in place of text
    #[arg(long, requires = "plan_args")]
    json: bool,
    /// Do not compile the kernels for their registers, even where there is a compiler
    #[arg(long)]
    no_compile: bool,
}

impl PlanArgs {
    /// Is a plan asked for?
    pub(super) fn is_given(&self) -> bool {
        self.plan
    }
}

/// Cells of a report for which none are given: more than caches hold.
fn usual(dimension: usize) -> [usize; 3] {
    match dimension {
        1 => [1 << 24, 1, 1],
        2 => [4096, 4096, 1],
        _ => [256; 3],
    }
}

/// Runs the command.
pub(super) fn run(
    args: &ExplainArgs,
    built_ins: &[BuiltIn],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let loaded = source::load(&args.system, built_ins)?;
    let algorithm = &loaded.algorithm;
    let given = super::cells(&args.cells, algorithm.dimension)?;
    let problem = Problem {
        model: &loaded.model,
        algorithm,
        precision: args.schedule.precision.get(),
        cells: given.unwrap_or(usual(algorithm.dimension)),
        on: args.on,
    };
    let report = Report::new(&problem, args.schedule.schedule.as_deref(), !args.plan.no_compile)?;
    let text = match args.plan.json {
        true => format!("{:#}\n", json::report(&problem, &report)),
        false => text::page(&problem, &report),
    };
    source::write(out, text.as_bytes())
}
