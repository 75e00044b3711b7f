//! The difference that makes a central first derivative an upwinded one, and upwinded advection.

use num_rational::Ratio;

use super::{Operator, along};
use crate::catalogue::functions::{Form, Rank, Row};
use crate::catalogue::weights;
use crate::expr::{Op, Rational};

/// The even difference D for which `u d[x](f) - |u| D f` has no point furthest downwind: the
/// derivative biased against the flow, one order lower than the central one.
pub const OPERATOR: Operator = Operator {
    name: "up",
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

/// `upwind(u, f)`: advection `dot(u, grad(f))` with differences biased against the flow, `u_i d_i f - |u_i| D_i f`.
pub(crate) const FUNCTION: Row = Row {
    name: "upwind",
    times: 1,
    is_linear: false,
    rank: |of| (of[0] == Rank::Vector).then_some(of[1]),
    wants: "`upwind(u, f)` takes a velocity and what it carries",
    forms: |of| {
        let along = |axis: usize, at: usize| {
            let (speed, carried) = (Form::Of(0, axis), Form::Of(1, at));
            let size = Form::Op(Op::Abs, vec![speed.clone()]);
            let central = speed.times(carried.clone().derivative(axis, 1));
            central.minus(carried.difference(&OPERATOR, axis).times(size))
        };
        let sum = |at: usize| {
            let rest = 1..of.dimension;
            rest.fold(along(0, at), |sum, axis| sum.plus(along(axis, at)))
        };
        (0..of.widths[1]).map(sum).collect()
    },
    ..Row::OF_TWO
};
