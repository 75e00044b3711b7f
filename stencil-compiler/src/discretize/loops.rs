//! Loops that end by a test: the body is discretized once, as an operation, and evaluated wherever a state needs it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::bodies::{Argument, Body};
use super::components::suffixes;
use super::expand::{Expander, Result, Tensor};
use super::poly::Poly;
use crate::algorithm::StateId;
use crate::algorithm::flat::Flat;
use crate::expr::{Builder, Loop, Looped, Op, Ref};
use crate::model::{Model, Repeated, Term, TermKind};

/// The value of a `let` that comes out of a loop.
pub(super) struct Kept {
    /// The first values of the variables; `None` for one that no iteration reads.
    firsts: Vec<Option<Term>>,
    /// Values that stay.
    captured: Vec<Term>,
    /// The loop of each component, with its arguments.
    components: Vec<(Looped, Vec<Argument>)>,
}

impl Expander<'_> {
    /// The components of a `let` that comes out of a loop, as operations; `None` if it is written out, as loops over uniforms
    /// are.
    pub(super) fn looped(&mut self, at: usize) -> Result<Option<Tensor>> {
        let Some(kept) = self.kept(at) else {
            return Ok(None);
        };
        let firsts: Result<Vec<Option<Tensor>>> = kept
            .firsts
            .iter()
            .map(|first| first.as_ref().map(|term| self.term(term)).transpose())
            .collect();
        let captured: Result<Vec<Tensor>> =
            kept.captured.iter().map(|term| self.term(term)).collect();
        let (firsts, captured) = (firsts?, captured?);
        let zero = Poly::default();
        let value = |argument: &Argument| match argument {
            Argument::First(of, at) => {
                firsts[*of].as_ref().map_or(zero.clone(), |first| first[*at].clone())
            }
            Argument::Captured(of, at) => captured[*of][*at].clone(),
            Argument::Uniform(value) => Poly::uniform(value.clone()),
        };
        let calls = kept.components.iter().map(|(looped, of)| (Op::Loop(*looped), &of[..]));
        Ok(self.called(calls, &value))
    }

    fn kept(&mut self, at: usize) -> Option<Rc<Kept>> {
        if let Some(known) = self.loops.get(&at) {
            return known.clone();
        }
        let made = self.keep(at).map(Rc::new);
        self.loops.insert(at, made.clone());
        made
    }

    /// The loop of a `let`; `None` if it is written out, among others if its body differentiates, or needs too many values.
    fn keep(&mut self, at: usize) -> Option<Kept> {
        let model = self.model;
        let item = model.let_at(at)?;
        let repeated = model.repeated(at)?;
        let captured = Captured::find(model, &repeated)?;
        let widths = |term: &Term| suffixes(term.rank, model.components).len();
        // The components of each variable, and of each value that stays, by number.
        let (mut places, mut given) = (Vec::new(), Vec::new());
        for (of, variable) in repeated.variables.iter().enumerate() {
            let term = Term { kind: TermKind::Let(variable.now), ..variable.next.clone() };
            let width = widths(&variable.next);
            given.push((term, width));
            places.extend((0..width).map(|at| Argument::First(of, at)));
        }
        let variables = places.len();
        for (of, term) in captured.iter().enumerate() {
            let width = widths(term);
            given.push((term.clone(), width));
            places.extend((0..width).map(|at| Argument::Captured(of, at)));
        }
        let body = self.body(&repeated, given, places.len())?;
        let result = &repeated.variables[repeated.result].next;
        let first = places
            .iter()
            .position(|place| matches!(place, Argument::First(of, 0) if *of == repeated.result))?;
        let names = suffixes(result.rank, model.components);
        let mut components = Vec::new();
        for (at, suffix) in names.iter().enumerate() {
            let name = format!("{}{suffix}_loop", item.name);
            let (made, arguments) =
                sliced(&body, name, first + at, (variables, repeated.most), &places)?;
            let known = self.known_loops.iter().find(|known| known.is_same(&made)).copied();
            let looped = match known {
                Some(known) => known,
                None => Looped::new(made).ok()?,
            };
            self.known_loops.push(looped);
            components.push((looped, arguments));
        }
        let firsts = repeated.variables.into_iter().map(|variable| variable.first).collect();
        Some(Kept { firsts, captured, components })
    }

    /// The grid functions of a body, whose states are the components of given terms.
    fn body(
        &mut self,
        repeated: &Repeated,
        given: Vec<(Term, usize)>,
        states: usize,
    ) -> Option<Body> {
        let mut inner = self.inside();
        let mut next = 0;
        for (term, width) in given {
            let values: Tensor = (next..next + width).map(|at| inner.atoms.state(at)).collect();
            next += width;
            inner.given.push((term, values));
        }
        let mut values = Vec::new();
        for variable in &repeated.variables {
            values.extend(inner.term(&variable.next).ok()?);
        }
        values.extend(inner.term(&repeated.test).ok()?);
        Body::new(inner, values, states, &mut self.atoms)
    }
}

