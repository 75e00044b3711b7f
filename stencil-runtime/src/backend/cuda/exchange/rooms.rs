//! Memory for values that go from process to process: on a card, and on the host.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{CudaContext, result};
use stencil_compiler::expr::Real;

use crate::backend::cuda::CudaError;

/// Room on a card. Libraries that open the memory of other processes take it, unlike memory of a pool.
#[derive(Debug)]
pub(crate) struct Room {
    context: Arc<CudaContext>,
    address: u64,
    bytes: usize,
}

impl Room {
    /// Takes so many bytes.
    pub(crate) fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, CudaError> {
        let failed = CudaError::driver("taking memory on the card");
        context.bind_to_thread().map_err(&failed)?;
        // SAFETY: nobody reads the bytes before they are written; they are freed once, below.
        let address = unsafe { result::malloc_sync(bytes.max(1)) }.map_err(&failed)?;
        Ok(Room { context: context.clone(), address, bytes })
    }

    /// Returns its address.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Returns its size.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // An error here has no receiver.
        let _ = self.context.bind_to_thread();
        // SAFETY: taken above. Freeing waits for work on the card that uses it.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

/// Room on the host that a card copies to and from without waiting.
#[derive(Debug)]
pub(crate) struct Pinned {
    context: Arc<CudaContext>,
    address: *mut c_void,
    bytes: usize,
}

// SAFETY: plain memory; the order of its uses is that of the work on a card.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Takes so many bytes.
    pub(crate) fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, CudaError> {
        let failed = CudaError::driver("taking memory on the host that a card reaches");
        context.bind_to_thread().map_err(&failed)?;
        // SAFETY: nobody reads the bytes before they are written; they are freed once, below.
        let address = unsafe { result::malloc_host(bytes.max(1), 0) }.map_err(&failed)?;
        Ok(Pinned { context: context.clone(), address, bytes })
    }

    /// Returns its address.
    pub(crate) fn address(&self) -> u64 {
        self.address as u64
    }

    /// Returns its bytes. No copy to it is in progress.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are there, and any bytes are bytes.
        unsafe { std::slice::from_raw_parts(self.address.cast(), self.bytes) }
    }

    /// Returns its bytes as values. No copy to it is in progress.
    pub(crate) fn values<T: Real>(&self) -> &[T] {
        // SAFETY: as above; memory of the driver is aligned to pages, and each pattern of bits is an `f32` or `f64`.
        unsafe { std::slice::from_raw_parts(self.address.cast(), self.bytes / T::BYTES) }
    }

    /// Returns its bytes, to be written by a copy.
    #[expect(clippy::mut_from_ref, reason = "the order of the work on a card keeps uses apart")]
    pub(crate) fn bytes_mut(&self) -> &mut [u8] {
        // SAFETY: as above; uses of the bytes follow each other.
        unsafe { std::slice::from_raw_parts_mut(self.address.cast(), self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // An error here has no receiver.
        let _ = self.context.bind_to_thread();
        // SAFETY: taken above, and no copy is in progress: those that were begun have been waited for.
        let _ = unsafe { result::free_host(self.address) };
    }
}
