//! Terms of the model to tensors of polynomials, component by component.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::DiscretizeError;
use super::atoms::Atoms;
use super::components::{Components, Entry, suffixes};
use super::loops::Kept;
use super::names::Label;
use super::poly::{Overflow, Poly, Uniform, UniformFactor};
use super::routines::OfStates;
pub(super) use super::states::{GivenAt, Sides, Slope, States};
use crate::catalogue::{Function, Rank};
use crate::diag::{Code, Span};
use crate::expr::Looped;
use crate::model::{Let, Mixed, Model, Relation, Side, Term, TermKind};

/// Components of a scalar, vector or tensor (row by row).
pub(super) type Tensor = Vec<Poly>;

/// Expands the terms of one model.
pub(super) struct Expander<'a> {
    pub(super) model: &'a Model,
    /// The atoms met so far.
    pub atoms: Atoms,
    components: &'a Components,
    /// The values of `let`s; those of iterations are made if a loop is written out.
    lets: Vec<Option<Tensor>>,
    /// Terms whose values are given.
    pub(super) given: Vec<(Term, Tensor)>,
    /// The loops that `let`s come out of, by their indices, and all that there are.
    pub(super) loops: BTreeMap<usize, Option<Rc<Kept>>>,
    pub(super) known_loops: Vec<Looped>,
    /// Functions of states, by name.
    pub(super) routines: BTreeMap<String, Option<Rc<OfStates>>>,
    /// Values in place of the components of the fields, if they are replaced.
    substitution: Option<Substitution>,
    /// The face that a Riemann solver is evaluated at.
    sides: Option<Sides>,
}

/// States at work.
struct Substitution {
    /// The states, with the `let`s met so far.
    states: States,
    /// The part of their names that tells them from those of other states.
    label: String,
}

pub(super) type Result<T> = std::result::Result<T, DiscretizeError>;

impl<'a> Expander<'a> {
    /// Starts with the model's named intermediates; `mixed` is settled.
    pub(super) fn new(model: &'a Model, components: &'a Components, mixed: Mixed) -> Result<Self> {
        let mut this = Expander {
            model,
            atoms: Atoms::new(mixed, model.is_staggered().then(|| components.halves.clone())),
            components,
            lets: vec![None; model.lets.len()],
            given: Vec::new(),
            loops: BTreeMap::new(),
            known_loops: Vec::new(),
            routines: BTreeMap::new(),
            substitution: None,
            sides: None,
        };
        let of_loops = (0..model.lets.len()).filter_map(|at| model.repeated(at));
        let iterations: BTreeSet<usize> = of_loops.flat_map(|found| found.all).collect();
        for at in (0..model.lets.len()).filter(|at| !iterations.contains(at)) {
            this.define(at)?;
        }
        Ok(this)
    }

    /// An expander of the same model for the body of a loop: all that it reads is given.
    pub(super) fn inside(&self) -> Self {
        let mut atoms = Atoms::new(self.model.scheme.mixed.settled(), None);
        atoms.opaque.clone_from(&self.atoms.opaque);
        let substitution = Substitution { states: States::default(), label: "loop".into() };
        Expander {
            model: self.model,
            atoms,
            components: self.components,
            lets: Vec::new(),
            given: Vec::new(),
            loops: BTreeMap::new(),
            known_loops: self.known_loops.clone(),
            routines: BTreeMap::new(),
            substitution: Some(substitution),
            sides: None,
        }
    }

    /// Evaluates a `let` of the model in its own state.
    fn define(&mut self, at: usize) -> Result<Tensor> {
        let Some(named) = self.model.lets.get(at) else {
            return Ok(Tensor::new());
        };
        if let Some(known) = &self.lets[at] {
            return Ok(known.clone());
        }
        let value = match self.looped(at)? {
            Some(value) => value,
            None => {
                // One after the other, so that none waits for many.
                let iterations = self.model.repeated(at).map(|found| found.all);
                for before in iterations.into_iter().flatten() {
                    self.define(before)?;
                }
                self.term(&named.value)?
            }
        };
        let suffixes = suffixes(named.value.rank, self.model.components).into_iter();
        let names = suffixes.map(|suffix| format!("{}{suffix}", named.name));
        let components = names.zip(value.iter().cloned()).collect();
        self.atoms.labels.define(&named.name, components);
        self.lets[at] = Some(value.clone());
        Ok(value)
    }

