//! Hancock's method: the states of a cell at its faces move to the middle of the step by their own fluxes.

use super::{Forecast, Predictor};
use crate::catalogue::integrators::Integrator;

/// One substep, and another one of the terms without flux.
const METHOD: Integrator = Integrator {
    name: "muscl_hancock",
    order: 2,
    source: "B. van Leer, SIAM J. Sci. Stat. Comput. 5, 1 (1984); E. F. Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics (2009), section 14.4",
    tableau: super::fluxes_and_heun,
};

/// The method with its forecast.
pub const PREDICTOR: Predictor = Predictor { method: METHOD, forecast: Forecast::Faces };
