//! Loops that end by a test: their names, their places, and what a run needs of them.

use super::{around, parsed};
use crate::model::parse::parse_str;
use crate::model::text;

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
    assert!(
        errors.contains("`dot` is a word of the language"),
        "{errors}"
    );
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

#[test]
fn solvers_need_not_give_what_follows_from_primitives() {
    let river = |solver: &str| {
        format!(
            "system River in 1d {{
                conserved h: scalar; conserved m: vector; field bed: scalar; ddt(bed) = 0;
                let u = m/h; let surface = h + bed;
                flux h -> m;
                flux m -> outer(m, u) + (surface - bed)^2/2*I;
                ddt(m) = -h*grad(bed);
                primitive {{ h; u; surface; m = h*u; bed = surface - h; }}
                face {{ bed by max; h = max(surface - bed, 0); }}
                riemann low {{ h = below.h; u = below.u; surface = below.surface; {solver} }}
            }}
            scheme s for River {{ reconstruct: plm in primitive; riemann: low; time: ssprk2; }}"
        )
    };
    let model = parsed(&river(""));
    assert_eq!(model.check(), Ok(()));
    let made = crate::discretize::discretize(&model);
    assert_eq!(made.err(), None);
    let source = river("bed = below.bed;");
    let errors = parse_str(&source).unwrap_err().render("test", &source);
    assert!(
        errors.contains("gives `bed`, which is not primitive"),
        "{errors}"
    );
}
