//! A launch of the plan to a kernel: the parts that all blocking strategies share. Values are
//! numbered, so that what two grid functions compute alike is computed once; rounding was fixed
//! before and nothing here changes an operation.

use std::collections::BTreeMap;

use super::blocking;
use super::{
    Buffer, BufferId, CellVar, IntVar, Kernel, Launch as Shape, LaunchKind, Mode, Operand, Reg,
    Stmt,
};
use crate::algorithm::{Access, Algorithm, Atom, Def, FnId, Offset, SumTerm, UniformId};
use crate::expr::{Expr, Lit, Node as ExprNode, Op, Ref};
use crate::plan::{Launch, Plan};
use crate::schedule::Placement;

/// What a blocking strategy lowers.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The discrete problem.
    pub algorithm: &'a Algorithm,
    /// The plan that the launch belongs to.
    pub plan: &'a Plan,
    /// What is to be computed.
    pub launch: &'a Launch,
    /// Bytes of a value.
    pub value_bytes: usize,
}

/// Lowers one launch of a plan by its blocking strategy.
///
/// # Errors
/// Where there is no such launch or strategy, or the strategy cannot serve the launch; the
/// message says why.
pub fn lower(
    algorithm: &Algorithm,
    plan: &Plan,
    launch: usize,
    value_bytes: usize,
) -> Result<Kernel, String> {
    let Some(launch) = plan.launches.get(launch) else {
        return Err(format!("no launch {launch} in the plan"));
    };
    let strategy = blocking::find(&launch.blocking.strategy)?;
    strategy.check_params(&launch.blocking)?;
    (strategy.lower)(&Context {
        algorithm,
        plan,
        launch,
        value_bytes,
    })
}

impl<'a> Context<'a> {
    /// Outputs of the launch: the buffer's name and the grid function.
    pub(super) fn outputs(&self) -> Result<Vec<(String, FnId)>, String> {
        let find = |(buffer, name): &(String, String)| Ok((buffer.clone(), self.find(name)?));
        self.launch.outputs.iter().map(find).collect()
    }

    /// The grid function of this name.
    pub(super) fn find(&self, name: &str) -> Result<FnId, String> {
        self.algorithm
            .find(name)
            .ok_or_else(|| format!("no grid function `{name}`"))
    }

    /// A parameter of the blocking.
    pub(super) fn param(&self, name: &str) -> u32 {
        let strategy = blocking::find(&self.launch.blocking.strategy).ok();
        let default = strategy
            .and_then(|s| s.params.iter().find(|p| p.name == name))
            .map_or(0, |p| p.default);
        self.launch
            .blocking
            .params
            .get(name)
            .copied()
            .unwrap_or(default)
    }

    /// Grid functions that live in registers across iterations.
    pub(super) fn placed(&self) -> Result<BTreeMap<FnId, Placement>, String> {
        let placed = self
            .launch
            .placements
            .iter()
            .map(|(name, p)| Ok((self.find(name)?, *p)));
        placed.collect()
    }

    /// For strategies that keep nothing from one iteration to the next.
    pub(super) fn refuse_placements(&self, strategy: &str) -> Result<(), String> {
        match self.launch.placements.first() {
            Some((name, p)) => Err(format!(
                "`{name}` is placed {} but `{strategy}` does not march; use `inline` or `global`",
                crate::schedule::text::placement_words(*p)
            )),
            None => Ok(()),
        }
    }
}

/// A kernel in the making: names are made unique, buffers and uniforms become parameters.
pub(super) struct Draft<'a> {
    pub(super) context: Context<'a>,
    pub(super) kernel: Kernel,
    names: BTreeMap<String, u32>,
    uniforms: BTreeMap<UniformId, u32>,
}

impl<'a> Draft<'a> {
    /// Starts with the buffers of the launch as parameters.
    pub(super) fn new(context: Context<'a>, launch: Shape) -> Self {
        let kernel = Kernel {
            name: context.launch.name.clone(),
            notes: context
                .launch
                .outputs
                .iter()
                .map(|(buffer, f)| format!("{buffer} = {f}"))
                .collect(),
            dimension: context.algorithm.dimension,
            value_bytes: context.value_bytes,
            launch,
            buffers: Vec::new(),
            uniforms: Vec::new(),
            shared: Vec::new(),
            barriers: Vec::new(),
            registers: Vec::new(),
            queues: Vec::new(),
            ints: Vec::new(),
            cells: Vec::new(),
            body: Vec::new(),
        };
        let mut draft = Draft {
            context,
            kernel,
            names: BTreeMap::new(),
            uniforms: BTreeMap::new(),
        };
        for uniform in &context.algorithm.uniforms {
            draft.names.insert(uniform.name.clone(), 1);
        }
        for (name, _) in &context.launch.inputs {
            let written = context
                .launch
                .outputs
                .iter()
                .any(|(output, _)| output == name);
            draft.buffer(name, if written { Mode::ReadWrite } else { Mode::Read });
        }
        for (name, _) in &context.launch.outputs {
            if draft.find_buffer(name).is_none() {
                draft.buffer(name, Mode::Write);
            }
        }
        draft
    }

