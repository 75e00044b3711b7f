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
