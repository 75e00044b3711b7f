//! The point of an iteration at which it requests the planes of a coming one: the parameter `prefetch_point`.

use crate::kernel::lower::Context;
use crate::schedule::Refusal;
use crate::schedule::strategies::march::{BARRIER, PREFETCH_POINT};

/// A point of an iteration. The planes take the slots of those that were last read in the iteration before, so a warp waits
/// there until all warps have done that iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrefetchPoint {
    /// Before the iteration waits for its own planes.
    Before,
    /// After the wait for values that other warps share, which is the same wait.
    Amid,
    /// After the work: most warps have then done the iteration before.
    After,
}

impl PrefetchPoint {
    /// Reads the parameter; `split` is the barrier around shared functions.
    pub(super) fn new(context: &Context<'_>, split: bool) -> Result<Self, Refusal> {
        match (context.switch(&PREFETCH_POINT)?, split) {
            (false, false) => Ok(PrefetchPoint::Before),
            (false, true) => Ok(PrefetchPoint::Amid),
            (true, false) => Ok(PrefetchPoint::After),
            (true, true) => {
                let [point, barrier] = [PREFETCH_POINT.name, BARRIER.name];
                let message = format!(
                    "`{point}=1` requests planes after the work, and with `{barrier}=1` that is done in the middle of it: use one of them"
                );
                Err(Refusal::params(&[point, barrier], message))
            }
        }
    }
}
