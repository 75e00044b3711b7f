//! Values that both sides of a face share: fields without flux that have one value there, and primitives recomputed
//! with it.

use super::conserved::of_states;
use super::primitives::beside_primitives;
use super::resolve::unequal;
use super::scope::{Meaning, Scope};
use super::slopes::Slopes;
use super::terms::Place;
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, nearest};
use crate::expr::Op;
use crate::model::parse::ast::{AstKind, System, VariableItem, VariablesBlock};
use crate::model::{AtFace, Equation, Model, Primitives, Term, TermKind};

/// The choices of a shared value from those of both sides.
const CHOICES: [(&str, Op); 2] = [("max", Op::Max), ("min", Op::Min)];

/// The shared values: an inner `None` without a declaration, an outer `None` after an error.
pub(super) fn resolve<'a>(
    scope: &mut Scope<'a>,
    system: &'a System,
    primitives: &Option<Option<Primitives>>,
) -> Option<Option<AtFace>> {
    let Some(VariablesBlock { span, items }) = &system.face else {
        return Some(None);
    };
    let errors = scope.errors();
    if system.primitive.is_none() {
        let message = "`face` in a system without primitives";
        let diagnostic = Diagnostic::new(Code::BadFace, *span, message);
        scope.report(diagnostic.help("states at faces are made of `primitive { .. }`"));
    }
    let mut found = AtFace { fields: Vec::new(), recomputed: Vec::new(), span: *span };
    for (i, item) in items.iter().enumerate() {
        let same = |other: &&VariableItem| other.name.text == item.name.text;
        if let Some(first) = items[..i].iter().find(same) {
            let message = format!("`{}` stands twice", item.name.text);
            let diagnostic = Diagnostic::new(Code::BadFace, item.name.span, message)
                .note_at(first.name.span, "the first is here");
            scope.report(diagnostic.help("choose one of them"));
        }
        match &item.value {
            None => found.fields.extend(shared(scope, system, item)),
            Some(_) => {
                let primitives = primitives.as_ref().and_then(Option::as_ref);
                found.recomputed.extend(recomputed(scope, system, primitives, item));
            }
        }
    }
    if found.fields.is_empty() && scope.errors() == errors {
        let diagnostic = Diagnostic::new(Code::BadFace, *span, "no field in `face` has one value");
        scope.report(diagnostic.help("write `bed by max;` with a field that has no flux"));
    }
    found.fields.sort_by_key(|(field, _)| *field);
    (scope.errors() == errors).then_some(Some(found))
}

/// `bed by max`
fn shared(scope: &mut Scope<'_>, system: &System, item: &VariableItem) -> Option<(usize, Op)> {
    let (name, span) = (&item.name.text, item.name.span);
    let (field, rank) = scope.evolved(&item.name)?;
    let conserved = system.fields.get(field).is_some_and(|f| f.conserved);
    if conserved || rank.is_some_and(|rank| rank != Rank::Scalar) {
        let why = match conserved {
            true => "is conserved, so it has a value on each side of a face",
            false => "is not a scalar",
        };
        let diagnostic = Diagnostic::new(Code::BadFace, span, format!("`{name}` {why}"));
        scope.report(diagnostic.help("scalars declared with `field` may have one value at faces"));
    }
    let names = CHOICES.map(|(word, _)| word);
    let Some(by) = &item.weight else {
        let message = format!("`{name}` has no rule for its value at faces");
        let diagnostic = Diagnostic::new(Code::BadFace, span, message);
        let ways = names.map(|word| format!("`{name} by {word};`"));
        scope.report(diagnostic.help(format!("write {}", ways.join(" or "))));
        return None;
    };
    let word = match &by.kind {
        AstKind::Name(word) => word.as_str(),
        _ => "",
    };
    let found = CHOICES.iter().find(|(name, _)| *name == word);
    if found.is_none() {
        let message = "unknown choice between the values of both sides";
        let near = nearest(word, names);
        let diagnostic = Diagnostic::new(Code::BadFace, by.span, message)
            .note(format!("choices: {}", names.join(", ")));
        scope.report(diagnostic.help_if(near.map(|near| format!("did you mean `{near}`?"))));
    }
    found.map(|(_, by)| (field, *by))
}

