//! Schedules that a card can run.

use stencil_compiler::schedule::{Blocking, LaunchKind, Schedule};
use stencil_runtime::backend::cuda::{BOXES, capability};

/// Can a card of an architecture run it? Rows are a blocking of the processor, and older cards copy no boxes.
pub(super) fn on_card(schedule: &Schedule, architecture: &str) -> bool {
    let boxes = capability(architecture).is_none_or(|has| has >= BOXES);
    let can = |k: &Blocking| boxes || k.params.get("loader").is_none_or(|loader| *loader == 0);
    schedule.is_for(LaunchKind::Blocks) && schedule.kernels.iter().all(can)
}
