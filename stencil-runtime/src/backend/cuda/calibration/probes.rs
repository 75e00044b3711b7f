//! The measurements: kernels with one task each, as many blocks as the card holds, timed by events and by the counters
//! of its multiprocessors.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaFunction, CudaModule, CudaSlice, LaunchConfig, PushKernelArg};
use stencil_compiler::cost::{Fills, Rates};
use stencil_compiler::emit::Source;

use super::{Measured, graphs};
use crate::backend::cuda::card::OLDEST;
use crate::backend::cuda::kernels::launch::{function, one};
use crate::backend::cuda::{Cache, Card, CudaError, Opened};

/// The kernels.
const TEXT: &str = include_str!("probes.cu");

/// Threads of a block, as in the text.
pub(super) const THREADS: u32 = 256;

/// Multiply-adds of a thread in a round, as in the text.
const MULTIPLY_ADDS: f64 = 8.0 * 16.0;

/// Words of shared memory that a thread reads in a round, as in the text.
const WORDS: f64 = 4.0 * 16.0;

/// Seconds that a kernel should take, so that its start and its end do not count.
const TIMING: f64 = 0.012;

/// Rest before a kernel that is timed: as between schedules that race.
const REST: Duration = Duration::from_millis(20);

/// Timings, of which the median counts.
pub(super) const TIMINGS: usize = 5;

/// Time for which the card computes until it holds a clock, and the part at the end in which the clock is read.
const HELD: (Duration, Duration) = (Duration::from_millis(1200), Duration::from_millis(800));

/// The text of the kernels.
pub(super) fn source() -> Source {
    Source {
        name: "probes".into(),
        text: TEXT.into(),
        shared_bytes: 0,
        threads: [THREADS, 1, 1],
        needs: OLDEST,
        line_notes: Vec::new(),
        line_origins: Vec::new(),
    }
}

/// Measures a card; `expected` holds its rates by the data sheet.
pub(super) fn measure(
    card: &Card,
    cache: Option<&Cache>,
    copy_bytes: f64,
    expected: &Rates,
) -> Result<Measured, CudaError> {
    let mut probes = Probes::new(card, cache)?;
    let single = probes.burst(Probe::Single)?;
    let double = probes.burst(Probe::Double)?;
    let shared = probes.burst(Probe::Shared)?;
    // The launch is timed before the probes that heat the card up.
    let launch = graphs::launch(&probes.opened, &probes.wait)?;
    let of_bytes = |fills: &Fills| {
        let free = Rates { copy_bytes, fill: 0.0, ..*expected };
        fills.seconds(&free)
    };
    let fill = graphs::fill(&probes.opened, cache, of_bytes)?;
    Ok(Measured {
        copy_bytes,
        clock: single.clock(),
        held: probes.held()?,
        single: probes.a_cycle(single, MULTIPLY_ADDS),
        double: probes.a_cycle(double, MULTIPLY_ADDS),
        words: probes.a_cycle(shared, WORDS),
        launch,
        fill,
    })
}

/// A kernel with one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    Single,
    Double,
    Shared,
}

/// One launch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    rounds: i32,
    seconds: f64,
    /// Cycles of the block that took longest.
    cycles: f64,
}

impl Run {
    /// Returns the cycles in a second.
    fn clock(self) -> f64 {
        self.cycles / self.seconds
    }
}

/// The kernels on a card.
struct Probes {
    opened: Opened,
    single: CudaFunction,
    double: CudaFunction,
    shared: CudaFunction,
    wait: CudaFunction,
    /// Blocks that a multiprocessor holds at once.
    resident: u32,
    cycles: CudaSlice<i64>,
    never: CudaSlice<f64>,
    _module: Arc<CudaModule>,
}

impl Probes {
    fn new(card: &Card, cache: Option<&Cache>) -> Result<Self, CudaError> {
        let opened = Opened::new(card.ordinal)?;
        let module = one(&opened, cache, &source())?;
        let failed = CudaError::driver("taking memory on the card");
        let functions = [
            function(&module, "multiply_adds_f32")?,
            function(&module, "multiply_adds_f64")?,
            function(&module, "shared_words")?,
        ];
        // All blocks must be at work at once, or none of them would tell how long all took.
        let mut resident = opened.card.multiprocessor.threads / THREADS;
        for function in &functions {
            let most = function.occupancy_max_active_blocks_per_multiprocessor(THREADS, 0, None);
            resident = resident.min(most.map_err(CudaError::driver("counting blocks"))?);
        }
        let resident = resident.max(1);
        let blocks = resident * opened.card.multiprocessors;
        let [single, double, shared] = functions;
        Ok(Probes {
            single,
            double,
            shared,
            wait: function(&module, "wait_cycles")?,
            resident,
            cycles: opened.stream.alloc_zeros(blocks as usize).map_err(&failed)?,
            never: opened.stream.alloc_zeros(1).map_err(&failed)?,
            opened,
            _module: module,
        })
    }

