//! Peak rates of the processor, and the rates of a simulation; times of steps of a card in a [`burst`] after a rest
//! and when they are [`sustained`].
//!
//! ```
//! use stencil_runtime::bench::{peak, stream, time_steps};
//! use stencil_runtime::{Simulation, SystemDef};
//!
//! let heat = SystemDef::from_text("heat.pde", "
//!     pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
//!     scheme central6 for Heat { space: central<order = 6>; time: rk3_williamson; }
//! ")?;
//! let mut simulation = Simulation::<f32>::builder(&heat).cells([64, 64, 1]).dt(1e-5).build()?;
//! simulation.set("q", |x, _, _| x.sin())?;
//! let steps = time_steps(&mut simulation, 5)?;
//! println!("{:.1} million points a second", steps.best_points_per_second() / 1e6);
//!
//! let (peak, stream) = (peak::<f32>(1), stream(1));
//! println!("{:.0} Gflop/s of multiply-adds, {:.0} GB/s of a copy", peak.gflops, stream.copy_gb_s);
//! # assert!(steps.best() <= steps.median() && steps.best() > 0.0);
//! # assert!(peak.gflops > 0.1 && stream.copy_gb_s > 0.1 && stream.triad_gb_s > 0.1);
//! # Ok::<(), stencil_runtime::Error>(())
//! ```
//!
//! Other programs on the machine slow a measurement down and never speed it up: the best of many is nearest to the
//! peak of the machine.

mod protocol;

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use stencil_compiler::expr::real::Precision;

use crate::backend::cpu::{Checked, Lanes, OnLanes, Registers, run_on_lanes};
use crate::{Error, Instructions, Number, Simulation};

pub use protocol::{BURST, Sustained, batch, burst, steps_of, sustained};

/// Repetitions of each measurement.
const REPEAT: usize = 5;
/// Sums of multiply-adds that do not wait for each other: more than any processor has in progress, and few enough for
/// sixteen registers.
const CHAINS: usize = 12;
/// Multiply-adds in each sum.
const ROUNDS: usize = 200_000;
/// Bytes of an array of [`stream`], all threads together.
const ARRAY: usize = 128 << 20;
/// Bytes of an array that a thread has at least, more than its share of any cache.
const SHARE: usize = 16 << 20;

/// The rate of multiply-adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Billions of operations a second, all threads together; a multiply-add is two.
    pub gflops: f64,
    /// The instructions that were used: the widest of the processor.
    pub instructions: Instructions,
    /// The number of threads.
    pub threads: usize,
}

/// The rate of memory, in billions of bytes a second. Bytes that the processor reads only because it is going to write
/// them do not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// Rate of `a = b`: one array read, one written.
    pub copy_gb_s: f64,
    /// Rate of `a = b + s * c`: two arrays read, one written.
    pub triad_gb_s: f64,
    /// Bytes of each array, all threads together: more than the caches hold.
    pub array_bytes: usize,
    /// The number of threads.
    pub threads: usize,
}

/// The times of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTimes {
    /// Seconds of each step, the shortest first.
    pub seconds: Vec<f64>,
    /// Cells of the simulation.
    pub points: usize,
}

impl StepTimes {
    /// Returns the shortest step in seconds.
    pub fn best(&self) -> f64 {
        self.seconds.first().copied().unwrap_or(f64::NAN)
    }

    /// Returns the median step, in seconds.
    pub fn median(&self) -> f64 {
        let middle = self.seconds.get(self.seconds.len() / 2);
        middle.copied().unwrap_or(f64::NAN)
    }

    /// Returns the points that are advanced by a whole time step, a second, in the shortest step.
    pub fn best_points_per_second(&self) -> f64 {
        self.points as f64 / self.best()
    }
}

/// Measures the peak of multiply-adds in the precision of `T`, on a number of threads; at least one.
pub fn peak<T: Number>(threads: usize) -> Peak {
    let instructions = Instructions::best();
    let run = match T::PRECISION {
        Precision::F32 => multiply_adds::<f32>,
        Precision::F64 => multiply_adds::<f64>,
    };
    let (threads, best) = best_of(threads, |_| move || run(instructions));
    let flops = best.work.iter().sum::<f64>();
    Peak { gflops: flops / best.seconds / 1e9, instructions, threads }
}

/// Performs multiply-adds and returns the number of operations.
fn multiply_adds<T: Registers>(instructions: Instructions) -> f64 {
    let mut flops = 0.0;
    if let Ok(instructions) = Checked::new(instructions) {
        let values = [0.5, 0.999, 0.0005].map(T::from_f64);
        let flops = &mut flops;
        run_on_lanes(instructions, MultiplyAdds { values, flops });
    }
    flops
}

