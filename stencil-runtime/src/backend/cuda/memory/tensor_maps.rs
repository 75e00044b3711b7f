//! Arrays as the copy engine of a card sees them: the sources of boxes of cells.

use std::ffi::c_void;
use std::mem::size_of;
use std::sync::Arc;

use cudarc::driver::{CudaStream, DeviceRepr, sys};
use stencil_compiler::expr::Real;
use stencil_compiler::plan::{Place, Plan};
use stencil_compiler::schedule::COPY_BYTES;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::memory::Memory;
use crate::field::Shape;

/// Arrays described to the copy engine, as a parameter of a kernel.
#[repr(C, align(128))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorMap([u64; 16]);

const _: () = assert!(size_of::<TensorMap>() == size_of::<sys::CUtensorMap>());

// SAFETY: plain integers in the layout of C, which only the card reads.
unsafe impl DeviceRepr for TensorMap {}

/// Arrays that are equally far apart, whose boxes are copied at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrays {
    /// The number of arrays of a patch, and bytes from one to the next.
    pub(crate) arrays: (usize, usize),
    /// The number of patches, and bytes from one to the next.
    pub(crate) patches: (usize, usize),
    /// Cells of a box of one of them.
    pub(crate) extent: [u32; 3],
}

/// The axes of a map, fastest first: x, y, z, the array and, if there are several, the patch.
struct Axes {
    rank: u32,
    counts: [u64; 5],
    /// Bytes from one to the next, along all but x.
    strides: [u64; 4],
    /// The extent of a box along each axis: all arrays, and one patch.
    boxed: [u32; 5],
}

/// Buffers whose boxes a kernel copies at once. They change places with others from substep to substep, and stay
/// equally far apart.
#[derive(Debug)]
pub(crate) struct Series {
    /// Their places in the plan, in the order of memory.
    buffers: Vec<usize>,
    /// Arrays from one to the next.
    between: usize,
}

impl Series {
    pub(crate) fn new(plan: &Plan, buffers: Vec<usize>) -> Self {
        let places = plan.places();
        let before = |at: usize| places.get(at).map_or(0, |place| place.before);
        let between = match buffers[..] {
            [a, b, ..] => before(b).saturating_sub(before(a)),
            _ => 1,
        };
        Series { buffers, between }
    }

    /// Returns the number of arrays in front of the first one now; `None` if their distances are wrong.
    pub(crate) fn before(&self, place: impl Fn(usize) -> Place) -> Option<usize> {
        let first = place(*self.buffers.first()?).before;
        let mut each = self.buffers.iter().enumerate();
        let follow = |(at, buffer): (usize, &usize)| {
            place(*buffer) == Place::alone(first + at * self.between)
        };
        each.all(follow).then_some(first)
    }
}

/// The maps of a series.
#[derive(Debug)]
pub(crate) struct Maps {
    series: Series,
    /// The maps, by the number of arrays in front of the first one.
    maps: Vec<TensorMap>,
}

impl Maps {
    /// Describes all arrays that the buffers may be in, of one patch or of all, for boxes of this extent.
    pub(crate) fn new(
        stream: &Arc<CudaStream>,
        (memory, patch): (&Memory, Option<usize>),
        series: Series,
        extent: [u32; 3],
    ) -> Result<Self, CudaError> {
        let count = series.buffers.len();
        let behind = series.between.saturating_mul(count.saturating_sub(1));
        let firsts = 0..memory.arrays().saturating_sub(behind);
        let of = (count, series.between);
        let maps = firsts.map(|first| memory.map(stream, (patch, first), of, extent));
        Ok(Maps { maps: maps.collect::<Result<_, _>>()?, series })
    }

    /// Returns the map for the arrays in which the buffers are now.
    pub(crate) fn now(&self, place: impl Fn(usize) -> Place) -> Option<&TensorMap> {
        self.maps.get(self.series.before(place)?)
    }
}

/// The layout of the rows of arrays of a shape in memory, from the first ghost cell at which a copy may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Bytes of an array before its first row.
    start: usize,
    /// Values of a row, rows of a plane, planes.
    counts: [usize; 3],
    /// The index of cell 0 in a map.
    first: [i32; 3],
    value_bytes: usize,
}

impl Rows {
    pub(crate) fn new<T: Real>(shape: &Shape) -> Self {
        // Copies begin on multiples of their length, as counted from cell 0.
        let before = shape.halo[0].next_multiple_of(COPY_BYTES / T::BYTES);
        let first = [before, shape.halo[1], shape.halo[2]];
        let back = first[2] * shape.layout.plane + first[1] * shape.layout.pitch + first[0];
        Rows {
            start: (shape.layout.origin - back) * T::BYTES,
            counts: [
                shape.layout.pitch,
                shape.cells[1] + 2 * shape.halo[1],
                shape.cells[2] + 2 * shape.halo[2],
            ],
            first: first.map(|n| n as i32),
            value_bytes: T::BYTES,
        }
    }

