//! From a DAG of grid functions to a list of row values, each computed once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use crate::algorithm::{Access, Algorithm, Atom, Def, FnId, StateId, SumTerm, UniformId};
use crate::expr::{Called, Expr, Lit, Node, Op, Real};

/// Terms of a sum that are evaluated before they are added; longer sums take several passes, so that
/// few rows are kept.
const TERMS: usize = 6;

/// A number that is the same in every cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scalar {
    Uniform(UniformId),
    Lit(Lit),
    Op(Op, Vec<ScalarId>),
}

/// Index into [`Tape::scalars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScalarId(pub(super) usize);

impl Scalar {
    /// Its value, given the values of earlier scalars.
    pub(super) fn value<T: Real>(&self, uniforms: &[T], earlier: &[T]) -> T {
        match self {
            Scalar::Uniform(uniform) => uniforms[uniform.0 as usize],
            Scalar::Lit(lit) => T::from_f64(lit.value()),
            Scalar::Op(op, args) => {
                let args: Vec<T> = args.iter().map(|arg| earlier[arg.0]).collect();
                op.eval(&args)
            }
        }
    }
}

/// Index into [`Tape::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueId(pub(super) usize);

/// A row, read `x` cells further along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Operand {
    pub(super) value: ValueId,
    pub(super) x: i32,
}

/// An argument: a row or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Arg {
    Row(Operand),
    Scalar(ScalarId),
}

/// A row that is at hand or computed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// A row of a whole array.
    Input { input: usize, y: i32, z: i32 },
    /// The old values of an output's row.
    Own { output: usize },
    /// A number in every cell.
    Fill(ScalarId),
    /// `before + factor * row + ..`, each term fused; without `before` the first is a product.
    Sum { before: Option<Operand>, terms: Vec<(ScalarId, Operand)> },
    /// One operation.
    Op(Op, Vec<Arg>),
}

/// A grid function on the row at a (y, z) offset.
type Key = (FnId, i32, i32);

enum Task {
    Function(Key),
    Point(Key),
    /// One pass of a sum; the terms before are summed.
    Terms(Key, usize),
}

/// Values in an order in which they can be computed.
pub(super) struct Tape<'a> {
    alg: &'a Algorithm,
    stored: &'a BTreeSet<FnId>,
    roots: &'a [(FnId, Option<StateId>)],
    pub(super) values: Vec<Value>,
    known_values: BTreeMap<Value, ValueId>,
    pub(super) scalars: Vec<Scalar>,
    known_scalars: BTreeMap<Scalar, ScalarId>,
    pub(super) inputs: Vec<FnId>,
    functions: BTreeMap<Key, Arg>,
    sums: BTreeMap<Key, Operand>,
}

impl<'a> Tape<'a> {
    /// The tape of some functions, and their values. Roots with a state may read that state's
    /// accumulator in place.
    pub(super) fn new(
        alg: &'a Algorithm,
        roots: &'a [(FnId, Option<StateId>)],
        stored: &'a BTreeSet<FnId>,
    ) -> (Self, Vec<Arg>) {
        let mut tape = Tape {
            alg,
            stored,
            roots,
            values: Vec::new(),
            known_values: BTreeMap::new(),
            scalars: Vec::new(),
            known_scalars: BTreeMap::new(),
            inputs: Vec::new(),
            functions: BTreeMap::new(),
            sums: BTreeMap::new(),
        };
        let results = roots.iter().map(|(root, _)| tape.function((*root, 0, 0))).collect();
        (tape, results)
    }

