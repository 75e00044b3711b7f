//! Conservation laws through all stages: by each reconstruction and each solver, schedules give the oracle's bits.

use super::device_code::text as device_text;
use super::nvrtc::{ARCH, compiler, resources};
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::schedule::{Blocking, LaunchKind, Schedule, text};
use stencil_compiler::search::{self, presets};
use stencil_tests::{
    Case, OrPanic, Reference, algorithm_of, differing, interpreted, larger, oracle,
};

/// Water over a bed that changes the flow, with a tracer.
const WATER: &str =
    "conserved h: scalar; conserved m: vector; field bed: scalar; param g: real = 1;
    let u = m / (h + 2);
    flux h -> m;
    let pushed = outer(m, u) + g*(h + 2)^2/2 * I;
    flux m -> pushed;
    ddt(m) = -g*(h + 2)*grad(bed) + 0.01*lap(m);
    ddt(bed) = 0;
    primitive { h; u; m = (h + 2)*u; }
    average { h; u by sqrt(h + 2); m = (h + 2)*u; }
    waves { flow: u; sound: sqrt(g*(h + 2)); }";

/// Solvers for it: one that gives fluxes, and one that gives the state from which they follow.
const SOLVERS: &str = "
    fn root(a: scalar) -> scalar {
        let mut x = (1 + a)/2;
        for i in 0..6 { let step = (x - a/x)/2; x = x - step; until(abs(step) <= 1e-5*x); }
        x
    }
    riemann fluxes {
        let back = abs(dot(below.u, normal)) + root(g*(below.h + 2));
        let ahead = abs(dot(above.u, normal)) + root(g*(above.h + 2));
        let half = max(back, ahead)/2;
        flux h -> dot(below.m + above.m, normal)/2 - half*(above.h - below.h);
        flux m -> dot(normal, below.pushed + above.pushed)/2 - half*(above.m - below.m);
    }
    riemann between {
        let flow = dot(below.u + above.u, normal)/2;
        let depth = root((below.h + 2)*(above.h + 2));
        let sound = root(g*depth);
        let middle = flow - g*(above.h - below.h)/(2*sound);
        let near = if middle < 0 { above.u } else { below.u };
        let filled = depth*dot(above.u - below.u, normal)/(2*sound);
        h = if sound < flow { below.h } else if flow < -sound { above.h } else { depth - 2 - filled };
        u = if sound < flow { below.u } else if flow < -sound { above.u } else { near + (middle - dot(near, normal))*normal };
    }";

/// Layers of a depth that stays, for a solver that knows the contact.
const LAYERS: &str = "conserved m: vector; field h: scalar;
    let u = m / (h + 2);
    let p = h^2/2;
    flux m -> outer(m, u) + p*I;
    ddt(h) = 0;
    primitive { u; m = (h + 2)*u; }
    waves { flow: u; sound: sqrt(abs(h + 2)); density: h + 2; pressure: p; }";

/// Water over a bed that both sides of a face see as one, some of it dry.
const RIVER: &str =
    "conserved h: scalar; conserved m: vector; field bed: scalar; param g: real = 1;
    let u = if h > 1e-3 { m/h } else { 0*m };
    let surface = h + bed;
    flux h -> h*u;
    flux m -> outer(u, m) + g*h^2/2 * I;
    ddt(m) = -g*h*grad(bed) - 0.3*m;
    ddt(bed) = 0;
    primitive { h; u; surface; m = h*u; bed = surface - h; }
    face { bed by max; h = max(surface - bed, 0); }
    waves { flow: u; sound: sqrt(g*max(h, 0)); }";

fn water(dimension: usize, scheme: &str) -> String {
    let declared = ["fluxes;", "between;"].iter().any(|own| scheme.contains(own));
    let solvers = if declared { SOLVERS } else { "" };
    let items = if scheme.contains("hllc") {
        LAYERS
    } else if scheme.contains("source") {
        RIVER
    } else {
        WATER
    };
    format!(
        "system Water in {dimension}d {{ {items} {solvers} }}
         scheme s for Water {{ space: central<order = 2>; {scheme} }}"
    )
}

