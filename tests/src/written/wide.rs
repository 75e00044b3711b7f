//! Numbers of twice the precision: the unevaluated sum of two `f64`.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `hi + lo` with `|lo| <= ulp(hi) / 2`: about 106 bits.
///
/// Sums and products by T. J. Dekker, Numer. Math. 18, 224 (1971), and D. E. Knuth, The Art of Computer Programming 2,
/// 4.2.2; relative errors are below 2^-100.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Wide {
    hi: f64,
    lo: f64,
}

/// The logarithm of two.
const LN_2: Wide = Wide { hi: std::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };

/// A quarter of a turn.
const HALF_PI: Wide = Wide { hi: std::f64::consts::FRAC_PI_2, lo: 6.123_233_995_736_766e-17 };

impl Wide {
    /// Zero.
    pub const ZERO: Wide = Wide { hi: 0.0, lo: 0.0 };

    /// One.
    pub const ONE: Wide = Wide { hi: 1.0, lo: 0.0 };

    /// Half a turn.
    pub const PI: Wide = Wide { hi: std::f64::consts::PI, lo: 1.224_646_799_147_353_2e-16 };

    /// Makes the same number.
    pub const fn new(value: f64) -> Wide {
        Wide { hi: value, lo: 0.0 }
    }

    /// Returns the quotient of two integers.
    pub fn ratio(above: i128, below: i128) -> Wide {
        Wide::integer(above) / Wide::integer(below)
    }

    /// Returns the integer, exact up to 106 bits.
    pub fn integer(value: i128) -> Wide {
        let hi = value as f64;
        two_sum(hi, value.wrapping_sub(hi as i128) as f64)
    }

    /// Returns the nearest `f64`.
    pub fn to_f64(self) -> f64 {
        self.hi
    }

    /// Returns the number less the nearest `f64`.
    pub fn rest(self) -> f64 {
        self.lo
    }

    /// Is it an `f64` (or, with `single`, an `f32`)?
    pub fn is_exact(self, single: bool) -> bool {
        self.lo == 0.0 && (!single || f64::from(self.hi as f32) == self.hi)
    }

    /// Returns its size, rounded.
    pub fn size(self) -> f64 {
        self.hi.abs()
    }

    /// Returns the number without its sign.
    pub fn magnitude(self) -> Wide {
        if self.hi < 0.0 { -self } else { self }
    }

    /// Is it below zero?
    pub fn is_negative(self) -> bool {
        self.hi < 0.0
    }

    /// Returns a power with an integer exponent.
    pub fn powi(self, exponent: i32) -> Wide {
        let power = (0..exponent.unsigned_abs()).fold(Wide::ONE, |product, _| product * self);
        if exponent < 0 { Wide::ONE / power } else { power }
    }

    /// Returns the square root; NaN below zero.
    pub fn root(self) -> Wide {
        if self.hi <= 0.0 {
            return Wide::new(self.hi.sqrt());
        }
        let root = Wide::new(self.hi.sqrt());
        root + (self - root * root) / (root + root)
    }

    /// Returns the cube root.
    pub fn cbrt(self) -> Wide {
        let mut root = Wide::new(self.hi.cbrt());
        for _ in 0..2 {
            let square = root * root;
            if square.hi > 0.0 {
                root = root - (square * root - self) / (Wide::new(3.0) * square);
            }
        }
        root
    }

    /// Returns e to this power: a Taylor series of a 512th of the rest beyond a power of two.
    pub fn exp(self) -> Wide {
        let halvings = 9;
        let exponent = (self.hi / LN_2.hi).round();
        let scale = 0.5_f64.powi(halvings);
        let rest = (self - LN_2 * Wide::new(exponent)) * Wide::new(scale);
        let mut term = rest;
        let mut less_one = rest;
        for n in 2..14 {
            term = term * rest / Wide::new(f64::from(n));
            less_one = less_one + term;
        }
        for _ in 0..halvings {
            less_one = less_one + less_one + less_one * less_one;
        }
        let power = 2.0_f64.powi(exponent as i32);
        (less_one + Wide::ONE) * Wide::new(power)
    }

