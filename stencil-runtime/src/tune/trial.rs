//! A schedule that is tried: what it should take, and what it took.

use stencil_compiler::cost::{Fills, KernelCost, Limit, Rates, StepTime, Time};
use stencil_compiler::schedule::Schedule;

use super::Candidate;
use crate::backend::cuda::Launched;
use crate::bench::Sustained;
use crate::simulation::builder::Predicted;

/// What became of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// The model puts it behind those that were tried.
    Ranked,
    /// There was no time left for it.
    Late,
    /// It cannot be faster than what was measured, by the model.
    Hopeless,
    /// It was not compiled, or did not run.
    Failed {
        /// Why.
        reason: String,
    },
    /// It ran, and others were faster.
    Slower,
    /// It ran, and some values were not those of the processor.
    Wrong {
        /// How many.
        differing: usize,
    },
    /// It is the one that was found.
    Best,
}

/// A schedule, what it is predicted to take, and what it took.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The number of its discrete problem among those that were searched.
    pub form: usize,
    /// The schedule.
    pub schedule: Schedule,
    /// What its kernels cost, by the model.
    pub costs: Vec<KernelCost>,
    /// The kernels as the card runs them; none if it was not built.
    pub kernels: Vec<Launched>,
    /// Predicted seconds of a step in a burst; with the registers of the compiler once they are known.
    pub predicted: f64,
    /// Predicted seconds of a step without rests.
    pub predicted_sustained: f64,
    /// The share of the clock that it is predicted to hold then.
    pub held: f64,
    /// Seconds that a step takes at least, by the model.
    pub least: f64,
    /// What bounds the kernel that is predicted to take longest.
    pub limit: Limit,
    /// Seconds of a step in each batch that was timed, after a rest.
    pub batches: Vec<f64>,
    /// What it took without rests; of those that were left at the end alone.
    pub sustained: Option<Sustained>,
    /// What became of it.
    pub fate: Fate,
    /// Registers of its kernels, and bytes that they spill, as a compiler reports them in a search without a card.
    pub(super) compiled: Option<Vec<(u32, u32)>>,
    /// Ghost cells that are filled in a step.
    fills: Fills,
    /// The number of its kernels.
    pub(super) identity: u64,
}

impl Trial {
    pub(super) fn new(
        Candidate { form, schedule }: Candidate,
        predicted: Predicted,
        cells: [usize; 3],
        rates: &Rates,
    ) -> Self {
        let value_bytes = predicted.costs.first().map_or(0, |cost| cost.value_bytes);
        let mut trial = Trial {
            form,
            schedule,
            fills: Fills::of(&predicted.plan, cells, value_bytes),
            identity: predicted.kernels,
            costs: predicted.costs,
            kernels: Vec::new(),
            compiled: None,
            predicted: f64::INFINITY,
            predicted_sustained: f64::INFINITY,
            held: 1.0,
            least: 0.0,
            limit: Limit::Memory,
            batches: Vec::new(),
            sustained: None,
            fate: Fate::Ranked,
        };
        trial.predict(cells, rates);
        trial
    }

    /// The schedule, and what it is of.
    pub(super) fn candidate(&self) -> Candidate {
        Candidate {
            form: self.form,
            schedule: self.schedule.clone(),
        }
    }

    /// Predicts, with what is known of the kernels.
    pub(super) fn predict(&mut self, cells: [usize; 3], rates: &Rates) {
        let known = self.resources();
        let time = |(at, cost): (usize, &KernelCost)| {
            let known = known.get(at).copied();
            let taken = known.unwrap_or_else(|| cost.likely_registers());
            cost.time(cells, rates, taken)
        };
        let times: Vec<Time> = self.costs.iter().enumerate().filter_map(time).collect();
        let step = StepTime::new(&times, &self.fills, rates);
        (self.predicted, self.least, self.limit) = (step.total, step.least, step.limit);
        (self.predicted_sustained, self.held) = (step.sustained, step.held);
    }

    /// Predicted seconds of a kernel of its schedule, in all substeps; `None` where it cannot run.
    pub(super) fn kernel_seconds(
        &self,
        number: usize,
        cells: [usize; 3],
        rates: &Rates,
    ) -> Option<f64> {
        let own = self.costs.iter().filter(|cost| cost.kernel == number);
        let seconds = own.map(|cost| Some(cost.time(cells, rates, cost.likely_registers())?.total));
        seconds.sum()
    }

    /// Time steps that its kernels do at once.
    pub fn time_steps(&self) -> usize {
        self.fills.time_steps.max(1)
    }

    /// Seconds of a step: the one in the middle of all batches; infinite if there are none.
    pub fn seconds(&self) -> f64 {
        let mut sorted = self.batches.clone();
        sorted.sort_by(f64::total_cmp);
        let at = sorted.len().saturating_sub(1) / 2;
        sorted.get(at).copied().unwrap_or(f64::INFINITY)
    }

    /// Registers of each kernel, and the bytes that it spills for want of more: as the card runs it, or without a card as
    /// the compiler reports it; none of a schedule that was not compiled.
    pub fn resources(&self) -> Vec<(u32, u32)> {
        let run = self.kernels.iter().map(|kernel| kernel.resources.taken());
        match &self.compiled {
            Some(compiled) => compiled.clone(),
            None => run.collect(),
        }
    }

    /// Bytes that its kernels write to local memory for want of registers.
    pub fn spilled(&self) -> u32 {
        self.resources().iter().map(|(_, spilled)| spilled).sum()
    }
}