/// Numbers of cells along each axis, and a scheme.
const CASES: &str = "\
    37: reconstruct: weno_z; riemann: hll; time: ssprk3;
    19 14: reconstruct: plm<limiter = van_leer> in primitive; riemann: force; time: ssprk2;
    18 13: reconstruct: weno5; riemann: rusanov; time: euler;
    11 9 8: reconstruct: plm<limiter = mc>; riemann: hll; time: euler;
    17 12: reconstruct: ppm in primitive; riemann: hllc; time: ssprk2;
    16 13: reconstruct: plm<limiter = minmod> in characteristic; riemann: roe<fix = 0.2>; time: ssprk2;
    17 11: reconstruct: waves<limiter = mc>; riemann: roe; time: euler;
    13 11: reconstruct: waves<limiter = none>; riemann: hlle; time: euler;
    13 12: reconstruct: weno5<eps = 1e-12> in fluxes; riemann: roe<average = cells>; time: euler;
    15 11: reconstruct: plm<limiter = mc>; riemann: hlle; sweep: dimensional; time: ssprk2;
    16 11: reconstruct: plm<limiter = mc> in primitive; riemann: between; time: ssprk2;
    15 12: reconstruct: weno5; riemann: fluxes; sweep: dimensional; time: euler;
    16 12: reconstruct: plm<limiter = mc> in primitive; riemann: hll; source: strang; time: ssprk2;
    14 13: reconstruct: ppm in primitive; riemann: force; sweep: dimensional; source: godunov; time: euler;
    14 11: reconstruct: plm<limiter = mc> in primitive; riemann: hll; sweep: strang; source: strang; time: ssprk2;
    9 8 7: reconstruct: waves<limiter = mc>; riemann: roe; sweep: strang; time: euler;
    15 12: reconstruct: weno5 in fluxes; riemann: roe<fix = 0.2>; time: ssprk2;
    9 8 7: reconstruct: weno_z in fluxes; riemann: rusanov; time: euler;
    14 11: reconstruct: plm<limiter = mc> in fluxes; riemann: hlle; sweep: strang; time: ssprk2;
    12 11: reconstruct: plm<limiter = mc>; riemann: roe<else = rusanov>; time: euler;
    17 12: reconstruct: ppm in primitive; riemann: hll; time: van_leer;
    13 11: reconstruct: plm<limiter = mc> in primitive; riemann: hllc; time: muscl_hancock;
    15 12: reconstruct: plm<limiter = van_leer>; riemann: hll; sweep: dimensional; time: muscl_hancock;
    14 11: reconstruct: plm<limiter = mc> in primitive; riemann: hll; source: strang; time: van_leer;
    8 7 6: reconstruct: plm<limiter = koren>; riemann: rusanov; time: corner_transport;
    13 11: reconstruct: ppm<follow = characteristics>; riemann: roe; time: corner_transport;
    12 11: reconstruct: waf<limiter = mc>; riemann: hlle; time: euler;
    15 12: reconstruct: plm<limiter = van_leer> in fluxes; riemann: rtvd; sweep: alternating; time: van_leer;
";

fn all_stages<T: Real>() {
    for line in CASES.lines() {
        let (counts, scheme) = line.split_once(": ").expect("cells and a scheme");
        let counts: Vec<usize> = counts.split_whitespace().flat_map(str::parse).collect();
        let cells = std::array::from_fn(|axis| counts.get(axis).copied().unwrap_or(1));
        let algorithm = algorithm_of(&water(counts.len(), scheme));
        let case = Case::new(&algorithm, cells.map(larger)).stepping(1e-3);
        Reference::<T>::of(&algorithm, case, STEPS).agree_in_turn(3);
    }
}

const STEPS: usize = 2;

/// Split steps give all fields new values each time, constant ones too: one box has all that is read alike.
#[test]
fn split_steps_have_one_box() {
    let scheme =
        "reconstruct: plm<limiter = mc> in primitive; riemann: hll; source: strang; time: euler;";
    let algorithm = algorithm_of(&water(2, scheme));
    let case = Case::new(&algorithm, [36, 12, 1]).stepping(1e-3);
    let schedule = text::parse("schedule kernel march loader=1 tile_x=32 chunk=8").or_panic();
    let compiled = compile(&algorithm, &schedule, &Target::new(4)).or_panic();
    assert!(compiled.kernels.len() == 3);
    for kernel in &compiled.kernels {
        let boxes: Vec<usize> = kernel.boxes().keys().map(Vec::len).collect();
        assert_eq!(boxes, [4]);
    }
    let found = interpreted::<f32>(&algorithm, &compiled, &case, 3, 5, Shadow::Full).or_panic();
    assert_eq!(differing(&found, &oracle(&algorithm, &case, 3)), 0);
}

