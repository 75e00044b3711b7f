//! Loads by boxes: one thread starts a box a plane and series of buffers, and says
//! how many bytes an iteration awaits.
//!
//! Every box must have been waited for when the block ends, so only iterations that come are filled.

use super::March;
use super::ends::{Ends, are_around, source};
use super::rings::{DONE, FULL, Group, RING, Rings};
use crate::algorithm::FnId;
use crate::kernel::iteration::Frame;
use crate::kernel::lower::Draft;
use crate::kernel::pipeline::Pipeline;
use crate::kernel::{BufferId, Condition, Index, IntVar, Stmt};

/// The boxes of a group.
struct GroupBoxes {
    group: Group,
    /// The buffers of each box, and where in a slot their planes begin.
    buffers: Vec<(Vec<BufferId>, u32)>,
    /// The first cell of a plane.
    x: IntVar,
    y: Option<IntVar>,
    /// Is there an iteration whose plane lies before the existing ones, or behind them?
    bounds: [bool; 2],
    /// The blocks that have boxes copied, if others read around an end.
    ends: Option<Ends>,
}

/// Boxes of one march.
pub(super) struct Boxes<'a> {
    rings: &'a Rings,
    frame: Frame,
    axis: usize,
    value_bytes: usize,
    /// Iterations of the loop.
    turns: IntVar,
    boxes: Vec<GroupBoxes>,
    /// Do all threads wait until slots are free, for they need what others did then?
    by_all: bool,
    /// The blocks that read around an end, in which all threads have waited before they copied.
    ends: Option<Ends>,
}

impl<'a> Boxes<'a> {
    /// Computes once, ahead of the loop, where planes begin.
    pub(super) fn new(
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        march: &March,
        rings: &'a Rings,
        (frame, pipeline, turns): (Frame, &Pipeline, IntVar),
        ends: Option<Ends>,
    ) -> Self {
        let boxes = (0..rings.groups.len())
            .map(|at| boxes(draft, body, march, rings, (at, pipeline), ends))
            .collect();
        Boxes {
            rings,
            frame,
            axis: pipeline.axis,
            value_bytes: draft.context.value_bytes,
            turns,
            boxes,
            by_all: march.split,
            ends,
        }
    }

    /// Fills the slots of the first iterations.
    pub(super) fn fill_first(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>) {
        let mut inner = Vec::new();
        for iteration in 0..i64::from(self.rings.ahead) {
            let mut fill = Vec::new();
            self.fill_slots(draft, &mut fill, Index::Const(iteration));
            if iteration == 0 {
                inner.extend(fill);
                continue;
            }
            inner.push(Stmt::If {
                conditions: vec![Condition::at_least(self.turns, Index::Const(iteration + 1))],
                body: fill,
            });
        }
        body.push(Stmt::If { conditions: vec![self.elected()], body: inner });
    }

    /// Waits until the slots of an iteration to come are free, then fills them: their planes were
    /// last read in the iteration before this one. Threads have only read them, which the barrier
    /// orders before what the copies write.
    pub(super) fn fill_next(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>, iteration: IntVar) {
        let phases = i64::from(self.rings.phases());
        let ahead = Index::Const(i64::from(self.rings.ahead));
        let next = draft.define(body, "next", Index::Var(iteration) + ahead);
        let conditions = vec![self.elected(), Condition::below(next, Index::Var(self.turns))];
        // Iteration i + ahead has the phase that iteration i - 1 had before it.
        let next = Index::Var(next);
        let mut fill = Vec::new();
        let waiting = if self.by_all { &mut *body } else { &mut fill };
        let free = Stmt::Wait {
            barrier: DONE,
            slot: next.clone() % phases,
            parity: (next.clone() / phases + Index::Const(1)) % 2,
        };
        waiting.push(match self.ends {
            Some(ends) => Stmt::If { conditions: vec![ends.inside()], body: vec![free] },
            None => free,
        });
        self.fill_slots(draft, &mut fill, next);
        body.push(Stmt::If { conditions, body: fill });
    }

    /// Waits until the slots of an iteration are filled.
    pub(super) fn wait(&self, body: &mut Vec<Stmt>, iteration: IntVar) {
        body.push(self.rings.filled(FULL, iteration));
    }

    fn elected(&self) -> Condition {
        Condition::below(self.frame.thread, Index::Const(1))
    }

    /// Starts the boxes of an iteration, and arrives on its full barrier.
    fn fill_slots(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>, iteration: Index) {
        let slot = iteration.clone() % i64::from(self.rings.phases());
        let known = self.boxes.iter().filter_map(|boxes| {
            let bounds = self.bounds(boxes, &iteration)?;
            Some((boxes, bounds))
        });
        let (always, sometimes): (Vec<_>, Vec<_>) =
            known.partition(|(boxes, bounds)| *bounds == [false; 2] && boxes.ends.is_none());
        for (boxes, bounds) in sometimes {
            let plane = self.plane(draft, body, boxes, &iteration);
            let mut inner = vec![Stmt::Expect {
                barrier: FULL,
                slot: slot.clone(),
                bytes: self.bytes(boxes),
                arrives: false,
            }];
            self.copies(draft, &mut inner, boxes, (plane, &iteration, &slot));
            body.push(Stmt::If { conditions: self.exists(boxes, plane, bounds), body: inner });
        }
        body.push(Stmt::Expect {
            barrier: FULL,
            slot: slot.clone(),
            bytes: always.iter().map(|(boxes, _)| self.bytes(boxes)).sum(),
            arrives: true,
        });
        for (boxes, _) in always {
            let plane = self.plane(draft, body, boxes, &iteration);
            self.copies(draft, body, boxes, (plane, &iteration, &slot));
        }
    }

