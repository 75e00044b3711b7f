//! Products with slopes of fields, which are no fluxes, through faces where fields jump.

use std::f64::consts::TAU;

use physics::systems::TwoLayers;
use stencil_runtime::{Number, Simulation, System, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::{law, started};

/// Water whose pressure pushes as the flux `h^3/3`, or as the product with the slope that it is made of.
fn water(pushed: &str) -> String {
    format!(
        "system Water in nd {{
            conserved h: scalar; conserved m: vector;
            let u = m/h;
            flux h -> m;
            {pushed}
            average {{ h; u by sqrt(h); m = h*u; }}
        }}"
    )
}

/// Returns the values after some steps of a dam that breaks between waves.
fn broken(text: &str, dimension: usize, reconstruct: &str, riemann: &str) -> Vec<f64> {
    let cells = if dimension == 1 { [32, 1, 1] } else { [16, 12, 1] };
    let mut simulation =
        started::<f64>(&law(text, dimension, reconstruct, riemann), cells, false, Some(4e-3));
    simulation
        .fill("h", |x, y, _| if (x - 0.5).abs() < 0.2 { 1.5 } else { 1.0 + 0.1 * (TAU * y).sin() });
    simulation.fill("m_x", |x, _, _| 0.3 * (TAU * x).cos());
    simulation.steps(8);
    let names = ["h", "m_x", "m_y"].into_iter().take(1 + dimension);
    names.flat_map(|name| simulation.flat(name)).collect()
}

/// A product that is the derivative of a flux acts as that flux: two points integrate a cubic exactly.
#[test]
fn a_product_that_is_a_flux_acts_as_one() {
    let flux = water("flux m -> outer(m, u) + h^3/3*I;");
    let product = water("flux m -> outer(m, u); product m -> h^2*grad(h);");
    for dimension in [1, 2] {
        for (reconstruct, riemann) in [
            ("constant", "rusanov"),
            ("plm<limiter = mc>", "hll"),
            ("weno_z", "hlle"),
            ("plm<limiter = mc>", "roe"),
            ("plm<limiter = mc> in characteristic", "roe"),
            ("waves<limiter = mc>", "roe"),
            ("plm<limiter = mc>", "roe; sweep: strang"),
        ] {
            let [flux, product] =
                [&flux, &product].map(|text| broken(text, dimension, reconstruct, riemann));
            let most = flux.iter().zip(&product).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!("{dimension}d {reconstruct} {riemann}: {most:e}");
            assert!(most < 1e-12, "{dimension}d {reconstruct} {riemann}: {most:e}");
        }
    }
}

/// Fewer points than the product needs do not give the flux, and more do.
#[test]
fn points_of_the_path_decide_its_accuracy() {
    let flux = broken(&water("flux m -> outer(m, u) + h^5/5*I;"), 1, "constant", "hll");
    let product = water("flux m -> outer(m, u); product m -> h^4*grad(h);");
    let errors = [1, 2, 3].map(|points| {
        let riemann = format!("hll; path: straight<points = {points}>");
        let own = broken(&product, 1, "constant", &riemann);
        own.iter().zip(&flux).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    });
    println!("{errors:?}");
    assert!(errors[0] > 10.0 * errors[1] && errors[1] > 1e-9 && errors[2] < 1e-12, "{errors:?}");
}

/// Two layers in one or two dimensions, by one of the schemes of the library.
fn layers(dimension: usize, scheme: &str) -> SystemDef {
    let definition = match dimension {
        1 => &TwoLayers::<1>::DEFINITION,
        _ => &TwoLayers::<2>::DEFINITION,
    };
    SystemDef::new(definition).and_then(|system| system.with_scheme(scheme)).or_panic()
}

const SCHEMES: [&str; 2] = ["plm_modes", "plm_hll"];

/// The depth of the lake over its deepest place, and of the layer below.
const DEPTHS: [f64; 2] = [1.0, 0.6];

fn bump(x: f64, y: f64) -> f64 {
    0.3 * (-((x - 0.4).powi(2) + (y - 0.5).powi(2)) / 0.02).exp()
}

/// Layers over a bump, with the interface moved up by this.
fn over_a_bump<T: Number>(
    system: &SystemDef,
    cells: [usize; 3],
    dt: f64,
    rise: fn(f64) -> f64,
) -> Simulation<T> {
    let plane = system.model().dimension == 2;
    let bed = move |x: f64, y: f64| bump(x, if plane { y } else { 0.5 });
    let mut simulation = started::<T>(system, cells, false, Some(dt));
    simulation.fill("bed", |x, y, _| bed(x, y));
    simulation.fill("h_1", |x, _, _| DEPTHS[0] - DEPTHS[1] - rise(x));
    simulation.fill("h_2", |x, y, _| DEPTHS[1] + rise(x) - bed(x, y));
    simulation
}

fn largest_flow<T: Number>(simulation: &Simulation<T>, dimension: usize) -> f64 {
    let axes = ["x", "y"].into_iter().take(dimension);
    let names = axes.flat_map(|axis| ["m_1", "m_2"].map(|name| format!("{name}_{axis}")));
    let flows = names.flat_map(|name| simulation.flat(&name));
    flows.map(f64::abs).fold(0.0, |a, b| if b <= a { a } else { b })
}

