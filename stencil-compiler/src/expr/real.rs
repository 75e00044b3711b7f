//! The numbers that programs compute with: `f32` and `f64`.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::math;

/// The operations that functions of [`math`] are written in: exactly rounded, or exact.
///
/// `f32` and `f64` compute at once; a [`Recorded`](math::Recorded) value records its operations.
pub trait Arithmetic:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The precision that all operations round to.
    fn precision(self) -> Precision;
    /// The number nearest to `value`, of the same kind as `self`.
    fn lit(self, value: f64) -> Self;
    /// The same value, under a name in recorded text.
    #[inline(always)]
    fn named(self, _name: &'static str) -> Self {
        self
    }

    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// The square root, exactly rounded.
    fn sqrt(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// `self < b ? yes : no`.
    fn if_lt(self, b: Self, yes: Self, no: Self) -> Self;
    /// `self <= b ? yes : no`.
    fn if_le(self, b: Self, yes: Self, no: Self) -> Self;
    /// `self == b ? yes : no`.
    fn if_eq(self, b: Self, yes: Self, no: Self) -> Self;

    /// `b < self ? b : self`, one instruction where the processor has it.
    #[inline(always)]
    fn smaller(self, b: Self) -> Self {
        b.if_lt(self, b, self)
    }
    /// `b > self ? b : self`.
    #[inline(always)]
    fn larger(self, b: Self) -> Self {
        self.if_lt(b, b, self)
    }

    /// Is it above zero, in every lane if it has several? Never of a value that is only recorded.
    fn is_positive(self) -> bool;

    /// The magnitude of `self` with the sign bit of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// The integer e with 2^e ≤ `self` < 2^(e+1), for a positive normal number.
    fn exponent(self) -> Self;
    /// `self / 2^e`, between 1 and 2, for a positive normal number.
    fn significand(self) -> Self;
    /// 2^`self`, for an integer for which this is a normal number.
    fn power_of_two(self) -> Self;

    /// One over `self`; see [`math::reciprocal`].
    #[inline(always)]
    fn reciprocal(self) -> Self {
        math::reciprocal(self)
    }
    /// e^`self`; see [`math`] for its error bound, as for all functions that follow.
    #[inline(always)]
    fn exp(self) -> Self {
        math::exp(self)
    }
    /// The natural logarithm.
    #[inline(always)]
    fn log(self) -> Self {
        math::log(self)
    }
    /// The sine of an angle in radians.
    #[inline(always)]
    fn sin(self) -> Self {
        math::sin(self)
    }
    /// The cosine of an angle in radians.
    #[inline(always)]
    fn cos(self) -> Self {
        math::cos(self)
    }
    /// The hyperbolic tangent.
    #[inline(always)]
    fn tanh(self) -> Self {
        math::tanh(self)
    }
    /// The hyperbolic sine.
    #[inline(always)]
    fn sinh(self) -> Self {
        math::sinh(self)
    }
    /// The hyperbolic cosine.
    #[inline(always)]
    fn cosh(self) -> Self {
        math::cosh(self)
    }
    /// The error function.
    #[inline(always)]
    fn erf(self) -> Self {
        math::erf(self)
    }
    /// The largest integer that is not larger.
    #[inline(always)]
    fn floor(self) -> Self {
        math::floor(self)
    }
    /// The remainder of a division by `b`, with the sign of `b`.
    #[inline(always)]
    fn modulo(self, b: Self) -> Self {
        math::modulo(self, b)
    }
    /// The cube root.
    #[inline(always)]
    fn cbrt(self) -> Self {
        math::cbrt(self)
    }
    /// `self` to the power `y`.
    #[inline(always)]
    fn pow(self, y: Self) -> Self {
        math::pow(self, y)
    }
    /// The angle of the point (`x`, `self`) from the x axis, in radians between -π and π.
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        math::atan2(self, x)
    }
}

/// A floating-point type with exactly rounded operations, a fused multiply-add among them.
pub trait Real:
    Arithmetic + Debug + Default + PartialEq + PartialOrd + Send + Sync + 'static
{
    /// Zero.
    const ZERO: Self;
    /// The type's name in Rust.
    const NAME: &'static str;
    /// Size in bytes.
    const BYTES: usize;
    /// The precision of the type.
    const PRECISION: Precision;

    /// The nearest value.
    fn from_f64(value: f64) -> Self;
    /// The same value.
    fn to_f64(self) -> f64;
    /// The bits, every NaN as one value: payloads differ between devices.
    fn canonical_bits(self) -> u64;
}

/// The precision a program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
}

impl Precision {
    /// Size of a value in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Precision::F32 => 4,
            Precision::F64 => 8,
        }
    }

    /// The distance from one to the next larger number: 2^-23 or 2^-52.
    pub fn epsilon(self) -> f64 {
        match self {
            Precision::F32 => f64::from(f32::EPSILON),
            Precision::F64 => f64::EPSILON,
        }
    }

    /// `f32` or `f64`.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        }
    }

    /// The precision of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Precision::F32, Precision::F64].into_iter().find(|p| p.name() == name)
    }
}

macro_rules! real {
    ($type:ident, $precision:ident, $nan:literal, $digits:literal, $bias:literal) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const NAME: &'static str = stringify!($type);
            const BYTES: usize = size_of::<$type>();
            const PRECISION: Precision = Precision::$precision;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn canonical_bits(self) -> u64 {
                if self.is_nan() { $nan } else { u64::from(self.to_bits()) }
            }
        }

        impl Arithmetic for $type {
            #[inline(always)]
            fn precision(self) -> Precision {
                Precision::$precision
            }
            #[inline(always)]
            fn lit(self, value: f64) -> Self {
                value as $type
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$type>::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$type>::abs(self)
            }
            #[inline(always)]
            fn if_lt(self, b: Self, yes: Self, no: Self) -> Self {
                if self < b { yes } else { no }
            }
            #[inline(always)]
            fn if_le(self, b: Self, yes: Self, no: Self) -> Self {
                if self <= b { yes } else { no }
            }
            #[inline(always)]
            fn if_eq(self, b: Self, yes: Self, no: Self) -> Self {
                if self == b { yes } else { no }
            }
            #[inline(always)]
            fn is_positive(self) -> bool {
                self > 0.0
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                <$type>::copysign(self, sign)
            }
            // Integers pass through the low bits of a large number: not every instruction set
            // converts them in vectors.
            #[inline(always)]
            fn exponent(self) -> Self {
                const LARGE: $type = (1_u64 << $digits) as $type;
                let bits = (self.to_bits() >> $digits) | LARGE.to_bits();
                <$type>::from_bits(bits) - (LARGE + $bias)
            }
            #[inline(always)]
            fn significand(self) -> Self {
                const ONE: $type = 1.0;
                let fraction = self.to_bits() & ((1 << $digits) - 1);
                <$type>::from_bits(fraction | ONE.to_bits())
            }
            #[inline(always)]
            fn power_of_two(self) -> Self {
                const LARGE: $type = (3_u64 << ($digits - 1)) as $type;
                <$type>::from_bits((self + (LARGE + $bias)).to_bits() << $digits)
            }
        }
    };
}
real!(f32, F32, 0x7fc0_0000, 23, 127.0);
real!(f64, F64, 0x7ff8_0000_0000_0000, 52, 1023.0);
