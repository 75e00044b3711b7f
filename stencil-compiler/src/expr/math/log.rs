//! The natural logarithm.

use super::{Arithmetic, LN_2, Polynomial, split};

/// (2 artanh(s)/s - 2) / s² in powers of z = s², for |s| ≤ (√2-1)/(√2+1); the logarithm is then off
/// by 2^-30 and 2^-59 of itself.
const TAIL: Polynomial = Polynomial {
    f32: &[0.6666677594184875, 0.3997754156589508, 0.29871729016304016],
    f64: &[
        0.6666666666666734,
        0.3999999999941468,
        0.2857142874238733,
        0.2222219857320743,
        0.1818356432520884,
        0.15314050569944668,
        0.14795949564916946,
    ],
};

/// The natural logarithm; of zero it is -∞, of negative numbers NaN.
///
/// With x = 2^e (1 + f) and s = f / (2 + f), log(1 + f) = 2 artanh(s) = f - f²/2 + s (f²/2 + t),
/// where t is the series of 2 artanh(s)/s beyond its constant term. The leading term f is exact.
#[inline(always)]
pub fn log<A: Arithmetic>(x: A) -> A {
    let (m, e) = split(x);
    let (ln2, ln2_low, _) = LN_2.like(x);
    let f = (m - x.lit(1.0)).named("f");
    let s = (f / (f + x.lit(2.0))).named("s");
    let z = (s * s).named("z");
    let half_square = (x.lit(0.5) * f * f).named("half_square");
    let series = z.fma(TAIL.at(z), half_square).named("series");
    let low = s.fma(series, e * ln2_low) - half_square;
    let value = e.fma(ln2, f + low).named("value");
    special(x, value)
}

#[inline(always)]
fn special<A: Arithmetic>(x: A, value: A) -> A {
    let (zero, infinity) = (x.lit(0.0), x.lit(f64::INFINITY));
    let of_others = x.if_eq(zero, -infinity, x.lit(f64::NAN));
    zero.if_lt(x, x.if_lt(infinity, value, x), of_others)
}
