//! Words that physicists type: each has one error, at its place, with the way out.

use super::{around, codes, equation, parsed};
use crate::model::parse::parse_str;

/// The one error of a text: its code, the underlined text, and its help.
fn error(source: &str) -> (String, String, String) {
    let errors = parse_str(source).expect_err(source);
    let found: Vec<_> = errors.iter().collect();
    assert_eq!(found.len(), 1, "{source}\n{errors}");
    let span = found[0].span;
    let line = source.lines().nth(span.start.line as usize - 1).unwrap();
    let end = match span.end.line == span.start.line {
        true => span.end.column as usize,
        false => line.chars().count(),
    };
    let start = span.start.column as usize;
    // An error without a token has a place and no extent.
    let at = line.chars().take(end.max(start + 1)).skip(start);
    let help = found[0].help.clone().unwrap_or_default();
    (found[0].code.text().to_string(), at.collect(), help)
}

#[test]
fn what_is_written_elsewhere_has_a_way_out() {
    let cases = [
        (equation("dx(f)"), "dx", "write `d[x](f)`"),
        (equation("d2dx2(f)"), "d2dx2", "write `d2[x](f)`"),
        (equation("d2[x,y](f)"), "x,", "`d[x](d[y](f))`"),
        (equation("d[xy](f)"), "xy]", "`d[x](d[y](f))`"),
        (equation("a + grad f"), "grad f", "write `grad(f)`"),
        (equation("-lap u.x"), "lap u", "write `lap(u)`"),
        (equation("d[x] f"), "f", "write `d[x](f)`"),
        (equation("asinh(f)"), "asinh", "`log(a + sqrt(a^2 + 1))`"),
        (equation("arctan(f)"), "arctan", "`atan2(a, 1)`"),
        (equation("rand()"), "rand", "initial values"),
        (equation("mean(f)"), "mean", "`observe name = mean(..);`"),
        (equation("e^2"), "e", "`exp(a)`"),
        (equation("f/dx"), "dx", "the scheme makes differences"),
        (equation("2*π*f"), "π", "write `pi`"),
        (equation("|f|"), "|", "`abs(a)`"),
        (equation("\\frac{f}{2}"), "\\", "`a / b`"),
        (equation("\\nabla f"), "\\", "`grad(f)`"),
        (equation("f²"), "²", "write `a^2`"),
        (around("ddt(f) = f; lap(f) = -a;"), "lap", "gives the rate"),
        (around("ddt(f) = f; f_t = a;"), "f_t", "write `ddt(f) = ..;`"),
        (around("ddt(f) = f; dfdt = a;"), "dfdt", "write `ddt(f) = ..;`"),
        (around("ddt(f) = f; k = 2*a;"), "k", "write `let k = ..;`"),
        (around("ddt(ddt(f)) = f; ddt(f) = f;"), "ddt", "declare the first one as a field"),
        (around("ddt(a*f) = f; ddt(f) = f;"), "a*", "be a field"),
        (around("ddt(f) = f;\n# a comment; of mine\n"), "#", "begins with `//`"),
        (around("ddt(f) = f;\n# it's a comment\n"), "#", "begins with `//`"),
    ];
    for (source, place, way) in cases {
        let (_, at, help) = error(&source);
        assert_eq!(at, place, "{source}");
        assert!(help.contains(way), "{source}: {help}");
    }
}

#[test]
fn names_that_no_number_mends_are_refused() {
    for name in ["ρ", "é", "_", "__", "a__b", "r#type", "_a"] {
        let definition = format!("fn {name}(b: scalar) -> scalar {{ let c = b*b; c + 1 }}");
        for rhs in ["f".to_string(), format!("{name}(f)")] {
            let source = around(&format!("{definition} ddt(f) = {rhs};"));
            assert_eq!(codes(&source), ["P0104"], "{source}");
        }
    }
}

#[test]
fn names_with_numbers_stay_names() {
    let long = "b".repeat(60);
    for name in ["c_", "c__", &long] {
        let source = format!(
            "system H in 1d {{ conserved q: scalar; let {long} = 2*q; flux q -> [q]; riemann g {{
                let c = below.q; let {name} = 2*c; let c_2 = 3*c; q = c + c_2; }} }}"
        );
        let found = codes(&source);
        assert!(found.len() <= 1, "{name}: {found:?}");
    }
}

/// A chain of this many `let`s, each made of the last.
fn chain(count: usize, of: &str) -> String {
    let first = "let c0 = f;".to_string();
    let all = (1..count).fold(first, |all, i| {
        let last = i - 1;
        all + &format!("let c{i} = {};", of.replace("LAST", &format!("c{last}")))
    });
    around(&format!("{all} ddt(f) = c{};", count - 1))
}

#[test]
fn what_goes_too_far_down_is_refused() {
    let nested =
        |count: usize| equation(&format!("{}f{}", "lap(".repeat(count), ")".repeat(count)));
    assert_eq!(codes(&nested(199)), ["P0003"]);
    assert_eq!(codes(&nested(9)), ["P0003"]);
    assert_eq!(codes(&chain(10, "lap(LAST)")), ["P0003"]);
    assert_eq!(codes(&chain(9000, "sqrt(LAST)")), ["P0003"]);
    for right in [nested(8), chain(9, "lap(LAST)"), chain(1000, "sqrt(LAST)")] {
        assert_eq!(parsed(&right).check(), Ok(()));
    }
}
