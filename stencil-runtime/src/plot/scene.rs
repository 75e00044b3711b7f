//! Drawings of lines, polygons, circles, text and pixels, as PNG, SVG and PDF from one description.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::canvas::{Canvas, Rect};
use super::color::Color;
use super::text::{Align, Fonts, MIDDLE, Style, Weight};
use super::{Format, PlotError};
use crate::io::PartFile;

mod pdf;
mod svg;
#[cfg(test)]
mod tests;

/// A point in pixels; `y` counts downwards.
pub type Point = (f32, f32);

/// The alignment of a text at its point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    #[default]
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

impl Anchor {
    fn align(self) -> Align {
        match self {
            Anchor::Start => Align::Left,
            Anchor::Middle => Align::Center,
            Anchor::End => Align::Right,
        }
    }
}

/// The style of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lettering {
    /// Pixels to the em.
    pub size: f32,
    /// Its colour.
    pub color: Color,
    /// Is it bold?
    pub is_bold: bool,
    /// Does it run upwards?
    pub is_up: bool,
    /// The part of the text that is at its point.
    pub anchor: Anchor,
}

impl Lettering {
    /// Returns dark letters that begin at their point.
    pub fn new(size: f32) -> Self {
        Lettering { size, color: Color::INK, is_bold: false, is_up: false, anchor: Anchor::Start }
    }

    fn style(&self) -> Style {
        let weight = if self.is_bold { Weight::Bold } else { Weight::Regular };
        Style::new(self.size, weight, self.color)
    }

    /// Returns the width of a text in these letters, in pixels.
    pub fn width(&self, text: &str) -> f32 {
        Fonts::new().width(text, self.style())
    }
}

/// A line of some width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub color: Color,
    /// Its width in pixels.
    pub width: f32,
    /// Lengths of dashes and of gaps; a solid line if there are none.
    pub dash: Option<(f32, f32)>,
}

impl Stroke {
    /// Makes a solid line.
    pub fn new(color: Color, width: f32) -> Self {
        Stroke { color, width, dash: None }
    }
}

/// A shape of a drawing.
#[derive(Clone, Debug)]
enum Shape {
    /// A line, cut at a rectangle if there is one.
    Line(Vec<Point>, Stroke, Option<Rect>),
    Polygon(Vec<Point>, Option<Color>, Option<Stroke>),
    Circle(Point, f32, Option<Color>, Option<Stroke>),
    Text(Writing),
    /// Whole pixels of one colour, with this share of cover.
    Fill(Rect, Color, f32),
    /// Pixels, row by row from the top.
    Image(Rect, Vec<Color>),
}

/// A text on its baseline.
#[derive(Clone, Debug)]
struct Writing {
    text: String,
    /// A point on the baseline; `align` tells its place along the text.
    at: Point,
    align: Align,
    style: Style,
    /// Does it run upwards?
    is_up: bool,
}

impl Writing {
    /// Returns the rectangle that it takes: left, top, width, height.
    fn area(&self, fonts: &Fonts) -> [f32; 4] {
        let (w, h) = (fonts.width(&self.text, self.style), self.style.size * 2.0 * MIDDLE);
        let before = match self.align {
            Align::Left => 0.0,
            Align::Center => w / 2.0,
            Align::Right => w,
        };
        let (x, y) = self.at;
        match self.is_up {
            true => [x - h, y + before - w, h, w],
            false => [x - before, y - h, w, h],
        }
    }
}

/// A drawing: shapes, later ones on top.
///
/// ```
/// use stencil_runtime::plot::{Color, Lettering, Scene, Stroke};
/// let mut scene = Scene::new(120.0, 60.0);
/// scene.line(&[(10.0, 50.0), (110.0, 10.0)], Stroke::new(Color::INK, 2.0));
/// scene.text((60.0, 30.0), "f < g", Lettering::new(14.0));
/// let svg = scene.svg();
/// assert!(svg.starts_with("<svg") && svg.contains("f &lt; g"));
/// ```
#[derive(Clone, Debug)]
pub struct Scene {
    size: (f32, f32),
    shapes: Vec<Shape>,
    /// The run that is shown, as text of a PNG.
    pub(super) run: Option<String>,
}

