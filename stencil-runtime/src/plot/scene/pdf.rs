//! Drawings as PDF: one page, on which letters are shapes, so that no font is needed.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect as Area, Ref};

use super::{Point, Scene, Shape, Stroke, Writing};
use crate::plot::canvas::{Rect, near_pieces};
use crate::plot::color::Color;
use crate::plot::text::{Fonts, Piece};

/// Points of print (72 to an inch) to a pixel.
const SCALE: f32 = 0.5;
/// The control points of a quarter of a circle, in radii from its ends.
const QUARTER: f32 = 0.552_285;

const CATALOG: i32 = 1;
const PAGES: i32 = 2;
const PAGE: i32 = 3;
const CONTENT: i32 = 4;
/// Images and degrees of cover come after these.
const OTHERS: i32 = 5;

/// Returns the drawing as the bytes of a file.
pub(super) fn print(scene: &Scene) -> Vec<u8> {
    let (w, h) = scene.size;
    let mut page = Page {
        content: Content::new(),
        fonts: Fonts::new(),
        images: Vec::new(),
        covers: Vec::new(),
    };
    // `y` counts downwards from here on.
    page.content.transform([SCALE, 0.0, 0.0, -SCALE, 0.0, h * SCALE]);
    page.color(Color::WHITE);
    page.content.rect(0.0, 0.0, w, h).fill_nonzero();
    for shape in &scene.shapes {
        page.shape(shape);
    }
    page.finish((w * SCALE, h * SCALE))
}

/// The content of the page so far.
struct Page<'a> {
    content: Content,
    fonts: Fonts,
    images: Vec<(Rect, &'a [Color])>,
    /// Shares of the shapes below that fills cover, other than 1.
    covers: Vec<f32>,
}

impl<'a> Page<'a> {
    fn shape(&mut self, shape: &'a Shape) {
        match shape {
            Shape::Line(points, stroke, None) => {
                self.path(points);
                self.stroke(stroke);
            }
            Shape::Line(points, stroke, Some(clip)) => self.clipped(points, stroke, *clip),
            Shape::Polygon(points, fill, outline) => {
                if let Some(color) = fill {
                    self.color(*color);
                    self.path(points);
                    self.content.close_path().fill_even_odd();
                }
                if let Some(stroke) = outline {
                    self.path(points);
                    self.content.close_path();
                    self.stroke(stroke);
                }
            }
            Shape::Circle(at, radius, fill, outline) => {
                if let Some(color) = fill {
                    self.color(*color);
                    self.circle(*at, *radius);
                    self.content.fill_nonzero();
                }
                if let Some(stroke) = outline {
                    self.circle(*at, *radius);
                    self.stroke(stroke);
                }
            }
            Shape::Text(writing) => self.text(writing),
            Shape::Fill(area, color, coverage) => self.fill(*area, *color, *coverage),
            Shape::Image(area, pixels) => self.image(*area, pixels),
        }
    }

    fn color(&mut self, Color(r, g, b): Color) {
        let [r, g, b] = [r, g, b].map(|c| f32::from(c) / 255.0);
        self.content.set_fill_rgb(r, g, b);
    }

    fn path(&mut self, points: &[Point]) {
        let finite = points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        for (at, (x, y)) in finite.enumerate() {
            match at {
                0 => self.content.move_to(*x, *y),
                _ => self.content.line_to(*x, *y),
            };
        }
    }

    /// Draws the line of the current path.
    fn stroke(&mut self, stroke: &Stroke) {
        let [r, g, b] = [stroke.color.0, stroke.color.1, stroke.color.2];
        let [r, g, b] = [r, g, b].map(|c| f32::from(c) / 255.0);
        let dash = stroke.dash.map(|(dash, gap)| [dash, gap]);
        self.content
            .set_stroke_rgb(r, g, b)
            .set_line_width(stroke.width)
            .set_line_cap(LineCapStyle::RoundCap)
            .set_line_join(LineJoinStyle::RoundJoin)
            .set_dash_pattern(dash.into_iter().flatten(), 0.0)
            .stroke();
    }

    fn clipped(&mut self, points: &[Point], stroke: &Stroke, clip: Rect) {
        self.content.save_state();
        self.rect(clip);
        self.content.clip_nonzero().end_path();
        for piece in near_pieces(points, clip) {
            self.path(&piece);
            self.stroke(stroke);
        }
        self.content.restore_state();
    }

    fn rect(&mut self, area: Rect) {
        let [x, y, w, h] = [area.x, area.y, area.w, area.h].map(|n| n as f32);
        self.content.rect(x, y, w, h);
    }

