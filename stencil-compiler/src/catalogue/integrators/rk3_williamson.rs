//! Williamson's third-order Runge-Kutta method in 2N storage.

use num_rational::Ratio;

use super::{Integrator, Tableau};
use crate::expr::Rational;

/// Alpha and beta of each substep.
const PAIRS: &[(Rational, Rational)] = &[
    (Ratio::ZERO, Ratio::new_raw(1, 3)),
    (Ratio::new_raw(-5, 9), Ratio::new_raw(15, 16)),
    (Ratio::new_raw(-153, 128), Ratio::new_raw(8, 15)),
];

/// Three substeps from the previous value of each field.
pub const INTEGRATOR: Integrator = Integrator {
    name: "rk3_williamson",
    order: 3,
    source: "J. H. Williamson, J. Comput. Phys. 35, 48 (1980); Pekkilä et al. 2017, Eq. 10",
    tableau: || Tableau::two_n_of_states(PAIRS),
};

/// The same method as published: one accumulator a field.
pub const OF_ACCUMULATORS: Integrator = Integrator {
    name: "rk3_williamson<storage = accumulator>",
    tableau: || Tableau::two_n(PAIRS),
    ..INTEGRATOR
};
