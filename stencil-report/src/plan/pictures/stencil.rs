//! The points that each kernel of a substep reads, as cubes in space.

use std::collections::BTreeSet;

use stencil_compiler::algorithm::Offset;
use stencil_compiler::algorithm::footprint::footprint;
use stencil_compiler::diag::counted;
use stencil_runtime::plot::{Anchor, Color, Lettering, Point, Scene, Stroke};

use super::{MARGIN, centred, faint, heading, subtitle};
use crate::explain::substep;
use crate::plan::candidates::Problem;
use crate::plan::ends;
use crate::plan::report::{Kernel, Report};

/// Width and height of a panel.
const PANEL: (f32, f32) = (560.0, 520.0);

/// Most panels in a row.
const COLUMNS: usize = 3;

/// From the top of a picture to its panels.
const TOP: f32 = 110.0;

/// Half the width of a cube, in cells.
const HALF: f32 = 0.31;

/// The camera: turned around the vertical axis, and above the horizon.
const TURN: f32 = 0.62;
const RISE: f32 = 0.38;

/// Kinds of points, by the number of axes along which they are away from the computed cell.
const KINDS: [(&str, Color); 4] = [
    ("the own cell", Color(213, 94, 0)),
    ("along an axis", Color(0, 107, 178)),
    ("on a diagonal of a plane", Color(0, 148, 110)),
    ("on a diagonal of space", Color(176, 74, 138)),
];

/// Draws a panel for each kernel of the substep that explanations are about.
pub(super) fn draw(problem: &Problem<'_>, report: &Report<'_>) -> Scene {
    let at = substep(problem.algorithm);
    let kernels = report.plan.kernels().filter(|k| k.launch.substep == at);
    let panels: Vec<(String, String, BTreeSet<Offset>)> =
        kernels.enumerate().map(|(number, kernel)| panel(problem, number, kernel)).collect();
    let columns = panels.len().clamp(1, COLUMNS);
    let rows = panels.len().div_ceil(columns).max(1);
    let width = (columns as f32 * PANEL.0 + 2.0 * MARGIN).max(1000.0);
    let mut scene = Scene::new(width, TOP + rows as f32 * PANEL.1 + 70.0);
    let title = format!("{}: the points that an update reads", report.problem.algorithm.name);
    heading(&mut scene, &title, &subtitle(report));
    let gap = (width - columns as f32 * PANEL.0) / 2.0;
    for (number, (title, words, points)) in panels.iter().enumerate() {
        let left = gap + (number % columns) as f32 * PANEL.0;
        let top = TOP + (number / columns) as f32 * PANEL.1;
        let middle = left + PANEL.0 / 2.0;
        scene.text((middle, top + 10.0), title, centred(Lettering::new(20.0)));
        scene.text((middle, top + 38.0), words, centred(faint(16.0)));
        let centre = (middle, top + 50.0 + (PANEL.1 - 50.0) / 2.0);
        cubes(&mut scene, centre, points, problem.algorithm.dimension);
    }
    let all: BTreeSet<Offset> = panels.into_iter().flat_map(|(.., points)| points).collect();
    legend(&mut scene, &all);
    scene
}

/// The output of a kernel, its footprint in words, and all points that it reads.
fn panel(
    problem: &Problem<'_>,
    number: usize,
    kernel: &Kernel,
) -> (String, String, BTreeSet<Offset>) {
    let algorithm = problem.algorithm;
    let (roots, stored) = ends(algorithm, &kernel.launch);
    let read = footprint(algorithm, &roots, &stored);
    let points: BTreeSet<Offset> = read.values().flatten().copied().collect();
    let wide = read.values().filter(|of| of.len() > 1).count();
    let declared = kernel.equations.iter().chain(&kernel.stores);
    let names: Vec<&str> = declared.map(|d| d.name.as_str()).collect();
    let gives = match names.len() {
        0..=4 => names.join(", "),
        n => format!("{} and {} more", names[..3].join(", "), n - 3),
    };
    let radius = points.iter().flatten().map(|c| c.abs()).max().unwrap_or(0);
    let words = format!(
        "{} of {}, radius {radius}",
        counted(points.len(), "point"),
        counted(wide.max(1), "array")
    );
    (format!("kernel {}: {gives}", number + 1), words, points)
}

