//! The loads of an iteration for the next one: the far end of each column, the rim of each plane. They are issued ahead
//! of the iteration's work and wait in registers.

use std::collections::BTreeMap;

use super::layout::{Group, Layout, PLANES};
use crate::algorithm::FnId;
use crate::kernel::iteration::{Cover, Frame};
use crate::kernel::lower::Draft;
use crate::kernel::{Condition, Index, IntVar, Operand, Reg, Stmt};

/// Loads of one kernel.
pub(super) struct Loader<'a> {
    cover: Cover,
    layout: &'a Layout,
    frame: Frame,
    axis: usize,
    /// The next value of each column, by function and point.
    next: BTreeMap<(FnId, i32), Reg>,
    strips: Vec<Strip>,
    /// The thread's first cell in the first slot of each group.
    own: Vec<IntVar>,
}

/// One thread's share of a group's rim.
struct Strip {
    group: usize,
    x: IntVar,
    y: IntVar,
    /// The place in a slot that receives it.
    to: IntVar,
    /// Has the thread a cell in this strip?
    taken: Vec<Condition>,
    /// Is the cell one that is read?
    inside: Vec<Condition>,
    /// Values on their way, by member of the group.
    values: Vec<Reg>,
}

/// Cells of the rim that lie in rows of one length: above and below the tile, or beside it.
struct RimRows {
    /// Cells of a row, and rows.
    size: [u32; 2],
    /// Cells of the rim along x and y that come before the tile.
    before: [u32; 2],
    /// Cells along x and y that are skipped behind those.
    gap: [u32; 2],
    /// The first cell of the part in a plane.
    first: [u32; 2],
}

impl<'a> Loader<'a> {
    /// Computes each thread's share once, ahead of the loop.
    pub(super) fn new(
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        cover: Cover,
        layout: &'a Layout,
        (frame, axis): (Frame, usize),
    ) -> Self {
        let mut loader = Loader {
            cover,
            layout,
            frame,
            axis,
            next: BTreeMap::new(),
            strips: Vec::new(),
            own: Vec::new(),
        };
        for of in layout.columns.keys() {
            let name = draft.context.algorithm.function(*of).name.clone();
            for point in 0..cover.points as i32 {
                let reg = draft.queue(&format!("{name}_next"));
                loader.next.insert((*of, point), reg);
            }
        }
        let mut used = 0;
        for (at, group) in layout.groups.iter().enumerate() {
            let low = i64::from(group.shape.rim[1][0]);
            let row = (Index::Thread(1) + Index::Const(low)) * i64::from(group.width);
            let column = Index::Thread(0) * i64::from(cover.points);
            let first = Index::Const(i64::from(group.start + group.front));
            let own = draft.define(body, "own", row + column + first);
            loader.own.push(own);
            for part in parts(cover, group) {
                used = loader.share(draft, body, at, group, &part, used);
            }
        }
        loader
    }

    /// Shares a part out among the threads, beginning with the first one that is idle yet; returns
    /// how many cells have been shared out.
    fn share(
        &mut self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        at: usize,
        group: &Group,
        part: &RimRows,
        used: u32,
    ) -> u32 {
        let threads: u32 = self.cover.threads().iter().product();
        let count = part.size[0] * part.size[1];
        let turned = match used % threads {
            0 => Index::Var(self.frame.thread),
            busy => {
                let behind = Index::Const(i64::from(threads - busy));
                (Index::Var(self.frame.thread) + behind) % i64::from(threads)
            }
        };
        for first in (0..count).step_by(threads as usize) {
            let number = turned.clone() + Index::Const(i64::from(first));
            let number = draft.define(body, "rim", number);
            let mut strip = self.strip(draft, body, at, group, part, number);
            if first + threads > count {
                let count = Index::Const(i64::from(count));
                strip.taken.push(Condition::below(number, count));
            }
            self.strips.push(strip);
        }
        used + count
    }

