//! Statements with values that are used once nested into the expression that uses them.
//!
//! Operations are pure and exactly rounded, so where one is evaluated does not change its value.
//! Loads stay where they are, and nothing moves across a loop, a condition or a barrier.

use std::collections::{BTreeMap, BTreeSet};

use crate::expr::Op;
use crate::kernel::{BufferId, CellVar, IntVar, Kernel, Operand, Reg, Stmt};

/// Operations in one expression, at most.
const MOST_OPS: usize = 6;
/// Levels of operations in one expression, at most.
const DEEPEST: usize = 3;
/// Statements that a value may move down.
const FARTHEST: usize = 8;

/// A value as an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    /// A register, uniform or literal.
    Leaf(Operand),
    /// An operation.
    Op(Op, Vec<Tree>),
}

impl Tree {
    pub(super) fn ops(&self) -> usize {
        match self {
            Tree::Leaf(_) => 0,
            Tree::Op(_, args) => 1 + args.iter().map(Tree::ops).sum::<usize>(),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Tree::Leaf(_) => 0,
            Tree::Op(_, args) => 1 + args.iter().map(Tree::depth).max().unwrap_or(0),
        }
    }

    fn reads(&self, reg: Reg) -> bool {
        match self {
            Tree::Leaf(leaf) => *leaf == Operand::Reg(reg),
            Tree::Op(_, args) => args.iter().any(|arg| arg.reads(reg)),
        }
    }
}

/// A statement over expressions.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Nested<'a> {
    /// Defines a register, or assigns a queue.
    Value { reg: Reg, value: Tree },
    /// Writes consecutive cells of a buffer.
    Store {
        buffer: BufferId,
        cell: CellVar,
        offset: [i32; 3],
        values: Vec<Tree>,
        /// The register that the first value was in.
        first: Option<Reg>,
    },
    /// A loop or condition and its statements.
    Block(&'a Stmt, Vec<Nested<'a>>),
    /// A statement without operations.
    Plain(&'a Stmt),
}

impl Nested<'_> {
    /// The register that receives the result of the statement.
    pub(super) fn register(&self) -> Option<Reg> {
        match self {
            Nested::Value { reg, .. } | Nested::Plain(Stmt::Load { reg, .. }) => Some(*reg),
            Nested::Plain(Stmt::LoadShared { regs, .. }) => regs.first().copied(),
            Nested::Store { first, .. } => *first,
            Nested::Plain(_) | Nested::Block(..) => None,
        }
    }
}

/// The statements of a kernel, nested.
pub(super) fn nest(kernel: &Kernel) -> Vec<Nested<'_>> {
    let mut uses = BTreeMap::new();
    count_uses(&kernel.body, &mut uses);
    let fixed = kernel.queues.iter().copied().collect();
    Nester { uses, fixed }.list(&kernel.body)
}

/// Does the spelling of an operation repeat an argument, which then must stay a name?
pub(super) fn repeats(op: Op) -> bool {
    let marks = vec!["#".to_string(); op.arity()];
    op.c(&marks, "").matches('#').count() > op.arity()
}

/// Operands of a statement that are values.
fn operands(stmt: &Stmt) -> &[Operand] {
    match stmt {
        Stmt::Let { args, .. } => args,
        Stmt::Store { values, .. } | Stmt::StoreShared { values, .. } => values,
        Stmt::Set { value, .. } => std::slice::from_ref(value),
        Stmt::Note(_)
        | Stmt::Int { .. }
        | Stmt::Cell { .. }
        | Stmt::Load { .. }
        | Stmt::LoadShared { .. }
        | Stmt::Copy { .. }
        | Stmt::ArriveCopies { .. }
        | Stmt::Arrive { .. }
        | Stmt::CopyBox { .. }
        | Stmt::Expect { .. }
        | Stmt::Wait { .. }
        | Stmt::Sync
        | Stmt::For { .. }
        | Stmt::If { .. } => &[],
    }
}

fn count_uses(body: &[Stmt], uses: &mut BTreeMap<Reg, usize>) {
    for stmt in body {
        for operand in operands(stmt) {
            if let Operand::Reg(reg) = operand {
                *uses.entry(*reg).or_default() += 1;
            }
        }
        if let Stmt::For { body, .. } | Stmt::If { body, .. } = stmt {
            count_uses(body, uses);
        }
    }
}

struct Nester {
    uses: BTreeMap<Reg, usize>,
    /// Queues: assigned more than once, so never nested.
    fixed: BTreeSet<Reg>,
}

