//! A number of about 31 digits, so that the error of a difference of tenth order is seen far above
//! that of rounding.

use std::ops::{Add, Div, Mul, Neg, Sub};

use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::{Arithmetic, Precision};

/// The unevaluated sum of two `f64`, the second at most half a unit in the last place of the first
/// (Dekker, Numer. Math. 18, 224, 1971; Hida, Li & Bailey, ARITH-15, 155, 2001).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct Double {
    high: f64,
    low: f64,
}

/// Two numbers as their rounded sum and its error.
fn two_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let part = high - a;
    let low = (a - (high - part)) + (b - part);
    Double { high, low }
}

/// The same where the first is not the smaller one.
fn quick_two_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let low = b - (high - a);
    Double { high, low }
}

/// Two numbers as their rounded product and its error.
fn two_product(a: f64, b: f64) -> Double {
    let high = a * b;
    let low = a.mul_add(b, -high);
    Double { high, low }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Double { high, low: 0.0 }
    }
}

impl Add for Double {
    type Output = Double;
    fn add(self, other: Double) -> Double {
        let (high, low) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let sum = quick_two_sum(high.high, high.low + low.high);
        quick_two_sum(sum.high, sum.low + low.low)
    }
}

impl Neg for Double {
    type Output = Double;
    fn neg(self) -> Double {
        let (high, low) = (-self.high, -self.low);
        Double { high, low }
    }
}

impl Sub for Double {
    type Output = Double;
    fn sub(self, other: Double) -> Double {
        self + -other
    }
}

impl Mul for Double {
    type Output = Double;
    fn mul(self, other: Double) -> Double {
        let product = two_product(self.high, other.high);
        let crossed = self.high.mul_add(other.low, self.low * other.high);
        quick_two_sum(product.high, product.low + crossed)
    }
}

impl Div for Double {
    type Output = Double;
    fn div(self, other: Double) -> Double {
        let first = self.high / other.high;
        let rest = self - other * first.into();
        let second = rest.high / other.high;
        let rest = rest - other * second.into();
        quick_two_sum(first, second) + (rest.high / other.high).into()
    }
}

impl Arithmetic for Double {
    fn precision(self) -> Precision {
        Precision::F64
    }
    fn lit(self, value: f64) -> Self {
        value.into()
    }
    /// Rounded twice, each time to 31 digits.
    fn fma(self, b: Self, c: Self) -> Self {
        self * b + c
    }
    fn sqrt(self) -> Self {
        let root = Double::from(self.high.sqrt());
        match root.high > 0.0 {
            true => root + (self - root * root) / (root + root),
            false => root,
        }
    }
    fn abs(self) -> Self {
        self.copysign(Double::from(1.0))
    }
    fn if_lt(self, b: Self, yes: Self, no: Self) -> Self {
        if self < b { yes } else { no }
    }
    fn if_le(self, b: Self, yes: Self, no: Self) -> Self {
        if self <= b { yes } else { no }
    }
    fn if_eq(self, b: Self, yes: Self, no: Self) -> Self {
        if self == b { yes } else { no }
    }
    fn copysign(self, sign: Self) -> Self {
        match self.high.is_sign_negative() == sign.high.is_sign_negative() {
            true => self,
            false => -self,
        }
    }
    fn exponent(self) -> Self {
        // A power of two less a little is below it.
        let below = self.low < 0.0 && self.high.significand() == 1.0;
        (self.high.exponent() - f64::from(u8::from(below))).into()
    }
    fn significand(self) -> Self {
        self * (-self.exponent()).power_of_two()
    }
    fn power_of_two(self) -> Self {
        self.high.power_of_two().into()
    }
}

impl Real for Double {
    const ZERO: Self = Double {
        high: 0.0,
        low: 0.0,
    };
    const NAME: &'static str = "Double";
    const BYTES: usize = size_of::<Double>();
    const PRECISION: Precision = Precision::F64;

    fn from_f64(value: f64) -> Self {
        value.into()
    }
    fn to_f64(self) -> f64 {
        self.high
    }
    fn canonical_bits(self) -> u64 {
        self.high.canonical_bits()
    }
}

/// π
pub(crate) const PI: Double = Double {
    high: std::f64::consts::PI,
    low: 1.224_646_799_147_353_2e-16,
};

impl Double {
    /// A power with a whole exponent.
    pub(crate) fn powi(self, exponent: u32) -> Double {
        (0..exponent).fold(1.0.into(), |power, _| power * self)
    }
}

/// The sine of `part/whole` of a full turn.
pub(crate) fn sine(part: i64, whole: i64) -> Double {
    // An angle of at most a quarter of a turn, where the terms of the series do not cancel much.
    let half = (2 * part).rem_euclid(2 * whole);
    let half = match 2 * half {
        twice if twice > 3 * whole => half - 2 * whole,
        twice if twice > whole => whole - half,
        _ => half,
    };
    let angle = PI * (half as f64).into() / (whole as f64).into();
    let square = angle * angle;
    let mut term = angle;
    let mut sum = angle;
    for n in (2..40).step_by(2) {
        term = -(term * square) / f64::from(n * (n + 1)).into();
        sum = sum + term;
    }
    sum
}

/// The cosine of `part/whole` of a full turn.
pub(crate) fn cosine(part: i64, whole: i64) -> Double {
    sine(4 * part + whole, 4 * whole)
}

#[test]
fn doubles_have_thirty_digits() {
    let (two, three) = (Double::from(2.0), Double::from(3.0));
    for part in -70..70 {
        let (sine, cosine) = (sine(part, 60), cosine(part, 60));
        let f64 = (std::f64::consts::TAU * part as f64 / 60.0).sin();
        assert!((sine.to_f64() - f64).abs() < 1e-14, "{part}");
        let one = sine * sine + cosine * cosine - 1.0.into();
        assert!(one.high.abs() < 1e-30, "{part}: {one:?}");
    }
    let half = sine(1, 12) - Double::from(0.5);
    assert!(half.high.abs() < 1e-30, "{half:?}");
    let third = two / three * three - two;
    assert!(third.high.abs() < 1e-30, "{third:?}");
    let root = two.sqrt() * two.sqrt() - two;
    assert!(root.high.abs() < 1e-30, "{root:?}");
    let almost = two - Double::from(1e-25);
    assert_eq!(almost.exponent(), 0.0.into());
    assert_eq!(almost.significand(), almost);
    assert_eq!((-almost).abs(), almost);
}
