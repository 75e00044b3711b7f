//! The work of a thread in an iteration of the main loop, counted from the statements.

use std::collections::BTreeSet;

use super::branches::usual;
use super::lanes::Lanes;
use super::{Condition, Index, Kernel, Operand, Reg, Relation, Stmt, WARP, chain};
use crate::expr::Op;

/// Work of one thread: in an iteration of the main loop, or in all where there is no loop.
///
/// Statements under a condition count in full, except for operations that few threads do for all, on the rim of a tile:
/// these count for the part of the warps that do them. Of branches that exclude each other the one with most work
/// counts: the others are of planes around a chunk. A loop inside counts as often as its bounds say if they are
/// constants, else once.
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
    /// Rounds in which shared memory serves a warp that reads or writes it; and the further rounds that the first
    /// cache, which is the same memory, needs for values of global memory that lie apart.
    pub rounds: u64,
    /// Values of surfaces read or written.
    pub texels: u64,
    /// Stores to global memory, including those at the end of a row.
    pub stores: u64,
    /// Asynchronous copies started.
    pub copies: u64,
    /// Boxes started, all of them by one thread.
    pub boxes: u64,
    /// Arrays that these are of, each as often as it is in one.
    pub boxed: u64,
    /// Times that all threads of the block wait for each other.
    pub syncs: u64,
    /// Cells that a thread stores at once, where all of them exist.
    pub cells: u64,
    /// Value registers that are live at once, at most, in the order of the statements.
    pub live: usize,
    /// Steps in which values wait for each other.
    pub chain: u64,
}

impl Kernel {
    /// Counts the main loop: the last loop of the body that is not unrolled and stores, or the
    /// whole body if there is none.
    pub fn operations(&self) -> Counts {
        let body = main_loop(&self.body).unwrap_or(&self.body);
        let mut counts = Counts::default();
        let lanes = Lanes::new(self);
        Counter { kernel: self, lanes }.add(body, 1, &mut counts);
        counts.cells = cells(body) as u64;
        counts.live = self.live(body);
        counts.chain = chain::steps(body);
        counts
    }

