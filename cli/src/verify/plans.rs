//! Comparisons of plans, each by the formulation that it chose.

use std::path::Path;

use stencil_compiler::algorithm::text::fingerprint;
use stencil_compiler::schedule::Schedule;
use stencil_compiler::search::plans::{Key, Plan, Plans};
use stencil_report::Failure;
use stencil_runtime::SystemDef;
use stencil_runtime::io::read_text;

use super::cases::Origin;
use crate::Ended;
use crate::source::Precision;

/// A system by one formulation, and the plans for it with names.
pub(super) type Planned = (SystemDef, Origin, Vec<(String, Schedule)>);

/// The plans of a file.
pub(super) fn read(file: &Path) -> Result<Plans, Ended> {
    let wrong = |what: String| Failure::new(format!("error: {}: {what}", file.display()));
    let text = read_text(file).map_err(|error| wrong(error.to_string()))?;
    Ok(Plans::parse(&text).map_err(|error| wrong(error.to_string()))?)
}

/// A file whose plans are of other systems, of declarations that have changed, or for other cards.
pub(super) fn none(file: &Path, architecture: &str) -> Ended {
    Ended::from(Failure::new(format!(
        "error: no plan of {} is for the systems and precisions that are compared, as they are declared now, and for a card of {architecture}\n  \
         help: name the systems or files that they were found for",
        file.display()
    )))
}

/// The plans for a system in a precision, each schedule once. Those with a chosen formulation are of the system in it,
/// if it leaves one open.
pub(super) fn of(
    plans: &Plans,
    (system, origin): (&SystemDef, &Origin),
    precision: Precision,
) -> Result<Vec<Planned>, Ended> {
    let problem = fingerprint(system.algorithm());
    let mut all: Vec<Planned> = Vec::new();
    let of_precision = |plan: &&Plan| plan.key.precision == precision.get();
    for Plan { key, chosen, schedule, .. } in plans.0.iter().filter(of_precision) {
        let chosen = chosen.filter(|chosen| chosen.is_for(problem, &system.model().scheme));
        if chosen.is_none() && key.problem != problem {
            continue;
        }
        let formulation = chosen.map(|chosen| chosen.formulation);
        let of = match all.iter().position(|(_, o, _)| o.formulation == formulation) {
            Some(at) => at,
            None => {
                let origin = Origin { formulation, ..origin.clone() };
                let settled = formulation.map_or(Ok(system.clone()), |f| system.by(f))?;
                all.push((settled, origin, Vec::new()));
                all.len() - 1
            }
        };
        let schedules = &mut all[of].2;
        if schedules.iter().all(|(_, other)| other != schedule) {
            schedules.push((name(key), schedule.clone()));
        }
    }
    Ok(all)
}

fn name(key: &Key) -> String {
    let [x, y, z] = key.cells;
    format!("plan for {x}x{y}x{z} on {}", key.card)
}

#[cfg(test)]
mod tests {
    use stencil_compiler::expr::real::Precision as Real;
    use stencil_compiler::search::plans::Chosen;

    use super::super::cases::Declared;
    use super::*;

    #[test]
    fn plans_are_compared_by_the_formulation_that_they_chose() {
        let text = "pub system Waves in 2d { field q: scalar;
            let s = d[x](q) + d[y](q); ddt(q) = d[x](s); }";
        let name = "waves.pde".to_string();
        let system = SystemDef::from_text(&name, text).unwrap();
        let origin = Origin {
            declared: Declared::File { name, text: text.to_string(), dimension: None },
            mixed: None,
            formulation: None,
        };
        let of = fingerprint(system.algorithm());
        let plan = |n: usize, problem, formulation: Option<&str>| Plan {
            key: Key {
                system: "Waves".into(),
                problem,
                precision: Real::F32,
                cells: [n, n, 1],
                card: "some card".into(),
            },
            chosen: formulation.map(|text| Chosen { formulation: text.parse().unwrap(), of }),
            rate: 1.0,
            schedule: system.schedule().clone(),
        };
        let plans = Plans(vec![
            plan(64, of, None),
            plan(64, 1, Some("mixed composed")),
            plan(128, 1, Some("mixed composed")),
            plan(64, 2, None),
            // Chosen where `arith` was open, too.
            plan(64, 3, Some("mixed product arith as_written")),
        ]);
        let found = super::of(&plans, (&system, &origin), Precision::F32).unwrap();
        assert_eq!(found.len(), 2);
        for (settled, origin, schedules) in &found {
            // One schedule for two meshes is compared once.
            assert_eq!(schedules.len(), 1);
            let again = origin.system().unwrap();
            assert_eq!(again.algorithm(), settled.algorithm());
        }
        assert!(found[1].0.algorithm().scheme.contains("mixed composed"));
        let none = super::of(&plans, (&system, &origin), Precision::F64).unwrap();
        assert!(none.is_empty());
        // A declaration that has made the choice has no use for a plan of another one.
        let made = system.with_mixed(stencil_compiler::model::Mixed::Bidiagonal);
        let found = super::of(&plans, (&made.unwrap(), &origin), Precision::F32).unwrap();
        assert!(found.len() == 1 && found[0].1.formulation.is_none());
    }
}
