//! Slopes of functions by their arguments, against differences of the functions themselves.

use super::squares::observed;
use crate::diag::Code;
use crate::model::parse::parse_str;
use crate::model::text;

/// Functions of `q` and `n`, or of `q` and the vector `[n, q*n]`.
const BODIES: [&str; 22] = [
    "(k - 1)*(q - n/3)",
    "q/3 - 0.1",
    "q^3 + n^-2*q^-3 + n^2",
    "q*n/(q + n^2)",
    "sqrt(q + n) - cbrt(q)",
    "exp(-q)*log(q + n)",
    "sin(q*n) + cos(q) - tanh(n - q)",
    "sinh(q) + cosh(q*n) + erf(q - n)",
    "pow(q, n) + pow(n, q) + pow(q, q)",
    "atan2(q, n) + atan2(n, q^2)",
    "abs(n - q) + min(q, n)*max(2*q, n)",
    "if q < n { q^2 } else { 3*n*q }",
    "let mut v = q; for i in 0..3 { v = v + n/v; } v",
    "let a = q^2; let b = a*n; a*b + sqrt(b)",
    "inner(q, n*q)*inner(n, q)",
    "norm([q, n*q])",
    "let u = [q, n]; let w = q*u; dot(w, u) + dot(u, [n, q^2])",
    "([q^2, n]/q).x + ([q, n]*q).y",
    "trace(outer([q, n], [n*q, 1]))",
    "dot(if q < n { [q, n] } else { [q*n, 1] }, [n, q])",
    "floor(3*q + 0.13) + mod(q + 0.01, n)",
    "n",
];

fn source(body: &str, value: &str) -> String {
    format!(
        "system S in 2d {{ field q: scalar; field n: scalar; param k: real = 1.4;
         fn inner(a: scalar, b: scalar) -> scalar {{ a^2*b + k }}
         fn f(q: scalar, n: scalar) -> scalar {{ {body} }}
         ddt(q) = 0; ddt(n) = 0; observe value = max({value}); }}"
    )
}

#[test]
fn slopes_are_limits_of_differences() {
    let n: Vec<f64> = (0..16).map(|i| 0.6 + 0.11 * (5 * i % 16) as f64).collect();
    let q: Vec<f64> = (0..16).map(|i| 0.7 + 0.1 * (7 * i % 16) as f64).collect();
    for body in BODIES {
        let at = |value: &str, q: Vec<f64>, n: Vec<f64>| {
            observed(&source(body, value), [16, 1, 1], &[1.4], &[q, n])
        };
        let moved = |values: &[f64], by: f64| values.iter().map(|v| v + by).collect::<Vec<f64>>();
        let h = 1e-5;
        for (argument, by_q) in [("q", 1.0), ("n", 0.0)] {
            let ends =
                [h, -h].map(|h| at("f(q, n)", moved(&q, h * by_q), moved(&n, h * (1.0 - by_q))));
            let slopes = at(&format!("d[{argument}](f(q, n))"), q.clone(), n.clone());
            for ((above, below), slope) in ends[0].iter().zip(&ends[1]).zip(&slopes) {
                let difference = (above - below) / (2.0 * h);
                let error = (difference - slope).abs();
                assert!(
                    error < 1e-7 * (1.0 + slope.abs()),
                    "{body} by {argument}: {slope} {difference}"
                );
            }
        }
    }
    // The operand of a call may be made of anything, and the slope is that at it.
    let by_hand = "2*(q + n)*n";
    let slopes = ["d[a](inner(q + n, n))", "d2[a](inner(q + n, n))", by_hand, "2*n"]
        .map(|value| observed(&source("q", value), [16, 1, 1], &[1.4], &[q.clone(), n.clone()]));
    for [slope, by_hand] in [[0, 2], [1, 3]] {
        let mut pairs = slopes[slope].iter().zip(&slopes[by_hand]);
        assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-14));
    }
}

/// A linear pressure has a number as its slope, and a printed model is read again.
#[test]
fn slopes_are_written_out() {
    let model = super::model(&source("(k - 1)*(q - n/3)", "d[q](f(q, n)) + d[n](f(q, n))"));
    assert_eq!(model.check(), Ok(()));
    let printed = text::print(&model);
    assert!(printed.contains("k - 1") && !printed.contains("* 1"), "{printed}");
    assert_eq!(super::model(&printed).without_spans(), model.without_spans());
}

#[test]
fn slopes_without_a_rule_are_refused() {
    let looped =
        "let mut v = q; for i in 0..9 { let s = v - q; v = v - s/2; until(abs(s) < 0.1); } v";
    let cases = [
        (source(looped, "d[q](f(q, n))"), Code::NoSlopeOfCall),
        (source("norm(outer([q, n], [q, n]))", "d[q](f(q, n))"), Code::NoSlopeOfCall),
        (source("q", "d[b](f(q, n))"), Code::NoSuchComponent),
        (source("q", "d[q](f(q))"), Code::ArgumentCount),
        (source("q", "d[q](k)"), Code::NoSuchComponent),
        (
            source("q", "q").replace("ddt(q)", "source s: scalar = d[a](inner(k, k)); ddt(q)"),
            Code::NoSlopeOfCall,
        ),
        (
            source("q", "d[u](g([q, n]))")
                .replace("ddt(q)", "fn g(u: vector) -> scalar { norm(u) } ddt(q)"),
            Code::NoSlopeOfCall,
        ),
    ];
    for (source, code) in cases {
        let error = parse_str(&source).expect_err(&source);
        let codes: Vec<Code> = error.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, [code], "{}", error.render("test", &source));
    }
    // A loop with a test that does not see the argument has the slope zero.
    super::model(&source(looped, "d[n](f(q, n))"));
}
