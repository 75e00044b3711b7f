//! Formulas against the arithmetic of Rust, and the errors of their texts.

use super::{Formula, Scratch, of_source};
use crate::model::parse::parse_str;

const NAMES: &[&str] = &["a", "b", "x", "y", "z", "t"];
const VALUES: [f64; 6] = [0.3, -1.7, 0.9, 2.5, -0.2, 4.0];

fn value(text: &str) -> f64 {
    match Formula::parse(text, NAMES) {
        Ok(formula) => formula.eval(&VALUES),
        Err(errors) => panic!("{}", errors.render("formula", text)),
    }
}

fn close(text: &str, expected: f64) {
    let found = value(text);
    let error = (found - expected).abs();
    assert!(error <= 4e-16 * expected.abs().max(1e-300), "{text}: {found} {expected}");
}

#[test]
fn values_are_those_of_the_arithmetic() {
    let [a, b, x, y, z, _] = VALUES;
    assert_eq!(value("a + b*x - y/z"), a + b * x - y / z);
    assert_eq!(value("-x^2"), -(x * x));
    assert_eq!(value("x^5"), x * (x * x * (x * x)));
    assert_eq!(value("y^(-2)"), 1.0 / (y * y));
    assert_eq!(value("y^0"), 1.0);
    assert_eq!(value("0.1 + 1e-3"), 0.1 + 1e-3);
    assert_eq!(value("1/3"), 1.0 / 3.0);
    assert_eq!(value("pi"), std::f64::consts::PI);
    assert_eq!(value("min(a, b) + max(x, y)*abs(z) + sqrt(t)"), b + y * -z + 2.0);
    close("exp(b)", 0.182_683_524_052_734_66);
    close("log(y)", 0.916_290_731_874_155_1);
    close("sin(t)", -0.756_802_495_307_928_2);
    close("cos(t)", -0.653_643_620_863_611_9);
    close("tanh(x)", 0.716_297_870_199_024_5);
    close("sinh(z)", -0.201_336_002_541_094);
    close("cosh(b)", 2.828_315_457_889_967);
    close("erf(x)", 0.796_908_212_422_832);
    assert_eq!(value("floor(b) + mod(b, y)"), -2.0 + (b + y));
    close("cbrt(-y)", -1.357_208_808_297_453_4);
    close("pow(y, a)", 1.316_382_204_334_237_5);
    close("atan2(y, b)", 2.167_972_984_887_574);
}

#[test]
fn conditions_choose() {
    assert_eq!(value("if a < b { 1 } else { 2 }"), 2.0);
    assert_eq!(value("if a > b && x >= 0.9 { 1 } else { 2 }"), 1.0);
    assert_eq!(value("if a < b || !(x != 0.9) { 1 } else { 2 }"), 1.0);
    assert_eq!(value("if a < b { 1 } else if t == 4 { 3 } else { 2 }"), 3.0);
    assert_eq!(value("sign(b) + 10*sign(a) + 100*sign(a - a)"), 9.0);
    let steps = Formula::parse("if sqrt(x) <= 1 { 1 } else { 2 }", &["x"]).unwrap();
    assert_eq!(steps.eval(&[-1.0]), 2.0, "a comparison with NaN is false");
}

#[test]
fn names_are_what_they_are_called() {
    let formula = Formula::parse("u_x + 2*pi", &["u_x", "pi", "t"]).unwrap();
    assert_eq!(formula.eval(&[1.0, 3.0, 5.0]), 7.0);
    assert!(formula.uses("pi") && formula.uses("u_x"));
    assert!(!formula.uses("t") && !formula.uses("q"));
    assert_eq!(formula.names(), ["u_x", "pi", "t"]);
    assert!(formula.eval(&[1.0]).is_nan());
    assert_eq!(Formula::constant(2.5).as_constant(), Some(2.5));
    assert_eq!(Formula::constant(2.5).eval(&[7.0]), 2.5);
}

