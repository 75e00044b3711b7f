//! Polynomials over interned atoms, with coefficients that are polynomials of uniforms: the
//! normal form in which equations are collected.

use std::collections::BTreeMap;

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedMul, One, Signed, Zero};

use crate::expr::Rational;

/// A factor of a uniform: a parameter, a spacing, the time step, or an opaque function of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UniformFactor {
    /// Index of a parameter.
    Param(usize),
    /// Grid spacing along an axis.
    Spacing(usize),
    /// The time step.
    Dt,
    /// The time of the substep.
    Time,
    /// The machine epsilon of the run's precision.
    Epsilon,
    /// Index into the table of opaque uniforms.
    Opaque(usize),
}

/// A product of powers of uniform factors.
pub(super) type UniformMonomial = BTreeMap<UniformFactor, i32>;

/// A polynomial of uniforms with exact coefficients; no term is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Uniform(pub BTreeMap<UniformMonomial, Rational>);

/// An exact number left the range of 128-bit rationals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overflow;

impl Uniform {
    /// A number.
    pub(super) fn number(value: Rational) -> Self {
        let mut terms = BTreeMap::new();
        if !value.is_zero() {
            terms.insert(UniformMonomial::new(), value);
        }
        Uniform(terms)
    }

    /// The number one.
    pub(super) fn one() -> Self {
        Uniform::number(Ratio::one())
    }

    /// A power of a factor.
    pub(super) fn power(factor: UniformFactor, exponent: i32) -> Self {
        Uniform(BTreeMap::from([(UniformMonomial::from([(factor, exponent)]), Ratio::one())]))
    }

    /// Is it zero?
    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Is it one?
    pub(super) fn is_one(&self) -> bool {
        *self == Uniform::one()
    }

    /// Is it a number, without parameters and other choices of a run?
    pub(super) fn is_number(&self) -> bool {
        self.0.keys().all(UniformMonomial::is_empty)
    }

    /// Its first term and the sum of the others; `None` if it is zero.
    pub(super) fn split_first(&self) -> Option<(Self, Self)> {
        let mut rest = self.0.clone();
        let (monomial, c) = rest.pop_first()?;
        let first = Uniform(BTreeMap::from([(monomial, c)]));
        (!rest.is_empty()).then_some((first, Uniform(rest)))
    }

    /// Is it one or minus one?
    pub(super) fn is_unit(&self) -> bool {
        self.is_one() || self.negated().is_one()
    }

    /// Is it a power of two or the negative of one, a product with which is exact?
    pub(super) fn is_power_of_two(&self) -> bool {
        let mut terms = self.0.iter();
        let is_one = |part: &i128| part.unsigned_abs().is_power_of_two();
        match (terms.next(), terms.next()) {
            (Some((monomial, c)), None) if monomial.is_empty() => {
                is_one(c.numer()) && is_one(c.denom())
            }
            _ => false,
        }
    }

    /// Is its leading coefficient negative?
    pub(super) fn is_negative(&self) -> bool {
        self.0.values().next().is_some_and(Signed::is_negative)
    }

    /// Most factors of a term, above and below.
    pub(super) fn degree(&self) -> u32 {
        let factors = |monomial: &UniformMonomial| {
            let powers = monomial.values().map(|power| power.unsigned_abs());
            powers.fold(0, u32::saturating_add)
        };
        self.0.keys().map(factors).max().unwrap_or(0)
    }

    /// Its negative.
    pub(super) fn negated(&self) -> Self {
        Uniform(self.0.iter().map(|(m, c)| (m.clone(), -c)).collect())
    }

    /// Sum.
    pub(super) fn plus(&self, other: &Self) -> Result<Self, Overflow> {
        let mut terms = self.0.clone();
        for (monomial, c) in &other.0 {
            let sum =
                terms.get(monomial).unwrap_or(&Ratio::zero()).checked_add(c).ok_or(Overflow)?;
            if sum.is_zero() {
                terms.remove(monomial);
            } else {
                terms.insert(monomial.clone(), sum);
            }
        }
        Ok(Uniform(terms))
    }

    /// Product.
    pub(super) fn times(&self, other: &Self) -> Result<Self, Overflow> {
        let mut sum = Uniform::default();
        for (a, ca) in &self.0 {
            for (b, cb) in &other.0 {
                let mut monomial = a.clone();
                for (factor, exponent) in b {
                    let power = monomial.entry(*factor).or_insert(0);
                    *power = power.checked_add(*exponent).ok_or(Overflow)?;
                    if *power == 0 {
                        monomial.remove(factor);
                    }
                }
                let product = ca.checked_mul(cb).ok_or(Overflow)?;
                sum = sum.plus(&Uniform(BTreeMap::from([(monomial, product)])))?;
            }
        }
        Ok(sum)
    }

    /// Product with a number.
    pub(super) fn times_number(&self, by: Rational) -> Self {
        Uniform(self.0.iter().map(|(m, c)| (m.clone(), c * by)).collect())
    }

