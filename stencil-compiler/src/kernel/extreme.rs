//! Buffers that get one value for the cells of a warp: the largest or the smallest.

use super::{BufferId, Kernel, Mode, Stmt, WARP};
use crate::schedule::LaunchKind;

/// The value that a warp keeps of those that its threads store to cells of one row, which follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extreme {
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
}

impl Extreme {
    /// Its word in texts of kernels.
    pub fn name(self) -> &'static str {
        match self {
            Extreme::Largest => "largest",
            Extreme::Smallest => "smallest",
        }
    }

    /// Returns one of two values: of equal ones the first, and a NaN before all others.
    pub(super) fn of<T: PartialOrd>(self, first: T, second: T) -> T {
        #[expect(clippy::eq_op, reason = "only a NaN differs from itself")]
        let is_nan = second != second;
        let is_beyond = match self {
            Extreme::Largest => second > first,
            Extreme::Smallest => second < first,
        };
        if is_beyond || is_nan { second } else { first }
    }
}

impl Kernel {
    /// Checks that warps which keep one value have cells of one row.
    pub(super) fn check_extremes(&self) -> Result<(), String> {
        let launch = &self.launch;
        let is_one_row = launch.kind == LaunchKind::Blocks
            && launch.threads[0].is_multiple_of(WARP)
            && launch.tile == launch.threads
            && !launch.runs;
        for (at, buffer) in (0..).zip(&self.buffers) {
            let wrong = match buffer.extreme {
                None => continue,
                Some(_) if !is_one_row => "by threads that are not those of one row",
                Some(_) if buffer.mode != Mode::Write || buffer.surface => {
                    "in no array that is only written"
                }
                Some(_) if stores_several(&self.body, BufferId(at), false) => {
                    "of several cells of a thread"
                }
                Some(_) => continue,
            };
            return Err(format!("one value of {} is kept {wrong}", buffer.name));
        }
        Ok(())
    }
}

/// Does a thread store several values of a buffer, at once or in a loop?
fn stores_several(body: &[Stmt], of: BufferId, in_loop: bool) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Store { buffer, values, .. } => *buffer == of && (in_loop || values.len() > 1),
        Stmt::If { body, .. } => stores_several(body, of, in_loop),
        Stmt::For { body, .. } => stores_several(body, of, true),
        _ => false,
    })
}
