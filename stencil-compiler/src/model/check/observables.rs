//! Observables and the speeds that limit the time step.

use super::scope::Scope;
use super::terms::Place;
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, nearest};
use crate::model::parse::ast::{Ast, SpeedItem, System};
use crate::model::{Observable, Reduction, Speed, Term};

/// The reductions.
const REDUCTIONS: &[(&str, Reduction)] = &[
    ("sum", Reduction::Sum),
    ("mean", Reduction::Mean),
    ("max", Reduction::Max),
    ("min", Reduction::Min),
];

/// The kinds of speeds, with the power of a length in their units.
const SPEEDS: &[(&str, u32)] =
    &[("advective", 1), ("diffusive", 2), ("dispersive", 3), ("hyperdiffusive", 4)];

impl Reduction {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = REDUCTIONS.iter().find(|(_, reduction)| *reduction == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Speed {
    /// The name of its kind in the language: `advective` for power 1 and so on.
    pub fn kind(&self) -> &'static str {
        let found = SPEEDS.iter().find(|(_, power)| *power == self.power);
        found.map_or("", |(name, _)| name)
    }
}

/// The observables; `None` after an error.
pub(super) fn observables<'a>(
    scope: &mut Scope<'a>,
    system: &'a System,
) -> Option<Vec<Observable>> {
    let mut all = Some(Vec::new());
    for item in &system.observables {
        let name = &item.reduction.text;
        let reduction = REDUCTIONS.iter().find(|(known, _)| known == name);
        if reduction.is_none() {
            let near = nearest(name, REDUCTIONS.iter().map(|(name, _)| *name));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "write `sum(..)`, `mean(..)`, `max(..)` or `min(..)`".to_string(),
            };
            let message = format!("`{name}` is no reduction");
            let diagnostic = Diagnostic::new(Code::BadReduction, item.reduction.span, message);
            scope.report(diagnostic.help(help));
        }
        let value = item.value.as_ref();
        let value = value.and_then(|ast| scalar(scope, ast, item.at, "an observable"));
        let found = reduction.zip(value).map(|((_, reduction), value)| Observable {
            name: item.name.text.clone(),
            reduction: *reduction,
            value,
            span: item.name.span,
        });
        all = pushed(all, found);
    }
    all
}

/// The speeds of the `cfl` block; `None` after an error.
pub(super) fn speeds<'a>(scope: &mut Scope<'a>, system: &'a System) -> Option<Vec<Speed>> {
    let mut all = Some(Vec::new());
    for (i, item) in system.speeds.iter().enumerate() {
        let power = power(scope, item);
        let earlier = system.speeds[..i].iter();
        if let Some(first) = earlier.into_iter().find(|s| s.kind.text == item.kind.text) {
            let message = format!("`{}` is given twice", item.kind.text);
            let diagnostic = Diagnostic::new(Code::BadSpeed, item.kind.span, message)
                .note_at(first.kind.span, "first given here")
                .help("add the two speeds");
            scope.report(diagnostic);
        }
        let value = speed(scope, item, power);
        let found =
            power.zip(value).map(|(power, value)| Speed { power, value, span: item.kind.span });
        all = pushed(all, found);
    }
    all
}

fn power(scope: &mut Scope<'_>, item: &SpeedItem) -> Option<u32> {
    let name = &item.kind.text;
    let found = SPEEDS.iter().find(|(known, _)| known == name);
    if found.is_none() {
        let near = nearest(name, SPEEDS.iter().map(|(name, _)| *name));
        let diagnostic = Diagnostic::new(
            Code::BadSpeed,
            item.kind.span,
            format!("no kind of speed `{name}`"),
        )
        .note(
            "kinds: advective (m/s), diffusive (m^2/s), dispersive (m^3/s), hyperdiffusive (m^4/s)",
        )
        .help_if(near.map(|near| format!("did you mean `{near}`?")));
        scope.report(diagnostic);
    }
    found.map(|(_, power)| *power)
}

/// A speed: a scalar, or a vector of the speeds along each axis if it is advective.
fn speed(scope: &mut Scope<'_>, item: &SpeedItem, power: Option<u32>) -> Option<Term> {
    let term = scope.term(&item.value, item.at, Place::System)?;
    match (power, term.rank) {
        (Some(1), Rank::Vector) => Some(term),
        _ => to_scalar(scope, term, "a speed"),
    }
}

/// An expression that is to be a scalar.
fn scalar(scope: &mut Scope<'_>, ast: &Ast, at: usize, what: &str) -> Option<Term> {
    let term = scope.term(ast, at, Place::System)?;
    to_scalar(scope, term, what)
}

fn to_scalar(scope: &mut Scope<'_>, term: Term, what: &str) -> Option<Term> {
    if term.rank == Rank::Scalar {
        return Some(term);
    }
    let message = format!("{what} is a scalar, and this is a {}", term.rank.name());
    let diagnostic = Diagnostic::new(Code::RankMismatch, term.span, message)
        .help("write `norm(u)` for a length, `u.x` for a component");
    scope.report(diagnostic);
    None
}

fn pushed<T>(all: Option<Vec<T>>, next: Option<T>) -> Option<Vec<T>> {
    let (mut all, next) = all.zip(next)?;
    all.push(next);
    Some(all)
}
