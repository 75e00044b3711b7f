//! The pictures that a problem asks for.

use ndarray::{Array2, Slice};
use stencil_runtime::plot::{
    ColorMap, Heatmap, LinePlot, Panels, PlotError, Sampling, Style, finer,
};
use stencil_runtime::problem::{Expression, Plot, Problem, Shown};
use stencil_runtime::report::significant;
use stencil_runtime::{Axis, Error, Mesh, Number, Simulation};

use crate::planes::{color_ends, through_middle};

/// Heat maps beside each other, or curves.
#[derive(Debug)]
pub struct Picture {
    title: String,
    panels: Vec<Panel>,
    /// Planes side by side, if each plot has several.
    columns: Option<usize>,
    /// The name of the run.
    run: Option<String>,
}

/// One plot with its values.
#[derive(Debug)]
struct Panel {
    plot: Plot,
    /// `[vertical, horizontal]`; one row for a curve.
    values: Array2<f64>,
    axes: [Axis; 2],
    /// The lower edge and the distance of points along both axes, horizontal first.
    edges: [(f64, f64); 2],
    caption: String,
    curve: bool,
    /// The smallest and the largest value on all planes of the plot.
    seen: Option<(f64, f64)>,
}

/// Draws all pictures of a problem, with the names of their files, in its order.
///
/// # Errors
/// If a value that is shown cannot be evaluated.
pub fn pictures<T: Number>(
    problem: &Problem,
    simulation: &mut Simulation<T>,
) -> Result<Vec<(String, Picture)>, Error> {
    let mut pictures: Vec<(String, Picture)> = Vec::new();
    for plot in &problem.plots {
        let panels = panels(problem, plot, simulation)?;
        let of_plot = panels.len();
        match pictures.iter_mut().find(|(name, _)| *name == plot.file) {
            Some((_, picture)) => {
                picture.panels.extend(panels);
                // Planes of one box stand side by side.
                picture.columns = picture.columns.filter(|columns| *columns == of_plot);
            }
            None => {
                let run = simulation.run_id().map(str::to_string);
                let title = problem.title.clone();
                let columns = Some(of_plot).filter(|count| *count > 1);
                pictures.push((plot.file.clone(), Picture { title, panels, columns, run }));
            }
        }
    }
    Ok(pictures)
}

/// Returns the planes of a plot: the one that it names, all of a line or a plane, or those that stand for a box.
fn panels<T: Number>(
    problem: &Problem,
    plot: &Plot,
    simulation: &mut Simulation<T>,
) -> Result<Vec<Panel>, Error> {
    let is_box = problem.mesh.cells.iter().all(|cells| *cells > 1);
    let beside = problem.plots.iter().filter(|other| other.file == plot.file).count();
    let cuts: Vec<Cut> = match plot.slice {
        None if is_box => {
            let normals = through_middle(beside).iter();
            normals.map(|normal| Cut::new(problem, plot, (*normal, None))).collect()
        }
        slice => {
            let (normal, at) = slice.map_or((Axis::Z, None), |(normal, at)| (normal, Some(at)));
            vec![Cut::new(problem, plot, (normal, at))]
        }
    };
    let panels = cuts.into_iter().map(|cut| panel(problem, plot, cut, simulation));
    let mut panels = panels.collect::<Result<Vec<Panel>, Error>>()?;
    let values = panels.iter().flat_map(|panel| panel.values.iter().copied());
    let finite = values.filter(|v| v.is_finite()).map(|v| (v, v));
    let seen = finite.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    panels.iter_mut().for_each(|panel| panel.seen = seen);
    Ok(panels)
}

/// The plane of a picture.
#[derive(Clone, Copy, Debug)]
struct Cut {
    mesh: Mesh,
    /// The axis that it is normal to, and the cell that it goes through.
    normal: Axis,
    at: usize,
    /// The axes of the picture, horizontal first.
    axes: [Axis; 2],
    /// Which of them are periodic.
    periodic: [bool; 2],
    /// Points of the picture in a cell, along each axis.
    factor: usize,
}

/// Below so many cells an axis is interpolated, so that a picture shows no cells.
const COARSE: usize = 300;
const FACTOR: usize = 4;
/// Cells on each side that an interpolation reads.
const RIM: usize = 2;