    /// Returns the work of each multiprocessor in a cycle of a run whose threads do so much in a round.
    fn a_cycle(&self, run: Run, in_a_round: f64) -> f64 {
        let threads = f64::from(self.resident * THREADS);
        threads * f64::from(run.rounds) * in_a_round / run.cycles
    }

    fn run(&mut self, probe: Probe, rounds: i32) -> Result<Run, CudaError> {
        let failed = CudaError::driver("measuring the card");
        let config = LaunchConfig {
            grid_dim: (self.resident * self.opened.card.multiprocessors, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let stream = self.opened.stream.clone();
        // With this factor a chain goes to and fro between two numbers, in all of their bits.
        let (narrow, wide) = (-1.0_f32, -1.0_f64);
        let function = match probe {
            Probe::Single => &self.single,
            Probe::Double => &self.double,
            Probe::Shared => &self.shared,
        };
        let mut launch = stream.launch_builder(function);
        match probe {
            Probe::Single | Probe::Shared => launch.arg(&narrow),
            Probe::Double => launch.arg(&wide),
        };
        launch.arg(&rounds).arg(&mut self.cycles).arg(&mut self.never);
        let seconds = timed(&self.opened, || {
            // SAFETY: the arguments are those of the kernel, which writes a number for each block.
            unsafe { launch.launch(config) }.map(drop).map_err(&failed)
        })?;
        let copied = stream.clone_dtoh(&self.cycles).map_err(&failed)?;
        stream.synchronize().map_err(&failed)?;
        let most = copied.into_iter().max().unwrap_or(0);
        Ok(Run { rounds, seconds, cycles: most as f64 })
    }

    /// A run of about the usual time.
    fn usual(&mut self, probe: Probe) -> Result<Run, CudaError> {
        const FEW: i32 = 100;
        // The first launch waits for the kernel to be loaded.
        self.run(probe, 1)?;
        let few = self.run(probe, FEW)?;
        let rounds = f64::from(FEW) * TIMING / few.seconds.max(1e-9);
        self.run(probe, rounds.clamp(1.0, 1e8) as i32)
    }

    /// Returns the run with the median clock, of some runs after a rest.
    fn burst(&mut self, probe: Probe) -> Result<Run, CudaError> {
        let rounds = self.usual(probe)?.rounds;
        let mut runs = Vec::new();
        for _ in 0..TIMINGS {
            thread::sleep(REST);
            // The first one wakes the card up.
            self.run(probe, rounds / 10 + 1)?;
            runs.push(self.run(probe, rounds)?);
        }
        runs.sort_by(|a, b| a.clock().total_cmp(&b.clock()));
        Ok(runs[TIMINGS / 2])
    }

    /// Measures the clock after a while of multiply-adds without a rest.
    fn held(&mut self) -> Result<f64, CudaError> {
        let rounds = self.usual(Probe::Single)?.rounds;
        let begun = Instant::now();
        let (mut cycles, mut seconds) = (0.0, 0.0);
        while begun.elapsed() < HELD.0 {
            let is_late = begun.elapsed() > HELD.1;
            let run = self.run(Probe::Single, rounds)?;
            if is_late {
                cycles += run.cycles;
                seconds += run.seconds;
            }
        }
        Ok(cycles / seconds)
    }
}

/// Measures the seconds on the card of the work that is started.
pub(in crate::backend::cuda) fn timed<E: From<CudaError>>(
    opened: &Opened,
    mut start: impl FnMut() -> Result<(), E>,
) -> Result<f64, E> {
    let failed = CudaError::driver("timing a kernel");
    let flags = Some(CUevent_flags::CU_EVENT_DEFAULT);
    let event = || opened.context.new_event(flags).map_err(&failed);
    let (begin, end) = (event()?, event()?);
    begin.record(&opened.stream).map_err(&failed)?;
    start()?;
    end.record(&opened.stream).map_err(&failed)?;
    let ms = begin.elapsed_ms(&end).map_err(&failed)?;
    Ok(f64::from(ms) / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::compile::nvrtc::tests::nvrtc;

    #[test]
    fn the_text_compiles_for_each_architecture_and_spills_nothing() {
        let Some(nvrtc) = nvrtc() else {
            return;
        };
        for architecture in ["sm_80", "sm_90", "sm_100"] {
            let compiled = nvrtc.compile(TEXT, "probes.cu", architecture).unwrap();
            assert_eq!(compiled.kernels.len(), 5, "{}", compiled.log);
            for kernel in &compiled.kernels {
                // As many threads as a multiprocessor holds.
                let fits = kernel.registers <= 32 && !kernel.spills();
                assert!(fits, "{architecture}: {kernel:?}");
            }
        }
    }
}
