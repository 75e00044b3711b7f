//! Riemann solvers that a system declares: the state, the fluxes or the waves at a face, made of the states on both sides of it.

use super::{Iterations, Let, Model, Scheme, Term, TermKind};
use crate::catalogue::riemann::{self as catalogue, DECLARED, DECLARED_WAVES, Solver};
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
    /// The waves that it gives, in the order in which they are written.
    pub waves: Vec<SolverWave>,
    /// The place of its name.
    pub span: Span,
}

/// `wave a at s spread b { h = 1; m = ..; }` of a solver: a jump that moves with a speed along the normal.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverWave {
    /// The factor of its vector: a scalar.
    pub strength: Term,
    /// Its speed along the normal: a scalar.
    pub speed: Term,
    /// The scalar that takes the place of the absolute value of its speed in the flux: an entropy fix.
    pub spread: Option<Term>,
    /// Its vector: the jump of each conserved field, or of the flux of each. Others do not jump.
    pub vector: Vec<Solved>,
    /// The beginning of the wave.
    pub span: Span,
}

impl SolverWave {
    /// All of its terms: strength, speed, spread and vector.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &Term> {
        let scalars = [&self.strength, &self.speed].into_iter().chain(&self.spread);
        scalars.chain(self.vector.iter().map(|line| &line.value))
    }
}

/// The kind of a solver's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// The state at the face, of which the fluxes follow.
    State,
    /// The flux of each conserved field through the face.
    Fluxes,
    /// Waves that the jumps of the conserved fields add up of.
    Waves,
    /// Waves that the jumps of the fluxes add up of.
    FluxWaves,
}

impl Gives {
    /// Are they waves?
    pub fn are_waves(self) -> bool {
        matches!(self, Gives::Waves | Gives::FluxWaves)
    }

    /// The reason why no other solver takes the place of a declared one that gives so many waves, if none does; `has_ranges` if the
    /// system has ranges that states between the waves may leave.
    pub(super) fn no_fallback(self, waves: usize, has_ranges: bool) -> Option<&'static str> {
        match self {
            Gives::State | Gives::Fluxes => {
                Some("there are no states between waves, as it gives none")
            }
            Gives::FluxWaves => Some("waves of fluxes have no states between them"),
            Gives::Waves if waves < 2 => Some("there is no state between fewer than two waves"),
            Gives::Waves if !has_ranges => {
                Some("the system has no ranges (`where`) that states between waves may leave")
            }
            Gives::Waves => None,
        }
    }
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
        let own = self.declared_solver(scheme).map(|own| row(own.gives.are_waves()));
        catalogue::find(&scheme.riemann).or(own)
    }

    /// The rows of the solver of a scheme, and of the one for faces where it fails if there is one.
    pub(crate) fn solvers_of(&self, scheme: &Scheme) -> impl Iterator<Item = &'static Solver> {
        let other = scheme.fallback.as_ref();
        let other =
            other.map(|name| Scheme { riemann: name.clone(), fallback: None, ..scheme.clone() });
        let other = other.and_then(|scheme| self.solver(&scheme));
        self.solver(scheme).into_iter().chain(other)
    }

    /// A `let` of the model, or one of the solver that the chosen scheme takes.
    pub(crate) fn let_at(&self, at: usize) -> Option<&Let> {
        let own = || self.declared_solver(&self.scheme);
        let beyond = || own()?.lets.get(at.checked_sub(self.lets.len())?);
        self.lets.get(at).or_else(beyond)
    }

    /// The model with the `let`s of a solver among its own, of which the solver's terms are made.
    pub fn with_lets_of(&self, solver: &RiemannSolver) -> Model {
        let mut all = self.clone();
        all.lets.extend(solver.lets.iter().cloned());
        all
    }
}

/// The row that stands in for a solver of a system, which may give waves.
pub(crate) fn row(gives_waves: bool) -> &'static Solver {
    if gives_waves { &DECLARED_WAVES } else { &DECLARED }
}

impl RiemannSolver {
    /// Does it ask for the rises of fluxes?
    pub(crate) fn asks_for_rises(&self) -> bool {
        fn asks(term: &Term) -> bool {
            matches!(term.kind, TermKind::Rise(_)) || term.parts().into_iter().any(asks)
        }
        self.terms().any(asks) || self.lets.iter().any(|named| asks(&named.value))
    }

    /// All terms that are evaluated at a face, but for its `let`s.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &Term> {
        let values = self.values.iter().map(|line| &line.value);
        values.chain(self.waves.iter().flat_map(SolverWave::terms))
    }

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
        Gives::State | Gives::Waves => ["", " = "],
        Gives::Fluxes | Gives::FluxWaves => ["flux ", " -> "],
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
