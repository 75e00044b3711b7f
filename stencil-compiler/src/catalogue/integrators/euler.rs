//! The explicit Euler method.

use num_rational::Ratio;

use super::{Integrator, Tableau};

/// One right-hand side a step.
pub const INTEGRATOR: Integrator = Integrator {
    name: "euler",
    order: 1,
    source: "L. Euler, Institutiones calculi integralis, 1768",
    tableau: || Tableau::two_n(&[(Ratio::ZERO, Ratio::ONE)]),
};
