//! Limits of steps from waves through the faces of cells: the share of the step that each wave takes.

use super::courant::courant;
use super::region::Region;
use super::speeds::Axes;
use crate::catalogue::integrators::Tableau;
use crate::catalogue::predictors::Forecast;
use crate::catalogue::riemann::Solver;
use crate::catalogue::{limiters, reconstructions};
use crate::model::{Model, Sweep, to_f64};

/// Fluxes through faces, as a scheme makes them.
pub(super) struct Faces {
    /// The largest stable Courant number in one dimension.
    number: f64,
    /// Axes along which fluxes go into one update.
    at_once: usize,
    /// The largest share of a step that an update takes.
    share: f64,
    /// Is it enough if the strictest axis alone is stable?
    apart: bool,
    /// Does a solver [smear in proportion to the step](crate::catalogue::riemann::Solver::smears)?
    smears: bool,
    /// Are they repaired to keep ranges?
    repairs: bool,
}

/// The share of the step, if ranges are kept, that an axis takes of a wave that crosses a cell in the step. The step is
/// the mean of the updates by each face of a cell alone, and there are two faces along an axis.
const KEPT: f64 = 2.0;

/// The largest Courant number along any axis with fluxes that see across corners, by the number of axes; with six Riemann problems in
/// space (Gardiner and Stone 2008, section 4).
const AT_CORNERS: [f64; 3] = [1.0, 1.0, 0.5];

impl Faces {
    /// The fluxes of a model; `None` without fluxes.
    pub(super) fn of(model: &Model, tableau: &Tableau, region: &Region) -> Option<Self> {
        let scheme = &model.scheme;
        let reconstruction = reconstructions::find(&scheme.reconstruct);
        let reconstruction = reconstruction.filter(|_| !model.fluxes.is_empty())?;
        let limiter = limiters::find(&scheme.limiter).filter(|_| reconstruction.limited);
        let is_swept = scheme.sweep != Sweep::Unsplit;
        // Corrected waves that go on sideways stay within the cells that touch theirs.
        let sideways = reconstruction.propagates && model.dimension < 3;
        let forecast = scheme.forecast();
        let corners = forecast == Some(Forecast::Corners) && !is_swept;
        let by = |solver: &Solver| {
            let made = (reconstruction, limiter);
            let number = courant(made, (forecast, scheme.traces), tableau, region, solver.smears);
            solver.most.map_or(number, |most| number.min(most))
        };
        // The strictest of the solver and of the one behind `else` counts.
        let number = model.solvers_of(scheme).map(by).reduce(f64::min)?;
        Some(Faces {
            number: if corners { number.min(AT_CORNERS[model.dimension - 1]) } else { number },
            at_once: if is_swept { 1 } else { model.dimension },
            share: (0..model.dimension)
                .map(|axis| to_f64(&model.share_along(axis)))
                .fold(0.0, f64::max),
            apart: is_swept || sideways || corners,
            smears: model.solvers_of(scheme).any(|solver| solver.smears),
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
        axes as f64 * along * self.share
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
