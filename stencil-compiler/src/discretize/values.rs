//! Grid functions that are computed cell by cell: sums of products, and operations that polynomials do not have.

use super::assemble::Assembler;
use super::names;
use super::poly::{AtomId, Monomial, Overflow, Poly, Uniform};
use super::reciprocals;
use crate::algorithm::{Atom as FnAtom, Def, FnId};
use crate::expr::{Builder, Expr, Op, Ref};

impl Assembler<'_> {
    /// A pointwise grid function.
    pub(super) fn point(&mut self, name: String, poly: &Poly) -> Result<FnId, Overflow> {
        let mut b = Builder::new();
        let result = self.point_ref(poly, &mut b)?;
        Ok(self.add_point(name, b.finish(result)))
    }

    /// A sum of products. A uniform that all of them share is multiplied last, so that a small difference keeps its digits.
    fn point_ref(&mut self, poly: &Poly, b: &mut Builder<FnAtom>) -> Result<Ref, Overflow> {
        match poly.primitive() {
            Some((by, sum)) if self.collected && !by.is_power_of_two() => {
                let sum = self.chain(&sum, b)?;
                let by = Poly::uniform(by);
                let by = self.chain(&by, b)?;
                Ok(b.op(Op::Mul, &[by, sum]))
            }
            _ => self.chain(poly, b),
        }
    }

    /// A sum of products as a chain of fused multiply-adds; terms without a product come first.
    fn chain(&mut self, poly: &Poly, b: &mut Builder<FnAtom>) -> Result<Ref, Overflow> {
        let bare = |(monomial, c): &(&Monomial, &Uniform)| {
            monomial.is_empty() || (monomial.len() == 1 && c.is_unit())
        };
        let (mut terms, products): (Vec<_>, Vec<_>) = poly.0.iter().partition(bare);
        terms.extend(products);
        let mut sum: Option<Ref> = None;
        for (monomial, c) in terms {
            let (x, y) = self.factors(monomial, c, b)?;
            sum = Some(added(b, sum, x, y, c.is_negative()));
        }
        Ok(sum.unwrap_or_else(|| b.lit(0.0)))
    }

    /// A term as a value, or as two factors of a fused multiply-add, sign apart.
    pub(super) fn factors(
        &mut self,
        monomial: &Monomial,
        c: &Uniform,
        b: &mut Builder<FnAtom>,
    ) -> Result<(Ref, Option<Ref>), Overflow> {
        let size = if c.is_negative() { c.negated() } else { c.clone() };
        let mut values = Vec::new();
        for atom in monomial {
            values.push(self.atom_ref(*atom, b)?);
        }
        if !size.is_one() || values.is_empty() {
            let uniform = if size.is_one() {
                b.lit(1.0)
            } else {
                b.atom(FnAtom::Uniform(self.functions.uniform(&size, None)))
            };
            // The factor goes to the first atom, so that terms with the same scaled atom share it.
            if values.len() >= 2 {
                values[0] = b.op(Op::Mul, &[uniform, values[0]]);
            } else {
                values.insert(0, uniform);
            }
        }
        let last = if values.len() > 1 { values.pop() } else { None };
        let mut product = values[0];
        for value in &values[1..] {
            product = b.op(Op::Mul, &[product, *value]);
        }
        Ok((product, last))
    }

    fn atom_ref(&mut self, atom: AtomId, b: &mut Builder<FnAtom>) -> Result<Ref, Overflow> {
        let access = self.access(atom)?;
        Ok(b.atom(FnAtom::Access(access)))
    }

    /// The grid function of an operation that polynomials do not have.
    pub(super) fn call(&mut self, atom: AtomId, op: Op, args: &[Poly]) -> Result<FnId, Overflow> {
        let mut b = Builder::new();
        let reciprocal = match (op, args) {
            (Op::Div, [above, below]) => self.reciprocals.of(self.atoms, above, below),
            _ => None,
        };
        let (by, refs) = match (reciprocal, args) {
            (Some(reciprocal), [above, _]) => {
                let above = self.point_ref(above, &mut b)?;
                (Op::Mul, vec![above, self.atom_ref(reciprocal, &mut b)?])
            }
            (None, [above, below]) if op == Op::Div && reciprocals::is_one(above) => {
                (Op::Reciprocal, vec![self.point_ref(below, &mut b)?])
            }
            _ => {
                let refs = args.iter().map(|arg| self.point_ref(arg, &mut b));
                (op, refs.collect::<Result<_, _>>()?)
            }
        };
        let name = match args {
            [above, below] if op == Op::Div && reciprocals::is_one(above) => {
                let name = self.reciprocal_name(below);
                self.name_of(atom, &name)
            }
            _ => self.name_of(atom, names::word(op)),
        };
        let result = b.op(by, &refs);
        Ok(self.add_point(name, b.finish(result)))
    }

    pub(super) fn add_point(&mut self, name: String, expr: Expr<FnAtom>) -> FnId {
        let depth = expr.atoms().map(|atom| match atom {
            FnAtom::Access(access) => self.functions.depth_of(access.of),
            FnAtom::Uniform(_) => 0,
        });
        let depth = depth.max().unwrap_or(0);
        self.functions.put(name, Def::Point(expr), depth)
    }
}

/// A value or a product, with its sign, and the sum before it, by a fused multiply-add.
pub(super) fn added(
    b: &mut Builder<FnAtom>,
    sum: Option<Ref>,
    x: Ref,
    y: Option<Ref>,
    negative: bool,
) -> Ref {
    match (sum, y) {
        (None, None) => signed(b, x, negative),
        (None, Some(y)) => {
            let x = signed(b, x, negative);
            b.op(Op::Mul, &[x, y])
        }
        (Some(sum), None) => b.op(if negative { Op::Sub } else { Op::Add }, &[sum, x]),
        (Some(sum), Some(y)) => {
            let x = signed(b, x, negative);
            b.op(Op::Fma, &[x, y, sum])
        }
    }
}

/// The value, or its negative.
pub(super) fn signed(b: &mut Builder<FnAtom>, value: Ref, negative: bool) -> Ref {
    if negative { b.op(Op::Neg, &[value]) } else { value }
}
