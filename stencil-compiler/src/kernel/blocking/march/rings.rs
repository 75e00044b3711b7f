//! The storage of a march: boxes of planes in rings, columns in registers.
//!
//! Planes of one shape have a ring of their own, of as many slots as they are read for. All rings
//! are filled equally far ahead, so that one pair of barriers an iteration hands over all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::March;
use super::loader::are_around;
use crate::algorithm::FnId;
use crate::kernel::lower::{Context, Draft};
use crate::kernel::pipeline::Pipeline;
use crate::kernel::{
    BOX_ALIGNMENT, BarrierArray, BarrierId, Index, IntVar, MOST_BOX, SharedArray, SharedId, Stmt,
    WARP,
};
use crate::schedule::Refusal;

/// The shared array of all rings.
pub(super) const RING: SharedId = SharedId(0);
/// Iterations whose copies are complete.
pub(super) const FULL: BarrierId = BarrierId(0);
/// Iterations that all threads have done.
pub(super) const DONE: BarrierId = BarrierId(1);
/// Iterations whose copies are complete, in a block that has boxes copied, too.
pub(super) const COPIED: BarrierId = BarrierId(2);

/// How the planes of a launch lie in shared memory and registers.
pub(super) struct Rings {
    /// Boxes by the function that they hold planes of.
    pub(super) planes: BTreeMap<FnId, Plane>,
    /// Distinct shapes of boxes; copies and addresses are shared within one.
    pub(super) groups: Vec<Group>,
    /// The buffers of boxes, of one group each, in their order in a slot.
    pub(super) boxes: Vec<Vec<FnId>>,
    /// Iterations by which copies run ahead.
    pub(super) ahead: u32,
    /// First iteration, counted from the first output plane.
    pub(super) begin: i32,
}

/// One buffer's plane in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    /// Index into [`Rings::groups`].
    pub(super) group: usize,
    /// Its offset in a slot of its group.
    pub(super) offset: u32,
    /// Oldest lag of the own column that is kept in registers, if any is.
    pub(super) column: Option<i32>,
}

/// Planes of one shape, and their ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The shape.
    pub(super) shape: Shape,
    /// The beginning of the ring in the shared array.
    pub(super) start: u32,
    /// Values of a slot.
    pub(super) slot_len: u32,
    /// Slots of the ring.
    pub(super) slots: u32,
    /// Iterations for which a slot is read after its first.
    pub(super) kept: u32,
}

/// A shape of planes, with the lag of the plane that a slot takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Newest lag read: the slot of iteration p holds plane p + lead.
    pub(super) lead: i32,
    /// Columns in front of the tile and behind it, in whole copies.
    pub(super) rim_x: [u32; 2],
    /// Columns behind the tile that are read.
    pub(super) right: u32,
    /// Rows in front of the tile and behind it.
    pub(super) rim_y: [u32; 2],
    /// Planes before and behind the outputs that are read.
    pub(super) reach: u32,
    /// Values of a row.
    pub(super) width: u32,
    /// Rows.
    pub(super) height: u32,
}

impl Group {
    /// The position of a cell in a slot, by its place in the tile.
    pub(super) fn place(&self, x: Index, y: Index) -> Index {
        let row = (y + Index::Const(i64::from(self.shape.rim_y[0]))) * i64::from(self.shape.width);
        row + x + Index::Const(i64::from(self.start + self.shape.rim_x[0]))
    }
}

impl Rings {
    pub(super) fn new(
        context: &Context<'_>,
        march: &March,
        pipeline: &Pipeline,
    ) -> Result<Self, Refusal> {
        let mut reads: BTreeMap<FnId, Vec<([i32; 3], i32)>> = BTreeMap::new();
        for ((of, at), from) in &pipeline.reads {
            reads.entry(*of).or_default().push((*at, *from));
        }
        let mut rings = Rings {
            planes: BTreeMap::new(),
            groups: Vec::new(),
            boxes: Vec::new(),
            ahead: 0,
            begin: pipeline.first_iteration(),
        };
        for (of, reads) in reads {
            rings.add(context, march, pipeline, of, &reads);
        }
        rings.fill_slots(context, march)?;
        let kept = rings.groups.iter().map(|g| g.kept).max().unwrap_or(0);
        // Nothing is computed before every slot that is read has been filled once: a read of a
        // plane that nobody needs would still race with the copy that fills its slot.
        rings.begin = rings.begin.min(pipeline.first_iteration() - kept as i32);
        let least = kept + 2;
        let slots = if march.ring == 0 { least + 1 } else { march.ring };
        if slots < least {
            return Err(Refusal::params(
                &["ring"],
                format!(
                    "`ring={slots}`: {} planes are read at once, so the ring has at least {least} slots",
                    kept + 1
                ),
            ));
        }
        rings.ahead = slots - kept - 1;
        rings.place(unit(context));
        if march.boxes {
            rings.check_boxes()?;
        }
        Ok(rings)
    }

