//! Bodies of loops and routines: discretized by themselves, with their arguments as states.

use super::assemble::Assembler;
use super::atoms::{Atom, Atoms};
use super::build::{Functions, Sums};
use super::expand::{Expander, Tensor};
use super::poly::{Overflow, Poly, Uniform};
use crate::algorithm::flat::{Flat, flatten};
use crate::algorithm::{Def, FnId, StateId};
use crate::expr::{Builder, Expr, Op, Ref};

/// An argument of a loop or a routine.
#[derive(Clone)]
pub(super) enum Argument {
    /// A component of the first value of a variable.
    First(usize, usize),
    /// A component of a value that stays.
    Captured(usize, usize),
    /// A number that is the same in every cell.
    Uniform(Uniform),
}

/// A body as grid functions.
pub(super) struct Body {
    functions: Functions,
    results: Vec<FnId>,
}

impl Body {
    /// The body with these values of some states, which an expander has made; `None` if they are differentiated, or read
    /// other states.
    pub(super) fn new(
        mut inner: Expander<'_>,
        values: Vec<Poly>,
        states: usize,
        outer: &mut Atoms,
    ) -> Option<Body> {
        let here = |at: usize| match inner.atoms.get(at as u32) {
            Atom::Derivative { .. } | Atom::At { .. } => false,
            Atom::State(at) => *at < states,
            Atom::Named(_) | Atom::Call(..) => true,
        };
        if !(0..inner.atoms.len()).all(here) {
            return None;
        }
        let model = inner.model;
        let sums = Sums {
            slowest: model.dimension - 1,
            of_neighbours: false,
            of_sides: !model.fluxes.is_empty(),
        };
        let opaque = inner.atoms.opaque.clone();
        let mut functions = Functions::new(sums, opaque, std::iter::empty());
        let state = |at: usize| functions.add(&format!("a{at}"), Def::State(StateId(at as u32)), 0);
        let states: Vec<FnId> = (0..states).map(state).collect();
        let mut assembler = Assembler::new(&mut inner.atoms, functions, states, &model.scheme);
        let results = assembled(&mut assembler, values).ok()?;
        let functions = assembler.functions;
        outer.opaque = inner.atoms.opaque;
        Some(Body { functions, results })
    }

    /// Its values as nodes of an expression; if `whole`, loops inside are written out.
    pub(super) fn values(&self, whole: bool, builder: &mut Builder<Flat>) -> Option<Vec<Ref>> {
        let numbers = self.functions.uniform_values();
        let number = |at: usize| {
            let (of, value) = (&numbers[at], &self.functions.uniforms[at].value);
            of.is_number().then(|| value.eval(|_| 0.0))
        };
        let values = flatten(&self.functions.functions, &number, whole, builder)?;
        Some(self.results.iter().map(|result| values[result.0 as usize]).collect())
    }

    /// An expression of the body over the positions of its arguments, and these: the first ones, then others as they come.
    /// `None` if one is no state of the body.
    pub(super) fn placed(
        &self,
        expr: &Expr<Flat>,
        first: Vec<Flat>,
        states: &[Argument],
    ) -> Option<(Expr<usize>, Vec<Argument>)> {
        let numbers = self.functions.uniform_values();
        let mut order = first;
        for atom in expr.atoms() {
            if !order.contains(atom) {
                order.push(*atom);
            }
        }
        let body = expr.map_atoms(|atom| order.iter().position(|of| of == atom).unwrap_or(0));
        let argument = |of: &Flat| match of {
            Flat::State(at) => states.get(at.0 as usize).cloned(),
            Flat::Uniform(at) => numbers.get(at.0 as usize).cloned().map(Argument::Uniform),
        };
        let arguments = order.iter().map(argument).collect::<Option<_>>()?;
        Some((body, arguments))
    }
}

/// The grid functions of some values.
fn assembled(
    assembler: &mut Assembler<'_>,
    mut values: Vec<Poly>,
) -> std::result::Result<Vec<FnId>, Overflow> {
    let label = |at: usize| [0, 1].map(|_| format!("value_{at}"));
    let labels: Vec<[String; 2]> = (0..values.len()).map(label).collect();
    let names = assembler.roots(&labels, &values);
    let split = assembler.prepare(&mut values, &names)?;
    let values = split.iter().zip(&names);
    values.map(|((linear, pointwise), name)| assembler.define(name, linear, pointwise)).collect()
}

impl Expander<'_> {
    /// Operations on their arguments; `None` if one of them has none that differ from cell to cell.
    pub(super) fn called<'c>(
        &mut self,
        calls: impl Iterator<Item = (Op, &'c [Argument])>,
        value: &dyn Fn(&Argument) -> Poly,
    ) -> Option<Tensor> {
        let mut values = Tensor::new();
        for (op, arguments) in calls {
            let arguments: Vec<Poly> = arguments.iter().map(value).collect();
            if arguments.iter().all(|argument| argument.as_uniform().is_some()) {
                return None;
            }
            let arguments: Vec<&Poly> = arguments.iter().collect();
            values.push(self.operation(op, &arguments));
        }
        Some(values)
    }
}
