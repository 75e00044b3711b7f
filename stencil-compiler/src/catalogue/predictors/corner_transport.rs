//! Corner transport: the states of a cell at its faces see what flows through the faces beside them.

use super::{Forecast, Predictor};
use crate::catalogue::integrators::Integrator;

/// One substep, and another one of the terms without flux.
const METHOD: Integrator = Integrator {
    name: "corner_transport",
    order: 2,
    source: "P. Colella, J. Comput. Phys. 87, 171 (1990); T. A. Gardiner and J. M. Stone, J. Comput. Phys. 227, 4123 (2008)",
    tableau: super::fluxes_and_heun,
};

/// The method with its forecast.
pub const PREDICTOR: Predictor = Predictor { method: METHOD, forecast: Forecast::Corners };
