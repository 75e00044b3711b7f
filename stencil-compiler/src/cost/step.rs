//! The cost of a step: its kernels, the gaps between launches, and the fills of ghost cells.

use super::{KernelCost, Limit, Rates, Time};
use crate::plan::Plan;

/// The share of the speed of a copy at which ghost cells are filled.
const FILL_SPEED: f64 = 0.3;

/// Ghost cells that are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fills {
    /// Bytes read and written.
    pub bytes: f64,
    /// Launches for it.
    pub launches: usize,
    /// Time steps in which they are filled; 0 is one.
    pub time_steps: usize,
}

impl Fills {
    /// Fills of this many buffers to a depth around a patch of `cells`.
    pub fn new(buffers: usize, depth: [u32; 3], cells: [usize; 3], value_bytes: usize) -> Self {
        let inner: usize = cells.iter().product();
        let around = (0..3).map(|axis| cells[axis] + 2 * depth[axis] as usize);
        let ghosts = around.product::<usize>() - inner;
        Fills { bytes: 2.0 * (value_bytes * ghosts * buffers) as f64, launches: 1, time_steps: 1 }
    }

    /// All fills of a plan.
    pub fn of(plan: &Plan, cells: [usize; 3], value_bytes: usize) -> Self {
        let mut sum = Fills { time_steps: plan.time_steps, ..Fills::default() };
        for (buffers, depth) in plan.fills() {
            let one = Fills::new(buffers.len(), depth, cells, value_bytes);
            sum.bytes += one.bytes;
            sum.launches += one.launches;
        }
        sum
    }

    /// Predicted seconds on a card.
    pub fn seconds(&self, rates: &Rates) -> f64 {
        self.launches as f64 * rates.fill + self.bytes / (FILL_SPEED * rates.copy_bytes)
    }
}

/// Predicted seconds of a step, or of a part of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTime {
    /// Kernels, the gaps behind them, and fills of ghost cells, in a burst after a rest.
    pub total: f64,
    /// The time of a step without rests.
    pub sustained: f64,
    /// The share of the clock that multiprocessors hold then.
    pub held: f64,
    /// The time for which the kernels' bottlenecks are busy: no step with this work is faster.
    pub least: f64,
    /// The bottleneck of the kernel that takes longest.
    pub limit: Limit,
}

impl StepTime {
    /// The time of kernels and fills: all of a plan, which may be several steps.
    pub fn new<'a>(
        kernels: impl IntoIterator<Item = &'a Time>,
        fills: &Fills,
        rates: &Rates,
    ) -> Self {
        let kernels: Vec<&Time> = kernels.into_iter().collect();
        let mut sum = StepTime {
            total: fills.seconds(rates),
            sustained: fills.seconds(rates),
            held: held(&kernels, rates),
            least: 0.0,
            limit: Limit::Memory,
        };
        let mut longest = 0.0;
        for time in kernels {
            sum.total += time.total + rates.launch;
            sum.sustained += time.at(sum.held) + rates.launch;
            let (limit, bound) = time.limit();
            sum.least += bound;
            if time.total > longest {
                (longest, sum.limit) = (time.total, limit);
            }
        }
        let steps = fills.time_steps.max(1) as f64;
        StepTime {
            total: sum.total / steps,
            sustained: sum.sustained / steps,
            least: sum.least / steps,
            ..sum
        }
    }

    /// The time with the registers that the compiler is likely to give; `None` if one kernel cannot run.
    pub fn likely(
        costs: &[KernelCost],
        fills: &Fills,
        cells: [usize; 3],
        rates: &Rates,
    ) -> Option<Self> {
        let time = |cost: &KernelCost| cost.time(cells, rates, cost.likely_registers());
        let times: Vec<Time> = costs.iter().map(time).collect::<Option<_>>()?;
        Some(Self::new(&times, fills, rates))
    }
}

