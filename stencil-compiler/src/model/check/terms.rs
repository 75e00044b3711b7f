//! Expressions: names to indices, and ranks from the leaves up.

use num_traits::Zero;

use super::ranks::{self, Misfit};
use super::resolve::{Meaning, Scope};
use crate::diag::{Code, Diagnostic, Span, nearest};
use crate::model::parse::ast::{Ast, AstKind, Binary, Name};
use crate::model::{Rank, Term, TermKind};

/// Resolves the expressions of one item.
pub(super) struct Terms<'s, 'a> {
    pub(super) scope: &'s mut Scope<'a>,
    /// The position of the item, which sees the `let`s above it.
    pub(super) at: usize,
}

impl Terms<'_, '_> {
    /// The typed expression; `None` after an error in it. Siblings of an error are still checked.
    /// Each form has its own function, which keeps the frames of the recursion small.
    pub(super) fn term(&mut self, ast: &Ast) -> Option<Term> {
        let span = ast.span;
        let (kind, rank) = match &ast.kind {
            AstKind::Number(value) => (TermKind::Number(*value), Rank::Scalar),
            AstKind::Name(text) => self.name(text, span)?,
            AstKind::Neg(a) => {
                let a = Box::new(self.term(a)?);
                let rank = a.rank;
                (TermKind::Neg(a), rank)
            }
            AstKind::Binary(operator, a, b) => {
                let (a, b) = (self.boxed(a), self.boxed(b));
                self.binary(*operator, a?, b?, span)?
            }
            AstKind::Pow(base, exponent) => {
                let base = self.boxed(base)?;
                self.power(base, *exponent, span)?
            }
            AstKind::Stack(entries) => self.stack(entries, span)?,
            AstKind::Component(of, name) => {
                let of = self.boxed(of)?;
                self.component(of, name)?
            }
            AstKind::Derivative(axis, times, of) => {
                let found = self.axis(axis);
                let of = self.boxed(of)?;
                let (rank, axis, times) = (of.rank, found?, *times);
                (TermKind::Derivative { axis, times, of }, rank)
            }
            AstKind::Call(name, arguments) => self.call(name, arguments, span)?,
            AstKind::Wrong => return None,
        };
        Some(Term { kind, rank, span })
    }

    fn boxed(&mut self, ast: &Ast) -> Option<Box<Term>> {
        self.term(ast).map(Box::new)
    }

    fn power(&mut self, base: Box<Term>, exponent: i32, span: Span) -> Option<(TermKind, Rank)> {
        if exponent < 0 && is_zero(&base) {
            return self.division_by_zero(base.span);
        }
        let rank = self.ranked(ranks::power(base.rank), span)?;
        Some((TermKind::Pow(base, exponent), rank))
    }

    fn stack(&mut self, entries: &[Ast], span: Span) -> Option<(TermKind, Rank)> {
        let entries = self.terms(entries)?;
        let found: Vec<Rank> = entries.iter().map(|e| e.rank).collect();
        let rank = self.ranked(ranks::stack(&found, self.scope.dimension), span)?;
        Some((TermKind::Stack(entries), rank))
    }

    /// All of them, all errors reported.
    fn terms(&mut self, asts: &[Ast]) -> Option<Vec<Term>> {
        let found: Vec<Option<Term>> = asts.iter().map(|ast| self.term(ast)).collect();
        found.into_iter().collect()
    }

    fn ranked(&mut self, outcome: Result<Rank, Misfit>, span: Span) -> Option<Rank> {
        match outcome {
            Ok(rank) => Some(rank),
            Err(misfit) => {
                let diagnostic = Diagnostic::new(misfit.code, span, misfit.message);
                self.scope.report(diagnostic.help_if(misfit.help));
                None
            }
        }
    }

    fn division_by_zero<T>(&mut self, span: Span) -> Option<T> {
        let message = "division by a literal zero";
        self.scope
            .report(Diagnostic::new(Code::DivisionByZero, span, message));
        None
    }

    fn name(&mut self, text: &str, span: Span) -> Option<(TermKind, Rank)> {
        let name = Name {
            text: text.to_string(),
            span,
        };
        let Some((meaning, declared)) = self.scope.names.get(name.text.as_str()).copied() else {
            let diagnostic = match ranks::function(&name.text) {
                Some(_) => {
                    let message = format!("the function `{}` needs arguments", name.text);
                    Diagnostic::new(Code::WrongUse, name.span, message)
                }
                None => self.scope.unknown(&name),
            };
            self.scope.report(diagnostic);
            return None;
        };
        match meaning {
            Meaning::Field(index, rank) => Some((TermKind::Field(index), rank?)),
            Meaning::Param(index) => Some((TermKind::Param(index), Rank::Scalar)),
            Meaning::Let(index) if self.scope.let_at(index) >= self.at => {
                let message = format!("`{}` is used before its definition", name.text);
                let diagnostic = Diagnostic::new(Code::UsedBeforeDefinition, name.span, message)
                    .note_at(declared, "defined here");
                self.scope.report(diagnostic);
                None
            }
            Meaning::Let(index) => {
                let rank = self.scope.let_ranks.get(index).copied().flatten()?;
                Some((TermKind::Let(index), rank))
            }
        }
    }

