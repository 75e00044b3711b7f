//! The `Model`: equations as written, resolved and typed.
//!
//! Invariants (kept by [`check`]): every name is resolved to an index; the rank of every
//! expression is known and consistent; every field has exactly one equation; there is no offset,
//! no spacing and no order anywhere but in [`Scheme`].

use crate::catalogue::{Centering, Function, Rank};
use crate::diag::Span;
use crate::expr::{Op, Rational};

mod at_face;
pub mod check;
mod foreign;
pub mod formula;
mod formulation;
pub mod layer;
mod nesting;
pub mod parse;
mod rebuild;
mod repeated;
pub mod riemann;
mod scheme;
mod seconds;
mod summands;
pub mod text;

pub use at_face::AtFace;
pub use formulation::Formulation;
pub(crate) use parse::number::nearest_decimal;
pub(crate) use repeated::Repeated;
pub use riemann::{Gives, RiemannSolver, Side, Solved, SolverWave};
pub use scheme::{Arith, Averaged, Mixed, Repair, Scheme, Splitting, Sweep, Variables};
pub(crate) use seconds::Seconds;

/// The nearest `f64`.
///
/// ```
/// use stencil_compiler::expr::Rational;
/// use stencil_compiler::model::to_f64;
/// assert_eq!(to_f64(&Rational::new(-1, 10)), -0.1);
/// assert_eq!(to_f64(&Rational::new(5, 3)), 5.0 / 3.0);
/// ```
pub fn to_f64(value: &Rational) -> f64 {
    parse::number::nearest(value)
}

/// A system of equations with the scheme that discretizes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Name of the system, a Rust identifier.
    pub name: String,
    /// Doc comment lines, without the leading space.
    pub doc: Vec<String>,
    /// Number of space dimensions, 1 to 3.
    pub dimension: usize,
    /// Number of components of its vectors: one for each axis, or three if they are declared as `vector<3>`.
    pub components: usize,
    /// Was the system declared `in nd`, for any number of dimensions?
    pub generic: bool,
    /// Evolved fields, in the order of declaration.
    pub fields: Vec<Field>,
    /// Parameters, constant in space and time.
    pub params: Vec<Param>,
    /// Fields that are given from outside.
    pub sources: Vec<Source>,
    /// Named intermediate expressions, each using earlier ones only.
    pub lets: Vec<Let>,
    /// One equation for each field, in the order of the fields.
    pub equations: Vec<Equation>,
    /// Fluxes through faces of cells, in the order of the fields; at most one for each.
    pub fluxes: Vec<Flux>,
    /// Products with slopes beside the fluxes, in the order of the fields; at most one for each.
    pub products: Vec<Product>,
    /// The ranges of conserved fields and functions of them, which fluxes are repaired for.
    pub ranges: Vec<Range>,
    /// The primitive variables, if the system declares them.
    pub primitives: Option<Primitives>,
    /// The values that both sides of a face share, if the system declares them.
    pub at_face: Option<AtFace>,
    /// The state between both sides of a face at which fluxes are linearized, if the system declares it.
    pub average: Option<Average>,
    /// The speeds of the waves of the fluxes, if they are known.
    pub waves: Option<Waves>,
    /// The Riemann solvers that the system declares.
    pub solvers: Vec<RiemannSolver>,
    /// Numbers to watch in a run.
    pub observables: Vec<Observable>,
    /// Speeds that limit the time step.
    pub speeds: Vec<Speed>,
    /// The discrete choices.
    pub scheme: Scheme,
    /// Other schemes that were declared for the system, to be chosen by name.
    pub others: Vec<Scheme>,
}

/// An evolved quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Scalar or vector (or tensor).
    pub rank: Rank,
    /// The independent components of a tensor.
    pub symmetry: Symmetry,
    /// The places of its values.
    pub centering: Centering,
    /// The text in the unit brackets, kept as written.
    pub unit: Option<String>,
    /// The place of its declaration.
    pub span: Span,
}

/// The independent components of a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symmetry {
    /// All components (also of a scalar or vector).
    #[default]
    General,
    /// `t.xy = t.yx`: the components on and above the diagonal.
    Symmetric,
    /// `t.xy = -t.yx`: the components above the diagonal.
    Antisymmetric,
}

/// A field that is given from outside, as a function of space and time or as an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Scalar or vector (or tensor).
    pub rank: Rank,
    /// The text in the unit brackets, kept as written.
    pub unit: Option<String>,
    /// Its value unless a run gives another one: pointwise, of parameters, coordinates and time.
    pub value: Option<Term>,
    /// The place of its declaration.
    pub span: Span,
}

/// A number to watch: `observe energy = mean(dot(u, u) / 2);`
#[derive(Clone, Debug, PartialEq)]
pub struct Observable {
    /// Its name.
    pub name: String,
    /// The reduction of the values of all cells to one.
    pub reduction: Reduction,
    /// The scalar that is reduced.
    pub value: Term,
    /// The place of its name.
    pub span: Span,
}

/// A reduction of the values of all cells to one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// Their sum over their number.
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

/// A speed that limits the time step, in units of length^power over time: a scalar for one in every direction, or, of
/// power 1, a vector of the speeds along each axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Speed {
    /// 1 for `advective`, 2 for `diffusive`, 3 for `dispersive`, 4 for `hyperdiffusive`.
    pub power: u32,
    /// The speed in a cell.
    pub value: Term,
    /// The place of its declaration.
    pub span: Span,
}

