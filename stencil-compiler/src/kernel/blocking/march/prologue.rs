//! The planes before a chunk and after it, with the parameter `prologue`: code of their own, which computes only values that
//! the outputs of the chunk need. Before its first plane, sums that ride along take some terms; after its last one, older planes
//! are stored. All other work of such an iteration is for outputs that another block has.
//!
//! The planes on which a value is needed follow from the stores, against the order of evaluation: an operand is needed wherever
//! one of its readers is, and the value of a queue wherever the next iteration reads it. Leaving out other values changes no bit
//! that is stored.

use std::collections::BTreeMap;

use crate::kernel::iteration::{Computed, Frame, registers};
use crate::kernel::lower::Draft;
use crate::kernel::order::{operands, writes};
use crate::kernel::pipeline::Pipeline;
use crate::kernel::rename::renamed;
use crate::kernel::{Condition, Index, IntVar, Operand, Reg, Stmt};
use crate::schedule::Refusal;
use crate::schedule::strategies::march::PROLOGUE;

/// The computation of an iteration on some planes.
pub(super) struct Branch {
    pub(super) computed: Computed,
    pub(super) when: When,
}

/// The planes of a branch.
pub(super) struct When {
    conditions: Vec<Condition>,
    /// Does a branch before it compute some of the same registers?
    again: bool,
}

impl When {
    /// Returns the statements under their condition.
    pub(super) fn run(self, draft: &mut Draft<'_>, work: Vec<Stmt>) -> Vec<Stmt> {
        let body = match self.again {
            true => renamed(draft, work),
            false => work,
        };
        let conditions = self.conditions;
        match conditions[..] {
            [] => body,
            _ => vec![Stmt::If { conditions, body }],
        }
    }
}

/// Returns one branch with all of the work, or with the parameter one for the planes that need most of it and two for those
/// before and after. `warm` leaves out the iterations that only fill the first planes.
pub(super) fn branches(
    draft: &Draft<'_>,
    pipeline: &Pipeline,
    computed: Computed,
    (plane, frame, warm): (IntVar, Frame, Option<Condition>),
) -> Result<Vec<Branch>, Refusal> {
    let all = Span { first: pipeline.first_iteration(), last: -pipeline.last_lag() };
    let branch = |conditions: Vec<Condition>, again: bool, computed: Computed| Branch {
        computed,
        when: When { conditions, again },
    };
    let is_separate = draft.context.switch(&PROLOGUE)?;
    let needs = is_separate.then(|| Needs::new(&computed, all)).flatten();
    let core = needs.as_ref().and_then(|needs| needs.core(&computed, all));
    let (Some(needs), Some(core)) = (needs, core) else {
        return Ok(vec![branch(warm.into_iter().collect(), false, computed)]);
    };
    let begin = Index::Var(frame.start) + Index::Const(i64::from(core.first));
    let end = Index::Var(frame.end) + Index::Const(i64::from(core.last));
    let [from, below] = [Condition::at_least, Condition::below];
    let mut branches = Vec::new();
    if all.first < core.first {
        let before = needs.around(&computed, |span| span.first < core.first);
        let conditions = warm.into_iter().chain([below(plane, begin.clone())]);
        branches.push(branch(conditions.collect(), true, before));
    }
    if core.last < all.last {
        let behind = needs.around(&computed, |span| core.last < span.last);
        let conditions = vec![from(plane, begin.clone()), from(plane, end.clone())];
        branches.push(branch(conditions, true, behind));
    }
    let conditions = vec![from(plane, begin), below(plane, end)];
    branches.insert(0, branch(conditions, false, computed));
    Ok(branches)
}

/// Iterations from plane `start + first` of a chunk to plane `end + last`, this one excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    first: i32,
    last: i32,
}

impl Span {
    /// The iterations that store an output of this lag.
    fn of_store(lag: i32) -> Span {
        Span { first: -lag, last: -lag }
    }

    fn hull(self, other: Span) -> Span {
        Span { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    fn is_within(self, other: Span) -> bool {
        other.first <= self.first && self.last <= other.last
    }

    /// The iterations that need a value which the next iteration reads.
    fn before(self) -> Span {
        Span { first: self.first - 1, last: self.last - 1 }
    }
}

/// The iterations that need each value.
struct Needs {
    of: BTreeMap<Reg, Span>,
}

impl Needs {
    /// Finds them among `all` iterations; `None` if that does not settle, as for a value that is made of itself an iteration
    /// before.
    fn new(computed: &Computed, all: Span) -> Option<Self> {
        let mut needs = Needs { of: BTreeMap::new() };
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

    /// The iterations that need most of the work, if that spares others some of it.
    fn core(&self, computed: &Computed, all: Span) -> Option<Span> {
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

    /// An iteration with the values alone that are needed in some of the wanted iterations.
    fn around(&self, computed: &Computed, wanted: impl Fn(Span) -> bool) -> Computed {
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

    /// The operands of a load or an operation are needed wherever its result is.
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

    /// The iterations that have to set a queue, and its new value.
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
