//! `stencil explain --plan`: a whole step as one tree, with what each kernel costs and why the schedule
//! was chosen over others; `--analyze` runs it.

use std::io::Write;
use std::path::PathBuf;

use super::ExplainArgs;
use crate::source::{self, BuiltIn, Failure, Precision};
use clap::Args;

mod analyze;
mod candidates;
mod cuts;
mod declared;
mod diff;
mod json;
mod pictures;
mod report;
mod rivals;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use candidates::Problem;
pub(crate) use candidates::{kind, spread};
use report::{Report, Wanted};

/// What of a plan is shown.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlanArgs {
    /// Show a whole step as one tree: fills, kernels, what each computes and costs; then what storing
    /// grid functions costs and saves, and the other candidates. Without --schedule it is of the
    /// candidate that is predicted to be the fastest
    #[arg(long, group = "shown")]
    plan: bool,
    /// The same, and run the schedule on the first card for a moment: the time of a step, and registers,
    /// spills and occupancy of its kernels as they are there
    #[arg(long, group = "shown")]
    analyze: bool,
    /// Another plan to compare with, a preset or a file: what it places, its kernels and what they cost
    #[arg(long, value_name = "PRESET|FILE", requires = "shown")]
    against: Option<String>,
    /// Schedules that are looked at beside the presets: of those that a search begins with, as many of
    /// each kind; then half as many neighbours of the fastest
    #[arg(long, value_name = "N", default_value = "64", requires = "shown")]
    candidates: usize,
    /// Write the plan as JSON in place of text
    #[arg(long, requires = "shown")]
    json: bool,
    /// Draw into this folder what depends on what and where it lives, the points that kernels read, and
    /// all candidates below the roof of the card, each as SVG and PNG
    #[arg(long, value_name = "FOLDER", requires = "shown")]
    pictures: Option<PathBuf>,
    /// Do not compile the kernels of the plan for their registers, even where there is a compiler
    #[arg(long, requires = "shown")]
    no_compile: bool,
}

impl PlanArgs {
    /// Is a plan asked for?
    pub(super) fn is_given(&self) -> bool {
        self.plan || self.analyze
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
    let dimension = loaded.algorithm.dimension;
    let given = super::cells(&args.cells, dimension)?;
    let cells = given.unwrap_or(usual(dimension));
    let loaded = loaded.settled(&args.schedule, Some(cells))?;
    let problem = Problem {
        model: &loaded.model,
        algorithm: &loaded.algorithm,
        chosen: loaded.chosen.as_ref(),
        precision: args.schedule.precision.get(),
        cells,
        on: args.on,
    };
    if args.plan.analyze {
        analyze::card()?;
    }
    let wanted = Wanted {
        schedule: args.schedule.schedule.as_deref(),
        against: args.plan.against.as_deref(),
        candidates: args.plan.candidates,
        compile: !args.plan.no_compile,
    };
    let mut report = Report::new(&problem, wanted)?;
    if args.plan.analyze {
        let measured = match args.schedule.precision {
            Precision::F32 => analyze::measure::<f32>(&problem, &report.plan)?,
            Precision::F64 => analyze::measure::<f64>(&problem, &report.plan)?,
        };
        report.plan.analyze(&problem, measured);
    }
    let text = match args.plan.json {
        true => format!("{:#}\n", json::report(&problem, &report)),
        false => text::page(&problem, &report),
    };
    source::write(out, text.as_bytes())?;
    if let Some(folder) = &args.plan.pictures {
        let files = pictures::save(folder, &problem, &report)?;
        // A JSON object stands alone.
        for file in files.iter().filter(|_| !args.plan.json) {
            source::write(out, format!("{}\n", file.display()).as_bytes())?;
        }
    }
    Ok(())
}
