//! The syntax tree to a [`Model`]: names to indices, ranks, one equation a field.

use std::collections::BTreeMap;

use super::{names, ranks, scheme};
use crate::diag::{Code, Diagnostic, Diagnostics, Span, nearest};
use crate::model::parse::ast::{Ast, Name, ParamItem, Source};
use crate::model::{Comparison, Equation, Field, Let, Model, Param, Rank, Rational};

/// Resolves everything and reports every error; `None` only after an error.
pub(in crate::model) fn model(source: &Source, diagnostics: &mut Diagnostics) -> Option<Model> {
    if let Some(problem) = names::problem(&source.name.text) {
        diagnostics.push(Diagnostic::new(Code::BadName, source.name.span, problem));
    }
    let scheme = scheme::resolve(source, diagnostics);
    let dimension = source.dimension?;
    let mut scope = Scope::new(source, dimension, diagnostics);
    let lets = scope.lets();
    let equations = scope.equations();
    let fields: Option<Vec<Field>> = source.fields.iter().map(field).collect();
    let params = source
        .params
        .iter()
        .map(|p| param(p, diagnostics))
        .collect();
    Some(Model {
        name: source.name.text.clone(),
        doc: source.doc.clone(),
        dimension,
        fields: fields?,
        params,
        lets: lets?,
        equations: equations?,
        scheme: scheme?,
    })
}

fn field(item: &crate::model::parse::ast::FieldItem) -> Option<Field> {
    Some(Field {
        name: item.name.text.clone(),
        rank: item.rank?,
        unit: item.unit.clone(),
        span: item.name.span,
    })
}

/// A parameter; its default is held against its bounds.
fn param(item: &ParamItem, diagnostics: &mut Diagnostics) -> Param {
    if let Some((default, span)) = &item.default {
        for (comparison, bound, bound_span) in &item.bounds {
            if !comparison.holds(default, bound) {
                let message = format!("the default of `{}` breaks its bound", item.name.text);
                let diagnostic = Diagnostic::new(Code::OutOfBounds, *span, message);
                diagnostics.push(diagnostic.note_at(*bound_span, "the bound is here"));
            }
        }
    }
    let bounds = item.bounds.iter().map(|(c, number, _)| (*c, *number));
    Param {
        name: item.name.text.clone(),
        default: item.default.map(|(number, _)| number),
        bounds: bounds.collect(),
        unit: item.unit.clone(),
        span: item.name.span,
    }
}

impl Comparison {
    /// Whether it is true of two numbers.
    pub fn holds(self, left: &Rational, right: &Rational) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterEqual => left >= right,
        }
    }
}

/// What a name stands for. A rank is missing after an error in the declaration.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    Field(usize, Option<Rank>),
    Param(usize),
    Let(usize),
}

