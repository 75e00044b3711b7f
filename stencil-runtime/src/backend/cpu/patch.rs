//! A patch in the memory of the host: its arrays, and what lies beyond its faces.

use ndarray::ArrayView3;
use rayon::prelude::*;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::plan::{BufferRole, Plan};

use super::array::{Array, Shape};
use super::ghosts::{Beyond, Job};
use super::instructions::Checked;
use super::pipeline::has_rings;
use crate::mesh::{Boundaries, Mesh, Patches};
use crate::{Error, Number, room};

/// What a machine is made for, apart from its plan.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub(crate) mesh: Mesh,
    /// How memory elsewhere is cut; that of the host is one patch.
    pub(crate) patches: Patches,
    pub(crate) boundaries: Boundaries,
    /// Ghost cells that are read outside of the plan.
    pub(crate) halo: [usize; 3],
    /// Keep the fields as they were before the step?
    pub(crate) keep_last: bool,
    /// Steps between two looks for values that are no numbers, where they are not looked at as they are made.
    pub(crate) look_every: usize,
}

/// Arrays of equal shape, with names.
#[derive(Debug)]
pub(crate) struct Patch<T> {
    pub(crate) shape: Shape,
    pub(super) names: Vec<(String, BufferRole)>,
    /// One for each buffer; empty where the buffer lives in the memory of another.
    pub(super) arrays: Vec<Array<T>>,
    /// The buffer in whose array each buffer lives.
    memory: Vec<usize>,
    /// Do stored functions have no arrays, as marches keep what they need of them?
    pub(super) has_rings: bool,
    pub(super) domain: Domain,
    pub(super) instructions: Checked,
    /// The largest size of a value that has not grown without bound.
    pub(crate) most: T,
}

/// A value that is infinite or not a number, or has grown without bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadValue {
    /// The component.
    pub(crate) component: String,
    /// Its cell: x, y, z.
    pub(crate) cell: [usize; 3],
}

impl<T: Number> Patch<T> {
    /// The arrays of a plan, all zero; ghost cells reach at least as far as `halo`.
    pub(super) fn new(
        plan: &Plan,
        domain: Domain,
        halo: [usize; 3],
        instructions: Checked,
    ) -> Result<Self, Error> {
        let mut patch = Self::without_arrays(plan, domain, halo, instructions)?;
        patch.has_rings = has_rings(plan);
        let keep_last = patch.domain.keep_last;
        let arrays: Vec<_> = room::arrays_of(plan, patch.has_rings, keep_last).collect();
        let size = (patch.shape.cells, patch.shape.halo);
        room::fits(&arrays, size, T::BYTES, room::available())?;
        for at in 0..patch.arrays.len() {
            if patch.is_ring(at) {
                patch.memory[at] = at;
            } else if patch.memory[at] == at {
                patch.arrays[at] = patch.array()?;
            }
        }
        Ok(patch)
    }

    /// A patch whose arrays are empty: their values are elsewhere.
    pub(crate) fn without_arrays(
        plan: &Plan,
        domain: Domain,
        halo: [usize; 3],
        instructions: Checked,
    ) -> Result<Self, Error> {
        let cells = domain.mesh.cells;
        let names = plan.buffers.iter().map(|b| (b.name.clone(), b.role));
        let shape = match Shape::new(cells, halo, T::BYTES) {
            Some(shape) => shape,
            None => {
                let arrays: Vec<_> = room::arrays_of(plan, false, domain.keep_last).collect();
                room::fits(&arrays, (cells, halo), T::BYTES, room::available())?;
                return Err(Error::Bug(format!("{cells:?} cells fit and have no shape")));
            }
        };
        Ok(Patch {
            shape,
            names: names.collect(),
            arrays: plan.buffers.iter().map(|_| Array::default()).collect(),
            memory: (0..plan.buffers.len())
                .map(|at| plan.memory_of(at))
                .collect(),
            has_rings: false,
            domain,
            instructions,
            most: largest(),
        })
    }

    /// Does a buffer live in rings?
    fn is_ring(&self, at: usize) -> bool {
        self.has_rings && self.names[at].1 == BufferRole::Derived
    }

    /// An array of this shape, all zero.
    pub(crate) fn array(&self) -> Result<Array<T>, Error> {
        Array::new(&self.shape).map_err(|_| room::of_array(&self.shape, T::BYTES).into())
    }

