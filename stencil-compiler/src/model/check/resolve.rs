//! The syntax tree to a [`Model`]: names to indices, ranks, one equation a field.

use std::collections::BTreeMap;

use super::scope::{Meaning, Scope};
use super::terms::Place;
use super::{
    at_face, centering, conserved, default_solver, functions, limits, names, observables,
    primitives, products, ranges, ranks, riemann, scheme, widths,
};
use crate::catalogue::{Centering, Rank};
use crate::diag::{Code, Diagnostic, Diagnostics, Span};
use crate::model::parse::Request;
use crate::model::parse::ast::{Ast, FieldItem, LetItem, Name, SourceItem, System};
use crate::model::{Comparison, Equation, Field, Let, Model, Source, Symmetry, Term, TermKind};

/// Resolves everything and reports every error; `None` only after an error. A system in any
/// number of dimensions takes the one that is asked for.
pub(in crate::model) fn model(
    system: &System,
    request: Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Model> {
    if let Some(problem) = names::problem(&system.name.text) {
        diagnostics.push(Diagnostic::new(Code::BadName, system.name.span, problem));
    }
    let schemes = scheme::resolve(system, request.schemes, diagnostics);
    let (dimension, generic) = dimension(system, request.dimension, diagnostics)?;
    let components = widths::components(system, dimension, diagnostics);
    let fields: Option<Vec<Field>> =
        system.fields.iter().map(|item| field(item, components, diagnostics)).collect();
    let mut scope = Scope::new(system, dimension, components, diagnostics);
    let params = system.params.iter().map(|p| scope.param(p)).collect();
    functions::define_all(&mut scope);
    let sources = scope.sources(system);
    let lets = scope.lets(system);
    let equations = scope.equations(system);
    let fluxes = conserved::fluxes(&mut scope, system);
    scope.fluxes = fluxes.clone().unwrap_or_default();
    let primitives = primitives::resolve(&mut scope, system);
    let at_face = at_face::resolve(&mut scope, system, &primitives);
    if let (Some(Some(at_face)), Some(equations)) = (&at_face, &equations) {
        at_face::slopes(&mut scope, system, at_face, equations);
    }
    let shared = at_face.as_ref().and_then(Option::as_ref);
    let products = products::products(&mut scope, system, fluxes.as_deref(), shared);
    let average = primitives::average(&mut scope, system);
    let ranges = ranges::resolve(&mut scope, system);
    let waves = conserved::waves(&mut scope, system);
    let observables = observables::observables(&mut scope, system);
    let speeds = observables::speeds(&mut scope, system);
    let law = fluxes.as_ref().zip(primitives.as_ref());
    let law =
        law.map(|(fluxes, primitives)| riemann::Law { fluxes, primitives: primitives.as_ref() });
    let solvers = riemann::solvers(&mut scope, system, law);
    lets?;
    let lets = std::mem::take(&mut scope.expansion.lets);
    let (scheme, others) = schemes?;
    let mut model = Model {
        name: system.name.text.clone(),
        doc: system.doc.clone(),
        dimension,
        components,
        generic,
        fields: fields?,
        params,
        sources: sources?,
        lets,
        equations: equations?,
        fluxes: fluxes?,
        products: products?,
        primitives: primitives?,
        at_face: at_face?,
        average: average?,
        ranges: ranges?,
        waves: waves?,
        solvers: solvers?,
        observables: observables?,
        speeds: speeds?,
        scheme,
        others,
    };
    for problem in centering::problems(&model) {
        diagnostics.push(problem);
    }
    default_solver::choose(system, &mut model, diagnostics);
    Some(model)
}

/// Resolves a formula over names that stand for numbers, as parameters in the order of the list.
pub(in crate::model) fn formula(
    ast: &Ast,
    names: &[&str],
    diagnostics: &mut Diagnostics,
) -> Option<Term> {
    let mut scope = Scope::of_formula(names, diagnostics);
    let term = scope.term(ast, 0, Place::Formula)?;
    if term.rank != Rank::Scalar {
        scope.report(crate::model::formula::no_scalar(term.rank, term.span));
    }
    Some(term)
}

/// The number of dimensions, and whether the system is declared for any number of them.
fn dimension(
    system: &System,
    asked: Option<usize>,
    diagnostics: &mut Diagnostics,
) -> Option<(usize, bool)> {
    let written = system.dimension?;
    let name = &system.name.text;
    let (message, help) = match (written.number, asked) {
        (Some(number), None) => return Some((number, written.generic)),
        (Some(number), Some(asked)) if number == asked => return Some((number, written.generic)),
        (None, Some(asked @ 1..=3)) => return Some((asked, written.generic)),
        (Some(number), Some(asked)) => (
            format!("`{name}` is declared in {number}d, not in {asked}d"),
            "a system `in nd` is for any number of dimensions",
        ),
        (None, Some(asked)) => {
            (format!("`{name}` is asked for in {asked}d"), "there are 1, 2 and 3 dimensions")
        }
        (None, None) => (
            format!("`{name}` is declared in any number of dimensions, and none is chosen"),
            "choose 1, 2 or 3 where the system is used, as by `--dimension 2`, or write `in 3d` here",
        ),
    };
    let diagnostic = Diagnostic::new(Code::Dimensions, written.span, message);
    diagnostics.push(diagnostic.help(help));
    None
}

fn field(item: &FieldItem, components: usize, diagnostics: &mut Diagnostics) -> Option<Field> {
    let (rank, symmetry) = item.kind?;
    if !item.centering.fits(rank) {
        diagnostics.push(centering::misfit(&item.name, item.centering, rank));
    }
    if item.conserved && item.centering == Centering::Edge {
        diagnostics.push(centering::on_edges(&item.name));
    }
    if symmetry == Symmetry::Antisymmetric && components == 1 {
        let message = "an antisymmetric tensor has no component in 1d";
        let diagnostic = Diagnostic::new(Code::WrongDimension, item.name.span, message);
        diagnostics.push(
            diagnostic.help("declare the system in 2d or 3d, or the field as `antisymmetric<3>`"),
        );
    }
    Some(Field {
        name: item.name.text.clone(),
        rank,
        symmetry,
        centering: item.centering,
        unit: item.unit.clone(),
        span: item.name.span,
    })
}

impl Comparison {
    /// Does it hold for two numbers?
    pub fn holds<T: PartialOrd>(self, left: &T, right: &T) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterEqual => left >= right,
        }
    }
}

