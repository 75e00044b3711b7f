//! Snapshots: the fields and the mesh in a `.npz` of a run, cuts through them, and their pictures.

use std::fmt::Display;
use std::path::Path;

use ndarray::{Array2, Array3, ArrayD, Axis};
use stencil_compiler::diag::nearest;
use stencil_runtime::io::{Npz, NpzError, Value};
use stencil_runtime::plot;

use stencil_runtime::report::significant;

use crate::Failure;

mod look;
mod picture;
mod shot;
#[cfg(test)]
mod tests;
mod view;
mod xt;

pub use look::Look;
pub use picture::Picture;
pub use shot::Shot;
pub use view::Cut;
pub use xt::Diagram;

/// Points along a side at which a plane is fine enough for any picture.
const FINE: usize = 600;

pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// An opened `.npz`.
#[derive(Debug)]
pub struct Snapshot {
    file: Npz,
    /// The name of the system; empty if the file has none.
    pub system: String,
    /// `t = 0.25, step 100`, as far as known.
    pub caption: String,
    /// The time, if the file has one.
    pub time: Option<f64>,
    /// Coordinates of the first point along x, y, z.
    origin: [f64; 3],
    /// Distances of points along the axes that the file names.
    spacing: Vec<f64>,
}

/// A field to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in titles: `u_x`, `|u|`.
    pub(super) label: String,
    /// The component, or those whose squares are summed.
    components: Vec<String>,
}

impl Field {
    /// Whether it is a vector's length, which is never negative.
    pub(super) fn is_length(&self) -> bool {
        self.components.len() > 1
    }

    /// Its name as a user writes it: `u_x`, `u`.
    pub(super) fn plain(&self) -> &str {
        self.label.trim_matches('|')
    }

    /// Returns the components that it is made of.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.components.iter().map(String::as_str)
    }
}

/// The places of the points of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Points along x, y, z.
    pub(super) points: [usize; 3],
    /// Number of axes that there are.
    pub(super) dimension: usize,
    /// Coordinates of the first point.
    pub(super) origin: [f64; 3],
    /// Distances of points.
    pub spacing: [f64; 3],
}

impl Mesh {
    /// The coordinate of a point.
    pub(super) fn at(&self, axis: usize, point: usize) -> f64 {
        self.origin[axis] + point as f64 * self.spacing[axis]
    }

    /// The edges of the cells around the first and the last point.
    pub(super) fn edges(&self, axis: usize) -> (f64, f64) {
        let low = self.origin[axis] - 0.5 * self.spacing[axis];
        (low, low + self.points[axis] as f64 * self.spacing[axis])
    }

    /// Names the number of cells: `64 × 64 cells`.
    pub fn cells(&self) -> String {
        let counts = self.points[..self.dimension].iter();
        let counts: Vec<String> = counts.map(ToString::to_string).collect();
        format!("{} cells", counts.join(" × "))
    }
}