    fn buffer(&mut self, name: &str, mode: Mode) {
        let halo = self.context.plan.buffer(name).map_or([0; 3], |b| b.halo);
        self.names.insert(name.to_string(), 1);
        self.kernel.buffers.push(Buffer {
            name: name.to_string(),
            mode,
            halo,
        });
    }

    pub(super) fn find_buffer(&self, name: &str) -> Option<BufferId> {
        self.kernel
            .buffers
            .iter()
            .position(|b| b.name == name)
            .map(|i| BufferId(i as u32))
    }

    /// A name that nothing else in the kernel has.
    fn unique(&mut self, name: &str) -> String {
        let mut free = name.to_string();
        while self.names.contains_key(&free) {
            let count = self.names.entry(name.to_string()).or_insert(1);
            *count += 1;
            free = format!("{name}_{count}");
        }
        self.names.insert(free.clone(), 1);
        free
    }

    pub(super) fn reg(&mut self, name: &str) -> Reg {
        let name = self.unique(name);
        self.kernel.registers.push(name);
        Reg(self.kernel.registers.len() as u32 - 1)
    }

    pub(super) fn queue(&mut self, name: &str) -> Reg {
        let reg = self.reg(name);
        self.kernel.queues.push(reg);
        reg
    }

    pub(super) fn int(&mut self, name: &str) -> IntVar {
        let name = self.unique(name);
        self.kernel.ints.push(name);
        IntVar(self.kernel.ints.len() as u32 - 1)
    }

    pub(super) fn cell(&mut self, name: &str) -> CellVar {
        let name = self.unique(name);
        self.kernel.cells.push(name);
        CellVar(self.kernel.cells.len() as u32 - 1)
    }

    pub(super) fn uniform(&mut self, id: UniformId) -> u32 {
        if let Some(&known) = self.uniforms.get(&id) {
            return known;
        }
        let at = self.kernel.uniforms.len() as u32;
        let name = self.context.algorithm.uniform(id).name.clone();
        self.kernel.uniforms.push(name);
        self.uniforms.insert(id, at);
        at
    }
}

/// Number of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueId(u32);

/// What a value is.
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
    known: BTreeMap<Value, ValueId>,
    at: BTreeMap<(FnId, Offset), ValueId>,
    stored: Vec<FnId>,
    delayed: Vec<FnId>,
}

impl<'a> Values<'a> {
    /// `stored` functions are read from buffers; `delayed` ones have values only where they are
    /// set by [`Values::set`].
    pub(super) fn new(context: &Context<'a>, delayed: Vec<FnId>) -> Result<Self, String> {
        let stored: Result<Vec<FnId>, String> = context
            .launch
            .inputs
            .iter()
            .map(|(name, _)| context.find(name))
            .collect();
        let stored = stored?;
        let (values, names, known, at) = Default::default();
        Ok(Values {
            algorithm: context.algorithm,
            values,
            names,
            known,
            at,
            stored,
            delayed,
        })
    }

