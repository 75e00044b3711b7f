//! The sources of the values of an iteration: the column in registers, or a plane.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::{Layout, PLANES, is_own, row};
use crate::algorithm::{FnId, Offset};
use crate::kernel::iteration::Cover;
use crate::kernel::lower::{Draft, label};
use crate::kernel::pipeline::Pipeline;
use crate::kernel::values::Reader;
use crate::kernel::{Index, IntVar, Operand, Reg, Stmt};
use crate::schedule::Refusal;

/// Reads columns and planes in the present iteration.
pub(super) struct Planes<'a> {
    cover: Cover,
    layout: &'a Layout,
    axis: usize,
    /// The thread's own place in a plane of each group, by its lag.
    own: BTreeMap<(usize, i32), IntVar>,
    /// Column registers by function, point and lag.
    column: BTreeMap<(FnId, i32, i32), Reg>,
    /// Values that were read from shared memory in this iteration.
    loaded: BTreeMap<(FnId, Offset), Reg>,
}

impl<'a> Planes<'a> {
    /// Declares the registers of all columns.
    pub(super) fn new(
        draft: &mut Draft<'_>,
        cover: Cover,
        layout: &'a Layout,
        axis: usize,
    ) -> Self {
        let mut column = BTreeMap::new();
        for (of, kept) in &layout.columns {
            let name = draft.context.algorithm.function(*of).name.clone();
            for lag in kept.oldest..=kept.lead {
                for point in 0..cover.points as i32 {
                    let mut at = [point, 0, 0];
                    at[axis] = lag;
                    let reg = draft.queue(&label(&format!("{name}_column"), at));
                    column.insert((*of, point, lag), reg);
                }
            }
        }
        Planes { cover, layout, axis, own: BTreeMap::new(), column, loaded: BTreeMap::new() }
    }

    /// Registers of all columns.
    pub(super) fn columns(&self) -> &BTreeMap<(FnId, i32, i32), Reg> {
        &self.column
    }

    /// Addresses of the planes of which neighbours are read.
    pub(super) fn addresses(
        &mut self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        pipeline: &Pipeline,
        iteration: IntVar,
        own: &[IntVar],
    ) {
        let mut read = BTreeSet::new();
        for (of, at) in pipeline.reads.keys() {
            if let Some((group, _)) = self.layout.group_of(*of)
                && !is_own(self.axis, self.cover.points, at)
            {
                read.insert((group, at[self.axis]));
            }
        }
        for (at, lag) in read {
            let group = &self.layout.groups[at];
            let slots = i64::from(group.slots);
            let age = i64::from(group.shape.lag - lag);
            let slot = (Index::Var(iteration) + Index::Const((slots - age) % slots)) % slots;
            let value = slot * i64::from(group.slot_len()) + Index::Var(own[at]);
            let var = draft.define(body, &format!("plane_{at}_{age}"), value);
            self.own.insert((at, lag), var);
        }
    }

    /// Moves each column on by one plane; `next` gives the values that come in.
    pub(super) fn shift(&self, body: &mut Vec<Stmt>, next: impl Fn(FnId, i32) -> Option<Reg>) {
        for ((of, point, lag), reg) in &self.column {
            let newer = self.column.get(&(*of, *point, lag + 1)).copied();
            if let Some(value) = newer.or_else(|| next(*of, *point)) {
                body.push(Stmt::Set { reg: *reg, value: Operand::Reg(value) });
            }
        }
    }

    fn shared_value(
        &mut self,
        draft: &mut Draft<'_>,
        out: &mut Vec<Stmt>,
        of: FnId,
        at: Offset,
        name: &str,
    ) -> Result<Reg, Refusal> {
        if let Some(&loaded) = self.loaded.get(&(of, at)) {
            return Ok(loaded);
        }
        let missing = || format!("`{name}` is in no plane that is kept");
        let (group_at, member) = self.layout.group_of(of).ok_or_else(missing)?;
        let group = &self.layout.groups[group_at];
        let base = self.own.get(&(group_at, at[self.axis]));
        let base = *base.ok_or_else(missing)?;
        let points = self.cover.points as i32;
        let first = at[0].div_euclid(points) * points;
        let in_plane = row(self.axis, &at) * group.width as i32 + first;
        let mut regs = Vec::new();
        for x in first..first + points {
            let mut place = at;
            place[0] = x;
            let reg = draft.reg(&format!("{name}_v"));
            self.loaded.insert((of, place), reg);
            regs.push(reg);
        }
        out.push(Stmt::LoadShared {
            regs,
            array: PLANES,
            base,
            offset: (member as u32 * group.plane_len()) as i32 + in_plane,
        });
        Ok(self.loaded[&(of, at)])
    }
}

impl Reader for Planes<'_> {
    fn read(
        &mut self,
        draft: &mut Draft<'_>,
        out: &mut Vec<Stmt>,
        of: FnId,
        at: Offset,
        name: &str,
    ) -> Result<Operand, Refusal> {
        if is_own(self.axis, self.cover.points, &at)
            && let Some(&reg) = self.column.get(&(of, at[0], at[self.axis]))
        {
            return Ok(Operand::Reg(reg));
        }
        Ok(Operand::Reg(self.shared_value(draft, out, of, at, name)?))
    }
}
