//! Declared solvers by which small waves grow, and others that are stable.

use super::checks::{MAGNETIC, library, magnetic};
use crate::diag::Code;
use crate::discretize::{DiscretizeError, discretize};
use crate::model::parse::parse_str;

/// The error of a solver of water.
fn water(dimension: usize, items: &str, solver: &str) -> Option<DiscretizeError> {
    let source = format!(
        "system Own in {dimension}d {{
            conserved h: scalar where h > 0; conserved m: vector;
            let u = m/h; let c = sqrt(h);
            flux h -> m; flux m -> outer(m, u) + h^2/2*I;
            primitive {{ h; u; m = h*u; }}
            {items}
            riemann own {{
                let flow_0 = dot(below.u, normal); let flow_1 = dot(above.u, normal);
                {solver}
            }}
         }}
         scheme s for Own {{ reconstruct: plm; riemann: own; time: ssprk2; repair: none; }}"
    );
    let model = parse_str(&source).unwrap_or_else(|e| panic!("{}", e.render("s", &source)));
    discretize(&model).err()
}

/// Adds a multiple of the jump to the mean of the fluxes.
fn smeared(speed: &str) -> String {
    format!(
        "let size = {speed};
         flux h -> (flux(below.h) + flux(above.h) - size*(above.h - below.h))/2;
         flux m -> (flux(below.m) + flux(above.m) - size*(above.m - below.m))/2;"
    )
}

const FASTEST: &str = "max(abs(flow_0) + below.c, abs(flow_1) + above.c)";

const HLL: &str = "let slow = min(min(flow_0 - below.c, flow_1 - above.c), 0);
    let fast = max(max(flow_0 + below.c, flow_1 + above.c), 0);
    flux h -> (fast*flux(below.h) - slow*flux(above.h) + slow*fast*(above.h - below.h))/(fast - slow);
    flux m -> (fast*flux(below.m) - slow*flux(above.m) + slow*fast*(above.m - below.m))/(fast - slow);";

#[test]
fn solvers_smear_as_much_as_waves_need_and_speeds_allow() {
    let times = |factor: &str| smeared(&format!("{factor}*{FASTEST}"));
    let longer = "cfl { advective: 2*(norm(u) + c); }";
    for (items, solver) in [("", times("1")), ("", HLL.to_string()), (longer, times("2"))] {
        for dimension in [1, 2] {
            let found = water(dimension, items, &solver).map(|error| error.message);
            assert_eq!(found, None, "{dimension}d {items}: {solver}");
        }
    }
    let (more, less) = ("smears by more than the fastest speed", "smears less than upwind fluxes");
    for (dimension, items, solver, words) in [
        (1, "", times("0"), [less, "is stable for no step"]),
        (1, longer, times("0"), [less, "is stable for no step"]),
        (
            1,
            "",
            "h = (below.h + above.h)/2; m = (below.m + above.m)/2;".to_string(),
            [less, "for no step"],
        ),
        (1, "", times("-1"), [less, "is stable for no step"]),
        (1, "", times("2"), [more, "to a Courant number of 0.50"]),
        (1, "", times("0.5"), [less, "to a Courant number of 0.5"]),
        (1, "", times("0.9"), [less, "to a Courant number of 0.90"]),
        (
            1,
            "",
            HLL.replace("- slow*flux(above.m)", "- slow*flux(below.m)"),
            ["makes a small wave", "along x"],
        ),
        (
            2,
            "",
            smeared("max(norm(below.u) + below.c, norm(above.u) + above.c)"),
            [more, "advective"],
        ),
        // Downwind where the flow goes back.
        (1, "", "h = below.h; u = below.u;".to_string(), [less, "for no step"]),
    ] {
        let error = water(dimension, items, &solver);
        let error = error.unwrap_or_else(|| panic!("{dimension}d {items}: {solver}"));
        assert_eq!(error.code, Code::UnstableSolver, "{solver}: {error}");
        for words in words {
            assert!(error.message.contains(words), "{solver}: {error}");
        }
    }
}

