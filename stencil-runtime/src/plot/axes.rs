//! Axes: the frame, ticks, labels and headings around a plot.

use super::canvas::Rect;
use super::color::Color;
use super::scene::{Scene, Stroke};
use super::text::{Align, Fonts, MIDDLE, Style, Weight};
use super::ticks::{self, Tick};

pub(super) const TICK_TEXT: Style = Style::new(19.0, Weight::Regular, Color::INK);
pub(super) const LABEL: Style = Style::new(21.0, Weight::Regular, Color::INK);
pub(super) const TITLE: Style = Style::new(26.0, Weight::Bold, Color::INK);
pub(super) const SUBTITLE: Style = Style::new(19.0, Weight::Regular, Color::FAINT);
pub(super) const SUPER_TITLE: Style = Style::new(32.0, Weight::Bold, Color::INK);
pub(super) const FRAME: i32 = 2;
const TICK: i32 = 8;
const GAP: i32 = 7;
/// From the tick labels to the axis label.
const LABEL_GAP: i32 = 13;

/// An axis; on a logarithmic one all numbers are powers of ten.
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<Tick>,
    pub(super) minor: Vec<f64>,
    pub(super) label: String,
}

impl Axis {
    /// Makes a horizontal axis, with so many ticks that their labels do not touch.
    pub(super) fn horizontal(
        fonts: &Fonts,
        (low, high): (f64, f64),
        log: bool,
        length: i32,
        label: &str,
    ) -> Self {
        let mut count = (length / 75).clamp(2, 9) as usize;
        loop {
            let axis = Self::new((low, high), log, count, label);
            let widest = axis.widest(fonts) + 18.0;
            if count == 1 || widest * axis.ticks.len() as f32 <= length as f32 + widest {
                return axis;
            }
            count -= 1;
        }
    }

    /// Makes a vertical axis.
    pub(super) fn vertical(range: (f64, f64), log: bool, length: i32, label: &str) -> Self {
        Self::new(range, log, (length / 68).clamp(2, 9) as usize, label)
    }

    fn new((low, high): (f64, f64), log: bool, count: usize, label: &str) -> Self {
        let (mut ticks, minor) = if log {
            (ticks::logarithmic(low, high, count), ticks::minor_logarithmic(low, high))
        } else {
            (ticks::linear(low, high, count), Vec::new())
        };
        if log && ticks.len() > count + 2 {
            ticks.retain(|t| t.value.fract() == 0.0);
        }
        Self { low, high, ticks, minor, label: label.into() }
    }

    /// Puts ticks at given places of the axis, labelled with numbers. Ticks outside are left out, and so are ticks
    /// whose label would touch the one before.
    pub(super) fn set_ticks(
        &mut self,
        fonts: &Fonts,
        length: i32,
        at: impl Iterator<Item = (f64, f64)>,
    ) {
        let mut at: Vec<_> = at.filter(|t| t.0 >= self.low && t.0 <= self.high).collect();
        at.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = f32::NEG_INFINITY;
        let mut ticks = Vec::new();
        for (value, number) in at {
            let label = number.to_string();
            let (x, width) = (self.place(value) * length as f32, fonts.width(&label, TICK_TEXT));
            if x - width / 2.0 > free {
                free = x + width / 2.0 + 10.0;
                ticks.push(Tick { value, label });
            }
        }
        (self.ticks, self.minor) = (ticks, Vec::new());
    }

    /// Returns the place of a value on the axis, 0 to 1.
    pub(super) fn place(&self, value: f64) -> f32 {
        ((value - self.low) / (self.high - self.low)) as f32
    }

    pub(super) fn x(&self, plot: Rect, value: f64) -> f32 {
        plot.x as f32 + self.place(value) * plot.w as f32
    }

    pub(super) fn y(&self, plot: Rect, value: f64) -> f32 {
        plot.bottom() as f32 - self.place(value) * plot.h as f32
    }

    fn widest(&self, fonts: &Fonts) -> f32 {
        self.ticks.iter().map(|t| fonts.width(&t.label, TICK_TEXT)).fold(0.0, f32::max)
    }

