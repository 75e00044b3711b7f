//! Short pages on a declaration and on a problem, for `stencil check`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use stencil_compiler::algorithm::footprint::{Footprint, footprint, points, radius};
use stencil_compiler::algorithm::{Algorithm, Def, FnId, Role, Substep};
use stencil_compiler::catalogue::Rank;
use stencil_compiler::diag::counted;
use stencil_runtime::SystemDef;
use stencil_runtime::problem::Problem;

use crate::run::{mesh, step};

/// Returns names, equations and footprints of a system.
pub fn system(system: &SystemDef) -> String {
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
    let kept = algorithm.kept_divergences(model.scheme.order);
    row(&mut page, "  kept", &kept.iter().map(|name| format!("div {name}")).collect::<Vec<_>>());
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

/// Returns the settings that a problem adds to its system.
pub fn settings(problem: &Problem) -> String {
    let mut page = format!("problem\n  {}: {}\n", problem.name, problem.title);
    let (cells, extent) = mesh(problem);
    let _ = writeln!(page, "  {cells} cells, {extent}");
    for line in problem.boundary_lines() {
        let _ = writeln!(page, "  {line}");
    }
    let params = problem.params.iter().map(|(name, v)| format!("{name} = {v}"));
    row(&mut page, "  params", &params.collect::<Vec<_>>());
    let dt = step(problem.time.dt);
    let end = problem.time.end.map(|end| format!(", until t = {end}"));
    let steps = problem.time.steps.map(|n| format!(", at most {}", counted(n, "step")));
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
