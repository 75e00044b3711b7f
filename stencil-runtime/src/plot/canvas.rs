//! A picture in memory: pixels, rectangles, anti-aliased lines and discs.

use std::io::{self, Write};
use std::path::Path;

use super::PlotError;
use super::color::Color;
use super::scene::{Point, Stroke};
use crate::io::PartFile;

/// A rectangle of whole pixels; `y` counts downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rect {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) w: i32,
    pub(super) h: i32,
}

impl Rect {
    pub(super) fn right(self) -> i32 {
        self.x + self.w
    }
    pub(super) fn bottom(self) -> i32 {
        self.y + self.h
    }
    pub(super) fn grown(self, by: i32) -> Self {
        Self { x: self.x - by, y: self.y - by, w: self.w + 2 * by, h: self.h + 2 * by }
    }
    /// A frame of `width` pixels around it, outside of it.
    pub(super) fn sides(self, width: i32) -> [Self; 4] {
        let around = self.grown(width);
        let (h, w) = (width, width);
        [
            Self { h, ..around },
            Self { y: self.bottom(), h, ..around },
            Self { w, ..around },
            Self { x: self.right(), w, ..around },
        ]
    }
    /// Returns its pixels, row by row from the top.
    pub(super) fn pixels(self) -> impl Iterator<Item = (i32, i32)> {
        (self.y..self.bottom()).flat_map(move |y| (self.x..self.right()).map(move |x| (x, y)))
    }
    fn contains(self, x: i32, y: i32) -> bool {
        x >= self.x && x < self.right() && y >= self.y && y < self.bottom()
    }
}

pub(super) struct Canvas {
    width: i32,
    height: i32,
    pixels: Vec<Color>,
}

impl Canvas {
    pub(super) fn new(width: i32, height: i32) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self { width, height, pixels: vec![Color::WHITE; (width * height) as usize] }
    }

    pub(super) fn bounds(&self) -> Rect {
        Rect { x: 0, y: 0, w: self.width, h: self.height }
    }

    /// Returns width and height.
    pub(super) fn size(&self) -> (i32, i32) {
        (self.width, self.height)
    }

    /// Returns all pixels, row by row from the top.
    pub(super) fn pixels(&self) -> &[Color] {
        &self.pixels
    }

    /// Returns all pixels, row by row from the top.
    pub(super) fn into_pixels(self) -> Vec<Color> {
        self.pixels
    }

    fn index(&self, x: i32, y: i32) -> Option<usize> {
        self.bounds().contains(x, y).then(|| (y * self.width + x) as usize)
    }

    #[cfg(test)]
    pub(super) fn get(&self, x: i32, y: i32) -> Color {
        self.pixels[self.index(x, y).expect("inside the picture")]
    }

    pub(super) fn set(&mut self, x: i32, y: i32, color: Color) {
        if let Some(i) = self.index(x, y) {
            self.pixels[i] = color;
        }
    }

    pub(super) fn blend(&mut self, x: i32, y: i32, color: Color, coverage: f32) {
        if let Some(i) = self.index(x, y) {
            self.pixels[i] = self.pixels[i].blend(color, coverage);
        }
    }

    /// A line through `points`, cut at `clip`.
    pub(super) fn polyline(&mut self, points: &[(f32, f32)], pen: Stroke, clip: Rect) {
        // One mask for the whole line: where pieces overlap, the ink must not double.
        let mut mask = Mask::new(clip, self.bounds());
        let mut length = 0.0;
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            match pen.dash {
                None => mask.segment(a, b, pen.width),
                Some(dash) => mask.dashed(a, b, pen.width, dash, length),
            }
            length += (b.0 - a.0).hypot(b.1 - a.1);
        }
        mask.paint(self, pen.color);
    }

    pub(super) fn disc(&mut self, (x, y): (f32, f32), radius: f32, color: Color) {
        let reach = radius.ceil() as i32 + 1;
        let (cx, cy) = (x as i32, y as i32);
        for py in cy - reach..=cy + reach {
            for px in cx - reach..=cx + reach {
                let d = (px as f32 + 0.5 - x).hypot(py as f32 + 0.5 - y);
                self.blend(px, py, color, radius + 0.5 - d);
            }
        }
    }

    /// Writes the picture, with the name of the run that it shows as a text; it appears under its name only when it is
    /// complete.
    pub(super) fn save(&self, path: &Path, run: Option<&str>) -> Result<(), PlotError> {
        let write = || {
            let mut file = PartFile::create(path)?;
            encode(&mut file, (self.width, self.height), &self.pixels, run)?;
            file.finish()
        };
        write().map_err(|source| PlotError::Io { path: path.to_path_buf(), source })
    }

    /// Returns the picture as PNG, compressed fast.
    pub(super) fn png(&self, run: Option<&str>) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Memory takes all bytes.
        let size = (self.width, self.height);
        let _ = encode_as(&mut bytes, size, &self.pixels, (run, png::Compression::Fast));
        bytes
    }
}

