//! The checks of a [`Model`](super::Model): names, ranks, and one equation a field.
//!
//! `resolve` checks a declaration and reports errors in the user's places; `Model::check` checks a model however it was
//! made.

mod argument_slopes;
mod at_face;
mod build;
pub(super) mod calls;
pub(super) mod centering;
mod conditions;
mod conflicts;
pub(crate) mod conserved;
mod constants;
mod default_solver;
mod extents;
mod faces;
mod functions;
mod invariants;
mod loops;
pub(super) mod names;
mod observables;
mod paths;
mod primitives;
mod products;
mod ranges;
mod ranks;
mod reconstruction;
pub(super) mod resolve;
mod riemann;
mod scheme;
mod scope;
mod sees;
pub(crate) mod slopes;
mod solver_waves;
mod terms;
#[cfg(test)]
mod tests;
mod tolerances;
mod widths;

pub(super) use build::PI;
pub use default_solver::DefaultSolver;
pub use tolerances::TooFine;

/// The time integrators of conservation laws alone, which forecast fluxes.
pub fn predictors() -> Vec<&'static str> {
    crate::catalogue::predictors::ALL.iter().map(|predictor| predictor.method.name).collect()
}

/// The time integrators of any system, without their settings.
pub fn integrators() -> Vec<&'static str> {
    let all = crate::catalogue::integrators::ALL.iter().map(|i| i.name);
    all.filter(|name| !name.contains('<')).collect()
}

pub(super) use scheme::SETTINGS;

/// The names of all functions of the language.
pub fn functions() -> Vec<&'static str> {
    let written_out = calls::WRITTEN_OUT.iter().copied();
    let all = crate::catalogue::Function::all();
    all.map(|function| function.name()).chain(written_out).collect()
}

/// The convergence orders of the central differences.
pub const ORDERS: &[u32] = &[2, 4, 6, 8, 10];

/// Bounds on the size of a model, so that recursion over it is safe.
pub(super) mod limits {
    /// Brackets in brackets.
    pub(in crate::model) const NESTING: u32 = 200;
    /// Levels of an expression.
    pub(in crate::model) const DEPTH: u32 = 200;
    /// Levels of all expressions that are being resolved, one inside of the other.
    pub(in crate::model) const LEVELS: u32 = 400;
    /// `let`s each of which is made of the last.
    pub(in crate::model) const CHAIN: u32 = 2000;
    /// Derivatives of derivatives.
    pub(in crate::model) const ORDER: u32 = 16;
    /// `let`s that functions may expand to.
    pub(in crate::model) const HIDDEN: usize = 4096;
    /// Calls of functions, with nested ones counted each time.
    pub(in crate::model) const CALLS: usize = 4096;
    /// Operations that the values of sources may repeat.
    pub(in crate::model) const REPEATED: usize = 20_000;
    /// Iterations in one call of a function.
    pub(in crate::model) const ITERATIONS: u32 = 64;
    /// Largest exponent of `^`.
    pub(in crate::model) const EXPONENT: i32 = 64;
}
