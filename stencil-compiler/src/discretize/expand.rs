//! Terms of the model to tensors of polynomials, component by component.

use num_rational::Ratio;

use super::DiscretizeError;
use super::atoms::{Atom, Atoms};
use super::poly::{Overflow, Poly, Uniform, UniformFactor};
use crate::diag::Span;
use crate::expr::Op;
use crate::model::{Function, Model, Rank, Rational, Term, TermKind};

/// Terms of a product beyond which a factor keeps its name in place of being expanded.
const LARGEST_PRODUCT: usize = 200;

/// Degree of a product beyond which its factors keep their names.
const LARGEST_DEGREE: usize = 8;

/// Components of a scalar, vector or tensor (row by row).
pub(super) type Tensor = Vec<Poly>;

/// Expands the terms of one model.
pub(super) struct Expander<'a> {
    model: &'a Model,
    /// The atoms met so far.
    pub atoms: Atoms,
    /// Number of the first component of each field.
    pub first_component: Vec<usize>,
    lets: Vec<Tensor>,
}

type Result<T> = std::result::Result<T, DiscretizeError>;

impl<'a> Expander<'a> {
    /// Starts with the model's named intermediates.
    pub(super) fn new(model: &'a Model) -> Result<Self> {
        let mut first_component = Vec::new();
        let mut count = 0;
        for field in &model.fields {
            first_component.push(count);
            count += components(field.rank, model.dimension);
        }
        let mut this = Expander {
            model,
            atoms: Atoms::new(model.scheme.mixed),
            first_component,
            lets: Vec::new(),
        };
        for named in &model.lets {
            let value = this.term(&named.value)?;
            this.lets.push(value);
        }
        Ok(this)
    }

    /// The components of a term.
    pub(super) fn term(&mut self, term: &Term) -> Result<Tensor> {
        let span = term.span;
        match &term.kind {
            TermKind::Number(value) => Ok(vec![Poly::uniform(Uniform::number(*value))]),
            TermKind::Param(i) => Ok(vec![Poly::uniform(Uniform::power(
                UniformFactor::Param(*i),
                1,
            ))]),
            TermKind::Let(i) => Ok(self.lets[*i].clone()),
            TermKind::Field(i) => {
                let first = self.first_component[*i];
                let all = first..first + components(term.rank, self.model.dimension);
                Ok(all
                    .map(|c| Poly::atom(self.atoms.intern(Atom::State(c))))
                    .collect())
            }
            TermKind::Neg(a) => Ok(self.term(a)?.iter().map(Poly::negated).collect()),
            TermKind::Add(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                zip(&a, &b, |a, b| a.plus(b), span)
            }
            TermKind::Sub(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                zip(&a, &b, |a, b| a.plus(&b.negated()), span)
            }
            TermKind::Mul(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                let (scalar, other) = if a.len() == 1 {
                    (&a[0], &b)
                } else {
                    (&b[0], &a)
                };
                other
                    .iter()
                    .map(|x| self.product(scalar, x, span))
                    .collect()
            }
            TermKind::Div(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                a.iter().map(|x| self.quotient(x, &b[0], span)).collect()
            }
            TermKind::Pow(a, n) => {
                let a = self.term(a)?;
                self.power(&a[0], *n, span).map(|p| vec![p])
            }
            TermKind::Stack(parts) => {
                let parts: Result<Vec<Tensor>> = parts.iter().map(|p| self.term(p)).collect();
                Ok(parts?.concat())
            }
            TermKind::Component(of, axes) => {
                let of = self.term(of)?;
                let at = axes
                    .iter()
                    .fold(0, |at, axis| at * self.model.dimension + axis);
                Ok(vec![of[at].clone()])
            }
            TermKind::Derivative { axis, times, of } => {
                let name = name_of(self.model, of);
                let of = self.term(of)?;
                of.iter()
                    .map(|x| self.derivative(*axis, *times, x, &name, span))
                    .collect()
            }
            TermKind::Call(function, args) => self.call(*function, args, span),
        }
    }