struct MultiplyAdds<'a, T> {
    values: [T; 3],
    flops: &'a mut f64,
}

impl<T: Registers> OnLanes for MultiplyAdds<'_, T> {
    type Value = T;

    #[inline(always)]
    fn run<V: Lanes<Value = T>>(self) {
        let [start, factor, addend] = black_box(self.values).map(V::splat);
        let mut sums = [start; CHAINS];
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = sum.fma(factor, addend);
            }
        }
        black_box(sums);
        *self.flops = (2 * V::COUNT * CHAINS * ROUNDS) as f64;
    }
}

/// Measures the rate of a copy and of a triad, on a number of threads; at least one. Each thread has its own part of
/// three arrays, which it touches first.
pub fn stream(threads: usize) -> Stream {
    let share = (ARRAY / threads.max(1)).max(SHARE);
    let arrays = || [1.0, 2.0, 3.0].map(|value| vec![value; share / size_of::<f64>()]);
    let (_, copy) = best_of(threads, |_| {
        let [mut a, b, _] = arrays();
        move || {
            a.copy_from_slice(black_box(&b));
            black_box(&a);
            (2 * share) as f64
        }
    });
    let (threads, triad) = best_of(threads, |_| {
        let [mut a, b, c] = arrays();
        move || {
            let s = black_box(0.5);
            for ((a, b), c) in a.iter_mut().zip(&b).zip(&c) {
                *a = b + s * c;
            }
            black_box(&a);
            (3 * share) as f64
        }
    });
    let rate = |best: Best| best.work.iter().sum::<f64>() / best.seconds / 1e9;
    Stream { copy_gb_s: rate(copy), triad_gb_s: rate(triad), array_bytes: share * threads, threads }
}

/// Times single steps of a simulation, after one that is not timed.
///
/// ```
/// # use stencil_runtime::{Simulation, SystemDef, bench::time_steps};
/// # let heat = SystemDef::from_text("h", "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }")?;
/// let mut simulation = Simulation::<f64>::builder(&heat).cells([100, 1, 1]).dt(1e-6).build()?;
/// let steps = time_steps(&mut simulation, 20)?;
/// assert_eq!((steps.seconds.len(), steps.points), (20, 100));
/// assert_eq!(simulation.step_count(), 21);
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
///
/// # Errors
/// If a step fails.
pub fn time_steps<T: Number>(
    simulation: &mut Simulation<T>,
    steps: usize,
) -> Result<StepTimes, Error> {
    simulation.step()?;
    let mut seconds = Vec::with_capacity(steps);
    for _ in 0..steps {
        let start = Instant::now();
        simulation.step()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let points = simulation.cells().iter().product();
    Ok(StepTimes { seconds, points })
}

/// The shortest of some repetitions.
struct Best {
    /// From the start of the first thread to the end of the last one.
    seconds: f64,
    /// The work that each thread has done.
    work: Vec<f64>,
}

/// Repeats some work on threads that start together; a thread makes its work by `prepare`. Returns the number of
/// threads, fewer if the system gives no more, and the shortest repetition.
fn best_of<W: FnMut() -> f64>(
    threads: usize,
    prepare: impl Fn(usize) -> W + Sync,
) -> (usize, Best) {
    let threads = threads.clamp(1, thread::available_parallelism().map_or(1, |n| 4 * n.get()));
    let (barrier, zero) = (Barrier::new(threads), Instant::now());
    let measure = |thread: usize| {
        let mut work = prepare(thread);
        // The first time touches memory, and is not counted.
        work();
        let repetitions = (0..REPEAT).map(|_| {
            barrier.wait();
            let start = zero.elapsed();
            let done = work();
            (start, zero.elapsed(), done)
        });
        repetitions.collect::<Vec<_>>()
    };
    let all: Vec<Vec<(Duration, Duration, f64)>> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|i| scope.spawn(move || measure(i))).collect();
        let own = measure(0);
        let others = others.into_iter().filter_map(|thread| thread.join().ok());
        std::iter::once(own).chain(others).collect()
    });
    let repetition = |i: usize| {
        let start = all.iter().map(|times| times[i].0).min().unwrap_or_default();
        let end = all.iter().map(|times| times[i].1).max().unwrap_or_default();
        Best {
            seconds: (end - start).as_secs_f64().max(1e-9),
            work: all.iter().map(|times| times[i].2).collect(),
        }
    };
    let rate = |best: &Best| best.work.iter().sum::<f64>() / best.seconds;
    let mut best = repetition(0);
    for next in (1..REPEAT).map(repetition) {
        if rate(&next) > rate(&best) {
            best = next;
        }
    }
    (threads, best)
}
