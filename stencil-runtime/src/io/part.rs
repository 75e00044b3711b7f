//! A file that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file written beside its final place as `NAME.part`; [`PartFile::finish`] renames it.
///
/// Dropped without `finish`, it removes the partial file and leaves an older file of the same
/// name as it was.
///
/// ```
/// # use stencil_runtime::io::PartFile;
/// # use std::io::Write;
/// let path = std::env::temp_dir().join(format!("part-doc-{}.txt", std::process::id()));
/// let mut file = PartFile::create(&path)?;
/// file.write_all(b"whole or not at all")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"whole or not at all");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PartFile {
    path: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    finished: bool,
}

impl PartFile {
    /// Creates `path` + `.part`; an old partial file is overwritten.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        if path.file_name().is_none() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path names no file",
            ));
        }
        let mut name = path.clone().into_os_string();
        name.push(".part");
        let part = PathBuf::from(name);
        let file = File::create(&part)?;
        Ok(Self {
            path,
            part,
            file: BufWriter::with_capacity(1 << 18, file),
            finished: false,
        })
    }

    /// The name under which the file will appear.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes to the disk and renames the file to its name.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.part, &self.path)?;
        self.finished = true;
        // The rename itself survives a crash only once the folder is synced. Not every file
        // system can do that, and the data is already safe, so a failure is not an error.
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for PartFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abandoned_file_leaves_the_old_one() {
        let path = std::env::temp_dir().join(format!("part-test-{}", std::process::id()));
        fs::write(&path, "old").unwrap();
        let mut file = PartFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        let part = file.part.clone();
        assert!(part.exists());
        drop(file);
        assert!(!part.exists());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");

        let mut file = PartFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.finish().unwrap();
        assert!(!part.exists());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_path_without_a_name_is_an_error() {
        assert!(PartFile::create("/").is_err());
        assert!(PartFile::create("").is_err());
    }
}
