//! Orders straight-line code so that few values are alive at once. Operations are pure, so their
//! order changes no bit.
//!
//! A list schedule: what frees as many registers as it takes comes at once; otherwise what lets
//! another statement follow soonest, the later of equals. Of the rules tried on marches this one
//! left the device compiler the fewest registers and no spills.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Operand, Reg, Stmt};
use crate::expr::Op;

/// Reorders loads and operations, given in the order of a depth-first walk; `kept` registers are
/// read later.
pub(super) fn order(statements: Vec<Stmt>, kept: &BTreeSet<Reg>) -> Vec<Stmt> {
    let mut block = Block::new(&statements, kept);
    let mut order = Vec::with_capacity(statements.len());
    while let Some(next) = block.choose() {
        block.take(next);
        order.push(next);
    }
    let mut slots: Vec<Option<Stmt>> = statements.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|at| slots[at].take())
        .collect()
}

struct Block<'a> {
    kept: &'a BTreeSet<Reg>,
    /// Registers that each statement reads, and those it defines.
    reads: Vec<Vec<Reg>>,
    writes: Vec<Vec<Reg>>,
    /// Statements that read each register and are not placed yet.
    readers: BTreeMap<Reg, BTreeSet<usize>>,
    /// Statements that take no register: a uniform's sign rides on the operation that reads it.
    signs: BTreeSet<usize>,
    /// How many operands of each statement are not defined yet.
    missing: Vec<usize>,
    ready: BTreeSet<usize>,
}

impl<'a> Block<'a> {
    fn new(statements: &[Stmt], kept: &'a BTreeSet<Reg>) -> Self {
        let reads: Vec<Vec<Reg>> = statements.iter().map(reads).collect();
        let writes: Vec<Vec<Reg>> = statements.iter().map(writes).collect();
        let defined: BTreeSet<Reg> = writes.iter().flatten().copied().collect();
        let mut readers: BTreeMap<Reg, BTreeSet<usize>> = BTreeMap::new();
        let mut missing = Vec::new();
        for (at, regs) in reads.iter().enumerate() {
            missing.push(regs.iter().filter(|r| defined.contains(r)).count());
            for reg in regs {
                readers.entry(*reg).or_default().insert(at);
            }
        }
        let ready = (0..statements.len())
            .filter(|at| missing[*at] == 0)
            .collect();
        let signs = (0..statements.len()).filter(|at| is_sign(&statements[*at]));
        Block {
            kept,
            signs: signs.collect(),
            reads,
            writes,
            readers,
            missing,
            ready,
        }
    }

    /// Does placing this statement leave no more registers alive than before?
    fn is_free(&self, at: usize) -> bool {
        let last = |reg: &&Reg| !self.kept.contains(reg) && self.readers[reg].len() == 1;
        let freed = self.reads[at].iter().filter(last).count();
        self.signs.contains(&at) || freed > 0 && freed >= self.writes[at].len()
    }

    fn choose(&self) -> Option<usize> {
        let free = self.ready.iter().copied().find(|at| self.is_free(*at));
        let soonest = |at: &usize| (self.wait(*at), Reverse(*at));
        free.or_else(|| self.ready.iter().copied().min_by_key(soonest))
    }

    /// How many operands the readiest reader of a statement still misses.
    fn wait(&self, at: usize) -> usize {
        let readers = self.writes[at]
            .iter()
            .filter_map(|reg| self.readers.get(reg));
        let missing = readers.flatten().map(|reader| self.missing[*reader]);
        missing.min().unwrap_or(0)
    }

    fn take(&mut self, at: usize) {
        self.ready.remove(&at);
        for reg in &self.reads[at] {
            if let Some(readers) = self.readers.get_mut(reg) {
                readers.remove(&at);
            }
        }
        for reg in &self.writes[at] {
            for reader in self.readers.get(reg).into_iter().flatten() {
                self.missing[*reader] -= 1;
                if self.missing[*reader] == 0 {
                    self.ready.insert(*reader);
                }
            }
        }
    }
}

fn is_sign(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Let { op: Op::Neg, args, .. } if matches!(args[..], [Operand::Uniform(_)]))
}

/// Registers that a statement reads, each once.
fn reads(stmt: &Stmt) -> Vec<Reg> {
    let Stmt::Let { args, .. } = stmt else {
        return Vec::new();
    };
    let regs: BTreeSet<Reg> = args
        .iter()
        .filter_map(|arg| match arg {
            Operand::Reg(reg) => Some(*reg),
            Operand::Uniform(_) | Operand::Lit(_) => None,
        })
        .collect();
    regs.into_iter().collect()
}

fn writes(stmt: &Stmt) -> Vec<Reg> {
    match stmt {
        Stmt::Let { reg, .. } | Stmt::Load { reg, .. } => vec![*reg],
        Stmt::LoadShared { regs, .. } => regs.clone(),
        _ => Vec::new(),
    }
}
