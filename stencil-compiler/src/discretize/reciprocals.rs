//! Quotients that share a divisor share its reciprocal: one division, and a product each.
//!
//! A quotient stays one if no other value is divided by its divisor, so that `x/y` of equal values is one, and `x/x`
//! does everywhere. A product is as good as its quotient up to a last bit, if neither the divisor nor its reciprocal is
//! below the smallest normal number.

use std::collections::{BTreeMap, BTreeSet};

use super::atoms::{Atom, Atoms};
use super::poly::{AtomId, Poly, Uniform};
use crate::algorithm::Offset;
use crate::expr::Op;

/// Divisors whose reciprocals are grid functions, each at the lowest cell that it reads.
#[derive(Default)]
pub(super) struct Reciprocals {
    /// The divisors, with the first quotient of each.
    shared: BTreeMap<Poly, AtomId>,
    places: Places,
}

impl Reciprocals {
    /// Collects the divisors of two values or more, among all quotients that are used, at whatever cells: so both sides
    /// of a face are treated alike. Divisors of vectors count in one dimension, too, so that a flow along an axis has
    /// the same bits whatever their number.
    pub(super) fn new(atoms: &mut Atoms, uses: &[u32]) -> Self {
        let mut quotients: BTreeMap<Poly, BTreeSet<Poly>> = BTreeMap::new();
        let mut first: BTreeMap<Poly, AtomId> = BTreeMap::new();
        let mut shared = BTreeSet::new();
        let mut places = Places::default();
        for (atom, _) in uses.iter().enumerate().filter(|(_, uses)| **uses > 0) {
            let Atom::Call(Op::Div, args) = atoms.get(atom as AtomId).clone() else {
                continue;
            };
            let [above, below] = &args[..] else {
                continue;
            };
            let of_vector = atoms.divides_vector(below);
            let at = places.lowest(atoms, std::slice::from_ref(below));
            let [above, below] = [above, below].map(|part| places.moved(atoms, part, back(at)));
            if above == below {
                continue;
            }
            first.entry(below.clone()).or_insert(atom as AtomId);
            if of_vector {
                shared.insert(below.clone());
            }
            quotients.entry(below).or_default().insert(above);
        }
        let several = quotients.into_iter().filter(|(_, of)| of.len() > 1);
        shared.extend(several.map(|(below, _)| below));
        first.retain(|below, _| shared.contains(below));
        Reciprocals { shared: first, places }
    }

    /// The factor in place of a division by the second; `None` for a quotient that stays one.
    pub(super) fn of(&mut self, atoms: &mut Atoms, above: &Poly, below: &Poly) -> Option<AtomId> {
        if above == below {
            return None;
        }
        let at = self.places.lowest(atoms, std::slice::from_ref(below));
        let base = self.places.moved(atoms, below, back(at));
        if !self.shared.contains_key(&base) {
            return None;
        }
        let one = Poly::uniform(Uniform::one());
        let is_reciprocal = *above == one && base == *below;
        let reciprocal = atoms.intern(Atom::Call(Op::Div, vec![one, base]));
        (!is_reciprocal).then(|| atoms.elsewhere(reciprocal, at))
    }

    /// The first quotient with this divisor, at whatever cell.
    pub(super) fn quotient(&self, divisor: &Poly) -> Option<AtomId> {
        self.shared.get(divisor).copied()
    }

    /// The first atom that is this one at another cell.
    pub(super) fn origin(&self, atom: AtomId) -> Option<AtomId> {
        let mut all = self.places.0.iter();
        all.find_map(|(from, (to, _))| (*to == atom && *from != atom).then_some(*from))
    }
}

/// Is it the number one?
pub(super) fn is_one(value: &Poly) -> bool {
    value.as_uniform().is_some_and(|value| value.is_one())
}

/// Atoms as shifted copies of others: the function at the lowest cell that it reads, and that cell.
#[derive(Default)]
struct Places(BTreeMap<AtomId, (AtomId, Offset)>);

impl Places {
    /// The lowest place along each axis at which polynomials read something.
    fn lowest(&mut self, atoms: &mut Atoms, polys: &[Poly]) -> Offset {
        let read = polys.iter().flat_map(|poly| poly.0.keys().flatten());
        let all: BTreeSet<AtomId> = read.copied().collect();
        let places = all.into_iter().map(|atom| self.of(atoms, atom).1);
        let lower = |a: Offset, b: Offset| [0, 1, 2].map(|axis| a[axis].min(b[axis]));
        places.reduce(lower).unwrap_or_default()
    }

    /// A polynomial as it is at another cell.
    fn moved(&mut self, atoms: &mut Atoms, poly: &Poly, to: Offset) -> Poly {
        let mut out = Poly::default();
        for (monomial, c) in &poly.0 {
            let moved = monomial.iter().map(|atom| {
                let (base, at) = self.of(atoms, *atom);
                atoms.elsewhere(base, [0, 1, 2].map(|axis| at[axis] + to[axis]))
            });
            let mut moved: Vec<AtomId> = moved.collect();
            moved.sort_unstable();
            out.0.insert(moved, c.clone());
        }
        out
    }

    fn of(&mut self, atoms: &mut Atoms, atom: AtomId) -> (AtomId, Offset) {
        if let Some(known) = self.0.get(&atom) {
            return *known;
        }
        let found = match atoms.get(atom).clone() {
            Atom::At { of, at } => {
                let (base, own) = self.of(atoms, of);
                (base, [0, 1, 2].map(|axis| own[axis] + at[axis]))
            }
            Atom::Call(op, args) => {
                let at = self.lowest(atoms, &args);
                let args = args.iter().map(|arg| self.moved(atoms, arg, back(at)));
                let args = args.collect();
                (atoms.intern(Atom::Call(op, args)), at)
            }
            // Named functions are evaluated where they are written, for others, too.
            Atom::Named(_) | Atom::State(_) | Atom::Derivative { .. } => (atom, [0; 3]),
        };
        self.0.insert(atom, found);
        found
    }
}

fn back(at: Offset) -> Offset {
    at.map(|c| -c)
}
