//! The march as a software pipeline: lags, windows and first iterations of all grid functions of
//! a launch, computed before any code exists.
//!
//! In iteration p a function of lag l is evaluated on plane p + l. Inline functions are evaluated wherever they are
//! needed. A *register* function is evaluated once, in its own column, on the newest plane it can be. A *carried* sum
//! takes the terms of its source plane s in iteration p: a term at offset o goes to the output on plane p + s - o, so
//! the sum completes with lag s - o_max. The source is plane p, or plane p + o_max for a sum that is carried *ahead*;
//! no newer than those of its terms' operands. Both then stay for as many planes as their consumers lag behind. A
//! *shared* function is evaluated on the newest plane it can be, on the tile and the rim that neighbours read, and is
//! read from the iteration after: one barrier an iteration stands between.

use std::collections::{BTreeMap, BTreeSet};

use super::lower::{Context, add, describe};
use super::rim::Rim;
use crate::algorithm::footprint::needed;
use crate::algorithm::{Access, Def, FnId, Offset};
use crate::schedule::strategies::{ALL_COLUMNS, COLUMN};
use crate::schedule::{Carry, Placement, Refusal};

/// Lags and windows of one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// The axis marched along.
    pub axis: usize,
    /// Functions that ride along, in order of definition.
    pub delayed: BTreeMap<FnId, Delayed>,
    /// The reads of the shared ones among them.
    pub staged: BTreeMap<FnId, Staged>,
    /// Outputs with the lag at which each is stored.
    pub outputs: Vec<(String, FnId, i32)>,
    /// Each read of a buffer, at (x and other in-plane offset from the thread's first cell, lag),
    /// with the first iteration that needs it, counted from the first output plane.
    pub reads: BTreeMap<(FnId, Offset), i32>,
}

/// A function that rides along the march.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delayed {
    /// `Register`, `Carried` or `Shared`.
    pub placement: Placement,
    /// Lag of the plane it is evaluated on.
    pub source: i32,
    /// Lag at which its value is complete.
    pub lag: i32,
    /// Smallest offset of its terms along the march (0 if it is not carried).
    pub low: i32,
    /// Largest offset of its terms along the march (0 if it is not carried).
    pub high: i32,
    /// Older planes that consumers still read; for a shared function, those in registers.
    pub window: i32,
    /// First iteration whose completed value is needed, counted from the first output plane.
    pub first: i32,
    /// Is it made of others that ride along?
    pub follows: bool,
}

/// The reads of a shared function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staged {
    /// The lags of its planes that are read from shared memory.
    pub lags: BTreeSet<i32>,
    /// The lags that a thread reads in its own column, where these ride in registers.
    pub own: BTreeSet<i32>,
    /// The cells around the tile that are read.
    pub rim: Rim,
}

impl Delayed {
    /// Registers it takes a point between iterations.
    pub fn registers(&self) -> i32 {
        self.high - self.low + self.window
    }
}

impl Staged {
    /// Planes of a function evaluated at this lag that are kept in shared memory: those that are read, and the one that
    /// is evaluated.
    pub fn planes(&self, source: i32) -> u32 {
        let oldest = self.lags.first().copied().unwrap_or(source);
        source.abs_diff(oldest) + 1
    }

    /// Leaves reads at several planes of the own column to registers, and none if they are not to ride there. Returns
    /// the number of older planes that do.
    fn settle(&mut self, source: i32, column: bool) -> i32 {
        if !column || self.own.len() < 2 {
            self.lags.append(&mut self.own);
        }
        self.own.first().map_or(0, |oldest| source - oldest)
    }
}

impl Pipeline {
    /// First iteration that computes anything that is needed.
    pub fn first_iteration(&self) -> i32 {
        self.reads.values().copied().min().unwrap_or(0)
    }

    /// The smallest lag of an output: iterations go on until its last plane is stored.
    pub fn last_lag(&self) -> i32 {
        self.outputs.iter().map(|(.., lag)| *lag).min().unwrap_or(0)
    }
}

