//! The cards of a run that several share, and the order of their work.

use std::sync::Arc;

use cudarc::driver::sys::CUgraphInstantiate_flags;
use cudarc::driver::{CudaEvent, CudaStream, DriverError};

use super::Machine;
use super::programs::{Arrays, Programs};
use crate::backend::cuda::card::Opened;
use crate::backend::cuda::kernels::formulas::{Formulas, Unsteady};
use crate::backend::cuda::kernels::ghosts::Ghosts;
use crate::backend::cuda::kernels::launch::Ready;
use crate::backend::cuda::memory::patches::{Owned, over};
use crate::backend::cuda::{Cache, CudaError};
use crate::field::Array;
use crate::mesh::Neighbours;
use crate::{Error, Number};

/// A card of a run, with all that it steps its own patches by.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) card: Opened,
    pub(super) ghosts: Ghosts,
    pub(super) formulas: Option<Formulas>,
    pub(super) launches: Vec<Ready>,
}

impl Peer {
    /// Loads the kernels of a card, which has the first number among the cards of this process, and the second one among those
    /// of the run.
    pub(super) fn new<T: Number>(
        ([at, owner], card): ([usize; 2], &Opened),
        cache: Option<&Cache>,
        arrays: &Arrays<T>,
        (programs, unsteady): (&Programs<'_>, &Unsteady),
    ) -> Result<Self, CudaError> {
        let Arrays { fields, cut, shape, own, .. } = arrays;
        let (mesh, boundaries) = (&fields.domain.mesh, &fields.domain.boundaries);
        let periodic = boundaries.periodic;
        let on = (over(&cut.patches), *shape, Owned::new(&cut.patches, owner));
        Ok(Peer {
            launches: arrays.load((owner, card), cache, programs)?,
            formulas: Formulas::new::<T>(card, cache, on, (mesh, periodic), unsteady)?,
            ghosts: Ghosts::new(
                &card.stream,
                own[at].fill_ghosts()?,
                (*shape, Neighbours::new(&cut.patches, periodic)),
                boundaries,
                T::BYTES,
            )?,
            card: card.clone(),
        })
    }
}

/// The streams of the cards that share a run, first card first, and the events that order them; there are none where one card
/// has the run. Another process orders its cards by itself. Between two parts of a run all work is ordered by the stream of the first card: a part begins with a
/// [`fork`](Self::fork) and ends with a [`join`](Self::join).
#[derive(Debug)]
pub(super) struct Lanes(Vec<Lane>);

/// The priority of exchanges: their blocks are placed before those of launches, whose priority is 0.
const FIRST: i32 = -1;

/// The streams of a card, and the last moment of each that others wait for.
#[derive(Debug)]
struct Lane {
    launches: Arc<CudaStream>,
    launched: CudaEvent,
    /// The stream of fills with values of other cards, and of launches in the cells that depend on these.
    exchanges: Arc<CudaStream>,
    exchanged: CudaEvent,
}

impl Lane {
    fn new(card: &Opened) -> Result<Self, DriverError> {
        Ok(Lane {
            launches: card.stream.clone(),
            launched: card.context.new_event(None)?,
            exchanges: card.context.new_stream_with_priority(FIRST)?,
            exchanged: card.context.new_event(None)?,
        })
    }
}

/// Returns the error for work of several cards that could not be ordered.
fn failed(error: DriverError) -> CudaError {
    CudaError::driver("letting cards wait for each other")(error)
}

impl Lanes {
    /// Makes the streams and events of the cards of a run that so many devices share.
    pub(super) fn new(cards: &[Opened], devices: usize) -> Result<Self, CudaError> {
        let all = if devices > 1 { cards } else { &[] };
        all.iter().map(Lane::new).collect::<Result<_, _>>().map(Lanes).map_err(failed)
    }

    /// Returns the flags of a graph of their work, whose priorities it keeps.
    pub(super) fn graph_flags(&self) -> CUgraphInstantiate_flags {
        match self.0.is_empty() {
            true => CUgraphInstantiate_flags(0),
            false => CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
        }
    }

    /// Waits for all that each card was given by itself: no part of a run waits for that.
    pub(super) fn settle(&self) -> Result<(), CudaError> {
        let streams = self.0.iter().flat_map(|lane| [&lane.launches, &lane.exchanges]);
        // All of them, even behind one that fails.
        let done: Vec<_> = streams.map(|stream| stream.synchronize()).collect();
        let failed = CudaError::driver("a kernel or a copy");
        done.into_iter().collect::<Result<_, _>>().map_err(failed)
    }

    /// Lets all other cards wait for the first one.
    pub(super) fn fork(&self) -> Result<(), CudaError> {
        let Some((first, others)) = self.0.split_first() else {
            return Ok(());
        };
        first.launched.record(&first.launches).map_err(failed)?;
        let mut others = others.iter();
        others.try_for_each(|other| other.launches.wait(&first.launched)).map_err(failed)
    }

