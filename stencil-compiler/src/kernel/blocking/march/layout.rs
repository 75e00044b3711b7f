//! What a march keeps where: boxes of planes in the slots of the ring, columns in registers.

use std::collections::{BTreeMap, BTreeSet};

use super::March;
use crate::algorithm::FnId;
use crate::kernel::lower::{Context, Draft};
use crate::kernel::pipeline::Pipeline;
use crate::kernel::{BarrierArray, BarrierId, SharedArray, SharedId, WARP};
use crate::schedule::Refusal;

/// The ring's shared array.
pub(super) const RING: SharedId = SharedId(0);
/// Slots whose copies are complete.
pub(super) const FULL: BarrierId = BarrierId(0);
/// Slots that no thread reads any more.
pub(super) const EMPTY: BarrierId = BarrierId(1);

/// How the planes of a launch lie in shared memory and registers.
pub(super) struct Layout {
    /// Boxes by the function that they hold planes of.
    pub(super) planes: BTreeMap<FnId, Plane>,
    /// Distinct shapes of boxes; copies and addresses are shared within one.
    pub(super) groups: Vec<Group>,
    /// Slots of the ring.
    pub(super) slots: u32,
    /// Values of a slot.
    pub(super) slot_len: u32,
    /// Iterations for which a slot is read after its first.
    pub(super) kept: u32,
    /// Iterations by which copies run ahead.
    pub(super) ahead: u32,
    /// First iteration, counted from the first output plane.
    pub(super) begin: i32,
}

/// One buffer's plane in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    /// Index into [`Layout::groups`].
    pub(super) group: usize,
    /// Where it begins in its slot.
    pub(super) offset: u32,
    /// Oldest lag of the own column that is kept in registers, if any is.
    pub(super) column: Option<i32>,
}

/// A shape of box, with the lag of the plane it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
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

impl Layout {
    pub(super) fn new(
        context: &Context<'_>,
        march: &March,
        pipeline: &Pipeline,
    ) -> Result<Self, Refusal> {
        let mut reads: BTreeMap<FnId, Vec<([i32; 3], i32)>> = BTreeMap::new();
        for ((of, at), from) in &pipeline.reads {
            reads.entry(*of).or_default().push((*at, *from));
        }
        let mut layout = Layout {
            planes: BTreeMap::new(),
            groups: Vec::new(),
            slots: 0,
            slot_len: 0,
            kept: 0,
            ahead: 0,
            begin: pipeline.first_iteration(),
        };
        for (of, reads) in reads {
            layout.add(context, march, pipeline, of, &reads);
        }
        // Nothing is computed before every slot that is read has been filled once: a read of a
        // plane that nobody needs would still race with the copy that fills its slot.
        layout.begin = layout
            .begin
            .min(pipeline.first_iteration() - layout.kept as i32);
        let align = (128 / context.value_bytes) as u32;
        layout.slot_len = layout.slot_len.next_multiple_of(align).max(align);
        let least = layout.kept + 2;
        layout.slots = if march.ring == 0 {
            least + 1
        } else {
            march.ring
        };
        if layout.slots < least {
            return Err(Refusal::params(
                &["ring"],
                format!(
                    "`ring={}`: {} planes are read at once, so the ring has at least {least} slots",
                    march.ring,
                    layout.kept + 1
                ),
            ));
        }
        layout.ahead = layout.slots - layout.kept - 1;
        Ok(layout)
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
        let own_lags: BTreeSet<i32> = reads
            .iter()
            .filter(|(at, _)| own(at))
            .map(|(at, _)| at[axis])
            .collect();
        let column = if march.column && own_lags.len() > 1 {
            own_lags.first().copied()
        } else {
            None
        };
        let in_ring = reads.iter().filter(|(at, _)| column.is_none() || !own(at));
        let oldest = in_ring.map(|(at, _)| at[axis]).min().unwrap_or(lead);
        self.kept = self.kept.max((lead - oldest).unsigned_abs());
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
        let group = self.group(march, reads, lead, reach, axis);
        let plane = Plane {
            group,
            offset: self.slot_len,
            column,
        };
        self.slot_len += self.groups[group].width * self.groups[group].height;
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
        let ys = || {
            reads
                .iter()
                .map(|(at, _)| if axis == 2 { at[1] } else { 0 })
        };
        let most = |value: Option<i32>| value.unwrap_or(0).max(0).unsigned_abs();
        let (left, right) = (
            most(xs().map(|x| -x).max()),
            most(xs().map(|x| x - points + 1).max()),
        );
        let rim_y = [most(ys().map(|y| -y).max()), most(ys().max())];
        let rim_x = [
            left.next_multiple_of(march.vector),
            right.next_multiple_of(march.vector),
        ];
        let group = Group {
            lead,
            rim_x,
            right,
            rim_y,
            reach,
            width: march.tile[0] + rim_x[0] + rim_x[1],
            height: march.tile[1] + rim_y[0] + rim_y[1],
        };
        self.groups
            .iter()
            .position(|g| *g == group)
            .unwrap_or_else(|| {
                self.groups.push(group);
                self.groups.len() - 1
            })
    }

    /// Declares the ring and its barriers.
    pub(super) fn declare(&self, draft: &mut Draft<'_>) {
        let threads: u32 = draft.kernel.launch.threads.iter().product();
        draft.kernel.shared.push(SharedArray {
            name: "ring".into(),
            len: self.slots * self.slot_len,
        });
        for (name, arrivals) in [("full", threads), ("empty", threads.div_ceil(WARP))] {
            draft.kernel.barriers.push(BarrierArray {
                name: name.into(),
                slots: self.slots,
                arrivals,
            });
        }
    }
}