impl Cut {
    /// Makes the plane at a coordinate along an axis, or through the middle.
    fn new(problem: &Problem, plot: &Plot, (normal, at): (Axis, Option<f64>)) -> Self {
        let (mesh, dimension) = (problem.mesh, problem.system.model().dimension);
        let cells = mesh.cells[normal.index()];
        let at = match at {
            Some(at) => {
                let axis = normal.index();
                let cell = (at - mesh.coordinate(axis, 0)) / mesh.spacing()[axis];
                (cell.round().max(0.0) as usize).min(cells - 1)
            }
            None => cells / 2,
        };
        let axes = match normal {
            Axis::X => [Axis::Y, Axis::Z],
            Axis::Y => [Axis::X, Axis::Z],
            Axis::Z => [Axis::X, Axis::Y],
        };
        let coarse = axes.iter().all(|axis| mesh.cells[axis.index()] < COARSE);
        // Interpolation may go below zero, which has no logarithm, and between two angles on either side of the end of
        // a turn, where there is none.
        let smooth = dimension > 1 && coarse && !plot.log && plot.map != Some(ColorMap::Cyclic);
        Cut {
            mesh,
            normal,
            at,
            axes,
            periodic: axes.map(|axis| problem.is_periodic(axis)),
            factor: if smooth { FACTOR } else { 1 },
        }
    }

    /// Values on the plane, `[vertical, horizontal]`, at the points of the picture.
    fn finer(&self, plane: Array2<f64>) -> Array2<f64> {
        if self.factor == 1 {
            return plane;
        }
        let (rows, columns) = plane.dim();
        // Across a periodic seam values go on from the other side.
        let rim = self.periodic.map(|periodic| if periodic { RIM } else { 0 });
        let wrap = |i: usize, rim: usize, n: usize| (i + n * RIM - rim) % n;
        let wide =
            Array2::from_shape_fn((rows + 2 * rim[1], columns + 2 * rim[0]), |(row, column)| {
                plane[[wrap(row, rim[1], rows), wrap(column, rim[0], columns)]]
            });
        let fine = finer(&wide.view(), self.factor);
        let inside = |rim: usize, n: usize| {
            let first = (rim * self.factor) as isize;
            Slice::from(first..first + (n * self.factor) as isize)
        };
        let mut fine = fine.view();
        fine.slice_axis_inplace(ndarray::Axis(0), inside(rim[1], rows));
        fine.slice_axis_inplace(ndarray::Axis(1), inside(rim[0], columns));
        fine.to_owned()
    }

    /// The lower edge and the distance of points along an axis of the picture.
    fn edge(&self, axis: Axis) -> (f64, f64) {
        let h = self.mesh.spacing()[axis.index()];
        let low = self.mesh.coordinate(axis.index(), 0) - 0.5 * h;
        (low, h / self.factor as f64)
    }

    /// The coordinates of a point of the picture.
    fn point(&self, row: usize, column: usize) -> [f64; 3] {
        let mut point = [self.mesh.coordinate(self.normal.index(), self.at as isize); 3];
        for (axis, i) in self.axes.into_iter().zip([column, row]) {
            let (low, h) = self.edge(axis);
            point[axis.index()] = low + (i as f64 + 0.5) * h;
        }
        point
    }
}

fn panel<T: Number>(
    problem: &Problem,
    plot: &Plot,
    cut: Cut,
    simulation: &mut Simulation<T>,
) -> Result<Panel, Error> {
    let dimension = simulation.system().model().dimension;
    let values = match &plot.value {
        Shown::Quantity(quantity) => {
            cut.finer(simulation.evaluate_plane(quantity, (cut.normal, cut.at))?)
        }
        Shown::Pointwise(formula) => pointwise(problem, formula, &cut, simulation)?,
    };
    let mut caption = format!("t = {}", significant(simulation.t(), 5));
    if dimension == 3 && cut.mesh.cells[cut.normal.index()] > 1 {
        let place = cut.mesh.coordinate(cut.normal.index(), cut.at as isize);
        caption.push_str(&format!(", {} = {}", cut.normal, significant(place, 5)));
    }
    Ok(Panel {
        plot: plot.clone(),
        values,
        axes: cut.axes,
        edges: cut.axes.map(|axis| cut.edge(axis)),
        caption,
        curve: dimension == 1,
        seen: None,
    })
}

