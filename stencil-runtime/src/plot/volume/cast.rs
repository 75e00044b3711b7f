//! Rays through a box, one a pixel, and more where neighbours differ.

use rayon::prelude::*;

use super::camera::{Sight, Vector, along, dot, unit};
use super::grid::Grid;
use crate::plot::color::{Color, ColorMap};

/// Samples along the shortest side of a cell.
const SAMPLES: f64 = 2.0;
/// Samples along one ray at most.
const MOST: f64 = 8192.0;
/// Halvings of the part of a ray in which it meets a surface.
const HALVINGS: usize = 6;
/// The share of the light that a surface in front of others takes.
const VEIL: f32 = 0.45;
/// The optical depth of one longest side of the highest values.
const DEPTH: f64 = 16.0;
/// Beyond this cover nothing shows through.
const OPAQUE: f32 = 0.995;
/// The difference of neighbours at which a pixel gets more rays.
const EDGE: f32 = 0.06;

/// A colour that was multiplied by its cover, and the cover; 0 to 1.
pub(super) type Light = [f32; 4];

/// The content of the box, as rays see it.
pub(super) enum Content {
    /// Places of surfaces with their colours; the last one is opaque.
    Surfaces(Vec<(f32, Color)>),
    /// A cloud in the colours of a map.
    Cloud(ColorMap),
}

/// Returns the light of all pixels of the box, row by row from the top, for a picture of this size.
pub(super) fn cast(
    grid: &Grid,
    sight: &Sight,
    content: &Content,
    (w, h): (usize, usize),
) -> Vec<Light> {
    let ray = Ray { grid, sight, content, step: 0.0, table: table(content) };
    let longest = dot(sight.sides, sight.sides).sqrt();
    let ray = Ray { step: (grid.shortest() / SAMPLES).max(longest / MOST), ..ray };
    let place = |x: f64, y: f64| (x - 0.5 * w as f64, y - 0.5 * h as f64);
    let once: Vec<Light> = (0..w * h)
        .into_par_iter()
        .map(|i| ray.light(place((i % w) as f64 + 0.5, (i / w) as f64 + 0.5)))
        .collect();
    (0..w * h)
        .into_par_iter()
        .map(|i| {
            let (x, y) = (i % w, i / w);
            if !is_edge(&once, (x, y), (w, h)) {
                return once[i];
            }
            let parts = [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)];
            let parts = parts.map(|(dx, dy)| ray.light(place(x as f64 + dx, y as f64 + dy)));
            std::array::from_fn(|c| parts.iter().map(|part| part[c]).sum::<f32>() / 4.0)
        })
        .collect()
}

fn is_edge(lights: &[Light], (x, y): (usize, usize), (w, h): (usize, usize)) -> bool {
    let here = lights[y * w + x];
    let others = [
        (x > 0).then(|| lights[y * w + x - 1]),
        (x + 1 < w).then(|| lights[y * w + x + 1]),
        (y > 0).then(|| lights[(y - 1) * w + x]),
        (y + 1 < h).then(|| lights[(y + 1) * w + x]),
    ];
    let differs = |other: Light| here.iter().zip(other).any(|(a, b)| (a - b).abs() > EDGE);
    others.into_iter().flatten().any(differs)
}

/// The colours of a cloud at even places of the range.
fn table(content: &Content) -> Vec<[f32; 3]> {
    match content {
        Content::Surfaces(_) => Vec::new(),
        Content::Cloud(map) => (0..=255).map(|i| rgb(map.at(f64::from(i) / 255.0))).collect(),
    }
}

fn rgb(color: Color) -> [f32; 3] {
    [color.0, color.1, color.2].map(|c| f32::from(c) / 255.0)
}

struct Ray<'a> {
    grid: &'a Grid,
    sight: &'a Sight,
    content: &'a Content,
    step: f64,
    table: Vec<[f32; 3]>,
}

