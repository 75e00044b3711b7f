//! Orders straight-line code so that few values are alive at once. Operations are pure, so their
//! order changes no bit.
//!
//! A list schedule: a statement that frees as many registers as it takes comes at once. Otherwise, on marches, the one
//! that lets another statement follow soonest, the later of equals: of the rules tried this one left the device
//! compiler the fewest registers and no spills. On rows the next one of a walk from the results, the largest first: so
//! values that many results share are computed where their operands are at hand, and kept instead of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Operand, Reg, Stmt};
use crate::expr::Op;

/// Reorders loads and operations, given in the order of a depth-first walk; `kept` registers are
/// read later.
pub(super) fn order(statements: Vec<Stmt>, kept: &BTreeSet<Reg>) -> Vec<Stmt> {
    schedule(statements, kept, |block| block.soonest())
}

/// Reorders the loads and operations that `results` are computed from; others are left out.
pub(super) fn order_from(statements: Vec<Stmt>, results: &[Reg]) -> Vec<Stmt> {
    let kept = results.iter().copied().collect();
    schedule(walk(statements, results), &kept, |block| block.first())
}

/// Splits loads and operations into those that `results` are computed from and the others, each in the order given.
pub(super) fn part(statements: Vec<Stmt>, results: BTreeSet<Reg>) -> [Vec<Stmt>; 2] {
    let mut needed = results;
    let mut parts = [Vec::new(), Vec::new()];
    for stmt in statements.into_iter().rev() {
        let is_needed = writes(&stmt).iter().any(|reg| needed.contains(reg));
        if is_needed {
            needed.extend(operands(&stmt));
        }
        parts[usize::from(!is_needed)].push(stmt);
    }
    parts.iter_mut().for_each(|part| part.reverse());
    parts
}

/// Registers that statements read.
pub(super) fn read_by(statements: &[Stmt]) -> BTreeSet<Reg> {
    statements.iter().flat_map(operands).collect()
}

fn schedule(
    statements: Vec<Stmt>,
    kept: &BTreeSet<Reg>,
    otherwise: fn(&Block) -> Option<usize>,
) -> Vec<Stmt> {
    let mut block = Block::new(&statements, kept);
    let mut order = Vec::with_capacity(statements.len());
    while let Some(next) = block.free().or_else(|| otherwise(&block)) {
        block.take(next);
        order.push(next);
    }
    pick(statements, order)
}

fn pick(statements: Vec<Stmt>, order: Vec<usize>) -> Vec<Stmt> {
    let mut slots: Vec<Option<Stmt>> = statements.into_iter().map(Some).collect();
    let statements = order.into_iter().filter_map(|at| slots[at].take());
    statements.collect()
}

/// The statements in the order of a depth-first walk from the results, the largest first.
fn walk(statements: Vec<Stmt>, results: &[Reg]) -> Vec<Stmt> {
    let mut makers = BTreeMap::new();
    for (at, stmt) in statements.iter().enumerate() {
        makers.extend(writes(stmt).into_iter().map(|reg| (reg, at)));
    }
    let visit = |results: &[Reg], seen: &mut BTreeSet<usize>| {
        let mut order = Vec::new();
        let makers = |regs: Vec<Reg>| regs.into_iter().filter_map(|reg| makers.get(&reg).copied());
        let mut tasks: Vec<(usize, bool)> =
            makers(results.to_vec()).rev().map(|at| (at, false)).collect();
        while let Some((at, are_read)) = tasks.pop() {
            if are_read {
                order.push(at);
            } else if seen.insert(at) {
                tasks.push((at, true));
                tasks.extend(makers(operands(&statements[at])).rev().map(|at| (at, false)));
            }
        }
        order
    };
    let mut largest: Vec<Reg> = results.to_vec();
    largest.sort_by_key(|result| Reverse(visit(&[*result], &mut BTreeSet::new()).len()));
    let order = visit(&largest, &mut BTreeSet::new());
    pick(statements, order)
}

