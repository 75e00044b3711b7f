//! Machine code kept on disk, so that a kernel is compiled once.
//!
//! An entry is found by a hash of its inputs, and holds them all with a checksum: a driver loads damaged machine code
//! without complaint. An entry that does not agree in every byte counts as missing. Entries appear by rename, so
//! processes do not disturb each other.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io, process};

use stencil_compiler::hash::fnv1a;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::compile::nvrtc::{Compiled, parse_resources};
use crate::io::cache_folder;

/// The first bytes of an entry; the number is the version of its layout.
const MAGIC: &[u8; 16] = b"stencil cubin 2\n";

/// The inputs of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    pub(crate) source: &'a str,
    pub(crate) name: &'a str,
    pub(crate) architecture: &'a str,
    pub(crate) compiler: (i32, i32),
}

impl Absence {
    /// Returns the fault and the way out.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Absence::Missing => {
                "is not there: it was lost, or made by another version of this program"
            }
            Absence::Damaged => "is damaged",
        }
    }
}

impl Key<'_> {
    fn bytes(&self) -> Vec<u8> {
        let (major, minor) = self.compiler;
        let head = format!("{}\n{}\nNVRTC {major}.{minor}\n", self.name, self.architecture);
        [head.as_bytes(), self.source.as_bytes()].concat()
    }
}

/// A folder of compiled kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    sealed: Option<(i32, i32)>,
}

/// The reason why a kernel is not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// There is no entry.
    Missing,
    /// There is one, but it is not whole, or has other inputs.
    Damaged,
}

impl Cache {
    /// Returns the cache of this user: the folder that `STENCIL_CACHE_DIR` names, else `stencil` in `XDG_CACHE_HOME`
    /// or in `~/.cache`. `None` if none of them is set, or the first is empty.
    pub fn of_user() -> Option<Self> {
        cache_folder().map(Cache::at)
    }

    /// A cache in a folder, which need not exist yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Cache { folder: folder.into(), sealed: None }
    }

    /// A folder with all kernels of a run, made by this version of NVRTC: nothing is compiled, nothing is written, and
    /// no compiler is needed.
    pub fn sealed(folder: impl Into<PathBuf>, compiler: (i32, i32)) -> Self {
        Cache { folder: folder.into(), sealed: Some(compiler) }
    }

    /// Returns the version of NVRTC that made all its entries, if it is [`sealed`](Self::sealed).
    pub(crate) fn sealed_by(&self) -> Option<(i32, i32)> {
        self.sealed
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, key: &[u8]) -> PathBuf {
        self.folder.join(entry_name(key))
    }

    /// Returns the name of the file of the entry with these inputs.
    pub(crate) fn entry(key: Key<'_>) -> String {
        entry_name(&key.bytes())
    }

    /// Is the file of this name there, and as it was written?
    ///
    /// # Errors
    /// If it is missing or damaged; the error names the file.
    pub fn check(&self, entry: &str) -> Result<(), CudaError> {
        let path = self.folder.join(entry);
        let wrong = |absence: Absence| CudaError::NotKept {
            what: format!("the compiled kernel {}", path.display()),
            reason: absence.words(),
        };
        let bytes = fs::read(&path).map_err(|_| wrong(Absence::Missing))?;
        match parts(&bytes) {
            Some([key, _, _]) if entry_name(key) == entry => Ok(()),
            _ => Err(wrong(Absence::Damaged)),
        }
    }

    /// Finds the entry with these inputs, if it is there and whole.
    pub(crate) fn find(&self, key: Key<'_>) -> Result<Compiled, Absence> {
        let key = key.bytes();
        let entry = fs::read(self.path(&key)).map_err(|_| Absence::Missing)?;
        let read = |bytes| -> Option<Compiled> {
            let [made_from, log, cubin] = parts(bytes)?;
            let log = std::str::from_utf8(log).ok()?.to_string();
            (made_from == key).then(|| Compiled {
                kernels: parse_resources(&log),
                cubin: cubin.to_vec(),
                log,
            })
        };
        read(&entry).ok_or(Absence::Damaged)
    }

    /// Keeps a compiled kernel.
    pub(crate) fn keep(&self, key: Key<'_>, compiled: &Compiled) -> io::Result<()> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let key = key.bytes();
        let mut entry = MAGIC.to_vec();
        for part in [&key[..], compiled.log.as_bytes(), &compiled.cubin] {
            entry.extend((part.len() as u64).to_le_bytes());
            entry.extend(part);
        }
        entry.extend(crc32fast::hash(&entry).to_le_bytes());
        fs::create_dir_all(&self.folder)?;
        let path = self.path(&key);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let part = path.with_extension(format!("{}-{number}.part", process::id()));
        let written = fs::write(&part, entry).and_then(|()| fs::rename(&part, &path));
        if written.is_err() {
            // The reason is the one above; a file that is left is overwritten later.
            let _ = fs::remove_file(&part);
        }
        written
    }
}

