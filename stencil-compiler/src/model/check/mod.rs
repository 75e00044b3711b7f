//! What makes a [`Model`](super::Model) valid: names, ranks, and one equation a field.
//!
//! `resolve` checks what was written and answers in the user's places; `Model::check` checks a
//! model however it was made.

mod invariants;
pub(super) mod names;
mod ranks;
pub(super) mod resolve;
mod scheme;
mod terms;
#[cfg(test)]
mod tests;

/// The time integrators, in alphabetical order.
pub fn integrators() -> Vec<&'static str> {
    crate::discretize::integrators::ALL
        .iter()
        .map(|i| i.name)
        .collect()
}

/// The convergence orders of the central differences.
pub const ORDERS: &[u32] = &[2, 4, 6, 8, 10];

/// Bounds on what is accepted, so that recursion over a model is safe.
pub(super) mod limits {
    /// Brackets in brackets.
    pub(in crate::model) const NESTING: u32 = 200;
    /// Levels of an expression.
    pub(in crate::model) const DEPTH: u32 = 200;
    /// Largest exponent of `^`.
    pub(in crate::model) const EXPONENT: i32 = 64;
}
