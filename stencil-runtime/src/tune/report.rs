//! What a search found.

use std::time::Duration;

use stencil_compiler::cost::{Rates, rank_correlation};
use stencil_compiler::schedule::plans::Plan;

use super::Tuner;
use super::trial::Trial;
use crate::backend::cuda::Doubt;

/// What a search found, and all that it tried.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The schedule that was found; none if none was looked for.
    pub plan: Option<Plan>,
    /// Every schedule that is legal and was looked at, in the order in which the search came to them.
    pub trials: Vec<Trial>,
    /// What the card does in a second.
    pub rates: Rates,
    /// What was measured of the card and not believed.
    pub doubts: Vec<Doubt>,
    /// How long the search took.
    pub took: Duration,
}

/// How well the model predicts what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelError {
    /// Schedules that were measured.
    pub measured: usize,
    /// The rank correlation of predicted and measured times; 0 where nothing was measured.
    pub correlation: f64,
    /// The error in the middle of those that spill nothing, as a part of the measured time; 0 where there are none.
    pub median: f64,
}

impl Tuned {
    /// Compares predictions, with the registers that the compiler reports, with the times of all
    /// schedules that were timed.
    pub fn model_error(&self) -> ModelError {
        let timed = self
            .trials
            .iter()
            .filter(|trial| trial.seconds().is_finite());
        let pairs: Vec<(f64, f64)> = timed.clone().map(|t| (t.predicted, t.seconds())).collect();
        let clean = timed.filter(|trial| trial.spilled() == 0);
        let mut errors: Vec<f64> = clean
            .map(|trial| (trial.predicted / trial.seconds() - 1.0).abs())
            .collect();
        errors.sort_by(f64::total_cmp);
        ModelError {
            measured: pairs.len(),
            correlation: rank_correlation(&pairs),
            median: errors.get(errors.len() / 2).copied().unwrap_or(0.0),
        }
    }
}

impl Tuner<'_> {
    /// The end of the search.
    pub(super) fn report(self, plan: Option<Plan>) -> Tuned {
        Tuned {
            plan,
            took: self.track.elapsed(),
            rates: self.track.rates(),
            doubts: self.track.doubts(),
            trials: self.trials,
        }
    }
}
