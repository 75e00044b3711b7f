//! The cube root.

use super::{Arithmetic, Constant, Polynomial, Precision, round_product};

/// m^(-1/3) for m between 1 and 2, to 2^-9 and 2^-12 of itself.
const INVERSE: Polynomial = Polynomial {
    f32: &[1.3881568908691406, -0.48332253098487854, 0.09339792281389236],
    f64: &[1.541887054476879, -0.8099604043617712, 0.31775717917032154, -0.04993691371153518],
};

/// A power of eight that brings the numbers below the normal range into it, and its cube root's
/// exponent.
const FACTOR: Constant = Constant { f32: 16_777_216.0, f64: 18_014_398_509_481_984.0 };
const FACTOR_EXPONENT: Constant = Constant { f32: 8.0, f64: 18.0 };

/// The cube root, of negative numbers as well.
///
/// An inverse cube root gains digits in one step of third order, and the cube root that follows
/// from it twice as many in one step of Newton's method, whose residual is computed exactly.
#[inline(always)]
pub fn cbrt<A: Arithmetic>(x: A) -> A {
    let (zero, one, third) = (x.lit(0.0), x.lit(1.0), x.lit(1.0 / 3.0));
    let smallest = match x.precision() {
        Precision::F32 => x.lit(f64::from(f32::MIN_POSITIVE)),
        Precision::F64 => x.lit(f64::MIN_POSITIVE),
    };
    let size = x.abs().named("size");
    let normal = size.if_lt(smallest, size * FACTOR.like(x), size);
    let normal = normal.named("normal");
    // x = m 2^(3k), m between 1/2 and 4.
    let e = normal.exponent().named("e");
    let k = round_product(e, third).named("k");
    let j = (-x.lit(3.0)).fma(k, e).named("j");
    let significand = normal.significand().named("significand");
    let m = (significand * j.power_of_two()).named("m");
    let by_j =
        j.if_lt(zero, x.lit(1.2599210498948732), zero.if_lt(j, x.lit(0.7937005259840998), one));
    let z = (INVERSE.at(significand) * by_j).named("z");
    let h = (-(m * z * z)).fma(z, one).named("h");
    // (1 - h)^(-1/3) = 1 + h/3 + 2h²/9 + ..
    let z = (z * h).fma(h.fma(x.lit(2.0 / 9.0), third), z).named("z");
    let square = (z * z).named("square");
    let y = (m * square).named("y");
    let y2 = (y * y).named("y2");
    let residual = (-y2).fma(y, m) - y.fma(y, -y2) * y;
    let root = (residual * square).fma(third, y);
    let k = size.if_lt(smallest, k - FACTOR_EXPONENT.like(x), k);
    let value = (root * k.power_of_two()).copysign(x);
    zero.if_lt(size, size.if_lt(x.lit(f64::INFINITY), value, x), x)
}
