//! Arithmetic of integer expressions: operations without effect are folded as expressions are built.

use super::{Index, IntVar};

impl From<i64> for Index {
    fn from(value: i64) -> Self {
        Index::Const(value)
    }
}

impl From<IntVar> for Index {
    fn from(var: IntVar) -> Self {
        Index::Var(var)
    }
}

impl std::ops::Add for Index {
    type Output = Index;
    fn add(self, other: Index) -> Index {
        match (self, other) {
            (Index::Const(a), Index::Const(b)) => Index::Const(a + b),
            (a, Index::Const(0)) => a,
            (Index::Const(0), b) => b,
            (a, Index::Const(b)) if b < 0 => Index::Sub(Box::new(a), Box::new(Index::Const(-b))),
            (a, b) => Index::Add(Box::new(a), Box::new(b)),
        }
    }
}

impl std::ops::Sub for Index {
    type Output = Index;
    fn sub(self, other: Index) -> Index {
        match (self, other) {
            (Index::Const(a), Index::Const(b)) => Index::Const(a - b),
            (a, Index::Const(0)) => a,
            (a, Index::Const(b)) if b < 0 => Index::Add(Box::new(a), Box::new(Index::Const(-b))),
            (a, b) => Index::Sub(Box::new(a), Box::new(b)),
        }
    }
}

impl std::ops::Mul<i64> for Index {
    type Output = Index;
    fn mul(self, factor: i64) -> Index {
        match (self, factor) {
            (Index::Const(a), b) => Index::Const(a * b),
            (_, 0) => Index::Const(0),
            (a, 1) => a,
            (a, b) => Index::Mul(Box::new(a), b),
        }
    }
}

impl std::ops::Div<i64> for Index {
    type Output = Index;
    fn div(self, by: i64) -> Index {
        match (self, by) {
            (Index::Const(a), b) => Index::Const(a / b),
            (a, 1) => a,
            (a, b) => Index::Div(Box::new(a), b),
        }
    }
}

impl std::ops::Rem<i64> for Index {
    type Output = Index;
    fn rem(self, by: i64) -> Index {
        match (self, by) {
            (Index::Const(a), b) => Index::Const(a % b),
            (_, 1) => Index::Const(0),
            (a, b) => Index::Rem(Box::new(a), b),
        }
    }
}
