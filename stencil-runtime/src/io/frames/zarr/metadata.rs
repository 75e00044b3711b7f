//! The arrays of a store, and their descriptions.

use serde_json::{Map, Value as Json, json};
use stencil_compiler::catalogue::centering::place_name;

use super::super::FrameLayout;
use super::{CHUNK, TIMES};

/// The names of axes, x first.
const AXES: [&str; 3] = ["x", "y", "z"];

/// The meaning of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Coordinates along an axis, of the points of cells or half a cell above them.
    Axis(usize, bool),
    /// The times of frames.
    Time,
    /// The steps of frames.
    Step,
    /// Values of a component.
    Component(usize),
}

/// An array of the store.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) name: String,
    pub(super) role: Role,
    /// The names of its axes, without that of time.
    axes: Vec<String>,
    /// The values along them.
    shape: Vec<usize>,
    /// The values of a chunk along them.
    chunk: Vec<usize>,
}

/// Returns all arrays. Components keep their names; a coordinate of such a name then ends in `_`.
pub(super) fn arrays(layout: &FrameLayout) -> Vec<Array> {
    let free = |name: &str| {
        let mut name = name.to_string();
        while layout.components.contains(&name) {
            name.push('_');
        }
        name
    };
    let axes = (0..layout.dimension).rev();
    let names: Vec<String> = axes.clone().map(|axis| free(AXES[axis])).collect();
    let shape: Vec<usize> = axes.clone().map(|axis| layout.cells[axis]).collect();
    let mut arrays = Vec::new();
    let on_faces: Vec<String> =
        axes.clone().map(|at| free(&format!("{}_face", AXES[at]))).collect();
    let above = |axis: usize| layout.halves.iter().any(|halves| halves[axis]);
    let mut coordinates = |name: &String, role, axis: usize| {
        let count = vec![layout.cells[axis]];
        let (name, axes) = (name.clone(), vec![name.clone()]);
        arrays.push(Array { name, role, axes, chunk: count.clone(), shape: count });
    };
    for (name, axis) in names.iter().zip(axes.clone()) {
        coordinates(name, Role::Axis(axis, false), axis);
    }
    for (name, axis) in on_faces.iter().zip(axes.clone()).filter(|(_, axis)| above(*axis)) {
        coordinates(name, Role::Axis(axis, true), axis);
    }
    for (name, role) in [("time", Role::Time), ("step", Role::Step)] {
        let none = Vec::new;
        arrays.push(Array {
            name: free(name),
            role,
            axes: none(),
            shape: Vec::new(),
            chunk: Vec::new(),
        });
    }
    let chunk = chunk_of(&shape, CHUNK / layout.bytes());
    for (component, name) in layout.components.iter().enumerate() {
        let places = names.iter().zip(&on_faces).zip(axes.clone());
        let along = places.map(|((name, on_faces), axis)| match layout.halves[component][axis] {
            true => on_faces.clone(),
            false => name.clone(),
        });
        arrays.push(Array {
            name: name.clone(),
            role: Role::Component(component),
            axes: along.collect(),
            shape: shape.clone(),
            chunk: chunk.clone(),
        });
    }
    arrays
}

/// Returns the values of a chunk along each axis, at most so many in all. Axes are cut from the first one on, so that a chunk
/// is a run of values in C order.
fn chunk_of(shape: &[usize], most: usize) -> Vec<usize> {
    let mut chunk = shape.to_vec();
    for axis in 0..shape.len() {
        let inner: usize = shape[axis + 1..].iter().product();
        chunk[axis] = (most / inner).clamp(1, shape[axis]);
        if inner <= most {
            break;
        }
    }
    chunk
}

impl Array {
    /// Returns the places of the chunks of a frame, in the order of values, and the values that each has.
    pub(super) fn chunks(&self) -> impl Iterator<Item = (Vec<usize>, usize)> {
        let counts: Vec<usize> =
            self.shape.iter().zip(&self.chunk).map(|(n, of)| n.div_ceil(*of)).collect();
        (0..counts.iter().product::<usize>()).map(move |number| {
            let (mut rest, mut values) = (number, 1);
            let mut place = vec![0; counts.len()];
            for axis in (0..counts.len()).rev() {
                place[axis] = rest % counts[axis];
                rest /= counts[axis];
                values *= self.chunk[axis].min(self.shape[axis] - place[axis] * self.chunk[axis]);
            }
            (place, values)
        })
    }

    /// Returns the values of a whole chunk.
    pub(super) fn chunk_values(&self) -> usize {
        self.chunk.iter().product()
    }

