//! The reasons for which a run ends before its end: signals, and a limit of its time on the wall.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;
use stencil_runtime::transport::Ranks;

use crate::{INTERRUPTED, OUT_OF_TIME, TERMINATED, TOLD_TO_END};

/// Makes a file that grows beyond the limit of the system (`ulimit -f`) an error of its writer, not the end of the
/// program.
pub(crate) fn outlive_limits() {
    // Any handler will do. Without signals the program goes on.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// A reason to write the state and to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Ctrl-C.
    Interrupt,
    /// A request to terminate, as batch systems send it before they kill.
    Terminate,
    /// A request to write the state and to end, as Slurm sends it with `--signal=USR1@120`.
    User,
    /// The limit of the time on the wall.
    Wall,
    /// A viewer of the run.
    Viewer,
}

impl Reason {
    /// All reasons, the one that counts first if several hold.
    const ALL: [Reason; 5] =
        [Reason::Interrupt, Reason::Terminate, Reason::User, Reason::Wall, Reason::Viewer];

    /// Returns the first words of the message.
    pub(super) fn words(self) -> &'static str {
        match self {
            Reason::Interrupt => "interrupted",
            Reason::Terminate => "ended by SIGTERM",
            Reason::User => "ended by SIGUSR1",
            Reason::Wall => "ended by the limit of the time on the wall",
            Reason::Viewer => "stopped by its viewer",
        }
    }

    /// Returns the exit code.
    pub(super) fn code(self) -> u8 {
        match self {
            Reason::Interrupt | Reason::Viewer => INTERRUPTED,
            Reason::Terminate => TERMINATED,
            Reason::User => TOLD_TO_END,
            Reason::Wall => OUT_OF_TIME,
        }
    }
}

/// Is this the exit code of a run that left its state behind?
pub(crate) fn leaves_state(code: u8) -> bool {
    Reason::ALL.into_iter().any(|reason| reason.code() == code)
}

/// Which signals came, by the reasons that they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals([Arc<AtomicBool>; 3]);

/// The signals that are reasons to end.
const LISTENED: [(i32, Reason); 3] =
    [(SIGINT, Reason::Interrupt), (SIGTERM, Reason::Terminate), (SIGUSR1, Reason::User)];

/// Those of this process.
static SIGNALS: OnceLock<Signals> = OnceLock::new();

impl Signals {
    /// Listens to signals from the first call on, for all runs of this process. A second Ctrl-C ends the program at once. Other
    /// signals never cut short the writing of a state: a batch system sends several.
    pub(crate) fn listen() -> Self {
        SIGNALS.get_or_init(Signals::register).clone()
    }

    fn register() -> Self {
        let signals = Signals::default();
        for ((signal, reason), flag) in LISTENED.into_iter().zip(&signals.0) {
            // If signals cannot be had, the run goes on without.
            if reason == Reason::Interrupt {
                // The order matters: the first signal finds the flag unset.
                let code = i32::from(reason.code());
                let _ = flag::register_conditional_shutdown(signal, code, Arc::clone(flag));
            }
            let _ = flag::register(signal, Arc::clone(flag));
        }
        signals
    }

    /// Returns the exit code of the first reason whose signal has come.
    pub(crate) fn code(&self) -> Option<u8> {
        let came = Reason::ALL.into_iter().find(|reason| self.came(*reason) == Some(true));
        came.map(Reason::code)
    }

    /// Returns whether the one of a reason has come; `None` if the reason is no signal.
    fn came(&self, reason: Reason) -> Option<bool> {
        let mut all = LISTENED.iter().zip(&self.0);
        let (_, flag) = all.find(|((_, of), _)| *of == reason)?;
        Some(flag.load(Ordering::Relaxed))
    }
}

/// The signals, the limit and the viewer that end a run.
#[derive(Debug)]
pub(super) struct Stop {
    signals: Signals,
    /// The end of the time on the wall.
    limit: Option<Instant>,
    /// Has a viewer ended it?
    viewer: Arc<AtomicBool>,
}

impl Stop {
    /// Listens to signals and to a viewer; time on the wall counts from `begun`.
    pub(super) fn on_signals(
        begun: Instant,
        wall: Option<Duration>,
        viewer: Arc<AtomicBool>,
    ) -> Self {
        let limit = wall.and_then(|wall| begun.checked_add(wall));
        Stop { signals: Signals::listen(), limit, viewer }
    }

    /// Returns the events of this moment.
    pub(super) fn events(&self, state_is_due: bool) -> Events {
        let is_over = self.limit.is_some_and(|limit| Instant::now() >= limit);
        let came = |reason: Reason| match reason {
            Reason::Wall => is_over,
            Reason::Viewer => self.viewer.load(Ordering::Relaxed),
            Reason::Interrupt | Reason::Terminate | Reason::User => {
                self.signals.came(reason).unwrap_or(false)
            }
        };
        Events { reasons: Reason::ALL.map(came), state_is_due }
    }
}

/// The events that one process has seen at a moment. All ranks agree about them: they act at the same step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Events {
    reasons: [bool; Reason::ALL.len()],
    state_is_due: bool,
}

/// The action of all ranks after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Go on.
    None,
    /// Write a state, and go on.
    Write,
    /// Write the state, and end.
    End(Reason),
}

impl Events {
    /// Returns the action that follows from the events on any rank. All ranks ask together.
    pub(super) fn agree(self, ranks: &Ranks) -> Action {
        // One question in nearly all cases.
        let any = self.state_is_due || self.reasons.contains(&true);
        if !ranks.any(any) {
            return Action::None;
        }
        let mut all = Reason::ALL.into_iter().zip(self.reasons);
        let first = all.find(|(_, came)| ranks.any(*came));
        first.map_or(Action::Write, |(reason, _)| Action::End(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_to_end_come_before_a_state_on_the_way() {
        let ranks = Ranks::alone();
        let viewer = Arc::new(AtomicBool::new(false));
        let quiet = Stop { signals: Signals::default(), limit: None, viewer: Arc::clone(&viewer) };
        assert_eq!(quiet.events(false).agree(&ranks), Action::None);
        assert_eq!(quiet.events(true).agree(&ranks), Action::Write);
        viewer.store(true, Ordering::Relaxed);
        assert_eq!(quiet.events(true).agree(&ranks), Action::End(Reason::Viewer));
        let late = Stop { limit: Some(Instant::now()), ..quiet };
        assert_eq!(late.events(true).agree(&ranks), Action::End(Reason::Wall));
        late.signals.0[2].store(true, Ordering::Relaxed);
        assert_eq!(late.events(false).agree(&ranks), Action::End(Reason::User));
        late.signals.0[1].store(true, Ordering::Relaxed);
        assert_eq!(late.events(true).agree(&ranks), Action::End(Reason::Terminate));
    }

    #[test]
    fn codes_are_those_of_shells() {
        for (signal, reason) in LISTENED {
            assert_eq!(i32::from(reason.code()), 128 + signal, "{reason:?}");
        }
    }
}
