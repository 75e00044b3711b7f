//! The angle of a point.

use super::{Arithmetic, Constant, Polynomial};

/// (atan(q)/q - 1) / q² in powers of z = q², for |q| ≤ 1/2; the angle is then off by 2^-27 and
/// 2^-57 of itself.
const TAIL: Polynomial = Polynomial {
    f32: &[
        -0.333333283662796,
        0.19999489188194275,
        -0.1427207887172699,
        0.10940983146429062,
        -0.07984064519405365,
        0.03872327506542206,
    ],
    f64: &[
        -0.3333333333333298,
        0.19999999999903162,
        -0.14285714276390069,
        0.11111110659798829,
        -0.09090896248388887,
        0.0769207396427269,
        -0.06663811098355997,
        0.05858301906288237,
        -0.051220180743977,
        0.04186536359381657,
        -0.027435430570306656,
        0.010117163951688555,
    ],
};

/// π/4 in so few digits that four times and thrice as much are exact, and the rest.
const QUARTER_PI: Constant = Constant { f32: 0.7853982448577881, f64: std::f64::consts::FRAC_PI_4 };
const QUARTER_PI_LOW: Constant =
    Constant { f32: -8.146034247147327e-08, f64: 3.061616997868383e-17 };
/// Sums of two numbers up to this size are finite.
const LARGE: Constant = Constant { f32: 8.507059173023462e37, f64: 2.247116418577895e307 };

/// The angle of the point (`x`, `y`) from the x axis, in radians between -π and π.
///
/// By symmetry it is a multiple of π/4, plus or minus the arc tangent of a quotient that is not
/// larger than one half.
#[inline(always)]
pub fn atan2<A: Arithmetic>(y: A, x: A) -> A {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    let (across, along) = (x.abs(), y.abs());
    let steep = across.if_lt(along, one, zero).named("steep");
    let (small, large) = bounded(across, along);
    // Beyond one half the angle to the diagonal is taken; that difference is exact.
    let limit = (large * x.lit(0.5)).named("limit");
    let q = limit.if_lt(small, small - large, small) / limit.if_lt(small, small + large, large);
    let q = q.named("q");
    let z = (q * q).named("z");
    // The angle is k π/4 plus or minus atan(q).
    let k = limit.if_lt(small, one, zero);
    let back = one.copysign(x).named("back");
    let minus = steep.if_eq(one, -back, back).named("minus");
    let base = steep.if_eq(one, x.lit(2.0), back.if_lt(zero, x.lit(4.0), zero));
    let k = minus.fma(k, base).named("k");
    let turned = (minus * q).named("turned");
    let low = (turned * z).fma(TAIL.at(z), k * QUARTER_PI_LOW.like(x));
    let angle = k.fma(QUARTER_PI.like(x), turned + low).copysign(y);
    x.if_eq(x, y.if_eq(y, angle, y), x)
}

/// The smaller and the larger, with the same quotient, and such that sums are finite and the larger
/// is neither zero nor infinite.
#[inline(always)]
fn bounded<A: Arithmetic>(a: A, b: A) -> (A, A) {
    let (zero, one, infinity) = (a.lit(0.0), a.lit(1.0), a.lit(f64::INFINITY));
    let small = b.if_lt(a, b, a);
    let large = b.if_lt(a, a, b);
    let factor = LARGE.like(a).if_lt(large, a.lit(0.125), one);
    let small = large.if_lt(infinity, small * factor, small.if_eq(infinity, one, zero));
    let large = large.if_lt(infinity, zero.if_lt(large, large * factor, one), one);
    (small.named("small"), large.named("large"))
}
