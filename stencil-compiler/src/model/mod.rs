//! The `Model`: equations as written, resolved and typed.
//!
//! Invariants (kept by [`check`]): every name is resolved to an index; the rank of every
//! expression is known and consistent; every field has exactly one equation; there is no offset,
//! no spacing and no order anywhere but in [`Scheme`].

use num_rational::Ratio;

use crate::diag::Span;

pub mod check;
pub mod parse;
pub mod text;

/// An exact number, as literals are written.
pub type Rational = Ratio<i128>;

/// A system of equations with the scheme that discretizes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Name of the system, a Rust identifier.
    pub name: String,
    /// Doc comment lines, without the leading space.
    pub doc: Vec<String>,
    /// Number of space dimensions, 1 to 3.
    pub dimension: usize,
    /// Evolved fields, in the order of declaration.
    pub fields: Vec<Field>,
    /// Parameters, constant in space and time.
    pub params: Vec<Param>,
    /// Named intermediate expressions, each using earlier ones only.
    pub lets: Vec<Let>,
    /// One equation for each field, in the order of the fields.
    pub equations: Vec<Equation>,
    /// The discrete choices.
    pub scheme: Scheme,
}

/// Tensor rank of an expression; extents are the model's dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// One number a point.
    Scalar,
    /// One number for each axis.
    Vector,
    /// One number for each pair of axes.
    Tensor,
}

/// An evolved quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Scalar or vector (or tensor).
    pub rank: Rank,
    /// The text in the unit brackets, kept as written.
    pub unit: Option<String>,
    /// Where it was declared.
    pub span: Span,
}

/// A run-time constant of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The value used where a run gives none.
    pub default: Option<Rational>,
    /// Bounds from `where`, as (comparison, number): `nu >= 0`.
    pub bounds: Vec<(Comparison, Rational)>,
    /// The text in the unit brackets, kept as written.
    pub unit: Option<String>,
    /// Where it was declared.
    pub span: Span,
}

/// A comparison in a `where` clause, with the parameter on the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

/// A named intermediate: `let s = sym_traceless(grad(u));`
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub value: Term,
    /// Where it was named.
    pub span: Span,
}

/// `ddt(field) = rhs;`
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    /// Index into [`Model::fields`].
    pub field: usize,
    /// The right-hand side, of the field's rank.
    pub rhs: Term,
    /// The whole equation.
    pub span: Span,
}

/// A typed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Its rank.
    pub rank: Rank,
    /// Where it was written.
    pub span: Span,
}

/// The forms of a [`Term`]. Axis numbers are 0 for x, 1 for y, 2 for z.
#[derive(Clone, Debug, PartialEq)]
pub enum TermKind {
    /// A literal, exact.
    Number(Rational),
    /// Index into [`Model::fields`].
    Field(usize),
    /// Index into [`Model::params`].
    Param(usize),
    /// Index into [`Model::lets`].
    Let(usize),
    /// `-a`
    Neg(Box<Term>),
    /// `a + b`, equal ranks.
    Add(Box<Term>, Box<Term>),
    /// `a - b`, equal ranks.
    Sub(Box<Term>, Box<Term>),
    /// `a * b`, at least one of them scalar.
    Mul(Box<Term>, Box<Term>),
    /// `a / b`, b scalar.
    Div(Box<Term>, Box<Term>),
    /// `a^n`, a scalar, n a literal integer.
    Pow(Box<Term>, i32),
    /// `[a, b, c]`: a vector from scalars, a tensor from vectors (its rows).
    Stack(Vec<Term>),
    /// `u.x`, `t.xy`: one component.
    Component(Box<Term>, Vec<usize>),
    /// `d[x](a)` (times 1) or `d2[x](a)` (times 2): the derivative along one axis.
    Derivative {
        /// The axis.
        axis: usize,
        /// 1 or 2.
        times: u32,
        /// What is differentiated.
        of: Box<Term>,
    },
    /// A named function of the language.
    Call(Function, Vec<Term>),
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
    /// Curl of a vector in 3d.
    Curl,
    /// Inner product.
    Dot,
    /// Cross product of two vectors in 3d.
    Cross,
    /// Outer product of two vectors.
    Outer,
    /// Transpose of a tensor.
    Transpose,
    /// Trace of a tensor.
    Trace,
    /// Symmetric part of a tensor.
    Sym,
    /// Symmetric part of a tensor, less a third (1 / dimension) of its trace on the diagonal.
    SymTraceless,
    /// Square root of a scalar.
    Sqrt,
    /// Absolute value of a scalar.
    Abs,
    /// The smaller of two scalars.
    Min,
    /// The larger of two scalars.
    Max,
}

/// The discrete choices of a model: they change numbers, schedules do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Its name.
    pub name: String,
    /// Convergence order of the central differences: 2, 4, 6, 8 or 10.
    pub order: u32,
    /// What a derivative of a derivative means.
    pub mixed: Mixed,
    /// Name of the time integrator, one of `discretize::integrators`.
    pub time: String,
}

/// What a derivative of a derivative means (Pekkilä et al. 2017, Eqs. 7 to 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mixed {
    /// Eq. 8 for two different axes, Eq. 7 for the same axis twice.
    Bidiagonal,
    /// Eq. 9 for two different axes, Eq. 7 for the same axis twice.
    Product,
    /// Eq. 6 applied to a grid function that is itself made of derivatives by Eq. 6.
    Composed,
}