/// The statements of a list so far, and values not written yet because their only use comes soon.
#[derive(Default)]
struct List<'a> {
    out: Vec<Nested<'a>>,
    pending: Vec<(Reg, Tree)>,
}

impl<'a> List<'a> {
    /// Writes the pending values for which `which` holds as statements.
    fn flush(&mut self, which: impl Fn(&Tree) -> bool) {
        for (reg, value) in std::mem::take(&mut self.pending) {
            if which(&value) {
                self.out.push(Nested::Value { reg, value });
            } else {
                self.pending.push((reg, value));
            }
        }
    }

    /// The expression of an operand, as deep as fits.
    fn take(&mut self, operand: Operand, ops: usize, depth: usize) -> Tree {
        let at = self.pending.iter().position(|(reg, _)| operand == Operand::Reg(*reg));
        let Some(at) = at else {
            return Tree::Leaf(operand);
        };
        let (reg, value) = self.pending.remove(at);
        if value.ops() <= ops && value.depth() <= depth {
            return value;
        }
        self.out.push(Nested::Value { reg, value });
        Tree::Leaf(operand)
    }

    fn operation(&mut self, op: Op, args: &[Operand]) -> Tree {
        let mut left = match op {
            Op::Call(_) => 0,
            _ if repeats(op) => 0,
            _ => MOST_OPS - 1,
        };
        let mut trees = Vec::with_capacity(args.len());
        for arg in args {
            let tree = self.take(*arg, left, DEEPEST - 1);
            left -= tree.ops();
            trees.push(tree);
        }
        Tree::Op(op, trees)
    }
}

impl Nester {
    fn list<'a>(&self, body: &'a [Stmt]) -> Vec<Nested<'a>> {
        let mut list = List::default();
        for (i, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Let { reg, op, args } => {
                    let value = list.operation(*op, args);
                    // The values of a routine are made by one statement.
                    let is_called = matches!(op, Op::Call(_));
                    if !is_called && self.is_used_soon(*reg, &body[i + 1..]) {
                        list.pending.push((*reg, value));
                    } else {
                        list.out.push(Nested::Value { reg: *reg, value });
                    }
                }
                Stmt::Set { reg, value } => {
                    let value = list.take(*value, MOST_OPS, DEEPEST);
                    list.flush(|tree| tree.reads(*reg));
                    list.out.push(Nested::Value { reg: *reg, value });
                }
                Stmt::Store { buffer, cell, offset, values } => {
                    let first = match values.first() {
                        Some(Operand::Reg(reg)) => Some(*reg),
                        _ => None,
                    };
                    let values = values.iter().map(|v| list.take(*v, MOST_OPS, DEEPEST));
                    let values = values.collect();
                    list.out.push(Nested::Store {
                        buffer: *buffer,
                        cell: *cell,
                        offset: *offset,
                        values,
                        first,
                    });
                }
                Stmt::Note(_) | Stmt::Int { .. } | Stmt::Cell { .. } => {
                    list.out.push(Nested::Plain(stmt))
                }
                Stmt::Load { .. } | Stmt::LoadShared { .. } => list.out.push(Nested::Plain(stmt)),
                Stmt::For { body, .. } | Stmt::If { body, .. } => {
                    list.flush(|_| true);
                    list.out.push(Nested::Block(stmt, self.list(body)));
                }
                Stmt::StoreShared { .. }
                | Stmt::Copy { .. }
                | Stmt::ArriveCopies { .. }
                | Stmt::Arrive { .. }
                | Stmt::CopyBox { .. }
                | Stmt::Expect { .. }
                | Stmt::Wait { .. }
                | Stmt::Sync => {
                    list.flush(|_| true);
                    list.out.push(Nested::Plain(stmt));
                }
            }
        }
        list.flush(|_| true);
        list.out
    }

    fn is_used_soon(&self, reg: Reg, rest: &[Stmt]) -> bool {
        self.uses.get(&reg) == Some(&1)
            && !self.fixed.contains(&reg)
            && rest.iter().take(FARTHEST).any(|stmt| operands(stmt).contains(&Operand::Reg(reg)))
    }
}

/// Counts the statements that define each integer variable.
pub(super) fn count_assignments(body: &[Stmt], counts: &mut BTreeMap<IntVar, usize>) {
    for stmt in body {
        match stmt {
            Stmt::Int { var, .. } => *counts.entry(*var).or_default() += 1,
            Stmt::For { body, .. } | Stmt::If { body, .. } => count_assignments(body, counts),
            _ => {}
        }
    }
}
