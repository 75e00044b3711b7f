//! How much of a step each declared speed takes: a step is an expression of the largest speeds, which a card evaluates by
//! itself.

use num_complex::Complex64;

use super::operators::{angles, symbol, turned};
use super::region::Region;
use crate::discretize::conserve::reconstruct::{self, Reconstruction};
use crate::discretize::integrators::{self, Tableau};
use crate::model::{Model, Sweep};

/// A Courant number below this is none: the slack of the search leaves as much of a method that is stable for no step.
const NONE: f64 = 0.05;

/// How the limits of several axes are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// What waves along all axes take of a step together: the limit.
    #[default]
    Sum,
    /// What the strictest axis takes alone, as some codes count.
    Max,
}

impl Axes {
    /// Every way, by its name.
    pub const ALL: [(&'static str, Axes); 2] = [("sum", Axes::Sum), ("max", Axes::Max)];

    pub(super) fn of(self, parts: impl Iterator<Item = f64>) -> f64 {
        match self {
            Axes::Sum => parts.sum(),
            Axes::Max => parts.fold(0.0, f64::max),
        }
    }
}

/// What a speed takes of a step: a step of length dt is stable while the sum over all speeds of what they take of it, times
/// dt, is no more than one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Of the length in the unit of the speed.
    pub power: u32,
    /// What a speed of one takes; infinite where no step is stable.
    pub rate: f64,
    /// The place of the speed that has to damp what this one makes grow: this one takes its square, times the rate, over
    /// that one. `None` where it takes itself times the rate.
    pub over: Option<usize>,
}

/// The shares of the speeds that a model declares or implies, in their order, on cells of this size.
pub fn speeds(model: &Model, spacing: [f64; 3], axes: Axes) -> Vec<Share> {
    let Some(integrator) = integrators::find(&model.scheme.time) else {
        return Vec::new();
    };
    let tableau = (integrator.tableau)();
    let region = Region::new(&tableau);
    let lengths = &spacing[..model.dimension];
    let damping = model.speeds.iter().position(|speed| speed.power == 2);
    let share = |power: u32| {
        let plain = |rate: f64| Share {
            power,
            rate,
            over: None,
        };
        match power {
            1 if !model.fluxes.is_empty() => {
                plain(flowing(model, (&tableau, &region), lengths, axes))
            }
            _ if power.is_multiple_of(2) => {
                plain(symbol(model, power, lengths, axes) / region.real())
            }
            _ => match (region.imaginary(), damping) {
                (0.0, Some(damping)) if power == 1 => Share {
                    power,
                    // Of a disc of radius one about -1, which every region holds: y^2 <= 2 d for small dt.
                    rate: 0.5,
                    over: Some(damping),
                },
                (reach, _) => plain(symbol(model, power, lengths, axes) / reach),
            },
        }
    };
    model
        .speeds
        .iter()
        .map(|speed| share(speed.power))
        .collect()
}

/// The integrators by which a model is stable for some step.
pub fn integrators_for(model: &Model) -> Vec<&'static str> {
    let is_stable = |name: &str| {
        let mut other = model.clone();
        other.scheme.time = name.to_string();
        match reconstruct::find(&model.scheme.reconstruct) {
            Some(of) if of.propagates && !model.fluxes.is_empty() => name == model.scheme.time,
            _ => {
                let shares = speeds(&other, [1.0; 3], Axes::Sum);
                shares.iter().all(|share| share.rate.is_finite())
            }
        }
    };
    let names = integrators::ALL.iter().map(|i| i.name);
    let swings = |name: &&str| {
        let tableau = integrators::find(name).map(|i| (i.tableau)());
        let of_law = !model.fluxes.is_empty();
        of_law || tableau.is_some_and(|tableau| Region::new(&tableau).imaginary() > 0.0)
    };
    names
        .filter(swings)
        .filter(|name| is_stable(name))
        .collect()
}

/// What a wave of speed one takes of a step where fluxes go through faces: of a sweep, what it takes along the
/// worst axis.
fn flowing(
    model: &Model,
    (tableau, region): (&Tableau, &Region),
    lengths: &[f64],
    axes: Axes,
) -> f64 {
    let Some(reconstruction) = reconstruct::find(&model.scheme.reconstruct) else {
        return f64::INFINITY;
    };
    let apart = model.scheme.sweep != Sweep::Unsplit;
    // Corrected waves that go on sideways stay within the cells that touch theirs.
    let sideways = reconstruction.propagates && lengths.len() < 3;
    let axes = if apart || sideways { Axes::Max } else { axes };
    let number = courant(reconstruction, tableau, region);
    axes.of(lengths.iter().map(|h| 1.0 / h)) / number
}

/// The largest Courant number of a wave in one dimension: that of the reconstruction without its limiter, by the symbol of
/// upwind fluxes, or the one up to which the limiter keeps means of Euler steps monotone, whichever is larger.
fn courant(reconstruction: &Reconstruction, tableau: &Tableau, region: &Region) -> f64 {
    if reconstruction.propagates {
        return 1.0;
    }
    let monotone = reconstruction.monotone;
    let monotone = monotone.filter(|_| tableau.is_of_euler_steps());
    let face = reconstruction.unlimited;
    let linear = angles().fold(f64::INFINITY, |most, angle| {
        let at = face
            .iter()
            .map(|(k, weight)| turned(f64::from(*k) * angle) * *weight);
        let value: Complex64 = at.sum();
        let rate = (turned(-angle) - 1.0) * value;
        region.longest(rate, most, |_| 1.0)
    });
    let linear = if linear < NONE { 0.0 } else { linear };
    linear.max(monotone.unwrap_or(0.0))
}
