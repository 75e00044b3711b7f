//! Means of cells, between which waves are corrected in place of states.

use super::{Reconstruction, constant};

pub(super) const RECONSTRUCTION: Reconstruction = Reconstruction {
    name: "waves",
    source: "limited waves that are corrected to second order in space and time and go on sideways (LeVeque 1997)",
    limited: true,
    parameter: None,
    propagates: true,
    reach: 0,
    unlimited: &[(0, 1.0)],
    monotone: Some(1.0),
    faces: constant::RECONSTRUCTION.faces,
};