    /// The components of a term; its operands get its place.
    pub(super) fn term(&mut self, term: &Term) -> Result<Tensor> {
        let outer = std::mem::replace(&mut self.atoms.span, term.span);
        let value = self.expand(term);
        self.atoms.span = outer;
        value
    }

    /// A first derivative of a field, where slopes are given: of one that has one value at faces, or of any.
    fn given_slope(&self, term: &Term) -> Option<Tensor> {
        let slope = self.substitution.as_ref()?.states.slope?;
        let (of, axes, sums) = match &term.kind {
            TermKind::Derivative { axis, times: 1, of } => (&**of, *axis..*axis + 1, false),
            TermKind::Call(function, of) if *function == Function::GRAD => {
                (&of[0], 0..self.model.components, false)
            }
            TermKind::Call(function, of) if *function == Function::DIV && slope.of_any => {
                (&of[0], slope.axis..slope.axis + 1, true)
            }
            _ => return None,
        };
        let TermKind::Field(field) = of.kind else {
            return None;
        };
        let mut shared = self.model.at_face.iter().flat_map(|face| &face.fields);
        if !slope.of_any {
            shared.find(|(other, _)| *other == field)?;
        }
        let entries = self.components.of_field(field);
        let value = |axis: usize, entry: &Entry| match entry {
            Some((component, negative)) if (*component, axis) == (slope.component, slope.axis) => {
                let one = Poly::uniform(Uniform::one());
                if *negative { one.negated() } else { one }
            }
            _ => Poly::default(),
        };
        if sums {
            // Other axes have no slope.
            let row = entries.len() / self.model.components;
            let own = entries[slope.axis * row..][..row].iter();
            return Some(own.map(|entry| value(slope.axis, entry)).collect());
        }
        Some(axes.flat_map(|axis| entries.iter().map(move |e| value(axis, e))).collect())
    }

    /// Refuses a derivative if slopes are given, since it is not one of them.
    pub(super) fn beside_given_slopes(&self, span: Span) -> Result<()> {
        let substitution = self.substitution.as_ref();
        match substitution.and_then(|substitution| substitution.states.slope) {
            None => Ok(()),
            Some(_) => {
                let message = "a slope is multiplied by a derivative, which has no value at faces";
                Err(DiscretizeError::new(Code::NotAtFaces, span, message))
            }
        }
    }

    /// Are terms evaluated in given states?
    pub(super) fn has_states(&self) -> bool {
        self.substitution.is_some()
    }

    fn expand(&mut self, term: &Term) -> Result<Tensor> {
        let span = term.span;
        if let Some((_, given)) = self.given.iter().find(|(given, _)| given.is_same(term)) {
            return Ok(given.clone());
        }
        if let Some(given) = self.given_slope(term) {
            return Ok(given);
        }
        match &term.kind {
            TermKind::Number(value) => Ok(vec![Poly::uniform(Uniform::number(*value))]),
            TermKind::Param(i) => {
                Ok(vec![Poly::uniform(Uniform::power(UniformFactor::Param(*i), 1))])
            }
            TermKind::Let(i) => self.named(*i),
            TermKind::Field(i) => Ok(self.entries(self.components.of_field(*i))),
            TermKind::Source(i) => self.source(*i, span),
            TermKind::Time => Ok(vec![Poly::uniform(Uniform::power(UniformFactor::Time, 1))]),
            TermKind::Epsilon => Ok(vec![Poly::uniform(Uniform::power(UniformFactor::Epsilon, 1))]),
            TermKind::Coordinate(_) => Err(DiscretizeError::new(
                Code::CoordinateOutsideSource,
                span,
                "a coordinate stands outside of a source; declare `source name: scalar = ..;` and use its name",
            )),
            TermKind::Side(side, of) => self.on_side(*side, of),
            TermKind::Normal => Ok(self.normal()),
            TermKind::Rise(field) => self.rise(*field, span),
            TermKind::If(relation, parts) => self.choice(*relation, parts),
            TermKind::Neg(a) => Ok(self.term(a)?.iter().map(Poly::negated).collect()),
            TermKind::Add(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                zip(&a, &b, |a, b| a.plus(b), span)
            }
            TermKind::Sub(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                zip(&a, &b, |a, b| a.plus(&b.negated()), span)
            }
            TermKind::Mul(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                let (scalar, other) = if a.len() == 1 { (&a[0], &b) } else { (&b[0], &a) };
                other.iter().map(|x| self.product(scalar, x, span)).collect()
            }
            TermKind::Div(a, b) => {
                let of_scalar = a.rank == Rank::Scalar;
                let (a, b) = (self.term(a)?, self.term(b)?);
                if !of_scalar {
                    self.atoms.divide_vector(&b[0]);
                }
                a.iter().map(|x| self.quotient(x, &b[0], span)).collect()
            }
            TermKind::Pow(a, n) => {
                let a = self.term(a)?;
                self.power(&a[0], *n, span).map(|p| vec![p])
            }
            TermKind::Stack(parts) => {
                let parts: Result<Vec<Tensor>> = parts.iter().map(|p| self.term(p)).collect();
                Ok(parts?.concat())
            }
            TermKind::Component(of, axes) => {
                let of = self.term(of)?;
                let at = axes.iter().fold(0, |at, axis| at * self.model.components + axis);
                Ok(vec![of[at].clone()])
            }
            TermKind::Derivative { axis, times, of } => {
                let name = label_of(self.model, of);
                let of = self.term(of)?;
                of.iter().map(|x| self.derivative(*axis, *times, x, &name, span)).collect()
            }
            TermKind::Call(function, args) => self.call(*function, args, span),
        }
    }

