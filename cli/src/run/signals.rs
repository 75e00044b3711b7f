//! Ctrl-C: the first one asks the run to stop after its step, the second one ends it at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::INTERRUPTED;

/// Makes a file that grows beyond the limit of the system (`ulimit -f`) an error of its writer, not the end of the
/// program.
pub(crate) fn outlive_limits() {
    // Any handler will do. Without signals the program goes on.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Whether a signal asked the runs of this process to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// The one of this process.
static STOP: OnceLock<Stop> = OnceLock::new();

impl Stop {
    /// Listens to Ctrl-C and to requests to terminate, as batch systems send them, from the first call on.
    pub(crate) fn on_signals() -> Self {
        STOP.get_or_init(Stop::listen).clone()
    }

    fn listen() -> Self {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the first signal finds the flag unset. If signals cannot be
            // had, the run goes on without.
            let _ = flag::register_conditional_shutdown(
                signal,
                i32::from(INTERRUPTED),
                Arc::clone(&stop.0),
            );
            let _ = flag::register(signal, Arc::clone(&stop.0));
        }
        stop
    }

    /// Has there been a signal?
    pub(crate) fn wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