    /// The reciprocal of a single term; `None` for a sum of several.
    pub(super) fn reciprocal(&self) -> Option<Self> {
        let mut terms = self.0.iter();
        let (monomial, c) = terms.next()?;
        if terms.next().is_some() {
            return None;
        }
        let inverse: Option<UniformMonomial> =
            monomial.iter().map(|(f, e)| Some((*f, e.checked_neg()?))).collect();
        Some(Uniform(BTreeMap::from([(inverse?, c.recip())])))
    }
}

/// Index of an interned atom.
pub(super) type AtomId = u32;

/// A product of atoms, sorted, repeated as often as their power; empty for a constant.
pub(super) type Monomial = Vec<AtomId>;

/// A polynomial of atoms; no coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Poly(pub BTreeMap<Monomial, Uniform>);

impl Poly {
    /// A uniform.
    pub(super) fn uniform(value: Uniform) -> Self {
        let mut terms = BTreeMap::new();
        if !value.is_zero() {
            terms.insert(Monomial::new(), value);
        }
        Poly(terms)
    }

    /// An atom.
    pub(super) fn atom(atom: AtomId) -> Self {
        Poly(BTreeMap::from([(vec![atom], Uniform::one())]))
    }

    /// The uniform that it is, if it contains no atom.
    pub(super) fn as_uniform(&self) -> Option<Uniform> {
        match self.0.len() {
            0 => Some(Uniform::default()),
            1 => self.0.get(&Monomial::new()).cloned(),
            _ => None,
        }
    }

    /// The atom and factor, if it is one atom times a uniform.
    pub(super) fn as_scaled_atom(&self) -> Option<(AtomId, &Uniform)> {
        let mut terms = self.0.iter();
        match (terms.next(), terms.next()) {
            (Some((monomial, c)), None) if monomial.len() == 1 => Some((monomial[0], c)),
            _ => None,
        }
    }

    /// The atom, if that is all.
    pub(super) fn as_atom(&self) -> Option<AtomId> {
        let scaled = self.as_scaled_atom().filter(|(_, by)| by.is_one());
        scaled.map(|(atom, _)| atom)
    }

    /// Is every term an atom times a uniform?
    pub(super) fn is_linear(&self) -> bool {
        self.0.keys().all(|m| m.len() == 1)
    }

    /// Most atoms of a term.
    pub(super) fn degree(&self) -> usize {
        self.0.keys().map(Vec::len).max().unwrap_or(0)
    }

    /// Adds a term.
    pub(super) fn add_term(&mut self, monomial: Monomial, c: &Uniform) -> Result<(), Overflow> {
        let sum = match self.0.get(&monomial) {
            Some(known) => known.plus(c)?,
            None => c.clone(),
        };
        if sum.is_zero() {
            self.0.remove(&monomial);
        } else {
            self.0.insert(monomial, sum);
        }
        Ok(())
    }

    /// Sum.
    pub(super) fn plus(&self, other: &Self) -> Result<Self, Overflow> {
        let mut sum = self.clone();
        for (monomial, c) in &other.0 {
            sum.add_term(monomial.clone(), c)?;
        }
        Ok(sum)
    }

    /// Product with a uniform.
    pub(super) fn scaled(&self, by: &Uniform) -> Result<Self, Overflow> {
        let mut out = Poly::default();
        for (monomial, c) in &self.0 {
            out.add_term(monomial.clone(), &c.times(by)?)?;
        }
        Ok(out)
    }

    /// Product.
    pub(super) fn times(&self, other: &Self) -> Result<Self, Overflow> {
        let mut out = Poly::default();
        for (a, ca) in &self.0 {
            for (b, cb) in &other.0 {
                let mut monomial = [a.as_slice(), b.as_slice()].concat();
                monomial.sort_unstable();
                out.add_term(monomial, &ca.times(cb)?)?;
            }
        }
        Ok(out)
    }

    /// The uniform that all terms of a sum have in common up to their signs, and the sum without it, which begins with
    /// one; `None` if there is no such uniform, or no sum.
    pub(super) fn primitive(&self) -> Option<(Uniform, Self)> {
        let common = self.0.values().next().filter(|_| self.0.len() > 1)?;
        let negative = common.negated();
        let sign = |c: &Uniform| match c {
            c if c == common => Some(Uniform::one()),
            c if *c == negative => Some(Uniform::one().negated()),
            _ => None,
        };
        let terms = self.0.iter();
        let terms: Option<_> =
            terms.map(|(monomial, c)| Some((monomial.clone(), sign(c)?))).collect();
        Some((common.clone(), Poly(terms?)))
    }

    /// Has its first term a negative number before it?
    pub(super) fn begins_negative(&self) -> bool {
        self.0.values().next().is_some_and(Uniform::is_negative)
    }

    /// Its negative.
    pub(super) fn negated(&self) -> Self {
        Poly(self.0.iter().map(|(m, c)| (m.clone(), c.negated())).collect())
    }
}
