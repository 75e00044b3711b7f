//! Waves of small amplitude, oblique to all axes of a mesh in space: all families of a gas, and of a gas in a magnetic field.
//!
//! The box is 3 by 3/2 by 3/2, with one period of the wave along each axis, so its length is one (T. A. Gardiner and J. M. Stone,
//! J. Comput. Phys. 227, 4123, 2008, section 6.1).

use std::f64::consts::TAU;

use stencil_runtime::{Simulation, SystemDef};

use super::{OrPanic, Runs};

/// The amplitude: products of waves are below the errors that are measured.
pub const SMALL: f64 = 1e-6;

/// The ratio of specific heats.
pub const GAMMA: f64 = 5.0 / 3.0;

/// The wave vector over a full turn, which has length one, and two directions across it.
const FRAME: [[f64; 3]; 3] = {
    // The root of 5.
    let r = 2.236_067_977_499_79;
    [
        [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0],
        [-2.0 / r, 1.0 / r, 0.0],
        [-2.0 / (3.0 * r), -4.0 / (3.0 * r), 5.0 / (3.0 * r)],
    ]
};

/// The magnetic field at rest, along the wave and across it (Gardiner and Stone 2008): fast waves have the speed 2, Alfvén waves 1, and
/// slow ones 1/2.
const FIELD: [f64; 3] = [1.0, std::f64::consts::SQRT_2, 0.5];

/// A wave of one family in a gas of density and speed of sound one.
#[derive(Clone, Copy, Debug)]
pub struct Wave {
    /// The name of its family, and its direction.
    pub name: &'static str,
    /// Amplitudes of the density and the pressure.
    pub rho: f64,
    /// See `rho`.
    pub p: f64,
    /// Of the velocity, along the wave and across it.
    pub u: [f64; 3],
    /// Of the magnetic field.
    pub b: [f64; 3],
    /// The magnetic field at rest; zero in a gas.
    pub field: [f64; 3],
    /// The velocity of the gas along the wave.
    pub flow: f64,
    /// The speed of the wave in the box.
    pub speed: f64,
}

const STILL: Wave = Wave {
    name: "",
    rho: 0.0,
    p: 0.0,
    u: [0.0; 3],
    b: [0.0; 3],
    field: [0.0; 3],
    flow: 0.0,
    speed: 0.0,
};

/// Returns sound to both sides, and entropy and both shears, which go with the flow (E. F. Toro, 2009, section 3.2.2).
pub fn of_gas() -> Vec<Wave> {
    let sound =
        |name, speed: f64| Wave { name, rho: 1.0, p: 1.0, u: [speed, 0.0, 0.0], speed, ..STILL };
    let carried = Wave { flow: 1.0, speed: 1.0, ..STILL };
    vec![
        sound("sound ahead", 1.0),
        sound("sound back", -1.0),
        Wave { name: "entropy", rho: 1.0, ..carried },
        Wave { name: "shear", u: [0.0, 1.0, 0.0], ..carried },
        Wave { name: "other shear", u: [0.0, 0.0, 1.0], ..carried },
    ]
}

/// Returns fast, Alfvén and slow waves to both sides, and entropy: the eigenvectors of the linear equations, with a density or,
/// of Alfvén waves, a field of amplitude one.
pub fn of_magnetized_gas() -> Vec<Wave> {
    let [along, b_2, b_3] = FIELD;
    let across = b_2.hypot(b_3);
    let magnetosonic = |name, speed: f64| {
        let by = speed * speed / (speed * speed - along * along);
        Wave {
            name,
            rho: 1.0,
            p: 1.0,
            u: [speed, -along * b_2 * by / speed, -along * b_3 * by / speed],
            b: [0.0, b_2 * by, b_3 * by],
            field: FIELD,
            speed,
            ..STILL
        }
    };
    let alfven = |name, speed: f64| {
        let b = [0.0, -b_3 / across, b_2 / across];
        Wave { name, u: b.map(|b| -along * b / speed), b, field: FIELD, speed, ..STILL }
    };
    vec![
        magnetosonic("fast ahead", 2.0),
        magnetosonic("fast back", -2.0),
        alfven("Alfvén ahead", 1.0),
        alfven("Alfvén back", -1.0),
        magnetosonic("slow ahead", 0.5),
        magnetosonic("slow back", -0.5),
        Wave { name: "entropy", rho: 1.0, field: FIELD, flow: 1.0, speed: 1.0, ..STILL },
    ]
}

/// Returns the vector of the box with these components along the wave and across it.
fn turned(own: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|axis| (0..3).map(|at| own[at] * FRAME[at][axis]).sum())
}

/// Returns the largest divergence of the field `b` on faces, observed as `largest_divergence`, over the largest field in a spacing.
///
/// # Panics
/// If the system has no such field, or does not observe it.
pub fn divergence(simulation: &mut Simulation<f64>) -> f64 {
    let spacing = simulation.spacing().into_iter().take(simulation.system().model().dimension);
    let h = spacing.fold(f64::INFINITY, f64::min);
    let all = ["b_x", "b_y", "b_z"].map(|name| simulation.flat(name));
    let largest = all.iter().flatten().fold(0.0_f64, |most, b| most.max(b.abs()));
    simulation.observe().or_panic()["largest_divergence"] * h / largest
}

