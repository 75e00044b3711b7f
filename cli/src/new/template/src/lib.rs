//! A dye that drifts and spreads in a plane, and the exact solution that a test compares it with.

use stencil_runtime::{Error, Simulation, pde};

pde! {
    // Without this line the equations are compiled into the program: a longer build, a faster run, the same numbers.
    #[interpreted]
    /// Advection and diffusion with a constant velocity `(vx, vy)` and the diffusivity `D`.
    pub system Dye in 2d {
        field c: scalar [1];
        param vx: real [m/s] = 1.0;
        param vy: real [m/s] = 0.5;
        param D: real [m^2/s] = 2e-3 where D >= 0;

        ddt(c) = -vx * d[x](c) - vy * d[y](c) + D * lap(c);
    }
    scheme central6 for Dye { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}

/// The side of the periodic box.
pub const SIDE: f64 = 1.0;
/// The time at which the run ends.
pub const END: f64 = 0.6;

/// Velocity and diffusivity of the run; the declaration has the same defaults.
const V: [f64; 2] = [1.0, 0.5];
const D: f64 = 2e-3;
/// Centre and width of the first drop.
const CENTRE: [f64; 2] = [0.25, 0.35];
const WIDTH: f64 = 0.08;

/// The exact solution: a Gaussian that moves with the flow and widens, and its periodic images.
pub fn exact(x: f64, y: f64, t: f64) -> f64 {
    let variance = WIDTH * WIDTH + 2.0 * D * t;
    let along = |at: f64, axis: usize| {
        let distance = at - CENTRE[axis] - V[axis] * t;
        let image = |n: i32| distance + f64::from(n) * SIDE;
        (-3..=3)
            .map(|n| (-image(n).powi(2) / (2.0 * variance)).exp())
            .sum::<f64>()
    };
    WIDTH * WIDTH / variance * along(x, 0) * along(y, 1)
}

/// A simulation on `n` x `n` cells with the drop at its place, and the number of steps to [`END`].
pub fn set_up(n: usize) -> Result<(Simulation<f64>, u64), Error> {
    let h = SIDE / n as f64;
    // With dt ~ h², errors of the third-order time steps shrink as fast as those in space.
    let steps = (END / (6.0 * h * h).min(0.4 * h)).ceil();
    let mut simulation = Simulation::<f64>::builder(&Dye)
        .cells([n, n, 1])
        .extent([SIDE, SIDE, 1.0])
        .dt(END / steps)
        .build()?;
    simulation.set("c", |x, y, _| exact(x, y, 0.0))?;
    Ok((simulation, steps as u64))
}

/// The largest difference from the exact solution.
pub fn error(simulation: &Simulation<f64>) -> Result<f64, Error> {
    let [h, ..] = simulation.spacing();
    let t = simulation.t();
    let field = simulation.field("c")?;
    let errors = field
        .indexed_iter()
        .map(|((_, j, i), value)| (value - exact(i as f64 * h, j as f64 * h, t)).abs());
    Ok(errors.fold(0.0, f64::max))
}
