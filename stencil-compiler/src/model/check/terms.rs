//! Expressions: names to indices, and ranks from the leaves up.

use num_traits::Zero;

use super::functions::Locals;
use super::limits;
use super::ranks::{self, Mismatch};
use super::scope::{Meaning, Scope};
use crate::catalogue::{Function, Rank};
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{Ast, AstKind, Binary, Name};
use crate::model::{Term, TermKind};

/// The place of an expression, which decides its allowed operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A `let`, an equation, an observable or a speed.
    System,
    /// The body of a function.
    Function,
    /// A Riemann solver.
    Riemann,
    /// The value of a source.
    Source,
    /// A formula of its own.
    Formula,
    /// The default or a bound of a parameter.
    Constant,
}

/// A kind and its rank; `None` after an error.
pub(super) type Typed = Option<(TermKind, Rank)>;

/// Resolves the expressions of one item.
pub(super) struct Terms<'s, 'a> {
    pub(super) scope: &'s mut Scope<'a>,
    /// The position of the item, which sees the `let`s and functions above it.
    pub(super) at: usize,
    pub(super) place: Place,
    /// The names of the function whose body this is.
    pub(super) locals: Locals,
}

impl<'s, 'a> Terms<'s, 'a> {
    pub(super) fn new(scope: &'s mut Scope<'a>, at: usize, place: Place) -> Self {
        Terms { scope, at, place, locals: Locals::default() }
    }

    /// The typed expression; `None` after an error in it. Siblings of an error are still checked.
    /// Each form has its own function, which keeps the frames of the recursion small.
    pub(super) fn term(&mut self, ast: &Ast) -> Option<Term> {
        if self.scope.expansion.full {
            return None;
        }
        self.scope.level += 1;
        let term = match self.scope.level > limits::LEVELS {
            true => self.too_deep(ast.span),
            false => self.typed(ast),
        };
        self.scope.level -= 1;
        term
    }

    fn typed(&mut self, ast: &Ast) -> Option<Term> {
        let span = ast.span;
        let (kind, rank) = match &ast.kind {
            AstKind::Number(value) => (TermKind::Number(*value), Rank::Scalar),
            AstKind::Name(text) => self.name(text, span)?,
            AstKind::Neg(a) => {
                let a = self.boxed(a)?;
                let rank = a.rank;
                (TermKind::Neg(a), rank)
            }
            AstKind::Binary(operator, ..) if operator.is_condition() => {
                return self.no_number(span);
            }
            AstKind::Not(_) => return self.no_number(span),
            AstKind::Binary(operator, a, b) => {
                let (a, b) = (self.boxed(a), self.boxed(b));
                self.binary(*operator, a?, b?, span)?
            }
            AstKind::Pow(base, exponent) => {
                let base = self.boxed(base)?;
                self.power(base, *exponent, span)?
            }
            AstKind::Stack(entries) => self.stack(entries, span)?,
            AstKind::Component(of, name) => match self.side(of) {
                Some(side) => self.on_side(side, name)?,
                None => {
                    let of = self.boxed(of)?;
                    self.component(of, name)?
                }
            },
            AstKind::Derivative(axis, times, of) => self.derivative(axis, *times, of, span)?,
            AstKind::Call(name, arguments) => self.call(name, arguments, span)?,
            AstKind::If(parts) => return self.choice(parts, span),
            AstKind::Real(value) => return self.no_fraction(*value, span),
            AstKind::Wrong => return None,
        };
        Some(Term { kind, rank, span })
    }

    /// Reports a number that no exact fraction holds.
    fn no_fraction<T>(&mut self, value: f64, span: Span) -> Option<T> {
        let message = format!("{value:e} cannot be held as an exact fraction");
        let diagnostic = Diagnostic::new(Code::BadNumber, span, message);
        let help =
            format!("give it a name, `param name: real = {value:e};`, or choose other units");
        self.scope.report(diagnostic.help(help));
        None
    }

    fn boxed(&mut self, ast: &Ast) -> Option<Box<Term>> {
        self.term(ast).map(Box::new)
    }

    fn power(&mut self, base: Box<Term>, exponent: i32, span: Span) -> Typed {
        if exponent < 0 && is_zero(&base) {
            return self.division_by_zero(base.span);
        }
        let rank = self.ranked(ranks::power(base.rank), span)?;
        Some((TermKind::Pow(base, exponent), rank))
    }

