//! Heat maps side by side: layout and drawing.

use std::path::Path;

use super::axes::{self, Axis, FRAME, SUPER_TITLE};
use super::bar;
use super::canvas::Rect;
use super::color::Color;
use super::heatmap::{Heatmap, Sampling};
use super::sample;
use super::scene::Scene;
use super::text::{Align, Fonts};
use super::{Format, PlotError};

const MARGIN: i32 = 30;
/// Between two panels.
const PANEL_GAP: i32 = 44;

/// Several heat maps in one picture, row by row.
///
/// ```
/// use ndarray::Array2;
/// use stencil_runtime::plot::{Heatmap, Panels};
///
/// let (rho, speed) = (Array2::<f64>::ones((16, 16)), Array2::<f64>::zeros((16, 16)));
/// let extent = [0.0, 1.0, 0.0, 1.0];
/// let path = std::env::temp_dir().join(format!("panels-doc-{}.png", std::process::id()));
/// Panels::new([
///     Heatmap::new(rho.view(), extent).title("density"),
///     Heatmap::new(speed.view(), extent).title("speed"),
/// ])
/// .title("Orszag–Tang vortex at t = 0.3")
/// .save(&path)?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), stencil_runtime::plot::PlotError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Panels<'a> {
    /// The common title.
    pub title: String,
    /// The heat maps, row by row.
    pub panels: Vec<Heatmap<'a>>,
    /// Panels to a row.
    pub columns: usize,
    /// The name of the run that is shown, which a PNG carries.
    pub run: Option<String>,
}

impl<'a> Panels<'a> {
    /// Makes a picture with up to three panels in one row; more in rows of up to three.
    pub fn new(panels: impl IntoIterator<Item = Heatmap<'a>>) -> Self {
        let panels: Vec<_> = panels.into_iter().collect();
        let columns = match panels.len() {
            n @ 0..=3 => n.max(1),
            4 => 2,
            _ => 3,
        };
        Self { title: String::new(), panels, columns, run: None }
    }

    /// Sets the common title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the name of the run that is shown: a PNG has it as the text `Run` in a chunk `iTXt`.
    pub fn run(mut self, name: Option<String>) -> Self {
        self.run = name;
        self
    }

    /// Sets the number of panels to a row.
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns.max(1);
        self
    }

    /// Writes the picture in the format that the ending of the path names: `.png`, `.svg` or `.pdf`.
    ///
    /// # Errors
    /// If the ending is none of these, a heat map's extent or range is empty, there is no panel, or the file cannot be
    /// written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        Format::of(path.as_ref())?;
        self.scene()?.save_as(path)
    }

    /// Returns the picture as a drawing, for a [`super::Film`].
    ///
    /// # Errors
    /// If a heat map's extent or range is empty, or there is no panel.
    pub fn scene(&self) -> Result<Scene, PlotError> {
        Ok(self.draw()?.0)
    }

    /// Draws the picture; returns the places of the plots in it, too.
    pub(super) fn draw(&self) -> Result<(Scene, Vec<Rect>), PlotError> {
        if self.panels.is_empty() {
            return Err(PlotError::NoPanels);
        }
        let fonts = Fonts::new();
        let drawn: Result<Vec<_>, _> = self.panels.iter().map(|p| Drawn::new(p, &fonts)).collect();
        let drawn = drawn?;
        let head = if self.title.is_empty() { 0 } else { 58 };
        let (places, (width, height)) = arrange(&drawn, self.columns.max(1), head);
        let mut scene = Scene::new(width as f32, height as f32);
        scene.run.clone_from(&self.run);
        if let Some(first) = places.first().filter(|_| head > 0) {
            let room = (width - first.x - MARGIN) as f32;
            let (text, style) = fonts.fit(&self.title, SUPER_TITLE, room);
            let at = ((first.x - FRAME) as f32, (MARGIN + 30) as f32);
            scene.write(&text, at, Align::Left, style);
        }
        for (panel, place) in drawn.iter().zip(&places) {
            panel.draw(&mut scene, &fonts, *place);
        }
        Ok((scene, places))
    }
}

