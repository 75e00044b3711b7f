//! Numbered values: common values of two grid functions are computed once. Rounding was fixed before, and nothing here
//! changes an operation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;

use super::lower::{Context, Draft, add, label};
use super::{Operand, Reg, Stmt};
use crate::algorithm::{Algorithm, Atom, Def, FnId, Offset, SumTerm, UniformId};
use crate::expr::{Called, Expr, Lit, Node as ExprNode, Op, Ref};
use crate::schedule::{LaunchKind, Refusal, strategies};

/// Number of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueId(u32);

/// The definition of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// A buffer at an offset from the thread's first cell.
    Read(FnId, Offset),
    /// The present content of a register.
    Register(Reg),
    /// A uniform.
    Uniform(UniformId),
    /// A literal.
    Lit(Lit),
    /// An operation.
    Op(Op, Vec<ValueId>),
}

/// Numbered values of grid functions at offsets from the thread's first cell.
pub(super) struct Values<'a> {
    algorithm: &'a Algorithm,
    values: Vec<Value>,
    names: Vec<String>,
    /// The grid function that each value was first needed for.
    origins: Vec<Option<FnId>>,
    origin: Option<FnId>,
    known: BTreeMap<Value, ValueId>,
    at: BTreeMap<(FnId, Offset), ValueId>,
    stored: Vec<FnId>,
    delayed: Vec<FnId>,
    /// Are routines written out? In rows they share values with what stands beside them.
    writes_out: bool,
}

impl<'a> Values<'a> {
    /// `stored` functions are read from buffers; `delayed` ones have values only where they are
    /// set by [`Values::set`].
    pub(super) fn new(context: &Context<'a>, delayed: Vec<FnId>) -> Result<Self, Refusal> {
        let stored: Result<Vec<FnId>, Refusal> =
            context.launch.inputs.iter().map(|(name, _)| context.find(name)).collect();
        let stored = stored?;
        let strategy = strategies::find(&context.launch.blocking.strategy)?;
        let (values, names, origins, known, at) = Default::default();
        Ok(Values {
            algorithm: context.algorithm,
            values,
            names,
            origins,
            origin: None,
            known,
            at,
            stored,
            delayed,
            writes_out: strategy.kind == LaunchKind::Rows,
        })
    }

    /// Functions that are read as buffers are, from where the strategy keeps them.
    pub(super) fn staged(&mut self, functions: impl Iterator<Item = FnId>) {
        self.stored.extend(functions);
    }

    /// Reads of buffers among the values, each once.
    pub(super) fn reads(&self) -> impl Iterator<Item = (FnId, Offset)> {
        self.values.iter().filter_map(|value| match value {
            Value::Read(of, at) => Some((*of, *at)),
            _ => None,
        })
    }

