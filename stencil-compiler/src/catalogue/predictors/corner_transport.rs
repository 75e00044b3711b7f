//! Corner transport: the states of a cell at its faces see what flows through the faces beside them.

use super::{Forecast, Predictor};

/// The method with its forecast.
pub const PREDICTOR: Predictor = Predictor::at_faces(
    "corner_transport",
    "P. Colella, J. Comput. Phys. 87, 171 (1990); T. A. Gardiner and J. M. Stone, J. Comput. Phys. 227, 4123 (2008)",
    Forecast::Corners,
);
