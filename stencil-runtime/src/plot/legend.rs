//! The legend of a line plot.

use super::axes::TICK_TEXT;
use super::canvas::Rect;
use super::color::Color;
use super::scene::Scene;
use super::text::{Align, Fonts, MIDDLE};

const ROW: i32 = 30;
const PADDING: i32 = 14;
/// The width of a line's sample.
const SAMPLE: i32 = 46;
const INSET: i32 = 16;

pub(super) struct Legend<'a> {
    names: Vec<&'a str>,
    size: (i32, i32),
}

impl<'a> Legend<'a> {
    pub(super) fn new(names: Vec<&'a str>, fonts: &Fonts) -> Self {
        let widest = names.iter().map(|n| fonts.width(n, TICK_TEXT)).fold(0.0, f32::max);
        let w = PADDING + SAMPLE + 12 + widest.ceil() as i32 + PADDING;
        let size = (w, ROW * names.len() as i32 + PADDING);
        Self { names, size }
    }

    /// Returns a corner of the plot that contains none of `points`; a place beside the plot if there is none.
    pub(super) fn place(&self, plot: Rect, points: &[(f32, f32)]) -> Rect {
        let (w, h) = self.size;
        let (left, right) = (plot.x + INSET, plot.right() - INSET - w);
        let (top, bottom) = (plot.y + INSET, plot.bottom() - INSET - h);
        let covers = |r: &Rect| {
            let r = r.grown(6);
            points.iter().any(|p| {
                p.0 > r.x as f32
                    && p.0 < r.right() as f32
                    && p.1 > r.y as f32
                    && p.1 < r.bottom() as f32
            })
        };
        let corners = [(right, top), (left, top), (right, bottom), (left, bottom)];
        let rects = corners.map(|(x, y)| Rect { x, y, w, h });
        let free = rects.into_iter().find(|r| !covers(r));
        free.filter(|_| h + 2 * INSET <= plot.h).unwrap_or(self.beside(plot))
    }

    /// Returns a place beside the plot.
    pub(super) fn beside(&self, plot: Rect) -> Rect {
        let (w, h) = self.size;
        Rect { x: plot.right() + INSET, y: plot.y, w, h }
    }

    /// Draws box and names; `sample` draws the sample of the series of that number, on the line
    /// between two points.
    pub(super) fn draw(
        &self,
        scene: &mut Scene,
        at: Rect,
        mut sample: impl FnMut(&mut Scene, usize, [(f32, f32); 2]),
    ) {
        scene.veil(at, Color::WHITE, 0.9);
        scene.frame(at, 1, Color(205, 208, 213));
        for (i, name) in self.names.iter().enumerate() {
            let y = (at.y + PADDING / 2 + ROW * i as i32 + ROW / 2) as f32;
            let x = (at.x + PADDING) as f32;
            sample(scene, i, [(x, y), (x + SAMPLE as f32, y)]);
            let text = (x + SAMPLE as f32 + 12.0, y + TICK_TEXT.size * MIDDLE);
            scene.write(name, text, Align::Left, TICK_TEXT);
        }
    }
}
