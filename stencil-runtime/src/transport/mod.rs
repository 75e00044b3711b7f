//! Transport of bytes between the processes of a run, which are its ranks. Libraries move them.

mod alone;
mod carrier;
mod cores;
mod detect;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::iter;
use std::sync::Arc;

pub use carrier::Carrier;
pub use detect::{mpi_library, mpi_reaches_cards, mpirun, nccl_version, started_rank};

/// Bytes for another rank, and the number of bytes that come from it.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) peer: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) coming: usize,
}

/// Bytes at an address for another rank, and the room at another address for those that come from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) peer: usize,
    /// The address and the number of the bytes to send.
    pub(crate) sent: (u64, usize),
    /// The address and the number of the bytes to come.
    pub(crate) coming: (u64, usize),
}

/// Messages on their way.
pub(crate) trait Exchange: Debug + Send + Sync {
    /// Waits for them; returns the bytes that have come, in the order in which the exchange was posted.
    fn wait(self: Box<Self>) -> Vec<Box<[u8]>>;
}

/// A library that moves bytes between ranks. All ranks call the same functions in the same order.
trait Transport: Debug + Send + Sync {
    fn rank(&self) -> usize;

    fn ranks(&self) -> usize;

    /// Begins to send and to receive messages.
    fn post(&self, messages: Vec<Message>) -> Box<dyn Exchange>;

    /// Returns the bytes of each rank.
    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>>;

    /// Returns the bytes of each rank on the first one, and nothing on others.
    fn gather_on_first(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let lengths = self.gather(&(own.len() as u64).to_le_bytes());
        let length = |bytes: &Vec<u8>| bytes.first_chunk().map_or(0, |n| u64::from_le_bytes(*n));
        let others = lengths.iter().map(|bytes| length(bytes) as usize).enumerate().skip(1);
        let message = |(peer, coming)| Message { peer, bytes: Vec::new(), coming };
        if self.rank() > 0 {
            self.post(vec![Message { peer: 0, bytes: own.to_vec(), coming: 0 }]).wait();
            return Vec::new();
        }
        let come = self.post(others.map(message).collect()).wait();
        iter::once(own.to_vec()).chain(come.into_iter().map(Vec::from)).collect()
    }

    /// Moves bytes from memory to memory, and waits for all of them.
    ///
    /// # Safety
    /// The library reaches both ranges of each parcel; nothing else changes those that are sent, or uses those that bytes come
    /// to.
    unsafe fn exchange(&self, parcels: &[Parcel]);

    /// Does the library reach the memory of cards?
    fn reaches_cards(&self) -> bool {
        false
    }

    /// Is it so on any rank?
    fn any(&self, own: bool) -> bool;

    /// Returns the name of the host.
    fn host(&self) -> String;

    /// Ends all ranks with an exit code.
    fn abort(&self, code: u8) -> !;
}

/// The processes that do one run together: each has the patches of one device. All of them run the same program and call
/// the same functions of a simulation in the same order.
///
/// ```
/// use stencil_runtime::transport::Ranks;
///
/// let ranks = Ranks::alone();
/// assert_eq!((ranks.rank(), ranks.count(), ranks.is_first()), (0, 1, true));
/// ```
#[derive(Clone, Debug)]
pub struct Ranks(Arc<dyn Transport>);

impl Default for Ranks {
    fn default() -> Self {
        Ranks::alone()
    }
}

impl Ranks {
    /// Returns a process that does a run by itself.
    pub fn alone() -> Self {
        Ranks(Arc::new(alone::Alone))
    }

    /// Returns the ranks that `mpirun` has started, or a process alone. MPI ends when the last copy is dropped.
    ///
    /// # Errors
    /// If `mpirun` has started several processes and this program was built without MPI, or MPI cannot be used.
    pub fn started() -> Result<Self, String> {
        match detect::started_ranks() {
            None | Some(1) => Ok(Ranks::alone()),
            #[cfg(feature = "mpi")]
            Some(_) => Ok(Ranks(Arc::new(mpi::Mpi::start()?))),
            #[cfg(not(feature = "mpi"))]
            Some(ranks) => Err(format!(
                "mpirun has started {ranks} processes, and this binary was built without MPI\n  help: build it with --features mpi"
            )),
        }
    }

