//! Waves of small amplitude in a gas in space: both sounds, entropy and both shears, each along several wavevectors.

use std::f64::consts::TAU;

use ndarray::Array3;
use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::{Runs, takes_in_turn};

use super::{EULER, law, started};

const GAMMA: f64 = 1.4;
const SMALL: f64 = 1e-6;
const NAMES: [&str; 5] = ["rho", "m_x", "m_y", "m_z", "e"];

/// A family's amplitudes in density, velocity and pressure (Toro 2009, section 3.2.2), and its speed.
struct Family {
    name: &'static str,
    rho: f64,
    u: [f64; 3],
    p: f64,
    speed: f64,
    /// Velocity of the gas.
    flow: [f64; 3],
}

/// Returns all families along a unit vector; `sign` turns them round. Contacts and shear go with the flow.
fn families(along: [f64; 3], across: [[f64; 3]; 2], sign: f64) -> [Family; 5] {
    let c = GAMMA.sqrt();
    let still = [0.0; 3];
    let times = |a: f64, v: [f64; 3]| v.map(|v| a * v);
    let sound = |name, direction: f64| Family {
        name,
        rho: 1.0,
        u: times(sign * direction * c, along),
        p: c * c,
        speed: sign * direction * c,
        flow: still,
    };
    let carried =
        |name, rho, u| Family { name, rho, u, p: 0.0, speed: sign, flow: times(sign, along) };
    [
        sound("sound ahead", 1.0),
        sound("sound back", -1.0),
        carried("entropy", 1.0, still),
        carried("shear", 0.0, times(sign, across[0])),
        carried("other shear", 0.0, times(sign, across[1])),
    ]
}

/// Returns the conserved variables at a place, from the middle of the box, and a time.
fn state(family: &Family, k: [f64; 3], at: [f64; 3], t: f64) -> [f64; 5] {
    let size = k.iter().map(|k| k * k).sum::<f64>().sqrt();
    let phase = k[0] * at[0] + k[1] * at[1] + k[2] * at[2] - family.speed * size * t;
    let wave = SMALL * (TAU * phase).cos();
    let rho = 1.0 + wave * family.rho;
    let u: [f64; 3] = std::array::from_fn(|i| family.flow[i] + wave * family.u[i]);
    let square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    let e = (1.0 + wave * family.p) / (GAMMA - 1.0) + 0.5 * rho * square;
    [rho, rho * u[0], rho * u[1], rho * u[2], e]
}

/// Returns the mean error of all components over the amplitude, after a fifth of a period or so, and the components.
fn run(system: &SystemDef, family: &Family, k: [f64; 3], n: usize) -> (f64, [Array3<f64>; 5]) {
    let dt = 0.1 / n as f64;
    let mut simulation: Simulation<f64> = started(system, [n; 3], false, Some(dt));
    for (c, name) in NAMES.into_iter().enumerate() {
        simulation.fill(name, |x, y, z| state(family, k, [x - 0.5, y - 0.5, z - 0.5], 0.0)[c]);
    }
    simulation.steps(n);
    let found = NAMES.map(|name| simulation.values(name));
    let (mut error, t) = (0.0, dt * n as f64);
    let at = |i: usize| (i as f64 + 0.5) / n as f64 - 0.5;
    for (c, found) in found.iter().enumerate() {
        for ((l, j, i), value) in found.indexed_iter() {
            error += (value - state(family, k, [at(i), at(j), at(l)], t)[c]).abs();
        }
    }
    (error / SMALL / (n as f64).powi(3), found)
}

/// Each family, in turn, is of second order, and its image in the middle of the box has the bits of that: waves to the left have
/// the error of waves to the right.
#[test]
fn all_waves_of_a_gas_travel_alike_to_both_sides() {
    let half = 0.5f64.sqrt();
    let diagonal = (1.0 / 3f64).sqrt();
    let sixth = (1.0 / 6f64).sqrt();
    let wavevectors = [
        ([0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        ([1.0, 1.0, 1.0], [diagonal; 3], [[half, -half, 0.0], [sixth, sixth, -2.0 * sixth]]),
    ];
    let mut number = 0;
    for scheme in [["plm<limiter = central> in primitive", "hllc"], ["weno_z", "roe"]] {
        let system = law(EULER, 3, scheme[0], scheme[1]);
        for (k, along, across) in wavevectors {
            let [ahead, back] = [1.0, -1.0].map(|sign| families(along, across, sign));
            for (family, image) in ahead.iter().zip(&back) {
                number += 1;
                if !takes_in_turn::<f64>(number) {
                    continue;
                }
                let name = format!("{scheme:?}, {} along {k:?}", family.name);
                let [(coarse, _), (fine, found)] = [8, 16].map(|n| run(&system, family, k, n));
                let order = (coarse / fine).log2();
                println!("{name}: {coarse:.2e} {fine:.2e}, order {order:.2}");
                assert!(order > 1.9, "{name}: {coarse} {fine}");
                let (_, mirrored) = run(&system, image, k, 16);
                for (c, (found, mut mirrored)) in found.iter().zip(mirrored).enumerate() {
                    (0..3).for_each(|axis| mirrored.invert_axis(ndarray::Axis(axis)));
                    let sign = if (1..4).contains(&c) { -1.0 } else { 1.0 };
                    assert_eq!(*found, mirrored.mapv(|v| sign * v), "{name}, {}", NAMES[c]);
                }
            }
        }
    }
}
