//! Libraries that move values between the devices of several processes: are they there?

use std::env;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

use libloading::Library;

/// Names of libraries of MPI: the usual link, Open MPI and MPICH.
const MPI: [&str; 3] = ["libmpi.so", "libmpi.so.40", "libmpi.so.12"];

/// Variables by which Open MPI and MPICH tell a process how many they have started.
const STARTED: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// Variables by which they tell it its own number.
const STARTED_AS: [&str; 2] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"];

/// Returns the version of NCCL, such as `2.21.5`, if the system loader knows its library.
///
/// # Errors
/// The reason why it cannot be used.
pub fn nccl_version() -> Result<String, String> {
    const NAME: &str = "libnccl.so.2";
    let library = open(NAME).ok_or_else(|| format!("the system loader knows no {NAME}"))?;
    let mut version: c_int = 0;
    // SAFETY: the function is asked for with the type that the library's header declares for it, and writes one integer.
    let told = unsafe {
        let ask = library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"ncclGetVersion");
        ask.map(|ask| ask(&raw mut version))
    };
    match told {
        Ok(0) => Ok(version_words(version)),
        Ok(code) => Err(format!("{NAME} does not tell its version (error {code})")),
        Err(_) => Err(format!("{NAME} has no function that tells its version")),
    }
}

/// Returns the name of a library of MPI that the system loader knows.
pub fn mpi_library() -> Option<&'static str> {
    MPI.into_iter().find(|name| open(name).is_some())
}

/// Does the library of MPI say that it reaches the memory of cards? Open MPI has a function for it; others do not tell.
pub fn mpi_reaches_cards() -> bool {
    type Ask = unsafe extern "C" fn() -> c_int;
    let Some(library) = MPI.into_iter().find_map(open) else {
        return false;
    };
    // SAFETY: the function is asked for with the type that its header declares; it takes nothing, and returns a fact about
    // the library.
    unsafe { library.get::<Ask>(b"MPIX_Query_cuda_support").is_ok_and(|ask| ask() == 1) }
}

/// Returns the program that starts runs of MPI, if it is on the path.
pub fn mpirun() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let files = env::split_paths(&folders).map(|folder| folder.join("mpirun"));
    files.into_iter().find(|file| file.is_file())
}

/// Returns the number of processes that `mpirun` has started together, if it has started this one.
pub(super) fn started_ranks() -> Option<usize> {
    number(STARTED)
}

/// Returns the number of this process among those that `mpirun` has started together.
pub fn started_rank() -> Option<usize> {
    number(STARTED_AS)
}

/// Returns the number that one of these variables has.
fn number(names: [&str; 2]) -> Option<usize> {
    names.into_iter().find_map(|name| env::var(name).ok()?.trim().parse().ok())
}

/// Opens a library for good: some do not bear to be closed.
fn open(name: &str) -> Option<ManuallyDrop<Library>> {
    // SAFETY: libraries of this name are of NCCL or MPI, whose initializers have no preconditions.
    unsafe { Library::new(name) }.ok().map(ManuallyDrop::new)
}

/// Writes `2.21.5` for 22105, and for 2708, as older ones number theirs, `2.7.8`.
fn version_words(version: c_int) -> String {
    let thousands = if version < 10_000 { 1_000 } else { 10_000 };
    format!("{}.{}.{}", version / thousands, version % thousands / 100, version % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_they_are_numbered() {
        assert_eq!([22105, 21903, 2708].map(version_words), ["2.21.5", "2.19.3", "2.7.8"]);
    }

    #[test]
    fn libraries_that_are_missing_are_no_failure() {
        assert!(nccl_version().is_ok_and(|v| v.contains('.')) || nccl_version().is_err());
        assert!(mpirun().is_none_or(|file| file.is_file()));
        assert!(mpi_library().is_none_or(|name| MPI.contains(&name)));
        assert!(open("libno-such-library.so.7").is_none());
    }
}
