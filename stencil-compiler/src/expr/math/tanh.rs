//! The hyperbolic tangent.

use super::exp::{beyond_linear, reduced};
use super::{Arithmetic, Constant};

/// From here on the result rounds to one.
const LARGEST: Constant = Constant { f32: 10.0, f64: 22.0 };

/// The hyperbolic tangent: with E = e^(2|x|) - 1, it is E / (E + 2) in size.
#[inline(always)]
pub fn tanh<A: Arithmetic>(x: A) -> A {
    let (one, two) = (x.lit(1.0), x.lit(2.0));
    let (size, largest) = (x.abs(), LARGEST.like(x));
    let size = largest.if_lt(size, largest, size).named("size");
    let (n, r, s) = reduced(size * two);
    let power = n.power_of_two().named("power");
    // E = 2^n - 1 + 2^n (r + ..), the leading terms rounded once as they may cancel.
    let leading = power.fma(r, power - one).named("leading");
    let rest = (s + beyond_linear(r + s)).named("rest");
    let above = power.fma(rest, leading).named("above");
    let above_low = power.fma(rest, leading - above).named("above_low");
    // The sum of two numbers and its rounding error (Knuth 1969).
    let below = (above + two).named("below");
    let part = (below - above).named("part");
    let below_low = (above - (below - part)) + (two - part);
    // A quotient and its correction.
    let inverse = (one / below).named("inverse");
    let quotient = (above * inverse).named("quotient");
    let left = (-quotient).fma(below, above) + (above_low - quotient * (below_low + above_low));
    left.fma(inverse, quotient).copysign(x)
}
