//! The mesh: the places of its cells, and the conditions beyond its faces.

mod assign;
mod axis;
mod boundary;
mod characteristic;
mod copies;
mod extension;
pub(crate) mod formula;
pub(crate) mod open_faces;
mod patch;
mod reach;
mod resolve;
mod sampler;
mod settings;
mod source;
mod staggered;

pub use assign::device_boxes;
pub use axis::{Axis, Face, Faces, Side};
pub use boundary::{Boundary, BoundaryPoint};
pub(crate) use boundary::{GhostFunction, PointFunction};
#[cfg(test)]
pub(crate) use characteristic::{Linear, LinearPart};
pub(crate) use copies::{CopyBox, Neighbours};
pub(crate) use extension::{DEEPEST, Extension};
pub(crate) use patch::{Patch, Patches};
pub(crate) use resolve::{Boundaries, Ghost, Number, Rule};
pub(crate) use settings::Setting;
pub use source::Source;
pub(crate) use source::{Given, Sampled, Written};
use stencil_compiler::catalogue::Halves;

/// A box of cells of equal size.
///
/// ```
/// use stencil_runtime::{Face, Mesh};
///
/// let mesh = Mesh { cells: [4, 1, 1], extent: [2.0, 1.0, 1.0], origin: [0.0; 3], centered: true };
/// assert_eq!(mesh.spacing()[0], 0.5);
/// assert_eq!(mesh.coordinate(0, 0), 0.25);
/// assert_eq!((mesh.wall(Face::X_LO), mesh.wall(Face::X_HI)), (0.0, 2.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mesh {
    /// Number of cells along x, y, z; 1 along axes that the system does not have.
    pub cells: [usize; 3],
    /// Lengths of the box along x, y, z.
    pub extent: [f64; 3],
    /// The lower corner of the box if `centered`, else the coordinates of the first cell.
    pub origin: [f64; 3],
    /// Cell i is at `origin + (i + 1/2) * spacing`, not at `origin + i * spacing`.
    pub centered: bool,
}

impl Mesh {
    /// Returns the distance of cells along x, y, z.
    pub fn spacing(&self) -> [f64; 3] {
        std::array::from_fn(|axis| self.extent[axis] / self.cells[axis] as f64)
    }

    /// Returns the coordinate of a cell along an axis (0 to 2); ghost cells lie below zero and beyond the last cell.
    pub fn coordinate(&self, axis: usize, cell: isize) -> f64 {
        self.origin[axis] + (cell as f64 + self.shift()) * self.spacing()[axis]
    }

    /// Returns the mesh whose points are those of a component in cells of this one: half a cell further along the axes
    /// on whose upper faces the component lies.
    ///
    /// ```
    /// # use stencil_runtime::Mesh;
    /// # let mesh = Mesh { cells: [4, 1, 1], extent: [2.0, 1.0, 1.0], origin: [0.0; 3], centered: true };
    /// assert_eq!(mesh.at([true, false, false]).point([0, 0, 0]), [0.5, 0.5, 0.5]);
    /// ```
    pub fn at(&self, halves: Halves) -> Mesh {
        let (half, mut moved) = (self.spacing().map(|h| 0.5 * h), *self);
        for axis in (0..3).filter(|axis| halves[*axis]) {
            moved.origin[axis] += half[axis];
        }
        moved
    }

    /// Returns the distance of the first cell from the origin, in cells.
    pub(crate) fn shift(&self) -> f64 {
        if self.centered { 0.5 } else { 0.0 }
    }

    /// Returns the coordinates x, y, z of a cell or ghost cell.
    pub fn point(&self, cell: [isize; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| self.coordinate(axis, cell[axis]))
    }

    /// Returns the point of a face on the line of a component in a cell.
    pub(crate) fn on_wall(&self, face: Face, cell: [isize; 3], halves: Halves) -> [f64; 3] {
        let mut at = self.at(halves).point(cell);
        at[face.axis.index()] = self.wall(face);
        at
    }

    /// Returns the coordinate of a face along its axis: half a cell beyond the outermost cells.
    pub fn wall(&self, face: Face) -> f64 {
        let axis = face.axis.index();
        let half = 0.5 * self.spacing()[axis];
        match face.side {
            Side::Lo => self.coordinate(axis, 0) - half,
            Side::Hi => self.coordinate(axis, self.cells[axis] as isize - 1) + half,
        }
    }
}
