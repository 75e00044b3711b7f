//! Each register against its values, lane by lane, bit by bit.

use super::*;
use crate::Instructions;
use crate::backend::cpu::instructions::{self, Checked, OnLanes};

/// An operation in the registers and in the values.
macro_rules! compare {
    ($a:ident $b:ident $c:ident $d:ident: $($method:ident($($arg:ident),*))*) => {
        fn compare<V: Lanes>(arguments: [&[V::Value]; 4]) {
            let load = |values: &[V::Value]| {
                assert!(values.len() >= V::COUNT);
                // SAFETY: there are as many values, as was just seen.
                unsafe { V::load(values.as_ptr()) }
            };
            let [$a, $b, $c, $d] = arguments.map(load);
            let _ = ($b, $c, $d);
            $({
                let result = $a.$method($($arg),*);
                let mut values = vec![V::Value::ZERO; V::COUNT];
                // SAFETY: there are as many values.
                unsafe { result.store(values.as_mut_ptr()) };
                for (i, value) in values.into_iter().enumerate() {
                    let [$a, $b, $c, $d] = arguments.map(|values| values[i]);
                    let _ = ($b, $c, $d);
                    let expected = $a.$method($($arg),*);
                    assert_eq!(
                        value.canonical_bits(), expected.canonical_bits(),
                        "{}{:?} in {} lanes", stringify!($method), ($a, $b, $c, $d), V::COUNT
                    );
                }
            })*
        }
    };
}
compare! { a b c d:
    add(b) sub(b) mul(b) div(b) neg() fma(b, c) reciprocal() sqrt() abs() if_lt(b, c, d) if_le(b, c, d) if_eq(b, c, d)
    smaller(b) larger(b) copysign(b) exp() log() sin() cos() tanh() sinh() cosh() erf() floor() modulo(b) cbrt() pow(b) atan2(b)
}

/// Compares operations on bits, of positive normal numbers and of small integers.
fn compare_bits<V: Lanes>() {
    let each = |from: &dyn Fn(usize) -> f64, op: fn(V) -> V, value: fn(V::Value) -> V::Value| {
        let values: Vec<V::Value> = (0..V::COUNT).map(|i| V::Value::from_f64(from(i))).collect();
        let mut results = values.clone();
        // SAFETY: there are as many values as lanes.
        unsafe { op(V::load(values.as_ptr())).store(results.as_mut_ptr()) };
        let expected: Vec<V::Value> = values.into_iter().map(value).collect();
        assert_eq!(results, expected);
    };
    let normal = |i: usize| 1.37e-30 * 9e3_f64.powi(i as i32);
    each(&normal, V::exponent, Arithmetic::exponent);
    each(&normal, V::significand, Arithmetic::significand);
    each(&|i| 7.0 * i as f64 - 100.0, V::power_of_two, Arithmetic::power_of_two);
}

struct Compare<T>(Vec<T>);

impl<T: Registers> OnLanes for Compare<T> {
    type Value = T;
    fn run<V: Lanes<Value = T>>(self) {
        let (n, values) = (self.0.len(), self.0);
        for shift in 0..n {
            let rotated = |by: usize| {
                let mut values = values.clone();
                values.rotate_left(by * shift % n);
                values
            };
            let all = [rotated(1), rotated(2), rotated(3), rotated(5)];
            compare::<V>(all.each_ref().map(Vec::as_slice));
        }
        compare_bits::<V>();
    }
}

fn all<T: Registers>() {
    let special =
        [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 1e-42, 0.5, -2.5];
    let ordinary = (0..27).map(|i| (i as f64 - 11.3) * 1.7_f64.powi(i % 9));
    let values = special.into_iter().chain(ordinary).map(T::from_f64).collect::<Vec<_>>();
    for instructions in Instructions::available() {
        let checked = Checked::new(instructions).unwrap();
        instructions::run_on_lanes(checked, Compare(values.clone()));
    }
}

#[test]
fn registers_round_like_their_values() {
    all::<f32>();
    all::<f64>();
}
