//! Shared memory of a block: bounds, and the readers and the writer of each word.

use super::fault::{FaultKind, Problem};
use super::warp::{Ints, LANES, lanes};
use crate::expr::Real;
use crate::kernel::Kernel;

/// A write: by which actor (a warp, the copies of one, the boxes of a barrier), at which of its times.
#[derive(Clone, Copy, Default)]
struct Epoch {
    actor: u32,
    time: u32,
}

struct Extent {
    name: String,
    start: usize,
    len: usize,
}

/// The shared arrays of a block.
pub(super) struct Shared<T> {
    arrays: Vec<Extent>,
    data: Vec<T>,
    /// For each word, the block that has written it.
    stamp: Vec<u32>,
    written: Vec<Epoch>,
    /// For each word, the block whose copy to it has not landed.
    pending: Vec<u32>,
    /// For each word, the time of each warp's last read.
    read: Vec<u32>,
    warps: usize,
    full: bool,
    /// The block that runs, from 1.
    pub(super) block: u32,
}

type Result<T> = std::result::Result<T, Problem>;

impl<T: Real> Shared<T> {
    pub(super) fn new(kernel: &Kernel, warps: usize, full: bool) -> Self {
        let mut arrays = Vec::new();
        let mut words = 0;
        for array in &kernel.shared {
            arrays.push(Extent { name: array.name.clone(), start: words, len: array.len as usize });
            words += array.len as usize;
        }
        let shadow = if full { words } else { 0 };
        Shared {
            arrays,
            data: vec![T::ZERO; words],
            stamp: vec![0; words],
            written: vec![Epoch::default(); shadow],
            pending: vec![0; shadow],
            read: vec![0; shadow * warps],
            warps,
            full,
            block: 0,
        }
    }

    /// Reads `N` consecutive values in each active thread into `out`, with the threads where each
    /// has been written.
    pub(super) fn read(
        &mut self,
        array: usize,
        (base, offset): (&Ints, i64),
        (warp, mask, clock): (usize, u32, &[u32]),
        out: &mut [([T; LANES], u32)],
    ) -> Result<()> {
        let width = out.len();
        for lane in lanes(mask) {
            let at = base[lane].wrapping_add(offset);
            let first = self.words(array, at, width, lane, "read")?;
            for (k, (values, known)) in out.iter_mut().enumerate() {
                let word = first + k;
                if self.full {
                    let epoch = self.written[word];
                    if clock[epoch.actor as usize] < epoch.time || self.pending[word] == self.block
                    {
                        let message = format!(
                            "{}[{at}] is read while {} may still write it",
                            self.arrays[array].name,
                            self.actor(epoch)
                        );
                        return Err(Problem::at(FaultKind::Race, lane, message));
                    }
                    self.read[word * self.warps + warp] = clock[warp];
                }
                values[lane] = self.data[word];
                *known |= u32::from(self.stamp[word] == self.block) << lane;
            }
        }
        Ok(())
    }

    /// Writes consecutive values in each active thread, each with the threads in which it is known.
    pub(super) fn write<'v>(
        &mut self,
        array: usize,
        (base, offset): (&Ints, i64),
        (warp, mask, clock): (usize, u32, &[u32]),
        values: impl ExactSizeIterator<Item = (&'v [T; LANES], u32)> + Clone,
    ) -> Result<()> {
        // The first word of each thread: they are multiples of one width, so threads that share a word share the first.
        let mut firsts = [0; LANES];
        for (before, lane) in lanes(mask).enumerate() {
            let at = base[lane].wrapping_add(offset);
            let first = self.words(array, at, values.len(), lane, "written")?;
            let is_new = !firsts[..before].contains(&first);
            firsts[before] = first;
            for (word, (values, known)) in (first..).zip(values.clone()) {
                let again = (!is_new).then(|| "by two threads at once".to_string());
                if self.full {
                    if let Some(what) = again.or_else(|| self.conflict(word, clock)) {
                        let name = &self.arrays[array].name;
                        let message = format!("{name}[{at}] is overwritten {what}");
                        return Err(Problem::at(FaultKind::Race, lane, message));
                    }
                    self.written[word] = Epoch { actor: warp as u32, time: clock[warp] };
                }
                self.data[word] = values[lane];
                let is_known = known & (1 << lane) != 0;
                self.stamp[word] = if is_known { self.block } else { 0 };
            }
        }
        Ok(())
    }

    /// The first of `width` consecutive words at an index, which is a multiple of it.
    fn words(&self, array: usize, at: i64, width: usize, lane: usize, done: &str) -> Result<usize> {
        let extent = &self.arrays[array];
        let width = width as i64;
        if at < 0 || at.saturating_add(width) > extent.len as i64 {
            let message = format!("{}[{at}] is outside", extent.name);
            return Err(Problem::at(FaultKind::OutOfBounds, lane, message));
        }
        if at % width != 0 {
            let message = format!("{width} values of {} are {done} at {at}", extent.name);
            return Err(Problem::at(FaultKind::Misaligned, lane, message));
        }
        Ok(extent.start + at as usize)
    }

    /// Starts a copy of `count` values by a thread, to a multiple of `unit` values; `epoch` is that of
    /// its warp's copies, or of the boxes of a barrier. Returns the first word.
    pub(super) fn begin_copy(
        &mut self,
        (array, to): (usize, i64),
        (count, unit): (i64, i64),
        lane: usize,
        clock: &[u32],
        (actor, time): (usize, u32),
    ) -> Result<usize> {
        let extent = &self.arrays[array];
        if to.rem_euclid(unit) != 0 {
            let message = format!("a copy goes to {}[{to}]", extent.name);
            return Err(Problem::at(FaultKind::Misaligned, lane, message));
        }
        if to < 0 || to.saturating_add(count) > extent.len as i64 {
            let message = format!("the copy to {}[{to}] is outside", extent.name);
            return Err(Problem::at(FaultKind::OutOfBounds, lane, message));
        }
        let first = extent.start + to as usize;
        if self.full {
            for word in first..first + count as usize {
                if let Some(what) = self.conflict(word, clock) {
                    let message =
                        format!("{}[{}] is overwritten {what}", extent.name, word - extent.start);
                    return Err(Problem::at(FaultKind::Race, lane, message));
                }
                self.written[word] = Epoch { actor: actor as u32, time };
                self.pending[word] = self.block;
            }
        }
        Ok(first)
    }

    /// The access that a write of this word is not ordered with.
    fn conflict(&self, word: usize, clock: &[u32]) -> Option<String> {
        let epoch = self.written[word];
        if clock[epoch.actor as usize] < epoch.time || self.pending[word] == self.block {
            return Some(format!("while {} may still write it", self.actor(epoch)));
        }
        let reads = &self.read[word * self.warps..(word + 1) * self.warps];
        let reader = reads.iter().zip(clock).position(|(read, known)| read > known)?;
        Some(format!("while warp {reader} may still read it"))
    }

    fn actor(&self, epoch: Epoch) -> String {
        match (epoch.actor as usize).checked_sub(self.warps) {
            Some(warp) if warp < self.warps => format!("a copy of warp {warp}"),
            Some(_) => "a box".to_string(),
            None => format!("warp {}", epoch.actor),
        }
    }

    /// The value of a copy arrives; `None` is poison.
    pub(super) fn land(&mut self, word: usize, value: Option<T>) {
        if self.full {
            self.pending[word] = 0;
        }
        self.data[word] = value.unwrap_or(T::ZERO);
        self.stamp[word] = if value.is_some() { self.block } else { 0 };
    }
}
