//! The exponential function.

use super::{Arithmetic, Constant, LN_2, Polynomial, round_product, scale};

/// (e^r - 1 - r) / r² for |r| ≤ ln(2)/2; e^r is then off by 2^-28 and 2^-56 of itself.
const TAIL: Polynomial = Polynomial {
    f32: &[
        0.4999999403953552,
        0.1666652113199234,
        0.04166838899254799,
        0.008368726819753647,
        0.0013814576668664813,
    ],
    f64: &[
        0.5000000000000011,
        0.16666666666666413,
        0.04166666666653,
        0.008333333333494654,
        0.0013888888943676936,
        0.00019841269506276364,
        2.4801493045056424e-05,
        2.7557586539872696e-06,
        2.7630269261785254e-07,
        2.5000042660032903e-08,
    ],
};

/// Arguments beyond overflow and underflow; larger ones have the same result.
const LARGEST: Constant = Constant { f32: 120.0, f64: 800.0 };

/// `x` as n ln 2 + r + s: n, r, s. The difference x - n ln 2 is exact in `r` for the leading digits of ln 2 (Cody and
/// Waite 1980), and s is the share of the other digits.
#[inline(always)]
pub(super) fn reduced<A: Arithmetic>(x: A) -> (A, A, A) {
    let (ln2, ln2_low, _) = LN_2.like(x);
    let n = round_product(x, x.lit(std::f64::consts::LOG2_E)).named("n");
    (n, (-n).fma(ln2, x), -n * ln2_low)
}

/// e^r - 1 - r.
#[inline(always)]
pub(super) fn beyond_linear<A: Arithmetic>(r: A) -> A {
    r * r * TAIL.at(r)
}

/// e^x.
#[inline(always)]
pub fn exp<A: Arithmetic>(x: A) -> A {
    let largest = LARGEST.like(x);
    let bounded = x.if_lt(-largest, -largest, largest.if_lt(x, largest, x));
    let (n, r, s) = reduced(bounded.named("bounded"));
    let value = x.lit(1.0) + (r + (s + beyond_linear(r + s)));
    scale(value.named("value"), n)
}
