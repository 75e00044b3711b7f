//! The expansions of functions, conditions and short words.

use super::{around, parsed, reprinted};
use crate::model::parse::{Dimensions, dimensions, parse_str, parse_str_in};
use crate::model::{Arith, Model, Reduction, Symmetry, Term, TermKind, text};

/// The `let`s of a system in 2d with a scalar f, a vector u, a parameter a, and an equation.
fn lets(items: &str, rhs: &str) -> Vec<String> {
    let model = parsed(&format!(
        "system S in 2d {{ field f: scalar; field u: vector; param a: real; {items}
         ddt(f) = {rhs}; ddt(u) = u; }}"
    ));
    round_trip(&model);
    let lets = model.lets.iter();
    let mut lines: Vec<String> =
        lets.map(|l| format!("{} = {}", l.name, text::expression(&model, &l.value))).collect();
    lines.push(text::expression(&model, &model.equations[0].rhs));
    lines
}

fn round_trip(model: &Model) {
    assert_eq!(model.check(), Ok(()));
    let printed = text::print(model);
    assert_eq!(parsed(&printed).without_spans(), model.without_spans(), "{printed}");
}

#[test]
fn conditions_become_comparisons_of_two_scalars() {
    let cases = [
        ("if f > a { f } else { a }", "if a < f { f } else { a }"),
        ("if f >= a { f } else { a }", "if a <= f { f } else { a }"),
        ("if f != a { f } else { a }", "if f == a { a } else { f }"),
        ("if !(f < a) { f } else { a }", "if f < a { a } else { f }"),
        (
            "1 + if f < a { f } else if f == 1 { 2 } else { a }",
            "1 + (if f < a { f } else if f == 1 { 2 } else { a })",
        ),
        (
            "if f < a && a < 1 { f } else { a }",
            "if 0 < (if f < a { if a < 1 { 1 } else { 0 } } else { 0 }) { f } else { a }",
        ),
        (
            "if f < a || a < 1 { f } else { a }",
            "if 0 < (if f < a { 1 } else if a < 1 { 1 } else { 0 }) { f } else { a }",
        ),
        ("(if f < a { u } else { 2*u }).x", "(if f < a { u } else { 2 * u }).x"),
    ];
    for (source, expected) in cases {
        assert_eq!(reprinted(source), expected);
        assert_eq!(reprinted(expected), expected);
    }
}

#[test]
fn a_long_condition_stays_small() {
    let condition = vec!["(f > 0 || a < f)"; 40].join(" && ");
    let model = parsed(&super::equation(&format!("if {condition} {{ f }} else {{ a }}")));
    round_trip(&model);
    assert!(model.equations[0].rhs.size() < 2000);
}

#[test]
fn short_words_are_written_out() {
    assert_eq!(lets("", "sign(f)"), ["if 0 < f { 1 } else if f < 0 { -1 } else { 0 }"]);
    let expected =
        ["sign_1_of = f * a", "if 0 < sign_1_of { 1 } else if sign_1_of < 0 { -1 } else { 0 }"];
    assert_eq!(lets("", "sign(f*a)"), expected);
    assert_eq!(lets("", "hyper(f, 2)"), ["d4[x](f) + d4[y](f)"]);
    let expected = ["hyper_1_of = f * a", "d2[x](hyper_1_of) + d2[y](hyper_1_of)"];
    assert_eq!(lets("", "hyper(f*a, 1)"), expected);
    assert_eq!(lets("", "trace(I) + 2*pi*t"), ["trace(I) + 2 * pi * t"]);
    assert_eq!(lets("", "d8[x](f) + d3[y](f)"), ["d8[x](f) + d3[y](f)"]);
    assert_eq!(reprinted("trace([[1, 0, 0], [0, 1, 0], [0, 0, 1]])"), "trace(I)");
    assert_eq!(
        reprinted("trace([[1, 0, 0], [0, 1, 0], [0, 0, 2]])"),
        "trace([[1, 0, 0], [0, 1, 0], [0, 0, 2]])"
    );
    let pi = f64::from(245_850_922_u32) / f64::from(78_256_779_u32);
    assert_eq!(pi, std::f64::consts::PI);
}

