//! Tables of numbers as `.csv`: time series that grow with a run, and reading them back.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use stencil_compiler::diag::{Code, nearest};

use super::failure::{open_regular, way_out};
use super::part::PartFile;

mod series;

#[cfg(test)]
mod tests;

pub use series::SeriesWriter;

/// The reason why a table could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CsvError {
    /// The operating system refused.
    #[error("cannot {action} `{}`: {source}{}", path.display(), way_out(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The action: `write` or `read`.
        action: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// A name that a header cannot hold.
    #[error(
        "`{}` cannot have the column `{column}`: {reason}",
        path.display()
    )]
    Name {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
        /// The fault.
        reason: &'static str,
    },
    /// A row of another length than the header.
    #[error("`{}`, line {line}: {found} values for {expected} columns", path.display())]
    Width {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The number of columns.
        expected: usize,
        /// The number of values.
        found: usize,
    },
    /// The series to continue has other columns.
    #[error(
        "`{}` has the columns {}, and the run writes {}; move the file away to start a new one",
        path.display(), found.join(", "), expected.join(", ")
    )]
    Columns {
        /// The file.
        path: PathBuf,
        /// The columns of the run.
        expected: Vec<String>,
        /// The columns of the file.
        found: Vec<String>,
    },
    /// A value that is not a number.
    #[error("`{}`, line {line}, column `{column}`: `{text}` is not a number", path.display())]
    Number {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column.
        column: String,
        /// The text in its place.
        text: String,
    },
    /// A file without a header.
    #[error("`{}` is empty; a table begins with a line of column names", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// There is no such column.
    #[error("`{}` has no column `{column}`; {}", path.display(), suggest(column, known))]
    Missing {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        column: String,
        /// The names of the file.
        known: Vec<String>,
    },
}

impl CsvError {
    /// Returns the code, which `stencil explain-error` knows.
    pub fn code(&self) -> Code {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::WouldBlock => {
                Code::FolderInUse
            }
            Self::Io { action: "write", .. } => Code::CannotWrite,
            Self::Io { .. } => Code::CannotRead,
            _ => Code::Damaged,
        }
    }
}

fn suggest(column: &str, known: &[String]) -> String {
    match nearest(column, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has: {}", known.join(", ")),
    }
}

/// Named columns of equal length.
///
/// ```
/// use stencil_runtime::io::Table;
///
/// let path = std::env::temp_dir().join(format!("table-doc-{}.csv", std::process::id()));
/// let decay = Table::new(["t", "energy"], [vec![0.0, 0.1], vec![1.0, 0.5]]);
/// decay.save(&path)?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "t,energy\n0,1\n0.1,0.5\n");
///
/// let read = Table::read(&path)?;
/// assert_eq!(read.column("energy")?, [1.0, 0.5]);
/// assert!(read.column("enregy").unwrap_err().to_string().contains("did you mean `energy`?"));
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), stencil_runtime::io::CsvError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The file that it was read from; empty if there is none.
    path: PathBuf,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Table {
    /// Makes a table of columns; longer ones are cut to the shortest.
    pub fn new<const N: usize>(names: [&str; N], mut columns: [Vec<f64>; N]) -> Self {
        let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
        for column in &mut columns {
            column.truncate(rows);
        }
        Table {
            path: PathBuf::new(),
            names: names.map(str::to_string).to_vec(),
            columns: columns.to_vec(),
        }
    }

    /// Reads a file: a line of column names, then numbers, all separated by commas. Empty lines
    /// are skipped; `nan`, `inf` and `-inf` are numbers.
    ///
    /// # Errors
    /// If the file cannot be read, or a line does not fit the header; the error names the first one.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, CsvError> {
        let path = path.as_ref();
        let text = read_table(path).map_err(|e| io_error(path, "read", e))?;
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let empty = || CsvError::Empty { path: path.to_path_buf() };
        let (header, _) = lines.next().ok_or_else(empty)?;
        let names = split(header);
        let mut columns = vec![Vec::new(); names.len()];
        for (line, number) in lines {
            let values = split(line);
            width(path, number, names.len(), values.len())?;
            for ((column, name), value) in columns.iter_mut().zip(&names).zip(values) {
                column.push(value.parse().map_err(|_| CsvError::Number {
                    path: path.to_path_buf(),
                    line: number,
                    column: name.clone(),
                    text: value,
                })?);
            }
        }
        Ok(Table { path: path.to_path_buf(), names, columns })
    }

    /// Writes the table; the file appears under its name when it is complete.
    ///
    /// # Errors
    /// If it cannot be written, or a name is not allowed in a header.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CsvError> {
        let path = path.as_ref();
        let mut text = header(path, &self.names)?;
        for row in 0..self.len() {
            let values: Vec<f64> =
                self.columns.iter().filter_map(|column| column.get(row).copied()).collect();
            text.push_str(&line(&values));
        }
        write_whole(path, &text).map_err(|e| io_error(path, "write", e))
    }

    /// Returns the names of the columns, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values of a column.
    ///
    /// # Errors
    /// If there is none of this name; a similar one is suggested.
    pub fn column(&self, name: &str) -> Result<&[f64], CsvError> {
        let mut columns = self.names.iter().zip(&self.columns);
        let found = columns.find(|(known, _)| *known == name);
        found.map(|(_, values)| values.as_slice()).ok_or_else(|| CsvError::Missing {
            path: self.path.clone(),
            column: name.to_string(),
            known: self.names.clone(),
        })
    }
}

fn header<S: AsRef<str>>(path: &Path, columns: &[S]) -> Result<String, CsvError> {
    let names: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
    let mut seen = BTreeSet::new();
    for name in &names {
        let reason = if name.trim() != *name || name.is_empty() {
            "a name has characters and no blanks around them"
        } else if name.contains([',', '"', '\n', '\r']) {
            "a name has no comma, quote or line end"
        } else if !seen.insert(*name) {
            "there is one of this name"
        } else {
            continue;
        };
        return Err(CsvError::Name { path: path.to_path_buf(), column: name.to_string(), reason });
    }
    Ok(names.join(",") + "\n")
}

fn line(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|v| number(*v)).collect();
    values.join(",") + "\n"
}

/// Returns the shortest text that reads back as the same number; whole numbers have no point.
fn number(value: f64) -> String {
    if value.is_nan() {
        "nan".to_string()
    } else if value.abs() < 1e15 && value.fract() == 0.0 {
        format!("{value}")
    } else {
        format!("{value:?}")
    }
}

fn split(line: &str) -> Vec<String> {
    line.trim_end().split(',').map(|cell| cell.trim().to_string()).collect()
}

fn width(path: &Path, line: usize, expected: usize, found: usize) -> Result<(), CsvError> {
    if expected == found {
        return Ok(());
    }
    Err(CsvError::Width { path: path.to_path_buf(), line, expected, found })
}

fn read_table(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = PartFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}

fn io_error(path: &Path, action: &'static str, source: io::Error) -> CsvError {
    CsvError::Io { path: path.to_path_buf(), action, source }
}
