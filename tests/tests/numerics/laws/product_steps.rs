//! Products with slopes in steps that forecast or correct waves: they act as fluxes where they are some, keep layers at rest, and move
//! small waves with the order of the scheme.

use std::f64::consts::TAU;

use stencil_runtime::{Number, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::products::LayerWave;
use super::started;

/// Returns a system with these settings of its scheme.
fn with(text: &str, dimension: usize, settings: &str) -> SystemDef {
    let name = text.split_whitespace().nth(1).unwrap_or_default();
    let text = format!("{text}\nscheme s for {name} {{ {settings} }}");
    SystemDef::from_text_in(name, &text, Some(dimension)).or_panic()
}

/// A product that is the derivative of a flux acts as that flux, in the forecast, at the faces beside and in waves.
#[test]
fn a_product_acts_as_its_flux_in_forecasts_and_waves() {
    let water = |pushed: &str| {
        format!(
            "system Water in nd {{
                conserved h: scalar; conserved m: vector; let u = m/h; flux h -> m; {pushed}
                primitive {{ h; u; m = h*u; }}
                average {{ h; u by sqrt(h); m = h*u; }}
            }}"
        )
    };
    let flux = water("flux m -> outer(m, u) + h^3/3*I;");
    let product = water("flux m -> outer(m, u); product m -> h^2*grad(h);");
    for dimension in [1, 2] {
        for settings in [
            "reconstruct: plm<limiter = mc> in primitive; riemann: hll; time: muscl_hancock;",
            "reconstruct: plm<limiter = mc>; riemann: roe; sweep: strang; time: muscl_hancock;",
            "reconstruct: plm<limiter = koren>; riemann: roe; time: corner_transport;",
            "reconstruct: ppm<follow = characteristics> in primitive; riemann: hlle; time: corner_transport;",
            "reconstruct: waf<limiter = mc>; riemann: roe; time: euler;",
            "reconstruct: waf<limiter = van_leer>; riemann: hlle; time: euler;",
        ] {
            let [flux, product] = [&flux, &product].map(|text| {
                let cells = if dimension == 1 { [32, 1, 1] } else { [16, 12, 1] };
                let system = with(text, dimension, settings);
                let mut run = started::<f64>(&system, cells, false, Some(4e-3));
                run.fill("h", |x, y, _| {
                    if (x - 0.5).abs() < 0.2 { 1.5 } else { 1.0 + 0.1 * (TAU * y).sin() }
                });
                run.fill("m_x", |x, _, _| 0.3 * (TAU * x).cos());
                run.steps(6);
                let names = ["h", "m_x", "m_y"].into_iter().take(1 + dimension);
                names.flat_map(|name| run.flat(name)).collect::<Vec<f64>>()
            });
            let most = flux.iter().zip(&product).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!("{dimension}d {settings}: {most:e}");
            assert!(most < 1e-12, "{dimension}d {settings}: {most:e}");
        }
    }
}

/// The library's layers, whose bed is a field in the products: states at faces are moved as they are.
fn layers() -> String {
    let library = include_str!("../../../../physics/src/systems/two_layers.rs");
    let from = library.find("system TwoLayers").unwrap_or_default();
    let to = library.find("scheme plm_modes").unwrap_or(from);
    let kept = library[from..to].lines().filter(|line| {
        let line = line.trim_start();
        !["primitive {", "face {", "ddt(m_"].iter().any(|word| line.starts_with(word))
    });
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    kept.replace("g*h_1*grad(h_2);", "g*h_1*grad(h_2) + g*h_1*grad(bed);")
        .replace("ratio*g*h_2*grad(h_1);", "ratio*g*h_2*grad(h_1) + g*h_2*grad(bed);")
}

const STEPS: [&str; 4] = [
    "reconstruct: plm<limiter = van_leer>; riemann: modes; time: muscl_hancock;",
    "reconstruct: plm<limiter = van_leer>; riemann: modes; time: corner_transport;",
    "reconstruct: plm<limiter = van_leer>; riemann: modes; sweep: strang; time: muscl_hancock;",
    "reconstruct: waf<limiter = mc>; riemann: modes; time: euler;",
];

/// Returns the largest momentum of two layers over a bump at rest, after some steps.
fn flow_at_rest<T: Number>(system: &SystemDef, dimension: usize) -> f64 {
    let cells = if dimension == 1 { [40, 1, 1] } else { [16, 12, 1] };
    let bed = move |x: f64, y: f64| {
        let y = if dimension == 1 { 0.5 } else { y };
        0.3 * (-((x - 0.4).powi(2) + (y - 0.5).powi(2)) / 0.02).exp()
    };
    let mut run: Simulation<T> = started(system, cells, false, Some(1e-3));
    run.fill("bed", |x, y, _| bed(x, y));
    run.fill("h_1", |_, _, _| 0.4);
    run.fill("h_2", |x, y, _| 0.6 - bed(x, y));
    run.steps(20);
    let axes = ["x", "y"].into_iter().take(dimension);
    let names = axes.flat_map(|axis| ["m_1", "m_2"].map(|name| format!("{name}_{axis}")));
    let flows = names.flat_map(|name| run.flat(&name));
    flows.map(f64::abs).fold(0.0, |a, b| if b <= a { a } else { b })
}

#[test]
fn layers_at_rest_stay_so_in_forecasts_and_waves() {
    for settings in STEPS {
        for dimension in [1, 2] {
            let system = with(&layers(), dimension, settings);
            let fine = flow_at_rest::<f64>(&system, dimension);
            let coarse = flow_at_rest::<f32>(&system, dimension);
            println!("{dimension}d {settings}: {fine:e} {coarse:e}");
            assert!(fine < 1e-13 && coarse < 2e-5, "{dimension}d {settings}: {fine:e} {coarse:e}");
        }
    }
}

/// A small wave of the surface moves by the closed form of layers at rest.
#[test]
fn a_small_wave_of_layers_is_of_second_order() {
    let wave = LayerWave::new(true);
    for settings in STEPS {
        let settings =
            settings.replace("van_leer>", "central>").replace("limiter = mc", "limiter = none");
        let system = with(&layers(), 1, &settings);
        // The wave passes 0.4 of a cell in a step.
        let [coarse, fine] = [24, 48].map(|n| wave.error(&system, n, n, 0.4 / wave.speed));
        let order = (coarse / fine).log2();
        println!("{settings}: {coarse:.3e}, {fine:.3e}, order {order:.2}");
        assert!(order > 1.9, "{settings}: {coarse} {fine}");
    }
}
