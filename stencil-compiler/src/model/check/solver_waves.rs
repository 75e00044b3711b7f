//! Riemann solvers of the system that give waves: a strength, a speed and a vector each.

use super::invariants::{Checked, Sees, ensure};
use super::resolve::unequal;
use super::riemann::solved;
use super::scope::Scope;
use super::terms::Terms;
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{Ast, SolverItem, WaveItem};
use crate::model::riemann::words;
use crate::model::{Flux, Gives, Model, RiemannSolver, Solved, SolverWave, Term, TermKind};

/// The kind of result that a solver gives.
pub(super) fn gives(item: &SolverItem) -> Gives {
    let of_wave = item.waves.first().map(|wave| match wave.vector.first().map(|line| line.gives) {
        Some(Gives::Fluxes) => Gives::FluxWaves,
        _ => Gives::Waves,
    });
    let of_value = item.values.first().map(|line| line.gives);
    of_wave.or(of_value).unwrap_or(Gives::State)
}

/// One wave; `None` after an error.
pub(super) fn wave(body: &mut Terms<'_, '_>, item: &WaveItem) -> Option<SolverWave> {
    body.at = item.at;
    let strength = scalar(body, "strength", &item.strength);
    let speed = scalar(body, "speed", &item.speed);
    let spread = item.spread.as_ref().map(|ast| scalar(body, "spread", ast));
    let mut vector = Vec::new();
    for line in &item.vector {
        body.at = line.at;
        let value = body.local_value(&line.value);
        vector.extend(value.and_then(|value| solved(body.scope, line, value)));
    }
    if vector.len() < item.vector.len() {
        return None;
    }
    let spread = match spread {
        None => None,
        Some(spread) => Some(spread?),
    };
    Some(SolverWave { strength: strength?, speed: speed?, spread, vector, span: item.span })
}

/// A scalar of a wave, by what it is.
fn scalar(body: &mut Terms<'_, '_>, what: &str, ast: &Ast) -> Option<Term> {
    let value = body.local_value(ast)?;
    if value.rank != Rank::Scalar {
        let error = unequal(what, "wave", Rank::Scalar, value.rank, value.span);
        body.scope.report(error);
        return None;
    }
    Some(value)
}

/// The error in the lines of a solver that gives waves, its place, and the way out.
pub(super) fn mixed(item: &SolverItem, gives: Gives) -> Option<(Span, String, &'static str)> {
    if let (Some(line), true) = (item.values.first(), gives.are_waves()) {
        let message = "both waves and what they lead to".to_string();
        return Some((line.span, message, "fluxes follow from the waves: give one or the other"));
    }
    let of_line = match gives {
        Gives::FluxWaves => Gives::Fluxes,
        _ => Gives::State,
    };
    for wave in &item.waves {
        if let (Some(spread), Gives::FluxWaves) = (&wave.spread, gives) {
            let message = "`spread` of a wave that jumps of fluxes add up of".to_string();
            let help = "such a wave goes where its speed points: split it into one for each side";
            return Some((spread.span, message, help));
        }
        if wave.vector.is_empty() {
            let message = "a wave without a vector".to_string();
            return Some((wave.span, message, "write `{ h = ..; m = ..; }` behind its speed"));
        }
        for (i, line) in wave.vector.iter().enumerate() {
            let name = &line.name.text;
            if line.gives != of_line {
                let message = format!("both jumps of fields and jumps of fluxes, here of `{name}`");
                let help =
                    "all waves of a solver add up to one of them: write all with `flux`, or none";
                return Some((line.span, message, help));
            }
            let mut earlier = wave.vector[..i].iter();
            if earlier.any(|other| other.name.text == *name) {
                let message = format!("`{name}` stands twice in one wave");
                return Some((line.span, message, "give it once"));
            }
        }
    }
    None
}

/// The first line of a wave for what is not conserved, and the first conserved field that no wave carries.
pub(super) fn misses<'s>(
    solver: &'s RiemannSolver,
    fluxes: &[Flux],
) -> (Option<&'s Solved>, Option<TermKind>) {
    let lines = || solver.waves.iter().flat_map(|wave| &wave.vector);
    let conserved = || fluxes.iter().map(|flux| TermKind::Field(flux.field));
    let beside = lines().find(|line| !conserved().any(|kind| kind == line.of.kind));
    let missing = conserved().find(|kind| !lines().any(|line| line.of.kind == *kind));
    (beside, missing)
}

impl Scope<'_> {
    /// Reports a wave that carries what is not conserved, and a conserved field that no wave carries.
    pub(super) fn complete_waves(&mut self, solver: &RiemannSolver, fluxes: &[Flux]) {
        let (beside, missing) = misses(solver, fluxes);
        let name = &solver.name;
        if let Some(line) = beside {
            let of = self.name_of(&line.of.kind).to_string();
            let message = format!("a wave of `{name}` carries `{of}`, which is not conserved");
            let diagnostic = Diagnostic::new(Code::BadSolver, line.span, message);
            self.report(diagnostic.help("waves are jumps of conserved fields: remove the line"));
        }
        if let Some(kind) = missing {
            let of = self.name_of(&kind).to_string();
            let [before, between] = words(solver.gives);
            let message = format!("no wave of `{name}` carries `{of}`");
            let help = format!(
                "write `{before}{of}{between}..;` in the waves that do: their jumps add up to that of `{of}`"
            );
            self.report(Diagnostic::new(Code::BadSolver, solver.span, message).help(help));
        }
    }
}

impl Model {
    /// The invariants of the waves of a solver; `all` has its `let`s, which begin at `own`.
    pub(super) fn check_waves(&self, all: &Model, solver: &RiemannSolver, own: usize) -> Checked {
        let name = &solver.name;
        let fits = solver.gives.are_waves() != solver.waves.is_empty();
        ensure(fits, || format!("`{name}` does not give what it says"))?;
        for wave in &solver.waves {
            for term in wave.terms() {
                all.check_whole(term, Sees::Sides(own, all.lets.len()))
                    .map_err(|problem| format!("in a wave of `{name}`: {problem}"))?;
            }
            let scalars = [&wave.strength, &wave.speed].into_iter().chain(&wave.spread);
            let ranks = scalars.into_iter().all(|term| term.rank == Rank::Scalar);
            let lines = wave.vector.iter().all(|line| line.of.rank == line.value.rank);
            let spread = wave.spread.is_none() || solver.gives == Gives::Waves;
            ensure(ranks && lines && spread && !wave.vector.is_empty(), || {
                format!("a wave of `{name}` does not fit")
            })?;
            for line in &wave.vector {
                all.check_whole(&line.of, Sees::Lets(own))
                    .map_err(|problem| format!("in a wave of `{name}`: {problem}"))?;
                let same = |other: &&Solved| other.of.kind == line.of.kind;
                ensure(wave.vector.iter().filter(same).count() == 1, || {
                    format!("a wave of `{name}` carries a field twice")
                })?;
            }
        }
        let whole = solver.waves.is_empty() || misses(solver, &self.fluxes) == (None, None);
        ensure(whole, || format!("the waves of `{name}` do not carry what is conserved"))
    }
}
