//! Films: drawings of one size, one after the other.

use std::io;
use std::path::{Path, PathBuf};

use super::PlotError;
use super::canvas::{Canvas, Rect};
use super::color::Color;
use super::scene::Scene;

mod apng;
mod ffmpeg;
mod gif;
#[cfg(test)]
mod tests;

/// A format of films.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilmFormat {
    /// 256 colours, shown by every program that shows pictures.
    Gif,
    /// All colours, shown by web browsers; other programs show the first picture.
    Apng,
    /// A video, encoded by the program `ffmpeg`.
    Mp4,
}

/// Every ending with its format.
const ENDINGS: [(&str, FilmFormat); 4] = [
    ("gif", FilmFormat::Gif),
    ("png", FilmFormat::Apng),
    ("apng", FilmFormat::Apng),
    ("mp4", FilmFormat::Mp4),
];

impl FilmFormat {
    /// Returns the format for the ending of a file's name, in small or capital letters.
    ///
    /// ```
    /// use stencil_runtime::plot::FilmFormat;
    /// assert_eq!(FilmFormat::of("out/film.gif".as_ref())?, FilmFormat::Gif);
    /// let error = FilmFormat::of("film.avi".as_ref()).unwrap_err().to_string();
    /// assert!(error.contains(".gif, .png, .apng or .mp4"), "{error}");
    /// # Ok::<(), stencil_runtime::plot::PlotError>(())
    /// ```
    ///
    /// # Errors
    /// If the ending is of no format.
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let found = ENDINGS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(ending));
        found
            .map(|(_, format)| format)
            .ok_or_else(|| PlotError::FilmEnding { path: path.to_path_buf() })
    }

    /// Returns `.gif, .png, .apng or .mp4`.
    pub(super) fn endings() -> String {
        let names = ENDINGS.map(|(name, _)| format!(".{name}"));
        let [before @ .., last] = &names;
        format!("{} or {last}", before.join(", "))
    }

    /// Returns the most pictures a second that it can show.
    fn fastest(self) -> f64 {
        match self {
            // Delays are in hundredths of a second, and many programs take a delay of 1 for none.
            FilmFormat::Gif => 50.0,
            FilmFormat::Apng | FilmFormat::Mp4 => 240.0,
        }
    }
}

/// The number of pictures of a film and their rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reel {
    /// The number of pictures, two or more.
    pub count: usize,
    /// Pictures a second. A GIF rounds the time of each to hundredths of a second.
    pub rate: f64,
}

/// A film that is being written. Its file appears when it is complete.
///
/// ```
/// use stencil_runtime::plot::{Color, Film, Reel, Scene, Stroke};
///
/// let picture = |angle: f32| {
///     let mut scene = Scene::new(64.0, 64.0);
///     let end = (32.0 + 24.0 * angle.cos(), 32.0 - 24.0 * angle.sin());
///     scene.line(&[(32.0, 32.0), end], Stroke::new(Color::INK, 3.0));
///     scene
/// };
/// let path = std::env::temp_dir().join(format!("film-doc-{}.gif", std::process::id()));
/// let mut film = Film::create(&path, Reel { count: 8, rate: 10.0 }, &[picture(0.0)])?;
/// for k in 0..8 {
///     film.push(&picture(k as f32 * std::f32::consts::FRAC_PI_4))?;
/// }
/// film.finish()?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), stencil_runtime::plot::PlotError>(())
/// ```
pub struct Film {
    path: PathBuf,
    reel: Reel,
    size: (i32, i32),
    /// The pixels of the picture before.
    last: Option<Vec<Color>>,
    written: usize,
    encoder: Box<dyn Encode>,
}

/// A picture to encode.
struct Frame<'a> {
    /// The part that differs from the picture before.
    changed: Rect,
    /// All its pixels, row by row from the top.
    pixels: &'a [Color],
    width: i32,
}

impl Frame<'_> {
    /// Returns the pixels of the part that differs.
    fn fresh(&self) -> impl Iterator<Item = Color> {
        self.changed.pixels().map(|(x, y)| self.pixels[(y * self.width + x) as usize])
    }
}

