//! Curves.

use std::path::Path;

use super::axes::{self, Axis, FRAME, pen};
use super::canvas::Rect;
use super::color::Color;
use super::legend::Legend;
use super::scene::Scene;
use super::text::Fonts;
use super::{Format, PlotError};

const PLOT: (i32, i32) = (1080, 660);
const MARGIN: i32 = 30;
const LINE: f32 = 3.2;
const DOT: f32 = 6.0;
const RING: f32 = 2.2;

/// The style of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A line.
    #[default]
    Line,
    /// A dashed line, as for a reference.
    Dashed,
    /// Dots.
    Points,
    /// A line with dots.
    LinePoints,
    /// A line with rings.
    LineRings,
}

impl Style {
    fn line(self) -> bool {
        self != Self::Points
    }
    fn dots(self) -> bool {
        matches!(self, Self::Points | Self::LinePoints | Self::LineRings)
    }
    fn dot(self, scene: &mut Scene, at: (f32, f32), color: Color) {
        scene.disc(at, DOT, color);
        if self == Self::LineRings {
            scene.disc(at, DOT - RING, Color::WHITE);
        }
    }
    fn dash(self) -> Option<(f32, f32)> {
        (self == Self::Dashed).then_some((13.0, 9.0))
    }
}

/// One curve of a [`LinePlot`].
#[derive(Clone, Debug)]
pub struct Series {
    /// The name in the legend; an empty one is not listed.
    pub name: String,
    /// The x values.
    pub xs: Vec<f64>,
    /// The y values, as many.
    pub ys: Vec<f64>,
    /// The style of the curve.
    pub style: Style,
    /// The colour; one of a palette if not given.
    pub color: Option<Color>,
}

/// A picture of curves over one variable.
///
/// If a value is not finite, or not positive on a logarithmic axis, the curve has a gap.
///
/// ```
/// use stencil_runtime::plot::{LinePlot, Style};
///
/// let h = [0.1, 0.05, 0.025];
/// let error = h.map(|h: f64| 2.0 * h.powi(4));
/// let path = std::env::temp_dir().join(format!("line-doc-{}.png", std::process::id()));
/// LinePlot::new()
///     .title("Convergence")
///     .labels("h", "L1 error")
///     .log_x()
///     .log_y()
///     .series("measured", &h, &error, Style::LinePoints)
///     .save(&path)?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), stencil_runtime::plot::PlotError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LinePlot {
    /// The title, above the plot.
    pub title: String,
    /// A line of second rank, below the title.
    pub subtitle: String,
    /// The name of the run that is shown, which a PNG carries.
    pub run: Option<String>,
    /// The x axis's label.
    pub x_label: String,
    /// The y axis's label.
    pub y_label: String,
    /// Whether the x axis is logarithmic.
    pub x_log: bool,
    /// Whether the y axis is logarithmic.
    pub y_log: bool,
    /// The ends of the x axis; the values' range if not given or empty.
    pub x_range: Option<(f64, f64)>,
    /// The ends of the y axis; the values' range with some room if not given or empty.
    pub y_range: Option<(f64, f64)>,
    /// Values of the ticks of the x axis; round numbers if empty.
    pub x_ticks: Vec<f64>,
    /// The width and height of the plot in pixels, without what is around it; those of a picture of its own if not given.
    pub plot_size: Option<(u16, u16)>,
    /// Whether the legend is beside the plot even if it has a free corner, so that all pictures of a film have one size.
    pub has_legend_beside: bool,
    /// The curves; later ones are on top.
    pub series: Vec<Series>,
}

impl LinePlot {
    /// Makes an empty plot with linear axes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the name of the run that is shown: a PNG has it as the text `Run` in a chunk `iTXt`.
    pub fn run(mut self, name: Option<String>) -> Self {
        self.run = name;
        self
    }

    /// Sets the subtitle.
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// Sets the labels of the x and the y axis.
    pub fn labels(mut self, x: impl Into<String>, y: impl Into<String>) -> Self {
        (self.x_label, self.y_label) = (x.into(), y.into());
        self
    }

    /// Makes the x axis logarithmic.
    pub fn log_x(mut self) -> Self {
        self.x_log = true;
        self
    }

    /// Makes the y axis logarithmic.
    pub fn log_y(mut self) -> Self {
        self.y_log = true;
        self
    }

    /// Fixes the ends of the x axis.
    pub fn x_range(mut self, low: f64, high: f64) -> Self {
        self.x_range = Some((low, high));
        self
    }

    /// Puts the ticks of the x axis at these values; ticks whose labels would touch others are left out.
    pub fn x_ticks(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.x_ticks = values.into_iter().collect();
        self
    }

    /// Fixes the ends of the y axis.
    pub fn y_range(mut self, low: f64, high: f64) -> Self {
        self.y_range = Some((low, high));
        self
    }

