//! The tile: which arrays are staged, how far the rim reaches, and where a value is.

use std::collections::{BTreeMap, BTreeSet};

use super::Shape;
use crate::algorithm::{FnId, Offset};
use crate::kernel::lower::Draft;
use crate::kernel::values::Reader;
use crate::kernel::{
    BarrierArray, BarrierId, CellVar, Index, IntVar, Operand, SharedArray, SharedId, Stmt,
};
use crate::schedule::Refusal;

/// The tile in shared memory.
pub(super) const TILE: SharedId = SharedId(0);
/// Completes when a box's planes have arrived.
pub(super) const FULL: BarrierId = BarrierId(0);

/// Planes in shared memory.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    /// Staged functions, in the order of their parts of a plane, and how far each is read before
    /// and behind the box along x, y, z.
    pub(super) staged: Vec<(FnId, [[u32; 2]; 3])>,
    /// Values before and behind the box along x, whole copies.
    pub(super) rim_x: [u32; 2],
    /// Rows before and behind the box along the side.
    pub(super) rim_side: [u32; 2],
    /// Planes before and behind the box along the axis of rolling.
    pub(super) rim_axis: [u32; 2],
    /// Values of a row of the tile, and rows of a plane.
    pub(super) width: u32,
    pub(super) height: u32,
    /// Planes of the tile: slots, counted modulo their number.
    pub(super) planes: u32,
    /// Offsets along the axis of rolling that are read.
    offsets: BTreeSet<i32>,
}

impl Tile {
    /// Stages the functions that are read at any other cell than a thread's own.
    pub(super) fn new(form: &Shape, reads: impl Iterator<Item = (FnId, Offset)>) -> Self {
        let reads: Vec<(FnId, Offset)> = reads.collect();
        let staged: BTreeSet<FnId> =
            reads.iter().filter(|(_, at)| *at != [0; 3]).map(|(of, _)| *of).collect();
        let at = || reads.iter().filter(|(of, _)| staged.contains(of));
        let rim_of = |one: Option<FnId>, axis: usize| {
            let wanted = move |of: FnId| one.is_none_or(|one| one == of);
            let along = || at().filter(|(of, _)| wanted(*of)).map(|(_, at)| at[axis]);
            let most = |value: Option<i32>| value.unwrap_or(0).max(0).unsigned_abs();
            [most(along().map(|o| -o).max()), most(along().max())]
        };
        let rim = |axis: usize| rim_of(None, axis);
        let reach = |of: FnId| (of, [0, 1, 2].map(|axis| rim_of(Some(of), axis)));
        let [left, right] = rim(0);
        let rim_x = [left, right].map(|r| r.next_multiple_of(form.vector));
        let (rim_side, rim_axis) = (rim(form.side()), rim(form.axis));
        let offsets = at().map(|(_, at)| at[form.axis]).collect();
        Tile {
            staged: staged.iter().map(|of| reach(*of)).collect(),
            rim_x,
            width: form.cells[0] + rim_x[0] + rim_x[1],
            height: form.cells[form.side()] + rim_side[0] + rim_side[1],
            planes: form.cells[form.axis] + rim_axis[0] + rim_axis[1],
            rim_side,
            rim_axis,
            offsets,
        }
    }

    /// Values of a plane of one array.
    pub(super) fn plane_len(&self) -> u32 {
        self.width * self.height
    }

    /// Values of a plane of all arrays.
    pub(super) fn slot_len(&self) -> u32 {
        self.plane_len() * self.staged.len() as u32
    }

    pub(super) fn declare(&self, draft: &mut Draft<'_>) {
        let threads = draft.kernel.launch.threads.iter().product();
        draft
            .kernel
            .shared
            .push(SharedArray { name: "tile".into(), len: self.planes * self.slot_len() });
        draft.kernel.barriers.push(BarrierArray {
            name: "full".into(),
            slots: 1,
            arrivals: threads,
        });
    }
}

/// Reads the tile, and other functions from the thread's own cell.
pub(super) struct Staged<'a> {
    form: &'a Shape,
    tile: &'a Tile,
    cell: CellVar,
    /// The thread's own place in the slot of each plane that it reads, by offset.
    own: BTreeMap<i32, IntVar>,
}

impl<'a> Staged<'a> {
    /// Computes where the thread's cell is in each plane.
    pub(super) fn new(
        draft: &mut Draft<'_>,
        out: &mut Vec<Stmt>,
        form: &'a Shape,
        tile: &'a Tile,
        (roll, cell): (IntVar, CellVar),
    ) -> Self {
        let (axis, side) = (form.axis, form.side());
        let row = Index::Thread(side) + Index::Const(i64::from(tile.rim_side[0]));
        let column = Index::Thread(0) + Index::Const(i64::from(tile.rim_x[0]));
        let in_plane = row * i64::from(tile.width) + column;
        let mut own = BTreeMap::new();
        for offset in &tile.offsets {
            let first = Index::Var(roll) * i64::from(form.cells[axis]) + Index::Thread(axis);
            let plane = first + Index::Const(i64::from(tile.rim_axis[0]) + i64::from(*offset));
            let slot = plane % i64::from(tile.planes);
            let value = slot * i64::from(tile.slot_len()) + in_plane.clone();
            own.insert(*offset, draft.define(out, "own", value));
        }
        Staged { form, tile, cell, own }
    }
}

impl Reader for Staged<'_> {
    fn read(
        &mut self,
        draft: &mut Draft<'_>,
        out: &mut Vec<Stmt>,
        of: FnId,
        at: Offset,
        name: &str,
    ) -> Result<Operand, Refusal> {
        let reg = draft.reg(&format!("{name}_v"));
        if let Some(part) = self.tile.staged.iter().position(|(f, _)| *f == of) {
            let base = self.own.get(&at[self.form.axis]);
            let base = *base.ok_or_else(|| format!("`{name}` is in no plane of the tile"))?;
            let row = at[self.form.side()] * self.tile.width as i32;
            out.push(Stmt::LoadShared {
                regs: vec![reg],
                array: TILE,
                base,
                offset: part as i32 * self.tile.plane_len() as i32 + row + at[0],
            });
        } else {
            let function = &draft.context.algorithm.function(of).name;
            let buffer = draft.find_buffer(function);
            out.push(Stmt::Load {
                reg,
                buffer: buffer.ok_or_else(|| format!("no buffer `{function}`"))?,
                cell: self.cell,
                offset: at,
            });
        }
        Ok(Operand::Reg(reg))
    }
}
