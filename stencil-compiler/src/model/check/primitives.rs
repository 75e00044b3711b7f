//! Primitive and averaged variables: their list, and the check that all conserved fields follow from them.

use std::collections::BTreeSet;

use super::conserved::of_states;
use super::resolve::unequal;
use super::scope::{Meaning, Scope};
use super::terms::Place;
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{System, VariableItem, VariablesBlock};
use crate::model::{Average, FromPrimitives, Let, Model, Primitives, Term, TermKind};

/// A block of variables, and its name.
#[derive(Clone, Copy)]
struct Block<'a> {
    /// The word that it begins with.
    word: &'static str,
    /// One of its variables.
    one: &'static str,
    items: &'a [VariableItem],
    span: Span,
}

/// The primitives: an inner `None` without a declaration, an outer `None` after an error.
pub(super) fn resolve<'a>(scope: &mut Scope<'a>, system: &'a System) -> Option<Option<Primitives>> {
    let Some(VariablesBlock { span, items }) = &system.primitive else {
        return Some(None);
    };
    let block = Block { word: "primitive", one: "primitive", items, span: *span };
    variables(scope, system, block).map(Some)
}

/// The state between both sides: nothing where the system says none; the outer `None` after an error.
pub(super) fn average<'a>(scope: &mut Scope<'a>, system: &'a System) -> Option<Option<Average>> {
    let Some(VariablesBlock { span, items }) = &system.average else {
        return Some(None);
    };
    let block = Block { word: "average", one: "averaged variable", items, span: *span };
    let of = variables(scope, system, block);
    let errors = scope.errors();
    let averaged = items.iter().filter(|item| item.value.is_none());
    let weights = averaged.map(|item| weight(scope, item)).collect();
    let of = of.filter(|_| scope.errors() == errors)?;
    Some(Some(Average { of, weights }))
}

/// The weight of a variable in its mean, if the block gives it.
fn weight<'a>(scope: &mut Scope<'a>, item: &'a VariableItem) -> Option<Term> {
    let weight = scope.term(item.weight.as_ref()?, item.at, Place::System)?;
    if weight.rank != Rank::Scalar {
        let what = format!("weight of `{}`", item.name.text);
        scope.report(unequal(&what, "the mean", Rank::Scalar, weight.rank, weight.span));
    }
    of_states(scope, "a weight", &weight);
    Some(weight)
}

/// The variables of a block; `None` after an error.
fn variables<'a>(
    scope: &mut Scope<'a>,
    system: &'a System,
    block: Block<'a>,
) -> Option<Primitives> {
    let (span, word) = (block.span, block.word);
    let errors = scope.errors();
    if system.fluxes.is_empty() {
        let message = format!("`{word}` in a system without flux");
        let diagnostic = Diagnostic::new(Code::BadPrimitive, span, message);
        scope.report(diagnostic.help("states at faces are made where something is `conserved`"));
    }
    repeated(scope, block);
    let (follow, name): (Vec<_>, Vec<_>) =
        block.items.iter().partition(|item| item.value.is_some());
    let variables: Vec<Term> =
        name.into_iter().filter_map(|item| variable(scope, block, item)).collect();
    // The right variable is unknown in place of a wrong one.
    let complete = scope.errors() == errors;
    let mut conserved: Vec<FromPrimitives> = Vec::new();
    for item in follow {
        let followed = followed(scope, system, block, item);
        if let Some(followed) = &followed
            && complete
        {
            only_variables(scope, system, block, &variables, followed);
        }
        conserved.extend(followed);
    }
    if complete && scope.errors() == errors {
        without_way_back(scope, system, block, &variables, &conserved);
    }
    conserved.sort_by_key(|followed| followed.field);
    let found = Primitives { variables, conserved, span };
    (scope.errors() == errors).then_some(found)
}

