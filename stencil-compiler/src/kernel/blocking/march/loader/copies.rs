//! The loader of a march: the copies of each thread into a slot of the ring.

use super::March;
use super::ends::{Ends, are_around, source};
use super::rings::{COPIED, DONE, FULL, RING, Rings, Shape};
use crate::kernel::iteration::Frame;
use crate::kernel::lower::Draft;
use crate::kernel::{BarrierId, Condition, Index, IntVar, Stmt};

/// One thread's share of a group's copies in each iteration.
struct Share {
    group: usize,
    /// The place in a slot's box that receives the copy.
    to: IntVar,
    x: IntVar,
    y: IntVar,
    /// Conditions on the thread, the same in all iterations.
    conditions: Vec<Condition>,
}

/// Copies of one march.
pub(super) struct Copies<'a> {
    rings: &'a Rings,
    frame: Frame,
    axis: usize,
    shares: Vec<Share>,
    /// Iterations whose copies are complete.
    full: BarrierId,
    /// The blocks that copy, if others have boxes copied.
    ends: Option<Ends>,
}

impl<'a> Copies<'a> {
    /// Computes each thread's share once, ahead of the loop: of all planes, or, in addition to boxes, of those that are
    /// read around ends.
    pub(super) fn new(
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        march: &March,
        rings: &'a Rings,
        (frame, axis): (Frame, usize),
        ends: Option<Ends>,
    ) -> Self {
        let mut shares = Vec::new();
        for (at, group) in rings.groups.iter().enumerate() {
            if ends.is_some() && !are_around(group, draft.context.launch, axis) {
                continue;
            }
            let threads = march.threads()[0] * march.threads()[1];
            let per_row = group.shape.width / march.vector;
            let copies = per_row * group.shape.height;
            for round in 0..copies.div_ceil(threads) {
                let is_last = (round + 1) * threads > copies;
                let of = (at, &group.shape);
                let with = (march, frame, axis);
                shares.push(share(draft, body, with, of, (round * threads, is_last)));
            }
        }
        Copies { rings, frame, axis, shares, full: ends.map_or(FULL, |_| COPIED), ends }
    }

    /// Fills the slots of the first iterations.
    pub(super) fn fill_first(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>) {
        let mut fill = Vec::new();
        for slot in 0..self.rings.ahead {
            self.fill_slots(draft, &mut fill, Index::Const(i64::from(slot)));
        }
        self.push(body, fill);
    }

    /// Statements of the blocks that copy.
    fn push(&self, body: &mut Vec<Stmt>, own: Vec<Stmt>) {
        match self.ends {
            Some(ends) => body.push(Stmt::If { conditions: vec![ends.beside()], body: own }),
            None => body.extend(own),
        }
    }

    /// Waits until the slots of an iteration are filled.
    pub(super) fn wait(&self, body: &mut Vec<Stmt>, iteration: IntVar) {
        self.push(body, vec![self.rings.filled(self.full, iteration)]);
    }

    /// Fills the slots of an iteration and arrives on its full barrier.
    fn fill_slots(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>, iteration: Index) {
        for (at, group) in self.rings.groups.iter().enumerate() {
            let shares = self.shares.iter().filter(|share| share.group == at);
            let shares: Vec<&Share> = shares.collect();
            if shares.is_empty() {
                continue;
            }
            let value = iteration.clone() % i64::from(group.slots) * i64::from(group.slot_len);
            let start = Index::Const(i64::from(group.start));
            let slot = draft.define(body, "fill", value + start);
            let lead = i64::from(self.rings.begin + group.shape.lead);
            let value = Index::Var(self.frame.start) + iteration.clone() + Index::Const(lead);
            let plane = draft.define(body, "plane", value);
            let from = source(draft, body, plane, self.axis);
            let reach = Index::Const(i64::from(group.shape.reach));
            let exists = vec![
                Condition::at_least(plane, Index::Var(self.frame.start) - reach.clone()),
                Condition::below(plane, Index::Var(self.frame.end) + reach),
            ];
            let copies = shares.into_iter().map(|share| Stmt::If {
                conditions: share.conditions.clone(),
                body: self.copies(draft, share, slot, from),
            });
            body.push(Stmt::If { conditions: exists, body: copies.collect() });
        }
        body.push(Stmt::ArriveCopies {
            barrier: self.full,
            slot: iteration % i64::from(self.rings.phases()),
        });
    }

