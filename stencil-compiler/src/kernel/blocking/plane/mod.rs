//! `plane`: a block covers a tile across the slowest axis and marches along it, with the plane that
//! neighbours read in shared memory and the rest of the stencil in registers: the 2.5-dimensional
//! cache blocking of Pekkilä et al. 2017, section 4.2.
//!
//! A thread keeps its own column of each field in registers. When the march goes on by a plane, the column brings the
//! inside of the shared plane up to date, and only its rim and the cell at the far end of the column come from global
//! memory; these loads are issued ahead of the iteration that hides them. If neighbours are read on several planes at
//! once, that many planes are kept. Values that only their own cell reads never enter shared memory. Block-wide
//! barriers stand around the update.

use super::{MOST_THREADS, chunk};
use crate::kernel::iteration::{Cover, describe};
use crate::kernel::lower::{Context, Draft, shape};
use crate::kernel::pipeline::analyze;
use crate::kernel::{Kernel, WARP};
use crate::schedule::strategies::CHUNK;
use crate::schedule::strategies::plane::{STRATEGY, across};
use crate::schedule::{Blame, LaunchKind, Placement, Refusal};

mod body;
mod layout;
mod loader;
mod reader;

use layout::Layout;

/// Parameters, checked.
fn cover(context: &Context<'_>) -> Result<Cover, Refusal> {
    let dimension = context.algorithm.dimension;
    if dimension < STRATEGY.least_dimension {
        return Err(Refusal {
            blame: Blame::Strategy,
            message: "`plane` needs at least two dimensions; use `direct`".into(),
        });
    }
    let points = context.param("points");
    let chunk = chunk(context.param(CHUNK.name))?;
    let tile = across(&|name| context.param(name), dimension);
    if !matches!(points, 1 | 2) {
        let message = format!("`points={points}`: a thread has 1 or 2 cells");
        return Err(Refusal::params(&["points"], message));
    }
    if !tile[0].is_multiple_of(points) {
        return Err(Refusal::params(
            &["points", "tile_x"],
            format!("`points={points}`: {} cells along x are no multiple of it", tile[0]),
        ));
    }
    let threads = u64::from(tile[0] / points) * u64::from(tile[1]);
    if !(1..=u64::from(MOST_THREADS)).contains(&threads) || threads % u64::from(WARP) != 0 {
        return Err(Refusal::params(
            &["tile_x", "tile_y", "points"],
            format!(
                "a tile of {tile:?} with {points} cells a thread has {threads} threads; it must be a multiple of {WARP} up to {MOST_THREADS}"
            ),
        ));
    }
    Ok(Cover { tile, points, chunk })
}

pub(super) fn lower(context: &Context<'_>) -> Result<Kernel, Refusal> {
    let cover = cover(context)?;
    let buffers = context.param("buffers");
    if !matches!(buffers, 1 | 2) {
        return Err(Refusal::params(
            &["buffers"],
            format!("`buffers={buffers}`: the next plane has room of its own (2) or not (1)"),
        ));
    }
    if let Some((name, _)) = context.launch.placements.iter().find(|(_, p)| *p == Placement::Shared)
    {
        return Err(Refusal::placement(
            name,
            format!(
                "`{name}` is placed shared, but `plane` keeps one plane of what it reads and no more; use `march`, or another placement"
            ),
        ));
    }
    let pipeline = analyze(context, cover.points as i32)?;
    let layout = Layout::new(context, cover, &pipeline, buffers);
    let [x, y] = cover.threads();
    let mut tile = [cover.tile[0], cover.tile[1], 1];
    tile[pipeline.axis] = cover.chunk;
    let launch = shape(context, LaunchKind::Blocks, [x, y, 1], tile)?;
    let mut draft = Draft::new(*context, launch);
    layout.declare(&mut draft);
    let limit = context.multiprocessor.block_shared_bytes();
    if draft.kernel.shared_bytes() > limit {
        return Err(Refusal::params(
            &["tile_x", "tile_y", "points"],
            format!(
                "the planes take {} bytes of shared memory and a block has {limit}; use a smaller tile, carry sums that read neighbours on several planes, or store what is read far away",
                draft.kernel.shared_bytes()
            ),
        ));
    }
    for group in &layout.groups {
        draft.kernel.notes.push(format!(
            "{} of {} by {} values for each of {} arrays",
            match group.slots {
                1 => "a plane".into(),
                slots => format!("{slots} planes"),
            },
            group.width,
            group.height,
            group.members.len()
        ));
    }
    draft.kernel.notes.extend(describe(context, &pipeline));
    body::emit(&mut draft, cover, &pipeline, &layout, buffers)?;
    Ok(draft.kernel)
}
