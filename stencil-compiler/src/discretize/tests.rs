//! Models as text to algorithms: states, times, names, errors.

mod axes;
mod conserved;
mod loops;
mod names;
mod reciprocals;
mod slopes;
mod squares;
mod widths;

use super::{discretize, observe};
use crate::algorithm::{Algorithm, Role};
use crate::diag::Code;
use crate::expr::real::Precision;
use crate::model::{Model, Reduction, parse::parse_str};

fn model(source: &str) -> Model {
    parse_str(source).unwrap_or_else(|e| panic!("{}", e.render("test", source)))
}

fn algorithm(source: &str) -> Algorithm {
    let made = discretize(&model(source)).unwrap_or_else(|e| panic!("{e}"));
    made.check().unwrap_or_else(|e| panic!("{e}"));
    made
}

fn names(algorithm: &Algorithm, role: Role) -> Vec<&str> {
    algorithm.states_of(role).map(|(_, s)| s.name.as_str()).collect()
}

fn heat(time: &str) -> String {
    format!(
        "pub system Heat in 1d {{ field f: scalar; ddt(f) = lap(f); }}
         scheme s for Heat {{ space: central<order = 2>; time: {time}; }}"
    )
}

/// Times of the substeps of `rk4_carpenter_kennedy`.
const CARPENTER_KENNEDY: &[f64] =
    &[0.0, 0.1496590219993, 0.3704009573644, 0.6222557631345, 0.9582821306748];

#[test]
fn integrators_keep_what_they_need() {
    let cases: [(&str, &[&str], &[f64]); 8] = [
        ("euler", &[], &[0.0]),
        ("ssprk2", &["f_old"], &[0.0, 1.0]),
        ("ssprk3", &["f_old"], &[0.0, 1.0, 0.5]),
        ("rk3_williamson<storage = accumulator>", &["f_acc"], &[0.0, 1.0 / 3.0, 0.75]),
        ("rk3_williamson", &["f_previous"], &[0.0, 1.0 / 3.0, 0.75]),
        ("rk4", &["f_old", "f_sum"], &[0.0, 0.5, 0.5, 1.0]),
        ("rk4_carpenter_kennedy<storage = accumulator>", &["f_acc"], CARPENTER_KENNEDY),
        ("rk4_carpenter_kennedy", &["f_previous"], CARPENTER_KENNEDY),
    ];
    for (time, registers, times) in cases {
        let algorithm = algorithm(&heat(time));
        assert_eq!(names(&algorithm, Role::Accumulator), registers, "{time}");
        assert_eq!(algorithm.substeps.len(), times.len(), "{time}");
        for (substep, at) in algorithm.substeps.iter().zip(times) {
            assert!((substep.at - at).abs() < 1e-12, "{time}: {}", substep.at);
        }
    }
}

/// The factor of the last change is alpha beta over the beta before, without the time step.
#[test]
fn substeps_of_states_sum_the_change_before_the_field() {
    let algorithm = algorithm(&heat("rk3_williamson"));
    let printed = crate::algorithm::text::print(&algorithm);
    for line in [
        "uniform alpha_2 = 1.5625",
        "uniform alpha_3 = 0.68",
        "fn f_change_2 = f_previous - f",
        "fn f_advance_2 = fma(beta_dt_2, ddt_f, alpha_2 * f_change_2)",
        "fn f_2 = f_advance_2 + f",
        "substep 0.75 { f = f_3 }",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
}

#[test]
fn an_array_of_the_integrator_may_not_be_a_field() {
    let source =
        "pub system S in 1d { field f: scalar; field f_old: scalar; ddt(f) = 0; ddt(f_old) = f; }
        scheme s for S { space: central<order = 2>; time: ssprk2; }";
    let error = discretize(&model(source)).unwrap_err();
    assert_eq!(error.code, Code::ComponentClash);
    assert!(error.message.contains("`f_old`"), "{error}");
    let other = source.replace("ssprk2", "rk3_williamson");
    assert!(discretize(&model(&other)).is_ok());
    for (param, refused) in [("f_old", true), ("u_x", true), ("f_new", true), ("u", false)] {
        let source = format!(
            "pub system S in 1d {{ field f: scalar; field {}: vector; param {param}: real = 1; ddt(f) = {param}*f;
                ddt({0}) = {param}*{0}; }}
            scheme s for S {{ space: central<order = 2>; time: ssprk2; }}",
            if refused { "u" } else { "v" }
        );
        let found = discretize(&model(&source)).map_err(|error| error.code);
        let expected = refused.then_some(Code::ComponentClash);
        assert_eq!(found.err(), expected, "{param}");
    }
}

#[test]
fn tensors_keep_their_independent_components() {
    let source = |symmetry: &str, rhs: &str| {
        format!(
            "pub system S in 3d {{ field u: vector; field m: {symmetry}; ddt(u) = div(m); ddt(m) = {rhs}; }}"
        )
    };
    let symmetric = algorithm(&source("symmetric", "sym(grad(u))"));
    let components = ["u_x", "u_y", "u_z", "m_xx", "m_xy", "m_xz", "m_yy", "m_yz", "m_zz"];
    assert_eq!(names(&symmetric, Role::Field), components);
    let antisymmetric = algorithm(&source("antisymmetric", "grad(u) - transpose(grad(u))"));
    let components = ["u_x", "u_y", "u_z", "m_xy", "m_xz", "m_yz"];
    assert_eq!(names(&antisymmetric, Role::Field), components);
    let error = discretize(&model(&source("symmetric", "grad(u)"))).unwrap_err();
    assert_eq!(error.code, Code::NotSymmetric);
    assert!(error.span.is_known() && error.message.contains("sym("));
}

