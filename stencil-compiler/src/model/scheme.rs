//! The discrete choices of a system.

use crate::expr::Rational;

/// The discrete choices of a model: they change numbers, schedules do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Its name.
    pub name: String,
    /// Convergence order of the central differences: 2, 4, 6, 8 or 10.
    pub order: u32,
    /// What a derivative of a derivative means.
    pub mixed: Mixed,
    /// Whether equations are expanded and collected.
    pub arith: Arith,
    /// Name of the time integrator, one of [`catalogue::integrators`](crate::catalogue::integrators).
    pub time: String,
    /// Name of the Riemann solver, one of `catalogue::riemann` or of the system.
    pub riemann: String,
    /// Name of the reconstruction of states at faces, one of `catalogue::reconstructions`.
    pub reconstruct: String,
    /// Name of its limiter, one of `catalogue::limiters`.
    pub limiter: String,
    /// The parameter of the limiter, where it has one.
    pub theta: Option<Rational>,
    /// The number that the reconstruction takes, where it takes one and the scheme says it.
    pub reconstruct_parameter: Option<Rational>,
    /// Of which states the law is made linear at a face.
    pub average: Averaged,
    /// The number that the solver takes, where it takes one and the scheme says it.
    pub riemann_parameter: Option<Rational>,
    /// What is reconstructed.
    pub variables: Variables,
    /// Whether fluxes along different axes go into one step.
    pub sweep: Sweep,
    /// Whether what does not flow goes into one step with what does.
    pub source: Splitting,
    /// What keeps ranges.
    pub repair: Repair,
}

/// The states on both sides of a face whose mean is that at which the law is made linear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Averaged {
    /// Those that are reconstructed there.
    #[default]
    Faces,
    /// The means of both cells, where fluxes are reconstructed by themselves (Kim et al., Comput. Fluids 251, 105744, 2023, as HyPar does).
    Cells,
}

/// What is done to keep the ranges of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// Fluxes through faces by which a cell would leave a range are replaced.
    #[default]
    Fluxes,
    /// Nothing: no operation is spent on it.
    Nothing,
}

/// How the fluxes along different axes are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sweep {
    /// All at once.
    #[default]
    Unsplit,
    /// One axis after the other, each with a whole step, and then what does not flow.
    Dimensional,
    /// Half a step along each axis but the last, a whole one along the last, and the other halves in reverse order; what does not
    /// flow around them, half before and half after.
    Strang,
}

/// How what flows and what else changes fields are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Splitting {
    /// Both at once, where axes are so.
    #[default]
    Unsplit,
    /// A whole step of what flows, and then one of all else.
    Godunov,
    /// Half a step of all else before and after a step of what flows.
    Strang,
}

/// The variables that are reconstructed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variables {
    /// The fields themselves.
    #[default]
    Conserved,
    /// What the system declares as [`Primitives`](super::Primitives).
    Primitive,
    /// What each family of waves carries.
    Characteristic,
    /// The fields themselves and, in place of fluxes of their values at faces, those in cells.
    Fluxes,
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
    /// Any of them: `Bidiagonal` unless a [`Formulation`](super::Formulation) says otherwise.
    Either,
}

/// Whether equations are collected: the values differ in rounding only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arith {
    /// Uniforms are distributed over sums, equal terms and what they share collected: the fewest operations.
    /// Products of cell values are never multiplied out.
    #[default]
    Collected,
    /// Products and quotients are evaluated as they are written.
    AsWritten,
    /// As `Collected`, with derivatives of even order as sums of weighted differences of neighbours, and sums over axes that
    /// round alike for each of them.
    Differences,
    /// One of the first two: `Collected` unless a [`Formulation`](super::Formulation) says otherwise.
    Either,
}
