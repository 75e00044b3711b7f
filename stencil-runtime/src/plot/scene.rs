//! Drawings of lines, polygons, circles and text, as SVG and as PNG from one description.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::PlotError;
use super::canvas::{Canvas, Pen};
use super::color::Color;
use super::text::{self, Fonts, MIDDLE, Style, Weight};
use crate::io::PartFile;

/// A point in pixels; `y` counts downwards.
pub type Point = (f32, f32);

/// Where a text stands relative to its point.
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

/// How a text looks.
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
    /// Which part of it is at its point.
    pub anchor: Anchor,
}

impl Lettering {
    /// Dark letters that begin at their point.
    pub fn new(size: f32) -> Self {
        Lettering {
            size,
            color: Color::INK,
            is_bold: false,
            is_up: false,
            anchor: Anchor::Start,
        }
    }

    fn style(&self) -> Style {
        let weight = if self.is_bold {
            Weight::Bold
        } else {
            Weight::Regular
        };
        Style::new(self.size, weight, self.color)
    }

    /// The width of a text in these letters, in pixels.
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
    /// A solid line.
    pub fn new(color: Color, width: f32) -> Self {
        Stroke {
            color,
            width,
            dash: None,
        }
    }
}

/// What is drawn.
#[derive(Clone, Debug)]
enum Shape {
    Line(Vec<Point>, Stroke),
    Polygon(Vec<Point>, Option<Color>, Option<Stroke>),
    Circle(Point, f32, Option<Color>, Option<Stroke>),
    Text(Point, String, Lettering),
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
}

impl Scene {
    /// An empty one, of this width and height in pixels.
    pub fn new(width: f32, height: f32) -> Self {
        Scene {
            size: (width, height),
            shapes: Vec::new(),
        }
    }

    /// Width and height.
    pub fn size(&self) -> (f32, f32) {
        self.size
    }

    /// Draws a line through points.
    pub fn line(&mut self, points: &[Point], stroke: Stroke) {
        self.shapes.push(Shape::Line(points.to_vec(), stroke));
    }

    /// Draws a polygon, filled, outlined or both.
    pub fn polygon(&mut self, points: &[Point], fill: Option<Color>, outline: Option<Stroke>) {
        self.shapes
            .push(Shape::Polygon(points.to_vec(), fill, outline));
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
    pub fn text(&mut self, at: Point, text: impl Into<String>, letters: Lettering) {
        self.shapes.push(Shape::Text(at, text.into(), letters));
    }

    /// Texts with the rectangles that they take: left, top, width, height.
    pub fn texts(&self) -> Vec<(&str, [f32; 4])> {
        let boxes = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text((x, y), text, letters) => {
                let (w, h) = (letters.width(text), letters.size * 2.0 * MIDDLE);
                let before = match letters.anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => w / 2.0,
                    Anchor::End => w,
                };
                Some(match letters.is_up {
                    true => (text.as_str(), [x - h / 2.0, y + before - w, h, w]),
                    false => (text.as_str(), [x - before, y - h / 2.0, w, h]),
                })
            }
            _ => None,
        });
        boxes.collect()
    }

    /// The drawing as SVG.
    pub fn svg(&self) -> String {
        let (w, h) = self.size;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"
        );
        for shape in &self.shapes {
            svg(&mut out, shape);
        }
        out + "</svg>\n"
    }

    /// Writes `<stem>.svg` and `<stem>.png`; the files.
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
        let write = || {
            let mut file = PartFile::create(svg)?;
            file.write_all(self.svg().as_bytes())?;
            file.finish()
        };
        write().map_err(|source| PlotError::Io {
            path: svg.clone(),
            source,
        })?;
        self.save_png(png)?;
        Ok(files)
    }

    /// Saves it as PNG.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_png(&self, file: impl AsRef<Path>) -> Result<(), PlotError> {
        self.canvas().save(file.as_ref())
    }

    fn canvas(&self) -> Canvas {
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
        Shape::Line(points, stroke) => canvas.polyline(points, pen(stroke), bounds),
        Shape::Polygon(points, fill, outline) => {
            if let Some(color) = fill {
                canvas.polygon(points, *color);
            }
            if let Some(stroke) = outline {
                let closed: Vec<Point> = points.iter().chain(points.first()).copied().collect();
                canvas.polyline(&closed, pen(stroke), bounds);
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
                canvas.polyline(&around, pen(stroke), bounds);
            }
        }
        Shape::Text((x, y), text, letters) => {
            let style = letters.style();
            let align = match letters.anchor {
                Anchor::Start => text::Align::Left,
                Anchor::Middle => text::Align::Center,
                Anchor::End => text::Align::Right,
            };
            let drop = letters.size * MIDDLE;
            match letters.is_up {
                true => fonts.draw_up(canvas, text, (x + drop, *y), align, style),
                false => fonts.draw(canvas, text, (*x, y + drop), align, style),
            }
        }
    }
}

fn pen(stroke: &Stroke) -> Pen {
    Pen {
        color: stroke.color,
        width: stroke.width,
        dash: stroke.dash,
    }
}

