//! Plan files: the schedule of a problem, and its formulation if the declaration leaves one open.

use std::path::Path;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::algorithm::text::fingerprint;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::Model;
use stencil_compiler::schedule::Schedule;
use stencil_compiler::search::plans::{Chosen, Key, Plan, Plans};
use stencil_compiler::search::presets;
use stencil_runtime::SystemDef;
use stencil_runtime::backend::cuda::Card;
use stencil_runtime::io::read_text;
use stencil_runtime::tune::by_the_model;

use crate::{ByPlan, Failure};

/// Returns the formulation that a plan file chose for a problem, if `wanted` names such a file and the declaration leaves one
/// open. It is chosen for the first card of this machine if there is one, else for any.
///
/// # Errors
/// If the plan file cannot be parsed.
pub fn chosen(
    wanted: &str,
    (model, algorithm): (&Model, &Algorithm),
    precision: Precision,
    cells: Option<[usize; 3]>,
) -> Result<Option<ByPlan>, Failure> {
    if !model.scheme.is_open() || presets::find(wanted).is_some() {
        return Ok(None);
    }
    // A wrong file is reported by the search for its schedule.
    let Ok(source) = read_text(Path::new(wanted)) else {
        return Ok(None);
    };
    if !Plans::is_plans(&source) {
        return Ok(None);
    }
    let plans =
        Plans::parse(&source).map_err(|error| Failure::new(format!("error: {wanted}: {error}")))?;
    let problem = fingerprint(algorithm);
    let is_for = |chosen: Chosen| chosen.is_for(problem, &model.scheme);
    let settles = |plan: &&Plan| plan.key.precision == precision && plan.chosen.is_some_and(is_for);
    let key = plans
        .0
        .iter()
        .find(settles)
        .map(|plan| Key { problem, ..here(plan, first_card().as_ref(), cells) });
    let found = key.and_then(|key| of_card(&key, |key| plans.chosen(key, &model.scheme)));
    Ok(found.map(|chosen| ByPlan { formulation: chosen.formulation, file: wanted.to_string() }))
}

/// Returns a system in the formulation that a plan file chose for it, and the choice if there is one.
///
/// # Errors
/// If the plan file cannot be parsed, or the system cannot be discretized in that formulation.
pub fn settled(
    system: &SystemDef,
    wanted: Option<&str>,
    precision: Precision,
    cells: [usize; 3],
) -> Result<(SystemDef, Option<ByPlan>), Failure> {
    let of = (system.model(), system.algorithm());
    let found = wanted.map(|wanted| chosen(wanted, of, precision, Some(cells)));
    let Some(found) = found.transpose()?.flatten() else {
        return Ok((system.clone(), None));
    };
    let settled = system.by(found.formulation);
    let settled = settled.map_err(|error| Failure::new(format!("error: {error}")))?;
    Ok((settled, Some(found)))
}

/// Keys a plan to the card of this machine and to these cells.
fn here(plan: &Plan, card: Option<&Card>, cells: Option<[usize; 3]>) -> Key {
    Key {
        card: card.map_or(plan.key.card.clone(), |card| card.name.clone()),
        cells: cells.unwrap_or(plan.key.cells),
        ..plan.key.clone()
    }
}

/// Finds something for a card, or else for its model.
fn of_card<T>(key: &Key, find: impl Fn(&Key) -> Option<T>) -> Option<T> {
    let modelled = || {
        let card = by_the_model(&key.card)?;
        find(&Key { card, ..key.clone() })
    };
    find(key).or_else(modelled)
}

fn first_card() -> Option<Card> {
    Card::all().ok().and_then(|all| all.into_iter().next())
}

/// The schedule of a plan file for a problem: on the first card of this machine if there is one,
/// else on any.
pub(super) fn schedule(
    file: &str,
    plans: &Plans,
    algorithm: &Algorithm,
    precision: Precision,
    cells: Option<[usize; 3]>,
) -> Result<Schedule, Failure> {
    let problem = fingerprint(algorithm);
    let own = |plan: &&Plan| (plan.key.problem, plan.key.precision) == (problem, precision);
    let card = first_card();
    let any = plans.0.iter().find(own);
    let key = any.map(|plan| here(plan, card.as_ref(), cells));
    if let Some(plan) = key.and_then(|key| of_card(&key, |key| plans.find(key))) {
        return Ok(plan.schedule.clone());
    }
    let (name, precision) = (&algorithm.name, precision.name());
    let mut message = format!("error: {file} has no plan for {name} in {precision}");
    match (any, card) {
        (Some(_), Some(card)) => message += &format!(" on {}", card.name),
        _ => {
            message += " as it is declared now";
        }
    }
    for plan in plans.0.iter().filter(|plan| plan.key.system == *name) {
        let Key { precision, cells: [x, y, z], card, problem, .. } = &plan.key;
        let precision = precision.name();
        message += &format!(
            "\n  it has one in {precision} for {x}x{y}x{z} on {card}, of the declaration {problem:016x}"
        );
    }
    message += &format!(
        "\n  help: on the card, `stencil tune {name} --precision {precision} --plans {file}` adds one"
    );
    Err(Failure::new(message))
}
