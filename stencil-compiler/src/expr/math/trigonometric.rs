//! Sine and cosine.

use super::{Arithmetic, Parts, Polynomial, round_product};

/// (sin(r)/r - 1) / r² in powers of z = r², for |r| ≤ π/4; the sine is then off by 2^-27 and 2^-57
/// of itself.
const SIN: Polynomial = Polynomial {
    f32: &[-0.16666649281978607, 0.008331852033734322, -0.00019475060980767012],
    f64: &[
        -0.1666666666666663,
        0.008333333333321896,
        -0.00019841269829405224,
        2.755731355527352e-06,
        -2.5050737092908284e-08,
        1.5895594256661868e-10,
    ],
};

/// (cos(r) - 1 + r²/2) / r⁴ in powers of z = r², for |r| ≤ π/4; the cosine is then off by 2^-32 and
/// 2^-59 of itself.
const COS: Polynomial = Polynomial {
    f32: &[0.04166663810610771, -0.0013886896194890141, 2.4387132725678384e-05],
    f64: &[
        0.04166666666666659,
        -0.001388888888887274,
        2.4801587288648806e-05,
        -2.7557314119234767e-07,
        2.087569249014817e-09,
        -1.1358094786796317e-11,
    ],
};

const HALF_PI: Parts =
    Parts(std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33);

/// The sine of an angle in radians.
#[inline(always)]
pub fn sin<A: Arithmetic>(x: A) -> A {
    let (n, r, s) = reduced(x);
    // The sine of a negative zero is one.
    x.if_eq(x.lit(0.0), x, in_quadrant(n, r, s))
}

/// The cosine of an angle in radians.
#[inline(always)]
pub fn cos<A: Arithmetic>(x: A) -> A {
    let (n, r, s) = reduced(x);
    in_quadrant(n + x.lit(1.0), r, s)
}

/// `x` as n π/2 + r + s, s below the last digit of r: n, r, s (Cody and Waite 1980).
#[inline(always)]
fn reduced<A: Arithmetic>(x: A) -> (A, A, A) {
    let (first, second, third) = HALF_PI.like(x);
    let n = round_product(x, x.lit(std::f64::consts::FRAC_2_PI)).named("n");
    // Exact: both sides are multiples of the last digit of `first`, and nearly cancel.
    let rest = (-n).fma(first, x).named("rest");
    let product = (n * second).named("product");
    let lost = n.fma(second, -product);
    // The sum of two numbers and its rounding error (Knuth 1969): x may be close to n π/2, so that
    // none is known to be the larger.
    let r = (rest - product).named("sum");
    let part = (rest - r).named("part");
    let s = (rest - (r + part)) + (part - product);
    let s = s - n.fma(third, lost);
    // Beyond the range nothing is left of the angle; a bound keeps the result between -1 and 1.
    let most = x.lit(std::f64::consts::FRAC_PI_4 * 1.06);
    let s = r.abs().if_lt(most, s, x.lit(0.0)).named("s");
    let r = r.if_lt(-most, -most, most.if_lt(r, most, r)).named("r");
    (n, r, s)
}

/// The sine of (n π/2 + r + s).
#[inline(always)]
fn in_quadrant<A: Arithmetic>(n: A, r: A, s: A) -> A {
    let (half, one) = (r.lit(0.5), r.lit(1.0));
    let z = (r * r).named("z");
    let bend = s.fma((-half).fma(z, one), r * z * SIN.at(z));
    let sine = (r + bend).named("sine");
    // 1 - r²/2 and its rounding error.
    let leading = (-half * r).fma(r, one).named("leading");
    let lost = (-half * r).fma(r, one - leading);
    let cosine = leading + (lost + (z * z).fma(COS.at(z), -(r * s)));
    let cosine = cosine.named("cosine");
    // The quadrant, between -2 and 2.
    let quadrant = (-r.lit(4.0)).fma(round_product(n, r.lit(0.25)), n);
    let quadrant = quadrant.named("quadrant");
    let odd = quadrant.abs().if_eq(one, cosine, sine);
    let odd = odd.named("odd");
    // Negative in the quadrants -1, and -2 or 2.
    let far = r.lit(1.5);
    quadrant.if_lt(-half, -odd, far.if_lt(quadrant, -odd, odd))
}
