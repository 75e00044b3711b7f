//! Ranks of MPI.

use std::ffi::c_void;
use std::fmt::{self, Debug};
use std::{ptr, thread};

use ::mpi::Count;
use ::mpi::Threading;
use ::mpi::collective::SystemOperation;
use ::mpi::datatype::PartitionMut;
use ::mpi::environment::{self, Universe};
use ::mpi::ffi;
use ::mpi::point_to_point::{Destination, Source};
use ::mpi::request::{StaticScope, WaitGuard};
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, CommunicatorCollectives};

use super::detect::mpi_reaches_cards;
use super::{Exchange, Message, Parcel, Transport};

/// Bytes that one call moves at most: MPI counts them by 32 bits.
const MOST: usize = 1 << 30;

/// Marks the messages of exchanges. Those between two ranks arrive in the order in which they are posted.
const TAG: i32 = 1;

/// All ranks that were started together.
pub(super) struct Mpi {
    /// Ends MPI when it is dropped.
    _universe: Universe,
    rank: usize,
    ranks: usize,
}

impl Mpi {
    /// Begins MPI, once in a process.
    pub(super) fn start() -> Result<Self, String> {
        let started = environment::initialize_with_threading(Threading::Serialized);
        let (universe, threading) = started.ok_or("MPI was begun before")?;
        let world = universe.world();
        let (rank, ranks) = (world.rank() as usize, world.size() as usize);
        if threading < Threading::Serialized {
            return Err(format!("MPI allows calls by one thread only ({threading:?})"));
        }
        Ok(Mpi { _universe: universe, rank, ranks })
    }
}

impl Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.ranks)
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // A rank that panics would wait for the others at the end of MPI.
        if thread::panicking() {
            self.abort(1);
        }
    }
}