    fn call(&mut self, function: Function, args: &[Term], span: Span) -> Result<Tensor> {
        let n = self.model.dimension;
        let name = name_of(self.model, &args[0]);
        let values: Result<Vec<Tensor>> = args.iter().map(|a| self.term(a)).collect();
        let values = values?;
        let a = &values[0];
        match function {
            Function::Grad => {
                let all = (0..n).flat_map(|axis| a.iter().map(move |x| (axis, x)));
                all.map(|(axis, x)| self.derivative(axis, 1, x, &name, span))
                    .collect()
            }
            Function::Lap => a.iter().map(|x| self.laplacian(x, &name, span)).collect(),
            Function::Div => {
                let width = a.len() / n;
                let label = format!("div_{name}");
                (0..width)
                    .map(|j| self.divergence(&a[j..], width, &name, &label, span))
                    .collect()
            }
            Function::Curl => (0..3)
                .map(|i| self.curl_component(a, i, &name, span))
                .collect(),
            Function::Dot => self.contract(a, &values[1], span),
            Function::Cross => (0..3)
                .map(|i| self.cross_component(a, &values[1], i, span))
                .collect(),
            Function::Outer => {
                let pairs = a.iter().flat_map(|x| values[1].iter().map(move |y| (x, y)));
                pairs.map(|(x, y)| self.product(x, y, span)).collect()
            }
            Function::Transpose => Ok((0..n * n).map(|k| a[(k % n) * n + k / n].clone()).collect()),
            Function::Trace => {
                let trace = self.trace(a, span)?;
                Ok(vec![self.atoms.name(&trace_label(&name), trace)])
            }
            Function::Sym => self.symmetric(a, span),
            Function::SymTraceless => {
                let trace = self.trace(a, span)?;
                let trace = self.atoms.name(&trace_label(&name), trace);
                let mut sym = self.symmetric(a, span)?;
                let share = Uniform::number(Ratio::new(-1, n as i128));
                let share = trace.scaled(&share).map_err(overflow(span))?;
                for i in 0..n {
                    sym[i * n + i] = sym[i * n + i].plus(&share).map_err(overflow(span))?;
                }
                Ok(sym)
            }
            Function::Sqrt => Ok(vec![self.operation(Op::Sqrt, &[&a[0]])]),
            Function::Abs => Ok(vec![self.operation(Op::Abs, &[&a[0]])]),
            Function::Min => Ok(vec![self.operation(Op::Min, &[&a[0], &values[1][0]])]),
            Function::Max => Ok(vec![self.operation(Op::Max, &[&a[0], &values[1][0]])]),
        }
    }

    fn derivative(
        &mut self,
        axis: usize,
        times: u32,
        of: &Poly,
        name: &str,
        span: Span,
    ) -> Result<Poly> {
        let out = if times == 1 {
            self.atoms.first(axis, of, name)
        } else {
            self.atoms.second(axis, of, name)
        };
        out.map_err(overflow(span))
    }

    fn laplacian(&mut self, of: &Poly, name: &str, span: Span) -> Result<Poly> {
        let mut sum = Poly::default();
        for axis in 0..self.model.dimension {
            let part = self.derivative(axis, 2, of, name, span)?;
            sum = sum.plus(&part).map_err(overflow(span))?;
        }
        Ok(sum)
    }

    fn divergence(
        &mut self,
        of: &[Poly],
        stride: usize,
        name: &str,
        label: &str,
        span: Span,
    ) -> Result<Poly> {
        let mut sum = Poly::default();
        for axis in 0..self.model.dimension {
            let part = self.derivative(axis, 1, &of[axis * stride], name, span)?;
            sum = sum.plus(&part).map_err(overflow(span))?;
        }
        Ok(self.atoms.name(label, sum))
    }

    fn curl_component(&mut self, a: &[Poly], i: usize, name: &str, span: Span) -> Result<Poly> {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let plus = self.derivative(j, 1, &a[k], name, span)?;
        let minus = self.derivative(k, 1, &a[j], name, span)?;
        let curl = plus.plus(&minus.negated()).map_err(overflow(span))?;
        Ok(self
            .atoms
            .name(&format!("curl_{name}_{}", ["x", "y", "z"][i]), curl))
    }

    fn cross_component(&mut self, a: &[Poly], b: &[Poly], i: usize, span: Span) -> Result<Poly> {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let plus = self.product(&a[j], &b[k], span)?;
        let minus = self.product(&a[k], &b[j], span)?;
        plus.plus(&minus.negated()).map_err(overflow(span))
    }

