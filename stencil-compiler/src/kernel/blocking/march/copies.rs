//! The loader of a march: which thread copies what into a slot of the ring.

use super::March;
use super::layout::{EMPTY, FULL, Group, Layout, RING};
use crate::kernel::lower::Draft;
use crate::kernel::{Condition, Index, IntVar, Relation, Stmt};

/// Integer variables that all parts of a march use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The thread's first cell along x.
    pub(super) x: IntVar,
    /// The thread's cell along y.
    pub(super) y: IntVar,
    /// Number of the thread in its block.
    pub(super) thread: IntVar,
    /// First output plane of the chunk.
    pub(super) start: IntVar,
    /// End of the output planes of the chunk.
    pub(super) end: IntVar,
}

/// One thread's share of a group's copies in each iteration.
struct Share {
    group: usize,
    /// Where in a slot's box the copy goes.
    to: IntVar,
    x: IntVar,
    y: IntVar,
    /// Conditions on the thread, the same in all iterations.
    conditions: Vec<Condition>,
}

/// Copies of one march.
pub(super) struct Copies<'a> {
    march: &'a March,
    layout: &'a Layout,
    frame: Frame,
    axis: usize,
    shares: Vec<Share>,
}

impl<'a> Copies<'a> {
    /// Computes each thread's share once, ahead of the loop.
    pub(super) fn new(
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        march: &'a March,
        layout: &'a Layout,
        frame: Frame,
        axis: usize,
    ) -> Self {
        let mut shares = Vec::new();
        for (at, group) in layout.groups.iter().enumerate() {
            let threads = march.threads()[0] * march.threads()[1];
            let per_row = group.width / march.vector;
            let copies = per_row * group.height;
            for round in 0..copies.div_ceil(threads) {
                let is_last = (round + 1) * threads > copies;
                shares.push(share(
                    draft,
                    body,
                    march,
                    frame,
                    axis,
                    (at, group),
                    round * threads,
                    is_last,
                ));
            }
        }
        Copies {
            march,
            layout,
            frame,
            axis,
            shares,
        }
    }

    /// Fills the slot of an iteration and arrives on its full barrier.
    pub(super) fn issue(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>, iteration: Index) {
        let slot = draft.int("fill");
        body.push(Stmt::Int {
            var: slot,
            value: iteration.clone() % i64::from(self.layout.slots),
        });
        let mut planes: Vec<Option<IntVar>> = vec![None; self.layout.groups.len()];
        for share in &self.shares {
            let group = &self.layout.groups[share.group];
            let plane = *planes[share.group].get_or_insert_with(|| {
                let plane = draft.int("plane");
                let lead = i64::from(self.layout.begin + group.lead);
                let value = Index::Var(self.frame.start) + iteration.clone() + Index::Const(lead);
                body.push(Stmt::Int { var: plane, value });
                plane
            });
            let reach = Index::Const(i64::from(group.reach));
            let mut conditions = vec![
                at_least(plane, Index::Var(self.frame.start) - reach.clone()),
                below(plane, Index::Var(self.frame.end) + reach),
            ];
            conditions.extend(share.conditions.clone());
            body.push(Stmt::If {
                conditions,
                body: self.copies(draft, share, slot, plane),
            });
        }
        body.push(Stmt::ArriveCopies {
            barrier: FULL,
            slot: Index::Var(slot),
        });
    }

    fn copies(&self, draft: &Draft<'_>, share: &Share, slot: IntVar, plane: IntVar) -> Vec<Stmt> {
        let mut out = Vec::new();
        for (of, place) in &self.layout.planes {
            if place.group != share.group {
                continue;
            }
            let name = &draft.context.algorithm.function(*of).name;
            let Some(buffer) = draft.find_buffer(name) else {
                continue;
            };
            let slot_start = Index::Var(slot) * i64::from(self.layout.slot_len);
            let to = slot_start + Index::Const(i64::from(place.offset)) + Index::Var(share.to);
            let mut from = [Index::Var(share.x), Index::Const(0), Index::Const(0)];
            if self.axis == 2 {
                from[1] = Index::Var(share.y);
            }
            from[self.axis] = Index::Var(plane);
            out.push(Stmt::Copy {
                array: RING,
                to,
                buffer,
                from,
            });
        }
        out
    }

    /// Waits until the slot of an iteration to come is free, then fills it.
    pub(super) fn refill(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>, iteration: IntVar) {
        let slots = i64::from(self.layout.slots);
        let next = draft.int("next");
        let ahead = Index::Const(i64::from(self.layout.ahead));
        body.push(Stmt::Int {
            var: next,
            value: Index::Var(iteration) + ahead,
        });
        let next = Index::Var(next);
        let parity = (next.clone() / slots + Index::Const(1)) % 2;
        body.push(Stmt::Wait {
            barrier: EMPTY,
            slot: next.clone() % slots,
            parity,
        });
        self.issue(draft, body, next);
    }

    /// The march that this loader serves.
    pub(super) fn march(&self) -> &March {
        self.march
    }
}

#[allow(
    clippy::too_many_arguments,
    reason = "one call site; the arguments are the march's frame"
)]
fn share(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    march: &March,
    frame: Frame,
    axis: usize,
    (at, group): (usize, &Group),
    first: u32,
    is_last: bool,
) -> Share {
    let mut int = |draft: &mut Draft<'_>, name: &str, value: Index| {
        let var = draft.int(name);
        body.push(Stmt::Int { var, value });
        var
    };
    let extend = draft.context.launch.extend;
    let per_row = i64::from(group.width / march.vector);
    let number = int(
        draft,
        "copy",
        Index::Var(frame.thread) + Index::Const(i64::from(first)),
    );
    let row = int(draft, "copy_row", Index::Var(number) / per_row);
    let column = int(
        draft,
        "copy_column",
        Index::Var(number) % per_row * i64::from(march.vector),
    );
    let to = int(
        draft,
        "copy_to",
        Index::Var(row) * i64::from(group.width) + Index::Var(column),
    );
    let left = Index::Const(i64::from(group.rim_x[0] + extend[0]));
    let x = int(
        draft,
        "copy_x",
        Index::Block(0) * i64::from(march.tile[0]) + Index::Var(column) - left,
    );
    let mut conditions = vec![below(
        x,
        Index::Size(0) + Index::Const(i64::from(extend[0] + group.right)),
    )];
    let mut y = row;
    if axis == 2 {
        let low = Index::Const(i64::from(group.rim_y[0] + extend[1]));
        y = int(
            draft,
            "copy_y",
            Index::Block(1) * i64::from(march.tile[1]) + Index::Var(row) - low,
        );
        conditions.push(below(
            y,
            Index::Size(1) + Index::Const(i64::from(extend[1] + group.rim_y[1])),
        ));
    }
    if is_last {
        conditions.push(below(
            number,
            Index::Const(per_row * i64::from(group.height)),
        ));
    }
    Share {
        group: at,
        to,
        x,
        y,
        conditions,
    }
}

pub(super) fn below(var: IntVar, right: Index) -> Condition {
    Condition {
        left: Index::Var(var),
        relation: Relation::Less,
        right,
    }
}

pub(super) fn at_least(var: IntVar, right: Index) -> Condition {
    Condition {
        left: Index::Var(var),
        relation: Relation::GreaterEqual,
        right,
    }
}