#[test]
fn calls_become_lets_and_nothing_is_written_twice() {
    let minmod = "fn minmod(b: scalar, c: scalar) -> scalar {
        let p = b*c;
        if p > 0 { sign(b)*min(abs(b), abs(c)) } else { 0 }
    }";
    let expected = [
        "minmod_1_b = d[x](f)",
        "minmod_1_p = minmod_1_b * a",
        "minmod_1 = if 0 < minmod_1_p { (if 0 < minmod_1_b { 1 } else if minmod_1_b < 0 { -1 } else { 0 }) * min(abs(minmod_1_b), abs(a)) } else { 0 }",
        "minmod_2_p = f * minmod_1",
        "minmod_2 = if 0 < minmod_2_p { (if 0 < f { 1 } else if f < 0 { -1 } else { 0 }) * min(abs(f), abs(minmod_1)) } else { 0 }",
        "minmod_2 + 1",
    ];
    assert_eq!(lets(minmod, "minmod(f, minmod(d[x](f), a)) + 1"), expected);
}

#[test]
fn a_let_that_is_a_call_has_its_name_and_an_alias_is_another() {
    let items = "fn half(b: scalar) -> scalar { let c = b/2; c + a } let h = half(f); let g = h; let k = half(h) + 1;";
    let expected = [
        "half_1_c = f / 2",
        "h = half_1_c + a",
        "g = h",
        "half_2_c = h / 2",
        "half_2 = half_2_c + a",
        "k = half_2 + 1",
        "g",
    ];
    assert_eq!(lets(items, "g"), expected);
}

#[test]
fn loops_are_unrolled_over_names_that_change() {
    let root = "fn root(a: scalar) -> scalar {
        let mut x = a;
        for i in 0..2 { let r = x^2 - a; x = x - r/(2*x + i); }
        x
    }";
    let expected = [
        "root_1_r = f^2 - f",
        "root_1_x = f - root_1_r / (2 * f + 0)",
        "root_1_r_2 = root_1_x^2 - f",
        "root_1_x_2 = root_1_x - root_1_r_2 / (2 * root_1_x + 1)",
        "root_1_x_2",
    ];
    assert_eq!(lets(root, "root(f)"), expected);
}

#[test]
fn loops_that_end_by_a_test_keep_what_they_had_then() {
    let root = "fn root(a: scalar) -> scalar {
        let mut x = a;
        for i in 0..2 { let step = x - a/x; x = x - step/2; until(abs(step) <= 1e-6*x); }
        x
    }";
    let expected = [
        "root_1_step = f - f / f",
        "root_1_x = f - root_1_step / 2",
        "root_1_held = if abs(root_1_step) <= 1e-6 * root_1_x { 1 } else { 0 }",
        "root_1_step_2 = root_1_x - f / root_1_x",
        "root_1_x_2 = root_1_x - root_1_step_2 / 2",
        "root_1_x_3 = if 0 < root_1_held { root_1_x } else { root_1_x_2 }",
        "root_1_held_2 = if 0 < root_1_held { 1 } else if abs(root_1_step_2) <= 1e-6 * root_1_x_2 { 1 } else { 0 }",
        "root_1_x_4 = if 0 < root_1_held_2 { root_1_x_3 } else { sqrt(-1) }",
        "root_1_x_4",
    ];
    assert_eq!(lets(root, "root(f)"), expected);
    let source = format!(
        "system S in 1d {{ field f: scalar; {root} let unused = root(2*f); ddt(f) = FIELD; }}"
    );
    let model = parsed(&source.replace("FIELD", "root(f)"));
    let text = "the loop of `root` in 2 iterations";
    assert_eq!(model.iterations_text(), text);
    let again = parsed(&text::print(&model));
    assert_eq!(again.iterations_text(), text);
    assert_eq!(parsed(&source.replace("FIELD", "f")).iterations_text(), "");
}

#[test]
fn solvers_are_printed_with_what_they_are_made_of() {
    let model = parsed(
        "system S in 2d {
            conserved q: scalar; conserved m: vector; param a: real = 2; let twice = 2*a; let r = q^2;
            fn half(b: scalar) -> scalar { let c = b + a; c/2 }
            flux q -> m; flux m -> r*I;
            riemann mean {
                let p = below.q + above.q;
                let flow = dot(above.m, normal) + t;
                q = half(twice*p) - below.r;
                m = flow*normal;
            }
            riemann upwind { let p = below.m.x; flux m -> below.m + (p + 1)*normal; flux q -> p }
        }
        scheme s for S { riemann: upwind; }
        scheme u for S { riemann: mean; }",
    );
    round_trip(&model);
    let lines: Vec<Vec<String>> =
        (model.solvers.iter()).map(|solver| text::solver_lines(&model, solver)).collect();
    let expected = [
        vec![
            "let p = below.q + above.q",
            "let flow = dot(above.m, normal) + t",
            "let half_1_b = twice * p",
            "let half_1_c = half_1_b + a",
            "let half_1 = half_1_c / 2",
            "q = half_1 - below.r",
            "m = flow * normal",
        ],
        vec!["let p_2 = below.m.x", "flux m -> below.m + (p_2 + 1) * normal", "flux q -> p_2"],
    ];
    assert_eq!(lines, expected);
    for scheme in ["s", "u"] {
        let chosen = model.with_scheme(scheme).unwrap();
        round_trip(&chosen);
        // They are bad solvers.
        let refused = crate::discretize::discretize(&chosen).unwrap_err();
        assert_eq!(refused.code, crate::diag::Code::OtherFlux, "{refused}");
    }
}