    fn live(&self, body: &[Stmt]) -> usize {
        // A register that is used but not defined in here comes from before the loop or the last iteration.
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
        Stmt::For { unroll: false, body, .. } if stores(body) => Some(body.as_slice()),
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

struct Counter<'k> {
    kernel: &'k Kernel,
    lanes: Lanes<'k>,
}

impl Counter<'_> {
    fn add(&self, body: &[Stmt], times: u64, counts: &mut Counts) {
        for stmt in usual(body) {
            match stmt {
                Stmt::Let { op, .. } => {
                    let class = match op {
                        Op::Add | Op::Sub => &mut counts.adds,
                        Op::Mul => &mut counts.muls,
                        Op::Fma => &mut counts.fmas,
                        Op::Div | Op::Reciprocal | Op::Sqrt => &mut counts.divisions,
                        _ => &mut counts.others,
                    };
                    *class += times;
                    counts.cost += times * u64::from(op.cost());
                }
                Stmt::Set { .. } => counts.moves += times,
                Stmt::Load { buffer, .. } => {
                    counts.loads += times;
                    self.kernel.count_layout(*buffer, times, counts);
                }
                Stmt::Store { buffer, values, .. } => {
                    counts.stores += times;
                    let values = times * values.len() as u64;
                    self.kernel.count_layout(*buffer, values, counts);
                }
                Stmt::LoadShared { regs, base, .. } => {
                    counts.shared_words += times * regs.len() as u64;
                    counts.shared_loads += times;
                    counts.rounds += times * self.lanes.rounds(*base, regs.len());
                }
                Stmt::StoreShared { values, base, .. } => {
                    counts.shared_stores += times * values.len() as u64;
                    counts.rounds += times * self.lanes.rounds(*base, values.len());
                }
                Stmt::Copy { .. } => counts.copies += times,
                Stmt::CopyBox { buffers, .. } => {
                    counts.boxes += times;
                    counts.boxed += times.saturating_mul(buffers.len() as u64);
                }
                Stmt::For { from: Index::Const(from), to: Index::Const(to), body, .. } => {
                    let trips = u64::try_from(to.saturating_sub(*from)).unwrap_or(0);
                    self.add(body, times.saturating_mul(trips), counts);
                }
                Stmt::For { body, .. } => self.add(body, times, counts),
                Stmt::If { conditions, body } => {
                    let mut own = Counts::default();
                    self.add(body, times, &mut own);
                    counts.take(&own, self.part(conditions, body).unwrap_or((1, 1)));
                }
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

    /// The number of threads, in whole warps, and the number of those that run the body of a condition, if it is work
    /// on shared memory that they split among them.
    fn part(&self, conditions: &[Condition], body: &[Stmt]) -> Option<(u64, u64)> {
        let [Condition { left, relation: Relation::Less, right: Index::Const(end) }] = conditions
        else {
            return None;
        };
        let has = |wanted: fn(&Stmt) -> bool| body.iter().any(wanted);
        let is_work = has(|stmt| matches!(stmt, Stmt::Let { .. }))
            && has(|stmt| matches!(stmt, Stmt::StoreShared { .. }));
        let (low, high) = self.range(left).filter(|_| is_work)?;
        let all = u64::try_from(high - low + 1).ok()?;
        let some = u64::try_from(end - low).unwrap_or(0);
        Some((some.next_multiple_of(u64::from(WARP)).min(all), all))
    }

    /// The least and the largest value of a position in a block.
    fn range(&self, index: &Index) -> Option<(i64, i64)> {
        match index {
            Index::Const(value) => Some((*value, *value)),
            Index::Thread(axis) => Some((0, i64::from(self.kernel.launch.threads[*axis]) - 1)),
            Index::Var(var) => self.range(self.lanes.int(*var)?),
            Index::Add(a, b) => {
                let (a, b) = (self.range(a)?, self.range(b)?);
                Some((a.0 + b.0, a.1 + b.1))
            }
            Index::Mul(a, by) if *by >= 0 => {
                let (low, high) = self.range(a)?;
                Some((low * by, high * by))
            }
            Index::Rem(_, by) => Some((0, by - 1)),
            _ => None,
        }
    }
}

impl Counts {
    /// Adds a part of others, rounded up.
    fn take(&mut self, other: &Counts, (part, of): (u64, u64)) {
        let pairs = [
            (&mut self.adds, other.adds),
            (&mut self.muls, other.muls),
            (&mut self.fmas, other.fmas),
            (&mut self.divisions, other.divisions),
            (&mut self.others, other.others),
            (&mut self.cost, other.cost),
            (&mut self.moves, other.moves),
            (&mut self.loads, other.loads),
            (&mut self.shared_words, other.shared_words),
            (&mut self.shared_loads, other.shared_loads),
            (&mut self.shared_stores, other.shared_stores),
            (&mut self.rounds, other.rounds),
            (&mut self.texels, other.texels),
            (&mut self.stores, other.stores),
            (&mut self.copies, other.copies),
            (&mut self.boxes, other.boxes),
            (&mut self.boxed, other.boxed),
            (&mut self.syncs, other.syncs),
        ];
        for (own, other) in pairs {
            *own += other.saturating_mul(part).div_ceil(of.max(1));
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
            // The body is followed by the next statement, or, in a loop, by itself.
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
            rounds: 14,
            stores: 2,
            copies: 1,
            cells: 1,
            // All values of the neighbours are read before the first is used.
            live: 12,
            // A value is read, and six operations follow each other.
            chain: 4 + 6,
            ..Counts::default()
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn what_some_threads_do_for_all_counts_in_part() {
        let text = "kernel r { dimension 2 value_bytes 4
            launch blocks threads [64, 4, 1] tile [64, 4, 1] extend [0, 0, 0] blocks_per_unit 1
            buffer v write halo [0, 0, 0] shared line[512]
            registers a, b1, b2, b3, b4, c ints thread, rim, own, p cells d
            code {
                int thread = thread.y * 64 + thread.x
                int rim = (thread + 16) % 256
                int own = thread + 0
                cell d = (block.x, 0, 0)
                for p in 0 .. size.y {
                    if rim < 40 {
                        a = line[own]
                        b1 = a + a b2 = b1 + a b3 = b2 + a b4 = b3 + a
                        store line[own + 256] = b4
                    }
                    sync
                    c = 1.0 + 2.0
                    store v[d] = c
                }
            } }";
        // 40 threads are two warps of eight.
        let counts = parse(text).unwrap().operations();
        assert_eq!((counts.adds, counts.shared_loads), (2, 1));
        // A condition on unknown values counts in full.
        let counts = parse(&text.replace("rim < 40", "p < 40")).unwrap().operations();
        assert_eq!((counts.adds, counts.shared_stores), (5, 1));
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
        assert_eq!((counts.adds, counts.divisions, counts.stores, counts.loads), (3, 1, 3, 1));
        assert_eq!((counts.cost, counts.moves), (3 + 8, 1));
        assert_eq!(counts.live, 3);
    }
}
