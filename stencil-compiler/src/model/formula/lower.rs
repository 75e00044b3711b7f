//! Terms to expressions of scalars, component by component.

use std::collections::BTreeMap;

use crate::catalogue::Function;
use crate::catalogue::functions::{Arguments, Form};
use crate::expr::{Builder, Expr, Op, Ref};
use crate::model::parse::number;
use crate::model::{Relation, Term, TermKind};

/// The components of a pointwise term, row by row; empty if it is not pointwise. Atoms are the parameters, the three
/// coordinates after `params` of them, and the time.
pub(super) fn lower(term: &Term, params: usize) -> Vec<Expr<usize>> {
    let mut lowering = Lowering { builder: Builder::new(), literals: BTreeMap::new(), params };
    let components = lowering.term(term).unwrap_or_default();
    let builder = &lowering.builder;
    components.into_iter().map(|c| builder.finish(c)).collect()
}

struct Lowering {
    builder: Builder<usize>,
    /// Values that are known now.
    literals: BTreeMap<Ref, f64>,
    params: usize,
}

/// The components of a scalar, vector or tensor; `None` where a term is not pointwise.
type Components = Option<Vec<Ref>>;

impl Lowering {
    fn lit(&mut self, value: f64) -> Ref {
        let at = self.builder.lit(value);
        self.literals.insert(at, value);
        at
    }

    /// An operation; on numbers only it is done now, with the same result.
    fn op(&mut self, op: Op, args: &[Ref]) -> Ref {
        let known: Option<Vec<f64>> = args.iter().map(|a| self.literals.get(a).copied()).collect();
        match known {
            Some(values) => self.lit(op.eval(&values)),
            None => self.builder.op(op, args),
        }
    }

    fn term(&mut self, term: &Term) -> Components {
        match &term.kind {
            TermKind::Number(value) => Some(vec![self.lit(number::nearest(value))]),
            TermKind::Param(i) => Some(vec![self.builder.atom(*i)]),
            TermKind::Coordinate(axis) => Some(vec![self.builder.atom(self.params + axis)]),
            TermKind::Time => Some(vec![self.builder.atom(self.params + 3)]),
            TermKind::Neg(a) => {
                let a = self.term(a)?;
                Some(a.into_iter().map(|a| self.op(Op::Neg, &[a])).collect())
            }
            TermKind::Add(a, b) => self.both(Op::Add, a, b),
            TermKind::Sub(a, b) => self.both(Op::Sub, a, b),
            TermKind::Mul(a, b) => self.both(Op::Mul, a, b),
            TermKind::Div(a, b) => self.both(Op::Div, a, b),
            TermKind::Pow(a, n) => {
                let a = self.scalar(a)?;
                Some(vec![self.power(a, *n)])
            }
            TermKind::Stack(entries) => {
                let parts: Option<Vec<Vec<Ref>>> = entries.iter().map(|e| self.term(e)).collect();
                Some(parts?.concat())
            }
            TermKind::Component(of, axes) => {
                let all = self.term(of)?;
                let n = extent(&all, of.rank.indices());
                let at = axes.iter().fold(0, |at, axis| at * n + axis);
                Some(vec![*all.get(at)?])
            }
            TermKind::If(relation, parts) => self.choice(*relation, parts),
            TermKind::Call(function, arguments) => self.call(*function, arguments),
            TermKind::Field(_)
            | TermKind::Epsilon
            | TermKind::Side(..)
            | TermKind::Normal
            | TermKind::Rise(_)
            | TermKind::Let(_)
            | TermKind::Source(_)
            | TermKind::Derivative { .. } => None,
        }
    }

    fn scalar(&mut self, term: &Term) -> Option<Ref> {
        self.term(term)?.first().copied()
    }

    /// An operation component by component; a scalar goes with every component.
    fn both(&mut self, op: Op, a: &Term, b: &Term) -> Components {
        let (a, b) = (self.term(a)?, self.term(b)?);
        let length = a.len().max(b.len());
        let at = |all: &[Ref], i: usize| all.get(i).or(all.first()).copied();
        (0..length).map(|i| Some(self.op(op, &[at(&a, i)?, at(&b, i)?]))).collect()
    }

