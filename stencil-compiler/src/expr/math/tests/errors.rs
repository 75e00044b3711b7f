//! Errors in units in the last place: `f32` against `f64` functions of the host, `f64` against the
//! reference, and the reference against correctly rounded values.

use super::reference::{self, Double};
use super::{FUNCTIONS, Random};
use crate::expr::Op;

const POINTS: usize = 100_000;

/// The exact value as m 2^e.
type Exact = (Double, i32);

/// The distance of a value from the exact one, in units in the last place of the exact one, where a
/// unit is 2^(e - digits) for a value between 2^e and 2^(e+1), and `smallest` for small ones.
fn distance(value: f64, (exact, n): Exact, digits: i32, smallest: i32) -> f64 {
    let exponent = exact.0.abs().log2().floor() as i32 + n;
    let unit = (exponent - digits).max(smallest);
    // The power of two is split in two factors, as one may overflow.
    let scaled = |x: f64, by: i32| x * 2_f64.powi(by / 2) * 2_f64.powi(by - by / 2);
    let value = scaled(value, -unit);
    let exact = Double(scaled(exact.0, n - unit), scaled(exact.1, n - unit));
    (Double::from(value) - exact).0.abs()
}

/// Arguments of a function, spread over the range in which it neither is constant nor overflows.
fn arguments(op: Op, random: &mut Random, double: bool) -> [f64; 2] {
    let (exponents, overflow, angles) = match double {
        true => (1021.0, 708.0, 1_073_741_824.0),
        false => (125.0, 87.0, 1_048_576.0),
    };
    let mut size = |most: f64| {
        let sign = if random.bits().is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * random.between(-most, most).exp2()
    };
    let any = size(exponents);
    let (near, other) = (size(20.0), size(20.0));
    match op {
        Op::Reciprocal => [any, 0.0],
        Op::Exp if any.abs() < 1.0 => [random.between(-3.0, 3.0), 0.0],
        Op::Exp => [random.between(-overflow * 1.04, overflow), 0.0],
        Op::Log if any < 0.0 => [random.between(0.5, 2.0), 0.0],
        Op::Log => [any, 0.0],
        Op::Sin | Op::Cos if any < 0.0 => [random.between(-8.0, 8.0), 0.0],
        Op::Sin | Op::Cos => [random.between(-angles, angles), 0.0],
        Op::Sinh | Op::Cosh if any.abs() < 1.0 => [random.between(-3.0, 3.0), 0.0],
        Op::Sinh | Op::Cosh => [random.between(-overflow, overflow), 0.0],
        Op::Erf if any.abs() < 1.0 => [near, 0.0],
        Op::Erf => [random.between(-7.0, 7.0), 0.0],
        Op::Tanh if any < 0.0 => [random.between(-1.0, 1.0), 0.0],
        Op::Tanh => [random.between(-20.0, 20.0), 0.0],
        Op::Cbrt => [size(300.0_f64.min(exponents)), 0.0],
        Op::Pow => {
            let x = match near < 0.0 {
                true => random.between(0.9, 1.1),
                false => any.abs(),
            };
            [x, random.between(-1.04, 1.0) * overflow / x.ln()]
        }
        _ => [near, other],
    }
}

/// Angles next to multiples of π/2, where a reduction loses most.
fn near_multiples(i: usize) -> f64 {
    let n = ((i * 7919) % (1 << (i % 20 + 1))) as f64;
    let ulps = (i % 5) as f64 - 2.0;
    n * std::f64::consts::FRAC_PI_2 * (1.0 + ulps * f64::EPSILON)
}

fn each_point(op: Op, double: bool, mut check: impl FnMut([f64; 2])) {
    let seed = Op::ALL.iter().position(|other| *other == op);
    let mut random = Random(seed.unwrap_or(0) as u64);
    for i in 0..POINTS {
        let args = match op {
            Op::Sin | Op::Cos if i % 8 == 0 => [near_multiples(i), 0.0],
            _ => arguments(op, &mut random, double),
        };
        check(args);
    }
}

/// The exact value for `f32` arguments: to the digits of `f64`, where the host has the function.
fn of_host(op: Op, args: [f64; 2]) -> Double {
    let [x, y] = args;
    let value = match op {
        Op::Erf | Op::Mod => return of_reference(op, args).0,
        Op::Reciprocal => 1.0 / x,
        Op::Exp => x.exp(),
        Op::Log => x.ln(),
        Op::Sin => x.sin(),
        Op::Cos => x.cos(),
        Op::Sinh => x.sinh(),
        Op::Cosh => x.cosh(),
        Op::Tanh => x.tanh(),
        Op::Floor => x.floor(),
        Op::Cbrt => x.cbrt(),
        Op::Pow => x.powf(y),
        _ => x.atan2(y),
    };
    value.into()
}

fn of_reference(op: Op, [x, y]: [f64; 2]) -> Exact {
    match op {
        Op::Reciprocal => (Double::from(1.0) / x.into(), 0),
        Op::Exp => reference::exp(x.into()),
        Op::Log => (reference::log(x), 0),
        Op::Sin => (reference::sin_cos(x).0, 0),
        Op::Cos => (reference::sin_cos(x).1, 0),
        Op::Sinh => (reference::sinh(x), 0),
        Op::Cosh => (reference::cosh(x), 0),
        Op::Tanh => (reference::tanh(x), 0),
        Op::Erf => (reference::erf(x), 0),
        Op::Floor => (x.floor().into(), 0),
        Op::Mod => (reference::modulo(x, y), 0),
        Op::Cbrt => (reference::cbrt(x), 0),
        Op::Pow => reference::pow(x, y),
        _ => (reference::atan2(x, y), 0),
    }
}

#[test]
fn f32_errors_are_within_bounds() {
    for (op, bound) in FUNCTIONS {
        each_point(op, false, |args| {
            let args = args.map(|x| x as f32);
            let exact = of_host(op, args.map(f64::from));
            let value = op.eval(&args);
            if exact.0 == 0.0 {
                return assert_eq!(value, 0.0);
            }
            let error = distance(f64::from(value), (exact, 0), 23, -149);
            assert!(error <= bound, "{} of {args:?}: {error} ULP", op.name());
        });
    }
}

#[test]
fn f64_errors_are_within_bounds() {
    for (op, bound) in FUNCTIONS {
        each_point(op, true, |args| {
            let value = op.eval(&args);
            let exact = of_reference(op, args);
            if exact.0.0 == 0.0 {
                return assert_eq!(value, 0.0);
            }
            let error = distance(value, exact, 52, -1074);
            assert!(error <= bound, "{} of {args:?}: {error} ULP", op.name());
        });
    }
}

/// Lines `name argument argument result`, bits in hexadecimal. Results are correctly rounded; they
/// were computed in 200 digits with mpmath 1.3, arguments with `random.Random(1)`.
const TABLE: &str = include_str!("table.txt");

#[test]
fn the_reference_has_correctly_rounded_values() {
    let mut count = 0;
    for line in TABLE.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| f64::from_bits(u64::from_str_radix(words[at], 16).expect("bits"));
        let op = Op::from_name(words[0]).expect("a function");
        let (args, expected) = ([number(1), number(2)], number(3));
        let (exact, n) = of_reference(op, args);
        let value = exact.times(2_f64.powi(n / 2)).times(2_f64.powi(n - n / 2));
        assert_eq!(value.0, expected, "{line}");
        let error = distance(op.eval(&args), (expected.into(), 0), 52, -1074);
        assert!(error <= 2.0, "{line}: {error} ULP");
        count += 1;
    }
    assert_eq!(count, 11 * 60);
}
