//! One field in a box: surfaces of equal values, or a cloud.

use std::path::Path;

use ndarray::ArrayView3;

use super::color::{Color, ColorMap};
use super::scene::Scene;
use super::setters::{colors, titles};
use super::{Format, PlotError, range};
use crate::report::significant;

mod boxed;
mod camera;
mod cast;
mod grid;
#[cfg(test)]
mod tests;

pub use camera::Camera;

/// The longer side of the box in the picture, in pixels.
const SIDE: usize = 640;
/// Colours of surfaces in turn, by their places in the palette of curves.
const SURFACES: [usize; 7] = [5, 1, 2, 3, 6, 0, 4];
/// The shortest one that a picture can be asked for, and the longest.
const SIDES: (usize, usize) = (16, 4096);

/// The way in which the values of a box are shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Rendering {
    /// Surfaces on which the field has these values, in light. The last one is opaque, and others let it through.
    Surfaces(Vec<f64>),
    /// A cloud that glows in the colours of its values. High values cover those behind them, and low ones are clear; with
    /// [`ColorMap::Diverging`], values far from the middle of the colours cover, and with [`ColorMap::Cyclic`] all alike.
    Cloud,
}

/// A picture of one field in a box, drawn without perspective: equal lengths along an axis look equally long.
///
/// Between the centres of cells the field is linear along each axis. Cells that are not finite are empty.
///
/// ```
/// use ndarray::Array3;
/// use stencil_runtime::plot::Volume;
///
/// let distance = |i: usize| (i as f64 + 0.5) / 16.0 - 0.5;
/// let field = Array3::from_shape_fn((16, 16, 16), |(z, y, x)| {
///     (distance(x).powi(2) + distance(y).powi(2) + distance(z).powi(2)).sqrt()
/// });
/// let path = std::env::temp_dir().join(format!("volume-doc-{}.png", std::process::id()));
/// Volume::new(field.view(), [(0.0, 1.0); 3])
///     .title("A sphere")
///     .label("r")
///     .surfaces([0.4])
///     .side(200)
///     .save(&path)?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), stencil_runtime::plot::PlotError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Volume<'a> {
    /// The values, `[z, y, x]`.
    pub data: ArrayView3<'a, f64>,
    /// The edges of the data along x, y and z.
    pub extent: [(f64, f64); 3],
    /// The title, above the plot.
    pub title: String,
    /// A line of second rank, below the title.
    pub subtitle: String,
    /// The name of the field.
    pub label: String,
    /// The way in which values are shown.
    pub rendering: Rendering,
    /// The colours.
    pub map: ColorMap,
    /// The values at the ends of the colours; the finite values' range if not given.
    pub range: Option<(f64, f64)>,
    /// Whether colours, and the field between cells, are on a logarithmic scale.
    pub log: bool,
    /// The direction from which the box is seen.
    pub camera: Camera,
    /// The longer side of the box in the picture, in pixels.
    pub side: usize,
}

impl<'a> Volume<'a> {
    /// Makes a cloud without texts, with the sequential colours.
    pub fn new(data: ArrayView3<'a, f64>, extent: [(f64, f64); 3]) -> Self {
        Volume {
            data,
            extent,
            title: String::new(),
            subtitle: String::new(),
            label: String::new(),
            rendering: Rendering::Cloud,
            map: ColorMap::default(),
            range: None,
            log: false,
            camera: Camera::default(),
            side: SIDE,
        }
    }

    titles!();

    /// Sets the name of the field.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Shows surfaces on which the field has these values. The last one is opaque.
    pub fn surfaces(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.rendering = Rendering::Surfaces(values.into_iter().collect());
        self
    }

    colors!();

    /// Puts the colours on a logarithmic scale; values that are not positive are empty.
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// Sets the direction from which the box is seen.
    pub fn camera(mut self, camera: Camera) -> Self {
        self.camera = camera;
        self
    }

    /// Sets the longer side of the box in the picture, 16 to 4096 pixels.
    pub fn side(mut self, pixels: usize) -> Self {
        self.side = pixels;
        self
    }

    /// Writes the picture in the format that the ending of the path names: `.png`, `.svg` or `.pdf`. The box is made of
    /// pixels in all of them.
    ///
    /// # Errors
    /// If the ending is none of these, the extent, the range or the side is not good, a surface has no value, or the
    /// file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        Format::of(path.as_ref())?;
        self.scene()?.save_as(path)
    }

    /// Returns the picture as a drawing, for a [`super::Film`].
    ///
    /// # Errors
    /// As for [`Volume::save`], besides those of the file.
    pub fn scene(&self) -> Result<Scene, PlotError> {
        self.check()?;
        Ok(boxed::draw(self))
    }

    fn check(&self) -> Result<(), PlotError> {
        let refuse = |reason: String| Err(PlotError::Volume { title: self.title.clone(), reason });
        let sides = self.extent.map(|(low, high)| high - low);
        if !sides.iter().all(|s| s.is_finite() && *s > 0.0) {
            return refuse(format!(
                "the extent {:?} is not three finite pairs, the smaller number first",
                self.extent
            ));
        }
        if self.data.is_empty() {
            return refuse("it has no cells".to_string());
        }
        if !(SIDES.0..=SIDES.1).contains(&self.side) {
            let (least, most) = SIDES;
            return refuse(format!("a side has {} pixels; choose {least} to {most}", self.side));
        }
        if let Some(reason) = self.camera.fault() {
            return refuse(reason);
        }
        if let Rendering::Surfaces(values) = &self.rendering {
            let bad = values.iter().find(|v| !v.is_finite() || self.log && **v <= 0.0);
            match bad {
                Some(bad) if self.log => {
                    return refuse(format!("no surface of {bad} is on a logarithmic scale"));
                }
                Some(bad) => return refuse(format!("a surface has the value {bad}")),
                None if values.is_empty() => {
                    return refuse("it shows surfaces, and none is given".to_string());
                }
                None => {}
            }
        }
        match self.range {
            Some((low, high)) if !range::is_good((low, high), self.log) => {
                Err(PlotError::Range { title: self.title.clone(), low, high })
            }
            _ => Ok(()),
        }
    }

    /// Returns the values at the ends of the colours, on their scale, and whether there are finite values.
    fn color_range(&self) -> ((f64, f64), bool) {
        range::of_colors(self.data.iter().copied(), self.range, self.log, self.map)
    }

    /// Returns a value on the scale of the colours.
    fn scaled(&self, value: f64) -> f64 {
        match self.log {
            true if value > 0.0 => value.log10(),
            true => f64::NAN,
            false => value,
        }
    }

    /// Returns the places of surfaces in the range, 0 to 1, with their colours and names.
    fn surfaces_in(&self, (low, high): (f64, f64)) -> Vec<(f32, Color, String)> {
        let Rendering::Surfaces(values) = &self.rendering else {
            return Vec::new();
        };
        let place = |value: f64| (self.scaled(value) - low) / (high - low);
        let color = |at: usize| Color::PALETTE[SURFACES[at % SURFACES.len()]];
        let name = |value: f64| format!("{} = {}", self.label, significant(value, 4));
        let surfaces = values.iter().enumerate();
        surfaces.map(|(at, v)| (place(*v) as f32, color(at), name(*v))).collect()
    }
}
