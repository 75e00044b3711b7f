//! Terms that the language has a short word for.

use crate::catalogue::{Function, Rank};
use crate::diag::Span;
use crate::expr::{Op, Rational};
use crate::model::{Relation, Term, TermKind};

/// π as a fraction, which keeps products exact: of the fractions with so few digits the nearest
/// one, and the nearest `f64` of both is the same.
pub(in crate::model) const PI: (i128, i128) = (245_850_922, 78_256_779);

impl Term {
    pub(crate) fn of(kind: TermKind, rank: Rank, span: Span) -> Term {
        Term { kind, rank, span }
    }

    pub(crate) fn scalar(kind: TermKind, span: Span) -> Term {
        Term::of(kind, Rank::Scalar, span)
    }

    pub(crate) fn integer(value: i128, span: Span) -> Term {
        Term::scalar(TermKind::Number(Rational::from_integer(value)), span)
    }

    /// `pi`
    pub(in crate::model) fn pi(span: Span) -> Term {
        let [above, below] = [PI.0, PI.1].map(|n| Box::new(Term::integer(n, span)));
        Term::scalar(TermKind::Div(above, below), span)
    }

    /// `0` of any rank.
    pub(crate) fn zero(rank: Rank, dimension: usize, span: Span) -> Term {
        Term::filled(&Term::integer(0, span), rank, dimension)
    }

    /// NaN in every entry: the root of -1.
    pub(in crate::model) fn no_number(rank: Rank, dimension: usize, span: Span) -> Term {
        let minus = Term::scalar(TermKind::Neg(Box::new(Term::integer(1, span))), span);
        let root = TermKind::Call(Function::Scalar(Op::Sqrt), vec![minus]);
        Term::filled(&Term::scalar(root, span), rank, dimension)
    }

    /// A value of any rank whose entries are all one scalar.
    fn filled(entry: &Term, rank: Rank, dimension: usize) -> Term {
        let below = match rank {
            Rank::Scalar => return entry.clone(),
            Rank::Vector => Rank::Scalar,
            Rank::Tensor => Rank::Vector,
        };
        let entries = (0..dimension).map(|_| Term::filled(entry, below, dimension));
        Term::of(TermKind::Stack(entries.collect()), rank, entry.span)
    }

    /// `I`
    pub(in crate::model) fn identity(dimension: usize, span: Span) -> Term {
        let row = |i: usize| {
            let entries = (0..dimension).map(|j| Term::integer(i128::from(i == j), span));
            Term::of(TermKind::Stack(entries.collect()), Rank::Vector, span)
        };
        let rows = (0..dimension).map(row).collect();
        Term::of(TermKind::Stack(rows), Rank::Tensor, span)
    }

    /// `if 0 < condition { then } else { otherwise }`
    pub(super) fn choice(condition: Term, then: Term, otherwise: Term) -> Term {
        let (rank, span) = (then.rank, then.span);
        let parts = [Term::integer(0, span), condition, then, otherwise];
        Term::of(TermKind::If(Relation::Less, Box::new(parts)), rank, span)
    }

    /// Is it one name or number, which may be repeated?
    pub(crate) fn is_leaf(&self) -> bool {
        match &self.kind {
            TermKind::Number(_)
            | TermKind::Field(_)
            | TermKind::Param(_)
            | TermKind::Let(_)
            | TermKind::Source(_)
            | TermKind::Time
            | TermKind::Epsilon
            | TermKind::Coordinate(_)
            | TermKind::Side(..)
            | TermKind::Normal
            | TermKind::Rise(_) => true,
            TermKind::Neg(_)
            | TermKind::Add(..)
            | TermKind::Sub(..)
            | TermKind::Mul(..)
            | TermKind::Div(..)
            | TermKind::Pow(..)
            | TermKind::Stack(_)
            | TermKind::Component(..)
            | TermKind::Derivative { .. }
            | TermKind::If(..)
            | TermKind::Call(..) => false,
        }
    }

    /// The number of its nodes.
    pub(in crate::model) fn size(&self) -> usize {
        let parts = self.parts();
        1 + parts.into_iter().map(Term::size).sum::<usize>()
    }

    /// The levels of its text, as the parser counts them when it reads the printed expression.
    pub(in crate::model) fn depth(&self) -> u32 {
        let deepest = |parts: &[&Term]| parts.iter().map(|p| p.depth()).max().unwrap_or(0);
        let parts = self.parts();
        match &self.kind {
            TermKind::If(..) => {
                let (compared, branches) = parts.split_at(2);
                1 + deepest(branches).max(1 + deepest(compared))
            }
            _ => 1 + deepest(&parts),
        }
    }
}
