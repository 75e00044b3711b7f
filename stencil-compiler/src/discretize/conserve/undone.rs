//! That primitives and what is conserved follow from each other: the way there and back, at some points.

use std::collections::BTreeMap;

use super::Law;
use crate::diag::Code;
use crate::discretize::atoms::Atom;
use crate::discretize::expand::{Expander, Result, States, Tensor, name_of};
use crate::discretize::poly::{AtomId, Poly, Uniform, UniformFactor};
use crate::discretize::{DiscretizeError, settled};
use crate::expr::Op;
use crate::model::{Primitives, Term, TermKind, to_f64};

/// Points that are tried.
const POINTS: u64 = 8;

/// What rounding may do to a value of order one.
const ROUNDING: f64 = 1e-6;

impl Law<'_> {
    /// Checks that primitives are what they were after what is conserved follows from them.
    ///
    /// # Errors
    /// Where a primitive has another value, at its place.
    pub(super) fn check_way_back(&self, primitives: &Primitives) -> Result<()> {
        let mixed = settled(self.model.scheme.mixed);
        // An expander of its own: nothing of this is evaluated in a run.
        let mut expander = Expander::new(self.model, self.components, mixed)?;
        let mut free = self.components.fields.len() + self.components.sources.len();
        let fields = 0..self.components.fields.len();
        let mut states = States {
            components: fields.map(|i| expander.atoms.state(i)).collect(),
            ..States::default()
        };
        let mut given: Vec<(&Term, Tensor)> = Vec::new();
        for variable in &primitives.variables {
            let TermKind::Let(at) = variable.kind else {
                continue;
            };
            let mut entry = |_: &Poly| {
                free += 1;
                Poly::atom(expander.atoms.intern(Atom::State(free)))
            };
            let shape = vec![Poly::default(); self.entries_of(variable)];
            let entries: Tensor = shape.iter().map(&mut entry).collect();
            states.lets.insert(at, entries.clone());
            given.push((variable, entries));
        }
        self.follow(&mut expander, primitives, &mut states, "there")?;
        states.lets.clear();
        for (variable, entries) in given {
            let term = |expander: &mut Expander<'_>| expander.term(variable);
            let back = expander.in_states(&states, "back", term)?;
            for (there, back) in entries.iter().zip(&back) {
                self.check_equal(&expander, variable, [there, back])?;
            }
        }
        Ok(())
    }

    fn entries_of(&self, variable: &Term) -> usize {
        crate::discretize::components::suffixes(variable.rank, self.model.dimension).len()
    }

    /// Compares at points where both have values.
    fn check_equal(
        &self,
        expander: &Expander<'_>,
        variable: &Term,
        [there, back]: [&Poly; 2],
    ) -> Result<()> {
        for number in 0..POINTS {
            let mut point = Point {
                expander,
                number,
                known: BTreeMap::new(),
            };
            let [before, after] = [there, back].map(|poly| point.value(poly));
            let difference = (after - before).abs();
            // What is not finite says nothing.
            if difference.is_finite() && difference > ROUNDING {
                let name = name_of(self.model, variable);
                let message = format!(
                    "`{name}` of what follows from the primitives is another: {after:.4} where `{name}` is \
                     {before:.4}; what is conserved and the primitives have to follow from each other"
                );
                return Err(DiscretizeError::new(
                    Code::WrongWayBack,
                    variable.span,
                    message,
                ));
            }
        }
        Ok(())
    }
}

/// Numbers for what polynomials are made of.
struct Point<'p, 'a> {
    expander: &'p Expander<'a>,
    number: u64,
    known: BTreeMap<AtomId, f64>,
}

impl Point<'_, '_> {
    fn value(&mut self, poly: &Poly) -> f64 {
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
