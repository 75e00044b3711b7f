//! The origin of a value that is infinite or NaN: the first operation, or the first value read, that made it.

use std::collections::BTreeMap;

use super::{Access, Algorithm, Atom, Def, FnId, StateId, SumTerm};
use crate::expr::{Expr, Node, Op, Real, Ref};

/// Depth of nested functions up to which the search goes.
const DEEPEST: u32 = 500;

/// The reason why a value is not finite.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A field or a source holds the value in a cell or ghost cell.
    Read {
        /// The state variable.
        state: StateId,
        /// The cell; ghost cells lie below zero or beyond the last.
        cell: [isize; 3],
        /// The value.
        value: f64,
    },
    /// An operation on finite numbers has a result that is not finite.
    Made {
        /// The grid function that contains it.
        function: FnId,
        /// The cell or ghost cell that the function was evaluated in.
        cell: [isize; 3],
        /// The operation.
        op: Op,
        /// Its arguments.
        of: Vec<f64>,
    },
    /// A step leaves a range, whose mark is NaN.
    Outside {
        /// The cell.
        cell: [isize; 3],
        /// For each range of the model, the two sides of its comparison: the smaller one first.
        sides: Vec<[f64; 2]>,
    },
}

impl Algorithm {
    /// Finds the origin of a value of a grid function that is not finite in a cell; `None` if the value is finite, or
    /// if its origin lies too deep. `uniforms` are those of the substep.
    pub fn origin<T: Real>(
        &self,
        function: FnId,
        cell: [isize; 3],
        uniforms: &[T],
        state: &mut dyn FnMut(StateId, [isize; 3]) -> T,
    ) -> Option<Origin> {
        let mut search = Search { algorithm: self, uniforms, state, known: BTreeMap::new() };
        let value = search.function(function, cell, 0)?;
        match is_finite(value) {
            true => None,
            false => search.origin((function, cell)),
        }
    }
}

fn is_finite<T: Real>(value: T) -> bool {
    value.to_f64().is_finite()
}

/// A grid function in a cell.
type Place = (FnId, [isize; 3]);

struct Search<'a, T> {
    algorithm: &'a Algorithm,
    uniforms: &'a [T],
    state: &'a mut dyn FnMut(StateId, [isize; 3]) -> T,
    known: BTreeMap<Place, T>,
}

/// The cause of a value that is not finite.
enum Cause {
    /// An operation on finite numbers.
    Operation(Op, Vec<f64>),
    /// Another value that is not finite.
    Other(Place),
}