/// Writes pixels as PNG, row by row from the top, and the name of a run in a chunk `iTXt`.
pub(super) fn encode(
    out: impl Write,
    size: (i32, i32),
    pixels: &[Color],
    run: Option<&str>,
) -> io::Result<()> {
    encode_as(out, size, pixels, (run, png::Compression::High))
}

fn encode_as(
    out: impl Write,
    (width, height): (i32, i32),
    pixels: &[Color],
    (run, compression): (Option<&str>, png::Compression),
) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(compression);
    if let Some(run) = run {
        encoder.add_itxt_chunk("Run".into(), run.into()).map_err(io::Error::other)?;
    }
    let bytes: Vec<u8> = pixels.iter().flat_map(|c| [c.0, c.1, c.2]).collect();
    let mut writer = encoder.write_header().map_err(io::Error::other)?;
    writer.write_image_data(&bytes).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)
}

/// The share of each pixel that a line covers.
struct Mask {
    area: Rect,
    coverage: Vec<f32>,
}

impl Mask {
    fn new(clip: Rect, bounds: Rect) -> Self {
        let (x, y) = (clip.x.max(bounds.x), clip.y.max(bounds.y));
        let w = (clip.right().min(bounds.right()) - x).max(0);
        let h = (clip.bottom().min(bounds.bottom()) - y).max(0);
        Self { area: Rect { x, y, w, h }, coverage: vec![0.0; (w * h) as usize] }
    }

