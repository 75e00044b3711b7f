//! The compact central second derivative.

use super::{Operator, along};
use crate::catalogue::weights;

/// Central second derivative of any even order, on the fewest points.
pub const OPERATOR: Operator = Operator {
    name: "second",
    source: "Pekkilä et al. 2017, Eq. 7 (order 6)",
    times: &[2],
    stencil: |order, axes| along(axes[0], weights::central(2, order as i32 / 2)),
};
