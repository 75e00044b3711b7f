//! A run in a terminal: a field by half blocks, and lines of numbers around it.

use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Read};
use std::panic;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use stencil_report::watch::{Colors, Look, View};
use stencil_runtime::report::significant;

use super::hub::{Command, Hub, Now, State};
use super::pace::SHARE;
use crate::INTERRUPTED;

/// Another screen, without a cursor; and the way back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";
/// Erases the rest of a line.
const ERASE: &str = "\x1b[K";
/// Columns and lines of a terminal that does not tell.
const USUAL: (usize, usize) = (80, 24);
/// Lines around the picture.
const AROUND: usize = 4;
/// Between two drawings.
const REDRAW: Duration = Duration::from_millis(200);

/// The settings that the terminal had, while it is taken.
static BEFORE: Mutex<Option<Before>> = Mutex::new(None);

/// The settings of a terminal; none if its keys are not read.
struct Before(Option<Termios>);

/// Is standard output a terminal?
pub(super) fn is_there() -> bool {
    io::stdout().is_terminal()
}

/// A terminal that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Terminal {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Takes the terminal, and begins to draw. A panic gives it back before its message.
    ///
    /// # Errors
    /// If its settings cannot be changed, or there is no thread.
    pub(super) fn begin(hub: Arc<Hub>) -> io::Result<Self> {
        take()?;
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            usual(info);
        }));
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let draw = move || Screen::new(hub).run(&ends);
        let thread = thread::Builder::new().name("watch".into()).spawn(draw);
        let thread = thread.inspect_err(|_| give_back())?;
        Ok(Terminal { is_over, thread: Some(thread) })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        give_back();
    }
}

/// Switches to another screen, on which keys come one by one and are not shown.
fn take() -> io::Result<()> {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    let settings = if io::stdin().is_terminal() { Some(tcgetattr(io::stdin())?) } else { None };
    if let Some(settings) = &settings {
        let mut own = settings.clone();
        own.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        // Reading waits a tenth of a second for a key.
        own.special_codes[SpecialCodeIndex::VMIN] = 0;
        own.special_codes[SpecialCodeIndex::VTIME] = 1;
        tcsetattr(io::stdin(), OptionalActions::Now, &own)?;
    }
    *before = Some(Before(settings));
    put(ENTER);
    Ok(())
}

/// Makes the terminal as it was before, once.
fn give_back() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Before(settings)) = before else {
        return;
    };
    put(LEAVE);
    if let Some(settings) = settings {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &settings);
    }
}

/// Writes to the terminal past the lock of the command's output. One that has left misses nothing.
fn put(text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match rustix::io::write(io::stdout(), rest) {
            Ok(count) => rest = &rest[count..],
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => return,
        }
    }
}

/// The drawing of a run on the screen.
struct Screen {
    hub: Arc<Hub>,
    colors: Colors,
    look: Look,
    has_keys: bool,
    /// The answer to the last key.
    said: String,
    stops: u32,
}

impl Screen {
    fn new(hub: Arc<Hub>) -> Self {
        let variable = |name: &str| env::var(name).ok();
        let (colorterm, term) = (variable("COLORTERM"), variable("TERM"));
        let no_color = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        Screen {
            hub,
            colors: Colors::of(colorterm.as_deref(), term.as_deref(), no_color),
            look: Look::default(),
            has_keys: io::stdin().is_terminal(),
            said: String::new(),
            stops: 0,
        }
    }

