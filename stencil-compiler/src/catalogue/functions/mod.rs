//! The functions of the language: one row each of those that are more than an operation on scalars. A row says all that
//! a model is checked for, and how the function is made of derivatives and of operations on scalars.

use std::fmt;

use super::operators;
use crate::expr::Op;

mod algebra;
mod calculus;
pub(crate) mod form;
mod places;

pub(crate) use form::{Arguments, Called, Form};

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

    /// The rank with so many indices, if there is one.
    pub(crate) fn from_indices(indices: usize) -> Option<Rank> {
        [Rank::Scalar, Rank::Vector, Rank::Tensor].get(indices).copied()
    }
}

/// A function of the language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    /// A function of tensors or of derivatives, by its row.
    Row(&'static Row),
    /// An operation on scalars, by the name that it has in the table of operations.
    Scalar(Op),
}

/// All that is known of a function. A model is checked against it, and equations and formulas are made of its forms.
pub struct Row {
    /// Its name in the language.
    pub(crate) name: &'static str,
    /// Its names elsewhere.
    pub(crate) synonyms: &'static [&'static str],
    /// The number of its arguments.
    pub(crate) arity: usize,
    /// The order of its derivatives, zero if it takes none.
    pub(crate) times: u32,
    /// Is it for vectors of three components alone?
    pub(crate) in_three: bool,
    /// Is it linear in each argument?
    pub(crate) is_linear: bool,
    /// Does it interpolate to another place of the cell?
    pub(crate) moves: bool,
    /// Is it the size of its argument?
    pub(crate) is_size: bool,
    /// Is what it makes called after it and its argument, as in `grad_f`?
    pub(crate) is_named: bool,
    /// The rank of the result for arguments of these ranks, as many as `arity`; `None` where it does not take them.
    pub(crate) rank: fn(&[Rank]) -> Option<Rank>,
    /// The arguments that it takes, for messages.
    pub(crate) wants: &'static str,
    /// The components of the result.
    pub(crate) forms: fn(&Arguments<'_>) -> Vec<Form>,
}

impl Row {
    /// A linear function of one argument that takes no derivatives.
    pub(crate) const OF_ONE: Row = Row {
        name: "",
        synonyms: &[],
        arity: 1,
        times: 0,
        in_three: false,
        is_linear: true,
        moves: false,
        is_size: false,
        is_named: false,
        rank: |_| None,
        wants: "",
        forms: |_| Vec::new(),
    };
    /// The same of two.
    pub(crate) const OF_TWO: Row = Row { arity: 2, ..Row::OF_ONE };
}

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All rows, in the order in which messages list the functions.
fn rows() -> impl Iterator<Item = &'static Row> {
    let lists = [calculus::ROWS, algebra::ROWS, operators::FUNCTIONS, places::ROWS];
    lists.into_iter().flatten().copied()
}

/// Returns a rank for vectors alone.
pub(crate) fn vectors(of: &[Rank], made: Rank) -> Option<Rank> {
    of.iter().all(|rank| *rank == Rank::Vector).then_some(made)
}

/// Returns a rank for a tensor alone.
pub(crate) fn tensor(of: &[Rank], made: Rank) -> Option<Rank> {
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
    Op::Sinh,
    Op::Cosh,
    Op::Tanh,
    Op::Erf,
    Op::Floor,
    Op::Mod,
    Op::Cbrt,
    Op::Pow,
    Op::Atan2,
];

impl Function {
    /// The gradient, whose components may be given as slopes at faces.
    pub(crate) const GRAD: Function = Function::Row(&calculus::GRAD);
    /// The divergence, which fluxes make.
    pub(crate) const DIV: Function = Function::Row(&calculus::DIV);
    /// The inner product, which a flux through a face is made by.
    pub(crate) const DOT: Function = Function::Row(&algebra::DOT);

    /// All functions of the language, in the order in which messages list them.
    pub fn all() -> impl Iterator<Item = Function> {
        let scalar = SCALAR.iter().map(|op| Function::Scalar(*op));
        rows().map(Function::Row).chain(scalar)
    }

    /// The function with a name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        Function::all().find(|function| function.name() == name)
    }

    /// The function that is called so elsewhere.
    pub(crate) fn find_synonym(name: &str) -> Option<&'static str> {
        let row = rows().find(|row| row.synonyms.contains(&name));
        row.map(|row| row.name)
    }

    /// Its row, if it is more than an operation on scalars.
    fn row(self) -> Option<&'static Row> {
        match self {
            Function::Row(row) => Some(row),
            Function::Scalar(_) => None,
        }
    }

    /// Its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Function::Row(row) => row.name,
            Function::Scalar(op) if !SCALAR.contains(&op) => "",
            Function::Scalar(op) => op.name(),
        }
    }

    /// The number of its arguments.
    pub fn arity(self) -> usize {
        match self {
            Function::Row(row) => row.arity,
            Function::Scalar(op) => op.arity(),
        }
    }

    /// Returns the order of its derivatives, zero if it takes none.
    pub(crate) fn times(self) -> u32 {
        self.row().map_or(0, |row| row.times)
    }

    /// Does it take derivatives?
    pub fn differentiates(self) -> bool {
        self.times() > 0
    }

    /// Does it interpolate to another place of the cell?
    pub(crate) fn moves(self) -> bool {
        self.row().is_some_and(|row| row.moves)
    }

    /// Is it for vectors of three components alone?
    pub(crate) fn is_in_three(self) -> bool {
        self.row().is_some_and(|row| row.in_three)
    }

    /// Does it multiply values of one cell, each argument as often as the others?
    pub fn is_multilinear(self) -> bool {
        self.row().is_some_and(|row| row.is_linear && row.times == 0 && !row.moves)
    }

    /// Is it the size of its argument?
    pub(crate) fn is_size(self) -> bool {
        match self {
            Function::Row(row) => row.is_size,
            Function::Scalar(op) => op == Op::Abs,
        }
    }

    /// Is what it makes called after it and its argument?
    pub(crate) fn is_named(self) -> bool {
        self.row().is_some_and(|row| row.is_named)
    }

    /// The components of what it makes of such arguments.
    pub(crate) fn forms(self, arguments: &Arguments<'_>) -> Vec<Form> {
        match self {
            Function::Row(row) => (row.forms)(arguments),
            Function::Scalar(op) => {
                let arguments = (0..op.arity()).map(|i| Form::Of(i, 0));
                vec![Form::Op(op, arguments.collect())]
            }
        }
    }

    /// The rank of what it makes of arguments of these ranks, if it takes them.
    pub fn rank(self, of: &[Rank]) -> Option<Rank> {
        match self {
            _ if of.len() != self.arity() => None,
            Function::Row(row) => (row.rank)(of),
            Function::Scalar(_) => {
                let scalars = of.iter().all(|rank| *rank == Rank::Scalar);
                scalars.then_some(Rank::Scalar)
            }
        }
    }

    /// The arguments that it takes, for messages.
    pub(crate) fn wants(self) -> &'static str {
        match self {
            Function::Row(row) => row.wants,
            Function::Scalar(Op::Abs) => "`abs` is of a scalar; write `norm(u)` for a length",
            Function::Scalar(op) if op.arity() == 1 => "it is of a scalar",
            Function::Scalar(_) => "it is of two scalars",
        }
    }
}