impl Scene {
    /// Makes an empty drawing, of this width and height in pixels.
    pub fn new(width: f32, height: f32) -> Self {
        Scene { size: (width, height), shapes: Vec::new(), run: None }
    }

    /// Returns width and height.
    pub fn size(&self) -> (f32, f32) {
        self.size
    }

    /// Draws a line through points.
    pub fn line(&mut self, points: &[Point], stroke: Stroke) {
        self.shapes.push(Shape::Line(points.to_vec(), stroke, None));
    }

    /// Draws a line through points, cut at a rectangle.
    pub(super) fn polyline(&mut self, points: &[Point], stroke: Stroke, clip: Rect) {
        self.shapes.push(Shape::Line(points.to_vec(), stroke, Some(clip)));
    }

    /// Fills whole pixels.
    pub(super) fn fill(&mut self, area: Rect, color: Color) {
        self.veil(area, color, 1.0);
    }

    /// Covers a share of the shapes below in whole pixels, 0 to 1.
    pub(super) fn veil(&mut self, area: Rect, color: Color, coverage: f32) {
        self.shapes.push(Shape::Fill(area, color, coverage));
    }

    /// Draws a frame of `width` pixels around a rectangle, outside of it.
    pub(super) fn frame(&mut self, area: Rect, width: i32, color: Color) {
        for side in area.sides(width) {
            self.fill(side, color);
        }
    }

    /// Draws pixels, row by row from the top; as many as the rectangle has.
    pub(super) fn image(&mut self, area: Rect, pixels: Vec<Color>) {
        self.shapes.push(Shape::Image(area, pixels));
    }

    /// Draws a disc.
    pub(super) fn disc(&mut self, at: Point, radius: f32, color: Color) {
        self.circle(at, radius, Some(color), None);
    }

    /// Writes a text on a baseline.
    pub(super) fn write(&mut self, text: &str, at: Point, align: Align, style: Style) {
        self.lettering(text, at, align, style, false);
    }

    /// Writes a text upwards, with the baseline at the point's `x`; `align` is along the text.
    pub(super) fn write_up(&mut self, text: &str, at: Point, align: Align, style: Style) {
        self.lettering(text, at, align, style, true);
    }

    fn lettering(&mut self, text: &str, at: Point, align: Align, style: Style, is_up: bool) {
        if !text.is_empty() {
            self.shapes.push(Shape::Text(Writing {
                text: text.to_string(),
                at,
                align,
                style,
                is_up,
            }));
        }
    }

    /// Draws a polygon, filled, outlined or both.
    pub fn polygon(&mut self, points: &[Point], fill: Option<Color>, outline: Option<Stroke>) {
        self.shapes.push(Shape::Polygon(points.to_vec(), fill, outline));
    }