    /// The array of a buffer.
    pub(super) fn index(&self, name: &str) -> Result<usize, Error> {
        let found = self.names.iter().position(|(n, _)| n == name);
        let found = found.map(|at| self.memory[at]);
        found.ok_or_else(|| Error::Bug(format!("the plan has no buffer `{name}`")))
    }

    pub(super) fn indices<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<usize>, Error> {
        names.into_iter().map(|name| self.index(name)).collect()
    }

    pub(super) fn is_field(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    /// What is to be filled of each array, if it is a component of this depth. Where a function of
    /// the user reads any component, all are filled to the same depth.
    pub(crate) fn jobs(&self, depth: impl Fn(&str) -> Option<[usize; 3]>) -> Vec<Option<Job>> {
        let depths = || self.fields().filter_map(&depth);
        let union = depths().fold([0; 3], |union: [usize; 3], depth| {
            std::array::from_fn(|axis| union[axis].max(depth[axis]))
        });
        let all = self.domain.boundaries.has_custom() && union != [0; 3];
        let mut component = 0;
        let mut job = |(name, role): &(String, BufferRole)| {
            if *role != BufferRole::Field {
                return None;
            }
            component += 1;
            let depth = if all { union } else { depth(name)? };
            Some(Job {
                component: component - 1,
                depth,
            })
        };
        self.names.iter().map(&mut job).collect()
    }

    /// Fills ghost cells of components, as they are beyond the faces at the time `t`.
    pub(crate) fn fill(&mut self, jobs: &[Option<Job>], t: f64) {
        let beyond = Beyond {
            shape: &self.shape,
            mesh: &self.domain.mesh,
            boundaries: &self.domain.boundaries,
            t,
        };
        beyond.fill(&mut self.arrays, jobs);
    }

    /// Fills ghost cells of stored grid functions from the opposite sides.
    pub(super) fn exchange(&mut self, arrays: &[usize], depth: [usize; 3], t: f64) {
        let beyond = Beyond {
            shape: &self.shape,
            mesh: &self.domain.mesh,
            boundaries: &self.domain.boundaries,
            t,
        };
        let all = self.arrays.par_iter_mut().enumerate();
        all.filter(|(i, _)| arrays.contains(i))
            .for_each(|(_, array)| beyond.exchange(array, depth));
    }

    /// The buffers of all fields, in their order.
    pub(crate) fn fields_at(&self) -> Vec<usize> {
        self.at(|role| role == BufferRole::Field)
    }

    /// The buffers that a step leaves with other values: those of fields, and of what is counted.
    pub(crate) fn changed_at(&self) -> Vec<usize> {
        self.at(|role| matches!(role, BufferRole::Field | BufferRole::Count))
    }

    /// The buffers of what is counted in each cell.
    pub(crate) fn counts_at(&self) -> Vec<usize> {
        self.at(|role| role == BufferRole::Count)
    }

    /// The buffers of new values of all fields.
    pub(crate) fn new_fields_at(&self) -> Vec<usize> {
        self.at(|role| role == BufferRole::NewField)
    }

    /// The buffers of all fields and given fields.
    pub(crate) fn states(&self) -> Vec<usize> {
        self.at(|role| matches!(role, BufferRole::Field | BufferRole::Given))
    }

    /// The buffers of the integrator's accumulators.
    pub(crate) fn accumulators(&self) -> Vec<usize> {
        self.at(|role| role == BufferRole::Accumulator)
    }

    fn at(&self, is_wanted: impl Fn(BufferRole) -> bool) -> Vec<usize> {
        let names = self.names.iter().enumerate();
        let wanted = names.filter(|(_, (_, role))| is_wanted(*role));
        wanted.map(|(at, _)| at).collect()
    }

    /// The array of a buffer.
    pub(crate) fn array_mut(&mut self, buffer: usize) -> &mut Array<T> {
        &mut self.arrays[buffer]
    }

    /// The mesh and what lies beyond its faces.
    pub(crate) fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Index of the buffer that holds a component of a field.
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.names
            .iter()
            .position(|(n, role)| n == name && *role == BufferRole::Field)
    }