/// A run-time constant of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The value used where a run gives none; finite.
    pub default: Option<f64>,
    /// Bounds from `where`, as (comparison, number): `nu >= 0`.
    pub bounds: Vec<(Comparison, Rational)>,
    /// The text in the unit brackets, kept as written.
    pub unit: Option<String>,
    /// The place of its declaration.
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
    /// Its value.
    pub value: Term,
    /// The loop that it comes out of; it is NaN if that did not end.
    pub within: Option<Iterations>,
    /// The place of its name.
    pub span: Span,
}

/// `within 20 iterations of root`: how often a loop that ends by a test goes round at most.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Iterations {
    /// The function with the loop.
    pub function: String,
    /// The most iterations.
    pub most: u32,
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

/// `flux h -> m;`: a conserved field and its flux. The scheme subtracts the divergence from the field's rate, as
/// differences of fluxes through faces of cells, and the equation is the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Flux {
    /// Index into [`Model::fields`].
    pub field: usize,
    /// The flux along each axis: one rank above the field, its first index the axis; or, made of [`TermKind::Normal`], the flux along
    /// that, of the rank of the field. It is made of values in one point.
    pub value: Term,
    /// The whole item.
    pub span: Span,
}

/// `product m -> g*h*grad(depth);`: a sum of products with slopes of fields, which the rate of a conserved field loses as it
/// loses the divergence of its flux. At faces, where fields jump, it is the integral along a path between both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// Index into [`Model::fields`].
    pub field: usize,
    /// Its value, of the rank of the field: linear in first derivatives of fields.
    pub value: Term,
    /// The whole item.
    pub span: Span,
}

/// `where p > 0`: a half-line that a conserved scalar, or a scalar function of conserved fields, keeps to.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The field or the `let`.
    pub of: Term,
    /// Its comparison with the bound.
    pub comparison: Comparison,
    /// The bound.
    pub bound: Rational,
    /// The place of its text.
    pub span: Span,
}

/// `primitive { rho; u; p; m = rho*u; E = ..; }`: variables that states at faces may be made of in place of
/// conserved ones, and how these follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Primitives {
    /// The primitive variables: each a field or a `let`.
    pub variables: Vec<Term>,
    /// The values of the conserved fields that are not variables themselves, in the order of the fields.
    pub conserved: Vec<FromPrimitives>,
    /// The beginning of the block.
    pub span: Span,
}

/// `average { h; u by sqrt(h); m = h*u; }`: the state between both sides of a face at which fluxes are made linear.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// The averaged variables, and the values of the conserved fields by them.
    pub of: Primitives,
    /// The weights of the sides in the mean of each variable, a scalar; equal weights if there is none.
    pub weights: Vec<Option<Term>>,
}

/// `m = rho*u;`: a conserved field, or one that is the same on both sides of a face, made of primitives, parameters, `t` and
/// fields without flux.
#[derive(Clone, Debug, PartialEq)]
pub struct FromPrimitives {
    /// Index into [`Model::fields`].
    pub field: usize,
    /// Its value.
    pub value: Term,
    /// The whole item.
    pub span: Span,
}

/// `waves { flow: u; sound: c; density: rho; pressure: p; }`: the speeds of all waves, or bounds of them. Along each
/// axis no wave is slower than that component of the flow less the sound, with its sign, and none faster than both
/// together. They are made of values in one point; a part that is not given is zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Waves {
    /// A vector.
    pub flow: Option<Term>,
    /// A scalar that is not negative, or a vector with one for each axis.
    pub sound: Option<Term>,
    /// The density, for solvers that know the contact, which moves with the flow: a scalar.
    pub density: Option<Term>,
    /// The pressure: a scalar `let` of which the fluxes are made.
    pub pressure: Option<Term>,
    /// The beginning of the block.
    pub span: Span,
}

/// A typed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Its kind.
    pub kind: TermKind,
    /// Its rank.
    pub rank: Rank,
    /// The place of its text.
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
    /// Index into [`Model::sources`].
    Source(usize),
    /// `t`, the time.
    Time,
    /// `epsilon`: from one to the next larger number in the precision of a run.
    Epsilon,
    /// `x`, `y` or `z`; only in the values of sources.
    Coordinate(usize),
    /// `below.p`, `above.p`: a field or a `let` in the state on one side of a face; only in Riemann solvers.
    Side(Side, Box<Term>),
    /// `normal`: the unit vector along the axis of a face; only in fluxes and in Riemann solvers.
    Normal,
    /// `rise(m)`: the jump of the flux of a conserved field along the normal, and the integral of its product between both
    /// sides; only in Riemann solvers.
    Rise(usize),
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
    /// `d[x](a)` (times 1), `d2[x](a)` (times 2) and so on: the derivative along one axis.
    Derivative {
        /// The axis.
        axis: usize,
        /// 1 to [`HIGHEST`].
        times: u32,
        /// The differentiated term.
        of: Box<Term>,
    },
    /// `if a < b { c } else { d }`: a and b scalars, c and d of equal rank; a cell takes one of
    /// them. A comparison with NaN is false.
    If(Relation, Box<[Term; 4]>),
    /// A named function of the language.
    Call(Function, Vec<Term>),
}

/// The most times that an expression is differentiated along one axis by one operator.
pub const HIGHEST: u32 = 8;

/// The comparisons of a condition; others are these with operands or branches exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a == b`
    Equal,
}

impl Relation {
    /// The operation that chooses by it.
    pub(crate) fn op(self) -> Op {
        match self {
            Relation::Less => Op::Lt,
            Relation::LessEqual => Op::Le,
            Relation::Equal => Op::Eq,
        }
    }
}
