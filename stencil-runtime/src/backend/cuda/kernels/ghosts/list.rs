//! Boxes of ghost cells as kernels take them: a list, and the box of each block.

use std::collections::BTreeMap;
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
    /// The array of each component, by the place of its rules.
    array_of: BTreeMap<usize, i32>,
}

/// A list in the memory of a card.
#[derive(Debug)]
pub(super) struct OnCard {
    pub(super) boxes: CudaSlice<GhostBox>,
    pub(super) of_block: CudaSlice<i32>,
    /// The array of each component that rules of others read.
    pub(super) array_of: CudaSlice<i32>,
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
        self.array_of.insert(rules, array as i32);
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

    /// Returns the list in the memory of a card; `None` if it is empty. Rules read so many of the first components.
    pub(super) fn on_card(
        &self,
        stream: &Arc<CudaStream>,
        read: usize,
    ) -> Result<Option<OnCard>, CudaError> {
        if self.boxes.is_empty() {
            return Ok(None);
        }
        let arrays = self.arrays(read)?;
        let failed = CudaError::driver("copying a list of ghost cells to the card");
        Ok(Some(OnCard {
            boxes: stream.clone_htod(&self.boxes).map_err(&failed)?,
            of_block: stream.clone_htod(&self.of_block).map_err(&failed)?,
            array_of: stream.clone_htod(&arrays).map_err(&failed)?,
        }))
    }

    /// Returns the arrays of so many of the first components, and at least one number, so that there is an address.
    pub(super) fn arrays(&self, read: usize) -> Result<Vec<i32>, CudaError> {
        let has_faces = self.boxes.iter().any(|of| of.face != [-1; 3]);
        let array_of = |component| match self.array_of.get(&component) {
            None if has_faces => Err(CudaError::Kernel {
                kernel: "fill_ghosts".into(),
                reason: "a boundary reads a component that is not filled".into(),
            }),
            found => Ok(found.copied().unwrap_or(0)),
        };
        let mut arrays = (0..read).map(array_of).collect::<Result<Vec<i32>, _>>()?;
        arrays.resize(read.max(1), 0);
        Ok(arrays)
    }
}