    /// Names of the components of all fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.of_role(BufferRole::Field)
    }

    /// The interior of a buffer.
    pub(crate) fn interior(&self, buffer: usize) -> Option<ArrayView3<'_, T>> {
        self.arrays.get(buffer)?.interior(&self.shape)
    }

    fn of_role(&self, role: BufferRole) -> impl Iterator<Item = &str> {
        let names = self.names.iter().filter(move |(_, r)| *r == role);
        names.map(|(name, _)| name.as_str())
    }

    /// Sets a buffer, and all ghost cells of a given field.
    pub(crate) fn set(&mut self, buffer: usize, value: impl Fn([isize; 3]) -> T + Sync) {
        let mut array = std::mem::take(&mut self.arrays[buffer]);
        self.set_array(&mut array, buffer, value);
        self.arrays[buffer] = array;
    }

    /// Sets the cells of a buffer's array by a function, and all ghost cells of a given field.
    pub(crate) fn set_array(
        &self,
        array: &mut Array<T>,
        buffer: usize,
        value: impl Fn([isize; 3]) -> T + Sync,
    ) {
        array.set(&self.shape, [0; 3], value);
        let Domain {
            mesh, boundaries, ..
        } = &self.domain;
        if let Some(component) = self.rules_of_given(buffer) {
            let depth = self.shape.halo;
            let beyond = Beyond {
                shape: &self.shape,
                mesh,
                boundaries,
                // Nothing beyond the faces of a source depends on time by itself.
                t: 0.0,
            };
            let job = Some(Job { component, depth });
            beyond.fill(std::slice::from_mut(array), &[job]);
        }
    }

    /// Where the boundaries have the rules of a buffer, if it holds a component of a given field.
    pub(crate) fn rules_of_given(&self, buffer: usize) -> Option<usize> {
        let (name, role) = &self.names[buffer];
        let boundaries = &self.domain.boundaries;
        boundaries
            .of_source(name)
            .filter(|_| *role == BufferRole::Given)
    }

    /// The value of a buffer in a cell or ghost cell; `None` if it has no array, or not so many ghost cells.
    pub(crate) fn value(&self, name: &str, cell: [isize; 3]) -> Option<T> {
        let (shape, array) = (&self.shape, self.index(name).ok()?);
        let is_in = |axis: usize| {
            let halo = shape.halo[axis] as isize;
            (-halo..shape.cells[axis] as isize + halo).contains(&cell[axis])
        };
        let all = (0..3).all(is_in).then(|| shape.index(cell))?;
        self.arrays[array].values().get(all).copied()
    }

    /// Index of the buffer that holds a component of a given field.
    pub(crate) fn given(&self, name: &str) -> Option<usize> {
        let is_it = |(n, role): &(String, BufferRole)| n == name && *role == BufferRole::Given;
        self.names.iter().position(is_it)
    }

    /// Index of the buffer that holds what counts in each cell, by its name.
    pub(crate) fn count(&self, name: &str) -> Option<usize> {
        let is_it = |(n, role): &(String, BufferRole)| n == name && *role == BufferRole::Count;
        self.names.iter().position(is_it)
    }

    /// Takes values that are larger than this to have grown without bound.
    pub(crate) fn bound(&mut self, most: f64) {
        let most = T::from_f64(most);
        self.most = most.smaller(largest());
    }

    /// The first component with a cell that is no number or beyond the bound.
    pub(crate) fn first_not_finite(&self) -> Option<BadValue> {
        self.fields().find_map(|name| {
            let (_, cell) = self.first_not_finite_of(self.field(name)?)?;
            let component = name.to_string();
            Some(BadValue { component, cell })
        })
    }

    pub(super) fn first_not_finite_of(&self, buffer: usize) -> Option<(usize, [usize; 3])> {
        let values = self.interior(buffer)?;
        let rows = |z: usize| (0..values.dim().1).map(move |y| (z, y));
        let bad = (0..values.dim().0).into_par_iter().find_first(|z| {
            rows(*z).any(|(z, y)| {
                let row = values.slice(ndarray::s![z, y, ..]);
                !row.fold(true, |ok, v| ok & (v.abs() <= self.most))
            })
        })?;
        let plane = values.slice(ndarray::s![bad, .., ..]);
        // Comparisons that a value fails which is no number.
        let is_good = |v: &T| v.abs() <= self.most;
        let (at, _) = plane.indexed_iter().find(|(_, v)| !is_good(v))?;
        Some((buffer, [at.1, at.0, bad]))
    }
}

/// The largest number.
fn largest<T: Number>() -> T {
    match T::PRECISION {
        Precision::F32 => T::from_f64(f64::from(f32::MAX)),
        Precision::F64 => T::from_f64(f64::MAX),
    }
}
