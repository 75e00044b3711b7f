//! Loops of functions, which are unrolled. One that ends by a test goes through all iterations, and those after the
//! test has held change nothing: the bits are those of stopping. Its iterations are alike, from which the loop is
//! [found again](crate::model::Repeated).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::limits;
use super::terms::Terms;
use crate::catalogue::riemann::Needs;
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{Ast, Name, Statement};
use crate::model::{Iterations, Let, Model, Term, Variables};

/// Local names and their former values.
type Values = BTreeMap<String, Term>;

/// The names that a body assigns to, also in the loops inside of it. Values do not tell: functions of Rust have one
/// place for all values of a name, and an assigned value may equal the former one.
fn assigns<'s>(body: &'s [Statement], found: &mut BTreeSet<&'s str>) {
    for statement in body {
        match statement {
            Statement::Let { .. } => {}
            Statement::Assign { name, .. } => {
                found.insert(&name.text);
            }
            Statement::For { body, .. } => assigns(body, found),
        }
    }
}

impl Terms<'_, '_> {
    /// Unrolls a loop; the index is a number, and names that the body declares end with it.
    pub(super) fn repeat(
        &mut self,
        index: &Name,
        range: Range<i64>,
        span: Span,
        until: Option<&Ast>,
        body: &[Statement],
    ) -> Option<()> {
        if range.is_empty() {
            let message = "the loop has no iteration";
            let diagnostic = Diagnostic::new(Code::BadLoop, span, message)
                .help("the last number is not reached: `0..8` goes from 0 to 7");
            self.scope.report(diagnostic);
            return None;
        }
        let (start, most) = (self.values(), range.end.abs_diff(range.start));
        let mut assigned = BTreeSet::new();
        assigns(body, &mut assigned);
        let mut held: Option<Term> = None;
        for i in range {
            self.count_iteration(span)?;
            let before = self.values();
            self.declare(index, Term::integer(i128::from(i), index.span), false)?;
            self.run(body)?;
            if let Some(test) = until {
                held = Some(self.tested(test, held, &before, &assigned)?);
            }
            let outside = |name: &String| before.contains_key(name);
            self.locals.known.retain(|name, _| outside(name));
        }
        match held {
            Some(held) => self.unless_held(&held, &start, &assigned, most),
            None => Some(()),
        }
    }

    fn count_iteration(&mut self, span: Span) -> Option<()> {
        self.locals.iterations += 1;
        if self.locals.iterations <= limits::ITERATIONS {
            return Some(());
        }
        let most = limits::ITERATIONS;
        let message = format!("a call goes through more than {most} iterations");
        let diagnostic = Diagnostic::new(Code::BadLoop, span, message)
            .help("loops inside of loops count with their product");
        self.scope.report(diagnostic);
        None
    }

    fn values(&self) -> Values {
        let known = self.locals.known.iter();
        let values = known.map(|(name, local)| (name.clone(), local.value.clone()));
        values.collect()
    }

    /// The former names that are among the assigned ones, with their present values.
    fn changed(&self, before: &Values, assigned: &BTreeSet<&str>) -> Vec<(String, Term)> {
        let names = before.keys().filter(|name| assigned.contains(&name[..]));
        let now = names.filter_map(|name| {
            let local = self.locals.known.get(name)?;
            Some((name.clone(), local.value.clone()))
        });
        now.collect()
    }

    /// One if the test of a loop holds now or has held before, else zero. If it has, the assigned names keep their
    /// former values.
    fn tested(
        &mut self,
        test: &Ast,
        held: Option<Term>,
        before: &Values,
        assigned: &BTreeSet<&str>,
    ) -> Option<Term> {
        let now = self.truth(test)?;
        let Some(held) = held else {
            return self.named_within("held", now, None);
        };
        for (name, value) in self.changed(before, assigned) {
            let old = self.scope.repeated(before.get(&name)?, value.span)?;
            let held = self.scope.repeated(&held, test.span)?;
            self.replace(&name, Term::choice(held, old, value), None)?;
        }
        let one = Term::integer(1, test.span);
        self.named_within("held", Term::choice(held, one, now), None)
    }

