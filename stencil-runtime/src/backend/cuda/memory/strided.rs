//! Arrays whose values lie apart, with values of other arrays between them: they are packed to cross the bus.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, LaunchConfig, PushKernelArg};
use stencil_compiler::expr::Real;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::card::Opened;
use crate::backend::cuda::memory::start;

/// The kernel, for values of the type `real`.
pub(crate) const TEXT: &str = include_str!("strided.cu");

/// Threads of a block, as in the text.
const THREADS: usize = 256;

/// The most blocks of a launch: beyond it, threads take several values.
const MOST_BLOCKS: usize = 1 << 16;

/// Values of an array: the place of the first, and the distance between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) first: u64,
    /// Values from one to the next.
    pub(crate) apart: usize,
    /// Values from one patch to the next.
    pub(crate) step: usize,
}

/// The kernel that moves values, and room for the values of an array of a patch.
#[derive(Debug)]
pub(crate) struct Mover {
    kernel: CudaFunction,
    /// Several threads may read a run that is shared: one holds the room from the first value that is packed to the
    /// end of its copy.
    packed: Mutex<CudaSlice<u8>>,
}

impl Mover {
    /// Allocates room for arrays of these many values.
    pub(crate) fn new<T: Real>(
        card: &Opened,
        kernel: CudaFunction,
        length: usize,
    ) -> Result<Self, CudaError> {
        let packed = card.stream.alloc_zeros((length * T::BYTES).max(1));
        Ok(Mover {
            kernel,
            packed: Mutex::new(packed.map_err(CudaError::driver("taking memory on the card"))?),
        })
    }

    /// Returns the bytes of that room.
    pub(crate) fn bytes(&self) -> usize {
        self.room().num_bytes()
    }

    /// Locks the room for this thread.
    fn room(&self) -> MutexGuard<'_, CudaSlice<u8>> {
        // The room holds nothing of use once it is unlocked, even by a thread that panics.
        self.packed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies so many values of the host to values that lie apart.
    pub(crate) fn write(
        &self,
        stream: &Arc<CudaStream>,
        from: &[u8],
        (to, length): (Values, usize),
    ) -> Result<(), CudaError> {
        let mut room = self.room();
        let copy = stream.memcpy_htod(from, &mut *room);
        copy.map_err(CudaError::driver("copying an array to the card"))?;
        self.move_values(stream, [side_by_side(&room, stream), to], (length, 1))
    }

    /// Copies so many values that lie apart to the host and waits for them.
    pub(crate) fn read(
        &self,
        stream: &Arc<CudaStream>,
        (from, length): (Values, usize),
        to: &mut [u8],
    ) -> Result<(), CudaError> {
        let room = self.room();
        self.move_values(stream, [from, side_by_side(&room, stream)], (length, 1))?;
        let copy = stream.memcpy_dtoh(&*room, to);
        copy.and_then(|()| stream.synchronize())
            .map_err(CudaError::driver("copying an array from the card"))
    }

    /// Moves so many values of each of some patches.
    pub(crate) fn move_values(
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

/// Returns the room, as an array.
fn side_by_side(room: &CudaSlice<u8>, stream: &Arc<CudaStream>) -> Values {
    Values { first: start(room, stream), apart: 1, step: 0 }
}
