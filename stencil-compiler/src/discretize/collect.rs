//! Collects equations: finds coefficients that several terms share and gives each a name, so that
//! it is computed once (algebraic kernel extraction, after Brayton and McMullen 1982).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::atoms::Atoms;
use super::poly::{AtomId, Monomial, Overflow, Poly, Uniform};

/// An occurrence of a coefficient: the polynomial, the atom it multiplies, and its sign.
type Occurrence = (usize, AtomId, bool);

/// The coefficients of the atoms of one polynomial that have two terms or more, each with a
/// positive leading term and the sign that this took.
type Coefficients = Vec<(AtomId, Rc<Poly>, bool)>;

/// Rewrites the polynomials until no shared coefficient saves an operation. A coefficient K of an
/// atom a becomes a named polynomial and its terms become `a * K`.
pub(super) fn extract(
    atoms: &mut Atoms,
    polys: &mut [Poly],
    names: &[String],
) -> Result<(), Overflow> {
    let mut all: Vec<Coefficients> = polys.iter().map(coefficients).collect();
    let mut kernels = Kernels::default();
    for (at, coefficients) in all.iter().enumerate() {
        kernels.add(at, coefficients);
    }
    kernels.rank();
    while let Some((kernel, occurrences)) = kernels.best() {
        let name =
            format!("{}_factor", names.get(occurrences[0].0).map_or("shared", String::as_str));
        let named = atoms.name(&name, (*kernel).clone());
        let Some((atom, _)) = named.as_scaled_atom() else {
            return Ok(());
        };
        let changed: BTreeSet<usize> = occurrences.iter().map(|o| o.0).collect();
        for (poly, of, negative) in occurrences {
            replace(&mut polys[poly], &kernel, of, atom, negative)?;
        }
        for at in changed {
            kernels.remove(at, &all[at]);
            all[at] = coefficients(&polys[at]);
            kernels.add(at, &all[at]);
        }
        kernels.rank();
    }
    Ok(())
}

/// The saving by extraction of a coefficient, largest first, and the first polynomial with it, which decides between
/// equals.
type Gain = (Reverse<i64>, usize);

/// All coefficients with their occurrences. Only those of changed polynomials are visited again.
#[derive(Default)]
struct Kernels {
    found: BTreeMap<Rc<Poly>, Kernel>,
    /// The coefficients whose extraction saves operations, in order of extraction.
    order: BTreeSet<(Gain, Rc<Poly>)>,
    changed: BTreeSet<Rc<Poly>>,
}

/// One coefficient.
#[derive(Default)]
struct Kernel {
    /// The signs that it has, by polynomial and by the atom that it multiplies.
    signs: BTreeMap<(usize, AtomId), bool>,
    /// Its place in the order.
    gain: Option<Gain>,
}

impl Kernels {
    /// Adds the coefficients of one polynomial.
    fn add(&mut self, at: usize, coefficients: &Coefficients) {
        for (atom, kernel, negative) in coefficients {
            let entry = self.found.entry(kernel.clone()).or_default();
            entry.signs.insert((at, *atom), *negative);
            self.changed.insert(kernel.clone());
        }
    }

    /// Forgets the coefficients of one polynomial.
    fn remove(&mut self, at: usize, coefficients: &Coefficients) {
        for (atom, kernel, _) in coefficients {
            if let Some(entry) = self.found.get_mut(kernel) {
                entry.signs.remove(&(at, *atom));
                self.changed.insert(kernel.clone());
            }
        }
    }

    /// Sorts the changed coefficients into the order.
    fn rank(&mut self) {
        for kernel in std::mem::take(&mut self.changed) {
            let Some(entry) = self.found.get_mut(&kernel) else {
                continue;
            };
            if let Some(gain) = entry.gain.take() {
                self.order.remove(&(gain, kernel.clone()));
            }
            let occurrences = disjoint(&kernel, &entry.signs);
            let saved = saving(&kernel, occurrences.len());
            match occurrences.first() {
                Some((first, ..)) if saved > 0 => {
                    let gain = (Reverse(saved), *first);
                    entry.gain = Some(gain);
                    self.order.insert((gain, kernel));
                }
                Some(_) => {}
                None => {
                    self.found.remove(&kernel);
                }
            }
        }
    }

