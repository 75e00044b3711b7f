//! Central derivatives of third and higher order along one axis.

use super::{Operator, along};
use crate::catalogue::weights;

/// The operator for a derivative taken this many times, 3 to 8; `None` for another.
pub fn operator(times: u32) -> Option<&'static Operator> {
    OPERATORS.iter().find(|operator| operator.times == [times])
}

macro_rules! higher {
    ($($name:literal $times:literal),*) => {
        /// The operators by the number of times that they differentiate.
        pub static OPERATORS: &[Operator] = &[$(Operator {
            name: $name,
            source: "Taylor conditions; B. Fornberg, Math. Comp. 51, 699 (1988)",
            times: &[$times],
            stencil: |order, axes| along(axes[0], weights::central($times, radius(order, $times))),
        }),*];
    };
}

higher!("third" 3, "fourth" 4, "fifth" 5, "sixth" 6, "seventh" 7, "eighth" 8);

/// The smallest radius that reaches the order.
fn radius(order: u32, times: u32) -> i32 {
    (order + times - 1) as i32 / 2
}
