//! The parameters of a march, checked.

use super::super::{MOST_THREADS, chunk};
use crate::kernel::WARP;
use crate::kernel::iteration::Cover;
use crate::kernel::lower::Context;
use crate::kernel::pipeline::Pipeline;
use crate::schedule::strategies::march::{BARRIER, BOTH, BOXES, LOADER, STRATEGY, across};
use crate::schedule::strategies::{CHUNK, COLUMN};
use crate::schedule::{Blame, Refusal};

/// Most slots of a ring.
const MOST_SLOTS: u32 = 64;

/// Parameters of a march, checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct March {
    /// Cells of the tile along x and y.
    pub(super) tile: [u32; 2],
    /// Cells of a thread along x.
    pub(super) points: u32,
    /// Planes of a chunk.
    pub(super) chunk: u32,
    /// Slots of the ring, or 0 for as few as will do.
    pub(super) ring: u32,
    /// Does the own column ride in registers?
    pub(super) column: bool,
    /// Values of one asynchronous copy.
    pub(super) vector: u32,
    /// Are planes copied as boxes, where none is read around an end?
    pub(super) boxes: bool,
    /// Do warps wait for each other only before they read what is shared?
    pub(super) split: bool,
}

impl March {
    pub(super) fn new(context: &Context<'_>) -> Result<Self, Refusal> {
        let vector = (crate::schedule::COPY_BYTES / context.value_bytes) as u32;
        let dimension = context.algorithm.dimension;
        if dimension < STRATEGY.least_dimension {
            return Err(Refusal {
                blame: Blame::Strategy,
                message: "`march` needs at least two dimensions; use `direct`".into(),
            });
        }
        let tile = across(&|name| context.param(name), dimension);
        let march = March {
            tile,
            points: context.param("points"),
            chunk: chunk(context.param(CHUNK.name))?,
            ring: context.param("ring"),
            column: context.param(COLUMN.name) != 0,
            vector,
            boxes: context.param(LOADER.name) != 0,
            split: context.switch(&BARRIER)?,
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
                format!("`tile_x={}` is no multiple of the {vector} values of a copy", tile[0]),
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
            let message = format!("`ring={}`: a ring has at most {MOST_SLOTS} slots", march.ring);
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

    /// Checks that a split barrier stands around shared functions.
    pub(super) fn check_barrier(&self, pipeline: &Pipeline) -> Result<(), Refusal> {
        if !self.split || !pipeline.staged.is_empty() {
            return Ok(());
        }
        let name = BARRIER.name;
        let message = format!(
            "`{name}=1` splits the barrier around shared functions, and this kernel has none: use `{name}=0`"
        );
        Err(Refusal::params(&[name], message))
    }

    pub(super) fn cover(&self) -> Cover {
        Cover { tile: self.tile, points: self.points, chunk: self.chunk }
    }

    pub(super) fn threads(&self) -> [u32; 2] {
        self.cover().threads()
    }
}
