//! Loops that end by a test, as operations: functions of numbers that are written once, however often they are called.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use super::real::Arithmetic;
use super::{Builder, Expr, Node, Op, Ref, Routine};

/// Iterations of which one is expected: most loops end long before their bound.
const EXPECTED: u32 = 4;

/// Fewest iterations that are expected.
const FEWEST: u32 = 2;

/// A loop over numbers that ends by a test. Its value is that of the first variable behind the first iteration whose test
/// holds, and NaN if none does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loop {
    /// Its name in texts.
    pub name: String,
    /// The number of arguments: the first values of the variables, then values that stay.
    pub arguments: usize,
    /// The number of variables, one at least.
    pub variables: usize,
    /// The most iterations.
    pub most: u32,
    /// The new value of each variable, then the test, which holds if it is above zero. An atom is the position of an
    /// argument; those of the variables stand for their present values.
    pub body: Expr<usize>,
}

impl Loop {
    /// The most arguments.
    pub const MOST_ARGUMENTS: usize = 32;

    /// The most iterations.
    const MOST_ITERATIONS: u32 = 1 << 16;

    /// Checks that the body fits the arguments, and calls no other loop.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<(), String> {
        self.body.check()?;
        if self.variables == 0 || self.variables > self.arguments {
            return Err(format!(
                "{} variables of {} arguments; there is one at least",
                self.variables, self.arguments
            ));
        }
        if self.arguments > Self::MOST_ARGUMENTS {
            return Err(format!("more than {} arguments", Self::MOST_ARGUMENTS));
        }
        if !(1..=Self::MOST_ITERATIONS).contains(&self.most) {
            let most = Self::MOST_ITERATIONS;
            return Err(format!("{} iterations; 1 to {most} are possible", self.most));
        }
        if self.body.results.len() != self.variables + 1 {
            return Err("its values are not those of its variables and a test".into());
        }
        let mut atoms = self.body.atoms();
        if atoms.any(|at| *at >= self.arguments) {
            return Err("it reads more than its arguments".into());
        }
        let nested = |node: &Node<usize>| matches!(node, Node::Op(Op::Loop(_) | Op::Call(_), _));
        if self.body.nodes.iter().any(nested) {
            return Err("it holds another loop, or calls a routine".into());
        }
        Ok(())
    }

    /// Its name as a function of programs, in which the language's own functions begin alike.
    pub fn function(&self) -> String {
        format!("stencil_{}", self.name)
    }

    /// The same loop, whatever its name?
    pub fn is_same(&self, other: &Loop) -> bool {
        (self.arguments, self.variables, self.most, &self.body)
            == (other.arguments, other.variables, other.most, &other.body)
    }

    /// The iterations that a cost counts.
    pub fn expected(&self) -> u32 {
        (self.most / EXPECTED).max(FEWEST).min(self.most)
    }

    /// Arithmetic instructions of the expected iterations.
    pub fn cost(&self) -> u32 {
        let nodes = self.body.nodes.iter();
        let body: u32 = nodes.filter_map(|node| node.operation().map(Op::cost)).sum();
        body.saturating_mul(self.expected())
    }

    /// The value for these arguments, in every lane of them: a lane whose test has held keeps its values.
    #[inline(always)]
    pub(crate) fn eval_inlined<T: Arithmetic>(&self, arguments: &[T]) -> T {
        self.eval_counted(arguments).0
    }

    /// The same, and the iterations: as many as the lane takes whose test holds last.
    #[inline(always)]
    pub(crate) fn eval_counted<T: Arithmetic>(&self, arguments: &[T]) -> (T, u32) {
        let like = arguments[0];
        let (zero, one) = (like.lit(0.0), like.lit(1.0));
        let mut now = arguments.to_vec();
        let mut values: Vec<T> = Vec::with_capacity(self.body.nodes.len());
        let mut held = zero;
        let mut done = 0;
        for _ in 0..self.most {
            done += 1;
            values.clear();
            for node in &self.body.nodes {
                let value = match node {
                    Node::Lit(lit) => like.lit(lit.value()),
                    Node::Atom(at) => now[*at],
                    Node::Op(op, args) => {
                        let mut all = [zero; Op::MOST_ARGUMENTS];
                        for (slot, arg) in all.iter_mut().zip(args) {
                            *slot = values[arg.0 as usize];
                        }
                        op.eval_of_table(&all)
                    }
                };
                values.push(value);
            }
            let results = &self.body.results;
            for (variable, result) in now[..self.variables].iter_mut().zip(results) {
                *variable = zero.if_lt(held, *variable, values[result.0 as usize]);
            }
            held = zero.if_lt(held, one, values[results[self.variables].0 as usize]);
            if held.is_positive() {
                break;
            }
        }
        (zero.if_lt(held, now[0], like.lit(f64::NAN)), done)
    }

    /// The derivative by each argument, at these arguments: exact for the iterations that run.
    pub(super) fn slopes(&self, arguments: &[f64]) -> Vec<f64> {
        let mut now = arguments.to_vec();
        // For each value, its derivatives by all arguments.
        let mut changes = vec![vec![0.0; self.arguments]; self.arguments];
        for (at, by) in changes.iter_mut().enumerate() {
            by[at] = 1.0;
        }
        for _ in 0..self.most {
            let (values, slopes) = self.body.changes(&now, &changes);
            for at in 0..self.variables {
                let result = self.body.results[at].0 as usize;
                now[at] = values[result];
                changes[at].clone_from(&slopes[result]);
            }
            if values[self.body.results[self.variables].0 as usize] > 0.0 {
                return changes.swap_remove(0);
            }
        }
        vec![f64::NAN; self.arguments]
    }

    /// The value for these arguments as one expression, with all iterations written out: those behind the end change
    /// nothing. `op` makes an operation of values.
    pub(crate) fn unrolled<V: Clone, E>(
        &self,
        arguments: &[V],
        number: Number<'_, V>,
        op: Operation<'_, V, E>,
    ) -> Result<V, E> {
        let (zero, one, minus) = (number(0.0), number(1.0), number(-1.0));
        let mut now = arguments.to_vec();
        let mut held: Option<V> = None;
        for _ in 0..self.most {
            let mut values: Vec<V> = Vec::with_capacity(self.body.nodes.len());
            for node in &self.body.nodes {
                let value = match node {
                    Node::Lit(lit) => number(lit.value()),
                    Node::Atom(at) => now[*at].clone(),
                    Node::Op(of, args) => {
                        let args: Vec<&V> = args.iter().map(|a| &values[a.0 as usize]).collect();
                        op(*of, &args)?
                    }
                };
                values.push(value);
            }
            let result = |at: usize| &values[self.body.results[at].0 as usize];
            for (at, variable) in now.iter_mut().take(self.variables).enumerate() {
                *variable = match &held {
                    Some(held) => op(Op::Lt, &[&zero, held, variable, result(at)])?,
                    None => result(at).clone(),
                };
            }
            let test = result(self.variables);
            held = Some(match &held {
                Some(held) => op(Op::Lt, &[&zero, held, &one, test])?,
                None => test.clone(),
            });
        }
        let lost = op(Op::Sqrt, &[&minus])?;
        match &held {
            Some(held) => op(Op::Lt, &[&zero, held, &now[0], &lost]),
            None => Ok(lost),
        }
    }

    /// The same as nodes of an expression.
    pub(crate) fn unrolled_in<A: Clone + Ord>(&self, b: &mut Builder<A>, args: &[Ref]) -> Ref {
        in_builder(b, |number, op| self.unrolled(args, number, op))
    }
}

