//! Collects equations: finds coefficients that several terms share and gives each a name, so that
//! it is computed once (algebraic kernel extraction, after Brayton and McMullen 1982).

use std::collections::BTreeMap;

use super::atoms::Atoms;
use super::poly::{AtomId, Monomial, Overflow, Poly, Uniform};

/// Where a coefficient was found: the polynomial, the atom it multiplies, and its sign.
type Occurrence = (usize, AtomId, bool);

/// Rewrites the polynomials until no shared coefficient saves an operation. A coefficient K of an
/// atom a becomes a named polynomial and its terms become `a * K`.
pub(super) fn extract(
    atoms: &mut Atoms,
    polys: &mut [Poly],
    names: &[String],
) -> Result<(), Overflow> {
    while let Some((kernel, occurrences)) = best(polys) {
        let name = format!(
            "{}_factor",
            names.get(occurrences[0].0).map_or("shared", String::as_str)
        );
        let named = atoms.name(&name, kernel.clone());
        let Some((atom, _)) = named.as_scaled_atom() else {
            return Ok(());
        };
        for (poly, of, negative) in occurrences {
            replace(&mut polys[poly], &kernel, of, atom, negative)?;
        }
    }
    Ok(())
}

/// The coefficient whose extraction saves most; the first of several.
fn best(polys: &[Poly]) -> Option<(Poly, Vec<Occurrence>)> {
    let mut found: BTreeMap<Poly, Vec<Occurrence>> = BTreeMap::new();
    for (at, poly) in polys.iter().enumerate() {
        let mut atoms: Vec<AtomId> = poly
            .0
            .keys()
            .filter(|m| !m.is_empty())
            .flatten()
            .copied()
            .collect();
        atoms.sort_unstable();
        atoms.dedup();
        for atom in atoms {
            let coefficient = coefficient(poly, atom);
            if coefficient.0.len() < 2 {
                continue;
            }
            let negative = coefficient
                .0
                .values()
                .next()
                .is_some_and(Uniform::is_negative);
            let normal = if negative {
                coefficient.negated()
            } else {
                coefficient
            };
            found.entry(normal).or_default().push((at, atom, negative));
        }
    }
    let mut best: Option<(i64, usize, Poly, Vec<Occurrence>)> = None;
    for (kernel, occurrences) in found {
        let occurrences = disjoint(&kernel, occurrences);
        let saved = saving(&kernel, occurrences.len());
        let first = occurrences.first().map_or(usize::MAX, |o| o.0);
        if saved > 0
            && best
                .as_ref()
                .is_none_or(|(s, f, ..)| saved > *s || (saved == *s && first < *f))
        {
            best = Some((saved, first, kernel, occurrences));
        }
    }
    best.map(|(_, _, kernel, occurrences)| (kernel, occurrences))
}

/// The terms that an atom multiplies, divided by it once.
fn coefficient(poly: &Poly, atom: AtomId) -> Poly {
    let divided = poly
        .0
        .iter()
        .filter_map(|(monomial, c)| Some((without(monomial, atom)?, c.clone())));
    Poly(divided.collect())
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
    let mut taken: Vec<(usize, Monomial)> = Vec::new();
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
