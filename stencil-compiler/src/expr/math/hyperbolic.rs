//! The hyperbolic sine and cosine.

use super::exp::reduced;
use super::{Arithmetic, Constant, Polynomial, scale};

/// (sinh(r)/r - 1) / r² in powers of z = r², for |r| ≤ ln(2)/2; the sine is then off by 2^-37 and 2^-61 of itself.
const SINH: Polynomial = Polynomial {
    f32: &[0.1666666716337204, 0.008333289064466953, 0.0001990496093640104],
    f64: &[
        0.16666666666666677,
        0.008333333333321615,
        0.0001984126988615992,
        2.7557244180408448e-06,
        2.5109045442971905e-08,
    ],
};

/// (cosh(r) - 1) / r² likewise; the cosine is then off by 2^-37 and 2^-73 of itself.
const COSH: Polynomial = Polynomial {
    f32: &[0.5, 0.041666265577077866, 0.0013946229591965675],
    f64: &[
        0.5,
        0.04166666666666671,
        0.0013888888888863931,
        2.4801587363405494e-05,
        2.755724181646111e-07,
        2.092442803019482e-09,
    ],
};

/// Arguments beyond overflow; larger ones have the same result.
const LARGEST: Constant = Constant { f32: 120.0, f64: 800.0 };
/// From this power of two on, its inverse is lost beside it.
const LOST: Constant = Constant { f32: 30.0, f64: 60.0 };

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh<A: Arithmetic>(x: A) -> A {
    let (n, sine, _) = both(x);
    scale(sine.named("over_power"), n).copysign(x)
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh<A: Arithmetic>(x: A) -> A {
    let (n, _, cosine) = both(x);
    scale(cosine.named("over_power"), n)
}

/// n, sinh(|x|) / 2^n and cosh(|x|) / 2^n.
///
/// With |x| = n ln 2 + r, they are sums of products of the functions of n ln 2, which are (1 ∓ 4^-n)/2 over 2^n, and of
/// those of r.
#[inline(always)]
fn both<A: Arithmetic>(x: A) -> (A, A, A) {
    let (half, size, largest) = (x.lit(0.5), x.abs(), LARGEST.like(x));
    let size = largest.if_lt(size, largest, size).named("size");
    let (n, r, s) = reduced(size);
    let lost = LOST.like(x);
    let bounded = n.if_lt(lost, n, lost).named("bounded");
    let inverse = (-(bounded + bounded)).power_of_two().named("inverse");
    let sine = Rounded::new(-half, inverse, half, "sine");
    let cosine = Rounded::new(half, inverse, half, "cosine");
    // Beyond r and one.
    let all = (r + s).named("all");
    let z = (all * all).named("z");
    let odd = (all * z).fma(SINH.at(z), s).named("odd");
    let even = (z * COSH.at(z)).named("even");
    (n, sum(sine, cosine, r, odd, even), sum(cosine, sine, r, odd, even))
}

/// A sum, and what its rounding has lost.
#[derive(Clone, Copy)]
struct Rounded<A> {
    value: A,
    lost: A,
}

impl<A: Arithmetic> Rounded<A> {
    /// `a * b + c`, where the sum is close to `c`.
    #[inline(always)]
    fn new(a: A, b: A, c: A, name: &'static str) -> Self {
        let value = a.fma(b, c).named(name);
        Rounded { value, lost: a.fma(b, c - value) }
    }
}

/// `first * (1 + even) + second * (r + odd)`, the leading terms with the error of their rounding.
#[inline(always)]
fn sum<A: Arithmetic>(first: Rounded<A>, second: Rounded<A>, r: A, odd: A, even: A) -> A {
    let leading = Rounded::new(second.value, r, first.value, "leading");
    let low = leading.lost + second.lost.fma(r, first.lost);
    leading.value + (low + first.value.fma(even, second.value * odd))
}
