//! Problems: a system with initial values, parameters and pictures. One file each, and one line
//! in [`ALL`].

use std::collections::BTreeMap;

use ndarray::{Array2, s};
use stencil_runtime::plot::{ColorMap, Heatmap, Panels};
use stencil_runtime::{Builder, Definition, Error, Number, Simulation};

pub mod crystal_pulse;
pub mod explosion;
pub mod heat_blob;
pub mod shear;

/// Every problem; the first one is what the command line runs when it is told nothing.
pub static ALL: &[Problem] = &[
    explosion::PROBLEM,
    shear::PROBLEM,
    crystal_pulse::PROBLEM,
    heat_blob::PROBLEM,
];

/// Values of parameters by name.
pub type Parameters<'a> = &'a dyn Fn(&str) -> f64;

/// A run that can be started by name.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What is solved.
    pub system: Definition,
    /// Cells along x, y, z where a run gives none.
    pub cells: [usize; 3],
    /// Lengths of the box.
    pub extent: [f64; 3],
    /// Coordinates of the first cell.
    pub origin: [f64; 3],
    /// Parameters other than the system's defaults.
    pub params: &'static [(&'static str, f64)],
    /// A stable time step for the smallest spacing and these parameters.
    pub dt: fn(h: f64, param: Parameters<'_>) -> f64,
    /// The time at which the run ends.
    pub end: f64,
    /// The initial value of a component at a point.
    pub initial: fn(component: &str, at: [f64; 3]) -> f64,
    /// Pictures of a plane of the solution.
    pub pictures: fn(&Plane) -> Vec<Picture>,
}

impl Problem {
    /// A builder with the problem's box and parameters.
    pub fn builder<T: Number>(&self) -> Builder<T> {
        let builder = Simulation::builder(&self.system)
            .cells(self.cells)
            .extent(self.extent)
            .origin(self.origin);
        self.params.iter().fold(builder, |builder, (name, value)| {
            builder.param(*name, *value)
        })
    }

    /// Sets the initial values of all components.
    ///
    /// # Errors
    /// If the simulation is of another system.
    pub fn initialize<T: Number>(&self, simulation: &mut Simulation<T>) -> Result<(), Error> {
        let components: Vec<String> = simulation.components().map(str::to_string).collect();
        components
            .iter()
            .try_for_each(|name| simulation.set(name, |x, y, z| (self.initial)(name, [x, y, z])))
    }
}

/// The problem of this name.
///
/// ```
/// assert_eq!(physics::problems::find("explosion")?.system.name, "IsothermalNs");
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
///
/// # Errors
/// If there is none; the error lists all.
pub fn find(name: &str) -> Result<&'static Problem, Error> {
    ALL.iter().find(|p| p.name == name).ok_or_else(|| {
        Error::unknown(
            "the standard library",
            "problem",
            name,
            ALL.iter().map(|p| p.name),
        )
    })
}

/// All components on the plane of constant z in the middle of the box.
#[derive(Clone, Debug)]
pub struct Plane {
    /// Values `[y, x]` by component.
    pub values: BTreeMap<String, Array2<f64>>,
    /// The edges: x0, x1, y0, y1.
    pub extent: [f64; 4],
    /// Distance of cells along x and y.
    pub spacing: [f64; 2],
    /// What to write below titles: time and number of cells.
    pub caption: String,
}

impl Plane {
    /// The plane of a simulation.
    ///
    /// # Errors
    /// None but those of the program itself.
    pub fn of<T: Number>(simulation: &Simulation<T>) -> Result<Plane, Error> {
        let ([nx, ny, nz], [ox, oy, _], [hx, hy, _]) = (
            simulation.cells(),
            simulation.origin(),
            simulation.spacing(),
        );
        let names: Vec<String> = simulation.components().map(str::to_string).collect();
        let slice = |name: String| {
            let values = simulation
                .field(&name)?
                .slice(s![nz / 2, .., ..])
                .mapv(|v| v.to_f64());
            Ok((name, values))
        };
        let values = names.into_iter().map(slice).collect::<Result<_, Error>>()?;
        let (x0, y0) = (ox - hx / 2.0, oy - hy / 2.0);
        let cells: Vec<String> = [nx, ny, nz]
            .iter()
            .take(simulation.system().model().dimension)
            .map(ToString::to_string)
            .collect();
        Ok(Plane {
            values,
            extent: [x0, x0 + hx * nx as f64, y0, y0 + hy * ny as f64],
            spacing: [hx, hy],
            caption: format!("t = {:.3}, {} cells", simulation.t(), cells.join(" × ")),
        })
    }

