//! The formulations of a system that are searched: the default one, or all that its declaration leaves open.

use stencil_compiler::algorithm::text::fingerprint;
use stencil_compiler::search::plans::{Chosen, Key, Plan, Plans};
use stencil_runtime::SystemDef;
use stencil_runtime::tune::Form;

use super::TuneArgs;
use crate::Ended;

/// The formulations, the default one first, and a note on them. `key` is of the default one.
pub(super) fn of(
    args: &TuneArgs,
    plans: &Plans,
    system: &SystemDef,
    key: &Key,
) -> Result<(Vec<Form>, String), Ended> {
    let form = |(formulation, system)| {
        let of = key.problem;
        let chosen = Some(Chosen { formulation, of });
        Form { system, chosen }
    };
    let mut note = String::new();
    if args.tune_scheme {
        let all = system.formulations()?;
        if all.len() > 1 {
            return Ok((all.into_iter().map(form).collect(), note));
        }
        note = closed(args, system);
    } else if let Some(chosen) = plans.chosen(key, &system.model().scheme) {
        // A choice that the file has made for this mesh stands; one for another mesh is followed, and is not made here.
        let is_here = |plan: &Plan| {
            let own = (&plan.key.card, plan.key.precision, plan.key.cells);
            plan.chosen == Some(chosen) && own == (&key.card, key.precision, key.cells)
        };
        let form = Form {
            system: system.by(chosen.formulation)?,
            chosen: plans.0.iter().any(is_here).then_some(chosen),
        };
        return Ok((vec![form], note));
    }
    let system = system.clone();
    let chosen = None;
    Ok((vec![Form { system, chosen }], note))
}

/// The reason why there is only one formulation.
fn closed(args: &TuneArgs, system: &SystemDef) -> String {
    let (name, scheme) = (system.name(), &system.model().scheme);
    let mixed = scheme.mixed.name();
    let why = match (scheme.is_open(), args.of.mixed.is_empty()) {
        (true, _) => {
            "all that its declaration leaves open comes to one discrete problem".to_string()
        }
        (false, true) => format!(
            "its scheme `{}` says `mixed: {mixed}`; `mixed: either`, or --mixed either, leaves it open",
            scheme.name
        ),
        (false, false) => format!("--mixed says {mixed}"),
    };
    format!("note: {name} has one formulation: {why}\n")
}

/// The plan of a file for the search: if formulations race, one that chose among them.
pub(super) fn plan<'a>(plans: &'a Plans, forms: &[Form], key: &Key) -> Option<&'a Plan> {
    let is_of = |plan: &Plan, form: &Form| {
        let problem = fingerprint(form.system.algorithm());
        plan.key == Key { problem, ..key.clone() }
    };
    let chose = |plan: &&Plan| plan.chosen.is_some_and(|chosen| chosen.of == key.problem);
    let mut all = plans.0.iter();
    all.find(|plan| (forms.len() == 1 || chose(plan)) && forms.iter().any(|form| is_of(plan, form)))
}