    /// Evaluates terms with these states in place of the components of the fields.
    pub(super) fn in_states<R>(
        &mut self,
        states: &States,
        label: &str,
        work: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let substitution = Substitution { states: states.clone(), label: label.to_string() };
        let outer = self.substitution.replace(substitution);
        let done = work(self);
        self.substitution = outer;
        done
    }

    /// Evaluates terms of a Riemann solver, between these sides.
    pub(super) fn between<R>(
        &mut self,
        sides: Sides,
        label: &str,
        work: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        // Fields are read through the sides only.
        let given_at = GivenAt::upper_face(sides.axis, 0);
        let outer = self.sides.replace(sides);
        let done = self.in_states(&States { given_at, ..States::default() }, label, work);
        self.sides = outer;
        done
    }

    /// A term in the state on one side of the face at work, as it is seen from the cell below.
    fn on_side(&mut self, side: Side, of: &Term) -> Result<Tensor> {
        let Some(sides) = self.sides.take() else {
            let message = "a side of a face stands outside of a Riemann solver";
            return Err(DiscretizeError::new(Code::NotAtFaces, of.span, message));
        };
        let (at, ahead) = match side {
            Side::Below => (0, 0),
            Side::Above => (1, sides.ahead),
        };
        let (states, label) = &sides.states[at];
        let values = self.in_states(states, label, |expander| expander.term(of));
        let axis = sides.axis;
        self.sides = Some(sides);
        let seen = |value: &Poly| self.atoms.at(value, axis, ahead);
        Ok(values?.iter().map(seen).collect())
    }

    /// The rise of the flux of a conserved field through the face at work.
    fn rise(&self, field: usize, span: Span) -> Result<Tensor> {
        let rises = self.sides.as_ref().map(|sides| &sides.rises);
        rises.and_then(|rises| rises.get(&field).cloned()).ok_or_else(|| {
            let message = "the rise of a flux stands outside of a Riemann solver";
            DiscretizeError::new(Code::NotAtFaces, span, message)
        })
    }

    /// The unit vector along the axis of the face at work.
    fn normal(&self) -> Tensor {
        let axis = self.sides.as_ref().map(|sides| sides.axis);
        let along = |at| match axis == Some(at) {
            true => Poly::uniform(Uniform::one()),
            false => Poly::default(),
        };
        (0..self.model.components).map(along).collect()
    }

    /// The components of a `let`, in the states at work.
    fn named(&mut self, at: usize) -> Result<Tensor> {
        let Some(substitution) = &self.substitution else {
            return self.define(at);
        };
        if let Some(known) = substitution.states.lets.get(&at) {
            return Ok(known.clone());
        }
        let label = substitution.label.clone();
        let Some(item) = self.model.let_at(at) else {
            return Ok(Tensor::new());
        };
        let value = match self.looped(at)? {
            Some(value) => value,
            None => self.term(&item.value)?,
        };
        let value = self.name_let(item, &label, value);
        if let Some(substitution) = &mut self.substitution {
            substitution.states.lets.insert(at, value.clone());
        }
        Ok(value)
    }