    /// The cell of a part with a number.
    fn strip(
        &self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        at: usize,
        group: &Group,
        part: &RimRows,
        number: IntVar,
    ) -> Strip {
        let row_len = i64::from(part.size[0]);
        let counted = [
            ("rim_column", Index::Var(number) % row_len),
            ("rim_row", Index::Var(number) / row_len),
        ];
        let mut place = Vec::new();
        for (along, (name, value)) in counted.into_iter().enumerate() {
            let counted = draft.define(body, name, value);
            let gap = i64::from(part.gap[along]);
            // Cells that are not in front of the tile are behind it.
            let step = match i64::from(part.before[along]) {
                0 => Index::Const(gap),
                _ if gap == 0 => Index::Const(0),
                before => {
                    let behind = Index::Var(counted) / before;
                    Index::Min(Box::new(behind), Box::new(Index::Const(1))) * gap
                }
            };
            let first = Index::Const(i64::from(part.first[along]));
            place.push(draft.define(body, name, Index::Var(counted) + step + first));
        }
        let (column, row) = (place[0], place[1]);
        let to = Index::Var(row) * i64::from(group.width) + Index::Var(column);
        let to = to + Index::Const(i64::from(group.start));
        let to = draft.define(body, "rim_to", to);
        let extend = draft.context.launch.extend;
        let [[_, right], [low, high]] = group.shape.rim;
        let before = Index::Const(i64::from(extend[0] + group.front));
        let x = Index::Block(0) * i64::from(self.cover.tile[0]) - before + Index::Var(column);
        let x = draft.define(body, "rim_x", x);
        let mut inside = vec![Condition::below(x, end_of(extend, 0, right))];
        let mut y = row;
        if self.axis == 2 {
            let before = Index::Const(i64::from(extend[1] + low));
            let value = Index::Block(1) * i64::from(self.cover.tile[1]) - before + Index::Var(row);
            y = draft.define(body, "rim_y", value);
            inside.push(Condition::below(y, end_of(extend, 1, high)));
        }
        let names = group.members.iter().map(|of| {
            let name = &draft.context.algorithm.function(*of).name;
            format!("{name}_rim")
        });
        let names: Vec<String> = names.collect();
        Strip {
            group: at,
            x,
            y,
            to,
            taken: Vec::new(),
            inside,
            values: names.iter().map(|name| draft.queue(name)).collect(),
        }
    }

