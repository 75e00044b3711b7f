//! Plan files: schedules that were found good, with their keys and rates. They are text, so that they can be read,
//! compared, merged and kept with a program.
//!
//! ```text
//! plans
//!
//! plan IsothermalNs f32 256x256x256
//! card Some Card 200
//! problem 1f0c9e8f5a3b7d21
//! formulation mixed composed of 5ee8bbf83d2e11de
//! rate 17123.4
//! schedule
//! kernel march tile_x=64 tile_y=12 points=2
//! end
//! ```
//!
//! A plan has a `formulation` if its search chose among those that the declaration leaves open: the choice, and the
//! fingerprint of the problem with the default one.

use std::fmt::Write as _;

use crate::expr::real::Precision;
use crate::model::{Formulation, Scheme};
use crate::schedule::{Schedule, text};
use crate::syntax::TextError;

/// The word that plan files begin with.
const HEAD: &str = "plans";

/// The word of a line that says which formulation was chosen.
const CHOSEN: &str = "formulation";

/// A schedule that was found good.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The key under which it is found.
    pub key: Key,
    /// The formulation that was chosen, if the declaration leaves one open and the search was to choose it.
    pub chosen: Option<Chosen>,
    /// Million points a full step and second that it made.
    pub rate: f64,
    /// The schedule.
    pub schedule: Schedule,
}

/// A formulation that a search chose for a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The choices that were made.
    pub formulation: Formulation,
    /// The fingerprint of the declaration's problem by default.
    pub of: u64,
}

impl Chosen {
    /// Was it chosen for a declaration with this scheme, whose problem by default is this one? Declarations with the
    /// same default may leave other choices open.
    pub fn is_for(&self, problem: u64, scheme: &Scheme) -> bool {
        let is_open = || scheme.is_open() && scheme.formulations().contains(&self.formulation);
        self.of == problem && is_open()
    }
}

/// The key of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The system's name, for readers.
    pub system: String,
    /// The [fingerprint](crate::algorithm::text::fingerprint) of the discrete problem, of the formulation that was chosen.
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

impl Plan {
    /// Has it the same key as another one, or does it settle the same declaration for the same?
    fn is_for_same(&self, other: &Plan) -> bool {
        let settles = |plan: &Plan| plan.chosen.map(|chosen| chosen.of);
        let of_declaration = |plan: &Plan| Key {
            problem: settles(plan).unwrap_or(plan.key.problem),
            ..plan.key.clone()
        };
        let settle = settles(self).is_some() && settles(self) == settles(other);
        self.key == other.key || settle && of_declaration(self) == of_declaration(other)
    }
}

impl Plans {
    /// Adds a plan, in the place of those with the same key. A declaration has one formulation for a card, a precision
    /// and a mesh; a better schedule of the chosen one leaves the choice as it is.
    pub fn merge(&mut self, mut plan: Plan) {
        let at = self.0.iter().position(|old| old.is_for_same(&plan));
        let before = self.0.iter().find(|old| old.key == plan.key);
        plan.chosen = plan.chosen.or(before.and_then(|old| old.chosen));
        self.0.retain(|old| !old.is_for_same(&plan));
        self.0.insert(at.unwrap_or(self.0.len()), plan);
    }

    /// The plan for a problem on a card: for the same mesh, or else for the one with the nearest number of cells.
    pub fn find(&self, key: &Key) -> Option<&Plan> {
        self.nearest(key, |plan| plan.key.problem == key.problem)
    }

    /// The formulation [chosen](Chosen::is_for) for a declaration with this scheme, on a card: for the same mesh, or
    /// else the nearest one.
    pub fn chosen(&self, key: &Key, scheme: &Scheme) -> Option<Chosen> {
        let is_for = |chosen: Chosen| chosen.is_for(key.problem, scheme);
        let settles = |plan: &Plan| plan.chosen.is_some_and(is_for);
        self.nearest(key, settles)?.chosen
    }

