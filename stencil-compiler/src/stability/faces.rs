//! Limits of steps from waves through the faces of cells: the share of the step that each wave takes.

use num_complex::Complex64;

use super::operators::{angles, turned};
use super::region::Region;
use super::speeds::Axes;
use crate::catalogue::integrators::Tableau;
use crate::catalogue::limiters::{self, Limiter};
use crate::catalogue::reconstructions::{self, Reconstruction};
use crate::catalogue::riemann::Needs;
use crate::model::{Model, Sweep, to_f64};

/// A Courant number below this counts as zero: the slack of the search leaves as much of a method that is stable for no
/// step.
const NONE: f64 = 0.05;

/// The largest Courant number that is tried, for fluxes that depend on it.
const MOST: f64 = 2.0;

/// The distance between Courant numbers that are tried.
const PART: f64 = 0.01;

/// The number of times that this distance is halved.
const HALVINGS: u32 = 12;

/// Fluxes through faces, as a scheme makes them.
pub(super) struct Faces {
    /// The largest stable Courant number in one dimension.
    number: f64,
    /// Axes along which fluxes go into one update.
    at_once: usize,
    /// Is it enough if the strictest axis alone is stable?
    apart: bool,
    /// Is the flux smeared in proportion to the length of the step, as that of Lax and Friedrichs is?
    smears: bool,
    /// Are they repaired to keep ranges?
    repairs: bool,
}

/// The share of the step, if ranges are kept, that an axis takes of a wave that crosses a cell in the step. The step is
/// the mean of the updates by each face of a cell alone, and there are two faces along an axis.
const KEPT: f64 = 2.0;

impl Faces {
    /// The fluxes of a model; `None` without fluxes.
    pub(super) fn of(model: &Model, tableau: &Tableau, region: &Region) -> Option<Self> {
        let scheme = &model.scheme;
        let reconstruction = reconstructions::find(&scheme.reconstruct);
        let reconstruction = reconstruction.filter(|_| !model.fluxes.is_empty())?;
        let limiter = limiters::find(&scheme.limiter).filter(|_| reconstruction.limited);
        let smears = model.solver(scheme).is_some_and(|of| of.needs == Needs::Nothing);
        let is_swept = scheme.sweep != Sweep::Unsplit;
        // Corrected waves that go on sideways stay within the cells that touch theirs.
        let sideways = reconstruction.propagates && model.dimension < 3;
        Some(Faces {
            number: courant((reconstruction, limiter), tableau, region, smears),
            at_once: if is_swept { 1 } else { model.dimension },
            apart: is_swept || sideways,
            smears,
            repairs: model.repairs(),
        })
    }

    /// Returns how waves along several axes share a step, `otherwise` by default. A step with fluxes that are smeared
    /// by its length is the mean of steps along one axis each, all of which have to be stable. A step that keeps ranges
    /// is the mean of the updates of a cell by each of its faces, none of which may leave them.
    pub(super) fn together(&self, otherwise: Axes) -> Axes {
        if self.apart || self.smears || self.repairs { Axes::Max } else { otherwise }
    }

    /// The share of the step that a wave of speed one takes along an axis, on cells of length one.
    pub(super) fn taken(&self) -> f64 {
        let shared = self.smears || self.repairs;
        let axes = if shared { self.at_once } else { 1 };
        let along = 1.0 / self.number;
        let along = if self.is_kept() { KEPT } else { along };
        axes as f64 * along
    }

    /// Do ranges limit the step more than stability does?
    pub(super) fn is_kept(&self) -> bool {
        self.repairs && KEPT * self.number > 1.0
    }

    /// The factor by which terms without flux take more of a step than by themselves. Waves that are smeared by the
    /// length of the step decay by half of the stable limit, however short it is.
    pub(super) fn beside(&self) -> f64 {
        if self.smears { 2.0 } else { 1.0 }
    }
}

/// The largest Courant number of a wave in one dimension: that of the reconstruction without its limiter, by the symbol of its
/// fluxes, or the one up to which the limiter keeps means of Euler steps monotone, whichever is larger.
fn courant(
    (reconstruction, limiter): (&Reconstruction, Option<&Limiter>),
    tableau: &Tableau,
    region: &Region,
    smears: bool,
) -> f64 {
    if reconstruction.propagates {
        return 1.0;
    }
    let monotone = reconstruction.monotone;
    let monotone = monotone.and_then(|of| Some(of * to_f64(&tableau.euler_steps()?)));
    let own = limiter.and_then(|limiter| limiter.unlimited);
    let face = own.unwrap_or(reconstruction.unlimited);
    let linear = match smears {
        true => smeared(face, region),
        false => upwind(face, region),
    };
    let linear = if linear < NONE { 0.0 } else { linear };
    linear.max(monotone.unwrap_or(0.0))
}

/// The symbol of the state on the lower side of a face, from its weights of cells.
fn below(face: &[(i32, f64)], angle: f64) -> Complex64 {
    let at = face.iter().map(|(k, weight)| turned(f64::from(*k) * angle) * *weight);
    at.sum()
}

/// The largest stable Courant number of upwind fluxes.
fn upwind(face: &[(i32, f64)], region: &Region) -> f64 {
    angles().fold(f64::INFINITY, |most, angle| {
        let rate = (turned(-angle) - 1.0) * below(face, angle);
        region.longest(rate, most, |_| 1.0)
    })
}

/// The largest stable Courant number of FORCE, the mean of the fluxes of Lax and Friedrichs and of Richtmyer. These
/// depend on the Courant number: for a speed of one they are `(l + r)/2 - (1/n + n)(r - l)/4`.
fn smeared(face: &[(i32, f64)], region: &Region) -> f64 {
    let sides: Vec<(Complex64, Complex64, Complex64)> = angles()
        .map(|angle| {
            let below = below(face, angle);
            // The mirror image of the lower side.
            let above = turned(angle) * below.conj();
            (turned(-angle) - 1.0, (below + above) * 0.5, (above - below) * 0.25)
        })
        .collect();
    let is_stable = |n: f64| {
        sides.iter().all(|(across, mean, jump)| {
            let flux = mean - jump * (1.0 / n + n);
            region.is_stable(across * flux * n)
        })
    };
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
