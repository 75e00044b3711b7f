//! Barriers with phases: arrivals, and the copies and clocks that a phase carries.

use super::fault::{FaultKind, Problem};

/// A copy that has not landed: its buffer and first place there, its first word in shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingCopy {
    pub(super) buffer: usize,
    pub(super) place: usize,
    pub(super) word: usize,
}

/// Arrivals of a warp that come when its copies are complete.
#[derive(Clone, Debug)]
pub(super) struct Deferred {
    pub(super) barrier: usize,
    pub(super) warp: usize,
    pub(super) lanes: u32,
    pub(super) time: u32,
    /// The instruction that arrived.
    pub(super) pc: usize,
    pub(super) copies: Vec<PendingCopy>,
}

/// One barrier.
pub(super) struct Barrier {
    pub(super) name: String,
    arrivals: u32,
    arrived: u32,
    /// Phases completed.
    phase: u64,
    /// Clocks of those who arrived in this phase, and in the last one.
    clock: Vec<u32>,
    done: Vec<u32>,
    /// Copies bound to this phase, and to complete phases that nobody has waited for.
    bound: Vec<PendingCopy>,
    complete: Vec<PendingCopy>,
    /// Arrivals of each warp in this phase, and how many it may have: by itself, by copies.
    by_warp: Vec<[u32; 2]>,
    most: [u32; 2],
    /// Phase of each warp's last wait.
    seen: Vec<Option<u64>>,
}

impl Barrier {
    pub(super) fn new(name: String, arrivals: u32, warps: usize, threads: u32) -> Self {
        Barrier {
            name,
            arrivals,
            arrived: 0,
            phase: 0,
            clock: vec![0; 2 * warps],
            done: vec![0; 2 * warps],
            bound: Vec::new(),
            complete: Vec::new(),
            by_warp: vec![[0; 2]; warps],
            most: [arrivals.div_ceil(warps as u32), arrivals.div_ceil(threads)],
            seen: vec![None; warps],
        }
    }

    /// Back to the state at the start of a block.
    pub(super) fn restart(&mut self) {
        self.arrived = 0;
        self.phase = 0;
        self.clock.fill(0);
        self.done.fill(0);
        self.bound.clear();
        self.complete.clear();
        self.by_warp.fill([0; 2]);
        self.seen.fill(None);
    }

    /// A warp arrives, releasing its clock.
    pub(super) fn arrive(&mut self, warp: usize, clock: &[u32]) -> Result<(), Problem> {
        join(&mut self.clock, clock);
        self.count(warp, 1, 0, 1)
    }

    /// The copies of a warp's threads are complete: they arrive, releasing only the copies.
    pub(super) fn arrive_copies(&mut self, deferred: Deferred) -> Result<(), Problem> {
        let actor = self.seen.len() + deferred.warp;
        self.clock[actor] = self.clock[actor].max(deferred.time);
        self.bound.extend(deferred.copies);
        self.count(deferred.warp, deferred.lanes, 1, deferred.lanes)
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
        if self.arrived == self.arrivals {
            self.arrived = 0;
            self.phase += 1;
            self.by_warp.fill([0; 2]);
            std::mem::swap(&mut self.done, &mut self.clock);
            self.clock.fill(0);
            self.complete.append(&mut self.bound);
        }
        Ok(())
    }

    /// Would a wait for this parity pass?
    pub(super) fn passes(&self, parity: u64) -> bool {
        self.phase % 2 != parity % 2
    }

    /// A wait of a warp passes: it knows what the phase carries, and the copies land.
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
        format!(
            "{} with {} of {} arrivals in phase {}",
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
