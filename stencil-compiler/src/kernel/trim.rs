//! The work on planes around a chunk. In the iterations before its first plane and behind its last one, sums that ride
//! along take some terms, and older planes are stored; all else of an iteration is for outputs that another block has.
//!
//! The planes on which a value is needed follow from the stores, against the order of evaluation: an operand is needed
//! where one of its readers is, and the value of a queue where the next iteration reads it. Dropping the rest changes
//! no bit that is stored.

use std::collections::BTreeMap;

use super::iteration::{Computed, registers};
use super::order::{operands, writes};
use super::{Operand, Reg, Stmt};

/// Iterations from plane `start + first` of a chunk to plane `end + last`, this one excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) first: i32,
    pub(super) last: i32,
}

impl Span {
    /// The iterations in which an output of this lag is stored.
    fn of_store(lag: i32) -> Span {
        Span {
            first: -lag,
            last: -lag,
        }
    }

    fn hull(self, other: Span) -> Span {
        Span {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    fn is_within(self, other: Span) -> bool {
        other.first <= self.first && self.last <= other.last
    }

    /// The iterations in which a value is needed that the next iteration reads.
    fn before(self) -> Span {
        Span {
            first: self.first - 1,
            last: self.last - 1,
        }
    }
}

/// The iterations in which the values of an iteration are needed.
pub(super) struct Needs {
    of: BTreeMap<Reg, Span>,
}

impl Needs {
    /// The needs of an iteration out of `all`; `None` if they do not settle, as for a value that is made of itself an
    /// iteration before.
    pub(super) fn new(computed: &Computed, all: Span) -> Option<Self> {
        let mut needs = Needs {
            of: BTreeMap::new(),
        };
        for (lag, stores) in &computed.stores {
            needs.widen(stored(stores), Span::of_store(*lag));
        }
        // Neighbours may read these in any of the next iterations.
        for (_, values) in &computed.staged {
            needs.widen(registers(values.iter()), all);
        }
        for _ in 0..=computed.sets.len() + 1 {
            let known = needs.of.clone();
            for set in &computed.sets {
                if let Some((span, value)) = needs.of_set(set) {
                    needs.widen(registers([value].iter()), span);
                }
            }
            for stmt in computed.operations.iter().rev() {
                needs.follow(stmt);
            }
            for stmt in computed.ahead.iter().rev() {
                needs.follow(stmt);
            }
            if known == needs.of {
                return Some(needs);
            }
        }
        None
    }

    /// The iterations in which most of the work is needed that is not needed in all; `None` if all work is.
    pub(super) fn core(&self, computed: &Computed, all: Span) -> Option<Span> {
        let operations = computed.ahead.iter().chain(&computed.operations);
        let mut work: BTreeMap<Span, u64> = BTreeMap::new();
        for stmt in operations {
            if let Some(span) = self.span(stmt) {
                *work.entry(span).or_default() += cost(stmt);
            }
        }
        let spared = |core: Span| {
            let within = work.iter().filter(|(span, _)| span.is_within(core));
            let work: u64 = within.map(|(_, work)| work).sum();
            work * u64::from(core.first.abs_diff(all.first) + all.last.abs_diff(core.last))
        };
        let cores = work.keys().copied().filter(|core| core.is_within(all));
        let most = cores.max_by_key(|core| (spared(*core), *core))?;
        (spared(most) > 0).then_some(most)
    }

    /// An iteration before the core, or behind it, with the work that is needed there alone.
    pub(super) fn around(&self, computed: &Computed, wanted: impl Fn(Span) -> bool) -> Computed {
        let is_wanted = |span: Option<Span>| span.is_some_and(&wanted);
        let operations = |all: &[Stmt]| -> Vec<Stmt> {
            let wanted = all.iter().filter(|stmt| is_wanted(self.span(stmt)));
            wanted.cloned().collect()
        };
        let stores = computed.stores.iter();
        let stores = stores.filter(|(lag, _)| wanted(Span::of_store(*lag)));
        let sets = computed.sets.iter();
        let sets = sets.filter(|set| is_wanted(self.of_set(set).map(|(span, _)| span)));
        Computed {
            ahead: operations(&computed.ahead),
            operations: operations(&computed.operations),
            staged: computed.staged.clone(),
            stores: stores.cloned().collect(),
            sets: sets.cloned().collect(),
        }
    }

    fn widen(&mut self, regs: impl IntoIterator<Item = Reg>, span: Span) {
        for reg in regs {
            let known = self.of.entry(reg).or_insert(span);
            *known = known.hull(span);
        }
    }

    /// The operands of a load or an operation are needed where its results are.
    fn follow(&mut self, stmt: &Stmt) {
        if let Some(span) = self.span(stmt) {
            self.widen(operands(stmt), span);
        }
    }

    fn span(&self, stmt: &Stmt) -> Option<Span> {
        let written = writes(stmt).into_iter();
        let spans = written.filter_map(|reg| self.of.get(&reg).copied());
        spans.reduce(Span::hull)
    }

    /// The iterations in which a queue has to be set, and its value.
    fn of_set(&self, set: &Stmt) -> Option<(Span, Operand)> {
        match set {
            Stmt::Set { reg, value } => Some((self.of.get(reg)?.before(), *value)),
            _ => None,
        }
    }
}

/// Registers that are stored.
fn stored(statements: &[Stmt]) -> Vec<Reg> {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Store { values, .. } => registers(values.iter()).collect(),
        Stmt::If { body, .. } => stored(body),
        _ => Vec::new(),
    };
    statements.iter().flat_map(of).collect()
}

fn cost(stmt: &Stmt) -> u64 {
    match stmt {
        Stmt::Let { op, .. } => u64::from(op.cost()),
        _ => 1,
    }
}
