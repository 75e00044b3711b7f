//! Defaults and bounds of parameters: expressions of numbers, evaluated when they are read.

use super::scope::{Meaning, Scope};
use super::terms::{Place, Terms};
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Span};
use crate::expr::Rational;
use crate::model::parse::ast::{Ast, AstKind, Name, ParamItem};
use crate::model::parse::number;
use crate::model::{Comparison, Param, Term, TermKind, formula, to_f64};

/// The way out of an error in a constant.
const WAY_OUT: &str = "use numbers, `pi` and functions of them";

impl Scope<'_> {
    /// A parameter; its default is held against its bounds.
    pub(super) fn param(&mut self, item: &ParamItem) -> Param {
        let default = item.default.as_ref();
        let value = default.and_then(|ast| self.default(ast));
        let mut bounds = Vec::new();
        for (comparison, ast, span) in &item.bounds {
            let Some(bound) = self.constant(ast) else {
                continue;
            };
            bounds.push((*comparison, bound));
            if let (Some(value), Some(ast)) = (&value, default) {
                let bound = to_f64(&bound);
                self.within(*value, ast.span, *comparison, bound, *span, &item.name);
            }
        }
        Param {
            name: item.name.text.clone(),
            default: value,
            bounds,
            unit: item.unit.clone(),
            span: item.name.span,
        }
    }

    /// Reports a default that breaks a bound.
    fn within(
        &mut self,
        value: f64,
        at: Span,
        comparison: Comparison,
        bound: f64,
        bound_at: Span,
        name: &Name,
    ) {
        if comparison.holds(&value, &bound) {
            return;
        }
        let message = format!("the default of `{}` breaks its bound", name.text);
        let diagnostic = Diagnostic::new(Code::OutOfBounds, at, message)
            .note_at(bound_at, "the bound is here")
            .help("change one of the two");
        self.report(diagnostic);
    }

    /// The default of a parameter: the number nearest to a literal, else the value of an expression in `f64`. `None`
    /// after an error.
    fn default(&mut self, ast: &Ast) -> Option<f64> {
        nearest(ast).or_else(|| self.evaluated(ast))
    }

    /// The value of an expression of numbers; `None` after an error. A literal is exact. Anything
    /// else is evaluated in `f64`, and is the shortest decimal that reads back as that number, so
    /// that the declaration can be printed.
    pub(super) fn constant(&mut self, ast: &Ast) -> Option<Rational> {
        if let Some(value) = literal(ast) {
            return Some(value);
        }
        let value = self.evaluated(ast)?;
        let exact = number::nearest_decimal(value);
        if exact.is_none() {
            let message = format!("the value {value:e} cannot be held as an exact fraction");
            let diagnostic = Diagnostic::new(Code::BadNumber, ast.span, message);
            self.report(diagnostic.help("choose other units"));
        }
        exact
    }

    /// The finite value of an expression of numbers in `f64`; `None` after an error.
    fn evaluated(&mut self, ast: &Ast) -> Option<f64> {
        // Expansions of functions are not part of the model.
        let before = std::mem::take(&mut self.expansion);
        self.expansion.inline = true;
        let term = self.term(ast, 0, Place::Constant);
        self.expansion = before;
        let term = term?;
        if term.rank != Rank::Scalar {
            let message = format!("a parameter is a number, and this is a {}", term.rank.name());
            self.report(Diagnostic::new(Code::RankMismatch, ast.span, message));
            return None;
        }
        let value = formula::value(&term)?;
        if !value.is_finite() {
            self.report(not_finite(&term));
            return None;
        }
        Some(value)
    }
}

/// A number as it was written, with a sign or not.
fn literal(ast: &Ast) -> Option<Rational> {
    match &ast.kind {
        AstKind::Number(value) => Some(*value),
        AstKind::Neg(inner) => literal(inner).map(|value| -value),
        _ => None,
    }
}

/// The number nearest to a literal, with a sign or not; of any finite size.
fn nearest(ast: &Ast) -> Option<f64> {
    match &ast.kind {
        AstKind::Number(value) => Some(to_f64(value)),
        AstKind::Real(value) => Some(*value),
        AstKind::Neg(inner) => nearest(inner).map(|value| -value),
        _ => None,
    }
}

/// The error for a value that is not finite, at the innermost operation that gives one.
fn not_finite(term: &Term) -> Diagnostic {
    let value = |term: &Term| formula::value(term).filter(|_| term.rank == Rank::Scalar);
    let is_bad = |part: &&Term| value(part).is_some_and(|v| !v.is_finite());
    let mut at = term;
    while let Some(part) = at.parts().into_iter().find(is_bad) {
        at = part;
    }
    match &at.kind {
        TermKind::Div(_, by) if value(by) == Some(0.0) => {
            Diagnostic::new(Code::DivisionByZero, by.span, "the divisor is zero")
                .help("divide by another number")
        }
        TermKind::Pow(base, _) if value(base) == Some(0.0) => {
            Diagnostic::new(Code::DivisionByZero, base.span, "the divisor is zero")
                .help("zero has no negative power")
        }
        _ => {
            let found = value(at).unwrap_or(f64::NAN);
            let message = format!("the value is {found}, and a parameter is a finite number");
            Diagnostic::new(Code::BadNumber, at.span, message)
                .help("the largest number is about 1.8e308, and roots and logarithms are of positive numbers")
        }
    }
}

impl Terms<'_, '_> {
    /// Reports a name that has no value when the declaration is read.
    pub(super) fn not_constant<T>(&mut self, name: &Name, kind: &str) -> Option<T> {
        let message = format!(
            "`{}` is {kind}, and defaults and bounds of parameters are constants",
            name.text
        );
        let diagnostic = Diagnostic::new(Code::NotVisible, name.span, message);
        self.scope.report(diagnostic.help(WAY_OUT));
        None
    }

    /// Reports a function of the user's in a constant.
    pub(super) fn no_user_function(&mut self, name: &Name) -> Option<()> {
        let declared = self.scope.names.get(name.text.as_str()).copied();
        match (self.place, declared) {
            (Place::Constant, Some((meaning @ Meaning::Function(_), _))) => {
                self.not_constant(name, meaning.kind())
            }
            _ => Some(()),
        }
    }
}
