//! The mean of the cell at both faces: first order (Godunov, Mat. Sb. 47, 271, 1959).

use super::{Cell, Reconstruction};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RECONSTRUCTION: Reconstruction = Reconstruction {
    name: "constant",
    source: "the mean of the cell, first order (Godunov 1959)",
    limited: false,
    parameter: None,
    propagates: false,
    reach: 0,
    unlimited: &[(0, 1.0)],
    monotone: Some(1.0),
    faces,
};

fn faces(_: &mut Cell<'_, '_, '_>) -> Result<[Poly; 2]> {
    Ok([Poly::default(), Poly::default()])
}
