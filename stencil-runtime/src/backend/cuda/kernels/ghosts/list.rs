//! Boxes of ghost cells as kernels take them: a list, and the box of each block.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};

use super::{GhostBox, threads};
use crate::backend::cuda::CudaError;
use crate::mesh::CopyBox;

/// The boxes of a launch.
#[derive(Debug, Default)]
pub(super) struct BoxList {
    pub(super) boxes: Vec<GhostBox>,
    pub(super) of_block: Vec<i32>,
}

/// A list in the memory of a card.
#[derive(Debug)]
pub(super) struct OnCard {
    pub(super) boxes: CudaSlice<GhostBox>,
    pub(super) of_block: CudaSlice<i32>,
}

impl BoxList {
    /// Adds a box of an array that follows some rules, of cells from a first one; its values lie behind so many others where
    /// they are packed.
    pub(super) fn push(
        &mut self,
        (array, rules): (usize, usize),
        of: &CopyBox,
        (lo, size): ([i32; 3], [i32; 3]),
        packed: usize,
    ) {
        let (lanes, blocks) = threads(size);
        let block = self.of_block.len() as i32;
        self.of_block.extend((0..blocks).map(|_| self.boxes.len() as i32));
        self.boxes.push(GhostBox {
            array: array as i32,
            rules: rules as i32,
            to: of.to as i32,
            from: of.from as i32,
            lo,
            size,
            shift: of.shift.map(|n| n as i32),
            face: of.faces.map(|face| face.map_or(-1, |side| side as i32)),
            block,
            blocks,
            lanes,
            packed: packed as i32,
        });
    }

    /// Returns the list in the memory of a card; `None` if it is empty.
    pub(super) fn on_card(&self, stream: &Arc<CudaStream>) -> Result<Option<OnCard>, CudaError> {
        if self.boxes.is_empty() {
            return Ok(None);
        }
        let failed = CudaError::driver("copying a list of ghost cells to the card");
        Ok(Some(OnCard {
            boxes: stream.clone_htod(&self.boxes).map_err(&failed)?,
            of_block: stream.clone_htod(&self.of_block).map_err(&failed)?,
        }))
    }
}