    pub(super) fn get(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    pub(super) fn name(&self, id: ValueId) -> &str {
        &self.names[id.0 as usize]
    }

    pub(super) fn number(&mut self, value: Value, name: &str) -> ValueId {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let id = ValueId(self.values.len() as u32);
        self.values.push(value.clone());
        self.names.push(name.to_string());
        self.known.insert(value, id);
        id
    }

    /// Says what a delayed function's value is at an offset.
    pub(super) fn set(&mut self, of: FnId, at: Offset, value: ValueId) {
        self.at.insert((of, at), value);
    }

    /// The value of a grid function at an offset.
    pub(super) fn value(&mut self, of: FnId, at: Offset) -> Result<ValueId, String> {
        if let Some(&known) = self.at.get(&(of, at)) {
            return Ok(known);
        }
        let function = self.algorithm.function(of);
        if self.delayed.contains(&of) {
            return Err(format!(
                "`{}` rides along the march in its own column, but is read at {at:?}",
                function.name
            ));
        }
        let value = if self.stored.contains(&of) {
            self.number(Value::Read(of, at), &label(&function.name, at))
        } else {
            self.define(of, at)?
        };
        self.at.insert((of, at), value);
        Ok(value)
    }

    /// Computes a grid function at an offset from its definition.
    pub(super) fn define(&mut self, of: FnId, at: Offset) -> Result<ValueId, String> {
        let algorithm = self.algorithm;
        let function = algorithm.function(of);
        match &function.def {
            Def::State(_) => Err(format!(
                "`{}` is read but is no input of this launch",
                function.name
            )),
            Def::Point(expr) => self.point(expr, &function.name, at),
            Def::Sum(terms) => self.sum(terms, &function.name, at, None),
        }
    }

    fn point(&mut self, expr: &Expr<Atom>, name: &str, at: Offset) -> Result<ValueId, String> {
        let mut done: Vec<ValueId> = Vec::with_capacity(expr.nodes.len());
        for (i, node) in expr.nodes.iter().enumerate() {
            let value = match node {
                ExprNode::Lit(lit) => self.number(Value::Lit(*lit), "lit"),
                ExprNode::Atom(Atom::Uniform(id)) => self.number(Value::Uniform(*id), "uniform"),
                ExprNode::Atom(Atom::Access(access)) => {
                    self.value(access.of, add(at, access.at))?
                }
                ExprNode::Op(op, args) => {
                    let args = args.iter().map(|a: &Ref| done[a.0 as usize]).collect();
                    let last = i + 1 == expr.nodes.len();
                    let name = if last {
                        label(name, at)
                    } else {
                        label(&format!("{name}_t"), at)
                    };
                    self.number(Value::Op(*op, args), &name)
                }
            };
            done.push(value);
        }
        Ok(done[expr.result().0 as usize])
    }

    /// Adds terms to a sum, in order: a product first, then fused multiply-adds.
    pub(super) fn sum(
        &mut self,
        terms: &[SumTerm],
        name: &str,
        at: Offset,
        start: Option<ValueId>,
    ) -> Result<ValueId, String> {
        let mut sum = start;
        for term in terms {
            let value = self.value(term.value.of, add(at, term.value.at))?;
            sum = Some(self.term(term, value, sum, &label(name, at)));
        }
        sum.ok_or_else(|| format!("`{name}` is an empty sum"))
    }

    /// One term of an ordered sum, its value given.
    pub(super) fn term(
        &mut self,
        term: &SumTerm,
        value: ValueId,
        sum: Option<ValueId>,
        name: &str,
    ) -> ValueId {
        let factor = term
            .factor
            .map(|id| self.number(Value::Uniform(id), "uniform"));
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
    /// Emits what is needed and returns where the value is.
    fn read(
        &mut self,
        draft: &mut Draft<'_>,
        out: &mut Vec<Stmt>,
        of: FnId,
        at: Offset,
        name: &str,
    ) -> Result<Operand, String>;
}

/// Writes values as statements, each once.
#[derive(Default)]
pub(super) struct Writer {
    done: BTreeMap<ValueId, Operand>,
}

impl Writer {
    /// Emits what a value needs and returns where it is.
    pub(super) fn write(
        &mut self,
        draft: &mut Draft<'_>,
        values: &Values<'_>,
        reader: &mut dyn Reader,
        out: &mut Vec<Stmt>,
        id: ValueId,
    ) -> Result<Operand, String> {
        if let Some(&done) = self.done.get(&id) {
            return Ok(done);
        }
        let operand = match values.get(id) {
            Value::Lit(lit) => Operand::Lit(*lit),
            Value::Uniform(uniform) => Operand::Uniform(draft.uniform(*uniform)),
            Value::Register(reg) => Operand::Reg(*reg),
            Value::Read(of, at) => reader.read(draft, out, *of, *at, values.name(id))?,
            Value::Op(op, args) => {
                // The sum so far comes before what is added to it: evaluated the other way, all
                // terms of a long sum would be alive at once.
                let order: &[usize] = if args.len() == 3 { &[2, 0, 1] } else { &[0, 1] };
                let mut operands = vec![Operand::Uniform(0); args.len()];
                for &at in order.iter().filter(|at| **at < args.len()) {
                    operands[at] = self.write(draft, values, reader, out, args[at])?;
                }
                let reg = draft.reg(values.name(id));
                out.push(Stmt::Let {
                    reg,
                    op: *op,
                    args: operands,
                });
                Operand::Reg(reg)
            }
        };
        self.done.insert(id, operand);
        Ok(operand)
    }
}

/// A name for a grid function at an offset: `u_x`, `u_x_p1_0_m2`.
pub(super) fn label(name: &str, at: Offset) -> String {
    if at == [0; 3] {
        return name.to_string();
    }
    let part = |v: i32| match v {
        0 => "0".to_string(),
        v if v > 0 => format!("p{v}"),
        v => format!("m{}", -v),
    };
    format!("{name}_{}_{}_{}", part(at[0]), part(at[1]), part(at[2]))
}

/// The sum of two offsets.
pub(super) fn add(a: Offset, b: Offset) -> Offset {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// A shape without shared limits: rows, or blocks of threads.
pub(super) fn shape(
    kind: LaunchKind,
    threads: [u32; 3],
    tile: [u32; 3],
    extend: [u32; 3],
) -> Shape {
    Shape {
        kind,
        threads,
        tile,
        extend,
        blocks_per_unit: 1,
    }
}

/// An access by id and offset, for messages.
pub(super) fn describe(algorithm: &Algorithm, access: Access) -> String {
    label(&algorithm.function(access.of).name, access.at)
}