/// Checks a range that reconstructed values leave, and no cell.
fn repaired<T: Real>() {
    for scheme in [
        "reconstruct: weno5; riemann: hll; time: ssprk2;",
        "reconstruct: plm<limiter = superbee>; riemann: hll; sweep: dimensional; time: euler;",
        "reconstruct: weno5 in primitive; riemann: hll; source: strang; time: euler;",
        "reconstruct: weno5 in primitive; riemann: hll; sweep: strang; time: euler;",
        "reconstruct: weno5; riemann: fluxes; time: ssprk2;",
        "reconstruct: weno5 in fluxes; riemann: rusanov; time: ssprk2;",
    ] {
        let text = water(2, scheme);
        let bare = algorithm_of(&text);
        let mut case = Case::new(&bare, [15, 12, 1]);
        case.dt = 0.02;
        // A river that is nowhere dry.
        case.means = vec![if text.contains(RIVER) { 0.4 } else { 0.0 }];
        let least = case.initial::<f64>(0).into_iter().fold(f64::INFINITY, f64::min);
        let bare_values = oracle::<T>(&bare, &case, STEPS);
        // The widest range that is left, and not so far that no flux keeps it.
        let kept = [1e-2, 5e-3, 3e-3, 2e-3, 1e-3, 1e-4].iter().find_map(|below| {
            let kept = format!("h: scalar where h > {};", least - below);
            let algorithm = algorithm_of(&text.replacen("h: scalar;", &kept, 1));
            let reference = oracle::<T>(&algorithm, &case, STEPS);
            let finite = reference.iter().flatten().all(|v| v.to_f64().is_finite());
            let is_repaired = finite && differing(&bare_values, &reference) > 0;
            is_repaired.then_some(algorithm)
        });
        let algorithm = kept.unwrap_or_else(|| panic!("nothing is repaired: {scheme}"));
        Reference::<T>::of(&algorithm, case, STEPS).agree_in_turn(3);
    }
}

#[test]
fn repaired_fluxes_have_the_same_bits_on_all_engines() {
    repaired::<f32>();
    repaired::<f64>();
}

#[test]
fn conservation_laws_have_the_same_bits_on_all_engines_in_f32() {
    all_stages::<f32>();
}

#[test]
fn conservation_laws_have_the_same_bits_on_all_engines_in_f64() {
    all_stages::<f64>();
}

/// Fluxes and speeds that depend on sources, by each way to evaluate fluxes.
const GIVEN: &str =
    "conserved q: scalar; conserved m: vector; source v: vector; source depth: scalar;
    let c = sqrt(depth^2 + 1);
    let flow = v + 0*m;
    flux q -> q*v + m;
    flux m -> outer(v, m) + c^2*q*I;
    waves { flow: v; sound: c; }
    riemann own {
        let fastest = abs(dot(below.flow, normal)) + max(below.c, above.c);
        flux q -> (flux(below.q) + flux(above.q))/2 - fastest/2*(above.q - below.q);
        flux m -> (flux(below.m) + flux(above.m))/2 - fastest/2*(above.m - below.m);
    }";

#[test]
fn fluxes_by_sources_have_the_same_bits_on_all_engines() {
    for (dimension, scheme) in [
        (2, "space: central<order = 4>; reconstruct: plm; riemann: roe; time: ssprk2;"),
        (1, "reconstruct: weno5 in characteristic; riemann: hlle; time: euler;"),
        (2, "reconstruct: weno5 in fluxes; riemann: rusanov; time: euler;"),
        (1, "reconstruct: plm; riemann: musta; time: euler;"),
        (2, "reconstruct: constant; riemann: rtvd; time: euler;"),
        (
            2,
            "space: central<order = 2>; reconstruct: waves<limiter = mc>; riemann: roe; time: euler;",
        ),
        (1, "reconstruct: ppm; riemann: own; time: ssprk2;"),
    ] {
        let text =
            format!("system Given in {dimension}d {{ {GIVEN} }} scheme s for Given {{ {scheme} }}");
        let algorithm = algorithm_of(&text);
        let cells = if dimension == 1 { [29, 1, 1] } else { [13, 11, 1] };
        let case = Case::new(&algorithm, cells.map(larger)).stepping(1e-3);
        Reference::<f64>::of(&algorithm, case, STEPS).agree_in_turn(3);
    }
}

