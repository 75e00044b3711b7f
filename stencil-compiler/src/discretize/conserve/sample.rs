//! Polynomials at points: properties that do not show in their form are tested with numbers.

use std::collections::{BTreeMap, BTreeSet};

use crate::discretize::atoms::{Atom, Difference};
use crate::discretize::expand::Expander;
use crate::discretize::poly::{AtomId, Poly, Uniform, UniformFactor};
use crate::expr::real::Precision;
use crate::expr::{Op, Rational};
use crate::model::{Comparison, to_f64};

/// Values of the atoms of polynomials.
pub(super) struct Point<'p, 'a> {
    pub(super) expander: &'p Expander<'a>,
    number: u64,
    /// May numbers be negative, huge and tiny, and parameters others than by default?
    anywhere: bool,
    /// The numbers of states that are positive; the signs of the others are balanced. Nothing if all are of any sign.
    positive: Option<&'p BTreeSet<usize>>,
    /// The most octaves between states.
    octaves: u64,
    known: BTreeMap<AtomId, f64>,
    /// The values of opaque uniforms, by their number.
    opaque: BTreeMap<usize, f64>,
    /// The sizes known so far.
    sizes: BTreeMap<AtomId, f64>,
}

impl<'p, 'a> Point<'p, 'a> {
    /// One of many points, always the same ones.
    pub(super) fn new(expander: &'p Expander<'a>, number: u64) -> Self {
        Point {
            expander,
            number,
            anywhere: false,
            positive: None,
            octaves: 0,
            known: BTreeMap::new(),
            opaque: BTreeMap::new(),
            sizes: BTreeMap::new(),
        }
    }

    /// One of many points, some of which are far from one, or not positive.
    pub(super) fn anywhere(expander: &'p Expander<'a>, number: u64) -> Self {
        Point { anywhere: true, ..Point::new(expander, number) }
    }

    /// The same with these states positive. Of eight points whose numbers differ in the bits from 8 to 32, four have a negative value of
    /// any other one, and two have any signs of two of seven.
    pub(super) fn positive(
        expander: &'p Expander<'a>,
        number: u64,
        states: &'p BTreeSet<usize>,
    ) -> Self {
        Point { positive: Some(states), ..Point::anywhere(expander, number) }
    }

    /// One of many points, with states that are up to this many octaves apart.
    pub(super) fn spread(expander: &'p Expander<'a>, number: u64, octaves: u64) -> Self {
        Point { octaves, ..Point::new(expander, number) }
    }

    /// Gives an atom a value, before anything that is made of it has one.
    pub(super) fn set(&mut self, atom: AtomId, value: f64) {
        self.known.insert(atom, value);
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

    /// The size of the terms that a value is the sum of, to which its rounding is in proportion.
    pub(super) fn size(&mut self, poly: &Poly) -> f64 {
        let mut sum = 0.0;
        for (monomial, c) in &poly.0 {
            let mut product = self.uniform(c).abs();
            for atom in monomial {
                product *= self.size_of(*atom);
            }
            sum += product;
        }
        sum
    }

    fn size_of(&mut self, atom: AtomId) -> f64 {
        if let Some(known) = self.sizes.get(&atom) {
            return *known;
        }
        let atoms = &self.expander.atoms;
        let size = match atoms.get(atom) {
            Atom::Named(at) => self.size(&atoms.named[*at].1),
            Atom::At { of, .. } => self.size_of(*of),
            _ => self.atom(atom).abs(),
        };
        self.sizes.insert(atom, size);
        size
    }

    /// The value of an atom.
    pub(super) fn atom(&mut self, atom: AtomId) -> f64 {
        if let Some(known) = self.known.get(&atom) {
            return *known;
        }
        let atoms = &self.expander.atoms;
        let value = match atoms.get(atom) {
            Atom::State(i) => self.state(*i as u64),
            Atom::Named(at) => self.value(&atoms.named[*at].1),
            Atom::Call(op, parts) => {
                let values: Vec<f64> = parts.iter().map(|part| self.value(part)).collect();
                op.eval(&values)
            }
            // All cells are alike.
            Atom::At { of, .. } => self.atom(*of),
            Atom::Derivative { difference: Difference::AtFace(_), of } => self.atom(*of),
            // Values at faces have no derivative.
            Atom::Derivative { .. } => f64::NAN,
        };
        self.known.insert(atom, value);
        value
    }

    /// The value of a uniform.
    pub(super) fn uniform(&mut self, uniform: &Uniform) -> f64 {
        let mut term = |(monomial, c): (&BTreeMap<UniformFactor, i32>, &_)| {
            let powers =
                monomial.iter().map(|(f, e)| Op::Pow.eval(&[self.factor(*f), f64::from(*e)]));
            to_f64(c) * powers.product::<f64>()
        };
        uniform.0.iter().map(&mut term).sum()
    }

    fn factor(&mut self, factor: UniformFactor) -> f64 {
        match factor {
            UniformFactor::Param(i) => self.param(i),
            UniformFactor::Spacing(_) | UniformFactor::Dt | UniformFactor::Time => 1.0,
            UniformFactor::Epsilon => Precision::F64.epsilon(),
            UniformFactor::Opaque(i) => {
                if let Some(known) = self.opaque.get(&i) {
                    return *known;
                }
                let (op, parts) = &self.expander.atoms.opaque[i];
                let values: Vec<f64> = parts.iter().map(|part| self.uniform(part)).collect();
                let value = op.eval(&values);
                self.opaque.insert(i, value);
                value
            }
        }
    }

    /// Near its default, if it has one.
    fn param(&self, i: usize) -> f64 {
        let param = &self.expander.model.params[i];
        let drawn = self.drawn(1000 + i as u64);
        let Some(default) = param.default else {
            return drawn;
        };
        let near = if default == 0.0 { drawn } else { default * drawn };
        let fits =
            |(comparison, bound): &(Comparison, Rational)| comparison.holds(&near, &to_f64(bound));
        match self.anywhere && self.number & 4 > 0 && param.bounds.iter().all(fits) {
            true => near,
            false => default,
        }
    }

    /// A number of any sign at half of the points, and of any size at half of them.
    fn state(&self, i: u64) -> f64 {
        let mut value = self.drawn(i);
        if self.octaves > 0 {
            let octave = (self.drawn(i + 300) - 1.25) / 1.5 * self.octaves as f64;
            value *= Op::Pow.eval(&[2.0, octave]);
        }
        if self.anywhere && self.number & 1 > 0 && self.is_turned(i) {
            value = -value;
        }
        if self.anywhere && self.number & 2 > 0 {
            // From a hundredth to ten thousand millions.
            let decade = (8.0 * (self.drawn(i + 200) - 0.5) - 2.0).round();
            value *= Op::Pow.eval(&[10.0, decade]);
        }
        value
    }

    /// Is a state negative, if states are of any sign?
    fn is_turned(&self, i: u64) -> bool {
        match self.positive {
            None => self.drawn(i + 100) < 1.25,
            Some(positive) if positive.contains(&(i as usize)) => false,
            // Different sums of three bits are independent.
            Some(_) => ((self.number >> 3) & (i % 7 + 1)).count_ones() % 2 == 1,
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
