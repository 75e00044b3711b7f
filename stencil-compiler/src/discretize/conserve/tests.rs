//! The fluxes that solvers with a contact accept.

use std::collections::BTreeMap;

use super::Law;
use super::algebra::Algebra;
use super::sample::Point;
use super::tangent::Tangent;
use crate::diag::Code;
use crate::discretize::components::Components;
use crate::discretize::expand::States;
use crate::discretize::{discretize, integrator};
use crate::model::parse::parse_str;
use crate::model::text::expression;

/// A gas with these fluxes of momentum and energy.
pub(super) fn gas(momentum: &str, energy: &str, setting: &str) -> String {
    format!(
        "system Gas in 2d {{
            conserved rho: scalar; conserved m: vector; conserved e: scalar;
            param gamma: real = 1.4; param a: real = 2;
            let u = m / rho;
            let p = (gamma - 1) * (e - dot(m, u)/2);
            let h = (e + p) / rho;
            flux rho -> m;
            flux m -> {momentum};
            flux e -> {energy};
            waves {{ flow: u; sound: sqrt(gamma*p/rho); density: rho; pressure: p; }}
        }}
        scheme s for Gas {{ reconstruct: constant; riemann: hllc; time: euler; {setting} }}"
    )
}

#[test]
fn fluxes_that_are_advection_and_the_work_of_a_pressure_are_seen_to_be() {
    let momenta = [
        "outer(m, u) + p*I",
        "rho*outer(u, u) + p*I",
        "outer(m, m)/rho + p*I",
        "outer(m, u) + p/2*a*I",
    ];
    let energies = [
        "(e + p) * u",
        "h * m",
        "rho*h*u",
        "e*u + p*m/rho",
        "(e + 3*p)*m/rho",
        "e*dot(u, u)/dot(m, u)*m + p*u",
    ];
    for setting in ["", "arith: as_written;"] {
        for (momentum, energy) in momenta.into_iter().zip(energies.into_iter().cycle()) {
            let source = gas(momentum, energy, setting);
            let found = discretize(&parse_str(&source).unwrap());
            assert!(found.is_ok(), "{momentum}, {energy}: {:?}", found.err());
        }
        for energy in energies {
            let source = gas(momenta[0], energy, setting);
            let found = discretize(&parse_str(&source).unwrap());
            assert!(found.is_ok(), "{energy}: {:?}", found.err());
        }
    }
}

#[test]
fn other_fluxes_are_refused_where_they_are_written() {
    let own = "outer(m, u) + p*I";
    let cases = [
        // The pressure is not named.
        ("outer(m, u) + (gamma - 1)*(e - dot(m, u)/2)*I", "(e + p)*u", "m"),
        // Not moved with the flow.
        ("2*outer(m, u) + p*I", "(e + p)*u", "m"),
        (own, "(e + p)*m", "e"),
        (own, "(e + p)*u + 0.1*m", "e"),
        // Not linear in the pressure.
        ("outer(m, u) + p^2*I", "(e + p)*u", "m"),
        ("outer(m, u) + sqrt(p)*I", "(e + p)*u", "m"),
        (own, "(e + e/p)*u", "e"),
        // Neither a number nor the flow.
        ("outer(m, u) + p*rho*I", "(e + p)*u", "m"),
        (own, "(e + p*dot(u, u))*u", "e"),
        (own, "e*u + p*[u.y, u.x]", "e"),
    ];
    for (momentum, energy, field) in cases {
        let source = gas(momentum, energy, "");
        let error = discretize(&parse_str(&source).unwrap()).unwrap_err();
        assert_eq!(error.code, Code::NotContactForm, "{momentum}, {energy}");
        assert!(error.message.contains(&format!("`{field}")), "{error}");
        let (line, column) = (error.span.start.line, error.span.start.column);
        let written = source.lines().nth(line as usize - 1).unwrap();
        let wrong = if field == "m" { momentum } else { energy };
        let found: String = written.chars().skip(column as usize).collect();
        assert!(found.starts_with(wrong), "{found}: {wrong}");
    }
}

/// A gas with these ways back.
fn primitive(momentum: &str, energy: &str) -> String {
    format!(
        "system Gas in 2d {{
            conserved rho: scalar; conserved m: vector; conserved e: scalar; field bed: scalar;
            param gamma: real where gamma > 1; param a: real = 2;
            let u = m / rho;
            let p = (gamma - 1) * (e - dot(m, u)/2 - a*bed);
            let s = log(p/pow(rho, gamma));
            flux rho -> m;
            flux m -> outer(m, u) + p*I;
            flux e -> (e + p)*u;
            ddt(bed) = 0;
            primitive {{ rho; u; s; m = {momentum}; e = {energy}; }}
        }}
        scheme c for Gas {{ reconstruct: plm in primitive; riemann: force; time: euler; }}"
    )
}

