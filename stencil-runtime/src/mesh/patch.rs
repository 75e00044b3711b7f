//! A mesh as a list of patches.

use std::collections::BTreeSet;
use std::ops::Range;

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

/// The patches of a mesh: so many along each axis, all of the same number of cells. They are counted along x first,
/// then y, then z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patches {
    /// Patches along x, y, z.
    pub(crate) counts: [usize; 3],
    /// Interior cells of each along x, y, z.
    pub(crate) cells: [usize; 3],
    /// The number of devices that share them. Each has patches that follow each other, as equally many as possible.
    pub(crate) devices: usize,
}

impl Patches {
    /// Cuts a mesh, whose patches so many devices share.
    pub(crate) fn new(mesh: &Mesh, counts: [usize; 3], devices: usize) -> Result<Self, Error> {
        for axis in Axis::ALL {
            let (cells, patches) = (mesh.cells[axis.index()], counts[axis.index()]);
            if patches == 0 || !cells.is_multiple_of(patches) {
                return Err(Error::Patches {
                    axis,
                    cells,
                    patches,
                    help: nearest(axis, cells, patches),
                });
            }
        }
        let patches = Patches {
            counts,
            cells: std::array::from_fn(|axis| mesh.cells[axis] / counts[axis]),
            devices,
        };
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

    /// Returns all patches, in their order.
    pub(crate) fn list(&self) -> Vec<Patch> {
        let patch = |number| Patch {
            lo: std::array::from_fn(|axis| self.at(number)[axis] * self.cells[axis]),
            cells: self.cells,
            owner: number * self.devices / self.count(),
        };
        (0..self.count()).map(patch).collect()
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
        Patches { counts: [1; 3], cells, devices: 1 }
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

    /// Returns the place of a patch in the order along each axis.
    pub(crate) fn at(&self, patch: usize) -> [usize; 3] {
        let [p, q, _] = self.counts;
        [patch % p, patch / p % q, patch / (p * q)]
    }
}

/// Suggests numbers that divide: numbers of patches next to the given one, and numbers of cells.
fn nearest(axis: Axis, cells: usize, patches: usize) -> String {
    let small = (1..=cells.isqrt()).filter(|count| cells.is_multiple_of(*count));
    let divisors: BTreeSet<usize> = small.flat_map(|count| [count, cells / count]).collect();
    let fewer = divisors.range(..=patches).next_back();
    let more = divisors.range(patches.saturating_add(1)..).next();
    let choice = fewer.into_iter().chain(more);
    let choice: Vec<String> = choice.map(|n| n.to_string()).collect();
    let choice = choice.join(" or ");
    let word = if choice == "1" { "patch" } else { "patches" };
    let mut help = format!("give {choice} {word} along {axis}");
    if patches > 0 && cells > 1 {
        let less = cells / patches * patches;
        let choice = [less, less.saturating_add(patches)].map(|n| n.to_string());
        let choice = if less == 0 { &choice[1..] } else { &choice };
        help += &format!(", or {} cells", choice.join(" or "));
    }
    help
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
        assert_eq!((patches.cells, patches.count()), ([4, 3, 3], 6));
        assert_eq!(patches.at(0), [0, 0, 0]);
        assert_eq!(patches.at(1), [1, 0, 0]);
        assert_eq!(patches.at(5), [1, 0, 2]);
        assert!(!patches.is_one() && cut([5, 1, 1], [1; 3]).unwrap().is_one());
    }

    #[test]
    fn what_does_not_divide_is_told_what_does() {
        for (cells, counts, message) in [
            (
                [8, 45, 9],
                [2, 4, 3],
                "the cells along y (45) do not divide into 4 patches; give 3 or 5 patches along y, or 44 or 48 cells",
            ),
            (
                [8, 8, 1],
                [2, 2, 2],
                "the cells along z (1) do not divide into 2 patches; give 1 patch along z",
            ),
            (
                [3, 8, 8],
                [4, 1, 1],
                "the cells along x (3) do not divide into 4 patches; give 3 patches along x, or 4 cells",
            ),
            (
                [8, 8, 8],
                [1, 0, 1],
                "the cells along y (8) do not divide into 0 patches; give 1 patch along y",
            ),
        ] {
            assert_eq!(cut(cells, counts).unwrap_err().to_string(), message);
        }
    }
}
