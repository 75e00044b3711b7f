//! The invariants of every kernel, as far as its text shows them; [`interp`](super::interp) checks the rest.

use std::collections::{BTreeMap, BTreeSet};

use super::moves::read_late;
use super::text::{is_name, statement};
use super::{
    BufferId, CellVar, Condition, Index, IntVar, Kernel, Mode, Operand, Reg, SharedId, Stmt,
};
use crate::schedule::LaunchKind;

mod barriers;

type Result<T = ()> = std::result::Result<T, String>;

/// Most bytes of shared memory of a block, more than any device has.
const MOST_SHARED: usize = 1 << 20;

/// Most threads of a block.
const MOST_THREADS: u64 = 1024;

impl Kernel {
    /// Checks the static invariants: names unique, registers assigned once and defined before
    /// use, identifiers in range, modes of buffers respected, and every thread of a block at
    /// the same synchronizing statements.
    ///
    /// # Errors
    /// The violated invariant, with the statement that violates it.
    pub fn check(&self) -> Result {
        self.check_names()?;
        self.check_launch()?;
        let mut checker = Checker {
            kernel: self,
            defined: vec![Life::Never; self.registers.len()],
            ints: vec![false; self.ints.len()],
            cells: vec![false; self.cells.len()],
            varying: BTreeSet::new(),
            divisors: vec![1; self.ints.len()],
            divergent: 0,
            stored: Vec::new(),
            extents: BTreeMap::new(),
        };
        for queue in &self.queues {
            match checker.defined.get_mut(queue.0 as usize) {
                Some(Life::Queue) => {
                    return Err(format!(
                        "queue {} is listed twice",
                        self.registers[queue.0 as usize]
                    ));
                }
                Some(life) => *life = Life::Queue,
                None => return Err(format!("queue register {} does not exist", queue.0)),
            }
        }
        for (reg, function) in &self.origins {
            if reg.0 as usize >= self.registers.len() || !is_name(function) {
                return Err(format!("register {} is said to be of `{function}`", reg.0));
            }
        }
        checker.stored_offsets(&self.body);
        checker.body(&self.body)
    }

    fn check_names(&self) -> Result {
        let locals = [&self.registers, &self.uniforms, &self.ints, &self.cells];
        unique(locals.into_iter().flatten())?;
        let buffers = self.buffers.iter().map(|b| &b.name);
        unique(
            buffers
                .chain(self.shared.iter().map(|a| &a.name))
                .chain(self.barriers.iter().map(|b| &b.name)),
        )?;
        unique(std::iter::once(&self.name))
    }

    fn check_launch(&self) -> Result {
        let launch = &self.launch;
        let is_run = launch.kind == LaunchKind::Blocks && launch.tile[0] > 0;
        if launch.runs && !(is_run && launch.tile[1..] == [1, 1]) {
            return Err(format!("runs of {:?} cells", launch.tile));
        }
        self.check_layout()?;
        self.check_extremes()?;
        if !(1..=3).contains(&self.dimension) {
            return Err(format!("dimension {} is not 1, 2 or 3", self.dimension));
        }
        if !matches!(self.value_bytes, 4 | 8) {
            return Err(format!("values of {} bytes", self.value_bytes));
        }
        let threads: u64 = launch.threads.iter().map(|t| u64::from(*t)).product();
        if threads == 0 || threads > MOST_THREADS {
            return Err(format!("a block of {threads} threads"));
        }
        if launch.kind == LaunchKind::Rows {
            if threads != 1 {
                return Err("rows have no blocks of threads".into());
            }
            if !self.shared.is_empty() || !self.barriers.is_empty() {
                return Err("rows have no shared memory".into());
            }
        }
        if let Some(barrier) = self.barriers.iter().find(|b| b.slots == 0 || b.arrivals == 0) {
            return Err(format!("barrier {} has no slots or no arrivals", barrier.name));
        }
        if self.shared_bytes() > MOST_SHARED {
            return Err(format!("{} bytes of shared memory", self.shared_bytes()));
        }
        Ok(())
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a String>) -> Result {
    let mut seen = BTreeSet::new();
    for name in names {
        if !is_name(name) {
            return Err(format!("`{name}` is not a valid name"));
        }
        if !seen.insert(name) {
            return Err(format!("the name `{name}` is used twice"));
        }
    }
    Ok(())
}

/// The state of a register between its definition and the end of its scope.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Never,
    Defined,
    OutOfScope,
    Queue,
}

struct Checker<'a> {
    kernel: &'a Kernel,
    defined: Vec<Life>,
    ints: Vec<bool>,
    cells: Vec<bool>,
    /// Integer variables that depend on the thread.
    varying: BTreeSet<IntVar>,
    /// A known divisor of each integer variable; 0 is divisible by all.
    divisors: Vec<u64>,
    /// Conditions around the statement that depend on the thread.
    divergent: usize,
    stored: Vec<(BufferId, [i32; 3])>,
    /// The extent of boxes of some buffers.
    extents: BTreeMap<Vec<BufferId>, [u32; 3]>,
}

