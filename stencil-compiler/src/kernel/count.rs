//! What a thread does in an iteration of the main loop, counted from the statements.

use std::collections::BTreeSet;

use super::{Index, Kernel, Operand, Reg, Stmt};
use crate::expr::Op;

/// Work of one thread: in an iteration of the main loop, or in all where there is no loop.
///
/// Statements under a condition count in full; a loop inside counts as often as its bounds say
/// where they are constants, else once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sums and differences.
    pub adds: u64,
    /// Products.
    pub muls: u64,
    /// Fused multiply-adds.
    pub fmas: u64,
    /// Quotients and square roots.
    pub divisions: u64,
    /// All other operations.
    pub others: u64,
    /// Arithmetic instructions: every operation weighted by [`Op::cost`].
    pub cost: u64,
    /// Assignments of queues, a move each.
    pub moves: u64,
    /// Values loaded from global memory.
    pub loads: u64,
    /// Values read from shared memory.
    pub shared_words: u64,
    /// Instructions that read shared memory.
    pub shared_loads: u64,
    /// Values written to shared memory.
    pub shared_stores: u64,
    /// Stores to global memory, those at the end of a row included.
    pub stores: u64,
    /// Asynchronous copies started.
    pub copies: u64,
    /// Boxes started, all of them by one thread.
    pub boxes: u64,
    /// Times that all threads of the block wait for each other.
    pub syncs: u64,
    /// Cells that a thread stores at once, where all of them exist.
    pub cells: u64,
    /// Value registers that are live at once, at most, in the order of the statements.
    pub live: usize,
}

impl Kernel {
    /// Counts the main loop: the last loop of the body that is not unrolled and stores, or the
    /// whole body if there is none.
    pub fn operations(&self) -> Counts {
        let body = main_loop(&self.body).unwrap_or(&self.body);
        let mut counts = Counts::default();
        add(body, 1, &mut counts);
        counts.cells = cells(body) as u64;
        counts.live = self.live(body);
        counts
    }

    fn live(&self, body: &[Stmt]) -> usize {
        // What is used but not defined in here comes from before the loop or the last iteration.
        let mut carried = BTreeSet::new();
        free(body, &mut BTreeSet::new(), &mut carried);
        let mut most = carried.len();
        let mut live = carried;
        backward(body, &mut live, &mut most);
        most
    }
}

fn main_loop(body: &[Stmt]) -> Option<&[Stmt]> {
    body.iter().rev().find_map(|stmt| match stmt {
        Stmt::For {
            unroll: false,
            body,
            ..
        } if stores(body) => Some(body.as_slice()),
        // A whole block that returns early is written as a condition around all.
        Stmt::If { body, .. } => main_loop(body),
        _ => None,
    })
}

fn stores(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Store { .. } => true,
        Stmt::For { body, .. } | Stmt::If { body, .. } => stores(body),
        _ => false,
    })
}

/// The most values that a store writes.
fn cells(body: &[Stmt]) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Store { values, .. } => values.len(),
        Stmt::For { body, .. } | Stmt::If { body, .. } => cells(body),
        _ => 0,
    };
    body.iter().map(of).max().unwrap_or(0)
}

fn add(body: &[Stmt], times: u64, counts: &mut Counts) {
    for stmt in body {
        match stmt {
            Stmt::Let { op, .. } => {
                let class = match op {
                    Op::Add | Op::Sub => &mut counts.adds,
                    Op::Mul => &mut counts.muls,
                    Op::Fma => &mut counts.fmas,
                    Op::Div | Op::Sqrt => &mut counts.divisions,
                    _ => &mut counts.others,
                };
                *class += times;
                counts.cost += times * u64::from(op.cost());
            }
            Stmt::Set { .. } => counts.moves += times,
            Stmt::Load { .. } => counts.loads += times,
            Stmt::Store { .. } => counts.stores += times,
            Stmt::LoadShared { regs, .. } => {
                counts.shared_words += times * regs.len() as u64;
                counts.shared_loads += times;
            }
            Stmt::StoreShared { values, .. } => counts.shared_stores += times * values.len() as u64,
            Stmt::Copy { .. } => counts.copies += times,
            Stmt::CopyBox { .. } => counts.boxes += times,
            Stmt::For {
                from: Index::Const(from),
                to: Index::Const(to),
                body,
                ..
            } => {
                let trips = u64::try_from(to.saturating_sub(*from)).unwrap_or(0);
                add(body, times.saturating_mul(trips), counts);
            }
            Stmt::For { body, .. } | Stmt::If { body, .. } => add(body, times, counts),
            Stmt::Note(_)
            | Stmt::Int { .. }
            | Stmt::Cell { .. }
            | Stmt::ArriveCopies { .. }
            | Stmt::Arrive { .. }
            | Stmt::Expect { .. }
            | Stmt::Wait { .. } => {}
            Stmt::Sync => counts.syncs += times,
        }
    }
}