    fn copies(&self, draft: &Draft<'_>, share: &Share, slot: IntVar, plane: IntVar) -> Vec<Stmt> {
        let mut out = Vec::new();
        for (of, place) in &self.rings.planes {
            if place.group != share.group {
                continue;
            }
            let name = &draft.context.algorithm.function(*of).name;
            let Some(buffer) = draft.find_buffer(name) else {
                continue;
            };
            let to = Index::Var(slot) + Index::Const(i64::from(place.offset));
            let mut from = [Index::Var(share.x), Index::Const(0), Index::Const(0)];
            if self.axis == 2 {
                from[1] = Index::Var(share.y);
            }
            from[self.axis] = Index::Var(plane);
            out.push(Stmt::Copy { array: RING, to: to + Index::Var(share.to), buffer, from });
        }
        out
    }

    /// Waits until the slots of an iteration to come are free, then fills them: their planes were
    /// last read in the iteration before this one.
    pub(super) fn fill_next(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>, iteration: IntVar) {
        let phases = i64::from(self.rings.phases());
        let ahead = Index::Const(i64::from(self.rings.ahead));
        let mut fill = Vec::new();
        let next = draft.define(&mut fill, "next", Index::Var(iteration) + ahead);
        // Iteration i + ahead has the phase that iteration i - 1 had before it.
        let next = Index::Var(next);
        let parity = (next.clone() / phases + Index::Const(1)) % 2;
        fill.push(Stmt::Wait { barrier: DONE, slot: next.clone() % phases, parity });
        self.fill_slots(draft, &mut fill, next);
        self.push(body, fill);
    }
}

fn share(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    (march, frame, axis): (&March, Frame, usize),
    (at, shape): (usize, &Shape),
    (first, is_last): (u32, bool),
) -> Share {
    let constant = |value: u32| Index::Const(i64::from(value));
    let extend = draft.context.launch.extend;
    let per_row = i64::from(shape.width / march.vector);
    let number = Index::Var(frame.thread) + constant(first);
    let number = draft.define(body, "copy", number);
    let row = draft.define(body, "copy_row", Index::Var(number) / per_row);
    let column = Index::Var(number) % per_row * i64::from(march.vector);
    let column = draft.define(body, "copy_column", column);
    let to = Index::Var(row) * i64::from(shape.width) + Index::Var(column);
    let to = draft.define(body, "copy_to", to);
    let x = Index::Block(0) * i64::from(march.tile[0]) + Index::Var(column);
    let x = draft.define(body, "copy_x", x - constant(shape.rim_x[0] + extend[0]));
    let end = Index::Size(0) + constant(extend[0] + shape.right);
    let mut conditions = vec![Condition::below(x, end)];
    let mut y = row;
    if axis == 2 {
        let along = Index::Block(1) * i64::from(march.tile[1]) + Index::Var(row);
        y = draft.define(body, "copy_y", along - constant(shape.rim_y[0] + extend[1]));
        let end = Index::Size(1) + constant(extend[1] + shape.rim_y[1]);
        conditions.push(Condition::below(y, end));
    }
    if is_last {
        let copies = Index::Const(per_row * i64::from(shape.height));
        conditions.push(Condition::below(number, copies));
    }
    let wrapped = draft.context.launch.wrapped;
    let mut wrap = |var: IntVar, axis: usize| match wrapped[axis] {
        true => draft.define(body, "copy_from", Index::Wrap(Box::new(Index::Var(var)), axis)),
        false => var,
    };
    let x = wrap(x, 0);
    if axis == 2 {
        y = wrap(y, 1);
    }
    Share { group: at, to, x, y, conditions }
}