    /// Gives each plane its place in the slots of its group: the planes of a box lie one behind the other, as it is
    /// copied, and a box begins where one may.
    fn fill_slots(&mut self, context: &Context<'_>, march: &March) -> Result<(), Refusal> {
        for at in 0..self.groups.len() {
            let of_group = self.planes.iter().filter(|(_, plane)| plane.group == at);
            let of_group: Vec<FnId> = of_group.map(|(of, _)| *of).collect();
            let boxes = match march.boxes {
                true => series(context, &of_group)?,
                false => vec![of_group],
            };
            let group = &mut self.groups[at];
            let values = group.shape.width * group.shape.height;
            for planes in &boxes {
                if march.boxes {
                    group.slot_len = group.slot_len.next_multiple_of(unit(context));
                }
                for of in planes {
                    if let Some(plane) = self.planes.get_mut(of) {
                        plane.offset = group.slot_len;
                    }
                    group.slot_len += values;
                }
            }
            if march.boxes {
                self.boxes.extend(boxes);
            }
        }
        Ok(())
    }

    /// Gives each group its ring; slots begin at multiples of `align` values.
    fn place(&mut self, align: u32) {
        let mut start = 0;
        for group in &mut self.groups {
            group.slot_len = group.slot_len.next_multiple_of(align);
            group.slots = group.kept + 1 + self.ahead;
            group.start = start;
            start += group.slots * group.slot_len;
        }
    }

