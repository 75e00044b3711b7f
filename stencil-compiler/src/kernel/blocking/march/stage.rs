//! Shared functions of a march: a second ring in shared memory, filled by the threads themselves.
//!
//! In each iteration every thread evaluates them for its own cells, and a share of the rim around
//! the tile; all wait for each other, and in the next iterations the planes are read. A slot is
//! written anew when its plane was last read in the iteration before.
//!
//! If the barrier is split, warps arrive when they have read and written, and wait in the next iteration when they
//! first read. Functions that are made of no shared one are written before that wait, while others may still read in
//! the iteration before: its ring has one slot more.

use std::collections::{BTreeMap, BTreeSet};

use super::March;
use super::reads::Planes;
use super::rings::{RING, Rings};
use crate::algorithm::{FnId, Offset};
use crate::kernel::iteration::Frame;
use crate::kernel::lower::Draft;
use crate::kernel::order::order;
use crate::kernel::pipeline::Pipeline;
use crate::kernel::rim::{Band, Rim};
use crate::kernel::values::{Reader, Values, Writer};
use crate::kernel::{Condition, Index, IntVar, Operand, Reg, SharedArray, SharedId, Stmt};
use crate::schedule::Refusal;

/// The shared array of all shared functions.
pub(super) const STAGE: SharedId = SharedId(1);

/// Planes of all shared functions.
#[derive(Debug, Default)]
pub(super) struct Stage {
    pub(super) planes: BTreeMap<FnId, Staged>,
    len: u32,
}

/// The planes of one shared function.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    /// The beginning of its ring in the array, and the number of slots.
    start: u32,
    slots: u32,
    /// Values of a row, and rows.
    width: u32,
    height: u32,
    /// Values of a row before the tile.
    left: u32,
    rim: Rim,
    /// Lag of the plane that is evaluated.
    source: i32,
    /// The ages, in iterations, of the planes that are read.
    ages: BTreeSet<u32>,
    /// Is it evaluated before others are waited for?
    pub(super) early: bool,
}

impl Staged {
    /// The position of a cell in a slot, by its place in the tile.
    fn place(&self, x: Index, y: Index) -> Index {
        let row = (y + Index::Const(i64::from(self.rim.y[0]))) * i64::from(self.width);
        row + x + Index::Const(i64::from(self.left + self.start))
    }

    /// The beginning of the plane evaluated this many iterations ago, relative to that of the ring.
    fn slot(&self, iteration: IntVar, age: u32) -> Index {
        let slots = i64::from(self.slots);
        let back = (slots - i64::from(age)) % slots;
        let slot = (Index::Var(iteration) + Index::Const(back)) % slots;
        slot * i64::from(self.width * self.height)
    }

    /// The age of the plane that an offset is on.
    pub(super) fn age(&self, lag: i32) -> u32 {
        (self.source - lag).unsigned_abs()
    }

    /// The position of an offset relative to the thread's first cell.
    pub(super) fn offset(&self, row: i32, x: i32) -> i32 {
        row * self.width as i32 + x
    }
}

impl Stage {
    pub(super) fn new(march: &March, pipeline: &Pipeline) -> Self {
        let mut stage = Stage::default();
        for (id, staged) in &pipeline.staged {
            let delayed = pipeline.delayed[id];
            let rim = staged.rim;
            let left = rim.x[0].next_multiple_of(march.points);
            let width = (march.tile[0] + left + rim.x[1]).next_multiple_of(march.points);
            let height = march.tile[1] + rim.y[0] + rim.y[1];
            let early = march.split && !delayed.follows;
            // An early plane of iteration i comes after the wait of i - 1 for all that was done in i - 2:
            // its slot must have been read there last.
            let slots = staged.planes(delayed.source) + u32::from(early);
            let planes = Staged {
                start: stage.len,
                slots,
                width,
                height,
                left,
                rim,
                source: delayed.source,
                ages: BTreeSet::new(),
                early,
            };
            let ages = staged.lags.iter().map(|lag| planes.age(*lag)).collect();
            stage.planes.insert(*id, Staged { ages, ..planes });
            stage.len += slots * width * height;
        }
        stage
    }

    pub(super) fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }

    pub(super) fn declare(&self, draft: &mut Draft<'_>) {
        if !self.is_empty() {
            let (name, len) = (draft.unique("stage"), self.len);
            draft.kernel.shared.push(SharedArray { name, len });
        }
    }
}

/// Addresses of the stage in the kernel's code.
pub(super) struct Places<'a> {
    pub(super) stage: &'a Stage,
    /// The position of the thread's first cell in a slot of each function.
    own: BTreeMap<FnId, IntVar>,
    /// The position in this iteration, by function and age; 0 is the plane that is evaluated.
    now: BTreeMap<(FnId, u32), IntVar>,
    shares: Vec<Share>,
}

