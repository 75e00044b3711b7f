//! Polynomials with quotients in them as one quotient of two polynomials, so that equal ones are seen to be.

use std::collections::{BTreeMap, BTreeSet};

use crate::discretize::atoms::{Atom, Atoms};
use crate::discretize::poly::{AtomId, Monomial, Overflow, Poly, Uniform};
use crate::expr::Op;

/// Terms beyond which nothing is multiplied out.
const LARGEST: usize = 4000;

/// The largest number of terms, including those of coefficients.
const LARGEST_WITH_UNIFORMS: usize = 400_000;

/// Atoms of a product beyond which nothing is multiplied out: a loop multiplies powers with each other, each time anew.
const LARGEST_DEGREE: usize = 200;

/// A quotient of polynomials without quotients.
#[derive(Clone)]
pub(super) struct Quotient {
    pub(super) above: Poly,
    pub(super) below: Poly,
}

/// The reason why a polynomial is not a quotient.
#[derive(Debug)]
pub(super) enum Refused {
    /// It has too many terms.
    Large,
    /// Its coefficients leave the range of exact numbers.
    Range,
}

impl From<Overflow> for Refused {
    fn from(_: Overflow) -> Self {
        Refused::Range
    }
}

/// Atoms as quotients.
type Known = BTreeMap<AtomId, Quotient>;

type Result<T> = std::result::Result<T, Refused>;

impl Quotient {
    /// The quotient that a polynomial is when names and divisions are written out.
    pub(super) fn of(poly: &Poly, atoms: &Atoms) -> Result<Quotient> {
        Quotient::of_known(poly, atoms, &mut BTreeMap::new())
    }

    /// The same, with atoms that are known already.
    fn of_known(poly: &Poly, atoms: &Atoms, known: &mut Known) -> Result<Quotient> {
        let mut sum = Quotient::whole(Poly::default());
        for (monomial, c) in &poly.0 {
            let mut product = Quotient::whole(Poly::uniform(atoms.written_out(c)?));
            for atom in monomial {
                product = product.times(&Quotient::of_atom(*atom, atoms, known)?)?;
            }
            sum = sum.plus(&product)?;
        }
        Ok(sum)
    }

    fn of_atom(atom: AtomId, atoms: &Atoms, known: &mut Known) -> Result<Quotient> {
        if let Some(known) = known.get(&atom) {
            return Ok(known.clone());
        }
        let found = match atoms.get(atom) {
            Atom::Named(at) => Quotient::of_known(&atoms.named[*at].1, atoms, known)?,
            Atom::Call(Op::Div, parts) => {
                let above = Quotient::of_known(&parts[0], atoms, known)?;
                let below = Quotient::of_known(&parts[1], atoms, known)?;
                Quotient {
                    above: product(&above.above, &below.below)?,
                    below: product(&above.below, &below.above)?,
                }
            }
            Atom::State(_) | Atom::Derivative { .. } | Atom::At { .. } | Atom::Call(..) => {
                Quotient::whole(Poly::atom(atom))
            }
        };
        known.insert(atom, found.clone());
        Ok(found)
    }

    /// A polynomial.
    pub(super) fn whole(above: Poly) -> Quotient {
        let below = Poly::uniform(Uniform::one());
        Quotient { above, below }
    }

    pub(super) fn times(&self, other: &Quotient) -> Result<Quotient> {
        let product = Quotient {
            above: product(&self.above, &other.above)?,
            below: product(&self.below, &other.below)?,
        };
        Ok(product.reduced())
    }

    /// The sum, without factors that all of it shares.
    pub(super) fn plus(&self, other: &Quotient) -> Result<Quotient> {
        // Factors that one denominator has and the other lacks.
        let common = common(self.below.0.keys().chain(other.below.0.keys()));
        let [own, others] = [self, other].map(|quotient| without(&quotient.below, &common));
        let sum = if own == others {
            Quotient { above: self.above.plus(&other.above)?, below: self.below.clone() }
        } else {
            let first = product(&self.above, &others)?;
            Quotient {
                above: first.plus(&product(&other.above, &own)?)?,
                below: product(&self.below, &others)?,
            }
        };
        Ok(sum.reduced())
    }

    /// Product with a uniform.
    pub(super) fn scaled(&self, by: &Uniform) -> Result<Quotient> {
        Ok(Quotient { above: self.above.scaled(by)?, below: self.below.clone() })
    }

    /// The number of its terms above and below.
    pub(super) fn terms(&self) -> usize {
        terms(&self.above) + terms(&self.below)
    }

