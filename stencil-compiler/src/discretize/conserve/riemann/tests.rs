//! Declared solvers that are accepted, and others that are refused.

use crate::diag::Code;
use crate::discretize::conserve::tests::gas;
use crate::discretize::discretize;
use crate::model::parse::parse_str;

const SCHEME: &str = "scheme s for Own { reconstruct: constant; riemann: own; time: euler; }";

#[test]
fn solvers_leave_alone_what_does_not_jump() {
    let gas = |solver: &str| {
        let text = gas("outer(m, u) + p*I", "(e + p)*u", "");
        let own = format!(
            "let f = outer(m, u) + p*I; primitive {{ rho; u; p; m = rho*u; e = p/(gamma - 1) + rho*dot(u, u)/2; }}
             riemann own {{ {solver} }}"
        );
        // Gas of negative density, too, has speeds of sound if its pressure is negative.
        text.replace("rho: scalar;", "rho: scalar where rho > 0;")
            .replace("waves {", &format!("{own} waves {{"))
            .replace("riemann: hllc", "riemann: own")
    };
    let energy =
        "flux rho -> dot(below.m, normal); flux e -> dot((below.e + above.p)*above.u, normal);";
    let good = [
        "rho = below.rho; u = (below.u + above.u)/2; p = sqrt(below.p*above.p);".to_string(),
        "rho = below.rho; m = above.m; e = max(below.e, above.e);".to_string(),
        format!("flux m -> dot(normal, below.f + above.f)/2 - (above.m - below.m); {energy}"),
    ];
    // That waves grow by these is found after that.
    for solver in good {
        let error = discretize(&parse_str(&gas(&solver)).unwrap()).unwrap_err();
        assert_eq!(error.code, Code::UnstableSolver, "{solver}: {error}");
    }
    let bad = [
        ("rho = below.rho; u = above.u; p = below.p + above.p;".to_string(), "m_x"),
        (
            "rho = below.rho; u = below.u - 2*dot(below.u, normal)*normal; p = above.p;"
                .to_string(),
            "rho",
        ),
        (format!("flux m -> dot(normal, below.f + above.f); {energy}"), "m_x"),
        (format!("flux m -> dot(normal, below.f) + below.m; {energy}"), "m_x"),
        (
            format!(
                "flux m -> below.p*normal + [below.u.x*below.m.x, below.u.x*below.m.y]; {energy}"
            ),
            "m_x",
        ),
    ];
    for (solver, name) in bad {
        let source = gas(&solver);
        let error = discretize(&parse_str(&source).unwrap()).unwrap_err();
        assert_eq!(error.code, Code::OtherFlux, "{solver}");
        assert!(error.message.contains(&format!("of `{name}`")), "{error}");
        let line = source.lines().nth(error.span.start.line as usize - 1).unwrap();
        assert!(line.contains("riemann own"), "{line}");
    }
}

/// A wrong solver may agree at some states: of one sign, or where a parameter has its default.
#[test]
fn solvers_that_agree_at_some_states_are_refused() {
    let one = |items: &str| format!("system Own in 1d {{ {items} }} {SCHEME}");
    let water = |line: &str| {
        one(&format!(
            "conserved h: scalar; conserved m: vector; let u = m/h; flux h -> m; flux m -> outer(m, u) + h^2/2*I;
             riemann own {{ flux h -> {line}; flux m -> (below.u.x + above.u.x)/2*above.m + above.h^2/2*normal; }}"
        ))
    };
    let advected = |own: &str| {
        one(&format!(
            "conserved q: scalar; param a: real = 1; flux q -> [a*q]; riemann own {{ {own} }}"
        ))
    };
    let sources = [
        (advected("flux q -> a*below.q;"), None),
        (water("dot(below.m + above.m, normal)/2"), Some((Code::UnstableSolver, "for no step"))),
        (advected("flux q -> below.q;"), Some((Code::OtherFlux, "of `q` flow"))),
        (water("norm(below.m)"), Some((Code::OtherFlux, "of `h` flow"))),
        (
            advected("q = sqrt(-below.q^2 - above.q^2);"),
            Some((Code::OtherFlux, "no finite flux of `q`")),
        ),
    ];
    for (source, refused) in sources {
        let found = discretize(&parse_str(&source).unwrap());
        match (found, refused) {
            (found, None) => assert!(found.is_ok(), "{source}: {:?}", found.err()),
            (found, Some((code, words))) => {
                let error = found.unwrap_err();
                assert_eq!(error.code, code, "{source}");
                assert!(error.message.contains(words), "{error}");
            }
        }
    }
}

