//! The values that a run and its viewers share. A run writes them between steps; viewers read them, and order what the run is
//! to do next.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stencil_report::run::Changed;
use stencil_report::watch::{Scope, Series, Shot, View};

/// A viewer that has not asked for so long has left; then nothing is copied for it.
const LEFT: Duration = Duration::from_secs(5);

/// The most orders that wait.
const MOST_ORDERS: usize = 64;

/// An order of a viewer to a run.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::run) enum Command {
    Pause,
    Resume,
    /// One step of a run that is paused.
    Step,
    /// Another value of a parameter.
    Set {
        name: String,
        value: f64,
    },
    /// The end of the run, with its state.
    Stop,
}

/// The answer to a command: the step after which it holds, or the reason why it does not.
pub(in crate::run) type Answer = Result<u64, String>;

/// A command, and where its answer goes.
#[derive(Debug)]
pub(in crate::run) struct Order {
    pub(in crate::run) command: Command,
    pub(in crate::run) answer: Sender<Answer>,
}

/// A parameter, as it is now.
#[derive(Clone, Debug)]
pub(in crate::run) struct Param {
    pub(in crate::run) name: String,
    pub(in crate::run) value: f64,
    pub(in crate::run) unit: Option<String>,
    /// The declared range: `k >= 0`.
    pub(in crate::run) range: String,
}

/// The place of a run among its steps.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct Now {
    pub(in crate::run) step: u64,
    pub(in crate::run) t: f64,
    pub(in crate::run) dt: f64,
    /// The last step, as far as it is known.
    pub(in crate::run) last: u64,
    /// Steps a second.
    pub(in crate::run) rate: f64,
    /// Points of the mesh.
    pub(in crate::run) points: u64,
    pub(in crate::run) is_paused: bool,
    pub(in crate::run) is_over: bool,
    /// Seconds since the first step, without pauses.
    pub(in crate::run) seconds: f64,
    /// Seconds that shots and their drawings have taken of these.
    pub(in crate::run) spent: f64,
    pub(in crate::run) shots: u64,
}

/// Everything that viewers see.
#[derive(Debug)]
pub(in crate::run) struct State {
    /// All that does not change: the problem, the mesh, the device, the plan.
    pub(in crate::run) facts: Value,
    pub(in crate::run) scope: Arc<Scope>,
    pub(in crate::run) now: Now,
    pub(in crate::run) params: Vec<Param>,
    pub(in crate::run) changed: Vec<Changed>,
    pub(in crate::run) series: Series,
    pub(in crate::run) shot: Option<Arc<Shot>>,
    view: View,
    /// When a viewer has asked last.
    asked: Option<Instant>,
    orders: VecDeque<Order>,
}

/// The shared values, with a bell that wakes a run that is paused.
#[derive(Debug)]
pub(in crate::run) struct Hub {
    state: Mutex<State>,
    bell: Condvar,
    /// Is there an order, or another view? All that a run looks at between most steps.
    is_asked: AtomicBool,
    /// Nanoseconds of drawing since the last shot.
    drawing: AtomicU64,
}

impl Hub {
    pub(in crate::run) fn new(
        facts: Value,
        scope: Scope,
        params: Vec<Param>,
        series: Series,
    ) -> Self {
        let state = State {
            facts,
            view: scope.first(),
            scope: Arc::new(scope),
            now: Now::default(),
            params,
            changed: Vec::new(),
            series,
            shot: None,
            asked: None,
            orders: VecDeque::new(),
        };
        Hub {
            state: Mutex::new(state),
            bell: Condvar::new(),
            is_asked: AtomicBool::new(false),
            drawing: AtomicU64::new(0),
        }
    }

    /// Locks the values. A viewer that has panicked leaves them whole: each is written at once.
    pub(in crate::run) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the object for a page. Nothing is computed while the run would wait for it.
    pub(in crate::run) fn json(&self) -> Value {
        let (mut value, shot) = {
            let state = self.lock();
            (state.json(), state.shot.clone())
        };
        value["shot"] = shot.map_or(Value::Null, |shot| shot.json());
        value
    }

