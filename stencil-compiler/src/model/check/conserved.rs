//! Conservation laws: which fields have fluxes, and the speeds of their waves.

use super::calls::differentiates;
use super::resolve::unequal;
use super::scope::Scope;
use super::terms::Place;
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{FluxItem, System};
use crate::model::{Flux, Let, Rank, Term, TermKind, Waves};

/// The rank of what flows of something of this rank.
pub(super) fn flowing(rank: Rank) -> Option<Rank> {
    match rank {
        Rank::Scalar => Some(Rank::Vector),
        Rank::Vector => Some(Rank::Tensor),
        Rank::Tensor => None,
    }
}

/// What a term holds that has no value at a face, directly or by a `let`, and its place.
pub(super) fn beside_faces(term: &Term, lets: &[Let]) -> Option<(&'static str, Span)> {
    let found = match &term.kind {
        TermKind::Derivative { .. } => Some("a derivative"),
        TermKind::Call(function, _) if differentiates(*function) => Some("a derivative"),
        TermKind::Source(_) => Some("a source"),
        TermKind::Let(i) => {
            let named = lets.get(*i).and_then(|l| beside_faces(&l.value, lets));
            named.map(|(what, _)| what)
        }
        _ => None,
    };
    let own = found.map(|what| (what, term.span));
    own.or_else(|| {
        let mut parts = term.parts().into_iter();
        parts.find_map(|part| beside_faces(part, lets))
    })
}

/// The fluxes in the order of the fields; `None` after an error.
pub(super) fn fluxes<'a>(scope: &mut Scope<'a>, system: &'a System) -> Option<Vec<Flux>> {
    let errors = scope.errors();
    let mut all: Vec<Flux> = Vec::new();
    for (i, item) in system.fluxes.iter().enumerate() {
        let value = item.value.as_ref();
        let value = value.and_then(|ast| scope.term(ast, item.at, Place::System));
        let earlier = system.fluxes[..i].iter();
        let same = |other: &&FluxItem| other.field.text == item.field.text;
        if let Some(first) = earlier.into_iter().find(same) {
            let message = format!("a second flux of `{}`", item.field.text);
            let diagnostic = Diagnostic::new(Code::NoFlux, item.field.span, message)
                .note_at(first.field.span, "the first is here")
                .help("add the two");
            scope.report(diagnostic);
            continue;
        }
        let Some((field, rank)) = scope.evolved(&item.field) else {
            continue;
        };
        let declared = system.fields.get(field);
        if declared.is_some_and(|declared| !declared.conserved) {
            let name = &item.field.text;
            let message = format!("`{name}` has a flux and is not conserved");
            let diagnostic = Diagnostic::new(Code::NoFlux, item.field.span, message);
            scope.report(diagnostic.help(format!(
                "declare it with `conserved {name}: ..`, or write `ddt({name}) = -div(..);`"
            )));
        }
        let Some(value) = value else {
            continue;
        };
        rank_of_flux(scope, item, rank, &value);
        at_faces(scope, "a flux", &value);
        all.push(Flux {
            field,
            value,
            span: item.span,
        });
    }
    missing(scope, system);
    all.sort_by_key(|flux| flux.field);
    (scope.errors() == errors).then_some(all)
}

fn rank_of_flux(scope: &mut Scope<'_>, item: &FluxItem, rank: Option<Rank>, value: &Term) {
    let Some(rank) = rank else {
        return;
    };
    let name = &item.field.text;
    match flowing(rank) {
        None => {
            let message = format!("`{name}` is a tensor, and its flux would have three indices");
            let diagnostic = Diagnostic::new(Code::RankMismatch, item.field.span, message);
            scope.report(diagnostic.help("declare its rows as vectors"));
        }
        Some(flowing) if flowing != value.rank => {
            let what = format!("flux of the {} `{name}`", rank.name());
            let message = format!(
                "the {what} is a {}, and this is a {}",
                flowing.name(),
                value.rank.name()
            );
            let diagnostic = Diagnostic::new(Code::RankMismatch, value.span, message);
            scope.report(diagnostic.help("its first index is the axis along which it flows"));
        }
        Some(_) => {}
    }
}