    /// Returns the room that a vertical axis needs beside the plot.
    pub(super) fn room_beside(&self, fonts: &Fonts) -> i32 {
        let label = if self.label.is_empty() { 0 } else { LABEL_GAP + LABEL.size as i32 };
        FRAME + TICK + GAP + self.widest(fonts).ceil() as i32 + label
    }

    /// Returns the room that a horizontal axis needs below the plot.
    pub(super) fn room_below(&self) -> i32 {
        let label = if self.label.is_empty() { 0 } else { LABEL_GAP + LABEL.size as i32 };
        FRAME + TICK + GAP + TICK_TEXT.size as i32 + label
    }

    pub(super) fn draw_below(&self, scene: &mut Scene, fonts: &Fonts, plot: Rect) {
        let top = plot.bottom() + FRAME;
        let mark = |scene: &mut Scene, value: f64, length: i32| {
            let x = self.x(plot, value).round() as i32 - FRAME / 2;
            scene.fill(Rect { x, y: top, w: FRAME, h: length }, Color::INK);
        };
        for &value in &self.minor {
            mark(scene, value, TICK / 2);
        }
        let baseline = top + TICK + GAP + (TICK_TEXT.size * 2.0 * MIDDLE) as i32;
        for tick in &self.ticks {
            mark(scene, tick.value, TICK);
            let at = (self.x(plot, tick.value), baseline as f32);
            scene.write(&tick.label, at, Align::Center, TICK_TEXT);
        }
        let at = (centre(plot).0, baseline as f32 + LABEL_GAP as f32 + LABEL.size * 0.9);
        let (text, style) = fonts.fit(&self.label, LABEL, plot.w as f32 * 1.2);
        scene.write(&text, at, Align::Center, style);
    }

    pub(super) fn draw_left(&self, scene: &mut Scene, fonts: &Fonts, plot: Rect) {
        let right = plot.x - FRAME;
        for &value in &self.minor {
            let y = self.y(plot, value).round() as i32 - FRAME / 2;
            scene.fill(Rect { x: right - TICK / 2, y, w: TICK / 2, h: FRAME }, Color::INK);
        }
        for tick in &self.ticks {
            let y = self.y(plot, tick.value);
            let mark = Rect { x: right - TICK, y: y.round() as i32 - FRAME / 2, w: TICK, h: FRAME };
            scene.fill(mark, Color::INK);
            let at = ((mark.x - GAP) as f32, y + TICK_TEXT.size * MIDDLE);
            scene.write(&tick.label, at, Align::Right, TICK_TEXT);
        }
        // Descenders of the turned label face the plot.
        let x =
            right as f32 - (TICK + GAP + LABEL_GAP) as f32 - self.widest(fonts) + LABEL.size * 0.1;
        let (text, style) = fonts.fit(&self.label, LABEL, plot.h as f32 * 1.2);
        scene.write_up(&text, (x, centre(plot).1), Align::Center, style);
    }

    pub(super) fn draw_right(&self, scene: &mut Scene, fonts: &Fonts, plot: Rect) {
        let left = plot.right() + FRAME;
        for tick in &self.ticks {
            let y = self.y(plot, tick.value);
            let mark = Rect { x: left, y: y.round() as i32 - FRAME / 2, w: TICK, h: FRAME };
            scene.fill(mark, Color::INK);
            let at = ((mark.right() + GAP) as f32, y + TICK_TEXT.size * MIDDLE);
            scene.write(&tick.label, at, Align::Left, TICK_TEXT);
        }
        let x =
            left as f32 + (TICK + GAP + LABEL_GAP) as f32 + self.widest(fonts) + LABEL.size * 0.75;
        let (text, style) = fonts.fit(&self.label, LABEL, plot.h as f32 * 1.2);
        scene.write_up(&text, (x, centre(plot).1), Align::Center, style);
    }