    /// Returns the natural logarithm, by Newton's method on [`exp`](Self::exp).
    pub fn log(self) -> Wide {
        let mut log = Wide::new(self.hi.ln());
        if log.hi.is_finite() {
            for _ in 0..2 {
                log = log + self * (-log).exp() - Wide::ONE;
            }
        }
        log
    }

    /// Returns sine and cosine of an angle of a few thousand turns at most.
    fn sin_cos(self) -> (Wide, Wide) {
        let quarters = (self.hi / HALF_PI.hi).round();
        let rest = self - HALF_PI * Wide::new(quarters);
        let square = rest * rest;
        let series = |first: Wide, begin: u32| {
            let (mut term, mut sum) = (first, first);
            for n in 1..15 {
                let at = f64::from(begin + 2 * n);
                term = -(term * square) / Wide::new(at * (at - 1.0));
                sum = sum + term;
            }
            sum
        };
        let (sin, cos) = (series(rest, 1), series(Wide::ONE, 0));
        match quarters.rem_euclid(4.0) as u32 {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    }

    /// Returns the sine.
    pub fn sin(self) -> Wide {
        self.sin_cos().0
    }

    /// Returns the cosine.
    pub fn cos(self) -> Wide {
        self.sin_cos().1
    }

    /// Returns the hyperbolic tangent.
    pub fn tanh(self) -> Wide {
        if self.hi.abs() > 40.0 {
            return Wide::new(self.hi.signum());
        }
        let square = (self + self).exp();
        (square - Wide::ONE) / (square + Wide::ONE)
    }

    /// Returns the hyperbolic sine.
    pub fn sinh(self) -> Wide {
        if self.hi.abs() < 0.5 {
            return self.series(|n| (2 * n + 1) * (2 * n));
        }
        (self.exp() - (-self).exp()) * Wide::new(0.5)
    }

    /// Returns the hyperbolic cosine.
    pub fn cosh(self) -> Wide {
        (self.exp() + (-self).exp()) * Wide::new(0.5)
    }

    /// Returns self and the terms that follow it, each of which is the one before times self² over a number.
    fn series(self, below: impl Fn(u32) -> u32) -> Wide {
        let square = self * self;
        let (mut term, mut sum) = (self, self);
        for n in 1..250 {
            term = term * square / Wide::new(f64::from(below(n)));
            sum = sum + term;
        }
        sum
    }

    /// Returns the error function: e^(-x²) times a series whose terms have one sign.
    pub fn erf(self) -> Wide {
        if self.hi.abs() > 9.0 {
            return Wide::new(self.hi.signum());
        }
        // Terms with x √2 in place of x, as each has twice its square.
        let stretched = self * Wide::new(2.0).root();
        let sum = stretched.series(|n| 2 * n + 1);
        sum * (-(self * self)).exp() * Wide::new(2.0).root() / Wide::PI.root()
    }

    /// Returns the largest integer that is not larger.
    pub fn floor(self) -> Wide {
        let hi = self.hi.floor();
        match hi == self.hi {
            true => quick_sum(hi, self.lo.floor()),
            false => Wide::new(hi),
        }
    }

    /// Returns the angle of the point (x, self).
    pub fn atan2(self, x: Wide) -> Wide {
        let guess = Wide::new(self.hi.atan2(x.hi));
        let (sin, cos) = guess.sin_cos();
        let along = x * cos + self * sin;
        if along.hi == 0.0 {
            return guess;
        }
        guess + (self * cos - x * sin) / along
    }

    /// Is it less?
    pub fn less(self, other: Wide) -> bool {
        (self - other).hi < 0.0
    }
}

/// Returns the sum of two numbers, exactly.
fn two_sum(a: f64, b: f64) -> Wide {
    let hi = a + b;
    let seen = hi - a;
    Wide { hi, lo: (a - (hi - seen)) + (b - seen) }
}

/// Returns the same if |a| is not below |b|.
fn quick_sum(a: f64, b: f64) -> Wide {
    let hi = a + b;
    Wide { hi, lo: b - (hi - a) }
}

/// Returns the product of two numbers, exactly.
fn two_product(a: f64, b: f64) -> Wide {
    let hi = a * b;
    Wide { hi, lo: a.mul_add(b, -hi) }
}

impl Add for Wide {
    type Output = Wide;

