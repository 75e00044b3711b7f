//! Arrays whose values lie apart, with those of other arrays between them: they cross the bus packed.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, LaunchConfig, PushKernelArg};
use stencil_compiler::expr::Real;

use super::CudaError;
use super::card::Opened;
use super::memory::start;

/// The kernel, for values of the type `real`.
pub(super) const TEXT: &str = include_str!("apart.cu");

/// Threads of a block, as in the text.
const THREADS: usize = 256;

/// Most blocks of a launch: threads take several values then.
const MOST_BLOCKS: usize = 1 << 16;

/// Values of an array: where the first is, and how far apart they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) first: u64,
    /// Values from one to the next.
    pub(super) apart: usize,
    /// Values from one patch to the next.
    pub(super) step: usize,
}

/// The kernel that moves values, and room for those of an array of a patch.
#[derive(Debug)]
pub(super) struct Mover {
    kernel: CudaFunction,
    pub(super) packed: CudaSlice<u8>,
}

impl Mover {
    /// With room for arrays of these many values.
    pub(super) fn new<T: Real>(
        card: &Opened,
        kernel: CudaFunction,
        length: usize,
    ) -> Result<Self, CudaError> {
        let packed = card.stream.alloc_zeros((length * T::BYTES).max(1));
        Ok(Mover {
            kernel,
            packed: packed.map_err(CudaError::driver("taking memory on the card"))?,
        })
    }

    /// The room, as an array.
    pub(super) fn room(&self, stream: &Arc<CudaStream>) -> Values {
        Values {
            first: start(&self.packed, stream),
            apart: 1,
            step: 0,
        }
    }

    /// Moves so many values of each of some patches.
    pub(super) fn move_values(
        &self,
        stream: &Arc<CudaStream>,
        [from, to]: [Values; 2],
        (length, patches): (usize, usize),
    ) -> Result<(), CudaError> {
        let blocks = (length * patches).div_ceil(THREADS).clamp(1, MOST_BLOCKS);
        let config = LaunchConfig {
            grid_dim: (blocks as u32, 1, 1),
            block_dim: (THREADS as u32, 1, 1),
            shared_mem_bytes: 0,
        };
        let [of_from, of_to] = [from, to].map(|values| (values.apart as i32, values.step as i64));
        let (length, patches) = (length as i64, patches as i64);
        let mut launch = stream.launch_builder(&self.kernel);
        launch.arg(&from.first).arg(&of_from.0).arg(&of_from.1);
        launch.arg(&to.first).arg(&of_to.0).arg(&of_to.1);
        launch.arg(&length).arg(&patches);
        // SAFETY: the arguments are those of the kernel; both have room for so many values so far apart, and
        // have none in common.
        let launched = unsafe { launch.launch(config) };
        launched.map_err(CudaError::driver("moving the values of an array"))?;
        Ok(())
    }
}
