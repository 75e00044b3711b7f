//! Formats of pictures, by the endings of files.

use std::path::Path;

use super::PlotError;

/// A format of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Pixels.
    Png,
    /// Shapes, for web pages and for editors of drawings.
    Svg,
    /// Shapes, for print and for LaTeX; letters are shapes, too.
    Pdf,
}

/// Every format with its ending.
const ALL: [(&str, Format); 3] = [("png", Format::Png), ("svg", Format::Svg), ("pdf", Format::Pdf)];

impl Format {
    /// Returns the format for the ending of a file's name, in small or capital letters.
    ///
    /// ```
    /// use stencil_runtime::plot::Format;
    /// assert_eq!(Format::of("out/density.pdf".as_ref())?, Format::Pdf);
    /// let error = Format::of("density.jpg".as_ref()).unwrap_err().to_string();
    /// assert!(error.contains("`density.jpg`") && error.contains(".png, .svg or .pdf"), "{error}");
    /// # Ok::<(), stencil_runtime::plot::PlotError>(())
    /// ```
    ///
    /// # Errors
    /// If the ending is of no format.
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let found = ending.and_then(|ending| {
            let mut all = ALL.into_iter();
            all.find_map(|(name, format)| name.eq_ignore_ascii_case(ending).then_some(format))
        });
        found.ok_or_else(|| PlotError::Ending { path: path.to_path_buf() })
    }

    /// Returns `.png, .svg or .pdf`.
    pub(super) fn endings() -> String {
        let names = ALL.map(|(name, _)| format!(".{name}"));
        let [before @ .., last] = &names;
        format!("{} or {last}", before.join(", "))
    }
}
