//! Values that C99, annex F, fixes: zeros, infinities, NaN, overflow, underflow.

use crate::expr::{Op, Real};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// `op(x, y)` has exactly this value, the sign of a zero included.
fn is<T: Real>(op: Op, x: f64, y: f64, expected: f64) {
    let value = op.eval(&[T::from_f64(x), T::from_f64(y)]);
    let expected = T::from_f64(expected);
    assert_eq!(
        value.canonical_bits(),
        expected.canonical_bits(),
        "{}({x:?}, {y:?}) in {} is {value:?}, not {expected:?}",
        op.name(),
        T::NAME
    );
}

fn of_one_argument<T: Real>() {
    let one = |op: Op, cases: &[(f64, f64)]| {
        for (x, expected) in cases {
            is::<T>(op, *x, 0.0, *expected);
        }
    };
    one(
        Op::Exp,
        &[
            (0.0, 1.0),
            (-0.0, 1.0),
            (INF, INF),
            (-INF, 0.0),
            (1e4, INF),
            (-1e4, 0.0),
            (1e300, INF),
            (-1e300, 0.0),
            (NAN, NAN),
        ],
    );
    one(
        Op::Log,
        &[(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (-1.0, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)],
    );
    one(Op::Sin, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]);
    one(Op::Cos, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]);
    one(
        Op::Tanh,
        &[
            (0.0, 0.0),
            (-0.0, -0.0),
            (INF, 1.0),
            (-INF, -1.0),
            (30.0, 1.0),
            (-1e30, -1.0),
            (1e-38, 1e-38),
            (-1e-44, -1e-44),
            (NAN, NAN),
        ],
    );
    one(
        Op::Sinh,
        &[
            (0.0, 0.0),
            (-0.0, -0.0),
            (1e-44, 1e-44),
            (-1e-38, -1e-38),
            (INF, INF),
            (-INF, -INF),
            (1e4, INF),
            (-1e300, -INF),
            (NAN, NAN),
        ],
    );
    one(
        Op::Cosh,
        &[(0.0, 1.0), (-0.0, 1.0), (1e-44, 1.0), (INF, INF), (-INF, INF), (-1e4, INF), (NAN, NAN)],
    );
    one(
        Op::Erf,
        &[
            (0.0, 0.0),
            (-0.0, -0.0),
            (INF, 1.0),
            (-INF, -1.0),
            (7.0, 1.0),
            (-1e30, -1.0),
            (NAN, NAN),
        ],
    );
    one(
        Op::Floor,
        &[
            (0.0, 0.0),
            (-0.0, -0.0),
            (0.75, 0.0),
            (-0.75, -1.0),
            (2.5, 2.0),
            (-2.5, -3.0),
            (-3.0, -3.0),
            (8_388_607.0, 8_388_607.0),
            (-4_194_303.5, -4_194_304.0),
            (1e30, 1e30),
            (-1e-44, -1.0),
            (INF, INF),
            (-INF, -INF),
            (NAN, NAN),
        ],
    );
    one(
        Op::Cbrt,
        &[
            (0.0, 0.0),
            (-0.0, -0.0),
            (27.0, 3.0),
            (-8.0, -2.0),
            (1e-39, T::from_f64(1e-39).to_f64().cbrt()),
            (INF, INF),
            (-INF, -INF),
            (NAN, NAN),
        ],
    );
}

#[test]
fn special_values_of_one_argument() {
    of_one_argument::<f32>();
    of_one_argument::<f64>();
}

