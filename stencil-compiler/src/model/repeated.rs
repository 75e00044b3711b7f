//! Loops that end by a test, found again among the `let`s that their iterations were written out to. The values of all
//! iterations but the first two are the same functions of those before: that is the body.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Model, Relation, Term, TermKind};

/// Fewest iterations of a loop that is kept: fewer are written out.
const FEWEST: u32 = 4;

/// A loop that ends by a test.
#[derive(Clone, Debug)]
pub(crate) struct Repeated {
    /// The most iterations.
    pub(crate) most: u32,
    /// The values that go from one iteration to the next.
    pub(crate) variables: Vec<Variable>,
    /// The variable that comes out.
    pub(crate) result: usize,
    /// Above zero if the test holds, by values of the iteration.
    pub(crate) test: Term,
    /// The `let`s of one iteration.
    pub(crate) body: Range<usize>,
    /// The `let`s of all iterations, which nothing else names.
    pub(crate) all: Range<usize>,
    /// Those of all but the first one.
    pub(crate) further: Range<usize>,
    /// The result behind the first iteration.
    pub(crate) once: Term,
}

/// A value that goes from one iteration to the next.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// Its value before the loop; `None` if no iteration reads it.
    pub(crate) first: Option<Term>,
    /// The `let` that is its value in the body.
    pub(crate) now: usize,
    /// Its new value.
    pub(crate) next: Term,
}

/// The parts of `if 0 < held { a } else { b }`, where `held` is a `let`.
struct Choice<'m> {
    held: usize,
    yes: &'m Term,
    no: &'m Term,
}

impl Model {
    /// The loop that a `let` comes out of; `None` if there is none, or one that stays written out: with few iterations, or whose
    /// body depends on their number.
    pub(crate) fn repeated(&self, at: usize) -> Option<Repeated> {
        let most = self.let_at(at)?.within.as_ref()?.most;
        let last = self.choice(at).filter(|_| most >= FEWEST)?;
        let TermKind::Let(result) = last.yes.kind else {
            return None;
        };
        // The tests of all iterations, from the last to the first.
        let mut tests = vec![last.held];
        for _ in 1..most {
            let before = self.choice(*tests.last()?)?;
            tests.push(before.held);
        }
        tests.reverse();
        let (first, second, third) = (tests[0], tests[1], tests[2]);
        let length = third.checked_sub(second)?;
        let body = second + 1..third;
        let search = Search { model: self, first, second, body: body.clone(), length };
        let choices = search.choices()?;
        let equal =
            tests.windows(2).skip(1).all(|pair| pair[1].checked_sub(pair[0]) == Some(length));
        if !equal || !(3..tests.len()).all(|i| search.is_copy((i - 2) * length)) {
            return None;
        }
        let firsts = search.firsts(&choices)?;
        let variable = |(at, first): (&usize, Option<Term>)| {
            let Choice { no, .. } = self.choice(*at)?;
            Some(Variable { first, now: at - length, next: no.clone() })
        };
        let variables: Option<Vec<Variable>> = choices.iter().zip(firsts).map(variable).collect();
        let behind = tests.last()? - third;
        let result = choices.iter().position(|at| at + behind == result)?;
        let test = self.choice(third)?.no.clone();
        let begin = (first + 1).checked_sub(length - choices.len())?;
        let end = tests.last()? + 1;
        let once = self.choice(choices[result] - length)?.yes.clone();
        Some(Repeated {
            most,
            variables: variables?,
            result,
            test,
            body,
            all: begin..end,
            further: first + 1..end,
            once,
        })
    }

    fn choice(&self, at: usize) -> Option<Choice<'_>> {
        let TermKind::If(Relation::Less, parts) = &self.let_at(at)?.value.kind else {
            return None;
        };
        let [zero, held, yes, no] = &**parts;
        match (&zero.kind, &held.kind) {
            (TermKind::Number(zero), TermKind::Let(held)) if *zero == Default::default() => {
                Some(Choice { held: *held, yes, no })
            }
            _ => None,
        }
    }
}

/// The search of a loop whose third iteration is the body.
struct Search<'m> {
    model: &'m Model,
    /// The tests of the first two iterations.
    first: usize,
    second: usize,
    body: Range<usize>,
    /// The `let`s of an iteration.
    length: usize,
}