fn world() -> SimpleCommunicator {
    SimpleCommunicator::world()
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn post(&self, messages: Vec<Message>) -> Box<dyn Exchange> {
        let (world, mut posted) = (world(), Posted::default());
        for Message { peer, coming, .. } in &messages {
            let buffer = Box::into_raw(vec![0; *coming].into_boxed_slice());
            posted.received.push(buffer);
            // SAFETY: it lives until the request is done, and nobody else uses it before.
            for part in unsafe { &mut *buffer }.chunks_mut(MOST) {
                let process = world.process_at_rank(*peer as i32);
                let request = process.immediate_receive_into_with_tag(StaticScope, part, TAG);
                posted.requests.push(WaitGuard::from(request));
            }
        }
        for Message { peer, bytes, .. } in messages {
            let buffer = Box::into_raw(bytes.into_boxed_slice());
            posted.sent.push(buffer);
            // SAFETY: it lives until the request is done, and nobody changes it before.
            for part in unsafe { &*buffer }.chunks(MOST) {
                let process = world.process_at_rank(peer as i32);
                let request = process.immediate_send_with_tag(StaticScope, part, TAG);
                posted.requests.push(WaitGuard::from(request));
            }
        }
        Box::new(posted)
    }

    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let mut lengths = vec![0_u64; self.ranks];
        world().all_gather_into(&(own.len() as u64), &mut lengths[..]);
        let most = MOST / self.ranks;
        let longest = lengths.iter().max().map_or(0, |length| *length as usize);
        let mut all: Vec<Vec<u8>> =
            lengths.iter().map(|length| Vec::with_capacity(*length as usize)).collect();
        for begin in (0..longest).step_by(most) {
            let part = |length: usize| length.saturating_sub(begin).min(most);
            let counts: Vec<Count> = lengths.iter().map(|l| part(*l as usize) as Count).collect();
            let begins = counts.iter().scan(0, |end, count| {
                *end += count;
                Some(*end - count)
            });
            let begins: Vec<Count> = begins.collect();
            let mut received = vec![0_u8; counts.iter().map(|count| *count as usize).sum()];
            let mut parts = PartitionMut::new(&mut received[..], &counts[..], &begins[..]);
            let sent = &own[begin.min(own.len())..][..part(own.len())];
            world().all_gather_varcount_into(sent, &mut parts);
            for (bytes, (count, begin)) in all.iter_mut().zip(counts.iter().zip(&begins)) {
                bytes.extend_from_slice(&received[*begin as usize..][..*count as usize]);
            }
        }
        all
    }

    unsafe fn exchange(&self, parcels: &[Parcel]) {
        let parts = |(at, bytes): (u64, usize)| {
            let begins = (0..bytes).step_by(MOST);
            begins.map(move |begin| (at + begin as u64, (bytes - begin).min(MOST)))
        };
        let coming = parcels.iter().flat_map(|p| parts(p.coming).map(|part| (p.peer, part)));
        let sent = parcels.iter().flat_map(|p| parts(p.sent).map(|part| (p.peer, part)));
        let mut requests: Vec<ffi::MPI_Request> = Vec::new();
        // SAFETY: the caller promises that the library reaches these bytes, and that nothing else uses them before all
        // requests are done, here.
        unsafe {
            for (peer, (at, bytes)) in coming {
                requests.push(ffi::RSMPI_REQUEST_NULL);
                ffi::MPI_Irecv(
                    at as *mut c_void,
                    bytes as Count,
                    ffi::RSMPI_UINT8_T,
                    peer as i32,
                    TAG,
                    ffi::RSMPI_COMM_WORLD,
                    requests.last_mut().map_or(ptr::null_mut(), ptr::from_mut),
                );
            }
            for (peer, (at, bytes)) in sent {
                requests.push(ffi::RSMPI_REQUEST_NULL);
                ffi::MPI_Isend(
                    at as *const c_void,
                    bytes as Count,
                    ffi::RSMPI_UINT8_T,
                    peer as i32,
                    TAG,
                    ffi::RSMPI_COMM_WORLD,
                    requests.last_mut().map_or(ptr::null_mut(), ptr::from_mut),
                );
            }
            let ignored = ffi::RSMPI_STATUSES_IGNORE;
            ffi::MPI_Waitall(requests.len() as Count, requests.as_mut_ptr(), ignored);
        }
    }

    fn reaches_cards(&self) -> bool {
        mpi_reaches_cards()
    }

    fn any(&self, own: bool) -> bool {
        let mut all = 0_u8;
        world().all_reduce_into(&u8::from(own), &mut all, SystemOperation::max());
        all != 0
    }

    fn host(&self) -> String {
        environment::processor_name().unwrap_or_default()
    }

    fn abort(&self, code: u8) -> ! {
        world().abort(code.into())
    }
}

/// Messages on their way, and their buffers.
#[derive(Default)]
struct Posted {
    requests: Vec<WaitGuard<'static, [u8], StaticScope>>,
    received: Vec<*mut [u8]>,
    sent: Vec<*mut [u8]>,
}

// SAFETY: MPI was begun for calls by any thread, one at a time; a request and its buffers have one owner.
unsafe impl Send for Posted {}
// SAFETY: nothing can be done with a shared reference.
unsafe impl Sync for Posted {}

impl Debug for Posted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages on their way", self.requests.len())
    }
}

impl Posted {
    /// Waits for all messages; returns the buffers of those that have come.
    fn finish(&mut self) -> Vec<Box<[u8]>> {
        // A guard that is dropped waits for its request.
        self.requests.clear();
        // SAFETY: all come from `Box::into_raw`, once, and no request uses them any longer.
        let own = |buffer: *mut [u8]| unsafe { Box::from_raw(buffer) };
        self.sent.drain(..).map(own).for_each(drop);
        self.received.drain(..).map(own).collect()
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Exchange for Posted {
    fn wait(mut self: Box<Self>) -> Vec<Box<[u8]>> {
        self.finish()
    }
}
