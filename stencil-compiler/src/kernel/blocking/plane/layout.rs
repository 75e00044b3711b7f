//! The storage of `plane`: planes with their rims in shared memory, columns in registers.

use std::collections::BTreeMap;

use crate::algorithm::{FnId, Offset};
use crate::kernel::iteration::Cover;
use crate::kernel::lower::{Context, Draft};
use crate::kernel::pipeline::Pipeline;
use crate::kernel::{SharedArray, SharedId};

/// The shared array of all planes.
pub(super) const PLANES: SharedId = SharedId(0);

/// The places of the planes of a launch.
pub(super) struct Layout {
    /// The own column of every function that is read.
    pub(super) columns: BTreeMap<FnId, Column>,
    /// Planes in shared memory, by shape.
    pub(super) groups: Vec<Group>,
    /// The iteration of the first planes in registers, counted from the first output plane.
    pub(super) begin: i32,
}

/// A thread's own column of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// Newest plane: in iteration p it is p + lead.
    pub(super) lead: i32,
    /// Oldest plane that is kept.
    pub(super) oldest: i32,
    /// Planes before the first output and from the last output on that are read.
    pub(super) reach: [i32; 2],
    /// Cells behind the region along x and y that are read.
    pub(super) behind: [u32; 2],
}

/// Planes of one shape: functions of which neighbours are read alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The functions, in the order of their parts of a slot.
    pub(super) members: Vec<FnId>,
    /// The beginning of its slots in the shared array.
    pub(super) start: u32,
    /// Slots: iteration p reads planes p + lag and before, each in the slot of its number.
    pub(super) slots: u32,
    /// The common properties of all members.
    pub(super) shape: Shape,
    /// Values of a row, and rows.
    pub(super) width: u32,
    pub(super) height: u32,
    /// Values in front of the tile along x: the rim, so far that threads of two cells are aligned.
    pub(super) front: u32,
}

/// The way in which neighbours of a function are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Newest plane in shared memory.
    pub(super) lag: i32,
    /// Planes that are read at once.
    pub(super) window: u32,
    /// Cells in front of the tile and behind it along x and y.
    pub(super) rim: [[u32; 2]; 2],
    /// Are cells of the rim read that are beyond the tile along both?
    pub(super) corners: bool,
    /// Planes before the first output and from the last output on that neighbours read.
    pub(super) reach: [i32; 2],
}

/// Reads of one function: where, and the first iteration that needs it.
type Reads = Vec<(Offset, i32)>;

impl Layout {
    pub(super) fn new(
        context: &Context<'_>,
        cover: Cover,
        pipeline: &Pipeline,
        buffers: u32,
    ) -> Self {
        let mut reads: BTreeMap<FnId, Reads> = BTreeMap::new();
        for ((of, at), from) in &pipeline.reads {
            reads.entry(*of).or_default().push((*at, *from));
        }
        let mut layout = Layout {
            columns: BTreeMap::new(),
            groups: Vec::new(),
            begin: pipeline.first_iteration(),
        };
        for (of, reads) in reads {
            layout.add(context, cover, pipeline, of, reads);
        }
        let mut start = 0;
        for group in &mut layout.groups {
            let shape = group.shape;
            let [front, behind] = shape.rim[0].map(|r| r.next_multiple_of(cover.points));
            let [low, high] = shape.rim[1];
            group.front = front;
            group.width = front + cover.tile[0] + behind;
            group.height = low + cover.tile[1] + high;
            group.slots = shape.window + buffers - 1;
            group.start = start;
            start += group.slots * group.slot_len();
        }
        layout
    }