    /// The coefficient whose extraction saves most, the first of several, and its occurrences.
    fn best(&self) -> Option<(Rc<Poly>, Vec<Occurrence>)> {
        let (_, kernel) = self.order.first()?;
        let entry = self.found.get(kernel)?;
        Some((kernel.clone(), disjoint(kernel, &entry.signs)))
    }
}

/// The terms that each atom multiplies, divided by it once; by atom.
fn coefficients(poly: &Poly) -> Coefficients {
    let mut all: BTreeMap<AtomId, Poly> = BTreeMap::new();
    for (monomial, c) in &poly.0 {
        let mut last = None;
        for atom in monomial {
            // Monomials are sorted: a power is one run.
            if last.replace(*atom) != Some(*atom)
                && let Some(rest) = without(monomial, *atom)
            {
                all.entry(*atom).or_default().0.insert(rest, c.clone());
            }
        }
    }
    let several = all.into_iter().filter(|(_, kernel)| kernel.0.len() > 1);
    let normal = several.map(|(atom, kernel)| {
        let negative = kernel.0.values().next().is_some_and(Uniform::is_negative);
        let kernel = if negative { kernel.negated() } else { kernel };
        (atom, Rc::new(kernel), negative)
    });
    normal.collect()
}

fn without(monomial: &Monomial, atom: AtomId) -> Option<Monomial> {
    let at = monomial.iter().position(|a| *a == atom)?;
    let mut rest = monomial.clone();
    rest.remove(at);
    Some(rest)
}

fn with(monomial: &Monomial, atom: AtomId) -> Monomial {
    let mut product = monomial.clone();
    product.push(atom);
    product.sort_unstable();
    product
}

/// Occurrences that share no term with an earlier one.
fn disjoint(kernel: &Poly, signs: &BTreeMap<(usize, AtomId), bool>) -> Vec<Occurrence> {
    let mut taken: BTreeSet<(usize, Monomial)> = BTreeSet::new();
    let mut kept = Vec::new();
    for (&(poly, atom), &negative) in signs {
        let terms: Vec<(usize, Monomial)> =
            kernel.0.keys().map(|m| (poly, with(m, atom))).collect();
        if terms.iter().all(|t| !taken.contains(t)) {
            taken.extend(terms);
            kept.push((poly, atom, negative));
        }
    }
    kept
}

/// Operations of one term of a sum: its products, the last of them fused with the addition.
fn term_cost(degree: usize, c: &Uniform) -> i64 {
    (degree as i64 - 1 + i64::from(!c.is_unit())).max(1)
}

/// Operations saved by computing the kernel once and multiplying each occurrence by its atom.
fn saving(kernel: &Poly, occurrences: usize) -> i64 {
    let spread: i64 = kernel.0.iter().map(|(m, c)| term_cost(m.len() + 1, c)).sum();
    let bare = kernel.0.iter().any(|(m, c)| m.is_empty() || (m.len() == 1 && c.is_unit()));
    let own: i64 =
        kernel.0.iter().map(|(m, c)| term_cost(m.len(), c)).sum::<i64>() - i64::from(bare);
    occurrences as i64 * (spread - 1) - own
}

fn replace(
    poly: &mut Poly,
    kernel: &Poly,
    of: AtomId,
    by: AtomId,
    negative: bool,
) -> Result<(), Overflow> {
    for monomial in kernel.0.keys() {
        poly.0.remove(&with(monomial, of));
    }
    let sign = if negative { Uniform::one().negated() } else { Uniform::one() };
    poly.add_term(with(&vec![of], by), &sign)
}
