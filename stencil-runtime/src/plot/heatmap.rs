//! Fields on a plane as colours.

use std::path::Path;

use ndarray::ArrayView2;

use super::PlotError;
use super::color::ColorMap;
use super::panels::Panels;
use super::range;
use super::setters::{colors, titles};

/// The size that a plot has if its extent is a square.
const SIDE: f64 = 560.0;
/// Height over width of a plot whose axes have scales of their own.
const FREE: f64 = 0.75;

/// The sampling of cells by pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Linear between cell centres; means if there are more cells than pixels.
    #[default]
    Smooth,
    /// Every cell is a rectangle of one colour.
    Nearest,
}

/// A picture of one field on a plane: axes at equal scale, and a colour bar.
///
/// Values that are not finite are grey.
///
/// ```
/// use ndarray::Array2;
/// use stencil_runtime::plot::{ColorMap, Heatmap};
///
/// let field = Array2::from_shape_fn((32, 64), |(j, i)| (i as f64 * 0.1).sin() * j as f64);
/// let path = std::env::temp_dir().join(format!("heatmap-doc-{}.png", std::process::id()));
/// Heatmap::new(field.view(), [0.0, 2.0, 0.0, 1.0])
///     .title("vorticity")
///     .subtitle("t = 0.3, 64 × 32 cells")
///     .labels("x", "y")
///     .color_label("ω")
///     .map(ColorMap::Diverging)
///     .save(&path)?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), stencil_runtime::plot::PlotError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Heatmap<'a> {
    /// The values, `[y, x]`; row 0 is at the bottom.
    pub data: ArrayView2<'a, f64>,
    /// The edges of the data: `[x0, x1, y0, y1]`.
    pub extent: [f64; 4],
    /// The title, above the plot.
    pub title: String,
    /// A line of second rank, below the title.
    pub subtitle: String,
    /// The x axis's label.
    pub x_label: String,
    /// The y axis's label.
    pub y_label: String,
    /// The colour bar's label.
    pub color_label: String,
    /// The colours.
    pub map: ColorMap,
    /// The values at the ends of the colours; the finite values' range if not given.
    pub range: Option<(f64, f64)>,
    /// Whether colours are on a logarithmic scale.
    pub log: bool,
    /// The sampling of cells by pixels.
    pub sampling: Sampling,
    /// Whether both axes have scales of their own, as for a time beside a length.
    pub is_free: bool,
}

impl<'a> Heatmap<'a> {
    /// Makes a heat map without texts, with the sequential colours.
    pub fn new(data: ArrayView2<'a, f64>, extent: [f64; 4]) -> Self {
        Self {
            data,
            extent,
            title: String::new(),
            subtitle: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            color_label: String::new(),
            map: ColorMap::default(),
            range: None,
            log: false,
            sampling: Sampling::default(),
            is_free: false,
        }
    }

    titles!();

    /// Sets the labels of the x and the y axis.
    pub fn labels(mut self, x: impl Into<String>, y: impl Into<String>) -> Self {
        (self.x_label, self.y_label) = (x.into(), y.into());
        self
    }

    /// Sets the label of the colour bar.
    pub fn color_label(mut self, label: impl Into<String>) -> Self {
        self.color_label = label.into();
        self
    }

    colors!();

