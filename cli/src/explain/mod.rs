//! `stencil explain`: a system as the compiler sees it, as a page to learn from; and the pages of the error
//! codes.

use std::fmt::Write as _;
use std::io::Write;

use clap::Args;
use stencil_compiler::cost::{self, Model};
use stencil_compiler::diag::{Code, nearest};
use stencil_report::Failure;
use stencil_report::explain::{Page, error_list, error_page};
use stencil_report::plan::{Problem, usual_cells};

use crate::source::{self, BuiltIn, Loaded, ScheduleArgs, SystemArgs};
use crate::{Ended, output};

mod plan;
#[cfg(test)]
mod tests;

/// Shows a system as the compiler sees it, its reads and the cost of a schedule (without one: of every preset).
#[derive(Args, Clone, Debug)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    system: SystemArgs,
    #[command(flatten)]
    schedule: ScheduleArgs,
    /// Predict the traffic of memory on a card for this many cells, and its time: one number for all axes, or one each
    #[arg(long, value_name = "N[,N,N]", value_delimiter = ',', num_args = 1)]
    cells: Vec<usize>,
    /// The card that times are predicted for: H200, H100, A100 or K40
    #[arg(long, value_name = "CARD", default_value = cost::MODELS[0].name, value_parser = card)]
    on: &'static Model,
    #[command(flatten)]
    plan: plan::PlanArgs,
}

/// Explains an error code.
#[derive(Args, Clone, Debug)]
pub(crate) struct ExplainErrorArgs {
    /// The code, as in P0101; without it, all codes are listed
    code: Option<String>,
}

/// Runs `stencil explain`.
pub(crate) fn run(
    args: &ExplainArgs,
    built_ins: &[BuiltIn],
    out: &mut dyn Write,
) -> Result<(), Ended> {
    if args.plan.is_given() {
        return plan::run(args, built_ins, out);
    }
    let page = page(args, built_ins)?;
    Ok(output::write(out, page.as_bytes())?)
}

fn page(args: &ExplainArgs, built_ins: &[BuiltIn]) -> Result<String, Failure> {
    let loaded = source::load(&args.system, built_ins)?;
    let cells = cells(&args.cells, loaded.algorithm.dimension)?;
    let loaded = loaded.settled(&args.schedule, cells)?;
    let schedule = args.schedule.schedule.as_deref();
    let named = |name| loaded.named(name, args.schedule.precision, cells);
    let usual = usual_cells(loaded.algorithm.dimension);
    let page = Page {
        problem: problem(args, &loaded, cells.unwrap_or(usual)),
        schedule: schedule.map(named).transpose()?,
        predicts: cells.is_some(),
    };
    page.text()
}

/// The problem of a system on a mesh, and for the card of the command line.
fn problem<'a>(args: &ExplainArgs, loaded: &'a Loaded, cells: [usize; 3]) -> Problem<'a> {
    Problem {
        model: &loaded.model,
        algorithm: &loaded.algorithm,
        chosen: loaded.chosen.as_ref(),
        precision: args.schedule.precision.get(),
        cells,
        on: args.on,
    }
}

pub(crate) fn card(name: &str) -> Result<&'static Model, String> {
    let known: Vec<&str> = cost::MODELS.iter().map(|m| m.name).collect();
    cost::model(name).ok_or_else(|| format!("there are {}", known.join(", ")))
}

/// Cells along each axis; axes that a system does not have have one.
pub(crate) fn cells(given: &[usize], dimension: usize) -> Result<Option<[usize; 3]>, Failure> {
    let along = |axis: usize| match (axis < dimension, given) {
        (false, _) => 1,
        (true, [all]) => *all,
        (true, each) => each.get(axis).copied().unwrap_or(0),
    };
    let cells = [along(0), along(1), along(2)];
    match given.len() {
        0 => Ok(None),
        n if (n == 1 || n == dimension) && !cells.contains(&0) => Ok(Some(cells)),
        _ => Err(Failure::new(format!(
            "error: --cells takes one number of cells, or {dimension} with commas between them, none of them 0"
        ))),
    }
}

/// Runs `stencil explain-error`.
pub(crate) fn run_error(args: &ExplainErrorArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(wanted) = &args.code else {
        return output::write(out, error_list().as_bytes());
    };
    let upper = wanted.to_ascii_uppercase();
    let Some(code) = Code::from_text(&upper) else {
        let mut message = format!("error: no error code `{wanted}`\n");
        if let Some(near) = nearest(&upper, Code::ALL.iter().map(|code| code.text())) {
            let _ = writeln!(message, "  help: did you mean `{near}`?");
        }
        return Err(Failure::new(message + &error_list()));
    };
    output::write(out, error_page(code).as_bytes())
}
