//! Tracers and fields in a given flow come back as they were: by split schemes, beside ranges and sources, and on faces.

use std::f64::consts::TAU;

use stencil_runtime::SystemDef;
use stencil_tests::{OrPanic, Runs};

use super::started;

/// Schemes that split steps by axes or fluxes by directions, with the least order on a smooth wave and beside a decay, which Euler steps
/// take to first order.
const SPLIT: [(&str, f64, f64); 4] = [
    ("reconstruct: waf<limiter = none>; riemann: roe; time: euler;", 1.9, 0.8),
    ("reconstruct: waf<limiter = none>; riemann: hlle; time: euler; repair: none;", 1.9, 0.8),
    (
        "reconstruct: plm<limiter = central> in fluxes; riemann: rtvd; sweep: alternating; time: ssprk2;",
        1.8,
        1.8,
    ),
    (
        "reconstruct: plm<limiter = central> in fluxes; riemann: rtvd; sweep: alternating; time: van_leer; repair: none;",
        1.8,
        1.8,
    ),
];

/// Returns a tracer with a range, in a flow that is a source and that fluxes and speeds are made of, with a decay.
fn tracer(dimension: usize, decay: f64, settings: &str) -> SystemDef {
    let flow = if dimension == 1 { "[1]" } else { "[1, 1]" };
    let text = format!(
        "system Tracer in {dimension}d {{
            conserved q: scalar where q > 0; source v: vector = {flow}; source k: scalar = {decay};
            flux q -> q*v; ddt(q) = -k*q;
        }}
        scheme s for Tracer {{ {settings} }}"
    );
    SystemDef::from_text("Tracer", &text).or_panic()
}

#[test]
fn split_schemes_carry_a_tracer_with_a_range_and_a_decay() {
    for (settings, carried, decayed) in SPLIT {
        for (dimension, decay, least) in [(1, 0.0, carried), (1, 0.5, decayed), (2, 0.0, carried)] {
            let error = |n: usize| {
                let system = tracer(dimension, decay, settings);
                let cells = if dimension == 1 { [n, 1, 1] } else { [n, n, 1] };
                let (steps, end) = (4 * n, 1.0_f64);
                let mut run = started::<f64>(&system, cells, false, Some(end / steps as f64));
                let y_of = move |y: f64| if dimension == 1 { 0.0 } else { y };
                let wave = move |x: f64, y: f64| 2.0 + (TAU * (x + y_of(y))).sin();
                run.fill("q", |x, y, _| wave(x, y));
                run.steps(steps);
                run.error("q", |x, y, _| wave(x, y) * (-decay * end).exp())
            };
            let [coarse, fine] = [12, 24].map(error);
            let order = (coarse / fine).log2();
            println!("{dimension}d {decay} {settings}: {coarse:.3e} {fine:.3e}, order {order:.2}");
            assert!(order > least, "{dimension}d {decay} {settings}: {order}");
        }
    }
}

/// A tracer that is nothing beside a block keeps its range and its sum, with limited waves and split fluxes that are repaired.
#[test]
fn split_schemes_keep_a_range() {
    for settings in [
        "reconstruct: waf<limiter = superbee>; riemann: roe; time: euler;",
        "reconstruct: plm<limiter = van_leer> in fluxes; riemann: rtvd; sweep: dimensional; time: ssprk2;",
    ] {
        let system = tracer(2, 0.0, settings);
        let mut run = started::<f64>(&system, [16, 16, 1], false, Some(0.4 / 16.0));
        run.fill("q", |x, y, _| if x < 0.5 && y < 0.5 { 1.0 } else { 1e-9 });
        let before = run.flat("q").iter().sum::<f64>();
        run.steps(30);
        let after = run.flat("q");
        let sum = after.iter().sum::<f64>();
        let [least, most] =
            [f64::min, f64::max].map(|of| after.iter().copied().reduce(of).unwrap());
        println!("{settings}: from {least:e} to {most}");
        assert!((sum / before - 1.0).abs() < 1e-12, "{settings}: {sum} {before}");
        assert!(least > 0.0 && most < 1.1, "{settings}: {least} {most}");
    }
}

/// A field on faces in a flow that is a source goes around the box, to second order, and its divergence stays.
#[test]
fn a_given_flow_carries_a_field_on_faces() {
    for riemann in ["hll", "rusanov"] {
        let text = format!(
            "system Frozen in 2d {{
                face conserved b: vector<3>; source v: vector<3> = [1, 1/2, 0];
                let c = to_cells(b);
                flux b -> outer(v, c) - outer(c, v);
                observe divergence = max(abs(div(b)));
            }}
            scheme s for Frozen {{
                space: central<order = 2>; reconstruct: plm<limiter = central>; riemann: {riemann}; time: ssprk3;
            }}"
        );
        let system = SystemDef::from_text("Frozen", &text).or_panic();
        let error = |n: usize| {
            let steps = 6 * n;
            let mut run = started::<f64>(&system, [n, n, 1], false, Some(2.0 / steps as f64));
            let potential =
                |x: f64, y: f64, _| [0.0, 0.0, ((TAU * x).sin() + (TAU * y).cos()) / TAU];
            run.set_curl("b", potential).or_panic();
            let before = ["b_x", "b_y"].map(|name| run.flat(name));
            run.steps(steps);
            let divergence = run.observe().or_panic()["divergence"];
            assert!(divergence < 1e-11, "{riemann}: {divergence:e}");
            let after = ["b_x", "b_y"].map(|name| run.flat(name));
            let pairs = before.iter().flatten().zip(after.iter().flatten());
            pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / (2 * n * n) as f64
        };
        let [coarse, fine] = [12, 24].map(error);
        let order = (coarse / fine).log2();
        println!("{riemann}: {coarse:.3e} {fine:.3e}, order {order:.2}");
        assert!(order > 1.8, "{riemann}: {coarse} {fine}");
    }
}