/// One thread's cell of a band around the tile.
struct Share {
    functions: Vec<FnId>,
    early: bool,
    /// Conditions on the thread, the same in all iterations.
    conditions: Vec<Condition>,
    /// The distance of the cell from the thread's first one, in a slot of each ring and of each function.
    in_ring: Vec<IntVar>,
    in_stage: BTreeMap<FnId, IntVar>,
}

impl<'a> Places<'a> {
    /// Computes each thread's share of the rims once, ahead of the loop; `ring` is the position of its first cell in
    /// the slots of each group.
    pub(super) fn new(
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        (march, rings, frame): (&March, &Rings, Frame),
        stage: &'a Stage,
        ring: &[IntVar],
    ) -> Self {
        let mut places =
            Places { stage, own: BTreeMap::new(), now: BTreeMap::new(), shares: Vec::new() };
        for (id, staged) in &stage.planes {
            let x = Index::Thread(0) * i64::from(march.points);
            let value = staged.place(x, Index::Thread(1));
            let var = draft.define(body, "own_stage", value);
            places.own.insert(*id, var);
        }
        let mut rims: BTreeMap<(bool, Rim), Vec<FnId>> = BTreeMap::new();
        for (id, staged) in &stage.planes {
            let alike = (staged.early, staged.rim);
            rims.entry(alike).or_default().push(*id);
        }
        let threads: u32 = march.threads().iter().product();
        // Bands take one thread after the other, so that few of them have two cells.
        let mut begin = 0;
        for ((_, rim), functions) in rims {
            for band in rim.bands(march.tile) {
                for round in 0..band.cells().div_ceil(threads) {
                    let number = (frame.thread, begin, round * threads);
                    let with = (march, rings, ring);
                    let share = places.share(draft, body, with, (band, number), &functions);
                    places.shares.push(share);
                }
                begin = (begin + band.cells()) % threads;
            }
        }
        places
    }

    fn share(
        &self,
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        (march, rings, ring): (&March, &Rings, &[IntVar]),
        (band, (thread, begin, first)): (Band, (IntVar, u32, u32)),
        functions: &[FnId],
    ) -> Share {
        let threads: u32 = march.threads().iter().product();
        let turned = match begin {
            0 => Index::Var(thread),
            _ => {
                (Index::Var(thread) + Index::Const(i64::from(threads - begin))) % i64::from(threads)
            }
        };
        let number = draft.define(body, "rim", turned + Index::Const(i64::from(first)));
        let [x, y] = cell(draft, body, march, band, number);
        let conditions = match first + threads > band.cells() {
            true => vec![Condition::below(number, Index::Const(i64::from(band.cells())))],
            false => Vec::new(),
        };
        let groups = rings.groups.iter().zip(ring);
        let in_ring = groups.map(|(group, own)| {
            let value = group.place(x.clone(), y.clone()) - Index::Var(*own);
            draft.define(body, "rim_ring", value)
        });
        let in_ring = in_ring.collect();
        let in_stage = self.stage.planes.iter().map(|(id, staged)| {
            let value = staged.place(x.clone(), y.clone()) - Index::Var(self.own[id]);
            (*id, draft.define(body, "rim_stage", value))
        });
        let is_early = |id: &FnId| self.stage.planes[id].early;
        Share {
            functions: functions.to_vec(),
            early: functions.iter().all(is_early),
            conditions,
            in_ring,
            in_stage: in_stage.collect(),
        }
    }

    /// Addresses of the planes of this iteration.
    pub(super) fn enter(&mut self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>, iteration: IntVar) {
        for (id, staged) in &self.stage.planes {
            for age in std::iter::once(&0).chain(&staged.ages) {
                let value = staged.slot(iteration, *age) + Index::Var(self.own[id]);
                let var = draft.define(body, &format!("stage_{age}"), value);
                self.now.insert((*id, *age), var);
            }
        }
    }

    /// The position of the thread's first cell on a plane that a function is read on.
    pub(super) fn at(&self, of: FnId, lag: i32) -> Option<(&Staged, IntVar)> {
        let staged = self.stage.planes.get(&of)?;
        let base = self.now.get(&(of, staged.age(lag)))?;
        Some((staged, *base))
    }

    /// Stores the values of the thread's own cells.
    pub(super) fn store(&self, of: FnId, values: Vec<Operand>) -> Option<Stmt> {
        Some(Stmt::StoreShared { array: STAGE, base: *self.now.get(&(of, 0))?, offset: 0, values })
    }

