//! The sources of the values of a march: the column in registers, or the ring.

use std::collections::{BTreeMap, BTreeSet};

use super::March;
use super::rings::{RING, Rings};
use super::stage::{Places, STAGE};
use crate::algorithm::{FnId, Offset};
use crate::kernel::lower::{Draft, label};
use crate::kernel::values::Reader;
use crate::kernel::{Index, IntVar, Operand, Reg, Stmt};
use crate::schedule::Refusal;

/// Reads planes of the present iteration.
pub(super) struct Planes<'a> {
    march: &'a March,
    rings: &'a Rings,
    staged: Places<'a>,
    axis: usize,
    /// The thread's own place in a plane of each group, by how many iterations ago it came.
    own: BTreeMap<(usize, u32), IntVar>,
    /// Column registers by function, point and lag.
    column: BTreeMap<(FnId, i32, i32), Reg>,
    /// Values that were read from the ring in this iteration.
    loaded: BTreeMap<(FnId, Offset), Reg>,
}

impl<'a> Planes<'a> {
    pub(super) fn new(march: &'a March, rings: &'a Rings, staged: Places<'a>, axis: usize) -> Self {
        Planes {
            march,
            rings,
            staged,
            axis,
            own: BTreeMap::new(),
            column: BTreeMap::new(),
            loaded: BTreeMap::new(),
        }
    }

    /// Declares the queues of all columns.
    pub(super) fn declare_columns(&mut self, draft: &mut Draft<'_>) {
        for (of, plane) in &self.rings.planes {
            let Some(oldest) = plane.column else { continue };
            let name = draft.context.algorithm.function(*of).name.clone();
            for lag in oldest..self.rings.groups[plane.group].shape.lead {
                for point in 0..self.march.points as i32 {
                    let reg = draft.queue(&label(&format!("{name}_column"), self.at(point, lag)));
                    self.column.insert((*of, point, lag), reg);
                }
            }
        }
    }

    fn at(&self, point: i32, lag: i32) -> Offset {
        let mut at = [point, 0, 0];
        at[self.axis] = lag;
        at
    }

    /// Addresses of the planes that this iteration reads.
    pub(super) fn addresses(
        &mut self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        iteration: IntVar,
        own: &[IntVar],
        ages: &[(usize, u32)],
    ) {
        for &(at, age) in ages {
            let group = &self.rings.groups[at];
            let slots = i64::from(group.slots);
            let back = (slots - i64::from(age)) % slots;
            let slot = (Index::Var(iteration) + Index::Const(back)) % slots;
            let value = slot * i64::from(group.slot_len) + Index::Var(own[at]);
            let var = draft.define(body, &format!("plane_{at}_{age}"), value);
            self.own.insert((at, age), var);
        }
        self.staged.enter(draft, body, iteration);
    }

    /// Evaluates shared functions on the rims of the tile, the early ones or the others.
    pub(super) fn rims(&self, draft: &mut Draft<'_>, early: bool) -> Result<Vec<Stmt>, Refusal> {
        self.staged.rims(draft, early, (self, self.axis))
    }

    /// Shared functions that are evaluated before others are waited for.
    pub(super) fn early(&self) -> BTreeSet<FnId> {
        let planes = self.staged.stage.planes.iter();
        let early = planes.filter(|(_, staged)| staged.early);
        early.map(|(id, _)| *id).collect()
    }

    /// Stores a shared function's values of the thread's cells.
    pub(super) fn store(&self, of: FnId, values: Vec<Operand>) -> Option<Stmt> {
        self.staged.store(of, values)
    }

    /// Are there shared functions?
    pub(super) fn is_staged(&self) -> bool {
        !self.staged.stage.is_empty()
    }

    /// The position of a value in the ring: the group, the position of the thread's first cell on its plane, and the
    /// distance from there.
    pub(super) fn place(
        &self,
        of: FnId,
        at: Offset,
        name: &str,
    ) -> Result<(usize, IntVar, i32), Refusal> {
        let plane = self.rings.planes.get(&of).ok_or_else(|| format!("`{name}` is in no plane"))?;
        let group = &self.rings.groups[plane.group];
        let age = (group.shape.lead - at[self.axis]).unsigned_abs();
        let base = *self
            .own
            .get(&(plane.group, age))
            .ok_or_else(|| format!("`{name}` is in no plane that is kept"))?;
        let row = if self.axis == 2 { at[1] } else { 0 };
        let offset = plane.offset as i32 + row * group.shape.width as i32 + at[0];
        Ok((plane.group, base, offset))
    }

    /// Takes the newest plane of each column into registers.
    pub(super) fn enter_columns(
        &mut self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
    ) -> Result<(), Refusal> {
        let columns: Vec<(FnId, i32)> = self
            .rings
            .planes
            .iter()
            .filter(|(_, p)| p.column.is_some())
            .map(|(of, p)| (*of, self.rings.groups[p.group].shape.lead))
            .collect();
        for (of, lead) in columns {
            let name = draft.context.algorithm.function(of).name.clone();
            for point in 0..self.march.points as i32 {
                let at = self.at(point, lead);
                let reg = self.ring_value(draft, body, of, at, &format!("{name}_new"))?;
                self.column.insert((of, point, lead), reg);
            }
        }
        Ok(())
    }

    /// Registers of all columns, the newest plane among them.
    pub(super) fn columns(&self) -> impl Iterator<Item = Reg> {
        self.column.values().copied()
    }

    /// Moves each column on by one plane, at the end of an iteration.
    pub(super) fn shift_columns(&self, body: &mut Vec<Stmt>) {
        for ((of, point, lag), reg) in &self.column {
            if let Some(newer) = self.column.get(&(*of, *point, lag + 1)) {
                body.push(Stmt::Set { reg: *reg, value: Operand::Reg(*newer) });
            }
        }
    }

    fn ring_value(
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
        let points = self.march.points as i32;
        let first = at[0].div_euclid(points) * points;
        let from = [first, at[1], at[2]];
        let row = if self.axis == 2 { at[1] } else { 0 };
        let (array, base, offset) = match self.staged.at(of, at[self.axis]) {
            Some((staged, base)) => (STAGE, base, staged.offset(row, first)),
            None => {
                let (_, base, offset) = self.place(of, from, name)?;
                (RING, base, offset)
            }
        };
        let mut regs = Vec::new();
        for x in first..first + points {
            let mut place = at;
            place[0] = x;
            let reg = draft.reg(name);
            self.loaded.insert((of, place), reg);
            regs.push(reg);
        }
        out.push(Stmt::LoadShared { regs, array, base, offset });
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
        let row = if self.axis == 2 { at[1] } else { 0 };
        if row == 0
            && let Some(&reg) = self.column.get(&(of, at[0], at[self.axis]))
        {
            return Ok(Operand::Reg(reg));
        }
        Ok(Operand::Reg(self.ring_value(draft, out, of, at, &format!("{name}_v"))?))
    }
}