    fn bytes(&self, boxes: &GroupBoxes) -> u32 {
        let values = boxes.group.shape.width * boxes.group.shape.height;
        let buffers: usize = boxes.buffers.iter().map(|(of, _)| of.len()).sum();
        values * buffers as u32 * self.value_bytes as u32
    }

    /// The plane that an iteration takes into a slot of a group.
    fn plane(
        &self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        boxes: &GroupBoxes,
        iteration: &Index,
    ) -> IntVar {
        let lead = i64::from(self.rings.begin + boxes.group.shape.lead);
        let value = Index::Var(self.frame.start) + iteration.clone() + Index::Const(lead);
        draft.define(body, "plane", value)
    }

    /// Is it to be asked whether the plane of an iteration is one of the first that exist, and of the
    /// last? `None` if there is none.
    fn bounds(&self, boxes: &GroupBoxes, iteration: &Index) -> Option<[bool; 2]> {
        let Index::Const(iteration) = iteration else {
            return Some(boxes.bounds);
        };
        let shape = &boxes.group.shape;
        let first = i64::from(self.rings.begin + shape.lead + shape.reach as i32);
        (first + iteration >= 0).then_some([false, boxes.bounds[1]])
    }

    fn exists(&self, boxes: &GroupBoxes, plane: IntVar, bounds: [bool; 2]) -> Vec<Condition> {
        let reach = Index::Const(i64::from(boxes.group.shape.reach));
        let first = Index::Var(self.frame.start) - reach.clone();
        let end = Index::Var(self.frame.end) + reach;
        let conditions = [Condition::at_least(plane, first), Condition::below(plane, end)];
        let asked = conditions.into_iter().zip(bounds);
        let asked = asked.filter(|(_, asked)| *asked);
        let inside = boxes.ends.map(Ends::inside).into_iter();
        inside.chain(asked.map(|(condition, _)| condition)).collect()
    }

    fn copies(
        &self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        boxes: &GroupBoxes,
        (plane, iteration, slot): (IntVar, &Index, &Index),
    ) {
        let group = &boxes.group;
        let value = iteration.clone() % i64::from(group.slots) * i64::from(group.slot_len);
        let start = Index::Const(i64::from(group.start));
        let fill = draft.define(body, "fill", value + start);
        let mut from = [Index::Var(boxes.x), Index::Const(0), Index::Const(0)];
        if let Some(y) = boxes.y {
            from[1] = Index::Var(y);
        }
        from[self.axis] = Index::Var(source(draft, body, plane, self.axis));
        body.extend(boxes.buffers.iter().map(|(buffers, offset)| Stmt::CopyBox {
            array: RING,
            to: Index::Var(fill) + Index::Const(i64::from(*offset)),
            buffers: buffers.clone(),
            from: from.clone(),
            extent: [group.shape.width, group.shape.height, 1],
            barrier: FULL,
            slot: slot.clone(),
        }));
    }
}

fn boxes(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    march: &March,
    rings: &Rings,
    (at, pipeline): (usize, &Pipeline),
    ends: Option<Ends>,
) -> GroupBoxes {
    let group = rings.groups[at];
    let shape = &group.shape;
    let buffer = |of: &FnId| draft.find_buffer(&draft.context.algorithm.function(*of).name);
    let of_box = |planes: &Vec<FnId>| {
        let first = &rings.planes[planes.first()?];
        let buffers: Option<Vec<BufferId>> = planes.iter().map(buffer).collect();
        (first.group == at).then_some((buffers?, first.offset))
    };
    let buffers = rings.boxes.iter().filter_map(of_box).collect();
    let extend = draft.context.launch.extend;
    let mut first = |name: &str, axis: usize, rim: u32| {
        let before = Index::Const(i64::from(rim + extend[axis]));
        let value = Index::Block(axis) * i64::from(march.tile[axis]) - before;
        draft.define(body, name, value)
    };
    let x = first("box_x", 0, shape.rim_x[0]);
    let y = (pipeline.axis == 2).then(|| first("box_y", 1, shape.rim_y[0]));
    let reach = shape.reach as i32;
    let (lead, last) = (shape.lead, pipeline.last_lag());
    GroupBoxes {
        group,
        buffers,
        x,
        y,
        // The plane of iteration i is start + begin + lead + i, of which there are as many as
        // end - start - last - begin.
        bounds: [rings.begin + lead + reach < 0, lead - last > reach],
        ends: ends.filter(|_| are_around(&group, draft.context.launch, pipeline.axis)),
    }
}
