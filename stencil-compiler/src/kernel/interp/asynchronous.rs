//! Operations of a block that complete later: copies, boxes, barriers.

use super::barrier::{Arrival, Deferred, PendingCopy};
use super::fault::{Fault, FaultKind, Problem};
use super::global::Accessor;
use super::machine::{Machine, Result};
use super::program::{Inst, Scalar};
use super::warp::{State, lanes};
use crate::expr::Real;
use crate::kernel::BOX_ALIGNMENT;
use crate::schedule::COPY_BYTES;

impl<T: Real> Machine<'_, T> {
    /// Delivers one of the arrivals that wait for copies: those of a warp in order, boxes in any.
    pub(super) fn deliver(&mut self) -> std::result::Result<(), Fault> {
        let any = self.scheduler.random.below(self.deferred.len());
        let warp = self.deferred[any].warp;
        let in_order = |d: &Deferred| matches!(d.arrival, Arrival::Threads { .. });
        let first = if in_order(&self.deferred[any]) {
            let before = |d: &Deferred| d.warp == warp && in_order(d);
            self.deferred.iter().position(before).unwrap_or(any)
        } else {
            any
        };
        let deferred = self.deferred.remove(first);
        let pc = deferred.pc;
        let arrived = self.barriers[deferred.barrier].land(deferred);
        arrived.map_err(|problem| self.fault(warp, pc, problem))
    }

    /// Does no box land after the end of the block?
    pub(super) fn check_boxes(&self) -> std::result::Result<(), Fault> {
        let late = |d: &&Deferred| matches!(d.arrival, Arrival::Bytes(_));
        let (w, pc) = match self.deferred.iter().find(late) {
            Some(late) => (late.warp, late.pc),
            None if self.barriers.iter().any(|barrier| barrier.has_boxes()) => (0, usize::MAX),
            None => return Ok(()),
        };
        let message = "the block ends and nobody has waited for a box".to_string();
        Err(self.fault(w, pc, Problem::new(FaultKind::InFlight, message)))
    }

    /// Each thread starts a copy; they are bound to a barrier later.
    pub(super) fn copy(&mut self, w: usize) -> Result {
        let warp = &self.warps[w];
        let Inst::Copy { array, to, buffer, from } = &self.program.insts[warp.pc] else {
            return Ok(());
        };
        let accessor = self.accessor(w, &warp.clock);
        let to = warp.each(*to);
        let from = [warp.each(from[0]), warp.each(from[1]), warp.each(from[2])];
        let epoch = (self.warps.len() + w, warp.engine);
        let count = (COPY_BYTES / T::BYTES) as i64;
        for lane in lanes(warp.mask) {
            let begun = (*array, to[lane]);
            let clock = &warp.clock;
            let word = self.shared.begin_copy(begun, (count, count), lane, clock, epoch)?;
            let at = from.map(|axis| axis[lane]);
            let place = self.global[*buffer].begin_copy(accessor, lane, at, epoch)?;
            self.unbound[w].push(PendingCopy {
                buffer: *buffer,
                place: Some(place),
                word,
                boxed: false,
            });
            self.report.copies += 1;
        }
        Ok(())
    }

    /// Each thread starts a box, which is one thread at most in a kernel that is right. The cells of its buffers
    /// land in any order.
    pub(super) fn copy_box(&mut self, w: usize) -> Result {
        let warp = &self.warps[w];
        let pc = warp.pc;
        let Inst::CopyBox { array, to, buffers, from, extent, barrier, slot } =
            &self.program.insts[pc]
        else {
            return Ok(());
        };
        let barrier = self.slot(w, *barrier, *slot)?;
        let epoch = self.barriers[barrier].boxes();
        let clock = warp.known();
        let accessor = self.accessor(w, &clock);
        let to = warp.each(*to);
        let from = [warp.each(from[0]), warp.each(from[1]), warp.each(from[2])];
        let count: i64 = extent.iter().map(|n| i64::from(*n)).product();
        let all = count * buffers.len() as i64;
        let shape = (all, (BOX_ALIGNMENT / T::BYTES) as i64);
        for lane in lanes(warp.mask) {
            let begun = (*array, to[lane]);
            let mut first = self.shared.begin_copy(begun, shape, lane, &clock, epoch)?;
            let at = from.map(|axis| axis[lane]);
            for buffer in buffers {
                let places = self.global[*buffer].begin_box(accessor, lane, at, *extent, epoch)?;
                let piece = |(at, place): (usize, Option<usize>)| PendingCopy {
                    buffer: *buffer,
                    place,
                    word: first + at * (COPY_BYTES / T::BYTES),
                    boxed: true,
                };
                self.deferred.push(Deferred {
                    barrier,
                    warp: w,
                    arrival: Arrival::Bytes((count as usize * T::BYTES) as u32),
                    pc,
                    copies: places.into_iter().enumerate().map(piece).collect(),
                });
                first += count as usize;
            }
            self.report.copies += 1;
        }
        Ok(())
    }

    fn accessor<'c>(&self, w: usize, clock: &'c [u32]) -> Accessor<'c> {
        Accessor {
            warp: w,
            block: self.shared.block - 1,
            threads: self.threads,
            mask: self.warps[w].mask,
            clock,
            full: self.full,
        }
    }

    pub(super) fn synchronize(&mut self, w: usize) -> Result {
        let pc = self.warps[w].pc;
        match self.program.insts[pc].clone() {
            Inst::ArriveCopies { barrier, slot } => {
                let barrier = self.slot(w, barrier, slot)?;
                let warp = &mut self.warps[w];
                let copies = std::mem::take(&mut self.unbound[w]);
                self.deferred.push(Deferred {
                    barrier,
                    warp: w,
                    arrival: Arrival::Threads { lanes: warp.mask.count_ones(), time: warp.engine },
                    pc,
                    copies,
                });
                warp.engine += 1;
            }
            Inst::Expect { barrier, slot, bytes, arrives } => {
                let barrier = self.slot(w, barrier, slot)?;
                let warp = &self.warps[w];
                let threads = warp.mask.count_ones();
                self.barriers[barrier].expect(bytes.saturating_mul(threads));
                if arrives {
                    let mut released = warp.known();
                    if warp.mask != warp.alive {
                        // A thread arrives for itself, without the rest of its warp.
                        released[w] = 0;
                    }
                    self.barriers[barrier].arrive_alone(w, threads, &released)?;
                    self.warps[w].clock[w] += 1;
                }
            }
            Inst::Arrive { barrier, slot } => {
                let barrier = self.slot(w, barrier, slot)?;
                self.barriers[barrier].arrive(w, &self.warps[w].clock)?;
                self.warps[w].clock[w] += 1;
            }
            Inst::Wait { barrier, slot, parity } => {
                let barrier = self.slot(w, barrier, slot)?;
                let parity = self.warps[w].one(parity.index);
                let Ok(parity @ 0..=1) = u64::try_from(parity) else {
                    let message = format!("a wait for parity {parity}");
                    return Err(Problem::new(FaultKind::OutOfBounds, message));
                };
                let warp = &mut self.warps[w];
                if self.barriers[barrier].passes(parity) {
                    let landed = if warp.mask == warp.alive {
                        self.barriers[barrier].pass(w, &mut warp.clock)?
                    } else {
                        let mut learnt = warp.clock.clone();
                        let landed = self.barriers[barrier].pass(w, &mut learnt)?;
                        warp.learn_alone(learnt);
                        landed
                    };
                    landed.into_iter().for_each(|copy| self.land(copy));
                    self.warps[w].state = State::Ready;
                } else {
                    self.warps[w].state = State::Waiting { barrier, parity };
                }
            }
            Inst::Sync => self.warps[w].state = State::AtSync,
            _ => {}
        }
        Ok(())
    }

    fn slot(&self, w: usize, barrier: usize, slot: Scalar<'_>) -> Result<usize> {
        let slot = self.warps[w].one(slot.index);
        let array = &self.kernel.barriers[barrier];
        if !(0..i64::from(array.slots)).contains(&slot) {
            let message = format!("{}[{slot}] is outside", array.name);
            return Err(Problem::new(FaultKind::OutOfBounds, message));
        }
        Ok(self.first_barrier[barrier] + slot as usize)
    }

    fn land(&mut self, copy: PendingCopy) {
        let array = &self.global[copy.buffer].array;
        for k in 0..COPY_BYTES / T::BYTES {
            let place = copy.place.map(|first| first + k);
            let value = place.and_then(|at| array.known[at].then(|| array.data[at]));
            self.shared.land(copy.word + k, value);
        }
    }
}
