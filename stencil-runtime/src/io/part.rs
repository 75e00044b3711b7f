//! A file that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Partial files of one name in one process.
const MOST_PARTS: u32 = 10_000;

/// A file written beside its final place as `NAME.PID.part`, where `PID` is the number of this
/// process; [`PartFile::finish`] renames it.
///
/// Dropped without `finish`, it removes the partial file and leaves an older file of the same
/// name as it was. Writers of one name never share a partial file, in one process or in several:
/// the last one that finishes leaves its file, whole.
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
    /// Creates a partial file that nobody else has.
    ///
    /// # Errors
    /// If the path names no file, or the system refuses.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        if path.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
        }
        let (part, file) = create_part(&path)?;
        Ok(Self { path, part, file: BufWriter::with_capacity(1 << 18, file), finished: false })
    }

    /// Returns the name under which the file will appear.
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

/// Creates a new partial file beside a path. The file that a killed process of the same number left is passed over.
fn create_part(path: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    let mut count = 0_u32;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(match count {
            0 => format!(".{process}.part"),
            _ => format!(".{process}-{count}.part"),
        });
        let part = PathBuf::from(name);
        match File::create_new(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && count < MOST_PARTS => {
                count += 1;
            }
            done => return Ok((part, done?)),
        }
    }
}

/// Returns the path that a partial file was to have, if this is the name of one.
///
/// ```
/// use std::path::Path;
/// use stencil_runtime::io::whole_of;
///
/// let whole = whole_of(Path::new("out/final.npz.4711.part"));
/// assert_eq!(whole.as_deref(), Some(Path::new("out/final.npz")));
/// assert_eq!(whole_of(Path::new("out/series.csv.part")), None);
/// ```
pub fn whole_of(part: &Path) -> Option<PathBuf> {
    let name = part.file_name()?.to_str()?.strip_suffix(".part")?;
    let (whole, process) = name.rsplit_once('.')?;
    let is_process = |c: char| c.is_ascii_digit() || c == '-';
    (!process.is_empty() && process.chars().all(is_process)).then(|| part.with_file_name(whole))
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
    fn writers_of_one_name_do_not_mix() {
        let path = std::env::temp_dir().join(format!("part-two-{}", std::process::id()));
        // A process of the same number was killed.
        let mut left = path.clone().into_os_string();
        left.push(format!(".{}.part", std::process::id()));
        fs::write(&left, "left").unwrap();
        let mut one = PartFile::create(&path).unwrap();
        let mut two = PartFile::create(&path).unwrap();
        one.write_all(&[1; 1000]).unwrap();
        two.write_all(&[2; 10]).unwrap();
        assert_eq!(whole_of(&one.part).as_deref(), Some(path.as_path()));
        one.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), [1; 1000]);
        two.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), [2; 10]);
        assert_eq!(fs::read(&left).unwrap(), b"left");
        fs::remove_file(&left).unwrap();
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_path_without_a_name_is_an_error() {
        assert!(PartFile::create("/").is_err());
        assert!(PartFile::create("").is_err());
    }
}
