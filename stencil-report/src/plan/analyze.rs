//! A plan that is run for a moment: the time of a step on the card at hand, and the reports of the driver and of the
//! compiler on its kernels.

use std::collections::BTreeMap;

use stencil_compiler::cost::{Fills, Rates, StepTime, Time};
use stencil_runtime::backend::cuda::{Cache, Card, CudaError, Doubt, Launched, StepPart};
use stencil_runtime::bench::{batch, steps_of};
use stencil_runtime::{Engine, Error, Number, Simulation, SystemDef};

use super::candidates::Problem;
use super::report::Planned;
use crate::Failure;
use crate::{bench, smooth};

/// Timings of a run, and how long each is to take in seconds.
const TIMINGS: (usize, f64) = (10, 0.1);

/// Measurements of a plan.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// The card.
    pub(super) card: String,
    /// Seconds of a step: the best timing and the one in the middle.
    pub(super) best: f64,
    /// See `best`.
    pub(super) median: f64,
    /// Seconds of a step by the model, with what was measured of this card and the registers that its
    /// compiler reports.
    pub(super) predicted: f64,
    /// Measurements of the card that are not believed.
    pub(super) doubts: Vec<Doubt>,
    /// Bytes of a copy in a second, as measured beside it.
    pub(super) copy_bytes: f64,
    /// Kernels that a step launches, those that fill ghost cells among them.
    pub(super) launches: usize,
    /// The kernels of the plan in the order of a step.
    pub(super) kernels: Vec<Launched>,
    /// Seconds of each of them by itself, by its number, with the gap to the next launch; none where steps cannot be taken apart.
    pub(super) seconds_of: BTreeMap<usize, f64>,
}

/// Checks that there is a card, before a long search.
///
/// # Errors
/// If there is none, with what is missing.
pub fn card() -> Result<(), Failure> {
    let none = CudaError::Ordinal { ordinal: 0, count: 0 };
    match Card::all() {
        Ok(cards) if !cards.is_empty() => Ok(()),
        Ok(_) => Err(told(Error::Cuda(none))),
        Err(error) => Err(told(Error::Cuda(error))),
    }
}

fn told(error: Error) -> Failure {
    Failure::new(format!("error: {error}\n  help: --plan predicts without a card"))
}

/// Runs the schedule of a plan on the first card.
///
/// # Errors
/// If there is no card or no compiler for it, or if a run fails.
pub(super) fn measure<T: Number>(
    problem: &Problem<'_>,
    plan: &Planned,
) -> Result<Measured, Failure> {
    let file = &problem.algorithm.file;
    let system = SystemDef::from_model(file, problem.model.clone()).map_err(told)?;
    let run = smooth::run::<T>(&system, problem.cells)
        .engine(Engine::Cuda)
        .schedule(plan.schedule.clone());
    let mut simulation = run.build().map_err(told)?;
    smooth::fill(&mut simulation).map_err(told)?;
    let of_card = |error| told(Error::Cuda(error));
    let no_card = || told(Error::Bug("a run on a card has none".into()));
    let card = simulation.card().ok_or_else(no_card)?.clone();
    // Before the run heats it up.
    let calibration = card.calibration(Cache::of_user().as_ref(), false);
    let calibration = calibration.map_err(of_card)?;
    let seconds = timed(&mut simulation).map_err(told)?;
    let (best, median) = bench::best_and_median(&seconds);
    let kernels = simulation.launched();
    let parts = simulation.part_times().map_err(told)?;
    let seconds_of = parts.iter().filter_map(|time| match time.part {
        StepPart::Kernel(number) => Some((number, time.seconds)),
        _ => None,
    });
    Ok(Measured {
        seconds_of: seconds_of.collect(),
        copy_bytes: 1e9 * card.copy_gb_s().map_err(of_card)?,
        card: card.name,
        best,
        median,
        predicted: predicted(problem, plan, &calibration.rates, &kernels),
        doubts: calibration.doubts,
        launches: simulation.launches_a_step(),
        kernels,
    })
}

/// Seconds of a step on the card that ran it, by the model.
fn predicted(problem: &Problem<'_>, plan: &Planned, rates: &Rates, kernels: &[Launched]) -> f64 {
    let found = &plan.predicted;
    let times = found.costs.iter().zip(kernels).filter_map(|(cost, kernel)| {
        let resources = &kernel.resources;
        let registers = (resources.registers, resources.spill_loads + resources.spill_stores);
        cost.time(problem.cells, rates, registers)
    });
    let times: Vec<Time> = times.collect();
    let fills = Fills::of(&found.plan, problem.cells, problem.precision.bytes());
    StepTime::new(&times, &fills, rates).total
}

/// Seconds of a step in each timing.
fn timed<T: Number>(simulation: &mut Simulation<T>) -> Result<Vec<f64>, Error> {
    let (timings, seconds) = TIMINGS;
    let steps = steps_of(simulation, seconds)?;
    (0..timings).map(|_| batch(simulation, steps)).collect()
}
