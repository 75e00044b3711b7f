//! The text before a run: equations as understood, settings, and the plan of a step.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::algorithm::footprint::{footprint, points};
use stencil_compiler::diag::counted;
use stencil_compiler::plan::Launch;
use stencil_runtime::problem::{Problem, TimeStep};
use stencil_runtime::report::significant;
use stencil_runtime::{Axis, Number, Restored, Simulation};

use crate::plan::{derived, ends};
use crate::{ByPlan, passes};

/// Returns the equations as understood, the settings, and the plan of a step.
pub fn start<T: Number>(
    (problem, chosen): (&Problem, Option<&ByPlan>),
    simulation: &Simulation<T>,
) -> String {
    let system = simulation.system();
    let mut out = format!("{}: {}\n\n{}\n", problem.name, problem.title, system.name());
    for equation in system.equations() {
        let _ = writeln!(out, "  {equation}");
    }
    let _ = writeln!(out, "  {}", system.algorithm().scheme);
    if let Some(chosen) = chosen {
        let _ = writeln!(out, "  {}", chosen.words());
    }
    settings(&mut out, problem, simulation);
    out.push_str(&format!("\n{}\n", plan(simulation)));
    out
}

/// Mesh, boundaries, time step and parameters.
fn settings<T: Number>(out: &mut String, problem: &Problem, simulation: &Simulation<T>) {
    let axes = simulation.system().model().dimension;
    let (cells, extent) = mesh(problem);
    let points = match problem.mesh.centered {
        true => "in the middle of cells, faces at both ends of the box",
        false => "at the lower ends of cells, faces half a cell lower",
    };
    let _ = writeln!(out, "\nrun\n  {cells} cells of a box, {extent}");
    if Axis::ALL[..axes].iter().any(|a| !problem.is_periodic(*a)) {
        let _ = writeln!(out, "  points {points}");
    }
    if let Some(patches) = patches(simulation) {
        let _ = writeln!(out, "  {patches}");
    }
    if let Some(devices) = devices(simulation) {
        let _ = writeln!(out, "  {devices}");
    }
    if let Some(passes) = simulation.passes() {
        for line in passes::lines(&passes, simulation.bytes()) {
            let _ = writeln!(out, "  {line}");
        }
    }
    for line in problem.boundary_lines() {
        let _ = writeln!(out, "  {line}");
    }
    let dt = step(problem.time.dt);
    let end = problem.time.end.map(|end| format!("t = {end}"));
    let steps = problem.time.steps.map(|steps| format!("step {steps}"));
    let until = join(end.into_iter().chain(steps), " or ");
    // A run that goes on as its user says has no end.
    let until = if until.is_empty() { until } else { format!(", until {until}") };
    let _ = writeln!(out, "  {dt}{until}");
    let params = simulation.params();
    let params = join(params.map(|(name, value)| format!("{name} = {value}")), ", ");
    if !params.is_empty() {
        let _ = writeln!(out, "  {params}");
    }
    for remark in simulation.remarks() {
        let _ = writeln!(out, "  note: {remark}");
    }
}

/// The cells and the edges of a box, along its axes.
pub(crate) fn mesh(problem: &Problem) -> (String, String) {
    let axes = problem.system.model().dimension;
    let cells = problem.mesh.cells[..axes].iter();
    let extent = problem.mesh.extent[..axes].iter();
    let extent = extent.map(|l| significant(*l, 6));
    (join(cells.map(ToString::to_string), " × "), join(extent, " × "))
}

/// The length of a step in words.
pub(crate) fn step(dt: TimeStep) -> String {
    match dt {
        TimeStep::Fixed(dt) => format!("dt = {}", significant(dt, 6)),
        TimeStep::Cfl(number) => format!("dt by cfl({number})"),
        TimeStep::Auto => "dt as long as is stable".to_string(),
    }
}