/// Statements that are not placed yet. Their properties are kept up to date as others are placed, since kernels have
/// thousands.
struct Block {
    /// For each statement, the registers that it reads and may free, all that it reads, and those that it defines.
    frees: Vec<usize>,
    reads: Vec<Vec<usize>>,
    writes: Vec<Vec<usize>>,
    /// Statements that read each register and are not placed yet.
    readers: Vec<BTreeSet<usize>>,
    /// The statement that defines each register.
    makers: Vec<Option<usize>>,
    /// Registers that are read later.
    kept: Vec<bool>,
    /// The number of operands of each statement that are not defined yet.
    missing: Vec<usize>,
    /// The number of operands that the readiest reader of each statement still misses.
    wait: Vec<usize>,
    /// Statements whose operands are defined: in order, by how long they wait, and those of them
    /// that leave no more registers alive than before.
    ready: BTreeSet<usize>,
    soonest: BTreeSet<(usize, Reverse<usize>)>,
    free: BTreeSet<usize>,
}

impl Block {
    fn new(statements: &[Stmt], kept: &BTreeSet<Reg>) -> Self {
        let mut numbers = BTreeMap::new();
        let mut number = |reg: Reg| {
            let next = numbers.len();
            *numbers.entry(reg).or_insert(next)
        };
        let mut all =
            |regs: Vec<Reg>| -> Vec<usize> { regs.into_iter().map(&mut number).collect() };
        let reads: Vec<Vec<usize>> = statements.iter().map(|stmt| all(reads(stmt))).collect();
        let writes: Vec<Vec<usize>> = statements.iter().map(|stmt| all(writes(stmt))).collect();
        let count = numbers.len();
        let mut block = Block {
            frees: vec![0; statements.len()],
            readers: vec![BTreeSet::new(); count],
            makers: vec![None; count],
            kept: vec![false; count],
            missing: Vec::new(),
            wait: vec![0; statements.len()],
            ready: BTreeSet::new(),
            soonest: BTreeSet::new(),
            free: BTreeSet::new(),
            reads,
            writes,
        };
        for (at, regs) in block.writes.iter().enumerate() {
            regs.iter().for_each(|reg| block.makers[*reg] = Some(at));
        }
        for (at, regs) in block.reads.iter().enumerate() {
            let missing = regs.iter().filter(|reg| block.makers[**reg].is_some());
            block.missing.push(missing.count());
            for reg in regs {
                block.readers[*reg].insert(at);
            }
        }
        for (reg, at) in numbers {
            block.kept[at] = kept.contains(&reg);
        }
        block.start(statements);
        block
    }

    /// The ready and free statements before anything is placed.
    fn start(&mut self, statements: &[Stmt]) {
        for (at, stmt) in statements.iter().enumerate() {
            let readers = self.writes[at].iter().flat_map(|reg| &self.readers[*reg]);
            let missing = readers.map(|reader| self.missing[*reader]);
            self.wait[at] = missing.min().unwrap_or(0);
            if is_sign(stmt) {
                // It takes no register: a uniform's sign rides on the operation that reads it.
                self.frees[at] = self.writes[at].len();
            }
        }
        for reg in 0..self.readers.len() {
            self.note_last(reg);
        }
        for at in 0..statements.len() {
            if self.missing[at] == 0 {
                self.make_ready(at);
            }
        }
    }

    /// If one statement alone still reads a register, it frees it.
    fn note_last(&mut self, reg: usize) {
        let mut readers = self.readers[reg].iter();
        if let (Some(&last), None, false) = (readers.next(), readers.next(), self.kept[reg]) {
            self.frees[last] += 1;
            if self.ready.contains(&last) && self.is_free(last) {
                self.free.insert(last);
            }
        }
    }

    /// Does placing this statement leave no more registers alive than before?
    fn is_free(&self, at: usize) -> bool {
        self.frees[at] > 0 && self.frees[at] >= self.writes[at].len()
    }

    fn make_ready(&mut self, at: usize) {
        self.ready.insert(at);
        self.soonest.insert((self.wait[at], Reverse(at)));
        if self.is_free(at) {
            self.free.insert(at);
        }
    }

    fn free(&self) -> Option<usize> {
        self.free.first().copied()
    }

    fn soonest(&self) -> Option<usize> {
        self.soonest.first().map(|(_, Reverse(at))| *at)
    }

    fn first(&self) -> Option<usize> {
        self.ready.first().copied()
    }

    fn take(&mut self, at: usize) {
        self.ready.remove(&at);
        self.free.remove(&at);
        self.soonest.remove(&(self.wait[at], Reverse(at)));
        for reg in std::mem::take(&mut self.reads[at]) {
            self.readers[reg].remove(&at);
            self.note_last(reg);
        }
        for reg in std::mem::take(&mut self.writes[at]) {
            for reader in self.readers[reg].clone() {
                self.missing[reader] -= 1;
                if self.missing[reader] == 0 {
                    self.make_ready(reader);
                }
                self.hasten(reader);
            }
        }
    }