    /// The plan for the nearest mesh among those that satisfy a condition and have the precision and the card of a key.
    fn nearest(&self, key: &Key, is_one: impl Fn(&Plan) -> bool) -> Option<&Plan> {
        let same = |plan: &&Plan| {
            let own = &plan.key;
            (own.precision, &own.card) == (key.precision, &key.card) && is_one(plan)
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
        meaningful(source).next().is_some_and(|(_, line)| line == HEAD)
    }

    /// Prints a plan file.
    pub fn print(&self) -> String {
        let mut out = format!("{HEAD}\n");
        for Plan { key, chosen, rate, schedule } in &self.0 {
            let cells: Vec<String> = key.cells.iter().map(usize::to_string).collect();
            let _ = write!(
                out,
                "\nplan {} {} {}\ncard {}\nproblem {:016x}\n{}rate {rate}\n{}end\n",
                key.system,
                key.precision.name(),
                cells.join("x"),
                key.card,
                key.problem,
                chosen.map_or(String::new(), |Chosen { formulation, of }| {
                    format!("{CHOSEN} {formulation} of {of:016x}\n")
                }),
                text::print(schedule)
            );
        }
        out
    }

    /// Reads a plan file; lines that begin with `#` are comments.
    ///
    /// # Errors
    /// If the text is not a plan file; the message has the line.
    pub fn parse(source: &str) -> Result<Self, TextError> {
        let mut lines = meaningful(source);
        if lines.next().map(|(_, line)| line) != Some(HEAD) {
            return Err(wrong(1, format!("a plan file begins with `{HEAD}`")));
        }
        let mut plans = Plans::default();
        while let Some((at, line)) = lines.next() {
            let plan = plan(at, line, &mut lines)?;
            if plans.0.iter().any(|old| old.is_for_same(&plan)) {
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
    TextError { line, message: message.into() }
}

/// The plan that begins with a line.
fn plan<'a>(
    at: usize,
    first: &str,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
) -> Result<Plan, TextError> {
    let words: Vec<&str> = first.split_whitespace().collect();
    let ["plan", system, precision, cells] = words[..] else {
        return Err(wrong(at, format!("expected `plan SYSTEM f32|f64 NXxNYxNZ`, found `{first}`")));
    };
    let precision = [Precision::F32, Precision::F64]
        .into_iter()
        .find(|p| p.name() == precision)
        .ok_or_else(|| wrong(at, format!("no precision `{precision}`; there are f32 and f64")))?;
    let counts: Option<Vec<usize>> = cells.split('x').map(|n| n.parse().ok()).collect();
    let cells = counts
        .and_then(|counts| counts.try_into().ok())
        .ok_or_else(|| wrong(at, format!("`{cells}` is no mesh, such as 256x256x256")))?;
    let missing = |name: &str| wrong(at, format!("`{first}` has no `{name}`"));
    let mut next = |name: &str| lines.next().ok_or_else(|| missing(name));
    let (_, card) = field(next("card")?, "card")?;
    let (line, problem) = field(next("problem")?, "problem")?;
    let problem = fingerprint(line, problem)?;
    let mut after = next("rate")?;
    let mut chosen = None;
    if let Ok((line, text)) = field(after, CHOSEN) {
        chosen = Some(choice(line, text)?);
        after = next("rate")?;
    }
    let (line, rate) = field(after, "rate")?;
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
    let schedule = text::parse(&schedule)
        .map_err(|error| TextError { line: begins + error.line - 1, message: error.message })?;
    Ok(Plan {
        key: Key { system: system.to_string(), problem, precision, cells, card: card.to_string() },
        chosen,
        rate,
        schedule,
    })
}

/// The rest of a line after its name.
fn field<'a>((at, line): (usize, &'a str), name: &str) -> Result<(usize, &'a str), TextError> {
    let value = line.strip_prefix(name).filter(|rest| rest.starts_with(' '));
    let value = value.ok_or_else(|| wrong(at, format!("expected `{name}`, found `{line}`")))?;
    Ok((at, value.trim()))
}

fn fingerprint(line: usize, digits: &str) -> Result<u64, TextError> {
    u64::from_str_radix(digits, 16)
        .map_err(|_| wrong(line, format!("`{digits}` is no fingerprint of 16 digits")))
}

/// `mixed composed of 5ee8bbf83d2e11de`.
fn choice(line: usize, text: &str) -> Result<Chosen, TextError> {
    let (formulation, of) = text.split_once(" of ").ok_or_else(|| {
        let message = format!("expected `{CHOSEN} mixed composed of FINGERPRINT`, found `{text}`");
        wrong(line, message)
    })?;
    Ok(Chosen {
        formulation: formulation.parse().map_err(|why| wrong(line, why))?,
        of: fingerprint(line, of.trim())?,
    })
}

#[cfg(test)]
mod tests;
