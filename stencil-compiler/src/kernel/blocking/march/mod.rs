//! `march`: a block covers a tile across the slowest axis and marches along it through a chunk.
//!
//! Planes arrive in a ring in shared memory by asynchronous copies, a few iterations ahead; full and empty barriers
//! hand slots over, so that no block-wide barrier is needed in the loop. Values that only their own column reads stay
//! in registers; carried sums take each plane's terms as it passes; shared functions have a ring of their own, which
//! all threads fill, with a barrier around it. Either all threads copy 16 bytes at a time, or one thread has whole
//! boxes copied. If planes are read around the ends of periodic axes, blocks at these ends may copy, and all others
//! have boxes.

use super::{MOST_THREADS, chunk};
use crate::kernel::iteration::{Cover, describe};
use crate::kernel::lower::{Context, Draft, shape};
use crate::kernel::pipeline::{Pipeline, analyze};
use crate::kernel::{Kernel, WARP};
use crate::schedule::strategies::march::{
    BARRIER, BEHIND, BOTH, BOXES, LOADER, REFILL, SPLIT, STRATEGY, TRIM, across,
};
use crate::schedule::strategies::{CHUNK, COLUMN};
use crate::schedule::{Blame, LaunchKind, Refusal};

mod around;
mod body;
mod boxes;
mod copies;
mod ends;
mod layout;
mod reader;
mod stage;

use layout::Layout;
use stage::Stage;

/// The point at which an iteration fills the slots of a coming one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refill {
    /// Before its own planes are waited for.
    Ahead,
    /// At the wait for values that others shared.
    Between,
    /// When its work is done.
    Behind,
}

/// Most slots of a ring.
const MOST_SLOTS: u32 = 64;

/// Parameters of a march, checked.
#[derive(Clone, Copy, Debug)]
struct March {
    /// Cells of the tile along x and y.
    tile: [u32; 2],
    /// Cells of a thread along x.
    points: u32,
    /// Planes of a chunk.
    chunk: u32,
    /// Slots of the ring, or 0 for as few as will do.
    ring: u32,
    /// Does the own column ride in registers?
    column: bool,
    /// Values of one asynchronous copy.
    vector: u32,
    /// Are planes copied as boxes, where none is read around an end?
    boxes: bool,
    /// Do warps wait for each other only before they read shared values?
    split: bool,
    /// When slots are filled again.
    refill: Refill,
    /// Do planes around a chunk get only the work that is needed of them?
    trim: bool,
}

impl March {
    fn new(context: &Context<'_>) -> Result<Self, Refusal> {
        let vector = (crate::schedule::COPY_BYTES / context.value_bytes) as u32;
        let dimension = context.algorithm.dimension;
        if dimension < STRATEGY.least_dimension {
            return Err(Refusal {
                blame: Blame::Strategy,
                message: "`march` needs at least two dimensions; use `direct`".into(),
            });
        }
        let tile = across(&|name| context.param(name), dimension);
        let split = context.param(BARRIER.name) == SPLIT;
        let march = March {
            tile,
            points: context.param("points"),
            chunk: chunk(context.param(CHUNK.name))?,
            ring: context.param("ring"),
            column: context.param(COLUMN.name) != 0,
            vector,
            boxes: context.param(LOADER.name) != 0,
            split,
            refill: refill(context, split)?,
            trim: trim(context)?,
        };
        march.check_loader(context)?;
        if !matches!(march.points, 1 | 2 | 4) || march.points > vector {
            return Err(Refusal::params(
                &["points"],
                format!(
                    "`points={}`: a thread has 1, 2 or 4 cells, at most {vector} of this precision",
                    march.points
                ),
            ));
        }
        if tile[0] == 0 || !tile[0].is_multiple_of(vector) || !tile[0].is_multiple_of(march.points)
        {
            return Err(Refusal::params(
                &["tile_x"],
                format!(
                    "`tile_x={}` is no multiple of the {vector} values of a copy",
                    tile[0]
                ),
            ));
        }
        let threads = u64::from(march.threads()[0]) * u64::from(march.threads()[1]);
        if threads == 0 || threads > u64::from(MOST_THREADS) || threads % u64::from(WARP) != 0 {
            return Err(Refusal::params(
                &["tile_x", "tile_y", "points"],
                format!(
                    "a tile of {tile:?} with {} cells a thread has {threads} threads; it must be a multiple of {WARP} up to {MOST_THREADS}",
                    march.points
                ),
            ));
        }
        if march.ring > MOST_SLOTS {
            let message = format!(
                "`ring={}`: a ring has at most {MOST_SLOTS} slots",
                march.ring
            );
            return Err(Refusal::params(&["ring"], message));
        }
        Ok(march)
    }

