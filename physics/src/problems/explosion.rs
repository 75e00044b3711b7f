//! An explosion: a shell of gas that moves outwards (Pekkilä et al. 2017, section 5).

use std::f64::consts::{PI, TAU};

use stencil_runtime::System;
use stencil_runtime::plot::ColorMap;

use super::{Panel, Picture, Plane, Problem};
use crate::systems::IsothermalNs;

/// The largest initial velocity.
const A: f64 = 1.0;
/// The radius of the shell.
const R_SHELL: f64 = 0.8;
/// Its thickness.
const D_SHELL: f64 = 0.2;

/// The problem.
pub const PROBLEM: Problem = Problem {
    name: "explosion",
    summary: "a spherical shell of gas at rest is kicked outwards",
    system: IsothermalNs::DEFINITION,
    cells: [64; 3],
    extent: [TAU; 3],
    origin: [-PI; 3],
    params: &[("cs", 1.0), ("nu", 2e-2)],
    dt: |h, param| {
        (0.4 * h / (param("cs") + A)).min(0.1 * h * h / param("nu").max(f64::MIN_POSITIVE))
    },
    end: 0.6,
    initial,
    pictures,
};

/// Eq. 23 with the minus sign that its exponent lacks in print, in a gas of density one.
fn initial(component: &str, at: [f64; 3]) -> f64 {
    let axis = match component {
        "u_x" => 0,
        "u_y" => 1,
        "u_z" => 2,
        _ => return 0.0,
    };
    let r = at.iter().map(|x| x * x).sum::<f64>().sqrt();
    if r == 0.0 {
        return 0.0;
    }
    A * (-(r - R_SHELL).powi(2) / (2.0 * D_SHELL.powi(2))).exp() * at[axis] / r
}

fn pictures(plane: &Plane) -> Vec<Picture> {
    let density = Panel {
        title: "density",
        label: "ρ",
        colors: ColorMap::Sequential,
        values: plane.fine("lnrho").mapv(f64::exp),
    };
    let speed = Panel {
        title: "speed",
        label: "|u|",
        colors: ColorMap::Magma,
        values: plane.norm("u"),
    };
    vec![Picture {
        file: "explosion.png",
        title: "Explosion",
        panels: vec![density, speed],
    }]
}
