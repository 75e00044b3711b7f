//! Fills planes of the tile by asynchronous copies of all threads.

use std::collections::BTreeMap;

use super::Shape;
use super::tile::{FULL, TILE, Tile};
use crate::kernel::lower::Draft;
use crate::kernel::{Condition, Index, IntVar, Relation, Stmt};

/// Copies of one kernel.
pub(super) struct Loader<'a> {
    form: &'a Shape,
    tile: &'a Tile,
    thread: IntVar,
    /// The first cell of the chunk along the axis of rolling, and its end.
    start: IntVar,
    end: IntVar,
}

impl<'a> Loader<'a> {
    pub(super) fn new(
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        form: &'a Shape,
        tile: &'a Tile,
        (start, end): (IntVar, IntVar),
    ) -> Self {
        let [x, y, _] = form.cells.map(i64::from);
        let plane = Index::Thread(2) * (x * y);
        let value = plane + Index::Thread(1) * x + Index::Thread(0);
        let thread = draft.define(body, "thread", value);
        Loader { form, tile, thread, start, end }
    }

    /// Starts copies of `count` planes from number `first` on (0 is the first of the chunk's rim),
    /// each into its slot, and arrives when they are complete.
    pub(super) fn load(
        &self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        first: Index,
        count: u32,
    ) {
        let Loader { form, tile, .. } = *self;
        let threads: u32 = form.cells.iter().product();
        let per_row = tile.width / form.vector;
        let per_plane = per_row * tile.height;
        let copies = per_plane * count;
        let round = draft.int("round");
        let mut inner = Vec::new();
        let all = Index::Var(round) * i64::from(threads) + Index::Var(self.thread);
        let number = draft.define(&mut inner, "copy", all);
        let in_plane = Index::Var(number) % i64::from(per_plane);
        let row = draft.define(&mut inner, "copy_row", in_plane.clone() / i64::from(per_row));
        let column = in_plane % i64::from(per_row) * i64::from(form.vector);
        let column = draft.define(&mut inner, "copy_column", column);
        let plane = first + Index::Var(number) / i64::from(per_plane);
        let plane = draft.define(&mut inner, "copy_plane", plane);
        let slot = Index::Var(plane) % i64::from(tile.planes);
        let to = slot * i64::from(tile.slot_len()) + Index::Var(row) * i64::from(tile.width);
        let to = draft.define(&mut inner, "copy_to", to + Index::Var(column));
        let (axis, side) = (form.axis, form.side());
        let extend = draft.context.launch.extend;
        let begin = |axis: usize, rim: u32| {
            let first = Index::Block(axis) * i64::from(form.cells[axis]);
            first - Index::Const(i64::from(rim + extend[axis]))
        };
        let x = begin(0, tile.rim_x[0]) + Index::Var(column);
        let x = draft.define(&mut inner, "copy_x", x);
        let along_side = begin(side, tile.rim_side[0]) + Index::Var(row);
        let along_side = draft.define(&mut inner, "copy_side", along_side);
        let rim = Index::Const(i64::from(tile.rim_axis[0]));
        let along_axis = Index::Var(self.start) - rim + Index::Var(plane);
        let along_axis = draft.define(&mut inner, "copy_axis", along_axis);
        let last = Index::Var(self.end) + Index::Const(i64::from(tile.rim_axis[1]));
        let conditions =
            vec![below(number, Index::Const(i64::from(copies))), below(along_axis, last)];
        let mut from = [x; 3];
        (from[side], from[axis]) = (along_side, along_axis);
        let mut guarded = Vec::new();
        let places = [0, 1, 2].map(|axis| match draft.context.launch.wrapped[axis] {
            false => from[axis],
            true => {
                let value = draft.context.wrapped(Index::Var(from[axis]), axis);
                draft.define(&mut guarded, "copy_from", value)
            }
        });
        guarded.extend(self.copies(draft, to, (from, places)));
        inner.push(Stmt::If { conditions, body: guarded });
        body.push(Stmt::For {
            var: round,
            from: Index::Const(0),
            to: Index::Const(i64::from(copies.div_ceil(threads))),
            unroll: false,
            body: inner,
        });
        body.push(Stmt::ArriveCopies { barrier: FULL, slot: Index::Const(0) });
    }

    /// Copies of all arrays from one cell, each as far as it is read anywhere: values further away need not exist.
    /// `place` is the position of the cell's values.
    fn copies(
        &self,
        draft: &Draft<'_>,
        to: IntVar,
        (cell, place): ([IntVar; 3], [IntVar; 3]),
    ) -> Vec<Stmt> {
        let mut copies: BTreeMap<[[u32; 2]; 3], Vec<Stmt>> = BTreeMap::new();
        for (part, (of, reach)) in self.tile.staged.iter().enumerate() {
            let name = &draft.context.algorithm.function(*of).name;
            let Some(buffer) = draft.find_buffer(name) else {
                continue;
            };
            let offset = part as i64 * i64::from(self.tile.plane_len());
            copies.entry(*reach).or_default().push(Stmt::Copy {
                array: TILE,
                to: Index::Var(to) + Index::Const(offset),
                buffer,
                from: place.map(Index::Var),
            });
        }
        let extend = draft.context.launch.extend;
        let guarded = copies
            .into_iter()
            .map(|(reach, body)| Stmt::If { conditions: self.within(reach, extend, cell), body });
        guarded.collect()
    }

    /// Is a copy no further from the region than a stencil reaches?
    fn within(&self, reach: [[u32; 2]; 3], extend: [u32; 3], from: [IntVar; 3]) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for (axis, at) in from.into_iter().enumerate() {
            let [before, behind] = reach[axis].map(|r| r + extend[axis]);
            // A copy begins a whole number of copies before the first cell.
            let before = match axis {
                0 => before.next_multiple_of(self.form.vector),
                _ => before,
            };
            conditions.push(Condition {
                left: Index::Var(at),
                relation: Relation::GreaterEqual,
                right: Index::Const(-i64::from(before)),
            });
            let end = Index::Size(axis) + Index::Const(i64::from(behind));
            conditions.push(below(at, end));
        }
        conditions
    }

    /// Waits for the planes of a box.
    pub(super) fn wait(&self, body: &mut Vec<Stmt>, roll: IntVar) {
        body.push(Stmt::Wait {
            barrier: FULL,
            slot: Index::Const(0),
            parity: Index::Var(roll) % 2,
        });
    }
}

fn below(var: IntVar, right: Index) -> Condition {
    Condition { left: Index::Var(var), relation: Relation::Less, right }
}