    fn circle(&mut self, (x, y): Point, r: f32) {
        let k = QUARTER * r;
        self.content
            .move_to(x + r, y)
            .cubic_to(x + r, y + k, x + k, y + r, x, y + r)
            .cubic_to(x - k, y + r, x - r, y + k, x - r, y)
            .cubic_to(x - r, y - k, x - k, y - r, x, y - r)
            .cubic_to(x + k, y - r, x + r, y - k, x + r, y)
            .close_path();
    }

    fn text(&mut self, writing: &Writing) {
        let style = writing.style;
        let pieces = self.fonts.outlines(&writing.text, writing.align, style);
        let (x0, y0) = writing.at;
        let place = |(x, y): Point| match writing.is_up {
            true => (x0 + y, y0 - x),
            false => (x0 + x, y0 + y),
        };
        self.color(style.color);
        let mut end = (0.0, 0.0);
        for piece in pieces {
            end = match piece {
                Piece::Start(a) => {
                    let (x, y) = place(a);
                    self.content.move_to(x, y);
                    (x, y)
                }
                Piece::Line(a) => {
                    let (x, y) = place(a);
                    self.content.line_to(x, y);
                    (x, y)
                }
                Piece::Quad(b, c) => {
                    let (b, c) = (place(b), place(c));
                    // The cubic curve that equals this parabola.
                    let third = |from: f32, to: f32| from + 2.0 / 3.0 * (to - from);
                    let first = (third(end.0, b.0), third(end.1, b.1));
                    let second = (third(c.0, b.0), third(c.1, b.1));
                    self.cubic(first, second, c);
                    c
                }
                Piece::Cubic(b, c, d) => {
                    let (b, c, d) = (place(b), place(c), place(d));
                    self.cubic(b, c, d);
                    d
                }
            };
        }
        self.content.fill_nonzero();
    }

    fn cubic(&mut self, (x1, y1): Point, (x2, y2): Point, (x3, y3): Point) {
        self.content.cubic_to(x1, y1, x2, y2, x3, y3);
    }

    fn fill(&mut self, area: Rect, color: Color, coverage: f32) {
        self.content.save_state();
        if coverage < 1.0 {
            let known = self.covers.iter().position(|cover| *cover == coverage);
            let at = known.unwrap_or_else(|| {
                self.covers.push(coverage);
                self.covers.len() - 1
            });
            self.content.set_parameters(Name(cover_name(at).as_bytes()));
        }
        self.color(color);
        self.rect(area);
        self.content.fill_nonzero().restore_state();
    }

    fn image(&mut self, area: Rect, pixels: &'a [Color]) {
        let name = image_name(self.images.len());
        self.images.push((area, pixels));
        let [x, y, w, h] = [area.x, area.y, area.w, area.h].map(|n| n as f32);
        self.content
            .save_state()
            // An image is a unit square whose `y` counts upwards.
            .transform([w, 0.0, 0.0, -h, x, y + h])
            .x_object(Name(name.as_bytes()))
            .restore_state();
    }

    /// Returns the file, with one page of this size.
    fn finish(self, (w, h): (f32, f32)) -> Vec<u8> {
        let [catalog, pages, page, content] = [CATALOG, PAGES, PAGE, CONTENT].map(Ref::new);
        let image = |at: usize| Ref::new(OTHERS + at as i32);
        let cover = |at: usize| Ref::new(OTHERS + (self.images.len() + at) as i32);
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page]).count(1);
        let mut only = pdf.page(page);
        only.media_box(Area::new(0.0, 0.0, w, h));
        only.parent(pages).contents(content);
        let mut resources = only.resources();
        let mut named = resources.x_objects();
        for at in 0..self.images.len() {
            named.pair(Name(image_name(at).as_bytes()), image(at));
        }
        named.finish();
        let mut named = resources.ext_g_states();
        for at in 0..self.covers.len() {
            named.pair(Name(cover_name(at).as_bytes()), cover(at));
        }
        named.finish();
        resources.finish();
        only.finish();
        for (at, (area, pixels)) in self.images.iter().enumerate() {
            let bytes: Vec<u8> = pixels.iter().flat_map(|c| [c.0, c.1, c.2]).collect();
            let bytes = deflated(&bytes);
            let mut stream = pdf.image_xobject(image(at), &bytes);
            stream.filter(Filter::FlateDecode);
            stream.width(area.w).height(area.h).bits_per_component(8);
            stream.color_space().device_rgb();
        }
        for (at, coverage) in self.covers.iter().enumerate() {
            pdf.ext_graphics(cover(at)).non_stroking_alpha(*coverage);
        }
        let bytes = deflated(&self.content.finish());
        pdf.stream(content, &bytes).filter(Filter::FlateDecode);
        pdf.finish()
    }
}

fn image_name(at: usize) -> String {
    format!("Im{at}")
}

fn cover_name(at: usize) -> String {
    format!("Gs{at}")
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
