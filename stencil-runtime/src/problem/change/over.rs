//! Values that a setting takes one after the other, as a sweep makes them.

use stencil_compiler::diag::Code;

use super::Change;
use crate::problem::ProblemError;
use crate::problem::mistakes::{At, Mistakes};

/// The option that is named in messages.
const OPTION: &str = "--over";

/// Significant digits of the values between both ends of a range.
const DIGITS: usize = 12;

/// The most values of a range.
const MOST: usize = 10_000;

/// The most combinations of one sweep.
const MOST_COMBINATIONS: usize = 100_000;

/// A setting and the values that it takes in a sweep: `params.nu=1e-3,3e-3`.
///
/// Values stand between commas; those between brackets, braces and quotes belong to a value. `A..B/N` is `N` numbers from `A` to
/// `B` with equal distances, and `A..B/Nlog` with equal ratios. Numbers between both ends are rounded to 12 digits.
///
/// ```
/// use stencil_runtime::problem::Over;
/// let over = Over::read("mesh.cells=32,64..512/4log")?;
/// assert_eq!(over.key(), "mesh.cells");
/// assert_eq!(over.values(), ["32", "64", "128", "256", "512"]);
/// # Ok::<(), stencil_runtime::problem::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Over {
    key: String,
    values: Vec<String>,
}

impl Over {
    /// Reads `KEY=VALUE,VALUE,..`.
    ///
    /// # Errors
    /// If there is no key or no value, a value is there twice, or a range has no numbers.
    pub fn read(text: &str) -> Result<Self, ProblemError> {
        let help = "write a setting, `=` and values: --over params.nu=1e-3,3e-3";
        let Some((key, list)) = text.split_once('=').filter(|(key, _)| !key.trim().is_empty())
        else {
            return Err(wrong(text, "this names no setting with its values", help));
        };
        let mut values = Vec::new();
        for part in parts(list) {
            if part.is_empty() {
                return Err(wrong(text, "a value is missing", help));
            }
            match range(part) {
                Ok(Some(range)) => values.extend(range),
                Ok(None) => values.push(part.to_string()),
                Err((message, help)) => return Err(wrong(text, message, help)),
            }
        }
        if let Some(twice) = first_twice(&values) {
            let message = format!("the value {twice} is there twice");
            return Err(wrong(text, message, "give each value once"));
        }
        Ok(Over { key: without_spaces(key), values })
    }

    /// Returns the setting, such as `params.nu`.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the values in their order, as text.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Returns the change that gives the setting one of its values.
    fn change(&self, value: &str) -> Change {
        Change::assign(OPTION, "", &format!("{}={value}", self.key))
    }
}

/// A value of each setting, and the changes that give them.
pub type OneOfEach = (Vec<String>, Vec<Change>);

/// Returns all combinations of values, each with its changes: the last setting changes fastest.
///
/// # Errors
/// If two of them, or one and a change beside them, set the same setting, or there are too many.
///
/// ```
/// use stencil_runtime::problem::{Over, combinations};
/// let over = [Over::read("params.nu=1,2")?, Over::read("mesh.cells=8,16")?];
/// let all = combinations(&over, &[])?;
/// assert_eq!(all[1].0, ["1", "16"]);
/// assert_eq!(all[1].1[1].to_string(), "--over mesh.cells=16");
/// # Ok::<(), stencil_runtime::problem::ProblemError>(())
/// ```
pub fn combinations(overs: &[Over], beside: &[Change]) -> Result<Vec<OneOfEach>, ProblemError> {
    for (at, over) in overs.iter().enumerate() {
        let is_twice = overs[..at].iter().any(|before| before.key == over.key);
        if is_twice || beside.iter().any(|change| without_spaces(&change.key) == over.key) {
            let message = format!("`{}` is set twice", over.key);
            return Err(wrong(&over.key, message, "give it all of its values in one --over"));
        }
    }
    let count = overs.iter().try_fold(1_usize, |n, over| n.checked_mul(over.values.len()));
    if count.is_none_or(|count| count > MOST_COMBINATIONS) {
        let message = format!("there are more than {MOST_COMBINATIONS} combinations");
        return Err(wrong("", message, "give fewer values, in several sweeps"));
    }
    let mut all = vec![(Vec::new(), Vec::new())];
    for over in overs {
        let longer = all.iter().flat_map(|(values, changes)| {
            over.values.iter().map(move |value| {
                let (mut values, mut changes) = (values.clone(), changes.clone());
                values.push(value.clone());
                changes.push(over.change(value));
                (values, changes)
            })
        });
        all = longer.collect();
    }
    Ok(all)
}

/// Returns a path in the form in which two are compared.
fn without_spaces(path: &str) -> String {
    path.split('.').map(str::trim).collect::<Vec<_>>().join(".")
}

fn wrong(text: &str, message: impl Into<String>, help: &str) -> ProblemError {
    let mut mistakes = Mistakes::default();
    let shown = format!("{OPTION} {text}");
    let (start, end) = (OPTION.len() + 1, shown.len());
    let source = mistakes.source("command line", shown.trim_end());
    let at = At { source, start: start.min(end), end };
    mistakes.add(Code::BadSetting, at, message, help);
    mistakes.error()
}

