//! A conservation law as systems of differences, about which waves are looked at where no speeds of them are declared or derived.

use crate::catalogue::Function;
use crate::model::{Equation, Model, Scheme, Term, TermKind};

/// A law, taken apart.
pub struct Apart {
    /// The divergence of its fluxes, by central differences of second order. Solvers and limiters have no derivative where
    /// a state is uniform; how fast waves are does not depend on them.
    pub flows: Model,
    /// All else that changes its fields, as the scheme makes it.
    pub rest: Model,
}

impl Apart {
    /// Takes a model apart; `None` where nothing flows.
    pub fn of(model: &Model) -> Option<Self> {
        if model.fluxes.is_empty() {
            return None;
        }
        let rest = bare(model);
        let mut flows = rest.clone();
        flows.scheme.order = 2;
        for equation in &mut flows.equations {
            equation.rhs = flowing(model, equation);
        }
        Some(Apart { flows, rest })
    }

    /// Does anything change the fields but fluxes?
    pub fn has_rest(&self) -> bool {
        let zero = |e: &Equation| e.rhs == Term::zero(e.rhs.rank, self.rest.components, e.rhs.span);
        !self.rest.equations.iter().all(zero)
    }
}

/// Minus the divergence of what flows of the field of an equation.
fn flowing(model: &Model, equation: &Equation) -> Term {
    let (rank, span) = (equation.rhs.rank, equation.span);
    match model.flux_of(equation.field) {
        None => Term::zero(rank, model.components, span),
        Some(flux) => {
            let divergence = TermKind::Call(Function::DIV, vec![flux.value.clone()]);
            let divergence = Term::of(divergence, rank, span);
            Term::of(TermKind::Neg(Box::new(divergence)), rank, span)
        }
    }
}

/// A model without its fluxes, and without all that speaks of them.
fn bare(model: &Model) -> Model {
    let scheme = &model.scheme;
    Model {
        fluxes: Vec::new(),
        ranges: Vec::new(),
        primitives: None,
        at_face: None,
        average: None,
        waves: None,
        solvers: Vec::new(),
        observables: Vec::new(),
        speeds: Vec::new(),
        others: Vec::new(),
        scheme: Scheme {
            name: scheme.name.clone(),
            order: scheme.order,
            mixed: scheme.mixed,
            arith: scheme.arith,
            time: scheme.time.clone(),
            ..Scheme::default()
        },
        ..model.clone()
    }
}