    fn add(self, other: Wide) -> Wide {
        let (high, low) = (two_sum(self.hi, other.hi), two_sum(self.lo, other.lo));
        let sum = quick_sum(high.hi, high.lo + low.hi);
        quick_sum(sum.hi, sum.lo + low.lo)
    }
}

impl Neg for Wide {
    type Output = Wide;

    fn neg(self) -> Wide {
        Wide { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for Wide {
    type Output = Wide;

    fn sub(self, other: Wide) -> Wide {
        self + -other
    }
}

impl Mul for Wide {
    type Output = Wide;

    fn mul(self, other: Wide) -> Wide {
        let product = two_product(self.hi, other.hi);
        let cross = self.hi.mul_add(other.lo, self.lo * other.hi);
        quick_sum(product.hi, product.lo + cross)
    }
}

impl Div for Wide {
    type Output = Wide;

    fn div(self, other: Wide) -> Wide {
        let first = self.hi / other.hi;
        if !first.is_finite() {
            return Wide::new(first);
        }
        let rest = self - other * Wide::new(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Wide::new(second);
        quick_sum(first, second) + Wide::new(rest.hi / other.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Wide, b: Wide) {
        let size = b.size().max(1.0);
        assert!((a - b).size() < 1e-29 * size, "{a:?} {b:?}");
    }

    #[test]
    fn functions_meet_identities_in_30_digits() {
        for at in [-7.3, -1.25, -0.4, 1e-3, 0.2, 0.9, 1.7, 3.3, 12.0] {
            let x = Wide::ratio((at * 1000.0) as i128, 1001);
            near(x.exp() * (-x).exp(), Wide::ONE);
            near(x.magnitude().log().exp(), x.magnitude());
            near(x.magnitude().root() * x.magnitude().root(), x.magnitude());
            near(x.cbrt() * x.cbrt() * x.cbrt(), x);
            near(x.sin() * x.sin() + x.cos() * x.cos(), Wide::ONE);
            near((x + x).sin(), Wide::new(2.0) * x.sin() * x.cos());
            near(x.sin().atan2(x.cos()).sin(), x.sin());
            let double = Wide::new(2.0) * x.tanh() / (Wide::ONE + x.tanh() * x.tanh());
            near((x + x).tanh(), double);
            near(x.cosh() * x.cosh(), Wide::ONE + x.sinh() * x.sinh());
            near(x.sinh() / x.cosh(), x.tanh());
            near(x.erf(), -(-x).erf());
            near(x.powi(-3) * x * x * x, Wide::ONE);
        }
        near(Wide::new(0.5).atan2(Wide::new(0.5)) * Wide::new(2.0), HALF_PI);
        near(Wide::new(2.0).log(), LN_2);
        // M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, table 7.1.
        assert_eq!(Wide::new(0.5).erf().to_f64(), 0.520_499_877_813_046_5);
        assert_eq!(Wide::new(2.0).erf().to_f64(), 0.995_322_265_018_952_7);
    }

    #[test]
    fn sums_and_products_lose_nothing_of_106_bits() {
        let small = Wide::new(2.0_f64.powi(-80));
        assert_eq!((Wide::ONE + small) - Wide::ONE, small);
        let small = Wide::new(2.0_f64.powi(-50));
        let product = (Wide::ONE + small) * (Wide::ONE - small);
        assert_eq!(Wide::ONE - product, small * small);
        near(Wide::ratio(1, 3) * Wide::new(3.0), Wide::ONE);
        assert_eq!((Wide::new(3.0) - small).floor(), Wide::new(2.0));
        assert_eq!((Wide::new(3.0) + small).floor(), Wide::new(3.0));
        assert_eq!(Wide::new(-0.5).floor(), Wide::new(-1.0));
        assert!(!Wide::ratio(1, 3).is_exact(false) && !Wide::new(0.1).is_exact(true));
    }
}
