//! The functions of the language: one row each of those that are more than an operation on scalars. A row holds all
//! that a model is checked for; `discretize` has the code of the function.

use crate::expr::Op;

/// Tensor rank of an expression; extents are the components of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// One number a point.
    Scalar,
    /// One number for each axis, or three.
    Vector,
    /// One number for each pair of components of a vector.
    Tensor,
}

impl Rank {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Rank::Scalar => "scalar",
            Rank::Vector => "vector",
            Rank::Tensor => "tensor",
        }
    }

    /// The number of indices.
    pub fn indices(self) -> usize {
        match self {
            Rank::Scalar => 0,
            Rank::Vector => 1,
            Rank::Tensor => 2,
        }
    }

    /// The rank with this many indices, if there is one.
    pub(crate) fn from_indices(indices: usize) -> Option<Rank> {
        [Rank::Scalar, Rank::Vector, Rank::Tensor]
            .get(indices)
            .copied()
    }
}

/// The functions of the language. Index conventions: `grad(u)[i][j]` is the derivative of `u[j]`
/// along axis i; `dot` contracts the last index of its first argument with the first index of its
/// second, so `dot(u, grad(f))` is advection; `div(t)[j]` sums the derivative of `t[i][j]` along i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Gradient; raises the rank by one.
    Grad,
    /// Divergence; lowers the rank by one.
    Div,
    /// Laplacian, component by component.
    Lap,
    /// Curl of a vector of three components.
    Curl,
    /// Inner product.
    Dot,
    /// Cross product of two vectors of three components.
    Cross,
    /// Outer product of two vectors.
    Outer,
    /// Transpose of a tensor.
    Transpose,
    /// Trace of a tensor.
    Trace,
    /// Diagonal of a tensor, as a vector.
    Diagonal,
    /// Symmetric part of a tensor.
    Sym,
    /// Symmetric part of a tensor, less a third (1 / components) of its trace on the diagonal.
    SymTraceless,
    /// Length of a vector, Frobenius norm of a tensor.
    Norm,
    /// `upwind(u, f)`: advection `dot(u, grad(f))` with differences biased against the flow.
    Upwind,
    /// An operation on scalars, by the name that it has in the table of operations.
    Scalar(Op),
}

/// The properties of a function that a model is checked for.
struct Row {
    function: Function,
    /// Its name in the language.
    name: &'static str,
    /// The number of its arguments.
    arity: usize,
    /// The number of derivatives that it takes.
    times: u32,
    /// Is it for vectors of three components alone?
    in_three: bool,
    rank: Rule,
    /// The arguments that it takes, for messages.
    wants: &'static str,
}

/// The rows, in the order in which messages list the functions.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { times: 1, ..of_one(Function::Grad, "grad", up, "`grad` is of a scalar or a vector") },
    Row { times: 1, ..of_one(Function::Div, "div", down, "`div` is of a vector or a tensor") },
    Row { times: 2, ..of_one(Function::Lap, "lap", |of| Some(of[0]), "") },
    Row { times: 1, in_three: true, ..of_one(Function::Curl, "curl", |of| vectors(of, Rank::Vector), "`curl` is of a vector") },
    of_two(Function::Dot, "dot", contracted, "`dot` is of vectors and tensors; write `*` for a scalar"),
    Row { in_three: true, ..of_two(Function::Cross, "cross", |of| vectors(of, Rank::Vector), "`cross` is of two vectors") },
    of_two(Function::Outer, "outer", |of| vectors(of, Rank::Tensor), "`outer` is of two vectors"),
    of_one(Function::Transpose, "transpose", |of| tensor(of, Rank::Tensor), "`transpose` is of a tensor"),
    of_one(Function::Trace, "trace", |of| tensor(of, Rank::Scalar), "`trace` is of a tensor"),
    of_one(Function::Diagonal, "diagonal", |of| tensor(of, Rank::Vector), "`diagonal` is of a tensor, such as `I`"),
    of_one(Function::Sym, "sym", |of| tensor(of, Rank::Tensor), "`sym` is of a tensor, such as `grad(u)`"),
    of_one(Function::SymTraceless, "sym_traceless", |of| tensor(of, Rank::Tensor), "`sym_traceless` is of a tensor, such as `grad(u)`"),
    of_one(Function::Norm, "norm", |of| (of != [Rank::Scalar]).then_some(Rank::Scalar), "`norm` is of a vector or a tensor; write `abs` for a scalar"),
    Row { times: 1, ..of_two(Function::Upwind, "upwind", |of| (of[0] == Rank::Vector).then_some(of[1]), "`upwind(u, f)` takes a velocity and what it carries") },
];