    /// Lets the first card wait for all others.
    pub(super) fn join(&self) -> Result<(), CudaError> {
        let Some((first, others)) = self.0.split_first() else {
            return Ok(());
        };
        others.iter().try_for_each(|other| {
            other.launched.record(&other.launches).map_err(failed)?;
            first.launches.wait(&other.launched).map_err(failed)
        })
    }

    /// Lets the launches of each card wait for those of all.
    pub(super) fn meet(&self) -> Result<(), CudaError> {
        for lane in &self.0 {
            lane.launched.record(&lane.launches).map_err(failed)?;
        }
        let all = || self.0.iter().enumerate();
        all().try_for_each(|(at, lane)| {
            let mut others = all().filter(|(of, _)| *of != at);
            others.try_for_each(|(_, of)| lane.launches.wait(&of.launched)).map_err(failed)
        })
    }

    /// Begins an exchange, started by a function of the number of a card and its stream for it: exchanges wait for the
    /// launches of all cards.
    pub(super) fn exchange(
        &self,
        start: impl FnMut(usize, &Arc<CudaStream>) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        for lane in &self.0 {
            lane.launched.record(&lane.launches).map_err(failed)?;
        }
        for lane in &self.0 {
            let mut all = self.0.iter();
            all.try_for_each(|of| lane.exchanges.wait(&of.launched)).map_err(failed)?;
        }
        self.behind_exchange(start)
    }

    /// Starts work on each card, in the same way, behind its own part of an exchange.
    pub(super) fn behind_exchange(
        &self,
        mut start: impl FnMut(usize, &Arc<CudaStream>) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        for (card, lane) in self.0.iter().enumerate() {
            start(card, &lane.exchanges)?;
            lane.exchanged.record(&lane.exchanges).map_err(failed)?;
        }
        Ok(())
    }

    /// Lets the launches of each card wait for the exchanges of all, and for the work behind them: values that other cards
    /// still read stay as they are.
    pub(super) fn end_exchange(&self) -> Result<(), CudaError> {
        let all = || self.0.iter();
        all()
            .try_for_each(|lane| all().try_for_each(|of| lane.launches.wait(&of.exchanged)))
            .map_err(failed)
    }
}

impl<T: Number> Machine<T> {
    /// Returns all cards of the run, each with its launches.
    pub(super) fn cards(&self) -> impl Iterator<Item = (&Opened, &Ghosts, &[Ready])> {
        let peers = self.peers.iter();
        let peers = peers.map(|peer| (&peer.card, &peer.ghosts, peer.launches.as_slice()));
        std::iter::once((&self.card, &self.ghosts, self.launches.as_slice())).chain(peers)
    }

    /// Returns the streams of all cards.
    pub(super) fn streams(&self) -> Vec<Arc<CudaStream>> {
        self.cards().map(|(card, ..)| card.stream.clone()).collect()
    }

    /// Copies an array of the mesh, ghost cells and all, to the cards, each card to its own memory.
    pub(super) fn upload(&mut self, slot: usize, values: &Array<T>) -> Result<(), Error> {
        let streams = self.streams();
        self.together(|machine| machine.cut.upload(&mut machine.memory, &streams, slot, values))
    }

    /// Copies an array from the cards to one of the mesh, behind all work of the first card, and waits for it.
    pub(super) fn download(&self, slot: usize, values: &mut Array<T>) -> Result<(), Error> {
        self.lanes.fork()?;
        self.cut.download(&self.memory, &self.streams(), slot, values)
    }

    /// Does a part of the run on all cards, behind all work of the first one, which then waits for it.
    pub(super) fn together<R, E: From<CudaError>>(
        &mut self,
        part: impl FnOnce(&mut Self) -> Result<R, E>,
    ) -> Result<R, E> {
        self.lanes.fork()?;
        let done = part(self);
        // A capture ends with all streams that it has begun with, whatever happened.
        self.lanes.join()?;
        done
    }

    /// Does work of the first card alone amid a part: it waits for all others, and they for it.
    pub(super) fn alone<R>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.lanes.join()?;
        let done = work(self)?;
        self.lanes.fork()?;
        Ok(done)
    }

    /// Copies an array of all patches to another.
    pub(super) fn copy(&mut self, from: usize, to: usize) -> Result<(), CudaError> {
        self.together(|machine| {
            let mut cards = (machine.first..).zip(machine.cards());
            cards.try_for_each(|(owner, (card, ..))| {
                machine.memory.copy((owner, &card.stream), from, to)
            })
        })
    }

    /// Begins the step that was announced, amid a part: all kernels on all cards get their uniforms. With `next`, the last
    /// of several steps is accepted before.
    pub(super) fn begin_on_all(&mut self, next: bool) -> Result<(), CudaError> {
        let stream = self.card.stream.clone();
        self.lanes.join()?;
        match next {
            true => self.clock.begin_next(&stream)?,
            false => self.clock.begin(&stream)?,
        }
        self.lanes.fork()?;
        let mut peers = self.peers.iter().enumerate();
        peers.try_for_each(|(at, peer)| self.clock.take_over(at, &peer.card.stream))
    }
}
