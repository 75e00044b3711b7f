//! Primitive variables by an equation that is solved in each cell: a gas near the speed of light.

use stencil_runtime::{Axis, Boundary, Simulation, SystemDef};
use stencil_tests::OrPanic;

/// Relativistic hydrodynamics in units of the speed of light (Martí and Müller, Living Rev. Relativ. 6, 7, 2003, Eqs. 3 to 12). The pressure
/// is found by Newton's method (Aloy et al., Astrophys. J. Suppl. 122, 151, 1999).
const GAS: &str = "
system RelativisticGas in 1d {
    conserved D: scalar [kg/m^3] where D > 0;
    conserved S: vector;
    conserved tau: scalar where tau > 0;
    param gamma: real [1] = 5/3 where gamma > 1 and gamma <= 2;

    fn pressure(D: scalar, S: vector, tau: scalar) -> scalar {
        let size = sqrt(dot(S, S));
        let least = max(size - tau - D, 0);
        let mut p = max(least*(1 + 1e-3) , (gamma - 1)*max(tau - size^2/(2*(D + tau)), 0));
        for i in 0..30 {
            let whole = tau + D + p;
            let v2 = dot(S, S)/whole^2;
            let w = 1/sqrt(1 - v2);
            let heat = tau + D*(1 - w) + p*(1 - w^2);
            let found = (gamma - 1)*heat/w^2;
            let step = (found - p)/(1 - v2*gamma*found/(found + whole/w^2 - p));
            p = max(p + step, p/2 + least/2);
            until(abs(step) <= 1e-5*p);
        }
        p
    }
    let p = pressure(D, S, tau);
    let u = S/(tau + D + p);
    let w2 = 1/(1 - dot(u, u));
    let rho = D/sqrt(w2);
    let c2 = gamma*p/(rho + gamma/(gamma - 1)*p);
    let slow = 1/(1 - dot(u, u)*c2);
    flux D -> D*u;
    flux S -> outer(S, u) + p*I;
    flux tau -> S - D*u;
    primitive { rho; u; p;
        D = rho/sqrt(1 - dot(u, u));
        S = (rho + gamma/(gamma - 1)*p)/(1 - dot(u, u))*u;
        tau = (rho + gamma/(gamma - 1)*p)/(1 - dot(u, u)) - p - rho/sqrt(1 - dot(u, u));
    }
    waves { flow: (1 - c2)*slow*u; sound: sqrt(c2*(1 - dot(u, u))*slow); }
    observe mass = mean(D);
}
scheme plm_hll for RelativisticGas { reconstruct: plm<limiter = mc> in primitive; riemann: hll; time: ssprk2; repair: none; }
";

/// A blast into gas without pressure (problem 1 of Martí and Müller): the state behind its shock.
#[test]
fn a_relativistic_blast_is_as_in_print() {
    let system = SystemDef::from_text("gas.pde", GAS).or_panic();
    let builder = Simulation::<f64>::builder(&system).cells([400, 1, 1]);
    let builder = builder.centered(true).boundary(Axis::X, Boundary::outflow());
    let mut simulation = builder.cfl(0.4).build().or_panic();
    let left = |x: f64| if x < 0.5 { 1.0 } else { 0.0 };
    simulation.set("D", |x, _, _| 1.0 + 9.0 * left(x)).unwrap();
    simulation.set("tau", |x, _, _| 1.5e-6 + 19.995 * left(x)).unwrap();
    simulation.run_until(0.4, |_, _| ()).or_panic();
    let [d, s, tau] = ["D", "S_x", "tau"].map(|name| simulation.to_f64(name).unwrap());
    // Sides of the contact in the published state: pressure 1.448 and velocity 0.714, with densities 2.639 and 5.071.
    let state = |p: f64, v: f64, rho: f64| {
        let w2 = 1.0 / (1.0 - v * v);
        let whole = (rho + 2.5 * p) * w2;
        [rho * w2.sqrt(), whole * v, whole - p - rho * w2.sqrt()]
    };
    for (x, rho) in [(0.7, 2.639), (0.805, 5.071)] {
        let i = (x * 400.0) as usize;
        let expected = state(1.448, 0.714, rho);
        let found = [&d, &s, &tau].map(|values| values[[0, 0, i]]);
        for (found, expected) in found.into_iter().zip(expected) {
            println!("{x}: {found:.4} {expected:.4}");
            assert!((found / expected - 1.0).abs() < 0.03, "{x}: {found} {expected}");
        }
    }
}

/// An equation without a solution stops the run, and the message names it.
#[test]
fn a_state_without_a_pressure_stops_the_run() {
    let system = SystemDef::from_text("gas.pde", GAS).or_panic();
    let builder = Simulation::<f64>::builder(&system).cells([8, 1, 1]);
    let mut simulation = builder.dt(1e-3).build().or_panic();
    simulation.set("D", |_, _, _| 1.0).unwrap();
    simulation.set("tau", |_, _, _| 1.0).unwrap();
    // Faster than light, whatever the pressure.
    simulation.set("S_x", |x, _, _| if x > 0.8 { f64::MAX } else { 0.0 }).unwrap();
    let message = simulation.run(3, |_, _| ()).unwrap_err().to_string();
    assert!(message.contains("pressure") && message.contains("30 iterations"), "{message}");
}