    fn stack(&mut self, entries: &[Ast], span: Span) -> Typed {
        let entries = self.terms(entries)?;
        if self.place == Place::Formula {
            return self.vector_in_formula(span);
        }
        let found: Vec<Rank> = entries.iter().map(|e| e.rank).collect();
        let rank =
            self.ranked(ranks::stack(&found, self.scope.dimension, self.scope.components), span)?;
        Some((TermKind::Stack(entries), rank))
    }

    pub(super) fn vector_in_formula<T>(&mut self, span: Span) -> Option<T> {
        let message = "a formula has no vectors and tensors";
        let diagnostic = Diagnostic::new(Code::RankMismatch, span, message);
        self.scope.report(diagnostic.help("write one formula for each component"));
        None
    }

    /// Resolves all terms and reports all errors.
    pub(super) fn terms(&mut self, asts: &[Ast]) -> Option<Vec<Term>> {
        let found: Vec<Option<Term>> = asts.iter().map(|ast| self.term(ast)).collect();
        found.into_iter().collect()
    }

    pub(super) fn ranked(&mut self, outcome: Result<Rank, Mismatch>, span: Span) -> Option<Rank> {
        match outcome {
            Ok(rank) => Some(rank),
            Err(mismatch) => {
                let diagnostic = Diagnostic::new(mismatch.code, span, mismatch.message);
                self.scope.report(diagnostic.help_if(mismatch.help));
                None
            }
        }
    }

    fn division_by_zero<T>(&mut self, span: Span) -> Option<T> {
        let message = "division by a literal zero";
        let diagnostic = Diagnostic::new(Code::DivisionByZero, span, message);
        self.scope.report(diagnostic.help("divide by a parameter if the number may change"));
        None
    }

    fn too_deep<T>(&mut self, span: Span) -> Option<T> {
        let message = "functions call each other in expressions too deep";
        let diagnostic = Diagnostic::new(Code::TooDeep, span, message);
        self.scope.report(diagnostic.help("name parts of the expressions with `let`"));
        None
    }

    fn name(&mut self, text: &str, span: Span) -> Typed {
        if let Some(term) = self.local(text, span)? {
            return Some((term.kind, term.rank));
        }
        let name = Name { text: text.to_string(), span };
        let Some((meaning, declared)) = self.scope.names.get(text).copied() else {
            return self.word(&name);
        };
        match meaning {
            _ if self.place == Place::Constant => self.not_constant(&name, meaning.kind()),
            Meaning::Let(index)
                if self.place == Place::Source && !self.scope.is_of_fields(index) =>
            {
                if self.scope.let_at(index) >= self.at {
                    return self.before_definition(&name, declared);
                }
                let value = self.scope.let_of_source(index)?;
                let value = self.scope.repeated(&value, span)?;
                Some((value.kind, value.rank))
            }
            Meaning::Let(index) if self.place != Place::Function && self.scope.is_local(index) => {
                self.local_let(text, span)
            }
            Meaning::Let(index) if self.place == Place::Riemann => {
                self.uniform_let(&name, index, declared)
            }
            Meaning::Field(..) | Meaning::Source(..) | Meaning::Let(_)
                if self.place != Place::System =>
            {
                self.not_visible(&name, meaning)
            }
            Meaning::Field(index, rank) => Some((TermKind::Field(index), rank?)),
            Meaning::Param(index) => Some((TermKind::Param(index), Rank::Scalar)),
            Meaning::Source(index, rank) => Some((TermKind::Source(index), rank?)),
            Meaning::Let(index) if self.scope.let_at(index) >= self.at => {
                self.before_definition(&name, declared)
            }
            Meaning::Let(index) => {
                let (index, rank) = self.scope.let_meaning.get(index).copied().flatten()?;
                Some((TermKind::Let(index), rank))
            }
            Meaning::Function(_) => self.needs_arguments(&name),
            Meaning::Observable => {
                let message = format!("`{text}` is an observable, and has no value in a cell");
                let diagnostic = Diagnostic::new(Code::WrongUse, span, message)
                    .note_at(declared, "declared here")
                    .help("name what it reduces with `let`");
                self.scope.report(diagnostic);
                None
            }
        }
    }

