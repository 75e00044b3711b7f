//! Conservation laws: the fields with fluxes, and the speeds of their waves.

use std::collections::BTreeSet;

use super::resolve::unequal;
use super::scope::Scope;
use super::terms::{Place, is_zero};
use crate::catalogue::{Function, Rank};
use crate::diag::{Code, Diagnostic, Span};
use crate::expr::Op;
use crate::model::parse::ast::{FluxItem, System};
use crate::model::{Flux, Let, Model, Term, TermKind, Waves};

impl Waves {
    /// A bound of all speeds: the size of the flow and the sound along each axis, for vectors with this many
    /// components; one number if they are alike along all axes.
    pub(crate) fn fastest(&self, dimension: usize, components: usize) -> Option<Term> {
        let along: Option<Vec<Term>> = (0..dimension).map(|axis| self.along(axis)).collect();
        let mut along = along?;
        let alike = along.windows(2).all(|two| two[0] == two[1]);
        match along.first() {
            Some(first) if alike => Some(first.clone()),
            _ => {
                along.resize(components, Term::integer(0, self.span));
                Some(Term::of(TermKind::Stack(along), Rank::Vector, self.span))
            }
        }
    }

    /// A bound of all speeds along an axis.
    fn along(&self, axis: usize) -> Option<Term> {
        let span = self.span;
        let part = |of: &Term| match (&of.kind, of.rank) {
            (_, Rank::Scalar) => of.clone(),
            (TermKind::Stack(parts), _) if axis < parts.len() => parts[axis].clone(),
            _ => Term::scalar(TermKind::Component(Box::new(of.clone()), vec![axis]), span),
        };
        let flow = self.flow.as_ref().map(part).filter(|flow| !is_zero(flow));
        let size = flow.map(|flow| {
            let kind = TermKind::Call(Function::Scalar(Op::Abs), vec![flow]);
            Term::scalar(kind, span)
        });
        match (size, self.sound.as_ref().map(part)) {
            (Some(flow), Some(sound)) => {
                let sum = TermKind::Add(Box::new(flow), Box::new(sound));
                Some(Term::scalar(sum, span))
            }
            (flow, sound) => flow.or(sound),
        }
    }
}

impl Model {
    /// Do fluxes depend on sources?
    pub fn flows_by_sources(&self) -> bool {
        let found = |flux: &Flux| beside_states(&flux.value, &self.lets);
        self.fluxes.iter().any(|flux| found(flux).is_some())
    }
}

impl Flux {
    /// The flux along an axis if it is declared [along the normal](TermKind::Normal) of a face, for vectors of this many components;
    /// `None` if it has an index for the axis.
    pub(crate) fn along_normal(&self, axis: usize, components: usize) -> Option<Term> {
        self.value.has_normal().then(|| self.value.with_normal(axis, components))
    }
}

impl Term {
    /// Is it made of the normal of a face?
    pub(crate) fn has_normal(&self) -> bool {
        self.kind == TermKind::Normal || self.parts().into_iter().any(Term::has_normal)
    }

    /// The same with the unit vector along an axis in place of the normal.
    fn with_normal(&self, axis: usize, components: usize) -> Term {
        if self.kind != TermKind::Normal {
            return self.with_parts(&mut |part| part.with_normal(axis, components));
        }
        let entry = |at: usize| Term::integer(i128::from(at == axis), self.span);
        let entries = (0..components).map(entry).collect();
        Term::of(TermKind::Stack(entries), self.rank, self.span)
    }

    /// Does it take a derivative, directly or in a `let`?
    pub(crate) fn differentiates(&self, lets: &[Let]) -> bool {
        let mut found = false;
        self.visit(lets, &mut BTreeSet::new(), &mut |part| match &part.kind {
            TermKind::Derivative { .. } => found = true,
            TermKind::Call(function, _) => found |= function.differentiates(),
            _ => {}
        });
        found
    }
}

