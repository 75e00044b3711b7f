//! A part of a mesh at a time, on a card: copies to it and from it run beside the steps of other windows.

use std::ops::Range;

use cudarc::driver::sys::{CU_MEMHOSTREGISTER_PORTABLE, cuMemHostRegister_v2, cuMemHostUnregister};
use cudarc::driver::{CudaEvent, CudaSlice, DriverError, result};
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;
use stencil_compiler::plan::BufferRole;

use super::Machine;
use super::finite_check::NONE;
use super::tasks::CapturedPart;
use crate::backend::cuda::CudaError;
use crate::backend::stream::{Finished, Layers, Own, Window, rows};
use crate::backend::{Device, Reducer};
use crate::field::{Array, BadValue, Shape};
use crate::step::{Failure, Moment};
use crate::{Error, MemoryUse, Number};

/// A machine on a stream of its own, with the arrays of some layers of a mesh.
#[derive(Debug)]
pub(crate) struct CardWindow<T> {
    /// Arrays of the host that the card copies by itself.
    pinned: Vec<Pinned>,
    pub(crate) machine: Machine<T>,
    /// The end of the copies to it.
    copied: CudaEvent,
    /// The layers along an axis that are searched for bad values, if they are.
    looked: Option<(usize, Range<usize>)>,
    /// The numbers of rows, quantity by quantity.
    numbers: Option<CudaSlice<f64>>,
    /// The number of rows and of quantities that are reduced, if they are.
    reduced: Option<[usize; 2]>,
}

/// Pages of the host that stay where they are.
#[derive(Debug)]
struct Pinned(usize);

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: the address was registered once, and its memory is freed after this; no copy is in progress.
        let _ = unsafe { cuMemHostUnregister(self.0 as *mut _) };
    }
}

/// Returns the error for copies of layers.
fn failed(error: DriverError) -> CudaError {
    CudaError::driver("copying layers between the host and the card")(error)
}

impl<T> Drop for CardWindow<T> {
    /// No copy is in progress when memory is given back.
    fn drop(&mut self) {
        // A failure of the card was reported before.
        let _ = self.machine.card.synchronize();
        let _ = self.machine.card.context.bind_to_thread();
    }
}

impl<T: Number> CardWindow<T> {
    /// Takes a machine on one card.
    ///
    /// # Errors
    /// If its arrays do not lie one behind the other.
    pub(crate) fn new(machine: Machine<T>) -> Result<Self, Error> {
        let is_apart = |slot: usize| {
            let place = machine.memory.place(slot);
            place.surface || place.of != 1
        };
        if (0..machine.memory.count()).any(is_apart) {
            return Err(Error::Stream {
                reason:
                    "the schedule puts the values of a cell side by side, or arrays in surfaces"
                        .into(),
                help: "give a schedule with `layout soa`".into(),
            });
        }
        if !machine.cut.is_alike() {
            return Err(Error::Bug("layers of the host and of the card differ".into()));
        }
        let event = machine.card.context.new_event(None).map_err(failed)?;
        Ok(CardWindow {
            pinned: Vec::new(),
            machine,
            copied: event,
            looked: None,
            numbers: None,
            reduced: None,
        })
    }

    /// Returns the address of these values of a buffer.
    fn address(&self, buffer: usize, values: &Range<usize>) -> u64 {
        let Machine { memory, slots, card, .. } = &self.machine;
        let first = memory.address(&card.stream, slots[buffer]);
        let origin = self.machine.cut.patch.layout.origin;
        first - (origin * T::BYTES) as u64 + (values.start * T::BYTES) as u64
    }

    /// Begins the search for bad values in some layers along an axis.
    fn look(&mut self, axis: usize, layers: &Range<usize>) -> Result<(), CudaError> {
        let machine = &mut self.machine;
        let fields = machine.fields.buffers.of_role(BufferRole::Field);
        let shape = machine.cut.patch;
        let values = shape.layers(axis, 0..layers.start as isize).len();
        let slots = fields.iter().map(|buffer| machine.slots[*buffer]);
        let stream = machine.card.stream.clone();
        let arrays = machine.memory.addresses(&stream, slots);
        let arrays = arrays.behind((values * T::BYTES) as u64);
        let of = machine.shape.with_layers(axis, layers.len());
        let most = machine.fields.most().to_f64();
        let of = (&of, &machine.cut.patches, 0);
        machine.looks[0].start(&stream, (&arrays, fields.len()), of, most)
    }

    /// Waits for the search, and returns the first bad value.
    fn found(&self, axis: usize, layers: &Range<usize>) -> Result<Option<BadValue>, CudaError> {
        let machine = &self.machine;
        let first = machine.looks[0].read(&machine.card.stream)?;
        if first == NONE {
            return Ok(None);
        }
        let mut cells = machine.fields.shape().cells;
        cells[axis] = layers.len();
        let mut bad = machine.bad_value(first, cells);
        bad.cell[axis] += layers.start;
        Ok(Some(bad))
    }
}

