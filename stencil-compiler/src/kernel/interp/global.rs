//! Global memory in a launch: bounds, and the readers and the writer of each cell.

use super::array::GlobalArray;
use super::fault::{FaultKind, Problem};
use super::program::Access;
use super::warp::{CellLanes, Ints, LANES, lanes};
use crate::expr::Real;
use crate::kernel::{Buffer, Extreme, Mode};
use crate::schedule::COPY_BYTES;

/// A cell that several threads have read.
const MANY: u32 = u32::MAX;

/// Accessor accesses: a warp at a time.
#[derive(Clone, Copy)]
pub(super) struct Accessor<'a> {
    pub(super) warp: usize,
    pub(super) block: u32,
    /// Threads of a block.
    pub(super) threads: u32,
    pub(super) mask: u32,
    pub(super) clock: &'a [u32],
    /// Are clocks compared?
    pub(super) full: bool,
}

impl Accessor<'_> {
    /// A number of the thread in the launch, from 1.
    fn thread(&self, lane: usize) -> u32 {
        self.block
            .wrapping_mul(self.threads)
            .wrapping_add((self.warp * LANES + lane) as u32)
            .wrapping_add(1)
    }

    fn block_of(&self, thread: u32) -> u32 {
        (thread - 1) / self.threads
    }

    fn warp_of(&self, thread: u32) -> usize {
        ((thread - 1) % self.threads) as usize / LANES
    }
}

/// The last asynchronous copy that reads a cell; block 0 is none, else one more than its number.
#[derive(Clone, Copy, Default)]
struct CopyRead {
    block: u32,
    actor: u32,
    time: u32,
}

/// A buffer in a launch.
pub(super) struct View<'a, T> {
    pub(super) array: &'a mut GlobalArray<T>,
    name: &'a str,
    mode: Mode,
    halo: [i64; 3],
    /// Values from one cell to the next, as the kernel has it.
    cell_stride: i64,
    surface: bool,
    extreme: Option<Extreme>,
    /// Threads that wrote each cell, 0 for none; empty for buffers that are only read.
    writer: Vec<u32>,
    written_at: Vec<u32>,
    /// Threads that read each cell of a buffer that is read and written.
    reader: Vec<u32>,
    copied: Vec<CopyRead>,
}

type Result<T> = std::result::Result<T, Problem>;

impl<'a, T: Real> View<'a, T> {
    pub(super) fn new(buffer: &'a Buffer, array: &'a mut GlobalArray<T>) -> Self {
        let len = array.data.len();
        let written = if buffer.mode == Mode::Read { 0 } else { len };
        let both = if buffer.mode == Mode::ReadWrite { len } else { 0 };
        View {
            name: &buffer.name,
            mode: buffer.mode,
            halo: buffer.halo.map(i64::from),
            cell_stride: buffer.cell_stride() as i64,
            surface: buffer.surface,
            extreme: buffer.extreme,
            writer: vec![0; written],
            written_at: vec![0; both],
            reader: vec![0; both],
            copied: vec![CopyRead::default(); both],
            array,
        }
    }

    fn in_bounds(&self, axis: usize, low: i64, high: i64) -> bool {
        low >= -self.halo[axis] && high < self.array.cells[axis] as i64 + self.halo[axis]
    }

    /// Are these cells in a row, including its padding?
    fn in_row(&self, x: i64, count: i64) -> bool {
        let (pad, pitch) = (self.array.pad as i64, self.array.pitch as i64);
        x >= -pad && x.saturating_add(count) <= pitch - pad
    }

    fn check_bounds(&self, cell: &CellLanes, offset: [i64; 3], mask: u32) -> Result<()> {
        // The box of the warp mostly decides; threads that a condition excludes may lie outside.
        if (0..3).all(|a| {
            self.in_bounds(
                a,
                cell.low[a].saturating_add(offset[a]),
                cell.high[a].saturating_add(offset[a]),
            )
        }) {
            return Ok(());
        }
        for lane in lanes(mask) {
            let at: [i64; 3] = std::array::from_fn(|a| cell.at[a][lane].wrapping_add(offset[a]));
            if !(0..3).all(|a| self.in_bounds(a, at[a], at[a])) {
                let message = format!("cell {at:?} of {} is outside", self.name);
                return Err(Problem::at(FaultKind::OutOfBounds, lane, message));
            }
        }
        Ok(())
    }

    fn places(&self, cell: &CellLanes, offset: [i64; 3]) -> Ints {
        let (plane, pitch, start) =
            (self.array.plane as i64, self.array.pitch as i64, self.array.linear(offset));
        let [mut places, y, z] = cell.at;
        for lane in 0..LANES {
            places[lane] = places[lane]
                .wrapping_add(y[lane].wrapping_mul(pitch))
                .wrapping_add(z[lane].wrapping_mul(plane))
                .wrapping_mul(self.cell_stride)
                .wrapping_add(start);
        }
        places
    }

