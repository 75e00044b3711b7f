//! A schedule that is tried: what it should take, and what it took.

use stencil_compiler::cost::{KernelCost, Limit, Rates};
use stencil_compiler::plan::{Plan, Step};
use stencil_compiler::schedule::Schedule;

use crate::backend::cuda::Launched;
use crate::builder::Predicted;

/// Seconds between the end of a kernel and the begin of the next one in a captured step.
const LAUNCH: f64 = 1.5e-6;

/// Seconds that a launch that fills ghost cells takes at least, and its share of the speed of a copy.
const FILL: (f64, f64) = (8e-6, 0.3);

/// What became of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// The model puts it behind those that were tried.
    Ranked,
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
    /// The schedule.
    pub schedule: Schedule,
    /// What its kernels cost, by the model.
    pub costs: Vec<KernelCost>,
    /// The kernels as the card runs them; none if it was not built.
    pub kernels: Vec<Launched>,
    /// Predicted seconds of a step; with the registers of the compiler once they are known.
    pub predicted: f64,
    /// Seconds that a step takes at least, by the model.
    pub least: f64,
    /// What bounds the kernel that is predicted to take longest.
    pub limit: Limit,
    /// Seconds of a step in each batch that was timed.
    pub batches: Vec<f64>,
    /// What became of it.
    pub fate: Fate,
    /// Bytes of ghost cells that are filled in a step, and how often.
    fills: (f64, usize),
    /// The number of its kernels.
    pub(super) identity: u64,
}

impl Trial {
    pub(super) fn new(
        schedule: Schedule,
        predicted: Predicted,
        cells: [usize; 3],
        rates: &Rates,
    ) -> Self {
        let mut trial = Trial {
            schedule,
            fills: fills(&predicted.plan, &predicted.costs, cells),
            identity: predicted.kernels,
            costs: predicted.costs,
            kernels: Vec::new(),
            predicted: f64::INFINITY,
            least: 0.0,
            limit: Limit::Memory,
            batches: Vec::new(),
            fate: Fate::Ranked,
        };
        trial.predict(cells, rates);
        trial
    }

    /// Predicts, with what is known of the kernels.
    pub(super) fn predict(&mut self, cells: [usize; 3], rates: &Rates) {
        let (bytes, times) = self.fills;
        let filling = times as f64 * FILL.0 + bytes / (FILL.1 * rates.copy_bytes);
        let (mut total, mut least, mut longest) = (filling, 0.0, 0.0);
        for (at, cost) in self.costs.iter().enumerate() {
            let known = self.kernels.get(at).map(|kernel| &kernel.resources);
            let registers = match known {
                Some(known) => (known.registers, known.spill_loads + known.spill_stores),
                None => cost.likely_registers(),
            };
            let Some(time) = cost.time(cells, rates, registers) else {
                continue;
            };
            total += time.total + LAUNCH;
            let (limit, bound) = time.limit();
            least += bound;
            if time.total > longest {
                (longest, self.limit) = (time.total, limit);
            }
        }
        (self.predicted, self.least) = (total, least);
    }

    /// Seconds of a step: the one in the middle of all batches; infinite if there are none.
    pub fn seconds(&self) -> f64 {
        let mut sorted = self.batches.clone();
        sorted.sort_by(f64::total_cmp);
        let at = sorted.len().saturating_sub(1) / 2;
        sorted.get(at).copied().unwrap_or(f64::INFINITY)
    }

    /// Bytes that its kernels wrote to local memory for want of registers.
    pub fn spilled(&self) -> u32 {
        let of = |kernel: &Launched| kernel.resources.spill_stores + kernel.resources.spill_loads;
        self.kernels.iter().map(of).sum()
    }
}

/// Bytes of ghost cells that a step fills, read and written, and the number of launches for it.
fn fills(plan: &Plan, costs: &[KernelCost], cells: [usize; 3]) -> (f64, usize) {
    let value = costs.first().map_or(0, |cost| cost.value_bytes) as f64;
    let mut sum = (0.0, 0);
    for step in &plan.steps {
        let Step::Fill { buffers, depth } = step else {
            continue;
        };
        let inner: usize = cells.iter().product();
        let around = (0..3).map(|axis| cells[axis] + 2 * depth[axis] as usize);
        let ghosts = around.product::<usize>() - inner;
        sum.0 += 2.0 * value * (ghosts * buffers.len()) as f64;
        sum.1 += 1;
    }
    sum
}