/// Returns the plots' places, and the picture's size.
fn arrange(drawn: &[Drawn<'_, '_>], columns: usize, head: i32) -> (Vec<Rect>, (i32, i32)) {
    let columns = columns.min(drawn.len());
    let (mut lefts, mut widths) = (vec![0; columns], vec![0; columns]);
    for (i, d) in drawn.iter().enumerate() {
        let c = i % columns;
        lefts[c] = lefts[c].max(d.left);
        widths[c] = widths[c].max(d.plot.0 + d.right);
    }
    let mut places = Vec::new();
    let (mut y, mut right) = (MARGIN + head, 0);
    for row in drawn.chunks(columns) {
        let top = row.iter().map(|d| d.top).max().unwrap_or(0);
        let rest = row.iter().map(|d| d.plot.1 + d.bottom).max().unwrap_or(0);
        let mut x = MARGIN;
        for (c, d) in row.iter().enumerate() {
            x += lefts[c];
            places.push(Rect { x, y: y + top, w: d.plot.0, h: d.plot.1 });
            x += widths[c] + PANEL_GAP;
        }
        right = right.max(x - PANEL_GAP);
        y += top + rest + PANEL_GAP;
    }
    (places, (right + MARGIN, y - PANEL_GAP + MARGIN))
}

/// A heat map with everything measured.
struct Drawn<'m, 'a> {
    map: &'m Heatmap<'a>,
    x: Axis,
    y: Axis,
    bar: Axis,
    plot: (i32, i32),
    has_values: bool,
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl<'m, 'a> Drawn<'m, 'a> {
    fn new(map: &'m Heatmap<'a>, fonts: &Fonts) -> Result<Self, PlotError> {
        map.check()?;
        let [x0, x1, y0, y1] = map.extent;
        let (w, h) = map.size();
        let (range, has_values) = map.color_range();
        let x = Axis::horizontal(fonts, (x0, x1), false, w, &map.x_label);
        let y = Axis::vertical((y0, y1), false, h, &map.y_label);
        let bar = Axis::vertical(range, map.log, h, &map.color_label);
        Ok(Self {
            map,
            plot: (w, h),
            has_values,
            left: y.room_beside(fonts),
            right: bar::room(fonts, &bar),
            top: axes::heading_room(&map.title, &map.subtitle),
            bottom: x.room_below(),
            x,
            y,
            bar,
        })
    }

    fn draw(&self, scene: &mut Scene, fonts: &Fonts, plot: Rect) {
        self.draw_cells(scene, plot);
        scene.frame(plot, FRAME, Color::INK);
        self.x.draw_below(scene, fonts, plot);
        self.y.draw_left(scene, fonts, plot);
        let titles = (self.map.title.as_str(), self.map.subtitle.as_str());
        axes::heading(scene, fonts, plot, titles, plot.w + self.right);
        if !self.has_values {
            axes::no_data(scene, fonts, plot);
        }
        bar::draw(scene, fonts, plot, self.map.map, &self.bar);
    }

    fn draw_cells(&self, scene: &mut Scene, plot: Rect) {
        let (ny, nx) = self.map.data.dim();
        let weights = match self.map.sampling {
            Sampling::Smooth => sample::smooth,
            Sampling::Nearest => sample::nearest,
        };
        let (rows, columns) = (weights(ny, plot.h as usize), weights(nx, plot.w as usize));
        let mut pixels = Vec::with_capacity(rows.len() * columns.len());
        for rows in rows.iter().rev() {
            for columns in &columns {
                let value = sample::value(&self.map.data, rows, columns);
                let scaled = value.and_then(|v| match self.map.log {
                    true => (v > 0.0).then(|| v.log10()),
                    false => Some(v),
                });
                let place = scaled.map(|v| (v - self.bar.low) / (self.bar.high - self.bar.low));
                pixels.push(place.map_or(Color::MISSING, |p| self.map.map.at(p)));
            }
        }
        scene.image(plot, pixels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    const UNIT: [f64; 4] = [0.0, 1.0, 0.0, 1.0];

    #[test]
    fn panels_do_not_overlap() {
        let data = Array2::<f64>::zeros((4, 4));
        let maps: Vec<_> = (0..5).map(|_| Heatmap::new(data.view(), UNIT).title("a")).collect();
        let fonts = Fonts::new();
        let drawn: Vec<_> = maps.iter().map(|m| Drawn::new(m, &fonts).unwrap()).collect();
        let (places, (width, height)) = arrange(&drawn, 2, 58);
        let full = |i: usize| {
            let (p, d): (Rect, &Drawn<'_, '_>) = (places[i], &drawn[i]);
            (p.x - d.left, p.right() + d.right, p.y - d.top, p.bottom() + d.bottom)
        };
        for i in 0..5 {
            let a = full(i);
            assert!(a.0 >= MARGIN && a.1 <= width - MARGIN, "{a:?} {width}");
            assert!(a.2 >= MARGIN && a.3 <= height - MARGIN, "{a:?} {height}");
            for b in (0..i).map(full) {
                assert!(a.0 >= b.1 || b.0 >= a.1 || a.2 >= b.3 || b.2 >= a.3);
            }
        }
    }
}