    /// Draws and reads keys until the run is over.
    fn run(&mut self, is_over: &AtomicBool) {
        let mut next = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            self.hub.watch(None);
            if Instant::now() >= next {
                let begun = Instant::now();
                let text = self.text();
                put(&text);
                let took = begun.elapsed();
                self.hub.drew(took);
                next = begun + took.div_f64(SHARE).max(REDRAW);
            }
            let mut keys = [0; 64];
            let count = match self.has_keys {
                true => io::stdin().lock().read(&mut keys).unwrap_or(0),
                false => {
                    thread::sleep(REDRAW / 2);
                    0
                }
            };
            if count > 0 {
                self.keys(&keys[..count]);
                next = Instant::now();
            }
        }
    }

    /// Obeys keys.
    fn keys(&mut self, mut keys: &[u8]) {
        while let [first, rest @ ..] = keys {
            keys = rest;
            match (first, rest) {
                (b'p' | b' ', _) => {
                    let is_paused = self.hub.lock().now.is_paused;
                    self.order(if is_paused { Command::Resume } else { Command::Pause });
                }
                (b's', _) => self.order(Command::Step),
                (b'l', _) => self.look.log = !self.look.log,
                (b'q', _) => self.order(Command::Stop),
                (b'\t', _) => self.turn(|view, state| {
                    let fields = &state.scope.fields;
                    let at = fields.iter().position(|(name, _)| *name == view.field).unwrap_or(0);
                    if let Some((name, _)) = fields.get((at + 1) % fields.len().max(1)) {
                        view.field.clone_from(name);
                    }
                }),
                // Ctrl-C: the second one ends the program at once.
                (3, _) if self.stops > 0 => {
                    give_back();
                    process::exit(i32::from(INTERRUPTED));
                }
                (3, _) => {
                    self.stops += 1;
                    self.order(Command::Stop);
                }
                (b'\x1b', [b'[' | b'O', key, after @ ..]) => {
                    keys = after;
                    self.arrow(*key);
                }
                _ => {}
            }
        }
    }

    /// Up and down move the plane, left and right turn it.
    fn arrow(&mut self, key: u8) {
        self.turn(|view, state| {
            let cells = |view: &View| state.scope.lines[view.normal.index()].cells;
            let step = (cells(view) / 32).max(1);
            let normals = state.scope.normals();
            let at = normals.iter().position(|normal| *normal == view.normal).unwrap_or(0);
            match key {
                b'A' => view.at = (view.at + step).min(cells(view).saturating_sub(1)),
                b'B' => view.at = view.at.saturating_sub(step),
                b'C' | b'D' => {
                    let by = if key == b'C' { 1 } else { normals.len() - 1 };
                    view.normal = normals[(at + by) % normals.len()];
                    if normals.len() > 1 {
                        view.at = cells(view) / 2;
                    }
                }
                _ => {}
            }
        });
    }

    fn turn(&self, change: impl FnOnce(&mut View, &State)) {
        let view = {
            let state = self.hub.lock();
            let mut view = state.view().clone();
            change(&mut view, &state);
            view
        };
        self.hub.watch(Some(view));
    }

    fn order(&mut self, command: Command) {
        let answer = self.hub.order(command).recv_timeout(REDRAW);
        // A step may take longer: its end shows.
        self.said = answer.map_or(String::new(), |answer| answer.err().unwrap_or_default());
    }

    /// Returns the whole screen, as text with escape sequences.
    fn text(&self) -> String {
        let (columns, lines) = size();
        let (title, now, last, shot) = {
            let state = self.hub.lock();
            let title = state.facts["title"].as_str().unwrap_or_default().to_string();
            let names = state.series.names().iter();
            let last: Vec<String> = names
                .zip(state.series.last().unwrap_or_default())
                .map(|(name, value)| format!("{name} {}", significant(*value, 5)))
                .collect();
            (title, state.now, last.join("  "), state.shot.clone())
        };
        let caption = shot.as_ref().map_or(String::new(), |shot| {
            let ends = shot.range().map(|(low, high)| [low, high].map(|end| significant(end, 4)));
            let ends = ends.map_or(String::new(), |ends| ends.join(" … "));
            format!("{}  {ends}  {}", shot.view.field, shot.caption())
        });
        let room = lines.saturating_sub(AROUND).max(1);
        let picture =
            shot.map_or(Vec::new(), |shot| shot.blocks((columns, room), self.look, self.colors));
        let mut text = String::from("\x1b[H");
        let mut line = |content: &str, is_plain: bool| {
            let content = if is_plain { cut(content, columns) } else { content.to_string() };
            let _ = write!(text, "{content}{ERASE}\r\n");
        };
        line(&format!("{caption}  |  {title}"), true);
        for at in 0..room {
            line(picture.get(at).map_or("", String::as_str), false);
        }
        line(&status(&now), true);
        line(&last, true);
        let keys = "p pause  s step  q stop  l log  tab field  arrows plane";
        let keys = if self.said.is_empty() { keys } else { self.said.as_str() };
        // Nothing behind the last line: it would scroll.
        let _ = write!(text, "{}{ERASE}", cut(keys, columns));
        text
    }
}

/// Returns the numbers of a run in a line.
fn status(now: &Now) -> String {
    let left = now.last.saturating_sub(now.step) as f64;
    let of = if now.last > 0 { format!("/{}", now.last) } else { String::new() };
    let speed = significant(now.rate * now.points as f64 / 1e6, 3);
    let mut text = format!(
        "step {}{of}  t {}  dt {}  {speed} Mpts/s",
        now.step,
        significant(now.t, 5),
        significant(now.dt, 3)
    );
    match now.is_paused {
        true => text.push_str("  PAUSED"),
        false if now.rate > 0.0 => {
            let _ = write!(text, "  ETA {:.0} s", left / now.rate);
        }
        false => {}
    }
    text
}

/// Returns the columns and lines of the terminal.
fn size() -> (usize, usize) {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            (usize::from(size.ws_col), usize::from(size.ws_row))
        }
        _ => USUAL,
    }
}

/// Cuts a text to so many columns, without control characters.
fn cut(text: &str, columns: usize) -> String {
    let text = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    text.take(columns).collect()
}
