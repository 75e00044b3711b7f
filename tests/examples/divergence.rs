//! Threads of warps without work, in the kernels of the study of surfaces and shared memory (`docs/src/studies.md`): counted by the
//! interpreter of kernels, in the almond of hot matter at several times. Prints a table.
//!
//! ```text
//! cargo run --release -p stencil-tests --example divergence
//! ```

use std::fs;
use std::path::PathBuf;

use stencil_compiler::compile::{Target, compile};
use stencil_compiler::kernel::interp::{Report, Shadow};
use stencil_compiler::schedule::text;
use stencil_runtime::Simulation;
use stencil_runtime::problem::{Change, Library, Problem};
use stencil_tests::{Case, Layout, Machine};

type Failure = Box<dyn std::error::Error>;

/// Cells of the run along each axis, and planes in the middle of it that are counted.
const CELLS: usize = 32;
const PLANES: usize = 4;
const TIMES: [f64; 4] = [0.0, 1.0, 2.0, 4.0];
const SCHEDULES: [&str; 3] = ["shared_16", "surface_16", "both_frames"];

fn main() -> Result<(), Failure> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/studies");
    let changes = [Change::set(&format!("mesh.cells={CELLS}"))];
    let problem = Problem::open(folder.join("nuclei.toml"), &Library::empty(), &changes)?;
    let mut simulation = problem.builder::<f32>().build()?;
    problem.initialize(&mut simulation)?;
    println!("| time | schedule | statements | loops | iterations a cell |");
    println!("| ---: | --- | ---: | ---: | ---: |");
    for time in TIMES {
        simulation.run_until(time, |_, _| ())?;
        for schedule in SCHEDULES {
            let source = fs::read_to_string(folder.join(format!("{schedule}.schedule")))?;
            let all = step(&simulation, &text::parse(&source)?)?;
            let iterations = all.iterations as f64 / (CELLS * CELLS * PLANES) as f64;
            let [statements, loops] = [all.idle(), all.idle_in_loops()].map(|share| 100.0 * share);
            println!(
                "| {time} | `{schedule}` | {statements:.1} % | {loops:.1} % | {iterations:.0} |"
            );
        }
    }
    Ok(())
}

/// Returns the statistics of one step from the present state, of all kernels on planes in the middle. Ghost cells are periodic.
fn step(
    simulation: &Simulation<f32>,
    schedule: &stencil_compiler::schedule::Schedule,
) -> Result<Report, Failure> {
    let algorithm = simulation.system().algorithm();
    let compiled = compile(algorithm, schedule, &Target::new(size_of::<f32>()))
        .map_err(|refused| refused.to_string())?;
    let spacing = simulation.spacing();
    // Of the stable step, of which waves are at most as fast as light.
    let dt = 0.4 * spacing[0];
    let case = Case { spacing, dt, ..Case::new(algorithm, [CELLS, CELLS, PLANES]) };
    let mut machine = Machine::<f32>::new(algorithm, &compiled, &case, Layout::ONE, 0, Shadow::Off);
    for name in simulation.components() {
        let values = simulation.to_f64(name)?;
        let from = (CELLS - PLANES) / 2 * CELLS * CELLS;
        let values = values.into_iter().skip(from).take(PLANES * CELLS * CELLS);
        let values: Vec<f32> = values.map(|value| value as f32).collect();
        machine.set(name, &values);
    }
    machine.step().map_err(|fault| fault.to_string())?;
    let mut all = Report::default();
    machine.reports().values().for_each(|report| all += *report);
    Ok(all)
}
