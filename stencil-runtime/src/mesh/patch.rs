//! A mesh as a list of patches.

use std::ops::Range;

use stencil_compiler::cost::DeviceBox;
use stencil_compiler::plan::Layers;

use super::{Axis, Mesh, Side};
use crate::Error;

/// A box of cells of a mesh, whose values lie in arrays of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    /// The first cell, counted in cells of the mesh.
    pub(crate) lo: [usize; 3],
    /// Interior cells along x, y, z.
    pub(crate) cells: [usize; 3],
    /// The device whose memory has its values, from 0.
    pub(crate) owner: usize,
}

impl Patch {
    /// Does it lie next to the face of a mesh with so many cells?
    pub(crate) fn touches(&self, axis: usize, side: Side, cells: [usize; 3]) -> bool {
        match side {
            Side::Lo => self.lo[axis] == 0,
            Side::Hi => self.lo[axis] + self.cells[axis] == cells[axis],
        }
    }
}

/// The patches of a mesh: so many along each axis, in numbers of cells that differ by one at most. Patch `i` of `p`
/// begins at cell `i * n / p` of `n`, rounded down, so the last one is among the largest. They are counted along x first,
/// then y, then z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patches {
    /// Patches along x, y, z.
    pub(crate) counts: [usize; 3],
    /// Cells of the mesh along x, y, z.
    pub(crate) mesh: [usize; 3],
    /// The number of devices that share them. Each has patches that follow each other, as equally many as possible.
    pub(crate) devices: usize,
}

impl Patches {
    /// Cuts a mesh, whose patches so many devices share.
    pub(crate) fn new(mesh: &Mesh, counts: [usize; 3], devices: usize) -> Result<Self, Error> {
        for axis in Axis::ALL {
            let (cells, patches) = (mesh.cells[axis.index()], counts[axis.index()]);
            if patches == 0 || patches > cells {
                return Err(Error::Patches { axis, cells, patches });
            }
        }
        let patches = Patches { counts, mesh: mesh.cells, devices };
        if devices == 0 || devices > patches.count() {
            return Err(Error::Devices { devices, patches: patches.count() });
        }
        Ok(patches)
    }

    /// Returns the number of patches.
    pub(crate) fn count(&self) -> usize {
        self.counts.iter().product()
    }

    /// Is the mesh one patch?
    pub(crate) fn is_one(&self) -> bool {
        self.count() == 1
    }

