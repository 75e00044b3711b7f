//! Waves that leave through open faces: characteristic ones, zero gradients, and absorbing layers.

use std::f64::consts::PI;

use physics::systems::ShallowWater;
use stencil_compiler::model::layer::{Far, Layer, LayerFace};
use stencil_runtime::{Axis, Boundary, Devices, Engine, Face, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::{EULER, WATER, law};

/// Sound that a wind carries, along a line or in the plane.
const SOUND: &str = "system Sound in nd {
    conserved p: scalar; conserved u: vector; param wind: real = 0.25;
    flux p -> u + wind*p*diagonal(I);
    flux u -> p*I + wind*outer(diagonal(I), u);
}";

fn run(system: &SystemDef, cells: [usize; 3], extent: [f64; 3], x: Boundary) -> Simulation<f64> {
    let builder = Simulation::<f64>::builder(system).cells(cells).extent(extent).cfl(0.5);
    builder.centered(true).boundary(Axis::X, x).build().or_panic()
}

fn pulse(x: f64) -> f64 {
    (-400.0 * (x - 0.5) * (x - 0.5)).exp()
}

/// The largest deviation of a component from its far value.
fn left(simulation: &Simulation<f64>, name: &str, far: f64) -> f64 {
    simulation.values(name).iter().fold(0.0, |most, v| (v - far).abs().max(most))
}

/// Gas at rest and in motion, water, and sound: a part of the pulse below 0.5 % comes back, and the state does not drift away from
/// that far away.
#[test]
fn pulses_leave_through_characteristic_faces() {
    let (gamma, h) = (1.4, 1e-3);
    for (text, riemann, far, size) in [
        // The last component is disturbed.
        (SOUND, "rusanov", vec![("u_x", 0.0), ("p", 0.0)], 1.0),
        (SOUND, "roe", vec![("u_x", 0.0), ("p", 0.0)], 1.0),
        (WATER, "hll", vec![("m_x", 0.3), ("h", 1.0)], h),
        (EULER, "hllc", vec![("rho", 1.0), ("m_x", -0.4), ("e", 1.0 / (gamma - 1.0) + 0.08)], h),
    ] {
        for reconstruct in ["plm<limiter = mc>", "weno5"] {
            let system = law(text, 1, reconstruct, riemann);
            let end = if text == SOUND { 1.6 } else { 1.5 };
            let after = |boundary: Boundary, raised: f64| {
                let mut simulation = run(&system, [200, 1, 1], [1.0; 3], boundary);
                for (name, value) in &far {
                    simulation.fill(name, |_, _, _| *value);
                }
                let (name, value) = far[far.len() - 1];
                simulation.fill(name, |x, _, _| value + raised + size * pulse(x));
                simulation.run_until(end, |_, _| ()).or_panic();
                left(&simulation, name, value) / size
            };
            // A contact of the gas at -0.4 has left, too, after 1.5.
            let open = after(Boundary::characteristic(far.clone()), 0.0);
            let plain = after(Boundary::outflow(), 0.0);
            println!("{} {reconstruct} {riemann}: {open:.2e} (outflow {plain:.2e})", system.name());
            assert!(open < 5e-3, "{} {reconstruct}: {open}", system.name());
            if reconstruct == "weno5" {
                continue;
            }
            // A state that is too high everywhere goes back to the far one; zero gradients keep it.
            let [open, plain] = [Boundary::characteristic(far.clone()), Boundary::outflow()]
                .map(|boundary| after(boundary, 0.1 * size));
            println!("    raised: {open:.2e} (outflow {plain:.2e})");
            assert!(open < 1e-2 && plain > 0.05, "{}: {open} {plain}", system.name());
        }
    }
}

