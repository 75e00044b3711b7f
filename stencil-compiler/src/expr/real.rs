//! The numbers that programs compute with: `f32` and `f64`.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A floating-point type with exactly rounded operations, a fused multiply-add among them.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Zero.
    const ZERO: Self;
    /// The type's name in Rust.
    const NAME: &'static str;
    /// Size in bytes.
    const BYTES: usize;
    /// Which of the two precisions it is.
    const PRECISION: Precision;

    /// The nearest value.
    fn from_f64(value: f64) -> Self;
    /// The same value.
    fn to_f64(self) -> f64;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// The square root, exactly rounded.
    fn sqrt(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
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

    /// `f32` or `f64`.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        }
    }

    /// The precision of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Precision::F32, Precision::F64]
            .into_iter()
            .find(|p| p.name() == name)
    }
}

macro_rules! real {
    ($type:ident, $precision:ident, $nan:literal) => {
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
            fn canonical_bits(self) -> u64 {
                if self.is_nan() {
                    $nan
                } else {
                    u64::from(self.to_bits())
                }
            }
        }
    };
}
real!(f32, F32, 0x7fc0_0000);
real!(f64, F64, 0x7ff8_0000_0000_0000);
