//! Tests of loops that a precision cannot meet: differences of values of which no digit is left before they are that small.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use super::limits;
use crate::catalogue::Function;
use crate::diag::Span;
use crate::expr::Op;
use crate::expr::real::Precision;
use crate::model::{Iterations, Let, Model, Relation, Term, TermKind, to_f64};

/// A test of a loop that holds for exact results alone: `until(abs(step) <= 1e-12*x);` in single precision.
#[derive(Clone, Debug, PartialEq)]
pub struct TooFine {
    /// The loop.
    pub within: Iterations,
    /// The tolerance of a test, as a part of a value.
    pub tolerance: f64,
    /// The precision of the run.
    pub precision: Precision,
    /// The place of the test in the text.
    pub span: Span,
}

impl fmt::Display for TooFine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Iterations { function, most } = &self.within;
        let (precision, epsilon) = (self.precision.name(), self.precision.epsilon());
        write!(
            f,
            "the loop of `{function}` ends when a difference is {:?} of a value, and {precision} has no digits below {:.1e}: it goes \
             through all {most} iterations and gives no number, unless a difference is exactly zero; write `4*epsilon` ({:.1e} in \
             {precision}) or more",
            self.tolerance,
            epsilon / 2.0,
            4.0 * epsilon
        )
    }
}

impl Model {
    /// The tests of loops which the scheme needs to hold, and which in this precision and with these parameters hold
    /// for exact results alone: in each way to meet them, a size has to be less than half of the distance from a value
    /// to the next number.
    pub fn too_fine(&self, precision: Precision, params: &[f64]) -> Vec<TooFine> {
        let (lets, loops) = self.loops();
        let tests =
            Tests { lets: &lets, params, epsilon: precision.epsilon(), known: RefCell::default() };
        let mut found: BTreeMap<(Iterations, Span), TooFine> = BTreeMap::new();
        for at in loops {
            let Let { value, within: Some(within), .. } = &lets[at] else {
                continue;
            };
            let TermKind::If(Relation::Less, parts) = &value.kind else {
                continue;
            };
            let test = tests.last(&parts[1]);
            let Some(tolerance) = tests.never_holds(test).flatten() else {
                continue;
            };
            let key = (within.clone(), test.span);
            found.entry(key).or_insert_with(|| TooFine {
                within: within.clone(),
                tolerance,
                precision,
                span: test.span,
            });
        }
        found.into_values().collect()
    }
}

/// Tests of loops, with the terms that they are made of.
struct Tests<'a> {
    lets: &'a [Let],
    params: &'a [f64],
    epsilon: f64,
    /// Values of `let`s that are the same everywhere.
    known: RefCell<BTreeMap<usize, Option<f64>>>,
}

