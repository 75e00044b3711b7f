//! Filling of ghost cells in the memory of the host, by the table of boxes.

use rayon::prelude::*;
use stencil_compiler::catalogue::centering::CENTRE;
use stencil_compiler::catalogue::weights::OnFace;
use stencil_compiler::plan::Depth;

use super::{Array, Domain, GhostDepth, Shape};
use crate::Number as Value;
use crate::mesh::{
    Axis, Boundaries, BoundaryPoint, CopyBox, Extension, Face, Ghost, Mesh, Neighbours, Number,
    Patch, Rule, Side,
};

/// The rules of a stored grid function, which crosses only ends that are joined.
const NONE: usize = usize::MAX;

/// Ghost cells of one box of one buffer on one patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    buffer: usize,
    /// The component whose rules act on them.
    component: usize,
    of: CopyBox,
}

/// The boxes of ghost cells to fill, found once.
#[derive(Clone, Debug)]
pub(crate) struct Filling {
    jobs: Vec<Job>,
    /// The buffer of each component that has ghost cells to fill.
    holds: Vec<(usize, usize)>,
}

impl Filling {
    /// Returns the filling of fields: `ghosts` has one entry for each buffer.
    pub(super) fn of_fields(neighbours: &Neighbours, ghosts: &[Option<GhostDepth>]) -> Self {
        let all = ghosts.iter().enumerate();
        let all = all.filter_map(|(buffer, of)| Some((buffer, (*of)?)));
        let jobs = all.clone().map(|(buffer, of)| (buffer, of.component, of.depth));
        Filling {
            jobs: of_jobs(neighbours, jobs),
            holds: all.map(|(buffer, of)| (of.component, buffer)).collect(),
        }
    }

    /// Returns the filling of stored grid functions and accumulators, so deep.
    pub(crate) fn of_stored(neighbours: &Neighbours, buffers: &[usize], depth: Depth) -> Self {
        let jobs = buffers.iter().map(|buffer| (*buffer, NONE, depth));
        Filling { jobs: of_jobs(neighbours, jobs), holds: Vec::new() }
    }

    /// Returns the boxes whose values are in the memory of the same device, and those whose values other devices send.
    pub(crate) fn by_owner(self, neighbours: &Neighbours) -> [Self; 2] {
        [true, false].map(|local| {
            let jobs = self.jobs.iter().copied();
            Filling {
                jobs: jobs.filter(|job| neighbours.is_local(&job.of) == local).collect(),
                holds: self.holds.clone(),
            }
        })
    }

    /// Returns the boxes from patches of one device to those of another.
    pub(super) fn between(&self, neighbours: &Neighbours, [from, to]: [usize; 2]) -> Vec<Job> {
        let owner = |patch: usize| neighbours.patches[patch].owner;
        let is_between = |job: &&Job| owner(job.of.from) == from && owner(job.of.to) == to;
        self.jobs.iter().filter(is_between).copied().collect()
    }

    /// Returns all boxes.
    pub(super) fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Returns the values of some boxes at the time `t`; `arrays` are those of each patch, by buffers.
    pub(super) fn values<T: Value>(
        &self,
        shape: &Shape,
        neighbours: &Neighbours,
        (domain, t): (&Domain, f64),
        arrays: &[Vec<Array<T>>],
        jobs: &[Job],
    ) -> GhostValues<T> {
        let source = Source {
            shape,
            patches: &neighbours.patches,
            arrays,
            holds: &self.holds,
            mesh: &domain.mesh,
            boundaries: &domain.boundaries,
            t,
        };
        let wanted = jobs.par_iter().filter(|job| source.is_wanted(job));
        GhostValues(wanted.map(|job| (*job, source.values(job))).collect())
    }
}

impl Job {
    /// Returns the number of ghost cells.
    fn count(&self) -> usize {
        self.of.size.iter().product()
    }
}

/// Values of ghost cells, box by box: a message between devices, or values that are not written yet.
#[derive(Debug)]
pub(super) struct GhostValues<T>(Vec<(Job, Vec<T>)>);