#[test]
fn primitives_and_what_is_conserved_follow_from_each_other() {
    let thermal = "exp(s)*pow(rho, gamma)/(gamma - 1)";
    let energies = [
        format!("{thermal} + rho*dot(u, u)/2 + a*bed"),
        format!("a*bed + rho*norm(u)^2/2 + {thermal}"),
    ];
    for energy in energies {
        let found = discretize(&parse_str(&primitive("rho*u", &energy)).unwrap());
        assert!(found.is_ok(), "{energy}: {:?}", found.err());
    }
    let right = format!("{thermal} + rho*dot(u, u)/2 + a*bed");
    let cases = [
        ("2*rho*u", right.clone(), "`u`"),
        ("[rho*u.y, rho*u.x]", right, "`u`"),
        ("rho*u", format!("{thermal} + rho*dot(u, u) + a*bed"), "`s`"),
        ("rho*u", format!("{thermal} + rho*dot(u, u)/2"), "`s`"),
    ];
    for (momentum, energy, name) in cases {
        let source = primitive(momentum, &energy);
        let error = discretize(&parse_str(&source).unwrap()).unwrap_err();
        assert_eq!(error.code, Code::WrongWayBack, "{momentum}, {energy}");
        assert!(error.message.starts_with(name), "{error}");
        let line = source.lines().nth(error.span.start.line as usize - 1).unwrap();
        assert!(line.contains("primitive {"), "{line}");
    }
}

/// The speeds of waves that are derived from fluxes, as texts.
fn derived(items: &str) -> Result<Vec<String>, Code> {
    let source = format!("system S in {items} scheme s for S {{ riemann: roe; }}");
    let model = parse_str(&source).unwrap_or_else(|e| panic!("{e:?}: {source}"));
    let tableau = integrator(&model).unwrap();
    let components = Components::new(&model, &tableau).unwrap();
    let law = Law::new(&model, &components, model.fluxes[0].span);
    let waves = law.map_err(|error| error.code)?.waves.unwrap();
    Ok(waves.parts().map(|(_, part)| expression(&model, part)).collect())
}

#[test]
fn speeds_of_waves_follow_from_fluxes() {
    let cases = [
        (
            "1d { conserved q: scalar; flux q -> [q^2/2]; }",
            ["[q]", "0"],
        ),
        (
            "2d { conserved q: scalar; param a: real; flux q -> [a*q, sin(q)]; }",
            ["[a, cos(q)]", "0"],
        ),
        (
            "3d { conserved p: scalar; conserved u: vector; param k: real; param rho: real;
             flux p -> k*u; flux u -> p/rho*I; }",
            ["[0, 0, 0]", "sqrt(k / rho)"],
        ),
        (
            "2d { conserved h: scalar; conserved m: vector; param g: real; let u = m/h;
             flux h -> m; flux m -> outer(m, u) + g*h^2/2*I; }",
            ["[m.x / h, m.y / h]", "sqrt(g * h)"],
        ),
        (
            "2d { conserved rho: scalar; conserved m: vector; let u = m/rho;
             flux rho -> m; flux m -> outer(m, u) + exp(rho)*I; }",
            ["[m.x / rho, m.y / rho]", "sqrt(exp(rho))"],
        ),
        // A gas, whose square of sound is `gamma p/rho`.
        (
            "1d { conserved rho: scalar; conserved m: scalar; conserved e: scalar; param a: real;
             flux rho -> [m]; flux m -> [m^2/rho + a*(e - m^2/rho/2)];
             flux e -> [(e + a*(e - m^2/rho/2))*m/rho]; }",
            [
                "[m / rho]",
                "sqrt((a * rho * e + a^2 * rho * e - 0.5 * a * m^2 - 0.5 * a^2 * m^2) / rho^2)",
            ],
        ),
        // Two kinds of sound of one speed, in units of a liquid.
        (
            "1d { conserved f: scalar; conserved g: scalar; conserved h: scalar; conserved k: scalar;
             param bulk: real = 2.2e9; param rho: real = 1000;
             flux f -> [bulk*g]; flux g -> [f/rho]; flux h -> [bulk*k]; flux k -> [h/rho]; }",
            ["[0]", "sqrt(bulk / rho)"],
        ),
        // Different along each axis.
        (
            "2d { conserved p: scalar; conserved u: vector; flux p -> u;
             flux u -> [[p, 0], [0, 4*p]]; }",
            ["[0, 0]", "[sqrt(1), sqrt(4)]"],
        ),
    ];
    for (items, expected) in cases {
        let found = derived(items).unwrap_or_else(|code| panic!("{code}: {items}"));
        assert_eq!(found, expected, "{items}");
    }
}