    fn binary(
        &mut self,
        operator: Binary,
        a: Box<Term>,
        b: Box<Term>,
        span: Span,
    ) -> Option<(TermKind, Rank)> {
        if operator == Binary::Div && is_zero(&b) {
            return self.division_by_zero(b.span);
        }
        let rank = match operator {
            Binary::Add => ranks::sum(a.rank, b.rank, "add"),
            Binary::Sub => ranks::sum(a.rank, b.rank, "subtract"),
            Binary::Mul => ranks::product(a.rank, b.rank),
            Binary::Div => ranks::quotient(a.rank, b.rank),
        };
        let rank = self.ranked(rank, span)?;
        let kind = match operator {
            Binary::Add => TermKind::Add(a, b),
            Binary::Sub => TermKind::Sub(a, b),
            Binary::Mul => TermKind::Mul(a, b),
            Binary::Div => TermKind::Div(a, b),
        };
        Some((kind, rank))
    }

    fn component(&mut self, of: Box<Term>, name: &Name) -> Option<(TermKind, Rank)> {
        let letters = name.text.chars();
        let axes: Option<Vec<usize>> = letters.map(|c| self.letter(c)).collect();
        let Some(axes) = axes else {
            self.no_axis(&name.text, name.span);
            return None;
        };
        let rank = self.ranked(ranks::component(of.rank, axes.len()), name.span)?;
        Some((TermKind::Component(of, axes), rank))
    }

    fn axis(&mut self, name: &Name) -> Option<usize> {
        let mut letters = name.text.chars();
        let axis = match (letters.next(), letters.next()) {
            (Some(letter), None) => self.letter(letter),
            _ => None,
        };
        if axis.is_none() {
            self.no_axis(&name.text, name.span);
        }
        axis
    }

    fn letter(&self, letter: char) -> Option<usize> {
        let axes = "xyz".chars().take(self.scope.dimension);
        axes.into_iter().position(|axis| axis == letter)
    }

    fn no_axis(&mut self, text: &str, span: Span) {
        let dimension = self.scope.dimension;
        let axes = ["x", "x and y", "x, y and z"].get(dimension.wrapping_sub(1));
        let message = format!("no component or axis `{text}` in {dimension}d");
        let diagnostic = Diagnostic::new(Code::NoSuchComponent, span, message)
            .help_if(axes.map(|axes| format!("the axes are {axes}")));
        self.scope.report(diagnostic);
    }

    fn call(&mut self, name: &Name, arguments: &[Ast], span: Span) -> Option<(TermKind, Rank)> {
        let terms = self.terms(arguments);
        let Some(function) = ranks::function(&name.text) else {
            let diagnostic = self.not_a_function(name);
            self.scope.report(diagnostic);
            return None;
        };
        let terms = terms?;
        let found: Vec<Rank> = terms.iter().map(|t| t.rank).collect();
        let rank = self.ranked(ranks::call(function, &found, self.scope.dimension), span)?;
        Some((TermKind::Call(function, terms), rank))
    }

    fn not_a_function(&self, name: &Name) -> Diagnostic {
        let text = &name.text;
        if self.scope.names.contains_key(text.as_str()) {
            let message = format!("`{text}` is not a function");
            return Diagnostic::new(Code::WrongUse, name.span, message)
                .help(format!("write `{text} * (..)` for a product"));
        }
        match text.as_str() {
            "ddt" => {
                let message = "`ddt(..)` stands only on the left of an equation";
                Diagnostic::new(Code::WrongUse, name.span, message)
                    .help("write the right-hand side of that field instead")
            }
            "d" | "d2" => {
                let message = format!("`{text}` needs an axis");
                Diagnostic::new(Code::WrongUse, name.span, message)
                    .help(format!("write `{text}[x](..)`"))
            }
            _ => {
                let all: Vec<&str> = ranks::function_names().collect();
                let near = nearest(text, all.iter().copied());
                Diagnostic::new(
                    Code::UnknownName,
                    name.span,
                    format!("no function `{text}`"),
                )
                .note(format!("functions: {}, d[x], d2[x]", all.join(", ")))
                .help_if(near.map(|near| format!("did you mean `{near}`?")))
            }
        }
    }
}

/// Whether a term is the literal zero, with or without signs.
pub(super) fn is_zero(term: &Term) -> bool {
    let mut term = term;
    while let TermKind::Neg(inner) = &term.kind {
        term = inner;
    }
    matches!(&term.kind, TermKind::Number(value) if value.is_zero())
}