#[test]
fn two_layers_at_rest_stay_so() {
    for scheme in SCHEMES {
        for (dimension, cells) in [(1, [50, 1, 1]), (2, [20, 16, 1])] {
            let system = layers(dimension, scheme);
            let mut fine = over_a_bump::<f64>(&system, cells, 1e-3, |_| 0.0);
            fine.steps(40);
            let mut coarse = over_a_bump::<f32>(&system, cells, 1e-3, |_| 0.0);
            coarse.steps(40);
            let flows = [largest_flow(&fine, dimension), largest_flow(&coarse, dimension)];
            println!("{scheme} {dimension}d: {flows:?}");
            assert!(flows[0] < 1e-13 && flows[1] < 2e-5, "{scheme} {dimension}d: {flows:?}");
        }
    }
}

#[test]
fn each_layer_keeps_its_mass() {
    for scheme in SCHEMES {
        let system = layers(1, scheme);
        let rise = |x: f64| if (x - 0.5).abs() < 0.2 { 0.15 } else { 0.0 };
        let mut simulation = over_a_bump::<f64>(&system, [60, 1, 1], 2e-3, rise);
        let sums = |simulation: &Simulation<f64>| {
            ["h_1", "h_2"].map(|name| simulation.flat(name).iter().sum::<f64>())
        };
        let before = sums(&simulation);
        simulation.steps(200);
        assert!(largest_flow(&simulation, 1) > 1e-3);
        for (before, after) in before.iter().zip(sums(&simulation)) {
            assert!((after / before - 1.0).abs() < 1e-12, "{scheme}: {before} {after}");
        }
    }
}

/// A small wave of two layers at rest, by the closed form of their linear waves.
#[derive(Clone, Copy)]
pub(super) struct LayerWave {
    pub(super) speed: f64,
    /// The rise of the lower layer where the upper one rises by one.
    share: f64,
}

impl LayerWave {
    const DEPTHS: [f64; 2] = [0.4, 0.6];
    const SMALL: f64 = 1e-6;

    /// The wave at the interface, or the faster one of the surface.
    pub(super) fn new(of_surface: bool) -> Self {
        let (g, ratio, [upper, lower]) = (9.81_f64, 0.98, Self::DEPTHS);
        let depth: f64 = upper + lower;
        let root = (depth.powi(2) - 4.0 * (1.0 - ratio) * upper * lower).sqrt();
        let root = if of_surface { root } else { -root };
        let speed = (g * (depth + root) / 2.0).sqrt();
        LayerWave { speed, share: speed.powi(2) / (g * upper) - 1.0 }
    }

    /// Returns the error of the upper layer on `n` cells after so many steps until `end`, over the height of the wave.
    pub(super) fn error(&self, system: &SystemDef, n: usize, steps: usize, end: f64) -> f64 {
        let (Self { speed, share }, [upper, lower], small) = (*self, Self::DEPTHS, Self::SMALL);
        let mut run = started::<f64>(system, [n, 1, 1], false, Some(end / steps as f64));
        let wave = move |x: f64, t: f64| small * (TAU * (x - speed * t)).cos();
        run.fill("bed", |_, _, _| 0.0);
        run.fill("h_1", |x, _, _| upper + wave(x, 0.0));
        run.fill("m_1_x", |x, _, _| speed * wave(x, 0.0));
        run.fill("h_2", |x, _, _| lower + share * wave(x, 0.0));
        run.fill("m_2_x", |x, _, _| speed * share * wave(x, 0.0));
        run.steps(steps);
        run.error("h_1", |x, _, _| upper + wave(x, end)) / small
    }
}

/// A small wave at the interface, in a periodic channel.
#[test]
fn a_small_internal_wave_converges() {
    let wave = LayerWave::new(false);
    for (scheme, least) in [("plm_modes", 1.6), ("plm_hll", 0.6)] {
        let [coarse, fine] = [32, 64].map(|n| wave.error(&layers(1, scheme), n, 5 * n, 0.5));
        let order = (coarse / fine).log2();
        println!("{scheme}: {coarse:.3e}, {fine:.3e}, order {order:.2}");
        assert!(order > least, "{scheme}: {coarse} {fine}");
    }
}

/// A dam between layers breaks: meshes come closer to a finer one, and waves do so sooner than HLL, which smears the slow ones.
#[test]
fn a_dam_between_layers_comes_closer_to_a_finer_mesh() {
    let run = |scheme: &str, n: usize| {
        let system = layers(1, scheme);
        let mut simulation = started::<f64>(&system, [n, 1, 1], true, Some(0.1 / n as f64));
        let lower = |x: f64| if x < 0.5 { 0.7 } else { 0.4 };
        simulation.fill("bed", |_, _, _| 0.0);
        simulation.fill("h_1", |x, _, _| 1.0 - lower(x));
        simulation.fill("h_2", |x, _, _| lower(x));
        simulation.steps(6 * n);
        simulation.flat("h_2")
    };
    let finest = run("plm_modes", 240);
    let error = |scheme: &str, n: usize| {
        let own = run(scheme, n);
        let part = 240 / n;
        let means = finest.chunks(part).map(|all| all.iter().sum::<f64>() / part as f64);
        own.iter().zip(means).map(|(a, b)| (a - b).abs()).sum::<f64>() / n as f64
    };
    let [coarse, fine] = [30, 60].map(|n| error("plm_modes", n));
    let smeared = error("plm_hll", 60);
    println!("{coarse:.3e} {fine:.3e}, HLL {smeared:.3e}");
    assert!(
        coarse / fine > 1.5 && fine < 3e-3 && smeared > 1.5 * fine,
        "{coarse} {fine} {smeared}"
    );
}