#[test]
fn speeds_of_waves_are_asked_for_where_they_do_not_follow() {
    let cases = [
        // The sound differs as soon as the parameter is not the default.
        "1d { conserved f: scalar; conserved g: scalar; conserved h: scalar; conserved k: scalar;
         param a: real = 0; flux f -> [g]; flux g -> [f + k]; flux h -> [a*k]; flux k -> [a*h]; }",
        // Two sounds, one of which drives the other.
        "1d { conserved f: scalar; conserved g: scalar; conserved h: scalar; conserved k: scalar;
         flux f -> [g]; flux g -> [f + k]; flux h -> [2*k]; flux k -> [2*h]; }",
        // No waves, but growth.
        "1d { conserved a: scalar; conserved b: scalar; flux a -> [b]; flux b -> [-a]; }",
        // Too few eigenvectors: a gas without pressure.
        "1d { conserved rho: scalar; conserved m: scalar; flux rho -> [m]; flux m -> [m^2/rho]; }",
    ];
    for items in cases {
        assert_eq!(derived(items).unwrap_err(), Code::NeedsWaves, "{items}");
    }
    let others = [
        "1d { conserved q: scalar; flux q -> [q^2/2]; waves { flow: [2*q]; } }",
        "1d { conserved q: scalar; flux q -> [q*abs(q)/2]; waves { flow: [q]; } }",
        "1d { conserved q: scalar; flux q -> [q^2/2]; waves { flow: [q]; sound: sqrt(-1 - q^2); } }",
        "2d { conserved p: scalar; conserved u: vector; param bulk: real = 2.2e9; param rho: real = 1000;
         flux p -> bulk*u; flux u -> p/rho*I; waves { sound: 2*sqrt(bulk/rho); } }",
        "2d { conserved p: scalar; conserved u: vector; flux p -> u; flux u -> p*I; waves { sound: -1; } }",
    ];
    for items in others {
        assert_eq!(derived(items).unwrap_err(), Code::OtherWaves, "{items}");
    }
    let all = "1d { conserved q: scalar; flux q -> [q^2/2]; waves { flow: [q]; } }";
    assert_eq!(derived(all).unwrap(), ["[q]"]);
}

/// The speeds that a solver with bounds uses, and whether these are those of all waves.
fn bounding(items: &str) -> (Vec<String>, bool) {
    let source = format!("system S in {items} scheme s for S {{ riemann: hll; }}");
    let model = parse_str(&source).unwrap_or_else(|e| panic!("{e:?}: {source}"));
    let found = model.derived_waves().unwrap_or_else(|| panic!("{items}"));
    let tableau = integrator(&model).unwrap();
    let components = Components::new(&model, &tableau).unwrap();
    let law = Law::new(&model, &components, model.fluxes[0].span).unwrap();
    assert_eq!(law.waves.as_ref(), Some(&found.waves));
    let parts = found.waves.parts();
    let texts = parts.map(|(_, part)| expression(&model, part)).collect();
    (texts, found.only_bounds.is_none())
}