/// Returns the rank of the result from those of as many arguments as a function has; `None` if it does not take them.
type Rule = fn(&[Rank]) -> Option<Rank>;

/// A function of one argument that takes no derivatives.
const fn of_one(function: Function, name: &'static str, rank: Rule, wants: &'static str) -> Row {
    Row {
        function,
        name,
        arity: 1,
        times: 0,
        in_three: false,
        rank,
        wants,
    }
}

/// The same for two arguments.
const fn of_two(function: Function, name: &'static str, rank: Rule, wants: &'static str) -> Row {
    Row {
        arity: 2,
        ..of_one(function, name, rank, wants)
    }
}

fn up(of: &[Rank]) -> Option<Rank> {
    Rank::from_indices(of[0].indices() + 1)
}

fn down(of: &[Rank]) -> Option<Rank> {
    Rank::from_indices(of[0].indices().checked_sub(1)?)
}

fn contracted(of: &[Rank]) -> Option<Rank> {
    let [a, b] = [of[0], of[1]].map(Rank::indices);
    (a > 0 && b > 0).then(|| Rank::from_indices(a + b - 2))?
}

fn vectors(of: &[Rank], made: Rank) -> Option<Rank> {
    of.iter().all(|rank| *rank == Rank::Vector).then_some(made)
}

fn tensor(of: &[Rank], made: Rank) -> Option<Rank> {
    (of[0] == Rank::Tensor).then_some(made)
}

/// The operations that are functions of the language, by the names that they have as operations.
const SCALAR: &[Op] = &[
    Op::Sqrt,
    Op::Abs,
    Op::Min,
    Op::Max,
    Op::Exp,
    Op::Log,
    Op::Sin,
    Op::Cos,
    Op::Tanh,
    Op::Cbrt,
    Op::Pow,
    Op::Atan2,
];

/// All functions with their names.
fn all() -> impl Iterator<Item = (&'static str, Function)> {
    let rows = ROWS.iter().map(|row| (row.name, row.function));
    let scalar = SCALAR.iter().map(|op| (op.name(), Function::Scalar(*op)));
    rows.chain(scalar)
}

/// The names of all functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|(name, _)| name)
}

impl Function {
    /// The function with a name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let found = all().find(|(n, _)| *n == name);
        found.map(|(_, function)| function)
    }

    /// Its row, if it is more than an operation on scalars.
    fn row(self) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.function == self)
    }

    /// Its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Function::Scalar(op) if !SCALAR.contains(&op) => "",
            Function::Scalar(op) => op.name(),
            _ => self.row().map_or("", |row| row.name),
        }
    }

    /// The number of its arguments.
    pub fn arity(self) -> usize {
        match self {
            Function::Scalar(op) => op.arity(),
            _ => self.row().map_or(0, |row| row.arity),
        }
    }

    /// The number of derivatives that it takes.
    pub(crate) fn times(self) -> u32 {
        self.row().map_or(0, |row| row.times)
    }

    /// Does it take derivatives?
    pub(crate) fn differentiates(self) -> bool {
        self.times() > 0
    }

    /// Is it for vectors of three components alone?
    pub(crate) fn is_in_three(self) -> bool {
        self.row().is_some_and(|row| row.in_three)
    }

    /// The rank of the result for arguments of these ranks, if it takes them.
    pub(crate) fn rank(self, of: &[Rank]) -> Option<Rank> {
        match self {
            _ if of.len() != self.arity() => None,
            Function::Scalar(_) if of.contains(&Rank::Vector) || of.contains(&Rank::Tensor) => None,
            Function::Scalar(_) => Some(Rank::Scalar),
            _ => (self.row()?.rank)(of),
        }
    }

    /// The arguments that it takes, for messages.
    pub(crate) fn wants(self) -> &'static str {
        match self {
            Function::Scalar(Op::Abs) => "`abs` is of a scalar; write `norm(u)` for a length",
            Function::Scalar(op) if op.arity() == 1 => "it is of a scalar",
            Function::Scalar(_) => "it is of two scalars",
            _ => self.row().map_or("", |row| row.wants),
        }
    }
}