fn uses(stmt: &Stmt) -> Vec<Reg> {
    let reg = |operand: &Operand| match operand {
        Operand::Reg(reg) => Some(*reg),
        Operand::Uniform(_) | Operand::Lit(_) => None,
    };
    match stmt {
        Stmt::Let { args, .. } => args.iter().filter_map(reg).collect(),
        Stmt::Set { value, .. } => reg(value).into_iter().collect(),
        Stmt::Store { values, .. } | Stmt::StoreShared { values, .. } => {
            values.iter().filter_map(reg).collect()
        }
        _ => Vec::new(),
    }
}

fn defines(stmt: &Stmt) -> &[Reg] {
    match stmt {
        Stmt::Let { reg, .. } | Stmt::Load { reg, .. } | Stmt::Set { reg, .. } => {
            std::slice::from_ref(reg)
        }
        Stmt::LoadShared { regs, .. } => regs,
        _ => &[],
    }
}

/// Registers that are used before a definition in the body.
fn free(body: &[Stmt], defined: &mut BTreeSet<Reg>, out: &mut BTreeSet<Reg>) {
    for stmt in body {
        out.extend(uses(stmt).into_iter().filter(|reg| !defined.contains(reg)));
        defined.extend(defines(stmt));
        if let Stmt::For { body, .. } | Stmt::If { body, .. } = stmt {
            free(body, defined, out);
        }
    }
}

fn backward(body: &[Stmt], live: &mut BTreeSet<Reg>, most: &mut usize) {
    for stmt in body.iter().rev() {
        if let Stmt::For { body, .. } | Stmt::If { body, .. } = stmt {
            // After the body comes what follows, or, in a loop, the body again.
            let after = live.clone();
            if matches!(stmt, Stmt::For { .. }) {
                free(body, &mut BTreeSet::new(), live);
            }
            backward(body, live, most);
            live.extend(after);
        }
        let defined = defines(stmt);
        live.extend(defined);
        *most = (*most).max(live.len());
        for reg in defined {
            live.remove(reg);
        }
        live.extend(uses(stmt));
        *most = (*most).max(live.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::text::parse;

    #[test]
    fn the_main_loop_is_counted() {
        let kernel = parse(include_str!("interp/tests/march.kernel")).unwrap();
        let counts = kernel.operations();
        let expected = Counts {
            adds: 10,
            fmas: 2,
            cost: 12,
            shared_words: 12,
            shared_loads: 7,
            stores: 2,
            copies: 1,
            cells: 1,
            // All values of the neighbours are read before the first is used.
            live: 12,
            ..Counts::default()
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn queues_are_live_around_the_loop() {
        let text = "kernel q { dimension 1 value_bytes 4
            launch blocks threads [1, 1, 1] tile [1, 1, 1] extend [0, 0, 0] blocks_per_unit 1
            buffer u read halo [1, 0, 0] buffer v write halo [0, 0, 0]
            uniforms k registers a, b, q, s, t queues q ints p, j cells c
            code {
                cell c = (block.x, 0, 0)
                s = k / 2.0
                for p in 0 .. size.x {
                    for j in 0 .. 3 unroll { a = q + s store v[c] = a }
                    b = load u[c]
                    t = sqrt(b)
                    set q = t
                }
            } }";
        let counts = parse(text).unwrap().operations();
        assert_eq!(
            (counts.adds, counts.divisions, counts.stores, counts.loads),
            (3, 1, 3, 1)
        );
        assert_eq!((counts.cost, counts.moves), (3 + 8, 1));
        assert_eq!(counts.live, 3);
    }
}