#[test]
fn speeds_are_bounded_where_they_have_no_closed_form() {
    let cases = [
        // Two sounds that do not see each other.
        (
            "1d { conserved f: scalar; conserved g: scalar; conserved h: scalar; conserved k: scalar;
             flux f -> [g]; flux g -> [f]; flux h -> [2*k]; flux k -> [2*h]; }",
            ["[0]", "[max(sqrt(1), sqrt(4))]"],
        ),
        // Waves of pressure and of shear in a solid, whose stress along the front follows.
        (
            "2d { conserved v: vector; conserved xx: scalar; conserved yy: scalar; conserved xy: scalar;
             param l: real = 2; param m: real = 1;
             flux v -> -[[xx, xy], [xy, yy]]; flux xx -> -[(l + 2*m)*v.x, l*v.y];
             flux yy -> -[l*v.x, (l + 2*m)*v.y]; flux xy -> -m*[v.y, v.x]; }",
            [
                "[0, 0]",
                "[max(sqrt(l + 2 * m), sqrt(m)), max(sqrt(m), sqrt(l + 2 * m))]",
            ],
        ),
        // Fields are carried with two flows, of which one is faster.
        (
            "1d { conserved q: scalar; conserved p: scalar; conserved r: scalar; param a: real = 1; param b: real = 3;
             flux q -> [a*q]; flux p -> [b*p]; flux r -> [p*r]; }",
            [
                "[(max(max(a, b), p) + min(min(a, b), p)) / 2]",
                "[(max(max(a, b), p) - min(min(a, b), p)) / 2]",
            ],
        ),
        // Three waves of one block: speeds 1, 2 and 6, which are -2, -1 and 3 beyond their mean, so the bound is 3.055.
        (
            "1d { conserved q: scalar; conserved p: scalar; conserved r: scalar;
             flux q -> [p]; flux p -> [r]; flux r -> [12*q - 20*p + 9*r]; }",
            ["[3]", "[sqrt(sqrt((784/9)))]"],
        ),
        // Speeds that come in pairs of both signs for one number alone, `k = 0`.
        (
            "1d { conserved q: scalar; conserved p: scalar; conserved r: scalar; param k: real = 0 where k >= -2 and k <= 2;
             flux q -> [p]; flux p -> [r]; flux r -> [k*q + 3*p]; }",
            ["[0]", "[sqrt(sqrt(16))]"],
        ),
    ];
    // The first three fall apart into blocks with one sound each.
    for (number, (items, expected)) in cases.into_iter().enumerate() {
        let (found, exact) = bounding(items);
        assert_eq!(exact, number < 3, "{items}");
        assert_eq!(found, expected, "{items}");
    }
    let (_, exact) = bounding("1d { conserved q: scalar; flux q -> [q^2/2]; }");
    assert!(exact);
    let growth = "system S in 1d { conserved a: scalar; conserved b: scalar; flux a -> [b]; flux b -> [-a]; }
        scheme s for S { riemann: hll; }";
    assert_eq!(parse_str(growth).unwrap().derived_waves(), None);
}

/// The derivative of a flux `f(q + d)` at some points, and its difference for small `d`, there.
fn derivatives(of: &str) -> Vec<[f64; 2]> {
    let values = |d: &str| {
        let source = format!(
            "system S in 1d {{ conserved q: scalar; param shift: real = {d}; let a = q + shift; flux q -> [{of}]; }}
             scheme s for S {{ riemann: force; }}"
        );
        let model = parse_str(&source).unwrap_or_else(|e| panic!("{e:?}: {source}"));
        let tableau = integrator(&model).unwrap();
        let components = Components::new(&model, &tableau).unwrap();
        let law = Law::new(&model, &components, model.fluxes[0].span).unwrap();
        let mut expander = law.expander_for_forms().unwrap();
        let state = expander.atoms.state(0);
        let states = States { components: vec![state.clone()], ..States::default() };
        let flux = law.fluxes(&mut expander, &states, 0, "form").unwrap();
        let (atom, _) = state.as_scaled_atom().unwrap();
        let span = model.fluxes[0].span;
        let mut algebra = Algebra { expander: &mut expander, span };
        let one = algebra.number(1, 1);
        let nothing = BTreeMap::new();
        let mut tangent = Tangent::new([(atom, one)].into(), &nothing);
        let slope = tangent.of(&mut algebra, &flux[0]).unwrap();
        let at = |number| {
            let mut point = Point::new(&expander, number);
            [point.value(&flux[0]), point.value(&slope)]
        };
        (0..6).map(at).collect::<Vec<_>>()
    };
    let [below, here, above] = ["-1e-5", "0", "1e-5"].map(values);
    let sides = above.iter().zip(&below);
    let differences = sides.map(|(above, below)| (above[0] - below[0]) / 2e-5);
    here.iter().zip(differences).map(|(here, difference)| [here[1], difference]).collect()
}

#[test]
fn derivatives_of_all_operations_are_those_of_small_differences() {
    let cases = [
        "a^3 - 2*a + 1/a^2",
        "a/(1 + a^2)",
        "sqrt(a)",
        "cbrt(a)",
        "exp(-a)",
        "log(1 + a)",
        "sin(2*a)",
        "cos(a^2)",
        "tanh(a)",
        "sinh(a)",
        "cosh(2*a)",
        "erf(a)",
        "a*floor(3.3*a)",
        "mod(a^2, 0.31)",
        "mod(7.3, a)",
        "pow(a, 1.7)",
        "pow(1.3, a)",
        "pow(a, a)",
        "atan2(a, 0.7)",
        "atan2(0.7, a)",
        "abs(a - 1)*a",
        "min(a, a^2)",
        "max(a, a^2)",
        "sign(a - 1)*a",
        "if a < 1 { a^2 } else { 3*a }",
        "if a <= 1 { sqrt(a) } else { exp(a) }",
        "norm([a])*a",
    ];
    for case in cases {
        for [derivative, difference] in derivatives(case) {
            let close = (derivative - difference).abs() < 1e-7 * (1.0 + derivative.abs());
            assert!(close, "{case}: {derivative} {difference}");
        }
    }
}