/// Reports what has no value at a face.
pub(super) fn at_faces(scope: &mut Scope<'_>, place: &str, value: &Term) {
    let Some((what, span)) = beside_faces(value, &scope.expansion.lets) else {
        return;
    };
    let message = format!("{place} is made of values at a face, and {what} has none there");
    let diagnostic = Diagnostic::new(Code::NotAtFaces, span, message);
    scope.report(diagnostic.help("put the term into `ddt(..) = ..;`, beside the flux"));
}

/// Reports conserved fields without a flux.
fn missing(scope: &mut Scope<'_>, system: &System) {
    for item in system.fields.iter().filter(|item| item.conserved) {
        let name = &item.name.text;
        if system.fluxes.iter().all(|flux| flux.field.text != *name) {
            let message = format!("`{name}` is conserved, and has no flux");
            let diagnostic = Diagnostic::new(Code::NoFlux, item.name.span, message);
            scope.report(diagnostic.help(format!("write `flux {name} -> ..;`, or `field {name}`")));
        }
    }
}

/// The speeds of waves: nothing where there are none; the outer `None` after an error.
pub(super) fn waves<'a>(scope: &mut Scope<'a>, system: &'a System) -> Option<Option<Waves>> {
    let Some(span) = system.waves else {
        return Some(None);
    };
    let errors = scope.errors();
    if system.fluxes.is_empty() {
        let diagnostic = Diagnostic::new(Code::BadWaves, span, "`waves` in a system without flux");
        scope.report(diagnostic.help("the speeds that limit the time step go into `cfl { .. }`"));
    }
    let mut found = [None, None];
    for item in &system.wave_speeds {
        let value = scope.term(&item.value, item.at, Place::System);
        let at = KINDS.iter().position(|kind| *kind == item.kind.text);
        let Some(at) = at.filter(|at| found[*at].is_none()) else {
            let message = format!("`{}` is no speed, or given twice", item.kind.text);
            let diagnostic = Diagnostic::new(Code::BadWaves, item.kind.span, message);
            scope.report(diagnostic.help("write `waves { flow: ..; sound: ..; }`"));
            continue;
        };
        if let Some(value) = &value {
            if !fits(KINDS[at], value.rank) {
                let (kind, rank) = (&item.kind.text, value.rank);
                scope.report(unequal("speed", kind, Rank::Vector, rank, value.span));
            }
            at_faces(scope, "a speed of waves", value);
        }
        found[at] = Some(value);
    }
    let [flow, sound] = found.map(Option::flatten);
    if scope.errors() == errors && flow.is_none() && sound.is_none() {
        let message = "`waves` has `flow`, `sound` or both";
        scope.report(Diagnostic::new(Code::BadWaves, span, message));
    }
    (scope.errors() == errors).then_some(Some(Waves { flow, sound, span }))
}

/// The speeds of a `waves` block.
const KINDS: [&str; 2] = ["flow", "sound"];

/// May a speed have this rank?
fn fits(kind: &str, rank: Rank) -> bool {
    rank == Rank::Vector || kind == "sound" && rank == Rank::Scalar
}

impl Waves {
    /// The speeds that are given, by their names in the language.
    pub fn speeds(&self) -> impl Iterator<Item = (&'static str, &Term)> {
        let all = KINDS.into_iter().zip([&self.flow, &self.sound]);
        all.filter_map(|(kind, speed)| Some((kind, speed.as_ref()?)))
    }

    /// Are there speeds, all of ranks that they may have?
    pub(super) fn fit(&self) -> bool {
        self.speeds().next().is_some() && self.speeds().all(|(kind, speed)| fits(kind, speed.rank))
    }
}