impl Wave {
    /// Returns the share of the amplitude at a point and a time.
    fn phase(&self, x: [f64; 3], t: f64) -> f64 {
        let along: f64 = (0..3).map(|axis| FRAME[0][axis] * x[axis]).sum();
        TAU * (along - self.speed * t)
    }

    /// Returns the density, the momentum and the energy at a point and a time.
    fn state(&self, x: [f64; 3], t: f64) -> [f64; 5] {
        let now = SMALL * self.phase(x, t).cos();
        let rho = 1.0 + now * self.rho;
        let own =
            |rest: [f64; 3], wave: [f64; 3]| turned([0, 1, 2].map(|i| rest[i] + now * wave[i]));
        let (u, b) = (own([self.flow, 0.0, 0.0], self.u), own(self.field, self.b));
        let square = |v: [f64; 3]| v.iter().map(|v| v * v).sum::<f64>();
        let p = 1.0 / GAMMA + now * self.p;
        let energy = p / (GAMMA - 1.0) + (rho * square(u) + square(b)) / 2.0;
        [rho, rho * u[0], rho * u[1], rho * u[2], energy]
    }

    /// Returns a potential of the magnetic field.
    fn potential(&self, x: [f64; 3], t: f64) -> [f64; 3] {
        let now = SMALL * self.phase(x, t).sin() / TAU;
        // Across the wave, turned by a right angle; of the field at rest, half of its product with the place.
        let wave = turned([0.0, now * self.b[2], -now * self.b[1]]);
        let rest = turned(self.field);
        let product = |i: usize, j: usize| (rest[i] * x[j] - rest[j] * x[i]) / 2.0;
        [wave[0] + product(1, 2), wave[1] + product(2, 0), wave[2] + product(0, 1)]
    }

    /// Sets a run to the wave at a time.
    fn set(&self, simulation: &mut Simulation<f64>, energy: &str, t: f64) {
        for (at, name) in ["rho", "m_x", "m_y", "m_z", energy].into_iter().enumerate() {
            simulation.fill(name, |x, y, z| self.state([x, y, z], t)[at]);
        }
        if self.field != [0.0; 3] {
            simulation.set_curl("b", |x, y, z| self.potential([x, y, z], t)).or_panic();
        }
    }

    /// Returns the error at a time on `2n` by `n` by `n` cells, over the amplitude: of the means of each component's, the root of the
    /// sum of squares. Steps are `courant` of the longest stable ones.
    ///
    /// # Panics
    /// If the run fails, or a magnetic field does not keep its divergence to rounding.
    pub fn error(&self, system: &SystemDef, n: usize, courant: f64, t: f64) -> f64 {
        let builder = Simulation::<f64>::builder(system).cells([2 * n, n, n]).centered(true);
        let builder = builder.extent([3.0, 1.5, 1.5]).param("gamma", GAMMA).cfl(courant);
        let mut simulation = builder.build().or_panic();
        let names: Vec<String> = simulation.components().map(str::to_string).collect();
        let energy = if names.iter().any(|name| name == "E") { "E" } else { "e" };
        let values = |simulation: &Simulation<f64>| -> Vec<Vec<f64>> {
            names.iter().map(|name| simulation.flat(name)).collect()
        };
        self.set(&mut simulation, energy, t);
        let exact = values(&simulation);
        self.set(&mut simulation, energy, 0.0);
        simulation.run_until(t, |_, _| ()).or_panic();
        if self.field != [0.0; 3] {
            let kept = divergence(&mut simulation);
            assert!(kept < 1e-12, "{}: {kept}", self.name);
        }
        let mean = |(found, exact): (&Vec<f64>, &Vec<f64>)| {
            let apart = found.iter().zip(exact).map(|(a, b)| (a - b).abs());
            apart.sum::<f64>() / found.len() as f64
        };
        let means = values(&simulation);
        let means = means.iter().zip(&exact).map(mean);
        means.map(|mean| mean * mean).sum::<f64>().sqrt() / SMALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curl of the potential is the field, at any point.
    #[test]
    fn potentials_are_those_of_the_field() {
        let (x, h) = ([0.3, -0.2, 0.7], 1e-4);
        for wave in of_magnetized_gas() {
            let scaled = Wave { b: wave.b.map(|b| b / SMALL), ..wave };
            let slope = |of: usize, axis: usize| {
                let at = |by: f64| {
                    let mut x = x;
                    x[axis] += by;
                    scaled.potential(x, 0.1)[of]
                };
                (at(h) - at(-h)) / (2.0 * h)
            };
            let curl = [(2, 1, 1, 2), (0, 2, 2, 0), (1, 0, 0, 1)]
                .map(|(a, by, b, along)| slope(a, by) - slope(b, along));
            let now = scaled.phase(x, 0.1).cos();
            let field = turned([0, 1, 2].map(|i| wave.field[i] + now * wave.b[i]));
            for (curl, field) in curl.into_iter().zip(field) {
                assert!((curl - field).abs() < 1e-6, "{}: {curl} {field}", wave.name);
            }
        }
    }
}