/// Impossible states tell nothing, whatever a solver makes of them.
#[test]
fn solvers_may_do_anything_where_there_is_no_state() {
    let lake = |range: &str| {
        format!(
            "system Own in 1d {{
                conserved h: scalar {range}; conserved m: vector;
                let c = sqrt(max(h, 0));
                flux h -> m;
                flux m -> outer(m, m)/h + h^2/2*I;
                riemann own {{
                    let size = max(abs(below.m.x)/below.h + below.c, abs(above.m.x)/above.h + above.c);
                    flux h -> (below.m.x + above.m.x - size*(above.h - max(below.h, -below.h)))/2;
                    flux m -> (flux(below.m) + flux(above.m) - size*(above.m - below.m))/2;
                }}
                waves {{ flow: m/h; sound: c; }}
            }} {SCHEME}"
        )
    };
    let error = discretize(&parse_str(&lake("")).unwrap()).unwrap_err();
    assert_eq!(error.code, Code::OtherFlux, "{error}");
    discretize(&parse_str(&lake("where h > 0")).unwrap()).unwrap();
}

#[test]
fn symmetric_fields_have_symmetric_states() {
    let drawn = |state: &str| {
        format!(
            "system Own in 2d {{
                conserved m: vector; field s: symmetric; ddt(s) = 0*s;
                flux m -> s;
                riemann own {{ m = below.m; s = {state}; }}
            }} {SCHEME}"
        )
    };
    discretize(&parse_str(&drawn("(below.s + above.s)/2")).unwrap()).unwrap();
    let error = discretize(&parse_str(&drawn("outer(below.m, [1, 2])")).unwrap()).unwrap_err();
    assert_eq!(error.code, Code::NotSymmetric, "{error}");
}

/// Waves add up to the jump of the fields, and with their speeds to that of the fluxes, or by themselves to the latter.
#[test]
fn waves_that_do_not_add_up_are_refused() {
    let sound = |waves: &str| {
        format!(
            "system Own in 1d {{
                conserved p: scalar; conserved u: vector; param K: real = 4;
                flux p -> K*u; flux u -> p*I;
                riemann own {{
                    let push = sqrt(K)*(above.u.x - below.u.x);
                    let rise = above.p - below.p;
                    {waves}
                }}
            }} {SCHEME}"
        )
    };
    let ahead = "wave (push + rise)/2 at sqrt(K) { p = 1; u = normal/sqrt(K); }";
    let back = "wave (push - rise)/2 at -sqrt(K) { p = -1; u = normal/sqrt(K); }";
    let flux = "let of = sqrt(K)*dot(rise(u), normal);
        wave (of - rise(p))/2 at -1 { flux p -> -1; flux u -> normal/sqrt(K); }";
    let parts = "wave (of + rise(p))/2 at 1 { flux p -> 1; flux u -> normal/sqrt(K); }";
    for waves in [format!("{back} {ahead}"), format!("{flux} {parts}")] {
        let found = discretize(&parse_str(&sound(&waves)).unwrap());
        assert!(found.is_ok(), "{waves}: {:?}", found.err());
    }
    for (waves, words) in [
        (back.to_string() + back, "add up to"),
        (format!("{back} {}", ahead.replace("at sqrt(K)", "at K")), "times their speeds"),
        (flux.to_string(), "the flux of"),
        (format!("{back} {}", ahead.replace("/2", "/2*sqrt(-1 - K)")), "no finite"),
    ] {
        let error = discretize(&parse_str(&sound(&waves)).unwrap()).unwrap_err();
        let code = if words == "no finite" { error.code } else { Code::OtherJump };
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

/// Products go with solvers and reconstructions that integrate them.
#[test]
fn products_need_a_scheme_that_integrates_them() {
    let water = |scheme: &str| {
        format!(
            "system Own in 1d {{
                conserved h: scalar; conserved m: vector; let u = m/h;
                flux h -> m; flux m -> outer(m, u); product m -> h*grad(h);
                riemann state {{ h = (below.h + above.h)/2; m = (below.m + above.m)/2; }}
            }} scheme s for Own {{ {scheme} }}"
        )
    };
    for scheme in [
        "reconstruct: weno_z; riemann: hll; time: ssprk3;",
        "reconstruct: plm in characteristic; riemann: roe; path: straight<points = 1>; time: van_leer;",
        "reconstruct: plm; riemann: hll; time: muscl_hancock;",
        "reconstruct: waf; riemann: roe; time: euler;",
    ] {
        let found = discretize(&parse_str(&water(scheme)).unwrap());
        assert!(found.is_ok(), "{scheme}: {:?}", found.err());
    }
    for scheme in [
        "reconstruct: plm; riemann: force; time: ssprk2;",
        "reconstruct: plm; riemann: state; time: ssprk2;",
        "reconstruct: plm in fluxes; riemann: roe; time: ssprk2;",
    ] {
        let error = discretize(&parse_str(&water(scheme)).unwrap()).unwrap_err();
        assert_eq!(error.code, Code::NeedsPaths, "{scheme}: {error}");
    }
}

