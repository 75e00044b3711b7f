//! The progress of a run.

use std::io::{self, Stderr, Write};
use std::time::{Duration, Instant};

use super::significant;
use super::terminal::{self, COLUMNS, ERASE};

/// Between two drawings on a terminal: at most ten a second.
const REDRAW: Duration = Duration::from_millis(100);
/// Between two lines elsewhere, as in a batch job's log.
const LINE: Duration = Duration::from_secs(2);
/// Cells of the bar if there is room, and the fewest that still show progress.
const BAR: (usize, usize) = (24, 6);
/// Digits of the time of the model.
const DIGITS: usize = 5;
/// The memory of the shown speed, in seconds.
const MEMORY: f64 = 3.0;

/// A progress bar on a terminal, plain lines elsewhere and on terminals that cannot redraw (`TERM=dumb`).
///
/// The bar stays on one line of any terminal: it shrinks to the room of the line, and parts of less weight are left
/// out if there is still too little.
///
/// Speed is in million points a second, where a point counts once a full step. Errors of the sink
/// are ignored: a closed pipe must not end a run.
///
/// ```
/// use stencil_runtime::report::Progress;
///
/// let mut progress = Progress::new(100, 64 * 64 * 64, true);
/// for step in 1..=100 {
///     // ... one step ...
///     progress.update(step, step as f64 * 1e-3);
/// }
/// ```
#[derive(Debug)]
pub struct Progress<W: Write = Stderr> {
    out: W,
    terminal: bool,
    /// Columns of the terminal, asked for at every drawing: a window may change its size.
    columns: fn() -> Option<usize>,
    quiet: bool,
    total: u64,
    points: u64,
    started: Instant,
    first: u64,
    /// The newest step and time that were reported.
    now: (u64, f64),
    /// The moment and the step of the last drawing.
    shown: Option<(Instant, u64)>,
    /// Steps a second, smoothed.
    rate: Option<f64>,
    done: bool,
}

impl Progress {
    /// Reports to standard error; not at all if `quiet`. Steps without points have no speed in million points.
    pub fn new(total_steps: u64, points_per_step: u64, quiet: bool) -> Self {
        let redraws = terminal::redraws();
        let progress = Self::to_writer(io::stderr(), redraws, total_steps, points_per_step);
        Self { quiet, columns: terminal::columns, ..progress }
    }
}

impl<W: Write> Progress<W> {
    /// Reports to `out`: a bar of 80 columns that redraws itself if `terminal`, else plain lines.
    ///
    /// ```
    /// use stencil_runtime::report::Progress;
    /// let mut text = Vec::new();
    /// let mut progress = Progress::to_writer(&mut text, false, 10, 1000);
    /// progress.update(10, 0.5);
    /// assert!(String::from_utf8(text).unwrap().starts_with("100 %  step 10/10  t = 0.5"));
    /// ```
    pub fn to_writer(out: W, terminal: bool, total_steps: u64, points_per_step: u64) -> Self {
        Self {
            out,
            terminal,
            columns: || None,
            quiet: false,
            total: total_steps,
            points: points_per_step,
            started: Instant::now(),
            first: 0,
            now: (0, 0.0),
            shown: None,
            rate: None,
            done: false,
        }
    }

    /// Sets the first step of a run that continues from a checkpoint: steps up to `step` were done before.
    pub fn starting_at(mut self, step: u64) -> Self {
        self.first = step;
        self.now.0 = step;
        self
    }

    /// Corrects the number of steps, if it is known only as the run goes on.
    ///
    /// ```
    /// use stencil_runtime::report::Progress;
    /// let mut text = Vec::new();
    /// let mut progress = Progress::to_writer(&mut text, false, 10, 1000);
    /// progress.expect(20);
    /// progress.update(20, 0.5);
    /// assert!(String::from_utf8(text).unwrap().contains("step 20/20"));
    /// ```
    pub fn expect(&mut self, total_steps: u64) {
        self.total = total_steps;
    }

    /// Reports that `step` steps are done and the solution is at time `t`. Cheap: most calls only read the clock. The
    /// last step finishes the report.
    pub fn update(&mut self, step: u64, t: f64) {
        self.update_at(step, t, Instant::now());
    }

    fn update_at(&mut self, step: u64, t: f64, now: Instant) {
        self.now = (step, t);
        if self.quiet || self.done {
            return;
        }
        if self.total > 0 && step >= self.total {
            return self.finish_at(now);
        }
        let (last, last_step) = self.shown.unwrap_or((self.started, self.first));
        let wait = if self.terminal { REDRAW } else { LINE };
        let since = now.saturating_duration_since(last);
        // The bar shows up with the first step.
        if since < wait && !(self.terminal && self.shown.is_none()) {
            return;
        }
        let (steps, seconds) = (step.saturating_sub(last_step) as f64, since.as_secs_f64());
        if seconds > 0.0 {
            let fresh = steps / seconds;
            let keep = (-seconds / MEMORY).exp();
            self.rate = Some(self.rate.map_or(fresh, |old| keep * old + (1.0 - keep) * fresh));
        }
        self.shown = Some((now, step));
        let elapsed = now.saturating_duration_since(self.started);
        self.show(elapsed, self.rate, false);
    }