    /// Puts the colours on a logarithmic scale; values that are not positive have no colour on it and are grey. A
    /// given range has to be positive.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use stencil_runtime::plot::Heatmap;
    ///
    /// let field = Array2::from_shape_fn((32, 32), |(j, i)| 10_f64.powf((i + j) as f64 / 10.0));
    /// let path = std::env::temp_dir().join(format!("heatmap-log-{}.png", std::process::id()));
    /// Heatmap::new(field.view(), [0.0, 1.0, 0.0, 1.0]).log().range(1.0, 1e6).save(&path)?;
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), stencil_runtime::plot::PlotError>(())
    /// ```
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// Sets the sampling of cells by pixels.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Gives both axes scales of their own, as for a time beside a length: the plot has one shape for all extents.
    pub fn free(mut self) -> Self {
        self.is_free = true;
        self
    }

    /// Writes the picture in the format that the ending of the path names: `.png`, `.svg` or `.pdf`.
    ///
    /// # Errors
    /// If the ending is none of these, the extent or the range is empty, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        Panels::new([self.clone()]).save(path)
    }

    pub(super) fn check(&self) -> Result<(), PlotError> {
        let [x0, x1, y0, y1] = self.extent;
        let sides = [x1 - x0, y1 - y0];
        if !sides.iter().all(|s| s.is_finite() && *s > 0.0) {
            return Err(PlotError::Extent { title: self.title.clone(), extent: self.extent });
        }
        match self.range {
            Some((low, high)) if !range::is_good((low, high), self.log) => {
                Err(PlotError::Range { title: self.title.clone(), low, high })
            }
            _ => Ok(()),
        }
    }

    /// Returns the values at the ends of the colours, and whether there are finite values at all; powers of ten on a
    /// logarithmic scale.
    pub(super) fn color_range(&self) -> ((f64, f64), bool) {
        range::of_colors(self.data.iter().copied(), self.range, self.log, self.map)
    }

    /// Returns the plot's size in pixels: about the same area for all shapes, at equal scale unless the extent is a
    /// mere line, or the axes have scales of their own.
    pub(super) fn size(&self) -> (i32, i32) {
        let [x0, x1, y0, y1] = self.extent;
        let aspect = match self.is_free {
            true => FREE,
            false => ((y1 - y0) / (x1 - x0)).clamp(1e-6, 1e6),
        };
        let (w, h) = (SIDE / aspect.sqrt(), SIDE * aspect.sqrt());
        let shrink = (1000.0 / w).min(760.0 / h).min(1.0);
        let (w, h) = ((w * shrink).max(140.0), (h * shrink).max(140.0));
        let (ny, nx) = self.data.dim();
        // Cells of whole pixels look even, if that does not bend the shape.
        let snapped = |n: usize, s: f64| (s / n.max(1) as f64).round().max(1.0) * n.max(1) as f64;
        let (sw, sh) = (snapped(nx, w), snapped(ny, h));
        let bent = (sh / sw) / (h / w) - 1.0;
        let even = self.sampling == Sampling::Nearest && bent.abs() < 0.01 && sw < 1.2 * w;
        let (w, h) = if even && sw > 0.8 * w { (sw, sh) } else { (w, h) };
        (w.round() as i32, h.round() as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::bar::GAP as BAR_GAP;
    use crate::plot::canvas::{Canvas, Rect};
    use crate::plot::color::Color;
    use ndarray::{Array2, arr2};

    fn drawn(map: &Heatmap<'_>) -> (Canvas, Rect) {
        let (scene, places) = Panels::new([map.clone()]).draw().unwrap();
        (scene.canvas(), places[0])
    }

    const UNIT: [f64; 4] = [0.0, 1.0, 0.0, 1.0];

    #[test]
    fn row_zero_is_at_the_bottom_and_x_runs_right() {
        let data = arr2(&[[0.0, 1.0], [2.0, f64::NAN]]);
        let map = Heatmap::new(data.view(), UNIT).sampling(Sampling::Nearest);
        let (c, p) = drawn(&map);
        let (left, right, low, high) = (p.x + 5, p.right() - 5, p.bottom() - 5, p.y + 5);
        let color = |v: f64| ColorMap::Sequential.at(v / 2.0);
        assert_eq!(c.get(left, low), color(0.0));
        assert_eq!(c.get(right, low), color(1.0));
        assert_eq!(c.get(left, high), color(2.0));
        assert_eq!(c.get(right, high), Color::MISSING);
        // The colour bar: its lower end is the smallest value.
        assert_eq!(c.get(p.right() + BAR_GAP + 5, p.bottom() - 1), color(0.001));
        // The margin is white on all sides.
        let b = c.bounds();
        for i in 0..b.w.min(b.h) {
            for (x, y) in [(i, 8), (8, i), (b.w - 9, i), (i, b.h - 9)] {
                assert_eq!(c.get(x, y), Color::WHITE, "({x}, {y})");
            }
        }
    }

    #[test]
    fn the_diverging_range_is_symmetric() {
        let data = arr2(&[[-1.0, 3.0]]);
        let map = Heatmap::new(data.view(), UNIT).map(ColorMap::Diverging);
        assert_eq!(map.color_range().0, (-3.0, 3.0));
        assert_eq!(map.range(0.0, 1.0).color_range().0, (0.0, 1.0));
    }

    #[test]
    fn logarithmic_colours_are_even_in_powers_of_ten() {
        let data = arr2(&[[1.0, 10.0, 100.0, 0.0]]);
        let map = Heatmap::new(data.view(), [0.0, 4.0, 0.0, 1.0]).sampling(Sampling::Nearest).log();
        assert_eq!(map.color_range(), ((0.0, 2.0), true));
        let (c, p) = drawn(&map);
        let color = |i: i32| c.get(p.x + (2 * i + 1) * p.w / 8, p.y + p.h / 2);
        assert_eq!(color(0), ColorMap::Sequential.at(0.0));
        assert_eq!(color(1), ColorMap::Sequential.at(0.5));
        assert_eq!(color(2), ColorMap::Sequential.at(1.0));
        assert_eq!(color(3), Color::MISSING);
        assert!(map.clone().range(1.0, 5.0).check().is_ok());
        assert!(map.range(0.0, 5.0).check().is_err());
    }

    #[test]
    fn the_scale_is_equal_in_both_directions() {
        let data = Array2::<f64>::zeros((10, 10));
        for (sides, bound) in [((1.0, 1.0), 1e-9), ((4.0, 1.0), 0.01), ((1.0, 2.0), 0.01)] {
            let (w, h) = Heatmap::new(data.view(), [0.0, sides.0, 0.0, sides.1]).size();
            let error = f64::from(h) / f64::from(w) * sides.0 / sides.1 - 1.0;
            assert!(error.abs() < bound, "{sides:?} {w} {h}");
        }
        let long = Heatmap::new(data.view(), [0.0, 1e9, 0.0, 1.0]);
        assert_eq!(long.size(), (1000, 140));
        let (w, h) = long.free().size();
        assert!((f64::from(h) / f64::from(w) - FREE).abs() < 0.01, "{w} {h}");
    }

    #[test]
    fn odd_data_do_not_panic() {
        let nan = Array2::from_elem((3, 3), f64::NAN);
        let huge = arr2(&[[f64::MAX, -f64::MAX, f64::INFINITY]]);
        let tiny = arr2(&[[5e-324, 0.0]]);
        let constant = Array2::from_elem((2, 2), 7.0);
        let empty = Array2::<f64>::zeros((0, 0));
        let column = Array2::<f64>::zeros((3, 0));
        for data in [&nan, &huge, &tiny, &constant, &empty, &column] {
            for sampling in [Sampling::Smooth, Sampling::Nearest] {
                for map in [ColorMap::Sequential, ColorMap::Diverging] {
                    drawn(&Heatmap::new(data.view(), UNIT).map(map).sampling(sampling));
                }
            }
        }
        let (c, p) = drawn(&Heatmap::new(nan.view(), UNIT));
        assert_eq!(c.get(p.x + 3, p.y + 3), Color::MISSING);
    }

    #[test]
    fn bad_extents_and_ranges_are_errors() {
        let data = Array2::<f64>::zeros((2, 2));
        let map = Heatmap::new(data.view(), [1.0, 1.0, 0.0, 1.0]).title("rho");
        let message = map.save("/tmp/never.png").unwrap_err().to_string();
        assert!(message.contains("heat map `rho`: the extent [1.0, 1.0"), "{message}");
        let map = Heatmap::new(data.view(), UNIT).range(2.0, 1.0);
        assert!(matches!(map.save("/tmp/never.png"), Err(PlotError::Range { .. })));
        assert!(matches!(Panels::new([]).save("/tmp/never.png"), Err(PlotError::NoPanels)));
        let map = Heatmap::new(data.view(), UNIT);
        assert!(matches!(map.save("/no/such/folder/a.png"), Err(PlotError::Io { .. })));
    }
}
