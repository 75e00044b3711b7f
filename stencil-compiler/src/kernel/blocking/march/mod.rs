//! `march`: a block covers a tile across the slowest axis and marches along it through a chunk.
//!
//! Planes arrive in a ring in shared memory by asynchronous copies, a few iterations ahead; full and empty barriers
//! hand slots over, so that no block-wide barrier is needed in the loop. Values that only their own column reads stay
//! in registers; carried sums take each plane's terms as it passes; shared functions have a ring of their own, which
//! all threads fill, with a barrier around it. Either all threads copy 16 bytes at a time, or one thread has whole
//! boxes copied. If planes are read around the ends of periodic axes, blocks at these ends may copy, and all others
//! have boxes.

use crate::kernel::iteration::describe;
use crate::kernel::lower::{Context, Draft, shape};
use crate::kernel::pipeline::{Pipeline, analyze};
use crate::kernel::{Kernel, Launch};
use crate::schedule::{LaunchKind, Refusal};

mod body;
mod loader;
mod parameters;
mod prefetch_point;
mod prologue;
mod reads;
mod rings;
mod stage;

use parameters::March;
use prefetch_point::PrefetchPoint;
use rings::Rings;
use stage::Stage;

pub(super) fn lower(context: &Context<'_>) -> Result<Kernel, Refusal> {
    let march = March::new(context)?;
    let prefetch_point = PrefetchPoint::new(context, march.split)?;
    let pipeline = analyze(context, march.points as i32)?;
    march.check_barrier(&pipeline)?;
    let rings = Rings::new(context, &march, &pipeline)?;
    let mut draft = Draft::new(*context, launch_shape(context, &march, &pipeline)?);
    rings.declare(&mut draft, &march);
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
    let words = rings
        .groups
        .iter()
        .map(|group| format!("a ring of {} slots of {} values", group.slots, group.slot_len));
    let words: Vec<String> = words.collect();
    draft.kernel.notes.push(format!(
        "{}; {} run {} iterations ahead",
        words.join(", "),
        match (march.boxes, rings.copies_at_ends(context, &march)) {
            (true, true) => "boxes, or copies at ends of axes,",
            (true, false) => "boxes",
            (false, _) => "copies",
        },
        rings.ahead
    ));
    draft.kernel.notes.extend(describe(context, &pipeline));
    let with = (&march, prefetch_point);
    body::emit(&mut draft, with, &pipeline, (&rings, &stage))?;
    Ok(draft.kernel)
}

fn launch_shape(
    context: &Context<'_>,
    march: &March,
    pipeline: &Pipeline,
) -> Result<Launch, Refusal> {
    let [x, y] = march.threads();
    let mut tile = [march.tile[0], march.tile[1], 1];
    tile[pipeline.axis] = march.chunk;
    shape(context, LaunchKind::Blocks, [x, y, 1], tile)
}
