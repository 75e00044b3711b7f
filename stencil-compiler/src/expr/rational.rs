//! Exact numbers: the literals of declarations and the coefficients of methods.

use num_rational::Ratio;

/// An exact number, as literals are written.
pub type Rational = Ratio<i128>;

/// The rational as the quotient of both parts, each rounded.
pub(crate) fn to_f64(value: Rational) -> f64 {
    *value.numer() as f64 / *value.denom() as f64
}