    /// Returns the description of the array with so many frames.
    pub(super) fn description(&self, layout: &FrameLayout, frames: usize) -> Json {
        let (mut shape, mut chunk) = (self.shape.clone(), self.chunk.clone());
        let mut axes = self.axes.clone();
        if !matches!(self.role, Role::Axis(..)) {
            let time = match self.role {
                Role::Component(_) => 1,
                Role::Time | Role::Step | Role::Axis(..) => TIMES,
            };
            shape.insert(0, frames);
            chunk.insert(0, time);
            axes.insert(0, time_of(layout));
        }
        let (kind, fill) = match self.role {
            Role::Step => ("int64", json!(0)),
            Role::Component(_) if !layout.is_double => ("float32", json!("NaN")),
            Role::Axis(..) | Role::Time | Role::Component(_) => ("float64", json!("NaN")),
        };
        let mut codecs = vec![json!({ "name": "bytes", "configuration": { "endian": "little" } })];
        if let Some(level) = layout.compress {
            codecs.push(json!({ "name": "gzip", "configuration": { "level": level } }));
        }
        json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": kind,
            "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunk } },
            "chunk_key_encoding": { "name": "default", "configuration": { "separator": "." } },
            "fill_value": fill,
            "codecs": codecs,
            "attributes": self.attributes(layout),
            "dimension_names": axes,
        })
    }

    fn attributes(&self, layout: &FrameLayout) -> Json {
        let component = match self.role {
            Role::Component(component) => component,
            Role::Axis(axis, on_faces) if layout.offsets().next().is_some() => {
                return of_axis(axis, on_faces);
            }
            Role::Axis(..) | Role::Time | Role::Step => return json!({}),
        };
        let mut attributes = Map::new();
        let is_of = |v: &&super::super::Variable| (v.first..v.first + v.count).contains(&component);
        if let Some(variable) = layout.variables.iter().find(is_of) {
            attributes.insert("field".into(), json!(variable.name));
            if let Some(unit) = &variable.unit {
                attributes.insert("units".into(), json!(unit));
            }
        }
        let at = match (layout.is_centred(component), layout.centered) {
            (true, true) => "cells".to_string(),
            (true, false) => "points".to_string(),
            (false, _) => place_name(layout.halves[component], layout.dimension),
        };
        attributes.insert("values_of".into(), json!(at));
        Json::Object(attributes)
    }
}

/// Returns the attributes of coordinates in a store with components on faces or edges, by which readers of staggered grids
/// (xgcm, after the convention of COMODO) tell axes, and points half a cell above those of cells.
fn of_axis(axis: usize, on_faces: bool) -> Json {
    let name = AXES[axis].to_uppercase();
    match on_faces {
        true => json!({ "axis": name, "c_grid_axis_shift": 0.5 }),
        false => json!({ "axis": name }),
    }
}

/// Returns the name of the axis of time.
fn time_of(layout: &FrameLayout) -> String {
    let mut name = "time".to_string();
    while layout.components.contains(&name) {
        name.push('_');
    }
    name
}

/// Returns the description of the store with so many frames: it holds those of all arrays.
pub(super) fn store(layout: &FrameLayout, arrays: &[Array], frames: usize) -> Json {
    let about = layout.about.iter().map(|(name, text)| (name.clone(), json!(text)));
    json!({
        "zarr_format": 3,
        "node_type": "group",
        "attributes": about.collect::<Map<String, Json>>(),
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": false,
            "metadata": of_arrays(layout, arrays, frames),
        },
    })
}

/// Returns the descriptions of all arrays, by name.
fn of_arrays(layout: &FrameLayout, arrays: &[Array], frames: usize) -> Json {
    let each = arrays.iter().map(|a| (a.name.clone(), a.description(layout, frames)));
    Json::Object(each.collect())
}

/// Returns the number of frames that a store has by its description, if it is one of these arrays.
pub(super) fn frames_in(store: &str, layout: &FrameLayout, arrays: &[Array]) -> Option<usize> {
    let store: Json = serde_json::from_str(store).ok()?;
    let found = store.get("consolidated_metadata")?.get("metadata")?;
    let step = arrays.iter().find(|array| array.role == Role::Step)?;
    let count = found.get(&step.name)?.get("shape")?.get(0)?.as_u64()?;
    let count = usize::try_from(count).ok()?;
    (*found == of_arrays(layout, arrays, count)).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::chunk_of;

    #[test]
    fn chunks_are_runs_of_values() {
        for (shape, most, chunk) in [
            ([5, 7, 11], 1000, [5, 7, 11]),
            ([5, 7, 11], 200, [2, 7, 11]),
            ([5, 7, 11], 77, [1, 7, 11]),
            ([5, 7, 11], 76, [1, 6, 11]),
            ([5, 7, 11], 10, [1, 1, 10]),
            ([1, 1, 40], 16, [1, 1, 16]),
        ] {
            assert_eq!(chunk_of(&shape, most), chunk, "{shape:?} {most}");
        }
    }
}
