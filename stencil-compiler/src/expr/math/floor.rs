//! Integers below a number, and remainders.

use super::{Arithmetic, Constant, INTEGERS};

/// Quotients whose remainder is known: the first part of the quotient is an integer of all digits, and the rest is
/// smaller by as many.
const LARGEST: Constant = Constant { f32: 70_368_744_177_664.0, f64: 2.028240960365167e31 };

/// The largest integer that is not larger.
#[inline(always)]
pub fn floor<A: Arithmetic>(x: A) -> A {
    let (size, integers) = (x.abs(), INTEGERS.like(x));
    let nearest = size.if_lt(integers, (size + integers) - integers, size).copysign(x);
    let nearest = nearest.named("nearest");
    x.if_lt(nearest, nearest - x.lit(1.0), nearest)
}

/// The remainder a - b floor(a/b), rounded once: from zero to `b`, with the sign of `b`.
///
/// A quotient without fractions is taken off first, which is exact. The floor of the rounded rest may be too large by
/// one, if the rest is next to an integer; the remainder then has the wrong sign.
#[inline(always)]
pub fn modulo<A: Arithmetic>(a: A, b: A) -> A {
    let (zero, one) = (a.lit(0.0), a.lit(1.0));
    let quotient = (a / b).named("quotient");
    let size = quotient.abs().named("size");
    let whole = size.if_lt(INTEGERS.like(a), zero, quotient).named("whole");
    let left = (-whole).fma(b, a).named("left");
    let below = floor(left / b).named("below");
    let remainder = (-below).fma(b, left).named("remainder");
    let wrong = (remainder * one.copysign(b)).if_lt(zero, one, zero);
    let corrected = wrong.if_eq(one, (one - below).fma(b, left), remainder).copysign(b);
    size.if_le(LARGEST.like(a), corrected, a.lit(f64::NAN))
}
