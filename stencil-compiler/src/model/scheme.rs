//! The discrete choices of a system.

use super::Model;
use crate::expr::Rational;

/// The discrete choices of a model: they change numbers, schedules do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Its name.
    pub name: String,
    /// Convergence order of the central differences: 2, 4, 6, 8 or 10.
    pub order: u32,
    /// The meaning of a derivative of a derivative.
    pub mixed: Mixed,
    /// The way in which equations are expanded and collected.
    pub arith: Arith,
    /// Name of the time integrator, one of [`catalogue::integrators`](crate::catalogue::integrators).
    pub time: String,
    /// Name of the Riemann solver, one of `catalogue::riemann` or of the system.
    pub riemann: String,
    /// Name of the reconstruction of states at faces, one of `catalogue::reconstructions`.
    pub reconstruct: String,
    /// Name of its limiter, one of `catalogue::limiters`.
    pub limiter: String,
    /// The parameter of the limiter, if it has one.
    pub theta: Option<Rational>,
    /// The parameter of the reconstruction, if it has one and the scheme gives it.
    pub reconstruct_parameter: Option<Rational>,
    /// Do the states at faces follow the characteristics of the law through half a step?
    pub traces: bool,
    /// The states at which the law is linearized at a face.
    pub average: Averaged,
    /// The parameter of the solver, if it has one and the scheme gives it.
    pub riemann_parameter: Option<Rational>,
    /// Name of the solver for faces where the law made linear between both sides leads out of the ranges of the system, if the
    /// scheme gives one.
    pub fallback: Option<String>,
    /// The number of Gauss-Legendre points on the straight path between both sides of a face that products with slopes are integrated
    /// along, 1 to 5.
    pub points: u32,
    /// The reconstructed variables.
    pub variables: Variables,
    /// The way in which fluxes along different axes are combined.
    pub sweep: Sweep,
    /// Do terms without flux go into one step with the fluxes?
    pub source: Splitting,
    /// The way to keep ranges.
    pub repair: Repair,
}

/// The states on both sides of a face whose mean is that at which the law is made linear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Averaged {
    /// The states that are reconstructed there.
    #[default]
    Faces,
    /// The means of both cells, where fluxes are reconstructed by themselves (Kim et al., Comput. Fluids 251, 105744, 2023, as HyPar does).
    Cells,
}

/// The way to keep the ranges of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// Fluxes through faces by which a cell would leave a range are replaced.
    #[default]
    Fluxes,
    /// Ranges are not kept, and cost no operation.
    Nothing,
}

/// The combination of the fluxes along different axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sweep {
    /// All axes at once.
    #[default]
    Unsplit,
    /// One axis after the other, each with a whole step, and then the terms without flux.
    Dimensional,
    /// Half a step along each axis but the last, a whole one along the last, and the other halves in reverse order; the
    /// terms without flux around them, half before and half after.
    Strang,
    /// Half a step along each axis, and the same in reverse order; the terms without flux as in Strang's.
    Alternating,
}

impl Model {
    /// The share of a step that goes along an axis at once.
    pub(crate) fn share_along(&self, axis: usize) -> Rational {
        let is_halved = match self.scheme.sweep {
            Sweep::Unsplit | Sweep::Dimensional => false,
            Sweep::Strang => axis + 1 < self.dimension,
            Sweep::Alternating => true,
        };
        Rational::new(1, if is_halved { 2 } else { 1 })
    }
}

/// The combination of fluxes and other terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Splitting {
    /// Both at once, where axes are so.
    #[default]
    Unsplit,
    /// A whole step of the fluxes, and then one of the other terms.
    Godunov,
    /// Half a step of the other terms before and after a step of the fluxes.
    Strang,
}

/// The variables that are reconstructed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variables {
    /// The fields themselves.
    #[default]
    Conserved,
    /// The variables that the system declares as [`Primitives`](super::Primitives).
    Primitive,
    /// The amplitudes of each family of waves.
    Characteristic,
    /// The fields themselves and, in place of fluxes of their values at faces, those in cells.
    Fluxes,
}

/// The meaning of a derivative of a derivative (Pekkilä et al. 2017, Eqs. 7 to 9).
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

/// The way in which equations are collected: the values differ in rounding only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arith {
    /// Uniforms are distributed over sums, equal terms and common factors collected: the fewest operations. Products of
    /// cell values are never multiplied out.
    #[default]
    Collected,
    /// Products and quotients are evaluated as they are written.
    AsWritten,
    /// Like `Collected`, with derivatives of even order as sums of weighted differences of neighbours, and sums over
    /// axes that round alike for each of them.
    Differences,
    /// One of the first two: `Collected` unless a [`Formulation`](super::Formulation) says otherwise.
    Either,
}
