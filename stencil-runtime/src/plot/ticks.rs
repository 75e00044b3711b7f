//! Places and labels of ticks.

/// A tick: its place in the data and its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// Returns ticks at multiples of 1, 2 or 5 times a power of ten, at most about `count`, inside the range.
pub(super) fn linear(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let length = high - low;
    if !length.is_finite() || length <= 0.0 {
        return Vec::new();
    }
    let step = nice_step(length / count.max(1) as f64);
    // A hair of slack, or rounding loses the ticks at the ends.
    let slack = 1e-9 * length / step;
    let (first, last) = ((low / step - slack).ceil(), (high / step + slack).floor());
    if !(last - first).is_finite() || last - first > 1000.0 {
        return Vec::new();
    }
    let n = (last - first).max(-1.0) as i64;
    // `+ 0.0` turns a negative zero into a plain one.
    let values: Vec<f64> = (0..=n).map(|i| (first + i as f64) * step + 0.0).collect();
    let labels = labels(&values, step);
    // Rounding must not put an end's tick outside of the plot.
    let ticks = values.into_iter().map(|v| v.clamp(low, high)).zip(labels);
    ticks.map(|(value, label)| Tick { value, label }).collect()
}

/// Returns the smallest of 1, 2, 5 times a power of ten that is not below `rough`.
fn nice_step(rough: f64) -> f64 {
    let power = rough.log10().floor() as i32;
    // Dividing keeps 0.1, 0.2, 0.5 exact to the last bit; multiplying by 0.1 does not.
    let scaled = |m: f64, p: i32| {
        if p < 0 { m / 10_f64.powi(-p) } else { m * 10_f64.powi(p) }
    };
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|m| scaled(m, power))
        .find(|&s| s >= rough * (1.0 - 1e-9))
        .unwrap_or_else(|| scaled(1.0, power + 1))
}

/// Returns all labels of an axis in one form: as many decimals as the step needs.
fn labels(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let digits = |x: f64| (x.log10() + 1e-9).floor() as i32;
    let (top, bottom) = (digits(largest.max(step)), digits(step));
    if top < 5 && bottom >= -4 {
        let decimals = (-bottom).max(0) as usize;
        return values.iter().map(|v| sign(&format!("{v:.decimals$}"))).collect();
    }
    // `2.5e-7`: digits between the largest value's first one and the step's.
    let decimals = (top - bottom).clamp(0, 9) as usize;
    let scale = |v: f64| {
        if top < -300 { v * 1e300 / 10_f64.powi(top + 300) } else { v / 10_f64.powi(top) }
    };
    let label = |&v: &f64| match v {
        0.0 => "0".to_string(),
        _ => sign(&format!("{:.decimals$}e{top}", scale(v))),
    };
    values.iter().map(label).collect()
}

/// Writes a true minus sign, as wide as a plus.
fn sign(text: &str) -> String {
    text.replace('-', "−")
}

/// Returns ticks of a logarithmic axis from `10^low` to `10^high`: at powers of ten, or, if the axis is short, also at
/// 2 and 5 times them.
pub(super) fn logarithmic(low: f64, high: f64, count: usize) -> Vec<Tick> {
    if !(low.is_finite() && high.is_finite() && high - low < 1000.0) {
        return Vec::new();
    }
    let every = ((high - low) / count.max(1) as f64).ceil().max(1.0) as i64;
    let factors: &[f64] = match high - low {
        d if d < 1.05 => &[1.0, 2.0, 3.0, 5.0, 7.0],
        d if d < 2.2 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    // One form for all labels of an axis.
    let plain = low > -3.1 && high < 3.9;
    let mut ticks = Vec::new();
    for power in low.floor() as i64..=high.ceil() as i64 {
        if power.rem_euclid(every) != 0 {
            continue;
        }
        for factor in factors {
            let value = power as f64 + factor.log10();
            if value >= low - 1e-9 && value <= high + 1e-9 {
                ticks.push(Tick { value, label: power_label(*factor, power, plain) });
            }
        }
    }
    ticks
}

/// Returns minor ticks of a logarithmic axis: 2 to 9 times each power of ten.
pub(super) fn minor_logarithmic(low: f64, high: f64) -> Vec<f64> {
    if !(low.is_finite() && high.is_finite()) || high - low > 7.0 {
        return Vec::new();
    }
    (low.floor() as i64..=high.ceil() as i64)
        .flat_map(|p| (2..=9).map(move |m| p as f64 + f64::from(m).log10()))
        .filter(|v| (low..=high).contains(v))
        .collect()
}

/// Returns `100`, `0.2` if plain, else `10⁻³`, `5×10⁶`.
fn power_label(factor: f64, power: i64, plain: bool) -> String {
    if plain {
        let decimals = (-power).max(0) as usize;
        return format!("{:.decimals$}", factor * 10_f64.powi(power as i32));
    }
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| c.to_digit(10).map_or('⁻', |d| digits[d as usize]);
    let exponent: String = power.to_string().chars().map(raise).collect();
    if factor == 1.0 { format!("10{exponent}") } else { format!("{factor}×10{exponent}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(ticks: &[Tick]) -> String {
        let labels: Vec<_> = ticks.iter().map(|t| t.label.as_str()).collect();
        labels.join(" ")
    }

    #[test]
    fn steps_are_one_two_five() {
        assert_eq!(show(&linear(0.0, 1.0, 6)), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(show(&linear(0.0, 1.0, 11)), "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
        assert_eq!(show(&linear(-1.3, 1.3, 6)), "−1.0 −0.5 0.0 0.5 1.0");
        assert_eq!(show(&linear(0.0, 6.3, 7)), "0 1 2 3 4 5 6");
        assert_eq!(show(&linear(0.0, 99999.0, 5)), "0 20000 40000 60000 80000");
    }

    #[test]
    fn very_large_and_small_numbers_have_exponents() {
        assert_eq!(show(&linear(0.0, 2.5e-7, 5)), "0 0.5e−7 1.0e−7 1.5e−7 2.0e−7 2.5e−7");
        assert_eq!(show(&linear(0.0, 3e6, 3)), "0 1e6 2e6 3e6");
        assert_eq!(show(&linear(0.0, 0.004, 4)), "0.000 0.001 0.002 0.003 0.004");
        for (low, high) in [(0.0, 1e300), (0.0, 1e-305), (1.0, 1.0 + 1e-12)] {
            for tick in linear(low, high, 5) {
                assert!(tick.label.chars().count() < 20, "{tick:?}");
            }
        }
    }

    #[test]
    fn labels_say_the_values() {
        for tick in linear(0.1, 0.7, 6) {
            assert!((tick.value - tick.label.parse::<f64>().unwrap()).abs() < 1e-15);
            assert!((0.1..=0.7).contains(&tick.value));
        }
    }

    #[test]
    fn bad_ranges_have_no_ticks() {
        for (low, high) in [(0.0, 0.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert_eq!(linear(low, high, 5), []);
        }
        assert_eq!(logarithmic(f64::NEG_INFINITY, 0.0, 5), []);
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        assert_eq!(show(&logarithmic(-5.0, 0.0, 6)), "10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 10⁰");
        assert_eq!(show(&logarithmic(-20.0, 0.0, 5)), "10⁻²⁰ 10⁻¹⁶ 10⁻¹² 10⁻⁸ 10⁻⁴ 10⁰");
        assert_eq!(show(&logarithmic(1.0, 2.5, 5)), "10 20 50 100 200");
        assert_eq!(power_label(5.0, -4, false), "5×10⁻⁴");
        assert_eq!(minor_logarithmic(0.0, 1.0).len(), 8);
    }
}
