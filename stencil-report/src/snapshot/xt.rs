//! Diagrams of a line over time.

use ndarray::Array2;
use stencil_runtime::plot::{ColorMap, Heatmap, Panels, PlotError, Scene};

use super::picture::{Picture, sampling};
use super::{AXES, Look, Shot, Snapshot, short, wrong};
use crate::Failure;

/// Rows of a diagram at least, so that it shows no frames.
const ROWS: usize = 480;

/// A line of each field, file by file: place to the right, time upwards.
#[derive(Debug)]
pub struct Diagram<'a> {
    shot: &'a Shot,
    look: Look,
    system: String,
    times: Vec<f64>,
    /// The values of each field, time after time.
    fields: Vec<Vec<Vec<f64>>>,
}

impl<'a> Diagram<'a> {
    /// Begins a diagram of the lines of a shot.
    ///
    /// # Errors
    /// If it shows planes or boxes.
    pub fn new(shot: &'a Shot, look: Look) -> Result<Self, Failure> {
        let (fields, _, _) = shot.line()?;
        let fields = vec![Vec::new(); fields.len()];
        Ok(Diagram { shot, look, system: String::new(), times: Vec::new(), fields })
    }

    /// Adds the lines of a file.
    ///
    /// # Errors
    /// If it cannot be read, has no time, or one that is not after the last one.
    pub fn add(&mut self, snapshot: &mut Snapshot) -> Result<(), Failure> {
        let t = snapshot.time.ok_or_else(|| wrong("the file has no time `t`"))?;
        if let Some(last) = self.times.last().filter(|last| t <= **last) {
            return Err(wrong(format_args!(
                "t = {} does not come after t = {} of the frame before; the folder has frames of more than one run",
                short(t),
                short(*last)
            )));
        }
        let picture: Picture<'_> = self.shot.take(snapshot)?;
        self.look.see(&picture);
        for (at, lines) in self.fields.iter_mut().enumerate() {
            lines.push(picture.values(at).collect());
        }
        self.times.push(t);
        self.system.clone_from(&picture.system);
        Ok(())
    }

    /// Draws it, linear in time between files.
    ///
    /// # Errors
    /// If there are fewer than two files, or values that cannot be shown.
    pub fn scene(&self) -> Result<Scene, Failure> {
        let (fields, view, axis) = self.shot.line()?;
        self.shot.check(&self.look)?;
        let [first, .., last] = self.times[..] else {
            return Err(wrong("a diagram over x and t takes two frames or more"));
        };
        let (x0, x1) = view.mesh().edges(axis);
        let colors: Vec<ColorMap> =
            fields.iter().enumerate().map(|(at, field)| self.look.colors(field, at)).collect();
        let grids: Vec<Array2<f64>> = self
            .fields
            .iter()
            .zip(&colors)
            .map(|(lines, map)| even(&self.times, lines, *map == ColorMap::Cyclic))
            .collect();
        let mut panels = Vec::new();
        for (at, (field, grid)) in fields.iter().zip(&grids).enumerate() {
            let single = fields.len() == 1 && !self.system.is_empty();
            let mut map = Heatmap::new(grid.view(), [x0, x1, first, last])
                .title(match single {
                    true => format!("{}: {}", self.system, field.label),
                    false => field.label.clone(),
                })
                .subtitle(view.places().join(", "))
                .labels(AXES[axis], "t")
                .color_label(field.label.clone())
                .map(colors[at])
                .sampling(sampling(colors[at]))
                .free();
            map.log = self.look.log;
            map.range = self.look.map_range(at, colors[at]);
            panels.push(map);
        }
        let title = if fields.len() == 1 { String::new() } else { self.system.clone() };
        let drawn = Panels::new(panels).title(title).scene();
        drawn.map_err(|error: PlotError| wrong(error))
    }
}

/// Returns rows at even times between the first and the last one: linear between two times, or those of the nearest one.
fn even(times: &[f64], lines: &[Vec<f64>], is_nearest: bool) -> Array2<f64> {
    let count = times.len().max(ROWS);
    let columns = lines.first().map_or(0, Vec::len);
    let (first, last) = (times[0], times[times.len() - 1]);
    let rows: Vec<(usize, f64)> = (0..count)
        .map(|row| {
            let t = first + (last - first) * (row as f64 + 0.5) / count as f64;
            let after = times.partition_point(|time| *time <= t).clamp(1, times.len() - 1);
            let part = (t - times[after - 1]) / (times[after] - times[after - 1]);
            (after, if is_nearest { part.round() } else { part })
        })
        .collect();
    Array2::from_shape_fn((count, columns), |(row, column)| {
        let (after, part) = rows[row];
        let (a, b) = (lines[after - 1][column], lines[after][column]);
        // A frame alone counts at its own time, even beside one that is not finite.
        match part {
            0.0 => a,
            1.0 => b,
            _ => a + part * (b - a),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_linear_between_uneven_times() {
        let times = [0.0, 1.0, 4.0];
        let lines = [vec![0.0, 5.0], vec![1.0, 5.0], vec![4.0, 5.0]];
        let grid = even(&times, &lines, false);
        assert_eq!(grid.dim(), (ROWS, 2));
        for row in 0..ROWS {
            let t = 4.0 * (row as f64 + 0.5) / ROWS as f64;
            assert!((grid[[row, 0]] - t).abs() < 1e-12 && grid[[row, 1]] == 5.0, "{row}");
        }
        let steps = even(&times, &lines, true);
        assert!(steps.column(0).iter().all(|v| [0.0, 1.0, 4.0].contains(v)));
        assert_eq!(steps.column(0).iter().filter(|v| **v == 0.0).count(), ROWS / 8);
    }
}