impl Checker<'_> {
    fn stored_offsets(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Store { buffer, offset: [x, y, z], values, .. } => {
                    let all = (*x..).take(values.len());
                    self.stored.extend(all.map(|x| (*buffer, [x, *y, *z])));
                }
                Stmt::For { body, .. } | Stmt::If { body, .. } => self.stored_offsets(body),
                _ => {}
            }
        }
    }

    /// A body is a scope: its definitions end with it.
    fn body(&mut self, body: &[Stmt]) -> Result {
        let outer = (self.defined.clone(), self.ints.clone(), self.cells.clone());
        if let Some(reg) = read_late(body) {
            let name = self.kernel.registers.get(reg.0 as usize);
            let name = name.map_or("a register", String::as_str);
            return Err(format!("`{name}` is set before another queue is set to it"));
        }
        for stmt in body {
            self.stmt(stmt).map_err(|message| {
                // An inner statement has already been named.
                if message.contains(" in `") {
                    message
                } else {
                    format!("{message} in `{}`", statement(self.kernel, stmt))
                }
            })?;
        }
        for (now, before) in self.defined.iter_mut().zip(outer.0) {
            if *now == Life::Defined && before == Life::Never {
                *now = Life::OutOfScope;
            }
        }
        (self.ints, self.cells) = (outer.1, outer.2);
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result {
        match stmt {
            Stmt::Note(_) => Ok(()),
            Stmt::Int { var, value } => {
                let (varies, divisor) = (self.index(value)?, self.divisor(value));
                self.define_int(*var, varies, divisor)
            }
            Stmt::Cell { cell, at } => {
                self.indices(at)?;
                match self.cells.get_mut(cell.0 as usize) {
                    None => Err(format!("cell {} does not exist", cell.0)),
                    Some(true) => Err("a cell is defined twice".into()),
                    Some(defined) => {
                        *defined = true;
                        Ok(())
                    }
                }
            }
            Stmt::Let { reg, op, args } => {
                if args.len() != op.arity() {
                    return Err(format!(
                        "{} takes {} arguments, not {}",
                        op.name(),
                        op.arity(),
                        args.len()
                    ));
                }
                args.iter().try_for_each(|arg| self.operand(*arg))?;
                self.define(*reg)
            }
            Stmt::Set { reg, value } => {
                self.operand(*value)?;
                match self.defined.get(reg.0 as usize) {
                    Some(Life::Queue) => Ok(()),
                    _ => Err("only queues are set".into()),
                }
            }
            Stmt::Load { .. } | Stmt::Store { .. } => self.global(stmt),
            Stmt::LoadShared { .. } | Stmt::StoreShared { .. } | Stmt::Copy { .. } => {
                self.shared(stmt)
            }
            Stmt::ArriveCopies { .. }
            | Stmt::Arrive { .. }
            | Stmt::CopyBox { .. }
            | Stmt::Expect { .. }
            | Stmt::Wait { .. }
            | Stmt::Sync => self.synchronize(stmt),
            Stmt::For { var, from, to, body, .. } => {
                if self.index(from)? | self.index(to)? {
                    return Err("bounds that depend on the thread".into());
                }
                let ints = self.ints.clone();
                self.define_int(*var, false, 1)?;
                self.body(body)?;
                self.ints = ints;
                Ok(())
            }
            Stmt::If { conditions, body } => {
                let varies = self.conditions(conditions)?;
                self.divergent += usize::from(varies);
                self.body(body)?;
                self.divergent -= usize::from(varies);
                Ok(())
            }
        }
    }

    fn global(&mut self, stmt: &Stmt) -> Result {
        match stmt {
            Stmt::Load { reg, buffer, cell, offset } => {
                let mode = self.buffer(*buffer)?;
                self.cell(*cell)?;
                match mode {
                    Mode::Write => return Err("a load from a buffer that is only written".into()),
                    Mode::ReadWrite if !self.stored.contains(&(*buffer, *offset)) => {
                        return Err(
                            "a load of another thread's cell from a buffer that is written".into(),
                        );
                    }
                    Mode::Read | Mode::ReadWrite => {}
                }
                self.define(*reg)
            }
            Stmt::Store { buffer, cell, values, .. } => {
                if self.buffer(*buffer)? == Mode::Read {
                    return Err("a store to a buffer that is only read".into());
                }
                if !matches!(values.len(), 1 | 2 | 4) {
                    return Err(format!("a store of {} values", values.len()));
                }
                self.cell(*cell)?;
                values.iter().try_for_each(|value| self.operand(*value))
            }
            _ => Ok(()),
        }
    }

    fn shared(&mut self, stmt: &Stmt) -> Result {
        match stmt {
            Stmt::LoadShared { regs, array, base, .. } => {
                if !matches!(regs.len(), 1 | 2 | 4) {
                    return Err(format!("a read of {} values", regs.len()));
                }
                self.array(*array)?;
                self.index(&Index::Var(*base))?;
                regs.iter().try_for_each(|reg| self.define(*reg))
            }
            Stmt::StoreShared { array, base, values, .. } => {
                if !matches!(values.len(), 1 | 2 | 4) {
                    return Err(format!("a shared store of {} values", values.len()));
                }
                self.array(*array)?;
                self.index(&Index::Var(*base))?;
                values.iter().try_for_each(|value| self.operand(*value))
            }
            Stmt::Copy { array, to, buffer, from } => {
                self.array(*array)?;
                if self.buffer(*buffer)? == Mode::Write {
                    return Err("a copy from a buffer that is only written".into());
                }
                self.index(to)?;
                self.indices(from)
            }
            _ => Ok(()),
        }
    }

    fn define(&mut self, reg: Reg) -> Result {
        match self.defined.get_mut(reg.0 as usize) {
            None => Err(format!("register {} does not exist", reg.0)),
            Some(Life::Queue) => Err("a queue is assigned with `set` only".into()),
            Some(life @ Life::Never) => {
                *life = Life::Defined;
                Ok(())
            }
            Some(Life::Defined | Life::OutOfScope) => {
                Err(format!("{} is assigned twice", self.kernel.registers[reg.0 as usize]))
            }
        }
    }

    fn define_int(&mut self, var: IntVar, varies: bool, divisor: u64) -> Result {
        match self.ints.get_mut(var.0 as usize) {
            None => return Err(format!("integer variable {} does not exist", var.0)),
            Some(true) => {
                return Err(format!("{} is defined twice", self.kernel.ints[var.0 as usize]));
            }
            Some(defined) => *defined = true,
        }
        self.divisors[var.0 as usize] = divisor;
        if varies {
            self.varying.insert(var);
        } else {
            self.varying.remove(&var);
        }
        Ok(())
    }

    fn operand(&self, operand: Operand) -> Result {
        match operand {
            Operand::Lit(_) => Ok(()),
            Operand::Uniform(at) if (at as usize) < self.kernel.uniforms.len() => Ok(()),
            Operand::Uniform(at) => Err(format!("uniform {at} does not exist")),
            Operand::Reg(reg) => match self.defined.get(reg.0 as usize) {
                None => Err(format!("register {} does not exist", reg.0)),
                Some(Life::Defined | Life::Queue) => Ok(()),
                Some(Life::Never) => {
                    Err(format!("{} is not yet defined", self.kernel.registers[reg.0 as usize]))
                }
                Some(Life::OutOfScope) => Err(format!(
                    "{} is used outside the block that defines it",
                    self.kernel.registers[reg.0 as usize]
                )),
            },
        }
    }

    fn buffer(&self, buffer: BufferId) -> Result<Mode> {
        let found = self.kernel.buffers.get(buffer.0 as usize);
        found.map(|b| b.mode).ok_or_else(|| format!("buffer {} does not exist", buffer.0))
    }

    fn array(&self, array: SharedId) -> Result {
        if (array.0 as usize) < self.kernel.shared.len() {
            Ok(())
        } else {
            Err(format!("shared array {} does not exist", array.0))
        }
    }

    fn cell(&self, cell: CellVar) -> Result {
        match self.cells.get(cell.0 as usize) {
            Some(true) => Ok(()),
            Some(false) => {
                Err(format!("{} is not yet defined", self.kernel.cells[cell.0 as usize]))
            }
            None => Err(format!("cell {} does not exist", cell.0)),
        }
    }

    fn indices(&self, at: &[Index; 3]) -> Result {
        at.iter().try_for_each(|index| self.index(index).map(|_| ()))
    }

    fn conditions(&self, conditions: &[Condition]) -> Result<bool> {
        if conditions.is_empty() {
            return Err("no condition".into());
        }
        let mut varies = false;
        for condition in conditions {
            varies |= self.index(&condition.left)? | self.index(&condition.right)?;
        }
        Ok(varies)
    }

    /// Checks an index; does it depend on the thread?
    fn index(&self, index: &Index) -> Result<bool> {
        match index {
            Index::Const(_) => Ok(false),
            Index::Block(axis) | Index::Size(axis) if *axis < 3 => Ok(false),
            Index::Thread(axis) if *axis < 3 => Ok(true),
            Index::Block(axis) | Index::Thread(axis) | Index::Size(axis) => {
                Err(format!("axis {axis} does not exist"))
            }
            Index::Var(var) => match self.ints.get(var.0 as usize) {
                Some(true) => Ok(self.varying.contains(var)),
                Some(false) => {
                    Err(format!("{} is not yet defined", self.kernel.ints[var.0 as usize]))
                }
                None => Err(format!("integer variable {} does not exist", var.0)),
            },
            Index::Add(a, b) | Index::Sub(a, b) | Index::Min(a, b) => {
                Ok(self.index(a)? | self.index(b)?)
            }
            Index::Mul(a, _) => self.index(a),
            Index::Wrap(a, axis) | Index::Numbered(a, axis) if *axis < 3 => self.index(a),
            Index::Wrap(_, axis) | Index::Numbered(_, axis) => {
                Err(format!("axis {axis} does not exist"))
            }
            Index::Div(a, by) | Index::Rem(a, by) if *by > 0 => self.index(a),
            Index::Div(_, by) | Index::Rem(_, by) => Err(format!("division by {by}")),
        }
    }
}

#[cfg(test)]
mod tests;
