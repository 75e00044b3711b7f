//! Files that cannot be opened, read or written, and the ways out.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Bytes of a text that a person wrote, at most.
const MOST_OF_A_TEXT: u64 = 1 << 24;

/// Opens a regular file to read it. A pipe would wait for a writer, and a device need not end.
///
/// # Errors
/// If it is something else, or the system refuses.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() {
        return File::open(path);
    }
    let found = if kind.is_dir() { "a folder" } else { "a pipe, a socket or a device" };
    Err(io::Error::new(ErrorKind::InvalidInput, format!("it is no regular file but {found}")))
}

/// Reads a text that a person wrote: a declaration, a problem, a schedule or a plan.
///
/// # Errors
/// If it is no regular file, holds more than 16 MiB or bytes that are not UTF-8, or the system refuses.
pub fn read_text(path: &Path) -> io::Result<String> {
    let file = open_regular(path)?;
    let mut text = String::new();
    let read = file.take(MOST_OF_A_TEXT + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_OF_A_TEXT {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            format!("it is longer than {} MiB", MOST_OF_A_TEXT >> 20),
        ));
    }
    Ok(text)
}

/// Returns the way out of an error of the system, as the end of a sentence; empty if none is known.
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use stencil_runtime::io::way_out;
///
/// let full = Error::from(ErrorKind::StorageFull);
/// assert!(way_out(&full).starts_with("; free some space"));
/// assert_eq!(way_out(&Error::other("odd")), "");
/// ```
pub fn way_out(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => {
            "; look at the path: the file, or a folder on the way to it, is not there"
        }
        ErrorKind::PermissionDenied => {
            "; choose a place that you may use, or change the permissions"
        }
        ErrorKind::StorageFull => {
            "; free some space or choose a place on another disk: files that were complete are whole"
        }
        ErrorKind::QuotaExceeded => {
            "; remove files or choose a place beyond the quota: files that were complete are whole"
        }
        ErrorKind::FileTooLarge => {
            "; raise the limit (`ulimit -f`), or choose a place that takes larger files"
        }
        ErrorKind::ReadOnlyFilesystem => "; choose a place on a disk that can be written",
        ErrorKind::NotADirectory => "; a part of the path is a file: choose another path",
        ErrorKind::IsADirectory => "; it is a folder: name a file in it",
        ErrorKind::OutOfMemory => "; use fewer cells or a machine with more memory",
        ErrorKind::InvalidFilename => "; choose a shorter name of plain characters",
        ErrorKind::WouldBlock => {
            "; wait until the other process has ended, or choose another place"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_regular_files_of_bounded_length() {
        let path = std::env::temp_dir().join(format!("text-{}", std::process::id()));
        fs::write(&path, "system").unwrap();
        assert_eq!(read_text(&path).unwrap(), "system");
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(MOST_OF_A_TEXT + 1).unwrap();
        assert!(read_text(&path).unwrap_err().to_string().contains("16 MiB"));
        fs::remove_file(&path).unwrap();
        let folder = read_text(&std::env::temp_dir()).unwrap_err().to_string();
        assert!(folder.contains("a folder"), "{folder}");
        let device = read_text(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(device.contains("a device"), "{device}");
    }

    /// Opening a pipe would wait for a writer.
    #[cfg(unix)]
    #[test]
    fn a_pipe_does_not_block() {
        let path = std::env::temp_dir().join(format!("pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: this machine has no mkfifo");
            return;
        }
        let error = open_regular(&path).unwrap_err().to_string();
        fs::remove_file(&path).unwrap();
        assert!(error.contains("a pipe"), "{error}");
    }
}
