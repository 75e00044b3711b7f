//! Heat that spreads from two spots.

use stencil_runtime::System;
use stencil_runtime::plot::ColorMap;

use super::{Panel, Picture, Plane, Problem};
use crate::systems::Heat;

/// The problem.
pub const PROBLEM: Problem = Problem {
    name: "heat_blob",
    summary: "heat spreads from two spots in a plane",
    system: Heat::DEFINITION,
    cells: [128, 128, 1],
    extent: [1.0; 3],
    origin: [0.0; 3],
    params: &[("kappa", 1.0)],
    dt: |h, param| 0.15 * h * h / param("kappa").max(f64::MIN_POSITIVE),
    end: 2e-3,
    initial,
    pictures,
};

fn initial(_: &str, [x, y, _]: [f64; 3]) -> f64 {
    let spot = |x0: f64, y0: f64, r: f64| (-((x - x0).powi(2) + (y - y0).powi(2)) / (r * r)).exp();
    spot(0.35, 0.4, 0.08) + 0.6 * spot(0.65, 0.65, 0.12)
}

fn pictures(plane: &Plane) -> Vec<Picture> {
    let temperature = Panel {
        title: "temperature",
        label: "T",
        colors: ColorMap::Magma,
        values: plane.get("temperature"),
    };
    vec![Picture {
        file: "heat_blob.png",
        title: "Heat",
        panels: vec![temperature],
    }]
}
