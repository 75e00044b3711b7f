//! WENO of fifth order with the weights of Jiang and Shu (J. Comput. Phys. 126, 202, 1996), and with the
//! small number of HyPar, 10⁻⁶ (Eqs. 12 to 20, there of fluxes).

use super::Reconstruction;
use super::weno;
use crate::discretize::conserve::algebra::Algebra;
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RECONSTRUCTION: Reconstruction = Reconstruction {
    name: "weno5",
    source: "three weighted parabolas, fifth order (Jiang and Shu 1996)",
    limited: false,
    propagates: false,
    reach: 2,
    faces: |cell| weno::faces(cell, weight),
};

/// `d / (β + ε)²`, as `d (1 / (β + ε))²`: so the states at both faces, where the `d` are others, divide once.
fn weight(of: &mut Algebra<'_, '_>, ideal: i128, own: &Poly, _: [&Poly; 3]) -> Result<Poly> {
    let floor = of.plus(own, &of.number(1, 1_000_000))?;
    let inverse = of.over(&of.number(1, 1), &floor);
    let square = of.times(&inverse, &inverse)?;
    of.scaled(&square, ideal, 10)
}
