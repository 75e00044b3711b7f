//! Registers of 256 and 512 bits.
//!
//! Intrinsics are sound only if the processor has their instructions. These types are private to the backend, which
//! uses them behind a [`Checked`](super::super::Checked) alone.

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::{Arithmetic, Precision};

use super::Lanes;

/// A type of registers: the intrinsics for its operations, for the bits of its values as integers,
/// for its selects, and for the smaller and the larger of two; last the bits of a significand and the
/// bias of an exponent.
macro_rules! register {
    (
        $name:ident: $count:literal $value:ident in $register:ident
        values: $splat:ident $load:ident $store:ident
        arithmetic: $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident
        bits: $bits:ident $of_bits:ident $splat_bits:ident $and:ident $andnot:ident $or:ident
        shifts: $left:ident $right:ident
        select: $select:ident
        extremes: $min:ident $max:ident
        format: $digits:literal $bias:literal
    ) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name($register);

        impl Lanes for $name {
            type Value = $value;
            const COUNT: usize = $count;

            #[inline(always)]
            fn splat(value: $value) -> Self {
                // SAFETY: the processor has the instruction, see the module.
                $name(unsafe { $splat(value) })
            }
            #[inline(always)]
            unsafe fn load(from: *const $value) -> Self {
                // SAFETY: as above, and the caller says that the values are readable.
                $name(unsafe { $load(from) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $value) {
                // SAFETY: as above, and the caller says that the values are writable.
                unsafe { $store(to, self.0) }
            }
        }

        register!(operator $name Add add $add);
        register!(operator $name Sub sub $sub);
        register!(operator $name Mul mul $mul);
        register!(operator $name Div div $div);

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                // Exact; the compiler turns it into a change of sign.
                Self::splat(-0.0) - self
            }
        }

        impl Arithmetic for $name {
            #[inline(always)]
            fn precision(self) -> Precision {
                <$value as Real>::PRECISION
            }
            #[inline(always)]
            fn lit(self, value: f64) -> Self {
                Self::splat(value as $value)
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                // SAFETY: the processor has the instruction, see the module.
                $name(unsafe { $fma(self.0, b.0, c.0) })
            }
            // If neither is less, or one is NaN, these intrinsics give the second argument.
            #[inline(always)]
            fn smaller(self, b: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $min(b.0, self.0) })
            }
            #[inline(always)]
            fn larger(self, b: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $max(b.0, self.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $sqrt(self.0) })
            }
            #[inline(always)]
            fn abs(self) -> Self {
                let sign = Self::splat(-0.0).0;
                // SAFETY: as above.
                $name(unsafe { $of_bits($andnot($bits(sign), $bits(self.0))) })
            }
            #[inline(always)]
            fn if_lt(self, b: Self, yes: Self, no: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $select::<_CMP_LT_OQ>(self.0, b.0, yes.0, no.0) })
            }
            #[inline(always)]
            fn if_le(self, b: Self, yes: Self, no: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $select::<_CMP_LE_OQ>(self.0, b.0, yes.0, no.0) })
            }
            #[inline(always)]
            fn if_eq(self, b: Self, yes: Self, no: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $select::<_CMP_EQ_OQ>(self.0, b.0, yes.0, no.0) })
            }
            #[inline(always)]
            fn is_positive(self) -> bool {
                let mut lanes = [0.0; <Self as Lanes>::COUNT];
                // SAFETY: as above, and there is room for each lane.
                unsafe { $store(lanes.as_mut_ptr(), self.0) };
                lanes.iter().all(|value: &$value| *value > 0.0)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                let mask = Self::splat(-0.0).0;
                // SAFETY: as above.
                $name(unsafe {
                    let sign = $and($bits(mask), $bits(sign.0));
                    $of_bits($or(sign, $andnot($bits(mask), $bits(self.0))))
                })
            }
            // The next three do the operations of scalar values, one by one.
            #[inline(always)]
            fn exponent(self) -> Self {
                const LARGE: $value = (1_u64 << $digits) as $value;
                let large = Self::splat(LARGE).0;
                // SAFETY: as above.
                let shifted = $name(unsafe { $of_bits($or($right::<$digits>($bits(self.0)), $bits(large))) });
                shifted - Self::splat(LARGE + $bias)
            }
            #[inline(always)]
            fn significand(self) -> Self {
                let one = Self::splat(1.0).0;
                // SAFETY: as above.
                $name(unsafe {
                    let fraction = $and($splat_bits((1 << $digits) - 1), $bits(self.0));
                    $of_bits($or(fraction, $bits(one)))
                })
            }
            #[inline(always)]
            fn power_of_two(self) -> Self {
                const LARGE: $value = (3_u64 << ($digits - 1)) as $value;
                let sum = self + Self::splat(LARGE + $bias);
                // SAFETY: as above.
                $name(unsafe { $of_bits($left::<$digits>($bits(sum.0))) })
            }
        }
    };
    (operator $name:ident $trait:ident $method:ident $intrinsic:ident) => {
        impl $trait for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                // SAFETY: the processor has the instruction, see the module.
                $name(unsafe { $intrinsic(self.0, b.0) })
            }
        }
    };
}