/// The rank of the flux of a value of this rank.
pub(super) fn flowing(rank: Rank) -> Option<Rank> {
    match rank {
        Rank::Scalar => Some(Rank::Vector),
        Rank::Vector => Some(Rank::Tensor),
        Rank::Tensor => None,
    }
}

/// A part of a term that does not belong where it stands: what it is, and its place.
pub(super) type Misplaced = (&'static str, Span);

/// The part of a term that has no value at a face, directly or in a `let`.
pub(super) fn beside_faces(term: &Term, lets: &[Let]) -> Option<Misplaced> {
    found(term, lets, &mut BTreeSet::new(), &derivative)
}

/// The part of a term that is no function of the state at a point, directly or in a `let`.
pub(crate) fn beside_states(term: &Term, lets: &[Let]) -> Option<Misplaced> {
    found(term, lets, &mut BTreeSet::new(), &|part| match part.kind {
        TermKind::Source(_) => Some("a source"),
        _ => derivative(part),
    })
}

fn derivative(part: &Term) -> Option<&'static str> {
    match &part.kind {
        TermKind::Derivative { .. } => Some("a derivative"),
        TermKind::Call(function, _) if function.differentiates() => Some("a derivative"),
        _ => None,
    }
}

/// The first part of a term that is such; `let`s that were visited are left out.
fn found(
    term: &Term,
    lets: &[Let],
    seen: &mut BTreeSet<usize>,
    such: &dyn Fn(&Term) -> Option<&'static str>,
) -> Option<Misplaced> {
    let own = match &term.kind {
        TermKind::Let(i) => {
            let named = lets.get(*i).filter(|_| seen.insert(*i));
            named.and_then(|l| found(&l.value, lets, seen, such)).map(|(what, _)| what)
        }
        _ => such(term),
    };
    own.map(|what| (what, term.span)).or_else(|| {
        let mut parts = term.parts().into_iter();
        parts.find_map(|part| found(part, lets, seen, such))
    })
}

/// The fluxes in the order of the fields; `None` after an error.
pub(super) fn fluxes<'a>(scope: &mut Scope<'a>, system: &'a System) -> Option<Vec<Flux>> {
    let errors = scope.errors();
    let mut all: Vec<Flux> = Vec::new();
    for (i, item) in system.fluxes.iter().enumerate() {
        let value = item.value.as_ref();
        scope.sees_normal = true;
        let value = value.and_then(|ast| scope.term(ast, item.at, Place::System));
        scope.sees_normal = false;
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
        all.push(Flux { field, value, span: item.span });
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
    if value.has_normal() {
        if value.rank != rank {
            scope.report(unequal("flux along the normal", name, rank, value.rank, value.span));
        }
        return;
    }
    match flowing(rank) {
        None => {
            let message = format!("`{name}` is a tensor, and its flux would have three indices");
            let diagnostic = Diagnostic::new(Code::RankMismatch, item.field.span, message);
            scope.report(diagnostic.help(format!(
                "write the flux along the normal of a face: `flux {name} -> -2*sym(outer(normal, v));`"
            )));
        }
        Some(flowing) if flowing != value.rank => {
            let what = format!("flux of the {} `{name}`", rank.name());
            let message =
                format!("the {what} is a {}, and this is a {}", flowing.name(), value.rank.name());
            let diagnostic = Diagnostic::new(Code::RankMismatch, value.span, message);
            scope.report(diagnostic.help("its first index is the axis along which it flows"));
        }
        Some(_) => {}
    }
}

/// Reports a part without a value at a face.
pub(super) fn at_faces(scope: &mut Scope<'_>, place: &str, value: &Term) {
    let Some((what, span)) = beside_faces(value, &scope.expansion.lets) else {
        return;
    };
    let message = format!("{place} is made of values at a face, and {what} has none there");
    let diagnostic = Diagnostic::new(Code::NotAtFaces, span, message);
    scope.report(diagnostic.help("put the term into `ddt(..) = ..;`, beside the flux"));
}

