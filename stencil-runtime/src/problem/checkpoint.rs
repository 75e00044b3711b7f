//! `[checkpoint]`: when a run writes states, and how many of them stay; and the limit of its time on the wall.

use std::time::Duration;

use stencil_compiler::diag::Code;

use super::document::{Item, Table};
use super::reader::{Name, Reader};
use super::write::number;

/// The states that a run writes on its way. Each condition that is given holds by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// Steps between states.
    pub every_steps: Option<u64>,
    /// Simulated time between states: one follows the first step that reaches a multiple of it.
    pub every_time: Option<f64>,
    /// Minutes on the wall between states.
    pub every_minutes: Option<f64>,
    /// The number of states that stay, the last ones.
    pub keep: u64,
}

/// The number of states that stay by default: the last one may be lost with the disk's last writes.
const KEEP: u64 = 2;

impl Default for Checkpoint {
    fn default() -> Self {
        Checkpoint { every_steps: None, every_time: None, every_minutes: None, keep: KEEP }
    }
}

impl Checkpoint {
    /// Does the run write states on its way?
    pub fn is_on(&self) -> bool {
        self.every_steps.is_some() || self.every_time.is_some() || self.every_minutes.is_some()
    }

    /// Is a state due by the steps, or because this step has led from one time to another?
    ///
    /// ```
    /// use stencil_runtime::problem::Checkpoint;
    ///
    /// let mut checkpoint = Checkpoint::default();
    /// checkpoint.every_time = Some(0.5);
    /// assert!(!checkpoint.is_due(7, (0.2, 0.49)));
    /// assert!(checkpoint.is_due(8, (0.49, 0.52)));
    /// ```
    pub fn is_due(&self, step: u64, (before, t): (f64, f64)) -> bool {
        let by_steps = self.every_steps.is_some_and(|every| step.is_multiple_of(every.max(1)));
        let passed = |every: f64| (t / every).floor() > (before / every).floor();
        by_steps || self.every_time.is_some_and(passed)
    }

    /// Returns the lines of the section.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        if !self.is_on() {
            return Vec::new();
        }
        let lines = [
            ("every_steps", self.every_steps.map(|steps| steps.to_string())),
            ("every_time", self.every_time.map(number)),
            ("every_minutes", self.every_minutes.map(number)),
            ("keep", Some(self.keep.to_string())),
        ];
        lines.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }
}

/// Reads `[checkpoint]`.
pub(super) fn read(document: &Table, reader: &mut Reader) -> Option<Checkpoint> {
    let (table, _) = reader.section(document, "checkpoint");
    reader.keys("checkpoint", &table);
    let name = |key| Name("checkpoint", key);
    let steps = table.get("every_steps").map(|item| reader.count(name("every_steps"), item));
    let time = table.get("every_time").map(|item| reader.positive(name("every_time"), item));
    let minutes =
        table.get("every_minutes").map(|item| reader.positive(name("every_minutes"), item));
    let keep = table.get("keep").map(|item| (item, reader.count(name("keep"), item)));
    if let (Some((item, _)), None, None, None) = (&keep, steps, time, minutes) {
        let message = "nothing says when states are written";
        let help =
            "add every_steps, every_time or every_minutes under [checkpoint], or leave keep out";
        reader.mistakes.add(Code::Contradiction, item.at, message, help);
    }
    Some(Checkpoint {
        every_steps: steps.map_or(Some(None), |steps| steps.map(Some))?,
        every_time: time.map_or(Some(None), |time| time.map(Some))?,
        every_minutes: minutes.map_or(Some(None), |minutes| minutes.map(Some))?,
        keep: keep.map_or(Some(KEEP), |(_, keep)| keep)?,
    })
}

/// Reads a time on the wall, such as `3h55m`.
pub(super) fn wall(item: &Item, reader: &mut Reader) -> Option<Duration> {
    let name = Name("time", "wall");
    let text = reader.text(name, item)?;
    match humantime::parse_duration(text.trim()) {
        Ok(wall) if !wall.is_zero() => Some(wall),
        Ok(_) => {
            reader.bad(
                item.at,
                "`time.wall` is no time at all",
                "leave it out, or write \"3h55m\"",
            );
            None
        }
        Err(why) => {
            let message = format!("`time.wall` is no time on the wall: {why}");
            reader.bad(item.at, message, "write hours, minutes and seconds: \"3h55m\" or \"90s\"");
            None
        }
    }
}

/// Writes a time on the wall.
pub(super) fn wall_text(wall: Duration) -> String {
    humantime::format_duration(wall).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::tests::parse;
    use super::*;

    fn with(sections: &str) -> String {
        format!(
            "system = 'system Heat in 1d {{ field q: scalar; ddt(q) = lap(q); }}'
            mesh.cells = 8
            init.q = 'x'
            {sections}"
        )
    }

    #[test]
    fn settings_are_read_and_written_back() {
        let text = with(
            "time = { dt = 1e-3, end = 1, wall = '3h55m' }
            checkpoint = { every_steps = 10, every_time = '1/4', every_minutes = 0.5, keep = 5 }",
        );
        let problem = parse(&text, &[]).unwrap();
        let expected = Checkpoint {
            every_steps: Some(10),
            every_time: Some(0.25),
            every_minutes: Some(0.5),
            keep: 5,
        };
        assert_eq!(problem.checkpoint, expected);
        assert_eq!(problem.time.wall, Some(Duration::from_secs(14_100)));
        let written = problem.to_toml(None);
        let again = parse(&written, &[]).unwrap();
        assert_eq!((again.checkpoint, again.time.wall), (expected, problem.time.wall));
        assert_eq!(again.run_id().unwrap(), problem.run_id().unwrap());
        // Neither is written if it is not given.
        let plain = parse(&with("time = { dt = 1e-3, end = 1 }"), &[]).unwrap();
        assert_eq!(plain.checkpoint, Checkpoint::default());
        assert!(!plain.to_toml(None).contains("checkpoint") && plain.time.wall.is_none());
        assert_eq!(plain.run_id().unwrap(), problem.run_id().unwrap());
    }

    #[test]
    fn wrong_settings_are_named() {
        let cases = [
            ("checkpoint.keep = 3", "nothing says when states are written"),
            ("checkpoint.every_steps = 0", "`checkpoint.every_steps` is 0"),
            ("checkpoint.every_time = -1", "give a number above zero"),
            ("checkpoint.every = 3", "no key `every` in [checkpoint]"),
            ("time.wall = 'soon'", "`time.wall` is no time on the wall"),
            ("time.wall = '0s'", "no time at all"),
            ("time.wall = 60", "`time.wall` is a string"),
        ];
        for (line, expected) in cases {
            let text = with(&format!("{line}\ntime.dt = 1e-3\ntime.end = 1"));
            let error = parse(&text, &[]).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn states_are_due_by_steps_and_by_times() {
        let rule =
            Checkpoint { every_steps: Some(4), every_time: Some(0.5), ..Checkpoint::default() };
        assert!(rule.is_due(8, (0.1, 0.2)) && !rule.is_due(9, (0.1, 0.2)));
        assert!(rule.is_due(9, (0.4, 0.5)) && !rule.is_due(9, (0.5, 0.9)));
        // A long step passes several times at once.
        assert!(rule.is_due(9, (0.4, 2.1)));
        assert!(!Checkpoint::default().is_due(4, (0.0, 1.0)));
    }
}