/// The writer of one format.
trait Encode {
    /// Adds a picture.
    fn push(&mut self, frame: &Frame<'_>) -> io::Result<()>;
    /// Completes the file.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl Film {
    /// Begins a film. `samples` are some of its pictures, at least one: the first gives its size, and a GIF takes its
    /// colours from all of them.
    ///
    /// # Errors
    /// If the ending of the path is of no format, the film has fewer than two pictures or too many a second, there is
    /// no sample, the file cannot be written, or the program that encodes it is missing.
    pub fn create(
        path: impl AsRef<Path>,
        reel: Reel,
        samples: &[Scene],
    ) -> Result<Self, PlotError> {
        let path = path.as_ref().to_path_buf();
        let format = FilmFormat::of(&path)?;
        let refuse = |reason: String| PlotError::Reel { path: path.clone(), reason };
        if reel.count < 2 {
            let reason = format!("{} pictures; it takes two or more", reel.count);
            return Err(refuse(reason));
        }
        let fastest = format.fastest();
        if !(reel.rate > 0.0 && reel.rate <= fastest) {
            let reason = format!(
                "{} pictures a second; choose more than 0 and at most {fastest}",
                reel.rate
            );
            return Err(refuse(reason));
        }
        let canvases: Vec<Canvas> = samples.iter().map(Scene::canvas).collect();
        let Some(first) = canvases.first() else {
            return Err(refuse("no sample of its pictures".to_string()));
        };
        let size = first.size();
        let io_error = |source| PlotError::Io { path: path.clone(), source };
        let encoder: Box<dyn Encode> = match format {
            FilmFormat::Gif => {
                Box::new(gif::Gif::create(&path, reel, size, &canvases).map_err(io_error)?)
            }
            FilmFormat::Apng => Box::new(apng::Apng::create(&path, reel, size).map_err(io_error)?),
            FilmFormat::Mp4 => Box::new(ffmpeg::Mp4::create(&path, reel, size)?),
        };
        Ok(Film { path, reel, size, last: None, written: 0, encoder })
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// If it has another size than the sample, is one too many, or cannot be written.
    pub fn push(&mut self, picture: &Scene) -> Result<(), PlotError> {
        let canvas = picture.canvas();
        let ((w, h), (w0, h0)) = (canvas.size(), self.size);
        if self.written == self.reel.count {
            return Err(self.misfit(format!("is one more than the {} expected", self.reel.count)));
        }
        if (w, h) != (w0, h0) {
            return Err(self.misfit(format!("has {w} × {h} pixels, and others {w0} × {h0}")));
        }
        let pixels = canvas.into_pixels();
        let whole = Rect { x: 0, y: 0, w, h };
        let changed = self.last.as_ref().map_or(whole, |last| changed(last, &pixels, (w, h)));
        self.encoder
            .push(&Frame { changed, pixels: &pixels, width: w })
            .map_err(|e| self.failed(e))?;
        self.last = Some(pixels);
        self.written += 1;
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If pictures are missing, or the file cannot be written.
    pub fn finish(self) -> Result<(), PlotError> {
        if self.written < self.reel.count {
            return Err(self.misfit(format!("of {} is missing", self.reel.count)));
        }
        let path = self.path;
        self.encoder.finish().map_err(|source| failure(path, source))
    }

    fn misfit(&self, reason: String) -> PlotError {
        PlotError::Frame { path: self.path.clone(), number: self.written + 1, reason }
    }

    fn failed(&self, source: io::Error) -> PlotError {
        failure(self.path.clone(), source)
    }
}

/// Tells the words of another program from an error of the system.
fn failure(path: PathBuf, source: io::Error) -> PlotError {
    match source.get_ref().and_then(|e| e.downcast_ref::<ffmpeg::Words>()) {
        Some(words) => PlotError::Encoder { path, reason: words.to_string() },
        None => PlotError::Io { path, source },
    }
}

/// Returns the smallest rectangle around all pixels that differ; one pixel if none does.
fn changed(before: &[Color], now: &[Color], (w, h): (i32, i32)) -> Rect {
    let (mut x0, mut x1, mut y0, mut y1) = (w, -1, h, -1);
    for (i, (a, b)) in before.iter().zip(now).enumerate() {
        if a != b {
            let (x, y) = (i as i32 % w, i as i32 / w);
            (x0, x1, y0, y1) = (x0.min(x), x1.max(x), y0.min(y), y1.max(y));
        }
    }
    match x1 < 0 {
        true => Rect { x: 0, y: 0, w: 1, h: 1 },
        false => Rect { x: x0, y: y0, w: x1 - x0 + 1, h: y1 - y0 + 1 },
    }
}
