//! `stencil check`: a summary of a declaration or a problem file, or all of its errors.

use std::io::Write;
use std::path::Path;

use clap::Args;
use stencil_compiler::model::parse::{Dimensions, dimensions};
use stencil_report::check::{settings, system};
use stencil_runtime::SystemDef;
use stencil_runtime::problem::Change;

use crate::run::target;
use crate::{Ended, USAGE, output, source};

/// Arguments of `stencil check`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CheckArgs {
    /// A declaration, a problem file, or a problem by its name
    #[arg(value_name = "FILE.pde|FILE.toml|NAME")]
    file: String,
    /// A setting in place of the problem file's; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Number of dimensions of a system `in nd`; each that there is if not given
    #[arg(long, value_name = "N", value_parser = source::dimension())]
    dimension: Option<usize>,
}

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let path = Path::new(&args.file);
    let page = if path.extension().is_some_and(|e| e == "pde") {
        declaration(path, args.dimension)?
    } else {
        let dimension = args.dimension.map(|n| n.to_string());
        let dimension = dimension.map(|n| Change::option("--dimension", "dimension", &n));
        let set = args.set.iter().map(|text| Change::set(text));
        let changes: Vec<Change> = dimension.into_iter().chain(set).collect();
        let problem = target::open(&args.file, &changes)?;
        system(&problem.system) + &settings(&problem)
    };
    Ok(output::write(out, page.as_bytes())?)
}

fn wrong(message: String) -> Ended {
    Ended { code: USAGE, message }
}

/// A declaration, in each number of dimensions that it leaves open, or in this one.
fn declaration(path: &Path, dimension: Option<usize>) -> Result<String, Ended> {
    let name = path.display().to_string();
    let text = stencil_runtime::io::read_text(path)
        .map_err(|e| wrong(format!("error: cannot read `{name}`: {e}")))?;
    let read = |dimension: Option<usize>| {
        SystemDef::from_text_in(&name, &text, dimension).map_err(|e| wrong(e.to_string()))
    };
    if dimension.is_some() || dimensions(&text) != Some(Dimensions::Any) {
        return Ok(system(&read(dimension)?));
    }
    let each = (1..=3).map(|dimension| (dimension, read(Some(dimension))));
    let each: Vec<(usize, Result<SystemDef, Ended>)> = each.collect();
    if each.iter().all(|(_, read)| read.is_err()) {
        let messages = each.into_iter().filter_map(|(_, read)| read.err());
        let mut messages: Vec<String> = messages.map(|ended| ended.message).collect();
        messages.dedup();
        return Err(wrong(messages.join("\n")));
    }
    let page = |(dimension, read): (usize, Result<SystemDef, Ended>)| match read {
        Ok(read) => system(&read),
        Err(ended) => format!("not in {dimension}d:\n{}", ended.message),
    };
    Ok(each.into_iter().map(page).collect::<Vec<_>>().join("\n"))
}
