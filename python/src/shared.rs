//! Values of a run as arrays of other libraries, on the processor and on a card, without a copy.

use std::ffi::c_void;
use std::sync::Arc;

use dlpark::ffi::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::metadata::Dynamic;
use dlpark::python::{DlpackExporter, ExportRequest, export_dlpack};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use stencil_runtime::Shared;

use crate::run::Run;

/// Values of a component where the run has them, `[z, y, x]`, which their takers may change.
///
/// The run refuses to be read and to change as long as this, or an array made of it, lives.
#[pyclass(frozen, module = "stencil._stencil")]
#[derive(Debug)]
pub(crate) struct SharedValues {
    shared: Shared,
    /// The axes of length 1 that the system does not have, the first ones.
    skipped: usize,
    owner: Arc<Owner>,
}

/// Keeps the memory, and counts as one array of another library.
#[derive(Debug)]
struct Owner {
    _run: Py<Run>,
    _lives: Arc<()>,
}

impl SharedValues {
    /// Shares values of a run, which counts them.
    pub(crate) fn new(shared: Shared, run: Py<Run>, lives: Arc<()>) -> Self {
        let dimension = run.get().dimension();
        let owner = Arc::new(Owner { _run: run, _lives: lives });
        SharedValues { shared, skipped: 3 - dimension, owner }
    }

    fn shape(&self) -> &[usize] {
        &self.shared.shape[self.skipped..]
    }

    fn strides(&self) -> &[usize] {
        &self.shared.strides[self.skipped..]
    }

    /// Returns the dictionary of the protocols of numpy and of CUDA libraries.
    fn interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let order = if cfg!(target_endian = "little") { '<' } else { '>' };
        dict.set_item("version", 3)?;
        dict.set_item("typestr", format!("{order}f{}", self.shared.bytes))?;
        dict.set_item("shape", PyTuple::new(py, self.shape())?)?;
        dict.set_item("strides", PyTuple::new(py, self.strides())?)?;
        dict.set_item("data", (self.shared.address, false))?;
        Ok(dict)
    }

    /// Describes the values to one taker, who has a part in their owner.
    fn described<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let wrong = |error: &dyn std::fmt::Display| PyBufferError::new_err(error.to_string());
        let strides: Vec<usize> =
            self.strides().iter().map(|bytes| bytes / self.shared.bytes).collect();
        let made = Dynamic::new(self.shape(), strides.as_slice());
        let made = made.initialize_as::<M>(Arc::clone(&self.owner));
        let mut made = made.map_err(|error| wrong(&error))?;
        let dtype = if self.shared.bytes == 4 { DLDataType::F32 } else { DLDataType::F64 };
        made.set_data(self.shared.address as *mut c_void).set_device(self.device());
        made.set_dtype(dtype);
        // SAFETY: the values lie there in this shape as long as the owner lives: its run refuses to change till then. They may be
        // written.
        Ok(unsafe { made.finish() })
    }
}

impl DlpackExporter for SharedValues {
    fn device(&self) -> DLDevice {
        let ordinal = self.shared.card.map(i32::try_from);
        ordinal.map_or(DLDevice::CPU, |ordinal| DLDevice::cuda(ordinal.unwrap_or(i32::MAX)))
    }

    fn flags(&self) -> DlpackFlags {
        DlpackFlags::empty()
    }

    fn prepare_export(&self, _py: Python<'_>, _request: &ExportRequest<'_>) -> PyResult<()> {
        // All steps were waited for when the values were shared.
        Ok(())
    }

    fn export_legacy(&self, _py: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        self.described()
    }

    fn export_versioned(&self, _py: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        self.described()
    }
}

#[pymethods]
impl SharedValues {
    /// The place of the values in the memory of the host, by numpy's protocol.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.shared.card {
            None => self.interface(py),
            Some(_) => Err(PyAttributeError::new_err(
                "the values are in the memory of a card; take them by a library for cards, or `view(..)` them",
            )),
        }
    }

    /// The place of the values in the memory of a card, by the protocol of CUDA libraries.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.shared.card {
            Some(_) => self.interface(py),
            None => Err(PyAttributeError::new_err("the values are in the memory of the host")),
        }
    }

    /// The values by the protocol DLPack.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let request = ExportRequest::parse(stream, max_version, dl_device, copy)?;
        export_dlpack(self, py, request)
    }

    /// The kind and the number of the device, by the protocol DLPack.
    fn __dlpack_device__(&self) -> (u32, i32) {
        self.device().into()
    }
}
