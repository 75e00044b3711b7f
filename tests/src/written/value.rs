//! Values with bounds of the error of evaluating them in a precision: a running error analysis.

use super::wide::Wide;

/// A number, and a bound of the error of an evaluation in the working precision.
///
/// J. H. Wilkinson, Rounding Errors in Algebraic Processes (1963); N. J. Higham, Accuracy and Stability of Numerical
/// Algorithms (2002), section 3.3.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The number.
    pub exact: Wide,
    /// The bound of the absolute error; infinite if it is not known.
    pub error: f64,
    /// Does rounding never make it negative, as for a square?
    pub no_sign: bool,
}

impl Value {
    /// Makes a number that is known without an error.
    pub fn exact(value: Wide) -> Value {
        Value { exact: value, error: 0.0, no_sign: !value.is_negative() }
    }

    /// Makes a value whose bound is not known.
    pub fn unknown() -> Value {
        Value::with(Wide::ZERO, f64::INFINITY)
    }

    fn with(exact: Wide, error: f64) -> Value {
        let error = if error.is_nan() { f64::INFINITY } else { error };
        Value { exact, error, no_sign: false }
    }

    /// Returns the largest size that its evaluation may have.
    pub fn largest(self) -> f64 {
        self.exact.size() + self.error
    }

    /// Returns the same, known to be never negative, like a square root.
    pub fn never_negative(self) -> Value {
        Value { no_sign: true, ..self }
    }

    /// Returns it with the other sign.
    pub fn negated(self) -> Value {
        Value { exact: -self.exact, error: self.error, no_sign: false }
    }
}

/// The working precision: the largest error of one rounding of a value.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// The error relative to a value.
    pub unit: f64,
    /// Is it single?
    pub single: bool,
}

impl Precision {
    /// Returns the distance from one to the next larger number.
    pub fn epsilon(self) -> f64 {
        match self.single {
            true => f64::from(f32::EPSILON),
            false => f64::EPSILON,
        }
    }

    /// Returns a number of the program, rounded if necessary.
    pub fn rounded(self, value: Wide) -> Value {
        let lost = if value.is_exact(self.single) { 0.0 } else { self.unit * value.size() };
        Value { error: lost, ..Value::exact(value) }
    }

    /// Returns `a + b`: terms may be added in any order, and factors distributed, so that errors follow sizes.
    pub fn sum(self, a: Value, b: Value) -> Value {
        let lost = match a.exact.size() == 0.0 || b.exact.size() == 0.0 {
            true => 0.0,
            false => self.unit * (a.exact.size() + b.exact.size()),
        };
        Value {
            no_sign: a.no_sign && b.no_sign,
            ..Value::with(a.exact + b.exact, a.error + b.error + lost)
        }
    }

    /// Returns `a - b`.
    pub fn difference(self, a: Value, b: Value) -> Value {
        self.sum(a, b.negated())
    }

    /// Returns `a b`: each factor is evaluated before they are multiplied.
    pub fn product(self, a: Value, b: Value) -> Value {
        let exact = a.exact * b.exact;
        let carried = spread(a.exact.size(), b.error) + spread(b.exact.size(), a.error);
        let carried = carried + spread(a.error, b.error);
        Value {
            no_sign: a.no_sign && b.no_sign,
            ..Value::with(exact, carried + self.unit * exact.size())
        }
    }

    /// Returns `a / b`, also as a product with `1 / b`.
    pub fn quotient(self, a: Value, b: Value) -> Value {
        let exact = a.exact / b.exact;
        let least = b.exact.size() - b.error;
        if least <= 0.0 {
            return Value::with(exact, f64::INFINITY);
        }
        let carried = (a.error + spread(exact.size(), b.error)) / least;
        Value {
            no_sign: a.no_sign && b.no_sign,
            ..Value::with(exact, carried + 2.0 * self.unit * exact.size())
        }
    }

    /// Returns `a^n` for an integer.
    pub fn power(self, a: Value, exponent: i32) -> Value {
        let mut out = Value::exact(Wide::ONE);
        for i in 0..exponent.unsigned_abs() {
            out = if i == 0 { a } else { self.product(out, a) };
        }
        out.no_sign |= exponent % 2 == 0;
        match exponent < 0 {
            true => self.quotient(Value::exact(Wide::ONE), out),
            false => out,
        }
    }

    /// Returns the square root.
    pub fn sqrt(self, a: Value) -> Value {
        let (exact, least) = (a.exact.root(), a.exact.to_f64() - a.error);
        if least < 0.0 && !a.no_sign || a.exact.is_negative() {
            return Value::with(exact, f64::INFINITY);
        }
        let carried = match least > 0.0 {
            true => a.error / (exact.size() + least.sqrt()),
            false => a.largest().sqrt(),
        };
        let lost = self.unit * exact.size();
        Value::with(exact, carried + lost).never_negative()
    }

    /// Returns the size.
    pub fn abs(self, a: Value) -> Value {
        Value { exact: a.exact.magnitude(), error: a.error, no_sign: true }
    }