    fn add(
        &mut self,
        context: &Context<'_>,
        cover: Cover,
        pipeline: &Pipeline,
        of: FnId,
        reads: Reads,
    ) {
        let axis = pipeline.axis;
        let bounds = |reads: &[(Offset, i32)]| {
            let lags = || reads.iter().map(|(at, _)| at[axis]);
            let first = reads.iter().map(|(at, from)| from + at[axis]).min();
            (lags().min().unwrap_or(0), lags().max().unwrap_or(0), first.unwrap_or(0))
        };
        let name = &context.algorithm.function(of).name;
        let halo = context.launch.inputs.iter().find(|(input, _)| input == name);
        let most = halo.map_or(0, |(_, reach)| reach[axis] as i32);
        // The last iteration stores the last plane of the output that lags most.
        let reach = |first: i32, newest: i32| {
            [(-first).min(most), (newest - pipeline.last_lag()).min(most)]
        };
        let neighbours: Reads =
            reads.iter().filter(|(at, _)| !is_own(axis, cover.points, at)).copied().collect();
        let (_, lead, first) = bounds(&reads);
        let own = reads.iter().filter(|(at, _)| is_own(axis, cover.points, at));
        let oldest_own = own.map(|(at, _)| at[axis]).min();
        let mut column = Column {
            lead,
            oldest: oldest_own.unwrap_or(lead),
            reach: reach(first, lead),
            behind: [0; 2],
        };
        if !neighbours.is_empty() {
            let (oldest, lag, first) = bounds(&neighbours);
            let rim = rim(axis, cover.points, &neighbours);
            let shape = Shape {
                lag,
                window: (lag - oldest).unsigned_abs() + 1,
                rim,
                corners: corners(axis, cover.points, &neighbours),
                reach: reach(first, lag),
            };
            column.oldest = column.oldest.min(lag);
            column.behind = [rim[0][1], rim[1][1]];
            self.join(shape, of);
        }
        // A plane enters the column at its newest, in time for the first iteration that reads it.
        self.begin = self.begin.min(first - lead);
        self.columns.insert(of, column);
    }

    fn join(&mut self, shape: Shape, of: FnId) {
        match self.groups.iter_mut().find(|g| g.shape == shape) {
            Some(group) => group.members.push(of),
            None => self.groups.push(Group {
                members: vec![of],
                start: 0,
                slots: 0,
                shape,
                width: 0,
                height: 0,
                front: 0,
            }),
        }
    }

    /// The group of a function and which of its members it is.
    pub(super) fn group_of(&self, of: FnId) -> Option<(usize, usize)> {
        let found = |group: &Group| group.members.iter().position(|member| *member == of);
        let mut groups = self.groups.iter().enumerate();
        groups.find_map(|(at, group)| Some((at, found(group)?)))
    }

    /// Declares the planes, if any are kept.
    pub(super) fn declare(&self, draft: &mut Draft<'_>) {
        let len = self.groups.iter().map(|g| g.start + g.slots * g.slot_len());
        if let Some(len) = len.max() {
            draft.kernel.shared.push(SharedArray { name: "planes".into(), len });
        }
    }
}

impl Group {
    /// Values of a plane of one array.
    pub(super) fn plane_len(&self) -> u32 {
        self.width * self.height
    }

    /// Values of a plane of all arrays.
    pub(super) fn slot_len(&self) -> u32 {
        self.plane_len() * self.members.len() as u32
    }
}

/// The row of an offset: in two dimensions there is one.
pub(super) fn row(axis: usize, at: &Offset) -> i32 {
    if axis == 2 { at[1] } else { 0 }
}

/// Is an offset one of the thread's own columns?
pub(super) fn is_own(axis: usize, points: u32, at: &Offset) -> bool {
    (0..points as i32).contains(&at[0]) && row(axis, at) == 0
}

fn rim(axis: usize, points: u32, reads: &Reads) -> [[u32; 2]; 2] {
    let most = |values: &dyn Fn(&Offset) -> i32| {
        let most = reads.iter().map(|(at, _)| values(at)).max();
        most.unwrap_or(0).max(0).unsigned_abs()
    };
    let last = points as i32 - 1;
    [
        [most(&|at| -at[0]), most(&|at| at[0] - last)],
        [most(&|at| -row(axis, at)), most(&|at| row(axis, at))],
    ]
}

fn corners(axis: usize, points: u32, reads: &Reads) -> bool {
    let beside = |at: &Offset| !(0..points as i32).contains(&at[0]);
    reads.iter().any(|(at, _)| beside(at) && row(axis, at) != 0)
}
