//! Neighbouring cells of a row that are computed together: one register of an instruction set.
//!
//! Each operation acts on the value in each lane alone, so all instruction sets give the same bits.

use std::ops::{Add, Div, Mul, Neg, Sub};

use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::{Arithmetic, Precision};

#[cfg(target_arch = "x86_64")]
mod x86;

/// Values of neighbouring cells, one in each lane.
///
/// Everything is always inlined into a function that is compiled for the instruction set.
pub trait Lanes: Arithmetic {
    /// The value in a lane.
    type Value: Real;
    /// Number of lanes.
    const COUNT: usize;

    /// The same value in each lane.
    fn splat(value: Self::Value) -> Self;
    /// Loads the values from an address on, which need not be aligned.
    ///
    /// # Safety
    /// [`COUNT`](Self::COUNT) values from there on are readable.
    unsafe fn load(from: *const Self::Value) -> Self;
    /// Writes the values from an address on, which need not be aligned.
    ///
    /// # Safety
    /// [`COUNT`](Self::COUNT) values from there on are writable.
    unsafe fn store(self, to: *mut Self::Value);
}

/// The registers of each instruction set that hold values of a type.
pub(crate) trait Registers: Real {
    type Baseline: Lanes<Value = Self>;
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Value = Self>;
    #[cfg(target_arch = "x86_64")]
    type Avx512: Lanes<Value = Self>;
}

impl Registers for f32 {
    type Baseline = Group<f32, 4>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = x86::F32x8;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = x86::F32x16;
}

impl Registers for f64 {
    type Baseline = Group<f64, 2>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = x86::F64x4;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = x86::F64x8;
}

/// Lanes whose registers are left to Rust's compiler.
#[derive(Clone, Copy)]
pub(crate) struct Group<T, const N: usize>([T; N]);

impl<T: Real, const N: usize> Lanes for Group<T, N> {
    type Value = T;
    const COUNT: usize = N;

    #[inline(always)]
    fn splat(value: T) -> Self {
        Group([value; N])
    }
    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller says that N values are readable.
        unsafe { Group(from.cast::<[T; N]>().read_unaligned()) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller says that N values are writable.
        unsafe { to.cast::<[T; N]>().write_unaligned(self.0) }
    }
}

/// Methods of one and two arguments that do the same in each lane.
macro_rules! each_lane {
    ($($trait:ident $method:ident($($other:ident)?);)*) => { $(
        impl<T: Real, const N: usize> $trait for Group<T, N> {
            type Output = Self;
            each_lane!(fn $method($($other)?));
        }
    )* };
    (fn $method:ident($($other:ident),*)) => {
        #[inline(always)]
        fn $method(self $(, $other: Self)*) -> Self {
            // A loop, as functions that make arrays need not be inlined.
            let mut result = self;
            for i in 0..N {
                result.0[i] = self.0[i].$method($($other.0[i]),*);
            }
            result
        }
    };
}
each_lane! { Add add(b); Sub sub(b); Mul mul(b); Div div(b); Neg neg(); }

impl<T: Real, const N: usize> Arithmetic for Group<T, N> {
    #[inline(always)]
    fn precision(self) -> Precision {
        T::PRECISION
    }
    #[inline(always)]
    fn lit(self, value: f64) -> Self {
        Self::splat(T::from_f64(value))
    }
    each_lane!(fn fma(b, c));
    each_lane!(fn sqrt());
    each_lane!(fn abs());
    each_lane!(fn if_lt(b, yes, no));
    each_lane!(fn if_le(b, yes, no));
    each_lane!(fn if_eq(b, yes, no));
    #[inline(always)]
    fn is_positive(self) -> bool {
        self.0.iter().all(|value| value.is_positive())
    }
    each_lane!(fn copysign(sign));
    each_lane!(fn exponent());
    each_lane!(fn significand());
    each_lane!(fn power_of_two());
}

#[cfg(test)]
mod tests;