impl<T: Value> GhostValues<T> {
    /// Returns the bytes of all values.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (mut all, mut of_box) = (Vec::new(), Vec::new());
        for (_, values) in &self.0 {
            T::put(values, &mut of_box);
            all.extend_from_slice(&of_box);
        }
        all
    }

    /// Reads the values of some boxes from their bytes.
    pub(super) fn from_bytes(jobs: Vec<Job>, mut bytes: &[u8]) -> Self {
        let read = |job: Job| {
            let mut values = vec![T::ZERO; job.count()];
            let (first, rest) = bytes.split_at(job.count() * T::BYTES);
            T::take(&mut values, first);
            bytes = rest;
            (job, values)
        };
        GhostValues(jobs.into_iter().map(read).collect())
    }

    /// Returns the number of bytes of the values of some boxes.
    pub(super) fn bytes_of(jobs: &[Job]) -> usize {
        jobs.iter().map(Job::count).sum::<usize>() * T::BYTES
    }

    /// Writes them to the arrays of each patch, by buffers.
    pub(super) fn store(self, shape: &Shape, arrays: &mut [Vec<Array<T>>]) {
        for (job, values) in self.0 {
            let Job { buffer, of, .. } = job;
            let to = arrays[of.to][buffer].values_mut();
            for (row, values) in values.chunks(of.size[0]).enumerate() {
                let first = shape.index(row_of(&of, row));
                to[first..][..of.size[0]].copy_from_slice(values);
            }
        }
    }
}

fn of_jobs(neighbours: &Neighbours, jobs: impl Iterator<Item = (usize, usize, Depth)>) -> Vec<Job> {
    let mut all = Vec::new();
    for (buffer, component, depth) in jobs {
        for to in 0..neighbours.patches.len() {
            let boxes = neighbours.boxes(to, depth).into_iter();
            all.extend(boxes.map(|of| Job { buffer, component, of }));
        }
    }
    all
}

/// Returns the first cell of a row of a box.
fn row_of(of: &CopyBox, row: usize) -> [isize; 3] {
    let [y, z] = [row % of.size[1], row / of.size[1]];
    [of.lo[0], of.lo[1] + y as isize, of.lo[2] + z as isize]
}

/// The values that ghost cells are filled from.
struct Source<'a, T> {
    shape: &'a Shape,
    patches: &'a [Patch],
    arrays: &'a [Vec<Array<T>>],
    holds: &'a [(usize, usize)],
    mesh: &'a Mesh,
    boundaries: &'a Boundaries,
    t: f64,
}

