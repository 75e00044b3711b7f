//! Errors of cards, and the way out of each.

use std::fmt::Write as _;

use stencil_compiler::emit::EmitError;

use super::card::driver;
use crate::backend::cuda::compile::nvrtc::NvrtcError;
use crate::transport::Carrier;

/// The reason why a card could not be used, or a run on it had to end.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver's library is not on this machine.
    #[error(
        "no NVIDIA driver: the system loader knows no libcuda.so.1; install the driver, or run without `--backend cuda`"
    )]
    NoDriver,
    /// The driver's library is there and lacks a function.
    #[error(
        "the NVIDIA driver has no {function}: its libcuda.so.1 is older than CUDA 12.0, damaged, or none of NVIDIA's; install a newer driver, or run without `--backend cuda`"
    )]
    IncompleteDriver {
        /// The first function that is missing.
        function: &'static str,
    },
    /// Opening the card ended by a fault of the driver or of the program.
    #[error(
        "the NVIDIA driver could not be started, as its start ended by a fault; run without `--backend cuda`"
    )]
    Died,
    /// The driver finds no card.
    #[error("the NVIDIA driver finds no card{hidden}; run without `--backend cuda`")]
    NoCard {
        /// The setting that may hide it, or nothing.
        hidden: String,
    },
    /// There is no card of this number.
    #[error("there is no card {ordinal}; there are {count}, counted from 0")]
    Ordinal {
        /// The number asked for.
        ordinal: usize,
        /// The number of cards.
        count: usize,
    },
    /// A card that the generated code does not run on.
    #[error(
        "{name} has compute capability {}.{}; 8.0 or newer is needed: run without `--backend cuda`",
        capability.0, capability.1
    )]
    Capability {
        /// The card.
        name: String,
        /// Its compute capability.
        capability: (u32, u32),
    },
    /// A kernel needs a newer card than the one that it is compiled for.
    #[error(
        "kernel `{kernel}` has boxes copied (`loader=1` or `loader=2` of `march`), which {architecture} cannot: compute capability {}.{} or newer is needed; use `loader=0`",
        needs.0, needs.1
    )]
    Architecture {
        /// The kernel.
        kernel: String,
        /// The compute capability that it needs.
        needs: (u32, u32),
        /// The architecture that it was to be compiled for.
        architecture: String,
    },
    /// The driver cannot describe arrays to the copy engine of a card.
    #[error(
        "the NVIDIA driver has no cuTensorMapEncodeTiled, which came with CUDA 12.0 and kernels need that have boxes copied; install a newer driver, or use `loader=0` of `march`"
    )]
    NoMaps,
    /// The arrays do not fit into the memory of the card.
    #[error("{}", out_of_memory(*card, [*needed, *free, *total], arrays, *fits))]
    Memory {
        /// The number of the card, if it is one of several.
        card: Option<usize>,
        /// Bytes needed.
        needed: usize,
        /// Bytes free on the card.
        free: usize,
        /// Bytes of the card.
        total: usize,
        /// The arrays, and the bytes of each.
        arrays: Vec<(String, usize)>,
        /// Cells along each axis of the largest grid of this shape that fits.
        fits: [usize; 3],
    },
    /// The part of the arrays that one of several cards is to have does not fit into its memory.
    #[error(
        "card {card} has no room for its part of the arrays, {:.2} GB: use fewer cells, more cards, or cards that no other program uses",
        *bytes as f64 / 1e9
    )]
    PartOfMemory {
        /// The number of the card.
        card: usize,
        /// Bytes of its part.
        bytes: usize,
    },
    /// A card that cannot share its memory.
    #[error(
        "the driver cannot map the memory of card {card} for other cards: run on one card, or on cards that allow it"
    )]
    NoMapping {
        /// The number of the card.
        card: usize,
    },
    /// Two cards of a run that cannot read the memory of each other.
    #[error(
        "card {card} cannot read the memory of card {other}: give cards that are joined by NVLink or one PCIe switch, which `nvidia-smi topo -m` shows, or run on one card"
    )]
    NoAccess {
        /// The number of the card that would read.
        card: usize,
        /// The number of the other card.
        other: usize,
    },
    /// Cards of a run that need different machine code.
    #[error(
        "cards that share a run have one architecture, and card {card} has {architecture} beside {of_first} of the first one: give cards of one kind"
    )]
    Unlike {
        /// The number of the card.
        card: usize,
        /// Its architecture.
        architecture: String,
        /// The architecture of the first card.
        of_first: String,
    },
    /// Surfaces of a run on several cards.
    #[error("a surface lies in the memory of one card: use `layout soa` on several cards")]
    SharedSurface,
    /// Arrays whose positions do not fit into 32 bits.
    #[error("{}", too_large(*cells, *values, *of))]
    TooLarge {
        /// Interior cells.
        cells: [usize; 3],
        /// Values of an array, or of all arrays that lie side by side.
        values: usize,
        /// The number of arrays that lie side by side.
        of: usize,
    },
    /// More values on faces than positions of 32 bits tell apart.
    #[error(
        "boundary conditions that are formulas have {values} values on the faces of this mesh, and a card has room for {}: give numbers, or use fewer cells",
        i32::MAX
    )]
    Tables {
        /// Values on all faces with such a condition, of all components.
        values: usize,
    },
    /// Surfaces larger than the card allows.
    #[error(
        "surfaces of {} x {} x {} values, with ghost cells and those between patches, are larger than this card has them, which is {} x {} x {}: use `layout soa`",
        extents[0], extents[1], extents[2], most[0], most[1], most[2]
    )]
    Surface {
        /// Values along each axis.
        extents: [usize; 3],
        /// Values along each axis that a surface has at most.
        most: [usize; 3],
    },
    /// A kernel needs more shared memory than a block may have on this card.
    #[error(
        "kernel `{kernel}` needs {needed} bytes of shared memory, a block of {name} has {limit}; choose smaller tiles"
    )]
    Shared {
        /// The kernel.
        kernel: String,
        /// Bytes needed.
        needed: usize,
        /// The card.
        name: String,
        /// Bytes that a block may have.
        limit: usize,
    },
    /// A kernel could not be made.
    #[error("kernel `{kernel}` cannot be generated: {reason}")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// The reason.
        reason: String,
    },
    /// A kernel of a sealed cache is missing or damaged.
    #[error("{what} {reason}; export again with the program that reads it")]
    NotKept {
        /// The kernel.
        what: String,
        /// The fault.
        reason: &'static str,
    },
    /// A kernel could not be written as text.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// NVRTC is missing or refused a kernel.
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
    /// A carrier of values between cards that cannot be used.
    #[error("`--transport {carrier}` cannot be used: {reason}; leave it out for one that can")]
    Carrier {
        /// The carrier that was asked for.
        carrier: Carrier,
        /// The reason.
        reason: String,
    },
    /// A call of NCCL failed.
    #[error(
        "NCCL failed ({call}): {reason}; `NCCL_DEBUG=WARN` lets it say more, and `--transport staged` is without it"
    )]
    Nccl {
        /// The call that failed.
        call: &'static str,
        /// The words of the library.
        reason: String,
    },
    /// A call of the driver failed.
    #[error("{call} failed: {reason}")]
    Driver {
        /// The call that failed.
        call: &'static str,
        /// The driver's words.
        reason: String,
    },
}

