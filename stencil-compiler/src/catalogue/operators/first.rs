//! The central first derivative.

use super::{Operator, along};
use crate::catalogue::weights;

/// Central first derivative of any even order.
pub const OPERATOR: Operator = Operator {
    name: "first",
    source: "Pekkilä et al. 2017, Eq. 6 (order 6)",
    times: &[1],
    stencil: |order, axes| along(axes[0], weights::central(1, order as i32 / 2)),
};
