//! Time integrators as tableaus: one file each, listed in [`ALL`]. These serve any system; those of conservation laws alone are
//! [`predictors`].
//!
//! A substep is a list of linear combinations of stored values and of the rate of change, so a method itself decides
//! how many arrays it needs; the number of substeps follows from the list.

use std::collections::BTreeMap;

use num_rational::Ratio;
use num_traits::One;

use super::predictors;
use crate::expr::{Rational, to_f64};

pub mod carpenter_kennedy;
pub mod euler;
pub mod rk3_williamson;
pub mod rk4;
pub mod ssprk104;
pub mod ssprk2;
pub mod ssprk3;
pub mod ssprk43;

/// Every integrator, in each of its storages.
pub const ALL: &[&Integrator] = &[
    &euler::INTEGRATOR,
    &ssprk2::INTEGRATOR,
    &ssprk3::INTEGRATOR,
    &ssprk43::INTEGRATOR,
    &ssprk104::INTEGRATOR,
    &rk3_williamson::INTEGRATOR,
    &rk3_williamson::OF_ACCUMULATORS,
    &rk4::INTEGRATOR,
    &carpenter_kennedy::INTEGRATOR,
    &carpenter_kennedy::OF_ACCUMULATORS,
];

/// The values that methods in 2N storage keep from substep to substep, as schemes name them; the default is the first.
pub const STORAGES: &[&str] = &["states", "accumulator"];

/// The register that holds the previous value of a field: the one that it had before its last change.
pub const PREVIOUS: &str = "previous";

/// The register that holds the value of a field at the start of the step.
pub const OLD: &str = "old";

/// An explicit one-step method.
#[derive(Debug)]
pub struct Integrator {
    /// Its name in schemes, with its storage if that is not the first of [`STORAGES`].
    pub name: &'static str,
    /// Order of convergence in the time step.
    pub order: u32,
    /// Its publication.
    pub source: &'static str,
    /// Its coefficients.
    pub tableau: fn() -> Tableau,
}

/// The coefficients of a method in the storage that it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Tableau {
    /// Names of the arrays that each field needs beside itself; they carry over from substep to
    /// substep of one step, not from step to step.
    pub registers: &'static [&'static str],
    /// The substeps in order.
    pub substeps: Vec<Vec<Combination>>,
}

/// A linear combination, rounded as a chain of fused multiply-adds in the order of its terms onto
/// the last term whose factor is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// The array that receives the sum.
    pub into: Target,
    /// The terms that are added.
    pub terms: Vec<Term>,
}

/// The array that receives a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The new value of the field.
    Field,
    /// A register by its number.
    Register(usize),
    /// Nowhere: another combination of the substep uses it. Its name follows that of the field.
    Part(&'static str),
}

/// One term of a combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The factor.
    pub factor: Rational,
    /// Is it multiplied by the time step too?
    pub dt: bool,
    /// The value that is multiplied.
    pub of: Value,
}

/// The operands of combinations, at the start of the substep except for `New`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// The field.
    Field,
    /// Its rate of change: the right-hand side of its equation.
    Rate,
    /// Its rate of change with fluxes of first order, between the means of cells.
    FirstOrder,
    /// Its rate of change without fluxes.
    Rest,
    /// A register by its number.
    Register(usize),
    /// An earlier combination of the same substep.
    New(usize),
}

impl Tableau {
    /// 2N storage (Williamson 1980): one register w for each field f, and a pair (alpha, beta) for
    /// each substep: `w = alpha w + rate; f = f + beta dt w`. The first alpha is 0. The register
    /// holds the rate without the time step, so that this may change from step to step.
    pub fn two_n(pairs: &[(Rational, Rational)]) -> Tableau {
        let last = pairs.len().saturating_sub(1);
        let substep = |(s, (alpha, beta)): (usize, &(Rational, Rational))| {
            let mut terms = vec![one(Value::Rate)];
            if s > 0 {
                terms.insert(0, times(*alpha, Value::Register(0)));
            }
            let into = if s == last { Target::Part("acc") } else { Target::Register(0) };
            let accumulate = Combination { into, terms };
            let advance = field(vec![step(*beta, Value::New(0)), one(Value::Field)]);
            vec![accumulate, advance]
        };
        Tableau {
            registers: if last > 0 { &["acc"] } else { &[] },
            substeps: pairs.iter().enumerate().map(substep).collect(),
        }
    }

