//! Sums over axes that round alike for each axis: exchanged axes give exchanged bits.

use super::DiscretizeError;
use super::assemble::{Assembler, HERE};
use super::atoms::{Atom, Atoms};
use super::expand::{Expander, Result, overflow};
use super::names::Label;
use super::poly::{AtomId, Overflow, Poly};
use super::values::signed;
use crate::algorithm::{Access, Atom as FnAtom, FnId};
use crate::diag::Span;
use crate::expr::{Builder, Op, Ref};
use crate::model::{Arith, Model};

/// Are sums over axes even? Those of conservation laws are, and those of schemes that say so; others have one operation
/// less an axis.
fn are_even(model: &Model) -> bool {
    !model.fluxes.is_empty() || model.scheme.arith == Arith::Differences
}

impl Expander<'_> {
    /// The sum of parts, one for each axis.
    pub(super) fn over_axes(
        &mut self,
        label: impl Into<Label>,
        parts: &[Poly],
        span: Span,
    ) -> Result<Poly> {
        let sum = match are_even(self.model) {
            true => self.atoms.even_sum(label, parts),
            false => sum(parts),
        };
        sum.map_err(overflow(span))
    }

    /// The sum of the squares of components of a vector or tensor: those of the diagonal come first, then each with its mirror image.
    pub(super) fn squares(&mut self, of: &[Poly], span: Span) -> Result<Poly> {
        let n = self.model.components;
        let squares = of.iter().map(|x| self.product(x, x, span));
        let squares: Vec<Poly> = squares.collect::<std::result::Result<_, DiscretizeError>>()?;
        if of.len() != n * n || n == 1 {
            return self.over_axes("squares", &squares, span);
        }
        let diagonal: Vec<Poly> = squares.iter().step_by(n + 1).cloned().collect();
        let mut beside = Vec::new();
        for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
            let pair = [squares[i * n + j].clone(), squares[j * n + i].clone()];
            beside.push(self.over_axes("squares", &pair, span)?);
        }
        let parts = [
            self.over_axes("squares", &diagonal, span)?,
            self.over_axes("squares", &beside, span)?,
        ];
        self.over_axes("squares", &parts, span)
    }
}

fn sum(parts: &[Poly]) -> std::result::Result<Poly, Overflow> {
    parts.iter().try_fold(Poly::default(), |sum, part| sum.plus(part))
}

impl Atoms {
    /// The sum of parts as one grid function: each is rounded before it is added, so that two have the same sum whichever comes first,
    /// and one by itself has the value that it has beside zeros of other axes.
    pub(super) fn even_sum(
        &mut self,
        label: impl Into<Label>,
        parts: &[Poly],
    ) -> std::result::Result<Poly, Overflow> {
        let parts: Vec<&Poly> = parts.iter().filter(|part| !part.0.is_empty()).collect();
        if parts.is_empty() {
            return Ok(Poly::default());
        }
        let one = |part: &&Poly| match part.0.len() {
            1 => (*part).clone(),
            _ => self.name("part", (*part).clone()),
        };
        let parts: Vec<Poly> = parts.iter().map(one).collect();
        let named = self.name(label, sum(&parts)?);
        if let Some(Atom::Named(at)) = named.as_atom().map(|atom| self.get(atom)) {
            let at = *at;
            self.even.insert(at);
        }
        Ok(named)
    }

    /// Are the terms of a named sum rounded before they are added?
    pub(super) fn is_even(&self, named: usize) -> bool {
        self.even.contains(&named)
    }
}

impl Assembler<'_> {
    /// The grid function of an even sum.
    pub(super) fn even(
        &mut self,
        name: String,
        poly: &Poly,
    ) -> std::result::Result<FnId, Overflow> {
        let mut b = Builder::new();
        let mut sum: Option<Ref> = None;
        for (monomial, c) in &poly.0 {
            let (value, negative) = match monomial.as_slice() {
                [atom] if self.joins(*atom) => {
                    let label = self.functions.reserve(&format!("{name}_part"));
                    let part = Poly([(monomial.clone(), c.clone())].into());
                    let of = self.define(&label, &part, &Poly::default())?;
                    (b.atom(FnAtom::Access(Access { of, at: HERE })), false)
                }
                _ => {
                    let (x, y) = self.factors(monomial, c, &mut b)?;
                    let value = y.map_or(x, |y| b.op(Op::Mul, &[x, y]));
                    (value, c.is_negative())
                }
            };
            sum = Some(match sum {
                None => signed(&mut b, value, negative),
                Some(sum) => b.op(if negative { Op::Sub } else { Op::Add }, &[sum, value]),
            });
        }
        let sum = sum.unwrap_or_else(|| b.lit(0.0));
        Ok(self.add_point(name, b.finish(sum)))
    }

    /// Is it a derivative that is part of the sum of its equation?
    pub(super) fn joins(&self, atom: AtomId) -> bool {
        self.is_derivative(atom) && self.uses.get(atom as usize) == Some(&1)
    }
}
