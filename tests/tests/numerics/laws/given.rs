//! Fluxes that depend on sources: given flows and media that differ from place to place and change in time.

use std::f64::consts::TAU;

use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::started;

/// A flow along a line that is fast and slow in turn, everywhere at once as well. With `T` the time that it takes from 0 to
/// `x` and `W` the time that it has run, q v = G(W - T): what flows through a place is carried along.
const CARRIED: &str = "system Carried in 1d {
    conserved q: scalar;
    source v: vector = [(1 + cos(2*pi*t)/2)/(1 + 0.3*sin(2*pi*x))];
    flux q -> q*v;
    waves { flow: v; }
}";

/// The mean of the solution over a cell, as it begins and after a unit of time.
fn carried(x: f64, h: f64) -> f64 {
    let taken = |x: f64| x - 0.3 / TAU * ((TAU * x).cos() - 1.0);
    let sum = |s: f64| s + 0.5 * (TAU * s).sin() / TAU;
    (sum(-taken(x - h / 2.0)) - sum(-taken(x + h / 2.0))) / h
}

fn by_scheme(text: &str, name: &str, scheme: &str) -> SystemDef {
    SystemDef::from_text(name, &format!("{text} scheme s for {name} {{ {scheme} }}")).or_panic()
}

#[test]
fn a_given_flow_carries_with_the_order_of_the_reconstruction() {
    let error = |scheme: &str, order: f64, n: usize| {
        let system = by_scheme(CARRIED, "Carried", scheme);
        let h = 1.0 / n as f64;
        // The integrator is of third order.
        let steps = (n as f64).powf(order / 3.0).round().max(4.0 * n as f64);
        let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(1.0 / steps));
        simulation.fill("q", |x, _, _| carried(x, h));
        let before = simulation.values("q");
        simulation.steps(steps as usize);
        let after = simulation.values("q");
        assert!((after.sum() / before.sum() - 1.0).abs() < 1e-13, "{scheme}: not conserved");
        (&after - &before).mapv(f64::abs).sum() * h
    };
    for (scheme, least) in [
        ("reconstruct: weno_z; riemann: roe; time: ssprk3;", 4.8),
        // A face is halfway between cells, to second order.
        ("space: central<order = 2>; reconstruct: weno_z; riemann: roe; time: ssprk3;", 1.9),
        ("reconstruct: plm<limiter = central>; riemann: rusanov; time: ssprk3;", 1.9),
    ] {
        let [coarse, fine] = [40, 80].map(|n| error(scheme, least + 0.2, n));
        let order = (coarse / fine).log2();
        println!("{scheme} {coarse:.3e} {fine:.3e} order {order:.2}");
        assert!(order > least, "{scheme}: {order}");
    }
}

/// A manufactured solution in the plane: a flow that turns and breathes, and a rate that makes up for what it carries.
const MANUFACTURED: &str = "system Made in 2d {
    conserved q: scalar;
    param w: real = 2*pi;
    source v: vector = [1 + sin(w*(y - t))/2, cos(w*(x + t))/2 + sin(w*y)/3];
    source s: scalar =
        -w*cos(w*(x + y - t))*(1 - 1 - sin(w*(y - t))/2 - cos(w*(x + t))/2 - sin(w*y)/3)
        + (2 + sin(w*(x + y - t)))*w*cos(w*y)/3;
    flux q -> q*v;
    ddt(q) = s;
}";

fn made(x: f64, y: f64, t: f64) -> f64 {
    2.0 + (TAU * (x + y - t)).sin()
}

#[test]
fn a_manufactured_flow_in_the_plane_has_the_order_of_its_fluxes() {
    let error = |scheme: &str, n: usize| {
        let system = by_scheme(MANUFACTURED, "Made", scheme);
        let (end, steps) = (0.1, (n as f64).powf(5.0 / 3.0) / 4.0);
        let steps = steps.ceil();
        let mut simulation = started::<f64>(&system, [n, n, 1], false, Some(end / steps));
        simulation.fill("q", |x, y, _| made(x, y, 0.0));
        simulation.steps(steps as usize);
        let error = |s: &Simulation<f64>| s.error("q", |x, y, _| made(x, y, end));
        error(&simulation)
    };
    for (scheme, least) in [
        ("reconstruct: weno_z in fluxes; riemann: rusanov; time: ssprk3;", 4.6),
        ("reconstruct: weno_z; riemann: hll; time: ssprk3;", 1.8),
        ("reconstruct: weno_z; riemann: force; time: ssprk3;", 1.8),
    ] {
        let [coarse, fine] = [20, 40].map(|n| error(scheme, n));
        let order = (coarse / fine).log2();
        println!("{scheme} {coarse:.3e} {fine:.3e} order {order:.2}");
        assert!(order > least, "{scheme}: {order}");
    }
}

/// Sound in a medium of layers, from its fluxes alone: the speeds of waves follow, and limit the step.
#[test]
fn layers_have_speeds_that_follow_from_fluxes() {
    let text = "system Layers in nd {
        conserved p: scalar; conserved m: vector;
        source stiffness: scalar = 1 + 3*(0.5 + tanh(20*(x - 0.5))/2);
        flux p -> stiffness*m;
        flux m -> p*I;
    }";
    let text = format!(
        "{text} scheme s for Layers {{ reconstruct: weno_z; riemann: roe; time: ssprk3; }}"
    );
    let system = SystemDef::from_text_in("Layers", &text, Some(1)).or_panic();
    let mut simulation = started::<f64>(&system, [100, 1, 1], true, None);
    simulation.fill("p", |x, _, _| (-800.0 * (x - 0.25).powi(2)).exp());
    simulation.fill("m_x", |x, _, _| (-800.0 * (x - 0.25).powi(2)).exp());
    simulation.steps(1);
    let dt = simulation.dt();
    assert!((dt / (0.4 * 1.435 * 0.01 / 2.0) - 1.0).abs() < 0.01, "{dt}");
    simulation.run_until(0.35, |_, _| ()).or_panic();
    // Half of the way is passed at speed 1, and the rest at speed 2.
    let p = simulation.values("p");
    let (at, _) =
        p.iter().enumerate().fold((0, 0.0), |m, (i, v)| if *v > m.1 { (i, *v) } else { m });
    assert!((at as f64 * 0.01 - 0.7).abs() < 0.03, "{at}");
}

/// A flow to both sides of the middle, and its tracer, stay their own mirror images to the bit.
#[test]
fn mirrored_flows_have_the_mirrored_bits() {
    let text = "system Spread in 1d {
        conserved q: scalar;
        source v: vector = [x*(1 - x^2)*cos(t)];
        flux q -> q*v;
    }";
    for scheme in ["weno_z; riemann: rusanov", "plm<limiter = mc>; riemann: roe"] {
        let system = by_scheme(text, "Spread", &format!("reconstruct: {scheme}; time: ssprk3;"));
        let mut simulation = Simulation::<f64>::builder(&system)
            .cells([64, 1, 1])
            .extent([2.0, 1.0, 1.0])
            .origin([-1.0, 0.0, 0.0])
            .centered(true)
            .dt(0.01)
            .build()
            .or_panic();
        simulation.fill("q", |x, _, _| 1.0 / (1.0 + 9.0 * x * x));
        simulation.steps(40);
        let q: Vec<f64> = simulation.values("q").into_iter().collect();
        let mirrored: Vec<f64> = q.iter().rev().copied().collect();
        assert_eq!(q, mirrored, "{scheme}");
    }
}
