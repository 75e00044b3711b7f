//! Programs that parse, precedence, numbers, and one smallest program for each error.

use super::number::NumberError;
use super::*;
use crate::expr::Rational;
use crate::model::{Comparison, Mixed, text};

mod book;
mod centering;
mod constants;
mod errors;
mod expansion;
mod foreign;
mod loops;
mod widths;

const NAVIER_STOKES: &str = "
/// Isothermal Navier-Stokes.
///
///  Indented.
pub system IsothermalNs in 3d {
    field lnrho: scalar [1];
    field u: vector [m/s];
    param cs: real [m/s] = 1.0;
    param nu: real [ m ^ 2 / s ] = 5e-3 where nu >= 0 and nu < 1;
    let s = sym_traceless(grad(u));
    ddt(lnrho) = -dot(u, grad(lnrho)) - div(u);
    ddt(u) = -dot(u, grad(u)) - cs^2 * grad(lnrho)
           + nu * (lap(u) + grad(div(u))/3 + 2*dot(s, grad(lnrho)));
}
scheme central6 for IsothermalNs { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
";

/// A system around items, in 3d, with `f` a scalar, `u` a vector and `a` a parameter.
fn around(items: &str) -> String {
    format!(
        "system S in 3d {{ field f: scalar; field u: vector; param a: real; {items}\nddt(u) = u; }}"
    )
}

/// A system whose one equation has the given right-hand side.
fn equation(rhs: &str) -> String {
    around(&format!("let s = grad(u); ddt(f) = {rhs};"))
}

fn codes(source: &str) -> Vec<&'static str> {
    match parse_str(source) {
        Ok(_) => Vec::new(),
        Err(diagnostics) => diagnostics.iter().map(|d| d.code.text()).collect(),
    }
}

fn parsed(source: &str) -> Model {
    match parse_str(source) {
        Ok(model) => model,
        Err(diagnostics) => panic!("{}", diagnostics.render("test", source)),
    }
}

/// The right-hand side with the parentheses that it needs.
fn reprinted(rhs: &str) -> String {
    let model = parsed(&equation(rhs));
    text::expression(&model, &model.equations[0].rhs)
}

#[test]
fn navier_stokes_parses() {
    let model = parsed(NAVIER_STOKES);
    assert_eq!(model.check(), Ok(()));
    assert_eq!(model.doc, ["Isothermal Navier-Stokes.", "", " Indented."]);
    assert_eq!(model.dimension, 3);
    assert_eq!(model.params[1].default, Some(0.005));
    assert_eq!(model.params[1].unit.as_deref(), Some("m^2/s"));
    let bounds = [
        (Comparison::GreaterEqual, Rational::from_integer(0)),
        (Comparison::Less, Rational::from_integer(1)),
    ];
    assert_eq!(model.params[1].bounds, bounds);
    assert_eq!(model.equations[1].field, 1);
    assert_eq!(model.scheme.name, "central6");
}

#[test]
fn the_same_model_comes_from_tokens() {
    let tokens: TokenStream = NAVIER_STOKES.parse().unwrap();
    assert_eq!(parse_tokens(tokens).unwrap(), parsed(NAVIER_STOKES));
}

#[test]
fn heat_and_elastic_waves_parse_in_every_dimension() {
    for d in 1..=3 {
        let heat = format!(
            "system Heat in {d}d {{ ddt(t_) = k*lap(t_); field t_: scalar [K]; param k: real; }}
             scheme low for Heat {{ space: central<order = 2>; time: euler; mixed: composed; }}"
        );
        let model = parsed(&heat);
        assert_eq!((model.scheme.order, model.scheme.mixed), (2, Mixed::Composed));
        let elastic = format!(
            "system Elastic in {d}d {{
                field v: vector [m/s]; field w: vector [m];
                param lambda: real = 1; param mu: real = 1 where mu >= -0.5, mu<=2; param rho: real = 1;
                ddt(v) = ((lambda + mu)*grad(div(w)) + mu*lap(w)) / rho;
                ddt(w) = v;
             }}"
        );
        assert_eq!(parsed(&elastic).scheme, crate::model::Scheme::default());
    }
}

