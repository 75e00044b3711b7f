//! Bars beside each other, the longest one as wide as the picture.

use stencil_runtime::plot::{Anchor, Color, Lettering, Scene, Stroke};

use super::{MARGIN, faint, fitted, heading};

/// The height of a bar with the gap to the next one, and without.
const ROW: (f32, f32) = (34.0, 22.0);

/// The most room for the labels before the bars.
const LABELS: f32 = 640.0;

/// Room for the title.
const TOP: f32 = 108.0;

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// The text before it.
    pub(crate) label: String,
    /// Its length.
    pub(crate) value: f64,
    /// The text behind it.
    pub(crate) words: String,
    /// Its colour, by the palette.
    pub(crate) color: usize,
}

/// A picture of bars, from the top.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) bars: Vec<Bar>,
}

impl Bars {
    /// Draws it.
    pub(crate) fn draw(&self) -> Scene {
        let height = TOP + ROW.0 * self.bars.len() as f32 + MARGIN;
        let mut scene = Scene::new(1400.0, height);
        heading(&mut scene, &self.title, &self.subtitle);
        let labels = self.bars.iter().map(|bar| Lettering::new(17.0).width(&bar.label));
        let left = MARGIN + (labels.fold(0.0, f32::max) + 14.0).min(LABELS);
        let words = self.bars.iter().map(|bar| faint(17.0).width(&bar.words));
        let behind = words.fold(0.0, f32::max) + 10.0 + MARGIN;
        let width = scene.size().0 - left - behind;
        let longest = self.bars.iter().map(|bar| bar.value);
        let longest = longest.filter(|v| v.is_finite()).fold(0.0, f64::max);
        for (at, bar) in self.bars.iter().enumerate() {
            let y = TOP + ROW.0 * at as f32;
            let middle = y + ROW.1 / 2.0;
            let letters = Lettering { anchor: Anchor::End, ..Lettering::new(17.0) };
            let label = fitted(&bar.label, letters, left - MARGIN - 13.0);
            scene.text((left - 14.0, middle), label, letters);
            let share = if longest > 0.0 { bar.value / longest } else { 0.0 };
            // A bar that is there is seen.
            let long = (width * share.clamp(0.0, 1.0) as f32).max(1.5);
            let color = Color::PALETTE[bar.color % Color::PALETTE.len()];
            scene.rect([left, y, long, ROW.1], Some(color), None);
            scene.text((left + long + 10.0, middle), bar.words.as_str(), faint(17.0));
        }
        let bottom = TOP + ROW.0 * self.bars.len() as f32 - (ROW.0 - ROW.1);
        let axis = [(left, TOP - 8.0), (left, bottom + 8.0)];
        scene.line(&axis, Stroke::new(Color::INK, 2.0));
        scene
    }
}