#[test]
fn sources_are_given_and_never_written() {
    let algorithm = algorithm(
        "pub system S in 2d { field f: scalar; source g: vector; source h: scalar = sin(x)*cos(t);
         ddt(f) = h + div(g); }",
    );
    assert_eq!(names(&algorithm, Role::Given), ["g_x", "g_y", "h"]);
    let written = algorithm.substeps.iter().flat_map(|s| &s.updates);
    assert!(written.into_iter().all(|(state, _)| algorithm.state(*state).role != Role::Given));
}

#[test]
fn the_time_is_a_uniform() {
    let algorithm = algorithm("pub system S in 1d { field f: scalar; ddt(f) = cos(2*t)*f; }");
    assert!(algorithm.depends_on_time());
    let at = |t: f64| algorithm.uniform_values(Precision::F64, &[], [1.0; 3], (0.1, t));
    assert_ne!(at(0.0), at(1.0));
}

#[test]
fn any_mixed_form_is_the_bidiagonal_one() {
    let source = |mixed: &str| {
        format!(
            "pub system S in 2d {{ field u: vector; ddt(u) = grad(div(u)); }}
             scheme s for S {{ space: central<order = 4>; mixed: {mixed}; }}"
        )
    };
    assert_eq!(algorithm(&source("either")), algorithm(&source("bidiagonal")));
    assert_ne!(algorithm(&source("either")), algorithm(&source("composed")));
}

#[test]
fn what_terms_share_is_collected_and_arithmetic_may_stay_as_it_is_written() {
    let cost = |arith: &str| -> u32 {
        let algorithm = algorithm(&format!(
            "pub system S in 1d {{ field a: scalar; field b: scalar; param k: real = 2; param l: real = 3;
             ddt(a) = k*a*b + l*a*b^2; ddt(b) = k*b^2 + l*b^3; }}
             scheme s for S {{ space: central<order = 2>; arith: {arith}; time: euler; }}"
        ));
        algorithm.ids().map(|(id, _)| algorithm.cost(id)).sum()
    };
    // a and b times k b + l b^2.
    assert!(cost("collected") < cost("as_written"));
}

#[test]
fn observables_and_speeds_are_evaluated_together() {
    let source = "pub system S in 2d {
            field rho: scalar; field u: vector; param nu: real = 0.1;
            ddt(rho) = -div(u); ddt(u) = nu*lap(u);
            observe mass = sum(rho);
            observe strain = max(norm(sym(grad(u))));
            cfl { advective: norm(u) + 1; diffusive: nu; }
        }";
    let observation = observe(&model(source)).unwrap().unwrap();
    observation.algorithm.check().unwrap();
    let found: Vec<(&str, Reduction, Option<u32>)> =
        observation.quantities.iter().map(|q| (q.name.as_str(), q.reduction, q.speed)).collect();
    let expected = [
        ("mass", Reduction::Sum, None),
        ("strain", Reduction::Max, None),
        ("speed_1", Reduction::Max, Some(1)),
        ("speed_2", Reduction::Max, Some(2)),
    ];
    assert_eq!(found, expected);
    let states = names(&observation.algorithm, Role::Accumulator);
    assert_eq!(states, ["mass", "strain", "speed_1", "speed_2"]);
    assert_eq!(observe(&model(&heat("euler"))).unwrap(), None);
}

#[test]
fn a_divisor_that_vanishes_is_an_error() {
    let error = discretize(&model(
        "pub system S in 1d { field f: scalar; param a: real = 1; ddt(f) = f/(a - a); }",
    ));
    assert_eq!(error.unwrap_err().code, Code::DivisionByZero);
}

#[test]
fn observables_may_be_called_as_components() {
    let source = "pub system S in 2d { field u: vector; source g: vector; ddt(u) = lap(u) + g;
        observe u_x = max(u.x); observe g_y = mean(u.y); observe u_x_new = sum(u.x); }";
    let observation = observe(&model(source)).unwrap().unwrap();
    observation.algorithm.check().unwrap();
    let quantities = observation.quantities.iter().map(|q| q.name.as_str());
    assert_eq!(quantities.collect::<Vec<_>>(), ["u_x", "g_y", "u_x_new"]);
}

/// Species that diffuse and react with all others.
fn reacting(count: usize) -> String {
    let declared = (0..count)
        .map(|i| format!("field c{i}: scalar; param D{i}: real = 1; param k{i}: real = 1;"));
    let rates = (0..count).map(|i| {
        let with_all = (0..count).map(|j| format!(" - k{j}*c{i}*c{j}"));
        format!("ddt(c{i}) = D{i}*lap(c{i}){};", with_all.collect::<String>())
    });
    format!(
        "pub system Reacting in 1d {{ {}{} }} scheme s for Reacting {{ space: central<order = 2>; time: euler; }}",
        declared.collect::<String>(),
        rates.collect::<String>()
    )
}

#[test]
fn many_species_are_collected_as_few_are() {
    // All rates share one sum, which each multiplies by its own species.
    let shared = |count: usize| {
        let algorithm = algorithm(&reacting(count));
        let functions = algorithm.ids();
        functions.filter(|(_, f)| f.name.contains("factor")).count()
    };
    assert_eq!((shared(4), shared(64)), (1, 1));
}
