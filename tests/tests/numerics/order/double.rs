//! Sines and cosines in about 31 digits.

use stencil_compiler::expr::real::Arithmetic;
pub(crate) use stencil_tests::written::Wide as Double;

/// π
pub(crate) const PI: Double = Double::PI;

/// Returns the sine of `part/whole` of a full turn.
pub(crate) fn sine(part: i64, whole: i64) -> Double {
    // An angle of at most a quarter of a turn, for which the terms of the series do not cancel much.
    let half = (2 * part).rem_euclid(2 * whole);
    let half = match 2 * half {
        twice if twice > 3 * whole => half - 2 * whole,
        twice if twice > whole => whole - half,
        _ => half,
    };
    let angle = PI * (half as f64).into() / (whole as f64).into();
    let square = angle * angle;
    let mut term = angle;
    let mut sum = angle;
    for n in (2..40).step_by(2) {
        term = -(term * square) / f64::from(n * (n + 1)).into();
        sum = sum + term;
    }
    sum
}

/// Returns the cosine of `part/whole` of a full turn.
pub(crate) fn cosine(part: i64, whole: i64) -> Double {
    sine(4 * part + whole, 4 * whole)
}

#[test]
fn doubles_have_thirty_digits() {
    let (two, three) = (Double::from(2.0), Double::from(3.0));
    for part in -70..70 {
        let (sine, cosine) = (sine(part, 60), cosine(part, 60));
        let f64 = (std::f64::consts::TAU * part as f64 / 60.0).sin();
        assert!((sine.to_f64() - f64).abs() < 1e-14, "{part}");
        let one = sine * sine + cosine * cosine - 1.0.into();
        assert!(one.to_f64().abs() < 1e-30, "{part}: {one:?}");
    }
    let half = sine(1, 12) - Double::from(0.5);
    assert!(half.to_f64().abs() < 1e-30, "{half:?}");
    let third = two / three * three - two;
    assert!(third.to_f64().abs() < 1e-30, "{third:?}");
    let root = two.sqrt() * two.sqrt() - two;
    assert!(root.to_f64().abs() < 1e-30, "{root:?}");
    let almost = two - Double::from(1e-25);
    assert_eq!(almost.exponent(), 0.0.into());
    assert_eq!(almost.significand(), almost);
    assert_eq!((-almost).abs(), almost);
}
