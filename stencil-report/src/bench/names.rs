//! Names of schedules, and of cases in names of files.

use std::path::Path;

use super::picture::firsts;
use super::report::Measured;
use stencil_compiler::diag::counted;

/// The schedule, or the engine, with the threads that it has.
pub(super) fn schedule(result: &Measured) -> String {
    with_threads(result, result.schedule.as_deref())
}

/// The same without folders and the ending of a file.
pub(super) fn short_schedule(result: &Measured) -> String {
    with_threads(result, result.schedule.as_deref().map(file_stem))
}

fn with_threads(result: &Measured, schedule: Option<&str>) -> String {
    let name = schedule.unwrap_or(result.engine);
    match &result.processor {
        Some(processor) => format!("{name}, {}", counted(processor.threads, "thread")),
        None => name.to_string(),
    }
}

fn file_stem(name: &str) -> &str {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or(name)
}

/// Cells along the axes that there are.
pub(super) fn axes(result: &Measured) -> impl Iterator<Item = usize> {
    let cells = result.cells;
    (0..3)
        .map(move |axis| cells[axis])
        .enumerate()
        .filter_map(|(axis, n)| (axis == 0 || n > 1).then_some(n))
}

/// A system and its precision, and where they were measured in several forms, the form.
pub(super) fn of_form<'a>(result: &Measured, among: impl Iterator<Item = &'a Measured>) -> String {
    let is_one =
        |other: &&Measured| (&other.system, other.precision) == (&result.system, result.precision);
    let forms = firsts(among.filter(is_one), |r| (r.mixed, r.order));
    let name = format!("{}-{}", result.system, result.precision);
    match forms.len() {
        0 | 1 => name,
        _ => format!("{name}-{}-order-{}", result.mixed, result.order),
    }
}

/// Names of cases in those of files, each one once: those that differ in something else, such as patches or the
/// folder of the schedule, are numbered.
pub(super) fn of_cases(results: &[&Measured]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for result in results {
        let form = of_form(result, results.iter().copied());
        let cells: Vec<String> = axes(result).map(|n| n.to_string()).collect();
        let schedule = short_schedule(result);
        let own = plain(&format!("{form}-{schedule}-{}", cells.join("x")));
        let mut name = own.clone();
        let mut number = 1;
        while all.contains(&name) {
            number += 1;
            name = format!("{own}-{number}");
        }
        all.push(name);
    }
    all
}

/// Drops characters that are unusual in names of files.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let parts = name.split(|c| !is_plain(c)).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::Processor;
    use crate::bench::tests::{measured, on_card};

    #[test]
    fn cases_have_names_of_their_own() {
        let of = |schedule: &str| Measured { schedule: Some(schedule.into()), ..on_card(None) };
        let named = |results: &[Measured]| of_cases(&results.iter().collect::<Vec<_>>());
        let cut = Measured { patches: [2, 1, 1], ..of("a") };
        assert_eq!(
            named(&[of("files/a.schedule"), of("others/a.schedule"), cut, of("b")]),
            ["a-64x32", "a-64x32-2", "a-64x32-3", "b-64x32"].map(|end| format!("Heat-f64-{end}"))
        );
        // A numbered name is no name of another case.
        let numbered =
            Measured { schedule: Some("a-64x32".into()), cells: [2, 1, 1], ..on_card(None) };
        let names = named(&[of("a"), numbered, of("a")]);
        assert_eq!(names[1..], ["Heat-f64-a-64x32-2", "Heat-f64-a-64x32-3"]);
        let composed = Measured { mixed: "composed", order: 4, ..of("a") };
        assert_eq!(
            named(&[of("a"), composed]),
            ["Heat-f64-bidiagonal-order-6-a-64x32", "Heat-f64-composed-order-4-a-64x32"]
        );
    }

    #[test]
    fn a_file_of_a_schedule_is_named_with_its_threads() {
        let of = |threads: usize| Measured {
            schedule: Some("files/a.schedule".into()),
            processor: measured().processor.map(|own| Processor { threads, ..own }),
            ..measured()
        };
        let (two, four) = (of(2), of(4));
        assert_eq!(schedule(&two), "files/a.schedule, 2 threads");
        assert_eq!(short_schedule(&two), "a, 2 threads");
        assert_eq!(
            of_cases(&[&two, &four]),
            ["Heat-f64-a-2-threads-64x32", "Heat-f64-a-4-threads-64x32"]
        );
    }
}
