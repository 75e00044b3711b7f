//! The rates of change that an integrator asks for, in each part of a step.

use std::collections::BTreeMap;

use super::components::Components;
use super::conserve::{self, Outflow};
use super::expand::{Expander, Result};
use super::fractional_steps::{self, FractionalSteps};
use super::poly::Poly;
use crate::algorithm::FnId;
use crate::catalogue::integrators::{Tableau, Value};
use crate::diag::Span;
use crate::model::Model;

/// The terms without flux of each component; as grid functions of their own if an integrator has them by themselves.
///
/// # Errors
/// Those of the terms, and a right-hand side without the symmetry of its field.
pub(super) fn equations(
    model: &Model,
    components: &Components,
    expander: &mut Expander<'_>,
    tableau: &Tableau,
) -> Result<Vec<(Poly, Span)>> {
    let mut equations = Vec::new();
    for equation in &model.equations {
        let parts = expander.term(&model.rest_of(equation))?;
        expander.check_symmetry(equation.field, &parts, equation.span)?;
        let independent = components.independent(equation.field);
        equations.extend(independent.iter().map(|i| (parts[*i].clone(), equation.span)));
    }
    if !model.fluxes.is_empty() && tableau.rates().contains(&Value::Rest) {
        for ((rate, _), name) in equations.iter_mut().zip(&components.fields) {
            if !rate.0.is_empty() {
                *rate = expander.atoms.always_name(format!("{name}_without_flux"), rate.clone());
            }
        }
    }
    Ok(equations)
}

/// The rates of all components, kind by kind and in each part of a step; `outflows` are those of the scheme's fluxes.
///
/// # Errors
/// If coefficients leave the range of exact numbers.
pub(super) fn all(
    model: &Model,
    components: &Components,
    expander: &mut Expander<'_>,
    (kinds, parts): (&[Value], &FractionalSteps),
    (equations, outflows): (&[(Poly, Span)], Vec<Outflow>),
) -> Result<Vec<(Poly, Span)>> {
    let mut all = Vec::new();
    let mut outflows = Some(outflows);
    for kind in kinds {
        let flowing = match kind {
            Value::FirstOrder => conserve::first_order(model, components, expander)?,
            Value::Rest => Vec::new(),
            _ => outflows.take().unwrap_or_default(),
        };
        let rates = fractional_steps::rates(parts, equations, flowing, &mut expander.atoms)?;
        all.extend(rates.into_iter().flatten());
    }
    Ok(all)
}

/// The names of these rates.
pub(super) fn labels(
    model: &Model,
    components: &Components,
    kinds: &[Value],
    parts: &FractionalSteps,
) -> impl Iterator<Item = [String; 2]> {
    let of_part = |kind: &Value, suffix: &str| {
        let suffix = format!("{suffix}{}", word(kind));
        let fields = model.fields.iter().enumerate();
        let all = fields.flat_map(|(field, of)| components.rates(field, &of.name, &suffix));
        all.collect::<Vec<_>>()
    };
    let of_kind = |kind| parts.all.iter().flat_map(move |part| of_part(kind, part.suffix));
    kinds.iter().flat_map(of_kind).collect::<Vec<_>>().into_iter()
}

/// The suffix that tells the names of a kind of rates from those of others.
fn word(kind: &Value) -> &'static str {
    match kind {
        Value::FirstOrder => "_first_order",
        Value::Rest => "_rest",
        Value::Rate | Value::Field | Value::Register(_) | Value::New(_) => "",
    }
}

/// Of all rates those of one of so many parts, by kind.
pub(super) fn of_part<'r>(
    rates: &'r [FnId],
    kinds: &[Value],
    parts: usize,
    part: usize,
) -> BTreeMap<Value, &'r [FnId]> {
    let fields = rates.len() / (kinds.len() * parts).max(1);
    let of = |at: usize| &rates[(at * parts + part) * fields..][..fields];
    kinds.iter().enumerate().map(|(at, kind)| (*kind, of(at))).collect()
}
