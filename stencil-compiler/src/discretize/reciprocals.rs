//! Quotients that share a divisor share its reciprocal: one division, and a product each.
//!
//! A quotient whose divisor no other value is divided by stays one, so that `x/y` of equal values is one, and `x/x` does
//! everywhere. A product is as good as its quotient but for a last bit, and for divisors below the smallest normal number,
//! whose reciprocals may be infinite.

use std::collections::{BTreeMap, BTreeSet};

use super::atoms::{Atom, Atoms};
use super::poly::{AtomId, Poly, Uniform};
use crate::algorithm::Offset;
use crate::expr::Op;

/// Divisors whose reciprocals are grid functions, each at the lowest cell that it reads.
#[derive(Default)]
pub(super) struct Reciprocals(BTreeSet<Poly>);

impl Reciprocals {
    /// Those by which two values or more are divided, of all quotients that are used, at whatever cells: so both sides of a face are
    /// treated alike. Also those of vectors, in one dimension, too, so that a flow along an axis has the same bits whatever their number.
    pub(super) fn new(atoms: &mut Atoms, uses: &[u32]) -> Self {
        let mut quotients: BTreeMap<Poly, BTreeSet<Poly>> = BTreeMap::new();
        let mut shared = BTreeSet::new();
        for (atom, _) in uses.iter().enumerate().filter(|(_, uses)| **uses > 0) {
            let Atom::Call(Op::Div, args) = atoms.get(atom as AtomId).clone() else {
                continue;
            };
            let ([above, below], of_vector) = (&args[..], atoms.divides_vector(&args[1])) else {
                continue;
            };
            let at = lowest(atoms, below);
            let [above, below] = [above, below].map(|part| moved(atoms, part, at.map(|c| -c)));
            if above == below {
                continue;
            }
            if of_vector {
                shared.insert(below.clone());
            }
            quotients.entry(below).or_default().insert(above);
        }
        let several = quotients.into_iter().filter(|(_, of)| of.len() > 1);
        shared.extend(several.map(|(below, _)| below));
        Reciprocals(shared)
    }

    /// What the first is multiplied by in place of a division by the second; `None` for one that stays a quotient.
    pub(super) fn of(&self, atoms: &mut Atoms, above: &Poly, below: &Poly) -> Option<AtomId> {
        if above == below || is_one(above) {
            return None;
        }
        let at = lowest(atoms, below);
        let base = moved(atoms, below, at.map(|c| -c));
        if !self.0.contains(&base) {
            return None;
        }
        let one = Poly::uniform(Uniform::one());
        let reciprocal = Poly::atom(atoms.intern(Atom::Call(Op::Div, vec![one, base])));
        let read = moved(atoms, &reciprocal, at);
        read.as_scaled_atom().map(|(atom, _)| atom)
    }
}

/// Is it the number one?
pub(super) fn is_one(value: &Poly) -> bool {
    value.as_uniform().is_some_and(|value| value.is_one())
}

/// The lowest place along each axis at which a polynomial reads something.
fn lowest(atoms: &Atoms, poly: &Poly) -> Offset {
    let places = poly.0.keys().flatten().map(|atom| match atoms.get(*atom) {
        Atom::At { at, .. } => *at,
        _ => [0; 3],
    });
    let lower = |a: Offset, b: Offset| [0, 1, 2].map(|axis| a[axis].min(b[axis]));
    places.reduce(lower).unwrap_or_default()
}

/// A polynomial as it is at another cell.
fn moved(atoms: &mut Atoms, poly: &Poly, to: Offset) -> Poly {
    let along = |poly: Poly, axis: usize| match to[axis] {
        0 => poly,
        ahead => atoms.at(&poly, axis, ahead),
    };
    (0..3).fold(poly.clone(), along)
}