    /// Makes the values that a loop assigned NaN if its test never held.
    fn unless_held(
        &mut self,
        held: &Term,
        start: &Values,
        assigned: &BTreeSet<&str>,
        most: u64,
    ) -> Option<()> {
        let components = self.scope.components;
        let within =
            Iterations { function: self.locals.function.clone(), most: u32::try_from(most).ok()? };
        for (name, value) in self.changed(start, assigned) {
            let held = self.scope.repeated(held, value.span)?;
            let lost = Term::no_number(value.rank, components, value.span);
            let value = Term::choice(held, value, lost);
            self.replace(&name, value, Some(within.clone()))?;
        }
        Some(())
    }

    fn replace(&mut self, name: &str, value: Term, within: Option<Iterations>) -> Option<()> {
        let value = self.named_within(name, value, within)?;
        if let Some(local) = self.locals.known.get_mut(name) {
            local.value = value;
        }
        Some(())
    }
}

impl Model {
    /// The loops whose tests the scheme needs to hold, in words: ``the loop of `root` in 20 iterations``; empty without
    /// any.
    pub fn iterations_text(&self) -> String {
        let (lets, loops) = self.loops();
        let found = loops.iter().filter_map(|at| lets[*at].within.as_ref());
        let found: BTreeSet<&Iterations> = found.collect();
        let one = |within: &Iterations| {
            let (function, most) = (&within.function, within.most);
            format!("the loop of `{function}` in {most} iterations")
        };
        let all: Vec<String> = found.into_iter().map(one).collect();
        all.join(" or ")
    }

    /// All `let`s that the scheme has, and the indices of those it needs that come out of loops with tests.
    pub(super) fn loops(&self) -> (Cow<'_, [Let]>, Vec<usize>) {
        let mut seen = BTreeSet::new();
        let solver = self.declared_solver(&self.scheme);
        let lets: Cow<'_, [Let]> = match solver {
            Some(solver) => self.with_lets_of(solver).lets.into(),
            None => self.lets.as_slice().into(),
        };
        let solved = solver.iter().flat_map(|solver| solver.terms());
        let all = self.evaluated().into_iter();
        for term in all.chain(solved) {
            term.visit(&lets, &mut seen, &mut |_| {});
        }
        let of_loop = |at: &usize| lets.get(*at).is_some_and(|named| named.within.is_some());
        let found = seen.into_iter().filter(of_loop).collect();
        (lets, found)
    }

    /// The terms that a run of the scheme evaluates.
    fn evaluated(&self) -> Vec<&Term> {
        let mut all: Vec<&Term> = self.equations.iter().map(|e| &e.rhs).collect();
        all.extend(self.fluxes.iter().map(|flux| &flux.value));
        all.extend(self.products.iter().map(|product| &product.value));
        all.extend(self.speeds.iter().map(|speed| &speed.value));
        let parts = self.waves.iter().flat_map(|waves| waves.parts());
        all.extend(parts.map(|(_, part)| part));
        if self.repairs() {
            all.extend(self.ranges.iter().map(|range| &range.of));
        }
        let recomputed = self.at_face.iter().flat_map(|at_face| &at_face.recomputed);
        all.extend(recomputed.map(|(_, value)| value));
        let solver = self.solver(&self.scheme);
        let averages = solver.is_some_and(|s| matches!(s.needs, Needs::Average | Needs::All));
        if let Some(average) = self.average.as_ref().filter(|_| averages) {
            all.extend(&average.of.variables);
            all.extend(average.of.conserved.iter().map(|c| &c.value));
            all.extend(average.weights.iter().flatten());
        }
        if self.scheme.variables == Variables::Primitive {
            let primitives = self.primitives.iter();
            all.extend(primitives.clone().flat_map(|p| &p.variables));
            all.extend(primitives.flat_map(|p| p.conserved.iter().map(|c| &c.value)));
        }
        all
    }
}