    /// Draws a rectangle: left, top, width, height.
    pub fn rect(&mut self, [x, y, w, h]: [f32; 4], fill: Option<Color>, outline: Option<Stroke>) {
        let corners = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)];
        self.polygon(&corners, fill, outline);
    }

    /// Draws a circle.
    pub fn circle(&mut self, at: Point, radius: f32, fill: Option<Color>, outline: Option<Stroke>) {
        self.shapes.push(Shape::Circle(at, radius, fill, outline));
    }

    /// Writes a text, its middle at the height of its point.
    pub fn text(&mut self, (x, y): Point, text: impl Into<String>, letters: Lettering) {
        let drop = letters.size * MIDDLE;
        let (text, align, style) = (text.into(), letters.anchor.align(), letters.style());
        match letters.is_up {
            true => self.write_up(&text, (x + drop, y), align, style),
            false => self.write(&text, (x, y + drop), align, style),
        }
    }

    /// Returns texts with the rectangles that they take: left, top, width, height.
    pub fn texts(&self) -> Vec<(&str, [f32; 4])> {
        let fonts = Fonts::new();
        let boxes = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(writing) => Some((writing.text.as_str(), writing.area(&fonts))),
            _ => None,
        });
        boxes.collect()
    }

    /// Returns the drawing as SVG.
    pub fn svg(&self) -> String {
        svg::print(self)
    }

    /// Writes the drawing in the format that the ending of the file names: `.png`, `.svg` or `.pdf`.
    ///
    /// # Errors
    /// If the ending is none of these, or the file cannot be written.
    pub fn save_as(&self, file: impl AsRef<Path>) -> Result<(), PlotError> {
        let file = file.as_ref();
        match Format::of(file)? {
            Format::Png => self.save_png(file),
            Format::Svg => write(file, self.svg().as_bytes()),
            Format::Pdf => write(file, &pdf::print(self)),
        }
    }

    /// Writes `<stem>.svg` and `<stem>.png`; returns their paths.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn save(&self, stem: impl AsRef<Path>) -> Result<[PathBuf; 2], PlotError> {
        let files = ["svg", "png"].map(|kind| {
            let mut file = stem.as_ref().as_os_str().to_os_string();
            file.push(format!(".{kind}"));
            PathBuf::from(file)
        });
        let [svg, png] = &files;
        write(svg, self.svg().as_bytes())?;
        self.save_png(png)?;
        Ok(files)
    }

    /// Saves it as PNG.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_png(&self, file: impl AsRef<Path>) -> Result<(), PlotError> {
        self.canvas().save(file.as_ref(), self.run.as_deref())
    }

    /// Returns the drawing as PNG, compressed fast rather than small: for a viewer that is drawn often.
    ///
    /// ```
    /// use stencil_runtime::plot::Scene;
    /// assert_eq!(&Scene::new(8.0, 8.0).png()[1..4], b"PNG");
    /// ```
    pub fn png(&self) -> Vec<u8> {
        self.canvas().png(self.run.as_deref())
    }

    pub(super) fn canvas(&self) -> Canvas {
        let mut canvas = Canvas::new(self.size.0.ceil() as i32, self.size.1.ceil() as i32);
        let fonts = Fonts::new();
        for shape in &self.shapes {
            paint(&mut canvas, &fonts, shape);
        }
        canvas
    }
}

fn paint(canvas: &mut Canvas, fonts: &Fonts, shape: &Shape) {
    let bounds = canvas.bounds();
    match shape {
        Shape::Line(points, stroke, clip) => {
            canvas.polyline(points, *stroke, clip.unwrap_or(bounds));
        }
        Shape::Polygon(points, fill, outline) => {
            if let Some(color) = fill {
                canvas.polygon(points, *color);
            }
            if let Some(stroke) = outline {
                let closed: Vec<Point> = points.iter().chain(points.first()).copied().collect();
                canvas.polyline(&closed, *stroke, bounds);
            }
        }
        Shape::Circle(at, radius, fill, outline) => {
            if let Some(color) = fill {
                canvas.disc(*at, *radius, *color);
            }
            if let Some(stroke) = outline {
                let around: Vec<Point> = (0..=48)
                    .map(|k| {
                        let (sin, cos) = (k as f32 / 48.0 * std::f32::consts::TAU).sin_cos();
                        (at.0 + radius * cos, at.1 + radius * sin)
                    })
                    .collect();
                canvas.polyline(&around, *stroke, bounds);
            }
        }
        Shape::Text(writing) => {
            let (text, at, align) = (&writing.text, writing.at, writing.align);
            match writing.is_up {
                true => fonts.draw_up(canvas, text, at, align, writing.style),
                false => fonts.draw(canvas, text, at, align, writing.style),
            }
        }
        Shape::Fill(area, color, coverage) => {
            for (x, y) in area.pixels() {
                canvas.blend(x, y, *color, *coverage);
            }
        }
        Shape::Image(area, pixels) => {
            for ((x, y), color) in area.pixels().zip(pixels) {
                canvas.set(x, y, *color);
            }
        }
    }
}

/// Writes a file; it appears under its name only when it is complete.
fn write(file: &Path, bytes: &[u8]) -> Result<(), PlotError> {
    let write = || {
        let mut part = PartFile::create(file)?;
        part.write_all(bytes)?;
        part.finish()
    };
    write().map_err(|source| PlotError::Io { path: file.to_path_buf(), source })
}
