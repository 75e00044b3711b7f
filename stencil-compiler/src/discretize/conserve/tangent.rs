//! Derivatives along a direction in the space of states: the change of a grid function with the changes of its
//! operands. With the fluxes of a law this is a product of its Jacobian with a vector, which is never written out as a
//! matrix.

use std::collections::BTreeMap;

use super::algebra::Algebra;
use crate::discretize::DiscretizeError;
use crate::discretize::atoms::Atom;
use crate::discretize::expand::{Result, overflow};
use crate::discretize::poly::{AtomId, Monomial, Overflow, Poly, Uniform};
use crate::expr::change::{Values, change};
use crate::expr::{Op, Rational};
use crate::model::nearest_decimal;

/// A direction in the space of states.
pub(super) struct Tangent<'d> {
    /// The changes of atoms; a function of none of them is constant.
    changes: BTreeMap<AtomId, Poly>,
    /// The definitions of values that are known.
    meanings: &'d BTreeMap<AtomId, Poly>,
}

impl<'d> Tangent<'d> {
    /// The direction with these changes of atoms.
    pub(super) fn new(
        changes: BTreeMap<AtomId, Poly>,
        meanings: &'d BTreeMap<AtomId, Poly>,
    ) -> Self {
        Tangent { changes, meanings }
    }

    /// Returns the change of a polynomial: that of each term is rounded before it is added, so that two terms that an exchange of
    /// axes exchanges have the same sum.
    pub(super) fn of(&mut self, algebra: &mut Algebra<'_, '_>, poly: &Poly) -> Result<Poly> {
        let mut sum = Poly::default();
        for (monomial, c) in &poly.0 {
            let part = self.of_term(algebra, monomial, c)?;
            sum = algebra.onto(&sum, &part, "change")?;
        }
        Ok(sum)
    }

    /// Returns the change of a term.
    fn of_term(
        &mut self,
        algebra: &mut Algebra<'_, '_>,
        monomial: &Monomial,
        c: &Uniform,
    ) -> Result<Poly> {
        let mut sum = Poly::default();
        for (at, atom) in monomial.iter().enumerate() {
            // A square changes twice as much.
            if at > 0 && monomial[at - 1] == *atom {
                continue;
            }
            let times = monomial.iter().filter(|other| *other == atom).count();
            let change = self.of_atom(algebra, *atom)?;
            let mut rest: Monomial = monomial.clone();
            rest.remove(at);
            if change.0.is_empty() {
                continue;
            }
            // One rounding after the other, in an order that does not depend on that of atoms.
            let rest = Poly([(rest, Uniform::one())].into());
            let (rest, change) = (algebra.whole("factor", rest), algebra.whole("change", change));
            let mut part = algebra.times(&rest, &change)?;
            let times = Uniform::number(Rational::from_integer(times as i128));
            let by = c.times(&times).map_err(overflow(algebra.span))?;
            if !by.is_one() {
                part = algebra.whole("change", part);
                part = algebra.scaled_by(&part, &by)?;
            }
            sum = algebra.onto(&sum, &part, "change")?;
        }
        Ok(sum)
    }

    fn of_atom(&mut self, algebra: &mut Algebra<'_, '_>, atom: AtomId) -> Result<Poly> {
        if let Some(known) = self.changes.get(&atom) {
            return Ok(known.clone());
        }
        let meaning = self.meanings.get(&atom).cloned();
        let change = match meaning {
            Some(meaning) => self.of_value(algebra, &meaning, &Poly::atom(atom))?,
            None => match algebra.expander.atoms.get(atom).clone() {
                Atom::Named(at) => {
                    let (label, value) = algebra.expander.atoms.named[at].clone();
                    let change = self.of(algebra, &value)?;
                    algebra.named(label.map(|name| format!("{name}_change")), change)
                }
                Atom::Call(op, parts) => self.of_call(algebra, op, &parts, &Poly::atom(atom))?,
                Atom::State(_) | Atom::At { .. } | Atom::Derivative { .. } => Poly::default(),
            },
        };
        self.changes.insert(atom, change.clone());
        Ok(change)
    }

    /// The change of the definition of a known value.
    fn of_value(
        &mut self,
        algebra: &mut Algebra<'_, '_>,
        meaning: &Poly,
        value: &Poly,
    ) -> Result<Poly> {
        let call = meaning.as_scaled_atom().filter(|(_, by)| by.is_one());
        let call = call.map(|(atom, _)| algebra.expander.atoms.get(atom).clone());
        let change = match call {
            Some(Atom::Call(op, parts)) => self.of_call(algebra, op, &parts, value)?,
            _ => self.of(algebra, meaning)?,
        };
        Ok(algebra.named("change", change))
    }

    /// The change of the value of an operation.
    fn of_call(
        &mut self,
        algebra: &mut Algebra<'_, '_>,
        op: Op,
        parts: &[Poly],
        value: &Poly,
    ) -> Result<Poly> {
        let changes: Result<Vec<Poly>> = parts.iter().map(|part| self.of(algebra, part)).collect();
        let changes = changes?;
        let still = changes.iter().all(|change| change.0.is_empty());
        if still {
            return Ok(Poly::default());
        }
        match op {
            // Iterations change one after the other, and so do the values of a routine.
            Op::Loop(_) | Op::Call(_) => {
                let value = written_out(algebra, op, parts)?;
                self.of(algebra, &value)
            }
            _ => change(algebra, op, parts, &changes, value),
        }
    }
}

/// A loop or a value of a routine by the operations that it is made of; any other operation as it is.
fn written_out(of: &mut Algebra<'_, '_>, op: Op, parts: &[Poly]) -> Result<Poly> {
    let mut fits = true;
    let mut number = |value: f64| {
        let exact = nearest_decimal(value);
        fits &= exact.is_some();
        Poly::uniform(Uniform::number(exact.unwrap_or_default()))
    };
    let mut make = |op: Op, args: &[&Poly]| Ok(of.op(op, args));
    let value = match op {
        Op::Loop(looped) => looped.unrolled(parts, &mut number, &mut make),
        Op::Call(called) => called.written_out(parts, &mut number, &mut make),
        _ => make(op, &parts.iter().collect::<Vec<_>>()),
    };
    match fits {
        true => value,
        false => Err(overflow(of.span)(Overflow)),
    }
}

impl Values for Algebra<'_, '_> {
    type Value = Poly;
    type Error = DiscretizeError;

    fn number(&self, above: i128, below: i128) -> Poly {
        if above == 0 { Poly::default() } else { Algebra::number(self, above, below) }
    }

    fn is_zero(&self, value: &Poly) -> bool {
        value.0.is_empty()
    }

    fn negated(&mut self, value: &Poly) -> Result<Poly> {
        Ok(value.negated())
    }

    fn plus(&mut self, a: &Poly, b: &Poly) -> Result<Poly> {
        Algebra::plus(self, a, b)
    }

    fn onto(&mut self, sum: &Poly, part: &Poly) -> Result<Poly> {
        Algebra::onto(self, sum, part, "change")
    }

    fn times(&mut self, a: &Poly, b: &Poly) -> Result<Poly> {
        Algebra::times(self, a, b)
    }

    fn scaled(&mut self, value: &Poly, above: i128, below: i128) -> Result<Poly> {
        Algebra::scaled(self, value, above, below)
    }

    fn op(&mut self, op: Op, parts: &[&Poly]) -> Result<Poly> {
        Ok(Algebra::op(self, op, parts))
    }
}
