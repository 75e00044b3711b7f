//! The time of a launch of a captured graph beside its work: the gap between kernels, and the least time of a fill of
//! ghost cells.

use std::slice;

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaFunction, LaunchConfig, PushKernelArg};
use stencil_compiler::cost::Fills;
use stencil_compiler::emit;
use stencil_compiler::plan::Place;
use stencil_compiler::schedule::Layout;

use super::probes::{THREADS, TIMINGS, timed};
use crate::backend::cuda::kernels::builtin::{Form, own};
use crate::backend::cuda::kernels::ghosts::{Ghosts, Share};
use crate::backend::cuda::memory::patches::MeshShape;
use crate::backend::cuda::memory::{self, Memory};
use crate::backend::cuda::{Cache, CudaError, Opened};
use crate::field::{Cut, Shape};
use crate::mesh::{Boundaries, Mesh, Neighbours, Patches};

/// Launches of a captured graph.
const CAPTURED: u32 = 100;

/// Cycles that a kernel waits, in each of two graphs.
const WAITS: [i64; 2] = [6_000, 18_000];

/// Cells along each axis and ghost cells of the mesh whose fill is timed: so few that they take no time.
const FILLED: (usize, u32) = (64, 3);

/// Measures the seconds between kernels. Kernels of one graph wait for more cycles than kernels of the other, so the
/// time beside the wait needs no clock that was measured elsewhere.
pub(super) fn launch(opened: &Opened, wait: &CudaFunction) -> Result<f64, CudaError> {
    let failed = CudaError::driver("starting a kernel");
    let config = LaunchConfig {
        grid_dim: (opened.card.multiprocessors, 1, 1),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: 0,
    };
    let waiting = |cycles: i64| {
        a_launch(opened, || {
            let mut launch = opened.stream.launch_builder(wait);
            launch.arg(&cycles);
            // SAFETY: the argument is that of the kernel, which touches no memory.
            unsafe { launch.launch(config) }.map(drop).map_err(&failed)
        })
    };
    let (short, long) = (waiting(WAITS[0])?, waiting(WAITS[1])?);
    Ok(beside(WAITS, [short, long]))
}

/// Returns the seconds that two kernels take beside their work, which is proportional to these numbers.
fn beside(work: [i64; 2], seconds: [f64; 2]) -> f64 {
    let share = work[0] as f64 / (work[1] - work[0]) as f64;
    seconds[0] - share * (seconds[1] - seconds[0])
}

/// Measures the seconds of a launch that fills few ghost cells, with the gap behind it, less the time of their bytes
/// by the model.
pub(super) fn fill(
    opened: &Opened,
    cache: Option<&Cache>,
    seconds_of_bytes: impl Fn(&Fills) -> f64,
) -> Result<f64, CudaError> {
    let (side, depth) = FILLED;
    let no_shape = || CudaError::Driver {
        call: "filling ghost cells",
        reason: "a small mesh has no shape".into(),
    };
    let mesh = Mesh { cells: [side; 3], extent: [1.0; 3], origin: [0.0; 3], centered: true };
    let patches = Patches::one(mesh.cells);
    let halo = [depth as usize; 3];
    let shape = Shape::new(mesh.cells, halo, size_of::<f32>());
    let cut = Cut::new(shape.ok_or_else(no_shape)?, patches, halo, size_of::<f32>());
    let cut = cut.map_err(|_| no_shape())?;
    let stride = memory::stride::<f32>(&cut.patch) / size_of::<f32>();
    let shape = MeshShape::new(&cut, &mesh, stride);
    let place = vec![Place::alone(0)];
    let memory = Memory::new::<f32>((0, slice::from_ref(opened)), &cut.patch, place, patches)?;
    let form = Form { patches: emit::Patches::One, layout: Layout::Soa, across: false };
    let kernels = own::<f32>(opened, cache, form)?;
    let periodic = Boundaries {
        rules: Vec::new(),
        sources: Vec::new(),
        halves: Vec::new(),
        periodic: [true; 3],
        words: Vec::new(),
    };
    let stream = &opened.stream;
    let ghosts = Ghosts::new(
        stream,
        kernels.fill_ghosts()?,
        (shape, Neighbours::new(&patches, [true; 3])),
        &periodic,
        size_of::<f32>(),
    )?;
    let boxes = ghosts.boxes(stream, (shape, false), [(0, None, halo.into())], Share::WHOLE)?;
    let boxes = boxes.ok_or_else(no_shape)?;
    let arrays = memory.addresses(stream, [0]);
    let seconds = a_launch(opened, || ghosts.fill(stream, &boxes, &arrays))?;
    let fills = Fills::new(1, [depth; 3], mesh.cells, size_of::<f32>());
    Ok(seconds - seconds_of_bytes(&fills))
}

/// Returns the seconds of a launch, of many that were captured one behind the other.
fn a_launch(opened: &Opened, start: impl Fn() -> Result<(), CudaError>) -> Result<f64, CudaError> {
    let failed = CudaError::driver("capturing kernels");
    let stream = &opened.stream;
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).map_err(&failed)?;
    let started = (0..CAPTURED).try_for_each(|_| start());
    let graph = stream.end_capture(CUgraphInstantiate_flags(0));
    started?;
    let graph = graph.map_err(&failed)?.ok_or_else(|| CudaError::Driver {
        call: "capturing kernels",
        reason: "nothing was captured".into(),
    })?;
    graph.upload().map_err(&failed)?;
    let failed = CudaError::driver("replaying kernels");
    let replay = || graph.launch().map_err(&failed);
    let mut all = Vec::new();
    for _ in 0..TIMINGS {
        // The host is ahead of the card while this runs, so its own time does not count.
        replay()?;
        all.push(timed(opened, replay)? / f64::from(CAPTURED));
    }
    all.sort_by(f64::total_cmp);
    Ok(all[TIMINGS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beside_the_work_needs_no_clock() {
        // 1.3 us and 6000 or 18000 cycles at 1.5 GHz.
        let seconds = WAITS.map(|cycles| 1.3e-6 + cycles as f64 / 1.5e9);
        assert!((beside(WAITS, seconds) - 1.3e-6).abs() < 1e-15);
    }
}
