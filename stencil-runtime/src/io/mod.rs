//! Files: NumPy arrays in; NumPy arrays, VTKHDF, Zarr and tables out.
//!
//! [`NpzWriter`] and [`Npz`] write and read `.npz` archives that `numpy.load` opens. Equal input
//! gives equal bytes, and a file appears under its name only when it is complete.

mod cache;
mod csv;
mod failure;
mod frames;
pub(crate) mod free_memory;
mod hdf5;
mod npy;
mod npz;
mod part;
mod zip;

pub use cache::CACHE_VARIABLE;
pub(crate) use cache::cache_folder;
pub use csv::{CsvError, SeriesWriter, Table};
pub use failure::{open_regular, read_text, way_out};
pub use frames::{FrameError, FrameFormat};
pub(crate) use frames::{
    FrameLayout, FrameWriter, Moment, Part, VTKHDF_SERIES, Values, Variable, open as open_frames,
};
pub use npy::{Element, Value};
pub use npz::{Npz, NpzError, NpzWriter};
pub use part::{PartFile, whole_of};
