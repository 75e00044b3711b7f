//! Elementary functions from exactly rounded operations: the same bits on every device.
//!
//! Each function is written once over [`Arithmetic`], without branches, so that a loop over rows
//! becomes vector code. `f32` functions use `f32` operations alone. [`recorded`] is a function as
//! an expression of the operations that it performs, of which emitters write device functions.
//!
//! Errors against the exact value, in units in the last place of the result (ULP). The largest seen
//! in `f32` are over all 2^32 arguments, of two arguments 2^32 pairs; in `f64` over 1.6e8 random
//! arguments; of [`sinh`], [`cosh`] and [`erf`] over every second argument and 1e7 random ones. Tests hold the
//! bounds.
//!
//! | function | bound | largest seen, `f32` | `f64` | where |
//! | --- | --- | --- | --- | --- |
//! | [`reciprocal`] | 1/2 | 1/2 | 1/2 | from 2^-126 to 2^126 (`f32`) and 2^-1022 to 2^1022 (`f64`) in size; infinite below, zero beyond |
//! | [`exp`] | 1 | 0.90 | 0.93 | everywhere |
//! | [`log`] | 1 | 0.84 | 0.86 | everywhere |
//! | [`sin`], [`cos`] | 1 | 0.86 | 0.78 | up to 2^20 (`f32`) and 2^30 (`f64`) in size |
//! | [`tanh`] | 1 | 0.94 | 0.94 | everywhere |
//! | [`sinh`] | 1 | 0.75 | 0.80 | everywhere |
//! | [`cosh`] | 1 | 0.74 | 0.70 | everywhere |
//! | [`erf`] | 1 | 0.77 | 0.89 | everywhere |
//! | [`floor`] | 0 | 0 | 0 | everywhere |
//! | [`modulo`] | 1/2 | 1/2 | 1/2 | quotients up to 2^46 (`f32`) and 2^104 (`f64`), NaN beyond |
//! | [`cbrt`] | 1 | 0.51 | 0.51 | everywhere |
//! | [`pow`] | 2 | 0.92 | 1.16 | everywhere |
//! | [`atan2`] | 2 | 1.58 | 1.51 | everywhere |
//!
//! Beyond their range, [`sin`] and [`cos`] of finite arguments are still between -1 and 1, and mean
//! nothing. Infinities, NaN, signed zeros and numbers below the normal range are treated as C99,
//! annex F, says, but by [`reciprocal`].
//!
//! Coefficients are minimax: found by the Remez algorithm in 70 digits for the stated interval and
//! error, then rounded.

use super::real::{Arithmetic, Precision};

mod atan2;
mod cbrt;
mod erf;
mod exp;
mod floor;
mod hyperbolic;
mod log;
mod pow;
mod reciprocal;
mod record;
mod tanh;
#[cfg(test)]
mod tests;
mod trigonometric;

pub use atan2::atan2;
pub use cbrt::cbrt;
pub use erf::erf;
pub use exp::exp;
pub use floor::{floor, modulo};
pub use hyperbolic::{cosh, sinh};
pub use log::log;
pub use pow::pow;
pub use reciprocal::reciprocal;
pub use record::{Recorded, Recording, recorded};
pub use tanh::tanh;
pub use trigonometric::{cos, sin};

/// A number for each precision.
#[derive(Clone, Copy)]
struct Constant {
    f32: f64,
    f64: f64,
}

impl Constant {
    /// The constant in the precision of `like`.
    #[inline(always)]
    fn like<A: Arithmetic>(self, like: A) -> A {
        match like.precision() {
            Precision::F32 => like.lit(self.f32),
            Precision::F64 => like.lit(self.f64),
        }
    }
}

/// A constant beyond the precision of any type: the sum of three numbers, each below the last
/// digit of the one before.
#[derive(Clone, Copy)]
struct Parts(f64, f64, f64);

impl Parts {
    /// The same as a sum of three numbers of the precision of `like`.
    #[inline(always)]
    fn like<A: Arithmetic>(self, like: A) -> (A, A, A) {
        let Parts(a, b, c) = self;
        let (a, b, c) = match like.precision() {
            Precision::F32 => {
                let first = f64::from(a as f32);
                let second = f64::from((a - first) as f32);
                (first, second, a - first - second + b)
            }
            Precision::F64 => (a, b, c),
        };
        (like.lit(a), like.lit(b), like.lit(c))
    }
}

const LN_2: Parts = Parts(std::f64::consts::LN_2, 2.3190468138462996e-17, 5.707708438416212e-34);

/// Coefficients of a polynomial from the lowest power on, for each precision.
struct Polynomial {
    f32: &'static [f64],
    f64: &'static [f64],
}

impl Polynomial {
    /// The value at `x`, by Horner's rule.
    #[inline(always)]
    fn at<A: Arithmetic>(&self, x: A) -> A {
        let coefficients = match x.precision() {
            Precision::F32 => self.f32,
            Precision::F64 => self.f64,
        };
        let mut at = coefficients.len() - 1;
        let mut sum = x.lit(coefficients[at]);
        while at > 0 {
            at -= 1;
            sum = sum.fma(x, x.lit(coefficients[at]));
        }
        sum
    }
}

/// The smallest number from which on all numbers are integers.
const INTEGERS: Constant = Constant { f32: 8_388_608.0, f64: 4_503_599_627_370_496.0 };
/// One and a half times as much: small numbers of either sign, added to it, become integers.
const ROUNDING: Constant = Constant { f32: 12_582_912.0, f64: 6_755_399_441_055_744.0 };

/// The integer nearest to a number below 2^21 (`f32`) or 2^50 (`f64`) in size, ties to even.
#[inline(always)]
fn round<A: Arithmetic>(x: A) -> A {
    let rounding = ROUNDING.like(x);
    (x + rounding) - rounding
}

/// The integer nearest to `x * factor`, whose size is bounded as in [`round`].
#[inline(always)]
fn round_product<A: Arithmetic>(x: A, factor: A) -> A {
    let rounding = ROUNDING.like(x);
    x.fma(factor, rounding) - rounding
}

/// The integer nearest to a number that is not negative, ties to even.
#[inline(always)]
fn round_any<A: Arithmetic>(x: A) -> A {
    let integers = INTEGERS.like(x);
    x.if_lt(integers, (x + integers) - integers, x)
}

/// `x * 2^n` for |n| < 2200 (`f64`) or 250 (`f32`), rounded once where it is not a normal number.
#[inline(always)]
fn scale<A: Arithmetic>(x: A, n: A) -> A {
    let half = round_product(n, n.lit(0.5)).named("half");
    x * half.power_of_two() * (n - half).power_of_two()
}

/// A positive number as m * 2^e with m between √½ and √2: m and e.
#[inline(always)]
fn split<A: Arithmetic>(x: A) -> (A, A) {
    let (smallest, factor, digits) = match x.precision() {
        Precision::F32 => (f64::from(f32::MIN_POSITIVE), 33_554_432.0, -25.0),
        Precision::F64 => (f64::MIN_POSITIVE, 18_014_398_509_481_984.0, -54.0),
    };
    let (smallest, zero, one) = (x.lit(smallest), x.lit(0.0), x.lit(1.0));
    let normal = x.if_lt(smallest, x * x.lit(factor), x).named("normal");
    let shift = x.if_lt(smallest, x.lit(digits), zero);
    let significand = normal.significand().named("significand");
    let large = x.lit(std::f64::consts::SQRT_2);
    let m = large.if_lt(significand, significand * x.lit(0.5), significand);
    let e = normal.exponent() + large.if_lt(significand, shift + one, shift);
    (m.named("m"), e.named("e"))
}