impl<'a> Scope<'a> {
    /// The typed expression of an item, which sees the items above position `at`.
    pub(super) fn term(&mut self, ast: &Ast, at: usize, place: Place) -> Option<Term> {
        let term = super::terms::Terms::new(self, at, place).term(ast)?;
        if term.depth() <= limits::DEPTH {
            return self.within_limits(term);
        }
        let message = format!("expands to more than {} nested operations", limits::DEPTH);
        let diagnostic = Diagnostic::new(Code::TooDeep, ast.span, message);
        self.report(diagnostic.help("name parts of the expression with `let`"));
        None
    }

    /// The `let`s in order; each sees those above it. `None` after an error.
    fn lets(&mut self, system: &'a System) -> Option<()> {
        let mut all = Some(());
        for (index, item) in system.lets.iter().enumerate() {
            if self.is_local(index) {
                // Sources have it written out.
                all = all.and(self.let_of_source(index).map(|_| ()));
                self.let_meaning.push(None);
                continue;
            }
            let value = item.value.as_ref();
            let before = self.expansion.lets.len();
            let value = value.and_then(|ast| self.term(ast, item.at, Place::System));
            let meaning = value.map(|value| {
                let rank = value.rank;
                (self.named(item, value, before), rank)
            });
            self.let_meaning.push(meaning);
            all = all.and(meaning.map(|_| ()));
        }
        all
    }

    /// The index of the `let` with this value. A call has become a `let` since there were `before` of them, which gets
    /// the name.
    fn named(&mut self, item: &LetItem, value: Term, before: usize) -> usize {
        let (name, span) = (item.name.text.clone(), item.name.span);
        let lets = &mut self.expansion.lets;
        if let TermKind::Let(at) = value.kind
            && at >= before
            && at + 1 == lets.len()
        {
            let call = &mut lets[at];
            (call.name, call.span) = (name, span);
            call.within = item.within.clone().or(call.within.take());
            return at;
        }
        lets.push(Let { name, value, within: item.within.clone(), span });
        lets.len() - 1
    }

    /// The sources with their values.
    fn sources(&mut self, system: &'a System) -> Option<Vec<Source>> {
        let found: Vec<Option<Source>> = system.sources.iter().map(|i| self.source(i)).collect();
        found.into_iter().collect()
    }