    /// Shows the end state with the mean speed, and ends the line. Needed only by a run that ends
    /// before its last step.
    pub fn finish(&mut self) {
        self.finish_at(Instant::now());
    }

    fn finish_at(&mut self, now: Instant) {
        if self.done {
            return;
        }
        self.done = true;
        if self.quiet {
            return;
        }
        let elapsed = now.saturating_duration_since(self.started);
        let steps = self.now.0.saturating_sub(self.first) as f64;
        let seconds = elapsed.as_secs_f64();
        self.show(elapsed, (seconds > 0.0).then(|| steps / seconds), true);
    }

    fn show(&mut self, elapsed: Duration, rate: Option<f64>, last: bool) {
        let parts = self.parts(elapsed, rate, last);
        let text = if self.terminal {
            // A text in the last column would wrap on some terminals.
            let room = (self.columns)().unwrap_or(COLUMNS).saturating_sub(1);
            let line = fitted(&parts, self.part(), room);
            // The rest of a longer line is erased.
            format!("\r{line}{ERASE}{}", if last { "\n" } else { "" })
        } else {
            let words: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
            words.join("  ") + "\n"
        };
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
    }

    /// Returns the share that is done, 0 to 1.
    fn part(&self) -> f64 {
        match self.total {
            0 => 1.0,
            total => (self.now.0 as f64 / total as f64).min(1.0),
        }
    }

    /// Returns all parts, in the order of the line.
    fn parts(&self, elapsed: Duration, rate: Option<f64>, last: bool) -> Vec<Segment> {
        let (step, t) = self.now;
        let rate = rate.unwrap_or(0.0);
        let speed = speed(rate * self.points as f64 / 1e6);
        // Not 100 % before the last step.
        let percent = (self.part() * 100.0).floor();
        let mut parts = vec![
            Segment::new(0, format!("{percent:3.0} %")),
            Segment::new(2, format!("step {step}/{}", self.total)),
            Segment::new(3, format!("t = {}", significant(t, DIGITS))),
            Segment::new(4, format!("{speed} Mpts/s")),
            Segment::new(5, time(elapsed.as_secs_f64())),
        ];
        // Without points there is no speed to tell.
        parts.retain(|part| self.points > 0 || part.rank != 4);
        let left = self.total.saturating_sub(step);
        if !last && left > 0 {
            let eta = match rate > 0.0 {
                true => time(left as f64 / rate),
                false => "?".into(),
            };
            parts.push(Segment::new(1, format!("ETA {eta}")));
        }
        parts
    }
}

/// A part of the line; those of the highest rank are left out first.
struct Segment {
    rank: u8,
    text: String,
}

impl Segment {
    fn new(rank: u8, text: String) -> Self {
        Segment { rank, text }
    }
}

/// Returns a line of at most `room` characters: a bar as long as there is room for, then fewer and fewer parts.
fn fitted(parts: &[Segment], done: f64, room: usize) -> String {
    let line = |most: u8| {
        let kept = parts.iter().filter(|part| part.rank <= most);
        let words: Vec<&str> = kept.map(|part| part.text.as_str()).collect();
        words.join("  ")
    };
    let highest = parts.iter().map(|part| part.rank).max().unwrap_or(0);
    let ranks = (0..=highest).rev();
    let fitting = ranks.map(line).find(|words| words.chars().count() <= room);
    // The bar has two ends and a blank beside it.
    let words = fitting.unwrap_or_else(|| line(0).chars().take(room).collect());
    let cells = room.saturating_sub(words.chars().count() + 3).min(BAR.0);
    match cells < BAR.1 {
        true => words,
        false => format!("{} {words}", bar(done, cells)),
    }
}

fn bar(part: f64, cells: usize) -> String {
    // Eighths of a character make the bar move smoothly.
    let eighths = (part.clamp(0.0, 1.0) * (cells * 8) as f64) as usize;
    let (full, rest) = (eighths / 8, eighths % 8);
    let mut text = "█".repeat(full);
    if rest > 0 {
        text.push(['▏', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][rest]);
    }
    let blanks = cells - text.chars().count();
    format!("▕{text}{:blanks$}▏", "")
}

