//! Neighbouring cells of a row that are computed together.

use std::marker::PhantomData;

use crate::expr::Real;
use crate::expr::real::Arithmetic;

/// The values of neighbouring cells in a register, loaded from a row and stored to one.
///
/// A caller that knows the processor's vectors implements it for them. All methods are always inlined.
pub trait Cells {
    /// The value in a cell.
    type Value: Real;
    /// The values in a register, one in each lane.
    type Lanes: Arithmetic;
    /// Number of lanes: at most 64 bytes of values.
    const COUNT: usize;

    /// The same value in each lane.
    fn splat(value: Self::Value) -> Self::Lanes;
    /// The first values of a row.
    ///
    /// # Panics
    /// If there are fewer than [`COUNT`](Self::COUNT).
    fn load(from: &[Self::Value]) -> Self::Lanes;
    /// Replaces the first values of a row.
    ///
    /// # Panics
    /// If there are fewer than [`COUNT`](Self::COUNT).
    fn store(lanes: Self::Lanes, to: &mut [Self::Value]);
}

/// One cell in each register: works everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single<T>(PhantomData<T>);

impl<T: Real> Cells for Single<T> {
    type Value = T;
    type Lanes = T;
    const COUNT: usize = 1;

    #[inline(always)]
    fn splat(value: T) -> T {
        value
    }
    #[inline(always)]
    fn load(from: &[T]) -> T {
        from[0]
    }
    #[inline(always)]
    fn store(lanes: T, to: &mut [T]) {
        to[0] = lanes;
    }
}

/// Registers of a block: enough to hide the latency of an operation behind the others.
pub(super) const REGISTERS: usize = 4;

/// Bytes of the widest block.
pub(super) const BLOCK_BYTES: usize = 64 * REGISTERS;

/// Some registers with neighbouring cells. Written out one by one, so that no compiler keeps them
/// in memory.
pub(super) struct Block<C: Cells>(pub(super) [C::Lanes; REGISTERS]);

impl<C: Cells> Clone for Block<C> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cells> Copy for Block<C> {}

impl<C: Cells> Block<C> {
    /// Cells of a block.
    pub(super) const CELLS: usize = {
        assert!(C::COUNT * REGISTERS * size_of::<C::Value>() <= BLOCK_BYTES);
        C::COUNT * REGISTERS
    };

    #[inline(always)]
    pub(super) fn splat(value: C::Value) -> Self {
        Block([C::splat(value); REGISTERS])
    }

    /// The first values of a row that is long enough.
    #[inline(always)]
    pub(super) fn load(from: &[C::Value]) -> Self {
        let from = &from[..Self::CELLS];
        let n = C::COUNT;
        Block([
            C::load(from),
            C::load(&from[n..]),
            C::load(&from[2 * n..]),
            C::load(&from[3 * n..]),
        ])
    }

    /// Replaces the first values of a row that is long enough.
    #[inline(always)]
    pub(super) fn store(self, to: &mut [C::Value]) {
        let to = &mut to[..Self::CELLS];
        let n = C::COUNT;
        C::store(self.0[0], to);
        C::store(self.0[1], &mut to[n..]);
        C::store(self.0[2], &mut to[2 * n..]);
        C::store(self.0[3], &mut to[3 * n..]);
    }
}
