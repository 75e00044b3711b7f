//! Filled polygons with smooth edges.

use super::canvas::Canvas;
use super::color::Color;

/// Rows and columns of samples in a pixel.
const SAMPLES: usize = 4;

impl Canvas {
    /// Fills a polygon by the rule of even and odd. Points that are not finite make nothing.
    pub(super) fn polygon(&mut self, points: &[(f32, f32)], color: Color) {
        if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
            return;
        }
        let bounds = self.bounds();
        let rows = points.iter().map(|p| p.1);
        let top = rows.clone().fold(f32::INFINITY, f32::min).max(0.0) as i32;
        let bottom = rows.fold(f32::NEG_INFINITY, f32::max).min(bounds.h as f32).ceil() as i32;
        for y in top..bottom {
            let mut coverage = vec![0.0_f32; bounds.w as usize];
            for sample in 0..SAMPLES {
                let at = y as f32 + (sample as f32 + 0.5) / SAMPLES as f32;
                for pair in crossings(points, at).chunks_exact(2) {
                    cover(&mut coverage, pair[0], pair[1]);
                }
            }
            for (x, covered) in coverage.into_iter().enumerate().filter(|(_, c)| *c > 0.0) {
                self.blend(x as i32, y, color, covered);
            }
        }
    }
}

/// Returns the crossings of the edges of a polygon with a horizontal line, from left to right.
fn crossings(points: &[(f32, f32)], y: f32) -> Vec<f32> {
    let next = points.iter().cycle().skip(1);
    let mut all: Vec<f32> = points
        .iter()
        .zip(next)
        .filter(|(a, b)| (a.1 <= y) != (b.1 <= y))
        .map(|(a, b)| a.0 + (y - a.1) / (b.1 - a.1) * (b.0 - a.0))
        .collect();
    all.sort_by(f32::total_cmp);
    all
}

/// Adds a part of one row of samples, from `begin` to `end`.
fn cover(coverage: &mut [f32], begin: f32, end: f32) {
    let (begin, end) = (begin.max(0.0), end.min(coverage.len() as f32));
    if begin >= end {
        return;
    }
    let (first, after) = (begin as usize, end.ceil() as usize);
    let pixels = coverage.iter_mut().enumerate().take(after).skip(first);
    for (x, covered) in pixels {
        let part = end.min(x as f32 + 1.0) - begin.max(x as f32);
        *covered += part.max(0.0) / SAMPLES as f32;
    }
}
