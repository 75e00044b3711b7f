//! Grid functions that read their own cell alone, as one expression.

use super::{Atom, Def, GridFn, StateId, UniformId};
use crate::expr::{Builder, Node, Op, Ref};

/// An operand of flattened functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flat {
    /// A state in the cell.
    State(StateId),
    /// A number that is the same in every cell.
    Uniform(UniformId),
}

/// The values of grid functions, in order; `None` if one of them reads a neighbour. `number` gives the values of uniforms
/// that are numbers. If `whole`, no loop is left.
pub(crate) fn flatten(
    functions: &[GridFn],
    number: &dyn Fn(usize) -> Option<f64>,
    whole: bool,
    b: &mut Builder<Flat>,
) -> Option<Vec<Ref>> {
    let mut values: Vec<Ref> = Vec::with_capacity(functions.len());
    for function in functions {
        let uniform = |b: &mut Builder<Flat>, id: UniformId| match number(id.0 as usize) {
            Some(value) => b.lit(value),
            None => b.atom(Flat::Uniform(id)),
        };
        let value = match &function.def {
            Def::State(state) => b.atom(Flat::State(*state)),
            Def::Point(expr) => {
                let mut own: Vec<Ref> = Vec::with_capacity(expr.nodes.len());
                for node in &expr.nodes {
                    let made = match node {
                        Node::Lit(lit) => b.lit(lit.value()),
                        Node::Atom(Atom::Uniform(id)) => uniform(b, *id),
                        Node::Atom(Atom::Access(access)) if access.at == [0; 3] => {
                            *values.get(access.of.0 as usize)?
                        }
                        Node::Atom(Atom::Access(_)) => return None,
                        Node::Op(op, args) => {
                            let args: Vec<Ref> = args.iter().map(|a| own[a.0 as usize]).collect();
                            match op {
                                Op::Loop(of) if whole => of.unrolled_in(b, &args),
                                _ => b.op(*op, &args),
                            }
                        }
                    };
                    own.push(made);
                }
                *own.get(expr.result().0 as usize)?
            }
            Def::Sum(terms) => {
                let mut sum: Option<Ref> = None;
                for term in terms {
                    let of = term.value;
                    let value = *values.get(of.of.0 as usize).filter(|_| of.at == [0; 3])?;
                    let factor = term.factor.map(|id| {
                        let factor = uniform(b, id);
                        if term.negative { b.op(Op::Neg, &[factor]) } else { factor }
                    });
                    sum = Some(match (sum, factor) {
                        (None, Some(factor)) => b.op(Op::Mul, &[factor, value]),
                        (None, None) if term.negative => b.op(Op::Neg, &[value]),
                        (None, None) => value,
                        (Some(sum), Some(factor)) => b.op(Op::Fma, &[factor, value, sum]),
                        (Some(sum), None) if term.negative => b.op(Op::Sub, &[sum, value]),
                        (Some(sum), None) => b.op(Op::Add, &[sum, value]),
                    });
                }
                sum?
            }
        };
        values.push(value);
    }
    Some(values)
}