    /// Names the components of the value of a `let` in the states of that label.
    pub(super) fn name_let(&mut self, item: &Let, label: &str, value: Tensor) -> Tensor {
        let suffixes = suffixes(item.value.rank, self.model.components);
        let names = suffixes.iter().map(|suffix| format!("{}{suffix}_{label}", item.name));
        self.name_all(format!("{}_{label}", item.name), names.zip(value))
    }

    /// Names values that belong together.
    pub(super) fn name_all(
        &mut self,
        shared: String,
        values: impl Iterator<Item = (String, Poly)>,
    ) -> Tensor {
        let named = values.map(|(name, value)| (self.atoms.name(&name, value), name));
        let named: Vec<(Poly, String)> = named.collect();
        let members = named.iter().map(|(value, name)| (name.clone(), value.clone()));
        self.atoms.labels.together(shared, members.collect());
        named.into_iter().map(|(value, _)| value).collect()
    }

    fn entries(&mut self, entries: &[Entry]) -> Tensor {
        let entry = |entry: &Entry| match entry {
            None => Poly::default(),
            Some((component, negative)) => {
                let substitution = self.substitution.as_ref();
                let atom = match substitution
                    .and_then(|substitution| substitution.states.components.get(*component))
                {
                    Some(state) => state.clone(),
                    None => self.atoms.state(*component),
                };
                if *negative { atom.negated() } else { atom }
            }
        };
        entries.iter().map(entry).collect()
    }

    /// The components of a source, at the place of the states at work.
    pub(super) fn source(&mut self, at: usize, span: Span) -> Result<Tensor> {
        let known = self.substitution.as_ref().and_then(|s| s.states.sources.get(at));
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let own = self.entries(self.components.of_source(at));
        let place = self.substitution.as_ref().and_then(|s| s.states.given_at);
        let Some(GivenAt { axis, ahead, at_face }) = place else {
            return Ok(own);
        };
        let read = |value: &Poly| {
            let value = match at_face {
                true => self.atoms.at_face(axis, value).map_err(overflow(span))?,
                false => value.clone(),
            };
            Ok(self.atoms.at(&value, axis, ahead))
        };
        own.iter().map(read).collect()
    }

    /// `if a < b { c } else { d }`, entry by entry.
    fn choice(&mut self, relation: Relation, parts: &[Term; 4]) -> Result<Tensor> {
        let op = relation.op();
        let [a, b, then, otherwise] = parts;
        let (a, b) = (self.term(a)?, self.term(b)?);
        let (then, otherwise) = (self.term(then)?, self.term(otherwise)?);
        let entries = then.iter().zip(&otherwise);
        Ok(entries.map(|(c, d)| self.operation(op, &[&a[0], &b[0], c, d])).collect())
    }
}

/// The label of a term, for the names of grid functions that are made of it.
pub(super) fn label_of(model: &Model, term: &Term) -> Label {
    let begun = |word: &str, of: &Term| label_of(model, of).map(|name| format!("{word}_{name}"));
    match &term.kind {
        TermKind::Field(i) => Label::from(&model.fields[*i].name),
        TermKind::Let(i) => match model.let_at(*i) {
            Some(named) => Label::from(&named.name),
            None => Label::from("part"),
        },
        TermKind::Component(of, axes) => {
            let axes: String = axes.iter().map(|a| ["x", "y", "z"][*a]).collect();
            label_of(model, of).map(|name| format!("{name}_{axes}"))
        }
        TermKind::Call(function, args) if function.is_named() => begun(function.name(), &args[0]),
        _ => Label::from("part"),
    }
}

/// The name of a field or a `let`, or of a function of one.
pub(super) fn name_of(model: &Model, term: &Term) -> String {
    let (Label::Whole(name) | Label::Part(name)) = label_of(model, term);
    name
}

fn zip(
    a: &[Poly],
    b: &[Poly],
    f: impl Fn(&Poly, &Poly) -> std::result::Result<Poly, Overflow>,
    span: Span,
) -> Result<Tensor> {
    a.iter().zip(b).map(|(a, b)| f(a, b).map_err(overflow(span))).collect()
}

/// The error of an exact number that left the range.
pub(super) fn overflow(span: Span) -> impl Fn(Overflow) -> DiscretizeError {
    move |Overflow| {
        DiscretizeError::new(
            Code::CoefficientRange,
            span,
            "an exact coefficient leaves the range of 128-bit rationals; write fewer digits",
        )
    }
}
