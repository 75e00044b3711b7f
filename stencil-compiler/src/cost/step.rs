//! What a step takes beside its kernels: the gaps between launches, and the fills of ghost cells.

use super::Rates;
use crate::plan::{Plan, Step};

/// Seconds between the end of a kernel and the begin of the next one in a captured step.
pub const LAUNCH_SECONDS: f64 = 1.5e-6;

/// Seconds that a launch that fills ghost cells takes at least.
const FILL: f64 = 8e-6;

/// The share of the speed of a copy at which ghost cells are filled.
const FILL_SPEED: f64 = 0.3;

/// Ghost cells that are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fills {
    /// Bytes, those read and those written.
    pub bytes: f64,
    /// Launches for it.
    pub launches: usize,
}

impl Fills {
    /// Filling so many buffers to a depth around a patch of `cells`.
    pub fn new(buffers: usize, depth: [u32; 3], cells: [usize; 3], value_bytes: usize) -> Self {
        let inner: usize = cells.iter().product();
        let around = (0..3).map(|axis| cells[axis] + 2 * depth[axis] as usize);
        let ghosts = around.product::<usize>() - inner;
        Fills {
            bytes: 2.0 * (value_bytes * ghosts * buffers) as f64,
            launches: 1,
        }
    }

    /// All of a step.
    pub fn of(plan: &Plan, cells: [usize; 3], value_bytes: usize) -> Self {
        let mut sum = Fills::default();
        for step in &plan.steps {
            if let Step::Fill { buffers, depth } = step {
                let one = Fills::new(buffers.len(), *depth, cells, value_bytes);
                sum.bytes += one.bytes;
                sum.launches += one.launches;
            }
        }
        sum
    }

    /// Predicted seconds on a card.
    pub fn seconds(&self, rates: &Rates) -> f64 {
        self.launches as f64 * FILL + self.bytes / (FILL_SPEED * rates.copy_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::MODELS;

    #[test]
    fn fills_are_of_the_ghost_cells_of_all_buffers() {
        // One layer around 4 x 4 x 4 cells, two buffers of 8 bytes, read and written.
        let one = Fills::new(2, [1; 3], [4; 3], 8);
        assert_eq!((one.bytes, one.launches), (2.0 * 8.0 * 2.0 * 152.0, 1));
        let step = |depth: [u32; 3]| Step::Fill {
            buffers: vec!["u".into(), "v".into()],
            depth,
        };
        let plan = Plan {
            time_steps: 1,
            buffers: Vec::new(),
            launches: Vec::new(),
            steps: vec![step([1; 3]), step([1, 0, 0])],
        };
        let all = Fills::of(&plan, [4; 3], 8);
        assert_eq!(
            (all.bytes, all.launches),
            (one.bytes + 2.0 * 8.0 * 2.0 * 32.0, 2)
        );
        let rates = &MODELS[0].rates;
        assert!(all.seconds(rates) > one.seconds(rates) + 8e-6);
        assert_eq!(Fills::default().seconds(rates), 0.0);
    }
}