/// Projects a place in space: its position relative to the middle, and its nearness.
fn seen([x, y, z]: [f32; 3]) -> (Point, f32) {
    let ((sin, cos), (up, flat)) = (TURN.sin_cos(), RISE.sin_cos());
    let (right, away) = (cos * x + sin * y, cos * y - sin * x);
    ((right, -(z * flat + away * up)), z * up - away * flat)
}

/// Cubes at points, those behind first, on the axes of the dimensions.
fn cubes(scene: &mut Scene, centre: Point, points: &BTreeSet<Offset>, dimension: usize) {
    let reach = points.iter().flatten().map(|c| c.abs()).max().unwrap_or(0).max(1) as f32;
    let scale = (PANEL.0.min(PANEL.1) * 0.40) / (reach + 0.9);
    let place = |at: [f32; 3]| {
        let ((x, y), _) = seen(at);
        (centre.0 + scale * x, centre.1 + scale * y)
    };
    for axis in 0..dimension {
        let end = |sign: f32| {
            let mut at = [0.0; 3];
            at[axis] = sign * (reach + 0.75);
            at
        };
        let grey = Stroke::new(Color(176, 180, 188), 2.0);
        scene.line(&[place(end(-1.0)), place(end(1.0))], grey);
    }
    let mut order: Vec<[f32; 3]> = points.iter().map(|at| at.map(|c| c as f32)).collect();
    order.sort_by(|a, b| seen(*a).1.total_cmp(&seen(*b).1));
    for at in order {
        cube(scene, &place, at);
    }
    // In front of all, as far out as cubes of other axes do not come.
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate().take(dimension) {
        let mut at = [0.0; 3];
        at[axis] = reach + if axis == 1 { 1.5 } else { 1.05 };
        let letters = Lettering { is_bold: true, ..centred(faint(18.0)) };
        scene.text(place(at), name, letters);
    }
}

/// The three faces of a cube that are seen.
fn cube(scene: &mut Scene, place: &impl Fn([f32; 3]) -> Point, at: [f32; 3]) {
    let (_, color) = KINDS[kind(at)];
    // Towards the eye: +z, and of x and y what the turn shows.
    for (axis, sign, light) in [(2, 1.0, 0.35), (1, -1.0, 0.08), (0, 1.0, -0.22)] {
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(a, b)| {
            let mut corner = at;
            corner[axis] += sign * HALF;
            corner[(axis + 1) % 3] += a * HALF;
            corner[(axis + 2) % 3] += b * HALF;
            place(corner)
        });
        let shade = match light > 0.0 {
            true => color.blend(Color::WHITE, light),
            false => color.blend(Color::INK, -light),
        };
        scene.polygon(&corners, Some(shade), Some(Stroke::new(Color::WHITE, 1.0)));
    }
}

/// Along how many axes a point is away.
fn kind(at: [f32; 3]) -> usize {
    at.iter().filter(|c| **c != 0.0).count()
}

/// The kinds of points that there are, with their numbers, in a row at the bottom.
fn legend(scene: &mut Scene, points: &BTreeSet<Offset>) {
    let (width, height) = scene.size();
    let letters = Lettering::new(17.0);
    let mut kinds = Vec::new();
    for (number, (words, color)) in KINDS.into_iter().enumerate() {
        let own = points.iter().filter(|at| kind(at.map(|c| c as f32)) == number);
        let own = own.count();
        if own > 0 {
            kinds.push((format!("{words} ({own})"), color));
        }
    }
    let long: f32 = kinds.iter().map(|(words, _)| letters.width(words) + 62.0).sum();
    let (mut x, y) = ((width - long).max(0.0) / 2.0, height - 34.0);
    for (words, color) in kinds {
        scene.rect([x, y - 9.0, 18.0, 18.0], Some(color), None);
        let start = Lettering { anchor: Anchor::Start, ..letters };
        x += 28.0;
        scene.text((x, y), &words, start);
        x += letters.width(&words) + 34.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_in_front() {
        let nearness = |at| seen(at).1;
        assert!(nearness([0.0, 0.0, 1.0]) > nearness([0.0; 3]));
        assert!(nearness([0.0, -1.0, 0.0]) > nearness([0.0; 3]));
        assert!(nearness([1.0, 0.0, 0.0]) > nearness([0.0; 3]));
        // Up is up, and x points to the right.
        assert!(seen([0.0, 0.0, 1.0]).0.1 < 0.0 && seen([1.0, 0.0, 0.0]).0.0 > 0.5);
    }
}
