//! `if` expressions. The model compares two scalars; `&&`, `||` and `!` become scalars that are
//! one or zero, so that no branch and no operand is written twice.

use super::ranks;
use super::terms::Terms;
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{Ast, AstKind, Binary};
use crate::model::{Relation, Term, TermKind};

/// A condition with its operands resolved.
enum Condition {
    /// Does the relation hold (or, if `negated`, not hold)?
    Compare {
        relation: Relation,
        left: Term,
        right: Term,
        negated: bool,
    },
    Both(Box<[Condition; 2]>),
    Either(Box<[Condition; 2]>),
    Not(Box<Condition>),
}

impl Terms<'_, '_> {
    /// `if condition { then } else { otherwise }`
    pub(super) fn choice(&mut self, parts: &[Ast; 3], span: Span) -> Option<Term> {
        let [condition, then, otherwise] = parts;
        let condition = self.condition(condition);
        let (then, otherwise) = (self.term(then), self.term(otherwise));
        let (condition, then, otherwise) = (condition?, then?, otherwise?);
        let rank = ranks::sum(then.rank, otherwise.rank, "choose between");
        self.ranked(rank, span)?;
        Some(condition.choose(then, otherwise, span))
    }

    /// One if a condition holds, else zero.
    pub(super) fn truth(&mut self, ast: &Ast) -> Option<Term> {
        Some(self.condition(ast)?.truth(ast.span))
    }

    fn condition(&mut self, ast: &Ast) -> Option<Condition> {
        match &ast.kind {
            AstKind::Not(a) => Some(Condition::Not(Box::new(self.condition(a)?))),
            AstKind::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
                let (a, b) = (self.condition(a), self.condition(b));
                let parts = Box::new([a?, b?]);
                Some(match operator {
                    Binary::And => Condition::Both(parts),
                    _ => Condition::Either(parts),
                })
            }
            AstKind::Binary(operator, a, b) if operator.is_condition() => {
                self.comparison(*operator, a, b)
            }
            AstKind::Wrong => None,
            _ => {
                let message = "expected a comparison, found a number";
                let diagnostic = Diagnostic::new(Code::NotACondition, ast.span, message)
                    .help("write `a > 0` or `a != 0`, and join comparisons with `&&` and `||`");
                self.scope.report(diagnostic);
                None
            }
        }
    }

    fn comparison(&mut self, operator: Binary, a: &Ast, b: &Ast) -> Option<Condition> {
        let (left, right) = (self.operand(a), self.operand(b));
        let (left, right) = (left?, right?);
        let (relation, exchanged, negated) = match operator {
            Binary::Less => (Relation::Less, false, false),
            Binary::LessEqual => (Relation::LessEqual, false, false),
            Binary::Greater => (Relation::Less, true, false),
            Binary::GreaterEqual => (Relation::LessEqual, true, false),
            Binary::NotEqual => (Relation::Equal, false, true),
            _ => (Relation::Equal, false, false),
        };
        let (left, right) = match exchanged {
            true => (right, left),
            false => (left, right),
        };
        Some(Condition::Compare { relation, left, right, negated })
    }

    /// One side of a comparison: a scalar.
    fn operand(&mut self, ast: &Ast) -> Option<Term> {
        let term = self.term(ast)?;
        if term.rank == Rank::Scalar {
            return Some(term);
        }
        let message = format!("cannot compare a {}", term.rank.name());
        let diagnostic = Diagnostic::new(Code::RankMismatch, ast.span, message)
            .help("compare `norm(u)` or a component");
        self.scope.report(diagnostic);
        None
    }

    /// Reports a condition where a number should stand.
    pub(super) fn no_number<T>(&mut self, span: Span) -> Option<T> {
        let message = "a condition is no number";
        let diagnostic = Diagnostic::new(Code::NotACondition, span, message)
            .help("write `if a > b { 1 } else { 0 }`; two comparisons are joined by `&&`");
        self.scope.report(diagnostic);
        None
    }
}

impl Condition {
    /// `then` if it holds, else `otherwise`.
    fn choose(self, then: Term, otherwise: Term, span: Span) -> Term {
        let rank = then.rank;
        let (relation, parts) = match self {
            Condition::Compare { relation, left, right, negated: false } => {
                (relation, [left, right, then, otherwise])
            }
            Condition::Compare { relation, left, right, negated: true } => {
                (relation, [left, right, otherwise, then])
            }
            Condition::Not(inner) => return inner.choose(otherwise, then, span),
            Condition::Both(_) | Condition::Either(_) => {
                let zero = Term::integer(0, span);
                (Relation::Less, [zero, self.truth(span), then, otherwise])
            }
        };
        Term::of(TermKind::If(relation, Box::new(parts)), rank, span)
    }

    /// One if it holds, else zero.
    fn truth(self, span: Span) -> Term {
        let number = |value| Term::integer(value, span);
        match self {
            Condition::Both(parts) => {
                let [a, b] = *parts;
                a.choose(b.truth(span), number(0), span)
            }
            Condition::Either(parts) => {
                let [a, b] = *parts;
                a.choose(number(1), b.truth(span), span)
            }
            Condition::Compare { .. } | Condition::Not(_) => {
                self.choose(number(1), number(0), span)
            }
        }
    }
}
