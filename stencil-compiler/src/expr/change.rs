//! The change of the value of an operation with the changes of its operands: derivatives along a direction, for values of any kind
//! that have arithmetic. [`slopes`](super::slopes) has the same derivatives of numbers.

use super::Op;

/// Arithmetic on values of one kind.
pub(crate) trait Values {
    /// A value.
    type Value: Clone;
    /// The reason why there is none.
    type Error;

    /// A number as a fraction.
    fn number(&self, above: i128, below: i128) -> Self::Value;

    /// Is it zero everywhere?
    fn is_zero(&self, value: &Self::Value) -> bool;

    /// The value with the other sign.
    fn negated(&mut self, value: &Self::Value) -> Result<Self::Value, Self::Error>;

    /// A sum.
    fn plus(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error>;

    /// A sum in this order, rounded by itself.
    fn onto(&mut self, sum: &Self::Value, part: &Self::Value) -> Result<Self::Value, Self::Error>;

    /// A product.
    fn times(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error>;

    /// A value times a fraction.
    fn scaled(
        &mut self,
        value: &Self::Value,
        above: i128,
        below: i128,
    ) -> Result<Self::Value, Self::Error>;

    /// The value of an operation.
    fn op(&mut self, op: Op, parts: &[&Self::Value]) -> Result<Self::Value, Self::Error>;

    /// A difference.
    fn minus(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error> {
        let back = self.negated(b)?;
        self.plus(a, &back)
    }

    /// A quotient.
    fn over(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Self::Error> {
        self.op(Op::Div, &[a, b])
    }
}

/// A value or the reason why there is none.
type Made<V> = Result<<V as Values>::Value, <V as Values>::Error>;

/// A value, and how much it changes.
type Changing<'v, V> = [&'v <V as Values>::Value; 2];

/// The change of the `value` of an operation on these parts with their changes. That of a selection is selected as the value itself is;
/// what is piecewise constant does not change, and neither do loops and calls, which are written out before.
pub(crate) fn change<V: Values>(
    of: &mut V,
    op: Op,
    parts: &[V::Value],
    changes: &[V::Value],
    value: &V::Value,
) -> Made<V> {
    let (a, da) = (&parts[0], &changes[0]);
    let (b, db) = (parts.get(1).unwrap_or(a), changes.get(1).unwrap_or(da));
    match op {
        Op::Neg => of.negated(da),
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
            of.over(&above, b)
        }
        Op::Reciprocal => {
            let square = of.times(value, value)?;
            let change = of.times(&square, da)?;
            of.negated(&change)
        }
        Op::Pow => power(of, [a, da], [b, db], value),
        Op::Mod => {
            let floor = of.over(a, b)?;
            let floor = of.op(Op::Floor, &[&floor])?;
            let by = of.times(&floor, db)?;
            of.minus(da, &by)
        }
        Op::Atan2 => angle(of, [a, da], [b, db]),
        Op::Abs => {
            let (zero, back) = (of.number(0, 1), of.negated(da)?);
            of.op(Op::Lt, &[&zero, a, da, &back])
        }
        Op::Min => of.op(Op::Lt, &[b, a, db, da]),
        Op::Max => of.op(Op::Lt, &[a, b, db, da]),
        Op::Lt | Op::Le | Op::Eq => of.op(op, &[a, b, &changes[2], &changes[3]]),
        Op::Copysign => signed(of, [a, da], b),
        Op::Significand => {
            let ratio = of.over(value, a)?;
            of.times(&ratio, da)
        }
        Op::Floor | Op::Exponent | Op::PowerOfTwo | Op::Loop(_) | Op::Call(_) => {
            Ok(of.number(0, 1))
        }
        Op::Sqrt
        | Op::Cbrt
        | Op::Exp
        | Op::Log
        | Op::Sin
        | Op::Cos
        | Op::Tanh
        | Op::Sinh
        | Op::Cosh
        | Op::Erf => of_function(of, op, [a, da], value),
    }
}

/// The change of a function of one operand.
fn of_function<V: Values>(
    of: &mut V,
    op: Op,
    [a, da]: Changing<'_, V>,
    value: &V::Value,
) -> Made<V> {
    match op {
        Op::Sqrt => {
            let twice = of.scaled(value, 2, 1)?;
            of.over(da, &twice)
        }
        Op::Cbrt => {
            let square = of.times(value, value)?;
            let below = of.scaled(&square, 3, 1)?;
            of.over(da, &below)
        }
        Op::Exp => of.times(value, da),
        Op::Log => of.over(da, a),
        Op::Sin => {
            let cos = of.op(Op::Cos, &[a])?;
            of.times(&cos, da)
        }
        Op::Cos => {
            let sin = of.op(Op::Sin, &[a])?;
            let back = of.negated(&sin)?;
            of.times(&back, da)
        }
        Op::Tanh => {
            let square = of.times(value, value)?;
            let one = of.number(1, 1);
            let rest = of.minus(&one, &square)?;
            of.times(&rest, da)
        }
        Op::Sinh => {
            let cosh = of.op(Op::Cosh, &[a])?;
            of.times(&cosh, da)
        }
        Op::Cosh => {
            let sinh = of.op(Op::Sinh, &[a])?;
            of.times(&sinh, da)
        }
        // The others are no functions of one operand that changes.
        _ => error_function(of, [a, da]),
    }
}

/// The change of `a * b`.
fn product<V: Values>(of: &mut V, [a, da]: Changing<'_, V>, [b, db]: Changing<'_, V>) -> Made<V> {
    let (first, second) = (of.times(da, b)?, of.times(a, db)?);
    of.plus(&first, &second)
}

/// The change of `value`, which is `a` to the power `b`.
fn power<V: Values>(
    of: &mut V,
    [a, da]: Changing<'_, V>,
    [b, db]: Changing<'_, V>,
    value: &V::Value,
) -> Made<V> {
    let one = of.number(1, 1);
    let less = of.minus(b, &one)?;
    let power = of.op(Op::Pow, &[a, &less])?;
    let slope = of.times(b, &power)?;
    let change = of.times(&slope, da)?;
    if of.is_zero(db) {
        return Ok(change);
    }
    let log = of.op(Op::Log, &[a])?;
    let by = of.times(&log, db)?;
    let by = of.times(value, &by)?;
    of.onto(&change, &by)
}

/// The change of the angle of a point at `b` and, across, at `a`.
fn angle<V: Values>(of: &mut V, [a, da]: Changing<'_, V>, [b, db]: Changing<'_, V>) -> Made<V> {
    let (first, second) = (of.times(b, da)?, of.times(a, db)?);
    let above = of.minus(&first, &second)?;
    let (square, other) = (of.times(a, a)?, of.times(b, b)?);
    let below = of.plus(&square, &other)?;
    of.over(&above, &below)
}

/// The change of `a` with the sign of `b`.
fn signed<V: Values>(of: &mut V, [a, da]: Changing<'_, V>, b: &V::Value) -> Made<V> {
    let one = of.number(1, 1);
    let (own, given) = (of.op(Op::Copysign, &[&one, a])?, of.op(Op::Copysign, &[&one, b])?);
    let sign = of.times(&own, &given)?;
    of.times(&sign, da)
}

/// The change of the error function of `a`: 2/√π e^(-a²) times that of `a`.
fn error_function<V: Values>(of: &mut V, [a, da]: Changing<'_, V>) -> Made<V> {
    // 2/√π to the last digit of `f64`.
    const ABOVE: i128 = 5_081_767_996_463_981;
    const BELOW: i128 = 1 << 52;
    let square = of.times(a, a)?;
    let back = of.negated(&square)?;
    let power = of.op(Op::Exp, &[&back])?;
    let slope = of.scaled(&power, ABOVE, BELOW)?;
    of.times(&slope, da)
}
