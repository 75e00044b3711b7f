//! Barriers, and the boxes that arrive on them.

use super::{Checker, Result};
use crate::kernel::{BOX_ALIGNMENT, BarrierId, Index, MOST_BOX, Mode, Stmt};
use crate::schedule::{COPY_BYTES, LaunchKind};

/// Bytes that a phase of a barrier can count.
const MOST_BYTES: u32 = (1 << 20) - 1;

impl Checker<'_> {
    pub(super) fn synchronize(&mut self, stmt: &Stmt) -> Result {
        if self.kernel.launch.kind == LaunchKind::Rows {
            return Err("rows do not synchronize".into());
        }
        // One thread may wait and start boxes for its block; all other waits are of warps or blocks.
        let by_one = matches!(stmt, Stmt::Wait { .. } | Stmt::CopyBox { .. } | Stmt::Expect { .. });
        if self.divergent > 0 && !by_one {
            return Err(
                "threads of a block synchronize under a condition that depends on the thread"
                    .into(),
            );
        }
        let (barrier, varies) = match stmt {
            Stmt::ArriveCopies { barrier, slot } | Stmt::Arrive { barrier, slot } => {
                (*barrier, self.index(slot)?)
            }
            Stmt::Wait { barrier, slot, parity } => {
                (*barrier, self.index(slot)? | self.index(parity)?)
            }
            Stmt::Expect { barrier, slot, bytes, .. } => {
                self.by_one_thread()?;
                if *bytes > MOST_BYTES {
                    return Err(format!("a phase counts at most {MOST_BYTES} bytes"));
                }
                (*barrier, self.index(slot)?)
            }
            Stmt::CopyBox { barrier, slot, .. } => {
                self.copy_box(stmt)?;
                (*barrier, self.index(slot)?)
            }
            _ => return Ok(()),
        };
        self.barrier(barrier)?;
        if varies { Err("a barrier that depends on the thread".into()) } else { Ok(()) }
    }

    fn barrier(&self, barrier: BarrierId) -> Result {
        let found = (barrier.0 as usize) < self.kernel.barriers.len();
        if found { Ok(()) } else { Err(format!("barrier {} does not exist", barrier.0)) }
    }

    fn by_one_thread(&self) -> Result {
        if self.divergent > 0 || self.kernel.threads() == 1 {
            return Ok(());
        }
        Err("one thread is to do this, under a condition that depends on the thread".into())
    }

    /// A device aborts a launch for most of the refused boxes, and only when it runs.
    fn copy_box(&mut self, stmt: &Stmt) -> Result {
        let Stmt::CopyBox { array, to, buffers, from, extent, .. } = stmt else {
            return Ok(());
        };
        self.by_one_thread()?;
        self.array(*array)?;
        if buffers.is_empty() || buffers.len() > MOST_BOX as usize {
            return Err(format!("a box has cells of 1 to {MOST_BOX} buffers"));
        }
        for (at, buffer) in buffers.iter().enumerate() {
            if self.buffer(*buffer)? == Mode::Write {
                return Err("a copy from a buffer that is only written".into());
            }
            if buffers[..at].contains(buffer) {
                return Err("a box has cells of a buffer twice".into());
            }
        }
        self.index(to)?;
        self.indices(from)?;
        let [width, height, depth] = *extent;
        if extent.iter().any(|n| !(1..=MOST_BOX).contains(n)) {
            return Err(format!("a box has 1 to {MOST_BOX} cells along an axis"));
        }
        let bytes = self.kernel.value_bytes;
        if !(width as usize * bytes).is_multiple_of(COPY_BYTES) {
            return Err(format!("rows of a box are multiples of {COPY_BYTES} bytes"));
        }
        let values = u64::from(width) * u64::from(height) * u64::from(depth);
        let values = values * buffers.len() as u64;
        if values > u64::from(self.kernel.shared[array.0 as usize].len) {
            return Err(format!("a box of {values} values in a smaller array"));
        }
        for (what, index, unit) in [("x", &from[0], COPY_BYTES), ("a place", to, BOX_ALIGNMENT)] {
            let unit = (unit / bytes) as u64;
            let divisor = self.divisor(index);
            if !divisor.is_multiple_of(unit) {
                return Err(format!(
                    "a box from or to {what} that is known to be a multiple of {divisor} values, not of {unit}"
                ));
            }
        }
        match self.extents.insert(buffers.clone(), *extent) {
            Some(other) if other != *extent => {
                Err(format!("boxes of {other:?} and {extent:?} cells of the same buffers"))
            }
            _ => Ok(()),
        }
    }

    /// A number that divides all values of an index; 0 for the index 0. It may be smaller than the largest one.
    pub(super) fn divisor(&self, index: &Index) -> u64 {
        match index {
            Index::Const(value) => value.unsigned_abs(),
            Index::Var(var) => self.divisors.get(var.0 as usize).copied().unwrap_or(1),
            Index::Block(_) | Index::Thread(_) | Index::Size(_) => 1,
            Index::Wrap(..) | Index::Numbered(..) => 1,
            Index::Add(a, b) | Index::Sub(a, b) | Index::Min(a, b) => {
                common(self.divisor(a), self.divisor(b))
            }
            Index::Mul(a, by) => self.divisor(a).checked_mul(by.unsigned_abs()).unwrap_or(1),
            Index::Rem(a, by) => common(self.divisor(a), by.unsigned_abs()),
            Index::Div(a, by) => {
                let (divisor, by) = (self.divisor(a), by.unsigned_abs().max(1));
                if divisor.is_multiple_of(by) { divisor / by } else { 1 }
            }
        }
    }
}

/// The greatest common divisor.
fn common(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