    pub(super) fn get(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    pub(super) fn name(&self, id: ValueId) -> &str {
        &self.names[id.0 as usize]
    }

    /// The grid function that a value was first needed for.
    pub(super) fn origin(&self, id: ValueId) -> Option<FnId> {
        self.origins[id.0 as usize]
    }

    /// Sets the grid function that new values belong to; returns the one before.
    pub(super) fn computes(&mut self, of: Option<FnId>) -> Option<FnId> {
        std::mem::replace(&mut self.origin, of)
    }

    pub(super) fn number(&mut self, value: Value, name: &str) -> ValueId {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let id = ValueId(self.values.len() as u32);
        self.values.push(value.clone());
        self.names.push(name.to_string());
        self.origins.push(self.origin);
        self.known.insert(value, id);
        id
    }

    /// Sets the value of a delayed function at an offset.
    pub(super) fn set(&mut self, of: FnId, at: Offset, value: ValueId) {
        self.at.insert((of, at), value);
    }

    /// The value of a grid function at an offset.
    pub(super) fn value(&mut self, of: FnId, at: Offset) -> Result<ValueId, Refusal> {
        if let Some(&known) = self.at.get(&(of, at)) {
            return Ok(known);
        }
        let function = self.algorithm.function(of);
        if self.delayed.contains(&of) {
            return Err(Refusal::placement(
                &function.name,
                format!(
                    "`{}` rides along the march in its own column, but is read at {at:?}",
                    function.name
                ),
            ));
        }
        let value =
            if self.stored.contains(&of) { self.read(of, at) } else { self.define(of, at)? };
        self.at.insert((of, at), value);
        Ok(value)
    }

    fn read(&mut self, of: FnId, at: Offset) -> ValueId {
        let name = label(&self.algorithm.function(of).name, at);
        self.number(Value::Read(of, at), &name)
    }

    /// Computes a grid function at an offset from its definition; a state is read by the launch.
    pub(super) fn define(&mut self, of: FnId, at: Offset) -> Result<ValueId, Refusal> {
        let outer = self.computes(Some(of));
        let value = self.defined(of, at);
        self.computes(outer);
        value
    }

    fn defined(&mut self, of: FnId, at: Offset) -> Result<ValueId, Refusal> {
        let algorithm = self.algorithm;
        let function = algorithm.function(of);
        match &function.def {
            Def::State(_) if self.stored.contains(&of) => Ok(self.read(of, at)),
            Def::State(_) => {
                Err(format!("`{}` is read but is no input of this launch", function.name).into())
            }
            Def::Point(expr) => self.point(expr, &function.name, at),
            Def::Sum(terms) => self.sum(terms, &function.name, at, None),
        }
    }

    fn point(&mut self, expr: &Expr<Atom>, name: &str, at: Offset) -> Result<ValueId, Refusal> {
        let mut done: Vec<ValueId> = Vec::with_capacity(expr.nodes.len());
        for (i, node) in expr.nodes.iter().enumerate() {
            let value = match node {
                ExprNode::Lit(lit) => self.number(Value::Lit(*lit), "lit"),
                ExprNode::Atom(Atom::Uniform(id)) => self.number(Value::Uniform(*id), "uniform"),
                ExprNode::Atom(Atom::Access(access)) => {
                    self.value(access.of, add(at, access.at))?
                }
                ExprNode::Op(Op::Call(of), args) if self.writes_out => {
                    let args: Vec<ValueId> = args.iter().map(|a| done[a.0 as usize]).collect();
                    self.written_out(*of, &args, &label(&format!("{name}_t"), at))
                }
                ExprNode::Op(op, args) => {
                    let args = args.iter().map(|a: &Ref| done[a.0 as usize]).collect();
                    let last = i + 1 == expr.nodes.len();
                    let name = if last { label(name, at) } else { label(&format!("{name}_t"), at) };
                    self.number(Value::Op(*op, args), &name)
                }
            };
            done.push(value);
        }
        Ok(done[expr.result().0 as usize])
    }

    /// A value of a routine by its operations.
    fn written_out(&mut self, of: Called, args: &[ValueId], name: &str) -> ValueId {
        let cell = RefCell::new(self);
        let mut literal = |value| {
            let mut values = cell.borrow_mut();
            values.number(Value::Lit(Lit::new(value)), "lit")
        };
        let mut op = |op: Op, args: &[&ValueId]| {
            let args = args.iter().map(|arg| **arg).collect();
            Ok::<_, Infallible>(cell.borrow_mut().number(Value::Op(op, args), name))
        };
        match of.written_out(args, &mut literal, &mut op) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Adds terms to a sum, in order: a product first, then fused multiply-adds.
    pub(super) fn sum(
        &mut self,
        terms: &[SumTerm],
        name: &str,
        at: Offset,
        start: Option<ValueId>,
    ) -> Result<ValueId, Refusal> {
        let mut sum = start;
        for term in terms {
            let value = self.value(term.value.of, add(at, term.value.at))?;
            sum = Some(self.term(term, value, sum, &label(name, at)));
        }
        sum.ok_or_else(|| format!("`{name}` is an empty sum").into())
    }

    /// One term of an ordered sum, given its value.
    pub(super) fn term(
        &mut self,
        term: &SumTerm,
        value: ValueId,
        sum: Option<ValueId>,
        name: &str,
    ) -> ValueId {
        let factor = term.factor.map(|id| self.number(Value::Uniform(id), "uniform"));
        match (sum, factor) {
            (None, None) => self.signed(value, term.negative, name),
            (None, Some(factor)) => {
                let factor = self.signed(factor, term.negative, name);
                self.number(Value::Op(Op::Mul, vec![factor, value]), name)
            }
            (Some(sum), None) => {
                let op = if term.negative { Op::Sub } else { Op::Add };
                self.number(Value::Op(op, vec![sum, value]), name)
            }
            (Some(sum), Some(factor)) => {
                let factor = self.signed(factor, term.negative, name);
                self.number(Value::Op(Op::Fma, vec![factor, value, sum]), name)
            }
        }
    }

    fn signed(&mut self, value: ValueId, negative: bool, name: &str) -> ValueId {
        if negative {
            self.number(Value::Op(Op::Neg, vec![value]), &format!("minus_{name}"))
        } else {
            value
        }
    }
}

/// Turns reads into statements, as a strategy does it.
pub(super) trait Reader {
    /// Emits the needed statements and returns the place of the value.
    fn read(
        &mut self,
        draft: &mut Draft<'_>,
        out: &mut Vec<Stmt>,
        of: FnId,
        at: Offset,
        name: &str,
    ) -> Result<Operand, Refusal>;
}

/// Writes values as statements, each once.
#[derive(Default)]
pub(super) struct Writer {
    done: BTreeMap<ValueId, Operand>,
}

impl Writer {
    /// Emits the operands of a value and returns its place.
    pub(super) fn write(
        &mut self,
        draft: &mut Draft<'_>,
        values: &Values<'_>,
        reader: &mut dyn Reader,
        out: &mut Vec<Stmt>,
        id: ValueId,
    ) -> Result<Operand, Refusal> {
        if let Some(&done) = self.done.get(&id) {
            return Ok(done);
        }
        let outer = draft.computes(values.origin(id));
        let operand = match values.get(id) {
            Value::Lit(lit) => Operand::Lit(*lit),
            Value::Uniform(uniform) => Operand::Uniform(draft.uniform(*uniform)),
            Value::Register(reg) => Operand::Reg(*reg),
            Value::Read(of, at) => reader.read(draft, out, *of, *at, values.name(id))?,
            Value::Op(op, args) => {
                // The sum so far comes before the term that is added to it: evaluated the other way, all terms of a
                // long sum would be alive at once.
                let mut order: Vec<usize> = (0..args.len()).collect();
                if *op == Op::Fma {
                    order.rotate_right(1);
                }
                let mut operands = vec![Operand::Uniform(0); args.len()];
                for at in order {
                    operands[at] = self.write(draft, values, reader, out, args[at])?;
                }
                let reg = draft.reg(values.name(id));
                out.push(Stmt::Let { reg, op: *op, args: operands });
                Operand::Reg(reg)
            }
        };
        draft.computes(outer);
        self.done.insert(id, operand);
        Ok(operand)
    }
}