/// The flux of a tensor has the symmetry of the tensor, and a solid falls apart into waves of pressure and of shear.
#[test]
fn tensors_flow_along_the_normal() {
    let solid = |flux: &str| {
        format!(
            "system Solid in 2d {{
                conserved v: vector; conserved s: symmetric; param l: real = 2; param m: real = 1;
                flux v -> -s; flux s -> {flux};
            }} scheme r for Solid {{ reconstruct: plm; riemann: roe; time: ssprk2; }}"
        )
    };
    let model = parse_str(&solid("-l*dot(v, normal)*I - 2*m*sym(outer(normal, v))")).unwrap();
    discretize(&model).unwrap();
    let derived = model.derived_waves().unwrap();
    assert_eq!(derived.only_bounds, None);
    let along = |axis: &str| {
        let own = derived.blocks.iter().filter(|block| block.along == axis);
        own.map(|block| block.components.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(along("x"), ["v_x s_xx s_yy", "v_y s_xy"]);
    assert_eq!(along("y"), ["v_x s_xy", "v_y s_xx s_yy"]);
    let skew = discretize(&parse_str(&solid("-outer(normal, v)")).unwrap()).unwrap_err();
    assert_eq!(skew.code, Code::NotSymmetric, "{skew}");
    for flux in ["-v", "-dot(v, normal)", "-outer(v, v)*normal"] {
        let refused = parse_str(&solid(flux)).unwrap_err();
        assert!(refused.to_string().contains("P02"), "{refused}");
    }
}

/// A law that says nothing of its waves gets the least diffusive solver that its fluxes allow, in every scheme that names none.
#[test]
fn the_solver_follows_from_the_fluxes() {
    let cases = [
        (
            "3d { conserved p: scalar; conserved u: vector; flux p -> u; flux u -> p*I; }",
            "roe",
        ),
        (
            "1d { conserved f: scalar; conserved g: scalar; conserved h: scalar; conserved k: scalar;
             flux f -> [g]; flux g -> [f + k]; flux h -> [2*k]; flux k -> [2*h]; }",
            "hlle",
        ),
        // The same without the first law's part in the second: each has one sound.
        (
            "1d { conserved f: scalar; conserved g: scalar; conserved h: scalar; conserved k: scalar;
             flux f -> [g]; flux g -> [f]; flux h -> [2*k]; flux k -> [2*h]; }",
            "roe",
        ),
        (
            "1d { conserved a: scalar; conserved b: scalar; flux a -> [b]; flux b -> [-a]; }",
            "force",
        ),
        (
            "1d { conserved a: scalar; conserved b: scalar; flux a -> [b]; flux b -> [-a]; cfl { advective: abs(a) + 1; } }",
            "rusanov",
        ),
        // The speed is no function of the state at a point.
        (
            "1d { conserved a: scalar; conserved b: scalar; source s: scalar = 1;
             flux a -> [b]; flux b -> [-a]; cfl { advective: s; } }",
            "force",
        ),
        (
            "1d { conserved q: scalar; flux q -> [q^2/2]; waves { flow: [q]; } }",
            "hll",
        ),
        (
            "2d { conserved h: scalar; conserved m: vector; let u = m/h; let p = h^2/2; flux h -> m; flux m -> outer(m, u) + p*I;
             waves { flow: u; sound: sqrt(h); density: h; pressure: p; } }",
            "hllc",
        ),
        // The work of this pressure is not all that the flow does not carry.
        (
            "2d { conserved h: scalar; conserved m: vector; let u = m/h; let p = h^2/2; flux h -> m; flux m -> outer(m, u) + 2*h*I + p*I;
             waves { flow: u; sound: sqrt(h + 2); density: h; pressure: p; } }",
            "hll",
        ),
    ];
    for (items, solver) in cases {
        let schemes = "scheme s for S { reconstruct: weno5; } scheme own for S { riemann: musta; }";
        let bare = parse_str(&format!("system S in {items}")).unwrap();
        let model = parse_str(&format!("system S in {items} {schemes}")).unwrap();
        assert_eq!(bare.scheme.riemann, solver, "{items}");
        assert_eq!(model.scheme.riemann, solver, "{items}");
        assert_eq!(model.others[0].riemann, "musta", "{items}");
        discretize(&bare).unwrap();
    }
    let waves = |items: &str| {
        let scheme = "scheme s for S { reconstruct: waves; time: euler; }";
        parse_str(&format!("system S in {items} {scheme}"))
    };
    assert_eq!(waves(cases[0].0).unwrap().scheme.riemann, "roe");
    assert_eq!(waves(cases[1].0).unwrap().scheme.riemann, "hlle");
    // Other settings leave `hllc` out: it makes no use of reconstructed fluxes.
    let gas = cases.iter().find(|(_, solver)| *solver == "hllc").map_or("", |(items, _)| items);
    let fluxes = "scheme s for S { reconstruct: weno5 in fluxes; time: ssprk3; }";
    let model = parse_str(&format!("system S in {gas} {fluxes}")).unwrap();
    assert_eq!(model.scheme.riemann, "hll");
    let known = model.default_solver(&model.scheme).unwrap();
    assert_eq!((known.name, known.allowed[0]), ("hll", "hllc"));
    let refused = waves(cases[3].0).unwrap_err();
    assert!(refused.to_string().contains("P0317"), "{refused}");
}