/// Water over a bed, with another line of its face and another scheme.
fn river(face: &str, scheme: &str) -> String {
    format!(
        "system River in 2d {{
            conserved h: scalar; conserved m: vector; field bed: scalar; ddt(bed) = 0;
            let u = m / h;
            let surface = h + bed;
            flux h -> m;
            flux m -> outer(m, u) + h^2/2 * I;
            ddt(m) = lap(u) - h*grad(bed);
            primitive {{ h; u; surface; m = h*u; bed = surface - h; }}
            face {{ bed by max; {face} }}
        }}
        scheme s for River {{ {scheme} time: ssprk3; }}"
    )
}

#[test]
fn what_both_sides_share_needs_primitives_and_changes_nothing_where_they_are_alike() {
    let primitive = "reconstruct: ppm in primitive; riemann: hll;";
    let cases = [
        ("h = max(surface - bed, 0);", "reconstruct: ppm; riemann: force;", Code::NeedsPrimitives),
        (
            "h = max(surface - bed, 0);",
            "reconstruct: ppm in characteristic;",
            Code::NeedsPrimitives,
        ),
        (
            "h = max(surface - bed, 0);",
            "reconstruct: ppm in fluxes; riemann: rusanov;",
            Code::NeedsPrimitives,
        ),
        ("h = surface - 2*bed;", primitive, Code::WrongWayBack),
        ("u = 2*u;", primitive, Code::WrongWayBack),
    ];
    for (face, scheme, code) in cases {
        let error = discretize(&parse_str(&river(face, scheme)).unwrap()).unwrap_err();
        assert_eq!(error.code, code, "{face} {scheme}: {error}");
    }
    for arith in ["", "arith: as_written;"] {
        let scheme = format!("{primitive} {arith}");
        let model = parse_str(&river("h = max(surface - bed, 0);", &scheme)).unwrap();
        let made = discretize(&model).unwrap();
        let has = |name: &str| made.functions.iter().any(|f| f.name.starts_with(name));
        // The slope is integrated, the other derivatives are differences.
        assert!(has("m_x_x_leaving") && !has("dx_bed"), "{arith}");
        assert!(!has("m_y_x_leaving") && !has("h_x_leaving"), "{arith}");
    }
}

/// If the surface is not primitive, it moves with the bed, and the depth does not change.
#[test]
fn what_is_made_anew_changes_with_what_both_sides_share() {
    let still = |face: &str| {
        river(face, "reconstruct: ppm in primitive; riemann: hll;").replace(
            "primitive { h; u; surface; m = h*u; bed = surface - h; }",
            "primitive { h; u; m = h*u; }",
        )
    };
    let cases = [
        (still("h = max(surface - bed, 0);"), "make `surface` a primitive"),
        (still("h = max(h, 0);"), "`h` does not change with `bed`; make it of"),
    ];
    for (source, words) in cases {
        let error = discretize(&parse_str(&source).unwrap()).unwrap_err();
        assert_eq!(error.code, Code::BadFace, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[test]
fn ways_back_are_tried_within_declared_ranges() {
    // The inverse of `v/(1 - v^2)` that is slower than one.
    let law = |range: &str, way: &str| {
        let text = format!(
            "system S in 1d {{ conserved s: scalar; let v = 2*s/(1 + sqrt(1 + 4*s^2)){range}; flux s -> [v];
                primitive {{ v; s = {way}; }} }}
             scheme c for S {{ reconstruct: plm in primitive; riemann: force; time: euler; }}"
        );
        discretize(&parse_str(&text).unwrap()).map_err(|error| error.code)
    };
    let slow = " where v < 1 and v > -1";
    assert!(law(slow, "v/(1 - v^2)").is_ok());
    assert_eq!(law("", "v/(1 - v^2)").err(), Some(Code::WrongWayBack));
    assert_eq!(law(slow, "v/(1 + v^2)").err(), Some(Code::WrongWayBack));
    assert_eq!(law(" where v > 30", "v/(1 - v^2)").err(), Some(Code::WrongWayBack));
}
