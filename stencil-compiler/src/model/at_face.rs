//! What both sides of a face share.

use super::Term;
use crate::diag::Span;
use crate::expr::Op;

/// `face { bed by max; h = max(surface - bed, 0); }`: fields without flux of which both sides of a face see one value, and
/// primitives that are made anew on each side with it.
#[derive(Clone, Debug, PartialEq)]
pub struct AtFace {
    /// The fields by their indices, and the operation that makes one value of those on both sides.
    pub fields: Vec<(usize, Op)>,
    /// Primitives, each with what it then is.
    pub anew: Vec<(Term, Term)>,
    /// Where the block begins.
    pub span: Span,
}
