//! A schedule that is tried: its predicted and its measured times.

use stencil_compiler::cost::{
    DeviceBox, Fills, KernelCost, Limit, Links, Place, Rates, ScheduleCost, StepTime, Time,
    Timeline,
};
use stencil_compiler::plan::Plan;
use stencil_compiler::schedule::Schedule;

use super::Candidate;
use crate::backend::cuda::Launched;
use crate::bench::Sustained;

/// The fate of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// The model predicts it behind those that were tried.
    Ranked,
    /// There was no time left for it.
    Late,
    /// It cannot be faster than the best measured one, by the model.
    Hopeless,
    /// It was not compiled, or did not run.
    Failed {
        /// The reason.
        reason: String,
    },
    /// It ran, and others were faster.
    Slower,
    /// It ran, and some values were not those of the processor.
    Wrong {
        /// The number of differing values.
        differing: usize,
    },
    /// It is the one that was found.
    Best,
}

/// A schedule, its predicted times, and its measured ones.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The number of its discrete problem among those that were searched.
    pub form: usize,
    /// The schedule.
    pub schedule: Schedule,
    /// The costs of its kernels, by the model.
    pub costs: Vec<KernelCost>,
    /// The kernels as the card runs them; none if it was not built.
    pub kernels: Vec<Launched>,
    /// Predicted seconds of a step in a burst; with the registers of the compiler once they are known.
    pub predicted: f64,
    /// Predicted seconds of a step without rests.
    pub predicted_sustained: f64,
    /// The share of the clock that it is predicted to hold then.
    pub held: f64,
    /// The least seconds of a step, by the model.
    pub least: f64,
    /// The bound of the kernel that is predicted to take longest.
    pub limit: Limit,
    /// Seconds of a step in each batch that was timed, after a rest.
    pub batches: Vec<f64>,
    /// Its times without rests, if it was left at the end.
    pub sustained: Option<Sustained>,
    /// Its fate.
    pub fate: Fate,
    /// Registers of its kernels, and bytes that they spill, as a compiler reports them in a search without a card.
    pub(super) compiled: Option<Vec<(u32, u32)>>,
    /// Ghost cells that are filled in a step.
    fills: Fills,
    /// The plan among several devices, with the box of one and its links.
    among: Option<(Plan, Among)>,
    /// The hash of its kernels.
    pub(super) identity: u64,
}

/// The box of a device among several, and its links to the others.
pub(super) type Among = (DeviceBox, Links);

impl Trial {
    pub(super) fn new(
        Candidate { form, schedule }: Candidate,
        predicted: ScheduleCost,
        (cells, among): ([usize; 3], Option<Among>),
        rates: &Rates,
    ) -> Self {
        let plan = among.and_then(|_| predicted.plan.among_devices().ok());
        let value_bytes = predicted.kernels.first().map_or(0, |cost| cost.value_bytes);
        let mut trial = Trial {
            form,
            schedule,
            fills: Fills::of(&predicted.plan, cells, value_bytes),
            among: plan.zip(among),
            identity: predicted.identity,
            costs: predicted.kernels,
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

    /// Returns the schedule, and the number of its problem.
    pub(super) fn candidate(&self) -> Candidate {
        Candidate { form: self.form, schedule: self.schedule.clone() }
    }

    /// Do several devices share its mesh?
    pub(super) fn is_shared(&self) -> bool {
        self.among.is_some()
    }

    /// Returns the cells that one device computes, of a mesh with so many.
    fn own_cells(&self, cells: [usize; 3]) -> [usize; 3] {
        self.among.as_ref().map_or(cells, |(_, (device, _))| device.cells)
    }

    /// Predicts its times, from the known resources of the kernels. Of several devices each computes its own cells, and waits
    /// for values that no interior hides.
    pub(super) fn predict(&mut self, cells: [usize; 3], rates: &Rates) {
        let cells = self.own_cells(cells);
        let known = self.resources();
        let time = |(at, cost): (usize, &KernelCost)| {
            let known = known.get(at).copied();
            let taken = known.unwrap_or_else(|| cost.likely_registers());
            cost.time(cells, rates, taken)
        };
        let times: Vec<Time> = self.costs.iter().enumerate().filter_map(time).collect();
        let mut step = StepTime::new(&times, &self.fills, rates);
        if let Some((plan, (device, links))) = &self.among
            && times.len() == self.costs.len()
        {
            let place = Place { rates, device: *device, links: *links };
            let timeline = Timeline::new(plan, (&self.costs, &times), &place);
            let more = timeline.seconds / self.time_steps() as f64 - step.total;
            step.total += more;
            step.sustained += more;
        }
        (self.predicted, self.least, self.limit) = (step.total, step.least, step.limit);
        (self.predicted_sustained, self.held) = (step.sustained, step.held);
    }

    /// Returns the predicted seconds of a kernel of its schedule, in all substeps; `None` if it cannot run.
    pub(super) fn kernel_seconds(
        &self,
        number: usize,
        cells: [usize; 3],
        rates: &Rates,
    ) -> Option<f64> {
        let cells = self.own_cells(cells);
        let own = self.costs.iter().filter(|cost| cost.kernel == number);
        let seconds = own.map(|cost| Some(cost.time(cells, rates, cost.likely_registers())?.total));
        seconds.sum()
    }

    /// Returns the number of time steps that its kernels do at once.
    pub fn time_steps(&self) -> usize {
        self.fills.time_steps.max(1)
    }

    /// Returns the seconds of a step: the median of all batches; infinite if there are none.
    pub fn seconds(&self) -> f64 {
        let mut sorted = self.batches.clone();
        sorted.sort_by(f64::total_cmp);
        let at = sorted.len().saturating_sub(1) / 2;
        sorted.get(at).copied().unwrap_or(f64::INFINITY)
    }

    /// Returns the registers of each kernel, and the bytes that it spills for want of more: as the card runs it, or
    /// without a card as the compiler reports it; none of a schedule that was not compiled.
    pub fn resources(&self) -> Vec<(u32, u32)> {
        let run = self.kernels.iter().map(|kernel| kernel.resources.taken());
        match &self.compiled {
            Some(compiled) => compiled.clone(),
            None => run.collect(),
        }
    }

    /// Returns the bytes that its kernels write to local memory for want of registers.
    pub fn spilled(&self) -> u32 {
        self.resources().iter().map(|(_, spilled)| spilled).sum()
    }
}
