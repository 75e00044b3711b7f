//! Williamson's third-order Runge-Kutta method in 2N storage.

use num_rational::Ratio;

use super::{Integrator, Tableau};

/// Three substeps with one accumulator a field.
pub const INTEGRATOR: Integrator = Integrator {
    name: "rk3_williamson",
    order: 3,
    source: "J. H. Williamson, J. Comput. Phys. 35, 48 (1980); Pekkilä et al. 2017, Eq. 10",
    tableau: || {
        Tableau::two_n(&[
            (Ratio::ZERO, Ratio::new(1, 3)),
            (Ratio::new(-5, 9), Ratio::new(15, 16)),
            (Ratio::new(-153, 128), Ratio::new(8, 15)),
        ])
    },
};