fn of_powers<T: Real>() {
    let cases = [
        // To zero, and of one.
        (NAN, 0.0, 1.0),
        (NAN, -0.0, 1.0),
        (INF, 0.0, 1.0),
        (0.0, -0.0, 1.0),
        (1.0, NAN, 1.0),
        (1.0, -INF, 1.0),
        (1.0, 1e30, 1.0),
        (NAN, 1.0, NAN),
        (2.0, NAN, NAN),
        (0.0, NAN, NAN),
        (INF, NAN, NAN),
        // Zeros.
        (0.0, 3.0, 0.0),
        (-0.0, 3.0, -0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, 0.5, 0.0),
        (0.0, -3.0, INF),
        (-0.0, -3.0, -INF),
        (-0.0, -2.0, INF),
        (-0.0, -0.5, INF),
        (-0.0, -INF, INF),
        (0.0, INF, 0.0),
        // Negative numbers.
        (-2.0, 3.0, -8.0),
        (-2.0, 4.0, 16.0),
        (-2.0, -1.0, -0.5),
        (-2.0, 0.5, NAN),
        (-1.0, 1e30, 1.0),
        (-1.0, INF, 1.0),
        (-1.0, -INF, 1.0),
        (-1.0, 8_388_607.0, -1.0),
        (-1.0, 8_388_606.0, 1.0),
        (-1.0, 16_777_216.0, 1.0),
        // To infinity, and of it.
        (0.5, INF, 0.0),
        (-0.5, -INF, INF),
        (2.0, INF, INF),
        (-2.0, -INF, 0.0),
        (INF, 0.5, INF),
        (INF, -0.5, 0.0),
        (-INF, 3.0, -INF),
        (-INF, 2.0, INF),
        (-INF, 0.5, INF),
        (-INF, -3.0, -0.0),
        (-INF, -2.0, 0.0),
        // Beyond the range.
        (1e30, 20.0, INF),
        (-1e30, 21.0, -INF),
        (1e30, -20.0, 0.0),
        (-1e30, -21.0, -0.0),
        (1.5, 1e38, INF),
        // Exact ones.
        (2.0, 10.0, 1024.0),
        (3.0, 5.0, 243.0),
        (4.0, 0.5, 2.0),
        (10.0, 3.0, 1000.0),
    ];
    for (x, y, expected) in cases {
        is::<T>(Op::Pow, x, y, expected);
    }
}

#[test]
fn special_values_of_powers() {
    of_powers::<f32>();
    of_powers::<f64>();
    // The largest odd number, and the even ones beyond.
    is::<f64>(Op::Pow, -1.0, 9_007_199_254_740_991.0, -1.0);
    is::<f64>(Op::Pow, -1.0, 4_503_599_627_370_497.0, -1.0);
    is::<f32>(Op::Pow, -1.0, 16_777_215.0, -1.0);
    is::<f64>(Op::Pow, 2.0, -1074.0, 5e-324);
    is::<f32>(Op::Pow, 2.0, -149.0, 1e-45);
}

fn of_reciprocals<T: Real>(least: f64, most: f64) {
    let cases = [
        (0.0, INF),
        (INF, 0.0),
        (NAN, NAN),
        (3.0, 1.0 / 3.0),
        (least, 1.0 / least),
        // Infinite below the normal range, and zero beyond.
        (least / 2.0, INF),
        (most, 1.0 / most),
        (1.5 * most, 0.0),
    ];
    for (x, expected) in cases {
        is::<T>(Op::Reciprocal, x, 0.0, expected);
        is::<T>(Op::Reciprocal, -x, 0.0, -expected);
    }
}

#[test]
fn special_values_of_reciprocals() {
    of_reciprocals::<f32>(f32::MIN_POSITIVE.into(), 126_f64.exp2());
    of_reciprocals::<f64>(f64::MIN_POSITIVE, 1022_f64.exp2());
}

fn of_remainders<T: Real>() {
    let cases = [
        (5.0, 3.0, 2.0),
        (-5.0, 3.0, 1.0),
        (5.0, -3.0, -1.0),
        (-5.0, -3.0, -2.0),
        (6.0, 3.0, 0.0),
        (-6.0, 3.0, 0.0),
        (6.0, -3.0, -0.0),
        (0.0, 2.0, 0.0),
        (-0.0, 2.0, 0.0),
        (0.0, -2.0, -0.0),
        // The sum of both rounds to the divisor.
        (-1e-30, 1.0, 1.0),
        (-1e-44, 3.0, 3.0),
        // The quotient has no fraction left.
        (1_073_741_825.0 * 1024.0, 3.0, T::from_f64(1_073_741_825.0 * 1024.0).to_f64() % 3.0),
        (1.0, 0.0, NAN),
        (0.0, 0.0, NAN),
        (INF, 2.0, NAN),
        (2.0, INF, NAN),
        (NAN, 2.0, NAN),
        (2.0, NAN, NAN),
        // Beyond the quotients whose remainder is known.
        (3e36, 1e-30, NAN),
        (-3e30, 11.0, if T::BYTES == 4 { NAN } else { 4.0 }),
    ];
    for (a, b, expected) in cases {
        is::<T>(Op::Mod, a, b, expected);
    }
}