    /// Returns the bytes of an array before its first row.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Returns the values of a row, rows of a plane, planes.
    pub(crate) fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// Returns the bytes of a value.
    pub(crate) fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Returns the index of cell 0 of an array in its map, or in a surface.
    pub(crate) fn first(&self) -> [i32; 3] {
        self.first
    }

    /// Returns the axes of a map of these arrays.
    fn axes(&self, of: Arrays) -> Axes {
        let [x, y, z] = self.counts.map(|n| n as u64);
        let row = x * self.value_bytes as u64;
        let [x_box, y_box, z_box] = of.extent;
        Axes {
            rank: if of.patches.0 > 1 { 5 } else { 4 },
            counts: [x, y, z, of.arrays.0 as u64, of.patches.0 as u64],
            strides: [row, row * y, of.arrays.1 as u64, of.patches.1 as u64],
            boxed: [x_box, y_box, z_box, of.arrays.0 as u32, 1],
        }
    }

    /// Describes arrays; the first one begins at an address.
    pub(crate) fn map(&self, address: u64, of: Arrays) -> Result<TensorMap, CudaError> {
        let Axes { rank, counts, strides, boxed } = self.axes(of);
        let values = match self.value_bytes {
            4 => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            _ => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        };
        // SAFETY: the card in use opened the driver's library; only the presence of the function
        // is asked for.
        let known =
            unsafe { sys::culib().get::<unsafe extern "C" fn()>(b"cuTensorMapEncodeTiled\0") };
        if known.is_err() {
            return Err(CudaError::NoMaps);
        }
        let mut map = TensorMap([0; 16]);
        // SAFETY: writes one map, which has the size and at least the alignment that it asks for; the
        // lists have an entry for each axis. The memory is not touched before a kernel copies from
        // it.
        let described = unsafe {
            sys::cuTensorMapEncodeTiled(
                (&raw mut map).cast(),
                values,
                rank,
                (address + self.start as u64) as *mut c_void,
                counts.as_ptr(),
                strides.as_ptr(),
                boxed.as_ptr(),
                [1; 5].as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        let failed = CudaError::driver("describing arrays to the copy engine");
        described.result().map_err(failed)?;
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use stencil_compiler::kernel::lower::lower;
    use stencil_compiler::kernel::{BufferId, Kernel, MOST_BOX, Multiprocessor};
    use stencil_compiler::plan::plan;
    use stencil_compiler::schedule::text::parse;

    use super::*;
    use crate::SystemDef;
    use crate::backend::cuda::machine::buffer_places::{places, slots};
    use crate::backend::cuda::memory::stride;
    use crate::field::Array;

    /// Checks the driver's conditions, and that each cell is at its index in a map: the engine counts from the first
    /// row on, value by value.
    fn fits<T: Real>(cells: [usize; 3], halo: [usize; 3]) {
        let shape = Shape::new(cells, halo, T::BYTES).unwrap();
        let rows = Rows::new::<T>(&shape);
        let [x, y, z] = rows.counts;
        assert_eq!(rows.start % COPY_BYTES, 0);
        assert_eq!(x * T::BYTES % COPY_BYTES, 0);
        assert!(rows.start + x * y * z * T::BYTES <= shape.len() * T::BYTES);
        let first = rows.first.map(|n| n as usize);
        assert!(first[0].is_multiple_of(COPY_BYTES / T::BYTES));
        // A row holds all its ghost cells.
        assert!(first[0] + cells[0] + halo[0] <= x, "{cells:?} {halo:?}");
        let value = |[x, y, z]: [isize; 3]| T::from_f64((x + 100 * y + 10_000 * z) as f64);
        let mut array = Array::<T>::new(&shape).unwrap();
        array.set(&shape, halo, value);
        let corners =
            |axis: usize| [-(halo[axis] as isize), (cells[axis] + halo[axis]) as isize - 1];
        for at_z in corners(2) {
            for at_y in corners(1) {
                for at_x in corners(0) {
                    let at = [at_x, at_y, at_z];
                    let [i, j, k] = [0, 1, 2].map(|a| (at[a] + first[a] as isize) as usize);
                    assert!(i < x && j < y && k < z);
                    let place = rows.start / T::BYTES + (k * y + j) * x + i;
                    assert_eq!(array.values()[place], value(at), "{cells:?} {halo:?} {at:?}");
                }
            }
        }
    }

    /// Checks that each cell of each array that a kernel copies boxes of is at its index in the map, in all patches,
    /// wherever the buffers are now. Returns the most arrays of a box.
    fn series_fit<T: Real>(
        (plan, kernel): (&Plan, &Kernel),
        shape: &Shape,
        (places, slots): (&[Place], &[usize]),
    ) -> usize {
        let (rows, stride) = (Rows::new::<T>(shape), stride::<T>(shape));
        let patches = 3;
        let step = places.len() * stride;
        let mut most = 0;
        for (buffers, extent) in kernel.boxes() {
            let name = |buffer: &BufferId| &kernel.buffers[buffer.0 as usize].name;
            let of_plan = |name: &String| plan.buffers.iter().position(|b| b.name == *name);
            let buffers: Option<Vec<usize>> = buffers.iter().map(name).map(of_plan).collect();
            let buffers = buffers.unwrap();
            let series = Series::new(plan, buffers.clone());
            let first = series.before(|buffer| places[slots[buffer]]).unwrap();
            let axes = rows.axes(Arrays {
                arrays: (buffers.len(), series.between * stride),
                patches: (patches, step),
                extent,
            });
            assert!(axes.rank == 5 && axes.boxed.iter().all(|n| (1..=MOST_BOX).contains(n)));
            let fits = |bytes: &u64| bytes.is_multiple_of(16) && *bytes < 1 << 40;
            assert!(axes.strides.iter().all(fits), "{:?}", axes.strides);
            assert_eq!(axes.counts[3..], [buffers.len() as u64, patches as u64]);
            assert_eq!(axes.boxed, [extent[0], extent[1], extent[2], buffers.len() as u32, 1]);
            let last = shape.cells.map(|n| n as isize - 1);
            for (at, patch) in (0..buffers.len()).flat_map(|at| (0..patches).map(move |p| (at, p)))
            {
                for cell in [[0; 3], last, [-1, 0, 1], [last[0], -1, 0]] {
                    let index = |axis: usize| (cell[axis] + rows.first[axis] as isize) as u64;
                    let along = [index(1), index(2), at as u64, patch as u64];
                    let strides = along.iter().zip(axes.strides).map(|(n, bytes)| n * bytes);
                    let by_map = first * stride
                        + rows.start
                        + index(0) as usize * T::BYTES
                        + strides.sum::<u64>() as usize;
                    let place = places[slots[buffers[at]]];
                    let value = place.value(shape.index(cell), stride / T::BYTES);
                    assert_eq!(by_map, patch * step + value * T::BYTES, "{at} {patch} {cell:?}");
                }
            }
            most = most.max(buffers.len());
        }
        most
    }

    #[test]
    fn boxes_of_several_arrays_are_where_the_memory_has_them() {
        for time in ["rk3_williamson", "rk3_williamson<storage = accumulator>", "ssprk3"] {
            boxes_are_where_the_memory_has_them(time);
        }
    }

    fn boxes_are_where_the_memory_has_them(time: &str) {
        let source = format!(
            "pub system Waves in 3d {{ field h: scalar; field v: vector;
            ddt(h) = lap(h) - div(v); ddt(v) = lap(v) - grad(h); }}
            scheme s for Waves {{ space: central<order = 2>; time: {time}; }}"
        );
        let system = SystemDef::from_text("waves.pde", &source).unwrap();
        let schedule = parse("schedule kernel march loader=1 tile_x=32 tile_y=4").unwrap();
        let plan = plan(system.algorithm(), &schedule, [false; 3]).unwrap();
        let at = |name: &str| plan.buffers.iter().position(|b| b.name == name).unwrap();
        let (places, mut slots) = (places(&plan, 4), slots(&plan));
        let mut most = Vec::new();
        for step in (0..3).flat_map(|_| &plan.steps) {
            step.exchanged().iter().for_each(|(a, b)| slots.swap(at(a), at(b)));
            let Some(at) = step.launch() else { continue };
            let kernel = lower(system.algorithm(), &plan, at, (4, &Multiprocessor::NEWEST));
            let kernel = kernel.unwrap();
            let (of, now) = ((&plan, &kernel), (&places[..], &slots[..]));
            let shape = |bytes| Shape::new([37, 9, 5], [3, 2, 1], bytes).unwrap();
            most.push(series_fit::<f32>(of, &shape(4), now));
            most.push(series_fit::<f64>(of, &shape(8), now));
        }
        // All fields are in one box.
        assert!(most.len() == 18 && most.into_iter().all(|arrays| arrays == 4));
        // A single field that is in the place of its new values breaks the series.
        let series = Series::new(&plan, vec![at("h"), at("v_x"), at("v_y")]);
        assert!(series.before(|buffer| places[slots[buffer]]).is_some());
        slots.swap(at("v_x"), at("v_x_new"));
        assert_eq!(series.before(|buffer| places[slots[buffer]]), None);
    }

    #[test]
    fn cells_are_where_maps_say() {
        for n in 20..64 {
            for halo in 0..6 {
                fits::<f32>([n, 5, 4], [halo, 2, 1]);
                fits::<f64>([n, 3, 1], [halo, halo, 0]);
            }
        }
    }
}