    /// 2N storage without w. The last change of the field is `beta' dt w`, with the beta' of the substep before, so the previous
    /// value of the field takes the place of w: `f = f + (-alpha beta / beta' (previous - f) + beta dt rate)`. The change is summed
    /// first, so that a substep rounds the field once, as it does with w; few alphas are positive, so the factor needs no sign.
    pub fn two_n_of_states(pairs: &[(Rational, Rational)]) -> Tableau {
        let previous = Value::Register(0);
        let last = pairs.len().saturating_sub(1);
        let substep = |(s, (alpha, beta)): (usize, &(Rational, Rational))| {
            let mut made = match s.checked_sub(1).and_then(|s| pairs.get(s)) {
                None => vec![field(vec![step(*beta, Value::Rate), one(Value::Field)])],
                Some((_, earlier)) => vec![
                    part("change", vec![one(previous), times(-Ratio::one(), Value::Field)]),
                    part(
                        "advance",
                        vec![
                            times(-*alpha / *earlier * *beta, Value::New(0)),
                            step(*beta, Value::Rate),
                        ],
                    ),
                    field(vec![one(Value::Field), one(Value::New(1))]),
                ],
            };
            if s < last {
                made.push(register(0, vec![one(Value::Field)]));
            }
            made
        };
        Tableau {
            registers: &[PREVIOUS],
            substeps: pairs.iter().enumerate().map(substep).collect(),
        }
    }

    /// The number of times that a step may be longer than an Euler step and still be made of means of such steps, of the field and
    /// of what was there; `None` if it is not made of them (S. Gottlieb, C.-W. Shu and E. Tadmor, SIAM Rev. 43, 89, 2001).
    pub fn euler_steps(&self) -> Option<Rational> {
        let of_mean = |made: &BTreeMap<(Value, bool), Rational>| {
            let of = |key| made.get(&key).copied().unwrap_or(Ratio::ZERO);
            let whole: Rational = made.iter().filter(|(key, _)| !key.1).map(|(_, by)| by).sum();
            let known = made.iter().all(|((of, dt), by)| match of {
                Value::Rate | Value::FirstOrder | Value::Rest => *dt && *by >= Ratio::ZERO,
                Value::Field | Value::Register(_) | Value::New(_) => !dt && *by >= Ratio::ZERO,
            });
            let (rate, field) = (of((Value::Rate, true)), of((Value::Field, false)));
            let is_mean = known && whole.is_one() && rate <= field;
            is_mean.then(|| (rate > Ratio::ZERO).then(|| field / rate))
        };
        let mut least: Option<Rational> = None;
        for substep in &self.substeps {
            let made = written_out(substep);
            let kept = made.iter().zip(substep);
            for (made, _) in
                kept.filter(|(_, combination)| !matches!(combination.into, Target::Part(_)))
            {
                least = of_mean(made)?.into_iter().chain(least).min();
            }
        }
        least
    }

    /// The kinds of rates that it is made of, that of all terms first.
    pub fn rates(&self) -> Vec<Value> {
        let terms = self.substeps.iter().flatten().flat_map(|combination| &combination.terms);
        let used: Vec<Value> = terms.map(|term| term.of).collect();
        let others = [Value::FirstOrder, Value::Rest];
        let others = others.into_iter().filter(|kind| used.contains(kind));
        std::iter::once(Value::Rate).chain(others).collect()
    }

    /// Does a substep use this value?
    pub(crate) fn uses(&self, substep: usize, value: Value) -> bool {
        let mut terms = self.substeps[substep].iter().flat_map(|combination| &combination.terms);
        terms.any(|term| term.of == value)
    }

