//! The rates of change of fields, linearized about a state: their derivatives by each value that they read.

use std::collections::BTreeMap;

use crate::algorithm::{Access, Algorithm, Atom, Def, FnId, Offset, Role, StateId, SumTerm};
use crate::expr::{Expr, Node, Op};

/// The derivatives of one rate by the values that it reads, each a field and an offset. In units of the rate by those
/// of the field.
pub(super) type Row = BTreeMap<(StateId, Offset), f64>;

/// A grid function at an offset: its value, and its derivatives.
struct Known {
    value: f64,
    row: Row,
}

/// Reads a state variable at an offset from the cell.
pub trait State {
    /// The value.
    fn at(&self, state: StateId, offset: Offset) -> f64;
}

impl<F: Fn(StateId, Offset) -> f64> State for F {
    fn at(&self, state: StateId, offset: Offset) -> f64 {
        self(state, offset)
    }
}

/// The derivatives of some grid functions in a cell, exact up to rounding: through functions of functions, offsets add.
/// At a kink of an operation, the derivative is that of the branch taken.
pub(super) fn rows(
    algorithm: &Algorithm,
    roots: &[FnId],
    uniforms: &[f64],
    state: &dyn State,
) -> Vec<Row> {
    let mut known: BTreeMap<Access, Known> = BTreeMap::new();
    let needed = needed(algorithm, roots);
    // Functions read earlier ones only.
    for access in needed {
        let made = match &algorithm.function(access.of).def {
            Def::State(of) => of_state(algorithm, *of, access.at, state),
            Def::Point(expr) => of_expression(expr, access.at, uniforms, &known),
            Def::Sum(terms) => of_sum(terms, access.at, uniforms, &known),
        };
        known.insert(access, made);
    }
    let here = |of: &FnId| Access { of: *of, at: [0; 3] };
    let rows = roots.iter().map(|root| known.get(&here(root)).map(|k| k.row.clone()));
    rows.map(Option::unwrap_or_default).collect()
}

/// The accesses of roots, directly and through others, in order of definition.
fn needed(algorithm: &Algorithm, roots: &[FnId]) -> Vec<Access> {
    let mut at: BTreeMap<FnId, std::collections::BTreeSet<Offset>> = BTreeMap::new();
    for root in roots {
        at.entry(*root).or_default().insert([0; 3]);
    }
    for index in (0..algorithm.functions.len()).rev() {
        let id = FnId(index as u32);
        let Some(offsets) = at.get(&id).cloned() else {
            continue;
        };
        for read in algorithm.function(id).def.reads() {
            let of = at.entry(read.of).or_default();
            of.extend(offsets.iter().map(|offset| sum(*offset, read.at)));
        }
    }
    let all = at.into_iter();
    all.flat_map(|(of, offsets)| offsets.into_iter().map(move |at| Access { of, at })).collect()
}

/// Are the derivatives of some grid functions the same about every state and in every cell?
pub(super) fn is_linear(algorithm: &Algorithm, roots: &[FnId]) -> bool {
    let mut varies = vec![false; algorithm.functions.len()];
    for access in needed(algorithm, roots) {
        let at = access.of.0 as usize;
        varies[at] = match &algorithm.function(access.of).def {
            Def::State(_) => true,
            Def::Sum(terms) => terms.iter().any(|term| varies[term.value.of.0 as usize]),
            Def::Point(expr) => match of_linear(expr, &varies) {
                Some(of_cell) => of_cell,
                None => return false,
            },
        };
    }
    true
}

