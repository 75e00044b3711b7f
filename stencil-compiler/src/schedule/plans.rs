//! Plan files: schedules that were found good, with what they are for and how fast they were. They
//! are text, so that they can be read, compared, merged and kept with a program.
//!
//! ```text
//! plans
//!
//! plan IsothermalNs f32 256x256x256
//! card Some Card 200
//! problem 1f0c9e8f5a3b7d21
//! rate 17123.4
//! schedule
//! kernel march tile_x=64 tile_y=12 points=2
//! end
//! ```

use std::fmt::Write as _;

use super::{Schedule, text};
use crate::expr::real::Precision;
use crate::syntax::TextError;

/// The word that plan files begin with.
const HEAD: &str = "plans";

/// A schedule that was found good.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What it is for.
    pub key: Key,
    /// Million points a full step and second that it made.
    pub rate: f64,
    /// The schedule.
    pub schedule: Schedule,
}

/// What a schedule is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The system's name, for readers.
    pub system: String,
    /// The [fingerprint](crate::algorithm::text::fingerprint) of the discrete problem.
    pub problem: u64,
    /// Precision of the values.
    pub precision: Precision,
    /// Cells along x, y, z.
    pub cells: [usize; 3],
    /// The name of the card.
    pub card: String,
}

/// The plans of a file, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plans(pub Vec<Plan>);

impl Plans {
    /// Adds a plan, in the place of one for the same.
    pub fn merge(&mut self, plan: Plan) {
        match self.0.iter_mut().find(|old| old.key == plan.key) {
            Some(old) => *old = plan,
            None => self.0.push(plan),
        }
    }

    /// The plan for a problem on a card: that of the same mesh, or else of the one whose number of
    /// cells is nearest.
    pub fn find(&self, key: &Key) -> Option<&Plan> {
        let same = |plan: &&Plan| {
            let own = &plan.key;
            (own.problem, own.precision, &own.card) == (key.problem, key.precision, &key.card)
        };
        let count = |cells: [usize; 3]| cells.iter().map(|n| *n as f64).product::<f64>();
        let apart = |plan: &&Plan| {
            let (a, b) = (count(plan.key.cells), count(key.cells));
            (a / b).max(b / a)
        };
        let other = |plan: &&Plan| plan.key.cells != key.cells;
        let all = self.0.iter().filter(same);
        all.min_by(|a, b| {
            let first = other(a).cmp(&other(b));
            first.then(apart(a).total_cmp(&apart(b)))
        })
    }

    /// Is this the text of a plan file, and not of a single schedule?
    pub fn is_plans(source: &str) -> bool {
        meaningful(source)
            .next()
            .is_some_and(|(_, line)| line == HEAD)
    }

    /// Prints a plan file.
    pub fn print(&self) -> String {
        let mut out = format!("{HEAD}\n");
        for Plan {
            key,
            rate,
            schedule,
        } in &self.0
        {
            let cells: Vec<String> = key.cells.iter().map(usize::to_string).collect();
            let _ = write!(
                out,
                "\nplan {} {} {}\ncard {}\nproblem {:016x}\nrate {rate}\n{}end\n",
                key.system,
                key.precision.name(),
                cells.join("x"),
                key.card,
                key.problem,
                text::print(schedule)
            );
        }
        out
    }

    /// Reads a plan file; lines that begin with `#` are comments.
    ///
    /// # Errors
    /// Where the text is none; the message has the line.
    pub fn parse(source: &str) -> Result<Self, TextError> {
        let mut lines = meaningful(source);
        if lines.next().map(|(_, line)| line) != Some(HEAD) {
            return Err(wrong(1, format!("a plan file begins with `{HEAD}`")));
        }
        let mut plans = Plans::default();
        while let Some((at, line)) = lines.next() {
            let plan = plan(at, line, &mut lines)?;
            if plans.0.iter().any(|old| old.key == plan.key) {
                return Err(wrong(
                    at,
                    format!("`{line}` is there twice for this card and problem"),
                ));
            }
            plans.0.push(plan);
        }
        Ok(plans)
    }
}

