//! The driver's library: is it there, and is it whole?
//!
//! Functions of the driver are looked up when they are first called, and a missing one would end the program there. So
//! all of them are looked up before the first call.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::OnceLock;

use cudarc::driver::{DriverError, sys};

use crate::backend::cuda::CudaError;

/// Functions of the driver that are called, here and in the crate that wraps it; all of them came with CUDA 12.0 at
/// the latest. `cuTensorMapEncodeTiled` is looked up only for kernels that copy boxes.
const FUNCTIONS: [&str; 66] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetUuid",
    "cuDeviceGetPCIBusId",
    "cuDeviceTotalMem_v2",
    "cuDeviceCanAccessPeer",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuStreamCreate",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuStreamIsCapturing",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuLaunchKernel",
    "cuMemAllocAsync",
    "cuMemAlloc_v2",
    "cuMemFreeAsync",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemAddressReserve",
    "cuMemAddressFree",
    "cuMemCreate",
    "cuMemRelease",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemSetAccess",
    "cuMemGetAllocationGranularity",
    "cuMemcpy3DAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuArray3DCreate_v2",
    "cuArrayDestroy",
    "cuSurfObjectCreate",
    "cuSurfObjectDestroy",
];

/// Checks that there is a driver with all functions that are called, before any of them is called.
///
/// # Errors
/// If the system loader knows no library of the driver, or it lacks a function.
pub(crate) fn whole() -> Result<(), CudaError> {
    // The library is opened and closed here; threads should not do that side by side.
    static WHOLE: OnceLock<Result<(), CudaError>> = OnceLock::new();
    let look = || {
        // SAFETY: looks whether the system loader opens the driver's library; its initializers have
        // no preconditions.
        if !unsafe { sys::is_culib_present() } {
            return Err(CudaError::NoDriver);
        }
        let lacks = FUNCTIONS.iter().find(|name| {
            // SAFETY: the library is there; only the presence of a function is asked for.
            unsafe { sys::culib().get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err()
        });
        lacks.map_or(Ok(()), |function| Err(CudaError::IncompleteDriver { function }))
    };
    WHOLE.get_or_init(look).clone()
}

/// Returns the major version of CUDA that the driver speaks; the highest number if it is not known.
pub(crate) fn major() -> i32 {
    let mut version = 0;
    if whole().is_err() {
        return i32::MAX;
    }
    // SAFETY: writes one integer, and may be called before anything else.
    let got = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    got.result().map_or(i32::MAX, |()| version / 1000)
}

/// Returns the driver's words for an error and its name.
pub(crate) fn words(error: DriverError) -> String {
    let number = || format!("error {}", error.0 as u32);
    if whole().is_err() {
        return number();
    }
    let read = |known: sys::CUresult, text: *const c_char| {
        if known.result().is_err() || text.is_null() {
            return number();
        }
        // SAFETY: a text that is there is static and ends in a zero byte.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    };
    let (mut text, mut name) = (ptr::null(), ptr::null());
    // SAFETY: each writes one pointer.
    let known = unsafe {
        [sys::cuGetErrorString(error.0, &raw mut text), sys::cuGetErrorName(error.0, &raw mut name)]
    };
    format!("{} ({})", read(known[0], text), read(known[1], name))
}
