//! Barriers with phases: arrivals and bytes, and the copies and clocks that a phase carries.
//!
//! Boxes land in any order. So those of a barrier are an actor of their own, whose time is the number
//! of the phase that they count on: a warp knows of them when it has waited for that phase.

use super::fault::{FaultKind, Problem};

/// A copy that has not landed: its buffer and first place there (`None` outside of it), its first word in shared
/// memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingCopy {
    pub(super) buffer: usize,
    pub(super) place: Option<usize>,
    pub(super) word: usize,
    /// Is it part of a box?
    pub(super) boxed: bool,
}

/// An arrival at a barrier when copies are complete.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrival {
    /// Threads of a warp, for all copies that they had started at this time of theirs.
    Threads { lanes: u32, time: u32 },
    /// The bytes of a box.
    Bytes(u32),
}

/// An arrival that comes when its copies are complete.
#[derive(Clone, Debug)]
pub(super) struct Deferred {
    pub(super) barrier: usize,
    pub(super) warp: usize,
    pub(super) arrival: Arrival,
    /// The instruction that arrived.
    pub(super) pc: usize,
    pub(super) copies: Vec<PendingCopy>,
}

/// One barrier.
pub(super) struct Barrier {
    pub(super) name: String,
    arrivals: u32,
    arrived: u32,
    /// Bytes that the phase still awaits; negative where more have come than it was told of.
    bytes: i64,
    /// Phases completed.
    phase: u64,
    /// Its boxes among all actors, and their time in phase 0.
    actor: usize,
    base: u32,
    /// Clocks of those who arrived in this phase, and in the last one.
    clock: Vec<u32>,
    done: Vec<u32>,
    /// Copies bound to this phase, and to complete phases that nobody has waited for.
    bound: Vec<PendingCopy>,
    complete: Vec<PendingCopy>,
    /// Arrivals of each warp in this phase, and the number it may have: by itself, by copies.
    by_warp: Vec<[u32; 2]>,
    most: [u32; 2],
    /// Phase of each warp's last wait.
    seen: Vec<Option<u64>>,
}

impl Barrier {
    /// A barrier of a block of this many warps and threads; its boxes are actor `actor` of `actors`.
    pub(super) fn new(
        name: String,
        arrivals: u32,
        (warps, threads): (usize, u32),
        (actor, actors): (usize, usize),
    ) -> Self {
        Barrier {
            name,
            arrivals,
            arrived: 0,
            bytes: 0,
            phase: 0,
            actor,
            base: 0,
            clock: vec![0; actors],
            done: vec![0; actors],
            bound: Vec::new(),
            complete: Vec::new(),
            by_warp: vec![[0; 2]; warps],
            most: [arrivals.div_ceil(warps as u32), arrivals.div_ceil(threads)],
            seen: vec![None; warps],
        }
    }

    /// Back to the state at the start of a block; all times until now are at most `past`.
    pub(super) fn restart(&mut self, past: u32) {
        self.arrived = 0;
        self.bytes = 0;
        self.phase = 0;
        self.base = past + 1;
        self.clock.fill(0);
        self.done.fill(0);
        self.bound.clear();
        self.complete.clear();
        self.by_warp.fill([0; 2]);
        self.seen.fill(None);
    }

    /// The actor and time of boxes that count on the present phase.
    pub(super) fn boxes(&self) -> (usize, u32) {
        (self.actor, self.base + self.phase as u32)
    }

    /// Is there a box that nobody has waited for?
    pub(super) fn has_boxes(&self) -> bool {
        self.bound.iter().chain(&self.complete).any(|copy| copy.boxed)
    }

    /// The phase awaits this many further bytes of boxes.
    pub(super) fn expect(&mut self, bytes: u32) {
        self.bytes += i64::from(bytes);
    }

    /// Some threads of a warp arrive, each by itself.
    pub(super) fn arrive_alone(
        &mut self,
        warp: usize,
        lanes: u32,
        clock: &[u32],
    ) -> Result<(), Problem> {
        join(&mut self.clock, clock);
        self.count(warp, lanes, 0, lanes)
    }

    /// A warp arrives, releasing its clock.
    pub(super) fn arrive(&mut self, warp: usize, clock: &[u32]) -> Result<(), Problem> {
        join(&mut self.clock, clock);
        self.count(warp, 1, 0, 1)
    }

    /// Copies are complete: their threads arrive, releasing only the copies, or their bytes count.
    pub(super) fn land(&mut self, deferred: Deferred) -> Result<(), Problem> {
        self.bound.extend(deferred.copies);
        match deferred.arrival {
            Arrival::Threads { lanes, time } => {
                let actor = self.seen.len() + deferred.warp;
                self.clock[actor] = self.clock[actor].max(time);
                self.count(deferred.warp, lanes, 1, lanes)
            }
            Arrival::Bytes(bytes) => {
                self.bytes -= i64::from(bytes);
                self.settle();
                Ok(())
            }
        }
    }

    fn count(&mut self, warp: usize, arrivals: u32, kind: usize, each: u32) -> Result<(), Problem> {
        self.by_warp[warp][kind] += 1;
        let again = self.by_warp[warp][kind] > self.most[kind];
        if again || self.arrived + arrivals > self.arrivals {
            let what = if again { "again" } else { "too often" };
            let message = format!(
                "warp {warp} arrives {what} ({each} of {}) in phase {} of {}",
                self.arrivals, self.phase, self.name
            );
            return Err(Problem::new(FaultKind::OverArrival, message));
        }
        self.arrived += arrivals;
        self.settle();
        Ok(())
    }

    /// Completes the phase if everything that it awaits has arrived.
    fn settle(&mut self) {
        if self.arrived < self.arrivals || self.bytes != 0 {
            return;
        }
        let (actor, time) = self.boxes();
        self.clock[actor] = time;
        self.arrived = 0;
        self.phase += 1;
        self.by_warp.fill([0; 2]);
        std::mem::swap(&mut self.done, &mut self.clock);
        self.clock.fill(0);
        self.complete.append(&mut self.bound);
    }

    /// Would a wait for this parity pass?
    pub(super) fn passes(&self, parity: u64) -> bool {
        self.phase % 2 != parity % 2
    }

    /// A wait of a warp passes: it learns the clocks of the phase, and the copies land.
    pub(super) fn pass(
        &mut self,
        warp: usize,
        clock: &mut [u32],
    ) -> Result<Vec<PendingCopy>, Problem> {
        if self.seen[warp] == Some(self.phase) {
            let message = format!(
                "a wait passes on phase {} of {}, which the warp has seen",
                self.phase, self.name
            );
            return Err(Problem::new(FaultKind::StalePhase, message));
        }
        self.seen[warp] = Some(self.phase);
        join(clock, &self.done);
        Ok(std::mem::take(&mut self.complete))
    }

    /// State for the message of a deadlock.
    pub(super) fn describe(&self) -> String {
        let bytes = match self.bytes {
            0 => String::new(),
            bytes => format!(" and {bytes} bytes missing"),
        };
        format!(
            "{} with {} of {} arrivals{bytes} in phase {}",
            self.name, self.arrived, self.arrivals, self.phase
        )
    }
}

/// The later of two clocks, for every actor.
pub(super) fn join(clock: &mut [u32], other: &[u32]) {
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}
