//! A sweep: runs of one problem over values of its settings, as tables, JSON and pictures.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{Picture, Render};

mod orders;
mod pictures;
mod tables;
#[cfg(test)]
mod tests;

/// Runs of one problem, in the order of their settings.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// The name of the problem.
    pub problem: String,
    /// The settings that change, such as `params.nu`.
    pub keys: Vec<String>,
    /// One run for each combination of values; the last setting changes fastest.
    pub members: Vec<Member>,
}

/// One run of a sweep.
#[derive(Clone, Debug)]
pub struct Member {
    /// The values of the settings, in the order of [`Sweep::keys`].
    pub values: Vec<String>,
    /// The name of its folder.
    pub name: String,
    /// Smallest distances of cells along the axes of the mesh.
    pub spacing: Vec<f64>,
    /// The end of it.
    pub state: State,
}

/// The end of a run of a sweep.
#[derive(Clone, Debug)]
pub enum State {
    /// It has not ended: it was not begun, or a signal came.
    Open,
    /// It ended with this exit code and message.
    Failed {
        /// The exit code.
        code: u8,
        /// The message, of one or more lines.
        message: String,
    },
    /// It ended well.
    Done(Results),
}

/// Results of a run, as its JSON object has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Steps.
    pub steps: u64,
    /// The time of the model at the end.
    pub t: f64,
    /// Seconds on the wall.
    pub seconds: f64,
    /// L1, L2 and maximum norms of the error of each component with an exact solution.
    pub errors: BTreeMap<String, [f64; 3]>,
    /// Observables at the end.
    pub observed: BTreeMap<String, f64>,
}

/// Names of the norms of [`Results::errors`].
pub const NORMS: [&str; 3] = ["l1", "l2", "linf"];

impl Results {
    /// Reads the JSON object that a run prints; `None` if it is none. A value that is not finite is read as NaN.
    pub fn of(run: &Value) -> Option<Self> {
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let errors = run.get("errors")?.as_object()?.iter().map(|(name, norms)| {
            let norms = NORMS.map(|norm| norms.get(norm).map_or(f64::NAN, number));
            (name.clone(), norms)
        });
        let observed = run
            .get("sums")?
            .as_object()?
            .iter()
            .map(|(name, values)| (name.clone(), values.get("last").map_or(f64::NAN, number)));
        Some(Results {
            steps: run.get("steps")?.as_u64()?,
            t: run.get("t").map_or(f64::NAN, number),
            seconds: run.get("wall_s").map_or(f64::NAN, number),
            errors: errors.collect(),
            observed: observed.collect(),
        })
    }
}

impl Member {
    /// Returns the results, if it ended well.
    pub fn results(&self) -> Option<&Results> {
        match &self.state {
            State::Done(results) => Some(results),
            State::Open | State::Failed { .. } => None,
        }
    }

    /// Returns one word for its end.
    fn word(&self) -> &'static str {
        match self.state {
            State::Open => "open",
            State::Failed { .. } => "failed",
            State::Done(_) => "done",
        }
    }
}

impl Sweep {
    /// Returns the table for other programs, as comma-separated values with a head: settings, state, spacing, steps, times, errors
    /// with their orders, observables. A value that is missing is empty.
    pub fn csv(&self) -> String {
        tables::csv(self)
    }

    /// Returns the names of all components with errors.
    fn components(&self) -> Vec<&str> {
        names(self.members.iter().filter_map(Member::results).map(|r| r.errors.keys()))
    }

    /// Returns the names of all observables.
    fn observables(&self) -> Vec<&str> {
        names(self.members.iter().filter_map(Member::results).map(|r| r.observed.keys()))
    }

    /// Returns the number of runs that ended well, that failed, and that are open.
    pub fn counts(&self) -> [usize; 3] {
        let count = |word| self.members.iter().filter(|m| m.word() == word).count();
        ["done", "failed", "open"].map(count)
    }
}

/// Returns the names of several lists, each once, in order.
fn names<'a, I: Iterator<Item = &'a String>>(lists: impl Iterator<Item = I>) -> Vec<&'a str> {
    let all: std::collections::BTreeSet<&str> = lists.flatten().map(String::as_str).collect();
    all.into_iter().collect()
}

impl Render for Sweep {
    fn text(&self) -> String {
        tables::text(self)
    }

    fn json(&self) -> Value {
        let members = self.members.iter().enumerate().map(|(at, member)| {
            let settings = self.keys.iter().zip(&member.values);
            let settings = settings.map(|(key, value)| (key.clone(), Value::from(value.as_str())));
            let mut object = json!({
                "settings": Value::Object(settings.collect::<Map<_, _>>()),
                "folder": member.name,
                "state": member.word(),
                "spacing": member.spacing,
            });
            match &member.state {
                State::Open => {}
                State::Failed { code, message } => {
                    object["code"] = json!(code);
                    object["message"] = json!(message);
                }
                State::Done(results) => {
                    object["steps"] = json!(results.steps);
                    object["t"] = json!(results.t);
                    object["wall_s"] = json!(results.seconds);
                    object["observed"] = json!(results.observed);
                    object["errors"] = self.errors_json(at, results);
                }
            }
            object
        });
        json!({
            "problem": self.problem,
            "over": self.keys,
            "members": members.collect::<Vec<_>>(),
        })
    }

    fn pictures(&self) -> Vec<(String, Picture)> {
        pictures::all(self)
    }
}

impl Sweep {
    /// Returns the errors of a member by component, each norm with its order.
    fn errors_json(&self, at: usize, results: &Results) -> Value {
        let of = |(name, norms): (&String, &[f64; 3])| {
            let orders = self.orders(at, name);
            let norms = NORMS.iter().zip(norms).zip(orders);
            let norms = norms.map(|((norm, error), order)| {
                (norm.to_string(), json!({ "error": error, "order": order }))
            });
            (name.clone(), Value::Object(norms.collect()))
        };
        Value::Object(results.errors.iter().map(of).collect())
    }
}