    fn check_loader(&self, context: &Context<'_>) -> Result<(), Refusal> {
        let loader = context.param(LOADER.name);
        if loader > BOTH {
            let message = format!("`loader={loader}`: there are 0, {BOXES} and {BOTH}");
            return Err(Refusal::params(&[LOADER.name], message));
        }
        if loader == BOXES && context.launch.wrapped.contains(&true) {
            let message = format!(
                "`loader={loader}` copies boxes as they lie in memory, and so needs ghost cells; this launch reads periodic axes around their ends: use `loader=0` or `loader={BOTH}`"
            );
            return Err(Refusal::params(&[LOADER.name], message));
        }
        Ok(())
    }

    fn check_barrier(context: &Context<'_>, pipeline: &Pipeline) -> Result<(), Refusal> {
        let barrier = context.param(BARRIER.name);
        let message = match barrier {
            0 => return Ok(()),
            SPLIT if !pipeline.staged.is_empty() => return Ok(()),
            SPLIT => format!(
                "`barrier={barrier}` splits the barrier around shared functions, and this kernel has none: use `barrier=0`"
            ),
            _ => format!("`barrier={barrier}`: there are 0 and {SPLIT}"),
        };
        Err(Refusal::params(&[BARRIER.name], message))
    }

    fn cover(&self) -> Cover {
        Cover {
            tile: self.tile,
            points: self.points,
            chunk: self.chunk,
        }
    }

    fn threads(&self) -> [u32; 2] {
        self.cover().threads()
    }
}

fn refill(context: &Context<'_>, split: bool) -> Result<Refill, Refusal> {
    let (blamed, message) = match (context.param(REFILL.name), split) {
        (0, false) => return Ok(Refill::Ahead),
        (0, true) => return Ok(Refill::Between),
        (BEHIND, false) => return Ok(Refill::Behind),
        (BEHIND, true) => (
            &[REFILL.name, BARRIER.name][..],
            format!(
                "`refill={BEHIND}` asks for planes behind the work, and with `barrier={SPLIT}` that is done in the middle of it: use one of them"
            ),
        ),
        (refill, _) => (
            &[REFILL.name][..],
            format!("`refill={refill}`: there are 0 and {BEHIND}"),
        ),
    };
    Err(Refusal::params(blamed, message))
}

fn trim(context: &Context<'_>) -> Result<bool, Refusal> {
    match context.param(TRIM.name) {
        trim @ (0 | 1) => Ok(trim == 1),
        trim => {
            let message = format!("`trim={trim}`: there are 0 and 1");
            Err(Refusal::params(&[TRIM.name], message))
        }
    }
}

pub(super) fn lower(context: &Context<'_>) -> Result<Kernel, Refusal> {
    let march = March::new(context)?;
    let pipeline = analyze(context, march.points as i32)?;
    March::check_barrier(context, &pipeline)?;
    let layout = Layout::new(context, &march, &pipeline)?;
    let mut draft = Draft::new(*context, launch_shape(context, &march, &pipeline)?);
    layout.declare(&mut draft, &march);
    let stage = Stage::new(&march, &pipeline);
    stage.declare(&mut draft);
    let limit = context.multiprocessor.block_shared_bytes();
    if draft.kernel.shared_bytes() > limit {
        return Err(Refusal::params(
            &["tile_x", "tile_y", "ring"],
            format!(
                "rings and shared functions take {} bytes of shared memory and a block has {limit}; use a smaller tile or ring, or store what is read far away",
                draft.kernel.shared_bytes()
            ),
        ));
    }
    let rings = layout.groups.iter().map(|group| {
        format!(
            "a ring of {} slots of {} values",
            group.slots, group.slot_len
        )
    });
    let rings: Vec<String> = rings.collect();
    draft.kernel.notes.push(format!(
        "{}; {} run {} iterations ahead",
        rings.join(", "),
        match (march.boxes, layout.copies_at_ends(context, &march)) {
            (true, true) => "boxes, or copies at ends of axes,",
            (true, false) => "boxes",
            (false, _) => "copies",
        },
        layout.ahead
    ));
    draft.kernel.notes.extend(describe(context, &pipeline));
    body::emit(&mut draft, &march, &pipeline, (&layout, &stage))?;
    Ok(draft.kernel)
}

fn launch_shape(
    context: &Context<'_>,
    march: &March,
    pipeline: &Pipeline,
) -> Result<crate::kernel::Launch, Refusal> {
    let [x, y] = march.threads();
    let mut tile = [march.tile[0], march.tile[1], 1];
    tile[pipeline.axis] = march.chunk;
    shape(context, LaunchKind::Blocks, [x, y, 1], tile)
}