    /// The same without atoms that are in all terms above and below.
    fn reduced(self) -> Quotient {
        if self.above.0.is_empty() {
            return Quotient::whole(Poly::default());
        }
        let common = common(self.above.0.keys().chain(self.below.0.keys()));
        Quotient { above: without(&self.above, &common), below: without(&self.below, &common) }
    }

    /// The number of times that the other goes into this one, if that is the same for all values.
    pub(super) fn multiple_of(&self, other: &Quotient) -> Result<Option<Uniform>> {
        let [own, others] =
            [(self, other), (other, self)].map(|(a, b)| product(&a.above, &b.below));
        let (own, others) = (own?, others?);
        let (Some((monomial, c)), false) = (others.0.iter().next(), own.0.is_empty()) else {
            return Ok(own.0.is_empty().then(Uniform::default));
        };
        let Some(inverse) = c.reciprocal() else {
            return Ok((own == others).then(Uniform::one));
        };
        let found = own.0.get(monomial).cloned().unwrap_or_default();
        let times = found.times(&inverse)?;
        Ok((others.scaled(&times)? == own).then_some(times))
    }

    /// The parts of a quotient that are constant and linear in an atom; `None` if it has others.
    pub(super) fn linear_in(&self, atom: AtomId, atoms: &Atoms) -> Option<[Quotient; 2]> {
        let mut parts = [Poly::default(), Poly::default()];
        for (monomial, c) in &self.above.0 {
            let times = monomial.iter().filter(|a| **a == atom).count();
            let rest: Vec<AtomId> = monomial.iter().copied().filter(|a| *a != atom).collect();
            if holds(&rest, atom, atoms) {
                return None;
            }
            parts.get_mut(times)?.0.insert(rest, c.clone());
        }
        let below: Vec<AtomId> = self.below.0.keys().flatten().copied().collect();
        if holds(&below, atom, atoms) {
            return None;
        }
        Some(parts.map(|above| Quotient { above, below: self.below.clone() }))
    }
}

/// Have two polynomials the same value for all values of their atoms? `false` if they have too many terms to tell.
pub(in crate::discretize) fn are_equal(a: &Poly, b: &Poly, atoms: &Atoms) -> bool {
    let difference = a.plus(&b.negated()).map_err(Refused::from);
    let difference = difference.and_then(|difference| Quotient::of(&difference, atoms));
    difference.is_ok_and(|difference| difference.above.0.is_empty())
}

/// Is one of some atoms made of another?
fn holds(some: &[AtomId], part: AtomId, atoms: &Atoms) -> bool {
    let (mut open, mut seen) = (some.to_vec(), BTreeSet::new());
    while let Some(atom) = open.pop() {
        if atom == part {
            return true;
        }
        if !seen.insert(atom) {
            continue;
        }
        match atoms.get(atom) {
            Atom::State(_) => {}
            Atom::Derivative { of, .. } | Atom::At { of, .. } => open.push(*of),
            Atom::Named(at) => open.extend(atoms.named[*at].1.0.keys().flatten()),
            Atom::Call(_, parts) => {
                open.extend(parts.iter().flat_map(|part| part.0.keys().flatten()));
            }
        }
    }
    false
}

/// The number of terms of a polynomial, including those of its coefficients.
fn terms(poly: &Poly) -> usize {
    poly.0.values().map(|c| c.0.len()).sum()
}

/// The atoms that all of some products have in common.
fn common<'m>(mut monomials: impl Iterator<Item = &'m Monomial>) -> Monomial {
    let Some(mut shared) = monomials.next().cloned() else {
        return Monomial::new();
    };
    for other in monomials {
        let mut left = other.clone();
        shared.retain(|atom| match left.iter().position(|a| a == atom) {
            Some(at) => {
                left.remove(at);
                true
            }
            None => false,
        });
    }
    shared
}

/// A polynomial without atoms that all of its terms have.
fn without(poly: &Poly, shared: &Monomial) -> Poly {
    let rest = |monomial: &Monomial| {
        let mut rest = monomial.clone();
        for atom in shared {
            if let Some(at) = rest.iter().position(|a| a == atom) {
                rest.remove(at);
            }
        }
        rest
    };
    Poly(poly.0.iter().map(|(m, c)| (rest(m), c.clone())).collect())
}

fn product(a: &Poly, b: &Poly) -> Result<Poly> {
    let large = a.0.len() * b.0.len() > LARGEST || a.degree() + b.degree() > LARGEST_DEGREE;
    if large || terms(a) * terms(b) > LARGEST_WITH_UNIFORMS {
        return Err(Refused::Large);
    }
    Ok(a.times(b)?)
}