/// Makes literals.
pub(crate) type Number<'n, V> = &'n mut dyn FnMut(f64) -> V;

/// Makes operations.
pub(crate) type Operation<'o, V, E> = &'o mut dyn FnMut(Op, &[&V]) -> Result<V, E>;

/// A value that is made of nodes of an expression.
pub(super) fn in_builder<A: Clone + Ord>(
    b: &mut Builder<A>,
    make: impl FnOnce(Number<'_, Ref>, Operation<'_, Ref, Infallible>) -> Result<Ref, Infallible>,
) -> Ref {
    let cell = RefCell::new(b);
    let mut number = |value| cell.borrow_mut().lit(value);
    let mut op = |op: Op, args: &[&Ref]| {
        let args: Vec<Ref> = args.iter().map(|arg| **arg).collect();
        Ok(cell.borrow_mut().op(op, &args))
    };
    match make(&mut number, &mut op) {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

impl Expr<usize> {
    /// The values of all nodes for these arguments, and their derivatives by whatever the arguments are differentiated by.
    pub(super) fn changes(
        &self,
        arguments: &[f64],
        changes: &[Vec<f64>],
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (mut values, mut slopes): (Vec<f64>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        let by = changes.first().map_or(0, Vec::len);
        for node in &self.nodes {
            let (value, slope) = match node {
                Node::Lit(lit) => (lit.value(), vec![0.0; by]),
                Node::Atom(at) => (arguments[*at], changes[*at].clone()),
                Node::Op(op, args) => {
                    let of: Vec<f64> = args.iter().map(|arg| values[arg.0 as usize]).collect();
                    let value = op.eval(&of);
                    let mut sum = vec![0.0; by];
                    for (arg, slope) in args.iter().zip(op.slopes(&of, value)) {
                        // A value that does not change may have an infinite slope.
                        let parts = sum.iter_mut().zip(&slopes[arg.0 as usize]);
                        let parts = parts.filter(|(_, change)| **change != 0.0);
                        parts.for_each(|(sum, change)| *sum += slope * change);
                    }
                    (value, sum)
                }
            };
            values.push(value);
            slopes.push(slope);
        }
        (values, slopes)
    }
}

/// Loops by their contents: each is kept once, for as long as the process runs, so that operations are small values.
/// Their number is that of different loops in all declarations that a process reads.
static KNOWN: Mutex<BTreeSet<&'static Loop>> = Mutex::new(BTreeSet::new());

/// A loop as an operation.
#[derive(Clone, Copy, Debug)]
pub struct Looped(&'static Loop);

impl Looped {
    /// The operation of a loop.
    ///
    /// # Errors
    /// If the loop [fails its check](Loop::check).
    pub fn new(of: Loop) -> Result<Self, String> {
        of.check().map_err(|why| format!("loop `{}`: {why}", of.name))?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&of) {
            return Ok(Looped(found));
        }
        let kept: &'static Loop = Box::leak(Box::new(of));
        known.insert(kept);
        Ok(Looped(kept))
    }

    /// The loop.
    pub fn get(self) -> &'static Loop {
        self.0
    }

    /// The value for these arguments. Not inlined, for most expressions have no loop.
    #[inline(never)]
    pub(super) fn eval<T: Arithmetic>(self, arguments: &[T]) -> T {
        self.0.eval_inlined(arguments)
    }
}

impl Deref for Looped {
    type Target = Loop;
    fn deref(&self) -> &Loop {
        self.0
    }
}

// There is one of each content.
impl PartialEq for Looped {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Looped {}

impl PartialOrd for Looped {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

// By content: addresses differ from run to run.
impl Ord for Looped {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other { Ordering::Equal } else { self.0.cmp(other.0) }
    }
}

/// Loops and routines, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defined {
    /// Loops, those of routines among them.
    pub loops: BTreeSet<Looped>,
    /// Routines, by name and content.
    pub routines: BTreeSet<&'static Routine>,
}

impl Defined {
    /// Adds an operation, if it is a loop or a value of a routine.
    pub(crate) fn add(&mut self, op: Op) {
        match op {
            Op::Loop(of) => {
                self.loops.insert(of);
            }
            Op::Call(of) => {
                self.routines.insert(of.get());
                let inside = of.get().body.nodes.iter().filter_map(Node::operation);
                self.loops.extend(inside.filter_map(Op::looped));
            }
            _ => {}
        }
    }

    /// Adds all operations of nodes.
    pub(crate) fn add_all<A>(&mut self, nodes: &[Node<A>]) {
        nodes.iter().filter_map(Node::operation).for_each(|op| self.add(op));
    }
}

impl Op {
    /// The value of a loop or of a routine for these arguments, and the iterations of each loop that this takes.
    pub(crate) fn eval_counted<T: Arithmetic>(
        self,
        arguments: &[T],
        iterations: &mut Vec<u32>,
    ) -> T {
        match self {
            Op::Loop(of) => {
                let (value, done) = of.eval_counted(arguments);
                iterations.push(done);
                value
            }
            Op::Call(of) => of.eval_by(arguments, |op, args| op.eval_counted(args, iterations)),
            _ => self.eval(arguments),
        }
    }

    /// The loop that it is, if it is one.
    pub(crate) fn looped(self) -> Option<Looped> {
        match self {
            Op::Loop(of) => Some(of),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::text::{Operations, parse, parse_loop, print, print_loop};
    use crate::expr::{Expr, Real};
    use crate::syntax::Lexer;

    /// Newton's method for the root of `a1`, with the last step beside it, and a value that `a2` divides.
    const ROOT: &str = "root 4 to 3 within 6 iterations {
        a0 - (a0 - a3 / a0) / 2.0, (a0 - a3 / a0) / 2.0, a2 / 2.0, le(abs((a0 - a3 / a0) / 2.0), 1e-5, 1.0, 0.0)
    }";

    fn parsed(text: &str) -> Result<Looped, String> {
        let mut known = Operations::new();
        let mut lexer = Lexer::new(text).map_err(|e| e.to_string())?;
        parse_loop(&mut lexer, &mut known).map_err(|e| e.to_string())?;
        known.into_values().find_map(Op::looped).ok_or("no loop".into())
    }

    fn written_out(of: Looped) -> Expr<usize> {
        let mut b = Builder::new();
        let args: Vec<Ref> = (0..of.arguments).map(|at| b.atom(at)).collect();
        let result = of.unrolled_in(&mut b, &args);
        b.finish(result)
    }

    fn check_bits<T: Real>(of: Looped) {
        let all = written_out(of);
        for case in 0..200 {
            let a =
                [1.0 + f64::from(case), 0.0, 3.0, 0.03 * f64::from(case * case)].map(T::from_f64);
            let value = Op::Loop(of).eval(&a);
            assert_eq!(value.canonical_bits(), all.eval(|at| a[*at]).canonical_bits(), "{case}");
        }
    }

    #[test]
    fn loops_have_the_bits_of_all_iterations_written_out() {
        let root = parsed(ROOT).unwrap();
        check_bits::<f32>(root);
        check_bits::<f64>(root);
        // Six iterations are not enough from far away.
        let from = |first: f64| Op::Loop(root).eval(&[first, 0.0, 0.0, 2.0]);
        assert!(from(1e6).is_nan() && from(f64::NAN).is_nan());
        assert!((from(1.0) - 2.0_f64.sqrt()).abs() < 1e-10);
    }

    #[test]
    fn slopes_of_loops_are_limits_of_differences() {
        let root = Op::Loop(parsed(ROOT).unwrap());
        let at = [1.3, 0.0, 0.0, 2.0];
        let slopes = root.slopes(&at, root.eval(&at));
        for (by, slope) in slopes.into_iter().enumerate() {
            let moved = |step: f64| {
                let mut at = at;
                at[by] += step;
                root.eval(&at)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((difference - slope).abs() < 1e-8, "{by}: {slope}, {difference}");
        }
    }

    #[test]
    fn loops_are_read_as_they_are_printed() {
        let root = parsed(ROOT).unwrap();
        assert_eq!(parsed(&print_loop(&root)), Ok(root));
        let known = Operations::from([("root".to_string(), Op::Loop(root))]);
        let mut lexer = Lexer::new("2.0 * root(q, q, 1.0, 2.0)").unwrap();
        let call = parse(&mut lexer, &known, &mut |name, _| Ok(name.to_string())).unwrap();
        assert_eq!(print(&call, &mut String::clone), "2.0 * root(q, q, 1.0, 2.0)");
        let mut defined = Defined::default();
        defined.add_all(&call.nodes);
        assert_eq!(defined.loops, BTreeSet::from([root]));
        assert_eq!(
            Op::Loop(root).cost(),
            2 * root.body.nodes.iter().filter_map(Node::operation).map(Op::cost).sum::<u32>()
        );
    }

    #[test]
    fn loops_that_are_none_are_refused() {
        for (from, to, told) in [
            ("4 to 3", "4 to 2", "its values"),
            ("4 to 3", "3 to 3", "more than its arguments"),
            ("4 to 3", "33 to 3", "more than 32 arguments"),
            ("4 to 3", "4 to 0", "one at least"),
            ("6 iter", "0 iter", "0 iterations"),
            ("root", "sqrt", "an operation already"),
            ("a2 /", "b2 /", "no argument"),
        ] {
            let error = parsed(&ROOT.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(told), "{from} {to}: {error}");
        }
    }
}