impl CudaError {
    /// Returns a function from the error of the driver to that of a call.
    pub(crate) fn driver(call: &'static str) -> impl Fn(cudarc::driver::DriverError) -> Self {
        move |error| CudaError::Driver { call, reason: driver::words(error) }
    }
}

fn too_large(cells: [usize; 3], values: usize, of: usize) -> String {
    let most = i32::MAX;
    match of {
        1 => format!(
            "an array of {cells:?} cells has {values} values with its ghost cells; kernels count them in 31 bits: \
             use at most {most} values an array, or more patches"
        ),
        _ => format!(
            "{of} arrays of {cells:?} cells that lie side by side have {values} values with their ghost cells; \
             kernels count them in 31 bits: use at most {most} values, or use `layout soa`, or more patches"
        ),
    }
}

fn out_of_memory(
    card: Option<usize>,
    [needed, free, total]: [usize; 3],
    arrays: &[(String, usize)],
    fits: [usize; 3],
) -> String {
    let gigabytes = |bytes: usize| bytes as f64 / 1e9;
    let card = card.map_or("the card".to_string(), |card| format!("card {card}"));
    let mut text = format!(
        "the run needs {:.2} GB on {card}, which has {:.2} GB free of {:.2} GB:\n",
        gigabytes(needed),
        gigabytes(free),
        gigabytes(total)
    );
    for (what, bytes) in arrays {
        let _ = writeln!(text, "  {:>10.3} GB  {what}", gigabytes(*bytes));
    }
    let _ = write!(
        text,
        "the largest grid of this shape that fits has {} x {} x {} cells",
        fits[0], fits[1], fits[2]
    );
    text
}
