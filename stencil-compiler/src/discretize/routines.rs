//! Functions of states that are expensive and evaluated in several of them: discretized once, and called.

use std::rc::Rc;

use super::bodies::{Argument, Body};
use super::expand::{Expander, Result, Tensor};
use super::poly::Poly;
use crate::algorithm::flat::Flat;
use crate::expr::{Builder, Called, Node, Op, Routine};

/// Makes values from those of components.
type Make<'m, 'a> = &'m dyn Fn(&mut Expander<'a>, &[Poly]) -> Result<Vec<Poly>>;

/// A function of states.
pub(super) struct OfStates {
    values: Vec<Called>,
    /// Components of states, and numbers.
    arguments: Vec<Argument>,
}

impl<'a> Expander<'a> {
    /// Values made of components, in a state of these, as calls of a function; `None` if they are cheap, and better made where they
    /// are needed. `make` makes them, and `name` tells them from others.
    pub(super) fn of_states(
        &mut self,
        name: &str,
        components: &[Poly],
        make: Make<'_, 'a>,
    ) -> Result<Option<Tensor>> {
        let known = match self.routines.get(name) {
            Some(known) => known.clone(),
            None => {
                let made = self.routine(name, components.len(), make).map(Rc::new);
                self.routines.insert(name.to_string(), made.clone());
                made
            }
        };
        let Some(known) = known else {
            return Ok(None);
        };
        let value = |argument: &Argument| match argument {
            Argument::First(at, _) | Argument::Captured(at, _) => components[*at].clone(),
            Argument::Uniform(value) => Poly::uniform(value.clone()),
        };
        let calls = known.values.iter().map(|of| (Op::Call(*of), &known.arguments[..]));
        Ok(self.called(calls, &value))
    }

    /// The function; `None` if no loop is in it.
    fn routine(&mut self, name: &str, states: usize, make: Make<'_, 'a>) -> Option<OfStates> {
        let mut inner = self.inside();
        let components: Vec<Poly> = (0..states).map(|at| inner.atoms.state(at)).collect();
        let made = make(&mut inner, &components).ok()?;
        let loops = std::mem::take(&mut inner.known_loops);
        let body = Body::new(inner, made, states, &mut self.atoms)?;
        let mut builder: Builder<Flat> = Builder::new();
        let values = body.values(false, &mut builder)?;
        let expr = builder.finish_all(&values);
        let is_loop = |node: &Node<Flat>| matches!(node, Node::Op(Op::Loop(_), _));
        if !expr.nodes.iter().any(is_loop) {
            return None;
        }
        self.known_loops.extend(loops);
        let places: Vec<Argument> = (0..states).map(|at| Argument::Captured(at, 0)).collect();
        let (body, arguments) = body.placed(&expr, Vec::new(), &places)?;
        let values = (0..values.len()).map(|at| format!("{name}_{at}")).collect();
        let routine = Routine { name: name.to_string(), values, arguments: arguments.len(), body };
        Some(OfStates { values: Called::all(routine).ok()?, arguments })
    }
}
