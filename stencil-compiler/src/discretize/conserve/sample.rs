//! Polynomials at points: what cannot be seen from their form is tried with numbers.

use std::collections::BTreeMap;

use crate::discretize::atoms::Atom;
use crate::discretize::expand::Expander;
use crate::discretize::poly::{AtomId, Poly, Uniform, UniformFactor};
use crate::expr::Op;
use crate::model::to_f64;

/// Numbers for what polynomials are made of.
pub(super) struct Point<'p, 'a> {
    expander: &'p Expander<'a>,
    number: u64,
    known: BTreeMap<AtomId, f64>,
}

impl<'p, 'a> Point<'p, 'a> {
    /// One of many points, always the same ones.
    pub(super) fn new(expander: &'p Expander<'a>, number: u64) -> Self {
        Point {
            expander,
            number,
            known: BTreeMap::new(),
        }
    }

    /// The value of a polynomial, which may be no number.
    pub(super) fn value(&mut self, poly: &Poly) -> f64 {
        let mut sum = 0.0;
        for (monomial, c) in &poly.0 {
            let mut product = self.uniform(c);
            for atom in monomial {
                product *= self.atom(*atom);
            }
            sum += product;
        }
        sum
    }

    fn atom(&mut self, atom: AtomId) -> f64 {
        if let Some(known) = self.known.get(&atom) {
            return *known;
        }
        let atoms = &self.expander.atoms;
        let value = match atoms.get(atom) {
            Atom::State(i) => self.drawn(*i as u64),
            Atom::Named(at) => self.value(&atoms.named[*at].1),
            Atom::Call(op, parts) => {
                let values: Vec<f64> = parts.iter().map(|part| self.value(part)).collect();
                op.eval(&values)
            }
            // Nothing at faces has one.
            Atom::Derivative { .. } | Atom::At { .. } => f64::NAN,
        };
        self.known.insert(atom, value);
        value
    }

    fn uniform(&self, uniform: &Uniform) -> f64 {
        let term = |(monomial, c): (&BTreeMap<UniformFactor, i32>, &_)| {
            let powers = monomial
                .iter()
                .map(|(f, e)| Op::Pow.eval(&[self.factor(*f), f64::from(*e)]));
            to_f64(c) * powers.product::<f64>()
        };
        uniform.0.iter().map(term).sum()
    }

    fn factor(&self, factor: UniformFactor) -> f64 {
        match factor {
            UniformFactor::Param(i) => {
                let default = self.expander.model.params[i].default.as_ref();
                default.map_or_else(|| self.drawn(1000 + i as u64), to_f64)
            }
            UniformFactor::Spacing(_) | UniformFactor::Dt | UniformFactor::Time => 1.0,
            UniformFactor::Opaque(i) => {
                let (op, parts) = &self.expander.atoms.opaque[i];
                let values: Vec<f64> = parts.iter().map(|part| self.uniform(part)).collect();
                op.eval(&values)
            }
        }
    }

    /// A number between a half and two, always the same.
    fn drawn(&self, i: u64) -> f64 {
        let mixed = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (self.number + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
        0.5 + 1.5 * (mixed >> 40) as f64 / (1_u64 << 24) as f64
    }
}