#[test]
fn vectors_leave_loops_like_scalars() {
    let items = "fn shrunk(v: vector) -> vector {
        let mut w = v; let mut n = 0;
        for i in 0..3 { w = w/2; for j in 0..2 { n = n + 1; } until(norm(w) < a); }
        n*w
    }";
    let found = lets(items, "div(shrunk(u))");
    let last = found.iter().find(|line| line.contains("sqrt(-1)")).unwrap();
    assert!(last.contains("[sqrt(-1), sqrt(-1)]") || last.contains("n_"), "{found:?}");
    let lost = found.iter().filter(|line| line.contains("sqrt(-1)"));
    assert_eq!(lost.count(), 2, "{found:?}");
}

#[test]
fn names_of_lets_never_clash() {
    let half = "fn half(b: scalar) -> scalar { let c = b/2; c } let half_1_c = a; let half_2 = f;";
    let expected = [
        "half_1_c = a",
        "half_2 = f",
        "half_1_b = f + 1",
        "half_1_c_2 = half_1_b / 2",
        "half_1_c_2",
    ];
    assert_eq!(lets(half, "half(f + 1)"), expected);
    let long = "q".repeat(60);
    let items =
        format!("fn {long}(b_: vector) -> scalar {{ let {long} = dot(b_, b_); {long} + 1 }}");
    assert_eq!(lets(&items, &format!("{long}(2*u)")).len(), 4);
}

#[test]
fn vectors_and_tensors_pass_through_functions() {
    let items = "fn speed(v: vector, m: tensor) -> vector { let w = dot(m, v); if norm(w) > a { w } else { v } }";
    let expected = [
        "speed_1_m = grad(u)",
        "speed_1_w = dot(speed_1_m, u)",
        "speed_1 = if a < norm(speed_1_w) { speed_1_w } else { u }",
        "div(speed_1)",
    ];
    assert_eq!(lets(items, "div(speed(u, grad(u)))"), expected);
}

#[test]
fn sources_are_written_out_in_place() {
    let model = parsed(
        "system S in 2d {
            field f: scalar; param k: real = 2;
            fn wave(p: scalar) -> scalar { let q = k*p; sin(q) + q }
            source g: scalar [K/s] = wave(2*pi*x - t) + (if y > 0 { 1 } else { 0 });
            source h: vector = 0;
            source w: tensor;
            ddt(f) = g + h.x + w.xy;
        }",
    );
    round_trip(&model);
    assert!(model.lets.is_empty());
    let value = |i: usize| {
        let value = model.sources[i].value.as_ref();
        value.map(|v| text::expression(&model, v))
    };
    let wave = "sin(k * (2 * pi * x - t)) + k * (2 * pi * x - t) + (if 0 < y { 1 } else { 0 })";
    assert_eq!(value(0).as_deref(), Some(wave));
    assert_eq!(value(1).as_deref(), Some("[0, 0]"));
    assert_eq!(value(2), None);
}

#[test]
fn what_a_run_watches_is_read() {
    let model = parsed(
        "system S in 2d {
            field u: vector; field s: symmetric [Pa]; field w: antisymmetric; param nu: real;
            unit none;
            let e = dot(u, u)/2;
            ddt(u) = div(s) + div(w); ddt(s) = sym(grad(u)); ddt(w) = grad(u) - transpose(grad(u));
            observe energy = mean(e);
            observe shear = max(abs(s.xy));
            cfl { advective: norm(u); hyperdiffusive: nu }
        }
        scheme fine for S { space: central<order = 8>; arith: as_written; time: euler; }
        scheme fast for S { space: central<order = 2>; }",
    );
    round_trip(&model);
    let symmetries: Vec<Symmetry> = model.fields.iter().map(|f| f.symmetry).collect();
    assert_eq!(symmetries, [Symmetry::General, Symmetry::Symmetric, Symmetry::Antisymmetric]);
    let reductions: Vec<Reduction> = model.observables.iter().map(|o| o.reduction).collect();
    assert_eq!(reductions, [Reduction::Mean, Reduction::Max]);
    let powers: Vec<u32> = model.speeds.iter().map(|s| s.power).collect();
    assert_eq!(powers, [1, 4]);
    assert_eq!(model.scheme.arith, Arith::AsWritten);
    let fast = model.with_scheme("fast").unwrap();
    assert_eq!((fast.scheme.order, fast.others[0].name.as_str()), (2, "fine"));
    assert_eq!(fast.with_scheme("fine").unwrap(), model);
}

