//! Anti-aliased text in DejaVu Sans.

use ab_glyph::{Font as _, FontRef, Glyph, OutlineCurve, ScaleFont as _, point};

use super::canvas::Canvas;
use super::color::Color;
use super::scene::Point;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// The alignment of a text at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Center,
    Right,
}

impl Align {
    /// Returns the distance from the point to the text's left end.
    fn shift(self, width: f32) -> f32 {
        match self {
            Align::Left => 0.0,
            Align::Center => -width / 2.0,
            Align::Right => -width,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Pixels to the em.
    pub(super) size: f32,
    pub(super) weight: Weight,
    pub(super) color: Color,
}

impl Style {
    pub(super) const fn new(size: f32, weight: Weight, color: Color) -> Self {
        Self { size, weight, color }
    }
}

pub(super) struct Fonts {
    // `None` cannot happen with the built-in fonts; a picture without text beats a panic.
    regular: Option<FontRef<'static>>,
    bold: Option<FontRef<'static>>,
}

impl Fonts {
    pub(super) fn new() -> Self {
        Self {
            regular: FontRef::try_from_slice(dejavu::sans::regular()).ok(),
            bold: FontRef::try_from_slice(dejavu::sans::bold()).ok(),
        }
    }

    fn of(&self, weight: Weight) -> Option<&FontRef<'static>> {
        match weight {
            Weight::Regular => self.regular.as_ref(),
            Weight::Bold => self.bold.as_ref(),
        }
    }

    /// Returns the width of a text in pixels.
    pub(super) fn width(&self, text: &str, style: Style) -> f32 {
        self.layout(text, style).1
    }

    /// Returns the text in a size, at most the style's, in which it fits `width`; cut if even a size of 60 % does not
    /// fit.
    pub(super) fn fit(&self, text: &str, style: Style, width: f32) -> (String, Style) {
        let natural = self.width(text, style).max(1.0);
        let size = style.size * (width / natural).clamp(0.6, 1.0);
        let style = Style { size, ..style };
        let mut text = text.to_string();
        if self.width(&text, style) > width + 1.0 {
            while !text.is_empty() && self.width(&format!("{text}…"), style) > width {
                text.pop();
            }
            text = format!("{}…", text.trim_end());
        }
        (text, style)
    }

    /// Returns the glyphs on a baseline from the origin, and the width.
    fn layout(&self, text: &str, style: Style) -> (Vec<Glyph>, f32) {
        let Some(font) = self.of(style.weight) else {
            return (Vec::new(), 0.0);
        };
        let scale = font.pt_to_px_scale(style.size * 0.75).unwrap_or(style.size.into());
        let font = font.as_scaled(scale);
        let (mut x, mut last, mut glyphs) = (0.0, None, Vec::new());
        for c in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
            let id = font.glyph_id(c);
            x += last.map_or(0.0, |last| font.kern(last, id));
            glyphs.push(id.with_scale_and_position(scale, point(x, 0.0)));
            x += font.h_advance(id);
            last = Some(id);
        }
        (glyphs, x)
    }

    /// Draws with the baseline at `y`.
    pub(super) fn draw(
        &self,
        canvas: &mut Canvas,
        text: &str,
        (x, y): (f32, f32),
        align: Align,
        style: Style,
    ) {
        self.each_pixel(text, align, style, |dx, dy, coverage| {
            let at = (x.round() as i32 + dx, y.round() as i32 + dy);
            canvas.blend(at.0, at.1, style.color, coverage);
        });
    }

    /// Draws upwards, with the baseline at `x`; `align` is along the text.
    pub(super) fn draw_up(
        &self,
        canvas: &mut Canvas,
        text: &str,
        (x, y): (f32, f32),
        align: Align,
        style: Style,
    ) {
        self.each_pixel(text, align, style, |dx, dy, coverage| {
            let at = (x.round() as i32 + dy, y.round() as i32 - dx);
            canvas.blend(at.0, at.1, style.color, coverage);
        });
    }

    fn each_pixel(
        &self,
        text: &str,
        align: Align,
        style: Style,
        mut put: impl FnMut(i32, i32, f32),
    ) {
        let Some(font) = self.of(style.weight) else {
            return;
        };
        let (glyphs, width) = self.layout(text, style);
        let shift = align.shift(width);
        for mut glyph in glyphs {
            glyph.position.x += shift;
            let Some(outline) = font.outline_glyph(glyph) else {
                continue;
            };
            let bounds = outline.px_bounds();
            let (left, top) = (bounds.min.x as i32, bounds.min.y as i32);
            outline.draw(|x, y, coverage| put(left + x as i32, top + y as i32, coverage));
        }
    }
}