/// Returns the parts between commas outside of brackets, braces and quotes.
fn parts(list: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, c) in list.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{' | '(') => depth += 1,
            (None, ']' | '}' | ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    parts.push(list[start..].trim());
    parts
}

fn first_twice(values: &[String]) -> Option<&String> {
    let mut all = values.iter().enumerate();
    all.find(|(at, value)| values[..*at].contains(value)).map(|(_, value)| value)
}

/// A message and a way out.
type Wrong = (String, &'static str);

/// Reads `A..B/N` or `A..B/Nlog`; `None` if the text does not begin as a range of numbers.
fn range(text: &str) -> Result<Option<Vec<String>>, Wrong> {
    let Some((low, rest)) = text.split_once("..") else { return Ok(None) };
    let Ok(first) = low.trim().parse::<f64>() else { return Ok(None) };
    let help =
        "write both ends and the number of values: 0..1/5, or 1e-3..1e-1/5log for equal ratios";
    let Some((high, count)) = rest.split_once('/') else {
        return Err((format!("the range `{text}` has no number of values"), help));
    };
    let (count, is_log) = match count.trim().strip_suffix("log") {
        Some(count) => (count, true),
        None => (count, false),
    };
    let (Ok(last), Ok(count)) = (high.trim().parse::<f64>(), count.trim().parse::<usize>()) else {
        return Err((format!("`{text}` is no range of numbers"), help));
    };
    if !first.is_finite() || !last.is_finite() || !(2..=MOST).contains(&count) {
        let message = format!("`{text}` is no range of 2 to {MOST} values between finite ends");
        return Err((message, help));
    }
    if is_log && (first <= 0.0 || last <= 0.0) {
        let message = format!("`{text}`: values of equal ratios are positive");
        return Err((message, "give positive ends, or leave `log` out"));
    }
    let is_whole = [low, high].iter().all(|end| end.trim().parse::<i64>().is_ok());
    let between = |at: usize| {
        let share = at as f64 / (count - 1) as f64;
        let value = match is_log {
            true => (first.ln() + share * (last.ln() - first.ln())).exp(),
            false => first + share * (last - first),
        };
        written(value, is_whole)
    };
    let inner = (1..count - 1).map(between);
    let ends = |text: &str| text.trim().to_string();
    Ok(Some([ends(low)].into_iter().chain(inner).chain([ends(high)]).collect()))
}

/// Writes a number between the ends of a range, as an integer if both ends are and it is one to its digits.
fn written(value: f64, is_whole: bool) -> String {
    let rounded = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    if is_whole && rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        return format!("{rounded:.0}");
    }
    let (plain, short) = (format!("{rounded:?}"), format!("{rounded:e}"));
    if short.len() < plain.len() { short } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        Over::read(text).unwrap_or_else(|e| panic!("{e}")).values
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(values("a=1, 2"), ["1", "2"]);
        assert_eq!(values("mesh.cells=[8,8],[16, 16]"), ["[8,8]", "[16, 16]"]);
        assert_eq!(values("time.dt=cfl(0.4),'min(1,2)'"), ["cfl(0.4)", "'min(1,2)'"]);
        assert_eq!(values("a=0..1/5"), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(values("a=1e-3..1e-1/3log"), ["1e-3", "0.01", "1e-1"]);
        assert_eq!(values("a=1..-1/3"), ["1", "0", "-1"]);
        assert_eq!(values("a=64..512/4log"), ["64", "128", "256", "512"]);
        // A path is no range.
        assert_eq!(values("init.file=../a.npz"), ["../a.npz"]);
    }

    #[test]
    fn mistakes_name_the_text_and_a_way_out() {
        for (text, message) in [
            ("nu", "names no setting"),
            ("=1", "names no setting"),
            ("nu=", "a value is missing"),
            ("nu=1,,2", "a value is missing"),
            ("nu=1,2,1", "is there twice"),
            ("nu=1..2", "no number of values"),
            ("nu=1..2/1", "no range of 2"),
            ("nu=1..2/many", "no range of numbers"),
            ("nu=0..1/3log", "are positive"),
        ] {
            let error = Over::read(text).unwrap_err().to_string();
            assert!(error.contains(message) && error.contains("help:"), "{text}: {error}");
        }
    }

    #[test]
    fn the_last_setting_changes_fastest() {
        let overs = ["a=1,2", "b=x,y"].map(|text| Over::read(text).unwrap());
        let all = combinations(&overs, &[]).unwrap();
        let values: Vec<String> = all.iter().map(|(values, _)| values.join("")).collect();
        assert_eq!(values, ["1x", "1y", "2x", "2y"]);
        assert!(combinations(&[overs[0].clone(), overs[0].clone()], &[]).is_err());
        assert!(combinations(&overs, &[Change::set("b=z")]).is_err());
        assert_eq!(combinations(&[], &[]).unwrap().len(), 1);
    }
}
