//! The waits of values for each other: the steps that an iteration of the main loop takes a warp that has all units for
//! itself.
//!
//! Operations that do not need each other overlap, and the compiler of a card mixes them. It does so between branches
//! only: quotients and roots branch to a slow path for very small or large values, so later text waits until the result
//! is there, and until values of global memory are there that are needed before it. So does text behind work that some
//! threads do for all.

use std::collections::BTreeMap;

use super::branches::usual;
use super::{Index, Operand, Reg, Stmt};
use crate::expr::Op;

/// Steps until a value of shared memory arrives.
const SHARED: u64 = 4;

/// Steps until a value of global memory arrives, which the compiler requests early if no branch is before it; most of
/// them the caches have.
const GLOBAL: u64 = 16;

/// Steps until one arrives that is requested behind a branch or a barrier.
const GLOBAL_BEHIND: u64 = 50;

/// Steps of statements; one step is the time from a sum to the next one that needs it.
pub(super) fn steps(body: &[Stmt]) -> u64 {
    let mut chain = Chain::default();
    chain.follow(body);
    chain.last
}

#[derive(Default)]
struct Chain {
    /// Steps before which nothing starts.
    begin: u64,
    /// Steps until all values are there.
    last: u64,
    /// Steps until all values of global memory arrive that operations so far take.
    answered: u64,
    ready: BTreeMap<Reg, u64>,
    /// The registers that values of global memory come to, and when.
    loaded: BTreeMap<Reg, u64>,
}

impl Chain {
    fn follow(&mut self, body: &[Stmt]) {
        for stmt in usual(body) {
            match stmt {
                Stmt::Let { reg, op, args } => {
                    let at = self.known(args) + latency(*op);
                    self.define(*reg, at);
                    self.answered = self.answered.max(self.asked_for(args));
                    if matches!(op, Op::Div | Op::Sqrt) {
                        self.begin = at.max(self.answered + latency(*op));
                    }
                }
                Stmt::Set { reg, value } => {
                    let at = self.known(std::slice::from_ref(value));
                    self.define(*reg, at);
                }
                Stmt::Load { reg, .. } => {
                    let at = self.begin + self.answer();
                    self.define(*reg, at);
                    self.loaded.insert(*reg, at);
                }
                Stmt::LoadShared { regs, .. } => {
                    for reg in regs {
                        self.define(*reg, self.begin + SHARED);
                    }
                }
                Stmt::If { body, .. } => {
                    self.follow(body);
                    if body.iter().any(|stmt| matches!(stmt, Stmt::Let { .. })) {
                        self.begin = self.last;
                    }
                }
                Stmt::For { from, to, body, .. } => self.repeat(body, trips(from, to)),
                Stmt::Sync => self.begin = self.last,
                _ => {}
            }
        }
    }

    /// Steps until a value of global memory arrives that is requested now.
    fn answer(&self) -> u64 {
        match self.begin {
            0 => GLOBAL,
            _ => GLOBAL_BEHIND,
        }
    }

    /// Steps until the values of global memory among these arrive.
    fn asked_for(&self, args: &[Operand]) -> u64 {
        let of = |arg: &Operand| match arg {
            Operand::Reg(reg) => self.loaded.get(reg).copied(),
            Operand::Uniform(_) | Operand::Lit(_) => None,
        };
        args.iter().filter_map(of).max().unwrap_or(0)
    }

    /// Iterations after the second take as long as the second.
    fn repeat(&mut self, body: &[Stmt], trips: u64) {
        let mut more = 0;
        for _ in 0..trips.min(2) {
            let before = self.last;
            self.follow(body);
            more = self.last - before;
        }
        let rest = more.saturating_mul(trips.saturating_sub(2));
        self.begin = self.begin.saturating_add(rest);
        self.last = self.last.saturating_add(rest);
    }

    /// Steps until all of these are there.
    fn known(&self, args: &[Operand]) -> u64 {
        let of = |arg: &Operand| match arg {
            Operand::Reg(reg) => self.ready.get(reg).copied(),
            Operand::Uniform(_) | Operand::Lit(_) => None,
        };
        args.iter().filter_map(of).fold(self.begin, u64::max)
    }

    fn define(&mut self, reg: Reg, at: u64) {
        self.ready.insert(reg, at);
        self.loaded.remove(&reg);
        self.last = self.last.max(at);
    }
}

/// Iterations of a loop, or one if nothing is known of it.
fn trips(from: &Index, to: &Index) -> u64 {
    match (from, to) {
        (Index::Const(from), Index::Const(to)) => {
            u64::try_from(to.saturating_sub(*from)).unwrap_or(0)
        }
        _ => 1,
    }
}

/// Steps of an operation, as many as it costs; a comparison and the choice by it follow each other.
fn latency(op: Op) -> u64 {
    let cost = u64::from(op.cost());
    match op {
        Op::Min | Op::Max | Op::Lt | Op::Le | Op::Eq => cost.max(2),
        _ => cost,
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::text::parse;

    /// Steps of a kernel of one thread whose main loop has these statements.
    fn steps(code: &str) -> u64 {
        let text = format!(
            "kernel k {{ dimension 1 value_bytes 8
            launch blocks threads [64, 1, 1] tile [64, 1, 1] extend [0, 0, 0] blocks_per_unit 1
            buffer u read halo [1, 0, 0] buffer v write halo [0, 0, 0] shared line[128]
            registers a, b, s, t, q, r ints own, p, i cells c
            code {{
                int own = thread.x + 0
                cell c = (own, 0, 0)
                for p in 0 .. size.x {{ {code} store v[c] = q }}
            }} }}"
        );
        parse(&text).unwrap().operations().chain
    }

    #[test]
    fn what_does_not_wait_takes_no_steps() {
        // Two sums of one value do not wait for each other; the third waits for both.
        assert_eq!(steps("a = line[own] s = a + 1.0 t = a + 2.0 q = s + t"), 4 + 2);
        // Values of global memory take longer.
        assert_eq!(steps("a = load u[c] b = load u[c + (1, 0, 0)] q = a + b"), 16 + 1);
        // A sign costs nothing, a comparison and a choice two steps.
        assert_eq!(steps("a = line[own] b = -a s = min(a, b) q = lt(s, a, a, s)"), 4 + 4);
    }

    #[test]
    fn nothing_passes_a_quotient_or_work_for_others() {
        // Two quotients of known values one after the other.
        assert_eq!(steps("s = 1.0 / 3.0 t = 2.0 / 3.0 q = s + t"), 8 + 8 + 1);
        // Values that are read behind one are requested behind it, which takes time if they are in global memory.
        assert_eq!(steps("s = 1.0 / 3.0 a = line[own] q = s + a"), 8 + 4 + 1);
        assert_eq!(steps("s = 1.0 / 3.0 a = load u[c] q = s + a"), 8 + 50 + 1);
        // A quotient that does not need it waits all the same, if the text before does.
        assert_eq!(steps("a = load u[c] s = a + 1.0 t = 1.0 / 3.0 q = t + 1.0"), 16 + 8 + 1);
        assert_eq!(steps("a = line[own] s = a + 1.0 t = 1.0 / 3.0 q = t + 1.0"), 8 + 1);
        let rim = "if own < 32 { a = 1.0 + 2.0 b = a + a store line[own + 64] = b }";
        assert_eq!(steps(&format!("{rim} q = 1.0 + 1.0")), 2 + 1);
        assert_eq!(steps("for i in 0 .. 3 { s = 1.0 / 3.0 } q = s + s"), 3 * 8 + 1);
    }
}
