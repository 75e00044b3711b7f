//! Numbers as people read them.

/// Rounds a number to significant digits, without zeros at its end; very small or large ones as a power of ten.
///
/// ```
/// use stencil_runtime::report::significant;
/// assert_eq!(significant(0.30000000000000004, 5), "0.3");
/// assert_eq!(significant(1234.5678, 6), "1234.57");
/// assert_eq!(significant(2.5e-9, 4), "2.5e-9");
/// ```
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() || value == 0.0 {
        return if value == 0.0 { "0".into() } else { value.to_string() };
    }
    let digits = digits.max(1);
    // Rounding may carry into a new digit, so the exponent is that of the rounded number.
    let rounded = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-3..6).contains(&exponent) {
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    trimmed(&format!("{value:.decimals$}")).to_string()
}

/// Digits of numbers in messages.
const IN_MESSAGES: usize = 6;

/// Writes a number for a message.
pub(crate) fn told(value: f64) -> String {
    significant(value, IN_MESSAGES)
}

/// Writes a point for a message: `[0.5, 0.25]`.
pub(crate) fn told_point(at: &[f64]) -> String {
    let numbers: Vec<String> = at.iter().map(|value| told(*value)).collect();
    format!("[{}]", numbers.join(", "))
}

/// Returns a decimal number without zeros at its end.
fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_count_from_the_first_that_is_not_zero() {
        for (value, digits, expected) in [
            (0.0, 5, "0"),
            (-0.0, 5, "0"),
            (120.0, 5, "120"),
            (0.25, 5, "0.25"),
            (2.0 / 3.0, 5, "0.66667"),
            (-2.0 / 3.0 * 1e-2, 3, "-0.00667"),
            (2.0 / 3.0 * 1e-7, 3, "6.67e-8"),
            (999_999.6, 6, "1e6"),
            (123_456.7, 3, "123457"),
            (9.999_96, 4, "10"),
            (0.000_999_99, 3, "0.001"),
            (1e300, 4, "1e300"),
            (5e-324, 2, "4.9e-324"),
            (f64::NAN, 4, "NaN"),
            (f64::NEG_INFINITY, 4, "-inf"),
        ] {
            assert_eq!(significant(value, digits), expected, "{value}");
        }
    }

    #[test]
    fn what_is_shown_is_near_what_is_meant() {
        for exponent in -12..12 {
            for lead in [1.0, 1.234_567_89, 5.0, 9.999_999_9] {
                let value = lead * 10_f64.powi(exponent);
                for digits in 1..9 {
                    let shown: f64 = significant(value, digits).parse().unwrap();
                    let bound = 0.51 * 10_f64.powi(exponent + 1 - digits as i32);
                    assert!((shown - value).abs() <= bound, "{value} {digits} {shown}");
                }
            }
        }
    }
}