/// Returns a gas whose arrays may have any values, with the exact solver of the library.
fn exact(dimension: usize, scheme: &str) -> Algorithm {
    let library = include_str!("../../../physics/src/systems/ideal_gas.rs");
    let from = library.find("/// The change of velocity").expect("its functions");
    let to = library.find("observe ").expect("its end");
    algorithm_of(&format!(
        "system Gas in {dimension}d {{
            conserved r: scalar; conserved m: vector; conserved e: scalar; param gamma: real = 1.4;
            let rho = r + 3 where rho > 0;
            let u = m / rho;
            let p = (gamma - 1)*(e + 9 - dot(m, u)/2);
            let c = sqrt(gamma*p/rho);
            flux r -> m;
            flux m -> outer(m, u) + p*I;
            flux e -> (e + 9 + p)*u;
            primitive {{ rho; u; p; r = rho - 3; m = rho*u; e = p/(gamma - 1) + rho*dot(u, u)/2 - 9; }}
            {}
        }}
        scheme s for Gas {{ riemann: exact; {scheme} repair: none; }}",
        &library[from..to]
    ))
}

fn exact_solver<T: Real>() {
    for (dimension, scheme, cells) in [
        (1, "reconstruct: plm<limiter = mc> in primitive; time: ssprk2;", [23, 1, 1]),
        (2, "reconstruct: constant in primitive; time: euler;", [9, 7, 1]),
    ] {
        let algorithm = exact(dimension, scheme);
        let case = Case::new(&algorithm, cells).stepping(1e-3);
        Reference::<T>::of(&algorithm, case, STEPS).agree_in_turn(3);
    }
}

#[test]
fn the_exact_solver_has_the_same_bits_on_all_engines() {
    exact_solver::<f32>();
    exact_solver::<f64>();
}

/// Water whose depth is found by a loop, in each state that a solver goes through.
fn solved(dimension: usize, scheme: &str) -> Algorithm {
    let function = SOLVERS.split("riemann").next().expect("the function before solvers");
    algorithm_of(&format!(
        "system Solved in {dimension}d {{
            conserved h: scalar; conserved m: vector;
            {function}
            let depth = root((h + 2)^2);
            let u = m/depth;
            flux h -> m;
            flux m -> outer(m, u) + depth^2/2*I;
        }}
        scheme s for Solved {{ {scheme} }}"
    ))
}

fn solved_states<T: Real>() {
    for (dimension, scheme, cells) in [
        (
            1,
            "reconstruct: plm<limiter = mc>; riemann: musta<stages = 2>; time: ssprk2;",
            [23, 1, 1],
        ),
        (2, "reconstruct: constant; riemann: force; time: euler;", [36, 9, 1]),
    ] {
        let algorithm = solved(dimension, scheme);
        // The fluxes along each axis are a function that is called for all states.
        assert_eq!(algorithm.defined().routines.len(), dimension);
        let case = Case::new(&algorithm, cells).stepping(1e-3);
        Reference::<T>::of(&algorithm, case, STEPS).agree_in_turn(3);
    }
}

#[test]
fn fluxes_that_are_called_have_the_same_bits_on_all_engines() {
    solved_states::<f32>();
    solved_states::<f64>();
}

/// Gas near the speed of light: the pressure by a loop in each cell, and the solver of the system or fluxes that are called.
fn relativistic<T: Real>() {
    for (dimension, scheme, cells) in [(1, "musta_force", [23, 1, 1]), (2, "plm_hllc", [12, 7, 1])]
    {
        let system = physics::systems::find_in("relativistic_gas", dimension).or_panic();
        let algorithm = system.with_scheme(scheme).or_panic().algorithm().clone();
        let mut case = Case::new(&algorithm, cells).stepping(1e-2);
        case.means = vec![1.0];
        case.means.resize(1 + dimension, 0.0);
        // More than charge and momentum together.
        case.means.push(2.5);
        let reference = Reference::<T>::of(&algorithm, case, STEPS);
        assert!(reference.fields.iter().flatten().all(|value| value.to_f64().is_finite()));
        reference.agree_in_turn(1);
    }
}

#[test]
fn a_relativistic_gas_has_the_same_bits_on_all_engines() {
    relativistic::<f32>();
    relativistic::<f64>();
}

