//! Terms to expressions of scalars, component by component.

use std::collections::BTreeMap;

use crate::catalogue::Function;
use crate::expr::{Builder, Expr, Op, Ref};
use crate::model::parse::number;
use crate::model::{Relation, Term, TermKind};

/// The components of a pointwise term, row by row; empty if it is not pointwise. Atoms are the parameters, the three
/// coordinates after `params` of them, and the time.
pub(super) fn lower(term: &Term, params: usize) -> Vec<Expr<usize>> {
    let mut lowering = Lowering {
        builder: Builder::new(),
        literals: BTreeMap::new(),
        params,
    };
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
        (0..length)
            .map(|i| Some(self.op(op, &[at(&a, i)?, at(&b, i)?])))
            .collect()
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
        let op = match relation {
            Relation::Less => Op::Lt,
            Relation::LessEqual => Op::Le,
            Relation::Equal => Op::Eq,
        };
        let [a, b, c, d] = parts;
        let (a, b) = (self.scalar(a)?, self.scalar(b)?);
        let (c, d) = (self.term(c)?, self.term(d)?);
        let pairs = c.into_iter().zip(d);
        Some(pairs.map(|(c, d)| self.op(op, &[a, b, c, d])).collect())
    }

    fn call(&mut self, function: Function, arguments: &[Term]) -> Components {
        let all: Option<Vec<Vec<Ref>>> = arguments.iter().map(|a| self.term(a)).collect();
        let all = all?;
        let first = all.first()?.as_slice();
        let second = all.get(1).map(Vec::as_slice).unwrap_or_default();
        let n = match arguments {
            [a, ..] => extent(first, a.rank.indices()),
            [] => return None,
        };
        match function {
            Function::Dot => self.contract(first, second, n),
            Function::Cross => (0..3).map(|i| self.crossed(first, second, i)).collect(),
            Function::Outer => {
                let pairs = first
                    .iter()
                    .flat_map(|a| second.iter().map(move |b| [*a, *b]));
                Some(pairs.map(|pair| self.op(Op::Mul, &pair)).collect())
            }
            Function::Transpose => Some(transposed(first, n)),
            Function::Diagonal => Some(first.iter().step_by(n + 1).copied().collect()),
            Function::Trace => Some(vec![self.trace(first, n)?]),
            Function::Sym => self.symmetric(first, n),
            Function::SymTraceless => self.traceless(first, n),
            Function::Norm => {
                let squares = first.iter().map(|a| [*a, *a]);
                let squares: Vec<Ref> = squares.map(|pair| self.op(Op::Mul, &pair)).collect();
                let sum = self.sum(&squares)?;
                Some(vec![self.op(Op::Sqrt, &[sum])])
            }
            Function::Grad | Function::Div | Function::Lap | Function::Curl | Function::Upwind => {
                None
            }
            Function::Scalar(op) => {
                let arguments: Vec<Ref> = all.iter().filter_map(|a| a.first().copied()).collect();
                Some(vec![self.op(op, &arguments)])
            }
        }
    }

    fn sum(&mut self, terms: &[Ref]) -> Option<Ref> {
        let (first, rest) = terms.split_first()?;
        Some(
            rest.iter()
                .fold(*first, |sum, term| self.op(Op::Add, &[sum, *term])),
        )
    }

    /// Contracts the last index of `a` with the first index of `b`.
    fn contract(&mut self, a: &[Ref], b: &[Ref], n: usize) -> Components {
        let (rows, columns) = (a.len() / n, b.len() / n);
        let mut out = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            for j in 0..columns {
                let products: Vec<Ref> = (0..n)
                    .map(|k| {
                        self.builder
                            .op(Op::Mul, &[a[i * n + k], b[k * columns + j]])
                    })
                    .collect();
                out.push(self.sum(&products)?);
            }
        }
        Some(out)
    }

    fn crossed(&mut self, a: &[Ref], b: &[Ref], i: usize) -> Option<Ref> {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let plus = self.op(Op::Mul, &[*a.get(j)?, *b.get(k)?]);
        let minus = self.op(Op::Mul, &[*a.get(k)?, *b.get(j)?]);
        Some(self.op(Op::Sub, &[plus, minus]))
    }

    fn trace(&mut self, a: &[Ref], n: usize) -> Option<Ref> {
        let diagonal: Vec<Ref> = a.iter().step_by(n + 1).copied().collect();
        self.sum(&diagonal)
    }

    fn symmetric(&mut self, a: &[Ref], n: usize) -> Components {
        let half = self.lit(0.5);
        let pairs = a.iter().copied().zip(transposed(a, n));
        let mean = |(a, b): (Ref, Ref)| {
            let sum = self.op(Op::Add, &[a, b]);
            self.op(Op::Mul, &[half, sum])
        };
        Some(pairs.map(mean).collect())
    }

    fn traceless(&mut self, a: &[Ref], n: usize) -> Components {
        let trace = self.trace(a, n)?;
        let count = self.lit(n as f64);
        let share = self.op(Op::Div, &[trace, count]);
        let mut out = self.symmetric(a, n)?;
        for entry in out.iter_mut().step_by(n + 1) {
            *entry = self.op(Op::Sub, &[*entry, share]);
        }
        Some(out)
    }
}

/// The number of dimensions, from the number of components.
fn extent(components: &[Ref], indices: usize) -> usize {
    match indices {
        2 => (1..=3).find(|n| n * n == components.len()).unwrap_or(1),
        _ => components.len(),
    }
}

fn transposed(a: &[Ref], n: usize) -> Vec<Ref> {
    (0..a.len()).map(|k| a[(k % n) * n + k / n]).collect()
}
