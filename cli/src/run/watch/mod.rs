//! `stencil run --watch`: a run that is looked at, paused and changed while it goes on.
//!
//! The loop over steps looks at one flag between steps. It copies the plane that a viewer wants, so seldom that copies and their
//! drawing take a small share of the time; pictures are drawn on the threads of viewers.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::json;
use stencil_compiler::model::{Comparison, to_f64};
use stencil_report::run::{Changed, plan};
use stencil_report::watch::{Scope, Series, Shot};
use stencil_runtime::plot::ColorMap;
use stencil_runtime::problem::Problem;
use stencil_runtime::{Number, Simulation};

use super::Ended;
use crate::USAGE;

mod http;
mod hub;
mod pace;
mod renew;
mod routes;
mod server;
mod terminal;
mod turns;

use hub::{Answer, Command, Hub, Now, Order, Param};
use pace::Pace;
use renew::Renew;
use server::Server;
use terminal::Terminal;
pub(super) use turns::Watched;

/// Between two notes of where a run is, without a viewer that asks.
const NOTE: Duration = Duration::from_millis(200);
/// The longest time without a look at signals while a run is paused.
const PAUSED: Duration = Duration::from_millis(50);
/// The memory of the shown rate, in seconds.
const MEMORY: f64 = 3.0;

/// The place that a run is shown at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Place {
    /// On a page for a browser, which also pauses, steps, changes parameters and stops; served on this machine alone
    Page,
    /// In this terminal; keys: p pauses, s steps, q stops, tab and arrows change the field and the plane
    Terminal,
}

/// Options about watching.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct WatchArgs {
    /// Show the run while it goes on
    #[arg(
        long,
        value_enum,
        value_name = "page|terminal",
        num_args = 0..=1,
        default_missing_value = "page",
        conflicts_with = "quiet"
    )]
    watch: Option<Place>,
    /// The port of the page; a free one if not given
    #[arg(long, value_name = "N", requires = "watch")]
    watch_port: Option<u16>,
}

impl WatchArgs {
    /// Is the run shown at all?
    pub(super) fn is_on(&self) -> bool {
        self.watch.is_some()
    }

    /// Does the run take the whole terminal?
    pub(super) fn takes_terminal(&self) -> bool {
        self.watch == Some(Place::Terminal)
    }

    /// Checks the options before a run is set up.
    ///
    /// # Errors
    /// If there are several ranks, or no terminal to draw on.
    pub(super) fn check(&self, ranks: usize) -> Result<(), Ended> {
        let wrong =
            |message: &str| Err(Ended { code: USAGE, message: format!("error: {message}") });
        match self.watch {
            None => Ok(()),
            Some(_) if ranks > 1 => wrong(
                "`--watch` shows a run of one process, and this one has several ranks\n  \
                 help: leave it out, and look at frames by `stencil plot` meanwhile",
            ),
            Some(Place::Terminal) if self.watch_port.is_some() => wrong(
                "`--watch-port` is the port of a page, and `--watch terminal` has none\n  help: leave one of them out",
            ),
            Some(Place::Terminal) if !terminal::is_there() => wrong(
                "`--watch terminal` draws on standard output, which is no terminal\n  \
                 help: run it in a terminal, or serve a page by --watch page",
            ),
            Some(_) => Ok(()),
        }
    }
}

/// A run that is watched, from the side of its loop.
#[derive(Debug)]
pub(super) struct Watching {
    hub: Arc<Hub>,
    /// The terminal, if the run has taken it; it is as before once this is dropped.
    _terminal: Option<Terminal>,
    scope: Arc<Scope>,
    pace: Pace,
    /// Does drawing take the time of the processor from steps?
    counts_drawing: bool,
    begun: Instant,
    /// The time in which the run was paused, and since when it is.
    paused: Duration,
    paused_since: Option<Instant>,
    /// Who waits for the end of a step.
    stepping: Option<Sender<Answer>>,
    /// The last note: when, at which step; and the rate.
    noted: Option<(Instant, u64)>,
    rate: f64,
    stop: Arc<AtomicBool>,
}

/// The next action of the loop.
pub(super) enum Turn {
    /// Steps.
    Go,
    /// One step.
    One,
    /// Looks again: the run is paused.
    Wait,
    /// Changes a parameter.
    Set { name: String, value: f64, answer: Sender<Answer> },
}