    /// Draws grid lines at the ticks.
    pub(super) fn grid(&self, scene: &mut Scene, plot: Rect, vertical: bool) {
        for tick in &self.ticks {
            let line = if vertical {
                Rect { x: self.x(plot, tick.value).round() as i32 - 1, w: 2, ..plot }
            } else {
                Rect { y: self.y(plot, tick.value).round() as i32 - 1, h: 2, ..plot }
            };
            scene.fill(line, Color::GRID);
        }
    }
}

fn centre(plot: Rect) -> (f32, f32) {
    (plot.x as f32 + plot.w as f32 / 2.0, plot.y as f32 + plot.h as f32 / 2.0)
}

/// Returns the room that title and subtitle need above the plot.
pub(super) fn heading_room(title: &str, subtitle: &str) -> i32 {
    let title = if title.is_empty() { 0 } else { 34 };
    let subtitle = if subtitle.is_empty() { 0 } else { 28 };
    if title + subtitle == 0 { FRAME + 8 } else { title + subtitle + 14 }
}

/// Draws title and subtitle above the plot, from its left edge, in `width` at most.
pub(super) fn heading(
    scene: &mut Scene,
    fonts: &Fonts,
    plot: Rect,
    (title, subtitle): (&str, &str),
    width: i32,
) {
    let mut baseline = plot.y as f32 - 20.0;
    let x = (plot.x - FRAME) as f32;
    if !subtitle.is_empty() {
        let (text, style) = fonts.fit(subtitle, SUBTITLE, width as f32);
        scene.write(&text, (x, baseline), Align::Left, style);
        baseline -= 31.0;
    }
    let (text, style) = fonts.fit(title, TITLE, width as f32);
    scene.write(&text, (x, baseline), Align::Left, style);
}

/// Writes in the middle of the plot that there are no data.
pub(super) fn no_data(scene: &mut Scene, fonts: &Fonts, plot: Rect) {
    let (x, y) = centre(plot);
    let (text, style) = fonts.fit("no finite values", LABEL, plot.w as f32 - 16.0);
    scene.write(&text, (x, y + LABEL.size * MIDDLE), Align::Center, style);
}

/// Returns a range that has a length: constant data get one around their value.
pub(super) fn widened(low: f64, high: f64) -> (f64, f64) {
    // Beyond this, differences overflow.
    let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size && high - low > 1e-300 {
        return (low, high);
    }
    let middle = low / 2.0 + high / 2.0;
    let half = if size > 1e-290 { size / 2.0 } else { 1.0 };
    (middle - half, middle + half)
}

/// Returns the smallest and largest finite value.
pub(super) fn finite_range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| v.is_finite()).fold(None, |range, v| match range {
        None => Some((v, v)),
        Some((low, high)) => Some((v.min(low), v.max(high))),
    })
}

pub(super) fn pen(color: Color, width: f32, dash: Option<(f32, f32)>) -> Stroke {
    Stroke { color, width, dash }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_data_get_a_range() {
        assert_eq!(widened(2.0, 2.0), (1.0, 3.0));
        assert_eq!(widened(0.0, 0.0), (-1.0, 1.0));
        assert_eq!(widened(1.0, 2.0), (1.0, 2.0));
        let (low, high) = widened(-f64::MAX, f64::MAX);
        assert!((high - low).is_finite());
    }

    #[test]
    fn wide_labels_thin_out_the_ticks() {
        let fonts = Fonts::new();
        let axis = Axis::horizontal(&fonts, (1.0, 1.00001), false, 300, "x");
        let widest = axis.widest(&fonts);
        let gap = axis.x(Rect { x: 0, y: 0, w: 300, h: 1 }, axis.ticks[1].value)
            - axis.x(Rect { x: 0, y: 0, w: 300, h: 1 }, axis.ticks[0].value);
        assert!(gap > widest, "{gap} {widest}");
    }

    #[test]
    fn the_y_axis_points_up() {
        let axis = Axis::vertical((0.0, 10.0), false, 100, "");
        let plot = Rect { x: 10, y: 20, w: 50, h: 100 };
        assert_eq!(axis.y(plot, 0.0), 120.0);
        assert_eq!(axis.y(plot, 10.0), 20.0);
        assert_eq!(axis.x(plot, 5.0), 35.0);
    }
}