impl<T: Real> Search<'_, T> {
    /// The value in a cell; `None` where functions lie too deep.
    fn function(&mut self, id: FnId, cell: [isize; 3], depth: u32) -> Option<T> {
        if let Some(value) = self.known.get(&(id, cell)) {
            return Some(*value);
        }
        if depth > DEEPEST {
            return None;
        }
        let algorithm = self.algorithm;
        let value = match &algorithm.function(id).def {
            Def::State(state) => (self.state)(*state, cell),
            Def::Point(expr) => *self.nodes(expr, cell, depth)?.last()?,
            Def::Sum(terms) => *self.partial_sums(terms, cell, depth)?.last()?,
        };
        self.known.insert((id, cell), value);
        Some(value)
    }

    fn access(&mut self, access: Access, cell: [isize; 3], depth: u32) -> Option<T> {
        self.function(access.of, there(access, cell), depth + 1)
    }

    /// The values of all nodes that precede the result.
    fn nodes(&mut self, expr: &Expr<Atom>, cell: [isize; 3], depth: u32) -> Option<Vec<T>> {
        let mut values: Vec<T> = Vec::new();
        for at in 0..=expr.result().0 {
            let value = match expr.node(Ref(at)) {
                Node::Lit(lit) => T::from_f64(lit.value()),
                Node::Atom(Atom::Access(access)) => self.access(*access, cell, depth)?,
                Node::Atom(Atom::Uniform(uniform)) => self.uniforms[uniform.0 as usize],
                Node::Op(op, args) => op.eval(&arguments(args, &values)),
            };
            values.push(value);
        }
        Some(values)
    }

    /// The sums after each term.
    fn partial_sums(&mut self, terms: &[SumTerm], cell: [isize; 3], depth: u32) -> Option<Vec<T>> {
        let mut sums: Vec<T> = Vec::new();
        for term in terms {
            let value = self.access(term.value, cell, depth)?;
            let (op, of) = self.step(sums.last(), term, value);
            sums.push(op.eval(&of));
        }
        Some(sums)
    }

    /// The operation that adds a term to a sum.
    fn step(&self, sum: Option<&T>, term: &SumTerm, value: T) -> (Op, Vec<T>) {
        let value = if term.negative { -value } else { value };
        let factor = term.factor.map(|factor| self.uniforms[factor.0 as usize]);
        match (sum, factor) {
            (None, None) => (Op::Add, vec![value, T::ZERO]),
            (None, Some(factor)) => (Op::Mul, vec![factor, value]),
            (Some(sum), None) => (Op::Add, vec![*sum, value]),
            (Some(sum), Some(factor)) => (Op::Fma, vec![factor, value, *sum]),
        }
    }

    /// Follows a value that is not finite to its origin.
    fn origin(&mut self, mut place: Place) -> Option<Origin> {
        let algorithm = self.algorithm;
        loop {
            let (function, cell) = place;
            let cause = match &algorithm.function(function).def {
                Def::State(state) => {
                    return Some(Origin::Read {
                        state: *state,
                        cell,
                        value: (self.state)(*state, cell).to_f64(),
                    });
                }
                Def::Point(expr) => self.of_point(expr, cell)?,
                Def::Sum(terms) => self.of_sum(terms, cell)?,
            };
            match cause {
                Cause::Other(next) => place = next,
                Cause::Operation(Op::Sqrt, of) if of == [-1.0] => {
                    let sides = self.sides(place).filter(|sides| !sides.is_empty());
                    return Some(match sides {
                        Some(sides) => Origin::Outside { cell, sides },
                        None => Origin::Made { function, cell, op: Op::Sqrt, of },
                    });
                }
                Cause::Operation(op, of) => {
                    return Some(Origin::Made { function, cell, op, of });
                }
            }
        }
    }

    /// Both sides of each comparison in the mark that a step leaves a range, in the order of the ranges: the mark is the root of
    /// the negative of the largest of comparisons, each of which is one or zero. `None` for any other root.
    fn sides(&mut self, mark: Place) -> Option<Vec<[f64; 2]>> {
        let mut sides = Vec::new();
        self.add_sides(mark, 0, &mut sides)?;
        Some(sides)
    }

    /// Adds the sides of one function's comparisons, from left to right.
    fn add_sides(
        &mut self,
        (function, cell): Place,
        depth: u32,
        sides: &mut Vec<[f64; 2]>,
    ) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let expr = match &self.algorithm.function(function).def {
            Def::Point(expr) => expr,
            Def::Sum(terms) => {
                let [term] = &terms[..] else { return None };
                let place = (term.value.of, there(term.value, cell));
                return self.add_sides(place, depth + 1, sides);
            }
            Def::State(_) => return None,
        };
        let values = self.nodes(expr, cell, 0)?;
        let mut open = vec![expr.result()];
        while let Some(at) = open.pop() {
            match expr.node(at) {
                Node::Atom(Atom::Access(access)) => {
                    self.add_sides((access.of, there(*access, cell)), depth + 1, sides)?;
                }
                Node::Op(Op::Sqrt | Op::Neg | Op::Max, args) => open.extend(args.iter().rev()),
                Node::Op(Op::Lt | Op::Le, args) => {
                    let [low, high, no, yes] = arguments(args, &values)[..] else {
                        return None;
                    };
                    if [no, yes] != [T::ZERO, T::from_f64(1.0)] {
                        return None;
                    }
                    sides.push([low, high].map(T::to_f64));
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn of_point(&mut self, expr: &Expr<Atom>, cell: [isize; 3]) -> Option<Cause> {
        let values = self.nodes(expr, cell, 0)?;
        let mut at = expr.result();
        loop {
            match expr.node(at) {
                Node::Lit(_) | Node::Atom(Atom::Uniform(_)) => return None,
                Node::Atom(Atom::Access(access)) => {
                    return Some(Cause::Other((access.of, there(*access, cell))));
                }
                Node::Op(op, args) => {
                    // The chosen values stand behind the compared ones.
                    let bad = |arg: &&Ref| !is_finite(values[arg.0 as usize]);
                    match args.iter().rev().find(bad) {
                        Some(arg) => at = *arg,
                        None => {
                            let of = arguments(args, &values).into_iter();
                            return Some(Cause::Operation(*op, of.map(T::to_f64).collect()));
                        }
                    }
                }
            }
        }
    }

    fn of_sum(&mut self, terms: &[SumTerm], cell: [isize; 3]) -> Option<Cause> {
        let sums = self.partial_sums(terms, cell, 0)?;
        let first = sums.iter().position(|sum| !is_finite(*sum))?;
        let access = terms[first].value;
        let value = self.access(access, cell, 0)?;
        if !is_finite(value) {
            return Some(Cause::Other((access.of, there(access, cell))));
        }
        let before = first.checked_sub(1).map(|before| &sums[before]);
        let (op, of) = self.step(before, &terms[first], value);
        Some(Cause::Operation(op, of.into_iter().map(T::to_f64).collect()))
    }
}

fn arguments<T: Copy>(args: &[Ref], values: &[T]) -> Vec<T> {
    args.iter().map(|arg| values[arg.0 as usize]).collect()
}

fn there(access: Access, cell: [isize; 3]) -> [isize; 3] {
    std::array::from_fn(|axis| cell[axis] + access.at[axis] as isize)
}
