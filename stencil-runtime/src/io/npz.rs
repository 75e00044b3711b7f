//! `.npz`: named arrays, numbers and texts in one file that `numpy.load` opens.

use std::fmt::Debug;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use ndarray::{ArrayD, ArrayView, Dimension};
use stencil_compiler::diag::Code;

use super::failure::{open_regular, way_out};
use super::npy::{self, Element, Value};
use super::part::PartFile;
use super::zip::{self, Entry, ZipWriter};

#[cfg(test)]
mod tests;

/// Bytes of a text at most.
const MOST_OF_A_TEXT: u64 = 1 << 26;
/// Bytes of a number at most, with its header.
const MOST_OF_A_NUMBER: u64 = 1 << 16;
/// Bytes of a header at most.
const MOST_OF_A_HEADER: u64 = 1 << 16;

/// The reason why a `.npz` could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpzError {
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
    /// The bytes are not a `.npz` that this reader understands.
    #[error("`{}`, entry `{entry}`: {reason}", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The entry's name.
        entry: String,
        /// The fault.
        reason: String,
    },
    /// No entry of that name.
    #[error("`{}` has no entry `{entry}`; it has: {}", path.display(), available.join(", "))]
    Missing {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        entry: String,
        /// The names of the file.
        available: Vec<String>,
    },
    /// The entry holds another kind of value.
    #[error("`{}`, entry `{entry}`: expected {expected}, found {found}", path.display())]
    Kind {
        /// The file.
        path: PathBuf,
        /// The entry's name.
        entry: String,
        /// The kind asked for.
        expected: &'static str,
        /// The kind found.
        found: String,
    },
}

impl NpzError {
    /// Returns the code, which `stencil explain-error` knows.
    pub fn code(&self) -> Code {
        match self {
            Self::Io { action: "write", .. } => Code::CannotWrite,
            Self::Io { source, .. } if source.kind() == io::ErrorKind::InvalidData => Code::Damaged,
            Self::Io { .. } => Code::CannotRead,
            Self::Entry { .. } | Self::Missing { .. } | Self::Kind { .. } => Code::Damaged,
        }
    }
}

impl Value {
    /// Returns the kind, for a message: `f64 array of shape [2, 3]`.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::F32(a) => format!("f32 array of shape {:?}", a.shape()),
            Self::F64(a) => format!("f64 array of shape {:?}", a.shape()),
            Self::U64(_) => "u64 number".into(),
            Self::I64(_) => "i64 number".into(),
            Self::Text(_) => "text".into(),
        }
    }
}

/// Writes a `.npz`.
///
/// The file appears under its name at [`NpzWriter::finish`], complete; until then, and after a
/// failure, an older file of that name stays. Equal values in equal order give equal bytes.
///
/// ```
/// use ndarray::Array3;
/// use stencil_runtime::io::{Npz, NpzWriter};
///
/// let path = std::env::temp_dir().join(format!("npz-doc-{}.npz", std::process::id()));
/// let rho = Array3::<f64>::ones((4, 8, 16)); // [z, y, x]
/// let mut file = NpzWriter::create(&path)?;
/// file.array("rho", &rho.view())?;
/// file.f64("t", 0.25)?;
/// file.u64("step", 100)?;
/// file.text("system", "euler")?;
/// file.finish()?;
///
/// let mut file = Npz::open(&path)?;
/// assert_eq!(file.array_f64("rho")?, rho.into_dyn());
/// assert_eq!(file.f64("t")?, 0.25);
/// assert_eq!(file.u64("step")?, 100);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), stencil_runtime::io::NpzError>(())
/// ```
#[derive(Debug)]
pub struct NpzWriter {
    path: PathBuf,
    zip: ZipWriter<PartFile>,
}