/// Reports names that are given twice, as variables or as conserved fields.
fn repeated(scope: &mut Scope<'_>, block: Block<'_>) {
    let one = block.one;
    for (i, item) in block.items.iter().enumerate() {
        let same = |other: &&VariableItem| other.name.text == item.name.text;
        let Some(first) = block.items[..i].iter().find(same) else {
            continue;
        };
        let name = &item.name.text;
        let (message, help) = match (&first.value, &item.value) {
            (None, None) => (format!("`{name}` is named twice"), "name it once"),
            (Some(_), Some(_)) => (format!("`{name}` follows twice"), "choose one of them"),
            _ => (
                format!("`{name}` is {}, and follows from such", an(one)),
                "it is one or the other",
            ),
        };
        let diagnostic = Diagnostic::new(Code::BadPrimitive, item.name.span, message)
            .note_at(first.name.span, "the first is here");
        scope.report(diagnostic.help(help));
    }
}

/// A field or a `let` that is reconstructed.
fn variable(scope: &mut Scope<'_>, block: Block<'_>, item: &VariableItem) -> Option<Term> {
    let (name, span) = (&item.name, item.name.span);
    let kind = match scope.names.get(name.text.as_str()) {
        Some((Meaning::Field(field, rank), _)) => {
            return rank.map(|rank| Term::of(TermKind::Field(*field), rank, span));
        }
        Some((Meaning::Let(at), _)) => {
            let (at, rank) = scope.let_meaning.get(*at).copied().flatten()?;
            let variable = Term::of(TermKind::Let(at), rank, span);
            of_states(scope, &an(block.one), &variable);
            return Some(variable);
        }
        Some((meaning, _)) => meaning.kind(),
        None => {
            let diagnostic = scope.unknown(name, &[]);
            scope.report(diagnostic);
            return None;
        }
    };
    let message = format!("`{}` is {kind}, and no {}", name.text, block.one);
    let diagnostic = Diagnostic::new(Code::BadPrimitive, span, message);
    let help = format!("{} is a field, or a `let` made of fields", an(block.one));
    scope.report(diagnostic.help(help));
    None
}

/// A conserved field and its value.
fn followed<'a>(
    scope: &mut Scope<'a>,
    system: &'a System,
    block: Block<'a>,
    item: &'a VariableItem,
) -> Option<FromPrimitives> {
    let value = item.value.as_ref();
    let value = value.and_then(|ast| scope.term(ast, item.at, Place::System));
    let (field, rank) = scope.evolved(&item.name)?;
    let name = &item.name.text;
    let stays = system.fields.get(field).is_some_and(|f| !f.conserved);
    if stays && !is_shared(system, block, name) {
        let message = format!("`{name}` is not conserved, and stays as it is");
        let diagnostic = Diagnostic::new(Code::BadPrimitive, item.name.span, message);
        scope.report(diagnostic.help("remove the line"));
    }
    let value = value?;
    if let Some(rank) = rank.filter(|rank| *rank != value.rank) {
        scope.report(unequal("value", name, rank, value.rank, value.span));
    }
    of_states(scope, "what follows from variables", &value);
    Some(FromPrimitives { field, value, span: item.span })
}

/// Does a field have one value at faces, so that it may follow from primitives?
fn is_shared(system: &System, block: Block<'_>, name: &str) -> bool {
    let mut shared = system.face.iter().flat_map(|face| &face.items);
    block.word == "primitive" && shared.any(|item| item.value.is_none() && item.name.text == name)
}

/// Reports conserved fields that a value is made of, other than by the variables.
fn only_variables(
    scope: &mut Scope<'_>,
    system: &System,
    block: Block<'_>,
    variables: &[Term],
    followed: &FromPrimitives,
) {
    let follows = |name: &str| {
        let mut items = block.items.iter();
        items.any(|item| item.value.is_some() && item.name.text == name)
    };
    let is_free = |field: usize| {
        let field = system.fields.get(field);
        field.is_some_and(|field| !field.conserved && !follows(&field.name.text))
    };
    let lets = &scope.expansion.lets;
    let Some((field, span)) = beside_primitives(&followed.value, lets, variables, &is_free) else {
        return;
    };
    let name = system.fields.get(field).map_or("", |f| &f.name.text);
    let message = format!("this is made of `{name}`, which is no {}", block.one);
    let diagnostic = Diagnostic::new(Code::BadPrimitive, span, message);
    scope.report(
        diagnostic
            .help(format!("a conserved field follows from {}s, parameters and `t`", block.one)),
    );
}