impl<T: Value> Source<'_, T> {
    /// Is a box not filled yet? A launch that fills ends of rows fills those of all interior rows.
    fn is_wanted(&self, job: &Job) -> bool {
        let Job { buffer, of, .. } = job;
        let filled = self.arrays[of.to][*buffer].ends as isize;
        let cells = self.patches[of.to].cells.map(|n| n as isize);
        let inside = |axis: usize| (0..cells[axis]).contains(&of.lo[axis]);
        let begins = of.lo[0] >= -filled;
        let ends = of.lo[0] + of.size[0] as isize <= cells[0] + filled;
        !(begins && ends && inside(1) && inside(2))
    }

    /// Returns the values of a box, row by row.
    fn values(&self, job: &Job) -> Vec<T> {
        let [nx, ny, nz] = job.of.size;
        let mut values = vec![T::ZERO; nx * ny * nz];
        let rows = values.par_chunks_mut(nx).with_min_len(64).enumerate();
        rows.for_each(|(row, values)| {
            let first = row_of(&job.of, row);
            if !self.copied(job, first, values) {
                for (x, value) in values.iter_mut().enumerate() {
                    let cell = [first[0] + x as isize, first[1], first[2]];
                    *value = self.value(job, Axis::ALL.len(), cell);
                }
            }
        });
        values
    }

    /// Copies a row from its source; returns `false` if a rule takes more than that.
    fn copied(&self, job: &Job, mut cell: [isize; 3], values: &mut [T]) -> bool {
        let of = &job.of;
        let mut negative = false;
        for axis in Axis::ALL {
            let at = &mut cell[axis.index()];
            *at += of.shift[axis.index()];
            let Some(side) = of.faces[axis.index()] else {
                continue;
            };
            let line = Line::new(&self.patches[of.from], Face::new(axis, side));
            *at = match self.rule(job, axis, side) {
                _ if axis == Axis::X => return false,
                Rule::Nearest => line.inwards(0),
                Rule::Mirror { negative: turns } => {
                    negative ^= turns;
                    line.inwards(line.depth(*at))
                }
                _ => return false,
            };
        }
        let from = &self.arrays[of.from][job.buffer].values()[self.shape.index(cell)..];
        for (value, from) in values.iter_mut().zip(from) {
            *value = if negative { -*from } else { *from };
        }
        true
    }

    fn rule(&self, job: &Job, axis: Axis, side: Side) -> &Rule {
        match self.boundaries.rules.get(job.component) {
            Some(rules) => &rules[axis.index()][side as usize],
            None => &Rule::Periodic,
        }
    }

    /// Returns the value of a ghost cell by the rules of the first `axes` axes. Along these `cell` is counted from its
    /// own patch, along the others from the source's patch.
    fn value(&self, job: &Job, axes: usize, cell: [isize; 3]) -> T {
        let Some(axis) = axes.checked_sub(1).map(|last| Axis::ALL[last]) else {
            return self.arrays[job.of.from][job.buffer].values()[self.shape.index(cell)];
        };
        let mut there = cell;
        there[axis.index()] += job.of.shift[axis.index()];
        let Some(side) = job.of.faces[axis.index()] else {
            return self.value(job, axes - 1, there);
        };
        let line = Line::new(&self.patches[job.of.from], Face::new(axis, side));
        let ghost =
            GhostCell { source: self, job, axes, line, k: line.depth(there[axis.index()]), cell };
        ghost.value(self.rule(job, axis, side))
    }

    /// Returns a cell of the mesh: along the first `axes` axes `cell` is counted from `to`, along others from `from`.
    fn in_mesh(&self, of: &CopyBox, axes: usize, cell: [isize; 3]) -> [isize; 3] {
        std::array::from_fn(|axis| {
            let patch = if axis < axes { of.to } else { of.from };
            self.patches[patch].lo[axis] as isize + cell[axis]
        })
    }
}

/// A ghost cell beyond a face of the mesh.
struct GhostCell<'a, T> {
    source: &'a Source<'a, T>,
    job: &'a Job,
    /// Number of axes whose rules are still to act: the axis of the face is the last of them.
    axes: usize,
    line: Line,
    /// Distance from the cell next to the face, from 0.
    k: usize,
    cell: [isize; 3],
}

