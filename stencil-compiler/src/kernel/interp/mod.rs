//! Runs a [`Kernel`] on a patch, as badly as its synchronization allows.
//!
//! Blocks run in any order, and of a block's warps any one may run ahead until it must wait. Asynchronous copies and
//! boxes land as late as the barrier that they arrive on permits, boxes in any order. Every value knows whether it has
//! been written, and vector clocks with shadow memory tell whether accesses of two warps are ordered. An error that a
//! device makes once in a million runs is a [`Fault`] here.
//!
//! ```text
//! program   statements as a flat list of instructions
//! warp      registers, masks and loops of 32 threads in lockstep
//! global    buffers, with readers and writer of each cell   shared    shared arrays, likewise
//! barrier   phases, and the copies and clocks they carry    machine   a block: one warp's turn
//! schedule  which warp next, and when copies arrive
//! asynchronous  operations that complete later: copies, boxes, waits
//! ```

use std::ops::AddAssign;

use super::{BlockBox, Kernel, WARP};
use crate::expr::Real;

mod array;
mod asynchronous;
mod barrier;
mod fault;
pub mod faults;
mod global;
mod machine;
mod program;
mod schedule;
mod shared;
mod warp;

#[cfg(test)]
mod tests;

pub use array::GlobalArray;
pub use fault::{Fault, FaultKind};

/// The options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Chooses the order of blocks and warps and when copies land; consecutive seeds go through
    /// all kinds of orders.
    pub seed: u64,
    /// Are races detected?
    pub shadow: Shadow,
}

/// The records of each access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shadow {
    /// The author and time of each access, which finds races.
    Full,
    /// Written values only. Orders are as bad and copies as late, so that an error still shows in the result.
    Off,
}

/// The statistics of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Blocks run.
    pub blocks: u64,
    /// Statements run, each by a warp.
    pub statements: u64,
    /// Statements run, each by a thread.
    pub lanes: u64,
    /// Asynchronous copies and boxes started by threads.
    pub copies: u64,
    /// Iterations of loops that end by a test, each by a thread.
    pub iterations: u64,
    /// The same with those in which a thread waits for others of its warp, and threads without work.
    pub iteration_slots: u64,
}

impl Report {
    /// Share of a warp's threads that do not take part in a statement, of all statements.
    pub fn idle(&self) -> f64 {
        idle(self.lanes, WARP as u64 * self.statements)
    }

    /// Share of a warp's threads that do not take part in an iteration of a loop, of all iterations of the warps.
    pub fn idle_in_loops(&self) -> f64 {
        idle(self.iterations, self.iteration_slots)
    }
}

/// The share of slots that are not used; zero if there are none.
fn idle(used: u64, slots: u64) -> f64 {
    if slots == 0 { 0.0 } else { 1.0 - used as f64 / slots as f64 }
}

impl AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.statements += other.statements;
        self.lanes += other.lanes;
        self.copies += other.copies;
        self.iterations += other.iterations;
        self.iteration_slots += other.iteration_slots;
    }
}

/// Runs a kernel on a patch of `cells` interior cells; `buffers` and `uniforms` in the order of
/// the kernel's.
///
/// # Errors
/// The first [`Fault`]: an access out of bounds, a race, a deadlock, a cell not written, ...
pub fn run<T: Real>(
    kernel: &Kernel,
    cells: [usize; 3],
    buffers: &mut [GlobalArray<T>],
    uniforms: &[T],
    options: Options,
) -> Result<Report, Fault> {
    run_parts(kernel, cells, buffers, uniforms, options, &[])
}

/// The same for some parts of all blocks: first those of one part, then those of the next. Without parts, all blocks
/// are one.
///
/// # Errors
/// As [`run`]; each part writes the cells of its blocks, and no others.
pub fn run_parts<T: Real>(
    kernel: &Kernel,
    cells: [usize; 3],
    buffers: &mut [GlobalArray<T>],
    uniforms: &[T],
    options: Options,
    parts: &[BlockBox],
) -> Result<Report, Fault> {
    kernel.check().map_err(|message| Fault::of_kernel(FaultKind::Invalid, message))?;
    fit(kernel, cells, buffers, uniforms)?;
    machine::Machine::new(kernel, cells, buffers, uniforms, options).run(parts)
}

/// Checks that the arguments of a run fit a kernel.
fn fit<T: Real>(
    kernel: &Kernel,
    cells: [usize; 3],
    buffers: &[GlobalArray<T>],
    uniforms: &[T],
) -> Result<(), Fault> {
    let invalid = |message: String| Err(Fault::of_kernel(FaultKind::Invalid, message));
    if kernel.value_bytes != T::BYTES {
        return invalid(format!(
            "the kernel has values of {} bytes, the run of {}",
            kernel.value_bytes,
            T::BYTES
        ));
    }
    if kernel.uniforms.len() != uniforms.len() || kernel.buffers.len() != buffers.len() {
        return invalid(format!(
            "{} uniforms and {} buffers for {} and {}",
            uniforms.len(),
            buffers.len(),
            kernel.uniforms.len(),
            kernel.buffers.len()
        ));
    }
    for (buffer, array) in kernel.buffers.iter().zip(buffers) {
        if array.cell_stride != buffer.cell_stride()
            || array.cells() != cells
            || (0..3).any(|a| array.halo()[a] < buffer.halo[a] as usize)
        {
            return invalid(format!(
                "the array for {} has another shape than the patch and its halo",
                buffer.name
            ));
        }
    }
    Ok(())
}