register! {
    F32x8: 8 f32 in __m256
    values: _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps
    arithmetic: _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_fmadd_ps _mm256_sqrt_ps
    bits: _mm256_castps_si256 _mm256_castsi256_ps _mm256_set1_epi32 _mm256_and_si256 _mm256_andnot_si256 _mm256_or_si256
    shifts: _mm256_slli_epi32 _mm256_srli_epi32
    select: select_f32x8
    extremes: _mm256_min_ps _mm256_max_ps
    format: 23 127.0
}
register! {
    F64x4: 4 f64 in __m256d
    values: _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd
    arithmetic: _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_fmadd_pd _mm256_sqrt_pd
    bits: _mm256_castpd_si256 _mm256_castsi256_pd _mm256_set1_epi64x _mm256_and_si256 _mm256_andnot_si256 _mm256_or_si256
    shifts: _mm256_slli_epi64 _mm256_srli_epi64
    select: select_f64x4
    extremes: _mm256_min_pd _mm256_max_pd
    format: 52 1023.0
}
register! {
    F32x16: 16 f32 in __m512
    values: _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps
    arithmetic: _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_fmadd_ps _mm512_sqrt_ps
    bits: _mm512_castps_si512 _mm512_castsi512_ps _mm512_set1_epi32 _mm512_and_si512 _mm512_andnot_si512 _mm512_or_si512
    shifts: _mm512_slli_epi32 _mm512_srli_epi32
    select: select_f32x16
    extremes: _mm512_min_ps _mm512_max_ps
    format: 23 127.0
}
register! {
    F64x8: 8 f64 in __m512d
    values: _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd
    arithmetic: _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_fmadd_pd _mm512_sqrt_pd
    bits: _mm512_castpd_si512 _mm512_castsi512_pd _mm512_set1_epi64 _mm512_and_si512 _mm512_andnot_si512 _mm512_or_si512
    shifts: _mm512_slli_epi64 _mm512_srli_epi64
    select: select_f64x8
    extremes: _mm512_min_pd _mm512_max_pd
    format: 52 1023.0
}

/// A select: `yes` in the lanes where the comparison `HOW` of `a` and `b` holds, else `no`.
macro_rules! select {
    ($features:literal $name:ident $register:ident |$a:ident, $b:ident, $yes:ident, $no:ident| $select:expr) => {
        #[inline]
        #[target_feature(enable = $features)]
        fn $name<const HOW: i32>(
            $a: $register,
            $b: $register,
            $yes: $register,
            $no: $register,
        ) -> $register {
            $select
        }
    };
}
select! { "avx" select_f32x8 __m256 |a, b, yes, no| _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<HOW>(a, b)) }
select! { "avx" select_f64x4 __m256d |a, b, yes, no| _mm256_blendv_pd(no, yes, _mm256_cmp_pd::<HOW>(a, b)) }
select! { "avx512f" select_f32x16 __m512 |a, b, yes, no| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<HOW>(a, b), no, yes) }
select! { "avx512f" select_f64x8 __m512d |a, b, yes, no| _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<HOW>(a, b), no, yes) }
