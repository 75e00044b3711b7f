//! Courant numbers of waves through faces in one dimension, by reconstruction, limiter and integrator.

use num_complex::Complex64;

use super::operators::{angles, turned};
use super::region::Region;
use crate::catalogue::integrators::Tableau;
use crate::catalogue::limiters::Limiter;
use crate::catalogue::predictors::Forecast;
use crate::catalogue::reconstructions::Reconstruction;
use crate::matrix::size;
use crate::model::to_f64;

/// A Courant number below this counts as zero: the slack of the search leaves as much of a method that is stable for no
/// step.
const NONE: f64 = 0.05;

/// The largest Courant number that is tried, for methods whose fluxes depend on it.
const MOST: f64 = 2.0;

/// The distance between Courant numbers that are tried.
const PART: f64 = 0.01;

/// The number of times that this distance is halved.
const HALVINGS: u32 = 12;

/// A step may make a wave larger by this part of it and still count as stable.
const SLACK: f64 = 1e-6;

/// The largest Courant number of a wave: that of the reconstruction without its limiter, by the symbol of its fluxes, or the one up to
/// which the limiter keeps a step monotone, whichever is larger.
pub(super) fn courant(
    (reconstruction, limiter): (&Reconstruction, Option<&Limiter>),
    (forecast, traces): (Option<Forecast>, bool),
    tableau: &Tableau,
    region: &Region,
    smears: bool,
) -> f64 {
    if reconstruction.propagates {
        return 1.0;
    }
    let is_sided = limiter.is_some_and(|limiter| limiter.is_sided);
    let own = limiter.and_then(|limiter| limiter.unlimited);
    let face = own.unwrap_or(reconstruction.unlimited);
    let by_euler = reconstruction.monotone;
    let monotone = match forecast {
        // Its bound is that of upwind fluxes.
        Some(_) if smears => by_euler,
        Some(Forecast::Cells) => by_euler.map(forecast_is_monotone),
        // Both faces of a cell are within bounds of each other, unless their slopes are limited apart.
        Some(Forecast::Faces | Forecast::Corners) if !is_sided => {
            by_euler.map(forecast_is_monotone)
        }
        Some(Forecast::Faces | Forecast::Corners) => by_euler,
        None => by_euler.and_then(|of| Some(of * to_f64(&tableau.euler_steps()?))),
    };
    let waves: Vec<Wave> = angles().map(|angle| Wave::of(face, angle)).collect();
    let linear = match forecast {
        Some(forecast) => longest(|number| {
            let growth = |wave| size(forecast_growth((forecast, traces), wave, smears, number));
            waves.iter().all(|wave| growth(wave) <= 1.0 + SLACK)
        }),
        None if smears => longest(|number| {
            waves.iter().all(|wave| region.is_stable(wave.flow(&wave.sides, true, number)))
        }),
        None => upwind(&waves, region),
    };
    let linear = if linear < NONE { 0.0 } else { linear };
    let longest = linear.max(monotone.unwrap_or(0.0));
    // Limited slopes are flat in places, where fluxes are those of means.
    if forecast.is_some() { longest.min(1.0) } else { longest }
}

/// The Courant number up to which a step of upwind fluxes with a forecast is made of means, if an Euler step without one is so up to
/// `by_euler`. With van Leer's forecast the new value is `q - n k ((1 - n/2) d + n/2 d')`, with the steps d and d' to the next cell
/// upwind and beyond, and k at most `1/by_euler`: its weights are positive while `n (1 - n/2) <= by_euler` and `n <= 1`. With
/// Hancock's it is `q - n k d`, with k at most `(1 - n/2)/by_euler`.
fn forecast_is_monotone(by_euler: f64) -> f64 {
    if by_euler < 0.5 { 1.0 - (1.0 - 2.0 * by_euler).sqrt() } else { 1.0 }
}

/// The symbols of the states at the upper face of a cell, and at its lower face.
struct Sides {
    upper: Complex64,
    lower: Complex64,
}

/// A wave of one length: its symbols, by which all Courant numbers are tried.
struct Wave {
    /// The factor from a cell to the next.
    ahead: Complex64,
    /// The symbol of the negative difference of the fluxes of a cell.
    drop: Complex64,
    /// The states at the faces of a cell.
    sides: Sides,
}

impl Wave {
    /// The wave that turns by this angle from a cell to the next; `face` has the weights of the cells at the upper face of one.
    fn of(face: &[(i32, f64)], angle: f64) -> Self {
        let at = face.iter().map(|(k, weight)| turned(f64::from(*k) * angle) * *weight);
        let upper: Complex64 = at.sum();
        // The mirror image of the other side.
        let sides = Sides { upper, lower: upper.conj() };
        Wave { ahead: turned(angle), drop: turned(-angle) - 1.0, sides }
    }

    /// The symbol of the change of a cell in a step of this Courant number, by the fluxes between such states: those upwind, or those
    /// of FORCE, the mean of the fluxes of Lax and Friedrichs and of Richtmyer. These depend on the Courant number: for a speed of one
    /// they are `(l + r)/2 - (1/n + n)(r - l)/4`.
    fn flow(&self, sides: &Sides, smears: bool, number: f64) -> Complex64 {
        let (below, above) = (sides.upper, self.ahead * sides.lower);
        let flux = match smears {
            true => (below + above) * 0.5 - (above - below) * 0.25 * (1.0 / number + number),
            false => below,
        };
        self.drop * flux * number
    }
}

/// The factor of a wave in a step with a forecast, whose states are traced or not.
fn forecast_growth(
    (forecast, traces): (Forecast, bool),
    wave: &Wave,
    smears: bool,
    number: f64,
) -> Complex64 {
    let Sides { upper, lower } = wave.sides;
    match forecast {
        Forecast::Cells => {
            let means = Sides { upper: 1.0.into(), lower: 1.0.into() };
            let half = wave.flow(&means, smears, number) * 0.5 + 1.0;
            wave.flow(&wave.sides, smears, number) * half + 1.0
        }
        // Along one axis nothing flows beside.
        Forecast::Faces | Forecast::Corners => {
            let change = (lower - upper) * (0.5 * number);
            // The wave goes ahead, and reaches the upper face alone.
            let bend = if traces { (upper + lower - 2.0) * -3.0 } else { 0.0.into() };
            let traced = bend * (number / 2.0 - number * number / 3.0);
            let moved = Sides { upper: upper + change + traced, lower: lower + change };
            wave.flow(&moved, smears, number) + 1.0
        }
    }
}

/// The largest stable Courant number of upwind fluxes.
fn upwind(waves: &[Wave], region: &Region) -> f64 {
    waves.iter().fold(f64::INFINITY, |most, wave| {
        region.longest(wave.flow(&wave.sides, false, 1.0), most, |_| 1.0)
    })
}

/// The number up to which all are stable.
fn longest(is_stable: impl Fn(f64) -> bool) -> f64 {
    let mut least = 0.0;
    while least < MOST && is_stable(least + PART) {
        least += PART;
    }
    let mut part = PART;
    for _ in 0..HALVINGS {
        part *= 0.5;
        if is_stable(least + part) {
            least += part;
        }
    }
    least
}
