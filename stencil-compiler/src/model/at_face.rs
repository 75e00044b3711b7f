//! The declared values that both sides of a face share.

use super::Term;
use crate::diag::Span;
use crate::expr::Op;

/// `face { bed by max; h = max(surface - bed, 0); }`: fields without flux that have one value on both sides of a face,
/// and primitives that each side recomputes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct AtFace {
    /// The fields by their indices, and the operation that combines the values of both sides.
    pub fields: Vec<(usize, Op)>,
    /// Primitives, each with its recomputed value.
    pub recomputed: Vec<(Term, Term)>,
    /// The beginning of the block.
    pub span: Span,
}