    fn source(&mut self, item: &SourceItem) -> Option<Source> {
        let errors = self.errors();
        self.expansion.inline = true;
        let value = item.value.as_ref();
        let value = value.and_then(|ast| self.term(ast, item.at, Place::Source));
        self.expansion.inline = false;
        let rank = item.rank?;
        let value = match value {
            Some(value) if super::terms::is_zero(&value) => {
                Some(Term::zero(rank, self.components, value.span))
            }
            Some(value) if value.rank != rank => {
                let name = &item.name.text;
                self.report(unequal("value", name, rank, value.rank, value.span));
                None
            }
            other => other,
        };
        (self.errors() == errors).then(|| Source {
            name: item.name.text.clone(),
            rank,
            unit: item.unit.clone(),
            value,
            span: item.name.span,
        })
    }

    /// One equation for each field, in the order of the fields.
    fn equations(&mut self, system: &'a System) -> Option<Vec<Equation>> {
        let mut found: BTreeMap<usize, (Span, Option<Equation>)> = BTreeMap::new();
        for item in &system.equations {
            let rhs = item.rhs.as_ref();
            let rhs = rhs.and_then(|ast| self.term(ast, item.at, Place::System));
            let Some((field, rank)) = self.evolved(&item.field) else {
                continue;
            };
            if let Some((first, _)) = found.get(&field) {
                let message = format!("a second equation for `{}`", item.field.text);
                let diagnostic = Diagnostic::new(Code::TwoEquations, item.field.span, message)
                    .note_at(*first, "the first is here")
                    .help("add the two right-hand sides");
                self.report(diagnostic);
                continue;
            }
            if let (Some(rhs), Some(rank)) = (&rhs, rank)
                && rhs.rank != rank
            {
                let name = &item.field.text;
                self.report(unequal("right-hand side", name, rank, rhs.rank, rhs.span));
            }
            let equation = rhs.map(|rhs| Equation { field, rhs, span: item.span });
            found.insert(field, (item.field.span, equation));
        }
        self.only_flowing(system, &mut found);
        self.missing(system, &found);
        found.into_values().map(|(_, equation)| equation).collect()
    }

    /// The equations of fields that have a flux and nothing else.
    fn only_flowing(
        &mut self,
        system: &System,
        found: &mut BTreeMap<usize, (Span, Option<Equation>)>,
    ) {
        for item in &system.fluxes {
            let meaning = self.names.get(item.field.text.as_str());
            let Some((Meaning::Field(field, Some(rank)), _)) = meaning else {
                continue;
            };
            found.entry(*field).or_insert_with(|| {
                let equation = Equation {
                    field: *field,
                    rhs: Term::zero(*rank, self.components, item.span),
                    span: item.span,
                };
                (item.field.span, Some(equation))
            });
        }
    }

    /// Reports the fields without an equation.
    fn missing(&mut self, system: &System, found: &BTreeMap<usize, (Span, Option<Equation>)>) {
        if system.fields.is_empty() {
            let message = "a system has at least one field";
            let diagnostic = Diagnostic::new(Code::Syntax, system.name.span, message);
            self.report(diagnostic.help("write `field f: scalar;` and `ddt(f) = ..;`"));
        }
        for (i, item) in system.fields.iter().enumerate() {
            let declared = self.names.get(item.name.text.as_str());
            let is_first = matches!(declared, Some((Meaning::Field(f, _), _)) if *f == i);
            if is_first && !item.conserved && !found.contains_key(&i) {
                let name = &item.name.text;
                let message = format!("field `{name}` has no equation");
                let help = format!("write `ddt({name}) = ..;`, or make it a `param` or a `source`");
                let diagnostic = Diagnostic::new(Code::NoEquation, item.name.span, message);
                self.report(diagnostic.help(help));
            }
        }
    }

    /// The field on the left of an equation.
    pub(super) fn evolved(&mut self, name: &Name) -> Option<(usize, Option<Rank>)> {
        let kind = match self.names.get(name.text.as_str()) {
            Some((Meaning::Field(index, rank), _)) => return Some((*index, *rank)),
            Some((meaning, _)) => meaning.kind(),
            None => {
                let diagnostic = self.unknown(name, &[]);
                self.report(diagnostic);
                return None;
            }
        };
        let message = format!("`{}` is {kind}, and only fields evolve", name.text);
        let diagnostic = Diagnostic::new(Code::NotAField, name.span, message);
        self.report(diagnostic.help("declare it as a `field`, or remove the equation"));
        None
    }
}

/// The error where something is of another rank than its name.
pub(super) fn unequal(what: &str, name: &str, left: Rank, right: Rank, span: Span) -> Diagnostic {
    let message = format!("the {what} is a {}, and `{name}` is a {}", right.name(), left.name());
    let help = ranks::way(right, left);
    let help = (!help.is_empty()).then(|| help.to_string());
    Diagnostic::new(Code::RankMismatch, span, message).help_if(help)
}
