//! Time integrators as tableaus: one file each, listed in [`ALL`].

use crate::model::Rational;

pub mod euler;
pub mod rk3_williamson;

/// Every integrator.
pub const ALL: &[&Integrator] = &[&euler::INTEGRATOR, &rk3_williamson::INTEGRATOR];

/// An explicit one-step method.
#[derive(Debug)]
pub struct Integrator {
    /// Its name in schemes.
    pub name: &'static str,
    /// Order of convergence in the time step.
    pub order: u32,
    /// Where it is written down.
    pub source: &'static str,
    /// Its coefficients, in the storage class that fits them.
    pub tableau: fn() -> Tableau,
}

/// Coefficients by storage class.
#[derive(Clone, Debug, PartialEq)]
pub enum Tableau {
    /// One accumulator a for each field f: `a = alpha a + rhs; f = f + beta dt a`, with a pair
    /// (alpha, beta) for each substep; the first alpha is 0.
    TwoN(Vec<(Rational, Rational)>),
}

/// The integrator of this name.
pub fn find(name: &str) -> Option<&'static Integrator> {
    ALL.iter().copied().find(|i| i.name == name)
}