/// Does a value differ from cell to cell? `None` if it is not linear in the values that do.
fn of_linear(expr: &Expr<Atom>, varies: &[bool]) -> Option<bool> {
    let mut of_nodes: Vec<bool> = Vec::with_capacity(expr.nodes.len());
    for node in &expr.nodes {
        of_nodes.push(match node {
            Node::Lit(_) | Node::Atom(Atom::Uniform(_)) => false,
            Node::Atom(Atom::Access(access)) => varies[access.of.0 as usize],
            Node::Op(op, args) => {
                let args: Vec<bool> = args.iter().map(|a| of_nodes[a.0 as usize]).collect();
                let is_linear = match (op, &args[..]) {
                    (Op::Neg | Op::Add | Op::Sub, _) => true,
                    (Op::Mul, [a, b]) | (Op::Fma, [a, b, _]) => !(*a && *b),
                    (Op::Div, [_, b]) => !b,
                    _ => !args.contains(&true),
                };
                if !is_linear {
                    return None;
                }
                args.contains(&true)
            }
        });
    }
    of_nodes.get(expr.result().0 as usize).copied()
}

fn sum(a: Offset, b: Offset) -> Offset {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

fn of_state(algorithm: &Algorithm, of: StateId, at: Offset, state: &dyn State) -> Known {
    let mut row = Row::new();
    match algorithm.state(of).role {
        Role::Field => {
            row.insert((of, at), 1.0);
        }
        // Accumulators carry nothing into a step, and sources are given.
        Role::Accumulator | Role::Count | Role::Given => {}
    }
    Known { value: state.at(of, at), row }
}

fn add(to: &mut Row, factor: f64, row: &Row) {
    if factor == 0.0 {
        return;
    }
    for (key, value) in row {
        *to.entry(*key).or_insert(0.0) += factor * value;
    }
}

fn of_sum(
    terms: &[SumTerm],
    at: Offset,
    uniforms: &[f64],
    known: &BTreeMap<Access, Known>,
) -> Known {
    let mut made = Known { value: 0.0, row: Row::new() };
    for term in terms {
        let size = term.factor.map_or(1.0, |of| uniforms[of.0 as usize]);
        let factor = if term.negative { -size } else { size };
        let of = term.value.of;
        let read = Access { of, at: sum(at, term.value.at) };
        if let Some(read) = known.get(&read) {
            made.value += factor * read.value;
            add(&mut made.row, factor, &read.row);
        }
    }
    made
}

/// A forward pass for values, a backward pass for the derivative by each atom, then the derivatives of these.
fn of_expression(
    expr: &Expr<Atom>,
    at: Offset,
    uniforms: &[f64],
    known: &BTreeMap<Access, Known>,
) -> Known {
    let read = |access: &Access| known.get(&Access { of: access.of, at: sum(at, access.at) });
    let mut values: Vec<f64> = Vec::with_capacity(expr.nodes.len());
    for node in &expr.nodes {
        values.push(match node {
            Node::Lit(lit) => lit.value(),
            Node::Atom(Atom::Uniform(of)) => uniforms[of.0 as usize],
            Node::Atom(Atom::Access(access)) => read(access).map_or(0.0, |k| k.value),
            Node::Op(op, args) => {
                let args: Vec<f64> = args.iter().map(|a| values[a.0 as usize]).collect();
                op.eval(&args)
            }
        });
    }
    let result = expr.result().0 as usize;
    let mut by = vec![0.0; expr.nodes.len()];
    by[result] = 1.0;
    let mut row = Row::new();
    for (i, node) in expr.nodes.iter().enumerate().take(result + 1).rev() {
        if by[i] == 0.0 {
            continue;
        }
        match node {
            Node::Lit(_) | Node::Atom(Atom::Uniform(_)) => {}
            Node::Atom(Atom::Access(access)) => {
                if let Some(read) = read(access) {
                    add(&mut row, by[i], &read.row);
                }
            }
            Node::Op(op, args) => {
                let inputs: Vec<f64> = args.iter().map(|a| values[a.0 as usize]).collect();
                for (arg, slope) in args.iter().zip(op.slopes(&inputs, values[i])) {
                    if slope != 0.0 {
                        by[arg.0 as usize] += by[i] * slope;
                    }
                }
            }
        }
    }
    Known { value: values[result], row }
}