    /// Evaluates the rims of functions that are early, or of the others.
    pub(super) fn rims(
        &self,
        draft: &mut Draft<'_>,
        early: bool,
        (planes, axis): (&Planes<'_>, usize),
    ) -> Result<Vec<Stmt>, Refusal> {
        let mut out = Vec::new();
        for share in self.shares.iter().filter(|share| share.early == early) {
            let mut reader = Beside {
                places: self,
                share,
                planes,
                axis,
                addresses: Vec::new(),
                bases: BTreeMap::new(),
            };
            let (work, stores) = reader.evaluate(draft)?;
            let body: Vec<Stmt> = reader.addresses.into_iter().chain(work).chain(stores).collect();
            match share.conditions.is_empty() {
                true => out.extend(body),
                false => out.push(Stmt::If { conditions: share.conditions.clone(), body }),
            }
        }
        Ok(out)
    }
}

/// The place in the tile of a band's cell: before it, or behind it.
fn cell(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    march: &March,
    band: Band,
    number: IntVar,
) -> [Index; 2] {
    let [before, behind] = band.sides.map(i64::from);
    let tile = i64::from(march.tile[band.axis]);
    let (first, across) = (i64::from(band.across.0), i64::from(band.across.1));
    let number = Index::Var(number);
    // Columns one row after the other, and rows one after the other: neighbours in x are neighbours in
    // shared memory.
    let (beside, along) = match band.axis {
        0 => (number.clone() % (before + behind), number / (before + behind)),
        _ => (number.clone() / across, number % across),
    };
    let beside = draft.define(body, "rim_beside", beside);
    let place = Index::Var(beside) - Index::Const(before);
    let place = match (before, behind) {
        (0, _) => place + Index::Const(tile),
        (_, 0) => place,
        _ if before == behind => place + Index::Var(beside) / before * tile,
        _ => {
            let behind = Index::Var(beside) / before;
            place + Index::Min(Box::new(behind), Box::new(Index::Const(1))) * tile
        }
    };
    let along = along + Index::Const(first);
    match band.axis {
        0 => [place, along],
        _ => [along, place],
    }
}

/// Reads planes around a cell beside the tile.
struct Beside<'a, 'b> {
    places: &'a Places<'b>,
    share: &'a Share,
    planes: &'a Planes<'b>,
    axis: usize,
    addresses: Vec<Stmt>,
    bases: BTreeMap<(bool, IntVar), IntVar>,
}

impl Beside<'_, '_> {
    /// The operations, and the stores of their results.
    fn evaluate(&mut self, draft: &mut Draft<'_>) -> Result<(Vec<Stmt>, Vec<Stmt>), Refusal> {
        let context = draft.context;
        let mut values = Values::new(&context, Vec::new())?;
        values.staged(self.places.stage.planes.keys().copied());
        let mut writer = Writer::default();
        let (mut work, mut stores) = (Vec::new(), Vec::new());
        let mut results: BTreeSet<Reg> = BTreeSet::new();
        for of in &self.share.functions {
            let staged = &self.places.stage.planes[of];
            let mut at = [0; 3];
            at[self.axis] = staged.source;
            let value = values.define(*of, at)?;
            let value = writer.write(draft, &values, self, &mut work, value)?;
            if let Operand::Reg(reg) = value {
                results.insert(reg);
            }
            let now = self.places.now[&(*of, 0)];
            let base = self.base(draft, (true, now), self.share.in_stage[of]);
            stores.push(Stmt::StoreShared { array: STAGE, base, offset: 0, values: vec![value] });
        }
        Ok((order(work, &results), stores))
    }

    fn base(
        &mut self,
        draft: &mut Draft<'_>,
        (stage, now): (bool, IntVar),
        from: IntVar,
    ) -> IntVar {
        if let Some(&known) = self.bases.get(&(stage, now)) {
            return known;
        }
        let value = Index::Var(now) + Index::Var(from);
        let var = draft.define(&mut self.addresses, "beside", value);
        self.bases.insert((stage, now), var);
        var
    }
}

impl Reader for Beside<'_, '_> {
    fn read(
        &mut self,
        draft: &mut Draft<'_>,
        out: &mut Vec<Stmt>,
        of: FnId,
        at: Offset,
        name: &str,
    ) -> Result<Operand, Refusal> {
        let row = if self.axis == 2 { at[1] } else { 0 };
        let (array, base, offset) = match self.places.at(of, at[self.axis]) {
            Some((staged, now)) => {
                let base = self.base(draft, (true, now), self.share.in_stage[&of]);
                (STAGE, base, staged.offset(row, at[0]))
            }
            None => {
                let (group, now, offset) = self.planes.place(of, at, name)?;
                let base = self.base(draft, (false, now), self.share.in_ring[group]);
                (RING, base, offset)
            }
        };
        let reg = draft.reg(&format!("{name}_v"));
        out.push(Stmt::LoadShared { regs: vec![reg], array, base, offset });
        Ok(Operand::Reg(reg))
    }
}
