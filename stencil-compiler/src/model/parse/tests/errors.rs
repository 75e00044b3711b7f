//! One smallest program for each error, and more for those with many causes.

use super::{around, codes, equation};
use crate::diag::Code;

/// A system with one function, which is not called.
fn function(text: &str) -> String {
    around(&format!("{text} ddt(f) = f;"))
}

/// A conservation law with more items.
fn flowing(items: &str) -> String {
    format!(
        "system H in 1d {{ param a: real = 1; conserved q: scalar; let v = [a*q]; flux q -> v; {items} }}"
    )
}

/// Functions that each call the one above twice.
fn doubling(count: usize) -> String {
    let first = "fn g0(b: scalar) -> scalar { b + 1 } ".to_string();
    (1..count).fold(first, |all, i| {
        let last = i - 1;
        all + &format!("fn g{i}(b: scalar) -> scalar {{ g{last}(b) * g{last}(b + 1) }} ")
    })
}

#[test]
fn each_error_has_its_code() {
    let ns = |scheme: &str| format!("system H in 1d {{ field f: scalar; ddt(f) = f; }} {scheme}");
    let cases = [
        ("P0001", equation("∇f")),
        ("P0001", "system S in 3d {".to_string()),
        ("P0002", String::new()),
        ("P0002", equation("f +")),
        ("P0002", equation("u[0]")),
        ("P0002", equation("(f, f)")),
        ("P0002", equation("f ** 2")),
        ("P0002", around("ddt(f) = f; wibble;")),
        (
            "P0002",
            "system S in 4d { field f: scalar; ddt(f) = f; }".to_string(),
        ),
        ("P0002", "system S in 3d { }".to_string()),
        (
            "P0002",
            around(
                "ddt(f) = f; param b: real [m//s];"
                    .replace("//", "/ /")
                    .as_str(),
            ),
        ),
        ("P0002", around("ddt(f) = f\n let b = f;")),
        (
            "P0003",
            equation(&format!("{}f{}", "(".repeat(300), ")".repeat(300))),
        ),
        ("P0003", equation(&format!("f{}", " + f".repeat(600)))),
        ("P0004", format!("{} 42", ns(""))),
        ("P0004", format!("{} {}", ns(""), ns(""))),
        ("P0002", equation("if f > 0 { let b = f; b } else { f }")),
        ("P0002", equation("if f > 0 { f; } else { f }")),
        ("P0002", equation("if f = 0 { f } else { a }")),
        ("P0002", equation("if f > 0 & a > 0 { f } else { a }")),
        ("P0002", equation("d9[x](f)")),
        ("P0002", function("fn g(b: scalar) -> scalar { let c = b; }")),
        ("P0002", function("fn g(b: scalar) -> scalar { b; }")),
        ("P0002", function("fn g(b: scalar) { b }")),
        ("P0002", function("fn g(b: symmetric) -> scalar { b.xx }")),
        ("P0002", function("fn g(b: scalar) -> scalar { let mut c = b; c += b; c }")),
        ("P0002", function("fn g(b: scalar) -> scalar { for i in 0..2 { b } b }")),
        ("P0002", around("ddt(f) = f; field q: symetric; ddt(q) = a;")),
        ("P0002", around("ddt(f) = f; conserved q: scalar; flux q = u;")),
        ("P0005", around("ddt(f) = f; state q: scalar;")),
        ("P0005", format!("{} domain box3 {{ }}", ns(""))),
        ("P0005", around("ddt(f) = f; #[inline] param b: real;")),
        ("P0006", equation("2 f")),
        ("P0006", equation("(a) (f)")),
        ("P0006", equation("sqrt(a f)")),
        ("P0007", equation("1e400")),
        ("P0007", equation("1.0f64")),
        ("P0007", equation("0x10")),
        ("P0008", equation("f^a")),
        ("P0008", equation("f^0.5")),
        ("P0008", equation("f^2^2")),
        ("P0008", equation("f^1000")),
        ("P0009", function(&doubling(40))),
        (
            "P0009",
            around("ddt(f) = f; fn g(b: scalar) -> scalar { let mut c = b; for i in 0..20 { c = c*c; } c }
                source q: scalar = g(sin(x));"),
        ),
        ("P0010", function("fn g(b: scalar) -> scalar { for i in 0..65 { } b }")),
        ("P0010", function("fn g(b: scalar) -> scalar { for i in 0..9 { for j in 0..9 { } } b }")),
        ("P0010", function("fn g(b: scalar) -> scalar { for i in 0..a { } b }")),
        ("P0010", function("fn g(b: scalar) -> scalar { for i in 0..=4 { } b }")),
        ("P0010", function("fn g(b: scalar) -> scalar { for i in 4..4 { } b }")),
        ("P0011", equation("if f > 0 { f }")),
        ("P0012", equation("if f { f } else { a }")),
        ("P0012", equation("f > a")),
        ("P0012", equation("!f")),
        ("P0012", equation("if 0 < f < 1 { f } else { a }")),
        ("P0012", equation("if !f > 0 { f } else { a }")),
        ("P0101", equation("if f > q { f } else { a }")),
        ("P0101", function("fn g(b: scalar) -> scalar { c }")),
        ("P0101", function("fn g(b: scalar) -> scalar { c = b; b }")),
        ("P0101", function("fn g(b: scalar) -> scalar { for i in 0..4 { let c = b; } c }")),
        ("P0103", function("fn g(b: scalar, b: scalar) -> scalar { b }")),
        ("P0103", function("fn g(b: scalar) -> scalar { let b = 1; b }")),
        ("P0103", around("ddt(f) = f; observe f = sum(f);")),
        ("P0103", around("ddt(f) = f; source a: scalar;")),
        ("P0103", format!("{} {}", ns("scheme c for H { space: central<order = 6>; }"), "scheme c for H { space: central<order = 4>; }")),
        ("P0104", around("ddt(f) = f; param pi: real;")),
        ("P0104", around("ddt(f) = f; let I = 1;")),
        ("P0104", around("ddt(f) = f; let hyper = 1;")),
        ("P0104", function("fn g(t: scalar) -> scalar { t }")),
        ("P0105", around("ddt(f) = g(f); fn g(b: scalar) -> scalar { b }")),
        ("P0105", function("fn g(b: scalar) -> scalar { g(b) }")),
        ("P0105", function("fn h(b: scalar) -> scalar { g(b) } fn g(b: scalar) -> scalar { b }")),
        ("P0109", around("ddt(f) = f + o; observe o = sum(f);")),
        ("P0109", around("fn g(b: scalar) -> scalar { b } ddt(f) = g;")),
        ("P0109", equation("sign")),
        ("P0110", function("fn g(b: scalar) -> scalar { b * f }")),
        ("P0110", around("ddt(f) = f; source q: scalar = f;")),
        ("P0110", around("let c = a; ddt(f) = f; source q: scalar = c;")),
        ("P0111", function("fn g(b: scalar) -> scalar { d[x](b) }")),
        ("P0111", function("fn g(b: scalar) -> scalar { lap(b) }")),
        ("P0111", function("fn g(b: scalar) -> scalar { hyper(b, 1) }")),
        ("P0111", around("ddt(f) = f; source q: scalar = d[x](sin(x));")),
        ("P0112", function("fn g(b: scalar) -> scalar { b = 1; b }")),
        ("P0112", function("fn g(b: scalar) -> scalar { for i in 0..4 { i = 1; } b }")),
        ("P0201", equation("if u > a { f } else { a }")),
        ("P0201", equation("if f > a { f } else { u }")),
        ("P0201", equation("sign(u)")),
        ("P0201", equation("I")),
        ("P0201", function("fn g(b: scalar) -> vector { b }")),
        ("P0201", function("fn g(b: vector) -> scalar { let mut c = b; c = 1; c.x }")),
        ("P0201", around("fn g(b: vector) -> scalar { b.x } ddt(f) = g(f);")),
        ("P0201", around("ddt(f) = f; source q: vector = 1;")),
        ("P0201", around("ddt(f) = f; observe o = max(u);")),
        ("P0201", around("ddt(f) = f; cfl { advective: u }")),
        ("P0205", around("fn g(b: vector) -> scalar { b.x } ddt(f) = g(u, u);")),
        ("P0205", equation("hyper(f)")),
        ("P0207", around("fn g(b: scalar) -> scalar { 1/b } ddt(f) = g(0);")),
        ("P0207", function("fn g(b: scalar) -> scalar { let mut c = b; for i in 0..3 { c = c/i; } c }")),
        ("P0206", "system S in 1d { field w: antisymmetric; ddt(w) = w; }".to_string()),
        ("P0209", around("ddt(f) = f; cfl { advectve: a }")),
        ("P0209", around("ddt(f) = f; cfl { advective: a; advective: a }")),
        ("P0209", around("ddt(f) = f; cfl { advective: a } cfl { diffusive: a }")),
        ("P0212", around("ddt(f) = f; waves { flow: u; }")),
        ("P0212", flowing("waves { fastest: v; }")),
        ("P0212", flowing("waves { flow: v; flow: v; }")),
        ("P0212", flowing("waves { flow: v; } waves { sound: q; }")),
        ("P0212", flowing("waves { }")),
        ("P0201", flowing("waves { flow: q; }")),
        ("P0213", around("ddt(f) = f; conserved q: scalar;")),
        ("P0213", around("ddt(f) = f; flux f -> u;")),
        ("P0213", flowing("flux q -> v;")),
        ("P0201", around("ddt(f) = f; conserved q: scalar; flux q -> q;")),
        ("P0201", around("ddt(f) = f; conserved q: tensor; flux q -> q;")),
        ("P0108", flowing("flux a -> v;")),
        ("P0214", around("ddt(f) = f; conserved q: scalar; flux q -> grad(q);")),
        ("P0214", around("ddt(f) = f; let g = grad(f); conserved q: scalar; flux q -> g;")),
        ("P0214", around("ddt(f) = f; source w: vector; conserved q: scalar; flux q -> w*q;")),
        ("P0214", flowing("waves { flow: grad(q); }")),
        ("P0314", format!("{} scheme c for H {{ riemann: hll; }}", flowing(""))),
        ("P0313", format!("{} scheme c for H {{ riemann: roo; }}", flowing(""))),
        ("P0313", format!("{} scheme c for H {{ reconstruct: plum; }}", flowing(""))),
        ("P0313", format!("{} scheme c for H {{ reconstruct: plm<limiter = mod>; }}", flowing(""))),
        ("P0311", format!("{} scheme c for H {{ reconstruct: weno5<limiter = mc>; }}", flowing(""))),
        ("P0311", ns("scheme c for H { space: central<order = 6>; riemann: force; }")),
        ("P0215", flowing("let w = v; primitive { w; }")),
        ("P0216", flowing("let w = 2*q; primitive { q; } primitive { w; }")),
        ("P0216", flowing("primitive { q; q; }")),
        ("P0216", flowing("primitive { q; q = 2*q; }")),
        ("P0216", flowing("primitive { a; q; }")),
        ("P0216", flowing("let w = 2*q; primitive { w; q = w/2 + q; }")),
        ("P0216", flowing("let w = 2*q; let b = 3*q; primitive { w; q = b/3; }")),
        ("P0216", flowing("let w = 2*q; primitive { w; q = w/2; q = w*0.5; }")),
        ("P0216", flowing("field f: scalar; ddt(f) = 0; primitive { q; f = q; }")),
        ("P0216", around("ddt(f) = f; primitive { f; }")),
        ("P0101", flowing("let w = 2*q; primitive { ww; q = w/2; }")),
        ("P0101", flowing("let w = 2*q; primitive { w; qq = w/2; }")),
        ("P0105", flowing("primitive { w; q = w/2; } let w = 2*q;")),
        ("P0108", flowing("let w = 2*q; primitive { w; q = w/2; a = w; }")),
        ("P0201", flowing("let w = 2*q; primitive { w; q = [w]; }")),
        ("P0214", flowing("let w = grad(q); primitive { w; q; }")),
        ("P0002", flowing("primitive { q w; }")),
        ("P0315", format!("{} scheme c for H {{ reconstruct: plm in primitive; }}", flowing(""))),
        ("P0313", format!("{} scheme c for H {{ reconstruct: plm in characteristic; }}", flowing(""))),
        ("P0311", format!("{} scheme c for H {{ time: euler in primitive; }}", flowing("primitive { q; }"))),
        ("P0210", around("ddt(f) = f; observe o = dot(f);")),
        ("P0210", around("ddt(f) = f; observe o = max(f, a);")),
        ("P0210", around("ddt(f) = f; observe o = max(f) - min(f);")),
        ("P0211", "system S in nd { field f: scalar; ddt(f) = f; }".to_string()),
        ("P0404", equation("f * x")),
        ("P0404", function("fn g(b: scalar) -> scalar { b * y }")),
        ("P0204", "system S in 1d { field f: scalar; ddt(f) = f; source q: scalar = y; }".to_string()),
        ("P0008", equation("hyper(f, 5)")),
        ("P0008", equation("hyper(f, a)")),
        ("P0313", ns("scheme c for H { space: central<order = 6>; arith: fast; }")),
        ("P0101", equation("g")),
        ("P0101", equation("laplace(f)")),
        ("P0102", equation("u·u")),
        ("P0102", equation("2a")),
        ("P0103", around("ddt(f) = f; param f: real;")),
        ("P0104", around("ddt(f) = f; param dt: real;")),
        ("P0104", around("ddt(f) = f; param grad: real;")),
        ("P0104", around("ddt(f) = f; param double: real;")),
        ("P0104", around("ddt(f) = f; param impl: real;")),
        ("P0104", around("ddt(f) = f; param r#type: real;")),
        ("P0104", around("ddt(f) = f; param _b: real;")),
        ("P0104", around("ddt(f) = f; param b__c: real;")),
        ("P0104", around("ddt(f) = f; param ν: real;")),
        (
            "P0104",
            around(&format!("ddt(f) = f; param {}: real;", "b".repeat(61))),
        ),
        ("P0105", around("let b = c; let c = a; ddt(f) = f;")),
        ("P0105", around("let b = b; ddt(f) = f;")),
        ("P0105", around("ddt(f) = b; let b = a;")),
        ("P0106", around("")),
        ("P0107", around("ddt(f) = f; ddt(f) = a;")),
        ("P0108", around("ddt(f) = f; ddt(a) = a;")),
        ("P0109", equation("a(f)")),
        ("P0109", equation("grad")),
        ("P0109", equation("ddt(f)")),
        ("P0109", equation("d(f)")),
        ("P0201", equation("f + u")),
        ("P0201", equation("u - s")),
        ("P0201", equation("u")),
        ("P0201", equation("dot(u*u, u)")),
        ("P0201", equation("f / u")),
        ("P0201", equation("u^2")),
        ("P0201", equation("div(f)")),
        ("P0201", equation("grad(s)")),
        ("P0201", equation("dot([f, u, f], u)")),
        ("P0204", equation("u.w")),
        ("P0204", equation("u.xy")),
        ("P0204", equation("s.x")),
        ("P0204", equation("f.x")),
        ("P0204", equation("d[r](f)")),
        (
            "P0204",
            "system S in 2d { field u: vector; ddt(u) = [u.z, u.x]; }".to_string(),
        ),
        ("P0205", equation("dot(u)")),
        ("P0205", equation("sqrt()")),
        ("P0206", equation("dot([f, f], u)")),
        (
            "P0206",
            "system S in 2d { field u: vector; ddt(u) = curl(u); }".to_string(),
        ),
        ("P0207", equation("f / 0")),
        ("P0207", equation("f / (-0.0)")),
        ("P0207", equation("0^(-1)")),
        (
            "P0208",
            around("ddt(f) = f; param b: real = -1 where b >= 0;"),
        ),
        ("P0310", ns("scheme c for G { space: central<order = 6>; }")),
        (
            "P0311",
            ns("scheme c for H { space: central<order = 6>; spice: hot; }"),
        ),
        (
            "P0311",
            ns("scheme c for H { space: central<order = 6>; time: euler; time: euler; }"),
        ),
        ("P0311", ns("scheme c for H { time: euler; }")),
        ("P0311", ns("scheme c for H { space: central<width = 6>; }")),
        ("P0312", ns("scheme c for H { space: central<order = 5>; }")),
        ("P0312", ns("scheme c for H { space: central; }")),
        ("P0313", ns("scheme c for H { space: upwind<order = 6>; }")),
        (
            "P0313",
            ns("scheme c for H { space: central<order = 6>; mixed: other; }"),
        ),
        (
            "P0313",
            ns("scheme c for H { space: central<order = 6>; time: rk9; }"),
        ),
    ];
    for (code, source) in &cases {
        assert_eq!(codes(source), [*code], "{source}");
    }
    for code in Code::ALL {
        // What the discretization and the readers of other files find is tested there.
        if code.text().starts_with("P04") || !code.text().starts_with('P') {
            continue;
        }
        let tested = cases.iter().any(|(tested, _)| *tested == code.text());
        assert!(tested, "{code} has no test");
    }
}
