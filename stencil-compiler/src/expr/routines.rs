//! Functions of numbers with several values, as operations: a text has each once, and calls it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::loops::{Number, Operation};
use super::real::Arithmetic;
use super::{Builder, Expr, Loop, Node, Op, Ref};

/// A function of numbers with several values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Routine {
    /// Its name in texts.
    pub name: String,
    /// The names of its values in texts.
    pub values: Vec<String>,
    /// The number of arguments.
    pub arguments: usize,
    /// The values; an atom is the position of an argument. It may call loops.
    pub body: Expr<usize>,
}

impl Routine {
    /// Checks that the body fits the arguments, and calls no other routine.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<(), String> {
        self.body.check()?;
        if self.body.results.len() != self.values.len() {
            return Err("it has as many values as names".into());
        }
        if !(1..=Loop::MOST_ARGUMENTS).contains(&self.arguments) {
            return Err(format!("its arguments are 1 to {}", Loop::MOST_ARGUMENTS));
        }
        let mut atoms = self.body.atoms();
        if atoms.any(|at| *at >= self.arguments) {
            return Err("it reads more than its arguments".into());
        }
        let nested = |node: &Node<usize>| matches!(node, Node::Op(Op::Call(_), _));
        if self.body.nodes.iter().any(nested) {
            return Err("it calls another routine".into());
        }
        Ok(())
    }

    /// Its name as a function of programs, in which the language's own functions begin alike.
    pub fn function(&self) -> String {
        format!("stencil_{}", self.name)
    }

    /// Does it do the same, whatever its names?
    pub fn is_same(&self, other: &Routine) -> bool {
        (self.arguments, &self.body) == (other.arguments, &other.body)
    }
}

/// The values of each routine, by its contents: each is kept once, as [loops](super::loops) are.
static KNOWN: Mutex<BTreeMap<&'static Routine, &'static [Value]>> = Mutex::new(BTreeMap::new());

/// One value of a routine.
#[derive(Debug)]
struct Value {
    of: &'static Routine,
    at: usize,
}

/// One value of a routine, as an operation.
#[derive(Clone, Copy, Debug)]
pub struct Called(&'static Value);

impl Called {
    /// The operations of all values of a routine.
    ///
    /// # Errors
    /// If the routine [fails its check](Routine::check).
    pub fn all(of: Routine) -> Result<Vec<Self>, String> {
        of.check().map_err(|why| format!("routine `{}`: {why}", of.name))?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let values: &'static [Value] = match known.get(&of) {
            Some(found) => found,
            None => {
                let of: &'static Routine = Box::leak(Box::new(of));
                let values = (0..of.values.len()).map(|at| Value { of, at });
                let kept = Vec::leak(values.collect());
                known.insert(of, kept);
                kept
            }
        };
        Ok(values.iter().map(Called).collect())
    }

    /// The routine.
    pub fn get(self) -> &'static Routine {
        self.0.of
    }

    /// The position of the value among those of the routine.
    pub fn value(self) -> usize {
        self.0.at
    }

    /// The name of the value in texts.
    pub fn name(self) -> &'static str {
        &self.get().values[self.value()]
    }

    /// Arithmetic instructions of the routine, shared among its values.
    pub fn cost(self) -> u32 {
        let all: u32 = self.get().body.nodes.iter().filter_map(Node::operation).map(Op::cost).sum();
        all.div_ceil(self.get().values.len() as u32)
    }

    /// The value for these arguments.
    pub(super) fn eval<T: Arithmetic>(self, arguments: &[T]) -> T {
        self.eval_by(arguments, Op::eval)
    }

    /// The same, by the value that `eval` gives each operation of the routine.
    pub(super) fn eval_by<T: Arithmetic>(
        self,
        arguments: &[T],
        mut eval: impl FnMut(Op, &[T]) -> T,
    ) -> T {
        let like = arguments[0];
        let mut values: Vec<T> = Vec::with_capacity(self.get().body.nodes.len());
        for node in &self.get().body.nodes {
            values.push(match node {
                Node::Lit(lit) => like.lit(lit.value()),
                Node::Atom(at) => arguments[*at],
                Node::Op(op, args) => {
                    let args: Vec<T> = args.iter().map(|arg| values[arg.0 as usize]).collect();
                    eval(*op, &args)
                }
            });
        }
        values[self.get().body.results[self.value()].0 as usize]
    }

    /// The derivative by each argument, at these arguments.
    pub(super) fn slopes(self, arguments: &[f64]) -> Vec<f64> {
        let unit = |at: usize| {
            let mut all = vec![0.0; arguments.len()];
            all[at] = 1.0;
            all
        };
        let changes: Vec<Vec<f64>> = (0..arguments.len()).map(unit).collect();
        let (_, mut slopes) = self.get().body.changes(arguments, &changes);
        slopes.swap_remove(self.get().body.results[self.value()].0 as usize)
    }

    /// The value with the operations of the routine in place of the call. `op` makes an operation of values.
    pub(crate) fn written_out<V: Clone, E>(
        self,
        arguments: &[V],
        number: Number<'_, V>,
        op: Operation<'_, V, E>,
    ) -> Result<V, E> {
        let mut values: Vec<V> = Vec::with_capacity(self.get().body.nodes.len());
        for node in &self.get().body.nodes {
            let value = match node {
                Node::Lit(lit) => number(lit.value()),
                Node::Atom(at) => arguments[*at].clone(),
                Node::Op(of, args) => {
                    let args: Vec<&V> = args.iter().map(|arg| &values[arg.0 as usize]).collect();
                    op(*of, &args)?
                }
            };
            values.push(value);
        }
        Ok(values[self.get().body.results[self.value()].0 as usize].clone())
    }

    /// The same as nodes of an expression.
    pub(crate) fn written_out_in<A: Clone + Ord>(self, b: &mut Builder<A>, args: &[Ref]) -> Ref {
        super::loops::in_builder(b, |number, op| self.written_out(args, number, op))
    }
}