    /// Gives an order; the answer comes when the run has looked at it.
    pub(in crate::run) fn order(&self, command: Command) -> Receiver<Answer> {
        let (answer, receiver) = channel();
        let mut state = self.lock();
        if state.orders.len() < MOST_ORDERS {
            state.orders.push_back(Order { command, answer });
        } else {
            let _ = answer.send(Err(format!("{MOST_ORDERS} orders wait already")));
        }
        drop(state);
        self.ring();
        receiver
    }

    /// Says what is viewed from now on, and that somebody is there.
    pub(in crate::run) fn watch(&self, view: Option<View>) {
        let mut state = self.lock();
        let is_new = state.asked.is_none_or(|asked| asked.elapsed() > LEFT);
        state.asked = Some(Instant::now());
        let other = view.filter(|view| *view != state.view);
        let is_other = other.is_some();
        if let Some(view) = other {
            state.view = view;
        }
        drop(state);
        if is_new || is_other {
            self.ring();
        }
    }

    fn ring(&self) {
        self.is_asked.store(true, Ordering::Release);
        self.bell.notify_all();
    }

    /// Has a viewer asked for something since the last call?
    pub(in crate::run) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed) && self.is_asked.swap(false, Ordering::Acquire)
    }

    /// Waits until a viewer asks for something, but no longer than this.
    pub(in crate::run) fn wait(&self, most: Duration) {
        let state = self.lock();
        if !self.is_asked.load(Ordering::Acquire) {
            // Why it wakes makes no difference.
            drop(self.bell.wait_timeout(state, most));
        }
    }

    /// Notes that drawing for a viewer took so long.
    pub(in crate::run) fn drew(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.drawing.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Returns the time of drawing since the last call.
    pub(in crate::run) fn drawing(&self) -> Duration {
        Duration::from_nanos(self.drawing.swap(0, Ordering::Relaxed))
    }
}

impl State {
    /// Returns the oldest order that waits.
    pub(in crate::run) fn next_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// Returns the view that is wanted, if somebody is there and has not seen it as it is after this step.
    pub(in crate::run) fn wanted(&self, step: u64) -> Option<View> {
        let is_there = self.asked.is_some_and(|asked| asked.elapsed() <= LEFT);
        let shot = self.shot.as_ref();
        let is_seen = shot.is_some_and(|shot| shot.step == step && shot.view == self.view);
        (is_there && !is_seen).then(|| self.view.clone())
    }

    /// Returns the view that is wanted.
    pub(in crate::run) fn view(&self) -> &View {
        &self.view
    }

    /// Returns the object for a page, without the shot.
    fn json(&self) -> Value {
        let now = &self.now;
        let left = now.last.saturating_sub(now.step) as f64;
        let params: Vec<Value> = self
            .params
            .iter()
            .map(|p| json!({ "name": p.name, "value": p.value, "unit": p.unit, "range": p.range }))
            .collect();
        let changed: Vec<Value> = self.changed.iter().map(Changed::json).collect();
        json!({
            "facts": self.facts,
            "step": now.step,
            "t": now.t,
            "dt": now.dt,
            "last_step": now.last,
            "steps_per_s": now.rate,
            "mpts_per_s": now.rate * now.points as f64 / 1e6,
            "left_s": (now.rate > 0.0).then(|| left / now.rate),
            "seconds": now.seconds,
            "paused": now.is_paused,
            "over": now.is_over,
            "watching": { "seconds": now.spent, "shots": now.shots },
            "params": params,
            "changed": changed,
            "observables": { "names": self.series.names(), "last": self.series.last(), "rows": self.series.len() },
            "view": { "field": self.view.field, "normal": self.view.normal.name(), "at": self.view.at },
        })
    }
}
