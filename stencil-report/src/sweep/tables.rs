//! The tables of a sweep, for a terminal and as comma-separated values.

use stencil_compiler::diag::counted;
use stencil_runtime::report::significant;

use super::{Member, NORMS, Results, State, Sweep};
use crate::table::Table;

/// Digits of observables on a terminal.
const DIGITS: usize = 6;

/// The norm on a terminal, in the order of [`NORMS`]; all norms are in the other forms.
const SHOWN: usize = 1;

/// Returns the page for a terminal: errors, observables, and the runs that are not done.
pub(super) fn text(sweep: &Sweep) -> String {
    let [done, failed, open] = sweep.counts();
    let mut page =
        format!("{}: {}, {done} done", sweep.problem, counted(sweep.members.len(), "run"));
    for (count, word) in [(failed, "failed"), (open, "open")] {
        if count > 0 {
            page += &format!(", {count} {word}");
        }
    }
    page += "\n";
    let components = sweep.components();
    if !components.is_empty() {
        page += &format!(
            "\nerrors against the exact solution at the end, {}; orders from the next coarser mesh\n",
            NORMS[SHOWN]
        );
        let mut titles = Vec::new();
        for component in &components {
            titles.extend([format!("{component}#"), "order#".to_string()]);
        }
        page += &rows(sweep, &titles, |at, results| {
            let of = |component: &&str| {
                let error = results.errors.get(*component).map(|norms| norms[SHOWN]);
                let order = sweep.orders(at, component)[SHOWN];
                [error.map(|e| format!("{e:.3e}")), order.map(|order| format!("{order:.2}"))]
                    .map(|cell| cell.unwrap_or_else(|| "-".to_string()))
            };
            components.iter().flat_map(of).collect()
        });
    }
    let observables = sweep.observables();
    if !observables.is_empty() {
        page += "\nobservables at the end\n";
        let titles: Vec<String> = observables.iter().map(|name| format!("{name}#")).collect();
        page += &rows(sweep, &titles, |_, results| {
            let of = |name: &&str| {
                let value = results.observed.get(*name);
                value.map_or("-".to_string(), |value| significant(*value, DIGITS))
            };
            observables.iter().map(of).collect()
        });
    }
    if components.is_empty() && observables.is_empty() && done > 0 {
        page += "\nno observables and no exact solution: the system declares none by `observe`, the problem none in [exact]\n";
    }
    page + &undone(sweep)
}

/// Returns a row for each member: its settings, steps and time, and cells of its results.
fn rows(
    sweep: &Sweep,
    titles: &[String],
    cells: impl Fn(usize, &Results) -> Vec<String>,
) -> String {
    let settings = sweep.keys.iter().cloned();
    let all = settings.chain(["steps#".to_string(), "t#".to_string()]);
    let head: Vec<String> = all.chain(titles.iter().cloned()).collect();
    let mut table = Table::new(2, &head.iter().map(String::as_str).collect::<Vec<_>>());
    for (at, member) in sweep.members.iter().enumerate() {
        let mut row = member.values.clone();
        match member.results() {
            Some(results) => {
                row.extend([results.steps.to_string(), significant(results.t, DIGITS)]);
                row.extend(cells(at, results));
            }
            None => {
                row.push(member.word().to_string());
                row.extend(vec!["-".to_string(); titles.len() + 1]);
            }
        }
        table.row(row);
    }
    table.to_string()
}

/// Returns the messages of runs that failed.
fn undone(sweep: &Sweep) -> String {
    let mut text = String::new();
    for member in &sweep.members {
        if let State::Failed { code, message } = &member.state {
            text += &format!("\n{} failed with code {code}:\n", settings(sweep, member));
            text += &message.lines().map(|line| format!("  {line}\n")).collect::<String>();
        }
    }
    text
}

fn settings(sweep: &Sweep, member: &Member) -> String {
    let pairs = sweep.keys.iter().zip(&member.values);
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(" ")
}

/// Returns comma-separated values with a head.
pub(super) fn csv(sweep: &Sweep) -> String {
    let (components, observables) = (sweep.components(), sweep.observables());
    let mut head: Vec<String> = sweep.keys.clone();
    head.extend(["folder", "state", "h", "steps", "t", "wall_s"].map(str::to_string));
    for component in &components {
        for norm in NORMS {
            head.extend([format!("{component}_{norm}"), format!("{component}_{norm}_order")]);
        }
    }
    head.extend(observables.iter().map(|name| name.to_string()));
    let columns = head.len();
    let mut text = line(&head);
    for (at, member) in sweep.members.iter().enumerate() {
        let mut row = member.values.clone();
        let h = member.spacing.iter().copied().fold(f64::INFINITY, f64::min);
        row.extend([member.name.clone(), member.word().to_string(), number(Some(h))]);
        if let Some(results) = member.results() {
            row.extend([
                results.steps.to_string(),
                number(Some(results.t)),
                number(Some(results.seconds)),
            ]);
            for component in &components {
                let errors = results.errors.get(*component);
                for (norm, order) in sweep.orders(at, component).into_iter().enumerate() {
                    row.extend([number(errors.map(|errors| errors[norm])), number(order)]);
                }
            }
            row.extend(observables.iter().map(|name| number(results.observed.get(*name).copied())));
        }
        row.resize(columns, String::new());
        text += &line(&row);
    }
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:e}"))
}

/// Joins cells by commas; a cell with a comma, a quote or a line end stands in quotes.
fn line(cells: &[String]) -> String {
    let quoted = cells.iter().map(|cell| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}