/// A solver may compare the states, and a law may have no waves at all.
#[test]
fn nothing_is_refused_for_equal_states_or_complex_speeds() {
    let one = |items: &str, solver: &str| {
        let source = format!(
            "system Own in 1d {{ {items} riemann own {{ {solver} }} }}
             scheme s for Own {{ reconstruct: constant; riemann: own; time: euler; }}"
        );
        discretize(&parse_str(&source).unwrap()).err().map(|error| error.code)
    };
    let traffic = "conserved q: scalar; let f = q^2/2; flux q -> [f];";
    for solver in [
        "let jump = above.q - below.q; let rise = above.f - below.f;
         flux q -> (below.f + above.f - abs(rise)*(if 0 < jump { 1 } else { -1 }))/2;",
        "flux q -> max(max(below.q, 0)^2, min(above.q, 0)^2)/2;",
    ] {
        assert_eq!(one(traffic, solver), None, "{solver}");
    }
    let turned = "conserved a: scalar; conserved b: scalar; flux a -> [b]; flux b -> [-a];";
    let mean = "flux a -> (below.b + above.b)/2; flux b -> -(below.a + above.a)/2;";
    assert_eq!(one(turned, mean), None);
    let [sound, mean] = [turned, mean].map(|text| text.replace("-", "").replace(">", "->"));
    assert_eq!(one(&sound, &mean), Some(Code::UnstableSolver));
}

#[test]
fn small_waves_do_not_grow_by_solvers_of_the_library() {
    for (system, solvers) in [
        (include_str!("../../../../../physics/src/systems/ideal_gas.rs"), &["exact"][..]),
        (MAGNETIC, &["hlld", "seven_waves"]),
        (include_str!("../../../../../physics/src/systems/relativistic_gas.rs"), &["contact"]),
        (include_str!("../../../../../physics/src/systems/shallow_water.rs"), &["exact"]),
        (include_str!("../../../../../physics/src/systems/two_layers.rs"), &["modes"]),
    ] {
        for (solver, dimension) in solvers.iter().flat_map(|solver| [1, 2, 3].map(|d| (*solver, d)))
        {
            let found = library(system, dimension, solver, ["", ""]).map(|error| error.message);
            assert_eq!(found, None, "{solver} in {dimension}d");
        }
    }
}

/// The errors of a solver of magnetic fields with each of its signs turned by itself.
fn turned(solver: &str) -> Vec<Option<Code>> {
    let begin = MAGNETIC.find(&format!("riemann {solver} {{")).unwrap();
    let end = begin + MAGNETIC[begin..].find("\n        }\n").unwrap();
    let (mut all, mut at) = (Vec::new(), begin);
    for line in MAGNETIC[begin..end].split_inclusive('\n') {
        let code = line.split("//").next().unwrap();
        for (sign, turned) in [("+ ", "- "), ("- ", "+ "), ("-1 }", "1 }")] {
            for (place, _) in code.match_indices(sign) {
                let (before, after) = MAGNETIC.split_at(at + place);
                let file = format!("{before}{turned}{}", &after[sign.len()..]);
                all.push(library(&file, 1, solver, ["", ""]).map(|error| error.code));
            }
        }
        at += line.len();
    }
    all
}

/// Most wrong signs change the flux between equal states. Others are found by the growth of waves; some smear more, but not too much.
#[test]
fn wrong_signs_in_a_solver_of_magnetic_fields_are_refused() {
    let all = turned("hlld");
    let count = |code| all.iter().filter(|found| **found == code).count();
    let (unnoticed, growing) = (count(None), count(Some(Code::UnstableSolver)));
    println!("{unnoticed} of {}, {growing}", all.len());
    assert!(all.len() > 60 && unnoticed <= 12 && growing >= 15, "{unnoticed}, {growing}");
    for [old, new] in [
        ["+ (below.total - above.total)", "- (below.total - above.total)"],
        ["rho_flux + outer_wave", "rho_flux - outer_wave"],
        ["+ alfven*rho_star*(u_middle", "- alfven*rho_star*(u_middle"],
        ["+ alfven*(c_middle", "- alfven*(c_middle"],
    ] {
        let code = magnetic(1, "hlld", [old, new]).map(|error| error.code);
        assert_eq!(code, Some(Code::UnstableSolver), "{old}");
    }
}