/// A field that a term is made of other than by the variables, and its place; fields that are free may be.
pub(super) fn beside_primitives(
    term: &Term,
    lets: &[Let],
    variables: &[Term],
    is_free: &dyn Fn(usize) -> bool,
) -> Option<(usize, Span)> {
    beside_but(term, lets, &mut BTreeSet::new(), variables, is_free)
}

/// The same without the `let`s that were visited.
fn beside_but(
    term: &Term,
    lets: &[Let],
    seen: &mut BTreeSet<usize>,
    variables: &[Term],
    is_free: &dyn Fn(usize) -> bool,
) -> Option<(usize, Span)> {
    if variables.iter().any(|variable| variable.kind == term.kind) {
        return None;
    }
    match &term.kind {
        TermKind::Field(field) => (!is_free(*field)).then_some((*field, term.span)),
        TermKind::Let(at) => {
            let named = lets.get(*at).filter(|_| seen.insert(*at));
            let found =
                named.and_then(|named| beside_but(&named.value, lets, seen, variables, is_free));
            found.map(|(field, _)| (field, term.span))
        }
        _ => {
            let mut parts = term.parts().into_iter();
            parts.find_map(|part| beside_but(part, lets, seen, variables, is_free))
        }
    }
}

/// Reports conserved fields that neither are variables nor follow from them.
fn without_way_back(
    scope: &mut Scope<'_>,
    system: &System,
    block: Block<'_>,
    variables: &[Term],
    conserved: &[FromPrimitives],
) {
    for (i, item) in system.fields.iter().enumerate() {
        let is_variable = variables.iter().any(|v| v.kind == TermKind::Field(i));
        if !item.conserved || is_variable || conserved.iter().any(|c| c.field == i) {
            continue;
        }
        let name = &item.name.text;
        let all = format!("the {}s", block.one);
        let message = format!("`{name}` is conserved, and does not follow from {all}");
        let diagnostic = Diagnostic::new(Code::NoWayBack, item.name.span, message)
            .note_at(block.span, format!("{all} are here"));
        scope.report(diagnostic.help(format!("write `{name} = ..;` or `{name};` there")));
    }
}

/// The words with their article.
fn an(words: &str) -> String {
    let article = if words.starts_with('a') { "an" } else { "a" };
    format!("{article} {words}")
}

impl Model {
    /// The error in primitives or averaged variables, in words for the maker of the model.
    pub(super) fn wrong_primitives(&self, primitives: &Primitives) -> Option<String> {
        let (variables, conserved) = (&primitives.variables, &primitives.conserved);
        let is_variable = |field: usize| variables.iter().any(|v| v.kind == TermKind::Field(field));
        let follows = |field: usize| conserved.iter().any(|c| c.field == field);
        let named = |v: &Term| matches!(v.kind, TermKind::Field(_) | TermKind::Let(_));
        if self.fluxes.is_empty() || !variables.iter().all(named) {
            return Some("primitives without fluxes, or that are no names".to_string());
        }
        let twice = |(i, v): (usize, &Term)| variables[..i].iter().any(|w| w.kind == v.kind);
        let sorted = conserved.is_sorted_by(|a, b| a.field < b.field);
        if !sorted || variables.iter().enumerate().any(twice) {
            return Some("primitives twice or in another order".to_string());
        }
        let flowing = self.fluxes.iter().map(|flux| flux.field);
        if let Some(field) = flowing.clone().find(|f| is_variable(*f) == follows(*f)) {
            return Some(format!("field {field} does not follow from the primitives"));
        }
        for followed in conserved {
            let field = self.fields.get(followed.field);
            let mut shared = self.at_face.iter().flat_map(|at_face| &at_face.fields);
            let is_shared = shared.any(|(field, _)| *field == followed.field);
            let flows = self.flux_of(followed.field).is_some();
            if !(flows || is_shared) || field.map(|f| f.rank) != Some(followed.value.rank) {
                return Some(format!("field {} cannot follow", followed.field));
            }
            let is_free = |field: usize| self.flux_of(field).is_none() && !follows(field);
            let found = beside_primitives(&followed.value, &self.lets, variables, &is_free);
            if found.is_some() {
                return Some(format!("field {} follows from others", followed.field));
            }
        }
        None
    }
}