/// `h = max(surface - bed, 0)`
fn recomputed<'a>(
    scope: &mut Scope<'a>,
    system: &System,
    primitives: Option<&Primitives>,
    item: &'a VariableItem,
) -> Option<(Term, Term)> {
    let (name, span) = (&item.name.text, item.name.span);
    let value = item.value.as_ref();
    let value = value.and_then(|ast| scope.term(ast, item.at, Place::System));
    let kind = match scope.names.get(name.as_str()) {
        Some((Meaning::Field(field, _), _)) => Some(TermKind::Field(*field)),
        Some((Meaning::Let(at), _)) => {
            let meaning = scope.let_meaning.get(*at).copied().flatten();
            meaning.map(|(at, _)| TermKind::Let(at))
        }
        Some(_) => None,
        None => {
            let diagnostic = scope.unknown(&item.name, &[]);
            scope.report(diagnostic);
            return None;
        }
    };
    // After an error in them it is not known which they are.
    let primitives = primitives?;
    let is_it = |variable: &&Term| Some(&variable.kind) == kind.as_ref();
    let Some(variable) = primitives.variables.iter().find(is_it) else {
        let message = format!("`{name}` is not a primitive");
        let diagnostic = Diagnostic::new(Code::BadFace, span, message)
            .note_at(primitives.span, "the primitives are here");
        scope.report(
            diagnostic.help("`face` recomputes primitives; conserved fields follow from them"),
        );
        return None;
    };
    let value = value?;
    if value.rank != variable.rank {
        scope.report(unequal("value", name, variable.rank, value.rank, value.span));
    }
    of_states(scope, "a recomputed value", &value);
    let is_free = |field: usize| system.fields.get(field).is_some_and(|f| !f.conserved);
    let lets = &scope.expansion.lets;
    if let Some((field, span)) = beside_primitives(&value, lets, &primitives.variables, &is_free) {
        let other = system.fields.get(field).map_or("", |f| &f.name.text);
        let message = format!("this is made of `{other}`, which is not a primitive");
        let diagnostic = Diagnostic::new(Code::BadFace, span, message);
        scope.report(
            diagnostic.help("write it with primitives, parameters and fields without flux"),
        );
    }
    let variable = Term { span, ..variable.clone() };
    Some((variable, value))
}

/// Reports derivatives of shared fields in equations of conserved fields that cannot be integrated through faces.
pub(super) fn slopes(
    scope: &mut Scope<'_>,
    system: &System,
    at_face: &AtFace,
    equations: &[Equation],
) {
    let lets = std::mem::take(&mut scope.expansion.lets);
    let slopes = Slopes::new(at_face, &lets);
    for equation in equations {
        let conserved = system.fields.get(equation.field);
        if !conserved.is_some_and(|field| field.conserved) {
            continue;
        }
        for part in slopes.parts(&equation.rhs).products {
            if let Err(found) = slopes.linear(part) {
                let name = at_face.fields.first();
                let name = name.and_then(|(field, _)| system.fields.get(*field));
                let name = name.map_or("b", |field| &field.name.text);
                scope.report(found.diagnostic(name));
            }
        }
    }
    scope.expansion.lets = lets;
}

impl Model {
    /// The error in the values shared at faces, in words for the maker of the model.
    pub(super) fn wrong_at_face(&self, at_face: &AtFace) -> Option<String> {
        let Some(primitives) = &self.primitives else {
            return Some("`face` without primitives".to_string());
        };
        let shared = |(field, by): &(usize, Op)| {
            let scalar = self.fields.get(*field).map(|f| f.rank) == Some(Rank::Scalar);
            let known = CHOICES.iter().any(|(_, choice)| choice == by);
            scalar && known && self.flux_of(*field).is_none()
        };
        let sorted = at_face.fields.is_sorted_by(|a, b| a.0 < b.0);
        if !sorted || at_face.fields.is_empty() || !at_face.fields.iter().all(shared) {
            return Some("fields that cannot be shared".to_string());
        }
        let is_free = |field: usize| self.flux_of(field).is_none();
        for (i, (variable, value)) in at_face.recomputed.iter().enumerate() {
            let is_it = |other: &Term| other.kind == variable.kind;
            let again = at_face.recomputed[..i].iter().any(|(other, _)| is_it(other));
            let own = at_face.fields.iter();
            let shares = own.map(|(field, _)| TermKind::Field(*field));
            let twice = again || shares.into_iter().any(|kind| kind == variable.kind);
            let known = primitives.variables.iter().any(is_it);
            if !known || twice || variable.rank != value.rank {
                return Some("a primitive that cannot be recomputed".to_string());
            }
            if beside_primitives(value, &self.lets, &primitives.variables, &is_free).is_some() {
                return Some("a primitive is recomputed from other fields".to_string());
            }
        }
        let slopes = Slopes::new(at_face, &self.lets);
        let flowing = self.equations.iter();
        let flowing = flowing.filter(|equation| self.flux_of(equation.field).is_some());
        for equation in flowing {
            let products = slopes.parts(&equation.rhs).products;
            if products.iter().any(|part| slopes.linear(part).is_err()) {
                return Some("a derivative that cannot be integrated".to_string());
            }
        }
        None
    }
}
