//! Devices: each backend owns its memory, its launches and its vendor's words.

pub mod cpu;
pub mod cuda;
mod device;
pub(crate) mod stream;

use std::any::Any;
use std::sync::Arc;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;

use crate::field::Fields;
use crate::{Error, Number};
use cpu::{Checked, Evaluation};
pub(crate) use device::{Device, Renew};
use stream::{Passes, Passing, Streamed};

/// Returns the card that does the steps of a run, if one does.
pub(crate) fn on_card<T: Number>(device: &dyn Device<T>) -> Option<&cuda::Machine<T>> {
    let device: &dyn Any = device;
    let streamed = device.downcast_ref::<Streamed<T, cuda::CardWindow<T>>>();
    match streamed {
        Some(streamed) => streamed.window().map(|window| &window.machine),
        None => device.downcast_ref(),
    }
}

/// Returns how a mesh passes through a device, if it does.
pub(crate) fn streamed<T: Number>(device: &dyn Device<T>) -> Option<Passes> {
    let device: &dyn Any = device;
    let on_processor = device.downcast_ref::<Streamed<T, cpu::Machine<T>>>();
    let on_card = device.downcast_ref::<Streamed<T, cuda::CardWindow<T>>>();
    on_processor.map(Passing::passes).or_else(|| on_card.map(Passing::passes))
}

/// Returns the same card, to be changed.
pub(crate) fn on_card_mut<T: Number>(device: &mut dyn Device<T>) -> Option<&mut cuda::Machine<T>> {
    let device: &mut dyn Any = device;
    device.downcast_mut()
}

/// Quantities of all cells, prepared to be evaluated and reduced to one number each.
#[derive(Clone, Debug)]
pub(crate) struct Reducer {
    evaluation: Arc<Evaluation>,
    reductions: Vec<Reduction>,
    /// Its number on the device.
    number: usize,
}

impl Reducer {
    /// Prepares some updates of an algorithm with one substep and the states of a run.
    pub(crate) fn new<T: Number>(
        device: &mut dyn Device<T>,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
        instructions: Checked,
    ) -> Result<Self, Error> {
        let which: Vec<usize> = updates.iter().map(|(update, _)| *update).collect();
        Ok(Reducer {
            evaluation: Evaluation::new(algorithm, &which, device.fields(), instructions)?.into(),
            reductions: updates.iter().map(|(_, reduction)| *reduction).collect(),
            number: device.add_reducer(algorithm, updates)?,
        })
    }

    /// Do the quantities of a cell follow from its own values, whatever the time?
    pub(crate) fn is_local(&self) -> bool {
        !self.evaluation.reads_neighbours
    }

    /// Returns the number of quantities.
    pub(crate) fn count(&self) -> usize {
        self.reductions.len()
    }

    /// Reduces some rows of a device with one patch to their numbers.
    pub(crate) fn rows<T: Number>(
        &self,
        fields: &Fields<T>,
        uniforms: &[f64],
        wanted: &[usize],
    ) -> Vec<Vec<f64>> {
        self.evaluation.reduce_rows(fields, (&self.reductions, uniforms), wanted)
    }

    /// Reduces the numbers of all rows of a mesh.
    pub(crate) fn total(&self, rows: &[Vec<f64>], cells: [usize; 3]) -> Vec<f64> {
        cpu::total(&self.reductions, rows, cells)
    }

    /// Are sources read?
    pub(crate) fn reads_sources(&self) -> bool {
        self.evaluation.reads_given
    }

    /// Returns the first cell, in order, with the largest value of one of the quantities; the host searches for it.
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
