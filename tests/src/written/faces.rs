//! Values beyond the faces of the mesh.

use stencil_compiler::search::space::Draws;

use super::value::{Precision, Value};
use super::wide::Wide;

/// The boundary condition of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ghost {
    /// The other end of the mesh.
    Periodic,
    /// The mirror image, a vector's normal component with the other sign.
    Wall,
    /// The nearest cell.
    Outflow,
    /// The line through the two nearest cells.
    Extrapolate,
    /// The value whose mean with the mirror image is this.
    Dirichlet(f64),
    /// The value whose slope outwards from the mirror image is this.
    Neumann(f64),
}

/// The faces of a mesh, by axis and side.
pub type Faces = [[Ghost; 2]; 3];

/// All periodic.
pub const PERIODIC: Faces = [[Ghost::Periodic; 2]; 3];

/// Returns boundary conditions for a bounded system's mesh: every kind. Numbers on faces are for schemes of second
/// order; others extend them by polynomials.
pub fn random(seed: u64, dimension: usize, order: u32) -> Faces {
    let mut draws = Draws::new(seed ^ 0xface);
    let kinds = if order == 2 { 5 } else { 3 };
    let mut faces = PERIODIC;
    for axis in &mut faces[..dimension] {
        if draws.below(4) == 0 {
            continue;
        }
        for face in axis {
            let number = 0.1 * draws.below(9) as f64 - 0.4;
            *face = match draws.below(kinds) {
                0 => Ghost::Wall,
                1 => Ghost::Outflow,
                2 => Ghost::Extrapolate,
                3 => Ghost::Dirichlet(number),
                _ => Ghost::Neumann(number),
            };
        }
    }
    faces
}

/// A component in the cells of the mesh, and beyond.
pub(super) struct Component<'a> {
    pub(super) cells: [usize; 3],
    pub(super) spacing: [f64; 3],
    pub(super) faces: &'a Faces,
    /// The axis of each of its indices.
    pub(super) indices: &'a [usize],
    pub(super) values: &'a [Value],
    pub(super) precision: Precision,
}

impl Component<'_> {
    /// Returns the value in a cell, or beyond faces: those of the last axis come last, and use the others.
    pub(super) fn at(&self, cell: [i32; 3]) -> Value {
        let outside = |axis: &usize| !(0..self.cells[*axis] as i32).contains(&cell[*axis]);
        let Some(axis) = [2, 1, 0].into_iter().find(outside) else {
            let [x, y, z] = cell.map(|c| c as usize);
            return self.values[(z * self.cells[1] + y) * self.cells[0] + x];
        };
        let (n, at) = (self.cells[axis] as i32, cell[axis]);
        let (side, depth) = if at < 0 { (0, -at) } else { (1, at - n + 1) };
        let along = |place: i32| {
            let mut other = cell;
            other[axis] = if side == 0 { place - 1 } else { n - place };
            self.at(other)
        };
        let p = self.precision;
        match self.faces[axis][side] {
            Ghost::Periodic => {
                let mut other = cell;
                other[axis] = at.rem_euclid(n);
                self.at(other)
            }
            Ghost::Wall => {
                let normal = self.indices.iter().filter(|index| **index == axis);
                match normal.count() % 2 {
                    0 => along(depth),
                    _ => along(depth).negated(),
                }
            }
            Ghost::Outflow => along(1),
            Ghost::Extrapolate => {
                let slope = p.difference(along(1), along(2));
                let rise = p.product(slope, Value::exact(Wide::new(f64::from(depth))));
                p.sum(along(1), rise)
            }
            Ghost::Dirichlet(value) => {
                let twice = p.rounded(Wide::new(2.0) * Wide::new(value));
                p.difference(twice, along(depth))
            }
            Ghost::Neumann(slope) => {
                let distance = Wide::new(f64::from(2 * depth - 1)) * Wide::new(self.spacing[axis]);
                let rise = p.rounded(Wide::new(slope) * distance);
                p.sum(along(depth), rise)
            }
        }
    }
}
