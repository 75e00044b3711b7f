//! Pictures of fields and curves, and drawings, as PNG, SVG and PDF files.
//!
//! - [`Heatmap`]: one field on a plane, with axes and a colour bar;
//! - [`Panels`]: several heat maps in one picture;
//! - [`LinePlot`]: curves over one variable, with optional logarithmic axes;
//! - [`Volume`]: one field in a box, as surfaces of equal values or as a cloud;
//! - [`Film`]: drawings one after the other, as GIF, APNG or MP4;
//! - [`Scene`]: drawings of lines, polygons, circles and text.
//!
//! The system needs no fonts: the font is part of the program. Empty, constant and non-finite data give a picture, not
//! a panic.

mod axes;
mod bar;
mod canvas;
mod color;
mod fill;
mod film;
mod format;
mod heatmap;
mod legend;
mod line;
mod panels;
mod range;
mod sample;
mod scene;
mod setters;
mod text;
mod ticks;
mod volume;

use std::io;
use std::path::PathBuf;

pub use color::{Color, ColorMap};
pub use film::{Film, FilmFormat, Reel};
pub use format::Format;
pub use heatmap::{Heatmap, Sampling};
pub use line::{LinePlot, Series, Style};
pub use panels::Panels;
pub use sample::finer;
pub use scene::{Anchor, Lettering, Point, Scene, Stroke};
pub use volume::{Camera, Rendering, Volume};

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
        "picture `{title}`: the colour range ({low}, {high}) is not finite and increasing, and positive on a logarithmic scale"
    )]
    Range {
        /// The picture's title.
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
    /// The extent of a volume is not a box, or a number of its view or its surfaces is not finite.
    #[error("volume `{title}`: {reason}")]
    Volume {
        /// The volume's title.
        title: String,
        /// The setting that is wrong, and its values.
        reason: String,
    },
    /// The ending of a film's file is of no format.
    #[error(
        "the film `{}` has no format: end its name with {}",
        path.display(),
        FilmFormat::endings()
    )]
    FilmEnding {
        /// The file.
        path: PathBuf,
    },
    /// A film of fewer than two pictures, or of too many a second.
    #[error("the film `{}` cannot have {reason}", path.display())]
    Reel {
        /// The file.
        path: PathBuf,
        /// The number that is wrong, and the way out.
        reason: String,
    },
    /// A picture of a film differs from the others in its size, or one is missing or too many.
    #[error("the film `{}`: picture {number} {reason}", path.display())]
    Frame {
        /// The file.
        path: PathBuf,
        /// The number of the picture, from 1.
        number: usize,
        /// The difference.
        reason: String,
    },
    /// The program that encodes films is missing or has failed.
    #[error("cannot write the film `{}`: {reason}", path.display())]
    Encoder {
        /// The file.
        path: PathBuf,
        /// The reason, and the way out.
        reason: String,
    },
    /// There is nothing to draw.
    #[error("a picture of no panels")]
    NoPanels,
}
