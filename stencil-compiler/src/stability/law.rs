//! A conservation law as systems of differences. The speeds of its waves follow from them if none are declared or
//! derived.

use crate::catalogue::Function;
use crate::model::{Equation, Flux, Model, Scheme, Term, TermKind};

/// A law, split into its fluxes and the rest.
pub struct SplitLaw {
    /// The divergence of its fluxes, by central differences of second order. Solvers and limiters have no derivative at
    /// a uniform state, and the speeds of waves do not depend on them.
    pub flows: Model,
    /// All other terms of its equations, as the scheme makes them.
    pub rest: Model,
}

impl SplitLaw {
    /// Splits a model; `None` without fluxes.
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
        Some(SplitLaw { flows, rest })
    }

    /// Do terms other than fluxes change the fields?
    pub fn has_rest(&self) -> bool {
        let zero = |e: &Equation| e.rhs == Term::zero(e.rhs.rank, self.rest.components, e.rhs.span);
        !self.rest.equations.iter().all(zero)
    }
}

/// Minus the divergence of the flux of an equation's field, and minus its product.
fn flowing(model: &Model, equation: &Equation) -> Term {
    let (rank, span) = (equation.rhs.rank, equation.span);
    match model.flux_of(equation.field) {
        None => Term::zero(rank, model.components, span),
        Some(flux) => {
            let divergence = divergence(model, flux);
            let moved = match model.product_of(equation.field) {
                None => divergence,
                Some(product) => {
                    let sum = TermKind::Add(Box::new(divergence), Box::new(product.value.clone()));
                    Term::of(sum, rank, span)
                }
            };
            Term::of(TermKind::Neg(Box::new(moved)), rank, span)
        }
    }
}

/// The divergence of a flux, which may be declared along the normal of a face.
fn divergence(model: &Model, flux: &Flux) -> Term {
    let (rank, span) = (model.fields[flux.field].rank, flux.span);
    let along = (0..model.dimension).filter_map(|axis| {
        let of = Box::new(flux.along_normal(axis, model.components)?);
        Some(Term::of(TermKind::Derivative { axis, times: 1, of }, rank, span))
    });
    let sum = along.reduce(|a, b| Term::of(TermKind::Add(Box::new(a), Box::new(b)), rank, span));
    sum.unwrap_or_else(|| {
        Term::of(TermKind::Call(Function::DIV, vec![flux.value.clone()]), rank, span)
    })
}

/// A model without its fluxes and all declarations that refer to them.
fn bare(model: &Model) -> Model {
    let scheme = &model.scheme;
    Model {
        fluxes: Vec::new(),
        products: Vec::new(),
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