impl<T: Number> Window<T> for CardWindow<T> {
    fn shape(&self) -> Shape {
        self.machine.cut.patch
    }

    fn memory_use(&self) -> MemoryUse {
        self.machine.memory_used()
    }

    fn bound(&mut self, most: f64) {
        self.machine.fields.bound(most);
    }

    fn share(&mut self, array: &mut Array<T>) -> Result<(), Error> {
        self.machine.card.context.bind_to_thread().map_err(failed)?;
        let (address, bytes) = array.pages();
        // SAFETY: the pages belong to the array alone, which outlives this window.
        let registered =
            unsafe { cuMemHostRegister_v2(address.cast(), bytes, CU_MEMHOSTREGISTER_PORTABLE) };
        registered.result().map_err(CudaError::driver("pinning memory of the host"))?;
        self.pinned.push(Pinned(address as usize));
        Ok(())
    }

    fn upload(&mut self, buffer: usize, from: Layers<&Array<T>>, to: Own) -> Result<(), Error> {
        let stream = &self.machine.card.stream;
        stream.context().bind_to_thread().map_err(failed)?;
        let values = &from.array.values()[to.values(&from.shape, from.first)];
        let to = self.address(buffer, &to.values(&self.shape(), to.first));
        // SAFETY: the layers lie within the array of the card; the host does not change or free its own before this window has
        // finished.
        let copy = unsafe { result::memcpy_htod_async(to, values, stream.cu_stream()) };
        Ok(copy.map_err(failed)?)
    }

    fn begin_steps(
        &mut self,
        moments: &[Moment],
        (axis, looked): (usize, Range<usize>),
    ) -> Result<(), Failure> {
        self.copied.record(&self.machine.card.stream).map_err(failed)?;
        for Moment { t, dt, .. } in moments.iter().copied() {
            let machine = &mut self.machine;
            let begins = machine.depends_on_time() || !machine.clock.has_taken(dt);
            if begins {
                machine.clock.tell_given(&machine.card.stream, t, dt)?;
            }
            machine.replay(CapturedPart::Step { begins })?;
            if begins {
                machine.clock.begun(t, dt);
            }
        }
        self.machine.forget_changed();
        self.look(axis, &looked)?;
        self.looked = Some((axis, looked));
        Ok(())
    }

    fn download(
        &mut self,
        buffer: usize,
        from: Own,
        to: Layers<&mut Array<T>>,
    ) -> Result<(), Error> {
        let stream = &self.machine.card.stream;
        stream.context().bind_to_thread().map_err(failed)?;
        let of = from.values(&to.shape, to.first);
        let from = self.address(buffer, &from.values(&self.shape(), from.first));
        let values = &mut to.array.values_mut()[of];
        // SAFETY: the layers lie within the array of the card; the host does not read, change or free its own before this
        // window has finished.
        let copy = unsafe { result::memcpy_dtoh_async(values, from, stream.cu_stream()) };
        Ok(copy.map_err(failed)?)
    }

    fn wait_for(&mut self, other: &Self) -> Result<(), Error> {
        Ok(self.machine.card.stream.wait(&other.copied).map_err(failed)?)
    }

    fn wait_for_copies(&self) -> Result<(), Error> {
        Ok(self.copied.synchronize().map_err(failed)?)
    }

    fn wait(&self) -> Result<(), Error> {
        Ok(self.machine.card.synchronize()?)
    }

    fn prepare_reducer(
        &mut self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
    ) -> Result<usize, Error> {
        self.machine.add_reducer(algorithm, updates)
    }

    fn begin_rows(
        &mut self,
        (reducer, uniforms): (&Reducer, &[f64]),
        (axis, layers): (usize, Range<usize>),
    ) -> Result<(), Error> {
        let cells = self.machine.fields.shape().cells;
        let rows = rows(axis, cells, layers);
        let quantities = reducer.count();
        let numbers = match self.numbers.take() {
            Some(numbers) => numbers,
            None => {
                let all = cells[1] * cells[2] * quantities;
                self.machine.card.stream.alloc_zeros(all).map_err(failed)?
            }
        };
        let numbers = self.numbers.insert(numbers);
        self.reduced = Some([rows.len(), quantities]);
        self.machine.with_reducer(reducer, |machine, own| {
            machine.start_row_numbers(own, uniforms, rows, numbers)
        })
    }

    fn finish(&mut self) -> Result<Finished, Error> {
        let bad = match self.looked.take() {
            Some((axis, layers)) => self.found(axis, &layers)?,
            None => None,
        };
        let stream = &self.machine.card.stream;
        let mut rows = Vec::new();
        if let (Some([count, quantities]), Some(numbers)) = (self.reduced.take(), &self.numbers) {
            let all = stream.clone_dtoh(&numbers.slice(..count * quantities)).map_err(failed)?;
            stream.synchronize().map_err(failed)?;
            let row = |row: usize| (0..quantities).map(|which| all[which * count + row]).collect();
            rows = (0..count).map(row).collect();
        }
        stream.synchronize().map_err(failed)?;
        Ok(Finished { bad, rows })
    }
}