#[test]
fn special_values_of_remainders() {
    of_remainders::<f32>();
    of_remainders::<f64>();
}

/// Quotients next to integers, where the rounded one may have another floor.
#[test]
fn remainders_next_to_multiples_are_exact() {
    for n in [1, 2, 3, 7, 1000, 4_194_303, 8_388_607] {
        for divisor in [0.1_f32, 3.0, -0.7, 1.3e-38, 7e30] {
            let multiple = divisor * n as f32;
            for at in [multiple.next_down(), multiple, multiple.next_up()] {
                let rest = f64::from(at) % f64::from(divisor);
                let other = rest != 0.0 && (rest < 0.0) != (divisor < 0.0);
                let exact = if other { rest + f64::from(divisor) } else { rest };
                let value = f64::from(Op::Mod.eval(&[at, divisor]));
                let unit = f64::from(divisor.abs()) * f64::from(f32::EPSILON) / 2.0;
                assert!((value - exact).abs() <= unit, "mod({at:e}, {divisor:e}) is {value:e}");
                let (least, most) = (divisor.min(0.0), divisor.max(0.0));
                assert!((f64::from(least)..=f64::from(most)).contains(&value), "{value:e}");
            }
        }
    }
}

fn of_angles<T: Real>() {
    let pi = std::f64::consts::PI;
    let half = pi / 2.0;
    let cases = [
        (0.0, 1.0, 0.0),
        (-0.0, 1.0, -0.0),
        (0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0),
        (0.0, -0.0, pi),
        (-0.0, -0.0, -pi),
        (0.0, -1.0, pi),
        (-0.0, -1.0, -pi),
        (1.0, 0.0, half),
        (1.0, -0.0, half),
        (-1.0, -0.0, -half),
        (1.0, 1.0, pi / 4.0),
        (1.0, -1.0, 0.75 * pi),
        (-1.0, -1.0, -0.75 * pi),
        (-1.0, 1.0, -pi / 4.0),
        (INF, INF, pi / 4.0),
        (INF, -INF, 0.75 * pi),
        (-INF, INF, -pi / 4.0),
        (-INF, -INF, -0.75 * pi),
        (INF, 3.0, half),
        (-INF, -3.0, -half),
        (2.0, INF, 0.0),
        (-2.0, INF, -0.0),
        (2.0, -INF, pi),
        (-2.0, -INF, -pi),
        (3e38, 3e38, pi / 4.0),
        (1e-38, 1e-38, pi / 4.0),
        (1e-44, -1e-44, 0.75 * pi),
        (NAN, 1.0, NAN),
        (1.0, NAN, NAN),
        (NAN, INF, NAN),
    ];
    for (y, x, expected) in cases {
        is::<T>(Op::Atan2, y, x, expected);
    }
}

#[test]
fn special_values_of_angles() {
    of_angles::<f32>();
    of_angles::<f64>();
    is::<f64>(Op::Atan2, 1.7e308, -1.7e308, 0.75 * std::f64::consts::PI);
}

/// Results below the normal range are rounded, not dropped.
#[test]
fn small_results_are_there() {
    for x in [-87.5_f32, -90.0, -95.0, -103.0] {
        let exact = f64::from(x).exp();
        let value = f64::from(Op::Exp.eval(&[x]));
        let unit = f64::from(f32::from_bits(1));
        assert!((value - exact).abs() <= unit, "exp({x}) is {value:e}");
        assert!(value > 0.0 || exact < unit, "exp({x}) is {value:e}");
    }
    assert_eq!(Op::Log.eval(&[5e-324_f64]), -744.4400719213812);
    assert_eq!(Op::Log.eval(&[1e-45_f32]), -103.27893);
}

/// Sines of huge angles are bounded even without a correct digit of the reduced angle.
#[test]
fn sines_of_huge_angles_are_bounded() {
    let mut angle = 1e5_f64;
    while angle < 1e307 {
        angle *= 1.37;
        for op in [Op::Sin, Op::Cos] {
            let value: f64 = op.eval(&[angle]);
            assert!(value.abs() <= 1.0, "{}({angle:e}) is {value}", op.name());
            let value: f32 = op.eval(&[angle.min(3e38) as f32]);
            assert!(value.abs() <= 1.0, "{}({angle:e}) is {value}", op.name());
        }
    }
}
