//! Drawings as SVG.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::{Point, Scene, Shape, Stroke, Writing};
use crate::plot::canvas::{Rect, near_pieces};
use crate::plot::color::Color;
use crate::plot::text::{Align, Fonts, Weight};

/// Returns the drawing as text.
pub(super) fn print(scene: &Scene) -> String {
    let (w, h) = scene.size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n"
    );
    let fonts = Fonts::new();
    for shape in &scene.shapes {
        // Writing to a text does not fail.
        let _ = match shape {
            Shape::Line(points, stroke, clip) => line(&mut out, points, stroke, *clip),
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
            Shape::Text(writing) => text(&mut out, writing, &fonts),
            Shape::Fill(area, color, coverage) => fill(&mut out, *area, *color, *coverage),
            Shape::Image(area, pixels) => image(&mut out, *area, pixels),
        };
    }
    out + "</svg>\n"
}

fn list(points: &[Point]) -> String {
    let pairs = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
    pairs.collect::<Vec<_>>().join(" ")
}

fn line(
    out: &mut String,
    points: &[Point],
    stroke: &Stroke,
    clip: Option<Rect>,
) -> std::fmt::Result {
    let stroke = outline(Some(stroke));
    let Some(clip) = clip else {
        return writeln!(out, "<polyline points=\"{}\" fill=\"none\"{stroke}/>", list(points));
    };
    let Rect { x, y, w, h } = clip;
    let name = format!("clip{x}_{y}_{w}_{h}");
    let declared = format!("<clipPath id=\"{name}\">");
    if !out.contains(&declared) {
        writeln!(
            out,
            "{declared}<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/></clipPath>"
        )?;
    }
    for piece in near_pieces(points, clip) {
        writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\"{stroke} clip-path=\"url(#{name})\"/>",
            list(&piece)
        )?;
    }
    Ok(())
}

fn text(out: &mut String, writing: &Writing, fonts: &Fonts) -> std::fmt::Result {
    let ((x, y), style) = (writing.at, writing.style);
    let turn = match writing.is_up {
        true => format!(" transform=\"rotate(-90 {x:.1} {y:.1})\""),
        false => String::new(),
    };
    let anchor = match writing.align {
        Align::Left => "start",
        Align::Center => "middle",
        Align::Right => "end",
    };
    let weight = match style.weight {
        Weight::Bold => " font-weight=\"bold\"",
        Weight::Regular => "",
    };
    writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{anchor}\"{weight}{turn} \
         textLength=\"{:.1}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
        style.size,
        hex(style.color),
        fonts.width(&writing.text, style),
        escaped(&writing.text)
    )
}

fn fill(out: &mut String, area: Rect, color: Color, coverage: f32) -> std::fmt::Result {
    let Rect { x, y, w, h } = area;
    let opacity = match coverage < 1.0 {
        true => format!(" fill-opacity=\"{coverage}\""),
        false => String::new(),
    };
    writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{}\"{opacity}/>",
        hex(color)
    )
}

fn image(out: &mut String, area: Rect, pixels: &[Color]) -> std::fmt::Result {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = crate::plot::canvas::encode(&mut bytes, (area.w, area.h), pixels, None);
    let Rect { x, y, w, h } = area;
    writeln!(
        out,
        "<image x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" preserveAspectRatio=\"none\" \
         href=\"data:image/png;base64,{}\"/>",
        BASE64_STANDARD.encode(bytes)
    )
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
    let dash = stroke
        .dash
        .map_or(String::new(), |(dash, gap)| format!(" stroke-dasharray=\"{dash} {gap}\""));
    format!(
        " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash}",
        hex(stroke.color),
        stroke.width
    )
}

/// Escapes a text for XML.
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
