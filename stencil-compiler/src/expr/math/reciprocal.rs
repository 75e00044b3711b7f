//! Reciprocals without the branch that the division of a card has.

use super::{Arithmetic, Constant};

/// The smallest normal number.
const LEAST: Constant = Constant { f32: f32::MIN_POSITIVE as f64, f64: f64::MIN_POSITIVE };

/// The largest number whose reciprocal a card's first guess is not zero for: in double precision it looks at the upper half of the bits.
const MOST: Constant =
    Constant { f32: 8.507059173023462e37, f64: f64::from_bits(0x7fd0_0000_ffff_ffff) };

/// One over a number, rounded once. It is zero of numbers from 2^126 (`f32`) and 2^1022 (`f64`) on, and infinite of those below the normal
/// range: a card then needs no branch, which would keep it from computing other values meanwhile.
#[inline(always)]
pub fn reciprocal<A: Arithmetic>(x: A) -> A {
    let (size, zero) = (x.abs().named("size"), x.lit(0.0).copysign(x).named("zero"));
    let divisor = size.if_lt(LEAST.like(x), zero, x);
    MOST.like(x).if_lt(size, zero, x.lit(1.0) / divisor)
}
