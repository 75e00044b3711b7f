//! Terms rebuilt from other parts.

use super::{Term, TermKind};

impl Term {
    /// The term with each of its parts changed; its rank and place stay.
    pub(super) fn with_parts(&self, change: &mut dyn FnMut(&Term) -> Term) -> Term {
        let mut one = |a: &Term| Box::new(change(a));
        let kind = match &self.kind {
            TermKind::Number(value) => TermKind::Number(*value),
            TermKind::Field(i) => TermKind::Field(*i),
            TermKind::Param(i) => TermKind::Param(*i),
            TermKind::Let(i) => TermKind::Let(*i),
            TermKind::Source(i) => TermKind::Source(*i),
            TermKind::Time => TermKind::Time,
            TermKind::Epsilon => TermKind::Epsilon,
            TermKind::Coordinate(axis) => TermKind::Coordinate(*axis),
            TermKind::If(relation, parts) => {
                TermKind::If(*relation, Box::new(parts.each_ref().map(|a| *one(a))))
            }
            TermKind::Side(side, of) => TermKind::Side(*side, one(of)),
            TermKind::Normal => TermKind::Normal,
            TermKind::Rise(field) => TermKind::Rise(*field),
            TermKind::Neg(a) => TermKind::Neg(one(a)),
            TermKind::Add(a, b) => TermKind::Add(one(a), one(b)),
            TermKind::Sub(a, b) => TermKind::Sub(one(a), one(b)),
            TermKind::Mul(a, b) => TermKind::Mul(one(a), one(b)),
            TermKind::Div(a, b) => TermKind::Div(one(a), one(b)),
            TermKind::Pow(a, n) => TermKind::Pow(one(a), *n),
            TermKind::Stack(entries) => TermKind::Stack(entries.iter().map(|a| *one(a)).collect()),
            TermKind::Component(a, axes) => TermKind::Component(one(a), axes.clone()),
            TermKind::Derivative { axis, times, of } => {
                TermKind::Derivative { axis: *axis, times: *times, of: one(of) }
            }
            TermKind::Call(function, arguments) => {
                TermKind::Call(*function, arguments.iter().map(|a| *one(a)).collect())
            }
        };
        Term { kind, rank: self.rank, span: self.span }
    }
}
