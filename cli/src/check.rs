//! `stencil check`: what is understood of a declaration or of a problem file, or all that is wrong.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use clap::Args;
use stencil_compiler::algorithm::footprint::{Footprint, footprint, points, radius};
use stencil_compiler::algorithm::{Algorithm, Def, FnId, Role, Substep};
use stencil_compiler::diag::counted;
use stencil_compiler::model::Rank;
use stencil_compiler::model::parse::{Dimensions, dimensions};
use stencil_runtime::SystemDef;
use stencil_runtime::problem::{Change, Problem, TimeStep};
use stencil_runtime::report::significant;

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
    Ended {
        code: USAGE,
        message,
    }
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

/// Names, equations, and what the scheme makes of them.
fn system(system: &SystemDef) -> String {
    let (model, algorithm) = (system.model(), system.algorithm());
    let mut page = format!("{}, in {}d\n", system.name(), model.dimension);
    let states = |role: Role| {
        let states = algorithm.states.iter().filter(move |s| s.role == role);
        states.map(|s| s.name.clone()).collect::<Vec<_>>()
    };
    row(&mut page, "components", &states(Role::Field));
    row(&mut page, "sources", &states(Role::Given));
    let params = algorithm.params.iter().map(|p| match p.default {
        Some(value) => format!("{} = {value}", p.name),
        None => format!("{} (to be given)", p.name),
    });
    row(&mut page, "parameters", &params.collect::<Vec<_>>());
    let observed = model.observables.iter().map(|o| o.name.clone());
    row(&mut page, "observed", &observed.collect::<Vec<_>>());
    let speeds = model.speeds.iter().map(|s| match s.value.rank {
        Rank::Scalar => s.kind().to_string(),
        Rank::Vector | Rank::Tensor => format!("{} along each axis", s.kind()),
    });
    row(&mut page, "speeds", &speeds.collect::<Vec<_>>());
    page.push_str("equations\n");
    for equation in system.equations() {
        let _ = writeln!(page, "  {equation}");
    }
    let _ = writeln!(page, "scheme\n  {}", algorithm.scheme);
    if let Some(kept) = model.repair_text() {
        let _ = writeln!(page, "  {kept}");
    }
    let others = model.schemes().skip(1).map(|s| s.name.clone());
    row(&mut page, "  others", &others.collect::<Vec<_>>());
    page.push_str(&footprints(algorithm));
    page
}

fn row(page: &mut String, name: &str, values: &[String]) {
    if !values.is_empty() {
        let _ = writeln!(page, "{name:<12}{}", values.join(", "));
    }
}

/// The points that a right-hand side reads if nothing is stored, of the substep that reads most.
fn footprints(algorithm: &Algorithm) -> String {
    let of = |substep: &Substep| {
        let roots: Vec<FnId> = substep.updates.iter().map(|(_, id)| *id).collect();
        let mut read = footprint(algorithm, &roots, &BTreeSet::new());
        read.retain(|id, _| match algorithm.function(*id).def {
            Def::State(state) => algorithm.state(state).role == Role::Field,
            Def::Point(_) | Def::Sum(_) => true,
        });
        read
    };
    let all: Vec<Footprint> = algorithm.substeps.iter().map(of).collect();
    let most = all.iter().max_by_key(|read| points(read));
    let read = most.cloned().unwrap_or_default();
    let each = read.iter().map(|(id, at)| {
        let name = &algorithm.function(*id).name;
        format!("{name} {}", at.len())
    });
    let each: Vec<String> = each.collect();
    let alike = all.iter().all(|other| points(other) == points(&read));
    let [rx, ry, rz] = radius(&read);
    format!(
        "  {}; each reads {}{} of its neighbourhood ({}), {} away at most\n",
        counted(algorithm.substeps.len(), "substep"),
        if alike { "" } else { "at most " },
        counted(points(&read), "point"),
        each.join(", "),
        counted(rx.max(ry).max(rz), "cell")
    )
}

/// The settings that a problem adds to its system.
fn settings(problem: &Problem) -> String {
    let mut page = format!("problem\n  {}: {}\n", problem.name, problem.title);
    let axes = problem.system.model().dimension;
    let cells = problem.mesh.cells[..axes].iter().map(ToString::to_string);
    let extent = problem.mesh.extent[..axes]
        .iter()
        .map(|l| significant(*l, 6));
    let _ = writeln!(
        page,
        "  {} cells, {}",
        cells.collect::<Vec<_>>().join(" × "),
        extent.collect::<Vec<_>>().join(" × ")
    );
    for line in problem.boundary_lines() {
        let _ = writeln!(page, "  {line}");
    }
    let params = problem
        .params
        .iter()
        .map(|(name, v)| format!("{name} = {v}"));
    row(&mut page, "  params", &params.collect::<Vec<_>>());
    let dt = match problem.time.dt {
        TimeStep::Fixed(dt) => format!("dt = {}", significant(dt, 6)),
        TimeStep::Cfl(number) => format!("dt by cfl({number})"),
        TimeStep::Auto => "dt as long as is stable".to_string(),
    };
    let end = problem.time.end.map(|end| format!(", until t = {end}"));
    let steps = problem
        .time
        .steps
        .map(|n| format!(", at most {}", counted(n, "step")));
    let (end, steps) = (end.unwrap_or_default(), steps.unwrap_or_default());
    let _ = writeln!(page, "  {dt}{end}{steps}");
    let _ = writeln!(page, "  files go to {}", problem.output.dir.display());
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_that_of_the_substep_that_reads_most() {
        let source = "system A in 2d { conserved q: scalar; flux q -> [q, q]; ddt(q) = -q; cfl { advective: 1; } }
            scheme s for A { reconstruct: plm; riemann: force; time: euler; sweep: strang; }";
        let page = system(&SystemDef::from_text("a.pde", source).unwrap());
        let wanted =
            "5 substeps; each reads at most 5 points of its neighbourhood (q 5), 2 cells away";
        assert!(page.contains(wanted), "{page}");
    }
}
