//! Devices: each backend owns its memory, its launches and its vendor's words.

pub mod cpu;
pub mod cuda;
mod device;

use std::any::Any;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;

use crate::{Error, Number};
use cpu::{Checked, Evaluation};
pub(crate) use device::{Device, Renew};

/// The card that does the steps of a run, if one does.
pub(crate) fn on_card<T: Number>(device: &dyn Device<T>) -> Option<&cuda::Machine<T>> {
    let device: &dyn Any = device;
    device.downcast_ref()
}

/// The same, to be changed.
pub(crate) fn on_card_mut<T: Number>(device: &mut dyn Device<T>) -> Option<&mut cuda::Machine<T>> {
    let device: &mut dyn Any = device;
    device.downcast_mut()
}

/// Quantities of all cells, made ready for what evaluates them and reduces each to a number.
#[derive(Debug)]
pub(crate) struct Reducer {
    evaluation: Evaluation,
    reductions: Vec<Reduction>,
    /// The number that the device knows it by.
    number: usize,
}

impl Reducer {
    /// Makes ready some updates of an algorithm with one substep and the states of a run.
    pub(crate) fn new<T: Number>(
        device: &mut dyn Device<T>,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
        instructions: Checked,
    ) -> Result<Self, Error> {
        let which: Vec<usize> = updates.iter().map(|(update, _)| *update).collect();
        Ok(Reducer {
            evaluation: Evaluation::new(algorithm, &which, device.fields(), instructions)?,
            reductions: updates.iter().map(|(_, reduction)| *reduction).collect(),
            number: device.add_reducer(algorithm, updates)?,
        })
    }

    /// Are sources read?
    pub(crate) fn reads_sources(&self) -> bool {
        self.evaluation.reads_given
    }

    /// The cell with the largest value of one of the quantities, the first one in order; it is looked for on the host.
    pub(crate) fn first_largest<T: Number>(
        &self,
        device: &mut dyn Device<T>,
        which: usize,
        uniforms: &[f64],
        t: f64,
    ) -> Result<[usize; 3], Error> {
        let mut cell = [0; 3];
        device.on_host(&mut |fields| {
            cell = self.evaluation.first_largest(fields, which, uniforms, t);
        })?;
        Ok(cell)
    }
}
