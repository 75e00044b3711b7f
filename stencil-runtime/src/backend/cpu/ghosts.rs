//! Filling of ghost cells: first those of x, for the cells of the interior; then those of y, also
//! for the ghost cells of x; then those of z, for both. Corners follow from this order.

use rayon::prelude::*;
use stencil_compiler::discretize::weights::OnFace;
use stencil_compiler::expr::Real;

use super::array::{Array, Shape};
use super::ends::Ends;
use crate::mesh::{
    Axis, Boundaries, BoundaryPoint, Extension, Face, Ghost, Mesh, Number, Rule, Side,
};

/// What is known of the cells beyond the faces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beyond<'a> {
    pub(super) shape: &'a Shape,
    pub(super) mesh: &'a Mesh,
    pub(super) boundaries: &'a Boundaries,
    /// The time of the substep.
    pub(super) t: f64,
}

/// Ghost cells of a component to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    /// The component, in the order of the rules.
    pub(crate) component: usize,
    /// How deep along x, y, z.
    pub(crate) depth: [usize; 3],
}

impl Beyond<'_> {
    /// Fills ghost cells of components; `jobs` has one entry for each array.
    pub(super) fn fill<T: Real>(&self, arrays: &mut [Array<T>], jobs: &[Option<Job>]) {
        for axis in Axis::ALL {
            let active = |job: &Job| job.depth[axis.index()] > 0;
            arrays.par_iter_mut().zip(jobs).for_each(|(array, job)| {
                let filled = match axis {
                    Axis::X => array.ends,
                    Axis::Y | Axis::Z => 0,
                };
                let wanted = |job: &Job| job.depth[axis.index()] > filled;
                if let Some(job) = job.filter(wanted) {
                    let rules = &self.boundaries.rules[job.component][axis.index()];
                    self.along(axis, array, job.depth, rules);
                }
            });
            let custom = jobs.iter().enumerate();
            for (array, job) in custom.filter_map(|(i, job)| Some((i, job.filter(active)?))) {
                for side in Side::ALL {
                    let rule = &self.boundaries.rules[job.component][axis.index()][side as usize];
                    if let Rule::Custom(ghost) = rule {
                        self.custom(Face::new(axis, side), arrays, jobs, (array, job), ghost);
                    }
                }
            }
        }
    }

    /// Fills ghost cells of a stored grid function from the opposite side.
    pub(super) fn exchange<T: Real>(&self, array: &mut Array<T>, depth: [usize; 3]) {
        for axis in Axis::ALL.into_iter().filter(|a| depth[a.index()] > 0) {
            self.along(axis, array, depth, &[Rule::Periodic, Rule::Periodic]);
        }
    }

    fn along<T: Real>(
        &self,
        axis: Axis,
        array: &mut Array<T>,
        depth: [usize; 3],
        rules: &[Rule; 2],
    ) {
        match axis {
            Axis::X => self.along_x(array, depth, rules),
            Axis::Y => self.along_y(array, depth, rules),
            Axis::Z => self.along_z(array, depth, rules),
        }
    }

    /// All interior rows, plane by plane.
    fn along_x<T: Real>(&self, array: &mut Array<T>, depth: [usize; 3], rules: &[Rule; 2]) {
        let ([nx, ny, nz], halo, layout) = (self.shape.cells, self.shape.halo, self.shape.layout);
        let inside = halo[1] * layout.pitch + halo[0] - depth[0];
        let ends = Ends::new(rules, nx, depth[0], self.mesh.spacing()[0]);
        let planes = array.rows_mut(self.shape).par_chunks_mut(layout.plane);
        let planes = planes.skip(halo[2]).take(nz).enumerate();
        planes.for_each(|(z, plane)| {
            let rows = plane[inside..].chunks_mut(layout.pitch).take(ny);
            for (y, row) in rows.enumerate() {
                let row = &mut row[..nx + 2 * depth[0]];
                for side in ends.fill(row) {
                    let first = [0, y as isize, z as isize];
                    self.end_of_row(row, depth[0], side, first, &rules[side as usize]);
                }
            }
        });
    }

    /// Ghost cells at one end of a row of x, by any rule.
    fn end_of_row<T: Real>(
        &self,
        row: &mut [T],
        depth: usize,
        side: Side,
        first: [isize; 3],
        rule: &Rule,
    ) {
        let line = Line {
            cells: row.len() - 2 * depth,
            face: Face::new(Axis::X, side),
            first,
        };
        let (lo, rest) = row.split_at_mut(depth);
        let (cells, hi) = rest.split_at_mut(line.cells);
        for k in 0..depth {
            let inside = |i: usize| &cells[i..=i];
            let ghost = match side {
                Side::Lo => &mut lo[depth - 1 - k..][..1],
                Side::Hi => &mut hi[k..=k],
            };
            self.row(line, k, rule, ghost, inside);
        }
    }

    /// Rows with their ghost cells of x, in all interior planes.
    fn along_y<T: Real>(&self, array: &mut Array<T>, depth: [usize; 3], rules: &[Rule; 2]) {
        let ([nx, ny, nz], halo, layout) = (self.shape.cells, self.shape.halo, self.shape.layout);
        let inside = halo[1] * layout.pitch + halo[0] - depth[0];
        let length = nx + 2 * depth[0];
        let planes = array.rows_mut(self.shape).par_chunks_mut(layout.plane);
        let planes = planes.skip(halo[2]).take(nz).enumerate();
        planes.for_each(|(z, plane)| {
            let (lo, rest) = plane.split_at_mut(inside);
            let (cells, hi) = rest.split_at_mut(ny * layout.pitch);
            let lo = lo.rchunks_mut(layout.pitch).map(|row| (Side::Lo, row));
            let hi = hi.chunks_mut(layout.pitch).map(|row| (Side::Hi, row));
            let (lo, hi) = (lo.take(depth[1]).enumerate(), hi.take(depth[1]).enumerate());
            for (k, (side, row)) in lo.chain(hi) {
                let line = Line {
                    cells: ny,
                    face: Face::new(Axis::Y, side),
                    first: [-(depth[0] as isize), 0, z as isize],
                };
                let inside = |i: usize| &cells[i * layout.pitch..][..length];
                let row = &mut row[..length];
                self.row(line, k, &rules[side as usize], row, inside);
            }
        });
    }

    /// Planes with their ghost cells of x and y.
    fn along_z<T: Real>(&self, array: &mut Array<T>, depth: [usize; 3], rules: &[Rule; 2]) {
        let ([nx, ny, nz], halo, layout) = (self.shape.cells, self.shape.halo, self.shape.layout);
        let skipped = (halo[1] - depth[1]) * layout.pitch + halo[0] - depth[0];
        let inside = halo[2] * layout.plane + skipped;
        let length = nx + 2 * depth[0];
        let (lo, rest) = array.rows_mut(self.shape).split_at_mut(inside);
        let (cells, hi) = rest.split_at_mut(nz * layout.plane);
        let cells = &*cells;
        let lo = lo.par_rchunks_mut(layout.plane);
        let hi = hi.par_chunks_mut(layout.plane);
        let lo = lo.map(|plane| (Side::Lo, plane)).take(depth[2]);
        let hi = hi.map(|plane| (Side::Hi, plane)).take(depth[2]);
        let ghosts = lo.enumerate().chain(hi.enumerate());
        ghosts.for_each(|(k, (side, plane))| {
            for y in 0..ny + 2 * depth[1] {
                let line = Line {
                    cells: nz,
                    face: Face::new(Axis::Z, side),
                    first: [-(depth[0] as isize), y as isize - depth[1] as isize, 0],
                };
                let start = y * layout.pitch;
                let inside = |i: usize| &cells[i * layout.plane + start..][..length];
                let row = &mut plane[start..][..length];
                self.row(line, k, &rules[side as usize], row, inside);
            }
        });
    }

    /// A row of ghost cells from rows of the interior, by their place along the axis.
    fn row<'r, T: Real>(
        &self,
        line: Line,
        k: usize,
        rule: &Rule,
        row: &mut [T],
        inside: impl Fn(usize) -> &'r [T],
    ) {
        let [opposite, mirror, nearest] = line.sources(k).map(&inside);
        match rule {
            Rule::Periodic => row.copy_from_slice(opposite),
            Rule::Nearest => row.copy_from_slice(nearest),
            Rule::Mirror { negative: false } => row.copy_from_slice(mirror),
            Rule::Mirror { negative: true } => {
                for (ghost, mirror) in row.iter_mut().zip(mirror) {
                    *ghost = -*mirror;
                }
            }
            Rule::Dirichlet(value) => self.each(line, value, row, mirror, |value, mirror| {
                T::from_f64(2.0 * value) - mirror
            }),
            Rule::Neumann(slope) => {
                let h = self.mesh.spacing()[line.face.axis.index()];
                let distance = (2 * k + 1) as f64 * h;
                self.each(line, slope, row, mirror, |slope, mirror| {
                    T::from_f64(slope * distance) + mirror
                });
            }
            Rule::Extended(extension) => {
                let weights = extension.weights(k);
                self.held(line, (extension, weights.face), row, nearest);
                // In differences, so that what is the same everywhere stays so.
                for (cell, weight) in weights.cells.iter().enumerate().skip(1) {
                    let weight = T::from_f64(*weight);
                    let next = inside(line.inwards(cell));
                    for ((ghost, next), nearest) in row.iter_mut().zip(next).zip(nearest) {
                        *ghost = weight * (*next - *nearest) + *ghost;
                    }
                }
            }
            Rule::Custom(_) => {}
        }
    }

    /// A row of ghost cells by the nearest cells and the number on the face, which has a weight.
    fn held<T: Real>(
        &self,
        line: Line,
        (extension, weight): (&Extension, f64),
        row: &mut [T],
        nearest: &[T],
    ) {
        let number = &extension.number;
        match extension.on_face {
            OnFace::Nothing => row.copy_from_slice(nearest),
            // The number alone, to the bit.
            OnFace::Value if extension.cells == 0 => {
                self.each(line, number, row, nearest, |value, _| T::from_f64(value));
            }
            OnFace::Value => self.each(line, number, row, nearest, |value, nearest| {
                T::from_f64(weight) * (T::from_f64(value) - nearest) + nearest
            }),
            OnFace::Slope => {
                let distance = weight * self.mesh.spacing()[line.face.axis.index()];
                self.each(line, number, row, nearest, |slope, nearest| {
                    T::from_f64(slope * distance) + nearest
                });
            }
        }
    }

    /// Ghost cells of a row by a number on the face and the mirror image.
    fn each<T: Real>(
        &self,
        line: Line,
        number: &Number,
        row: &mut [T],
        mirror: &[T],
        ghost: impl Fn(f64, T) -> T,
    ) {
        let cells = row.iter_mut().zip(mirror);
        match number {
            Number::Constant(value) => {
                cells.for_each(|(cell, mirror)| *cell = ghost(*value, *mirror))
            }
            Number::Function(_) => {
                for (x, (cell, mirror)) in cells.enumerate() {
                    let [x0, y, z] = line.first;
                    let at = self.mesh.on_wall(line.face, [x0 + x as isize, y, z]);
                    *cell = ghost(number.at(at, self.t), *mirror);
                }
            }
        }
    }

    /// Ghost cells beyond a face by the user's function.
    fn custom<T: Real>(
        &self,
        face: Face,
        arrays: &mut [Array<T>],
        jobs: &[Option<Job>],
        (array, job): (usize, Job),
        rule: &Ghost,
    ) {
        let axis = face.axis.index();
        let cells = self.shape.cells;
        // Along axes that acted before, ghost cells are filled already and have corners.
        let reach: [usize; 3] = std::array::from_fn(|a| if a < axis { job.depth[a] } else { 0 });
        let mut size: [usize; 3] = std::array::from_fn(|a| cells[a] + 2 * reach[a]);
        size[axis] = job.depth[axis];
        let place = |i: usize| {
            let index = [i % size[0], i / size[0] % size[1], i / size[0] / size[1]];
            let mut cell = std::array::from_fn(|a| index[a] as isize - reach[a] as isize);
            let k = index[axis];
            cell[axis] = match face.side {
                Side::Lo => -1 - k as isize,
                Side::Hi => (cells[axis] + k) as isize,
            };
            (cell, k)
        };
        let holds = |c: usize| {
            jobs.iter()
                .position(|j| j.is_some_and(|j| j.component == c))
        };
        let reads: Vec<&[T]> = rule
            .reads
            .iter()
            .filter_map(|c| Some(arrays[holds(*c)?].values()))
            .collect();
        let line = Line {
            cells: cells[axis],
            face,
            first: [0; 3],
        };
        let value = |i: usize| {
            let (cell, k) = place(i);
            let [_, mirror, nearest] = line.sources(k);
            let read = |from: usize| -> Vec<f64> {
                let mut at = cell;
                at[axis] = from as isize;
                let index = self.shape.index(at);
                reads.iter().map(|values| values[index].to_f64()).collect()
            };
            T::from_f64((rule.ghost)(&BoundaryPoint {
                face,
                depth: k + 1,
                position: self.mesh.point(cell),
                wall: self.mesh.on_wall(face, cell),
                t: self.t,
                nearest: &read(nearest),
                mirrored: &read(mirror),
            }))
        };
        let ghosts: Vec<T> = (0..size.iter().product())
            .into_par_iter()
            .map(value)
            .collect();
        let values = arrays[array].values_mut();
        for (i, ghost) in ghosts.into_iter().enumerate() {
            values[self.shape.index(place(i).0)] = ghost;
        }
    }
}

/// Lines of cells that end at a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Interior cells along the axis.
    pub(super) cells: usize,
    pub(super) face: Face,
    /// The cell that the first value of a row belongs to; along the axis it does not matter.
    pub(super) first: [isize; 3],
}

impl Line {
    /// Interior cells along the axis that ghost cell `k` (from 0) may be filled from: the one that it
    /// repeats on a periodic axis, however often that goes round, its mirror image and the nearest
    /// one. Where there is none, a cell that no rule reads.
    pub(super) fn sources(self, k: usize) -> [usize; 3] {
        let last = self.cells - 1;
        let opposite = match self.face.side {
            Side::Lo => last - k % self.cells,
            Side::Hi => k % self.cells,
        };
        [opposite, self.inwards(k), self.inwards(0)]
    }

    /// The cell so many cells inwards of the one next to the face, as far as there are cells.
    fn inwards(self, k: usize) -> usize {
        let last = self.cells - 1;
        match self.face.side {
            Side::Lo => k.min(last),
            Side::Hi => last.saturating_sub(k),
        }
    }
}
