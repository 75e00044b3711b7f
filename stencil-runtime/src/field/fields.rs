//! All values of a run in the memory of the host, in patches.

use std::ops::Range;
use std::sync::OnceLock;

use ndarray::ArrayView3;
use rayon::prelude::*;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::plan::{BufferRole, Depth, Plan};

use super::ghosts::GhostValues;
use super::memory_use;
use super::shape::ALIGNMENT;
use super::{Array, Buffers, Cut, Filling, GhostDepth, Shape, Shared};
use crate::io::free_memory;
use crate::mesh::{Boundaries, Mesh, Neighbours, Patch, Patches};
use crate::transport::{Carrier, Ranks};
use crate::{Error, Number};

/// The mesh and the settings of a device, apart from its plan.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub(crate) mesh: Mesh,
    /// The patches of the mesh.
    pub(crate) patches: Patches,
    pub(crate) boundaries: Boundaries,
    /// Ghost cells that are read outside of the plan.
    pub(crate) halo: [usize; 3],
    /// Do layers of a larger mesh pass through it?
    pub(crate) passes: bool,
    /// May arrays be copied in the memory of a card, if there is room?
    pub(crate) copies: bool,
    /// Keep the fields as they were before the step?
    pub(crate) keep_last: bool,
    /// Steps between two checks of values, if they are not checked as they are made.
    pub(crate) look_every: usize,
    /// The processes that have the patches: each those of the device of its number, or one all of them.
    pub(crate) ranks: Ranks,
    /// The library that carries values between the cards of ranks, if one is asked for.
    pub(crate) carrier: Option<Carrier>,
}

impl Domain {
    /// Returns the number of the first device of this process.
    pub(crate) fn first_device(&self) -> usize {
        self.ranks.rank()
    }
}

/// A value that is infinite or NaN, or has grown without bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadValue {
    /// The component.
    pub(crate) component: String,
    /// Its cell: x, y, z.
    pub(crate) cell: [usize; 3],
}

/// The arrays of all buffers on all patches of a mesh.
#[derive(Debug)]
pub(crate) struct Fields<T> {
    pub(crate) buffers: Buffers,
    pub(crate) domain: Domain,
    pub(crate) neighbours: Neighbours,
    /// Copies between arrays of the whole mesh and those of patches.
    pub(super) cut: Cut,
    /// For each patch one array of each buffer; empty if the buffer uses the memory of another, or another rank has it.
    pub(super) arrays: Vec<Vec<Array<T>>>,
    /// Values of buffers on the whole mesh if it is several patches, until they change.
    gathered: Vec<OnceLock<Array<T>>>,
    /// The largest size of a value that has not grown without bound.
    most: T,
    /// An axis, and the cells along it that are looked at; all if not given.
    looked: Option<(usize, Range<usize>)>,
}

impl<T: Number> Fields<T> {
    /// Makes fields with empty arrays: their values are elsewhere. Ghost cells reach as far as `halo`.
    pub(crate) fn without_arrays(
        plan: &Plan,
        domain: Domain,
        patches: Patches,
        halo: [usize; 3],
    ) -> Result<Self, Error> {
        let buffers = Buffers::new(plan);
        let count = buffers.count();
        let neighbours = Neighbours::new(&patches, domain.boundaries.periodic);
        let shape = |cells: [usize; 3]| match Shape::new(cells, halo, T::BYTES) {
            Some(shape) => Ok(shape),
            None => {
                let arrays: Vec<_> = memory_use::arrays_of(plan, false, domain.keep_last).collect();
                let free = free_memory::available();
                memory_use::fits(&arrays, (cells, halo), [1; 3], T::BYTES, free)?;
                Err(Error::Bug(format!("{cells:?} cells fit and have no shape")))
            }
        };
        let cut = Cut::new(shape(patches.mesh)?, patches, halo, T::BYTES)?;
        let arrays = (0..patches.count()).map(|_| (0..count).map(|_| Array::default()).collect());
        Ok(Fields {
            buffers,
            neighbours,
            arrays: arrays.collect(),
            gathered: (0..count).map(|_| OnceLock::new()).collect(),
            domain,
            cut,
            most: largest(),
            looked: None,
        })
    }