    /// The method for fields that change by fluxes alone: without substeps that are made of other terms only, and without registers
    /// that hold these.
    pub fn of_fluxes(&self) -> Tableau {
        let is_rest = |combination: &Combination| {
            let mut terms = combination.terms.iter();
            terms.all(|term| term.of == Value::Rest)
        };
        let flows = |s: &usize| self.uses(*s, Value::Rate) || self.uses(*s, Value::FirstOrder);
        let own = |s: usize| {
            let kept = self.substeps[s].iter().filter(|combination| !is_rest(combination));
            kept.cloned().collect::<Vec<Combination>>()
        };
        let all = (0..self.substeps.len()).filter(flows).map(own);
        let substeps: Vec<Vec<Combination>> = all.collect();
        let is_register = |c: &Combination| matches!(c.into, Target::Register(_));
        let holds = substeps.iter().flatten().any(is_register);
        Tableau { registers: if holds { self.registers } else { &[] }, substeps }
    }

    /// Times of the substeps in units of the time step: the values of the field of `df/dt = 1`.
    pub fn times(&self) -> Vec<f64> {
        let mut registers = vec![0.0; self.registers.len()];
        let mut time = 0.0;
        let mut times = Vec::new();
        for substep in &self.substeps {
            times.push(time);
            let old = registers.clone();
            let mut new: Vec<f64> = Vec::new();
            for combination in substep {
                let value = |term: &Term| {
                    let of = match term.of {
                        Value::Field => times[times.len() - 1],
                        Value::Rate | Value::FirstOrder | Value::Rest => 1.0,
                        Value::Register(i) => old[i],
                        Value::New(i) => new[i],
                    };
                    to_f64(term.factor) * of
                };
                new.push(combination.terms.iter().map(value).sum());
            }
            for (combination, value) in substep.iter().zip(new) {
                match combination.into {
                    Target::Field => time = value,
                    Target::Register(i) => registers[i] = value,
                    Target::Part(_) => {}
                }
            }
        }
        times
    }
}

/// The operands of the combinations of a substep at its start, by factors, with the time step or without it.
fn written_out(substep: &[Combination]) -> Vec<BTreeMap<(Value, bool), Rational>> {
    let mut all: Vec<BTreeMap<(Value, bool), Rational>> = Vec::new();
    for combination in substep {
        let mut made = BTreeMap::new();
        for term in &combination.terms {
            let parts: Vec<((Value, bool), Rational)> = match term.of {
                Value::New(at) => all[at].iter().map(|(key, by)| (*key, *by)).collect(),
                of => vec![((of, false), Ratio::one())],
            };
            for ((of, dt), by) in parts {
                *made.entry((of, dt || term.dt)).or_insert(Ratio::ZERO) += by * term.factor;
            }
        }
        all.push(made);
    }
    all
}

/// The new value of the field.
pub(super) fn field(terms: Vec<Term>) -> Combination {
    Combination { into: Target::Field, terms }
}

/// Returns a combination that others of the substep use.
pub(super) fn part(name: &'static str, terms: Vec<Term>) -> Combination {
    Combination { into: Target::Part(name), terms }
}

/// The new value of a register.
pub(super) fn register(at: usize, terms: Vec<Term>) -> Combination {
    Combination { into: Target::Register(at), terms }
}

/// The field that much of the way from a register to itself after an Euler step of a part of the length:
/// `old + share ((f - old) + length dt rate)`. A mean of both would multiply what is conserved by the sum of two rounded weights; the
/// difference has nothing of it.
fn toward_step(old: Value, share: Rational, length: Rational) -> Vec<Combination> {
    let change = vec![times(-Ratio::one(), old), one(Value::Field), step(length, Value::Rate)];
    vec![part("old", change), field(vec![times(share, Value::New(0)), one(old)])]
}

/// A term with the factor one.
pub(super) fn one(of: Value) -> Term {
    times(Ratio::one(), of)
}

/// A term with a number as its factor.
pub(super) fn times(factor: Rational, of: Value) -> Term {
    Term { factor, dt: false, of }
}

/// A term with a number times the time step as its factor.
pub(super) fn step(factor: Rational, of: Value) -> Term {
    Term { factor, dt: true, of }
}

/// The method of this name: one of [`ALL`], or of the [`predictors`].
pub fn find(name: &str) -> Option<&'static Integrator> {
    let predictor = || predictors::find(name).map(|predictor| &predictor.method);
    ALL.iter().copied().find(|i| i.name == name).or_else(predictor)
}

