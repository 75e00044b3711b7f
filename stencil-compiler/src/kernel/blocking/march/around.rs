//! The iterations of a march on planes of its chunk, before it and behind it.

use super::March;
use crate::kernel::iteration::{Computed, Frame};
use crate::kernel::lower::Draft;
use crate::kernel::pipeline::Pipeline;
use crate::kernel::rename::renamed;
use crate::kernel::trim::{Needs, Span};
use crate::kernel::{Condition, Index, IntVar, Stmt};

/// The work of an iteration on some planes.
pub(super) struct Branch {
    pub(super) computed: Computed,
    pub(super) when: When,
}

/// On which planes that is.
pub(super) struct When {
    conditions: Vec<Condition>,
    /// Is some of the same computed in a branch before?
    again: bool,
}

impl When {
    /// Statements as they are run then.
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

/// All of the work on the planes on which all is needed, and the part needed before and behind these; `warm` leaves out
/// the iterations that only fill the first planes.
pub(super) fn branches(
    march: &March,
    pipeline: &Pipeline,
    computed: Computed,
    (plane, frame, warm): (IntVar, Frame, Option<Condition>),
) -> Vec<Branch> {
    let all = Span {
        first: pipeline.first_iteration(),
        last: -pipeline.last_lag(),
    };
    let branch = |conditions: Vec<Condition>, again: bool, computed: Computed| Branch {
        computed,
        when: When { conditions, again },
    };
    let needs = march.trim.then(|| Needs::new(&computed, all)).flatten();
    let core = needs.as_ref().and_then(|needs| needs.core(&computed, all));
    let (Some(needs), Some(core)) = (needs, core) else {
        return vec![branch(warm.into_iter().collect(), false, computed)];
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
    branches
}
