//! WENO of fifth order with the weights of Jiang and Shu (J. Comput. Phys. 126, 202, 1996), and with the
//! small number of HyPar, 10⁻⁶ (Eqs. 12 to 20, there of fluxes).

use super::Reconstruction;
use super::weno::{self, Weights};
use crate::discretize::conserve::riemann::Parameter;
use crate::model::Rational;

pub(super) const RECONSTRUCTION: Reconstruction = Reconstruction {
    name: "weno5",
    source: "three weighted parabolas, fifth order (Jiang and Shu 1996)",
    limited: false,
    parameter: Some(&EPS),
    propagates: false,
    reach: 2,
    unlimited: weno::UNLIMITED,
    monotone: None,
    faces: |cell| weno::faces(cell, &WEIGHTS),
};

/// That of HyPar.
const EPS: Parameter = weno::eps(Rational::new_raw(1, 1_000_000));

/// `d / (β + ε)²`, times all three `(β + ε)²`.
const WEIGHTS: Weights = Weights {
    floor: &EPS,
    weight: |_, others, _, _| Ok(others.clone()),
};
