//! Collects equations: finds coefficients that several terms share and gives each a name, so that
//! it is computed once (algebraic kernel extraction, after Brayton and McMullen 1982).

use std::collections::{BTreeMap, BTreeSet};

use super::atoms::Atoms;
use super::poly::{AtomId, Monomial, Overflow, Poly, Uniform};

/// Where a coefficient was found: the polynomial, the atom it multiplies, and its sign.
type Occurrence = (usize, AtomId, bool);

/// The coefficients of the atoms of one polynomial that have two terms or more, each with a
/// positive leading term and the sign that this took.
type Coefficients = Vec<(AtomId, Poly, bool)>;

/// Rewrites the polynomials until no shared coefficient saves an operation. A coefficient K of an
/// atom a becomes a named polynomial and its terms become `a * K`.
pub(super) fn extract(
    atoms: &mut Atoms,
    polys: &mut [Poly],
    names: &[String],
) -> Result<(), Overflow> {
    let mut all: Vec<Coefficients> = polys.iter().map(coefficients).collect();
    while let Some((kernel, occurrences)) = best(&all) {
        let name = format!(
            "{}_factor",
            names.get(occurrences[0].0).map_or("shared", String::as_str)
        );
        let named = atoms.name(&name, kernel.clone());
        let Some((atom, _)) = named.as_scaled_atom() else {
            return Ok(());
        };
        let changed: BTreeSet<usize> = occurrences.iter().map(|o| o.0).collect();
        for (poly, of, negative) in occurrences {
            replace(&mut polys[poly], &kernel, of, atom, negative)?;
        }
        for at in changed {
            all[at] = coefficients(&polys[at]);
        }
    }
    Ok(())
}

/// The coefficient whose extraction saves most; the first of several.
fn best(all: &[Coefficients]) -> Option<(Poly, Vec<Occurrence>)> {
    let mut found: BTreeMap<&Poly, Vec<Occurrence>> = BTreeMap::new();
    for (at, coefficients) in all.iter().enumerate() {
        for (atom, kernel, negative) in coefficients {
            let occurrences = found.entry(kernel).or_default();
            occurrences.push((at, *atom, *negative));
        }
    }
    let mut best: Option<(i64, usize, &Poly, Vec<Occurrence>)> = None;
    for (kernel, occurrences) in found {
        let occurrences = disjoint(kernel, occurrences);
        let saved = saving(kernel, occurrences.len());
        let first = occurrences.first().map_or(usize::MAX, |o| o.0);
        if saved > 0
            && best
                .as_ref()
                .is_none_or(|(s, f, ..)| saved > *s || (saved == *s && first < *f))
        {
            best = Some((saved, first, kernel, occurrences));
        }
    }
    best.map(|(_, _, kernel, occurrences)| (kernel.clone(), occurrences))
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
        (atom, kernel, negative)
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
fn disjoint(kernel: &Poly, occurrences: Vec<Occurrence>) -> Vec<Occurrence> {
    let mut taken: BTreeSet<(usize, Monomial)> = BTreeSet::new();
    let mut kept = Vec::new();
    for (poly, atom, negative) in occurrences {
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
    let spread: i64 = kernel
        .0
        .iter()
        .map(|(m, c)| term_cost(m.len() + 1, c))
        .sum();
    let bare = kernel
        .0
        .iter()
        .any(|(m, c)| m.is_empty() || (m.len() == 1 && c.is_unit()));
    let own: i64 = kernel
        .0
        .iter()
        .map(|(m, c)| term_cost(m.len(), c))
        .sum::<i64>()
        - i64::from(bare);
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
    let sign = if negative {
        Uniform::one().negated()
    } else {
        Uniform::one()
    };
    poly.add_term(with(&vec![of], by), &sign)
}
