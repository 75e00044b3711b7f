//! `d[q](f(q, n))`: the slope of a user's function by one of its arguments, written out by the rules of differentiation where the
//! function is called. It is a term as any other, so every engine evaluates it alike.

use std::collections::BTreeMap;

use super::scope::{Meaning, joined};
use super::terms::{Terms, Typed};
use crate::catalogue::{Function, Rank};
use crate::diag::{Code, Diagnostic, Span};
use crate::expr::change::{Values, change};
use crate::expr::{Op, Rational};
use crate::model::parse::ast::{Ast, AstKind, Name};
use crate::model::{Relation, Term, TermKind};

impl Terms<'_, '_> {
    /// The slope of a call by the argument of this name, so many times; `None` if it is no call of a function with such an argument, and
    /// `Some(None)` after an error.
    pub(super) fn argument_slope(
        &mut self,
        by: &Name,
        times: u32,
        of: &Ast,
        span: Span,
    ) -> Option<Typed> {
        let (call, arguments) = self.called(by, of)?;
        if ["x", "y", "z"].contains(&by.text.as_str()) {
            return Some(self.ambiguous(&call.name.text, by, span));
        }
        Some(self.slope_of_call(call, by, times, arguments, span))
    }

    /// The call of a function that has an argument of this name, and its operands.
    fn called<'n>(&self, by: &Name, of: &'n Ast) -> Option<(Called<'n>, &'n [Ast])> {
        let AstKind::Call(name, arguments) = &of.kind else {
            return None;
        };
        let (meaning, declared) = self.scope.names.get(name.text.as_str()).copied()?;
        let Meaning::Function(index) = meaning else {
            return None;
        };
        let function = self.scope.functions.get(index)?.item.meaning.as_ref()?;
        let at = function.arguments.iter().position(|(own, _)| own.text == by.text)?;
        let is_scalar = function.arguments[at].1 == Rank::Scalar;
        Some((Called { index, name, declared, at, is_scalar }, arguments))
    }

    /// Reports a slope by an argument that is named as an axis.
    fn ambiguous(&mut self, function: &str, by: &Name, span: Span) -> Typed {
        let by = &by.text;
        let message = format!(
            "`d[{by}]({function}(..))` may be the slope of `{function}` by its argument `{by}`, or the derivative along the axis {by}"
        );
        let help = format!(
            "for the slope give the argument another name; for the derivative name the value, `let value = {function}(..);`, and \
             write `d[{by}](value)`"
        );
        self.scope.report(Diagnostic::new(Code::NoSlopeOfCall, span, message).help(help));
        None
    }

    fn slope_of_call(
        &mut self,
        call: Called<'_>,
        by: &Name,
        times: u32,
        arguments: &[Ast],
        span: Span,
    ) -> Typed {
        self.no_user_function(call.name)?;
        if !call.is_scalar {
            return self.no_slope(by.span, "the slope by a vector or a tensor");
        }
        if self.scope.expansion.inline {
            return self.no_slope(span, "the slope of a function outside of equations");
        }
        let mut terms = self.terms(arguments)?;
        let base = self.scope.call_name(&format!("{}_by", call.name.text), span)?;
        let own = terms.get(call.at).cloned();
        // A call with too few arguments is reported as such.
        let operand = match own {
            None => None,
            Some(value) => Some(self.scope.new_let(&joined(&base, &by.text), value)?),
        };
        if let (Some(operand), Some(term)) = (&operand, terms.get_mut(call.at)) {
            *term = operand.clone();
        }
        let mut value = self.call_user(call.index, call.name, call.declared, Some(terms), span)?;
        let TermKind::Let(operand) = operand?.kind else {
            return None;
        };
        let rank = value.rank;
        for _ in 0..times {
            let known = [(operand, Term::integer(1, span))].into();
            let mut slopes = Slopes { terms: self, span, base: &base, operand, known };
            value = slopes.of(&value)?;
        }
        let components = self.scope.components;
        let value = match is_number(&value, 0) {
            true => Term::zero(rank, components, span),
            false => value,
        };
        let value = self.scope.shared(&joined(&base, "slope"), value)?;
        Some((value.kind, value.rank))
    }

    fn no_slope<T>(&mut self, span: Span, what: &str) -> Option<T> {
        let message = format!("{what} is not written out");
        let diagnostic = Diagnostic::new(Code::NoSlopeOfCall, span, message);
        self.scope.report(diagnostic.help("write a function of its own for the slope"));
        None
    }
}

/// A call that is differentiated.
struct Called<'n> {
    index: usize,
    name: &'n Name,
    declared: Span,
    /// The argument by which it is.
    at: usize,
    is_scalar: bool,
}

