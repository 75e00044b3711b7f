//! The places of values in cells: those that operations take, and those of what they make.
//!
//! In a system with fields on faces or edges, a first derivative leads halfway, to the place between two of its
//! operand's; higher ones stay. All else is of values at one place.

use crate::catalogue::centering::{CENTRE, Halves, place_name};
use crate::catalogue::functions::{Arguments, Form};
use crate::catalogue::{Centering, Function, Rank};
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::Name;
use crate::model::{Model, Term, TermKind};

/// The place of each component of a term; `None` for a value that is the same everywhere.
type Places = Vec<Option<Halves>>;

/// The error for a field whose rank has no such places.
pub(super) fn misfit(name: &Name, centering: Centering, rank: Rank) -> Diagnostic {
    let (text, word, rank) = (&name.text, centering.word(), rank.name());
    let message = format!("`{text}` is a {rank} on the {word}s of cells");
    let help = match centering {
        Centering::Face => "a face has the normal component of a vector: `face field b: vector`",
        _ => "an edge has the component of a vector along it, or the shear of a tensor",
    };
    Diagnostic::new(Code::OtherPlace, name.span, message).help(help)
}

/// The error for a conserved field on edges.
pub(super) fn on_edges(name: &Name) -> Diagnostic {
    let message =
        format!("`{}` is conserved and lies on edges, through which nothing flows", name.text);
    Diagnostic::new(Code::OtherPlace, name.span, message)
        .help("declare it as `face conserved ..`, or as `edge field ..` with `ddt(..) = ..;`")
}

/// Finds the places of all terms of a system with fields on faces or edges; the errors in them.
pub(in crate::model) fn problems(model: &Model) -> Vec<Diagnostic> {
    if !model.is_staggered() {
        return Vec::new();
    }
    let mut finder = Finder { model, lets: Vec::new(), problems: Vec::new() };
    for named in &model.lets {
        let places = finder.term(&named.value);
        finder.lets.push(places);
    }
    for equation in &model.equations {
        let Some(field) = model.fields.get(equation.field) else { continue };
        let made = finder.term(&model.rest_of(equation));
        let places = field.centering.entries(field.rank, model.components, model.dimension);
        let found =
            made.iter().zip(&places).find(|(made, at)| made.is_some_and(|made| made != **at));
        if let Some((Some(made), at)) = found {
            let message = format!(
                "the rate of `{}` lies in {}, and the field in {}",
                field.name,
                place_name(*made, model.dimension),
                place_name(*at, model.dimension)
            );
            finder.report(equation.rhs.span, message);
        }
    }
    for term in model.fluxes.iter().map(|flux| &flux.value) {
        finder.centred(term, "a flux");
    }
    let waves = model.waves.iter().flat_map(|waves| [&waves.flow, &waves.sound]);
    for term in waves.flatten() {
        finder.centred(term, "a speed of waves");
    }
    let watched = model.observables.iter().map(|observable| &observable.value);
    for term in watched.chain(model.speeds.iter().map(|speed| &speed.value)) {
        finder.term(term);
    }
    finder.problems
}

impl Model {
    /// Has it fields whose values lie on faces or edges?
    pub fn is_staggered(&self) -> bool {
        self.fields.iter().any(|field| field.centering != Centering::Cell)
    }
}

struct Finder<'m> {
    model: &'m Model,
    lets: Vec<Places>,
    problems: Vec<Diagnostic>,
}

