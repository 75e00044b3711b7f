//! The parts of a step, one after the other: all rates at once, or the fluxes along each axis, and the other terms,
//! fields, by itself (Godunov's and Strang's splittings; LeVeque 2002, sections 17.1 to 17.5 and 19.5).

use std::collections::BTreeMap;

use super::DiscretizeError;
use super::atoms::Atoms;
use super::conserve::Outflow;
use super::expand::overflow;
use super::poly::Poly;
use crate::diag::Span;
use crate::expr::Rational;
use crate::model::{Model, Splitting, Sweep};

/// One part: the terms that it integrates, and the share of the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FractionalStep {
    /// The axes along which things flow in it.
    pub(super) axes: Vec<usize>,
    /// Does it contain the terms without flux?
    pub(super) rest: bool,
    /// The share of the time of a step.
    pub(super) share: Rational,
    /// The suffix that tells its names from those of other parts.
    pub(super) suffix: &'static str,
}

/// The parts of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FractionalSteps {
    /// The distinct parts.
    pub(super) all: Vec<FractionalStep>,
    /// The order of the parts, each with the time at which it begins, in units of the step.
    pub(super) order: Vec<(usize, Rational)>,
}

const AXES: [&str; 3] = ["_x", "_y", "_z"];

/// The parts of a step of a model; `still` if only fluxes change its fields.
pub(super) fn fractional_steps(model: &Model, still: bool) -> FractionalSteps {
    let scheme = &model.scheme;
    let (zero, one) = (Rational::from_integer(0), Rational::from_integer(1));
    let axes = 0..model.dimension;
    let part = |axes: Vec<usize>, rest, share, suffix| FractionalStep { axes, rest, share, suffix };
    let split = scheme.source != Splitting::Unsplit && !model.fluxes.is_empty() && !still;
    let mut all = match scheme.sweep {
        Sweep::Unsplit if split => vec![part(axes.collect(), false, one, "")],
        Sweep::Unsplit => vec![part(axes.collect(), true, one, "")],
        Sweep::Dimensional | Sweep::Strang | Sweep::Alternating => {
            axes.map(|axis| part(vec![axis], false, model.share_along(axis), AXES[axis])).collect()
        }
    };
    let at = all.len();
    let half = Rational::new(1, 2);
    let mut order: Vec<(usize, Rational)> = (0..at).map(|at| (at, zero)).collect();
    // And back, for the second half of the step: all that were done by half.
    let back = match scheme.sweep {
        Sweep::Unsplit | Sweep::Dimensional => 0,
        Sweep::Strang => at - 1,
        Sweep::Alternating => at,
    };
    order.extend((0..back).rev().map(|at| (at, half)));
    if still || all.iter().any(|part| part.rest) {
        return FractionalSteps { all, order };
    }
    let share = match (scheme.source, scheme.sweep) {
        (Splitting::Strang, _) | (Splitting::Unsplit, Sweep::Strang | Sweep::Alternating) => {
            order.insert(0, (at, zero));
            half
        }
        (Splitting::Godunov, _) | (Splitting::Unsplit, _) => one,
    };
    order.push((at, one - share));
    all.push(part(Vec::new(), true, share, "_rest"));
    FractionalSteps { all, order }
}

/// The rates of all components in each part.
///
/// # Errors
/// If coefficients leave the range of exact numbers.
pub(super) fn rates(
    parts: &FractionalSteps,
    equations: &[(Poly, Span)],
    outflows: Vec<Outflow>,
    atoms: &mut Atoms,
) -> Result<Vec<Vec<(Poly, Span)>>, DiscretizeError> {
    let still = || equations.iter().map(|(_, span)| (Poly::default(), *span));
    let own = parts.all.iter().map(|part| match part.rest {
        true => equations.to_vec(),
        false => still().collect(),
    });
    let mut all: Vec<Vec<(Poly, Span)>> = own.collect();
    let mut flows: BTreeMap<(usize, usize), (Vec<Poly>, Span)> = BTreeMap::new();
    for outflow in outflows {
        let along = |part: &FractionalStep| part.axes.contains(&outflow.axis);
        let at = parts.all.iter().position(along);
        let at = at.or_else(|| parts.all.iter().position(|part| part.rest));
        let flow = flows.entry((at.unwrap_or_default(), outflow.component));
        let (along_axes, span) = flow.or_default();
        along_axes.push(outflow.rate);
        *span = span.join(outflow.span);
    }
    for ((part, component), (along_axes, written)) in flows {
        let flow = atoms.even_sum("flow", &along_axes);
        let (rate, span) = &mut all[part][component];
        let sum = flow.and_then(|flow| rate.plus(&flow));
        *rate = sum.map_err(overflow(written))?;
        *span = span.join(written);
    }
    Ok(all)
}