    /// Reads a cell in each active thread: values, and the threads where they have been written.
    pub(super) fn load(
        &mut self,
        accessor: Accessor<'_>,
        cell: &CellLanes,
        access: &Access,
    ) -> Result<([T; LANES], u32)> {
        let offset = access.offset.map(i64::from);
        self.check_bounds(cell, offset, accessor.mask)?;
        let places = self.places(cell, offset);
        let (mut values, mut known) = ([T::ZERO; LANES], 0);
        for lane in lanes(accessor.mask) {
            let place = places[lane] as usize;
            values[lane] = self.array.data[place];
            known |= u32::from(self.array.known[place]) << lane;
            if self.mode == Mode::ReadWrite {
                let thread = accessor.thread(lane);
                if self.writer[place] != 0 && self.writer[place] != thread {
                    return Err(
                        self.race(lane, "a thread loads a cell that another thread stores to")
                    );
                }
                // The cache of texture units may still have old values.
                if self.surface && self.writer[place] != 0 {
                    return Err(self.race(lane, "a thread loads a cell that it has stored to"));
                }
                self.reader[place] =
                    if matches!(self.reader[place], 0) || self.reader[place] == thread {
                        thread
                    } else {
                        MANY
                    };
            }
        }
        Ok((values, known))
    }

    /// Writes consecutive cells in each active thread.
    pub(super) fn store<'v>(
        &mut self,
        accessor: Accessor<'_>,
        cell: &CellLanes,
        access: &Access,
        values: impl ExactSizeIterator<Item = (&'v [T; LANES], u32)>,
    ) -> Result<()> {
        self.check_aligned(accessor, cell, access, values.len())?;
        let [x, y, z] = access.offset;
        for (x, (values, known)) in (x..).zip(values) {
            self.store_one(accessor, cell, [x, y, z].map(i64::from), values, known)?;
        }
        Ok(())
    }

    /// Do this many values begin on a multiple of their number?
    fn check_aligned(
        &self,
        accessor: Accessor<'_>,
        cell: &CellLanes,
        access: &Access,
        width: usize,
    ) -> Result<()> {
        let x = i64::from(access.offset[0]);
        let off = |lane: &usize| (cell.at[0][*lane].wrapping_add(x)) % width as i64 != 0;
        match lanes(accessor.mask).find(off) {
            None => Ok(()),
            Some(lane) => {
                let at = cell.at[0][lane].wrapping_add(x);
                let message = format!("{width} values are stored to {} at x = {at}", self.name);
                Err(Problem::at(FaultKind::Misaligned, lane, message))
            }
        }
    }

    /// Writes a cell in each active thread.
    fn store_one(
        &mut self,
        accessor: Accessor<'_>,
        cell: &CellLanes,
        offset: [i64; 3],
        values: &[T; LANES],
        known: u32,
    ) -> Result<()> {
        self.check_bounds(cell, offset, accessor.mask)?;
        if let Some(lane) = lanes(accessor.mask & !known).next() {
            let message = format!("a value that was never written is stored to {}", self.name);
            return Err(Problem::at(FaultKind::Uninitialised, lane, message));
        }
        let places = self.places(cell, offset);
        for lane in lanes(accessor.mask) {
            let (place, thread) = (places[lane] as usize, accessor.thread(lane));
            if self.writer[place] != 0 && self.writer[place] != thread {
                let message = format!("a cell of {} is stored to by two threads", self.name);
                return Err(Problem::at(FaultKind::DoubleStore, lane, message));
            }
            self.writer[place] = thread;
            if self.mode == Mode::ReadWrite {
                self.check_overwrite(accessor, lane, place)?;
                self.written_at[place] = accessor.clock[accessor.warp];
            }
            if self.extreme.is_none() {
                self.array.data[place] = values[lane];
                self.array.known[place] = true;
            }
        }
        match self.extreme {
            Some(extreme) => self.store_extreme(extreme, accessor.mask, &places, values),
            None => Ok(()),
        }
    }

