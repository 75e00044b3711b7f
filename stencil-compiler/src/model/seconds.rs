//! Derivatives of derivatives, as equations write them.

use std::collections::BTreeSet;

use super::{Let, Model, Term, TermKind};

/// The forms in which equations write derivatives of derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seconds {
    /// A compact operator, `lap` or `d2[x]`.
    pub(crate) compact: bool,
    /// A derivative of a derivative: `div(grad(q))`.
    pub(crate) nested: bool,
    /// A derivative of a product with a derivative: `div(q*grad(q))`.
    pub(crate) products: bool,
}

impl Term {
    /// Does it differ from cell to cell, directly or in a `let`?
    fn varies(&self, lets: &[Let]) -> bool {
        let mut found = false;
        self.visit(lets, &mut BTreeSet::new(), &mut |part| {
            found |= matches!(part.kind, TermKind::Field(_) | TermKind::Source(_));
        });
        found
    }

    /// Is it a product of a derivative and a factor that differs from cell to cell, directly or in a `let`?
    fn multiplies_derivatives(&self, lets: &[Let]) -> bool {
        let one = |a: &Term, b: &Term| a.differentiates(lets) && b.varies(lets);
        let mut found = false;
        self.visit(lets, &mut BTreeSet::new(), &mut |part| {
            found |= match &part.kind {
                TermKind::Mul(a, b) => one(a, b) || one(b, a),
                TermKind::Div(a, b) => one(a, b),
                TermKind::Call(function, of) if function.is_multilinear() => {
                    matches!(&of[..], [a, b] if one(a, b) || one(b, a))
                }
                _ => false,
            };
        });
        found
    }

    /// Returns the forms of its second derivatives, its own and those of `let`s.
    fn second_derivatives(&self, lets: &[Let]) -> Seconds {
        let mut found = Seconds::default();
        let nests = |of: &Term, found: &mut Seconds| {
            found.nested |= of.differentiates(lets);
            found.products |= of.multiplies_derivatives(lets);
        };
        self.visit(lets, &mut BTreeSet::new(), &mut |part| match &part.kind {
            TermKind::Derivative { times, of, .. } => {
                found.compact |= *times > 1;
                nests(of, &mut found);
            }
            TermKind::Call(function, of) if function.differentiates() => {
                found.compact |= function.times() > 1;
                of.iter().for_each(|of| nests(of, &mut found));
            }
            _ => {}
        });
        found
    }
}

impl Model {
    /// Returns the forms of derivatives of derivatives in its equations.
    pub(crate) fn second_derivatives(&self) -> Seconds {
        let all = self.equations.iter().map(|e| e.rhs.second_derivatives(&self.lets));
        all.fold(Seconds::default(), |a, b| Seconds {
            compact: a.compact || b.compact,
            nested: a.nested || b.nested,
            products: a.products || b.products,
        })
    }
}