impl<'a> Tests<'a> {
    /// Follows a name to the term that it stands for.
    fn written_out(&self, mut term: &'a Term) -> &'a Term {
        while let TermKind::Let(at) = term.kind
            && let Some(named) = self.lets.get(at)
        {
            term = &named.value;
        }
        term
    }

    /// The test of the last iteration: the term behind `if 0 < held { 1 } else ..`.
    fn last(&self, held: &'a Term) -> &'a Term {
        let held = self.written_out(held);
        match &held.kind {
            TermKind::If(Relation::Less, parts)
                if matches!(parts[1].kind, TermKind::Let(_)) && is(&parts[2], 1.0) =>
            {
                &parts[3]
            }
            _ => held,
        }
    }

    /// Is a truth, which is one or zero, never one except for exact results? Returns the largest tolerance that is too
    /// small, if there is one.
    fn never_holds(&self, truth: &'a Term) -> Option<Option<f64>> {
        if is(truth, 0.0) {
            return Some(None);
        }
        let TermKind::If(relation, parts) = &truth.kind else {
            return None;
        };
        let [left, right, then, otherwise] = &**parts;
        let never = match is(left, 0.0) && matches!(right.kind, TermKind::If(..)) {
            true => self.never_holds(right),
            false if *relation == Relation::Equal => None,
            false => self.too_small(left, right).map(Some),
        };
        let larger = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
        let otherwise = self.never_holds(otherwise)?;
        match never {
            Some(tolerance) => Some(larger(tolerance, otherwise)),
            None => Some(larger(self.never_holds(then)?, otherwise)),
        }
    }

    /// The tolerance of `abs(step) <= tolerance*value`, if that is less than digits hold.
    fn too_small(&self, left: &'a Term, right: &'a Term) -> Option<f64> {
        let size = self.written_out(left);
        let is_size = matches!(size.kind, TermKind::Call(function, _) if function.is_size());
        let (tolerance, of_value) = self.split(right, limits::DEPTH)?;
        let tolerance = tolerance.abs();
        (is_size && of_value && tolerance < self.epsilon / 2.0).then_some(tolerance)
    }

    /// The number that a product is a multiple of, and whether there is more to it.
    fn split(&self, term: &'a Term, depth: u32) -> Option<(f64, bool)> {
        let depth = depth.checked_sub(1)?;
        if let Some(value) = self.number(term, depth) {
            return Some((value, false));
        }
        match &term.kind {
            TermKind::Mul(a, b) => {
                let (a, b) = (self.split(a, depth)?, self.split(b, depth)?);
                Some((a.0 * b.0, a.1 || b.1))
            }
            TermKind::Div(a, b) => {
                let (a, b) = (self.split(a, depth)?, self.split(b, depth)?);
                Some((a.0 / b.0, a.1 || b.1))
            }
            TermKind::Neg(a) => self.split(a, depth),
            _ => Some((1.0, true)),
        }
    }

    /// The value of a term that is the same everywhere and at all times.
    fn number(&self, term: &'a Term, depth: u32) -> Option<f64> {
        let depth = depth.checked_sub(1)?;
        let one = |term: &'a Term| self.number(term, depth);
        match &term.kind {
            TermKind::Number(value) => Some(to_f64(value)),
            TermKind::Param(at) => self.params.get(*at).copied(),
            TermKind::Epsilon => Some(self.epsilon),
            TermKind::Let(at) => {
                let known = self.known.borrow().get(at).copied();
                let value = known.unwrap_or_else(|| one(&self.lets.get(*at)?.value));
                self.known.borrow_mut().insert(*at, value);
                value
            }
            TermKind::Neg(a) => Some(-one(a)?),
            TermKind::Add(a, b) => Some(one(a)? + one(b)?),
            TermKind::Sub(a, b) => Some(one(a)? - one(b)?),
            TermKind::Mul(a, b) => Some(one(a)? * one(b)?),
            TermKind::Div(a, b) => Some(one(a)? / one(b)?),
            TermKind::Pow(a, power) => Some(Op::Pow.eval(&[one(a)?, f64::from(*power)])),
            TermKind::Call(Function::Scalar(op), arguments) => {
                let values: Option<Vec<f64>> = arguments.iter().map(one).collect();
                Some(op.eval(&values?))
            }
            _ => None,
        }
    }
}

fn is(term: &Term, number: f64) -> bool {
    matches!(&term.kind, TermKind::Number(value) if to_f64(value) == number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parse::parse_str;

    /// Tolerances that are too fine in a precision, of a loop with a test.
    fn found(test: &str, precision: Precision) -> Vec<f64> {
        let text = format!(
            "system Roots in 1d {{
                field a: scalar;
                param tolerance: real = 1e-9;
                fn root(a: scalar) -> scalar {{
                    let mut x = a;
                    let mut width = a;
                    for i in 0..6 {{
                        let old = x;
                        x = (x + a/x)/2;
                        width = width/2;
                        until({test});
                    }}
                    x
                }}
                ddt(a) = root(a);
            }}"
        );
        let model = parse_str(&text).unwrap_or_else(|e| panic!("{}", e.render("test", &text)));
        let found = model.too_fine(precision, &[1e-9]);
        found.iter().map(|found| found.tolerance).collect()
    }

    #[test]
    fn tolerances_below_the_last_digit_are_told() {
        let single = |test: &str| found(test, Precision::F32);
        for test in [
            "abs(x - old) <= 1e-9*x",
            "abs(x - old) < tolerance*abs(x)",
            "1e-9*x >= abs(old - x)",
            "abs(x - old) <= x/1e9 || abs(x^2 - a) <= tolerance*a",
            "abs(x - old) <= 1e-9*x && x > 0",
        ] {
            let all = single(test);
            assert_eq!(all.len(), 1, "{test}");
            assert!((all[0] - 1e-9).abs() < 1e-20, "{test}: {all:?}");
            assert!(found(test, Precision::F64).is_empty(), "{test}");
        }
        assert_eq!(found("abs(x - old) <= epsilon*x/4", Precision::F64).len(), 1);
    }

    #[test]
    fn tolerances_that_may_be_met_are_not() {
        for test in [
            "abs(x - old) <= 4*epsilon*abs(x)",
            "abs(x - old) <= 1e-7*x",
            "abs(x - old) <= 1e-9",
            "width <= 1e-9*x",
            "abs(x - old) <= 1e-9*x || width < 0.01",
            "abs(x - old) == 0",
            "!(abs(x - old) > 1e-3*x)",
        ] {
            assert!(found(test, Precision::F32).is_empty(), "{test}");
        }
    }

    #[test]
    fn the_smallest_sensible_tolerance_is_told() {
        let found = TooFine {
            within: Iterations { function: "root".into(), most: 6 },
            tolerance: 1e-9,
            precision: Precision::F32,
            span: Span::default(),
        };
        assert_eq!(
            found.to_string(),
            "the loop of `root` ends when a difference is 1e-9 of a value, and f32 has no digits below 6.0e-8: it goes through all 6 \
             iterations and gives no number, unless a difference is exactly zero; write `4*epsilon` (4.8e-7 in f32) or more"
        );
    }
}