/// The slopes of terms by one `let`. A zero is a scalar, whatever the rank of the term.
struct Slopes<'t, 's, 'a> {
    terms: &'t mut Terms<'s, 'a>,
    span: Span,
    /// The first part of the names of new `let`s.
    base: &'t str,
    /// The `let` by which they are.
    operand: usize,
    /// Of `let`s.
    known: BTreeMap<usize, Term>,
}

impl Slopes<'_, '_, '_> {
    /// The slope of a term.
    fn of(&mut self, term: &Term) -> Option<Term> {
        match &term.kind {
            TermKind::Let(at) => self.of_let(*at),
            TermKind::Neg(a) => {
                let slope = self.of(a)?;
                self.negated(&slope).ok()
            }
            TermKind::Add(a, b) => self.of_op(Op::Add, &[a, b], term),
            TermKind::Sub(a, b) => self.of_op(Op::Sub, &[a, b], term),
            TermKind::Mul(a, b) => self.of_op(Op::Mul, &[a, b], term),
            TermKind::Div(a, b) => self.of_op(Op::Div, &[a, b], term),
            TermKind::Pow(a, n) => self.of_power(a, *n),
            TermKind::If(relation, parts) => {
                let [a, b, c, d] = &**parts;
                self.of_op(relation.op(), &[a, b, c, d], term)
            }
            TermKind::Stack(entries) => {
                let slopes: Option<Vec<Term>> =
                    entries.iter().map(|entry| self.of(entry)).collect();
                let slopes = slopes?;
                if slopes.iter().all(|slope| is_number(slope, 0)) {
                    return Some(self.number(0, 1));
                }
                let filled = slopes.into_iter().zip(entries).map(|(s, e)| self.filled(s, e.rank));
                let kind = TermKind::Stack(filled.collect());
                Some(Term::of(kind, term.rank, self.span))
            }
            TermKind::Component(of, axes) => {
                let slope = self.of(of)?;
                if is_number(&slope, 0) {
                    return Some(slope);
                }
                let kind = TermKind::Component(Box::new(slope), axes.clone());
                Some(Term::of(kind, term.rank, self.span))
            }
            TermKind::Call(Function::Scalar(op), parts) => {
                self.of_op(*op, &parts.iter().collect::<Vec<_>>(), term)
            }
            TermKind::Call(function, parts) => self.of_row(*function, parts, term),
            // A function sees no fields, and its arguments are `let`s.
            TermKind::Number(_)
            | TermKind::Field(_)
            | TermKind::Param(_)
            | TermKind::Source(_)
            | TermKind::Time
            | TermKind::Epsilon
            | TermKind::Coordinate(_)
            | TermKind::Side(..)
            | TermKind::Normal
            | TermKind::Rise(_)
            | TermKind::Derivative { .. } => Some(self.number(0, 1)),
        }
    }

    fn of_let(&mut self, at: usize) -> Option<Term> {
        if let Some(known) = self.known.get(&at) {
            return Some(known.clone());
        }
        // A `let` is made of those before it.
        if at < self.operand {
            return Some(self.number(0, 1));
        }
        let item = self.terms.scope.expansion.lets.get(at)?;
        let (value, is_loop) = (item.value.clone(), item.within.is_some());
        let name = joined(self.base, &item.name);
        let slope = self.of(&value)?;
        if is_loop && !is_number(&slope, 0) {
            let what = "the slope of a loop that ends by a test";
            return self.terms.no_slope(value.span, what);
        }
        let slope = self.terms.scope.shared(&name, slope)?;
        self.known.insert(at, slope.clone());
        Some(slope)
    }

    fn of_op(&mut self, op: Op, parts: &[&Term], value: &Term) -> Option<Term> {
        let slopes: Option<Vec<Term>> = parts.iter().map(|part| self.of(part)).collect();
        let slopes = slopes?;
        if slopes.iter().all(|slope| is_number(slope, 0)) {
            return Some(self.number(0, 1));
        }
        let parts: Vec<Term> = parts.iter().map(|part| (*part).clone()).collect();
        change(self, op, &parts, &slopes, value).ok()
    }

    /// `n a^(n-1)` times the slope of `a`.
    fn of_power(&mut self, a: &Term, n: i32) -> Option<Term> {
        let slope = self.of(a)?;
        if is_number(&slope, 0) || n == 0 {
            return Some(self.number(0, 1));
        }
        let lower = match n {
            1 => self.number(1, 1),
            2 => a.clone(),
            _ => Term::scalar(TermKind::Pow(Box::new(a.clone()), n - 1), self.span),
        };
        let lower = self.scaled(&lower, i128::from(n), 1).ok()?;
        self.times(&lower, &slope).ok()
    }

    /// The slope of a function of vectors and tensors.
    fn of_row(&mut self, function: Function, parts: &[Term], value: &Term) -> Option<Term> {
        let slopes: Option<Vec<Term>> = parts.iter().map(|part| self.of(part)).collect();
        let slopes = slopes?;
        let mut sum = self.number(0, 1);
        for (at, slope) in slopes.into_iter().enumerate() {
            if is_number(&slope, 0) {
                continue;
            }
            let part = if function.is_multilinear() {
                let mut changed = parts.to_vec();
                changed[at] = slope;
                Term::of(TermKind::Call(function, changed), value.rank, self.span)
            } else if function.is_size() && parts[at].rank == Rank::Vector {
                let along = TermKind::Call(Function::DOT, vec![parts[at].clone(), slope]);
                self.over(&Term::scalar(along, self.span), value).ok()?
            } else {
                let what = format!("the slope of `{}`", function.name());
                return self.terms.no_slope(value.span, &what);
            };
            sum = self.plus(&sum, &part).ok()?;
        }
        Some(sum)
    }

    /// A value of a rank, if it stands for zero.
    fn filled(&self, value: Term, rank: Rank) -> Term {
        match is_number(&value, 0) {
            true => Term::zero(rank, self.terms.scope.components, self.span),
            false => value,
        }
    }

    fn call(&self, op: Op, parts: &[&Term]) -> Term {
        let parts = parts.iter().map(|part| (*part).clone()).collect();
        Term::scalar(TermKind::Call(Function::Scalar(op), parts), self.span)
    }
}

