//! Pictures of a shot: a heat map, a line through it, and its spectrum.

use ndarray::Axis as Dimension;
use stencil_runtime::plot::{ColorMap, Heatmap, LinePlot, Panels, PlotError, Scene, Style};
use stencil_runtime::report::significant;
use stencil_runtime::spectrum::kinetic_energy;

use super::{CURVE, DIGITS, Shot};

/// The colours of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// The map; by the signs of the values if not given.
    pub map: Option<ColorMap>,
    /// Are colours, or values of curves, on a logarithmic scale?
    pub log: bool,
}

impl Look {
    /// Returns the map for values of a range.
    pub(super) fn map_of(self, range: Option<(f64, f64)>) -> ColorMap {
        match (self.map, range) {
            (Some(map), _) => map,
            (None, Some((low, high))) if !self.log => ColorMap::fitting(low, high),
            (None, _) => ColorMap::Sequential,
        }
    }

    /// Returns the part of the range, from 0 to 1, at which a value of a shot is.
    pub(super) fn places(self, shot: &Shot) -> impl Fn(f64) -> Option<f64> {
        let scale = move |value: f64| if self.log { value.log10() } else { value };
        let scaled = shot.finite().map(scale).filter(|value| value.is_finite());
        let range = scaled.map(|value| (value, value));
        let range = range.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (low, high) = match (range, self.map_of(shot.range())) {
            // As heat maps have it: symmetric about zero.
            (Some((low, high)), ColorMap::Diverging) if !self.log => {
                let most = low.abs().max(high.abs());
                (-most, most)
            }
            (range, _) => range.unwrap_or((0.0, 1.0)),
        };
        let length = if high > low { high - low } else { 1.0 };
        move |value| Some((scale(value) - low) / length).filter(|place| place.is_finite())
    }
}

impl Shot {
    /// Draws the plane, or the curve of a system with one axis.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        if self.is_curve {
            return self.line(0, 0, look).unwrap_or(Err(PlotError::NoPanels));
        }
        let [[x0, x1], [y0, y1]] = self.axes.each_ref().map(super::Line::ends);
        let mut map = Heatmap::new(self.values.view(), [x0, x1, y0, y1])
            .title(self.view.field.as_str())
            .subtitle(self.caption())
            .labels(self.axes[0].axis.name(), self.axes[1].axis.name())
            .color_label(self.label())
            .map(look.map_of(self.range()));
        if look.log {
            map = map.log();
        }
        Panels::new([map]).scene()
    }

    /// Draws the values along an axis of the picture (0 is the horizontal one) through a cell of the other; `None` if there is
    /// no such cell.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn line(&self, along: usize, at: usize, look: Look) -> Option<Result<Scene, PlotError>> {
        let (own, other) = (self.axes.get(along)?, &self.axes[1 - along]);
        // Values are [vertical, horizontal].
        if at >= self.cells()[1 - along] {
            return None;
        }
        let values = self.values.index_axis(Dimension(along), at).to_vec();
        let points: Vec<f64> = (0..values.len()).map(|cell| own.point(cell)).collect();
        let mut caption = self.caption();
        if !self.is_curve {
            let place = significant(other.point(at), DIGITS);
            caption.push_str(&format!(", {} = {place}", other.axis));
        }
        let plot = LinePlot::new().labels(own.axis.name(), self.label()).subtitle(caption);
        let plot = if self.is_curve { plot } else { plot.plot_size(CURVE.0, CURVE.1) };
        let plot = if look.log { plot.log_y() } else { plot };
        Some(plot.series("", &points, &values, Style::Line).scene())
    }

    /// Does the plane have a spectrum? Its axes are to be periodic and its values finite.
    pub fn has_spectrum(&self) -> bool {
        let lines = self.axes.iter().filter(|line| line.cells > 1);
        lines.clone().count() > 0
            && lines.clone().all(|line| line.is_periodic)
            && self.facts().is_finite
    }

    /// Draws half the square of the component on the plane by shells of wavenumbers, on logarithmic axes; `None` without a
    /// [spectrum](Self::has_spectrum).
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn spectrum(&self) -> Option<Result<Scene, PlotError>> {
        if !self.has_spectrum() {
            return None;
        }
        let values = self.values.view().insert_axis(Dimension(0));
        let [x, y] = self.axes.each_ref().map(|line| line.spacing);
        let spectrum = kinetic_energy(&[values], [x, y, 1.0]).ok()?;
        let caption = match self.is_curve {
            true => self.caption(),
            false => format!("{}, in this plane", self.caption()),
        };
        let label = format!("{}² / 2 in a shell", self.view.field);
        let plot = spectrum.plot(None).subtitle(caption).labels("wavenumber k", label);
        Some(plot.plot_size(CURVE.0, CURVE.1).scene())
    }
}
