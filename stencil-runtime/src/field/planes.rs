//! Values of a buffer in the order of a file, from the patches of all ranks to the first one.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::{ArrayView2, ArrayView3, s};

use super::{Array, Shape};
use crate::mesh::{Patch, Patches};
use crate::transport::Ranks;
use crate::{Error, Number};

/// Bytes that the first rank has of a mesh at once, unless a plane has more.
const AT_ONCE: usize = if cfg!(test) { 1 << 9 } else { 1 << 24 };

/// Values of a buffer in the order of a file, wherever they lie. Rows are asked for in that order.
pub(crate) trait InOrder<T> {
    /// Returns rows of a plane as `[y, x]`, the row `y` first and at least that one; `None` on ranks that do not write. All ranks
    /// ask for the same planes.
    ///
    /// # Errors
    /// If the values are on a card that fails.
    fn rows(&mut self, z: usize, y: usize) -> Result<Option<ArrayView2<'_, T>>, Error>;

    /// Takes what is left from other ranks, and drops it.
    fn finish(&mut self) {}
}

impl<T, S: InOrder<T> + ?Sized> InOrder<T> for Box<S> {
    fn rows(&mut self, z: usize, y: usize) -> Result<Option<ArrayView2<'_, T>>, Error> {
        self.as_mut().rows(z, y)
    }

    fn finish(&mut self) {
        self.as_mut().finish();
    }
}

impl<T> InOrder<T> for ArrayView3<'_, T> {
    fn rows(&mut self, z: usize, y: usize) -> Result<Option<ArrayView2<'_, T>>, Error> {
        Ok(Some(self.slice(s![z, y.., ..])))
    }
}

/// Planes as they come from the patches of all ranks, the last ones at hand.
#[derive(Debug)]
pub(crate) struct Gathered<'a, T: Number> {
    planes: Planes<'a, T>,
    values: Vec<T>,
    at_hand: Range<usize>,
}

impl<'a, T: Number> Gathered<'a, T> {
    /// Begins before the first plane.
    pub(crate) fn new(planes: Planes<'a, T>) -> Self {
        Gathered { planes, values: Vec::new(), at_hand: 0..0 }
    }
}

impl<T: Number> InOrder<T> for Gathered<'_, T> {
    fn rows(&mut self, z: usize, y: usize) -> Result<Option<ArrayView2<'_, T>>, Error> {
        while z >= self.at_hand.end {
            let first = self.planes.next;
            let missing = || Error::Bug(format!("plane {z} was asked for behind the last one"));
            self.values = self.planes.next().ok_or_else(missing)?;
            self.at_hand = first..self.planes.next;
        }
        if self.values.is_empty() {
            return Ok(None);
        }
        let [nx, ny, _] = self.planes.patches.mesh;
        let plane = &self.values[(z - self.at_hand.start) * nx * ny..][..nx * ny];
        let rows = ArrayView2::from_shape((ny - y, nx), &plane[y * nx..]);
        rows.map(Some)
            .map_err(|error| Error::Bug(format!("planes in the order of a file: {error}")))
    }

    fn finish(&mut self) {
        while self.planes.next().is_some() {}
    }
}

/// The planes of a buffer of which each rank has some patches, or one process has several; a few at a time.
#[derive(Debug)]
pub(crate) struct Planes<'a, T: Number> {
    ranks: &'a Ranks,
    patches: Patches,
    /// The shape of the arrays of the largest patch.
    shape: Shape,
    /// The arrays of the patches of this rank.
    arrays: Vec<Cow<'a, Array<T>>>,
    at_once: usize,
    /// The first plane that has not come.
    next: usize,
}

impl<'a, T: Number> Planes<'a, T> {
    /// Takes the arrays of the patches of this rank, of the shape of the largest patch.
    pub(crate) fn new(
        (ranks, patches): (&'a Ranks, Patches),
        (shape, arrays): (Shape, Vec<Cow<'a, Array<T>>>),
    ) -> Self {
        let [nx, ny, _] = patches.mesh;
        let at_once = (AT_ONCE / (nx * ny * T::BYTES)).max(1);
        Planes { ranks, patches, shape, arrays, at_once, next: 0 }
    }

    /// Returns the values of the next planes on the first rank, and nothing on others; `None` behind the last plane. All ranks ask
    /// together.
    pub(crate) fn next(&mut self) -> Option<Vec<T>> {
        let [nx, ny, nz] = self.patches.mesh;
        let planes = self.next..(self.next + self.at_once).min(nz);
        if planes.is_empty() {
            return None;
        }
        self.next = planes.end;
        let (mut own, mut bytes) = (Vec::new(), Vec::new());
        for (number, array) in self.patches_of(self.ranks.rank()).zip(&self.arrays) {
            let patch = self.patches.patch(number);
            let shape = self.shape.of(patch.cells);
            for (y, z) in rows(&patch, &planes) {
                let local = [0, y - patch.lo[1], z - patch.lo[2]].map(|at| at as isize);
                own.extend_from_slice(&array.values()[shape.index(local)..][..patch.cells[0]]);
            }
        }
        T::put(&own, &mut bytes);
        let all = self.ranks.gather_on_first(&bytes);
        if all.is_empty() {
            return Some(Vec::new());
        }
        let mut values = vec![T::ZERO; nx * ny * planes.len()];
        for (rank, bytes) in all.into_iter().enumerate() {
            let mut theirs = vec![T::ZERO; bytes.len() / T::BYTES];
            T::take(&mut theirs, &bytes);
            let mut rest = theirs.as_slice();
            for patch in self.patches_of(rank).map(|number| self.patches.patch(number)) {
                for (y, z) in rows(&patch, &planes) {
                    let (row, behind) = rest.split_at(patch.cells[0]);
                    let at = ((z - planes.start) * ny + y) * nx + patch.lo[0];
                    values[at..][..row.len()].copy_from_slice(row);
                    rest = behind;
                }
            }
        }
        Some(values)
    }

    /// Returns the numbers of the patches of a rank. A process alone has those of all its devices.
    fn patches_of(&self, rank: usize) -> Range<usize> {
        match self.ranks.count() {
            1 => 0..self.arrays.len(),
            _ => self.patches.owned(rank),
        }
    }
}

/// Returns the rows of a patch in some planes of the mesh: their places along y and z there.
fn rows(patch: &Patch, planes: &Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let (ys, first) = (patch.lo[1]..patch.lo[1] + patch.cells[1], patch.lo[2]);
    let zs = planes.start.max(first)..planes.end.min(first + patch.cells[2]);
    zs.flat_map(move |z| ys.clone().map(move |y| (y, z)))
}
