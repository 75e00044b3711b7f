//! Resources of a card that the kernels of a step take.

use cudarc::driver::CudaFunction;
use stencil_compiler::cost::Bound;
use stencil_compiler::emit::Source;
use stencil_compiler::kernel::Multiprocessor;
use stencil_compiler::plan::Launch;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::compile::nvrtc::Resources;

/// A kernel that a step launches, and the resources of a multiprocessor that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// Its name.
    pub name: String,
    /// The substep it belongs to, from 0.
    pub substep: usize,
    /// Threads of a block.
    pub threads: u32,
    /// Registers, spills and barriers, as its compiler reports them.
    pub resources: Resources,
    /// Bytes of shared memory of a block.
    pub shared_bytes: usize,
    /// Blocks that a multiprocessor holds at once, as the driver counts them.
    pub resident: u32,
    /// The share of a multiprocessor's warps that these blocks use.
    pub occupancy: f64,
    /// The resource that allows no more of them.
    pub bound: Bound,
}

impl Launched {
    /// The kernel of a launch on a card with such multiprocessors; `resources` are those of its compiler.
    pub(crate) fn new(
        multiprocessor: &Multiprocessor,
        function: &CudaFunction,
        source: &Source,
        launch: &Launch,
        resources: Resources,
    ) -> Result<Self, CudaError> {
        let threads: u32 = source.threads.iter().product();
        let resident = function.occupancy_max_active_blocks_per_multiprocessor(
            threads,
            source.shared_bytes,
            None,
        );
        let resident = resident.map_err(CudaError::driver("counting blocks"))?;
        let shared_bytes = source.shared_bytes + resources.shared_bytes as usize;
        let bound = multiprocessor.occupancy(threads, resources.registers, shared_bytes);
        Ok(Launched {
            name: launch.name.clone(),
            substep: launch.substep,
            threads,
            shared_bytes,
            resident,
            occupancy: multiprocessor.share(resident, threads),
            bound: bound.bound,
            resources,
        })
    }
}