impl Search<'_> {
    /// The `let`s of the body that keep values once the test has held.
    fn choices(&self) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for at in self.body.clone() {
            let Some(choice) = self.model.choice(at).filter(|choice| choice.held == self.second)
            else {
                continue;
            };
            match choice.yes.kind {
                TermKind::Let(old) if old + self.length == at => found.push(at),
                _ => return None,
            }
        }
        (!found.is_empty()).then_some(found)
    }

    fn is_choice(&self, at: usize) -> bool {
        self.model.choice(at).is_some_and(|choice| choice.held == self.second)
    }

    /// Are the `let`s this much further on those of the body, one iteration later?
    fn is_copy(&self, ahead: usize) -> bool {
        // The test stands behind the body.
        (self.body.start..=self.body.end).all(|at| {
            let pair = (self.model.let_at(at), self.model.let_at(at + ahead));
            let (Some(one), Some(other)) = pair else {
                return false;
            };
            one.value.has_form(&other.value, &mut |one, other| match (&one.kind, &other.kind) {
                (TermKind::Let(one), TermKind::Let(other)) if *one > self.first => {
                    one + ahead == *other
                }
                _ => one.is_leaf_as(other),
            })
        })
    }

    /// The values of the variables before the loop, if the first two iterations are the body as well.
    fn firsts(&self, choices: &[usize]) -> Option<Vec<Option<Term>>> {
        let model = self.model;
        let olds: Option<Vec<&Term>> =
            choices.iter().map(|at| Some(model.choice(at - self.length)?.yes)).collect();
        let olds = olds?;
        // The first iteration keeps nothing.
        let own: Vec<usize> = self.body.clone().filter(|at| !self.is_choice(*at)).collect();
        let begin = self.first.checked_sub(own.len())?;
        let places: BTreeMap<usize, usize> =
            own.iter().enumerate().map(|(place, at)| (*at, begin + place)).collect();
        let mut firsts: Vec<Option<Term>> = vec![None; choices.len()];
        let variable = |at: usize| choices.iter().position(|choice| *choice == at + self.length);
        let mut in_first = |one: &Term, other: &Term| match (&one.kind, &other.kind) {
            (TermKind::Let(at), _) if variable(*at).is_some() => {
                let first = variable(*at).and_then(|at| firsts.get_mut(at));
                let known = first.map(|first| first.get_or_insert_with(|| other.clone()));
                known.is_some_and(|known| known.is_leaf() && known.is_leaf_as(other))
            }
            (TermKind::Let(at), TermKind::Let(other)) if *at > self.second => {
                places.get(at) == Some(other)
            }
            (TermKind::Let(at), _) if *at > self.first => false,
            _ => one.is_leaf_as(other),
        };
        let in_second = |one: &Term, other: &Term| match (&one.kind, &other.kind) {
            (TermKind::Let(at), _) if variable(*at).is_some() => {
                variable(*at).is_some_and(|at| olds[at].is_leaf_as(other))
            }
            (TermKind::Let(at), TermKind::Let(other)) if *at > self.second => {
                at - self.length == *other
            }
            (TermKind::Let(at), _) if *at > self.first => false,
            _ => one.is_leaf_as(other),
        };
        for at in &own {
            let value = &model.let_at(*at)?.value;
            let (first, second) = (model.let_at(places[at])?, model.let_at(at - self.length)?);
            let fits = value.has_form(&first.value, &mut in_first)
                && value.has_form(&second.value, &mut { in_second });
            if !fits {
                return None;
            }
        }
        for (at, old) in choices.iter().zip(&olds) {
            let (new, second) = (model.choice(*at)?.no, model.choice(at - self.length)?.no);
            if !new.has_form(old, &mut in_first) || !new.has_form(second, &mut { in_second }) {
                return None;
            }
        }
        let test = model.choice(self.body.end)?.no;
        let second = model.choice(self.second)?.no;
        let fits = test.has_form(&model.let_at(self.first)?.value, &mut in_first)
            && test.has_form(second, &mut { in_second });
        fits.then_some(firsts)
    }
}

impl Term {
    /// Is another term the same but for its leaves, and does `leaf` hold for each leaf and what stands in its place?
    fn has_form(&self, other: &Term, leaf: &mut dyn FnMut(&Term, &Term) -> bool) -> bool {
        if self.is_leaf() {
            return self.rank == other.rank && leaf(self, other);
        }
        let same = match (&self.kind, &other.kind) {
            (TermKind::Pow(_, a), TermKind::Pow(_, b)) => a == b,
            (TermKind::Component(_, a), TermKind::Component(_, b)) => a == b,
            (TermKind::If(a, _), TermKind::If(b, _)) => a == b,
            (TermKind::Call(a, _), TermKind::Call(b, _)) => a == b,
            (
                TermKind::Derivative { axis, times, .. },
                TermKind::Derivative { axis: a, times: t, .. },
            ) => (axis, times) == (a, t),
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        let (parts, others) = (self.parts(), other.parts());
        same && parts.len() == others.len()
            && parts.iter().zip(others).all(|(part, other)| part.has_form(other, leaf))
    }

    /// Are both the same, wherever they are written?
    pub(crate) fn is_same(&self, other: &Term) -> bool {
        self.has_form(other, &mut |one, other| one.is_leaf_as(other))
    }

    /// Are both the same leaf, wherever they are written?
    pub(crate) fn is_leaf_as(&self, other: &Term) -> bool {
        match (&self.kind, &other.kind) {
            (TermKind::Side(a, of), TermKind::Side(b, other)) => a == b && of.is_leaf_as(other),
            _ => self.is_leaf() && self.kind == other.kind,
        }
    }
}
