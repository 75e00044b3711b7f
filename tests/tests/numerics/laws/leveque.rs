//! Unsplit wave propagation beside the method as its author gives it (LeVeque 2002, sections 6.15, 18.4, 21.2), written
//! here for sound alone, with fluctuations, limited waves and transverse corrections face by face.

use std::f64::consts::TAU;

use stencil_runtime::Simulation;
use stencil_tests::{OrPanic, Runs};

use super::{law, started};

/// Sound of speed one.
const SOUND: &str = "system Sound in 2d {
    conserved p: scalar; conserved u: vector;
    flux p -> u;
    flux u -> p*I;
}";

/// Pressure and both velocities.
type State = [f64; 3];

fn plus(a: State, b: State, share: f64) -> State {
    [0, 1, 2].map(|k| a[k] + share * b[k])
}

fn dot(a: State, b: State) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns the waves of a jump along an axis: of speed -1, and of speed 1.
fn waves(jump: State, axis: usize) -> [State; 2] {
    [-1.0, 1.0].map(|sign| {
        let strength = (jump[0] + sign * jump[1 + axis]) / 2.0;
        let mut wave = [strength, 0.0, 0.0];
        wave[1 + axis] = sign * strength;
        wave
    })
}

/// A periodic square of states, at `[j][i]`.
type Square = Vec<Vec<State>>;

/// Does one step of length `nu` cells. A limiter gets the ratio of a wave's neighbour upwind to it.
fn step(q: &Square, nu: f64, limiter: fn(f64) -> f64) -> Square {
    let n = q.len();
    let wrap = |i: isize| i.rem_euclid(n as isize) as usize;
    let zero = || vec![vec![[0.0; 3]; n]; n];
    let mut next = q.clone();
    // Second-order fluxes through the lower face of each cell, along each axis.
    let mut fluxes = [zero(), zero()];
    for axis in 0..2 {
        let cell = |i: isize, j: isize| {
            if axis == 0 { [wrap(j), wrap(i)] } else { [wrap(i), wrap(j)] }
        };
        let value = |i: isize, j: isize| {
            let [row, column] = cell(i, j);
            q[row][column]
        };
        for j in 0..n as isize {
            for i in 0..n as isize {
                let at = |i: isize| waves(plus(value(i, j), value(i - 1, j), -1.0), axis);
                let own = at(i);
                let limited = [0, 1].map(|k| {
                    let upwind = at(if k == 0 { i + 1 } else { i - 1 })[k];
                    let size = dot(own[k], own[k]);
                    let share = if size > 0.0 { limiter(dot(upwind, own[k]) / size) } else { 0.0 };
                    own[k].map(|v| share * v)
                });
                let correction = plus(limited[0], limited[1], 1.0).map(|v| (1.0 - nu) * v);
                let ([low, high], [row, column]) = ([cell(i - 1, j), cell(i, j)], cell(i, j));
                next[low[0]][low[1]] = plus(next[low[0]][low[1]], own[0], nu);
                next[high[0]][high[1]] = plus(next[high[0]][high[1]], own[1], -nu);
                fluxes[axis][row][column] = plus(fluxes[axis][row][column], correction, 0.5);
                // The fluctuations that enter both cells, each with the whole correction, go on sideways.
                let back = plus(correction, own[0], -1.0);
                let ahead = plus(own[1], correction, -1.0);
                for (side, fluctuation) in [(i - 1, back), (i, ahead)] {
                    let [down, up] = waves(fluctuation, 1 - axis);
                    for (face, sign, wave) in [(j, -1.0, down), (j + 1, 1.0, up)] {
                        let [row, column] = cell(side, face);
                        let flux = &mut fluxes[1 - axis][row][column];
                        *flux = plus(*flux, wave, -0.5 * nu * sign);
                    }
                }
            }
        }
    }
    for j in 0..n {
        for i in 0..n {
            let along = [[j, (i + 1) % n], [(j + 1) % n, i]];
            for (flux, [row, column]) in fluxes.iter().zip(along) {
                next[j][i] = plus(next[j][i], flux[row][column], -nu);
                next[j][i] = plus(next[j][i], flux[j][i], nu);
            }
        }
    }
    next
}

/// The name of a limiter, and its share of a wave's correction.
type Limiter = (&'static str, fn(f64) -> f64);

fn mc(ratio: f64) -> f64 {
    ((1.0 + ratio) / 2.0).min(2.0).min(2.0 * ratio).max(0.0)
}

fn minmod(ratio: f64) -> f64 {
    ratio.clamp(0.0, 1.0)
}

fn van_leer(ratio: f64) -> f64 {
    (ratio + ratio.abs()) / (1.0 + ratio.abs())
}

/// Returns the greatest difference between both after some steps from the same values.
fn apart(limiter: Limiter, start: fn(f64, f64) -> State, n: usize, nu: f64) -> f64 {
    let system = law(SOUND, 2, &format!("waves<limiter = {}>", limiter.0), "roe");
    let mut simulation = started::<f64>(&system, [n, n, 1], false, Some(nu / n as f64));
    for (k, name) in ["p", "u_x", "u_y"].into_iter().enumerate() {
        simulation.fill(name, |x, y, _| start(x, y)[k]);
    }
    let values =
        |simulation: &Simulation<f64>| ["p", "u_x", "u_y"].map(|name| simulation.values(name));
    let at = values(&simulation);
    let state =
        |i: usize, j: usize, of: &[ndarray::Array3<f64>; 3]| [0, 1, 2].map(|k| of[k][[0, j, i]]);
    let row = |j: usize| (0..n).map(|i| state(i, j, &at)).collect();
    let mut q: Square = (0..n).map(row).collect();
    for _ in 0..n {
        q = step(&q, nu, limiter.1);
        simulation.step().or_panic();
    }
    let found = values(&simulation);
    let mut most = 0.0f64;
    for (j, row) in q.iter().enumerate() {
        for (i, expected) in row.iter().enumerate() {
            let difference = plus(state(i, j, &found), *expected, -1.0);
            most = difference.iter().fold(most, |most, d| most.max(d.abs()));
        }
    }
    most
}

#[test]
fn steps_are_those_of_the_method_in_print() {
    let smooth = |x: f64, y: f64| {
        [(TAU * (x + y)).cos(), 0.3 * (TAU * x).sin(), 0.7 * (TAU * 2.0 * y).cos()]
    };
    let jump = |x: f64, y: f64| {
        [
            if (x - 0.4).abs() < 0.2 && (y - 0.55).abs() < 0.3 { 2.0 } else { 1.0 },
            0.0,
            if x < 0.5 { 0.5 } else { 0.0 },
        ]
    };
    let limiters: [Limiter; 4] =
        [("none", |_| 1.0), ("mc", mc), ("minmod", minmod), ("van_leer", van_leer)];
    for limiter in limiters {
        for (start, name) in [(smooth as fn(f64, f64) -> State, "smooth"), (jump, "jump")] {
            for nu in [0.45, 0.9] {
                let apart = apart(limiter, start, 24, nu);
                println!("{}, {name}, {nu}: {apart:.1e}", limiter.0);
                assert!(apart < 1e-12, "{}, {name}, {nu}: {apart:e}", limiter.0);
            }
        }
    }
}
