//! The correction that turns a central first derivative into an upwinded one.

use num_rational::Ratio;

use super::{Operator, along};
use crate::discretize::weights;
use crate::expr::Rational;

/// The even difference D for which `u d[x](f) - |u| D f` has no point furthest downwind: the
/// derivative biased against the flow, one order lower than the central one.
pub const OPERATOR: Operator = Operator {
    name: "upwind",
    source: "W. Dobler, M. Stix and A. Brandenburg, Astrophys. J. 638, 336 (2006), Appendix B (order 6: D = h^5/60 times the sixth derivative)",
    times: &[1],
    stencil: |order, axes| {
        let radius = order as i32 / 2;
        let outermost = weights::central(1, radius)[2 * radius as usize];
        let highest = weights::central(order, radius);
        let scale: Rational = Ratio::ONE / highest[0] * outermost;
        along(axes[0], highest.into_iter().map(|w| w * scale).collect())
    },
};
