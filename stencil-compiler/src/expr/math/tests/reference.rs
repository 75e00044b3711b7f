//! Functions to about thirty digits: sums of two `f64` (Dekker 1971), and series.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// An unevaluated sum, the second below the last digit of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Double(pub(super) f64, pub(super) f64);

const LN_2: Double = Double(std::f64::consts::LN_2, 2.3190468138462996e-17);

fn two_sum(a: f64, b: f64) -> Double {
    let sum = a + b;
    let part = sum - a;
    Double(sum, (a - (sum - part)) + (b - part))
}

fn two_product(a: f64, b: f64) -> Double {
    Double(a * b, a.mul_add(b, -(a * b)))
}

impl From<f64> for Double {
    fn from(value: f64) -> Self {
        Double(value, 0.0)
    }
}

impl Add for Double {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        let (high, low) = (two_sum(self.0, b.0), two_sum(self.1, b.1));
        let sum = two_sum(high.0, high.1 + low.0);
        two_sum(sum.0, sum.1 + low.1)
    }
}

impl Neg for Double {
    type Output = Self;
    fn neg(self) -> Self {
        Double(-self.0, -self.1)
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        let product = two_product(self.0, b.0);
        two_sum(product.0, product.1 + (self.0 * b.1 + self.1 * b.0))
    }
}

impl Div for Double {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let first = self.0 / b.0;
        let rest = self - b * first.into();
        let second = rest.0 / b.0;
        let rest = rest - b * second.into();
        two_sum(first, second) + (rest.0 / b.0).into()
    }
}

impl Double {
    /// The product with a power of two, exact unless it underflows.
    pub(super) fn times(self, power: f64) -> Self {
        Double(self.0 * power, self.1 * power)
    }
}

/// x^first / first! + .., every second power, with the sign changed from term to term by `sign`.
fn taylor(x: Double, first: i32, sign: f64) -> Double {
    let mut term = if first == 0 { 1.0.into() } else { x };
    let (mut sum, square) = (term, x * x);
    for k in (first + 2..36).step_by(2) {
        term = (term * square).times(sign) / f64::from(k * (k - 1)).into();
        sum = sum + term;
    }
    sum
}

/// e^x as a product with a power of two, whose exponent is the second result.
pub(super) fn exp(x: Double) -> (Double, i32) {
    let n = (x.0 / LN_2.0).round();
    let r = x - LN_2 * n.into();
    (taylor(r, 0, 1.0) + taylor(r, 1, 1.0), n as i32)
}

/// The logarithm of a positive number.
pub(super) fn log(x: f64) -> Double {
    let (mut m, mut e) = (x, 0.0);
    while m > std::f64::consts::SQRT_2 {
        (m, e) = (m * 0.5, e + 1.0);
    }
    while m < std::f64::consts::FRAC_1_SQRT_2 {
        (m, e) = (m * 2.0, e - 1.0);
    }
    let s = (two_sum(m, -1.0)) / two_sum(m, 1.0);
    let (mut term, mut sum, square) = (s, s, s * s);
    for k in (3..49).step_by(2) {
        term = term * square;
        sum = sum + term / f64::from(k).into();
    }
    sum.times(2.0) + LN_2 * e.into()
}

/// Sine and cosine of an angle below 2^30 in size.
pub(super) fn sin_cos(x: f64) -> (Double, Double) {
    const HALF_PI: [f64; 4] =
        [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33, 5.56e-50];
    let n = (x / HALF_PI[0]).round();
    let first = two_product(n, HALF_PI[0]);
    let mut r = two_sum(x - first.0, -first.1);
    for part in &HALF_PI[1..] {
        r = r - two_product(n, *part);
    }
    let (sin, cos) = (taylor(r, 1, -1.0), taylor(r, 0, -1.0));
    match n.rem_euclid(4.0) as u8 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The hyperbolic tangent of a number below 300 in size.
pub(super) fn tanh(x: f64) -> Double {
    if x.abs() < 0.5 {
        return taylor(x.into(), 1, 1.0) / taylor(x.into(), 0, 1.0);
    }
    let (value, n) = exp((2.0 * x).into());
    let value = value.times(2_f64.powi(n));
    (value - 1.0.into()) / (value + 1.0.into())
}

/// The hyperbolic sine of a number below 709 in size.
pub(super) fn sinh(x: f64) -> Double {
    if x.abs() < 0.5 {
        return taylor(x.into(), 1, 1.0);
    }
    let (above, below) = halves(x);
    above - below
}

/// The hyperbolic cosine of a number below 709 in size.
pub(super) fn cosh(x: f64) -> Double {
    let (above, below) = halves(x);
    above + below
}

/// e^x / 2 and e^-x / 2.
fn halves(x: f64) -> (Double, Double) {
    let half = |x: f64| {
        let (value, n) = exp(x.into());
        value.times(2_f64.powi(n - 1))
    };
    (half(x), half(-x))
}

/// The error function: 2/√π e^(-x²) times the sum of (2x²)^k x / (2k+1)!!, whose terms have one sign.
pub(super) fn erf(x: f64) -> Double {
    if x.abs() > 9.0 {
        return x.signum().into();
    }
    const FACTOR: Double = Double(std::f64::consts::FRAC_2_SQRT_PI, 1.533545961316588e-17);
    let square = two_product(x, x);
    let (mut term, mut sum) = (Double::from(x), Double::from(x));
    for k in 1..250 {
        term = term * square.times(2.0) / f64::from(2 * k + 1).into();
        sum = sum + term;
    }
    let (power, n) = exp(-square);
    FACTOR * sum * power.times(2_f64.powi(n))
}

/// The remainder with the sign of `y`.
pub(super) fn modulo(x: f64, y: f64) -> Double {
    let rest = x % y;
    let other = rest != 0.0 && (rest < 0.0) != (y < 0.0);
    if other { two_sum(rest, y) } else { rest.into() }
}

/// The cube root of a normal number between 1e-100 and 1e100 in size.
pub(super) fn cbrt(x: f64) -> Double {
    let root: Double = x.cbrt().into();
    let square = root * root;
    root - (square * root - x.into()) / (square * 3.0.into())
}

/// A positive number to a power, as [`exp`] gives it.
pub(super) fn pow(x: f64, y: f64) -> (Double, i32) {
    exp(log(x) * y.into())
}

/// The angle of a point whose coordinates are not far from one.
pub(super) fn atan2(y: f64, x: f64) -> Double {
    let angle = y.atan2(x);
    let (sin, cos) = sin_cos(angle);
    let (x, y): (Double, Double) = (x.into(), y.into());
    let tangent = (y * cos - x * sin) / (x * cos + y * sin);
    Double::from(angle) + tangent
}