// There is one of each content.
impl PartialEq for Called {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Called {}

impl PartialOrd for Called {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

// By content: addresses differ from run to run.
impl Ord for Called {
    fn cmp(&self, other: &Self) -> Ordering {
        let same = std::ptr::eq(self.0.of, other.0.of);
        let of = if same { Ordering::Equal } else { self.0.of.cmp(other.0.of) };
        of.then(self.value().cmp(&other.value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::text::{Operations, parse, parse_routine, print, print_routine};
    use crate::syntax::Lexer;

    const PLANE: &str = "turned 2 { turned_x = a0 * a0 - a1, turned_y = sqrt(a0) + a1 * a1 }";

    fn known() -> Operations {
        let mut known = Operations::new();
        parse_routine(&mut Lexer::new(PLANE).unwrap(), &mut known).unwrap();
        known
    }

    #[test]
    fn values_of_routines_are_those_of_their_expressions() {
        let known = known();
        let at = [4.0, 3.0];
        let written = |called: Called| {
            let mut b = Builder::new();
            let args: Vec<Ref> = (0..2).map(|at| b.atom(at)).collect();
            let result = called.written_out_in(&mut b, &args);
            b.finish(result)
        };
        for (op, value, by) in [("turned_x", 13.0, [8.0, -1.0]), ("turned_y", 11.0, [0.25, 6.0])]
            .map(|(n, v, s)| (known[n], v, s))
        {
            assert_eq!(op.eval(&at), value);
            assert_eq!(op.slopes(&at, value), by);
            let Op::Call(called) = op else { panic!("{op:?}") };
            assert_eq!(written(called).eval(|place| at[*place]), value);
        }
    }

    #[test]
    fn routines_are_read_as_they_are_printed() {
        let known = known();
        let Op::Call(called) = known["turned_y"] else { panic!("{known:?}") };
        let text = print_routine(called.get());
        let mut again = Operations::new();
        parse_routine(&mut Lexer::new(&text).unwrap(), &mut again).unwrap();
        assert_eq!(again, known);
        let mut lexer = Lexer::new("turned_x(q, 2.0)").unwrap();
        let call = parse(&mut lexer, &known, &mut |name, _| Ok(name.to_string())).unwrap();
        assert_eq!(print(&call, &mut String::clone), "turned_x(q, 2.0)");
        for (from, to) in [("2 {", "1 {"), ("a0 -", "b0 -")] {
            let text = PLANE.replacen(from, to, 1);
            let mut lexer = Lexer::new(&text).unwrap();
            assert!(parse_routine(&mut lexer, &mut Operations::new()).is_err(), "{text}");
        }
    }
}