    /// Can a box be a whole plane?
    fn check_boxes(&self) -> Result<(), Refusal> {
        let most = |of: fn(&Shape) -> u32| self.groups.iter().map(|g| of(&g.shape)).max();
        for (name, cells) in
            [("tile_x", most(|shape| shape.width)), ("tile_y", most(|shape| shape.height))]
        {
            if let Some(cells) = cells
                && cells > MOST_BOX
            {
                return Err(Refusal::params(
                    &[name, "loader"],
                    format!(
                        "a plane of {cells} cells along an axis with its rim: boxes have at most {MOST_BOX}; use a smaller `{name}` or `loader=0`"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Phases of the barriers: copies for that many iterations are under way or being read.
    pub(super) fn phases(&self) -> u32 {
        self.ahead + 1
    }

    /// A wait until a barrier's part of the slots of an iteration is filled.
    pub(super) fn filled(&self, barrier: BarrierId, iteration: IntVar) -> Stmt {
        let phases = i64::from(self.phases());
        Stmt::Wait {
            barrier,
            slot: Index::Var(iteration) % phases,
            parity: Index::Var(iteration) / phases % 2,
        }
    }

    /// Are there blocks that copy values around an end, while others have boxes copied?
    pub(super) fn copies_at_ends(&self, context: &Context<'_>, march: &March) -> bool {
        let axis = context.algorithm.slowest_axis();
        let around = |group: &Group| are_around(group, context.launch, axis);
        march.boxes && self.groups.iter().any(around)
    }

    /// Values of all rings.
    fn values(&self) -> u32 {
        let ends = self.groups.iter().map(|g| g.start + g.slots * g.slot_len);
        ends.max().unwrap_or(0)
    }

    fn add(
        &mut self,
        context: &Context<'_>,
        march: &March,
        pipeline: &Pipeline,
        of: FnId,
        reads: &[([i32; 3], i32)],
    ) {
        let axis = pipeline.axis;
        let points = march.points as i32;
        let row = |at: &[i32; 3]| if axis == 2 { at[1] } else { 0 };
        let own = |at: &[i32; 3]| (0..points).contains(&at[0]) && row(at) == 0;
        let lead = reads.iter().map(|(at, _)| at[axis]).max().unwrap_or(0);
        let own_lags: BTreeSet<i32> =
            reads.iter().filter(|(at, _)| own(at)).map(|(at, _)| at[axis]).collect();
        let column =
            if march.column && own_lags.len() > 1 { own_lags.first().copied() } else { None };
        let in_ring = reads.iter().filter(|(at, _)| column.is_none() || !own(at));
        let oldest = in_ring.map(|(at, _)| at[axis]).min().unwrap_or(lead);
        let kept = (lead - oldest).unsigned_abs();
        // A plane enters with lag `lead`, in time for the first iteration that reads it.
        let entered = reads.iter().map(|(at, from)| from + at[axis] - lead).min();
        self.begin = self.begin.min(entered.unwrap_or(self.begin));
        let name = &context.algorithm.function(of).name;
        let reach = context
            .launch
            .inputs
            .iter()
            .find(|(input, _)| input == name)
            .map_or(0, |(_, reach)| reach[axis]);
        let at = self.group(march, reads, lead, reach, axis);
        let group = &mut self.groups[at];
        group.kept = group.kept.max(kept);
        let plane = Plane { group: at, offset: 0, column };
        self.planes.insert(of, plane);
    }

    fn group(
        &mut self,
        march: &March,
        reads: &[([i32; 3], i32)],
        lead: i32,
        reach: u32,
        axis: usize,
    ) -> usize {
        let points = march.points as i32;
        let xs = || reads.iter().map(|(at, _)| at[0]);
        let ys = || reads.iter().map(|(at, _)| if axis == 2 { at[1] } else { 0 });
        let most = |value: Option<i32>| value.unwrap_or(0).max(0).unsigned_abs();
        let (left, right) =
            (most(xs().map(|x| -x).max()), most(xs().map(|x| x - points + 1).max()));
        let rim_y = [most(ys().map(|y| -y).max()), most(ys().max())];
        let rim_x = [left.next_multiple_of(march.vector), right.next_multiple_of(march.vector)];
        let shape = Shape {
            lead,
            rim_x,
            right,
            rim_y,
            reach,
            width: march.tile[0] + rim_x[0] + rim_x[1],
            height: march.tile[1] + rim_y[0] + rim_y[1],
        };
        let known = self.groups.iter().position(|g| g.shape == shape);
        known.unwrap_or_else(|| {
            self.groups.push(Group { shape, start: 0, slot_len: 0, slots: 0, kept: 0 });
            self.groups.len() - 1
        })
    }

    /// Declares the rings and their barriers.
    pub(super) fn declare(&self, draft: &mut Draft<'_>, march: &March) {
        let threads: u32 = draft.kernel.launch.threads.iter().product();
        let name = draft.unique("ring");
        draft.kernel.shared.push(SharedArray { name, len: self.values() });
        let filling = if march.boxes { 1 } else { threads };
        let mut barriers = vec![("full", filling), ("done", threads.div_ceil(WARP))];
        if self.copies_at_ends(&draft.context, march) {
            barriers.push(("copied", threads));
        }
        for (name, arrivals) in barriers {
            let name = draft.unique(name);
            draft.kernel.barriers.push(BarrierArray { name, slots: self.phases(), arrivals });
        }
    }
}

/// The planes of a box, out of some of one shape: those of a series of arrays.
fn series(context: &Context<'_>, planes: &[FnId]) -> Result<Vec<Vec<FnId>>, Refusal> {
    let mut of_arrays = BTreeMap::new();
    for of in planes {
        let name = context.plan.array_of(&context.algorithm.function(*of).name);
        let array = context.plan.buffers.iter().position(|b| b.name == name);
        let array = array.ok_or_else(|| format!("the plan has no array of `{name}`"))?;
        of_arrays.insert(array, *of);
    }
    let arrays: Vec<usize> = of_arrays.keys().copied().collect();
    let series = context.plan.series(&arrays);
    let boxes = series.iter().flat_map(|s| s.chunks(MOST_BOX as usize));
    Ok(boxes.map(|arrays| arrays.iter().map(|array| of_arrays[array]).collect()).collect())
}

/// Values between places where a slot, or a box in it, may begin.
fn unit(context: &Context<'_>) -> u32 {
    (BOX_ALIGNMENT / context.value_bytes) as u32
}
