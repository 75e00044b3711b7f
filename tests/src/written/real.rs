//! Numbers of twice the precision for an engine to calculate with, so that the error of a difference of tenth order is
//! far above that of rounding.

use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::{Arithmetic, Precision};

use super::wide::Wide;

impl From<f64> for Wide {
    fn from(value: f64) -> Self {
        Wide::new(value)
    }
}

impl Arithmetic for Wide {
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
        self.root()
    }
    fn abs(self) -> Self {
        self.copysign(Wide::from(1.0))
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
    fn is_positive(self) -> bool {
        self > Wide::from(0.0)
    }
    fn copysign(self, sign: Self) -> Self {
        match self.to_f64().is_sign_negative() == sign.to_f64().is_sign_negative() {
            true => self,
            false => -self,
        }
    }
    fn exponent(self) -> Self {
        // A power of two less a little is below it.
        let below = self.rest() < 0.0 && self.to_f64().significand() == 1.0;
        (self.to_f64().exponent() - f64::from(u8::from(below))).into()
    }
    fn significand(self) -> Self {
        self * (-self.exponent()).power_of_two()
    }
    fn power_of_two(self) -> Self {
        self.to_f64().power_of_two().into()
    }
}

impl Real for Wide {
    const ZERO: Self = Wide::new(0.0);
    const NAME: &'static str = "Wide";
    const BYTES: usize = size_of::<Wide>();
    const PRECISION: Precision = Precision::F64;

    fn from_f64(value: f64) -> Self {
        value.into()
    }
    fn to_f64(self) -> f64 {
        self.to_f64()
    }
    fn canonical_bits(self) -> u64 {
        self.to_f64().canonical_bits()
    }
}
