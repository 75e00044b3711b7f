//! Buffers that get one value for the cells of a warp: the largest or the smallest.

use super::{Buffer, Kernel, Mode, Stmt, WARP};
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
        let Some(buffer) = self.buffers.iter().find(|buffer| buffer.extreme.is_some()) else {
            return Ok(());
        };
        let launch = &self.launch;
        let is_one_row = launch.kind == LaunchKind::Blocks
            && launch.threads[0].is_multiple_of(WARP)
            && launch.tile == launch.threads
            && !launch.runs;
        let wrong = match is_one_row {
            false => "by threads that are not those of one row",
            true if buffer.mode != Mode::Write || buffer.surface => "of what is no array to write",
            true if self.stores_rows(buffer) => "of several cells of a thread",
            true => return Ok(()),
        };
        Err(format!("one value of {} is kept {wrong}", buffer.name))
    }

    /// Does a thread store several values of a buffer?
    fn stores_rows(&self, buffer: &Buffer) -> bool {
        fn any(body: &[Stmt], at: usize) -> bool {
            body.iter().any(|stmt| match stmt {
                Stmt::Store { buffer, values, .. } => buffer.0 as usize == at && values.len() > 1,
                Stmt::If { body, .. } => any(body, at),
                // A loop would store more than once.
                Stmt::For { body, .. } => {
                    body.iter().any(|stmt| matches!(stmt, Stmt::Store { .. }))
                }
                _ => false,
            })
        }
        let at = self.buffers.iter().position(|other| other == buffer);
        at.is_some_and(|at| any(&self.body, at))
    }
}