    /// A component; zeros if there is none of this name.
    pub fn get(&self, name: &str) -> Array2<f64> {
        let shape = self.values.values().next().map_or((1, 1), Array2::dim);
        self.values
            .get(name)
            .cloned()
            .unwrap_or_else(|| Array2::zeros(shape))
    }

    /// A component on a finer plane, by cubic interpolation: what is computed from it for a
    /// picture has no steps of the size of a cell.
    pub fn fine(&self, name: &str) -> Array2<f64> {
        let along_x = refine(&self.get(name));
        refine(&along_x.t().to_owned()).t().to_owned()
    }

    /// The length of a vector field, on the finer plane.
    pub fn norm(&self, field: &str) -> Array2<f64> {
        let square = |axis| self.fine(&format!("{field}_{axis}")).mapv(|v: f64| v * v);
        (square("x") + square("y") + square("z")).mapv(f64::sqrt)
    }

    /// The derivative along x (axis 1) or y (axis 0), by differences of second order.
    pub fn derivative(&self, values: &Array2<f64>, axis: usize) -> Array2<f64> {
        let (ny, nx) = values.dim();
        let h = self.spacing[1 - axis.min(1)];
        Array2::from_shape_fn((ny, nx), |(y, x)| {
            let (next, last) = match axis {
                0 => ([(y + 1) % ny, x], [(y + ny - 1) % ny, x]),
                _ => ([y, (x + 1) % nx], [y, (x + nx - 1) % nx]),
            };
            (values[next] - values[last]) / (2.0 * h)
        })
    }
}

/// Points of the finer plane in a cell, along each axis.
const FINER: usize = 4;

/// Cubic interpolation along the second axis, across the periodic seam.
fn refine(values: &Array2<f64>) -> Array2<f64> {
    let (rows, n) = values.dim();
    Array2::from_shape_fn((rows, n * FINER), |(row, i)| {
        let place = (i as f64 + 0.5) / FINER as f64 - 0.5;
        let (cell, s) = (place.floor(), place - place.floor());
        let at = |offset: isize| {
            values[[
                row,
                (cell as isize + offset).rem_euclid(n as isize) as usize,
            ]]
        };
        let (a, b, c, d) = (at(-1), at(0), at(1), at(2));
        b + 0.5 * s * (c - a + s * (2.0 * a - 5.0 * b + 4.0 * c - d + s * (3.0 * (b - c) + d - a)))
    })
}

/// A picture of some panels.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The file's name, without a folder.
    pub file: &'static str,
    /// The title of the whole.
    pub title: &'static str,
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
}

/// One heat map of a picture.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Its title.
    pub title: &'static str,
    /// The label of the colours.
    pub label: &'static str,
    /// The colours.
    pub colors: ColorMap,
    /// Values `[y, x]`.
    pub values: Array2<f64>,
}

impl Picture {
    /// Writes the picture of a plane.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(
        &self,
        plane: &Plane,
        path: &std::path::Path,
    ) -> Result<(), stencil_runtime::plot::PlotError> {
        let maps = self.panels.iter().map(|panel| {
            Heatmap::new(panel.values.view(), plane.extent)
                .title(panel.title)
                .subtitle(plane.caption.clone())
                .labels("x", "y")
                .color_label(panel.label)
                .map(panel.colors)
        });
        Panels::new(maps).title(self.title).save(path)
    }
}