fn entry_name(key: &[u8]) -> String {
    format!("{:016x}.cubin", fnv1a(key))
}

/// Splits an entry into its inputs, the log and the machine code, if all of it is as it was written.
fn parts(entry: &[u8]) -> Option<[&[u8]; 3]> {
    let (body, sum) = entry.split_at_checked(entry.len().checked_sub(4)?)?;
    if crc32fast::hash(body).to_le_bytes() != sum {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let mut part = || -> Option<&[u8]> {
        let (length, behind) = rest.split_at_checked(8)?;
        let length = u64::from_le_bytes(length.try_into().ok()?);
        let (part, behind) = behind.split_at_checked(usize::try_from(length).ok()?)?;
        rest = behind;
        Some(part)
    };
    Some([part()?, part()?, part()?])
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    fn key(source: &str) -> Key<'_> {
        Key { source, name: "heat.cu", architecture: "sm_90", compiler: (13, 0) }
    }

    fn compiled() -> Compiled {
        let log = "ptxas info    : Compiling entry function 'heat' for 'sm_90'\n".to_string();
        Compiled {
            cubin: (0..=255).cycle().take(5000).collect(),
            kernels: parse_resources(&log),
            log,
        }
    }

    fn cache(name: &str) -> Cache {
        let folder = env::temp_dir().join(format!("stencil-cache-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        Cache::at(folder)
    }

    #[test]
    fn what_was_kept_is_found_by_all_that_it_was_made_from() {
        let cache = cache("found");
        assert_eq!(cache.find(key("a")), Err(Absence::Missing));
        cache.keep(key("a"), &compiled()).unwrap();
        assert_eq!(cache.find(key("a")), Ok(compiled()));
        assert_eq!(cache.find(key("b")), Err(Absence::Missing));
        for other in [
            Key { architecture: "sm_80", ..key("a") },
            Key { compiler: (12, 9), ..key("a") },
            Key { name: "wave.cu", ..key("a") },
        ] {
            assert_eq!(cache.find(other), Err(Absence::Missing));
        }
        fs::remove_dir_all(cache.folder()).unwrap();
    }

    #[test]
    fn damaged_and_foreign_entries_are_not_loaded() {
        let cache = cache("damaged");
        cache.keep(key("a"), &compiled()).unwrap();
        let path = cache.path(&key("a").bytes());
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
            let mut entry = whole.clone();
            entry[at] ^= 0x20;
            fs::write(&path, &entry).unwrap();
            assert_eq!(cache.find(key("a")), Err(Absence::Damaged), "byte {at}");
            assert!(cache.check(&entry_name(&key("a").bytes())).is_err());
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.find(key("a")), Err(Absence::Damaged), "cut at {at}");
        }
        // A whole entry, but with other inputs of the same hash.
        cache.keep(key("b"), &compiled()).unwrap();
        fs::rename(cache.path(&key("b").bytes()), &path).unwrap();
        assert_eq!(cache.find(key("a")), Err(Absence::Damaged));
        let error = cache.check(&Cache::entry(key("a"))).unwrap_err();
        assert!(error.to_string().contains("is damaged"), "{error}");
        cache.keep(key("a"), &compiled()).unwrap();
        assert_eq!(cache.find(key("a")), Ok(compiled()));
        cache.check(&Cache::entry(key("a"))).unwrap();
        let error = cache.check(&Cache::entry(key("b"))).unwrap_err();
        assert!(error.to_string().contains("is not there"), "{error}");
        fs::remove_dir_all(cache.folder()).unwrap();
    }

    #[test]
    fn many_may_write_one_entry_at_once() {
        let cache = cache("many");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        cache.keep(key("a"), &compiled()).unwrap();
                        assert_eq!(cache.find(key("a")), Ok(compiled()));
                    }
                });
            }
        });
        let left = fs::read_dir(cache.folder()).unwrap().count();
        assert_eq!(left, 1);
        fs::remove_dir_all(cache.folder()).unwrap();
    }
}
