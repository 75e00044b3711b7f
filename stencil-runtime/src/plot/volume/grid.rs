//! The values of a box at any of its points.

use super::Volume;
use super::camera::Vector;

/// Values as places in the range of the colours, 0 to 1 inside it.
pub(super) struct Grid {
    /// Cells along x, y and z.
    pub(super) cells: [usize; 3],
    values: Vec<f32>,
    /// Cells to a length along each axis.
    density: [f64; 3],
    sides: Vector,
}

impl Grid {
    pub(super) fn new(volume: &Volume<'_>, (low, high): (f64, f64), sides: Vector) -> Self {
        let (nz, ny, nx) = volume.data.dim();
        let cells = [nx, ny, nz];
        // In single precision relative to the range: a small range around a large value keeps its digits.
        let place = |v: &f64| ((volume.scaled(*v) - low) / (high - low)) as f32;
        let place = |v| Some(place(v)).filter(|p| p.is_finite()).unwrap_or(f32::NAN);
        Grid {
            cells,
            values: volume.data.iter().map(place).collect(),
            density: std::array::from_fn(|axis| cells[axis] as f64 / sides[axis]),
            sides,
        }
    }

    /// Returns the shortest side of a cell.
    pub(super) fn shortest(&self) -> f64 {
        let axes = (0..3).filter(|axis| self.cells[*axis] > 1);
        axes.map(|axis| 1.0 / self.density[axis]).fold(1.0, f64::min)
    }

    /// Returns the value at a point, linear between centres of cells and even in the outer half of a cell; NaN beside a
    /// cell that is not finite.
    pub(super) fn at(&self, point: Vector) -> f32 {
        let mut first = [0; 3];
        let mut part = [0.0_f32; 3];
        let mut step = [0; 3];
        let strides = [1, self.cells[0], self.cells[0] * self.cells[1]];
        for axis in 0..3 {
            let last = (self.cells[axis] - 1) as f64;
            let at = (point[axis] + 0.5 * self.sides[axis]) * self.density[axis] - 0.5;
            let at = at.clamp(0.0, last);
            let cell = (at as usize).min(self.cells[axis] - 1);
            first[axis] = cell * strides[axis];
            part[axis] = (at - cell as f64) as f32;
            // A point on the last centre reads no cell beyond it.
            step[axis] = if cell + 1 < self.cells[axis] { strides[axis] } else { 0 };
        }
        let corner = first[0] + first[1] + first[2];
        let row = |from: usize| {
            let (a, b) = (self.values[from], self.values[from + step[0]]);
            a + part[0] * (b - a)
        };
        let plane = |from: usize| {
            let (a, b) = (row(from), row(from + step[1]));
            a + part[1] * (b - a)
        };
        let (a, b) = (plane(corner), plane(corner + step[2]));
        a + part[2] * (b - a)
    }

    /// Returns the direction of the steepest rise, of any length: differences over a cell on either side.
    pub(super) fn slope(&self, point: Vector) -> Vector {
        std::array::from_fn(|axis| {
            let reach = 1.0 / self.density[axis];
            let at = |shift: f64| {
                let mut there = point;
                there[axis] += shift;
                f64::from(self.at(there))
            };
            let here = at(0.0);
            // Beside an empty cell one side is left.
            let finite = |v: f64| if v.is_finite() { v } else { here };
            (finite(at(reach)) - finite(at(-reach))) / reach
        })
    }
}