    /// Sets the width and height of the plot in pixels, without what is around it: letters and lines of a small one are larger
    /// beside it.
    ///
    /// ```
    /// use stencil_runtime::plot::LinePlot;
    /// let (small, usual) = (LinePlot::new().plot_size(300, 200).scene()?, LinePlot::new().scene()?);
    /// assert!(2.0 * small.size().0 < usual.size().0);
    /// # Ok::<(), stencil_runtime::plot::PlotError>(())
    /// ```
    pub fn plot_size(mut self, width: u16, height: u16) -> Self {
        self.plot_size = Some((width, height));
        self
    }

    /// Puts the legend beside the plot even if it has a free corner, so that all pictures of a film have one size.
    pub fn legend_beside(mut self) -> Self {
        self.has_legend_beside = true;
        self
    }

    /// Adds a curve.
    pub fn series(mut self, name: impl Into<String>, xs: &[f64], ys: &[f64], style: Style) -> Self {
        let (xs, ys) = (xs.to_vec(), ys.to_vec());
        self.series.push(Series { name: name.into(), xs, ys, style, color: None });
        self
    }

    /// Writes the picture in the format that the ending of the path names: `.png`, `.svg` or `.pdf`.
    ///
    /// # Errors
    /// If the ending is none of these, a curve's x and y differ in length, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        Format::of(path.as_ref())?;
        self.scene()?.save_as(path)
    }

    /// Returns the picture as a drawing, for a [`super::Film`].
    ///
    /// # Errors
    /// If a curve's x and y differ in length.
    pub fn scene(&self) -> Result<Scene, PlotError> {
        Ok(self.draw()?.0)
    }

    fn draw(&self) -> Result<(Scene, Rect), PlotError> {
        if let Some(s) = self.series.iter().find(|s| s.xs.len() != s.ys.len()) {
            let (xs, ys) = (s.xs.len(), s.ys.len());
            return Err(PlotError::Lengths { name: s.name.clone(), xs, ys });
        }
        let fonts = Fonts::new();
        let (x, y, has_values) = self.axes(&fonts);
        let left = MARGIN + y.room_beside(&fonts);
        let top = MARGIN + axes::heading_room(&self.title, &self.subtitle);
        let (w, h) = self.plot();
        let plot = Rect { x: left, y: top, w, h };
        let curves: Vec<_> =
            self.series.iter().map(|s| (s.style, self.runs(s, &x, &y, plot))).collect();
        let legend = self.legend(&fonts);
        let place = legend.as_ref().map(|legend| {
            let mut seen = Vec::new();
            for (style, runs) in &curves {
                runs.iter().for_each(|run| trace(run, *style, &mut seen));
            }
            match self.has_legend_beside {
                true => legend.beside(plot),
                false => legend.place(plot, &seen),
            }
        });
        let (right, low) = place.map_or((0, 0), |r| (r.right(), r.bottom()));
        // The last x label is centred on the plot's edge.
        let width = right.max(plot.right() + 12) + MARGIN;
        let height = low.max(plot.bottom() + x.room_below()) + MARGIN;
        let mut scene = Scene::new(width as f32, height as f32);
        scene.run.clone_from(&self.run);
        x.grid(&mut scene, plot, true);
        y.grid(&mut scene, plot, false);
        scene.frame(plot, FRAME, Color::INK);
        x.draw_below(&mut scene, &fonts, plot);
        y.draw_left(&mut scene, &fonts, plot);
        axes::heading(&mut scene, &fonts, plot, (&self.title, &self.subtitle), plot.w);
        if !has_values {
            axes::no_data(&mut scene, &fonts, plot);
        }
        for (i, (style, runs)) in curves.iter().enumerate() {
            for run in runs {
                draw_run(&mut scene, run, *style, self.color(i), plot);
            }
        }
        if let (Some(legend), Some(place)) = (legend, place) {
            self.draw_legend(&mut scene, &legend, place);
        }
        Ok((scene, plot))
    }

    /// Returns the width and height of the plot.
    fn plot(&self) -> (i32, i32) {
        self.plot_size.map_or(PLOT, |(w, h)| (i32::from(w).max(1), i32::from(h).max(1)))
    }

    fn color(&self, index: usize) -> Color {
        let given = self.series.get(index).and_then(|s| s.color);
        given.unwrap_or(Color::PALETTE[index % Color::PALETTE.len()])
    }

    /// Returns both axes, and whether any point can be shown.
    fn axes(&self, fonts: &Fonts) -> (Axis, Axis, bool) {
        let shown = || {
            let pairs = self.series.iter().flat_map(|s| s.xs.iter().zip(&s.ys));
            let pairs = pairs.map(|(&x, &y)| (scale(x, self.x_log), scale(y, self.y_log)));
            pairs.filter(|(x, y)| x.is_finite() && y.is_finite())
        };
        let (xs, ys) =
            (axes::finite_range(shown().map(|p| p.0)), axes::finite_range(shown().map(|p| p.1)));
        let dots = self.series.iter().any(|s| s.style.dots());
        // Dots at the ends need room; a line may run into the frame.
        let x_room = if dots { 0.04 } else { 0.0 };
        let x = ends(self.x_range, xs, self.x_log, x_room);
        let y = ends(self.y_range, ys, self.y_log, 0.06);
        let (w, h) = self.plot();
        let mut x = Axis::horizontal(fonts, x, self.x_log, w, &self.x_label);
        if !self.x_ticks.is_empty() {
            let at = |&value: &f64| (scale(value, self.x_log), value);
            x.set_ticks(fonts, w, self.x_ticks.iter().map(at));
        }
        let y = Axis::vertical(y, self.y_log, h, &self.y_label);
        (x, y, xs.is_some())
    }

    /// Returns the pieces of a curve between its gaps, in pixels.
    fn runs(&self, series: &Series, x: &Axis, y: &Axis, plot: Rect) -> Vec<Vec<(f32, f32)>> {
        let pairs: Vec<_> = series
            .xs
            .iter()
            .zip(&series.ys)
            .map(|(&a, &b)| (x.x(plot, scale(a, self.x_log)), y.y(plot, scale(b, self.y_log))))
            .collect();
        pairs
            .split(|p| !(p.0.is_finite() && p.1.is_finite()))
            .filter(|run| !run.is_empty())
            .map(<[_]>::to_vec)
            .collect()
    }

    /// Returns the curves that have names.
    fn listed(&self) -> Vec<usize> {
        let named = |i: &usize| !self.series[*i].name.is_empty();
        (0..self.series.len()).filter(named).collect()
    }

    fn legend(&self, fonts: &Fonts) -> Option<Legend<'_>> {
        let names = self.listed().into_iter();
        let names: Vec<&str> = names.map(|i| self.series[i].name.as_str()).collect();
        (!names.is_empty()).then(|| Legend::new(names, fonts))
    }

    fn draw_legend(&self, scene: &mut Scene, legend: &Legend<'_>, place: Rect) {
        let listed = self.listed();
        legend.draw(scene, place, |scene, row, line| {
            let (style, color) = (self.series[listed[row]].style, self.color(listed[row]));
            if style.line() {
                scene.polyline(&line, pen(color, LINE, style.dash()), place);
            }
            if style.dots() {
                let middle = ((line[0].0 + line[1].0) / 2.0, line[0].1);
                style.dot(scene, middle, color);
            }
        });
    }
}

