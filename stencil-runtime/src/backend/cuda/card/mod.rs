//! Cards, and the driver that knows them.

pub(crate) mod driver;
pub(crate) mod limits;
mod links;
pub(crate) mod sensors;

pub use links::CardLink;

use std::ffi::CStr;
use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaContext, CudaStream, DriverError, result, sys};
use stencil_compiler::compile::Device;
use stencil_compiler::kernel::Multiprocessor;

use crate::backend::cuda::CudaError;

/// The oldest compute capability that generated code runs on: asynchronous copies came with it.
pub const OLDEST: (u32, u32) = (8, 0);

/// A card, as its driver describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Its number, from 0.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// The number that its maker gave it, in hexadecimal digits; no other card has it.
    pub uuid: String,
    /// Compute capability, as in `(9, 0)`.
    pub capability: (u32, u32),
    /// Its address on the bus, as in `0000:3b:00.0`.
    pub bus: String,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Resources of each multiprocessor for its blocks.
    pub multiprocessor: Multiprocessor,
    /// Bytes of shared memory that a block may have.
    pub shared_bytes: usize,
    /// Bytes of memory.
    pub memory: usize,
    /// The version of CUDA that the driver speaks, as in `(13, 0)`.
    pub driver: (u32, u32),
}

/// Returns the compute capability of an architecture, if its name tells.
///
/// ```
/// use stencil_runtime::backend::cuda::capability;
///
/// assert_eq!(capability("sm_90a"), Some((9, 0)));
/// assert_eq!(capability("sm_103"), Some((10, 3)));
/// assert_eq!(capability("any"), None);
/// ```
pub fn capability(architecture: &str) -> Option<(u32, u32)> {
    let digits = architecture.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let number: u32 = digits[..end.unwrap_or(digits.len())].parse().ok()?;
    Some((number / 10, number % 10))
}

/// The lowest compute capability of cards that copy boxes.
pub const BOXES: (u32, u32) = (9, 0);

impl Card {
    /// Returns the facts about it that kernels are made for.
    pub fn device(&self) -> Device {
        Device { multiprocessor: self.multiprocessor, units: Some(self.multiprocessors) }
    }

    /// Returns the architecture for which code is generated, as in `sm_90`.
    pub fn architecture(&self) -> String {
        format!("sm_{}{}", self.capability.0, self.capability.1)
    }

    /// Returns all cards of this machine, in the driver's order.
    ///
    /// # Errors
    /// If there is no driver, or it fails; a machine with a driver and no card has an empty list.
    pub fn all() -> Result<Vec<Card>, CudaError> {
        let count = count()?;
        (0..count).map(|ordinal| describe(&context(ordinal)?, ordinal)).collect()
    }

    /// Returns the number of cards of this machine, without taking one into use.
    ///
    /// # Errors
    /// If there is no driver, or it fails.
    pub fn count() -> Result<usize, CudaError> {
        count()
    }

    /// Measures the speed of copies within its memory: billions of bytes a second, read and
    /// written, the best of several copies of an array that no cache holds: of 256 MiB, or of less if a run has left
    /// less room.
    ///
    /// # Errors
    /// If the card has no room for two arrays of 64 MiB, or fails.
    pub fn copy_gb_s(&self) -> Result<f64, CudaError> {
        const BYTES: [usize; 3] = [1 << 28, 1 << 27, 1 << 26];
        const COPIES: usize = 20;
        let Opened { context, stream, .. } = Opened::new(self.ordinal)?;
        let failed = CudaError::driver("measuring a copy");
        let two = |bytes| Ok([stream.alloc_zeros::<u8>(bytes)?, stream.alloc_zeros(bytes)?]);
        let arrays = two(BYTES[0]).or_else(|_| two(BYTES[1])).or_else(|_| two(BYTES[2]));
        let [from, mut to] = arrays.map_err(&failed)?;
        let timed = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let event = || context.new_event(timed).map_err(&failed);
        let mut best = f64::INFINITY;
        for _ in 0..COPIES {
            let (start, end) = (event()?, event()?);
            start.record(&stream).map_err(&failed)?;
            stream.memcpy_dtod(&from, &mut to).map_err(&failed)?;
            end.record(&stream).map_err(&failed)?;
            let ms = start.elapsed_ms(&end).map_err(&failed)?;
            best = best.min(f64::from(ms) / 1e3);
        }
        Ok(2.0 * from.len() as f64 / best / 1e9)
    }

    /// Returns the cycles of a multiprocessor in a second, at its highest clock.
    ///
    /// # Errors
    /// If the driver does not tell.
    pub fn clock_hz(&self) -> Result<f64, CudaError> {
        let khz = context(self.ordinal)?.attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
        let khz = khz.map_err(CudaError::driver("asking for the clock of the card"))?;
        Ok(f64::from(khz) * 1e3)
    }

