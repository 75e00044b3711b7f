//! A model built by hand is checked like one that was written.

use crate::catalogue::{Function, Rank};
use crate::model::parse::parse_str;
use crate::model::{Model, Primitives, Side, Symmetry, Term, TermKind};

fn valid() -> Model {
    let source =
        "system S in 2d { field f: scalar [m]; field u: vector; param a: real = 1 where a > 0;
        source q: scalar = x*t;
        let g = grad(f); let h = div(g); ddt(f) = a*h + q; ddt(u) = -g;
        observe o = max(f); cfl { diffusive: a } }";
    parse_str(source).unwrap()
}

fn problem(change: impl FnOnce(&mut Model)) -> String {
    let mut model = valid();
    change(&mut model);
    model.check().err().unwrap_or_default()
}

#[test]
fn what_parses_is_valid() {
    assert_eq!(valid().check(), Ok(()));
}

#[test]
fn each_broken_invariant_is_found() {
    let problems = [
        (problem(|m| m.dimension = 4), "4 dimensions"),
        (problem(|m| m.name = "int".into()), "`int` has a meaning in C, C++ or a device language"),
        (problem(|m| m.fields[0].name = "a".into()), "`a` is declared twice"),
        (
            problem(|m| m.fields[0].unit = Some("m / s".into())),
            "the unit `m / s` of `f` is not as the parser writes it",
        ),
        (
            problem(|m| m.fields[0].unit = Some("m]; x [".into())),
            "the unit `m]; x [` of `f` is not as the parser writes it",
        ),
        (problem(|m| m.doc.push("a\nb".into())), "a doc line contains a control character"),
        (problem(|m| m.params[0].default = Some(f64::NAN)), "in `param a`: NaN is no number"),
        (problem(|m| m.params[0].default = Some(-0.5)), "the default of `a` breaks its bounds"),
        (
            problem(|m| m.lets[0].value.kind = TermKind::Let(0)),
            "in `let g`: no `let` 0 before this",
        ),
        (
            problem(|m| m.lets[0].value.rank = Rank::Scalar),
            "in `let g`: a vector is marked as a scalar",
        ),
        (problem(|m| m.lets[1].value.kind = TermKind::Field(7)), "in `let h`: no field 7"),
        (
            problem(|m| m.lets[1].value.kind = TermKind::Call(Function::DOT, vec![])),
            "in `let h`: `dot` takes 2 argument(s), found 0",
        ),
        (problem(|m| m.equations.swap(0, 1)), "equation 0 is not that of `f`"),
        (problem(|m| drop(m.equations.pop())), "1 equations for 2 fields"),
        (
            problem(|m| m.lets[0].value.kind = TermKind::Coordinate(0)),
            "in `let g`: a coordinate outside a source",
        ),
        (
            problem(|m| m.sources[0].value = Some(m.lets[1].value.clone())),
            "in `source q`: no `let` 0 before this",
        ),
        (
            problem(|m| m.sources[0].value = Some(m.observables[0].value.clone())),
            "in `source q`: the value of a source depends on fields",
        ),
        (problem(|m| m.sources[0].rank = Rank::Vector), "the value of `q` has another rank"),
        (problem(|m| m.observables[0].value = m.equations[1].rhs.clone()), "`o` is no scalar"),
        (problem(|m| m.speeds[0].power = 5), "a speed of power 5, or a second one"),
        (problem(|m| m.speeds.push(m.speeds[0].clone())), "a speed of power 2, or a second one"),
        (problem(|m| m.fields[0].symmetry = Symmetry::Symmetric), "`f` is symmetric and no tensor"),
        (problem(|m| m.others.push(m.scheme.clone())), "a second scheme `default`"),
        (problem(|m| m.scheme.order = 5), "no order 5, there are [2, 4, 6, 8, 10]"),
        (problem(|m| m.scheme.time = "rk9".into()), "no time integrator `rk9`"),
    ];
    for (found, expected) in problems {
        assert_eq!(found, expected);
    }
}

/// Water with the primitives depth and velocity.
fn water() -> Model {
    let source = "system W in 2d {
        conserved h: scalar; conserved m: vector;
        let u = m / h;
        flux h -> m; flux m -> outer(m, u);
        primitive { h; u; m = h*u; }
    }
    scheme s for W { reconstruct: plm in primitive; }";
    parse_str(source).unwrap()
}

#[test]
fn primitives_of_a_model_are_checked() {
    let problem = |change: &dyn Fn(&mut Model, &mut Primitives)| {
        let mut model = water();
        assert_eq!(model.check(), Ok(()));
        let mut primitives = model.primitives.take().unwrap();
        change(&mut model, &mut primitives);
        model.primitives = Some(primitives);
        model.check().unwrap_err()
    };
    assert_eq!(problem(&|_, p| p.conserved.clear()), "field 1 does not follow from the primitives");
    assert_eq!(
        problem(&|_, p| drop(p.variables.remove(0))),
        "field 0 does not follow from the primitives"
    );
    assert_eq!(problem(&|_, p| drop(p.variables.pop())), "field 1 follows from others");
    assert_eq!(
        problem(&|_, p| p.variables.push(p.variables[0].clone())),
        "primitives twice or in another order"
    );
    assert_eq!(
        problem(&|_, p| p.variables.push(p.conserved[0].value.clone())),
        "primitives without fluxes, or that are no names"
    );
    assert_eq!(
        problem(&|m, p| p.conserved[0].value = m.fluxes[1].value.clone()),
        "field 1 cannot follow"
    );
    let mut model = water();
    model.primitives = None;
    assert_eq!(model.check().unwrap_err(), "a scheme asks for primitives");
}

#[test]
fn solvers_of_a_model_are_checked() {
    let source = "system W in 1d {
        conserved h: scalar; param a: real = 1;
        let twice = 2*a; let square = h^2;
        flux h -> [a*square];
        riemann own { let half = twice/4; flux h -> half*(below.square + above.square); }
    }
    scheme s for W { riemann: own; }";
    let problem = |change: &dyn Fn(&mut Model)| {
        let mut model = parse_str(source).unwrap();
        assert_eq!(model.check(), Ok(()));
        change(&mut model);
        model.check().unwrap_err()
    };
    let value = |m: &mut Model, kind: TermKind, rank: Rank| {
        let line = &mut m.solvers[0].values[0].value;
        *line = Term::of(kind, rank, line.span);
    };
    assert_eq!(
        problem(&|m| value(m, TermKind::Let(1), Rank::Scalar)),
        "in `own`: a Riemann solver reads a `let` beside its sides"
    );
    let slope = |m: &mut Model| {
        let field = Term::of(TermKind::Field(0), Rank::Scalar, m.equations[0].span);
        let side = TermKind::Side(Side::Below, Box::new(field.clone()));
        let side = Term::of(side, Rank::Scalar, field.span);
        value(m, TermKind::Call(Function::GRAD, vec![side]), Rank::Vector);
    };
    assert_eq!(problem(&slope), "in `own`: `grad` in a Riemann solver");
    for word in ["below", "above", "normal"] {
        let expected = format!("`{word}` has a meaning in Riemann solvers");
        let named = |m: &mut Model| m.solvers[0].lets[0].name = word.into();
        assert_eq!(problem(&named), expected);
        assert_eq!(problem(&|m| m.lets[0].name = word.into()), expected);
    }
}
