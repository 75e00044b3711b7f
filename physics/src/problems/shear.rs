//! A shear layer that rolls up into vortices.

use std::f64::consts::TAU;

use stencil_runtime::System;
use stencil_runtime::plot::ColorMap;

use super::{Panel, Picture, Plane, Problem};
use crate::systems::IsothermalNs;

/// Thickness of the layers.
const WIDTH: f64 = 0.14;

/// The problem.
pub const PROBLEM: Problem = Problem {
    name: "shear",
    summary: "two shear layers roll up into vortices (Kelvin-Helmholtz instability)",
    system: IsothermalNs::DEFINITION,
    cells: [128, 128, 1],
    extent: [TAU, TAU, TAU / 128.0],
    origin: [0.0; 3],
    params: &[("cs", 2.0), ("nu", 2e-3)],
    dt: |h, param| {
        (0.4 * h / (param("cs") + 1.0)).min(0.1 * h * h / param("nu").max(f64::MIN_POSITIVE))
    },
    end: 14.0,
    initial,
    pictures,
};

fn initial(component: &str, [x, y, _]: [f64; 3]) -> f64 {
    let (low, high) = (y - TAU / 4.0, y - 3.0 * TAU / 4.0);
    match component {
        "u_x" => 0.5 * ((low / WIDTH).tanh() - (high / WIDTH).tanh() - 1.0),
        "u_y" => {
            0.1 * (2.0 * x).sin()
                * ((-(low / WIDTH).powi(2)).exp() + (-(high / WIDTH).powi(2)).exp())
        }
        _ => 0.0,
    }
}

fn pictures(plane: &Plane) -> Vec<Picture> {
    let (u_x, u_y) = (plane.get("u_x"), plane.get("u_y"));
    let vorticity = plane.derivative(&u_y, 1) - plane.derivative(&u_x, 0);
    let density = Panel {
        title: "density",
        label: "ρ",
        colors: ColorMap::Sequential,
        values: plane.fine("lnrho").mapv(f64::exp),
    };
    let vorticity = Panel {
        title: "vorticity",
        label: "ω",
        colors: ColorMap::Diverging,
        values: vorticity,
    };
    vec![Picture {
        file: "shear.png",
        title: "Shear layers",
        panels: vec![vorticity, density],
    }]
}
