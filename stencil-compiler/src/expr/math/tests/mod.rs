//! Error bounds, special values, and recorded operations against computed ones.

#![allow(
    clippy::disallowed_methods,
    reason = "functions of the host are what these are compared with"
)]

mod errors;
mod reference;
mod special;

use super::recorded;
use crate::expr::real::{Precision, Real};
use crate::expr::{Node, Op};

/// The functions, and the error that each may have, in units in the last place.
const FUNCTIONS: [(Op, f64); 14] = [
    (Op::Reciprocal, 0.5),
    (Op::Exp, 1.0),
    (Op::Log, 1.0),
    (Op::Sin, 1.0),
    (Op::Cos, 1.0),
    (Op::Sinh, 1.0),
    (Op::Cosh, 1.0),
    (Op::Tanh, 1.0),
    (Op::Erf, 1.0),
    (Op::Floor, 0.0),
    (Op::Mod, 0.5),
    (Op::Cbrt, 1.0),
    (Op::Pow, 2.0),
    (Op::Atan2, 2.0),
];

/// Numbers that look random, the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between two numbers.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// All kinds of numbers: any bits, numbers around one, integers and halves, and special ones.
fn anything<T: Real>(random: &mut Random) -> T {
    let bits = random.bits();
    let number = match bits % 4 {
        0 => f64::from_bits(random.bits()),
        1 => f64::from(f32::from_bits(random.bits() as u32)),
        2 => random.between(-3.0, 3.0),
        _ => (random.bits() % 41) as f64 / 2.0 - 10.0,
    };
    const SPECIAL: [f64; 8] =
        [0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 1e-45];
    T::from_f64(match bits >> 60 {
        0 => SPECIAL[(bits >> 8) as usize % SPECIAL.len()],
        _ => number,
    })
}

fn recorded_is_computed<T: Real>() {
    let mut random = Random(11);
    for (op, _) in FUNCTIONS {
        let recording = recorded(op, T::PRECISION).expect("a function");
        recording.expr.check().expect("well-formed");
        for _ in 0..20_000 {
            let args = [anything::<T>(&mut random), anything::<T>(&mut random)];
            let expected = op.eval(&args);
            let value = recording.expr.eval(|argument| args[*argument]);
            assert_eq!(
                value.canonical_bits(),
                expected.canonical_bits(),
                "{} of {args:?} in {}: {value:?}, not {expected:?}",
                op.name(),
                T::NAME
            );
        }
    }
}

/// Emitters write the recorded operations, so a device computes the same as the processor.
#[test]
fn recorded_operations_have_the_bits_of_the_function() {
    recorded_is_computed::<f32>();
    recorded_is_computed::<f64>();
}

#[test]
fn a_function_costs_what_its_operations_cost() {
    let cost = |node: &Node<usize>| match node {
        Node::Op(op, _) => op.cost(),
        Node::Lit(_) | Node::Atom(_) => 0,
    };
    for op in Op::ALL {
        let recording = recorded(*op, Precision::F64);
        assert_eq!(
            recording.is_some(),
            FUNCTIONS.iter().any(|(function, _)| function == op),
            "{}",
            op.name()
        );
        // A card has a shorter one.
        if let Some(recording) = recording.filter(|_| *op != Op::Reciprocal) {
            let sum: u32 = recording.expr.nodes.iter().map(cost).sum();
            assert_eq!(op.cost(), sum, "{}", op.name());
        }
    }
}

fn bits_are_taken_apart<T: Real>(smallest: f64, largest: f64) {
    let mut random = Random(5);
    for _ in 0..20_000 {
        let exponent = random.between(smallest.log2(), largest.log2());
        let x = T::from_f64(exponent.exp2());
        let (e, m) = (x.exponent(), x.significand());
        assert_eq!(e.to_f64(), x.to_f64().log2().floor(), "{x:?}");
        assert!((1.0..2.0).contains(&m.to_f64()), "{x:?}");
        assert_eq!(m.to_f64() * e.power_of_two().to_f64(), x.to_f64());
    }
}

#[test]
fn a_number_is_its_significand_times_a_power_of_two() {
    bits_are_taken_apart::<f32>(f64::from(f32::MIN_POSITIVE) * 1.01, 3.4e38);
    bits_are_taken_apart::<f64>(f64::MIN_POSITIVE * 1.01, 1.79e308);
}
