//! The folder in which this user's compiled code is kept.

use std::env;
use std::path::PathBuf;

/// The environment variable that names the folder of compiled kernels; if it is empty, nothing is kept.
pub const CACHE_VARIABLE: &str = "STENCIL_CACHE_DIR";

/// Returns the folder that [`CACHE_VARIABLE`] names, else `stencil` in `XDG_CACHE_HOME` or in `~/.cache`. `None` if none of
/// them is set, or the first is empty.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from);
    match set(CACHE_VARIABLE) {
        Some(folder) if folder.as_os_str().is_empty() => None,
        Some(folder) => Some(folder),
        None => match set("XDG_CACHE_HOME").filter(|p| p.is_absolute()) {
            Some(caches) => Some(caches.join("stencil")),
            None => Some(set("HOME")?.join(".cache").join("stencil")),
        },
    }
}
