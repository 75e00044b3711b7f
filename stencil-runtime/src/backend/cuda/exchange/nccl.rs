//! NCCL: cards send values to each other in the order of their work.
//!
//! Its functions are looked up here, with the types that its header has declared since version 2.7: programs come with a
//! library of the name `libnccl.so.2`, which the crate that wraps the driver does not look for.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaStream, sys};
use libloading::Library;

use super::Bytes;
use crate::backend::cuda::CudaError;
use crate::transport::nccl_version;

/// The number of a group of cards that find each other.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Id([u8; Id::BYTES]);

impl Id {
    const BYTES: usize = 128;

    /// Reads a number that another process has made.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().map(|bytes| Id(*bytes))
    }

    /// Returns its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

type Stream = sys::CUstream;
type Group = *mut c_void;

/// Types of values, and a sum, by their numbers.
const BYTES: c_int = 1;
const NUMBERS: c_int = 5;
const SUM: c_int = 0;

/// Functions of the library.
struct Functions {
    id: unsafe extern "C" fn(*mut Id) -> c_int,
    join: unsafe extern "C" fn(*mut Group, c_int, Id, c_int) -> c_int,
    leave: unsafe extern "C" fn(Group) -> c_int,
    words: unsafe extern "C" fn(c_int) -> *const c_char,
    begin: unsafe extern "C" fn() -> c_int,
    end: unsafe extern "C" fn() -> c_int,
    send: unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Group, Stream) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Group, Stream) -> c_int,
    reduce: unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        usize,
        c_int,
        c_int,
        Group,
        Stream,
    ) -> c_int,
}

impl Functions {
    /// Returns the functions, looked up once.
    fn all() -> Result<&'static Self, String> {
        static ALL: OnceLock<Result<Functions, String>> = OnceLock::new();
        ALL.get_or_init(Self::look_up).as_ref().map_err(Clone::clone)
    }

    fn look_up() -> Result<Self, String> {
        nccl_version()?;
        // SAFETY: it was opened before, and its initializers have no preconditions.
        let library = unsafe { Library::new("libnccl.so.2") };
        // It is open for good.
        let library = ManuallyDrop::new(library.map_err(|e| e.to_string())?);
        macro_rules! find {
            ($name:literal) => {
                // SAFETY: the function is asked for with the type that the library's header declares for it.
                *unsafe { library.get($name.as_bytes()) }
                    .map_err(|_| format!("libnccl.so.2 has no {}", $name))?
            };
        }
        Ok(Functions {
            id: find!("ncclGetUniqueId"),
            join: find!("ncclCommInitRank"),
            leave: find!("ncclCommDestroy"),
            words: find!("ncclGetErrorString"),
            begin: find!("ncclGroupStart"),
            end: find!("ncclGroupEnd"),
            send: find!("ncclSend"),
            receive: find!("ncclRecv"),
            reduce: find!("ncclAllReduce"),
        })
    }

    /// Returns the error of a call that did not return zero.
    fn check(&self, call: &'static str, code: c_int) -> Result<(), CudaError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: returns a static text that ends in a zero byte, for any number.
        let words = unsafe { CStr::from_ptr((self.words)(code)) };
        Err(CudaError::Nccl { call, reason: words.to_string_lossy().into_owned() })
    }
}

/// Checks that there is a library with all functions.
///
/// # Errors
/// The reason why it cannot be used.
pub(super) fn is_there() -> Result<(), String> {
    Functions::all().map(|_| ())
}

/// Returns a number for a group of cards.
pub(super) fn id() -> Result<Id, CudaError> {
    let functions = Functions::all().map_err(missing)?;
    let mut id = Id([0; Id::BYTES]);
    // SAFETY: writes the number.
    functions.check("ncclGetUniqueId", unsafe { (functions.id)(&raw mut id) })?;
    Ok(id)
}

fn missing(reason: String) -> CudaError {
    CudaError::Nccl { call: "opening the library", reason }
}

/// A card of a group.
pub(super) struct Nccl {
    functions: &'static Functions,
    group: Group,
}

// SAFETY: a group may be used by any thread, by one at a time; all calls are made by the owner of a machine.
unsafe impl Send for Nccl {}
// SAFETY: as above.
unsafe impl Sync for Nccl {}

impl std::fmt::Debug for Nccl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Nccl")
    }
}

impl Nccl {
    /// Joins a group as the card of this number of so many, and waits for all of them.
    pub(super) fn join(
        stream: &Arc<CudaStream>,
        id: Id,
        (own, count): (usize, usize),
    ) -> Result<Self, CudaError> {
        let functions = Functions::all().map_err(missing)?;
        let bound = stream.context().bind_to_thread();
        bound.map_err(CudaError::driver("taking the card into use"))?;
        let mut group: Group = std::ptr::null_mut();
        // SAFETY: writes the group; the card of this thread is the one that joins.
        let code = unsafe { (functions.join)(&raw mut group, count as c_int, id, own as c_int) };
        functions.check("ncclCommInitRank", code)?;
        Ok(Nccl { functions, group })
    }

    /// Sends bytes to other cards and receives bytes from them, as work of a stream.
    ///
    /// # Safety
    /// All addresses are those of so many bytes on this card, which no other work uses meanwhile.
    pub(super) unsafe fn exchange(
        &self,
        stream: &Arc<CudaStream>,
        peers: impl Iterator<Item = (usize, Bytes, Bytes)>,
    ) -> Result<(), CudaError> {
        let Functions { begin, end, send, receive, .. } = self.functions;
        let check = |call, code| self.functions.check(call, code);
        let (group, on) = (self.group, stream.cu_stream());
        // SAFETY: as the caller promises.
        unsafe {
            check("ncclGroupStart", begin())?;
            let mut done = Ok(());
            for (peer, sent, coming) in peers {
                let peer = peer as c_int;
                if sent.count > 0 {
                    let code = send(sent.at as *const c_void, sent.count, BYTES, peer, group, on);
                    done = done.and(check("ncclSend", code));
                }
                if coming.count > 0 {
                    let to = coming.at as *mut c_void;
                    let code = receive(to, coming.count, BYTES, peer, group, on);
                    done = done.and(check("ncclRecv", code));
                }
            }
            // A group ends whatever happened in it.
            let ended = check("ncclGroupEnd", end());
            done.and(ended)
        }
    }

    /// Adds so many numbers of all cards, in place, as work of a stream.
    ///
    /// # Safety
    /// There are so many numbers of 64 bits at the address on this card, which no other work uses meanwhile.
    pub(super) unsafe fn add(
        &self,
        stream: &Arc<CudaStream>,
        at: u64,
        count: usize,
    ) -> Result<(), CudaError> {
        let (from, to, on) = (at as *const c_void, at as *mut c_void, stream.cu_stream());
        // SAFETY: as the caller promises.
        let code =
            unsafe { (self.functions.reduce)(from, to, count, NUMBERS, SUM, self.group, on) };
        self.functions.check("ncclAllReduce", code)
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        // SAFETY: joined above and left once, when its work is done. An error here has no receiver.
        let _ = unsafe { (self.functions.leave)(self.group) };
    }
}
