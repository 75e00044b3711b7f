//! Properties of every solver and every reconstruction: states and sums are kept, no new extrema, mirror images to the
//! bit.

use std::sync::LazyLock;

use stencil_compiler::catalogue::integrators;
use stencil_compiler::model::to_f64;
use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::predictors::predicted;
use super::{
    ADVECTION, EULER, RECONSTRUCTIONS, SOLVERS, WATER, choices, law, pairs, pairs_in_turn, started,
};

/// A gas in 2d with the pairs whose turn it is, with all sweeps, and with all predictors.
static GASES: LazyLock<Vec<(String, SystemDef)>> = LazyLock::new(|| {
    let swept = ["dimensional", "strang"].into_iter().flat_map(|sweep| {
        [("plm<limiter = mc> in primitive", "hllc"), ("waves<limiter = mc>", "roe")]
            .map(|(made, riemann)| (made.to_string(), format!("{riemann}; sweep: {sweep}")))
    });
    let pairs = pairs_in_turn().map(|(r, s)| (r, s.to_string()));
    let all = pairs.chain(swept);
    let all = all.map(|(r, s)| (format!("{s}, {r}"), law(EULER, 2, &r, &s)));
    all.chain(predicted(EULER, 2)).collect()
});

const CELLS: [usize; 3] = [18, 14, 1];

/// Returns a gas in motion with a dense square in it.
fn moving(system: &SystemDef) -> Simulation<f64> {
    let mut simulation = started::<f64>(system, CELLS, false, Some(2e-3));
    let square = |x: f64, y: f64| (x - 0.4).abs() < 0.2 && (y - 0.6).abs() < 0.25;
    let rho = move |x: f64, y: f64| if square(x, y) { 2.0 } else { 1.0 };
    simulation.fill("rho", |x, y, _| rho(x, y));
    simulation.fill("m_x", |x, y, _| 0.7 * rho(x, y) * (6.0 * y).sin());
    simulation.fill("m_y", |x, y, _| -0.3 * rho(x, y) * (6.0 * x).cos());
    simulation.fill("e", |x, y, _| 2.5 + rho(x, y));
    simulation
}

const COMPONENTS: [&str; 4] = ["rho", "m_x", "m_y", "e"];

#[test]
fn what_flows_out_of_a_cell_flows_into_the_next() {
    for (name, system) in GASES.iter() {
        let mut simulation = moving(system);
        let sums = |s: &Simulation<f64>| COMPONENTS.map(|c| s.flat(c).iter().sum::<f64>());
        let before = sums(&simulation);
        simulation.steps(20);
        for (a, b) in before.iter().zip(sums(&simulation)) {
            assert!((a - b).abs() < 1e-11, "{name}: {a} {b}");
        }
        assert!(simulation.flat("rho").iter().all(|rho| *rho > 0.5), "{name}");
    }
}

#[test]
fn a_uniform_state_keeps_its_bits() {
    for (name, system) in GASES.iter() {
        let mut simulation = started::<f64>(system, CELLS, false, Some(2e-3));
        for (component, value) in COMPONENTS.iter().zip([1.3, 0.4, -0.2, 2.9]) {
            simulation.fill(component, |_, _, _| value);
        }
        simulation.steps(5);
        for (component, value) in COMPONENTS.iter().zip([1.3, 0.4, -0.2, 2.9]) {
            let same = simulation.flat(component).iter().all(|v| *v == value);
            assert!(same, "{name}: {component}");
        }
    }
}