/// `2 × 1 × 3 patches of 64 × 128 × 32 cells`, where there are many; of `at most` so many if some have fewer.
pub(super) fn patches<T: Number>(simulation: &Simulation<T>) -> Option<String> {
    let (counts, cells) = (simulation.patches(), simulation.cells());
    let axes = simulation.system().model().dimension;
    let text = |of: &dyn Fn(usize) -> usize| join((0..axes).map(|a| of(a).to_string()), " × ");
    let alike = (0..3).all(|a| cells[a].is_multiple_of(counts[a]));
    let most = if alike { "" } else { "at most " };
    (counts != [1; 3]).then(|| {
        let largest = text(&|a| cells[a].div_ceil(counts[a]));
        format!("{} patches of {most}{largest} cells", text(&|a| counts[a]))
    })
}

/// `2 cards`, `2 ranks of MPI`, or `2 devices, simulated by the processor`, where there are several.
pub(super) fn devices<T: Number>(simulation: &Simulation<T>) -> Option<String> {
    match (simulation.devices(), simulation.card()) {
        (1, _) => None,
        (ranks, _) if simulation.ranks().count() > 1 => {
            let cards =
                simulation.carrier().map(|by| format!(" with cards, joined by {}", by.words()));
            Some(format!("{ranks} ranks of MPI{}", cards.unwrap_or_default()))
        }
        (several, Some(_)) => Some(format!("{several} cards")),
        (several, None) => Some(format!("{several} devices, simulated by the processor")),
    }
}

fn join(values: impl Iterator<Item = String>, between: &str) -> String {
    values.collect::<Vec<_>>().join(between)
}

/// Returns what a run goes on from.
pub fn restored(path: &Path, restored: &Restored) -> String {
    let Restored { t, step, .. } = restored;
    let mut out = format!("goes on from {}: step {step}, t = {t}\n", path.display());
    for line in &restored.changed {
        let _ = writeln!(out, "  note: {line}");
    }
    out + "\n"
}

/// Returns the plan of a step, a line for each kernel, with its arrays.
pub fn plan<T: Number>(simulation: &Simulation<T>) -> String {
    let mut out = String::new();
    let (system, plan) = (simulation.system(), simulation.plan());
    let _ = match plan.time_steps {
        1 => writeln!(out, "plan of a step"),
        steps => writeln!(out, "plan of {steps} steps at once"),
    };
    let scheduled = simulation.schedule().problem(system.algorithm());
    let problem = scheduled.unwrap_or(Cow::Borrowed(system.algorithm()));
    let substeps = problem.substeps.len();
    // Substeps differ in their factors only: the last one stands for all.
    for launch in plan.launches.iter().filter(|l| l.substep + 1 == substeps) {
        let _ = writeln!(out, "  {}", describe(&problem, launch));
    }
    let stored = derived(plan);
    let stored =
        if stored.is_empty() { "nothing but the fields".to_string() } else { stored.join(", ") };
    let launches = counted(plan.launches.len(), "launch");
    let substeps = counted(substeps, "substep");
    let _ = writeln!(out, "  {launches} in {substeps}; stored: {stored}");
    let mib = simulation.bytes() as f64 / f64::from(1 << 20);
    let _ = writeln!(out, "  {}, {mib:.1} MiB with ghost cells", counted(plan.memories(), "array"));
    out
}

/// One kernel: what it reads at how many points, and what it writes.
fn describe(algorithm: &Algorithm, launch: &Launch) -> String {
    let (roots, stored) = ends(algorithm, launch);
    let footprint = footprint(algorithm, &roots, &stored);
    let most = footprint.values().map(BTreeSet::len).max().unwrap_or(0);
    format!(
        "kernel {}: {} reads {} at up to {} each ({} in all), writes {}",
        launch.name,
        launch.blocking.strategy,
        counted(footprint.len(), "array"),
        counted(most, "point"),
        points(&footprint),
        launch.outputs.len(),
    )
}
