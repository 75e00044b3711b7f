//! The runs of a sweep, several at once, and their progress.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::Instant;

use stencil_report::sweep::State;
use stencil_runtime::report::clear_note;

use super::member::Planned;
use crate::BUG;
use crate::run::Signals;

/// The progress of a sweep.
struct Progress {
    begun: Instant,
    /// Runs that have ended, those of earlier commands included, and all.
    ended: (usize, usize),
    /// Work that this command has done, and all that it has to do.
    work: (f64, f64),
    quiet: bool,
}

/// Runs all that are not known, in their order, so many at once; their ends, and the exit code of a signal that came.
pub(super) fn all(planned: &[Planned], jobs: usize, quiet: bool) -> (Vec<State>, Option<u8>) {
    let stop = Signals::listen();
    let states = planned.iter().map(|planned| match &planned.known {
        Some(results) => State::Done(results.clone()),
        None => State::Open,
    });
    let mut states: Vec<State> = states.collect();
    let open: Vec<usize> = (0..planned.len()).filter(|at| planned[*at].known.is_none()).collect();
    let known = planned.len() - open.len();
    if known > 0 && !quiet {
        tell(&format!("{known} of {} runs were done before", planned.len()));
    }
    let progress = Mutex::new(Progress {
        begun: Instant::now(),
        ended: (known, planned.len()),
        work: (0.0, open.iter().map(|at| planned[*at].work).sum()),
        quiet,
    });
    let next = AtomicUsize::new(0);
    let work = || {
        let mut ends = Vec::new();
        while let Some(at) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            if stop.code().is_some() {
                break;
            }
            let begun = Instant::now();
            let state = one(&planned[*at]);
            if let Ok(mut progress) = progress.lock() {
                progress.end(&planned[*at], &state, begun);
            }
            ends.push((*at, state));
        }
        ends
    };
    std::thread::scope(|scope| {
        // This thread works, too, so that all is done even if the system has no more threads.
        let others = jobs.min(open.len()).saturating_sub(1);
        let others = (0..others).map_while(|_| Builder::new().spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        let own = work();
        // Panics of runs are caught.
        let ends = others.into_iter().flat_map(|other| other.join().unwrap_or_default());
        for (at, state) in own.into_iter().chain(ends) {
            states[at] = state;
        }
    });
    (states, stop.code())
}

/// Does one run. A defect of the program that ends it does not end the others.
fn one(planned: &Planned) -> State {
    let caught = catch_unwind(AssertUnwindSafe(|| planned.run()));
    caught.unwrap_or_else(|_| State::Failed {
        code: BUG,
        message: "error: the run panicked; this is a bug".to_string(),
    })
}

impl Progress {
    /// Tells that a run has ended, and for how long the others will run if they are as fast for their work.
    fn end(&mut self, planned: &Planned, state: &State, begun: Instant) {
        self.ended.0 += 1;
        self.work.0 += planned.work;
        if self.quiet {
            return;
        }
        let word = match state {
            State::Done(_) => "done",
            State::Failed { .. } => "failed",
            State::Open => "interrupted",
        };
        let (ended, count) = self.ended;
        let mut line = format!(
            "{ended}/{count}  {}  {word} in {:.1} s",
            planned.name,
            begun.elapsed().as_secs_f64()
        );
        let (done, all) = self.work;
        if ended < count && !matches!(state, State::Open) {
            let left = self.begun.elapsed().as_secs_f64() * (all - done) / done;
            line += &format!("; about {} left", duration(left));
        }
        tell(&line);
    }
}

/// Prints a line of progress.
fn tell(line: &str) {
    clear_note();
    // Whoever has left misses nothing.
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// A length of time in its largest fitting unit.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        assert_eq!([3.4, 600.0, 9000.0].map(duration), ["3 s", "10 min", "2.5 h"]);
    }
}
