//! Values as objects with an `__array_interface__`, which numpy takes as arrays without a copy.

use std::sync::Arc;

use ndarray::{Array3, ArrayView3};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use stencil_runtime::Number;

use crate::errors::{Raised, Result};
use crate::run::Run;

/// The place of values in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    address: usize,
    shape: [usize; 3],
    /// In bytes.
    strides: [isize; 3],
    bytes: usize,
}

impl Place {
    /// Returns the place of an array, which its owner is to keep there.
    pub(crate) fn of<T>(values: &ArrayView3<'_, T>) -> Self {
        let bytes = size_of::<T>();
        let strides = values.strides();
        Place {
            address: values.as_ptr() as usize,
            shape: values.dim().into(),
            strides: std::array::from_fn(|axis| strides[axis] * bytes as isize),
            bytes,
        }
    }

    /// Returns the dictionary of numpy's protocol for values that cannot be written.
    fn interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let order = if cfg!(target_endian = "little") { '<' } else { '>' };
        dict.set_item("version", 3)?;
        dict.set_item("typestr", format!("{order}f{}", self.bytes))?;
        dict.set_item("shape", PyTuple::new(py, self.shape)?)?;
        dict.set_item("strides", PyTuple::new(py, self.strides)?)?;
        dict.set_item("data", (self.address, true))?;
        Ok(dict)
    }
}

/// Values of a component where the run has them, `[z, y, x]`.
///
/// The run refuses to change as long as a view of it lives.
#[pyclass(frozen, module = "stencil._stencil")]
#[derive(Debug)]
pub(crate) struct View {
    place: Place,
    /// The memory is that of the run.
    _run: Py<Run>,
    /// The run counts its views by this.
    _lives: Arc<()>,
}

impl View {
    /// Makes a view of values of a run, which counts it.
    pub(crate) fn new(place: Place, run: Py<Run>, lives: Arc<()>) -> Self {
        View { place, _run: run, _lives: lives }
    }
}

#[pymethods]
impl View {
    /// The place of the values, by numpy's protocol.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.place.interface(py)
    }
}

/// Values that were computed for Python alone, `[z, y, x]`.
#[pyclass(frozen, module = "stencil._stencil")]
#[derive(Debug)]
pub(crate) struct Values(Array3<f64>);

impl Values {
    /// Takes values.
    pub(crate) fn new(values: Array3<f64>) -> Self {
        Values(values)
    }
}

#[pymethods]
impl Values {
    /// The place of the values, by numpy's protocol.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Place::of(&self.0.view()).interface(py)
    }
}

/// Copies a buffer of as many values as the mesh has cells, in the order `[z, y, x]`.
pub(crate) fn taken<T: Number + Element>(
    name: &str,
    values: &Bound<'_, PyAny>,
    [nx, ny, nz]: [usize; 3],
) -> Result<Array3<T>> {
    let wrong = |found: String| {
        Raised::setting(format!("`{name}` has {:?} values [z, y, x], not {found}", (nz, ny, nx)))
    };
    let buffer = PyBuffer::<T>::get(values).map_err(|error| wrong(error.to_string()))?;
    let found = format!("{:?}", buffer.shape());
    if buffer.shape() != [nz, ny, nx] {
        return Err(wrong(found));
    }
    let copied = buffer.to_vec(values.py()).map_err(|error| Raised::bug(error.to_string()))?;
    Array3::from_shape_vec((nz, ny, nx), copied).map_err(|_| wrong(found))
}
