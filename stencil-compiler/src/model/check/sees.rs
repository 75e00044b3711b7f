//! The operands that an expression may have by its place.

use super::invariants::Checked;
use crate::model::{Term, TermKind};

/// The operands of an expression beside numbers, parameters and time.
#[derive(Clone, Copy)]
pub(super) enum Sees {
    /// Fields, sources, derivatives and this many of the first `let`s.
    Lets(usize),
    /// Coordinates.
    Coordinates,
    /// The states on both sides of a face, which see this many of the first `let`s; and all `let`s up to another
    /// number.
    Sides(usize, usize),
}

/// May the form of a term stand here?
pub(super) fn visible(term: &Term, sees: Sees) -> Checked {
    match (&term.kind, sees) {
        (TermKind::Coordinate(_), Sees::Lets(_) | Sees::Sides(..)) => {
            Err("a coordinate outside a source".to_string())
        }
        (
            TermKind::Side(..) | TermKind::Normal | TermKind::Rise(_),
            Sees::Lets(_) | Sees::Coordinates,
        ) => Err("a side of a face outside a Riemann solver".to_string()),
        (
            TermKind::Field(_) | TermKind::Source(_) | TermKind::Derivative { .. },
            Sees::Sides(..),
        ) => Err("a Riemann solver reads a field beside its sides".to_string()),
        (
            TermKind::Field(_) | TermKind::Source(_) | TermKind::Derivative { .. },
            Sees::Coordinates,
        ) => Err("the value of a source depends on fields".to_string()),
        (TermKind::Call(function, _), Sees::Coordinates) if function.differentiates() => {
            Err(format!("`{}` in the value of a source", function.name()))
        }
        (TermKind::Call(function, _), Sees::Sides(..)) if function.differentiates() => {
            Err(format!("`{}` in a Riemann solver", function.name()))
        }
        _ => Ok(()),
    }
}