#[test]
fn a_text_calls_the_fluxes_of_each_state_once() {
    let algorithm =
        solved(2, "reconstruct: plm<limiter = mc>; riemann: musta<stages = 2>; time: euler;");
    let schedule = text::parse("schedule kernel march").or_panic();
    let compiled = compile(&algorithm, &schedule, &Target::new(4)).or_panic();
    let text = device_text(compiled.kernels[0].clone(), Precision::F32);
    // For each face, the state between both sides three times, and two states of each forecast, whatever the number of components.
    for axis in ["x", "y"] {
        let calls = text.matches(&format!("= stencil_fluxes_{axis}(")).count();
        assert!(calls > 0 && calls.is_multiple_of(3 + 2 * 2), "{calls} {axis}\n{text}");
        assert_eq!(text.matches(&format!(" stencil_fluxes_{axis}(float")).count(), 1);
    }
    let Some(nvrtc) = compiler() else {
        return;
    };
    let found = resources(nvrtc, &text, ARCH);
    assert_eq!(found.spill_stores, 0, "{found:?}");
}

#[test]
fn the_exact_solver_compiles_without_a_device() {
    let Some(nvrtc) = compiler() else {
        return;
    };
    let algorithm = exact(1, "reconstruct: plm<limiter = mc> in primitive; time: euler;");
    for precision in [Precision::F32, Precision::F64] {
        let preset = presets::ALL.iter().find(|preset| preset.name == "gpu");
        let schedule = preset.expect("it is there").schedule(&algorithm, precision);
        let compiled = compile(&algorithm, &schedule, &Target::new(precision.bytes())).or_panic();
        let blocks = compiled.kernels.into_iter();
        for kernel in blocks.filter(|kernel| kernel.launch.kind == LaunchKind::Blocks) {
            let found = resources(nvrtc, &device_text(kernel, precision), ARCH);
            assert_eq!(found.spill_stores, 0, "{} {found:?}", precision.name());
        }
    }
}

#[test]
fn each_way_to_place_that_a_search_begins_with_gives_the_same_bits() {
    for (dimension, cells) in [(2, [35, 11, 1]), (3, [34, 6, 9])] {
        let source =
            water(dimension, "reconstruct: weno_z in primitive; riemann: rusanov; time: ssprk2;");
        let algorithm = algorithm_of(&source);
        let case = Case::new(&algorithm, cells);
        let expected = oracle::<f64>(&algorithm, &case, 1);
        let march = Blocking::new("march", &[("tile_x", 32), ("tile_y", 4)]);
        let mut tried = 0;
        for placements in search::placements(&algorithm) {
            let schedule = Schedule::placing(placements).blocked(&algorithm, march.clone());
            let Ok(compiled) = compile(&algorithm, &schedule, &Target::new(8)) else {
                continue;
            };
            tried += 1;
            let found = interpreted(&algorithm, &compiled, &case, 1, 5, Shadow::Full)
                .unwrap_or_else(|fault| panic!("{fault}\n{}", text::print(&schedule)));
            let wrong = differing(&expected, &found);
            assert_eq!(wrong, 0, "{dimension}d: {}", text::print(&schedule));
        }
        assert!(tried > 6, "{tried} of the ways are legal in {dimension}d");
    }
}

/// A sum that begins with a value of a queue is set before that queue moves on.
#[test]
fn a_sum_begins_with_what_was_there_before_queues_move() {
    let algorithm = algorithm_of(
        "system Mean in 2d {
            conserved q: scalar; field v: vector;
            let s = q*q;
            flux q -> s*v;
            ddt(v) = 0*v;
            riemann own {
                let both = below.s + above.s;
                let flow = dot(below.v + above.v, normal)/2;
                flux q -> both*flow/2 - abs((below.q + above.q)*flow)/2*(above.q - below.q);
            }
        }
        scheme s for Mean { reconstruct: constant; riemann: own; time: euler; }",
    );
    let case = Case::new(&algorithm, [36, 12, 1]).stepping(1e-3);
    let reference = oracle::<f32>(&algorithm, &case, STEPS);
    for column in 0..3 {
        let schedule = format!(
            "schedule place s shared place both_y_face carried kernel march column={column}"
        );
        let schedule = text::parse(&schedule).or_panic();
        let compiled = compile(&algorithm, &schedule, &Target::new(4)).or_panic();
        let found =
            interpreted::<f32>(&algorithm, &compiled, &case, STEPS, 3, Shadow::Full).or_panic();
        assert_eq!(differing(&found, &reference), 0, "column={column}");
    }
}