/// Computes the pipeline of a launch for threads of `points` cells along x.
///
/// # Errors
/// If a placement cannot be served: a carried function that is not a sum, or one that is read beyond its own column.
pub fn analyze(context: &Context<'_>, points: i32) -> Result<Pipeline, Refusal> {
    let axis = context.algorithm.slowest_axis();
    let placed = context.placed()?;
    let outputs = context.outputs()?;
    let lags = lags(context, axis, &placed)?;
    let mut walk = Walk {
        context,
        axis,
        points,
        delayed: lags.delayed,
        staged: BTreeMap::new(),
        reads: BTreeMap::new(),
        seen: BTreeMap::new(),
    };
    let mut settled = Vec::new();
    for (buffer, id) in outputs {
        let lag = match walk.delayed.get(&id) {
            Some(delayed) => Some(delayed.lag),
            None => free_lag(context, &lags.available, axis, id),
        };
        let lag = lag.unwrap_or(0).min(0);
        for point in 0..points {
            walk.root(id, point, lag)?;
        }
        settled.push((buffer, id, lag));
    }
    walk.delayed_sources()?;
    let column = context.param(COLUMN.name) == ALL_COLUMNS;
    for (id, staged) in &mut walk.staged {
        if let Some(delayed) = walk.delayed.get_mut(id) {
            delayed.window = staged.settle(delayed.source, column);
        }
    }
    Ok(Pipeline {
        axis,
        delayed: walk.delayed,
        staged: walk.staged,
        outputs: settled,
        reads: walk.reads,
    })
}

struct Lags {
    /// Newest lag at which each function can be evaluated; absent where any plane will do.
    available: BTreeMap<FnId, i32>,
    delayed: BTreeMap<FnId, Delayed>,
}

fn lags(
    context: &Context<'_>,
    axis: usize,
    placed: &BTreeMap<FnId, Placement>,
) -> Result<Lags, Refusal> {
    let stored = context
        .launch
        .inputs
        .iter()
        .map(|(name, _)| context.find(name))
        .collect::<Result<_, _>>()?;
    let roots: Vec<FnId> = context.outputs()?.into_iter().map(|(_, id)| id).collect();
    let of_accumulators = context.algorithm.made_of_accumulators();
    let mut lags = Lags { available: BTreeMap::new(), delayed: BTreeMap::new() };
    for id in needed(context.algorithm, &roots, &stored) {
        if stored.contains(&id) && !roots.contains(&id) {
            continue;
        }
        let free = free_lag(context, &lags.available, axis, id);
        let Some(&placement) = placed.get(&id) else {
            if let Some(free) = free {
                lags.available.insert(id, free);
            }
            continue;
        };
        if placement == Placement::Shared && of_accumulators.contains(&id) {
            return Err(made_of_accumulator(&context.algorithm.function(id).name));
        }
        let delayed = delay(context, axis, id, placement, &lags.available, free)?;
        lags.available.insert(id, delayed.lag);
        lags.delayed.insert(id, delayed);
    }
    Ok(lags)
}

fn made_of_accumulator(name: &str) -> Refusal {
    let message = format!(
        "`{name}` is shared, but is made of an accumulator, which every cell has to itself; use `inline` or `register`"
    );
    Refusal::placement(name, message)
}

/// Newest lag at which a function can be evaluated as a whole; `None` where any plane will do.
fn free_lag(
    context: &Context<'_>,
    available: &BTreeMap<FnId, i32>,
    axis: usize,
    id: FnId,
) -> Option<i32> {
    let accesses = context.algorithm.function(id).def.accesses();
    accesses.iter().filter_map(|a| available.get(&a.of).map(|lag| lag - a.at[axis])).min()
}

fn delay(
    context: &Context<'_>,
    axis: usize,
    id: FnId,
    placement: Placement,
    available: &BTreeMap<FnId, i32>,
    free: Option<i32>,
) -> Result<Delayed, Refusal> {
    let function = context.algorithm.function(id);
    let idle = Delayed {
        placement,
        source: 0,
        lag: 0,
        low: 0,
        high: 0,
        window: 0,
        first: i32::MAX,
        follows: free.is_some(),
    };
    if placement == Placement::Register {
        let lag = free.unwrap_or(0).min(0);
        return Ok(Delayed { source: lag, lag, ..idle });
    }
    if placement == Placement::Shared {
        let source = free.unwrap_or(0).min(0);
        return Ok(Delayed { source, lag: source - 1, ..idle });
    }
    let Def::Sum(terms) = &function.def else {
        return Err(Refusal::placement(
            &function.name,
            format!(
                "`{}` is carried but is no ordered sum; use `inline` or `register`",
                function.name
            ),
        ));
    };
    let offsets = terms.iter().map(|t| t.value.at[axis]);
    let (low, high) = (offsets.clone().min().unwrap_or(0), offsets.max().unwrap_or(0));
    let wanted = match placement {
        Placement::Carried(Carry::Ahead) => high.max(0),
        _ => 0,
    };
    // Every term is evaluated on the source plane, whatever its offset.
    let at_hand = terms.iter().filter_map(|t| available.get(&t.value.of));
    let source = at_hand.copied().min().map_or(wanted, |at| at.min(wanted));
    Ok(Delayed { source, lag: source - high, low, high, ..idle })
}

struct Walk<'a, 'b> {
    context: &'b Context<'a>,
    axis: usize,
    points: i32,
    delayed: BTreeMap<FnId, Delayed>,
    staged: BTreeMap<FnId, Staged>,
    reads: BTreeMap<(FnId, Offset), i32>,
    seen: BTreeMap<(FnId, Offset), i32>,
}