/// A piece of the outlines of letters, in pixels; `y` counts downwards. Outlines are closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece {
    /// A new outline begins.
    Start(Point),
    Line(Point),
    /// A parabola by its control point and its end.
    Quad(Point, Point),
    /// A cubic curve by its control points and its end.
    Cubic(Point, Point, Point),
}

impl Fonts {
    /// Returns the outlines of a text, from a baseline's origin that it is aligned to by `align`.
    pub(super) fn outlines(&self, text: &str, align: Align, style: Style) -> Vec<Piece> {
        let Some(font) = self.of(style.weight) else {
            return Vec::new();
        };
        let (glyphs, width) = self.layout(text, style);
        let shift = align.shift(width);
        let mut pieces = Vec::new();
        for glyph in glyphs {
            let Some(outline) = font.outline(glyph.id) else {
                continue;
            };
            let scaled = font.as_scaled(glyph.scale);
            let (wide, high) = (scaled.h_scale_factor(), scaled.v_scale_factor());
            let at = |p: ab_glyph::Point| (shift + glyph.position.x + p.x * wide, -p.y * high);
            let mut end = None;
            for curve in outline.curves {
                let (first, piece, last) = match curve {
                    OutlineCurve::Line(a, b) => (a, Piece::Line(at(b)), b),
                    OutlineCurve::Quad(a, b, c) => (a, Piece::Quad(at(b), at(c)), c),
                    OutlineCurve::Cubic(a, b, c, d) => (a, Piece::Cubic(at(b), at(c), at(d)), d),
                };
                if end != Some(first) {
                    pieces.push(Piece::Start(at(first)));
                }
                pieces.push(piece);
                end = Some(last);
            }
        }
        pieces
    }
}

/// Height of a digit's middle above the baseline, in ems: half of DejaVu's cap height.
pub(super) const MIDDLE: f32 = 0.365;

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style::new(20.0, Weight::Regular, Color(0, 0, 0));

    fn ink(c: &Canvas) -> (i32, i32, i32, i32) {
        let b = c.bounds();
        let dark = |&(x, y): &(i32, i32)| c.get(x, y).0 < 128;
        let all = || (0..b.w).flat_map(|x| (0..b.h).map(move |y| (x, y))).filter(dark);
        let min = |f: fn((i32, i32)) -> i32| all().map(f).min().unwrap();
        let max = |f: fn((i32, i32)) -> i32| all().map(f).max().unwrap();
        (min(|p| p.0), max(|p| p.0), min(|p| p.1), max(|p| p.1))
    }

    #[test]
    fn text_stands_on_its_baseline() {
        let fonts = Fonts::new();
        let mut c = Canvas::new(200, 60);
        fonts.draw(&mut c, "HHH", (100.0, 40.0), Align::Center, STYLE);
        let (x0, x1, y0, y1) = ink(&c);
        assert_eq!(y1, 39);
        // DejaVu's capitals are 0.729 em high.
        assert!((y0 - (40 - 15)).abs() <= 1, "{y0}");
        assert!((x0 + x1 - 199).abs() <= 2, "{x0} {x1}");
        assert!((x1 - x0) as f32 <= fonts.width("HHH", STYLE));
    }

    #[test]
    fn upward_text_is_turned_left() {
        let fonts = Fonts::new();
        let mut c = Canvas::new(60, 200);
        fonts.draw_up(&mut c, "HHH", (40.0, 190.0), Align::Left, STYLE);
        let (x0, x1, y0, y1) = ink(&c);
        assert_eq!(x1, 39);
        assert!(y1 <= 190 && y0 < 160 && x0 >= 24, "{x0} {x1} {y0} {y1}");
    }

    #[test]
    fn long_text_shrinks_then_is_cut() {
        let fonts = Fonts::new();
        let width = fonts.width("a title of some length", STYLE);
        let (text, style) = fonts.fit("a title of some length", STYLE, width * 0.8);
        assert_eq!(text, "a title of some length");
        assert!((style.size - 16.0).abs() < 0.1);
        let (text, style) = fonts.fit("a title of some length", STYLE, width * 0.3);
        assert!(text.ends_with('…') && fonts.width(&text, style) <= width * 0.3 + 1.0);
    }
}
