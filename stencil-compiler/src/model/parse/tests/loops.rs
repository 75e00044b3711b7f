//! Loops that end by a test: their names, their places, and the conditions that a run has to check.

use proc_macro2::{Group, Span, TokenStream, TokenTree};

use super::{around, parsed};
use crate::model::parse::{parse_str, parse_tokens};
use crate::model::{Let, text};

/// A function of this name that halves a value until it is small.
fn halved(name: &str) -> String {
    format!(
        "fn {name}(b: scalar) -> scalar {{
            let mut c = b; for i in 0..3 {{ c = c/2; until(c < 1); }} c
        }}"
    )
}

#[test]
fn functions_with_loops_may_have_words_of_other_languages_as_names() {
    for name in ["half", "main", "loop"] {
        let model = parsed(&around(&format!("{} ddt(f) = {name}(f);", halved(name))));
        assert_eq!(model.check(), Ok(()), "{name}");
        let again = parsed(&text::print(&model));
        assert_eq!(again.iterations_text(), model.iterations_text());
    }
    let source = around("let b = f within 3 iterations of dot; ddt(f) = b;");
    let errors = parse_str(&source).unwrap_err().render("test", &source);
    assert!(errors.contains("`dot` is a word of the language"), "{errors}");
}

#[test]
fn tests_of_loops_stand_at_their_ends() {
    let cases = [
        "for i in 0..4 { until(c < 1); c = c/2; }",
        "for i in 0..4 { c = c/2; until(c < 1); until(c < 2); }",
        "until(c < 1);",
        "c = c/2; until(c < 1); c = c/2;",
    ];
    for case in cases {
        let function = format!("fn g(b: scalar) -> scalar {{ let mut c = b; {case} c }}");
        let source = around(&format!("{function} ddt(f) = g(f);"));
        let errors = parse_str(&source).unwrap_err().render("test", &source);
        let told = "`until(..);` stands once in a loop, as its last statement";
        assert!(errors.contains(told), "{case}: {errors}");
        assert!(errors.contains("P0010"), "{case}: {errors}");
    }
}

/// Whoever reads the equations sees the first iteration, and a `let` with all of them where they are four or more.
#[test]
fn readers_see_one_iteration() {
    let lines = |most: u32| -> Vec<String> {
        let function = halved("half").replace("0..3", &format!("0..{most}"));
        let model = parsed(&around(&format!("{function} ddt(f) = half(f);")));
        let lines = text::lets(&model).into_iter();
        lines.map(|(name, value)| format!("{name} = {value}")).collect()
    };
    let expected = [
        "half_1_c = f / 2",
        "half_1_held = if half_1_c < 1 { 1 } else { 0 }",
        "half_1_c_18 = half_1_c within 9 iterations of half",
    ];
    assert_eq!(lines(9), expected);
    assert!(lines(3).len() > 5);
}

#[test]
fn solvers_need_not_give_what_follows_from_primitives() {
    let river = |solver: &str| {
        format!(
            "system River in 1d {{
                conserved h: scalar; conserved m: vector; field bed: scalar; ddt(bed) = 0;
                let u = m/h; let surface = h + bed; let slowest = u.x - sqrt(h) where slowest > 0;
                flux h -> m;
                flux m -> outer(m, u) + (surface - bed)^2/2*I;
                ddt(m) = -h*grad(bed);
                primitive {{ h; u; surface; m = h*u; bed = surface - h; }}
                face {{ bed by max; h = max(surface - bed, 0); }}
                riemann low {{ h = below.h; u = below.u; surface = below.surface; {solver} }}
            }}
            scheme s for River {{ reconstruct: plm in primitive; riemann: low; time: ssprk2; repair: none; }}"
        )
    };
    let model = parsed(&river(""));
    assert_eq!(model.check(), Ok(()));
    let made = crate::discretize::discretize(&model);
    assert_eq!(made.err(), None);
    let source = river("bed = below.bed;");
    let errors = parse_str(&source).unwrap_err().render("test", &source);
    assert!(errors.contains("gives `bed`, which is not primitive"), "{errors}");
}

#[test]
fn a_run_needs_the_loops_of_averages_and_of_what_is_made_anew() {
    let source = |items: &str, solver: &str| {
        format!(
            "system S in 1d {{
                conserved q: scalar; field bed: scalar; ddt(bed) = 0;
                {} let top = q + bed;
                flux q -> [q^2/2]; waves {{ flow: [q]; }}
                {items}
            }}
            scheme s for S {{ reconstruct: plm in primitive; riemann: {solver}; time: ssprk2; }}",
            halved("small")
        )
    };
    let primitive = "primitive { q; top; bed = top - q; }";
    let weight = "primitive { q; } average { q by small(q); }".to_string();
    let anew = format!("{primitive} face {{ bed by max; q = small(top - bed); }}");
    let text = "the loop of `small` in 3 iterations";
    let cases = [(&weight, "roe", text), (&weight, "hll", ""), (&anew, "hll", text)];
    for (items, solver, told) in cases {
        let found = parsed(&source(items, solver)).iterations_text();
        assert_eq!(found, told, "{items} {solver}");
    }
}

#[test]
fn what_a_loop_assigns_is_lost_whatever_it_was() {
    let function = "fn g(b: scalar) -> scalar {
        let mut c = b; let mut e = b;
        for i in 0..2 { c = c/2; for j in 0..1 { e = b; } until(c < 1); }
        c*e
    }";
    let source = around(&format!("{function} ddt(f) = g(f);"));
    let tokens: TokenStream = source.parse().unwrap();
    for model in [parsed(&source), parse_tokens(at_one_place(tokens)).unwrap()] {
        let lost = |l: &&Let| text::expression(&model, &l.value).contains("sqrt(-1)");
        assert_eq!(model.lets.iter().filter(lost).count(), 2);
    }
}

/// The tokens of a linked function, all at one place.
fn at_one_place(tokens: TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            let inner = at_one_place(group.stream());
            token = TokenTree::Group(Group::new(group.delimiter(), inner));
        }
        token.set_span(Span::call_site());
        token
    });
    tokens.collect()
}
