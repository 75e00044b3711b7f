//! Derivatives along a direction in the space of states: the change of a grid function with the changes of its
//! operands. With the fluxes of a law this is a product of its Jacobian with a vector, which is never written out as a
//! matrix.

use std::collections::BTreeMap;

use super::algebra::Algebra;
use crate::discretize::atoms::Atom;
use crate::discretize::expand::{Result, overflow};
use crate::discretize::poly::{AtomId, Monomial, Overflow, Poly, Uniform};
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

/// The change of the value of an operation on these parts with their changes.
fn change(
    of: &mut Algebra<'_, '_>,
    op: Op,
    parts: &[Poly],
    changes: &[Poly],
    value: &Poly,
) -> Result<Poly> {
    let (a, da) = (&parts[0], &changes[0]);
    let (b, db) = (parts.get(1).unwrap_or(a), changes.get(1).unwrap_or(da));
    match op {
        Op::Neg => Ok(da.negated()),
        Op::Add => of.plus(da, db),
        Op::Sub => of.minus(da, db),
        Op::Mul => product(of, [a, da], [b, db]),
        Op::Fma => {
            let sum = product(of, [a, da], [b, db])?;
            of.plus(&sum, &changes[2])
        }
        Op::Div => {
            let by = of.times(value, db)?;
            let above = of.minus(da, &by)?;
            Ok(of.over(&above, b))
        }
        Op::Sqrt => {
            let twice = of.scaled(value, 2, 1)?;
            Ok(of.over(da, &twice))
        }
        Op::Cbrt => {
            let square = of.times(value, value)?;
            let below = of.scaled(&square, 3, 1)?;
            Ok(of.over(da, &below))
        }
        Op::Exp => of.times(value, da),
        Op::Log => Ok(of.over(da, a)),
        Op::Pow => power(of, [a, da], [b, db], value),
        Op::Sin => {
            let cos = of.op(Op::Cos, &[a]);
            of.times(&cos, da)
        }
        Op::Cos => {
            let sin = of.op(Op::Sin, &[a]);
            of.times(&sin.negated(), da)
        }
        Op::Tanh => {
            let square = of.times(value, value)?;
            let rest = of.minus(&of.number(1, 1), &square)?;
            of.times(&rest, da)
        }
        Op::Sinh => {
            let cosh = of.op(Op::Cosh, &[a]);
            of.times(&cosh, da)
        }
        Op::Cosh => {
            let sinh = of.op(Op::Sinh, &[a]);
            of.times(&sinh, da)
        }
        Op::Erf => error_function(of, [a, da]),
        Op::Mod => {
            let floor = of.over(a, b);
            let floor = of.op(Op::Floor, &[&floor]);
            let by = of.times(&floor, db)?;
            of.minus(da, &by)
        }
        Op::Atan2 => angle(of, [a, da], [b, db]),
        Op::Abs => Ok(of.op(Op::Lt, &[&Poly::default(), a, da, &da.negated()])),
        // Selected as the values themselves are.
        Op::Min => Ok(of.op(Op::Lt, &[b, a, db, da])),
        Op::Max => Ok(of.op(Op::Lt, &[a, b, db, da])),
        Op::Lt | Op::Le | Op::Eq => Ok(of.op(op, &[a, b, &changes[2], &changes[3]])),
        Op::Copysign => signed(of, [a, da], b),
        // Piecewise constant; loops and routines are written out before.
        Op::Floor | Op::Exponent | Op::PowerOfTwo => Ok(Poly::default()),
        Op::Loop(_) | Op::Call(_) => Ok(Poly::default()),
        Op::Significand => {
            let ratio = of.over(value, a);
            of.times(&ratio, da)
        }
    }
}

/// A value, and how much it changes.
type Changing<'v> = [&'v Poly; 2];

/// The change of `a * b`.
fn product(of: &mut Algebra<'_, '_>, [a, da]: Changing<'_>, [b, db]: Changing<'_>) -> Result<Poly> {
    let (first, second) = (of.times(da, b)?, of.times(a, db)?);
    of.plus(&first, &second)
}

/// The change of `value`, which is `a` to the power `b`.
fn power(
    of: &mut Algebra<'_, '_>,
    [a, da]: Changing<'_>,
    [b, db]: Changing<'_>,
    value: &Poly,
) -> Result<Poly> {
    let less = of.minus(b, &of.number(1, 1))?;
    let power = of.op(Op::Pow, &[a, &less]);
    let slope = of.times(b, &power)?;
    let change = of.times(&slope, da)?;
    if db.0.is_empty() {
        return Ok(change);
    }
    let log = of.op(Op::Log, &[a]);
    let by = of.times(&log, db)?;
    let by = of.times(value, &by)?;
    of.onto(&change, &by, "change")
}

/// The change of the angle of a point at `b` and, across, at `a`.
fn angle(of: &mut Algebra<'_, '_>, [a, da]: Changing<'_>, [b, db]: Changing<'_>) -> Result<Poly> {
    let (first, second) = (of.times(b, da)?, of.times(a, db)?);
    let above = of.minus(&first, &second)?;
    let (square, other) = (of.times(a, a)?, of.times(b, b)?);
    let below = of.plus(&square, &other)?;
    Ok(of.over(&above, &below))
}

/// The change of `a` with the sign of `b`.
fn signed(of: &mut Algebra<'_, '_>, [a, da]: Changing<'_>, b: &Poly) -> Result<Poly> {
    let one = of.number(1, 1);
    let (own, given) = (of.op(Op::Copysign, &[&one, a]), of.op(Op::Copysign, &[&one, b]));
    let sign = of.times(&own, &given)?;
    of.times(&sign, da)
}

/// The change of the error function of `a`: 2/√π e^(-a²) times that of `a`.
fn error_function(of: &mut Algebra<'_, '_>, [a, da]: Changing<'_>) -> Result<Poly> {
    // 2/√π to the last digit of `f64`.
    const ABOVE: i128 = 5_081_767_996_463_981;
    const BELOW: i128 = 1 << 52;
    let square = of.times(a, a)?;
    let power = of.op(Op::Exp, &[&square.negated()]);
    let slope = of.scaled(&power, ABOVE, BELOW)?;
    of.times(&slope, da)
}
