//! The folder of compiled programs, which belongs to the user alone.
//!
//! A program is a library beside a file with all that it was made from and its checksum. One that does not agree in every
//! byte counts as missing. Files appear by rename, so processes do not disturb each other.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, io};

use libloading::Library;
use stencil_compiler::hash::fnv1a;

use crate::io::{PartFile, cache_folder};

/// The first words of the file beside a library; the number is the version of its layout.
const MAGIC: &str = "stencil program 1";

/// The folder within the user's cache.
const FOLDER: &str = "programs";

/// The age from which on a file that was not finished is taken to be left by a killed process.
const LEFT: Duration = Duration::from_secs(24 * 3600);

/// A folder of programs.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    /// Is the folder removed with it?
    is_temporary: bool,
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.is_temporary {
            // Loaded libraries stay in memory.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

impl Store {
    /// The folder in the user's cache; a temporary one if there is no cache.
    pub(super) fn of_user() -> Result<Self, String> {
        match cache_folder() {
            Some(cache) => Store::at(&cache.join(FOLDER)),
            None => {
                let folder = env::temp_dir().join(format!("stencil-{:016x}", random()));
                let store = Store { folder, is_temporary: true };
                // Another user's folder of this name is not taken.
                let made = private().create(&store.folder);
                made.map_err(|e| store.refused(&e.to_string()))?;
                store.check()?;
                Ok(store)
            }
        }
    }

    /// A folder, which need not exist yet.
    pub(super) fn at(folder: &Path) -> Result<Self, String> {
        let store = Store { folder: folder.to_path_buf(), is_temporary: false };
        let parent = folder.parent().map_or(Ok(()), fs::create_dir_all);
        let made = parent.and_then(|()| match private().create(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        });
        made.map_err(|error| store.refused(&error.to_string()))?;
        store.check()?;
        Ok(store)
    }

    fn refused(&self, why: &str) -> String {
        format!("the folder {} cannot be used: {why}", self.folder.display())
    }

    /// Checks that nobody else can put files into the folder, or another folder in its place.
    fn check(&self) -> Result<(), String> {
        let whole = fs::canonicalize(&self.folder).map_err(|e| self.refused(&e.to_string()))?;
        let own = fs::symlink_metadata(&self.folder).map_err(|e| self.refused(&e.to_string()))?;
        if !own.is_dir() {
            return Err(self.refused("it is no folder"));
        }
        for folder in whole.ancestors() {
            let data = fs::metadata(folder).map_err(|e| self.refused(&e.to_string()))?;
            if !owner::is_safe(&data, folder == whole) {
                let why = format!("others may write to {}", folder.display());
                return Err(self.refused(&why));
            }
        }
        Ok(())
    }

    fn paths(&self, key: &str) -> [PathBuf; 2] {
        let path = self.folder.join(format!("{:016x}", fnv1a(key.as_bytes())));
        [path.with_extension("txt"), path.with_extension("so")]
    }

    /// Loads the library that was made from this, if it is there and whole.
    pub(super) fn find(&self, key: &str) -> Option<Library> {
        let [about, library] = self.paths(key);
        let kept = fs::read_to_string(about).ok()?;
        let bytes = fs::read(&library).ok()?;
        let data = fs::symlink_metadata(&library).ok()?;
        let is_own = data.is_file() && owner::is_own(&data);
        let is_whole = kept == description(key, &bytes);
        (is_own && is_whole).then(|| load(&library).ok()).flatten()
    }

    /// Makes a library, keeps and loads it.
    pub(super) fn keep(
        &self,
        key: &str,
        make: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<Library, String> {
        self.tidy();
        let [about, library] = self.paths(key);
        let part = self.folder.join(format!("{:016x}.part", random()));
        let made = make(&part).and_then(|()| {
            let kept = || -> io::Result<()> {
                let bytes = fs::read(&part)?;
                File::open(&part)?.sync_all()?;
                fs::rename(&part, &library)?;
                let mut file = PartFile::create(&about)?;
                file.write_all(description(key, &bytes).as_bytes())?;
                file.finish()
            };
            kept().map_err(|error| self.refused(&error.to_string()))
        });
        if made.is_err() {
            // The reason is the one above.
            let _ = fs::remove_file(&part);
        }
        made.and_then(|()| load(&library))
    }

    /// Removes files that killed processes have left.
    fn tidy(&self) {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let parts = files.filter(|f| f.path().extension() == Some(OsStr::new("part")));
        for part in parts {
            let age = part.metadata().and_then(|data| data.modified()).ok();
            let age = age.and_then(|time| time.elapsed().ok());
            if age.is_some_and(|age| age > LEFT) {
                // Another process may be faster.
                let _ = fs::remove_file(part.path());
            }
        }
    }
}

/// The text beside a library.
fn description(key: &str, library: &[u8]) -> String {
    format!("{MAGIC}\n{:08x} {}\n{key}", crc32fast::hash(library), library.len())
}

fn load(library: &Path) -> Result<Library, String> {
    // SAFETY: the library was made from the text of kernels, which has no initializers, and the folder is the user's alone.
    unsafe { Library::new(library) }.map_err(|error| format!("it cannot be loaded: {error}"))
}

/// A number that no other process guesses.
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

#[cfg(unix)]
fn private() -> fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn private() -> fs::DirBuilder {
    fs::DirBuilder::new()
}

#[cfg(unix)]
mod owner {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;

    unsafe extern "C" {
        safe fn geteuid() -> u32;
    }

    /// Does a file belong to this user?
    pub(super) fn is_own(data: &Metadata) -> bool {
        data.uid() == geteuid()
    }

    /// Can only this user, or the system's, change what is in a folder? Folders on the way to the own one may be the system's.
    pub(super) fn is_safe(data: &Metadata, is_last: bool) -> bool {
        const GROUP_WRITES: u32 = 0o020;
        const OTHERS_WRITE: u32 = 0o002;
        const STICKY: u32 = 0o1000;
        let has = |bits: u32| data.mode() & bits != 0;
        match is_last {
            true => is_own(data) && !has(GROUP_WRITES | OTHERS_WRITE),
            // In a sticky folder only the owner of a file can put another in its place. A group with the number of its user is
            // that of this user alone.
            false => {
                let is_open = has(OTHERS_WRITE) || has(GROUP_WRITES) && data.gid() != data.uid();
                let is_trusted = data.uid() == 0 || is_own(data);
                is_trusted && (!is_open || has(STICKY))
            }
        }
    }
}

#[cfg(not(unix))]
mod owner {
    use std::fs::Metadata;

    /// Files in the own folder are this user's.
    pub(super) fn is_own(_: &Metadata) -> bool {
        true
    }

    /// Folders of a user are the user's alone.
    pub(super) fn is_safe(_: &Metadata, _: bool) -> bool {
        true
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An empty folder.
    pub(crate) fn folder(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("stencil-programs-{name}-{}", random()));
        fs::create_dir(&folder).unwrap();
        folder
    }
}
