//! WENO of fifth order with the weights of Borges, Carmona, Costa and Don (J. Comput. Phys. 227, 3191, 2008,
//! Eq. 28), which come nearer to the ideal ones where the flow is smooth.

use super::Reconstruction;
use super::weno::{self, Weights};
use crate::discretize::conserve::riemann::Parameter;
use crate::model::Rational;

pub(super) const RECONSTRUCTION: Reconstruction = Reconstruction {
    name: "weno_z",
    source: "three weighted parabolas, fifth order (Borges et al. 2008)",
    limited: false,
    parameter: Some(&EPS),
    propagates: false,
    reach: 2,
    unlimited: weno::UNLIMITED,
    monotone: None,
    faces: |cell| weno::faces(cell, &WEIGHTS),
};

/// No zero in single precision, either.
const EPS: Parameter = weno::eps(Rational::new_raw(1, 10_i128.pow(30)));

/// `d (1 + (|β₀ - β₂| / (β + ε))²)`, times all three `(β + ε)²`.
const WEIGHTS: Weights = Weights {
    floor: &EPS,
    weight: |of, others, own, difference| {
        let square = of.times(difference, difference)?;
        let square = of.named("square", square);
        let own = of.times(own, own)?;
        let sum = of.plus(&own, &square)?;
        of.times(others, &sum)
    },
};