#[test]
fn mirror_images_have_mirrored_bits() {
    let mut wrong = String::new();
    for (name, system) in GASES.iter() {
        let mut straight = moving(system);
        let before = COMPONENTS.map(|component| straight.values(component));
        straight.steps(6);
        let after = COMPONENTS.map(|component| straight.values(component));
        for axis in 0..2 {
            let sign = |i: usize| if i == axis + 1 { -1.0 } else { 1.0 };
            let mut mirrored = moving(system);
            for (i, component) in COMPONENTS.iter().enumerate() {
                let flipped = flip(&before[i], axis).mapv(|v| sign(i) * v);
                mirrored.set_array(component, flipped.view()).or_panic();
            }
            mirrored.steps(6);
            for (i, component) in COMPONENTS.iter().enumerate() {
                let found = mirrored.values(component);
                if found != flip(&after[i], axis).mapv(|v| sign(i) * v) {
                    wrong += &format!("{name}: {component} along axis {axis}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn flip(array: &ndarray::Array3<f64>, axis: usize) -> ndarray::Array3<f64> {
    let mut view = array.view();
    view.invert_axis(ndarray::Axis(2 - axis));
    view.to_owned()
}

/// Returns the sum of all steps between neighbours before and after a box and a triangle are carried, by this Courant number.
fn variations(system: &SystemDef, courant: f64) -> [f64; 2] {
    let n = 40;
    let dt = courant / f64::from(n);
    let mut simulation = started::<f64>(system, [n as usize, 1, 1], false, Some(dt));
    simulation.fill("q", |x, _, _| {
        let step = f64::from(u8::from((x - 0.3).abs() < 0.15));
        step + (1.0 - ((x - 0.7) / 0.15).abs()).max(0.0)
    });
    let variation = |values: &[f64]| -> f64 {
        let next = values.iter().cycle().skip(1);
        values.iter().zip(next).map(|(a, b)| (a - b).abs()).sum()
    };
    let before = variation(&simulation.flat("q"));
    simulation.steps(60);
    [before, variation(&simulation.flat("q"))]
}

/// The sum of all steps between neighbours does not grow, except for the reconstruction without a limit, and for those
/// that are only essentially non-oscillatory.
#[test]
fn limited_lines_make_no_new_extrema() {
    for reconstruct in RECONSTRUCTIONS.iter().copied() {
        let system = law(ADVECTION, 1, reconstruct, "hll");
        let [before, after] = variations(&system, 0.4);
        let allowed = match reconstruct {
            "plm<limiter = central>" => before * 1.5,
            "weno5" | "weno_z" => before * 1.01,
            _ => before * (1.0 + 1e-14),
        };
        assert!(after <= allowed, "{reconstruct}: {before} {after}");
        let is_free = reconstruct == "plm<limiter = central>";
        assert_eq!(after > before * 1.02, is_free, "{reconstruct}: {before} {after}");
    }
}

/// Steps that are made of means of Euler steps keep what these keep, each as many times as long.
#[test]
fn steps_of_strong_stability_make_no_new_extrema() {
    for integrator in integrators::ALL {
        let Some(times) = (integrator.tableau)().euler_steps() else {
            continue;
        };
        for (made, courant) in [("constant", 1.0), ("superbee", 0.5), ("koren", 0.5)] {
            let made = match made {
                "constant" => made.to_string(),
                limiter => format!("plm<limiter = {limiter}>"),
            };
            let time = integrator.name;
            let text = format!(
                "{ADVECTION} scheme s for Advection {{ reconstruct: {made}; riemann: hll; time: {time}; }}"
            );
            let system = SystemDef::from_text("Advection", &text);
            let system = system.unwrap_or_else(|e| panic!("{e}"));
            let [before, after] = variations(&system, courant * to_f64(&times));
            assert!(after <= before * (1.0 + 1e-13), "{time}, {made}: {before} {after}");
        }
    }
}

/// The bounds of `hybrid` leave only the smaller difference with a parameter of one, and the harmonic mean with two.
#[test]
fn the_hybrid_limiter_lies_between_minmod_and_van_leer() {
    let after = |limiter: &str| {
        let system = law(ADVECTION, 1, &format!("plm<limiter = {limiter}>"), "hll");
        let mut simulation = started::<f64>(&system, [40, 1, 1], false, Some(0.01));
        simulation.fill("q", |x, _, _| (6.0 * x).sin().exp());
        simulation.steps(20);
        simulation.flat("q")
    };
    let apart = |a: &str, b: &str| {
        let (a, b) = (after(a), after(b));
        a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    for (theta, same, other) in [("1", "minmod", "van_leer"), ("2", "van_leer", "minmod")] {
        let hybrid = format!("hybrid, theta = {theta}");
        assert!(apart(&hybrid, same) < 1e-14, "{theta}");
        assert!(apart(&hybrid, other) > 1e-3, "{theta}");
    }
    for other in ["minmod", "van_leer", "generalized_minmod, theta = 1.5"] {
        assert!(apart("hybrid, theta = 1.5", other) > 1e-4, "{other}");
    }
}

/// All solvers, reconstructions and limiters of the language are among those that the tests here and beside try.
#[test]
fn none_is_left_out() {
    let tried = pairs();
    for solver in choices("riemann", "none") {
        assert!(tried.iter().any(|(_, tried)| *tried == solver), "{solver}");
    }
    for made in choices("reconstruct", "none") {
        let is_tried = tried.iter().any(|(tried, _)| tried.starts_with(&made));
        assert!(is_tried, "{made}");
    }
    for limiter in choices("reconstruct", "waves<limiter = unknown>") {
        let texts = ["plm", "waves"].map(|made| format!("{made}<limiter = {limiter}"));
        let is = |made: &str| texts.iter().any(|text| made.starts_with(text));
        assert!(tried.iter().any(|(made, _)| is(made)), "{limiter}");
    }
}

/// Without reconstruction solvers are monotone: from a dam that broke on the water only falls, and the flow rises and
/// falls once. Two exact waves leave a dip of less than a hundredth at their start.
#[test]
fn solvers_make_no_new_extrema() {
    for riemann in SOLVERS {
        let system = law(WATER, 1, "constant", riemann);
        // Waves of neighbouring faces do not meet.
        let mut simulation = started::<f64>(&system, [60, 1, 1], true, Some(3e-3));
        simulation.fill("h", |x, _, _| if x < 0.5 { 3.0 } else { 1.0 });
        simulation.steps(25);
        let [h, m] = ["h", "m_x"].map(|name| simulation.flat(name));
        let u: Vec<f64> = m.iter().zip(&h).map(|(m, h)| m / h).collect();
        let variation =
            |all: &[f64]| all.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>();
        let highest = u.iter().copied().fold(0.0, f64::max);
        let dip = (variation(&h) / (h[0] - h[59]) - 1.0).abs();
        let allowed = if ["exact", "roe"].contains(&riemann) { 0.01 } else { 1e-13 };
        assert!(dip < allowed, "{riemann}: {dip}");
        let more = variation(&u) - (2.0 * highest - u[0] - u[59]);
        assert!(more.abs() < 1e-13 && highest > 0.6, "{riemann}: {more} {highest}");
    }
}
