//! The algebra of vectors and tensors: functions of the values in one cell.

use super::form::{Arguments, Called, Form};
use super::{Rank, Row, tensor, vectors};
use crate::expr::Op;

/// The rows, in the order in which messages list them.
pub(super) const ROWS: &[&Row] =
    &[&DOT, &CROSS, &OUTER, &TRANSPOSE, &TRACE, &DIAGONAL, &SYM, &SYM_TRACELESS, &NORM];

/// Contracts the last index of its first argument with the first index of its second: `dot(u, grad(f))` is advection.
pub(super) const DOT: Row = Row {
    name: "dot",
    rank: |of| {
        let [a, b] = [of[0], of[1]].map(Rank::indices);
        (a > 0 && b > 0).then(|| Rank::from_indices(a + b - 2))?
    },
    wants: "`dot` is of vectors and tensors; write `*` for a scalar",
    forms: |of| {
        let n = of.components;
        let (rows, columns) = (of.widths[0] / n, of.widths[1] / n);
        let sum = |(i, j): (usize, usize)| {
            let part = |k| Form::Of(0, i * n + k).times(Form::Of(1, k * columns + j));
            Form::Sum(Called::Part("dot"), (0..n).map(part).collect())
        };
        let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        all.map(sum).collect()
    },
    ..Row::OF_TWO
};

/// The cross product of two vectors of three components.
pub(super) const CROSS: Row = Row {
    name: "cross",
    in_three: true,
    rank: |of| vectors(of, Rank::Vector),
    wants: "`cross` is of two vectors",
    forms: |_| {
        let component = |i: usize| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let plus = Form::Of(0, j).times(Form::Of(1, k));
            plus.minus(Form::Of(0, k).times(Form::Of(1, j)))
        };
        (0..3).map(component).collect()
    },
    ..Row::OF_TWO
};

/// The outer product of two vectors.
pub(super) const OUTER: Row = Row {
    name: "outer",
    rank: |of| vectors(of, Rank::Tensor),
    wants: "`outer` is of two vectors",
    forms: |of| {
        let pairs = (0..of.widths[0]).flat_map(|i| (0..of.widths[1]).map(move |j| (i, j)));
        pairs.map(|(i, j)| Form::Of(0, i).times(Form::Of(1, j))).collect()
    },
    ..Row::OF_TWO
};

/// The transpose of a tensor.
pub(super) const TRANSPOSE: Row = Row {
    name: "transpose",
    rank: |of| tensor(of, Rank::Tensor),
    wants: "`transpose` is of a tensor",
    forms: |of| entries(of, |at| mirrored(of, at)),
    ..Row::OF_ONE
};

/// The trace of a tensor.
pub(super) const TRACE: Row = Row {
    name: "trace",
    rank: |of| tensor(of, Rank::Scalar),
    wants: "`trace` is of a tensor",
    forms: |of| vec![trace(of)],
    ..Row::OF_ONE
};

/// The diagonal of a tensor, as a vector.
pub(super) const DIAGONAL: Row = Row {
    name: "diagonal",
    rank: |of| tensor(of, Rank::Vector),
    wants: "`diagonal` is of a tensor, such as `I`",
    forms: diagonal,
    ..Row::OF_ONE
};

/// The symmetric part of a tensor.
pub(super) const SYM: Row = Row {
    name: "sym",
    rank: |of| tensor(of, Rank::Tensor),
    wants: "`sym` is of a tensor, such as `grad(u)`",
    forms: |of| entries(of, |at| symmetric(of, at)),
    ..Row::OF_ONE
};

/// The symmetric part of a tensor, less its trace over the number of components on the diagonal.
pub(super) const SYM_TRACELESS: Row = Row {
    name: "sym_traceless",
    rank: |of| tensor(of, Rank::Tensor),
    wants: "`sym_traceless` is of a tensor, such as `grad(u)`",
    forms: |of| {
        entries(of, |at| match at % (of.components + 1) {
            0 => symmetric(of, at).minus(trace(of).over(of.components)),
            _ => symmetric(of, at),
        })
    },
    ..Row::OF_ONE
};

/// The length of a vector, the Frobenius norm of a tensor.
pub(super) const NORM: Row = Row {
    name: "norm",
    synonyms: &["length", "magnitude"],
    is_linear: false,
    is_size: true,
    rank: |of| (of != [Rank::Scalar]).then_some(Rank::Scalar),
    wants: "`norm` is of a vector or a tensor; write `abs` for a scalar",
    forms: |_| vec![Form::Op(Op::Sqrt, vec![Form::Squares])],
    ..Row::OF_ONE
};

fn entries(of: &Arguments<'_>, entry: impl Fn(usize) -> Form) -> Vec<Form> {
    (0..of.widths[0]).map(entry).collect()
}

/// The entry on the other side of the diagonal.
fn mirrored(of: &Arguments<'_>, at: usize) -> Form {
    let n = of.components;
    Form::Of(0, (at % n) * n + at / n)
}

fn symmetric(of: &Arguments<'_>, at: usize) -> Form {
    Form::Of(0, at).plus(mirrored(of, at)).half()
}

fn diagonal(of: &Arguments<'_>) -> Vec<Form> {
    let n = of.components;
    (0..n).map(|i| Form::Of(0, i * (n + 1))).collect()
}

/// The trace; that of a gradient is called a divergence.
fn trace(of: &Arguments<'_>) -> Form {
    let called = match of.name.strip_prefix("grad_") {
        Some(of) => format!("div_{of}"),
        None => format!("trace_{}", of.name),
    };
    Form::Sum(Called::Part("trace"), diagonal(of)).named(Called::Whole(called))
}