/// The names of a system and what was found out about them.
pub(super) struct Scope<'a> {
    source: &'a Source,
    pub(super) dimension: usize,
    pub(super) names: BTreeMap<&'a str, (Meaning, Span)>,
    /// Ranks of the `let`s so far; `None` inside after an error.
    pub(super) let_ranks: Vec<Option<Rank>>,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Scope<'a> {
    fn new(source: &'a Source, dimension: usize, diagnostics: &'a mut Diagnostics) -> Self {
        let mut scope = Scope {
            source,
            dimension,
            names: BTreeMap::new(),
            let_ranks: Vec::new(),
            diagnostics,
        };
        for (i, item) in source.fields.iter().enumerate() {
            scope.declare(&item.name, Meaning::Field(i, item.rank));
        }
        for (i, item) in source.params.iter().enumerate() {
            scope.declare(&item.name, Meaning::Param(i));
        }
        for (i, item) in source.lets.iter().enumerate() {
            scope.declare(&item.name, Meaning::Let(i));
        }
        scope
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn declare(&mut self, name: &'a Name, meaning: Meaning) {
        if name.text.contains('·') {
            self.report(glued(name));
        } else if let Some(problem) = names::problem(&name.text) {
            self.report(Diagnostic::new(Code::BadName, name.span, problem));
        }
        if let Some((_, first)) = self.names.get(name.text.as_str()).copied() {
            let message = format!("`{}` is declared twice", name.text);
            let diagnostic = Diagnostic::new(Code::DuplicateName, name.span, message);
            self.report(diagnostic.note_at(first, "first declared here"));
            return;
        }
        self.names.insert(&name.text, (meaning, name.span));
    }

    /// The `let`s in order; each sees those above it.
    fn lets(&mut self) -> Option<Vec<Let>> {
        let mut all = Some(Vec::new());
        for item in &self.source.lets {
            let value = item.value.as_ref().and_then(|ast| self.term(ast, item.at));
            self.let_ranks.push(value.as_ref().map(|term| term.rank));
            let found = value.map(|value| Let {
                name: item.name.text.clone(),
                value,
                span: item.name.span,
            });
            all = all.zip(found).map(|(mut all, found)| {
                all.push(found);
                all
            });
        }
        all
    }

    /// Where a `let` is defined, as a position among the tokens.
    pub(super) fn let_at(&self, index: usize) -> usize {
        self.source.lets.get(index).map_or(0, |item| item.at)
    }

    /// One equation for each field, in the order of the fields.
    fn equations(&mut self) -> Option<Vec<Equation>> {
        let mut found: BTreeMap<usize, (Span, Option<Equation>)> = BTreeMap::new();
        for item in &self.source.equations {
            let rhs = item.rhs.as_ref().and_then(|ast| self.term(ast, item.at));
            let Some((field, rank)) = self.evolved(&item.field) else {
                continue;
            };
            if let Some((first, _)) = found.get(&field) {
                let message = format!("a second equation for `{}`", item.field.text);
                let diagnostic = Diagnostic::new(Code::TwoEquations, item.field.span, message)
                    .note_at(*first, "the first is here");
                self.report(diagnostic);
                continue;
            }
            if let (Some(rhs), Some(rank)) = (&rhs, rank)
                && rhs.rank != rank
            {
                self.report(unequal(&item.field.text, rank, rhs.rank, rhs.span));
            }
            let equation = rhs.map(|rhs| Equation {
                field,
                rhs,
                span: item.span,
            });
            found.insert(field, (item.field.span, equation));
        }
        self.missing(&found);
        found.into_values().map(|(_, equation)| equation).collect()
    }

    /// Reports the fields without an equation.
    fn missing(&mut self, found: &BTreeMap<usize, (Span, Option<Equation>)>) {
        if self.source.fields.is_empty() {
            let message = "a system has at least one field";
            let diagnostic = Diagnostic::new(Code::Syntax, self.source.name.span, message);
            self.report(diagnostic.help("write `field f: scalar;` and `ddt(f) = ..;`"));
        }
        for (i, item) in self.source.fields.iter().enumerate() {
            let declared = self.names.get(item.name.text.as_str());
            let is_first = matches!(declared, Some((Meaning::Field(f, _), _)) if *f == i);
            if is_first && !found.contains_key(&i) {
                let name = &item.name.text;
                let message = format!("field `{name}` has no equation");
                let help = format!("write `ddt({name}) = ..;`, or make it a `param`");
                let diagnostic = Diagnostic::new(Code::NoEquation, item.name.span, message);
                self.report(diagnostic.help(help));
            }
        }
    }

    /// The field on the left of an equation.
    fn evolved(&mut self, name: &Name) -> Option<(usize, Option<Rank>)> {
        let kind = match self.names.get(name.text.as_str()) {
            Some((Meaning::Field(index, rank), _)) => return Some((*index, *rank)),
            Some((Meaning::Param(_), _)) => "a parameter",
            Some((Meaning::Let(_), _)) => "a `let`",
            None => {
                let diagnostic = self.unknown(name);
                self.report(diagnostic);
                return None;
            }
        };
        let message = format!("`{}` is {kind}, and only fields evolve", name.text);
        self.report(Diagnostic::new(Code::NotAField, name.span, message));
        None
    }

    /// The error for a name that nothing declares.
    pub(super) fn unknown(&self, name: &Name) -> Diagnostic {
        if name.text.contains('·') {
            return glued(name);
        }
        let text = &name.text;
        let message = format!(
            "no field, parameter or `let` `{text}` in `{}`",
            self.source.name.text
        );
        let near = nearest(text, self.names.keys().copied());
        let mut diagnostic = Diagnostic::new(Code::UnknownName, name.span, message)
            .help_if(near.map(|near| format!("did you mean `{near}`?")));
        let kinds: [(&str, Vec<&str>); 3] = [
            (
                "fields",
                self.source
                    .fields
                    .iter()
                    .map(|i| i.name.text.as_str())
                    .collect(),
            ),
            (
                "parameters",
                self.source
                    .params
                    .iter()
                    .map(|i| i.name.text.as_str())
                    .collect(),
            ),
            (
                "lets",
                self.source
                    .lets
                    .iter()
                    .map(|i| i.name.text.as_str())
                    .collect(),
            ),
        ];
        for (kind, names) in kinds {
            if !names.is_empty() {
                diagnostic = diagnostic.note(format!("{kind}: {}", names.join(", ")));
            }
        }
        diagnostic
    }

    fn term(&mut self, ast: &Ast, at: usize) -> Option<crate::model::Term> {
        super::terms::Terms { scope: self, at }.term(ast)
    }
}

/// The error for a name with a middle dot in it.
fn glued(name: &Name) -> Diagnostic {
    let text = &name.text;
    let message = format!("`{text}` is one identifier to Rust");
    let factors: Vec<&str> = text.split('·').filter(|part| !part.is_empty()).collect();
    let help = match factors.as_slice() {
        [a, b] => format!("write `dot({a}, {b})`"),
        _ => "write `dot(u, v)`".to_string(),
    };
    Diagnostic::new(Code::GluedName, name.span, message).help(help)
}

/// The error for an equation with two ranks.
fn unequal(field: &str, left: Rank, right: Rank, span: Span) -> Diagnostic {
    let message = format!(
        "the right-hand side is a {}, and `{field}` is a {}",
        right.name(),
        left.name()
    );
    let help = ranks::way(right, left);
    let help = (!help.is_empty()).then(|| help.to_string());
    Diagnostic::new(Code::RankMismatch, span, message).help_if(help)
}
