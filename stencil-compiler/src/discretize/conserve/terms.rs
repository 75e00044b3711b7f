//! Polynomials as terms of the language, so that derived quantities can be read, and evaluated like declared ones.

use std::collections::BTreeMap;

use super::Law;
use super::rational::Quotient;
use crate::catalogue::{Function, Rank};
use crate::diag::Span;
use crate::discretize::atoms::{Atom, Atoms};
use crate::discretize::expand::Expander;
use crate::discretize::poly::{AtomId, Poly, Uniform, UniformFactor, UniformMonomial};
use crate::expr::{Op, Rational};
use crate::model::{Relation, Term, TermKind};

/// A quotient of polynomials of components and parameters.
pub(super) fn term(
    law: &Law<'_>,
    expander: &Expander<'_>,
    quotient: &Quotient,
    span: Span,
) -> Term {
    let writer = Writer { law, expander, span };
    let above = writer.poly(&quotient.above);
    match quotient.below.as_uniform() {
        Some(by) if by.is_one() => above,
        _ => {
            let below = writer.poly(&quotient.below);
            writer.scalar(TermKind::Div(Box::new(above), Box::new(below)))
        }
    }
}

/// Operations beyond which nothing is written out: terms have no names, so a part that is used twice is written twice.
const MOST_OPERATIONS: usize = 10_000;

/// Can a quotient be written out?
pub(super) fn fits(quotient: &Quotient, atoms: &Atoms) -> bool {
    let mut sizes = Sizes { atoms, known: BTreeMap::new(), opaque: BTreeMap::new() };
    sizes.poly(&quotient.above) + sizes.poly(&quotient.below) <= MOST_OPERATIONS
}

/// Sizes of written-out terms, each no more than just too large.
struct Sizes<'s> {
    atoms: &'s Atoms,
    known: BTreeMap<AtomId, usize>,
    opaque: BTreeMap<usize, usize>,
}

impl Sizes<'_> {
    fn poly(&mut self, poly: &Poly) -> usize {
        let mut sum = 0;
        for (monomial, c) in &poly.0 {
            let atoms = monomial.iter().map(|atom| self.atom(*atom)).sum::<usize>();
            sum += atoms * c.0.len() + self.uniform(c);
        }
        sum.min(MOST_OPERATIONS + 1)
    }

    fn atom(&mut self, atom: AtomId) -> usize {
        if let Some(known) = self.known.get(&atom) {
            return *known;
        }
        let atoms = self.atoms;
        let size = match atoms.get(atom) {
            Atom::State(_) => 1,
            Atom::Named(at) => self.poly(&atoms.named[*at].1),
            // They have no names in the language.
            Atom::Call(Op::Loop(_) | Op::Call(_), _) => MOST_OPERATIONS + 1,
            Atom::Call(_, parts) => 1 + parts.iter().map(|part| self.poly(part)).sum::<usize>(),
            Atom::At { of, .. } | Atom::Derivative { of, .. } => self.atom(*of),
        };
        self.known.insert(atom, size);
        size
    }

    fn uniform(&mut self, uniform: &Uniform) -> usize {
        let mut sum = 0;
        for factor in uniform.0.keys().flat_map(UniformMonomial::keys) {
            sum += match factor {
                UniformFactor::Opaque(at) => self.opaque(*at),
                _ => 1,
            };
        }
        (sum + uniform.0.len()).min(MOST_OPERATIONS + 1)
    }

    fn opaque(&mut self, at: usize) -> usize {
        if let Some(known) = self.opaque.get(&at) {
            return *known;
        }
        let parts = &self.atoms.opaque[at].1;
        let size = 1 + parts.iter().map(|part| self.uniform(part)).sum::<usize>();
        self.opaque.insert(at, size);
        size
    }
}

/// The square root of a term.
pub(super) fn root(of: Term, span: Span) -> Term {
    Term::scalar(TermKind::Call(Function::Scalar(Op::Sqrt), vec![of]), span)
}

struct Writer<'w, 'a> {
    law: &'w Law<'a>,
    expander: &'w Expander<'w>,
    span: Span,
}

impl Writer<'_, '_> {
    fn scalar(&self, kind: TermKind) -> Term {
        Term::scalar(kind, self.span)
    }

    fn number(&self, value: Rational) -> Term {
        self.scalar(TermKind::Number(value))
    }

    fn sum(&self, terms: impl Iterator<Item = Term>) -> Term {
        let add = |a: Term, b: Term| match b.kind {
            TermKind::Neg(b) => self.scalar(TermKind::Sub(Box::new(a), b)),
            _ => self.scalar(TermKind::Add(Box::new(a), Box::new(b))),
        };
        let zero = || self.number(Rational::from_integer(0));
        terms.reduce(add).unwrap_or_else(zero)
    }

    fn product(&self, factors: Vec<Term>) -> Term {
        let times = |a: Term, b: Term| self.scalar(TermKind::Mul(Box::new(a), Box::new(b)));
        let one = || self.number(Rational::from_integer(1));
        factors.into_iter().reduce(times).unwrap_or_else(one)
    }