impl Watching {
    /// Begins to show a run, and says where; `None` if that is not asked for.
    ///
    /// # Errors
    /// If the page cannot be served, or the terminal cannot be had.
    pub(super) fn begin<T: Number>(
        args: &WatchArgs,
        problem: &Problem,
        simulation: &Simulation<T>,
    ) -> Result<Option<Self>, Ended> {
        let Some(place) = args.watch else {
            return Ok(None);
        };
        let scope = Scope::new(problem, simulation);
        let names = simulation.system().model().observables.iter().map(|o| o.name.clone());
        let facts = facts(problem, simulation, &scope);
        let hub = Hub::new(facts, scope, params(simulation), Series::new(sorted(names)));
        let hub = Arc::new(hub);
        let failed = |error: io::Error| Ended {
            code: USAGE,
            message: format!(
                "error: the run cannot be watched: {error}\n  help: give another --watch-port, or leave --watch out"
            ),
        };
        let terminal = match place {
            Place::Page => {
                let server = Server::begin(Arc::clone(&hub), args.watch_port).map_err(failed)?;
                // Whoever has left misses nothing.
                let _ = write!(io::stderr(), "{}", server.words());
                None
            }
            Place::Terminal => Some(Terminal::begin(Arc::clone(&hub)).map_err(failed)?),
        };
        let scope = Arc::clone(&hub.lock().scope);
        Ok(Some(Watching {
            hub,
            _terminal: terminal,
            scope,
            pace: Pace::default(),
            counts_drawing: simulation.card().is_none(),
            begun: Instant::now(),
            paused: Duration::ZERO,
            paused_since: None,
            stepping: None,
            noted: None,
            rate: 0.0,
            stop: Arc::default(),
        }))
    }

    /// Adds a row of observables.
    pub(super) fn observed(&self, t: f64, values: impl IntoIterator<Item = f64>) {
        self.hub.lock().series.push(t, values);
    }

    /// Looks at what viewers want, between two steps; copies what they look at, if its time has come.
    fn look<T: Number>(&mut self, simulation: &Simulation<T>, last: u64) -> Result<Turn, Ended> {
        let now = Instant::now();
        let is_asked = self.hub.is_asked();
        let is_late = self.noted.is_none_or(|(then, _)| now - then >= NOTE);
        if !is_asked && !is_late && self.paused_since.is_none() {
            return Ok(Turn::Go);
        }
        if let Some(waiting) = self.stepping.take() {
            // Whoever has left misses nothing.
            let _ = waiting.send(Ok(simulation.step_count()));
        }
        let turn = self.obey(simulation.step_count());
        self.shoot(simulation)?;
        self.note(simulation, last, now);
        if matches!(turn, Turn::Wait) {
            self.hub.wait(PAUSED);
        }
        Ok(turn)
    }

    /// Does what viewers order; the rest of their orders waits if a step or a change comes first.
    fn obey(&mut self, step: u64) -> Turn {
        loop {
            let next = self.hub.lock().next_order();
            let Some(Order { command, answer }) = next else {
                break;
            };
            let result = match command {
                Command::Pause => {
                    self.paused_since.get_or_insert_with(Instant::now);
                    Ok(step)
                }
                Command::Resume => {
                    self.resume();
                    Ok(step)
                }
                Command::Step if self.paused_since.is_some() => {
                    self.stepping = Some(answer);
                    return Turn::One;
                }
                Command::Step => Err("the run is not paused".to_string()),
                Command::Set { name, value } => return Turn::Set { name, value, answer },
                Command::Stop => {
                    self.stop.store(true, Ordering::Relaxed);
                    let _ = answer.send(Ok(step));
                    // The loop ends before another step.
                    return Turn::Wait;
                }
            };
            let _ = answer.send(result);
        }
        if self.paused_since.is_some() { Turn::Wait } else { Turn::Go }
    }

    fn resume(&mut self) {
        if let Some(since) = self.paused_since.take() {
            self.paused += since.elapsed();
        }
    }

    /// Returns the time since the first step without pauses.
    fn running(&self) -> Duration {
        let paused = self.paused_since.map_or(Duration::ZERO, |since| since.elapsed());
        self.begun.elapsed().saturating_sub(self.paused + paused)
    }