    /// Evaluates a function and first whatever it reads, with its own stack: chains may be long.
    fn function(&mut self, key: Key) -> Arg {
        let alg = self.alg;
        let mut tasks = vec![Task::Function(key)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Function(key) if self.functions.contains_key(&key) => {}
                Task::Function(key) => match &alg.function(key.0).def {
                    _ if self.is_read(key) => self.read(key),
                    Def::State(state) => self.state(key, *state),
                    Def::Point(_) => {
                        tasks.push(Task::Point(key));
                        let accesses = alg.function(key.0).def.accesses();
                        tasks.extend(accesses.iter().rev().map(|a| Task::Function(moved(a, key))));
                    }
                    Def::Sum(terms) => {
                        for (pass, terms) in terms.chunks(TERMS).enumerate().rev() {
                            tasks.push(Task::Terms(key, pass));
                            tasks.extend(
                                terms.iter().rev().map(|t| Task::Function(moved(&t.value, key))),
                            );
                        }
                    }
                },
                Task::Point(key) => {
                    if let Def::Point(expr) = &alg.function(key.0).def {
                        let value = self.point(key, expr);
                        self.functions.insert(key, value);
                    }
                }
                Task::Terms(key, pass) => {
                    if let Def::Sum(terms) = &alg.function(key.0).def {
                        self.terms(key, terms, pass);
                    }
                }
            }
        }
        self.functions[&key]
    }

    fn is_read(&self, key: Key) -> bool {
        let is_root = (key.1, key.2) == (0, 0) && self.roots.iter().any(|(root, _)| *root == key.0);
        self.stored.contains(&key.0) && !is_root
    }

    fn read(&mut self, key: Key) {
        let (function, y, z) = key;
        let input = self.inputs.iter().position(|f| *f == function).unwrap_or_else(|| {
            self.inputs.push(function);
            self.inputs.len() - 1
        });
        let row = self.value(Value::Input { input, y, z });
        self.functions.insert(key, Arg::Row(row));
    }

    fn state(&mut self, key: Key, state: StateId) {
        let in_place = self.alg.state(state).role.is_in_place();
        match self.roots.iter().position(|(_, updated)| *updated == Some(state)) {
            Some(output) if in_place => {
                let row = self.value(Value::Own { output });
                self.functions.insert(key, Arg::Row(row));
            }
            _ => self.read(key),
        }
    }

    fn terms(&mut self, key: Key, terms: &[SumTerm], pass: usize) {
        let passes = terms.chunks(TERMS).len();
        let terms = &terms[pass * TERMS..(pass * TERMS + TERMS).min(terms.len())];
        let terms = terms.iter().map(|term| (self.factor(term), self.access(&term.value, key)));
        let terms: Vec<(ScalarId, Arg)> = terms.collect();
        let terms = terms.into_iter().map(|(factor, value)| (factor, self.row(value))).collect();
        let row = self.value(Value::Sum { before: self.sums.get(&key).copied(), terms });
        if pass + 1 == passes {
            self.functions.insert(key, Arg::Row(row));
        } else {
            self.sums.insert(key, row);
        }
    }

    /// The signed factor of a term. A term without factor has the factor one: that multiplication is
    /// exact, so the fused multiply-add rounds as the addition would.
    fn factor(&mut self, term: &SumTerm) -> ScalarId {
        let factor = match term.factor {
            Some(uniform) => Scalar::Uniform(uniform),
            None => Scalar::Lit(Lit::new(1.0)),
        };
        let factor = self.scalar(factor);
        if term.negative { self.scalar(Scalar::Op(Op::Neg, vec![factor])) } else { factor }
    }

    fn point(&mut self, key: Key, expr: &Expr<Atom>) -> Arg {
        let mut args: Vec<Arg> = Vec::with_capacity(expr.nodes.len());
        for node in &expr.nodes {
            let arg = match node {
                Node::Lit(lit) => Arg::Scalar(self.scalar(Scalar::Lit(*lit))),
                Node::Atom(Atom::Uniform(uniform)) => {
                    Arg::Scalar(self.scalar(Scalar::Uniform(*uniform)))
                }
                Node::Atom(Atom::Access(access)) => self.access(access, key),
                Node::Op(Op::Call(of), refs) => {
                    let args: Vec<Arg> = refs.iter().map(|r| args[r.0 as usize]).collect();
                    self.written_out(*of, &args)
                }
                Node::Op(op, refs) => {
                    let args: Vec<Arg> = refs.iter().map(|r| args[r.0 as usize]).collect();
                    self.op(*op, args)
                }
            };
            args.push(arg);
        }
        args[expr.result().0 as usize]
    }

    /// A value of a routine by its operations.
    fn written_out(&mut self, of: Called, args: &[Arg]) -> Arg {
        let cell = RefCell::new(self);
        let mut literal = |value| Arg::Scalar(cell.borrow_mut().literal(Lit::new(value)));
        let mut op = |op: Op, args: &[&Arg]| {
            let args = args.iter().map(|arg| **arg).collect();
            Ok::<Arg, Infallible>(cell.borrow_mut().op(op, args))
        };
        match of.written_out(args, &mut literal, &mut op) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    fn op(&mut self, op: Op, args: Vec<Arg>) -> Arg {
        let scalars = args.iter().map(|arg| match arg {
            Arg::Scalar(scalar) => Some(*scalar),
            Arg::Row(_) => None,
        });
        if let Some(scalars) = scalars.collect::<Option<Vec<_>>>() {
            return Arg::Scalar(self.scalar(Scalar::Op(op, scalars)));
        }
        Arg::Row(self.value(Value::Op(op, args)))
    }

    fn access(&self, access: &Access, reader: Key) -> Arg {
        match self.functions[&moved(access, reader)] {
            Arg::Row(Operand { value, x }) => Arg::Row(Operand { value, x: x + access.at[0] }),
            scalar @ Arg::Scalar(_) => scalar,
        }
    }

    /// A row of an argument.
    fn row(&mut self, arg: Arg) -> Operand {
        match arg {
            Arg::Row(row) => row,
            Arg::Scalar(scalar) => self.value(Value::Fill(scalar)),
        }
    }

    /// A literal.
    pub(super) fn literal(&mut self, lit: Lit) -> ScalarId {
        self.scalar(Scalar::Lit(lit))
    }

    /// A value, new or known.
    pub(super) fn value(&mut self, value: Value) -> Operand {
        let next = ValueId(self.values.len());
        let id = *self.known_values.entry(value.clone()).or_insert(next);
        if id == next {
            self.values.push(value);
        }
        Operand { value: id, x: 0 }
    }

    fn scalar(&mut self, scalar: Scalar) -> ScalarId {
        let next = ScalarId(self.scalars.len());
        let id = *self.known_scalars.entry(scalar.clone()).or_insert(next);
        if id == next {
            self.scalars.push(scalar);
        }
        id
    }
}

/// The access as a row from the output's row.
fn moved(access: &Access, (_, y, z): Key) -> Key {
    (access.of, y + access.at[1], z + access.at[2])
}