impl Finder<'_> {
    fn report(&mut self, span: Span, message: String) {
        let help = "interpolate with `to_cells(..)`, `to_faces(..)` or `to_edges(..)`; a first derivative leads halfway";
        self.problems.push(Diagnostic::new(Code::OtherPlace, span, message).help(help));
    }

    /// Reports a term that is not of values in the centres of cells.
    fn centred(&mut self, term: &Term, what: &str) {
        let places = self.term(term);
        if let Some(at) = places.into_iter().flatten().find(|at| *at != CENTRE) {
            let place = place_name(at, self.model.dimension);
            self.report(
                term.span,
                format!(
                    "{what} is made of values in the centres of cells, and this lies in {place}"
                ),
            );
        }
    }

    /// The places of a term's components.
    fn term(&mut self, term: &Term) -> Places {
        let (components, dimension) = (self.model.components, self.model.dimension);
        let width = components.pow(term.rank.indices() as u32);
        let everywhere = || vec![None; width];
        let span = term.span;
        match &term.kind {
            TermKind::Field(at) => {
                let field = self.model.fields.get(*at);
                let centering = field.map_or(Centering::Cell, |field| field.centering);
                let places = centering.entries(term.rank, components, dimension);
                places.into_iter().map(Some).collect()
            }
            TermKind::Source(_) => vec![Some(CENTRE); width],
            TermKind::Let(at) => self.lets.get(*at).cloned().unwrap_or_else(everywhere),
            TermKind::Neg(a) => self.term(a),
            TermKind::Add(a, b) | TermKind::Sub(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                let pairs: Vec<_> = a.into_iter().zip(b).collect();
                pairs.into_iter().map(|(a, b)| self.one([a, b], "sum", span)).collect()
            }
            TermKind::Mul(a, b) | TermKind::Div(a, b) => {
                let places = [self.term(a), self.term(b)];
                let at = |of: &Places, i: usize| of.get(i).or(of.first()).copied().flatten();
                let pairs: Vec<_> =
                    (0..width).map(|i| [at(&places[0], i), at(&places[1], i)]).collect();
                let of = pairs.into_iter().enumerate();
                of.map(|(i, pair)| match self.is_zero(a, i) || self.is_zero(b, i) {
                    true => None,
                    false => self.one(pair, "product", span),
                })
                .collect()
            }
            TermKind::Stack(parts) => parts.iter().flat_map(|part| self.term(part)).collect(),
            TermKind::Component(of, axes) => {
                let at = axes.iter().fold(0, |at, axis| at * components + axis);
                vec![self.term(of).get(at).copied().flatten()]
            }
            TermKind::Pow(of, _) => self.term(of),
            TermKind::Derivative { axis, times, of } => {
                self.term(of).into_iter().map(|of| halfway(of, *axis, *times)).collect()
            }
            TermKind::If(_, parts) => {
                let all: Vec<Places> = parts.iter().map(|part| self.term(part)).collect();
                let [a, b, then, otherwise] = &all[..] else { return everywhere() };
                let compared = [a, b].map(|of| of.first().copied().flatten());
                let pairs: Vec<_> = then.iter().copied().zip(otherwise.iter().copied()).collect();
                let chosen = |(a, b)| self.one([compared[0], compared[1], a, b], "choice", span);
                pairs.into_iter().map(chosen).collect()
            }
            TermKind::Call(function, args) => self.call(*function, args, span),
            TermKind::Number(_)
            | TermKind::Param(_)
            | TermKind::Time
            | TermKind::Epsilon
            | TermKind::Coordinate(_)
            | TermKind::Side(..)
            | TermKind::Rise(_)
            | TermKind::Normal => everywhere(),
        }
    }

    /// Is a component of a term a literal zero, as beside the diagonal of `I`? It lies anywhere.
    fn is_zero(&self, term: &Term, at: usize) -> bool {
        match &term.kind {
            TermKind::Number(value) => *value.numer() == 0,
            TermKind::Let(of) => {
                self.model.lets.get(*of).is_some_and(|named| self.is_zero(&named.value, at))
            }
            TermKind::Stack(parts) => {
                let width = self.model.components.pow(term.rank.indices() as u32 - 1);
                parts.get(at / width).is_some_and(|part| self.is_zero(part, at % width))
            }
            TermKind::Mul(a, b) => {
                let of = |part: &Term| if part.rank == Rank::Scalar { 0 } else { at };
                [a, b].into_iter().any(|part| self.is_zero(part, of(part)))
            }
            _ => false,
        }
    }

    fn call(&mut self, function: Function, args: &[Term], span: Span) -> Places {
        let all: Vec<Places> = args.iter().map(|arg| self.term(arg)).collect();
        let widths: Vec<usize> = all.iter().map(Vec::len).collect();
        let forms = function.forms(&Arguments {
            components: self.model.components,
            dimension: self.model.dimension,
            widths: &widths,
            name: "",
        });
        forms.iter().map(|form| self.form(form, &all, (function.name(), span))).collect()
    }

    fn form(&mut self, form: &Form, all: &[Places], call: (&str, Span)) -> Option<Halves> {
        match form {
            Form::Of(argument, at) => all.get(*argument)?.get(*at).copied().flatten(),
            Form::Derivative { axis, times, of } => {
                // Nothing changes along an axis that the mesh does not have.
                let of = self.form(of, all, call).filter(|_| *axis < self.model.dimension);
                halfway(of, *axis, *times)
            }
            Form::At(to, of) => self.form(of, all, call).map(|_| *to),
            Form::Difference { of, .. }
            | Form::Half(of)
            | Form::Over(of, _)
            | Form::Named(_, of) => self.form(of, all, call),
            Form::Times(a, b) | Form::Plus(a, b) | Form::Minus(a, b) => {
                let pair = [a, b].map(|of| self.form(of, all, call));
                self.one(pair, call.0, call.1)
            }
            Form::Sum(_, parts) | Form::Op(_, parts) => {
                let parts: Vec<_> = parts.iter().map(|of| self.form(of, all, call)).collect();
                self.one(parts, call.0, call.1)
            }
            Form::Squares => self.one(all.first()?.clone(), call.0, call.1),
        }
    }

    /// The one place of operands; others are reported.
    fn one(
        &mut self,
        of: impl IntoIterator<Item = Option<Halves>>,
        what: &str,
        span: Span,
    ) -> Option<Halves> {
        let mut known = of.into_iter().flatten();
        let first = known.next()?;
        let Some(other) = known.find(|other| *other != first) else {
            return Some(first);
        };
        let [first, other] = [first, other].map(|at| place_name(at, self.model.dimension));
        let what = if matches!(what, "sum" | "product" | "choice") {
            format!("a {what}")
        } else {
            format!("`{what}`")
        };
        // One error for all components of a term.
        if self.problems.last().is_none_or(|last| last.span != span) {
            self.report(span, format!("{what} of values in {first} and in {other}"));
        }
        None
    }
}

/// The place of a derivative of a value that lies somewhere.
fn halfway(of: Option<Halves>, axis: usize, times: u32) -> Option<Halves> {
    let mut at = of?;
    at[axis] ^= times == 1;
    Some(at)
}