/// Returns a value on its axis. Values that are not positive have no logarithm and no place.
fn scale(value: f64, log: bool) -> f64 {
    match log {
        true if value > 0.0 => value.log10(),
        true => f64::NAN,
        false => value,
    }
}

/// Returns the ends of an axis.
fn ends(given: Option<(f64, f64)>, found: Option<(f64, f64)>, log: bool, room: f64) -> (f64, f64) {
    if let Some((low, high)) = given {
        let (low, high) = (scale(low, log), scale(high, log));
        if low < high && (high - low).is_finite() {
            return (low, high);
        }
    }
    let Some((low, high)) = found else {
        return (0.0, 1.0);
    };
    let (low, high) = match log {
        true if high - low < 1e-9 => (low - 0.5, high + 0.5),
        true => (low, high),
        false => axes::widened(low, high),
    };
    let room = room * (high - low);
    (low - room, high + room)
}

fn draw_run(scene: &mut Scene, run: &[(f32, f32)], style: Style, color: Color, plot: Rect) {
    if style.line() {
        scene.polyline(run, pen(color, LINE, style.dash()), plot);
    }
    // A lone point makes no line but must be seen.
    if style.dots() || run.len() == 1 {
        let area = plot.grown(1);
        for &(x, y) in run {
            let inside = x >= area.x as f32
                && x <= area.right() as f32
                && y >= area.y as f32
                && y <= area.bottom() as f32;
            if inside && style.dots() {
                style.dot(scene, (x, y), color);
            } else if inside {
                scene.disc((x, y), LINE / 2.0, color);
            }
        }
    }
}

/// Adds points along a curve, so that the legend can keep clear of it.
fn trace(run: &[(f32, f32)], style: Style, seen: &mut Vec<(f32, f32)>) {
    seen.extend(run.first());
    for pair in run.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let length = (b.0 - a.0).abs().max((b.1 - a.1).abs());
        let pieces = if style.line() { (length / 8.0).clamp(1.0, 500.0) as i32 } else { 1 };
        seen.extend((1..=pieces).map(|i| {
            let f = i as f32 / pieces as f32;
            (a.0 + f * (b.0 - a.0), a.1 + f * (b.1 - a.1))
        }));
    }
}

#[cfg(test)]
mod tests;