    /// Returns the larger of two, or the smaller.
    pub fn extreme(self, a: Value, b: Value, larger: bool) -> Value {
        let first = a.exact.less(b.exact) != larger;
        let exact = if first { a.exact } else { b.exact };
        let no_sign = match larger {
            true => a.no_sign || b.no_sign,
            false => a.no_sign && b.no_sign,
        };
        Value { no_sign, ..Value::with(exact, a.error.max(b.error)) }
    }

    /// Returns `c` if `holds`, else `d`; an evaluation may take the other one if `sure` is false.
    pub fn choice(self, holds: bool, sure: bool, c: Value, d: Value) -> Value {
        let (taken, other) = if holds { (c, d) } else { (d, c) };
        if sure {
            return taken;
        }
        let apart = (taken.exact - other.exact).size();
        Value {
            no_sign: c.no_sign && d.no_sign,
            ..Value::with(taken.exact, taken.error.max(other.error + apart))
        }
    }

    /// Returns a function of one argument, which changes by at most `slope` times the change of that.
    pub fn function(self, a: Value, exact: Wide, slope: f64) -> Value {
        let lost = 2.0 * self.unit * exact.size();
        Value::with(exact, spread(slope, a.error) + lost)
    }

    /// Returns the cube root.
    pub fn cbrt(self, a: Value) -> Value {
        let exact = a.exact.cbrt();
        let least = a.exact.size() - a.error;
        let carried = match least > 0.0 {
            true => a.error / (3.0 * least.cbrt().powi(2)),
            false => 2.0 * a.largest().cbrt(),
        };
        Value::with(exact, carried + 2.0 * self.unit * exact.size())
    }

    /// Returns the largest integer that is not larger; an evaluation may take others within the error.
    pub fn floor(self, a: Value) -> Value {
        let (exact, error) = (a.exact.floor(), Wide::new(a.error));
        if !a.error.is_finite() {
            return Value::with(exact, f64::INFINITY);
        }
        let (least, most) = ((a.exact - error).floor(), (a.exact + error).floor());
        Value::with(exact, (most - exact).size().max((exact - least).size()))
    }

    /// Returns `a - b floor(a/b)`; an evaluation may take another multiple if the quotient is close to an integer.
    pub fn remainder(self, a: Value, b: Value) -> Value {
        let quotient = self.quotient(a, b);
        let multiple = self.floor(quotient);
        let exact = a.exact - b.exact * multiple.exact;
        let sizes = spread(multiple.largest(), b.error) + spread(multiple.error, b.largest());
        Value::with(exact, a.error + sizes + self.unit * exact.size())
    }

    /// Returns the natural logarithm.
    pub fn log(self, a: Value) -> Value {
        let least = a.exact.to_f64() - a.error;
        let slope = if least > 0.0 { 1.0 / least } else { f64::INFINITY };
        match least > 0.0 {
            true => self.function(a, a.exact.log(), slope),
            false => Value::with(a.exact.log(), f64::INFINITY),
        }
    }

    /// Returns `a^b` of real numbers.
    pub fn pow(self, a: Value, b: Value) -> Value {
        let least = a.exact.to_f64() - a.error;
        if least <= 0.0 {
            return Value::with(Wide::new(a.exact.to_f64().powf(b.exact.to_f64())), f64::INFINITY);
        }
        let log = a.exact.log();
        let exact = (b.exact * log).exp();
        let relative = b.largest() * a.error / least + spread(log.size() + 1.0, b.error);
        let carried = exact.size() * relative * relative.exp();
        Value::with(exact, carried + 2.0 * self.unit * exact.size()).never_negative()
    }

    /// Returns the angle of the point (b, a).
    pub fn atan2(self, a: Value, b: Value) -> Value {
        let (y, x) = (a.exact, b.exact);
        let exact = y.atan2(x);
        let distance = (x * x + y * y).root().size();
        let near = a.error + b.error;
        let at_cut = x.to_f64() <= b.error && y.size() <= a.error;
        if at_cut || distance <= 2.0 * near {
            return Value::with(exact, f64::INFINITY);
        }
        let carried = 2.0 * near / distance;
        Value::with(exact, carried + 2.0 * self.unit * exact.size())
    }
}

/// Returns a product of sizes, zero if one of them is.
fn spread(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLE: Precision = Precision { unit: f64::EPSILON / 2.0, single: false };

    /// The square of a difference has the digits of the difference; multiplied out it has none.
    #[test]
    fn a_square_of_a_difference_is_bounded_by_the_difference() {
        let (q, r) = (1000.0 + 1e-6, 1000.0);
        let [a, b] = [q, r].map(|x| Value::exact(Wide::new(x)));
        let difference = DOUBLE.difference(a, b);
        let square = DOUBLE.product(difference, difference);
        let exact = square.exact.to_f64();
        assert!(((q - r) * (q - r) - exact).abs() <= square.error);
        assert!((q * q - 2.0 * q * r + r * r - exact).abs() > 1e3 * square.error);
    }

    #[test]
    fn a_root_of_what_may_be_negative_has_no_bound() {
        let [a, b] =
            [2.0, 2.0].map(|x| DOUBLE.function(Value::exact(Wide::new(x)), Wide::new(x), 1.0));
        let nothing = DOUBLE.difference(a, b);
        assert!(DOUBLE.sqrt(nothing).error.is_infinite());
        assert!(DOUBLE.sqrt(DOUBLE.power(nothing, 2)).error.is_finite());
    }
}
