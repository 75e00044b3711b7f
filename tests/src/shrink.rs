//! Makes a model smaller as long as it still fails, so that only the cause of the failure remains.

use stencil_compiler::model::{Model, Term, TermKind};

/// Returns the smallest model found by replacing expressions with parts of themselves that still `fails`.
pub fn shrink(model: &Model, fails: &dyn Fn(&Model) -> bool) -> Model {
    let mut best = model.clone();
    'smaller: loop {
        for candidate in candidates(&best) {
            if candidate.check().is_ok() && fails(&candidate) {
                best = candidate;
                continue 'smaller;
            }
        }
        return best;
    }
}

fn candidates(model: &Model) -> Vec<Model> {
    let mut all = Vec::new();
    for (i, equation) in model.equations.iter().enumerate() {
        for rhs in smaller(&equation.rhs) {
            let mut candidate = model.clone();
            candidate.equations[i].rhs = rhs;
            all.push(candidate);
        }
    }
    for (i, item) in model.lets.iter().enumerate() {
        for value in smaller(&item.value) {
            let mut candidate = model.clone();
            candidate.lets[i].value = value;
            all.push(candidate);
        }
    }
    all
}

/// Returns the term with one of its expressions replaced by a part of equal rank, outermost first.
fn smaller(term: &Term) -> Vec<Term> {
    let parts = term.parts();
    let fitting = parts.iter().filter(|part| part.rank == term.rank);
    let mut all: Vec<Term> = fitting.map(|part| (*part).clone()).collect();
    for (i, part) in parts.iter().enumerate() {
        for replacement in smaller(part) {
            let mut changed = term.clone();
            if let Some(slot) = parts_mut(&mut changed).into_iter().nth(i) {
                *slot = replacement;
            }
            all.push(changed);
        }
    }
    all
}

fn parts_mut(term: &mut Term) -> Vec<&mut Term> {
    match &mut term.kind {
        TermKind::Number(_)
        | TermKind::Field(_)
        | TermKind::Param(_)
        | TermKind::Let(_)
        | TermKind::Source(_)
        | TermKind::Time
        | TermKind::Epsilon
        | TermKind::Coordinate(_)
        | TermKind::Side(..)
        | TermKind::Normal
        | TermKind::Rise(_) => Vec::new(),
        TermKind::Neg(a)
        | TermKind::Pow(a, _)
        | TermKind::Component(a, _)
        | TermKind::Derivative { of: a, .. } => vec![a],
        TermKind::Add(a, b) | TermKind::Sub(a, b) | TermKind::Mul(a, b) | TermKind::Div(a, b) => {
            vec![a, b]
        }
        TermKind::If(_, parts) => parts.iter_mut().collect(),
        TermKind::Stack(parts) | TermKind::Call(_, parts) => parts.iter_mut().collect(),
    }
}