    /// Returns the most cells of a patch along each axis.
    pub(crate) fn largest(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.mesh[axis].div_ceil(self.counts[axis]))
    }

    /// Returns the fewest cells of a patch along each axis.
    pub(crate) fn smallest(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.mesh[axis] / self.counts[axis])
    }

    /// Returns the axes along which some patches have a cell less than others.
    pub(crate) fn uneven(&self) -> [bool; 3] {
        std::array::from_fn(|axis| self.smallest()[axis] < self.largest()[axis])
    }

    /// Returns a patch by its number.
    pub(crate) fn patch(&self, number: usize) -> Patch {
        let at = self.at(number);
        let begin = |axis: usize, at: usize| at * self.mesh[axis] / self.counts[axis];
        let lo = std::array::from_fn(|axis| begin(axis, at[axis]));
        Patch {
            lo,
            cells: std::array::from_fn(|axis| begin(axis, at[axis] + 1) - lo[axis]),
            owner: number * self.devices / self.count(),
        }
    }

    /// Returns all patches, in their order.
    pub(crate) fn list(&self) -> Vec<Patch> {
        (0..self.count()).map(|number| self.patch(number)).collect()
    }

    /// Returns the patches of one of the devices.
    pub(crate) fn owned(&self, device: usize) -> Range<usize> {
        let first = |device: usize| (device * self.count()).div_ceil(self.devices);
        first(device)..first(device + 1)
    }

    /// Returns the rows of patches along x whose first patch a device has.
    pub(crate) fn rows_owned(&self, device: usize) -> Range<usize> {
        let Range { start, end } = self.owned(device);
        start.div_ceil(self.counts[0])..end.div_ceil(self.counts[0])
    }

    /// Do several devices have patches of one row along x?
    pub(crate) fn shares_rows(&self) -> bool {
        let mut firsts = (0..self.devices).map(|device| self.owned(device).start);
        firsts.any(|first| !first.is_multiple_of(self.counts[0]))
    }

    /// Returns the most patches that a device has.
    pub(crate) fn of_a_device(&self) -> usize {
        self.count().div_ceil(self.devices)
    }

    /// Returns one patch with all cells.
    pub(crate) fn one(cells: [usize; 3]) -> Self {
        Patches { counts: [1; 3], mesh: cells, devices: 1 }
    }

    /// Returns the axes along which neighbours are on different devices. Around a periodic axis they are only if others are.
    pub(crate) fn cut(&self) -> [bool; 3] {
        let all = self.list();
        let owner = |at: [usize; 3]| {
            let [p, q, _] = self.counts;
            all[at[0] + p * (at[1] + q * at[2])].owner
        };
        std::array::from_fn(|axis| {
            (0..all.len()).any(|patch| {
                let mut next = self.at(patch);
                next[axis] += 1;
                next[axis] < self.counts[axis] && owner(next) != all[patch].owner
            })
        })
    }

    /// Returns the largest box of one device. Several patches of a device lie behind each other in it.
    pub(crate) fn device_box(&self) -> DeviceBox {
        let mut device = DeviceBox { cut: self.cut(), ..DeviceBox::of(self.mesh, self.counts) };
        let last = (0..3).rev().find(|axis| self.mesh[*axis] > 1).unwrap_or(0);
        device.cells[last] *= self.of_a_device();
        device
    }

    /// Returns the patches if each device has one, and all of them are layers of the mesh across its last axis.
    pub(crate) fn layers(&self) -> Option<Layers> {
        (self.count() == self.devices).then(|| self.device_box().layers()).flatten()
    }

    /// Returns the place of a patch in the order along each axis.
    pub(crate) fn at(&self, patch: usize) -> [usize; 3] {
        let [p, q, _] = self.counts;
        [patch % p, patch / p % q, patch / (p * q)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(cells: [usize; 3], counts: [usize; 3]) -> Result<Patches, Error> {
        let mesh = Mesh { cells, extent: [1.0; 3], origin: [0.0; 3], centered: false };
        Patches::new(&mesh, counts, 1)
    }

    #[test]
    fn devices_share_patches_equally_and_in_order() {
        let patches = Patches { devices: 4, ..cut([8, 3, 9], [2, 1, 3]).unwrap() };
        let owners: Vec<usize> = patches.list().iter().map(|patch| patch.owner).collect();
        assert_eq!(owners, [0, 0, 1, 2, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(|device| patches.owned(device)), [0..2, 2..3, 3..5, 5..6]);
        assert_eq!([0, 1, 2, 3].map(|device| patches.rows_owned(device)), [0..1, 1..2, 2..3, 3..3]);
        assert_eq!((patches.cut(), patches.of_a_device()), ([true, false, true], 2));
        let layers = Patches { devices: 3, ..patches };
        assert_eq!((patches.shares_rows(), layers.shares_rows()), (true, false));
        assert_eq!((layers.cut(), layers.of_a_device()), ([false, false, true], 2));
        assert_eq!(cut([8, 3, 9], [2, 1, 3]).unwrap().cut(), [false; 3]);
    }

    #[test]
    fn patches_are_counted_along_x_first() {
        let patches = cut([8, 3, 9], [2, 1, 3]).unwrap();
        assert_eq!((patches.largest(), patches.count()), ([4, 3, 3], 6));
        assert_eq!(patches.at(0), [0, 0, 0]);
        assert_eq!(patches.at(1), [1, 0, 0]);
        assert_eq!(patches.at(5), [1, 0, 2]);
        assert!(!patches.is_one() && cut([5, 1, 1], [1; 3]).unwrap().is_one());
    }

    /// The formulas of kernels: the patch of a cell, and the cell in that patch.
    #[test]
    fn patches_differ_by_a_cell_and_are_found_by_their_cells() {
        for cells in 1..30 {
            for count in 1..=cells {
                let patches = cut([cells, 1, 1], [count, 1, 1]).unwrap();
                let [[most, ..], [least, ..]] = [patches.largest(), patches.smallest()];
                let list = patches.list();
                for (number, patch) in list.iter().enumerate() {
                    assert!((least..=most).contains(&patch.cells[0]) && most - least <= 1);
                    for i in 0..patch.cells[0] {
                        let at = (patch.lo[0] + i + 1) * count - 1;
                        assert_eq!((at / cells, at % cells / count), (number, i));
                    }
                }
                assert_eq!((list[0].cells[0], list[count - 1].cells[0]), (least, most));
                assert_eq!(list.iter().map(|patch| patch.cells[0]).sum::<usize>(), cells);
            }
        }
    }

    #[test]
    fn each_patch_has_a_cell() {
        for (cells, counts, message) in [
            (
                [8, 8, 1],
                [2, 2, 2],
                "the cells along z (1) cannot be cut into 2 patches; give a number of patches from 1 to 1",
            ),
            (
                [8, 3, 8],
                [1, 0, 1],
                "the cells along y (3) cannot be cut into 0 patches; give a number of patches from 1 to 3",
            ),
        ] {
            assert_eq!(cut(cells, counts).unwrap_err().to_string(), message);
        }
    }
}
