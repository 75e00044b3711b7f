//! `stencil run --tune`: schedules are timed before a run begins.

use std::time::{Duration, Instant};

use stencil_report::smooth;
use stencil_runtime::problem::{Problem, TimeStep};
use stencil_runtime::report::{clear_note, note};
use stencil_runtime::tune::{Form, Options, Progress, Subject, Tuned, tune};
use stencil_runtime::{Builder, Number, Schedule, SystemDef};

use crate::Ended;

/// Times schedules of a run on the first card for so long; returns the fastest, and says what it gains. A search that
/// fails leaves the run as it is, and says why.
pub(super) fn schedule<T: Number>(
    problem: &Problem,
    seconds: u64,
    say: impl FnOnce(&str) -> Result<(), Ended>,
) -> Result<Option<Schedule>, Ended> {
    let forms = [Form { system: problem.system.clone(), chosen: None }];
    let run = |_: &SystemDef, cells: [usize; 3]| like::<T>(problem, cells);
    let subject = Subject { forms: &forms, run: &run, fill: &smooth::fill };
    let cells = problem.mesh.cells;
    let options = Options { budget: Duration::from_secs(seconds), ..Options::on(cells) };
    let begun = Instant::now();
    let mut tell = |progress: Progress| {
        if let Progress::Racing { left, best } = progress {
            let seconds = begun.elapsed().as_secs_f64();
            note(&format!("{seconds:.0} s: {left} schedules in the race, best {best:.0} Mpts/s"));
        }
    };
    let tuned = tune(subject, &options, &mut tell);
    clear_note();
    match tuned {
        Ok(tuned) => {
            say(&words(&tuned, problem.time.steps))?;
            Ok(tuned.plan.map(|plan| plan.schedule))
        }
        Err(error) => {
            say(&format!("no schedule was timed: {error}\n\n"))?;
            Ok(None)
        }
    }
}

/// The steps of a run over smooth values, which stay finite: short ones, if the run has steps of a given length.
fn like<T: Number>(problem: &Problem, cells: [usize; 3]) -> Builder<T> {
    let mut run = problem.builder::<T>().cells(cells).unchecked_step(true);
    if cells != problem.mesh.cells {
        run = run.patches([1; 3]).devices(1);
    }
    match problem.time.dt {
        TimeStep::Fixed(dt) => run.dt(dt * 1e-3),
        TimeStep::Cfl(_) | TimeStep::Auto => run,
    }
}

/// Says how many steps pay for a search of a run with so many steps, if that is known.
fn words(tuned: &Tuned, steps: Option<u64>) -> String {
    let took = tuned.took.as_secs_f64();
    let best = tuned.plan.as_ref().map_or(0.0, |plan| plan.rate);
    // The first trial is the schedule of a run without a search.
    let usual = tuned.trials.first().map_or(f64::INFINITY, |trial| trial.seconds());
    let timed = tuned.trials.iter().map(|trial| trial.seconds());
    let least = timed.fold(f64::INFINITY, f64::min);
    let saved = usual - least;
    let begin = format!("timed schedules for {took:.0} s: {best} million points a second");
    if !(saved.is_finite() && saved > 0.0) {
        return format!("{begin}, no more than the preset gpu makes\n\n");
    }
    let paid = (took / saved).ceil();
    let of = match steps {
        Some(steps) if (steps as f64) < paid => format!(", and the run has {steps}"),
        Some(steps) => format!(" of {steps}"),
        None => String::new(),
    };
    format!(
        "{begin}, {:.2} times those of the preset gpu; the search is paid back after {paid} steps{of}\n\n",
        usual / least
    )
}
