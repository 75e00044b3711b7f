//! Limits of the device that runs the blocks of a kernel.

/// The resources of a multiprocessor for the blocks that it holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiprocessor {
    /// Registers of four bytes.
    pub registers: u32,
    /// Bytes of shared memory of all blocks.
    pub shared_bytes: usize,
    /// Bytes of shared memory that each block takes beside its own.
    pub reserved_bytes: usize,
    /// Most threads.
    pub threads: u32,
    /// Most blocks.
    pub blocks: u32,
}

impl Multiprocessor {
    /// The multiprocessor of the newest modelled card, which kernels are lowered for if no card is named.
    pub const NEWEST: Self = Multiprocessor {
        registers: 65_536,
        shared_bytes: 228 << 10,
        reserved_bytes: 1 << 10,
        threads: 2048,
        blocks: 32,
    };

    /// Bytes of shared memory that one block may have.
    pub fn block_shared_bytes(&self) -> usize {
        self.shared_bytes.saturating_sub(self.reserved_bytes)
    }
}