/// The share of the clock that kernels hold which follow each other without rests: a limit of power looks at many steps.
fn held(kernels: &[&Time], rates: &Rates) -> f64 {
    let sum = |part: fn(&Time) -> f64| kernels.iter().map(|time| part(time)).sum::<f64>();
    let all = sum(|time| time.total);
    if all <= 0.0 {
        return rates.power.held(0.0, 0.0);
    }
    let (memory, arithmetic) = (sum(|time| time.memory), sum(|time| time.arithmetic));
    rates.power.held(memory / all, arithmetic / all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::MODELS;
    use crate::plan::Step;

    #[test]
    fn fills_are_of_the_ghost_cells_of_all_buffers() {
        // One layer around 4 x 4 x 4 cells, two buffers of 8 bytes, read and written.
        let one = Fills::new(2, [1; 3], [4; 3], 8);
        assert_eq!((one.bytes, one.launches), (2.0 * 8.0 * 2.0 * 152.0, 1));
        let step = |depth: [u32; 3]| Step::Fill { buffers: vec!["u".into(), "v".into()], depth };
        let plan = Plan {
            time_steps: 1,
            layout: crate::schedule::Layout::Soa,
            overlap: Default::default(),
            buffers: Vec::new(),
            launches: Vec::new(),
            steps: vec![step([1; 3]), step([1, 0, 0])],
        };
        let all = Fills::of(&plan, [4; 3], 8);
        assert_eq!((all.bytes, all.launches), (one.bytes + 2.0 * 8.0 * 2.0 * 32.0, 2));
        let rates = &MODELS[0].rates;
        assert!(all.seconds(rates) > one.seconds(rates) + 8e-6);
        assert_eq!(Fills::default().seconds(rates), 0.0);
    }

    #[test]
    fn a_step_is_its_kernels_the_gaps_behind_them_and_its_fills() {
        let rates = &MODELS[0].rates;
        let kernel =
            |memory: f64, issue: f64, total: f64| Time { memory, issue, total, ..Time::default() };
        let kernels = [kernel(1e-3, 0.5e-3, 1.5e-3), kernel(1e-3, 2e-3, 2.5e-3)];
        let fills = Fills { bytes: 1e6, launches: 2, time_steps: 1 };
        let step = StepTime::new(&kernels, &fills, rates);
        let wanted = 4e-3 + 2.0 * rates.launch + fills.seconds(rates);
        assert!((step.total / wanted - 1.0).abs() < 1e-12);
        assert_eq!((step.least, step.limit), (3e-3, Limit::Issue));
        let two = Fills { time_steps: 2, ..fills };
        let half = StepTime::new(&kernels, &two, rates);
        assert_eq!((2.0 * half.total, 2.0 * half.least), (step.total, step.least));
        let none = StepTime::new(&[], &Fills::default(), rates);
        assert_eq!((none.total, none.least, none.held), (0.0, 0.0, 1.0));
    }

    #[test]
    fn without_rests_what_goes_with_the_clock_takes_longer() {
        let (rates, fills) = (&MODELS[0].rates, Fills::default());
        let kernel = |memory: f64, clocked: f64, arithmetic: f64| Time {
            memory,
            arithmetic,
            joined: [memory, clocked],
            total: (memory * memory + clocked * clocked).sqrt(),
            ..Time::default()
        };
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        let step = |kernels: &[Time]| StepTime::new(kernels, &fills, rates);
        // 4 ms of memory and 3 of others are 5: memory is busy for 0.8 of it.
        let both = step(&[kernel(4e-3, 3e-3, 1e-3)]);
        let held = rates.power.held(0.8, 0.2);
        assert!(near(both.held, held) && held < 1.0);
        let others: f64 = 3e-3 / held;
        let wanted = (16e-6 + others * others).sqrt() + rates.launch;
        assert!(near(both.sustained, wanted), "{both:?}");
        // A copy waits for memory at any clock, and arithmetic alone keeps its clock.
        for alone in [kernel(4e-3, 0.0, 0.0), kernel(0.0, 4e-3, 4e-3)] {
            let alone = step(&[alone]);
            assert!(near(alone.sustained, alone.total), "{alone:?}");
        }
        // The limit is of the whole step: a kernel that computes makes room for one that copies.
        let mixed = step(&[kernel(4e-3, 3e-3, 1e-3), kernel(0.0, 20e-3, 20e-3)]);
        assert!(mixed.held > both.held && near(mixed.sustained, mixed.total));
        // Spilled words go with the clock, spilled bytes do not.
        let spilled = |bytes, words| Time { spilled: [bytes, words], ..kernel(4e-3, 3e-3, 1e-3) };
        assert!(near(spilled(1e-3, 0.0).at(0.5) - spilled(0.0, 0.0).at(0.5), 1e-3));
        assert!(near(spilled(0.0, 1e-3).at(0.5) - spilled(0.0, 0.0).at(0.5), 2e-3));
    }
}