/// The integrator of this name that keeps one of [`STORAGES`].
pub fn stored(name: &str, storage: &str) -> Option<&'static Integrator> {
    match STORAGES.first() {
        Some(first) if *first == storage => find(name),
        _ => find(&format!("{name}<storage = {storage}>")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::real::Arithmetic;

    /// One step of `df/dt = rate(f, t)` from f at t.
    fn advance(tableau: &Tableau, rate: &dyn Fn(f64, f64) -> f64, f: f64, t: f64, dt: f64) -> f64 {
        let (mut f, mut registers) = (f, vec![f64::NAN; tableau.registers.len()]);
        for (substep, at) in tableau.substeps.iter().zip(tableau.times()) {
            let rate = rate(f, t + at * dt);
            let mut new: Vec<f64> = Vec::new();
            for combination in substep {
                let value = |term: &Term| {
                    let of = match term.of {
                        Value::Field => f,
                        Value::Rate | Value::FirstOrder | Value::Rest => rate,
                        Value::Register(i) => registers[i],
                        Value::New(i) => new[i],
                    };
                    to_f64(term.factor) * if term.dt { dt } else { 1.0 } * of
                };
                new.push(combination.terms.iter().map(value).sum());
            }
            for (combination, value) in substep.iter().zip(new) {
                match combination.into {
                    Target::Field => f = value,
                    Target::Register(i) => registers[i] = value,
                    Target::Part(_) => {}
                }
            }
        }
        f
    }

    /// `f' = -f^2 cos t`, `f = 1 / (1 + sin t)`: not linear, and the time enters.
    #[test]
    fn every_integrator_reaches_its_order_and_no_more() {
        let predictors = predictors::ALL.iter().map(|predictor| &predictor.method);
        for integrator in ALL.iter().copied().chain(predictors) {
            let tableau = (integrator.tableau)();
            let error = |steps: u32| {
                let dt = 1.5 / f64::from(steps);
                let rate = |f: f64, t: f64| -f * f * Arithmetic::cos(t);
                let end =
                    (0..steps).fold(1.0, |f, i| advance(&tableau, &rate, f, f64::from(i) * dt, dt));
                (end - 1.0 / (1.0 + Arithmetic::sin(1.5))).abs()
            };
            let order = Arithmetic::log(error(160) / error(320)) / std::f64::consts::LN_2;
            let declared = f64::from(integrator.order);
            assert!(
                (order - declared).abs() < 0.1,
                "{} converges with order {order}",
                integrator.name
            );
        }
    }

    /// Spiteri and Ruuth 2002, Table 1; Ketcheson 2008, section 3.
    #[test]
    fn strong_stability_is_that_of_the_literature() {
        let found = ALL.iter().filter_map(|i| {
            let steps = (i.tableau)().euler_steps()?;
            Some((i.name, steps.to_integer()))
        });
        let expected =
            [("euler", 1), ("ssprk2", 1), ("ssprk3", 1), ("ssprk43", 2), ("ssprk104", 6)];
        assert!(found.eq(expected));
    }

    #[test]
    fn registers_are_written_before_they_are_read() {
        let predictors = predictors::ALL.iter().map(|predictor| &predictor.method);
        for integrator in ALL.iter().copied().chain(predictors) {
            let tableau = (integrator.tableau)();
            let mut written = vec![false; tableau.registers.len()];
            for substep in &tableau.substeps {
                for term in substep.iter().flat_map(|c| &c.terms) {
                    if let Value::Register(i) = term.of {
                        assert!(written[i], "{}", integrator.name);
                    }
                }
                for combination in substep {
                    if let Target::Register(i) = combination.into {
                        written[i] = true;
                    }
                }
                let fields = substep.iter().filter(|c| c.into == Target::Field);
                assert_eq!(fields.count(), 1, "{}", integrator.name);
            }
        }
    }

    #[test]
    fn times_of_williamson() {
        for method in [rk3_williamson::INTEGRATOR, rk3_williamson::OF_ACCUMULATORS] {
            let times = (method.tableau)().times();
            for (time, expected) in times.into_iter().zip([0.0, 1.0 / 3.0, 0.75]) {
                assert!((time - expected).abs() < 1e-15, "{}: {time}", method.name);
            }
        }
    }
}