/// Lines that are neither empty nor comments, and their numbers from 1.
fn meaningful(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = source.lines().enumerate();
    let lines = lines.map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn wrong(line: usize, message: impl Into<String>) -> TextError {
    TextError {
        line,
        message: message.into(),
    }
}

/// The plan that begins with a line.
fn plan<'a>(
    at: usize,
    first: &str,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
) -> Result<Plan, TextError> {
    let words: Vec<&str> = first.split_whitespace().collect();
    let ["plan", system, precision, cells] = words[..] else {
        return Err(wrong(
            at,
            format!("expected `plan SYSTEM f32|f64 NXxNYxNZ`, found `{first}`"),
        ));
    };
    let precision = [Precision::F32, Precision::F64]
        .into_iter()
        .find(|p| p.name() == precision)
        .ok_or_else(|| {
            wrong(
                at,
                format!("no precision `{precision}`; there are f32 and f64"),
            )
        })?;
    let counts: Option<Vec<usize>> = cells.split('x').map(|n| n.parse().ok()).collect();
    let cells = counts
        .and_then(|counts| counts.try_into().ok())
        .ok_or_else(|| wrong(at, format!("`{cells}` is no mesh, such as 256x256x256")))?;
    let mut field = |name: &str| -> Result<(usize, &'a str), TextError> {
        let (at, line) = lines
            .next()
            .ok_or_else(|| wrong(at, format!("`{first}` has no `{name}`")))?;
        let value = line.strip_prefix(name).filter(|rest| rest.starts_with(' '));
        let value = value.ok_or_else(|| wrong(at, format!("expected `{name}`, found `{line}`")))?;
        Ok((at, value.trim()))
    };
    let card = field("card")?.1.to_string();
    let (line, problem) = field("problem")?;
    let problem = u64::from_str_radix(problem, 16)
        .map_err(|_| wrong(line, format!("`{problem}` is no fingerprint of 16 digits")))?;
    let (line, rate) = field("rate")?;
    let rate: f64 = rate
        .parse()
        .ok()
        .filter(|rate: &f64| rate.is_finite() && *rate >= 0.0)
        .ok_or_else(|| wrong(line, format!("`{rate}` is no rate")))?;
    let mut schedule = String::new();
    let begins = line + 1;
    loop {
        match lines.next() {
            Some((_, "end")) => break,
            Some((_, line)) => schedule += &format!("{line}\n"),
            None => return Err(wrong(at, format!("`{first}` has no `end`"))),
        }
    }
    let schedule = text::parse(&schedule).map_err(|error| TextError {
        line: begins + error.line - 1,
        message: error.message,
    })?;
    Ok(Plan {
        key: Key {
            system: system.to_string(),
            problem,
            precision,
            cells,
            card,
        },
        rate,
        schedule,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Blocking;

    fn key(cells: [usize; 3]) -> Key {
        Key {
            system: "Heat".into(),
            problem: 0x0123_4567_89ab_cdef,
            precision: Precision::F64,
            cells,
            card: "Some Card 200".into(),
        }
    }

    fn plan(n: usize) -> Plan {
        Plan {
            key: key([n; 3]),
            rate: 1234.5,
            schedule: Schedule {
                placements: Default::default(),
                kernels: vec![Blocking::new("march", &[("tile_x", n as u32)])],
                ..Schedule::default()
            },
        }
    }

    #[test]
    fn what_is_printed_is_read_again() {
        let plans = Plans(vec![plan(64), plan(128)]);
        assert_eq!(Plans::parse(&plans.print()), Ok(plans.clone()));
        let noted = plans
            .print()
            .replace("\nrate", "\n# measured twice\n\nrate");
        assert_eq!(Plans::parse(&noted), Ok(plans));
        assert!(Plans::is_plans(&noted) && !Plans::is_plans("schedule\nkernel rows"));
    }

    #[test]
    fn a_new_plan_takes_the_place_of_one_for_the_same() {
        let mut plans = Plans(vec![plan(64)]);
        plans.merge(Plan {
            rate: 2000.0,
            ..plan(64)
        });
        plans.merge(plan(128));
        assert_eq!(
            plans.0.iter().map(|p| p.rate).collect::<Vec<_>>(),
            [2000.0, 1234.5]
        );
    }

    #[test]
    fn the_nearest_mesh_of_the_same_card_and_problem_is_found() {
        let plans = Plans(vec![plan(64), plan(256)]);
        let found = |cells| plans.find(&key(cells)).map(|p| p.key.cells[0]);
        assert_eq!(found([256; 3]), Some(256));
        assert_eq!(
            (found([80; 3]), found([4096, 64, 64])),
            (Some(64), Some(256))
        );
        let others = [
            Key {
                card: "another".into(),
                ..key([64; 3])
            },
            Key {
                problem: 1,
                ..key([64; 3])
            },
            Key {
                precision: Precision::F32,
                ..key([64; 3])
            },
        ];
        assert!(others.iter().all(|key| plans.find(key).is_none()));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let good = Plans(vec![plan(64)]).print();
        for (from, to, line, message) in [
            ("plans", "plan", 1, "begins with `plans`"),
            ("f64", "f16", 3, "no precision `f16`"),
            ("64x64x64", "64x64", 3, "is no mesh"),
            ("card Some Card 200\n", "", 4, "expected `card`"),
            ("0123456789abcdef", "xyz", 5, "no fingerprint"),
            ("1234.5", "fast", 6, "is no rate"),
            ("kernel march", "kernel march 7", 8, ""),
            ("end", "", 3, "has no `end`"),
        ] {
            let error = Plans::parse(&good.replace(from, to)).unwrap_err();
            assert!(
                error.line == line && error.message.contains(message),
                "{to}: {error:?}"
            );
        }
        let twice = good.clone() + good.strip_prefix("plans").unwrap();
        assert!(
            Plans::parse(&twice)
                .unwrap_err()
                .message
                .contains("there twice")
        );
    }
}
