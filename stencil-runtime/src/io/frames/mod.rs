//! Frames of a run in formats that others read, written by a thread beside the run.
//!
//! The run hands over pieces of values, a few planes each, through a bounded queue; the thread writes them. No array of the
//! whole mesh is made on the way. Equal frames give equal bytes, whatever made them.

use std::io;
use std::path::{Path, PathBuf};

use stencil_compiler::diag::Code;

use super::failure::way_out;
use super::{NpzError, Value};

mod layout;
mod npz;
#[cfg(test)]
mod tests;
mod vtkhdf;
mod writer;
mod written;
mod zarr;

pub(crate) use layout::{FrameLayout, Variable};
pub(crate) use writer::FrameWriter;

/// A format of frames.
///
/// ```
/// use stencil_runtime::io::FrameFormat;
///
/// let words: Vec<&str> = FrameFormat::ALL.iter().map(|(word, _)| *word).collect();
/// assert_eq!(words, ["npz", "vtkhdf", "zarr"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameFormat {
    /// `frame_000100.npz`, a file a frame, for NumPy.
    Npz,
    /// `frame_000100.vtkhdf`, a file a frame, and `frames.vtkhdf.series`, the list of them with their times: for ParaView and VTK.
    Vtkhdf,
    /// `frames.zarr`, a folder with all frames along an axis `time`, for xarray.
    Zarr,
}

/// The folder of all frames in Zarr.
pub(crate) const ZARR_FOLDER: &str = "frames.zarr";
/// The list of all frames in VTKHDF.
pub(crate) const VTKHDF_SERIES: &str = "frames.vtkhdf.series";

impl FrameFormat {
    /// All formats, by the words of problem files.
    pub const ALL: [(&str, Self); 3] =
        [("npz", Self::Npz), ("vtkhdf", Self::Vtkhdf), ("zarr", Self::Zarr)];

    /// Returns the word of problem files.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, format)| *format == self).map_or("", |(word, _)| word)
    }

    /// Returns the file or folder in which the frame of a step is.
    ///
    /// ```
    /// use std::path::Path;
    /// use stencil_runtime::io::FrameFormat;
    ///
    /// let file = FrameFormat::Vtkhdf.path(Path::new("out"), 100);
    /// assert_eq!(file, Path::new("out/frame_000100.vtkhdf"));
    /// assert_eq!(FrameFormat::step_of("frame_000100.vtkhdf"), Some(100));
    /// ```
    pub fn path(self, folder: &Path, step: u64) -> PathBuf {
        match self {
            Self::Npz | Self::Vtkhdf => folder.join(format!("frame_{step:06}.{}", self.word())),
            Self::Zarr => folder.join(ZARR_FOLDER),
        }
    }

    /// Returns the step of a frame that has a file of its own, by the name of the file.
    pub fn step_of(name: &str) -> Option<u64> {
        let (step, ending) = name.strip_prefix("frame_")?.split_once('.')?;
        let is_known = [Self::Npz, Self::Vtkhdf].iter().any(|format| format.word() == ending);
        let is_number = step.bytes().all(|digit| digit.is_ascii_digit());
        step.parse().ok().filter(|_| is_known && is_number)
    }

    /// Returns the parts of a frame in their order.
    pub(crate) fn parts(self, layout: &FrameLayout) -> Vec<Part> {
        match self {
            Self::Npz | Self::Zarr => layout.component_parts(),
            Self::Vtkhdf => vtkhdf::arrays(layout).into_iter().map(|(_, part)| part).collect(),
        }
    }

    /// Is this the name of a file or folder that belongs to all frames of a run?
    pub fn is_of_all(name: &str) -> bool {
        [ZARR_FOLDER, VTKHDF_SERIES].contains(&name)
    }
}

/// The reason why a frame could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A `.npz` could not be written.
    #[error(transparent)]
    Npz(#[from] NpzError),
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
    /// Frames of an earlier part of the run that this one cannot add to.
    #[error("cannot add frames to `{}`: {reason}; move it away, or choose another folder", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// A name that a format cannot hold.
    #[error("`{name}` cannot be the name of an array in a file: {reason}; rename the field")]
    Name {
        /// The name.
        name: String,
        /// The fault.
        reason: &'static str,
    },
    /// The values of a frame could not be read from the card, or have no numbers in the precision of the file.
    #[error("{reason}")]
    Values {
        /// The code of the reason.
        code: Code,
        /// The reason.
        reason: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The thread that writes is gone.
    #[error("the thread that writes frames has ended early; the frames before are whole")]
    Gone,
}

impl FrameError {
    /// Returns the code, which `stencil explain-error` knows.
    pub fn code(&self) -> Code {
        match self {
            Self::Npz(error) => error.code(),
            Self::Values { code, .. } => *code,
            Self::Io { action: "read", .. } => Code::CannotRead,
            Self::Io { .. } | Self::Gone | Self::Name { .. } => Code::CannotWrite,
            Self::Foreign { .. } => Code::Damaged,
        }
    }

    fn write(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), action: "write", source }
    }

    fn read(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), action: "read", source }
    }
}

/// The time of a frame, and entries of its `.npz` beside the arrays.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moment {
    pub(crate) t: f64,
    pub(crate) step: u64,
    pub(crate) entries: Vec<(String, Value)>,
}

/// Arrays that are written together: components of one cell after the other. `None` stands for zeros.
pub(crate) type Part = Vec<Option<usize>>;

/// The values of a frame, part by part.
pub(crate) trait Values {
    /// Returns the next bytes of a part, in C order; `None` behind the last ones.
    ///
    /// # Errors
    /// If the run has given the frame up.
    fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError>;
}

/// A format that frames are written in, in their order.
pub(crate) trait Format: Send {
    /// Writes a frame; it appears when it is complete.
    fn write(&mut self, moment: &Moment, values: &mut dyn Values) -> Result<(), FrameError>;
}

/// Opens the formats of a run in a folder. A run that goes on keeps the frames up to a step.
pub(crate) fn open(
    formats: &[FrameFormat],
    layout: &FrameLayout,
    folder: &Path,
    goes_on_from: Option<u64>,
) -> Result<Vec<Box<dyn Format>>, FrameError> {
    let mut open: Vec<Box<dyn Format>> = Vec::new();
    for format in formats {
        open.push(match format {
            FrameFormat::Npz => Box::new(npz::Frames::new(layout, folder)),
            FrameFormat::Vtkhdf => Box::new(vtkhdf::Frames::open(layout, folder, goes_on_from)?),
            FrameFormat::Zarr => Box::new(zarr::Frames::open(layout, folder, goes_on_from)?),
        });
    }
    Ok(open)
}
