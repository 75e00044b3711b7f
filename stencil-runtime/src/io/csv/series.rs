//! Time series that grow while a run goes on.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{CsvError, header, io_error, line, read_table, split, width, write_whole};

/// Writes a time series, one row after the other, while a run goes on.
///
/// Rows go to `PATH.part`, each as soon as it is known and in one piece, so a run that is killed
/// leaves whole lines there. [`SeriesWriter::finish`], or dropping the writer, renames the file to
/// its name. The first column counts steps, so that a restarted run can go on with the file of
/// the earlier one. While it is written, `PATH.part` is locked: a second writer of one series, in
/// this process or another one, is refused.
///
/// ```
/// use stencil_runtime::io::{SeriesWriter, Table};
///
/// let path = std::env::temp_dir().join(format!("series-doc-{}.csv", std::process::id()));
/// let columns = ["step", "t", "energy"];
/// let mut series = SeriesWriter::create(&path, &columns)?;
/// series.push(&[0.0, 0.0, 0.5])?;
/// series.push(&[1.0, 0.1, 0.25])?;
/// series.finish()?;
///
/// // The run is done again from step 0 on.
/// let mut series = SeriesWriter::resume(&path, &columns, 0)?;
/// series.push(&[1.0, 0.05, 0.375])?;
/// series.finish()?;
/// assert_eq!(Table::read(&path)?.column("energy")?, [0.5, 0.375]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), stencil_runtime::io::CsvError>(())
/// ```
#[derive(Debug)]
pub struct SeriesWriter {
    path: PathBuf,
    part: PathBuf,
    file: File,
    columns: usize,
    /// Lines written, for messages.
    lines: usize,
    /// The first value of the last row.
    last: Option<f64>,
    finished: bool,
}

impl SeriesWriter {
    /// Starts a new series; an older file of this name is replaced when the new one is finished.
    ///
    /// # Errors
    /// If the file cannot be made or has another writer, or a name is not allowed in a header.
    pub fn create<S: AsRef<str>>(path: impl AsRef<Path>, columns: &[S]) -> Result<Self, CsvError> {
        let path = path.as_ref();
        let header = header(path, columns)?;
        Self::start(path, columns.len(), &header)
    }

    /// Continues a series. Rows whose first column is at most `step` stay, each step once; later ones belong to a run
    /// that is now done again and are dropped. The rows that a killed run left in `PATH.part` count before `PATH`
    /// itself. Without any file this is [`SeriesWriter::create`].
    ///
    /// # Errors
    /// As for [`SeriesWriter::create`], and if the file has other columns.
    pub fn resume<S: AsRef<str>>(
        path: impl AsRef<Path>,
        columns: &[S],
        step: u64,
    ) -> Result<Self, CsvError> {
        let path = path.as_ref();
        let header = header(path, columns)?;
        for old in [part_of(path), path.to_path_buf()] {
            match read_table(&old) {
                Ok(text) => {
                    let kept = keep(&old, &text, &header, step)?;
                    return Self::start(path, columns.len(), &(header + &kept));
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(io_error(&old, "read", e)),
            }
        }
        Self::start(path, columns.len(), &header)
    }

    fn start(path: &Path, columns: usize, text: &str) -> Result<Self, CsvError> {
        let part = part_of(path);
        let open = || {
            if let Ok(old) = File::open(&part) {
                lock(&old)?;
            }
            // By rename, so that the rows of an earlier run are never half gone.
            write_whole(&part, text)?;
            let file = OpenOptions::new().append(true).open(&part)?;
            lock(&file)?;
            Ok(file)
        };
        Ok(SeriesWriter {
            file: open().map_err(|e| io_error(&part, "write", e))?,
            path: path.to_path_buf(),
            part,
            columns,
            lines: text.lines().count(),
            last: text.lines().skip(1).last().and_then(first_value),
            finished: false,
        })
    }

    /// Returns the step of the last row, if there is a row.
    pub fn last_step(&self) -> Option<f64> {
        self.last
    }

    /// Adds a row; the first value is the step.
    ///
    /// # Errors
    /// If there are not as many values as columns, or the file cannot be written.
    pub fn push(&mut self, row: &[f64]) -> Result<(), CsvError> {
        self.lines += 1;
        width(&self.path, self.lines, self.columns, row.len())?;
        self.last = row.first().copied();
        self.file.write_all(line(row).as_bytes()).map_err(|e| io_error(&self.part, "write", e))
    }

    /// Flushes the rows to the disk, so that they outlive the machine.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn sync(&self) -> Result<(), CsvError> {
        self.file.sync_data().map_err(|e| io_error(&self.part, "write", e))
    }

    /// Flushes to the disk and renames the file to its name.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn finish(mut self) -> Result<(), CsvError> {
        self.finished = true;
        self.publish().map_err(|e| io_error(&self.path, "write", e))
    }

    fn publish(&self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.part, &self.path)
    }
}

impl Drop for SeriesWriter {
    fn drop(&mut self) {
        // A run that ends with an error keeps its rows: they are whole, and tell what happened.
        if !self.finished {
            let _ = self.publish();
        }
    }
}

pub(super) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Locks a file for as long as it is open. File systems that know no locks are trusted.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::new(io::ErrorKind::WouldBlock, "another process writes this series"))
        }
        Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn first_value(line: &str) -> Option<f64> {
    line.split(',').next().unwrap_or_default().trim().parse().ok()
}

/// Returns the rows up to `step`, each step once. A last line without its end was cut off by a crash.
fn keep(path: &Path, text: &str, expected: &str, step: u64) -> Result<String, CsvError> {
    let Some(rows) = text.strip_prefix(expected) else {
        return Err(CsvError::Columns {
            path: path.to_path_buf(),
            expected: split(expected),
            found: split(text.lines().next().unwrap_or_default()),
        });
    };
    let whole = rows.split_inclusive('\n').filter(|l| l.ends_with('\n'));
    let mut last = f64::NEG_INFINITY;
    let early = whole.filter(|line| {
        let at = first_value(line).unwrap_or(f64::NAN);
        let counts = at > last && at <= step as f64;
        if counts {
            last = at;
        }
        counts
    });
    Ok(early.collect())
}
