//! Arithmetic on grid functions that keeps its order: factors and differences have names.

use super::half;
use crate::diag::Span;
use crate::discretize::expand::{Expander, Result, overflow};
use crate::discretize::names::Label;
use crate::discretize::poly::{Poly, Uniform, UniformFactor};
use crate::expr::{Op, Rational};
use crate::model::Sweep;

/// Builds polynomials, none of which expands a product of sums.
pub(in crate::discretize) struct Algebra<'e, 'a> {
    pub(super) expander: &'e mut Expander<'a>,
    pub(super) span: Span,
}

impl Algebra<'_, '_> {
    /// The value as a grid function of its own, the same wherever it is used.
    pub(super) fn named(&mut self, label: impl Into<Label>, value: Poly) -> Poly {
        self.expander.atoms.name(label, value)
    }

    pub(super) fn plus(&self, a: &Poly, b: &Poly) -> Result<Poly> {
        a.plus(b).map_err(overflow(self.span))
    }

    /// The value as one grid function, rounded, without a factor in front; uniforms stay as they are.
    pub(super) fn whole(&mut self, label: impl Into<Label>, value: Poly) -> Poly {
        let is_whole = value.as_scaled_atom().is_some_and(|(_, by)| by.is_one());
        if is_whole || value.as_uniform().is_some() {
            return value;
        }
        self.expander.atoms.always_name(label, value)
    }

    /// A sum as a grid function of its own: several are added in the order in which they are made, so that terms which
    /// a mirror exchanges have the same bits.
    pub(super) fn onto(
        &mut self,
        sum: &Poly,
        part: &Poly,
        label: impl Into<Label>,
    ) -> Result<Poly> {
        let label = label.into();
        let rounds = |(_, by): (_, &Uniform)| !by.is_power_of_two();
        let part = match part.as_scaled_atom().is_some_and(rounds) {
            true => &self.whole(label.clone(), part.clone()),
            false => part,
        };
        let sum = self.plus(sum, part)?;
        Ok(self.whole(label, sum))
    }

    /// A sum of parts, one for each axis, that rounds alike for each of them.
    pub(super) fn even_sum(&mut self, label: impl Into<Label>, parts: &[Poly]) -> Result<Poly> {
        let sum = self.expander.atoms.even_sum(label, parts);
        sum.map_err(overflow(self.span))
    }

    pub(super) fn minus(&self, a: &Poly, b: &Poly) -> Result<Poly> {
        self.plus(a, &b.negated())
    }

    /// A product of values, sums of which become grid functions.
    pub(super) fn times(&mut self, a: &Poly, b: &Poly) -> Result<Poly> {
        let atoms = &mut self.expander.atoms;
        let (a, b) = (atoms.factor(a), atoms.factor(b));
        a.times(&b).map_err(overflow(self.span))
    }

    pub(super) fn over(&mut self, a: &Poly, b: &Poly) -> Poly {
        self.op(Op::Div, &[a, b])
    }

    pub(super) fn scaled(&self, value: &Poly, above: i128, below: i128) -> Result<Poly> {
        let by = Uniform::number(Rational::new(above, below));
        value.scaled(&by).map_err(overflow(self.span))
    }

    pub(super) fn scaled_by(&self, value: &Poly, by: &Uniform) -> Result<Poly> {
        value.scaled(by).map_err(overflow(self.span))
    }

    pub(super) fn halved(&self, value: &Poly) -> Result<Poly> {
        value.scaled(&half()).map_err(overflow(self.span))
    }

    pub(super) fn number(&self, above: i128, below: i128) -> Poly {
        Poly::uniform(Uniform::number(Rational::new(above, below)))
    }

    /// The value times the time of an update along an axis over the spacing along it.
    pub(super) fn times_step(&self, value: &Poly, axis: usize) -> Result<Poly> {
        self.times_courant(value, axis, self.expander.model.share_along(axis), 1)
    }

    /// The value times the time of a step along an axis alone over the spacing along it, or the inverse: a step along
    /// `d` axes at once is the mean of such steps that each take `d dt`, and one of half the time the mean of a whole
    /// one and none.
    pub(super) fn times_own_step(&self, value: &Poly, axis: usize, inverse: bool) -> Result<Poly> {
        let model = self.expander.model;
        let share = match model.scheme.sweep {
            Sweep::Unsplit => Rational::from_integer(model.dimension as i128),
            Sweep::Dimensional | Sweep::Strang => Rational::from_integer(1),
            Sweep::Alternating => model.share_along(axis),
        };
        match inverse {
            true => self.times_courant(value, axis, share.recip(), -1),
            false => self.times_courant(value, axis, share, 1),
        }
    }

    /// The value times a number and a power of `dt/h`.
    fn times_courant(
        &self,
        value: &Poly,
        axis: usize,
        number: Rational,
        power: i32,
    ) -> Result<Poly> {
        let ratio = Uniform::power(UniformFactor::Dt, power).times_number(number);
        let ratio = ratio.times(&Uniform::power(UniformFactor::Spacing(axis), -power));
        let ratio = ratio.map_err(overflow(self.span))?;
        value.scaled(&ratio).map_err(overflow(self.span))
    }

    pub(super) fn op(&mut self, op: Op, values: &[&Poly]) -> Poly {
        self.expander.operation(op, values)
    }

    pub(super) fn min(&mut self, a: &Poly, b: &Poly) -> Poly {
        self.op(Op::Min, &[a, b])
    }

    pub(super) fn max(&mut self, a: &Poly, b: &Poly) -> Poly {
        self.op(Op::Max, &[a, b])
    }

    pub(super) fn abs(&mut self, a: &Poly) -> Poly {
        match a.0.is_empty() {
            true => Poly::default(),
            false => self.op(Op::Abs, &[a]),
        }
    }

    /// `a` if it has the sign that it should, else zero.
    pub(super) fn if_positive(&mut self, condition: &Poly, value: &Poly) -> Poly {
        let zero = Poly::default();
        self.op(Op::Lt, &[&zero, condition, value, &zero])
    }
}
