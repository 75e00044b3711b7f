//! Vector calculus: functions made of the derivatives of the scheme.

use super::form::{Called, Form};
use super::{Rank, Row, vectors};

/// The rows, in the order in which messages list them.
pub(super) const ROWS: &[&Row] = &[&GRAD, &DIV, &LAP, &CURL];

/// `grad(u)[i][j]` is the derivative of `u[j]` along axis i.
pub(super) const GRAD: Row = Row {
    name: "grad",
    synonyms: &["gradient"],
    times: 1,
    is_named: true,
    rank: |of| Rank::from_indices(of[0].indices() + 1),
    wants: "`grad` is of a scalar or a vector",
    forms: |of| {
        let all = (0..of.components).flat_map(|axis| (0..of.widths[0]).map(move |at| (axis, at)));
        all.map(|(axis, at)| Form::Of(0, at).derivative(axis, 1)).collect()
    },
    ..Row::OF_ONE
};

/// `div(t)[j]` is the sum of the derivatives of `t[i][j]` along i.
pub(super) const DIV: Row = Row {
    name: "div",
    synonyms: &["divergence"],
    times: 1,
    is_named: true,
    rank: |of| Rank::from_indices(of[0].indices().checked_sub(1)?),
    wants: "`div` is of a vector or a tensor",
    forms: |of| {
        let width = of.widths[0] / of.components;
        let called = Called::after("div", of);
        let sum = |j: usize| {
            of.over_axes(called.clone(), |axis| Form::Of(0, axis * width + j).derivative(axis, 1))
        };
        (0..width).map(|j| sum(j).named(called.clone())).collect()
    },
    ..Row::OF_ONE
};

/// The Laplacian, component by component.
pub(super) const LAP: Row = Row {
    name: "lap",
    synonyms: &["Laplacian", "laplace", "laplacian"],
    times: 2,
    rank: |of| Some(of[0]),
    forms: |of| {
        let sum = |at: usize| {
            of.over_axes(Called::after("lap", of), |axis| Form::Of(0, at).derivative(axis, 2))
        };
        (0..of.widths[0]).map(sum).collect()
    },
    ..Row::OF_ONE
};

/// The curl of a vector of three components.
pub(super) const CURL: Row = Row {
    name: "curl",
    synonyms: &["rot"],
    times: 1,
    in_three: true,
    is_named: true,
    rank: |of| vectors(of, Rank::Vector),
    wants: "`curl` is of a vector",
    forms: |of| {
        let component = |i: usize| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let plus = Form::Of(0, k).derivative(j, 1);
            let minus = Form::Of(0, j).derivative(k, 1);
            let called = format!("curl_{}_{}", of.name, ["x", "y", "z"][i]);
            plus.minus(minus).named(Called::Whole(called))
        };
        (0..3).map(component).collect()
    },
    ..Row::OF_ONE
};