/// The loop of one component of a variable, without the others that it does not depend on, and its arguments.
fn sliced(
    body: &Body,
    name: String,
    component: usize,
    (variables, most): (usize, u32),
    places: &[Argument],
) -> Option<(Loop, Vec<Argument>)> {
    let mut builder: Builder<Flat> = Builder::new();
    let values = body.values(true, &mut builder)?;
    let test = *values.get(variables)?;
    let reads = |at: Ref| -> BTreeSet<usize> {
        let expr = builder.finish(at);
        let states = expr.atoms().filter_map(|atom| match atom {
            Flat::State(at) => Some(at.0 as usize).filter(|at| *at < variables),
            Flat::Uniform(_) => None,
        });
        states.collect()
    };
    let mut others = BTreeSet::new();
    let mut open: Vec<usize> = reads(test).into_iter().chain([component]).collect();
    while let Some(at) = open.pop() {
        if at != component && !others.insert(at) {
            continue;
        }
        let below = reads(values[at]).into_iter();
        open.extend(below.filter(|at| *at != component && !others.contains(at)));
    }
    let needed: Vec<usize> = std::iter::once(component).chain(others).collect();
    let results: Vec<Ref> = needed.iter().map(|at| values[*at]).chain([test]).collect();
    let first = needed.iter().map(|at| Flat::State(StateId(*at as u32)));
    let (expr, arguments) = body.placed(&builder.finish_all(&results), first.collect(), places)?;
    let (count, variables) = (arguments.len(), needed.len());
    Some((Loop { name, arguments: count, variables, most, body: expr }, arguments))
}

/// The values that stay in a loop.
struct Captured<'m> {
    model: &'m Model,
    /// The `let`s that change from one iteration to the next.
    varying: BTreeSet<usize>,
    /// Is each `let` made of numbers and parameters? As far as is known.
    uniform: BTreeMap<usize, bool>,
    found: Vec<Term>,
}

impl<'m> Captured<'m> {
    /// The largest parts of a body that stay, but for those of numbers and parameters alone; `None` if a part that changes is
    /// differentiated.
    fn find(model: &'m Model, repeated: &Repeated) -> Option<Vec<Term>> {
        let varying = repeated.variables.iter().map(|variable| variable.now).collect();
        let mut this = Captured { model, varying, uniform: BTreeMap::new(), found: Vec::new() };
        let length = repeated.body.len() + 1;
        let choices: BTreeSet<usize> =
            repeated.variables.iter().map(|variable| variable.now + length).collect();
        for at in repeated.body.clone().filter(|at| !choices.contains(at)) {
            let value = &model.let_at(at)?.value;
            if this.varies(value) {
                this.varying.insert(at);
                this.take(value)?;
            }
        }
        for variable in &repeated.variables {
            this.take(&variable.next)?;
        }
        this.take(&repeated.test)?;
        Some(this.found)
    }

    fn varies(&self, term: &Term) -> bool {
        match term.kind {
            TermKind::Let(at) => self.varying.contains(&at),
            _ if term.is_leaf() => false,
            _ => term.parts().into_iter().any(|part| self.varies(part)),
        }
    }

    /// Is it made of numbers and parameters?
    fn is_uniform(&mut self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Number(_) | TermKind::Param(_) | TermKind::Time | TermKind::Epsilon => true,
            TermKind::Let(at) => {
                if let Some(known) = self.uniform.get(at) {
                    return *known;
                }
                let item = self.model.let_at(*at);
                let is_uniform = item.is_some_and(|item| self.is_uniform(&item.value));
                self.uniform.insert(*at, is_uniform);
                is_uniform
            }
            _ => !term.is_leaf() && term.parts().into_iter().all(|part| self.is_uniform(part)),
        }
    }

    fn take(&mut self, term: &Term) -> Option<()> {
        if !self.varies(term) {
            let is_new = !self.found.iter().any(|known| known.is_same(term));
            if is_new && !self.is_uniform(term) {
                self.found.push(term.clone());
            }
            return Some(());
        }
        match &term.kind {
            TermKind::Derivative { .. } => return None,
            TermKind::Call(function, _) if function.differentiates() || function.moves() => {
                return None;
            }
            _ => {}
        }
        if term.is_leaf() {
            return Some(());
        }
        term.parts().into_iter().try_for_each(|part| self.take(part))
    }
}
