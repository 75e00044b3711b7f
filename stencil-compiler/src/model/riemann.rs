//! Riemann solvers that a system declares: the state or the fluxes at a face, made of the states on both sides of it.

use super::{Iterations, Let, Model, Scheme, Term, TermKind};
use crate::catalogue::riemann::{self as catalogue, DECLARED, Solver};
use crate::diag::Span;

/// `riemann exact { .. }`: a solver that schemes may name beside those of the language. Its terms are made of the states
/// on both sides of a face, [`TermKind::Side`], and of the [`TermKind::Normal`] of the face.
#[derive(Clone, Debug, PartialEq)]
pub struct RiemannSolver {
    /// Its name.
    pub name: String,
    /// Its intermediate expressions, whose numbers continue those of the model.
    pub lets: Vec<Let>,
    /// The kind of its result.
    pub gives: Gives,
    /// The value of each field or `let` that it gives, in the order in which they are written.
    pub values: Vec<Solved>,
    /// The place of its name.
    pub span: Span,
}

/// The kind of a solver's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// The state at the face, of which the fluxes follow.
    State,
    /// The flux of each conserved field through the face.
    Fluxes,
}

/// `p = ..;` or `flux m -> ..;` of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// A field or a `let`.
    pub of: Term,
    /// Its value, or its flux along the normal, of its rank.
    pub value: Term,
    /// The whole line.
    pub span: Span,
}

/// A side of a face, seen along its normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that the normal comes from.
    Below,
    /// The side that it points to.
    Above,
}

impl Side {
    /// Both, by their names in the language.
    pub const ALL: [(&str, Side); 2] = [("below", Side::Below), ("above", Side::Above)];

    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = Side::ALL.iter().find(|(_, side)| *side == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Model {
    /// The solver of a scheme, if the system declares it.
    pub fn declared_solver(&self, scheme: &Scheme) -> Option<&RiemannSolver> {
        let is_own = |own: &&RiemannSolver| {
            own.name == scheme.riemann || scheme.fallback.as_ref() == Some(&own.name)
        };
        self.solvers.iter().find(is_own)
    }

    /// The row of the solver of a scheme: one of the language, or a stand-in for one of the system.
    pub(crate) fn solver(&self, scheme: &Scheme) -> Option<&'static Solver> {
        let own = self.declared_solver(scheme).map(|_| &DECLARED);
        catalogue::find(&scheme.riemann).or(own)
    }

    /// A `let` of the model, or one of the solver that the chosen scheme takes.
    pub(crate) fn let_at(&self, at: usize) -> Option<&Let> {
        let own = || self.declared_solver(&self.scheme);
        let beyond = || own()?.lets.get(at.checked_sub(self.lets.len())?);
        self.lets.get(at).or_else(beyond)
    }

    /// The model with the `let`s of a solver among its own.
    pub(crate) fn with_lets_of(&self, solver: &RiemannSolver) -> Model {
        let mut all = self.clone();
        all.lets.extend(solver.lets.iter().cloned());
        all
    }
}

impl RiemannSolver {
    /// Does it give the primitive variables of its system, and not the conserved fields?
    pub(crate) fn gives_primitives(&self, model: &Model) -> bool {
        let given = |of: &TermKind| self.values.iter().any(|value| value.of.kind == *of);
        let all = model.primitives.as_ref();
        all.is_some_and(|all| all.variables.iter().all(|variable| given(&variable.kind)))
    }
}

/// The words before and after the name of a field or `let` that a solver gives.
pub(crate) fn words(gives: Gives) -> [&'static str; 2] {
    match gives {
        Gives::State => ["", " = "],
        Gives::Fluxes => ["flux ", " -> "],
    }
}

/// ` within 20 iterations of root`, or nothing.
pub(crate) fn within_text(within: Option<&Iterations>) -> String {
    let text = |within: &Iterations| {
        let (most, function) = (within.most, &within.function);
        format!(" within {most} iterations of {function}")
    };
    within.map_or(String::new(), text)
}
