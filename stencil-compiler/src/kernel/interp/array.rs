//! Global memory of one buffer.

use crate::expr::Real;
use crate::schedule::COPY_BYTES;

/// Bytes that a row of a buffer is a multiple of.
const ROW_BYTES: usize = 128;

/// The values of a buffer: a box of cells with its halo, rows padded so that aligned copies
/// stay inside. A value is poison until it is set.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalArray<T> {
    pub(super) cells: [usize; 3],
    pub(super) halo: [usize; 3],
    /// Values before interior cell 0 of a row.
    pub(super) pad: usize,
    /// Values from a row to the next.
    pub(super) pitch: usize,
    /// Values from a plane to the next.
    pub(super) plane: usize,
    /// Distance from one cell's value to the next: values between belong to other arrays, or to none.
    pub(super) cell_stride: usize,
    pub(super) data: Vec<T>,
    pub(super) known: Vec<bool>,
}

impl<T: Real> GlobalArray<T> {
    /// An array of poison for `cells` interior cells and a halo.
    pub fn new(cells: [usize; 3], halo: [usize; 3]) -> Self {
        let pad = halo[0].next_multiple_of((COPY_BYTES / T::BYTES).max(1));
        let pitch = (pad + cells[0] + pad).next_multiple_of(ROW_BYTES / T::BYTES);
        let plane = pitch * (cells[1] + 2 * halo[1]);
        let len = plane * (cells[2] + 2 * halo[2]);
        GlobalArray {
            cells,
            halo,
            pad,
            pitch,
            plane,
            cell_stride: 1,
            data: vec![T::ZERO; len],
            known: vec![false; len],
        }
    }

    /// As [`new`](Self::new), with this many values for each cell, of which its own is the first.
    pub fn with_cell_stride(cells: [usize; 3], halo: [usize; 3], stride: usize) -> Self {
        let mut array = Self::new(cells, halo);
        let len = array.data.len() * stride.max(1);
        array.cell_stride = stride.max(1);
        array.data.resize(len, T::ZERO);
        array.known.resize(len, false);
        array
    }

    /// An array whose cells, halo included, have the values of a function of their coordinates.
    pub fn from_fn(cells: [usize; 3], halo: [usize; 3], mut f: impl FnMut([i64; 3]) -> T) -> Self {
        let mut array = Self::new(cells, halo);
        let range = |axis: usize| -(halo[axis] as i64)..(cells[axis] + halo[axis]) as i64;
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    array.set([x, y, z], f([x, y, z]));
                }
            }
        }
        array
    }

    /// The value of a cell, unless it is poison or outside.
    pub fn get(&self, at: [i64; 3]) -> Option<T> {
        let place = self.place(at)?;
        self.known[place].then(|| self.data[place])
    }

    /// Sets the value of a cell; does nothing outside of the halo.
    pub fn set(&mut self, at: [i64; 3], value: T) {
        if let Some(place) = self.place(at) {
            self.data[place] = value;
            self.known[place] = true;
        }
    }

    /// Makes a cell poison again; does nothing outside of the halo.
    pub fn poison(&mut self, at: [i64; 3]) {
        if let Some(place) = self.place(at) {
            self.known[place] = false;
        }
    }

    /// Interior cells.
    pub fn cells(&self) -> [usize; 3] {
        self.cells
    }

    /// Cells beyond the interior.
    pub fn halo(&self) -> [usize; 3] {
        self.halo
    }

    fn place(&self, at: [i64; 3]) -> Option<usize> {
        let inside = (0..3).all(|axis| {
            let halo = self.halo[axis] as i64;
            (-halo..self.cells[axis] as i64 + halo).contains(&at[axis])
        });
        inside.then(|| self.linear(at) as usize)
    }

    /// Place of a cell that is inside, padding of rows included.
    pub(super) fn linear(&self, [x, y, z]: [i64; 3]) -> i64 {
        let cell = (z + self.halo[2] as i64) * self.plane as i64
            + (y + self.halo[1] as i64) * self.pitch as i64
            + x
            + self.pad as i64;
        cell * self.cell_stride as i64
    }
}
