//! Conservation laws with products of slopes, and solvers by their waves, through all stages: schedules give the oracle's bits.

use super::device_code::text as device_text;
use super::nvrtc::{ARCH, compiler, resources};
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::schedule::LaunchKind;
use stencil_compiler::search::presets;
use stencil_tests::{Case, OrPanic, Reference, algorithm_of, larger};

/// Steps of each run.
const STEPS: usize = 2;

/// Two layers that press on each other, over a bed that both sides of a face see as one, with a solver by its waves; arrays may have any
/// values.
const LAYERS_BY_WAVES: &str =
    "conserved a: scalar; conserved m: vector; conserved b: scalar; field bed: scalar; param g: real = 1;
    let u = m/(a + 3);
    let top = b + bed;
    flux a -> m;
    flux m -> outer(u, m) + g*(a + 3)^2/2 * I;
    flux b -> b*u;
    product m -> g*(a + 3)/4*grad(b);
    product b -> b*div(m)/(a + 3);
    ddt(m) = FALL;
    ddt(bed) = 0;
    primitive { a; u; b; TOP m = (a + 3)*u; }
    FACE
    waves { flow: u; sound: sqrt(2*g*(abs(a + b) + 3)); }
    riemann parts {
        let speed = sqrt(g*abs((below.a + above.a)/2 + (below.b + above.b)/4 + 3));
        let v = (below.u + above.u)/2;
        let flow = dot(v, normal);
        let out = dot(rise(m), normal);
        let slow = ((flow + speed)*rise(a) - out)/(2*speed);
        let fast = (out - (flow - speed)*rise(a))/(2*speed);
        let along = v - flow*normal;
        wave slow at flow - speed { flux a -> 1; flux m -> (flow - speed)*normal + along; }
        wave 1 at flow { flux m -> rise(m) - out*normal - rise(a)*along; flux b -> rise(b); }
        wave fast at flow + speed { flux a -> 1; flux m -> (flow + speed)*normal + along; }
    }";

/// Returns the layers with a scheme.
fn layers(dimension: usize, scheme: &str) -> Algorithm {
    let face = scheme.contains("primitive");
    let (fall, shared, top) = match face {
        true => {
            ("-g*(a + 3)*grad(bed)", "face { bed by max; b = top - bed; }", "top; bed = top - b;")
        }
        false => ("-0.1*m", "", ""),
    };
    let items = LAYERS_BY_WAVES.replace("FALL", fall).replace("FACE", shared).replace("TOP", top);
    algorithm_of(&format!(
        "system Layers in {dimension}d {{ {items} }} scheme s for Layers {{ {scheme} }}"
    ))
}

/// Numbers of cells along each axis, and a scheme.
const BY_WAVES: &str = "\
    31: reconstruct: waves<limiter = mc>; riemann: parts; time: euler;
    13 11: reconstruct: waves<limiter = van_leer>; riemann: parts; path: straight<points = 1>; time: euler;
    14 11: reconstruct: plm<limiter = mc> in primitive; riemann: parts; time: ssprk2;
    15 12: reconstruct: plm<limiter = mc>; riemann: hll; path: straight<points = 3>; sweep: strang; time: euler;
";

fn declared_waves<T: Real>() {
    for line in BY_WAVES.lines() {
        let (counts, scheme) = line.split_once(": ").expect("cells and a scheme");
        let counts: Vec<usize> = counts.split_whitespace().flat_map(str::parse).collect();
        let cells = std::array::from_fn(|axis| counts.get(axis).copied().unwrap_or(1));
        let algorithm = layers(counts.len(), scheme);
        let case = Case::new(&algorithm, cells.map(larger)).stepping(1e-3);
        Reference::<T>::of(&algorithm, case, STEPS).agree_in_turn(3);
    }
}

#[test]
fn declared_waves_and_products_have_the_same_bits_on_all_engines() {
    declared_waves::<f32>();
    declared_waves::<f64>();
}

#[test]
fn declared_waves_and_products_compile_without_a_device() {
    let Some(nvrtc) = compiler() else {
        return;
    };
    let algorithm = layers(2, "reconstruct: waves<limiter = mc>; riemann: parts; time: euler;");
    let preset = presets::ALL.iter().find(|preset| preset.name == "gpu");
    let schedule = preset.expect("it is there").schedule(&algorithm, Precision::F32);
    let compiled = compile(&algorithm, &schedule, &Target::new(4)).or_panic();
    let blocks = compiled.kernels.into_iter();
    for kernel in blocks.filter(|kernel| kernel.launch.kind == LaunchKind::Blocks) {
        let found = resources(nvrtc, &device_text(kernel, Precision::F32), ARCH);
        assert_eq!(found.spill_stores, 0, "{found:?}");
    }
}
