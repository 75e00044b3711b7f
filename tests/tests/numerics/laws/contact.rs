//! Contacts and shear: a solver that knows the middle wave keeps them, the others smear them.

use stencil_runtime::Simulation;
use stencil_tests::{OrPanic, Runs};

use super::{EULER, SOLVERS, law, started};

const N: usize = 24;

/// The solvers that know the middle wave.
const KNOWING: [&str; 3] = ["exact", "hllc", "roe"];

/// A run of a gas of one pressure with a dense middle, which slides along the layers.
fn layered(reconstruct: &str, riemann: &str, slide: f64) -> Simulation<f64> {
    let system = law(EULER, 2, reconstruct, riemann);
    let mut simulation = started::<f64>(&system, [N, 4, 1], false, None);
    let rho = |x: f64| if (x - 0.5).abs() < 0.25 { 3.0 } else { 1.0 };
    let along = move |x: f64| slide * (rho(x) - 2.0);
    simulation.fill("rho", |x, _, _| rho(x));
    simulation.fill("m_y", |x, _, _| rho(x) * along(x));
    simulation.fill("e", |x, _, _| 1.0 / 0.4 + 0.5 * rho(x) * along(x).powi(2));
    simulation
}

/// Returns the largest change of density and of momentum along the layers in some steps.
fn change(reconstruct: &str, riemann: &str, slide: f64) -> f64 {
    let mut simulation = layered(reconstruct, riemann, slide);
    let values = |s: &Simulation<f64>| ["rho", "m_y"].map(|name| s.values(name));
    let before = values(&simulation);
    simulation.steps(20);
    let after = values(&simulation);
    let changes = before.iter().zip(&after);
    let changes = changes.flat_map(|(a, b)| (a - b).into_iter().map(f64::abs));
    changes.fold(0.0, f64::max)
}

#[test]
fn contacts_at_rest_stay_as_they_are() {
    for reconstruct in ["constant", "plm<limiter = mc>", "ppm", "weno_z"] {
        for variables in ["", " in primitive"] {
            let reconstruct = format!("{reconstruct}{variables}");
            for riemann in KNOWING {
                let moved = change(&reconstruct, riemann, 0.0);
                assert!(moved < 1e-13, "{riemann}, {reconstruct}: {moved}");
            }
        }
    }
    for riemann in SOLVERS.into_iter().filter(|riemann| !KNOWING.contains(riemann)) {
        let moved = change("plm<limiter = mc> in primitive", riemann, 0.0);
        assert!(moved > 0.1, "{riemann}: {moved}");
    }
}

/// Pressure is not linear in the conserved variables, so primitives have to be reconstructed, or nothing.
#[test]
fn layers_that_slide_along_each_other_stay_as_they_are() {
    for reconstruct in ["constant", "plm<limiter = mc> in primitive", "ppm in primitive"] {
        for riemann in KNOWING {
            let moved = change(reconstruct, riemann, 0.3);
            assert!(moved < 1e-13, "{riemann}, {reconstruct}: {moved}");
        }
        let moved = change(reconstruct, "hll", 0.3);
        assert!(moved > 0.1, "{reconstruct}: {moved}");
    }
}

/// Returns the conserved variables of a gas and their flux, from density, velocity and pressure.
fn conserved([rho, u, p]: [f64; 3]) -> [[f64; 3]; 2] {
    let e = p / 0.4 + 0.5 * rho * u * u;
    [[rho, rho * u, e], [rho * u, rho * u * u + p, (e + p) * u]]
}

/// Returns the flux of HLLC in print (Toro 2009, 10.37-39, 10.71-73), with the speeds of Batten et al. 1997, 17-18.
fn in_print(below: [f64; 3], above: [f64; 3]) -> [f64; 3] {
    let sound = |[rho, _, p]: [f64; 3]| (1.4 * p / rho).sqrt();
    let enthalpy = |state: [f64; 3]| (conserved(state)[0][2] + state[2]) / state[0];
    let roots = [below[0].sqrt(), above[0].sqrt()];
    let mean = |a: f64, b: f64| (roots[0] * a + roots[1] * b) / (roots[0] + roots[1]);
    let u = mean(below[1], above[1]);
    let c = (0.4 * (mean(enthalpy(below), enthalpy(above)) - 0.5 * u * u)).sqrt();
    let slowest = (below[1] - sound(below)).min(u - c);
    let fastest = (above[1] + sound(above)).max(u + c);
    let masses = [below[0] * (slowest - below[1]), above[0] * (fastest - above[1])];
    let contact = (above[2] - below[2] + masses[0] * below[1] - masses[1] * above[1])
        / (masses[0] - masses[1]);
    let star = |state: [f64; 3], speed: f64| {
        let [q, f] = conserved(state);
        let [rho, u, p] = state;
        let factor = rho * (speed - u) / (speed - contact);
        let energy = q[2] / rho + (contact - u) * (contact + p / (rho * (speed - u)));
        let between = [factor, factor * contact, factor * energy];
        std::array::from_fn(|k| f[k] + speed * (between[k] - q[k]))
    };
    match (0.0 <= slowest, 0.0 <= contact, 0.0 <= fastest) {
        (true, ..) => conserved(below)[1],
        (false, true, _) => star(below, slowest),
        (false, false, true) => star(above, fastest),
        (false, false, false) => conserved(above)[1],
    }
}

#[test]
fn the_contact_is_that_in_print() {
    let states = [
        [1.0, 0.0, 1.0],
        [0.125, 0.3, 0.1],
        [1.0, 0.75, 1.0],
        [1.0, -19.6, 1000.0],
        [1.0, -19.6, 0.01],
        [6.0, 19.6, 460.9],
        [6.0, -6.2, 46.1],
        [1.4, 0.1, 1.0],
        [1.0, -0.1, 1.0],
        [0.4, 5.0, 0.2],
        [0.5, 5.1, 0.3],
    ];
    let n = states.len();
    let system = law(EULER, 1, "constant", "hllc").model().clone();
    let text = stencil_compiler::model::text::print(&system).replace("ssprk3", "euler");
    let system = stencil_runtime::SystemDef::from_text("Euler", &text).or_panic();
    let dt = 1e-4;
    let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(dt));
    for (k, name) in ["rho", "m_x", "e"].into_iter().enumerate() {
        simulation.fill(name, |x, _, _| conserved(states[(x * n as f64) as usize])[0][k]);
    }
    simulation.step().or_panic();
    for (k, name) in ["rho", "m_x", "e"].into_iter().enumerate() {
        let found = simulation.values(name);
        for i in 0..n {
            let (own, next) = (states[i], states[(i + 1) % n]);
            let flux = in_print(own, next)[k] - in_print(states[(i + n - 1) % n], own)[k];
            let exact = conserved(own)[0][k] - dt * n as f64 * flux;
            let size = 1.0 + conserved(own)[0][k].abs() + dt * n as f64 * flux.abs();
            let error = (found[[0, 0, i]] - exact).abs() / size;
            assert!(error < 1e-12, "{name}, {i}: {} {exact}", found[[0, 0, i]]);
        }
    }
}
