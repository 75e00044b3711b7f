//! Limits against published ones, and against the growth in steps of the row engine, which has the oracle's bits.

use super::*;
use crate::algorithm::tests::engines::RowRunner;
use crate::algorithm::{Algorithm, Offset, Role, StateId};
use crate::discretize::discretize;
use crate::expr::real::Precision;
use crate::model::{Model, parse};

/// A system in this number of dimensions with one scheme.
fn model(dimension: usize, body: &str, scheme: &str) -> Model {
    let text = format!("pub system S in {dimension}d {{ {body} }} scheme s for S {{ {scheme} }}");
    parse::parse_str(&text).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

const SPACING: [f64; 3] = [0.1, 0.07, 0.13];

fn about<'a>(params: &'a [f64], dimension: usize, state: &'a dyn State) -> About<'a> {
    let cells = std::array::from_fn(|axis| if axis < dimension { 12 } else { 1 });
    About { params, spacing: SPACING, cells, t: 0.0, state }
}

/// The limit about a uniform state of ones.
fn limit(model: &Model) -> f64 {
    let algorithm = discretize(model).unwrap();
    let symbol = Symbol::new(model, &algorithm).unwrap();
    let ones = |_: StateId, _: Offset| 1.0;
    let linear = symbol.about(&about(&[], model.dimension, &ones));
    symbol.longest(&linear, f64::INFINITY).unwrap().dt
}

/// Steps between checks of the largest value.
const LOOK: usize = 10;

/// The largest value after steps of rounding-like noise, which has waves of all lengths, or the first one seen beyond `most`.
fn after(model: &Model, algorithm: &Algorithm, dt: f64, steps: usize, most: f64) -> f64 {
    let cells = std::array::from_fn(|axis| if axis < model.dimension { 12 } else { 1 });
    let uniforms = algorithm.uniform_values(Precision::F64, &[], SPACING, (dt, 0.0));
    let mut rows = RowRunner::<f64>::new(algorithm, cells, uniforms);
    let mut seed = 3_u64;
    let fields: Vec<StateId> = algorithm.states_of(Role::Field).map(|(id, _)| id).collect();
    for field in &fields {
        let mut number = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(11);
            (seed >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        let values: Vec<f64> = (0..cells.iter().product()).map(|_| number()).collect();
        rows.set(*field, &values);
    }
    let mut largest = 0.0;
    for _ in (0..steps).step_by(LOOK) {
        for _ in 0..LOOK {
            rows.step();
        }
        let values = fields.iter().flat_map(|field| rows.get(*field));
        // A value that overflows to NaN has grown.
        largest = values.fold(0.0, |most, v| match v.is_finite() {
            true => v.abs().max(most),
            false => f64::INFINITY,
        });
        if largest > most {
            break;
        }
    }
    largest
}

const HEAT: &str = "field q: scalar; ddt(q) = lap(q);";

/// Linear systems of each kind of derivative, in the dimensions that they can be in.
fn systems(dimension: usize) -> Vec<String> {
    let wind = ["d[x](q)", "0.7*d[y](q)", "0.4*d[z](q)"][..dimension].join(" - ");
    let mut all = vec![
        HEAT.to_string(),
        format!("field q: scalar; ddt(q) = -{wind};"),
        format!("field q: scalar; ddt(q) = -{wind} + 0.01*lap(q);"),
        "field q: scalar; ddt(q) = -lap(lap(q));".to_string(),
        "field q: scalar; field p: scalar; ddt(q) = p; ddt(p) = 4*lap(q);".to_string(),
        "field h: scalar; field v: vector; ddt(h) = -div(v); ddt(v) = -9*grad(h);".to_string(),
        "field v: vector; ddt(v) = lap(v) + grad(div(v))/3;".to_string(),
    ];
    if dimension == 1 {
        all.push("field q: scalar; ddt(q) = -d3[x](q) - d[x](q);".to_string());
    }
    all
}

#[test]
fn limits_are_those_of_textbooks() {
    // 1 / (2 (1/hx^2 + 1/hy^2 + ..)) for Euler and second order (Morton and Mayers, section 3.1).
    for dimension in 1..=3 {
        let sum: f64 = SPACING[..dimension].iter().map(|h| 1.0 / (h * h)).sum();
        let found = limit(&model(dimension, HEAT, "space: central<order = 2>; time: euler;"));
        assert!((found * 2.0 * sum - 1.0).abs() < 1e-5, "{dimension}: {found}");
    }
    // A wave of speed one, centred differences: sqrt(3) h, and never for Euler.
    let wave = "field q: scalar; ddt(q) = -d[x](q);";
    let found = limit(&model(1, wave, "space: central<order = 2>; time: ssprk3;"));
    assert!((found / (0.1 * 3.0_f64.sqrt()) - 1.0).abs() < 1e-4, "{found}");
    for time in ["euler", "ssprk2"] {
        let scheme = format!("space: central<order = 2>; time: {time};");
        assert_eq!(limit(&model(1, wave, &scheme)), 0.0, "{time}");
    }
}

/// The property that gives the limit its name, for every integrator, at several orders.
#[test]
fn waves_stay_bounded_below_the_limit_and_grow_above_it() {
    for dimension in 1..=3 {
        for (i, system) in systems(dimension).iter().enumerate() {
            for (j, integrator) in crate::catalogue::integrators::ALL.iter().enumerate() {
                let orders = [2, 4, 6, 8];
                let order = orders[(i + j) % if dimension == 1 { 4 } else { 2 }];
                let scheme = format!("space: central<order = {order}>; time: {};", integrator.name);
                let model = model(dimension, system, &scheme);
                let algorithm = discretize(&model).unwrap();
                let limit = limit(&model);
                let what = format!("{system} in {dimension}d, {scheme} limit {limit}");
                if limit == 0.0 {
                    assert!(Region::new(&(integrator.tableau)()).imaginary() == 0.0, "{what}");
                    continue;
                }
                let steps = [300, 150, 60][dimension - 1];
                // Rates of waves are larger than the waves, by their frequency.
                let bounded = after(&model, &algorithm, 0.95 * limit, steps, 200.0);
                assert!(bounded < 200.0, "{what}: {bounded}");
                // On twelve cells the worst wave may be missing, and others grow slowly.
                let more = [5, 10, 10][dimension - 1];
                let grown = after(&model, &algorithm, 2.0 * limit, more * steps, 1e4);
                assert!(grown > 1e4, "{what}: {grown}");
            }
        }
    }
}

/// `cfl(1)` of declared speeds is no longer than the limit, and not much shorter.
#[test]
fn shares_of_speeds_add_up_to_the_limit() {
    let cases = [
        (1, "field q: scalar; ddt(q) = lap(q); cfl { diffusive: 1 }", 1.0),
        (3, "field q: scalar; ddt(q) = lap(q); cfl { diffusive: 1 }", 1.0),
        (1, "field q: scalar; ddt(q) = -lap(lap(q)); cfl { hyperdiffusive: 1 }", 1.0),
        (2, "field q: scalar; ddt(q) = -lap(lap(q)); cfl { hyperdiffusive: 1 }", 1.0),
        (1, "field q: scalar; ddt(q) = -2*d[x](q); cfl { advective: 2 }", 1.0),
        (
            3,
            "field h: scalar; field v: vector; ddt(h) = -div(v); ddt(v) = -9*grad(h); cfl { advective: 3 }",
            1.0,
        ),
        (
            2,
            "field q: scalar; field p: scalar; ddt(q) = p; ddt(p) = 4*lap(q); cfl { advective: 2 }",
            1.0,
        ),
        (1, "field q: scalar; ddt(q) = -d3[x](q); cfl { dispersive: 1 }", 1.0),
        (
            1,
            "field q: scalar; ddt(q) = -2*d[x](q) + 0.1*lap(q); cfl { advective: 2; diffusive: 0.1 }",
            0.4,
        ),
    ];
    for (dimension, system, least) in cases {
        for time in ["rk3_williamson", "rk4", "euler"] {
            let only = system.contains("ddt(q) = lap")
                || system.contains("0.1*lap")
                || system.contains("lap(lap");
            if time == "euler" && !only {
                continue;
            }
            for order in [2, 6] {
                let scheme = format!("space: central<order = {order}>; time: {time};");
                let model = model(dimension, system, &scheme);
                let values = system.split("cfl").nth(1).unwrap();
                let values = values.split(':').skip(1).map(|part| {
                    let number = part.trim().split([' ', ';', '}']).next().unwrap();
                    number.parse::<f64>().unwrap()
                });
                let values: Vec<f64> = values.collect();
                let shares = speeds(&model, SPACING, Axes::Sum);
                let taken = shares.iter().zip(&values).map(|(share, value)| match share.over {
                    None => value * share.rate,
                    Some(at) => value * value * share.rate / values[at],
                });
                let (dt, limit) = (1.0 / taken.sum::<f64>(), limit(&model));
                let ratio = dt / limit;
                assert!(ratio < 1.001 && ratio > 0.94 * least, "{system} {scheme}: {ratio}");
            }
        }
    }
}

/// The limit of a second derivative is that of its form: nested ones allow 2.8 times as much at order 4 as compact
/// ones, and those of products by way of faces a little less.
#[test]
fn diffusive_speeds_are_held_to_the_second_derivative_that_is_written() {
    let cases = [
        ("div(grad(q))", "composed", [1.0, 1.882, 2.515]),
        ("lap(q)", "composed", [4.0, 16.0 / 3.0, 6.044]),
        ("0.5*div(grad(q)) + 0.5*lap(q)", "composed", [4.0, 16.0 / 3.0, 6.044]),
        ("div(grad(q))", "bidiagonal", [4.0, 16.0 / 3.0, 6.044]),
        ("div(q*grad(q))", "composed", [1.0, 1.882, 2.515]),
        ("div(q*grad(q))", "product", [4.0, 5.444, 6.167]),
    ];
    for (rate, mixed, squares) in cases {
        for (order, square) in [2, 4, 6].into_iter().zip(squares) {
            for dimension in [1, 2] {
                let body = format!("field q: scalar; ddt(q) = {rate}; cfl {{ diffusive: 1 }}");
                let scheme =
                    format!("space: central<order = {order}>; mixed: {mixed}; time: euler;");
                let model = model(dimension, &body, &scheme);
                let share = speeds(&model, SPACING, Axes::Sum)[0];
                let sum: f64 = SPACING[..dimension].iter().map(|h| 1.0 / (h * h)).sum();
                let found = share.rate * 2.0 / sum;
                assert!((found / square - 1.0).abs() < 1e-3, "{body} {scheme}: {found}");
                let ratio = 1.0 / (share.rate * limit(&model));
                assert!(ratio < 1.001 && ratio > 0.49, "{body} {scheme}: {ratio}");
            }
        }
    }
}

/// Waves through faces that go 3 along x and 1 along y take 3/hx + 1/hy. With sweeps, and with corrected waves in the
/// plane, the strictest axis counts. A speed that is one number is the same along both axes.
#[test]
fn each_axis_takes_the_speed_along_it() {
    let body = "conserved q: scalar; flux q -> [3*q, q];";
    let cases = [
        ("reconstruct: constant; riemann: rusanov; time: euler;", Axes::Sum),
        ("reconstruct: constant; riemann: rusanov; time: euler; sweep: dimensional;", Axes::Max),
        ("reconstruct: waves; riemann: roe; time: euler;", Axes::Max),
    ];
    for (scheme, together) in cases {
        let with = |cfl: &str| model(2, &format!("{body} {cfl}"), scheme);
        let all = speeds(&with("cfl { advective: [3, 1] }"), SPACING, Axes::Sum);
        let found: Vec<_> = all.iter().map(|s| (s.of, s.axis, s.axes)).collect();
        let expected = [0, 1].map(|axis| (0, Some(axis), together));
        assert_eq!(found, expected, "{scheme}");
        for (share, h) in all.iter().zip(SPACING) {
            assert!((share.rate * h - 1.0).abs() < 1e-3, "{scheme}");
        }
        let number = &speeds(&with("cfl { advective: 3 }"), SPACING, Axes::Sum)[..];
        let rates = SPACING[..2].iter().map(|h| 1.0 / h);
        let rate = together.of(rates);
        assert!(matches!(number, [share] if (share.rate / rate - 1.0).abs() < 1e-3));
    }
    // Differences along both axes add up as well, to the limit itself.
    let wind = "field q: scalar; ddt(q) = -3*d[x](q) - d[y](q); cfl { advective: [3, 1] }";
    let model = model(2, wind, "space: central<order = 6>; time: rk4;");
    let shares = speeds(&model, SPACING, Axes::Sum);
    let dt = 1.0 / (3.0 * shares[0].rate + shares[1].rate);
    assert!((dt / limit(&model) - 1.0).abs() < 1e-3);
}

/// For a law that declares no speed of waves, the implied speeds are the flow and the sound along each axis: one number
/// if they are alike, and none if a speed that limits the step otherwise is not declared.
#[test]
fn speeds_of_waves_are_implied_along_each_axis() {
    let implied = |dimension: usize, body: &str| {
        let scheme = "reconstruct: constant; riemann: rusanov; time: euler;";
        let model = model(dimension, body, scheme);
        let text =
            |speed: &crate::model::Speed| crate::model::text::expression(&model, &speed.value);
        model.implied_speeds().iter().map(text).collect::<Vec<_>>()
    };
    let water = "conserved h: scalar; conserved m: vector; let u = m/h;
        flux h -> m; flux m -> outer(m, u) + h^2*I/2; waves { flow: u; sound: sqrt(h); }";
    assert_eq!(implied(1, water), ["abs(u.x) + sqrt(h)"]);
    let both = ["[abs(u.x) + sqrt(h), abs(u.y) + sqrt(h)]"];
    assert_eq!(implied(2, water), both);
    let friction = format!("{water} ddt(m) = div(h*grad(u));");
    assert!(implied(2, &friction).is_empty());
    assert_eq!(implied(2, &format!("{friction} cfl {{ diffusive: 1; }}")), both);
    assert!(implied(2, &format!("{water} cfl {{ advective: 9; }}")).is_empty());
    let sound = "conserved p: scalar; conserved v: vector; param c: real = 2;
        flux p -> c^2*v; flux v -> p*I; waves { sound: c; }";
    assert_eq!(implied(2, sound), ["c"]);
}

/// Shu, in Cockburn et al. (1998), and LeVeque (2002): 1 for Godunov, for Fromm's slopes and two substeps (0.87 for Koren's), 1/2 for limited slopes in
/// Euler's method; fifth-order upwinding by three substeps 1.43 (Wang and Spiteri 2007), and by Euler never.
#[test]
fn courant_numbers_of_reconstructions() {
    let number = |scheme: &str, dimension: usize| {
        let body = "conserved q: scalar; flux q -> [q, q, q]; cfl { advective: 1 }";
        let body = body.replace("[q, q, q]", ["[q]", "[q, q]", "[q, q, q]"][dimension - 1]);
        let model = model(dimension, &body, scheme);
        1.0 / speeds(&model, [1.0; 3], Axes::Sum)[0].rate
    };
    let cases = [
        ("reconstruct: constant; riemann: rusanov; time: euler;", 1.0),
        ("reconstruct: plm<limiter = mc>; riemann: rusanov; time: euler;", 0.5),
        ("reconstruct: plm<limiter = mc>; riemann: rusanov; time: ssprk2;", 1.0),
        ("reconstruct: plm<limiter = koren>; riemann: rusanov; time: ssprk2;", 0.874),
        ("reconstruct: plm<limiter = koren>; riemann: rusanov; time: ssprk104;", 3.611),
        ("reconstruct: constant; riemann: rusanov; time: ssprk43;", 2.0),
        ("reconstruct: constant; riemann: rusanov; time: ssprk104;", 6.0),
        ("reconstruct: weno5; riemann: rusanov; time: ssprk3;", 1.43),
        ("reconstruct: weno5; riemann: rusanov; time: euler;", 0.0),
        // Forecasts: whole cells with lines, and less with parabolas (`1 - sqrt(1/3)`).
        ("reconstruct: constant; riemann: rusanov; time: van_leer;", 1.0),
        ("reconstruct: plm<limiter = mc>; riemann: rusanov; time: van_leer;", 1.0),
        ("reconstruct: plm<limiter = koren>; riemann: rusanov; time: van_leer;", 1.0),
        ("reconstruct: ppm; riemann: rusanov; time: van_leer;", 0.423),
        ("reconstruct: weno5; riemann: rusanov; time: van_leer;", 0.0),
        ("reconstruct: constant; riemann: rusanov; time: muscl_hancock;", 1.0),
        ("reconstruct: plm<limiter = mc>; riemann: rusanov; time: muscl_hancock;", 1.0),
        ("reconstruct: plm<limiter = koren>; riemann: rusanov; time: muscl_hancock;", 1.0),
        ("reconstruct: ppm; riemann: rusanov; time: muscl_hancock;", 0.423),
        ("reconstruct: ppm<follow = characteristics>; riemann: rusanov; time: muscl_hancock;", 1.0),
        // FORCE takes 1 - (1 + n^2) for the shortest waves.
        ("reconstruct: constant; riemann: force; time: euler;", 1.0),
        ("reconstruct: constant; riemann: force; time: ssprk2;", 1.0),
        ("reconstruct: constant; riemann: force; time: ssprk3;", 1.512_745_f64.sqrt()),
        ("reconstruct: weno5; riemann: force; time: euler;", 0.0),
    ];
    for (scheme, expected) in cases {
        let found = number(scheme, 1);
        assert!((found - expected).abs() < 0.006, "{scheme}: {found}");
    }
    let swept = "reconstruct: constant; riemann: rusanov; time: euler; sweep: dimensional;";
    assert!((number(cases[0].0, 3) - 1.0 / 3.0).abs() < 1e-3);
    assert!((number(swept, 3) - 1.0).abs() < 1e-3);
    // Each sweep takes half of the step.
    assert!((number(&swept.replace("dimensional", "alternating"), 3) - 2.0).abs() < 1e-3);
    // A scheme that keeps ranges allows less: a wave crosses 1/(2 d) of a cell along each axis, or less if less is
    // stable.
    let kept = |scheme: &str, dimension: usize| {
        let body = "conserved q: scalar where q > 0; flux q -> q*diagonal(I); cfl { advective: 1 }";
        1.0 / speeds(&model(dimension, body, scheme), [1.0; 3], Axes::Sum)[0].rate
    };
    let fifth = "reconstruct: weno5; riemann: rusanov; time: ssprk3;";
    assert!((kept(fifth, 1) - 0.5).abs() < 1e-3 && (kept(fifth, 3) - 1.0 / 6.0).abs() < 1e-3);
    assert!((kept(&format!("{fifth} sweep: strang;"), 3) - 0.5).abs() < 1e-3);
    assert!((kept(&format!("{fifth} repair: none;"), 3) - 1.435 / 3.0).abs() < 1e-3);
    // The strictest of the solver and of the one behind `else` counts.
    let other = "reconstruct: plm; riemann: roe<else = rtvd>; time: ssprk2; repair: none;";
    assert!((kept(other, 1) - 0.7).abs() < 1e-3, "{}", kept(other, 1));
    let smeared = "reconstruct: ppm; riemann: roe<else = force>; time: van_leer; repair: none;";
    assert!((kept(smeared, 3) - 0.423 / 3.0).abs() < 2e-3, "{}", kept(smeared, 3));
    // A solver that a system declares knows no step, so that it cannot smear by its length.
    let own = "conserved q: scalar; flux q -> q*diagonal(I); cfl { advective: 1 }
        riemann own { flux q -> below.q; }";
    for (made, expected) in [("constant", 1.0), ("ppm", 0.423)] {
        let scheme = format!("reconstruct: {made}; riemann: own; time: van_leer;");
        let rates = speeds(&model(3, own, &scheme), [1.0; 3], Axes::Sum);
        assert!((1.0 / rates[0].rate - expected / 3.0).abs() < 2e-3, "{made}");
    }
    let kept_by = "conserved q: scalar where q > 0; flux q -> [q]; cfl { advective: 1 }";
    let by_euler = "reconstruct: weno5; riemann: rusanov; time: euler;";
    let others = integrators_for(&model(1, kept_by, by_euler));
    assert_eq!(others, ["ssprk2", "ssprk3", "ssprk43", "ssprk104"]);
    let lines = "reconstruct: ppm; riemann: rusanov; time: ssprk2;";
    assert!((kept(lines, 1) - 1.0 / 3.0).abs() < 1e-2);
    // A step of FORCE along three axes is the mean of steps along one that are three times as long.
    let force = "reconstruct: constant; riemann: force; time: euler;";
    assert!((number(force, 3) - 1.0 / 3.0).abs() < 1e-3);
    assert!((number(&format!("{force} sweep: strang;"), 3) - 1.0).abs() < 1e-3);
}
