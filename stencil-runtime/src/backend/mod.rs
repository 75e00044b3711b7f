//! Devices: each backend owns its memory, its launches and its vendor's words.

pub mod cpu;
pub mod cuda;

use ndarray::ArrayView3;
use rayon::ThreadPool;

use crate::{Error, Number};
use cpu::Patch;

/// What does the steps of a run.
#[derive(Debug)]
pub(crate) enum Machine<T> {
    /// The host's processor.
    Cpu(Box<cpu::Machine<T>>),
    /// A card.
    Cuda(Box<cuda::Machine<T>>),
}

impl<T: Number> Machine<T> {
    /// Names and shape of the arrays; their values may be elsewhere.
    pub(crate) fn patch(&self) -> &Patch<T> {
        match self {
            Machine::Cpu(machine) => &machine.patch,
            Machine::Cuda(machine) => machine.patch(),
        }
    }

    /// The values of a buffer.
    pub(crate) fn interior(&self, buffer: usize) -> Result<ArrayView3<'_, T>, Error> {
        match self {
            Machine::Cpu(machine) => {
                let bug = || Error::Bug(format!("buffer {buffer} has no shape"));
                machine.patch.interior(buffer).ok_or_else(bug)
            }
            Machine::Cuda(machine) => machine.interior(buffer),
        }
    }

    /// Evaluates something on the threads of the host, which sees all fields and sources.
    pub(crate) fn on_host<R: Send>(
        &mut self,
        pool: &ThreadPool,
        evaluate: impl FnOnce(&mut Patch<T>) -> R + Send,
    ) -> Result<R, Error> {
        match self {
            Machine::Cpu(machine) => Ok(pool.install(|| evaluate(&mut machine.patch))),
            Machine::Cuda(machine) => machine.on_host(|patch| pool.install(|| evaluate(patch))),
        }
    }

    /// Sets a field or a source and some ghost cells around it.
    pub(crate) fn set(
        &mut self,
        pool: &ThreadPool,
        buffer: usize,
        depth: [usize; 3],
        value: impl Fn([isize; 3]) -> T + Sync,
    ) -> Result<(), Error> {
        match self {
            Machine::Cpu(machine) => {
                pool.install(|| machine.patch.set(buffer, depth, &value));
                Ok(())
            }
            Machine::Cuda(machine) => machine.set(pool, buffer, depth, value),
        }
    }

    /// Memory of all arrays in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Machine::Cpu(machine) => machine.bytes(),
            Machine::Cuda(machine) => machine.bytes(),
        }
    }
}