    /// Tells the definitions of a statement's operands how many of these it still misses.
    fn hasten(&mut self, reader: usize) {
        let missing = self.missing[reader];
        for reg in &self.reads[reader] {
            let Some(maker) = self.makers[*reg] else {
                continue;
            };
            if missing < self.wait[maker] {
                let waited = std::mem::replace(&mut self.wait[maker], missing);
                if self.soonest.remove(&(waited, Reverse(maker))) {
                    self.soonest.insert((missing, Reverse(maker)));
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
    let regs: BTreeSet<Reg> = operands(stmt).into_iter().collect();
    regs.into_iter().collect()
}

/// Registers that a statement reads, of a multiply-add the sum so far first: evaluated the other
/// way, all terms of a long sum would be alive at once.
pub(super) fn operands(stmt: &Stmt) -> Vec<Reg> {
    let Stmt::Let { op, args, .. } = stmt else {
        return Vec::new();
    };
    let regs = args.iter().filter_map(|arg| match arg {
        Operand::Reg(reg) => Some(*reg),
        Operand::Uniform(_) | Operand::Lit(_) => None,
    });
    let mut regs: Vec<Reg> = regs.collect();
    if *op == Op::Fma && matches!(args.last(), Some(Operand::Reg(_))) {
        regs.rotate_right(1);
    }
    regs
}

/// Registers that a load or an operation defines.
pub(super) fn writes(stmt: &Stmt) -> Vec<Reg> {
    match stmt {
        Stmt::Let { reg, .. } | Stmt::Load { reg, .. } => vec![*reg],
        Stmt::LoadShared { regs, .. } => regs.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{BufferId, CellVar};

    fn load(reg: u32) -> Stmt {
        Stmt::Load {
            reg: Reg(reg),
            buffer: BufferId(0),
            cell: CellVar(0),
            offset: [reg as i32, 0, 0],
        }
    }

    fn op(reg: u32, op: Op, args: &[u32]) -> Stmt {
        let args = args.iter().map(|arg| Operand::Reg(Reg(*arg))).collect();
        Stmt::Let { reg: Reg(reg), op, args }
    }

    #[test]
    fn what_operands_at_hand_allow_comes_before_other_loads() {
        // Two differences and two sums of the same pairs, and a load that nothing reads.
        let given = vec![
            load(0),
            load(1),
            op(2, Op::Sub, &[0, 1]),
            load(3),
            load(4),
            op(5, Op::Sub, &[3, 4]),
            op(6, Op::Mul, &[2, 5]),
            load(7),
            op(8, Op::Add, &[0, 1]),
            op(9, Op::Add, &[3, 4]),
            op(10, Op::Mul, &[8, 9]),
        ];
        let ordered = order_from(given, &[Reg(6), Reg(10)]);
        let order: Vec<u32> = ordered.iter().flat_map(writes).map(|reg| reg.0).collect();
        assert_eq!(order, [0, 1, 2, 8, 3, 4, 5, 6, 9, 10]);
    }

    #[test]
    fn what_results_are_made_of_is_parted_from_the_others() {
        let given = vec![
            load(0),
            load(1),
            op(2, Op::Neg, &[0]),
            op(3, Op::Add, &[1, 2]),
            op(4, Op::Neg, &[2]),
        ];
        let parts = part(given, BTreeSet::from([Reg(4)]));
        let made = parts.map(|part| part.iter().flat_map(writes).collect::<Vec<_>>());
        assert_eq!(made[0], [Reg(0), Reg(2), Reg(4)]);
        assert_eq!(made[1], [Reg(1), Reg(3)]);
    }

    #[test]
    fn the_largest_result_is_walked_first() {
        let given = vec![load(0), op(1, Op::Neg, &[0]), load(2), load(3), op(4, Op::Add, &[2, 3])];
        let ordered = order_from(given, &[Reg(1), Reg(4)]);
        let order: Vec<u32> = ordered.iter().flat_map(writes).map(|reg| reg.0).collect();
        assert_eq!(order, [2, 3, 4, 0, 1]);
    }
}