/// The error of a pulse that leaves halfway: the inside keeps its order.
#[test]
fn the_inside_keeps_its_order() {
    let error = |n: usize| {
        let text = format!(
            "{SOUND} scheme s for Sound {{ reconstruct: plm<limiter = central>; riemann: roe; time: ssprk2; }}"
        );
        let system = SystemDef::from_text_in("Sound", &text, Some(1)).or_panic();
        let open = Boundary::characteristic([("p", 0.0), ("u_x", 0.0)]);
        let mut simulation = run(&system, [n, 1, 1], [1.0; 3], open);
        // Carried to the right at 1.25, and to the left at 0.75.
        let smooth = |x: f64| (-60.0 * (x - 0.5) * (x - 0.5)).exp();
        simulation.fill("p", |x, _, _| 2.0 * smooth(x));
        simulation.run_until(0.4, |_, _| ()).or_panic();
        simulation.error("p", |x, _, _| smooth(x - 0.5) + smooth(x + 0.3))
    };
    let [coarse, fine] = [100, 200].map(error);
    let order = (coarse / fine).log2();
    println!("{coarse:.3e} {fine:.3e} order {order:.2}");
    assert!(order > 1.8, "{order}");
}

/// Returns a system with layers of a width beside all faces of a square of length 1.
fn layered(system: &SystemDef, width: f64, strength: f64, far: &[&str]) -> SystemDef {
    let face = |axis: usize, upper: bool| {
        let begin = if upper { 1.0 - width } else { width };
        LayerFace { axis, upper, begin, width, strength }
    };
    let faces =
        (0..system.model().dimension).flat_map(|axis| [face(axis, false), face(axis, true)]);
    let far = far.iter().map(|name| (name.to_string(), Far::Number(0.0))).collect();
    let layer = Layer { faces: faces.collect(), far };
    let model = system.model().with_layers(&[layer]).or_panic();
    SystemDef::from_model(system.name(), model).or_panic()
}

/// Sound that a wind carries, along the normal: a layer is as stiff as the medium for it, whatever the wave.
#[test]
fn layers_absorb_sound_along_the_normal() {
    let bare = law(SOUND, 1, "weno5", "roe");
    let layers = layered(&bare, 0.3, 60.0, &["p", "u_x"]);
    let mut simulation = run(&layers, [200, 1, 1], [1.0; 3], Boundary::outflow());
    simulation.fill("p", |x, _, _| pulse(x));
    simulation.run_until(1.1, |_, _| ()).or_panic();
    let p = simulation.values("p");
    let left = p.iter().skip(60).take(80).fold(0.0_f64, |most, p| most.max(p.abs()));
    println!("{left:.2e}");
    assert!(left < 2e-3, "{left}");
}

/// A ring in the plane leaves through faces and corners; a mesh that is twice as large shows what should be left.
#[test]
fn layers_absorb_at_faces_and_corners() {
    let bare = law(&SOUND.replace("0.25", "0"), 2, "weno5", "roe");
    let layers = layered(&bare, 0.3, 60.0, &["p", "u_x", "u_y"]);
    let (n, end) = (60, 0.9);
    // Of mean zero: waves that are longer than a layer come back in part.
    let round = |x: f64, y: f64| {
        let square = 150.0 * (x * x + y * y);
        (1.0 - square) * (-square).exp()
    };
    let mut large = Simulation::<f64>::builder(&bare)
        .cells([2 * n, 2 * n, 1])
        .extent([2.0, 2.0, 1.0])
        .centered(true)
        .cfl(0.5)
        .build()
        .or_panic();
    large.fill("p", |x, y, _| round(x - 1.0, y - 1.0));
    large.run_until(end, |_, _| ()).or_panic();
    let expected = large.values("p");
    let after = |system: &SystemDef, boundary: &dyn Fn() -> Boundary| {
        let mut small = Simulation::<f64>::builder(system)
            .cells([n, n, 1])
            .centered(true)
            .cfl(0.5)
            .boundary(Axis::X, boundary())
            .boundary(Axis::Y, boundary())
            .build()
            .or_panic();
        small.fill("p", |x, y, _| round(x - 0.5, y - 0.5));
        small.run_until(end, |_, _| ()).or_panic();
        let p = small.values("p");
        // Cells inside of the layers.
        let inside = 18..42;
        let mut most = 0.0_f64;
        for (y, x) in inside.clone().flat_map(|y| inside.clone().map(move |x| (y, x))) {
            most = most.max((p[[0, y, x]] - expected[[0, y + n / 2, x + n / 2]]).abs());
        }
        most
    };
    let far = || Boundary::characteristic([("p", 0.0), ("u_x", 0.0), ("u_y", 0.0)]);
    let layers = after(&layers, &Boundary::outflow);
    let [open, plain] = [after(&bare, &far), after(&bare, &Boundary::outflow)];
    println!("layers {layers:.2e}, characteristic {open:.2e}, outflow {plain:.2e}");
    // The ring that enters the layers is a tenth as high as in the beginning.
    assert!(layers < 1e-3, "{layers}");
    assert!(layers < open && layers < plain / 2.0, "{open} {plain}");
}

