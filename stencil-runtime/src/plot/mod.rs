//! Pictures of fields and curves, and drawings, as PNG, SVG and PDF files.
//!
//! - [`Heatmap`]: one field on a plane, with axes and a colour bar;
//! - [`Panels`]: several heat maps in one picture;
//! - [`LinePlot`]: curves over one variable, with optional logarithmic axes;
//! - [`Scene`]: drawings of lines, polygons, circles and text.
//!
//! The system needs no fonts: the font is part of the program. Empty, constant and non-finite data give a picture, not
//! a panic.

mod axes;
mod canvas;
mod color;
mod fill;
mod format;
mod heatmap;
mod legend;
mod line;
mod panels;
mod sample;
mod scene;
mod text;
mod ticks;

use std::io;
use std::path::PathBuf;

pub use color::{Color, ColorMap};
pub use format::Format;
pub use heatmap::{Heatmap, Sampling};
pub use line::{LinePlot, Series, Style};
pub use panels::Panels;
pub use sample::finer;
pub use scene::{Anchor, Lettering, Point, Scene, Stroke};

use crate::io::way_out;

/// The reason why a picture could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The file could not be written.
    #[error("cannot write the picture `{}`: {source}{}", path.display(), way_out(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file's ending is of no format.
    #[error(
        "the picture `{}` has no format: end its name with {}",
        path.display(),
        Format::endings()
    )]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// The extent of a heat map is not a rectangle.
    #[error(
        "heat map `{title}`: the extent {extent:?} is not [x0, x1, y0, y1] with finite x0 < x1, y0 < y1"
    )]
    Extent {
        /// The heat map's title.
        title: String,
        /// The extent.
        extent: [f64; 4],
    },
    /// A colour range without a length.
    #[error(
        "heat map `{title}`: the colour range ({low}, {high}) is not finite and increasing, and positive on a logarithmic scale"
    )]
    Range {
        /// The heat map's title.
        title: String,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// A curve's x and y differ in length.
    #[error("curve `{name}` has {xs} x values and {ys} y values")]
    Lengths {
        /// The curve's name.
        name: String,
        /// The number of x values.
        xs: usize,
        /// The number of y values.
        ys: usize,
    },
    /// There is nothing to draw.
    #[error("a picture of no panels")]
    NoPanels,
}