    /// Returns the bytes that its memory can move in a second, by its clock and the width of its bus; `None` if the
    /// driver does not tell.
    pub(crate) fn memory_bytes_per_s(&self) -> Result<Option<f64>, CudaError> {
        let context = context(self.ordinal)?;
        let ask = |which| {
            let value = context.attribute(which);
            value.map_err(CudaError::driver("asking for the memory of the card"))
        };
        let khz = ask(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
        let bits = ask(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
        // Two transfers in a cycle.
        let bytes = 2.0 * f64::from(khz) * 1e3 * f64::from(bits) / 8.0;
        Ok((bytes > 0.0).then_some(bytes))
    }

    /// Returns the lanes of a multiprocessor that compute in single precision (CUDA C++ programming guide, arithmetic
    /// instructions by compute capability).
    pub fn lanes(&self) -> u32 {
        match self.capability {
            (8, 0) => 64,
            _ => 128,
        }
    }

    /// Returns the ratio of the times of double and single precision: large on cards made for graphics.
    pub fn double(&self) -> f64 {
        match self.capability {
            (8, 0) | (9, 0) | (10, 0) => 2.0,
            _ => 64.0,
        }
    }

    /// Does generated code run on it?
    pub fn is_supported(&self) -> bool {
        self.capability >= OLDEST
    }
}

/// A card in use.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) card: Card,
    pub(crate) context: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
}

impl Opened {
    /// Takes a card into use.
    pub(crate) fn new(ordinal: usize) -> Result<Self, CudaError> {
        let count = count()?;
        if count == 0 {
            let hidden = match std::env::var("CUDA_VISIBLE_DEVICES") {
                Ok(list) => format!(" (CUDA_VISIBLE_DEVICES is `{list}`)"),
                Err(_) => String::new(),
            };
            return Err(CudaError::NoCard { hidden });
        }
        if ordinal >= count {
            return Err(CudaError::Ordinal { ordinal, count });
        }
        let context = context(ordinal)?;
        // SAFETY: all work is ordered by the one stream made below; nothing else needs events.
        unsafe { context.disable_event_tracking() };
        let card = describe(&context, ordinal)?;
        if !card.is_supported() {
            return Err(CudaError::Capability { name: card.name, capability: card.capability });
        }
        let stream = context.new_stream().map_err(CudaError::driver("making a stream"))?;
        Ok(Opened { card, context, stream })
    }

    /// Returns the same card with another stream, whose work runs beside that of the first.
    pub(crate) fn beside(&self) -> Result<Self, CudaError> {
        let stream = self.context.new_stream().map_err(CudaError::driver("making a stream"))?;
        Ok(Opened { stream, ..self.clone() })
    }

    /// Returns the bytes of its memory that are free, and all of them.
    pub(crate) fn memory(&self) -> Result<[usize; 2], CudaError> {
        self.synchronize()?;
        let memory = self.context.mem_get_info();
        let (free, all) = memory.map_err(CudaError::driver("asking for free memory"))?;
        Ok([free, all])
    }

    /// Waits until all work that was started is done.
    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        let wait = self.stream.synchronize();
        wait.map_err(CudaError::driver("a kernel or a copy"))
    }
}

fn count() -> Result<usize, CudaError> {
    driver::whole()?;
    match result::init().and_then(|()| result::device::get_count()) {
        Ok(count) => Ok(usize::try_from(count).unwrap_or(0)),
        Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NO_DEVICE => Ok(0),
        Err(error) => Err(CudaError::driver("starting the driver")(error)),
    }
}

fn context(ordinal: usize) -> Result<Arc<CudaContext>, CudaError> {
    CudaContext::new(ordinal).map_err(CudaError::driver("taking the card into use"))
}

fn describe(context: &Arc<CudaContext>, ordinal: usize) -> Result<Card, CudaError> {
    let ask = CudaError::driver("asking for the card's properties");
    let attribute = |which| -> Result<u32, CudaError> {
        let value = context.attribute(which).map_err(&ask)?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let mut version = 0;
    // SAFETY: writes one integer.
    let got = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    got.result().map_err(&ask)?;
    let version = u32::try_from(version).unwrap_or(0);
    Ok(Card {
        ordinal,
        name: context.name().map_err(&ask)?,
        uuid: uuid(context).map_err(&ask)?,
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        bus: bus(context).map_err(&ask)?,
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        multiprocessor: Multiprocessor {
            registers: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            shared_bytes: attribute(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            )? as usize,
            reserved_bytes: attribute(
                Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
            )? as usize,
            threads: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            blocks: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
        },
        shared_bytes: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
            as usize,
        memory: context.total_mem().map_err(&ask)?,
        driver: (version / 1000, version % 1000 / 10),
    })
}

/// Returns the number of a card that no other has.
fn uuid(context: &Arc<CudaContext>) -> Result<String, DriverError> {
    let bytes = context.uuid()?.bytes;
    Ok(bytes.map(|byte| format!("{:02x}", byte as u8)).concat())
}

/// Returns the address of a card on the bus.
fn bus(context: &Arc<CudaContext>) -> Result<String, DriverError> {
    let mut text = [0_u8; 32];
    let length = text.len() as i32;
    // SAFETY: writes at most `length` bytes, the last of them a zero.
    let got =
        unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), length, context.cu_device()) };
    got.result()?;
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    Ok(text.to_string_lossy().into_owned())
}