fn svg(out: &mut String, shape: &Shape) {
    let list = |points: &[Point]| {
        let pairs = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
        pairs.collect::<Vec<_>>().join(" ")
    };
    // Writing into a text does not fail.
    let _ = match shape {
        Shape::Line(points, stroke) => writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\"{}/>",
            list(points),
            outline(Some(stroke))
        ),
        Shape::Polygon(points, fill, stroke) => writeln!(
            out,
            "<polygon points=\"{}\" fill=\"{}\"{}/>",
            list(points),
            paint_of(*fill),
            outline(stroke.as_ref())
        ),
        Shape::Circle((x, y), radius, fill, stroke) => writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{}\"{}/>",
            paint_of(*fill),
            outline(stroke.as_ref())
        ),
        Shape::Text((x, y), text, letters) => {
            let drop = letters.size * MIDDLE;
            let (x, y, turn) = match letters.is_up {
                true => (
                    x + drop,
                    *y,
                    format!(" transform=\"rotate(-90 {:.1} {y:.1})\"", x + drop),
                ),
                false => (*x, y + drop, String::new()),
            };
            let anchor = match letters.anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let weight = if letters.is_bold {
                " font-weight=\"bold\""
            } else {
                ""
            };
            writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{anchor}\"{weight}{turn} \
                 textLength=\"{:.1}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
                letters.size,
                hex(letters.color),
                letters.width(text),
                escaped(text)
            )
        }
    };
}

fn hex(Color(r, g, b): Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn paint_of(fill: Option<Color>) -> String {
    fill.map_or("none".to_string(), hex)
}

fn outline(stroke: Option<&Stroke>) -> String {
    let Some(stroke) = stroke else {
        return String::new();
    };
    let dash = stroke.dash.map_or(String::new(), |(dash, gap)| {
        format!(" stroke-dasharray=\"{dash} {gap}\"")
    });
    format!(
        " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash}",
        hex(stroke.color),
        stroke.width
    )
}

/// A text as XML has it.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Color = Color(255, 0, 0);

    fn drawing() -> Scene {
        let mut scene = Scene::new(80.0, 60.0);
        scene.rect(
            [10.0, 10.0, 20.0, 20.0],
            Some(RED),
            Some(Stroke::new(Color::INK, 2.0)),
        );
        scene.circle((60.0, 20.0), 8.0, Some(RED), None);
        scene.circle((60.0, 45.0), 8.0, None, Some(Stroke::new(RED, 3.0)));
        scene.line(&[(0.0, 55.0), (80.0, 55.0)], Stroke::new(Color::INK, 2.0));
        scene.text((2.0, 45.0), "a<b & \"c\"", Lettering::new(7.0));
        scene
    }

    #[test]
    fn both_forms_have_the_same_shapes() {
        let canvas = drawing().canvas();
        assert_eq!((canvas.get(20, 20), canvas.get(60, 20)), (RED, RED));
        assert_eq!(canvas.get(10, 20), Color::INK);
        // A ring is open inside.
        assert_eq!(
            (canvas.get(60, 45), canvas.get(67, 45)),
            (Color::WHITE, RED)
        );
        assert_eq!(canvas.get(40, 55), Color::INK);
        let svg = drawing().svg();
        for (tag, count) in [
            ("<polygon", 1),
            ("<circle", 2),
            ("<polyline", 1),
            ("<text", 1),
        ] {
            assert_eq!(svg.matches(tag).count(), count, "{tag}\n{svg}");
        }
        assert!(svg.contains("a&lt;b &amp; &quot;c&quot;") && svg.contains("#ff0000"));
    }

    #[test]
    fn polygons_are_filled_to_their_edges() {
        let mut scene = Scene::new(40.0, 40.0);
        let triangle = [(5.0, 35.0), (35.0, 35.0), (20.0, 5.0)];
        scene.polygon(&triangle, Some(RED), None);
        let nowhere = [(f32::NAN, 1.0), (3.0, f32::INFINITY), (1e9, -1e9)];
        scene.polygon(&nowhere, Some(RED), None);
        let canvas = scene.canvas();
        assert_eq!((canvas.get(20, 20), canvas.get(20, 34)), (RED, RED));
        assert_eq!(
            (canvas.get(8, 10), canvas.get(20, 36)),
            (Color::WHITE, Color::WHITE)
        );
        // The edge is smooth.
        let mixed = (0..40)
            .map(|x| canvas.get(x, 20))
            .filter(|c| *c != RED && *c != Color::WHITE);
        assert!(mixed.count() >= 2);
    }

    #[test]
    fn texts_tell_where_they_are() {
        let mut scene = Scene::new(100.0, 100.0);
        let letters = Lettering {
            anchor: Anchor::Middle,
            ..Lettering::new(20.0)
        };
        scene.text((50.0, 50.0), "word", letters);
        let [x, y, w, h] = scene.texts()[0].1;
        assert!((x + w / 2.0 - 50.0).abs() < 0.01 && (y + h / 2.0 - 50.0).abs() < 0.01);
        assert!(w > 30.0 && w < 70.0, "{w}");
    }

    #[test]
    fn both_files_are_written_and_a_wrong_folder_is_named() {
        let stem = std::env::temp_dir().join(format!("scene-{}.x", std::process::id()));
        let files = drawing().save(&stem).unwrap();
        for file in &files {
            assert!(std::fs::metadata(file).unwrap().len() > 100);
            std::fs::remove_file(file).unwrap();
        }
        let error = drawing().save("/nowhere/at/all").unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all.svg"), "{error}");
    }
}