#[test]
fn errors_have_codes_and_places() {
    let cases = [
        ("", "error[P0002]: expected an expression, found the end"),
        ("a b", "error[P0006] 1:1: expected an operator before `b`"),
        ("a; b", "error[P0002] 1:2: expected the end of the expression, found `;`"),
        ("a +\n  c", "error[P0101] 2:3: no name `c` in the formula"),
        ("foo(a)", "error[P0101] 1:1: no function `foo`"),
        ("[a, b]", "error[P0201] 1:1: a formula has no vectors and tensors"),
        ("I", "error[P0201] 1:1: a formula has no vectors and tensors"),
        ("grad(a)", "error[P0111] 1:1: a formula is evaluated point by point"),
        ("d[x](a)", "error[P0111] 1:1: a formula is evaluated point by point"),
        ("hyper(a, 1)", "error[P0111] 1:1: a formula is evaluated point by point"),
        ("a > b", "error[P0012] 1:1: a condition is no number"),
        ("a.x", "error[P0204] 1:3: a scalar has no such component"),
        ("norm(a)", "error[P0201] 1:1: `norm` of a scalar"),
        ("1/0", "error[P0207] 1:3: division by a literal zero"),
        ("2x", "error[P0102] 1:1: `2x` is one literal to Rust"),
        ("a^b", "error[P0008] 1:3: the exponent is a literal integer"),
        ("∇a", "error[P0001] 1:1: this does not read as a token"),
        ("(a", "error[P0001]"),
    ];
    for (text, expected) in cases {
        let errors = Formula::parse(text, NAMES).expect_err(text).to_string();
        assert!(errors.starts_with(expected), "{text}: {errors}");
    }
    let errors = Formula::parse("q + r", NAMES).expect_err("two names");
    assert_eq!(errors.len(), 2);
}

#[test]
fn what_repeats_itself_too_often_is_an_error() {
    let text = format!("{}x{}", "sign(".repeat(40), ")".repeat(40));
    let errors = Formula::parse(&text, NAMES).expect_err("2^40 terms").to_string();
    assert!(errors.contains("[P0009]"), "{errors}");
}

#[test]
fn sources_have_a_formula_for_each_component() {
    let model = parse_str(
        "system S in 3d {
            field f: scalar; param k: real = 2;
            source v: vector = cross([x, y, z], [1, 0, t]) + k*[1, 2, 3]/2;
            source m: tensor = sym_traceless(outer([x, y, z], [k, 1, 0])) + transpose(I)*trace(I);
            source w: vector = if norm([x, y, 0]) > 1 { dot([[1, 2, 3], [4, 5, 6], [7, 8, 9]], [x, y, z]) } else { 0*[x, y, z] };
            source n: scalar = [x, y, z].y * [[1, 2, 3], [4, 5, 6], [7, 8, 9]].zx;
            source none: vector;
            source o: vector = diagonal(outer([x, y, z], [1, k, 3]));
            ddt(f) = f;
        }",
    )
    .unwrap_or_else(|errors| panic!("{errors}"));
    let values = [2.0, 0.5, 1.5, -1.0, 4.0];
    let all = |source: usize| -> Vec<f64> {
        let formulas = of_source(&model, source).unwrap_or_default();
        formulas.iter().map(|f| f.eval(&values)).collect()
    };
    assert_eq!(all(0), [7.0, -1.0, 1.5]);
    let half = [1.0, 1.75, -1.0, 1.75, 1.5, -0.5, -1.0, -0.5, 0.0];
    let expected: Vec<f64> =
        (0..9).map(|i| half[i] + if i % 4 == 0 { 3.0 - 2.5 / 3.0 } else { 0.0 }).collect();
    for (found, expected) in all(1).iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
    assert_eq!(all(2), [0.5, 3.5, 6.5]);
    assert_eq!(all(3), [1.5 * 7.0]);
    assert_eq!(of_source(&model, 4), None);
    assert_eq!(all(5), [0.5, 3.0, -3.0]);
    assert_eq!(of_source(&model, 9), None);
}

#[test]
fn a_scratch_serves_formulas_of_any_size() {
    let mut scratch = Scratch::default();
    let large = Formula::parse("a + b*x + exp(y) + z*t", NAMES).unwrap();
    let small = Formula::parse("a", NAMES).unwrap();
    let first = large.eval_with(&mut scratch, &VALUES);
    assert_eq!(small.eval_with(&mut scratch, &VALUES), 0.3);
    assert_eq!(large.eval_with(&mut scratch, &VALUES), first);
}
