//! Hancock's method: the states of a cell at its faces move to the middle of the step by their own fluxes.

use super::{Forecast, Predictor};

/// The method with its forecast.
pub const PREDICTOR: Predictor = Predictor::at_faces(
    "muscl_hancock",
    "B. van Leer, SIAM J. Sci. Stat. Comput. 5, 1 (1984); E. F. Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics (2009), section 14.4",
    Forecast::Faces,
);