impl<T: Value> GhostCell<'_, T> {
    /// Returns the value of a cell of the same line, by the rules of the axes before that of the face.
    fn inside(&self, job: &Job, at: isize) -> T {
        let mut cell = self.cell;
        cell[self.line.face.axis.index()] = at;
        self.source.value(job, self.axes - 1, cell)
    }

    fn spacing(&self) -> f64 {
        self.source.mesh.spacing()[self.line.face.axis.index()]
    }

    fn value(&self, rule: &Rule) -> T {
        let mirror = || self.inside(self.job, self.line.inwards(self.k));
        let nearest = || self.inside(self.job, self.line.inwards(0));
        match rule {
            // Ends that are joined are not faces.
            Rule::Periodic | Rule::Nearest => nearest(),
            Rule::Mirror { negative: false } => mirror(),
            Rule::Mirror { negative: true } => -mirror(),
            Rule::Dirichlet(value) => T::from_f64(2.0 * self.number(value)) - mirror(),
            Rule::Neumann(slope) => {
                let distance = (2 * self.k + 1) as f64 * self.spacing();
                T::from_f64(self.number(slope) * distance) + mirror()
            }
            Rule::Extended(extension) => self.extended(extension, nearest()),
            Rule::Linear(linear) => {
                let near = |component| self.of_component(component, self.line.inwards(0));
                // All components are filled together.
                T::from_f64(linear.value(|component| near(component).unwrap_or(f64::NAN)))
            }
            Rule::Custom(ghost) => self.custom(ghost),
        }
    }

    /// Returns the value of a polynomial, in differences, so that a uniform field stays uniform to the bit.
    fn extended(&self, extension: &Extension, nearest: T) -> T {
        let weights = extension.weights(self.k);
        let number = &extension.number;
        let first = match extension.on_face {
            OnFace::Nothing => nearest,
            // The number alone, to the bit.
            OnFace::Value if extension.cells == 0 => T::from_f64(self.number(number)),
            OnFace::Value => {
                let value = T::from_f64(self.number(number));
                T::from_f64(weights.face) * (value - nearest) + nearest
            }
            OnFace::Slope => {
                let distance = weights.face * self.spacing();
                T::from_f64(self.number(number) * distance) + nearest
            }
        };
        let others = weights.cells.iter().enumerate().skip(1);
        others.fold(first, |ghost, (cell, weight)| {
            let next = self.inside(self.job, self.line.inwards(cell));
            T::from_f64(*weight) * (next - nearest) + ghost
        })
    }

    /// Returns a number on the face, on the line of the cell.
    fn number(&self, number: &Number) -> f64 {
        match number {
            Number::Constant(value) => *value,
            Number::Function(_) => {
                let cell = self.source.in_mesh(&self.job.of, self.axes, self.cell);
                let halves = self.source.boundaries.halves[self.job.component];
                let at = self.source.mesh.on_wall(self.line.face, cell, halves);
                number.at(at, self.source.t)
            }
        }
    }

    /// Returns the value of a component in a cell of the same line, if it is filled, too.
    fn of_component(&self, component: usize, at: isize) -> Option<f64> {
        let (_, buffer) = *self.source.holds.iter().find(|(held, _)| *held == component)?;
        let job = Job { buffer, component, of: self.job.of };
        Some(self.inside(&job, at).to_f64())
    }

    /// Returns the value of a function of the user.
    fn custom(&self, rule: &Ghost) -> T {
        let Source { mesh, t, .. } = self.source;
        let cell = self.source.in_mesh(&self.job.of, self.axes, self.cell);
        let read = |at: isize| -> Vec<f64> {
            rule.reads.iter().filter_map(|component| self.of_component(*component, at)).collect()
        };
        T::from_f64((rule.ghost)(&BoundaryPoint {
            face: self.line.face,
            depth: self.k + 1,
            position: mesh.point(cell),
            // Functions of the user are for components in the centres of cells.
            wall: mesh.on_wall(self.line.face, cell, CENTRE),
            t: *t,
            nearest: &read(self.line.inwards(0)),
            mirrored: &read(self.line.inwards(self.k)),
        }))
    }
}

/// Cells of a patch on lines that end at a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Number of cells on a line.
    pub(super) cells: usize,
    pub(super) face: Face,
}

impl Line {
    fn new(patch: &Patch, face: Face) -> Self {
        Line { cells: patch.cells[face.axis.index()], face }
    }

    /// Returns the distance of a ghost cell from the one next to the face, from 0.
    fn depth(self, at: isize) -> usize {
        match self.face.side {
            Side::Lo => (-1 - at) as usize,
            Side::Hi => at as usize - self.cells,
        }
    }

    /// Returns the cell so many cells inwards of the one next to the face, as far as there are cells.
    fn inwards(self, k: usize) -> isize {
        let last = self.cells - 1;
        let cell = match self.face.side {
            Side::Lo => k.min(last),
            Side::Hi => last.saturating_sub(k),
        };
        cell as isize
    }

    /// Returns the interior cells along the axis that ghost cell `k` (from 0) may be filled from: the one that it
    /// repeats if both ends are joined, however often that goes round, its mirror image and the nearest one. If there
    /// is none, a cell that no rule reads.
    pub(super) fn sources(self, k: usize) -> [usize; 3] {
        let last = self.cells - 1;
        let opposite = match self.face.side {
            Side::Lo => last - k % self.cells,
            Side::Hi => k % self.cells,
        };
        [opposite, self.inwards(k) as usize, self.inwards(0) as usize]
    }
}