impl Walk<'_, '_> {
    /// An output on plane `lag`, needed from the iteration that computes the first output plane.
    fn root(&mut self, id: FnId, point: i32, lag: i32) -> Result<(), Refusal> {
        let mut at = [point, 0, 0];
        at[self.axis] += lag;
        let def = &self.context.algorithm.function(id).def;
        if self.delayed.contains_key(&id) || matches!(def, Def::State(_)) {
            return self.visit(id, at, -lag);
        }
        for access in def.accesses() {
            self.visit(access.of, add(at, access.at), -lag)?;
        }
        Ok(())
    }

    /// A value that is needed from iteration `from` on.
    fn visit(&mut self, of: FnId, at: Offset, from: i32) -> Result<(), Refusal> {
        if self.seen.get(&(of, at)).is_some_and(|known| *known <= from) {
            return Ok(());
        }
        self.seen.insert((of, at), from);
        if let Some(delayed) = self.delayed.get(&of).copied() {
            return self.visit_delayed(of, at, from, delayed);
        }
        if self
            .context
            .launch
            .inputs
            .iter()
            .any(|(name, _)| *name == self.context.algorithm.function(of).name)
        {
            let known = self.reads.entry((of, at)).or_insert(from);
            *known = (*known).min(from);
            return Ok(());
        }
        for access in self.context.algorithm.function(of).def.accesses() {
            self.visit(access.of, add(at, access.at), from)?;
        }
        Ok(())
    }

    fn visit_delayed(
        &mut self,
        of: FnId,
        at: Offset,
        from: i32,
        known: Delayed,
    ) -> Result<(), Refusal> {
        let mut plane = at;
        let lag = plane[self.axis];
        plane[self.axis] = 0;
        let own = (0..self.points).any(|point| plane == [point, 0, 0]);
        let shared = known.placement == Placement::Shared;
        if shared {
            let staged = self.staged.entry(of).or_default();
            let read = if own { &mut staged.own } else { &mut staged.lags };
            read.insert(lag);
            staged.rim.include(plane, self.points);
        }
        if !(own || shared) || lag > known.lag {
            let what = describe(self.context.algorithm, Access { of, at });
            let name = &self.context.algorithm.function(of).name;
            return Err(Refusal::placement(
                name,
                format!(
                    "`{what}`: it rides along the march in registers of its own column, but neighbours read it; use `inline`, `shared` or `global`"
                ),
            ));
        }
        if let Some(delayed) = self.delayed.get_mut(&of) {
            delayed.window = delayed.window.max(known.lag - lag);
            delayed.first = delayed.first.min(from + lag - known.lag);
        }
        Ok(())
    }

    /// The reads of delayed functions, consumers first, so that windows and first iterations are settled when a
    /// function's turn comes.
    fn delayed_sources(&mut self) -> Result<(), Refusal> {
        let ids: Vec<FnId> = self.delayed.keys().rev().copied().collect();
        for id in ids {
            let delayed = self.delayed[&id];
            let first = if delayed.first == i32::MAX { -delayed.lag } else { delayed.first };
            match delayed.placement {
                Placement::Shared => self.shared_sources(id, delayed, first)?,
                _ => self.own_sources(id, delayed, first)?,
            }
        }
        Ok(())
    }

    /// The reads of a function that is evaluated in its own column, from an iteration on.
    fn own_sources(&mut self, id: FnId, delayed: Delayed, first: i32) -> Result<(), Refusal> {
        for point in 0..self.points {
            for access in self.context.algorithm.function(id).def.accesses() {
                let mut at = [point + access.at[0], access.at[1], access.at[2]];
                let mut from = first;
                if matches!(delayed.placement, Placement::Carried(_)) {
                    // A term at offset o was due high - o iterations before completion.
                    from -= delayed.high - access.at[self.axis];
                    at[self.axis] = delayed.source;
                } else {
                    at[self.axis] += delayed.source;
                }
                self.visit(access.of, at, from)?;
            }
        }
        Ok(())
    }

    /// The reads of a function that is evaluated on the tile and its rim, for readers from an iteration on.
    fn shared_sources(&mut self, id: FnId, delayed: Delayed, first: i32) -> Result<(), Refusal> {
        let staged = self.staged.entry(id).or_default();
        let places = staged.rim.places(self.points);
        let from = first - (delayed.source - delayed.lag);
        for mut place in places {
            place[self.axis] += delayed.source;
            for access in self.context.algorithm.function(id).def.accesses() {
                self.visit(access.of, add(place, access.at), from)?;
            }
        }
        Ok(())
    }
}