impl NpzWriter {
    /// Starts a file; `path` is used as it is, no suffix is added.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, NpzError> {
        let path = path.as_ref().to_path_buf();
        let file = PartFile::create(&path).map_err(|e| io_error(&path, "write", e))?;
        Ok(Self { zip: ZipWriter::new(file), path })
    }

    /// Adds an array of any number of dimensions; it is written in C order.
    pub fn array<T: Element, D: Dimension>(
        &mut self,
        name: &str,
        array: &ArrayView<'_, T, D>,
    ) -> Result<(), NpzError> {
        let array = array.view().into_dyn();
        let header = npy::header(T::DESCR, array.shape());
        let size = header.len() as u64 + array.len() as u64 * T::SIZE as u64;
        self.entry(name, size, |out| {
            out.write_all(&header)?;
            npy::write_elements(array, out)
        })
    }

    /// Deflates the arrays and texts that follow at a level of 1 to 9, or writes them as they are.
    pub(crate) fn compressed(mut self, level: Option<u32>) -> Self {
        self.zip.deflate(level);
        self
    }

    /// Adds an array of this type and shape, whose bytes a function gives piece by piece, in C order.
    pub(crate) fn bytes_by(
        &mut self,
        name: &str,
        (descr, size): (&str, usize),
        shape: &[usize],
        mut next: impl FnMut() -> Option<Vec<u8>>,
    ) -> Result<(), NpzError> {
        let header = npy::header(descr, shape);
        let size = header.len() as u64 + (shape.iter().product::<usize>() * size) as u64;
        self.entry(name, size, |out| {
            out.write_all(&header)?;
            while let Some(bytes) = next() {
                out.write_all(&bytes)?;
            }
            Ok(())
        })
    }

    /// Adds a value of any kind.
    pub(crate) fn value(&mut self, name: &str, value: &Value) -> Result<(), NpzError> {
        match value {
            Value::F32(array) => self.array(name, &array.view()),
            Value::F64(array) => self.array(name, &array.view()),
            Value::U64(number) => self.u64(name, *number),
            Value::I64(number) => self.i64(name, *number),
            Value::Text(text) => self.text(name, text),
        }
    }

    /// Adds a number.
    pub fn f64(&mut self, name: &str, value: f64) -> Result<(), NpzError> {
        self.scalar(name, "<f8", value.to_le_bytes())
    }

    /// Adds an unsigned number.
    pub fn u64(&mut self, name: &str, value: u64) -> Result<(), NpzError> {
        self.scalar(name, "<u8", value.to_le_bytes())
    }

    /// Adds a signed number.
    pub fn i64(&mut self, name: &str, value: i64) -> Result<(), NpzError> {
        self.scalar(name, "<i8", value.to_le_bytes())
    }

    /// Adds a text; in Python, `str(file[name])`.
    pub fn text(&mut self, name: &str, text: &str) -> Result<(), NpzError> {
        let bytes = npy::encode_text(text);
        self.entry(name, bytes.len() as u64, |out| out.write_all(&bytes))
    }

    /// Writes the directory, syncs to the disk and renames the file to its name.
    pub fn finish(self) -> Result<(), NpzError> {
        let path = self.path;
        self.zip.finish().and_then(PartFile::finish).map_err(|e| io_error(&path, "write", e))
    }

    fn scalar(&mut self, name: &str, descr: &str, value: [u8; 8]) -> Result<(), NpzError> {
        let mut bytes = npy::header(descr, &[]);
        bytes.extend(value);
        self.entry(name, bytes.len() as u64, |out| out.write_all(&bytes))
    }

    fn entry(
        &mut self,
        name: &str,
        size: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), NpzError> {
        let file = format!("{name}.npy");
        let reason = if name.is_empty() || name.contains(['\0', '/', '\\']) {
            "a name must not be empty nor contain `/`, `\\` or NUL"
        } else if self.zip.contains(&file) {
            "the name is already taken"
        } else {
            return self
                .zip
                .entry(&file, size, write)
                .map_err(|e| io_error(&self.path, "write", e));
        };
        let (path, entry) = (self.path.clone(), name.to_string());
        Err(NpzError::Entry { path, entry, reason: reason.into() })
    }
}

/// A source of bytes.
trait Source: Read + Seek + Debug + Send + Sync {}

impl<S: Read + Seek + Debug + Send + Sync> Source for S {}

/// Reads a `.npz`, entry by entry, as `numpy.savez` and `numpy.savez_compressed` write it.
///
/// See [`NpzWriter`] for an example.
#[derive(Debug)]
pub struct Npz {
    path: PathBuf,
    file: Box<dyn Source>,
    entries: Vec<Entry>,
    sealed: bool,
}