#[test]
fn operators_bind_as_in_mathematics() {
    let cases = [
        ("-a^2", "-a^2"),
        ("(-a)^2", "(-a)^2"),
        ("2*a^2*f", "2 * a^2 * f"),
        ("a^2 + f*a^(-2)", "a^2 + f * a^(-2)"),
        ("a^-2", "a^(-2)"),
        ("a - (f - a) - f", "a - (f - a) - f"),
        ("(a - f) - a", "a - f - a"),
        ("a/(f*a)/f", "a / (f * a) / f"),
        ("-(a*f)", "-(a * f)"),
        ("-a*f", "-a * f"),
        ("a * -f - -a", "a * -f - -a"),
        ("--a", "--a"),
        ("(a + f)*2.50", "(a + f) * 2.5"),
        ("((a))", "a"),
        ("(a^2)^3", "(a^2)^3"),
        ("u.x + s.xy*s.zz", "u.x + s.xy * s.zz"),
        ("(u + u).z^2", "(u + u).z^2"),
        ("d[x](f) + d2[y](f)", "d[x](f) + d2[y](f)"),
        ("dot([a, f, 1], u)", "dot([a, f, 1], u)"),
        ("max(abs(f), sqrt(a)) - min(f, a,)", "max(abs(f), sqrt(a)) - min(f, a)"),
        ("trace(outer(u, cross(u, curl(u))))", "trace(outer(u, cross(u, curl(u))))"),
        ("dot(diagonal(outer(u, u)), u)", "dot(diagonal(outer(u, u)), u)"),
        ("div(div(transpose(sym(s))))", "div(div(transpose(sym(s))))"),
        ("[u, u, u].xy", "[u, u, u].xy"),
    ];
    for (source, expected) in cases {
        assert_eq!(reprinted(source), expected);
    }
}

#[test]
fn numbers_are_exact() {
    let value = |text: &str| number::parse(text).ok();
    assert_eq!(value("5e-3"), Some(Rational::new(1, 200)));
    assert_eq!(value("1_000.50"), Some(Rational::new(2001, 2)));
    assert_eq!(value("1."), Some(Rational::from_integer(1)));
    assert_eq!(value("2.5E+1"), Some(Rational::from_integer(25)));
    assert_eq!(value("0e999999999999999999999"), Some(Rational::from_integer(0)));
    let longest = "170141183460469231731687303715884105727";
    assert_eq!(value(longest), Some(Rational::from_integer(i128::MAX)));
    for text in
        ["1e39", "1e-39", "1e99999999999999999999", "170141183460469231731687303715884105728"]
    {
        assert_eq!(number::parse(text), Err(NumberError::TooLarge), "{text}");
    }
    assert_eq!(number::parse("1.0f64"), Err(NumberError::TypeSuffix("1.0".into())));
    assert_eq!(number::parse("0x1f"), Err(NumberError::NotDecimal));
    assert_eq!(number::parse("2_nu"), Err(NumberError::Suffix("2".into(), "nu".into())));
    assert_eq!(number::parse("2µ"), Err(NumberError::Suffix("2".into(), "µ".into())));
}

#[test]
fn all_errors_come_at_once_and_in_order() {
    let source =
        around("param b: real = ; let c = grad(q) + r;\n ddt(f) = 2 f;\n param double: real;");
    assert_eq!(codes(&source), ["P0002", "P0101", "P0101", "P0006", "P0104"]);
}

#[test]
fn one_expression_has_all_its_errors_reported() {
    let source = equation("dot(u, grad(g)) - 2u + u·u / 0 + v.x");
    assert_eq!(codes(&source), ["P0101", "P0102", "P0102", "P0101"]);
}

#[test]
fn an_error_shows_the_line_and_a_way_out() {
    let source = "system Heat in 1d {\n    field temp: scalar;\n    ddt(temp) = lap(tmep)\n      + grad(temp);\n}";
    let diagnostics = parse_str(source).unwrap_err();
    let expected = "\
error[P0101]: no field, parameter or `let` `tmep` in `Heat`
 --> heat.pde:3:21
  |
3 |     ddt(temp) = lap(tmep)
  |                     ^^^^
  = note: fields: temp
  = help: did you mean `temp`?
";
    assert_eq!(diagnostics.render("heat.pde", source), expected);
}

#[test]
fn a_long_expression_is_underlined_on_all_its_lines() {
    let source = "system Heat in 1d {\n  field f: scalar;\n  ddt(f) = f\n    + grad(f);\n}";
    let text = parse_str(source).unwrap_err().render("a", source);
    let lines = "3 |   ddt(f) = f\n  |            ^\n4 |     + grad(f);\n  |     ^^^^^^^^^\n";
    assert!(text.contains(lines), "{text}");
}

