//! Literals to exact fractions.

use num_traits::{CheckedMul, Signed, Zero};

use crate::expr::Rational;

/// The reason why a literal is not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::model) enum NumberError {
    /// `2nu`: the number and its suffix.
    Suffix(String, String),
    /// `1.0f64`, without the suffix.
    TypeSuffix(String),
    /// Hexadecimal and the like.
    NotDecimal,
    /// More digits than fit.
    TooLarge,
}

/// Reads an unsigned decimal literal exactly.
pub(in crate::model) fn parse(text: &str) -> Result<Rational, NumberError> {
    let (number, suffix) = split_suffix(text);
    if !suffix.is_empty() {
        if number == "0" && suffix.starts_with(['x', 'b', 'o']) {
            return Err(NumberError::NotDecimal);
        }
        if is_type(suffix) {
            return Err(NumberError::TypeSuffix(number.to_string()));
        }
        let suffix = suffix.trim_start_matches('_');
        return Err(NumberError::Suffix(number.to_string(), suffix.to_string()));
    }
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.replace('_', "")),
        None => (number, "0".to_string()),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat().replace('_', "");
    let decimals = fraction.chars().filter(char::is_ascii_digit).count();
    value(&digits, decimals, &exponent).ok_or(NumberError::TooLarge)
}

/// The number nearest to a literal that no exact fraction holds; `None` for other literals, and beyond the numbers of `f64`.
pub(in crate::model) fn real(text: &str) -> Option<f64> {
    if parse(text) != Err(NumberError::TooLarge) {
        return None;
    }
    let value: f64 = text.replace('_', "").parse().ok()?;
    value.is_normal().then_some(value)
}

/// `digits` times ten to the power of `exponent - decimals`.
fn value(digits: &str, decimals: usize, exponent: &str) -> Option<Rational> {
    let significant = digits.trim_end_matches('0');
    let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
    if significant.is_empty() {
        return Some(Rational::zero());
    }
    let mantissa: i128 = significant.parse().ok()?;
    let exponent: i64 = exponent.parse().ok()?;
    let power = exponent.checked_sub(i64::try_from(decimals).ok()?)?.checked_add(dropped)?;
    let scale = 10_i128.checked_pow(u32::try_from(power.unsigned_abs()).ok()?)?;
    if power < 0 {
        Some(Rational::new(mantissa, scale))
    } else {
        Rational::from_integer(mantissa).checked_mul(&Rational::from_integer(scale))
    }
}

/// Cuts a literal behind its last digit.
fn split_suffix(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let is_digit = |b: &&u8| b.is_ascii_digit() || **b == b'_';
        from + bytes[from..].iter().take_while(is_digit).count()
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = end + 1 + sign;
        if bytes.get(exponent).is_some_and(u8::is_ascii_digit) {
            end = digits(exponent);
        }
    }
    // `2_nu`: the underscore belongs to neither.
    let number = text[..end].trim_end_matches('_');
    (number, &text[end..])
}

/// The shortest decimal that reads back as a finite number, as a fraction; `None` if it does not
/// fit.
pub(crate) fn nearest_decimal(value: f64) -> Option<Rational> {
    let size = parse(&format!("{:e}", value.abs())).ok()?;
    Some(if value < 0.0 { -size } else { size })
}

/// Integers up to this one are exact in `f64`.
const EXACT: u128 = 1 << 53;

/// The nearest `f64`: literals are decimals, and reading a decimal rounds once, which the quotient
/// of two rounded parts does not.
pub(in crate::model) fn nearest(value: &Rational) -> f64 {
    let (numerator, denominator) = (*value.numer(), *value.denom());
    let quotient = numerator as f64 / denominator as f64;
    // The quotient of exact parts, too, rounds once.
    if numerator.unsigned_abs() <= EXACT && denominator.unsigned_abs() <= EXACT {
        return quotient;
    }
    let size = print(&value.abs()).and_then(|text| text.parse::<f64>().ok());
    size.map_or(quotient, |size| if quotient < 0.0 { -size } else { size })
}

/// Is a suffix a type of Rust or C?
fn is_type(suffix: &str) -> bool {
    const TYPES: &[&str] = &[
        "f", "f16", "f32", "f64", "f128", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
        "u32", "u64", "u128", "usize",
    ];
    TYPES.contains(&suffix.trim_start_matches('_'))
}

/// The shortest decimal text that reads back as the number: `None` if it is negative or has no
/// finite decimal that fits.
pub(in crate::model) fn print(number: &Rational) -> Option<String> {
    let (numerator, mut denominator) = (*number.numer(), *number.denom());
    if numerator < 0 || denominator <= 0 {
        return None;
    }
    let mut count = |prime: i128| {
        let mut times = 0_u32;
        while denominator % prime == 0 {
            denominator /= prime;
            times += 1;
        }
        times
    };
    let decimals = count(2).max(count(5));
    if denominator != 1 {
        return None;
    }
    let scale = 10_i128.checked_pow(decimals)? / number.denom();
    let digits = numerator.checked_mul(scale)?.to_string();
    let decimals = decimals as usize;
    let text = if decimals == 0 {
        digits
    } else if decimals > digits.len() + 4 {
        format!("{digits}e-{decimals}")
    } else {
        let digits = format!("{digits:0>width$}", width = decimals + 1);
        let (whole, fraction) = digits.split_at(digits.len() - decimals);
        format!("{whole}.{fraction}")
    };
    (parse(&text).as_ref() == Ok(number)).then_some(text)
}
