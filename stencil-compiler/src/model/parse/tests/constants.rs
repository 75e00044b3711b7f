//! Defaults and bounds of parameters: values, their text, and where errors point.

use super::{around, parsed};
use crate::model::parse::parse_str;
use crate::model::{Comparison, Model, text, to_f64};

/// A system with one more parameter.
fn with(param: &str) -> String {
    around(&format!("ddt(f) = f; param b: real {param};"))
}

/// The default of the parameter that [`with`] adds.
fn default(param: &str) -> f64 {
    let model = parsed(&with(param));
    assert_eq!(model.check(), Ok(()), "{param}");
    model.params[1].default.expect(param)
}

#[test]
fn a_default_is_an_expression_of_numbers() {
    let cases = [
        ("= 5/3", 5.0 / 3.0),
        ("= 1/3", 1.0 / 3.0),
        ("= -(1 + 0.4)*2^3/7", -(1.0 + 0.4) * 8.0 / 7.0),
        ("= 2*pi", std::f64::consts::TAU),
        ("= 1e-20*sqrt(2)", 1e-20 * std::f64::consts::SQRT_2),
        ("[m^2/s] = min(5/3, max(1, abs(-1.2)))", 1.2),
        ("= sign(-3)*norm([3, 4, 0])", -5.0),
        ("= if 2 > 1 { 5/3 } else { 0 }", 5.0 / 3.0),
        ("= 10^(-2)", 0.01),
        ("= 0*(-1)", 0.0),
        ("= 1.054571817e-34", 1.054571817e-34),
        ("= -6.62607015e-134", -6.62607015e-134),
        ("= 1.5e300", 1.5e300),
        ("= 1e-30/3e30", 1e-30 / 3e30),
    ];
    for (text, expected) in cases {
        assert_eq!(default(text), expected, "{text}");
    }
}

#[test]
fn a_literal_of_any_size_reads_back() {
    for value in ["-0.1234567890123456789", "1.054571817e-34", "-6.6e-134", "1.5e300"] {
        let model = parsed(&with(&format!("= {value}")));
        let again = parsed(&text::print(&model));
        assert_eq!(model.params[1].default, value.parse().ok());
        assert_eq!(again.params[1].default, model.params[1].default);
    }
}

#[test]
fn bounds_are_expressions_too() {
    let model = parsed(&with("= 5/3\n where b > 1 and b <= 5/3, b < 2*(1 + 1/2)"));
    let bounds: Vec<(Comparison, f64)> = (model.params[1].bounds.iter())
        .map(|(comparison, bound)| (*comparison, to_f64(bound)))
        .collect();
    let expected =
        [(Comparison::Greater, 1.0), (Comparison::LessEqual, 5.0 / 3.0), (Comparison::Less, 3.0)];
    assert_eq!(bounds, expected);
}

#[test]
fn the_text_reads_back_as_the_same_numbers() {
    let model = parsed(&with("= sqrt(2)*1e-9 where b > -1/3 and b < exp(3)"));
    let printed = text::print(&model);
    assert!(printed.contains("= 1.4142135623730952e-9") || printed.contains("e-25"));
    let again: Model = parsed(&printed);
    assert_eq!(again.params[1].default, model.params[1].default);
    assert_eq!(again.params[1].bounds, model.params[1].bounds);
}

#[test]
fn errors_point_at_what_is_no_constant() {
    let cases = [
        (
            "= 2*f",
            "P0110",
            "f",
            "`f` is a field, and defaults and bounds of parameters are constants",
        ),
        ("= a + 1", "P0110", "a", "`a` is a parameter"),
        ("= 2*t", "P0110", "t", "`t` is the time"),
        ("= 1 where b > y", "P0110", "y", "`y` is a coordinate"),
        ("= g(1)", "P0110", "g", "`g` is a function"),
        ("= qq/2", "P0101", "qq", "no field, parameter or `let` `qq`"),
        ("= 1/(2 - 2)", "P0207", "(2 - 2)", "the divisor is zero"),
        ("= 1/0", "P0207", "0", "division by a literal zero"),
        ("= 3 + sqrt(1 - 2)", "P0007", "sqrt(1 - 2)", "the value is NaN"),
        ("= -exp(1e4)", "P0007", "exp(1e4)", "the value is inf"),
        ("= 1e-30*1.5e-40", "P0007", "1.5e-40", "cannot be held"),
        ("= 1 where b > 1e-30/3e30", "P0007", "1e-30/3e30", "cannot be held"),
        ("= [1, 2, 3]", "P0201", "[1, 2, 3]", "this is a vector"),
        ("= 1 < 2", "P0012", "1 < 2", "a condition is no number"),
        ("= lap(2)", "P0111", "lap(2)", "`lap` is a derivative"),
        ("= 1 where b > 0 && b < 2", "P0002", "b > 0 && b < 2", "more than one comparison"),
        ("= 5/3 where b > 4/2", "P0208", "5/3", "the default of `b` breaks its bound"),
    ];
    for (text, code, place, message) in cases {
        let source = with(text).replace("ddt(f)", "fn g(c: scalar) -> scalar { c }\nddt(f)");
        let errors = parse_str(&source).expect_err(text);
        let found: Vec<_> = errors.iter().collect();
        assert_eq!(found.len(), 1, "{text}: {errors}");
        let (error, span) = (found[0], found[0].span);
        assert_eq!(error.code.text(), code, "{text}: {errors}");
        assert!(error.message.contains(message), "{text}: {errors}");
        let line = source.lines().nth(span.start.line as usize - 1);
        let at = &line.unwrap()[span.start.column as usize..span.end.column as usize];
        assert_eq!(at, place, "{text}: {errors}");
    }
}
