//! Derivatives of polynomials at a point, by values of states: all of them in one walk, exact but for rounding.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::sample::Point;
use crate::discretize::atoms::{Atom, Difference};
use crate::discretize::poly::{AtomId, Poly};

/// Derivatives at a point by some atoms.
pub(super) struct Gradient<'g, 'p, 'a> {
    point: &'g mut Point<'p, 'a>,
    /// The number of atoms to differentiate by.
    count: usize,
    /// The derivatives known so far; `None` for constants.
    known: BTreeMap<AtomId, Option<Rc<[f64]>>>,
}

impl<'g, 'p, 'a> Gradient<'g, 'p, 'a> {
    /// Derivatives by these atoms, in their order. No atom may stand twice.
    pub(super) fn new(point: &'g mut Point<'p, 'a>, by: &[AtomId]) -> Self {
        let unit = |at: usize| {
            let all = (0..by.len()).map(|other| if other == at { 1.0 } else { 0.0 });
            Some(all.collect::<Rc<[f64]>>())
        };
        let known = by.iter().enumerate().map(|(at, atom)| (*atom, unit(at)));
        Gradient { point, count: by.len(), known: known.collect() }
    }

    /// The derivative of a polynomial by each atom.
    pub(super) fn of(&mut self, poly: &Poly) -> Vec<f64> {
        let all = self.of_sum(poly);
        all.unwrap_or_else(|| vec![0.0; self.count])
    }

    fn of_sum(&mut self, poly: &Poly) -> Option<Vec<f64>> {
        let mut sum: Option<Vec<f64>> = None;
        for (monomial, c) in &poly.0 {
            let mut uniform = None;
            for (at, atom) in monomial.iter().enumerate() {
                let Some(slopes) = self.of_atom(*atom) else {
                    continue;
                };
                let uniform = *uniform.get_or_insert_with(|| self.point.uniform(c));
                let others = monomial.iter().enumerate().filter(|(other, _)| *other != at);
                let factor =
                    others.fold(uniform, |product, (_, other)| product * self.point.atom(*other));
                add(sum.get_or_insert_with(|| vec![0.0; slopes.len()]), factor, &slopes);
            }
        }
        sum
    }

    fn of_atom(&mut self, atom: AtomId) -> Option<Rc<[f64]>> {
        if let Some(known) = self.known.get(&atom) {
            return known.clone();
        }
        let atoms = &self.point.expander.atoms;
        let slopes = match atoms.get(atom) {
            Atom::State(_) => None,
            Atom::Named(at) => self.of_sum(&atoms.named[*at].1).map(Rc::from),
            Atom::Call(op, parts) => {
                let changes: Vec<_> = parts.iter().map(|part| self.of_sum(part)).collect();
                if changes.iter().all(Option::is_none) {
                    None
                } else {
                    let values: Vec<f64> =
                        parts.iter().map(|part| self.point.value(part)).collect();
                    let mut sum = vec![0.0; self.count];
                    let slopes = op.slopes(&values, self.point.atom(atom));
                    for (slope, change) in slopes.into_iter().zip(&changes) {
                        add(&mut sum, slope, change.as_deref().unwrap_or_default());
                    }
                    Some(Rc::from(sum))
                }
            }
            // All cells are alike, as they are at the point.
            Atom::At { of, .. } => self.of_atom(*of),
            Atom::Derivative { difference: Difference::AtFace(_), of } => self.of_atom(*of),
            Atom::Derivative { .. } => None,
        };
        self.known.insert(atom, slopes.clone());
        slopes
    }
}

/// Adds slopes times a factor. A value that does not change may have an infinite factor, and the branch that is not taken any slope.
fn add(sum: &mut [f64], factor: f64, slopes: &[f64]) {
    if factor == 0.0 {
        return;
    }
    for (sum, slope) in sum.iter_mut().zip(slopes).filter(|(_, slope)| **slope != 0.0) {
        *sum += factor * slope;
    }
}