/// Writes three to four digits.
fn speed(mpts: f64) -> String {
    match mpts {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Writes `4.2 s`, `1:05`, `3:07:09`, `2 d 03:00`.
fn time(seconds: f64) -> String {
    if !seconds.is_finite() || seconds > 1e9 {
        return "?".into();
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let s = seconds.round() as u64;
    let (d, h, m, s) = (s / 86400, s / 3600 % 24, s / 60 % 60, s % 60);
    match (d, h) {
        (0, 0) => format!("{m}:{s:02}"),
        (0, _) => format!("{h}:{m:02}:{s:02}"),
        _ => format!("{d} d {h:02}:{m:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(terminal: bool, millis: &[(u64, u64)]) -> String {
        let mut text = Vec::new();
        let mut p = Progress::to_writer(&mut text, terminal, 1000, 2_000_000);
        let start = p.started;
        for &(ms, step) in millis {
            p.update_at(step, step as f64 * 0.01, start + Duration::from_millis(ms));
        }
        let end = millis.last().map_or(0, |m| m.0);
        p.finish_at(start + Duration::from_millis(end));
        p.finish();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_log_has_a_line_every_two_seconds_and_one_at_the_end() {
        let text = run(false, &[(500, 50), (2000, 200), (3000, 300), (4100, 410), (10000, 1000)]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines,
            [
                " 20 %  step 200/1000  t = 2  200 Mpts/s  2.0 s  ETA 8.0 s",
                " 41 %  step 410/1000  t = 4.1  200 Mpts/s  4.1 s  ETA 5.9 s",
                "100 %  step 1000/1000  t = 10  200 Mpts/s  10.0 s",
            ]
        );
        assert!(!text.contains('\r'));
    }

    #[test]
    fn a_terminal_redraws_at_most_ten_times_a_second() {
        let steps: Vec<_> = (1..=1000).map(|i| (i, i)).collect();
        let text = run(true, &steps);
        let redraws = text.matches('\r').count();
        assert!((10..=12).contains(&redraws), "{redraws}");
        assert_eq!(text.matches('\n').count(), 1);
        assert!(text.ends_with('\n'));
    }

    /// Returns the lines that a terminal shows, each as it is before the next one is drawn.
    fn drawn(text: &str) -> Vec<String> {
        let lines = text.trim_end_matches('\n').split('\r').skip(1);
        lines
            .map(|line| {
                line.strip_suffix("\x1b[K")
                    .expect("what is left of a longer line is erased")
                    .to_string()
            })
            .collect()
    }

    #[test]
    fn what_is_left_of_a_longer_line_is_erased() {
        let text = run(true, &[(0, 1), (90_000_000, 999), (90_000_200, 1000)]);
        assert_eq!(drawn(&text).len(), 3);
    }

    #[test]
    fn a_line_fits_any_terminal_and_keeps_what_matters() {
        for columns in 0..=140 {
            let mut text = Vec::new();
            let mut p = Progress::to_writer(&mut text, true, 1_234_567, 2_000_000);
            p.update_at(654_321, 12.345_678_9, p.started + Duration::from_secs(9000));
            let parts = p.parts(Duration::from_secs(9000), Some(70.0), false);
            let line = fitted(&parts, p.part(), columns);
            assert!(line.chars().count() <= columns, "{columns}: {line}");
            assert_eq!(line.contains("53 %"), columns >= 5, "{columns}: {line}");
            assert_eq!(line.contains("ETA"), columns >= 18, "{columns}: {line}");
            let whole = " 53 %  step 654321/1234567  t = 12.346  140 Mpts/s  2:30:00  ETA 2:18:09";
            if columns >= whole.len() {
                assert!(line.ends_with(whole), "{columns}: {line}");
            }
            let bar = (columns >= whole.len() + 9).then_some('▕');
            assert!(line.starts_with(bar.unwrap_or(' ')) || columns < whole.len());
        }
    }

    #[test]
    fn a_closed_pipe_is_no_panic() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        for terminal in [false, true] {
            let mut p = Progress::to_writer(Closed, terminal, 10, 1);
            p.update_at(5, 0.5, p.started + LINE);
            p.finish();
        }
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        let mut text = Vec::new();
        let mut p = Progress::to_writer(&mut text, true, 0, 0);
        p.update_at(0, f64::NAN, p.started);
        p.update_at(7, f64::INFINITY, p.started + LINE);
        p.finish_at(p.started);
        assert!(String::from_utf8(text).unwrap().contains("100 %"));
    }

    #[test]
    fn a_restart_counts_only_its_own_steps() {
        let mut text = Vec::new();
        let mut p = Progress::to_writer(&mut text, false, 1000, 1_000_000).starting_at(900);
        p.update_at(950, 0.0, p.started + Duration::from_secs(5));
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("95 %") && text.contains("10.0 Mpts/s"), "{text}");
        assert!(text.contains("ETA 5.0 s"), "{text}");
    }

    #[test]
    fn times_and_bars_are_short() {
        assert_eq!([time(4.21), time(65.0), time(11229.0)], ["4.2 s", "1:05", "3:07:09"]);
        assert_eq!([time(183_600.0), time(f64::INFINITY)], ["2 d 03:00", "?"]);
        assert_eq!(time(59.97), "1:00");
        assert_eq!(bar(0.5, 6), "▕███   ▏");
        assert_eq!(bar(7.0, 9).chars().count(), bar(0.01, 9).chars().count());
    }
}
