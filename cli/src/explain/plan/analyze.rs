//! A plan that is run for a moment: what a step takes on the card at hand, and its kernels as the driver
//! and the compiler of the card report them.

use std::time::Instant;

use stencil_runtime::backend::cuda::{Card, CudaError, Launched};
use stencil_runtime::{Engine, Error, Number, Simulation, SystemDef};

use super::candidates::Problem;
use super::report::Planned;
use crate::source::Failure;
use crate::{bench, smooth};

/// Timings of a run, and how long each is to take in seconds.
const TIMINGS: (usize, f64) = (10, 0.1);

/// What was measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// The card.
    pub(super) card: String,
    /// Seconds of a step: the best timing and the one in the middle.
    pub(super) best: f64,
    /// See `best`.
    pub(super) median: f64,
    /// Bytes of a copy in a second, as measured beside it.
    pub(super) copy_bytes: f64,
    /// Kernels that a step launches, those that fill ghost cells among them.
    pub(super) launches: usize,
    /// The kernels of the plan in the order of a step.
    pub(super) kernels: Vec<Launched>,
}

/// Is there a card? Asked before a long search.
///
/// # Errors
/// If there is none, with what is missing.
pub(super) fn card() -> Result<(), Failure> {
    let none = CudaError::Ordinal {
        ordinal: 0,
        count: 0,
    };
    match Card::all() {
        Ok(cards) if !cards.is_empty() => Ok(()),
        Ok(_) => Err(told(Error::Cuda(none))),
        Err(error) => Err(told(Error::Cuda(error))),
    }
}

fn told(error: Error) -> Failure {
    Failure::new(format!(
        "error: {error}\n  help: --plan predicts without a card"
    ))
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
    let seconds = timed(&mut simulation).map_err(told)?;
    let (best, median) = bench::best_and_median(&seconds);
    let copy = simulation.card().map(|card| card.copy_gb_s()).transpose();
    let copy = copy.map_err(|error| told(Error::Cuda(error)))?;
    Ok(Measured {
        card: simulation
            .card()
            .map_or(String::new(), |card| card.name.clone()),
        best,
        median,
        copy_bytes: 1e9 * copy.unwrap_or(0.0),
        launches: simulation.launches_a_step(),
        kernels: simulation.launched(),
    })
}

/// Seconds of a step in each timing.
fn timed<T: Number>(simulation: &mut Simulation<T>) -> Result<Vec<f64>, Error> {
    let mut time = |steps: u64| -> Result<f64, Error> {
        let begin = Instant::now();
        simulation.run(steps, |_, _| ())?;
        Ok(begin.elapsed().as_secs_f64().max(1e-9))
    };
    // The first step touches memory for the first time and is no measure.
    time(1)?;
    let steps = (TIMINGS.1 / time(1)?).ceil().clamp(1.0, 1e6) as u64;
    (0..TIMINGS.0)
        .map(|_| Ok(time(steps)? / steps as f64))
        .collect()
}