impl Snapshot {
    /// Opens a file, and reads its settings of the run.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let mut file = Npz::open(path).map_err(|e| unread(&e))?;
        let mut number = |name: String| file.f64(&name).ok().filter(|v| v.is_finite());
        let mut origin = [0.0; 3];
        let mut spacing = Vec::new();
        for (axis, name) in AXES.into_iter().enumerate() {
            let Some(h) = number(format!("spacing_{name}")).filter(|h| *h > 0.0) else {
                break;
            };
            spacing.push(h);
            origin[axis] = number(format!("origin_{name}")).unwrap_or(0.0);
        }
        let time = number("t".into());
        let t = time.map(|t| format!("t = {}", short(t)));
        let step = file.u64("step").ok().map(|step| format!("step {step}"));
        let caption: Vec<String> = t.into_iter().chain(step).collect();
        Ok(Snapshot {
            system: system_name(&file.text("system").unwrap_or_default()),
            caption: caption.join(", "),
            time,
            file,
            origin,
            spacing,
        })
    }

    /// Finds the fields of these names; every array if there are none.
    ///
    /// # Errors
    /// If there is no such field.
    pub fn fields(&mut self, wanted: &[String]) -> Result<Vec<Field>, Failure> {
        let names: Vec<String> = self.file.names().map(str::to_string).collect();
        if !wanted.is_empty() {
            return wanted.iter().map(|name| field(&names, name)).collect();
        }
        let mut fields = Vec::new();
        for name in names {
            let value = self.file.get(&name).map_err(|e| unread(&e))?;
            if array(value).is_some_and(|a| (1..=3).contains(&a.ndim())) {
                fields.push(single(&name));
            }
        }
        if fields.is_empty() {
            return Err(wrong("the file has no arrays of one to three axes"));
        }
        Ok(fields)
    }

    /// Finds the vector of this name, with its components in order.
    ///
    /// # Errors
    /// If there is no such vector.
    pub fn vector(&self, name: &str) -> Result<Field, Failure> {
        let names: Vec<String> = self.file.names().map(str::to_string).collect();
        let components = components(&names, name);
        if components.is_empty() {
            let known: Vec<&str> = names
                .iter()
                .filter_map(|n| n.strip_suffix("_x"))
                .filter(|n| !["origin", "spacing"].contains(n))
                .collect();
            let help = match known[..] {
                [] => "nor any other vector".to_string(),
                _ => format!("name one with --field: {}", known.join(", ")),
            };
            return Err(wrong(format_args!(
                "the file has no vector `{name}` (arrays `{name}_x`, ..); {help}"
            )));
        }
        Ok(Field { label: format!("|{name}|"), components })
    }

    /// Returns the mesh under a field.
    ///
    /// # Errors
    /// If the field cannot be read.
    pub fn mesh(&mut self, field: &Field) -> Result<Mesh, Failure> {
        let first = field.components.first().map(String::as_str);
        let values = self.component(first.unwrap_or_default())?;
        Ok(self.mesh_of(&values))
    }

    fn mesh_of(&self, values: &Array3<f64>) -> Mesh {
        let (nz, ny, nx) = values.dim();
        let points = [nx, ny, nz];
        let used = (1..=3).rev().find(|n| points[n - 1] > 1).unwrap_or(1);
        Mesh {
            points,
            dimension: used.max(self.spacing.len()),
            origin: self.origin,
            // Points of a file without a mesh are counted.
            spacing: std::array::from_fn(|axis| self.spacing.get(axis).copied().unwrap_or(1.0)),
        }
    }

    /// The part of a field that `cut` takes of each component. A length is computed on a finer
    /// plane: at its zeros it has kinks that a few cells cannot show.
    pub(super) fn read(
        &mut self,
        field: &Field,
        points: [usize; 3],
        cut: impl Fn(&Array3<f64>) -> Array2<f64>,
    ) -> Result<Array2<f64>, Failure> {
        let mut parts = Vec::new();
        for name in &field.components {
            parts.push(cut(&self.on(name, points)?));
        }
        if !field.is_length() {
            return Ok(parts.pop().unwrap_or_default());
        }
        let (rows, columns) = parts.first().map_or((0, 0), Array2::dim);
        let factor = if rows > 1 { (FINE / rows.max(columns)).clamp(1, 6) } else { 1 };
        let mut parts = parts.iter().map(|part| plot::finer(&part.view(), factor));
        let first = parts.next().unwrap_or_default().mapv(|v| v * v);
        let squares = parts.fold(first, |sum, part| sum + part.mapv(|v| v * v));
        Ok(squares.mapv(f64::sqrt))
    }

    /// All values of a field.
    pub(super) fn whole(
        &mut self,
        field: &Field,
        points: [usize; 3],
    ) -> Result<Array3<f64>, Failure> {
        let mut parts = Vec::new();
        for name in &field.components {
            parts.push(self.on(name, points)?);
        }
        if !field.is_length() {
            return Ok(parts.pop().unwrap_or_default());
        }
        let squares = parts.into_iter().map(|part| part.mapv(|v| v * v));
        let sum = squares.reduce(|sum, part| sum + part).unwrap_or_default();
        Ok(sum.mapv(f64::sqrt))
    }

    /// Reads an array that has so many points along x, y and z.
    fn on(&mut self, name: &str, points: [usize; 3]) -> Result<Array3<f64>, Failure> {
        let values = self.component(name)?;
        let found = self.mesh_of(&values).points;
        if found == points {
            return Ok(values);
        }
        Err(wrong(format_args!(
            "`{name}` has {found:?} points along x, y, z, where {points:?} were expected"
        )))
    }

    /// Reads an array, with leading axes of length 1 where it has less than three.
    ///
    /// # Errors
    /// If it cannot be read, or cannot be drawn.
    pub fn component(&mut self, name: &str) -> Result<Array3<f64>, Failure> {
        let value = self.file.get(name).map_err(|e| unread(&e))?;
        let values = array(value);
        let mut values = values.ok_or_else(|| wrong(format_args!("`{name}` is not an array")))?;
        while values.ndim() < 3 {
            values = values.insert_axis(Axis(0));
        }
        let shape = values.shape().to_vec();
        let cube = values.into_dimensionality().ok();
        match cube.filter(|cube: &Array3<f64>| !cube.is_empty()) {
            Some(cube) => Ok(cube),
            None => Err(wrong(format_args!(
                "`{name}` has the shape {shape:?}; an array of one to three axes can be drawn"
            ))),
        }
    }
}

fn array(value: Value) -> Option<ArrayD<f64>> {
    match value {
        Value::F64(a) => Some(a),
        Value::F32(a) => Some(a.mapv(f64::from)),
        _ => None,
    }
}

fn single(name: &str) -> Field {
    Field { label: name.to_string(), components: vec![name.to_string()] }
}

fn components(names: &[String], vector: &str) -> Vec<String> {
    let parts = AXES.map(|axis| format!("{vector}_{axis}"));
    parts.into_iter().filter(|p| names.contains(p)).collect()
}

/// The field of a name: a component, or a vector's length.
fn field(names: &[String], wanted: &str) -> Result<Field, Failure> {
    if names.iter().any(|n| n == wanted) {
        return Ok(single(wanted));
    }
    let parts = components(names, wanted);
    if !parts.is_empty() {
        return Ok(Field { label: format!("|{wanted}|"), components: parts });
    }
    let help = match nearest(wanted, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has: {}", names.join(", ")),
    };
    Err(wrong(format_args!("the file has no field `{wanted}`; {help}")))
}

/// The word after `system` in a declaration.
fn system_name(declaration: &str) -> String {
    let mut words = declaration
        .lines()
        .filter(|line| !line.trim_start().starts_with("///"))
        .flat_map(str::split_whitespace);
    let name = words.find(|w| *w == "system").and_then(|_| words.next());
    name.unwrap_or_default().to_string()
}

fn unread(error: &NpzError) -> Failure {
    Failure::Told(format!("error[{}]: {error}", error.code()))
}

fn wrong(message: impl Display) -> Failure {
    Failure::Told(format!("error: {message}"))
}

/// A number for a caption.
fn short(value: f64) -> String {
    significant(value, 5).replace('-', "−")
}