    fn segment(&mut self, a: (f32, f32), b: (f32, f32), width: f32) {
        let Some((a, b)) = clip_line(a, b, self.area.grown(width.ceil() as i32 + 2)) else {
            return;
        };
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let squared = dx * dx + dy * dy;
        let reach = width / 2.0 + 1.0;
        let rows = ((a.1.min(b.1) - reach) as i32).max(self.area.y)
            ..=((a.1.max(b.1) + reach) as i32).min(self.area.bottom() - 1);
        for y in rows {
            // The part of the segment near this row bounds the columns that it can touch.
            let (from, to) = near(a.1, b.1, y as f32 + 0.5, reach);
            let (x0, x1) = (a.0 + from * dx, a.0 + to * dx);
            let columns = ((x0.min(x1) - reach) as i32).max(self.area.x)
                ..=((x0.max(x1) + reach) as i32).min(self.area.right() - 1);
            for x in columns {
                let (px, py) = (x as f32 + 0.5 - a.0, y as f32 + 0.5 - a.1);
                let along = if squared > 0.0 {
                    ((px * dx + py * dy) / squared).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let d = (px - along * dx).hypot(py - along * dy);
                let i = (y - self.area.y) * self.area.w + x - self.area.x;
                let here = &mut self.coverage[i as usize];
                *here = here.max((width / 2.0 + 0.5 - d).clamp(0.0, 1.0));
            }
        }
    }

    /// `start` is the length of the line before `a`, so that dashes run on through corners.
    fn dashed(
        &mut self,
        a: (f32, f32),
        b: (f32, f32),
        width: f32,
        (dash, gap): (f32, f32),
        start: f32,
    ) {
        let length = (b.0 - a.0).hypot(b.1 - a.1);
        let period = (dash + gap).max(1.0);
        if length == 0.0 || !length.is_finite() || length > 1e5 {
            return self.segment(a, b, width);
        }
        let at = |s: f32| {
            let f = (s / length).clamp(0.0, 1.0);
            (a.0 + f * (b.0 - a.0), a.1 + f * (b.1 - a.1))
        };
        let mut s = -(start % period);
        while s < length {
            if s + dash > 0.0 {
                self.segment(at(s), at(s + dash), width);
            }
            s += period;
        }
    }

    fn paint(&self, canvas: &mut Canvas, color: Color) {
        if self.area.w == 0 {
            return;
        }
        for (row, y) in self.coverage.chunks(self.area.w as usize).zip(self.area.y..) {
            for (&coverage, x) in row.iter().zip(self.area.x..) {
                if coverage > 0.0 {
                    canvas.blend(x, y, color, coverage);
                }
            }
        }
    }
}

/// Returns the places (0 to 1) between which a coordinate running from `a` to `b` is within `reach` of `c`.
fn near(a: f32, b: f32, c: f32, reach: f32) -> (f32, f32) {
    let d = b - a;
    if d.abs() < 1e-3 {
        return (0.0, 1.0);
    }
    let (s, t) = ((c - reach - a) / d, (c + reach - a) / d);
    (s.min(t).clamp(0.0, 1.0), s.max(t).clamp(0.0, 1.0))
}

/// Returns the pieces of a line near a rectangle, so that numbers stay small; none for points that are not finite.
pub(super) fn near_pieces(points: &[Point], clip: Rect) -> Vec<Vec<Point>> {
    let area = clip.grown(100);
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    for pair in points.windows(2) {
        let Some((a, b)) = clip_line(pair[0], pair[1], area) else {
            continue;
        };
        match pieces.last_mut().filter(|piece| piece.last() == Some(&a)) {
            Some(piece) => piece.push(b),
            None => pieces.push(vec![a, b]),
        }
    }
    pieces
}

/// Clips a line (Liang and Barsky); `None` if all of it is outside.
fn clip_line(a: (f32, f32), b: (f32, f32), r: Rect) -> Option<((f32, f32), (f32, f32))> {
    // In f64: a curve that shoots far out of the picture must stay straight inside it.
    let (ax, ay, bx, by) = (f64::from(a.0), f64::from(a.1), f64::from(b.0), f64::from(b.1));
    let (dx, dy) = (bx - ax, by - ay);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (d, low, high) in [
        (dx, f64::from(r.x) - ax, f64::from(r.right()) - ax),
        (dy, f64::from(r.y) - ay, f64::from(r.bottom()) - ay),
    ] {
        if d == 0.0 {
            if low > 0.0 || high < 0.0 {
                return None;
            }
            continue;
        }
        let (s, t) = (low / d, high / d);
        from = from.max(s.min(t));
        to = to.min(s.max(t));
    }
    // Also false, as it should be, if a coordinate is not finite.
    (from <= to).then(|| {
        let at = |f: f64| ((ax + f * dx) as f32, (ay + f * dy) as f32);
        (at(from), at(to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Color = Color(0, 0, 0);
    const PEN: Stroke = Stroke { color: INK, width: 2.0, dash: None };

    #[test]
    fn lines_are_where_they_should_be() {
        let mut c = Canvas::new(20, 20);
        let clip = Rect { x: 0, y: 0, w: 15, h: 20 };
        c.polyline(&[(2.0, 10.0), (40.0, 10.0)], PEN, clip);
        assert_eq!((c.get(8, 9), c.get(8, 10)), (INK, INK));
        assert_eq!((c.get(8, 7), c.get(8, 12)), (Color::WHITE, Color::WHITE));
        assert_eq!(c.get(14, 10), INK);
        assert_eq!(c.get(15, 10), Color::WHITE, "the line leaves its clip");
    }

    #[test]
    fn steep_and_far_lines_stay_straight() {
        let mut c = Canvas::new(20, 20);
        c.polyline(&[(10.0, -1e9), (10.0, 1e9)], PEN, c.bounds());
        for y in 0..20 {
            assert_eq!((c.get(9, y), c.get(10, y)), (INK, INK));
        }
        c.polyline(&[(f32::NAN, 1.0), (3.0, f32::INFINITY)], PEN, c.bounds());
    }

    #[test]
    fn dashes_leave_gaps() {
        let mut c = Canvas::new(40, 5);
        let pen = Stroke { dash: Some((6.0, 8.0)), ..PEN };
        c.polyline(&[(0.0, 2.0), (20.0, 2.0), (40.0, 2.0)], pen, c.bounds());
        assert_eq!((c.get(3, 2), c.get(17, 2)), (INK, INK));
        assert_eq!((c.get(10, 2), c.get(25, 2)), (Color::WHITE, Color::WHITE));
    }

    #[test]
    fn discs_and_frames() {
        let mut c = Canvas::new(20, 20);
        c.disc((10.0, 10.0), 4.0, INK);
        assert_eq!((c.get(10, 10), c.get(7, 10)), (INK, INK));
        assert_eq!((c.get(6, 6), c.get(15, 10)), (Color::WHITE, Color::WHITE));
        let area = Rect { x: 3, y: 3, w: 14, h: 14 };
        for (x, y) in area.sides(2).into_iter().flat_map(Rect::pixels) {
            c.set(x, y, INK);
        }
        assert_eq!((c.get(2, 2), c.get(17, 18)), (INK, INK));
        assert_eq!((c.get(3, 3), c.get(0, 0)), (Color::WHITE, Color::WHITE));
        c.disc((-100.0, 1e9), 4.0, INK);
    }
}