    /// Copies the plane that viewers want, if they have not seen it and its time has come. A run that is paused loses nothing by
    /// a copy.
    fn shoot<T: Number>(&mut self, simulation: &Simulation<T>) -> Result<(), Ended> {
        let drawing = self.hub.drawing();
        let is_paused = self.paused_since.is_some();
        if self.counts_drawing && !is_paused {
            self.pace.drawn(drawing);
        }
        let begun = self.running();
        if !is_paused && !self.pace.is_due(begun) {
            return Ok(());
        }
        let Some(view) = self.hub.lock().wanted(simulation.step_count()) else {
            return Ok(());
        };
        let number = self.hub.lock().shot.as_ref().map_or(1, |shot| shot.number + 1);
        let start = Instant::now();
        let shot = Shot::take(simulation, (&self.scope, &view), number)?;
        if !is_paused {
            self.pace.shot(begun, start.elapsed());
        }
        self.hub.lock().shot = Some(Arc::new(shot));
        Ok(())
    }

    /// Notes where the run is.
    fn note<T: Number>(&mut self, simulation: &Simulation<T>, last: u64, now: Instant) {
        let step = simulation.step_count();
        let is_paused = self.paused_since.is_some();
        match self.noted {
            Some((then, before)) if now - then >= NOTE => {
                let (seconds, steps) = ((now - then).as_secs_f64(), step.saturating_sub(before));
                if !is_paused {
                    let keep = if self.rate > 0.0 { (-seconds / MEMORY).exp() } else { 0.0 };
                    self.rate = keep * self.rate + (1.0 - keep) * steps as f64 / seconds;
                }
                self.noted = Some((now, step));
            }
            None => self.noted = Some((now, step)),
            Some(_) => {}
        }
        let points: usize = simulation.cells().iter().product();
        self.hub.lock().now = Now {
            step,
            t: simulation.t(),
            dt: simulation.dt(),
            last,
            rate: self.rate,
            points: points as u64,
            is_paused,
            is_over: false,
            seconds: self.running().as_secs_f64(),
            spent: self.pace.spent().as_secs_f64(),
            shots: self.pace.shots(),
        };
    }

    /// Notes that a parameter has changed, with the values of all.
    fn changed<T: Number>(&self, simulation: &Simulation<T>, changed: &[Changed]) {
        let mut state = self.hub.lock();
        state.params = params(simulation);
        state.changed = changed.to_vec();
        state.shot = None;
    }

    /// Ends the view: a page says that the run is over, a terminal is as before.
    pub(super) fn end<T: Number>(mut self, simulation: &Simulation<T>) {
        self.resume();
        self.note(simulation, simulation.step_count(), Instant::now());
        self.hub.lock().now.is_over = true;
        if let Some(waiting) = self.stepping.take() {
            let _ = waiting.send(Ok(simulation.step_count()));
        }
        while let Some(order) = self.hub.lock().next_order() {
            let _ = order.answer.send(Err("the run is over".into()));
        }
    }
}

/// Returns the parameters as they are now.
fn params<T: Number>(simulation: &Simulation<T>) -> Vec<Param> {
    let declared = simulation.system().model().params.iter();
    let all = declared.zip(simulation.params()).map(|(param, (name, value))| {
        let bound =
            |(sign, bound): &(Comparison, _)| format!("{name} {} {}", sign.text(), to_f64(bound));
        let range: Vec<String> = param.bounds.iter().map(bound).collect();
        Param {
            name: name.to_string(),
            value,
            unit: param.unit.clone(),
            range: range.join(" and "),
        }
    });
    all.collect()
}

/// Observables come by name.
fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

/// Returns what does not change in a run.
fn facts<T: Number>(
    problem: &Problem,
    simulation: &Simulation<T>,
    scope: &Scope,
) -> serde_json::Value {
    let cells: Vec<String> =
        scope.lines[..scope.dimension].iter().map(|line| line.cells.to_string()).collect();
    let device = match simulation.card() {
        Some(card) => card.name.clone(),
        None => format!("{} threads", simulation.threads()),
    };
    let maps: Vec<&str> = ColorMap::ALL.iter().map(|(name, _)| *name).collect();
    json!({
        "title": problem.title,
        "problem": problem.name,
        "about": format!(
            "{}, {} cells, {}, {} on {device}",
            simulation.system().name(),
            cells.join(" × "),
            T::NAME,
            simulation.engine().name()
        ),
        "equations": simulation.system().equations(),
        "plan": plan(simulation),
        "maps": maps,
        "scope": scope.json(),
    })
}