/// There is none after an error, which is reported.
struct Reported;

impl Values for Slopes<'_, '_, '_> {
    type Value = Term;
    type Error = Reported;

    fn number(&self, above: i128, below: i128) -> Term {
        Term::scalar(TermKind::Number(Rational::new(above, below)), self.span)
    }

    fn is_zero(&self, value: &Term) -> bool {
        is_number(value, 0)
    }

    fn negated(&mut self, value: &Term) -> Result<Term, Reported> {
        Ok(match &value.kind {
            _ if is_number(value, 0) => value.clone(),
            TermKind::Neg(inner) => (**inner).clone(),
            _ => Term::of(TermKind::Neg(Box::new(value.clone())), value.rank, self.span),
        })
    }

    fn plus(&mut self, a: &Term, b: &Term) -> Result<Term, Reported> {
        Ok(match (is_number(a, 0), is_number(b, 0)) {
            (true, _) => b.clone(),
            (_, true) => a.clone(),
            _ => {
                let (rank, a) = (a.rank, Box::new(a.clone()));
                let kind = match &b.kind {
                    TermKind::Neg(b) => TermKind::Sub(a, b.clone()),
                    _ => TermKind::Add(a, Box::new(b.clone())),
                };
                Term::of(kind, rank, self.span)
            }
        })
    }

    fn onto(&mut self, sum: &Term, part: &Term) -> Result<Term, Reported> {
        self.plus(sum, part)
    }

    fn times(&mut self, a: &Term, b: &Term) -> Result<Term, Reported> {
        if is_number(a, 0) || is_number(b, 0) {
            return Ok(self.number(0, 1));
        }
        if is_number(a, 1) {
            return Ok(b.clone());
        }
        if is_number(b, 1) {
            return Ok(a.clone());
        }
        let kind = TermKind::Mul(Box::new(a.clone()), Box::new(b.clone()));
        Ok(Term::of(kind, a.rank.max(b.rank), self.span))
    }

    fn scaled(&mut self, value: &Term, above: i128, below: i128) -> Result<Term, Reported> {
        let by = self.number(above, below);
        self.times(&by, value)
    }

    fn op(&mut self, op: Op, parts: &[&Term]) -> Result<Term, Reported> {
        let relation = match op {
            Op::Div if is_number(parts[0], 0) || is_number(parts[1], 1) => {
                return Ok(parts[0].clone());
            }
            Op::Div => {
                let kind = TermKind::Div(Box::new(parts[0].clone()), Box::new(parts[1].clone()));
                return Ok(Term::of(kind, parts[0].rank, self.span));
            }
            Op::Lt => Relation::Less,
            Op::Le => Relation::LessEqual,
            Op::Eq => Relation::Equal,
            _ => return Ok(self.call(op, parts)),
        };
        let rank = parts[2].rank.max(parts[3].rank);
        let branches = [2, 3].map(|at| self.filled(parts[at].clone(), rank));
        let [then, otherwise] = branches;
        let parts = [parts[0].clone(), parts[1].clone(), then, otherwise];
        Ok(Term::of(TermKind::If(relation, Box::new(parts)), rank, self.span))
    }
}

/// Is a term this literal?
fn is_number(term: &Term, value: i128) -> bool {
    matches!(&term.kind, TermKind::Number(own) if *own == Rational::from_integer(value))
}
