//! Symmetric and antisymmetric tensors: a check that their rates are so for all values.

use super::DiscretizeError;
use super::conserve;
use super::expand::{Expander, Result};
use super::poly::Poly;
use crate::diag::{Code, Span};
use crate::model::Symmetry;

impl Expander<'_> {
    /// Refuses components for a symmetric field that are not symmetric when they are multiplied out, that is always.
    pub(super) fn check_symmetry(&self, field: usize, parts: &[Poly], span: Span) -> Result<()> {
        let (n, field) = (self.model.components, &self.model.fields[field]);
        let (word, mirrored): (_, fn(&Poly) -> Poly) = match field.symmetry {
            Symmetry::General => return Ok(()),
            Symmetry::Symmetric => ("symmetric", Poly::clone),
            Symmetry::Antisymmetric => ("antisymmetric", Poly::negated),
        };
        let holds = |at: usize| {
            let mirrored = mirrored(&parts[at % n * n + at / n]);
            parts[at] == mirrored || conserve::are_equal(&parts[at], &mirrored, &self.atoms)
        };
        if (0..n * n).all(holds) {
            return Ok(());
        }
        let message = format!(
            "`{}` is {word}, and its right-hand side is not; write `sym(..)` or declare a `tensor`",
            field.name
        );
        Err(DiscretizeError::new(Code::NotSymmetric, span, message))
    }
}