/// Reports a part that is no function of the state at a point.
pub(super) fn of_states(scope: &mut Scope<'_>, place: &str, value: &Term) {
    match beside_states(value, &scope.expansion.lets) {
        Some(("a source", span)) => {
            let message = format!("{place} is a function of fields alone, and this is a source");
            let diagnostic = Diagnostic::new(Code::NotAtFaces, span, message);
            scope.report(diagnostic.help("use the source in fluxes, in `waves` or in `ddt(..)`"));
        }
        _ => at_faces(scope, place, value),
    }
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

/// The speeds of waves: an inner `None` without a declaration, an outer `None` after an error.
pub(super) fn waves<'a>(scope: &mut Scope<'a>, system: &'a System) -> Option<Option<Waves>> {
    let Some(span) = system.waves else {
        return Some(None);
    };
    let errors = scope.errors();
    if system.fluxes.is_empty() {
        let diagnostic = Diagnostic::new(Code::BadWaves, span, "`waves` in a system without flux");
        scope.report(diagnostic.help("the speeds that limit the time step go into `cfl { .. }`"));
    }
    let mut found = [const { None }; KINDS.len()];
    for item in &system.wave_speeds {
        let value = scope.term(&item.value, item.at, Place::System);
        let at = KINDS.iter().position(|kind| *kind == item.kind.text);
        let Some(at) = at.filter(|at| found[*at].is_none()) else {
            let message = format!("`{}` is no part of `waves`, or given twice", item.kind.text);
            let diagnostic = Diagnostic::new(Code::BadWaves, item.kind.span, message);
            scope.report(diagnostic.help(format!("the parts are {}", KINDS.join(", "))));
            continue;
        };
        if let Some(value) = &value {
            if !fits(KINDS[at], value.rank) {
                let (kind, rank) = (&item.kind.text, value.rank);
                let meant = if at < 2 { Rank::Vector } else { Rank::Scalar };
                scope.report(unequal("value", kind, meant, rank, value.span));
            } else if KINDS[at] == "pressure" && !matches!(value.kind, TermKind::Let(_)) {
                let message = "the pressure is no `let`";
                let diagnostic = Diagnostic::new(Code::BadWaves, value.span, message);
                scope.report(diagnostic.help("name it, and use the name in the fluxes, too"));
            }
            at_faces(scope, "a part of `waves`", value);
        }
        found[at] = Some(value);
    }
    let [flow, sound, density, pressure] = found.map(Option::flatten);
    if scope.errors() == errors && flow.is_none() && sound.is_none() {
        let message = "`waves` has `flow`, `sound` or both";
        scope.report(Diagnostic::new(Code::BadWaves, span, message));
    }
    let waves = Waves { flow, sound, density, pressure, span };
    (scope.errors() == errors).then_some(Some(waves))
}

/// The parts of a `waves` block, speeds first.
const KINDS: [&str; 4] = ["flow", "sound", "density", "pressure"];

/// May a part of `waves` have this rank?
fn fits(kind: &str, rank: Rank) -> bool {
    match rank {
        Rank::Scalar => kind != "flow",
        Rank::Vector => kind == "flow" || kind == "sound",
        Rank::Tensor => false,
    }
}

impl Waves {
    /// The parts that are given, by their names in the language.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &Term)> {
        let parts = [&self.flow, &self.sound, &self.density, &self.pressure];
        let all = KINDS.into_iter().zip(parts);
        all.filter_map(|(kind, part)| Some((kind, part.as_ref()?)))
    }

    /// Is there a speed, and is everything of a rank that it may have?
    pub(super) fn fit(&self) -> bool {
        let named = |pressure: &Term| matches!(pressure.kind, TermKind::Let(_));
        let speeds = self.flow.is_some() || self.sound.is_some();
        let ranks = self.parts().all(|(kind, part)| fits(kind, part.rank));
        speeds && ranks && self.pressure.as_ref().is_none_or(named)
    }

    /// Does it say all that solvers need that know the contact?
    pub(super) fn has_contact(&self) -> bool {
        self.flow.is_some() && self.density.is_some() && self.pressure.is_some()
    }
}