impl Ray<'_> {
    /// Returns the light that comes from a place of the picture.
    fn light(&self, place: (f64, f64)) -> Light {
        let origin = self.sight.origin(place);
        let Some(inside) = self.sight.inside(origin) else {
            return [0.0; 4];
        };
        match self.content {
            Content::Surfaces(surfaces) => self.surfaces(surfaces, origin, inside),
            Content::Cloud(map) => self.cloud(*map, origin, inside),
        }
    }

    fn at(&self, origin: Vector, length: f64) -> Vector {
        along(origin, -length, self.sight.toward)
    }

    fn surfaces(
        &self,
        surfaces: &[(f32, Color)],
        origin: Vector,
        (enters, leaves): (f64, f64),
    ) -> Light {
        let mut light = [0.0; 4];
        let (mut from, mut before) = (enters, self.grid.at(self.at(origin, enters)));
        let mut met: Vec<(f64, usize)> = Vec::new();
        while from < leaves {
            let to = (from + self.step).min(leaves);
            let after = self.grid.at(self.at(origin, to));
            for (which, (level, _)) in surfaces.iter().enumerate() {
                // False beside an empty cell.
                if (before < *level && after >= *level) || (before >= *level && after < *level) {
                    met.push((self.meeting(origin, (from, to), before, *level), which));
                }
            }
            met.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (length, which) in met.drain(..) {
                let is_last = which + 1 == surfaces.len();
                let cover = if is_last { 1.0 } else { VEIL };
                let color = self.lit(self.at(origin, length), surfaces[which].1);
                add(&mut light, color, cover);
                if is_last {
                    return light;
                }
            }
            (from, before) = (to, after);
        }
        light
    }

    /// Returns the length at which a ray meets a surface between two others.
    fn meeting(
        &self,
        origin: Vector,
        (mut from, mut to): (f64, f64),
        before: f32,
        level: f32,
    ) -> f64 {
        for _ in 0..HALVINGS {
            let middle = 0.5 * (from + to);
            let value = self.grid.at(self.at(origin, middle));
            match (value < level) == (before < level) {
                true => from = middle,
                false => to = middle,
            }
        }
        0.5 * (from + to)
    }

    /// Returns the colour of a surface in light from above the left shoulder; both sides of it are alike.
    fn lit(&self, point: Vector, color: Color) -> [f32; 3] {
        let Sight { toward, right, up, .. } = *self.sight;
        let color = rgb(color);
        let Some(normal) = unit(self.grid.slope(point)) else {
            return color;
        };
        let facing = if dot(normal, toward) < 0.0 { normal.map(|c| -c) } else { normal };
        let lamp = along(along(toward, 0.6, up), -0.5, right);
        let lamp = unit(lamp).unwrap_or(toward);
        let half = unit(along(lamp, 1.0, toward)).unwrap_or(toward);
        // Light goes round to the dark side, which keeps its shape.
        let diffuse = (0.5 + 0.5 * dot(facing, lamp)).max(0.0).powi(2) as f32;
        let gloss = dot(facing, half).max(0.0).powi(40) as f32;
        color.map(|c| (c * (0.28 + 0.8 * diffuse) + 0.2 * gloss).min(1.0))
    }

    fn cloud(&self, map: ColorMap, origin: Vector, (enters, leaves): (f64, f64)) -> Light {
        let mut light = [0.0; 4];
        // Samples are in the middle of equal parts.
        let count = ((leaves - enters) / self.step).ceil().max(1.0);
        let part = (leaves - enters) / count;
        for k in 0..count as usize {
            let length = enters + (k as f64 + 0.5) * part;
            let value = self.grid.at(self.at(origin, length));
            if value.is_nan() {
                continue;
            }
            let place = match map {
                ColorMap::Cyclic => value.rem_euclid(1.0),
                _ => value.clamp(0.0, 1.0),
            };
            let weight = thickness(map, place);
            let cover = 1.0 - (-DEPTH * f64::from(weight) * part).exp() as f32;
            let color = self.table[(place * 255.0).round() as usize];
            add(&mut light, color, cover);
            if light[3] > OPAQUE {
                break;
            }
        }
        light
    }
}

/// Returns how much of the light a value takes, 0 to 1.
pub(super) fn thickness(map: ColorMap, place: f32) -> f32 {
    match map {
        ColorMap::Diverging => (2.0 * place - 1.0).powi(2),
        ColorMap::Cyclic => 0.25,
        _ => place * place,
    }
}

/// Adds a colour behind all that is in front of it.
fn add(light: &mut Light, color: [f32; 3], cover: f32) {
    let share = (1.0 - light[3]) * cover;
    for (sum, c) in light.iter_mut().zip(color) {
        *sum += share * c;
    }
    light[3] += share;
}
