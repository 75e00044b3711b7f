//! WENO of fifth order with the weights of Borges, Carmona, Costa and Don (J. Comput. Phys. 227, 3191, 2008,
//! Eq. 28), which come nearer to the ideal ones where the flow is smooth.

use super::Reconstruction;
use super::weno;
use crate::discretize::conserve::algebra::Algebra;
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RECONSTRUCTION: Reconstruction = Reconstruction {
    name: "weno_z",
    source: "three weighted parabolas, fifth order (Borges et al. 2008)",
    limited: false,
    propagates: false,
    reach: 2,
    faces: |cell| weno::faces(cell, weight),
};

/// `d (1 + (|β₀ - β₂| / (β + ε))²)`, with an ε that is no zero in single precision, either.
fn weight(of: &mut Algebra<'_, '_>, ideal: i128, own: &Poly, all: [&Poly; 3]) -> Result<Poly> {
    let difference = of.minus(all[0], all[2])?;
    let difference = of.abs(&difference);
    let floor = of.plus(own, &of.number(1, 10_i128.pow(30)))?;
    let ratio = of.over(&difference, &floor);
    // Its square is finite in single precision, too; so large a weight leaves nothing to the others.
    let ratio = of.min(&ratio, &of.number(10_i128.pow(12), 1));
    let square = of.times(&ratio, &ratio)?;
    let sum = of.plus(&square, &of.number(1, 1))?;
    of.scaled(&sum, ideal, 10)
}
