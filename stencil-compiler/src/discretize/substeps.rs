//! An integrator's tableau to the updates of each substep.

use std::collections::BTreeMap;

use num_traits::{One, Signed};

use super::Bounds;
use super::build::Functions;
use super::components::Components;
use super::poly::{Uniform, UniformFactor};
use super::values::signed;
use crate::algorithm::{Access, Atom, Def, FnId, StateId, Substep, UniformId};
use crate::catalogue::integrators::{Combination, Tableau, Target, Term, Value};
use crate::diag::Span;
use crate::expr::{Builder, Op, Rational, Ref, to_f64};

/// The operands of the combinations of a step, component by component.
pub(super) struct SubstepBuilder<'a> {
    pub(super) tableau: &'a Tableau,
    pub(super) components: &'a Components,
    /// The components of the fields.
    pub(super) fields: &'a [FnId],
    /// For each register its component of each field.
    pub(super) registers: &'a [Vec<FnId>],
    /// The rates of change of each kind that the tableau asks for.
    pub(super) rates: &'a BTreeMap<Value, &'a [FnId]>,
    /// The number of substeps before.
    pub(super) earlier: usize,
    /// When they begin, and how long they take together, in units of the step.
    pub(super) begin: Rational,
    pub(super) share: Rational,
    /// The bounds that new values of fields keep, unless these are NaN.
    pub(super) bounds: &'a Bounds,
}

/// A factor as combinations use it: a uniform, none for one, and whether it is negative.
type Factor = (Option<UniformId>, bool);

const ONE: Factor = (None, false);

impl SubstepBuilder<'_> {
    /// The updates of all substeps: fields first, then registers.
    pub(super) fn substeps(&self, functions: &mut Functions) -> Vec<Substep> {
        let times = self.tableau.times();
        let substeps = self.tableau.substeps.iter().zip(times).enumerate();
        substeps
            .map(|(s, (combinations, at))| Substep {
                at: to_f64(self.begin) + to_f64(self.share) * at,
                updates: self.updates(functions, self.earlier + s, combinations),
            })
            .collect()
    }

    fn updates(
        &self,
        functions: &mut Functions,
        substep: usize,
        combinations: &[Combination],
    ) -> Vec<(StateId, FnId)> {
        let factors: Vec<Vec<Factor>> = combinations
            .iter()
            .map(|c| c.terms.iter().map(|t| factor(functions, t, self.share, substep)).collect())
            .collect();
        let count = self.components.fields.len();
        let mut updates = Vec::new();
        for component in 0..count {
            // A new value is computed for the equation of its rate.
            functions.span =
                functions.functions[self.rates[&Value::Rate][component].0 as usize].span;
            let mut new: Vec<FnId> = Vec::new();
            for (combination, factors) in combinations.iter().zip(&factors) {
                let values: Vec<FnId> = combination
                    .terms
                    .iter()
                    .map(|term| self.value(term.of, component, &new))
                    .collect();
                let name = self.name(combination.into, component, substep);
                let made = combine(functions, &name, factors, &values);
                new.push(made);
                match combination.into {
                    Target::Field => {
                        let kept = self.kept(functions, component, made);
                        updates.push((StateId(component as u32), kept));
                    }
                    Target::Register(i) => {
                        updates.push((StateId(((i + 1) * count + component) as u32), made));
                    }
                    Target::Part(_) => {}
                }
            }
        }
        functions.span = Span::default();
        updates.sort_by_key(|(state, _)| *state);
        updates
    }

    /// Counts the repairs of a cell's faces in substeps with fluxes of the scheme.
    pub(super) fn count(
        &self,
        functions: &mut Functions,
        substeps: &mut [Substep],
        (state, count): (StateId, FnId),
        repaired: FnId,
    ) {
        for (s, substep) in substeps.iter_mut().enumerate() {
            if self.tableau.uses(s, Value::Rate) {
                let name = format!("{}_{}", functions.name(count), self.earlier + s + 1);
                let counted = combine(functions, &name, &[ONE, ONE], &[count, repaired]);
                substep.updates.push((state, counted));
            }
        }
    }

    /// The new value of a component in its bounds.
    fn kept(&self, functions: &mut Functions, component: usize, made: FnId) -> FnId {
        let own = self.bounds.iter().filter(|(of, _)| *of == component);
        let own: Vec<&(Op, Rational)> = own.map(|(_, bound)| bound).collect();
        if own.is_empty() {
            return made;
        }
        let mut b = Builder::new();
        let at = [0; 3];
        let value = b.atom(Atom::Access(Access { of: made, at }));
        // The value comes first, so that NaN stays NaN.
        let kept = own.into_iter().fold(value, |value, (op, bound)| {
            let bound = b.lit(crate::model::to_f64(bound));
            b.op(*op, &[value, bound])
        });
        let name = format!("{}_kept", functions.name(made));
        let depth = functions.depth_of(made);
        functions.add(&name, Def::Point(b.finish(kept)), depth)
    }

    fn value(&self, of: Value, component: usize, new: &[FnId]) -> FnId {
        match of {
            Value::Field => self.fields[component],
            Value::Rate | Value::FirstOrder | Value::Rest => self.rates[&of][component],
            Value::Register(i) => self.registers[i][component],
            Value::New(i) => new[i],
        }
    }

    fn name(&self, into: Target, component: usize, substep: usize) -> String {
        let (name, s) = (&self.components.fields[component], substep + 1);
        match into {
            Target::Field => format!("{name}_{s}"),
            Target::Register(i) => format!("{name}_{}_{s}", self.tableau.registers[i]),
            Target::Part(part) => format!("{name}_{part}_{s}"),
        }
    }
}