    /// Allocates the arrays of buffers that are wanted, all zero, at multiples of so many bytes.
    pub(crate) fn allocate(
        &mut self,
        is_wanted: impl Fn(usize) -> bool,
        alignment: usize,
    ) -> Result<(), Error> {
        let (shape, own) = (*self.shape(), self.own());
        for of_patch in &mut self.arrays[own] {
            for (at, array) in of_patch.iter_mut().enumerate() {
                if is_wanted(at) {
                    *array = array_of(&shape, alignment)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the shape of the arrays of the largest patch.
    pub(crate) fn shape(&self) -> &Shape {
        &self.cut.patch
    }

    /// Allocates an array of a patch, all zero.
    pub(crate) fn array(&self) -> Result<Array<T>, Error> {
        array_of(self.shape(), ALIGNMENT)
    }

    /// Returns the array of a buffer on the only patch.
    pub(crate) fn array_ref(&self, buffer: usize) -> &Array<T> {
        &self.arrays[0][buffer]
    }

    /// Returns the array of a buffer on the only patch, to be changed.
    pub(crate) fn array_mut(&mut self, buffer: usize) -> &mut Array<T> {
        &mut self.arrays[0][buffer]
    }

    /// Returns the processes that have the patches, if there are several. A mesh of one patch is whole on each.
    pub(crate) fn ranks(&self) -> Option<&Ranks> {
        Some(&self.domain.ranks).filter(|ranks| ranks.count() > 1 && self.arrays.len() > 1)
    }

    /// Returns the numbers of the patches of this process.
    fn own(&self) -> Range<usize> {
        match self.ranks() {
            None => 0..self.arrays.len(),
            Some(ranks) => self.domain.patches.owned(ranks.rank()),
        }
    }

    /// Returns the patches of this process, each with its arrays by buffers.
    pub(crate) fn own_patches(&self) -> impl Iterator<Item = (&Patch, &[Array<T>])> + Clone {
        let patches = self.neighbours.patches[self.own()].iter();
        patches.zip(self.arrays[self.own()].iter().map(Vec::as_slice))
    }

    /// Returns the shape of each patch of this process and its arrays, by buffers, to be changed.
    pub(crate) fn patches_mut(&mut self) -> impl Iterator<Item = (Shape, &mut Vec<Array<T>>)> {
        self.forget();
        let own = self.own();
        let patches = self.neighbours.patches[own.clone()].iter();
        let shapes = patches.map(|patch| self.cut.patch.of(patch.cells));
        shapes.zip(&mut self.arrays[own])
    }

    /// Forgets values of the whole mesh that were put together.
    fn forget(&mut self) {
        if self.arrays.len() > 1 {
            self.gathered.iter_mut().for_each(|gathered| {
                gathered.take();
            });
        }
    }

    /// Returns for each buffer the ghost cells to fill, if it is a component of this depth.
    pub(crate) fn ghosts(&self, depth: impl Fn(&str) -> Option<Depth>) -> Vec<Option<GhostDepth>> {
        self.buffers.ghosts(self.domain.boundaries.reads_others(), depth)
    }

    /// Returns the filling of ghost cells of some buffers.
    pub(crate) fn filling(&self, ghosts: &[Option<GhostDepth>]) -> Filling {
        Filling::of_fields(&self.neighbours, ghosts)
    }

    /// Fills ghost cells with these values.
    pub(super) fn store(&mut self, values: GhostValues<T>) {
        values.store(&self.cut.patch, &mut self.arrays);
        // The gathered values of the whole mesh have ghost cells, too.
        self.forget();
    }

    /// Returns the interior of a buffer on the whole mesh. All ranks ask together, and each has all values then.
    pub(crate) fn interior(&self, buffer: usize) -> Result<ArrayView3<'_, T>, Error> {
        let bug = || Error::Bug(format!("buffer {buffer} has no shape"));
        if let [of_patch] = &self.arrays[..] {
            let array = of_patch.get(buffer).ok_or_else(bug)?;
            return array.interior(self.shape()).ok_or_else(bug);
        }
        let gathered = self.gathered.get(buffer).ok_or_else(bug)?;
        if gathered.get().is_none() {
            let _ = gathered.set(self.whole(buffer)?);
        }
        let whole = gathered.get().ok_or_else(bug)?;
        whole.interior(&self.cut.mesh).ok_or_else(bug)
    }

    /// Returns the place of a buffer on a mesh of one patch, whose values may change there from now on.
    pub(crate) fn share(&mut self, buffer: usize) -> Result<Shared, Error> {
        let shape = self.cut.patch;
        let [of_patch] = &mut self.arrays[..] else {
            let reason = format!("the mesh has {} patches", self.arrays.len());
            return Err(Error::NotShared { reason });
        };
        let bug = || Error::Bug(format!("buffer {buffer} has no shape"));
        let array = of_patch.get_mut(buffer).ok_or_else(bug)?;
        array.ends = 0;
        let first = array.values_mut().get_mut(shape.layout.origin).ok_or_else(bug)?;
        Ok(Shared::new::<T>(&shape, (&raw mut *first).addr(), 1))
    }

    /// Sets a buffer, and all ghost cells of a given field. Cells are counted on the mesh.
    pub(crate) fn set(&mut self, buffer: usize, value: impl Fn([isize; 3]) -> T + Sync) {
        let (shape, own) = (self.cut.patch, self.own());
        for (arrays, patch) in
            self.arrays[own.clone()].iter_mut().zip(&self.neighbours.patches[own])
        {
            let first = patch.lo.map(|n| n as isize);
            arrays[buffer].set(&shape.of(patch.cells), [0; 3], |cell| {
                value(std::array::from_fn(|axis| first[axis] + cell[axis]))
            });
        }
        self.forget();
        if let Some(component) = self.rules_of_given(buffer) {
            let ghosts = GhostDepth { component, depth: shape.halo.into() };
            let mut all = vec![None; self.buffers.count()];
            all[buffer] = Some(ghosts);
            // Rules beyond the faces of a source do not depend on time by themselves.
            self.fill(&self.filling(&all), 0.0);
        }
    }

    /// Returns the index of the rules of a buffer, if it holds a component of a given field.
    pub(crate) fn rules_of_given(&self, buffer: usize) -> Option<usize> {
        let is_given = self.buffers.role(buffer) == BufferRole::Given;
        let boundaries = &self.domain.boundaries;
        boundaries.of_source(self.buffers.name(buffer)).filter(|_| is_given)
    }

    /// Returns the value of a buffer in a cell or ghost cell of the mesh; `None` if no array has it.
    pub(crate) fn value(&self, name: &str, cell: [isize; 3]) -> Option<T> {
        let (shape, buffer) = (self.shape(), self.buffers.index(name).ok()?);
        let local = |patch: &Patch| -> [isize; 3] {
            std::array::from_fn(|axis| cell[axis] - patch.lo[axis] as isize)
        };
        let holds = |patch: &Patch, halo: [usize; 3]| {
            let cell = local(patch);
            (0..3).all(|axis| {
                let halo = halo[axis] as isize;
                (-halo..patch.cells[axis] as isize + halo).contains(&cell[axis])
            })
        };
        let patches = || self.neighbours.patches.iter();
        let own = patches().position(|patch| holds(patch, [0; 3]));
        // Ghost cells beyond the mesh belong to a patch beside its faces.
        let patch = own.or_else(|| patches().position(|patch| holds(patch, shape.halo)))?;
        let at = shape.index(local(&self.neighbours.patches[patch]));
        self.of_owner(patch, self.arrays[patch][buffer].values().get(at).copied())
    }

    /// Sets the size beyond which a value has grown without bound.
    pub(crate) fn bound(&mut self, most: f64) {
        let most = T::from_f64(most);
        self.most = most.smaller(largest());
    }

    /// Lets searches look at some cells along an axis only.
    pub(crate) fn look_at(&mut self, axis: usize, cells: Range<usize>) {
        self.looked = Some((axis, cells));
    }

    /// Returns the largest size of a value that has not grown without bound.
    pub(crate) fn most(&self) -> T {
        self.most
    }

    /// Returns the first component with a cell that is not finite or beyond the bound.
    pub(crate) fn first_not_finite(&self) -> Option<BadValue> {
        self.buffers.fields().find_map(|name| {
            let cell = self.first_not_finite_of(self.buffers.field(name)?)?;
            let component = name.to_string();
            Some(BadValue { component, cell })
        })
    }

    /// Returns the first such cell of a buffer, in the order of the mesh.
    pub(crate) fn first_not_finite_of(&self, buffer: usize) -> Option<[usize; 3]> {
        self.first_beyond(buffer, self.most)
    }

    /// Returns the first cell with a value of a buffer that is not finite, in the order of the mesh.
    pub(crate) fn first_infinite(&self, buffer: usize) -> Option<[usize; 3]> {
        self.first_beyond(buffer, largest())
    }

    fn first_beyond(&self, buffer: usize, most: T) -> Option<[usize; 3]> {
        let of_patch = |(patch, arrays): (&Patch, &[Array<T>])| {
            let shape = self.shape().of(patch.cells);
            let mut looked = shape.cells.map(|n| 0..n);
            if let Some((axis, cells)) = &self.looked {
                looked[*axis] = cells.clone();
            }
            let cell = first_of_array(&shape, &arrays[buffer], (most, looked))?;
            Some(std::array::from_fn(|axis| patch.lo[axis] + cell[axis]))
        };
        let found = self.own_patches().filter_map(of_patch);
        self.first_of_all(found.min_by_key(|[x, y, z]: &[usize; 3]| [*z, *y, *x]))
    }
}

/// Returns the first cell of a patch with a value beyond a bound, of those looked at along each axis.
fn first_of_array<T: Number>(
    shape: &Shape,
    array: &Array<T>,
    (most, [xs, ys, zs]): (T, [Range<usize>; 3]),
) -> Option<[usize; 3]> {
    let values = array.interior(shape)?;
    let first = [xs.start, ys.start];
    let bad = zs.into_par_iter().find_first(|z| {
        ys.clone().any(|y| {
            let row = values.slice(ndarray::s![*z, y, xs.clone()]);
            !row.fold(true, |ok, v| ok & (v.abs() <= most))
        })
    })?;
    let plane = values.slice(ndarray::s![bad, ys.clone(), xs.clone()]);
    // NaN fails these comparisons.
    let is_good = |v: &T| v.abs() <= most;
    let (at, _) = plane.indexed_iter().find(|(_, v)| !is_good(v))?;
    Some([first[0] + at.1, first[1] + at.0, bad])
}

/// Allocates an array at a multiple of so many bytes, all zero.
pub(crate) fn array_of<T: Number>(shape: &Shape, alignment: usize) -> Result<Array<T>, Error> {
    Array::aligned(shape, alignment).map_err(|_| memory_use::of_array(shape, T::BYTES).into())
}

/// Returns the largest finite number.
fn largest<T: Number>() -> T {
    match T::PRECISION {
        Precision::F32 => T::from_f64(f64::from(f32::MAX)),
        Precision::F64 => T::from_f64(f64::MAX),
    }
}