/// Differences have no solver that knows waves, and a layer needs none.
#[test]
fn layers_absorb_waves_of_second_order() {
    let text = "system Waves in 1d {
        field u: scalar; field v: scalar;
        ddt(u) = v;
        ddt(v) = lap(u);
    }
    scheme s for Waves { space: central<order = 4>; time: rk4; }";
    let bare = SystemDef::from_text("Waves", text).or_panic();
    let layers = layered(&bare, 0.3, 80.0, &["v"]);
    let after = |system: &SystemDef| {
        let builder = Simulation::<f64>::builder(system).cells([200, 1, 1]).centered(true);
        let builder = builder.boundary(Axis::X, Boundary::outflow()).dt(0.002);
        let mut simulation = builder.build().or_panic();
        // A third of the layer is a wavelength.
        let packet = |r: f64| (20.0 * PI * r).cos() * (-200.0 * r * r).exp();
        simulation.fill("u", |x, _, _| packet(x - 0.5));
        simulation.run_until(1.0, |_, _| ()).or_panic();
        let u = simulation.values("u");
        u.iter().skip(60).take(80).fold(0.0_f64, |most, u| most.max(u.abs()))
    };
    let [layers, plain] = [after(&layers), after(&bare)];
    println!("layers {layers:.2e}, outflow {plain:.2e}");
    // Each way goes half of the packet, and a zero gradient sends both back.
    assert!(layers < 0.5e-2 && plain > 0.5, "{layers} {plain}");
}

/// Patches and devices give the same bits, with one face of another kind.
#[test]
fn characteristic_faces_have_the_same_bits_on_all_patches() {
    let system =
        SystemDef::new(&<ShallowWater<2> as stencil_runtime::System>::DEFINITION).or_panic();
    let after = |patches: [usize; 3], devices: usize| {
        let open = Boundary::characteristic([("h", 1.0), ("m_x", 0.2), ("m_y", 0.0)]);
        let mut simulation = Simulation::<f64>::builder(&system)
            .cells([30, 22, 1])
            .boundary(Axis::X, open.clone())
            .boundary(Face::Y_LO, open)
            .boundary(Face::Y_HI, Boundary::wall())
            .engine(Engine::Rows)
            .patches(patches)
            .devices(Devices::Count(devices))
            .cfl(0.5)
            .build()
            .or_panic();
        simulation.fill("h", |x, y, _| {
            1.0 + 0.3 * (-30.0 * ((x - 0.7).powi(2) + (y - 0.3).powi(2))).exp()
        });
        simulation.fill("m_x", |_, _, _| 0.2);
        simulation.steps(20);
        ["h", "m_x", "m_y"].map(|name| simulation.values(name))
    };
    let expected = after([1; 3], 1);
    assert_eq!(expected, after([2, 2, 1], 1));
    assert_eq!(expected, after([2, 3, 1], 3));
}
