//! Marches that read around the ends of periodic axes: the origins of copies, and the blocks that cannot have boxes
//! copied, which follow the layout of the array.

use super::March;
use super::rings::{Group, Rings};
use crate::kernel::lower::Draft;
use crate::kernel::{Condition, Index, IntVar, Stmt};
use crate::plan::Launch;

/// The data that tell a march of boxes which of its blocks read around an end across the march.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    /// Cells between the reads of a block and the nearest end; negative if it reads around one.
    room: IntVar,
}

impl Ends {
    /// Computes once, ahead of the loop, how far a block is from the ends; `None` where boxes serve
    /// all blocks.
    pub(super) fn new(
        draft: &mut Draft<'_>,
        body: &mut Vec<Stmt>,
        march: &March,
        rings: &Rings,
        axis: usize,
    ) -> Option<Self> {
        let launch = draft.context.launch;
        let mut room: Option<Index> = None;
        for across in 0..axis {
            let groups = rings.groups.iter();
            let around = groups.filter(|group| is_around(group, launch, across));
            let Some([before, behind]) = around.map(|g| rims(g)[across]).reduce(wider) else {
                continue;
            };
            let (tile, extend) = (march.tile[across], launch.extend[across]);
            let first = Index::Block(across) * i64::from(tile);
            let constant = |cells: u32| Index::Const(i64::from(cells));
            let below = first.clone() - constant(before + extend);
            let above = Index::Size(across) + constant(extend) - first - constant(tile + behind);
            for side in [below, above] {
                room = Some(match room {
                    Some(room) => Index::Min(Box::new(room), Box::new(side)),
                    None => side,
                });
            }
        }
        let room = draft.define(body, "room", room?);
        Some(Ends { room })
    }

    /// Blocks that read nothing around an end.
    pub(super) fn inside(self) -> Condition {
        Condition::at_least(self.room, Index::Const(0))
    }

    /// Blocks that read around an end.
    pub(super) fn beside(self) -> Condition {
        Condition::below(self.room, Index::Const(0))
    }
}

/// Columns and rows that are read before a tile and behind it.
fn rims(group: &Group) -> [[u32; 2]; 2] {
    let shape = &group.shape;
    [[shape.rim_x[0], shape.right], shape.rim_y]
}

fn wider(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    [a[0].max(b[0]), a[1].max(b[1])]
}

/// Do some blocks read planes of a group around an end of this axis?
fn is_around(group: &Group, launch: &Launch, across: usize) -> bool {
    let [before, behind] = rims(group)[across];
    launch.wrapped[across] && before + behind + launch.extend[across] > 0
}

/// Do some blocks read planes of a group around an end across the march, which is along `axis`?
pub(in super::super) fn are_around(group: &Group, launch: &Launch, axis: usize) -> bool {
    (0..axis).any(|across| is_around(group, launch, across))
}

/// The plane that copies of a plane are from: at the other end, if the launch wraps the march.
pub(super) fn source(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    plane: IntVar,
    axis: usize,
) -> IntVar {
    if !draft.context.launch.wrapped[axis] {
        return plane;
    }
    let from = draft.context.wrapped(Index::Var(plane), axis);
    draft.define(body, "from", from)
}