    fn power(&self, of: Term, exponent: usize) -> Term {
        match exponent {
            1 => of,
            _ => self.scalar(TermKind::Pow(Box::new(of), exponent as i32)),
        }
    }

    fn poly(&self, poly: &Poly) -> Term {
        self.sum(poly.0.iter().flat_map(|(atoms, c)| {
            let one = |(monomial, number)| self.monomial(monomial, number, atoms);
            c.0.iter().map(one).collect::<Vec<Term>>()
        }))
    }

    /// A number, powers of parameters, and atoms, sorted.
    fn monomial(&self, uniform: &UniformMonomial, number: &Rational, atoms: &[AtomId]) -> Term {
        let negative = *number < Rational::from_integer(0);
        let size = if negative { -*number } else { *number };
        let mut above = Vec::new();
        let mut below = Vec::new();
        if size != Rational::from_integer(1) {
            above.push(self.number(size));
        }
        for (factor, exponent) in uniform {
            let side = if *exponent > 0 { &mut above } else { &mut below };
            side.push(self.power(self.factor(*factor), exponent.unsigned_abs() as usize));
        }
        for same in atoms.chunk_by(|a, b| a == b) {
            above.push(self.power(self.atom(same[0]), same.len()));
        }
        let mut product = self.product(above);
        if !below.is_empty() {
            let below = self.product(below);
            product = self.scalar(TermKind::Div(Box::new(product), Box::new(below)));
        }
        if negative {
            product = self.scalar(TermKind::Neg(Box::new(product)));
        }
        product
    }

    fn factor(&self, factor: UniformFactor) -> Term {
        match factor {
            UniformFactor::Param(i) => self.scalar(TermKind::Param(i)),
            UniformFactor::Epsilon => self.scalar(TermKind::Epsilon),
            UniformFactor::Opaque(i) => {
                let (op, parts) = &self.expander.atoms.opaque[i];
                self.call(*op, parts.iter().map(|part| self.uniform(part)).collect())
            }
            // Fluxes are made of neither steps nor spacings.
            UniformFactor::Time | UniformFactor::Dt | UniformFactor::Spacing(_) => {
                self.scalar(TermKind::Time)
            }
        }
    }

    fn uniform(&self, uniform: &Uniform) -> Term {
        let terms = uniform.0.iter();
        self.sum(terms.map(|(monomial, number)| self.monomial(monomial, number, &[])))
    }

    fn atom(&self, atom: AtomId) -> Term {
        let atoms = &self.expander.atoms;
        match atoms.get(atom) {
            Atom::State(component) => self.component(*component),
            Atom::Named(at) => self.poly(&atoms.named[*at].1),
            Atom::Call(op, parts) => {
                self.call(*op, parts.iter().map(|part| self.poly(part)).collect())
            }
            Atom::At { of, .. } | Atom::Derivative { of, .. } => self.atom(*of),
        }
    }

    fn call(&self, op: Op, mut parts: Vec<Term>) -> Term {
        let relation = match op {
            Op::Lt => Relation::Less,
            Op::Le => Relation::LessEqual,
            Op::Eq => Relation::Equal,
            Op::Div => {
                let below = Box::new(parts.swap_remove(1));
                return self.scalar(TermKind::Div(Box::new(parts.swap_remove(0)), below));
            }
            Op::Add => return self.sum(parts.into_iter()),
            Op::Mul => return self.product(parts),
            _ => return self.scalar(TermKind::Call(Function::Scalar(op), parts)),
        };
        match <[Term; 4]>::try_from(parts) {
            Ok(parts) => self.scalar(TermKind::If(relation, Box::new(parts))),
            Err(_) => self.number(Rational::from_integer(0)),
        }
    }

    /// A component of a field or of a source.
    fn component(&self, component: usize) -> Term {
        let (model, n) = (self.law.model, self.law.model.components);
        let fields = (0..model.fields.len()).map(|i| {
            let entries = self.law.components.of_field(i);
            (TermKind::Field(i), model.fields[i].rank, entries)
        });
        let sources = (0..model.sources.len()).map(|i| {
            let entries = self.law.components.of_source(i);
            (TermKind::Source(i), model.sources[i].rank, entries)
        });
        for (kind, rank, entries) in fields.chain(sources) {
            let is_it = |entry: &Option<(usize, bool)>| *entry == Some((component, false));
            let Some(at) = entries.iter().position(is_it) else {
                continue;
            };
            let whole = Term::of(kind, rank, self.span);
            return match rank {
                Rank::Scalar => whole,
                Rank::Vector => self.scalar(TermKind::Component(Box::new(whole), vec![at])),
                Rank::Tensor => {
                    self.scalar(TermKind::Component(Box::new(whole), vec![at / n, at % n]))
                }
            };
        }
        self.number(Rational::from_integer(0))
    }
}