    /// Contracts the last index of `a` with the first index of `b`.
    fn contract(&mut self, a: &[Poly], b: &[Poly], span: Span) -> Result<Tensor> {
        let n = self.model.dimension;
        let (rows, columns) = (a.len() / n, b.len() / n);
        let mut out = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            for j in 0..columns {
                let mut sum = Poly::default();
                for k in 0..n {
                    let part = self.product(&a[i * n + k], &b[k * columns + j], span)?;
                    sum = sum.plus(&part).map_err(overflow(span))?;
                }
                out.push(sum);
            }
        }
        Ok(out)
    }

    fn trace(&self, a: &[Poly], span: Span) -> Result<Poly> {
        let n = self.model.dimension;
        (0..n)
            .try_fold(Poly::default(), |sum, i| sum.plus(&a[i * n + i]))
            .map_err(overflow(span))
    }

    fn symmetric(&self, a: &[Poly], span: Span) -> Result<Tensor> {
        let n = self.model.dimension;
        let half = Uniform::number(Ratio::new(1, 2));
        let entry = |k: usize| {
            a[k].plus(&a[(k % n) * n + k / n])
                .and_then(|sum| sum.scaled(&half))
        };
        (0..n * n)
            .map(|k| entry(k).map_err(overflow(span)))
            .collect()
    }

    fn product(&mut self, a: &Poly, b: &Poly, span: Span) -> Result<Poly> {
        let degree = a.degree() + b.degree();
        if a.0.len() * b.0.len() <= LARGEST_PRODUCT && degree <= LARGEST_DEGREE {
            return a.times(b).map_err(overflow(span));
        }
        let (a, b) = (
            self.atoms.name("factor", a.clone()),
            self.atoms.name("factor", b.clone()),
        );
        a.times(&b).map_err(overflow(span))
    }

    fn quotient(&mut self, a: &Poly, b: &Poly, span: Span) -> Result<Poly> {
        match b.as_uniform() {
            Some(uniform) if uniform.is_zero() => {
                Err(DiscretizeError::new(span, "division by zero"))
            }
            Some(uniform) => {
                let inverse = match uniform.reciprocal() {
                    Some(inverse) => inverse,
                    None => self.atoms.opaque(Op::Div, vec![Uniform::one(), uniform]),
                };
                a.scaled(&inverse).map_err(overflow(span))
            }
            None => Ok(self.operation(Op::Div, &[a, b])),
        }
    }

    fn power(&mut self, a: &Poly, n: i32, span: Span) -> Result<Poly> {
        let mut out = Poly::uniform(Uniform::one());
        for _ in 0..n.unsigned_abs() {
            out = self.product(&out, a, span)?;
        }
        if n < 0 {
            self.quotient(&Poly::uniform(Uniform::one()), &out, span)
        } else {
            Ok(out)
        }
    }

    /// An operation that polynomials do not have, on uniforms or on cell values.
    fn operation(&mut self, op: Op, args: &[&Poly]) -> Poly {
        let uniforms: Option<Vec<Uniform>> = args.iter().map(|a| a.as_uniform()).collect();
        match uniforms {
            Some(uniforms) => Poly::uniform(self.atoms.opaque(op, uniforms)),
            None => Poly::atom(
                self.atoms
                    .intern(Atom::Call(op, args.iter().map(|a| (*a).clone()).collect())),
            ),
        }
    }
}

/// The trace of a gradient is a divergence.
fn trace_label(name: &str) -> String {
    match name.strip_prefix("grad_") {
        Some(of) => format!("div_{of}"),
        None => format!("trace_{name}"),
    }
}

/// Components of a rank.
pub(super) fn components(rank: Rank, dimension: usize) -> usize {
    match rank {
        Rank::Scalar => 1,
        Rank::Vector => dimension,
        Rank::Tensor => dimension * dimension,
    }
}

/// A short name for what a term stands for, used to name derived grid functions.
fn name_of(model: &Model, term: &Term) -> String {
    match &term.kind {
        TermKind::Field(i) => model.fields[*i].name.clone(),
        TermKind::Let(i) => model.lets[*i].name.clone(),
        TermKind::Component(of, axes) => {
            let axes: String = axes.iter().map(|a| ["x", "y", "z"][*a]).collect();
            format!("{}_{axes}", name_of(model, of))
        }
        TermKind::Call(Function::Grad, args) => format!("grad_{}", name_of(model, &args[0])),
        TermKind::Call(Function::Div, args) => format!("div_{}", name_of(model, &args[0])),
        TermKind::Call(Function::Curl, args) => format!("curl_{}", name_of(model, &args[0])),
        _ => "part".into(),
    }
}

fn zip(
    a: &[Poly],
    b: &[Poly],
    f: impl Fn(&Poly, &Poly) -> std::result::Result<Poly, Overflow>,
    span: Span,
) -> Result<Tensor> {
    a.iter()
        .zip(b)
        .map(|(a, b)| f(a, b).map_err(overflow(span)))
        .collect()
}

/// The error of an exact number that left the range.
pub(super) fn overflow(span: Span) -> impl Fn(Overflow) -> DiscretizeError {
    move |Overflow| {
        DiscretizeError::new(
            span,
            "an exact coefficient leaves the range of 128-bit rationals; write fewer digits",
        )
    }
}

/// The rational as the nearest `f64`.
pub(super) fn to_f64(value: Rational) -> f64 {
    *value.numer() as f64 / *value.denom() as f64
}