#[test]
fn ways_out_name_the_right_thing() {
    let help = |source: &str| {
        let diagnostics = parse_str(source).unwrap_err();
        let help = diagnostics.iter().next().and_then(|d| d.help.clone());
        help.unwrap_or_default()
    };
    assert_eq!(help(&equation("u·u")), "write `dot(u, u)`");
    assert_eq!(help(&equation("2a")), "write `2*a`");
    assert_eq!(help(&equation("lpa(f)")), "did you mean `lap`?");
    assert_eq!(help(&equation("∂f")), "write `d[x](f)`, or `ddt(f)` on the left of an equation");
    assert_eq!(help("sistem S in 3d {}"), "did you mean `system`?");
}

/// Every prefix of a program, and the program with every token left out or doubled, is answered.
#[test]
fn methods_in_2n_storage_have_two_storages() {
    let source =
        |time: &str| NAVIER_STOKES.replace("time: rk3_williamson", &format!("time: {time}"));
    for (time, name) in [
        ("rk3_williamson<storage = accumulator>", "rk3_williamson<storage = accumulator>"),
        ("rk3_williamson<storage=states>", "rk3_williamson"),
        (
            "rk4_carpenter_kennedy < storage = accumulator >",
            "rk4_carpenter_kennedy<storage = accumulator>",
        ),
    ] {
        let model = parsed(&source(time));
        assert_eq!(model.scheme.time, name);
        assert_eq!(model.check(), Ok(()));
        let printed = text::print(&model);
        assert!(printed.contains(&format!("time: {name};")), "{printed}");
        assert_eq!(parsed(&printed).scheme, model.scheme);
    }
    for (time, message) in [
        ("rk4<storage = states>", "`rk4` has no settings"),
        ("euler<storage = states>", "`euler` has no settings"),
        ("rk3_williamson<order = 3>", "`rk3_williamson` has no setting `order`"),
        ("rk3_williamson<storage = state>", "did you mean `states`?"),
        ("rk3_williamson<storage = accumulators>", "did you mean `accumulator`?"),
        ("rk3_williamson<storage = states, order = 3>", "has no second setting `order`"),
        ("rk5<storage = states>", "no time integrator `rk5`"),
    ] {
        let source = source(time);
        let errors = parse_str(&source).unwrap_err();
        let shown = errors.render("test", &source);
        assert!(shown.contains(message), "{shown}");
        assert_eq!(errors.len(), 1, "{shown}");
    }
}

#[test]
fn nothing_panics() {
    let characters: Vec<char> = NAVIER_STOKES.chars().collect();
    for end in 0..characters.len() {
        let prefix: String = characters[..end].iter().collect();
        let _ = parse_str(&prefix).map_err(|d| d.render("prefix", &prefix));
    }
    let words: Vec<&str> =
        NAVIER_STOKES.split_inclusive([' ', '(', ')', ';', '{', '}', '[', ']']).collect();
    for i in 0..words.len() {
        for replacement in
            ["", ";", "}", "(", " ddt ", " field ", "^", " -", " 1e99 ", "#", "\"a\"", " [x]"]
        {
            let mut changed = words.clone();
            changed[i] = replacement;
            let changed = changed.concat();
            let _ = parse_str(&changed).map_err(|d| d.render("changed", &changed));
        }
    }
    for source in
        ["\u{feff}", "\0", "'", "\"", "/*", "#", "pub", "system", "///", "{}", "2e", "0µ", "1.x"]
    {
        assert!(parse_str(source).is_err());
        assert!(
            parse_str(&equation(source)).is_err() || source.starts_with('\u{feff}'),
            "{source}"
        );
    }
}

#[test]
fn deep_input_is_an_error_and_no_overflow() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{", "}"), ("sqrt(", ")"), ("-", ""), ("d[x](", ")")]
    {
        let rhs = format!("{}f{}", open.repeat(20_000), close.repeat(20_000));
        assert!(parse_str(&equation(&rhs)).is_err());
        assert!(parse_str(&rhs).is_err());
    }
    assert!(parse_str(&equation(&format!("f{}", "*f".repeat(50_000)))).is_err());
    assert!(parse_str(&equation(&format!("{}f{}", "(".repeat(180), ")".repeat(180)))).is_ok());
}
