//! Another solver at faces where the law made linear fails.

use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::exact::{GAMMA, Gas, gas};
use super::{EULER, error_of_fan, started, with_solver};

/// A gas whose density and pressure are positive, started with two streams.
fn streams(riemann: &str, [left, right]: [Gas; 2], n: usize) -> Simulation<f64> {
    let text = with_solver(EULER, "exact");
    let text = text.replacen("rho: scalar;", "rho: scalar where rho > 0;", 1);
    let text = text.replacen("dot(m, u)/2);", "dot(m, u)/2) where p > 0;", 1);
    let text = format!(
        "{text} scheme s for Euler {{ reconstruct: constant; riemann: {riemann}; time: euler; repair: none; }}"
    );
    let system = SystemDef::from_text_in("Euler", &text, Some(1)).or_panic();
    let mut simulation = started::<f64>(&system, [n, 1, 1], true, Some(0.1 / n as f64));
    let at = |x: f64| if x < 0.5 { left } else { right };
    simulation.fill("rho", |x, _, _| at(x).rho);
    simulation.fill("m_x", |x, _, _| at(x).rho * at(x).u);
    simulation.fill("e", |x, _, _| at(x).p / (GAMMA - 1.0) + 0.5 * at(x).rho * at(x).u * at(x).u);
    simulation
}

fn state(rho: f64, u: f64, p: f64) -> Gas {
    Gas { rho, u, p, gamma: GAMMA }
}

fn values(simulation: &Simulation<f64>) -> [Vec<f64>; 3] {
    ["rho", "m_x", "e"].map(|name| simulation.flat(name))
}

fn counted(simulation: &Simulation<f64>) -> u64 {
    simulation.repairs().or_panic().expect("a count").sum()
}

/// Roe's flux would leave a negative density between streams that part (Einfeldt et al., J. Comput. Phys. 92, 273, 1991, Fig. 2; Toro
/// 2009, test 2): the face between them has the other flux, to the bit, and the fan has its exact solution.
#[test]
fn streams_that_part_have_the_flux_of_the_other_solver() {
    let both = [state(1.0, -2.0, 0.4), state(1.0, 2.0, 0.4)];
    for other in ["hlle", "hllc", "exact", "rusanov"] {
        let mut chosen = streams(&format!("roe<else = {other}>"), both, 40);
        let mut alone = streams(other, both, 40);
        chosen.steps(1);
        alone.steps(1);
        assert_eq!(values(&chosen), values(&alone), "{other}");
        assert_eq!(counted(&chosen), 1, "{other}");
        chosen.steps(30);
        let rho = chosen.flat("rho");
        assert!(rho.iter().all(|rho| *rho > 0.0), "{other}");
        let mirrored: Vec<f64> = rho.iter().rev().copied().collect();
        assert_eq!(rho, mirrored, "{other}");
    }
    let mut alone = streams("roe", both, 40);
    let mut other = streams("hlle", both, 40);
    alone.steps(1);
    other.steps(1);
    assert!(values(&alone) != values(&other) && alone.repairs().or_panic().is_none());
    let error = |n: usize| {
        let mut simulation = streams("roe<else = hlle>", both, n);
        error_of_fan(&mut simulation, "rho", 0.15, |s| gas(both[0], both[1], s).rho).or_panic()
    };
    let [coarse, fine] = [50, 200].map(error);
    println!("{coarse:.4} {fine:.4}");
    assert!(fine < 0.03 && fine < 0.6 * coarse, "{coarse} {fine}");
}

#[test]
fn a_tube_has_the_fluxes_of_roe_alone() {
    let both = [state(1.0, 0.0, 1.0), state(0.125, 0.0, 0.1)];
    let mut chosen = streams("roe<else = hlle>", both, 60);
    let mut alone = streams("roe", both, 60);
    chosen.steps(30);
    alone.steps(30);
    assert_eq!(values(&chosen), values(&alone));
    assert_eq!(counted(&chosen), 0);
}