    /// Writes one value of a warp, whose threads without a cell come last.
    fn store_extreme(
        &mut self,
        extreme: Extreme,
        mask: u32,
        places: &Ints,
        values: &[T; LANES],
    ) -> Result<()> {
        let follow = lanes(mask).zip(0..).all(|(lane, at)| {
            lane as i64 == at && places[lane] == places[0] + at * self.cell_stride
        });
        let kept = lanes(mask).map(|lane| values[lane]).reduce(|a, b| extreme.of(a, b));
        match kept {
            Some(_) if !follow => {
                let message = format!("cells of a warp do not follow each other in {}", self.name);
                Err(Problem::at(FaultKind::Misaligned, 0, message))
            }
            Some(kept) => {
                self.array.data[places[0] as usize] = kept;
                self.array.known[places[0] as usize] = true;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn check_overwrite(&self, accessor: Accessor<'_>, lane: usize, place: usize) -> Result<()> {
        if self.reader[place] != 0 && self.reader[place] != accessor.thread(lane) {
            return Err(self.race(lane, "a thread stores to a cell that another thread loads"));
        }
        let copy = self.copied[place];
        if copy.block == 0 {
            return Ok(());
        }
        if copy.block != accessor.block + 1 {
            return Err(self.race(lane, "a thread stores to a cell that another block copies"));
        }
        if accessor.full && accessor.clock[copy.actor as usize] < copy.time {
            return Err(self.race(lane, "a thread stores to a cell that a copy may still read"));
        }
        Ok(())
    }

    fn race(&self, lane: usize, what: &str) -> Problem {
        Problem::at(FaultKind::Race, lane, format!("{what}, in {}", self.name))
    }

    /// Starts a copy: the place of its first value.
    pub(super) fn begin_copy(
        &mut self,
        accessor: Accessor<'_>,
        lane: usize,
        at: [i64; 3],
        (actor, time): (usize, u32),
    ) -> Result<usize> {
        let count = (COPY_BYTES / T::BYTES) as i64;
        if at[0].rem_euclid(count) != 0 {
            let message = format!("a copy from {} starts at x = {}", self.name, at[0]);
            return Err(Problem::at(FaultKind::Misaligned, lane, message));
        }
        if !self.in_row(at[0], count)
            || !self.in_bounds(1, at[1], at[1])
            || !self.in_bounds(2, at[2], at[2])
        {
            let message = format!("the copy of cell {at:?} of {} is outside", self.name);
            return Err(Problem::at(FaultKind::OutOfBounds, lane, message));
        }
        let first = self.array.linear(at) as usize;
        self.copied(accessor, lane, first..first + count as usize, (actor, time))?;
        Ok(first)
    }

    /// Starts a box: the places of the first values of its pieces of [`COPY_BYTES`], `None` for those outside. A device
    /// has zeros outside of its arrays, but those may be larger than this kernel knows.
    pub(super) fn begin_box(
        &mut self,
        accessor: Accessor<'_>,
        lane: usize,
        at: [i64; 3],
        extent: [u32; 3],
        epoch: (usize, u32),
    ) -> Result<Vec<Option<usize>>> {
        let count = (COPY_BYTES / T::BYTES) as i64;
        if at[0].rem_euclid(count) != 0 {
            let message = format!("a box of {} starts at x = {}", self.name, at[0]);
            return Err(Problem::at(FaultKind::Misaligned, lane, message));
        }
        let [width, height, depth] = extent.map(i64::from);
        let mut places = Vec::with_capacity((width / count * height * depth) as usize);
        for z in at[2]..at[2].saturating_add(depth) {
            for y in at[1]..at[1].saturating_add(height) {
                let inside = self.in_bounds(1, y, y) && self.in_bounds(2, z, z);
                for x in (0..width).step_by(count as usize) {
                    let x = at[0].saturating_add(x);
                    let piece = inside && self.in_row(x, count);
                    let first = piece.then(|| self.array.linear([x, y, z]) as usize);
                    if let Some(first) = first {
                        self.copied(accessor, lane, first..first + count as usize, epoch)?;
                    }
                    places.push(first);
                }
            }
        }
        Ok(places)
    }

    /// Takes note of cells that a copy reads.
    fn copied(
        &mut self,
        accessor: Accessor<'_>,
        lane: usize,
        places: std::ops::Range<usize>,
        (actor, time): (usize, u32),
    ) -> Result<()> {
        if self.mode == Mode::ReadWrite {
            for place in places {
                let writer = self.writer[place];
                if writer != 0 {
                    let ordered = accessor.block_of(writer) == accessor.block
                        && (!accessor.full
                            || accessor.clock[accessor.warp_of(writer)] >= self.written_at[place]);
                    if !ordered {
                        return Err(self.race(lane, "a copy reads a cell that a thread stores to"));
                    }
                }
                self.copied[place] =
                    CopyRead { block: accessor.block + 1, actor: actor as u32, time };
            }
        }
        Ok(())
    }

    /// The first cell of the region that a part of the blocks owns and has not written, if the buffer is only written, or that
    /// it has written and does not own.
    pub(super) fn badly_written(
        &self,
        extend: [u32; 3],
        is_own: impl Fn([i64; 3]) -> bool,
    ) -> Option<(FaultKind, String)> {
        if self.mode == Mode::Read {
            return None;
        }
        let rim: [i64; 3] = std::array::from_fn(|a| i64::from(extend[a]).min(self.halo[a]));
        let range = |axis: usize| -rim[axis]..self.array.cells[axis] as i64 + rim[axis];
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let is_written = self.writer[self.array.linear([x, y, z]) as usize] != 0;
                    let (kind, how) = match is_own([x, y, z]) {
                        true if !is_written && self.mode == Mode::Write => {
                            (FaultKind::NotWritten, "is not written")
                        }
                        false if is_written => {
                            (FaultKind::DoubleStore, "is written by blocks of another part")
                        }
                        _ => continue,
                    };
                    return Some((kind, format!("cell ({x}, {y}, {z}) of {} {how}", self.name)));
                }
            }
        }
        None
    }
}