    /// Starts the loads for the iteration after the one on this plane.
    pub(super) fn fetch(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>, plane: IntVar) {
        let mut ahead = BTreeMap::new();
        let mut coming = |draft: &mut Draft<'_>, body: &mut Vec<Stmt>, lag: i32| {
            *ahead.entry(lag).or_insert_with(|| {
                let value = Index::Var(plane) + Index::Const(i64::from(lag + 1));
                draft.define(body, "coming", value)
            })
        };
        let mut alike: BTreeMap<_, Vec<FnId>> = BTreeMap::new();
        for (of, column) in &self.layout.columns {
            let kind = (column.lead, column.reach, column.behind);
            alike.entry(kind).or_default().push(*of);
        }
        let extend = draft.context.launch.extend;
        for ((lead, reach, [right, high]), functions) in alike {
            let plane = coming(draft, body, lead);
            for point in 0..self.cover.points as i32 {
                let end = end_of(extend, 0, right) - Index::Const(i64::from(point));
                let mut conditions = self.planes(plane, reach);
                conditions.push(Condition::below(self.frame.x, end));
                if self.axis == 2 {
                    let end = end_of(extend, 1, high);
                    conditions.push(Condition::below(self.frame.y, end));
                }
                let to = functions.iter().map(|of| (*of, self.next[&(*of, point)]));
                let from = [self.frame.x, self.frame.y, plane];
                let loads = self.loads(draft, from, point, &to.collect::<Vec<_>>());
                body.push(Stmt::If { conditions, body: loads });
            }
        }
        for strip in &self.strips {
            let group = &self.layout.groups[strip.group];
            let plane = coming(draft, body, group.shape.lag);
            let mut conditions = strip.taken.clone();
            conditions.extend(strip.inside.clone());
            conditions.extend(self.planes(plane, group.shape.reach));
            let to = group.members.iter().copied().zip(strip.values.clone());
            let from = [strip.x, strip.y, plane];
            let loads = self.loads(draft, from, 0, &to.collect::<Vec<_>>());
            body.push(Stmt::If { conditions, body: loads });
        }
    }

    /// Is a plane one that some output of the block needs?
    fn planes(&self, plane: IntVar, [before, behind]: [i32; 2]) -> Vec<Condition> {
        let first = Index::Var(self.frame.start) - Index::Const(i64::from(before));
        let end = Index::Var(self.frame.end) + Index::Const(i64::from(behind));
        vec![Condition::at_least(plane, first), Condition::below(plane, end)]
    }

    /// Loads of several functions from one cell into queues.
    fn loads(
        &self,
        draft: &mut Draft<'_>,
        [x, y, plane]: [IntVar; 3],
        point: i32,
        to: &[(FnId, Reg)],
    ) -> Vec<Stmt> {
        let mut at = [Index::Var(x), Index::Const(0), Index::Const(0)];
        if self.axis == 2 {
            at[1] = Index::Var(y);
        }
        at[self.axis] = Index::Var(plane);
        let cell = draft.cell("from");
        let mut out = vec![Stmt::Cell { cell, at }];
        let mut sets = Vec::new();
        for (of, queue) in to {
            let name = draft.context.algorithm.function(*of).name.clone();
            let Some(buffer) = draft.find_buffer(&name) else {
                continue;
            };
            let reg = draft.reg(&format!("{name}_v"));
            out.push(Stmt::Load { reg, buffer, cell, offset: [point, 0, 0] });
            sets.push(Stmt::Set { reg: *queue, value: Operand::Reg(reg) });
        }
        out.extend(sets);
        out
    }

    /// Writes the plane that comes next: the inside from the columns, the rim as it was loaded.
    pub(super) fn put(
        &self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        iteration: IntVar,
        columns: &BTreeMap<(FnId, i32, i32), Reg>,
    ) {
        let place = |group: &Group, first: IntVar| {
            let next = (Index::Var(iteration) + Index::Const(1)) % i64::from(group.slots);
            next * i64::from(group.slot_len()) + Index::Var(first)
        };
        for (group, own) in self.layout.groups.iter().zip(&self.own) {
            let base = draft.define(body, "to", place(group, *own));
            for (member, of) in group.members.iter().enumerate() {
                let points = 0..self.cover.points as i32;
                let values = points.map(|point| columns[&(*of, point, group.shape.lag)]);
                body.push(put(group, member, base, values.map(Operand::Reg).collect()));
            }
        }
        for strip in &self.strips {
            let group = &self.layout.groups[strip.group];
            let base = draft.define(body, "to", place(group, strip.to));
            let values = strip.values.iter().enumerate();
            let puts = values.map(|(at, reg)| put(group, at, base, vec![Operand::Reg(*reg)]));
            if strip.taken.is_empty() {
                body.extend(puts);
            } else {
                body.push(Stmt::If { conditions: strip.taken.clone(), body: puts.collect() });
            }
        }
    }

    /// The thread's first cell in the first slot of each group.
    pub(super) fn own(&self) -> &[IntVar] {
        &self.own
    }

    /// The next value of a column.
    pub(super) fn next(&self, of: FnId, point: i32) -> Option<Reg> {
        self.next.get(&(of, point)).copied()
    }
}

/// Writes values of a member of a group.
fn put(group: &Group, member: usize, base: IntVar, values: Vec<Operand>) -> Stmt {
    Stmt::StoreShared {
        array: PLANES,
        base,
        offset: (member as u32 * group.plane_len()) as i32,
        values,
    }
}

/// The rim of a plane: rows above and below the tile, with the corners where they are read, and the
/// cells beside it.
fn parts(cover: Cover, group: &Group) -> Vec<RimRows> {
    let [[left, right], [low, high]] = group.shape.rim;
    let [x, y] = cover.tile;
    let (across, column) = match group.shape.corners {
        true => (left + x + right, group.front - left),
        false => (x, group.front),
    };
    let bands =
        RimRows { size: [across, low + high], before: [0, low], gap: [0, y], first: [column, 0] };
    let sides = RimRows {
        size: [left + right, y],
        before: [left, 0],
        gap: [x, 0],
        first: [group.front - left, low],
    };
    let parts = [bands, sides].into_iter();
    parts.filter(|part| part.size[0] * part.size[1] > 0).collect()
}

/// The end of the cells along an axis that a rim behind the region has.
fn end_of(extend: [u32; 3], axis: usize, rim: u32) -> Index {
    Index::Size(axis) + Index::Const(i64::from(extend[axis] + rim))
}