#[test]
fn a_generic_system_is_read_for_each_dimension() {
    let source = "system S in nd { field u: vector; source f: vector = 0; ddt(u) = div(outer(u, u) + I) + hyper(u, 1) + f; }";
    assert_eq!(dimensions(source), Some(Dimensions::Any));
    for n in 1..=3 {
        let model = parse_str_in(source, Some(n)).unwrap();
        assert_eq!((model.dimension, model.generic), (n, true));
        round_trip(&model);
        let printed = text::print(&model);
        assert_eq!(dimensions(&printed), Some(Dimensions::Fixed(n)));
        assert!(parse_str_in(&printed, Some(n % 3 + 1)).is_err());
    }
    assert!(parse_str_in(source, Some(4)).is_err());
    let curl = source.replace("hyper(u, 1)", "curl(u)");
    assert!(parse_str_in(&curl, Some(3)).is_ok());
    let error = parse_str_in(&curl, Some(2)).unwrap_err().to_string();
    assert!(error.contains("this system is in 2d"), "{error}");
}

#[test]
fn time_is_a_term_of_equations() {
    let model = parsed("system S in 1d { field f: scalar; ddt(f) = t*f; }");
    let TermKind::Mul(time, _) = &model.equations[0].rhs.kind else {
        panic!("a product");
    };
    assert_eq!(time.kind, TermKind::Time);
}

#[test]
fn an_error_in_a_call_says_which_call() {
    let source = "system S in 1d { field f: scalar;
        fn inverse(b: scalar) -> scalar { 1/b }
        ddt(f) = inverse(f) + inverse(0);
    }";
    let errors = parse_str(source).unwrap_err().render("s", source);
    assert!(errors.contains("--> s:2:45"), "{errors}");
    assert!(errors.contains("note: in this call of `inverse`\n --> s:3:31"), "{errors}");
}

#[test]
fn errors_in_blocks_do_not_hide_what_follows() {
    let source = "system S in 1d { field f: scalar;
        fn g(b: scalar) -> scalar { let c = ; c }
        let h = if f > { 1 } else { 2 };
        let k = if f > 0 { 2 f } else { 2 };
        let l = if f > 0 { 2 } else { q };
        cfl { advective: g(f) + h + k; fast: 1 }
        ddt(f) = g(f) + missing;
    }";
    assert_eq!(super::codes(source), ["P0002", "P0002", "P0006", "P0101", "P0209", "P0101"]);
}

#[test]
fn sources_see_lets_written_out() {
    let written = "source q: scalar = sin(2*a*x) + 2*a*t;";
    let named = "let k = 2*a; let wave = sin(k*x); source q: scalar = wave + k*t;";
    let [written, named] =
        [written, named].map(|items| parsed(&around(&format!("{items} ddt(f) = q;"))));
    let value = |model: &Model| model.sources[0].value.as_ref().map(Term::without_spans);
    assert_eq!(value(&written), value(&named));
    assert_eq!(named.lets.len(), 1, "what depends on the place is no part of the model");
    assert_eq!(named.check(), Ok(()));
}

#[test]
fn the_flux_of_a_side_is_what_the_system_declares() {
    let system = |solver: &str| {
        parsed(&format!(
            "system H in 2d {{ param c: real = 2; conserved q: scalar; conserved m: vector;
                let s = 1 + c; let p = s*q^2; flux q -> m; flux m -> outer(m, m)/q + p*I;
                riemann g {{ {solver} }} }}"
        ))
    };
    let named = system(
        "flux q -> (flux(below.q) + flux(above.q))/2;
         flux m -> (flux(below.m) + flux(above.m))/2 - c*(above.m - below.m);",
    );
    let written = system(
        "let flux_q_below = dot(normal, below.m); let flux_q_above = dot(normal, above.m);
         let flux_m_below = dot(normal, outer(below.m, below.m)/below.q + below.p*I);
         let flux_m_above = dot(normal, outer(above.m, above.m)/above.q + above.p*I);
         flux q -> (flux_q_below + flux_q_above)/2;
         flux m -> (flux_m_below + flux_m_above)/2 - c*(above.m - below.m);",
    );
    assert_eq!(named.without_spans(), written.without_spans());
    let again = parsed(&text::print(&named));
    assert_eq!(again.without_spans(), named.without_spans());
}