    /// `a^n` by squaring.
    fn power(&mut self, a: Ref, n: i32) -> Ref {
        let mut result = None;
        let (mut square, mut left) = (a, n.unsigned_abs());
        while left > 0 {
            if left % 2 == 1 {
                result = Some(match result {
                    Some(result) => self.op(Op::Mul, &[result, square]),
                    None => square,
                });
            }
            left /= 2;
            if left > 0 {
                square = self.op(Op::Mul, &[square, square]);
            }
        }
        let one = self.lit(1.0);
        let result = result.unwrap_or(one);
        match n < 0 {
            true => self.op(Op::Div, &[one, result]),
            false => result,
        }
    }

    fn choice(&mut self, relation: Relation, parts: &[Term; 4]) -> Components {
        let op = relation.op();
        let [a, b, c, d] = parts;
        let (a, b) = (self.scalar(a)?, self.scalar(b)?);
        let (c, d) = (self.term(c)?, self.term(d)?);
        let pairs = c.into_iter().zip(d);
        Some(pairs.map(|(c, d)| self.op(op, &[a, b, c, d])).collect())
    }

    fn call(&mut self, function: Function, arguments: &[Term]) -> Components {
        let all: Option<Vec<Vec<Ref>>> = arguments.iter().map(|a| self.term(a)).collect();
        let all = all?;
        let n = extent(all.first()?, arguments.first()?.rank.indices());
        let widths: Vec<usize> = all.iter().map(Vec::len).collect();
        let forms =
            function.forms(&Arguments { components: n, dimension: n, widths: &widths, name: "" });
        self.forms(&forms, &all)
    }

    fn forms(&mut self, forms: &[Form], all: &[Vec<Ref>]) -> Components {
        forms.iter().map(|form| self.form(form, all)).collect()
    }

    /// The operations of a form; `None` for a derivative.
    fn form(&mut self, form: &Form, all: &[Vec<Ref>]) -> Option<Ref> {
        let two = |this: &mut Self, op: Op, a: &Form, b: &Form| {
            let pair = [this.form(a, all)?, this.form(b, all)?];
            Some(this.op(op, &pair))
        };
        match form {
            Form::Of(argument, at) => all.get(*argument)?.get(*at).copied(),
            Form::Derivative { .. } | Form::Difference { .. } => None,
            // Values of a formula are those of one point.
            Form::At(_, of) => self.form(of, all),
            Form::Times(a, b) => two(self, Op::Mul, a, b),
            Form::Plus(a, b) => two(self, Op::Add, a, b),
            Form::Minus(a, b) => two(self, Op::Sub, a, b),
            Form::Half(of) => {
                let pair = [self.lit(0.5), self.form(of, all)?];
                Some(self.op(Op::Mul, &pair))
            }
            Form::Over(of, number) => {
                let pair = [self.form(of, all)?, self.lit(*number as f64)];
                Some(self.op(Op::Div, &pair))
            }
            Form::Sum(_, parts) => {
                let parts = self.forms(parts, all)?;
                self.sum(&parts)
            }
            Form::Squares => {
                let squares = all.first()?.iter().map(|a| self.op(Op::Mul, &[*a, *a]));
                let squares: Vec<Ref> = squares.collect();
                self.sum(&squares)
            }
            Form::Op(op, arguments) => {
                let arguments = self.forms(arguments, all)?;
                Some(self.op(*op, &arguments))
            }
            Form::Named(_, of) => self.form(of, all),
        }
    }

    fn sum(&mut self, terms: &[Ref]) -> Option<Ref> {
        let terms = terms.iter().copied();
        terms.reduce(|sum, term| self.op(Op::Add, &[sum, term]))
    }
}

/// The number of dimensions, from the number of components.
fn extent(components: &[Ref], indices: usize) -> usize {
    match indices {
        2 => (1..=3).find(|n| n * n == components.len()).unwrap_or(1),
        _ => components.len(),
    }
}