    /// Returns the number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.0.rank()
    }

    /// Returns the number of processes.
    pub fn count(&self) -> usize {
        self.0.ranks()
    }

    /// Is this the process that writes files and talks?
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// Is it so on any rank? All ranks ask together.
    pub fn any(&self, own: bool) -> bool {
        self.0.any(own)
    }

    /// Returns the number of the first rank. All ranks ask together.
    pub fn of_first(&self, own: u64) -> u64 {
        let all = self.gather(&own.to_le_bytes());
        all[0].first_chunk().map_or(own, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Returns the bytes of the first rank. All ranks ask together.
    pub fn bytes_of_first(&self, own: &[u8]) -> Vec<u8> {
        self.gather(own).swap_remove(0)
    }

    /// Returns the first rank whose bytes differ from those of rank 0. All ranks ask together.
    pub fn first_unlike(&self, own: &[u8]) -> Option<usize> {
        let all = self.gather(own);
        all.iter().position(|bytes| *bytes != all[0])
    }

    /// Ends all ranks with an exit code.
    pub fn abort(&self, code: u8) -> ! {
        self.0.abort(code)
    }

    /// Begins to send and to receive messages.
    pub(crate) fn post(&self, messages: Vec<Message>) -> Box<dyn Exchange> {
        self.0.post(messages)
    }

    /// Returns the bytes of each rank.
    pub(crate) fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        self.0.gather(own)
    }

    /// Returns the bytes of each rank on the first one, and nothing on others.
    pub(crate) fn gather_on_first(&self, own: &[u8]) -> Vec<Vec<u8>> {
        self.0.gather_on_first(own)
    }

    /// Moves bytes from memory to memory, and waits for all of them.
    ///
    /// # Safety
    /// As for the library: see [`Transport::exchange`].
    pub(crate) unsafe fn exchange(&self, parcels: &[Parcel]) {
        // SAFETY: as the caller promises.
        unsafe { self.0.exchange(parcels) }
    }

    /// Does MPI reach the memory of cards?
    pub fn reaches_cards(&self) -> bool {
        self.0.reaches_cards()
    }

    /// Returns the least number of all ranks. All ranks ask together.
    pub(crate) fn least(&self, own: u64) -> u64 {
        if self.count() == 1 {
            return own;
        }
        let all = self.gather(&own.to_le_bytes());
        let all = all.iter().filter_map(|bytes| bytes.first_chunk());
        all.map(|bytes| u64::from_le_bytes(*bytes)).min().unwrap_or(own)
    }

    /// Joins arrays of which each rank has some numbers, and zeros in place of those that others have. All ranks ask together.
    pub(crate) fn join(&self, own: &mut [u64]) {
        let bytes: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
        for other in self.gather(&bytes) {
            for (number, bytes) in own.iter_mut().zip(other.as_chunks().0) {
                *number |= u64::from_le_bytes(*bytes);
            }
        }
    }

    /// Returns the number of this rank among those of its host. All ranks ask together.
    pub(crate) fn number_on_host(&self) -> usize {
        let host = self.0.host().into_bytes();
        let all = self.gather(&host);
        all[..self.rank()].iter().filter(|other| **other == host).count()
    }

    /// Returns the number of cores for this rank, if the system tells: ranks of one host share those that several may use. All
    /// ranks ask together.
    pub(crate) fn cores(&self) -> Option<usize> {
        let (host, list) = (self.0.host(), cores::allowed().unwrap_or_default());
        let all = self.gather(format!("{list}\n{host}").as_bytes());
        let all = all.iter().filter_map(|of| str::from_utf8(of).ok()?.split_once('\n'));
        let here: Vec<&str> = all.filter(|of| of.1 == host).map(|of| of.0).collect();
        cores::share(&list, &here)
    }

    /// Returns the number of ranks on this host. All ranks ask together.
    pub(crate) fn on_this_host(&self) -> usize {
        let host = self.0.host().into_bytes();
        self.gather(&host).iter().filter(|other| **other == host).count()
    }
}
