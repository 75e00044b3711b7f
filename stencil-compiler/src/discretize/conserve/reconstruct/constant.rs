//! The mean of the cell at both faces: first order (Godunov, Mat. Sb. 47, 271, 1959).

use super::{Cell, Reconstruction};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RECONSTRUCTION: Reconstruction = Reconstruction {
    name: "constant",
    source: "the mean of the cell, first order (Godunov 1959)",
    limited: false,
    faces,
};

fn faces(cell: &mut Cell<'_, '_, '_>) -> Result<[Poly; 2]> {
    let mean = cell.mean(0);
    Ok([mean.clone(), mean])
}
