//! Exchanges between cards of several processes: packed on one card, carried by a library, unpacked on another.

mod nccl;
mod rooms;

use std::collections::VecDeque;
use std::sync::Arc;

use cudarc::driver::{CudaEvent, CudaStream, DriverError, result};

use crate::backend::cuda::kernels::ghosts::{Ghosts, Neighbour, Packing, Parcels};
use crate::backend::cuda::memory::Addresses;
use crate::backend::cuda::{CudaError, Opened};
use crate::transport::{Carrier, Parcel, Ranks};
use nccl::Nccl;
pub(crate) use rooms::{Pinned, Room};

/// A number of bytes at an address.
#[derive(Clone, Copy, Debug)]
struct Bytes {
    at: u64,
    count: usize,
}

/// The library that carries values between the card of this process and those of others.
#[derive(Debug)]
pub(crate) struct Courier {
    ranks: Ranks,
    kernels: Packing,
    way: Way,
    under_way: VecDeque<UnderWay>,
}

#[derive(Debug)]
enum Way {
    /// As work of a stream of the card.
    Nccl(Nccl),
    /// By calls of the host, from card to card.
    Mpi,
    /// By calls of the host, from the memory of the host to that of the host.
    Staged,
}

/// Values that are packed, and carried once the host waits for them.
#[derive(Debug)]
struct UnderWay {
    parcels: Arc<Parcels>,
    arrays: Box<Addresses>,
    packed: CudaEvent,
}

/// Returns the error for values that could not be carried.
fn failed(error: DriverError) -> CudaError {
    CudaError::driver("carrying values between cards")(error)
}

impl Courier {
    /// Chooses the carrier: the one that is wanted, or the fastest one that all ranks have. All ranks do so together.
    pub(crate) fn new(
        card: &Opened,
        ranks: &Ranks,
        kernels: Packing,
        wanted: Option<Carrier>,
    ) -> Result<Self, CudaError> {
        let way = match chosen(card, ranks, wanted)? {
            Carrier::Nccl => Way::Nccl(joined(card, ranks)?),
            Carrier::Mpi => Way::Mpi,
            Carrier::Staged => Way::Staged,
        };
        Ok(Courier { ranks: ranks.clone(), kernels, way, under_way: VecDeque::new() })
    }

    /// Returns the library.
    pub(crate) fn carrier(&self) -> Carrier {
        match self.way {
            Way::Nccl(_) => Carrier::Nccl,
            Way::Mpi => Carrier::Mpi,
            Way::Staged => Carrier::Staged,
        }
    }

    /// Is all of it work of streams, which captures hold?
    pub(crate) fn is_on_card(&self) -> bool {
        matches!(self.way, Way::Nccl(_))
    }

    /// Returns the processes.
    pub(crate) fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Packs the values for other processes, and begins to carry them.
    pub(crate) fn post(
        &mut self,
        stream: &Arc<CudaStream>,
        ghosts: &Ghosts,
        parcels: &Arc<Parcels>,
        arrays: &Addresses,
    ) -> Result<(), CudaError> {
        ghosts.pack(stream, &self.kernels, parcels, arrays)?;
        if let Way::Nccl(nccl) = &self.way {
            let [sent, come] = [parcels.sent.address(), parcels.come.address()];
            let peers = parcels.neighbours.iter();
            let peers = peers.map(|of| (of.peer, within(sent, &of.sent), within(come, &of.coming)));
            // SAFETY: these are parts of both rooms, which work of this stream alone uses.
            unsafe { nccl.exchange(stream, peers) }?;
            return parcels.unpack(stream, &self.kernels, arrays);
        }
        if let Way::Staged = self.way {
            stage(stream, parcels)?;
        }
        let packed = stream.context().new_event(None).map_err(failed)?;
        packed.record(stream).map_err(failed)?;
        let (parcels, arrays) = (parcels.clone(), Box::new(*arrays));
        self.under_way.push_back(UnderWay { parcels, arrays, packed });
        Ok(())
    }