    /// A word of the language that stands for a value, or an unknown name.
    fn word(&mut self, name: &Name) -> Typed {
        let span = name.span;
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == name.text);
        match (name.text.as_str(), self.place) {
            ("pi", _) => {
                let pi = Term::pi(span);
                return Some((pi.kind, pi.rank));
            }
            ("epsilon", Place::System | Place::Function | Place::Riemann)
                if !self.scope.expansion.inline =>
            {
                return Some((TermKind::Epsilon, Rank::Scalar));
            }
            ("epsilon", _) => return self.no_precision(span),
            ("I", Place::Formula) => return self.vector_in_formula(span),
            ("I", _) => {
                let identity = Term::identity(self.scope.components, span);
                return Some((identity.kind, identity.rank));
            }
            ("normal", place) if place == Place::Riemann || self.scope.sees_normal => {
                return Some((TermKind::Normal, Rank::Vector));
            }
            ("below" | "above", Place::Riemann) => return self.bare_side(name),
            ("t", Place::System | Place::Function | Place::Source | Place::Riemann) => {
                return Some((TermKind::Time, Rank::Scalar));
            }
            ("t", Place::Constant) => return self.not_constant(name, "the time"),
            _ => {}
        }
        match (axis, self.place) {
            (Some(_), Place::Constant) => self.not_constant(name, "a coordinate"),
            (Some(axis), Place::Source) if axis < self.scope.dimension => {
                Some((TermKind::Coordinate(axis), Rank::Scalar))
            }
            (Some(_), Place::Source) => {
                self.no_axis(&name.text, span);
                None
            }
            (Some(_), Place::System | Place::Function | Place::Riemann) => {
                self.coordinate(&name.text, span);
                None
            }
            _ if is_function(&name.text) => self.needs_arguments(name),
            _ => {
                let locals = self.locals.names();
                let diagnostic = self.scope.unknown(name, &locals);
                self.scope.report(diagnostic);
                None
            }
        }
    }

    /// Reports `epsilon` in an expression that is evaluated in double precision, whatever the precision of a run.
    fn no_precision<T>(&mut self, span: Span) -> Option<T> {
        let message =
            "`epsilon` is of the precision of a run, and this is evaluated in `f64` for any";
        let diagnostic = Diagnostic::new(Code::NotVisible, span, message);
        let help = "write a number here, or use `epsilon` in an equation, a `let` of fields or a function of cell values";
        self.scope.report(diagnostic.help(help));
        None
    }

    fn coordinate(&mut self, text: &str, span: Span) {
        let message = format!("`{text}` is a coordinate, and equations hold everywhere alike");
        let help = match self.place {
            Place::Function => format!("pass it as an argument: `source` values may use `{text}`"),
            Place::System | Place::Riemann | Place::Source | Place::Formula | Place::Constant => {
                format!(
                    "declare `source f: scalar = ..;` with `{text}` in its value, and use `f` here"
                )
            }
        };
        let diagnostic = Diagnostic::new(Code::CoordinateOutsideSource, span, message);
        self.scope.report(diagnostic.help(help));
    }

    /// Reports a `let` that depends on the place.
    fn local_let<T>(&mut self, text: &str, span: Span) -> Option<T> {
        let message = format!("`{text}` depends on the place, and equations hold everywhere alike");
        let diagnostic = Diagnostic::new(Code::CoordinateOutsideSource, span, message);
        let help = format!("declare `source f: scalar = {text};`, and use `f` here");
        self.scope.report(diagnostic.help(help));
        None
    }

    pub(super) fn before_definition<T>(&mut self, name: &Name, declared: Span) -> Option<T> {
        let message = format!("`{}` is used before its definition", name.text);
        let diagnostic = Diagnostic::new(Code::UsedBeforeDefinition, name.span, message)
            .note_at(declared, "defined here")
            .help("move the definition up");
        self.scope.report(diagnostic);
        None
    }

    fn needs_arguments<T>(&mut self, name: &Name) -> Option<T> {
        let message = format!("the function `{}` needs arguments", name.text);
        let diagnostic = Diagnostic::new(Code::WrongUse, name.span, message);
        self.scope.report(diagnostic.help(format!("write `{}(..)`", name.text)));
        None
    }

    pub(super) fn not_visible<T>(&mut self, name: &Name, meaning: Meaning) -> Option<T> {
        let (text, kind) = (&name.text, meaning.kind());
        let (message, help) = match self.place {
            Place::Function => (
                format!(
                    "`{text}` is {kind}, and a function sees its arguments, parameters and `t`"
                ),
                "pass it to the function as an argument",
            ),
            Place::Riemann => (
                format!("`{text}` is {kind}, and has a value on each side of a face"),
                "write `below.` or `above.` before it; sources are none of the states",
            ),
            Place::System | Place::Source | Place::Formula | Place::Constant => (
                format!("`{text}` is {kind}, and the value of a source is given from outside"),
                "use parameters, `x`, `y`, `z`, `t` and `let`s of such here, and put the product with a field into the equation",
            ),
        };
        let diagnostic = Diagnostic::new(Code::NotVisible, name.span, message);
        self.scope.report(diagnostic.help(help));
        None
    }

    fn binary(&mut self, operator: Binary, a: Box<Term>, b: Box<Term>, span: Span) -> Typed {
        if operator == Binary::Div && is_zero(&b) {
            return self.division_by_zero(b.span);
        }
        let rank = match operator {
            Binary::Add => ranks::sum(a.rank, b.rank, "add"),
            Binary::Sub => ranks::sum(a.rank, b.rank, "subtract"),
            Binary::Mul => ranks::product(a.rank, b.rank),
            _ => ranks::quotient(a.rank, b.rank),
        };
        let rank = self.ranked(rank, span)?;
        let kind = match operator {
            Binary::Add => TermKind::Add(a, b),
            Binary::Sub => TermKind::Sub(a, b),
            Binary::Mul => TermKind::Mul(a, b),
            _ => TermKind::Div(a, b),
        };
        Some((kind, rank))
    }

    fn component(&mut self, of: Box<Term>, name: &Name) -> Typed {
        let letters = name.text.chars();
        let components = self.scope.components;
        let axes: Option<Vec<usize>> = letters.map(|c| letter(c, components)).collect();
        let Some(axes) = axes else {
            self.no_component(&name.text, name.span);
            return None;
        };
        let rank = self.ranked(ranks::component(of.rank, axes.len()), name.span)?;
        Some((TermKind::Component(of, axes), rank))
    }

    fn derivative(&mut self, axis: &Name, times: u32, of: &Ast, span: Span) -> Typed {
        if let Some(slope) = self.argument_slope(axis, times, of, span) {
            return slope;
        }
        let found = self.axis(axis);
        let of = self.boxed(of)?;
        self.pointwise_only("d[..]", span)?;
        let (rank, axis) = (of.rank, found?);
        Some((TermKind::Derivative { axis, times, of }, rank))
    }

    fn axis(&mut self, name: &Name) -> Option<usize> {
        let mut letters = name.text.chars();
        let axis = match (letters.next(), letters.next()) {
            (Some(one), None) => letter(one, self.scope.dimension),
            _ => None,
        };
        if axis.is_none() {
            self.no_axis(&name.text, name.span);
        }
        axis
    }

    fn no_component(&mut self, text: &str, span: Span) {
        let components = self.scope.components;
        if components == self.scope.dimension {
            return self.no_axis(text, span);
        }
        let message = format!("no component `{text}` in a system of `vector<{components}>`");
        let diagnostic = Diagnostic::new(Code::NoSuchComponent, span, message);
        let help = "the components are x, y and z, and those of a tensor pairs of them";
        self.scope.report(diagnostic.help(help));
    }

    fn no_axis(&mut self, text: &str, span: Span) {
        let dimension = self.scope.dimension;
        let axes = ["x", "x and y", "x, y and z"].get(dimension.wrapping_sub(1));
        let message = format!("no component or axis `{text}` in {dimension}d");
        let diagnostic = Diagnostic::new(Code::NoSuchComponent, span, message)
            .help_if(axes.map(|axes| format!("the axes are {axes}")));
        self.scope.report(diagnostic);
    }
}

/// The index of an axis with this letter.
fn letter(letter: char, axes: usize) -> Option<usize> {
    "xyz".chars().take(axes).position(|axis| axis == letter)
}

/// Is it a function of the language?
fn is_function(name: &str) -> bool {
    Function::find(name).is_some() || super::calls::WRITTEN_OUT.contains(&name)
}

/// Is a term the literal zero, with or without signs?
pub(super) fn is_zero(term: &Term) -> bool {
    let mut term = term;
    while let TermKind::Neg(inner) = &term.kind {
        term = inner;
    }
    matches!(&term.kind, TermKind::Number(value) if value.is_zero())
}
