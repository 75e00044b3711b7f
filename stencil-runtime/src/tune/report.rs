//! The result of a search.

use std::time::Duration;

use stencil_compiler::cost::{Rates, rank_correlation};
use stencil_compiler::search::plans::Plan;

use super::Tuner;
use super::trial::Trial;
use crate::backend::cuda::Doubt;

/// The result of a search, and all its trials.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The schedule that was found; `None` after a survey.
    pub plan: Option<Plan>,
    /// Every legal schedule that was predicted, in the order of the search.
    pub trials: Vec<Trial>,
    /// The rates of the card.
    pub rates: Rates,
    /// Measurements of the card that were rejected.
    pub doubts: Vec<Doubt>,
    /// Time of the search.
    pub took: Duration,
}

/// The errors of the model's predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelError {
    /// Schedules that were measured.
    pub measured: usize,
    /// The rank correlation of predicted and measured times; 0 if nothing was measured.
    pub correlation: f64,
    /// The median error of schedules without spills, as a share of the measured time; 0 if there are none.
    pub median: f64,
}

impl Tuned {
    /// Compares predictions, with the registers that the compiler reports, with the times of all
    /// schedules that were timed.
    pub fn model_error(&self) -> ModelError {
        let timed = self.trials.iter().filter(|trial| trial.seconds().is_finite());
        let pairs: Vec<(f64, f64)> = timed.clone().map(|t| (t.predicted, t.seconds())).collect();
        let clean = timed.filter(|trial| trial.spilled() == 0);
        let mut errors: Vec<f64> =
            clean.map(|trial| (trial.predicted / trial.seconds() - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        ModelError {
            measured: pairs.len(),
            correlation: rank_correlation(&pairs),
            median: errors.get(errors.len() / 2).copied().unwrap_or(0.0),
        }
    }
}

impl Tuner<'_> {
    /// Ends the search.
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