/// A formula on the plane, of components that are interpolated before it.
fn pointwise<T: Number>(
    problem: &Problem,
    formula: &Expression,
    cut: &Cut,
    simulation: &Simulation<T>,
) -> Result<Array2<f64>, Error> {
    let names: Vec<&str> = problem.components().collect();
    let mut planes = Vec::new();
    for slot in formula.reads() {
        let plane = simulation.field_plane(names[*slot], (cut.normal, cut.at))?;
        planes.push((*slot, cut.finer(plane)));
    }
    let [columns, rows] = cut.axes.map(|axis| cut.factor * cut.mesh.cells[axis.index()]);
    let mut here = vec![0.0; names.len()];
    Ok(Array2::from_shape_fn((rows, columns), |(row, column)| {
        for (slot, plane) in &planes {
            here[*slot] = plane[[row, column]];
        }
        formula.at(cut.point(row, column), simulation.t(), &here)
    }))
}

impl Picture {
    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &std::path::Path) -> Result<(), PlotError> {
        match self.panels.first() {
            Some(first) if first.curve => self.curves(first).save(path),
            _ => {
                let panels = Panels::new(self.panels.iter().map(Panel::map));
                let panels = panels.title(self.title.as_str()).run(self.run.clone());
                match self.columns {
                    Some(columns) => panels.columns(columns).save(path),
                    None => panels.save(path),
                }
            }
        }
    }

    fn curves(&self, first: &Panel) -> LinePlot {
        let mut plot = LinePlot::new().title(self.title.as_str()).subtitle(first.caption.as_str());
        let single = self.panels.len() == 1;
        let label = if single { first.plot.label.as_str() } else { "" };
        plot = plot.labels(first.axes[0].name(), label).run(self.run.clone());
        for panel in &self.panels {
            let (low, h) = panel.edges[0];
            let count = panel.values.ncols();
            let xs: Vec<f64> = (0..count).map(|i| low + (i as f64 + 0.5) * h).collect();
            let ys: Vec<f64> = panel.values.row(0).to_vec();
            // A single curve is named on its axis.
            let name = if single { "" } else { panel.plot.label.as_str() };
            plot = plot.series(name, &xs, &ys, Style::Line);
        }
        if self.panels.iter().any(|p| p.plot.log) {
            plot = plot.log_y();
        }
        if let Some([low, high]) = first.plot.range {
            plot = plot.y_range(low, high);
        }
        plot
    }
}

impl Panel {
    /// Returns the colours: as asked for, or by the signs of the values.
    fn colors(&self) -> ColorMap {
        let given = self.plot.range.map(|[low, high]| (low, high));
        match (self.plot.map, given.or(self.seen)) {
            (Some(map), _) => map,
            (None, Some((low, high))) if !self.plot.log => ColorMap::fitting(low, high),
            _ => ColorMap::Sequential,
        }
    }

    fn map(&self) -> Heatmap<'_> {
        let [(x0, hx), (y0, hy)] = self.edges;
        let (rows, columns) = self.values.dim();
        let extent = [x0, x0 + hx * columns as f64, y0, y0 + hy * rows as f64];
        let mut map = Heatmap::new(self.values.view(), extent)
            .title(self.plot.title.as_str())
            .subtitle(self.caption.as_str())
            .labels(self.axes[0].name(), self.axes[1].name())
            .color_label(self.plot.label.as_str())
            .map(self.colors());
        if map.map == ColorMap::Cyclic {
            map = map.sampling(Sampling::Nearest);
        }
        if self.plot.log {
            map = map.log();
        }
        let ends = match (self.plot.range, self.seen) {
            (Some([low, high]), _) => Some((low, high)),
            // Zero has no logarithm.
            (None, Some((low, _))) if self.plot.log && low <= 0.0 => None,
            (None, seen) => seen.and_then(|seen| color_ends(seen, map.map)),
        };
        if let Some((low, high)) = ends {
            map = map.range(low, high);
        }
        map
    }
}
