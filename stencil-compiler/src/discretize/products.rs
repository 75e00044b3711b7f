//! Products, quotients and other operations on polynomials: some are distributed, and some stay factors.

use super::DiscretizeError;
use super::atoms::{Atom, Atoms};
use super::expand::{Expander, Result, overflow};
use super::poly::{Overflow, Poly, Uniform, UniformFactor};
use crate::diag::{Code, Span};
use crate::expr::Op;
use crate::model::Arith;

/// Terms beyond which a product of uniforms is not multiplied out.
const LARGEST_PRODUCT: usize = 200;

/// Degree of a product beyond which its factors keep their names.
const LARGEST_DEGREE: usize = 8;

/// Exponents beyond which a power of a uniform is not multiplied out.
const LARGEST_POWER: u32 = 100;

impl Expander<'_> {
    /// A product. Uniforms are distributed over sums, where equations are collected; sums of cell values are never multiplied
    /// out, for a small difference has lost its digits in the difference of two large products. Each is one grid function.
    pub(super) fn product(&mut self, a: &Poly, b: &Poly, span: Span) -> Result<Poly> {
        if let (Some(a), Some(b)) = (a.as_uniform(), b.as_uniform()) {
            let terms = a.0.len() * b.0.len();
            if terms > LARGEST_PRODUCT || a.degree() + b.degree() > LARGEST_POWER {
                // Loops over parameters would expand without end.
                return Ok(Poly::uniform(self.atoms.opaque(Op::Mul, vec![a, b])));
            }
        }
        let as_written = self.model.scheme.arith.settled() == Arith::AsWritten;
        if !as_written && (a.as_uniform().is_some() || b.as_uniform().is_some()) {
            return self.atoms.times(a, b).map_err(overflow(span));
        }
        let single = a.0.len().max(b.0.len()) <= 1;
        if single && a.degree() + b.degree() <= LARGEST_DEGREE {
            return self.atoms.times(a, b).map_err(overflow(span));
        }
        let factor = |atoms: &mut Atoms, of: &Poly| match as_written {
            true => Ok(atoms.factor(of)),
            false => atoms.primitive_factor(of),
        };
        let (a, b) = (factor(&mut self.atoms, a), factor(&mut self.atoms, b));
        let product = a.and_then(|a| self.atoms.times(&a, &b?));
        product.map_err(overflow(span))
    }

    pub(super) fn quotient(&mut self, a: &Poly, b: &Poly, span: Span) -> Result<Poly> {
        match b.as_uniform() {
            Some(uniform) if uniform.is_zero() => Err(DiscretizeError::new(
                Code::DivisionByZero,
                span,
                "the divisor is zero whatever the parameters are",
            )),
            Some(uniform) => {
                if let Some(above) = a.as_uniform()
                    && above.0.len() > LARGEST_PRODUCT
                {
                    let quotient = self.atoms.opaque(Op::Div, vec![above, uniform]);
                    return Ok(Poly::uniform(quotient));
                }
                let inverse = match uniform.reciprocal() {
                    Some(inverse) => inverse,
                    None => self.atoms.opaque(Op::Div, vec![Uniform::one(), uniform]),
                };
                self.product(a, &Poly::uniform(inverse), span)
            }
            None => Ok(self.operation(Op::Div, &[a, b])),
        }
    }

    pub(super) fn power(&mut self, a: &Poly, n: i32, span: Span) -> Result<Poly> {
        let mut out = Poly::uniform(Uniform::one());
        for _ in 0..n.unsigned_abs() {
            out = self.product(&out, a, span)?;
        }
        if n < 0 { self.quotient(&Poly::uniform(Uniform::one()), &out, span) } else { Ok(out) }
    }

    /// An operation that polynomials do not have, on uniforms or on cell values.
    pub(super) fn operation(&mut self, op: Op, args: &[&Poly]) -> Poly {
        if let (Op::Abs, [value]) = (op, args)
            && value.begins_negative()
        {
            // Both signs have one size, to the bit, and are one grid function.
            return self.operation(op, &[&value.negated()]);
        }
        let uniforms: Option<Vec<Uniform>> = args.iter().map(|a| a.as_uniform()).collect();
        match uniforms {
            Some(uniforms) => Poly::uniform(self.atoms.opaque(op, uniforms)),
            None => Poly::atom(
                self.atoms.intern(Atom::Call(op, args.iter().map(|a| (*a).clone()).collect())),
            ),
        }
    }
}

impl Atoms {
    /// The product of polynomials, whose coefficients are not multiplied out: a sum of uniforms that is multiplied by
    /// another uniform is a factor, which keeps its digits, and its sign under a root.
    pub(super) fn times(&mut self, a: &Poly, b: &Poly) -> std::result::Result<Poly, Overflow> {
        let mut out = Poly::default();
        for (monomial, c) in &a.0 {
            for (other, by) in &b.0 {
                let mut product = [monomial.as_slice(), other.as_slice()].concat();
                product.sort_unstable();
                let [c, by] = match c.is_number() || by.is_number() {
                    true => [c.clone(), by.clone()],
                    false => [c, by].map(|sum| self.uniform_factor(sum)),
                };
                out.add_term(product, &c.times(&by)?)?;
            }
        }
        Ok(out)
    }

    /// A uniform as a factor: a sum of several is an operation, the same for both of its signs.
    fn uniform_factor(&mut self, sum: &Uniform) -> Uniform {
        if sum.is_negative() {
            return self.uniform_factor(&sum.negated()).negated();
        }
        match sum.split_first() {
            Some((first, rest)) => self.opaque(Op::Add, vec![first, rest]),
            None => sum.clone(),
        }
    }

    /// A uniform with its factors that are sums multiplied out, for exact comparisons.
    pub(super) fn written_out(&self, value: &Uniform) -> std::result::Result<Uniform, Overflow> {
        let mut out = Uniform::default();
        for (monomial, c) in &value.0 {
            let mut product = Uniform::number(*c);
            for (factor, exponent) in monomial {
                let sum = match factor {
                    UniformFactor::Opaque(at) if *exponent > 0 => Some(&self.opaque[*at]),
                    _ => None,
                };
                let Some((Op::Add, parts)) = sum else {
                    product = product.times(&Uniform::power(*factor, *exponent))?;
                    continue;
                };
                let sum = parts
                    .iter()
                    .try_fold(Uniform::default(), |sum, part| sum.plus(&self.written_out(part)?))?;
                for _ in 0..*exponent {
                    product = product.times(&sum)?;
                }
            }
            out = out.plus(&product)?;
        }
        Ok(out)
    }
}
