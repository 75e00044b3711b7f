//! `plane`: a block covers a tile across the slowest axis and marches along it, with the plane that
//! neighbours read in shared memory and the rest of the stencil in registers: the 2.5-dimensional
//! cache blocking of Pekkilä et al. 2017, section 4.2.
//!
//! A thread keeps its own column of each field in registers. When the march goes on by a plane, the
//! column brings the inside of the shared plane up to date, and only its rim and the cell at the far
//! end of the column come from global memory; these loads are issued ahead of the iteration that
//! hides them. Where neighbours are read on several planes at once, that many planes are kept. What
//! only its own cell reads never enters shared memory. Block-wide barriers stand around the update.

use super::march::SHARED_LIMIT;
use super::{BLOCKS, CHUNK, Param, Strategy, Tried, chunk};
use crate::kernel::iteration::{Cover, describe};
use crate::kernel::lower::{Context, Draft, shape};
use crate::kernel::pipeline::analyze;
use crate::kernel::{Kernel, LaunchKind, WARP};
use crate::schedule::{Blame, Placement, Refusal};

mod body;
mod layout;
mod loader;
mod reader;

use layout::Layout;

/// The strategy.
pub const STRATEGY: Strategy = Strategy {
    name: "plane",
    summary: "tiles march along the slowest axis, a plane in shared memory, columns in registers",
    params: &[
        Param {
            name: "tile_x",
            summary: "cells of the tile along x",
            default: 32,
            values: &[16, 32, 64],
            flat: Some(&[64, 128, 256, 512, 1024]),
            tried: Tried::First,
        },
        Param {
            name: "tile_y",
            summary: "cells of the tile along y; in two dimensions they too lie along x",
            default: 8,
            values: &[4, 8, 12, 16],
            flat: Some(&[1]),
            tried: Tried::First,
        },
        Param {
            name: "points",
            summary: "cells of a thread along x",
            default: 1,
            values: &[1, 2],
            flat: None,
            tried: Tried::First,
        },
        CHUNK,
        Param {
            name: "buffers",
            summary: "2: the next plane has room of its own, which saves a barrier; 1: it has not",
            default: 2,
            values: &[1, 2],
            flat: None,
            tried: Tried::Beside,
        },
        BLOCKS,
    ],
    marches: true,
    stages: false,
    wraps: |_| false,
    across: Some(across),
    kind: LaunchKind::Blocks,
    least_dimension: 2,
    lower,
};

/// Most threads of a block.
const MOST_THREADS: u32 = 1024;

/// Cells of the tile along x and y. In two dimensions it is a row: what would lie along y goes along x.
fn across(param: &dyn Fn(&str) -> u32, dimension: usize) -> [u32; 2] {
    let [x, y] = ["tile_x", "tile_y"].map(param);
    match dimension {
        2 => [x.saturating_mul(y), 1],
        _ => [x, y],
    }
}

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
            format!(
                "`points={points}`: {} cells along x are no multiple of it",
                tile[0]
            ),
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
    Ok(Cover {
        tile,
        points,
        chunk,
    })
}

fn lower(context: &Context<'_>) -> Result<Kernel, Refusal> {
    let cover = cover(context)?;
    let buffers = context.param("buffers");
    if !matches!(buffers, 1 | 2) {
        return Err(Refusal::params(
            &["buffers"],
            format!("`buffers={buffers}`: the next plane has room of its own (2) or not (1)"),
        ));
    }
    if let Some((name, _)) = context
        .launch
        .placements
        .iter()
        .find(|(_, p)| *p == Placement::Shared)
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
    if draft.kernel.shared_bytes() > SHARED_LIMIT {
        return Err(Refusal::params(
            &["tile_x", "tile_y", "points"],
            format!(
                "the planes take {} bytes of shared memory and a block has {SHARED_LIMIT}; use a smaller tile, carry sums that read neighbours on several planes, or store what is read far away",
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
    body::emit(&mut draft, cover, &pipeline, (&layout, buffers))?;
    Ok(draft.kernel)
}
