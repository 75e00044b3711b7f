//! The colour bar beside a plot.

use super::axes::{Axis, FRAME};
use super::canvas::Rect;
use super::color::{Color, ColorMap};
use super::scene::Scene;
use super::text::Fonts;

/// From the plot to the bar.
pub(super) const GAP: i32 = 22;
const WIDTH: i32 = 22;

/// Returns the room that a bar with this axis needs beside the plot.
pub(super) fn room(fonts: &Fonts, axis: &Axis) -> i32 {
    GAP + WIDTH + axis.room_beside(fonts)
}

/// Draws a bar as high as the plot, on its right.
pub(super) fn draw(scene: &mut Scene, fonts: &Fonts, plot: Rect, map: ColorMap, axis: &Axis) {
    let bar = Rect { x: plot.right() + GAP, w: WIDTH, ..plot };
    let place = |row: i32| 1.0 - (f64::from(row) + 0.5) / f64::from(bar.h);
    let rows = (0..bar.h).map(|row| map.at(place(row)));
    let pixels = rows.flat_map(|color| std::iter::repeat_n(color, bar.w as usize));
    scene.image(bar, pixels.collect());
    scene.frame(bar, FRAME, Color::INK);
    axis.draw_right(scene, fonts, bar);
}