impl Npz {
    /// Opens the file and reads its directory. A file that [`NpzWriter`] wrote ends in a checksum of
    /// all its bytes, which is compared.
    ///
    /// # Errors
    /// If it is no regular file, cannot be read, is no `.npz`, or has another checksum.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, NpzError> {
        let path = path.as_ref().to_path_buf();
        let file = open_regular(&path).map_err(|e| io_error(&path, "read", e))?;
        Self::of(path, Box::new(BufReader::with_capacity(1 << 18, file)))
    }

    /// Reads bytes as such a file; messages call them by a name.
    ///
    /// # Errors
    /// As for [`Npz::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, NpzError> {
        Self::of(PathBuf::from(name), Box::new(io::Cursor::new(bytes)))
    }

    fn of(path: PathBuf, mut file: Box<dyn Source>) -> Result<Self, NpzError> {
        let read = || {
            let sealed = zip::check_seal(&mut file)?;
            let entries = zip::directory(&mut file)?;
            Ok((file, entries, sealed))
        };
        let (file, entries, sealed) = read().map_err(|e| io_error(&path, "read", e))?;
        Ok(Self { path, file, entries, sealed })
    }

    /// Does the file end in a checksum of all its bytes, so that none has changed? Files of NumPy
    /// have none.
    pub fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// Returns the names of the entries, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.name.strip_suffix(".npy").unwrap_or(&e.name))
    }

    /// Reads one entry, of any kind, if the memory that is free holds it twice.
    ///
    /// # Errors
    /// If there is none of this name, or it is damaged or too large.
    pub fn get(&mut self, name: &str) -> Result<Value, NpzError> {
        let most = super::free_memory::available().map_or(u64::MAX, |free| free / 2);
        self.get_within(name, most)
    }

    /// Reads one entry, of any kind, that takes at most so many bytes, its header among them. A
    /// small file may announce and inflate to any size.
    ///
    /// # Errors
    /// If there is none of this name, or it is damaged or too large.
    pub fn get_within(&mut self, name: &str, most: u64) -> Result<Value, NpzError> {
        let index = self.index(name)?;
        let bytes =
            zip::read(&mut self.file, &self.entries[index], most).map_err(|e| e.to_string());
        bytes.and_then(|bytes| npy::parse(&bytes)).map_err(|reason| self.wrong(name, reason))
    }

    /// Returns the shape of an array, from its header; a number or text has none.
    ///
    /// # Errors
    /// If there is no entry of this name, or it has no header.
    pub fn shape(&mut self, name: &str) -> Result<Vec<usize>, NpzError> {
        let index = self.index(name)?;
        let head = zip::head(&mut self.file, &self.entries[index], MOST_OF_A_HEADER);
        let shape = head.map_err(|e| e.to_string());
        shape.and_then(|head| npy::shape_of(&head)).map_err(|reason| self.wrong(name, reason))
    }

    fn index(&self, name: &str) -> Result<usize, NpzError> {
        let missing = || NpzError::Missing {
            path: self.path.clone(),
            entry: name.into(),
            available: self.names().map(String::from).collect(),
        };
        self.names().position(|n| n == name).ok_or_else(missing)
    }

    fn wrong(&self, entry: &str, reason: String) -> NpzError {
        NpzError::Entry { path: self.path.clone(), entry: entry.into(), reason }
    }

    /// Reads an array of `f32`.
    pub fn array_f32(&mut self, name: &str) -> Result<ArrayD<f32>, NpzError> {
        match self.get(name)? {
            Value::F32(array) => Ok(array),
            other => Err(self.kind(name, "an f32 array", &other)),
        }
    }

    /// Reads an array of `f64`.
    pub fn array_f64(&mut self, name: &str) -> Result<ArrayD<f64>, NpzError> {
        match self.get(name)? {
            Value::F64(array) => Ok(array),
            other => Err(self.kind(name, "an f64 array", &other)),
        }
    }

    /// Reads a number.
    pub fn f64(&mut self, name: &str) -> Result<f64, NpzError> {
        match self.get_within(name, MOST_OF_A_NUMBER)? {
            Value::F64(a) if a.ndim() == 0 => Ok(a.sum()),
            other => Err(self.kind(name, "an f64 number", &other)),
        }
    }

    /// Reads an unsigned number; a signed one that is not negative will do.
    pub fn u64(&mut self, name: &str) -> Result<u64, NpzError> {
        let value = self.get_within(name, MOST_OF_A_NUMBER)?;
        let number = match value {
            Value::U64(n) => Some(n),
            Value::I64(n) => n.try_into().ok(),
            Value::F32(_) | Value::F64(_) | Value::Text(_) => None,
        };
        number.ok_or_else(|| self.kind(name, "a u64 number", &value))
    }

    /// Reads a signed number; an unsigned one that fits will do.
    pub fn i64(&mut self, name: &str) -> Result<i64, NpzError> {
        let value = self.get_within(name, MOST_OF_A_NUMBER)?;
        let number = match value {
            Value::I64(n) => Some(n),
            Value::U64(n) => n.try_into().ok(),
            Value::F32(_) | Value::F64(_) | Value::Text(_) => None,
        };
        number.ok_or_else(|| self.kind(name, "an i64 number", &value))
    }

    /// Reads a text.
    pub fn text(&mut self, name: &str) -> Result<String, NpzError> {
        match self.get_within(name, MOST_OF_A_TEXT)? {
            Value::Text(text) => Ok(text),
            other => Err(self.kind(name, "a text", &other)),
        }
    }

    fn kind(&self, entry: &str, expected: &'static str, found: &Value) -> NpzError {
        let (path, entry) = (self.path.clone(), entry.to_string());
        NpzError::Kind { path, entry, expected, found: found.kind() }
    }
}

fn io_error(path: &Path, action: &'static str, source: io::Error) -> NpzError {
    NpzError::Io { path: path.to_path_buf(), action, source }
}