/// The uniform of a term's factor.
fn factor(functions: &mut Functions, term: &Term, share: Rational, substep: usize) -> Factor {
    let negative = term.factor.is_negative();
    let size: Rational = if negative { -term.factor } else { term.factor };
    if size.is_one() && !term.dt {
        return (None, negative);
    }
    let (value, label) = if term.dt {
        let dt = Uniform::power(UniformFactor::Dt, 1);
        (dt.times_number(size * share), "beta_dt")
    } else {
        (Uniform::number(size), "alpha")
    };
    let name = format!("{label}_{}", substep + 1);
    (Some(functions.uniform(&value, Some(&name))), negative)
}

/// The grid function of a linear combination: fused multiply-adds, in order, onto the last term
/// without a factor.
fn combine(functions: &mut Functions, name: &str, factors: &[Factor], values: &[FnId]) -> FnId {
    let base = factors.iter().rposition(|factor| *factor == ONE);
    if let (Some(0), [value]) = (base, values)
        && !functions.is_state(*value)
    {
        return *value;
    }
    let mut b = Builder::new();
    let access = |b: &mut Builder<Atom>, of: FnId| b.atom(Atom::Access(Access { of, at: [0; 3] }));
    let mut sum: Option<Ref> = None;
    let mut order: Vec<usize> = (0..values.len()).filter(|i| Some(*i) != base).collect();
    if let Some(base) = base {
        order.insert(0, base);
    }
    for at in order {
        let (uniform, negative) = factors[at];
        let factor = uniform.map(|uniform| {
            let uniform = b.atom(Atom::Uniform(uniform));
            signed(&mut b, uniform, negative)
        });
        // The factor before the value before the sum: the order in which the text shows them.
        let value = access(&mut b, values[at]);
        sum = Some(match (sum, factor) {
            (None, None) => signed(&mut b, value, negative),
            (None, Some(factor)) => b.op(Op::Mul, &[factor, value]),
            (Some(sum), None) => b.op(if negative { Op::Sub } else { Op::Add }, &[sum, value]),
            (Some(sum), Some(factor)) => b.op(Op::Fma, &[factor, value, sum]),
        });
    }
    let result = sum.unwrap_or_else(|| b.lit(0.0));
    let depth = values.iter().map(|v| functions.depth_of(*v)).max();
    functions.add(name, Def::Point(b.finish(result)), depth.unwrap_or(0))
}
