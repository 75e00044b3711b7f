//! The checks of declared solvers with numbers: states that they are tried at, and waves between these.

use crate::diag::Code;
use crate::discretize::components::Components;
use crate::discretize::conserve::Law;
use crate::discretize::{DiscretizeError, discretize, integrator};
use crate::model::parse::{parse_str, parse_str_in};

/// The library's magnetohydrodynamics, with two declared solvers.
pub(super) const MAGNETIC: &str = include_str!("../../../../../physics/src/systems/ideal_mhd.rs");

/// The error of a solver of a system with ranges, fields on faces and primitives, of which one text is replaced once.
pub(super) fn magnetic(
    dimension: usize,
    solver: &str,
    replaced: [&str; 2],
) -> Option<DiscretizeError> {
    library(MAGNETIC, dimension, solver, replaced)
}

/// The error of a solver of a system in the library's file, of which one text is replaced once.
pub(super) fn library(
    file: &str,
    dimension: usize,
    solver: &str,
    [old, new]: [&str; 2],
) -> Option<DiscretizeError> {
    let begin = file.find("pub system").unwrap();
    let end = file.find("\n    scheme ").unwrap();
    let own = file[begin..end].replacen(old, new, 1);
    let name = own["pub system ".len()..].split(' ').next().unwrap();
    let text = format!(
        "{own} scheme s for {name} {{ space: central<order = 2>; reconstruct: plm; riemann: {solver}; time: ssprk2; repair: none; }}"
    );
    assert!(old == new || !file[begin..end].eq(&own), "no `{old}`");
    let model = parse_str_in(&text, Some(dimension)).unwrap_or_else(|e| panic!("{e:?}"));
    let components = Components::new(&model, &integrator(&model).unwrap()).unwrap();
    let law = Law::new(&model, &components, model.fluxes[0].span).unwrap();
    law.check_declared().err()
}

#[test]
fn solvers_of_magnetic_fields_are_tried_at_possible_states() {
    for (dimension, solver) in [(2, "hlld"), (2, "seven_waves<else = hll>")] {
        let found = magnetic(dimension, solver, ["", ""]);
        assert!(found.is_none(), "{solver}: {}", found.map_or(String::new(), |e| e.message));
    }
    for (solver, old, new) in [
        ("hlld", "(below.total*back - middle", "(below.total*back + middle"),
        ("hlld", "let lag_0 = contact - slowest", "let lag_0 = contact + slowest"),
        ("hlld", "outer_wave*(E_star - E_near)", "outer_wave*(E_star + E_near)"),
        ("seven_waves", "m = is_fast*(v - c_fast", "m = is_fast*(v + c_fast"),
        ("seven_waves", "+ by_fast*v_side", "- by_fast*v_side"),
        ("seven_waves", "b = way*root*other", "b = -way*root*other"),
        ("seven_waves", "b = -b_slow*side", "b = b_slow*side"),
        ("seven_waves", "(swirl + twist)/2 at", "(swirl - twist)/2 at"),
        ("seven_waves", "+ gamma*squares;", "- gamma*squares;"),
        ("seven_waves", "- (above.p - below.p))/a_2", "+ (above.p - below.p))/a_2"),
    ] {
        let code = magnetic(1, solver, [old, new]).map(|error| error.code);
        assert!(matches!(code, Some(Code::OtherFlux | Code::OtherJump)), "{old}: {code:?}");
    }
}

/// A field on faces and a density that flow with one velocity, by waves.
fn induction(waves: &str, solver: &str) -> Option<DiscretizeError> {
    let source = format!(
        "system Own in 2d {{
            conserved p: scalar where p > 0; face conserved b: vector<3>; param k: real = 2;
            let c = to_cells(b); let v = [k, 2, 3];
            flux p -> p*v; flux b -> outer(v, c) - outer(c, v);
            waves {{ flow: v; }}
            riemann own {{ let flow = dot(below.v, normal); {waves} }}
         }}
         scheme s for Own {{ space: central<order = 2>; reconstruct: plm; riemann: {solver}; time: ssprk2; repair: none; }}"
    );
    let model = parse_str(&source).unwrap_or_else(|e| panic!("{}", e.render("s", &source)));
    discretize(&model).err()
}

const JUMP: &str = "wave 1 at flow { p = above.p - below.p; b = above.c - below.c; }";
const NOTHING: &str = "wave 0 at flow + 1 { p = 1; }";

/// The component of a field on faces along the normal does not jump.
#[test]
fn waves_of_fields_on_faces_add_up_where_their_normal_component_is_shared() {
    let both = format!("{JUMP} {NOTHING}");
    assert!(induction(&both, "own").is_none());
    assert!(induction(&both, "own<else = hll>").is_none());
    let wrong =
        induction(&both.replace("b = above.c - below.c", "b = 2*(above.c - below.c)"), "own")
            .unwrap();
    assert_eq!(wrong.code, Code::OtherJump, "{wrong}");
    // What the solver of a scheme may not be, the one behind `else` may not be, either.
    let split = induction(&both, "own<else = rtvd>").unwrap();
    assert_eq!(split.code, Code::NotTransported, "{split}");
}

#[test]
fn waves_beside_another_solver_stand_from_the_slowest_to_the_fastest() {
    let turned = format!("{NOTHING} {JUMP}");
    assert!(induction(&turned, "own").is_none());
    let error = induction(&turned, "own<else = hll>").unwrap();
    assert_eq!(error.code, Code::OtherJump, "{error}");
    assert!(error.message.contains("from the slowest to the fastest"), "{error}");
}

#[test]
fn solvers_without_a_possible_state_are_refused() {
    let source = "system Own in 1d {
            conserved q: scalar where q > 1e30; flux q -> [q]; riemann own { q = below.q; }
        } scheme s for Own { reconstruct: constant; riemann: own; time: euler; }";
    let error = discretize(&parse_str(source).unwrap()).unwrap_err();
    assert_eq!(error.code, Code::NoPossibleState, "{error}");
    assert!(error.message.contains("primitive { .. }"), "{error}");
}