    /// Is something to be carried by the host?
    pub(crate) fn has_work(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Carries all that was begun, by the host, and unpacks it.
    pub(crate) fn finish(&mut self, stream: &Arc<CudaStream>) -> Result<(), CudaError> {
        while let Some(UnderWay { parcels, arrays, packed }) = self.under_way.pop_front() {
            packed.synchronize().map_err(failed)?;
            let [sent, come] = match parcels.on_host.get() {
                Some(rooms) => rooms.each_ref().map(Pinned::address),
                None => [parcels.sent.address(), parcels.come.address()],
            };
            let all: Vec<Parcel> =
                parcels.neighbours.iter().map(|of| of.at([sent, come])).collect();
            // SAFETY: these are parts of both rooms, which the library reaches, and which no work in progress uses.
            unsafe { self.ranks.exchange(&all) };
            if let Some([_, come]) = parcels.on_host.get()
                && !come.bytes().is_empty()
            {
                let (to, on) = (parcels.come.address(), stream.cu_stream());
                // SAFETY: both rooms have so many bytes. Nothing else uses them until this is done: the host waits for the
                // next values behind it.
                unsafe { result::memcpy_htod_async(to, come.bytes(), on) }.map_err(failed)?;
            }
            parcels.unpack(stream, &self.kernels, &arrays)?;
        }
        Ok(())
    }

    /// Joins so many numbers of 64 bits at an address on the card: each process has some of them, and zeros in place of those
    /// that others have.
    pub(crate) fn join(
        &self,
        stream: &Arc<CudaStream>,
        at: u64,
        count: usize,
    ) -> Result<(), CudaError> {
        if let Way::Nccl(nccl) = &self.way {
            // SAFETY: the caller has so many numbers there, which work of this stream alone uses.
            return unsafe { nccl.add(stream, at, count) };
        }
        let mut numbers = vec![0; count];
        // SAFETY: both have so many numbers, and the copy is waited for.
        unsafe { result::memcpy_dtoh_async(&mut numbers, at, stream.cu_stream()) }
            .and_then(|()| stream.synchronize())
            .map_err(failed)?;
        self.ranks.join(&mut numbers);
        // SAFETY: as above.
        unsafe { result::memcpy_htod_async(at, &numbers, stream.cu_stream()) }
            .and_then(|()| stream.synchronize())
            .map_err(failed)
    }
}

/// Begins to copy packed values to the host.
fn stage(stream: &Arc<CudaStream>, parcels: &Parcels) -> Result<(), CudaError> {
    let [sent, _] = match parcels.on_host.get() {
        Some(rooms) => rooms,
        None => {
            let room = |of: &Room| Pinned::new(stream.context(), of.bytes());
            let rooms = [room(&parcels.sent)?, room(&parcels.come)?];
            parcels.on_host.get_or_init(|| rooms)
        }
    };
    if parcels.sent.bytes() == 0 {
        return Ok(());
    }
    let (from, on) = (parcels.sent.address(), stream.cu_stream());
    // SAFETY: both rooms have so many bytes; the host uses its own once this is done.
    unsafe { result::memcpy_dtoh_async(sent.bytes_mut(), from, on) }.map_err(failed)
}

/// Returns the part of a room.
fn within(room: u64, part: &std::ops::Range<usize>) -> Bytes {
    Bytes { at: room + part.start as u64, count: part.len() }
}

impl Neighbour {
    /// Returns the parcel for it, if rooms begin at these addresses.
    fn at(&self, [sent, come]: [u64; 2]) -> Parcel {
        let [sent, coming] = [within(sent, &self.sent), within(come, &self.coming)];
        Parcel { peer: self.peer, sent: (sent.at, sent.count), coming: (coming.at, coming.count) }
    }
}

/// Returns the carrier that is wanted, or the fastest one that all ranks have.
fn chosen(card: &Opened, ranks: &Ranks, wanted: Option<Carrier>) -> Result<Carrier, CudaError> {
    let nccl = nccl::is_there();
    let uuids = ranks.gather(card.card.uuid.as_bytes());
    let has_twins = (1..uuids.len()).any(|at| uuids[..at].contains(&uuids[at]));
    let lack = match nccl {
        _ if has_twins => Some("several ranks have one card".to_string()),
        Err(reason) => Some(reason),
        Ok(()) => None,
    };
    let lacks_nccl = ranks.any(lack.is_some());
    let lacks_mpi = ranks.any(!ranks.reaches_cards());
    let refused = |carrier, reason: String| Err(CudaError::Carrier { carrier, reason });
    match wanted {
        Some(Carrier::Nccl) if lacks_nccl => {
            refused(Carrier::Nccl, lack.unwrap_or_else(|| "another rank lacks it".into()))
        }
        Some(Carrier::Mpi) if lacks_mpi => {
            let reason = "this library of MPI does not reach the memory of cards";
            refused(Carrier::Mpi, reason.into())
        }
        Some(carrier) => Ok(carrier),
        None if !lacks_nccl => Ok(Carrier::Nccl),
        None if !lacks_mpi => Ok(Carrier::Mpi),
        None => Ok(Carrier::Staged),
    }
}

/// Joins the cards of all ranks. They reduce a number, so that no connection is made amid a capture.
fn joined(card: &Opened, ranks: &Ranks) -> Result<Nccl, CudaError> {
    let own = if ranks.is_first() { nccl::id()?.bytes().to_vec() } else { Vec::new() };
    let missing = || CudaError::Nccl { call: "joining cards", reason: "it has no number".into() };
    let id = nccl::Id::read(&ranks.gather(&own)[0]).ok_or_else(missing)?;
    let nccl = Nccl::join(&card.stream, id, (ranks.rank(), ranks.count()))?;
    let room = Room::new(&card.context, 2 * size_of::<u64>() * ranks.count())?;
    let at = |of: usize| Bytes { at: room.address() + 8 * of as u64, count: size_of::<u64>() };
    let peers = (0..ranks.count()).filter(|peer| *peer != ranks.rank());
    let peers = peers.map(|peer| (peer, at(peer), at(ranks.count() + peer)));
    // SAFETY: the room has two numbers for each rank, and is used by nothing else.
    unsafe {
        nccl.exchange(&card.stream, peers)?;
        nccl.add(&card.stream, room.address(), 1)?;
    }
    card.synchronize()?;
    Ok(nccl)
}
