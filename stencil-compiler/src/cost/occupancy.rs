//! The number of blocks of a kernel that a multiprocessor holds at once, and the resource that bounds them. The rules
//! are those by which the hardware hands registers and shared memory out.

use crate::kernel::{Multiprocessor, WARP};

/// Parts of a multiprocessor with a register file each; a warp has its registers in one of them.
const PARTS: u32 = 4;

/// Registers are handed out to a warp in multiples of this.
const REGISTER_UNIT: u32 = 256;

/// Bytes of shared memory are handed out to a block in multiples of this.
const SHARED_UNIT: usize = 128;

/// The resource that runs out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// No more blocks are held, however small they are.
    Blocks,
    /// No more threads are held.
    Threads,
    /// Registers.
    Registers,
    /// Shared memory.
    Shared,
}

impl Bound {
    /// The resource in words.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Blocks => "blocks",
            Bound::Threads => "threads",
            Bound::Registers => "registers",
            Bound::Shared => "shared memory",
        }
    }
}

/// The blocks of a kernel that a multiprocessor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks at once; 0 if not even one has room.
    pub blocks: u32,
    /// The resource that allows no more.
    pub bound: Bound,
}

impl Multiprocessor {
    /// The occupancy of a kernel whose blocks have this many threads, registers of a thread, and bytes of shared
    /// memory. If several resources run out at once, the first one of [`Bound`] is named.
    pub fn occupancy(&self, threads: u32, registers: u32, shared_bytes: usize) -> Occupancy {
        let warps = threads.div_ceil(WARP).max(1);
        let of_warp = (registers.max(1) * WARP).next_multiple_of(REGISTER_UNIT);
        let warps_by_registers = self.registers / PARTS / of_warp * PARTS;
        let shared = shared_bytes.next_multiple_of(SHARED_UNIT) + self.reserved_bytes;
        let by_shared = match shared {
            0 => self.blocks,
            bytes => u32::try_from(self.shared_bytes / bytes).unwrap_or(u32::MAX),
        };
        let limits = [
            (self.blocks, Bound::Blocks),
            (self.threads / WARP / warps, Bound::Threads),
            (warps_by_registers / warps, Bound::Registers),
            (by_shared, Bound::Shared),
        ];
        let (blocks, bound) =
            limits.into_iter().min_by_key(|(blocks, _)| *blocks).unwrap_or(limits[0]);
        Occupancy { blocks, bound }
    }

    /// The share of the multiprocessor's warps that these blocks of these threads fill.
    pub fn share(&self, blocks: u32, threads: u32) -> f64 {
        let warps = f64::from(blocks) * f64::from(threads.div_ceil(WARP));
        warps / f64::from((self.threads / WARP).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Multiprocessor = Multiprocessor::NEWEST;

    #[test]
    fn each_resource_bounds_in_its_turn() {
        for (threads, registers, shared, blocks, bound) in [
            (32, 16, 0, 32, Bound::Blocks),
            (1024, 16, 0, 2, Bound::Threads),
            (256, 128, 0, 2, Bound::Registers),
            (256, 168, 0, 1, Bound::Registers),
            (128, 40, 62_728, 3, Bound::Shared),
            // The most that a block may have, and a kilobyte that the system adds.
            (384, 165, 232_448, 1, Bound::Registers),
            (256, 64, 232_448, 1, Bound::Shared),
            (256, 64, 232_449, 0, Bound::Shared),
        ] {
            let found = UNIT.occupancy(threads, registers, shared);
            let wanted = Occupancy { blocks, bound };
            assert_eq!(found, wanted, "{threads} {registers} {shared}");
        }
    }

    #[test]
    fn registers_come_in_units_and_stay_in_their_part() {
        // 33 registers a thread are handed out as 40: 12 warps a part, 48 in all, and not 51.
        assert_eq!(UNIT.occupancy(32, 33, 0).blocks, 32);
        assert_eq!(UNIT.occupancy(64, 33, 0).blocks, 24);
        assert_eq!(UNIT.occupancy(64, 40, 0).blocks, 24);
        // A warp of 255 registers leaves two in a part.
        assert_eq!(UNIT.occupancy(32, 255, 0).blocks, 8);
    }

    #[test]
    fn a_part_of_a_warp_takes_a_whole_one() {
        assert_eq!(UNIT.share(2, 256), 0.25);
        assert_eq!(UNIT.share(1, 33), 2.0 / 64.0);
        assert_eq!(UNIT.share(0, 256), 0.0);
        assert_eq!(UNIT.share(2, 1024), 1.0);
    }
}
