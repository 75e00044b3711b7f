//! What a run says before it starts: equations as understood, settings, and the plan of a step.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use physics::problems::Problem;
use stencil_compiler::algorithm::FnId;
use stencil_compiler::algorithm::footprint::{footprint, points};
use stencil_compiler::plan::{BufferRole, Launch};
use stencil_runtime::{Number, Simulation};

/// The text.
pub(super) fn report<T: Number>(problem: &Problem, simulation: &Simulation<T>) -> String {
    let system = simulation.system();
    let mut out = format!(
        "{}: {}\n\n{}\n",
        problem.name,
        problem.summary,
        system.name()
    );
    for equation in system.equations() {
        let _ = writeln!(out, "  {equation}");
    }
    let _ = writeln!(out, "  {}", system.algorithm().scheme);
    let axes = system.model().dimension;
    let join = |values: Vec<String>, between| values.join(between);
    let cells = join(
        simulation.cells()[..axes]
            .iter()
            .map(ToString::to_string)
            .collect(),
        " × ",
    );
    let extent = join(
        problem.extent[..axes]
            .iter()
            .map(|l| format!("{l:.4}"))
            .collect(),
        " × ",
    );
    let params = join(
        simulation
            .params()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect(),
        ", ",
    );
    let _ = writeln!(
        out,
        "\nrun\n  {cells} cells of a periodic box, {extent}\n  dt = {:.4e}, {params}",
        simulation.dt()
    );
    plan_of_a_step(&mut out, simulation);
    out
}

fn plan_of_a_step<T: Number>(out: &mut String, simulation: &Simulation<T>) {
    let (system, plan) = (simulation.system(), simulation.plan());
    let _ = writeln!(out, "\nplan of a step");
    let substeps = system.algorithm().substeps.len();
    // Substeps differ in their factors only: the last one stands for all.
    for launch in plan.launches.iter().filter(|l| l.substep + 1 == substeps) {
        let _ = writeln!(out, "  {}", describe(simulation, launch));
    }
    let stored: Vec<&str> = plan
        .buffers
        .iter()
        .filter(|b| b.role == BufferRole::Derived)
        .map(|b| b.name.as_str())
        .collect();
    let stored = if stored.is_empty() {
        "nothing but the fields".to_string()
    } else {
        stored.join(", ")
    };
    let launches = plan.launches.len();
    let _ = writeln!(
        out,
        "  {launches} launches in {substeps} substeps; stored: {stored}"
    );
    let mib = simulation.bytes() as f64 / f64::from(1 << 20);
    let _ = writeln!(
        out,
        "  {} buffers, {mib:.1} MiB with ghost cells\n",
        plan.buffers.len()
    );
}

/// One kernel: what it reads at how many points, and what it writes.
fn describe<T: Number>(simulation: &Simulation<T>, launch: &Launch) -> String {
    let algorithm = simulation.system().algorithm();
    let find = |name: &String| algorithm.find(name);
    let roots: Vec<FnId> = launch
        .outputs
        .iter()
        .filter_map(|(_, function)| find(function))
        .collect();
    let stored = simulation
        .plan()
        .buffers
        .iter()
        .filter(|b| b.role == BufferRole::Derived);
    let stored: BTreeSet<FnId> = stored.filter_map(|b| find(&b.name)).collect();
    let footprint = footprint(algorithm, &roots, &stored);
    let most = footprint.values().map(BTreeSet::len).max().unwrap_or(0);
    format!(
        "kernel {}: {} reads {} arrays at up to {most} points each ({} in all), writes {}",
        launch.name,
        launch.blocking.strategy,
        footprint.len(),
        points(&footprint),
        launch.outputs.len(),
    )
}
