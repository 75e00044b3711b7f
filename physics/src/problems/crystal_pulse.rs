//! A pulse in a crystal: its waves are not round.

use stencil_runtime::System;
use stencil_runtime::plot::ColorMap;

use super::{Panel, Picture, Plane, Problem};
use crate::systems::ElasticWave;

/// The problem.
pub const PROBLEM: Problem = Problem {
    name: "crystal_pulse",
    summary: "elastic waves from a point push in an anisotropic crystal",
    system: ElasticWave::DEFINITION,
    cells: [64; 3],
    extent: [2.0; 3],
    origin: [-1.0; 3],
    params: &[],
    dt: |h, param| {
        0.3 * h
            / param("c11")
                .max(param("c44"))
                .max(param("c12").abs())
                .sqrt()
    },
    end: 0.45,
    initial,
    pictures,
};

fn initial(component: &str, [x, y, z]: [f64; 3]) -> f64 {
    let push = (-(x * x + y * y + z * z) / 0.01).exp();
    if component == "v_x" { push } else { 0.0 }
}

fn pictures(plane: &Plane) -> Vec<Picture> {
    let along = Panel {
        title: "velocity along the push",
        label: "v_x",
        colors: ColorMap::Diverging,
        values: plane.get("v_x"),
    };
    let across = Panel {
        title: "velocity across it",
        label: "v_y",
        colors: ColorMap::Diverging,
        values: plane.get("v_y"),
    };
    vec![Picture {
        file: "crystal_pulse.png",
        title: "A pulse in a cubic crystal",
        panels: vec![along, across],
    }]
}
