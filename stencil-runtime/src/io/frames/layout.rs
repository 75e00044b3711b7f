//! The mesh and the arrays that all frames of a run have.

use stencil_compiler::catalogue::Halves;
use stencil_compiler::catalogue::centering::CENTRE;

use super::super::npy::Element;
use super::{FrameError, Part};

/// A field of frames: its components, and the axis of each if it is a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The name of the field.
    pub(crate) name: String,
    /// The number of its first component among the components of frames; the others follow.
    pub(crate) first: usize,
    /// The number of its components in frames.
    pub(crate) count: usize,
    /// Whether they are all components of a vector, in the order x, y, z.
    pub(crate) is_vector: bool,
    /// The unit, as it was declared.
    pub(crate) unit: Option<String>,
}

/// The mesh and the arrays that all frames of a run have. Lengths and coordinates are in the units of the problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FrameLayout {
    /// Axes of the mesh: 1 to 3.
    pub(crate) dimension: usize,
    /// Values of an array along x, y, z; 1 across a slice, and along axes that the mesh does not have.
    pub(crate) cells: [usize; 3],
    /// The coordinates of the first value.
    pub(crate) first: [f64; 3],
    /// The distance of values along x, y, z.
    pub(crate) spacing: [f64; 3],
    /// Values are those of cells about the points, not of the points.
    pub(crate) centered: bool,
    /// Whether values have 8 bytes, not 4.
    pub(crate) is_double: bool,
    /// The names of arrays, one for each component.
    pub(crate) components: Vec<String>,
    /// Along which axes each component lies half a cell above the point of its cell, in the same order.
    pub(crate) halves: Vec<Halves>,
    /// The fields that the components belong to, in the same order.
    pub(crate) variables: Vec<Variable>,
    /// Texts about the run, by name.
    pub(crate) about: Vec<(String, String)>,
    /// The level of compression, 1 to 9; none if not given.
    pub(crate) compress: Option<u32>,
}

impl FrameLayout {
    /// Returns the bytes of a value.
    pub(crate) fn bytes(&self) -> usize {
        if self.is_double { size_of::<f64>() } else { size_of::<f32>() }
    }

    /// Returns NumPy's name of the type of values.
    pub(super) fn descr(&self) -> &'static str {
        if self.is_double { f64::DESCR } else { f32::DESCR }
    }

    /// Returns the shape of an array, `[z, y, x]`.
    pub(super) fn shape(&self) -> [usize; 3] {
        let [nx, ny, nz] = self.cells;
        [nz, ny, nx]
    }

    /// Returns the values of an array.
    pub(crate) fn points(&self) -> usize {
        self.cells.iter().product()
    }

    /// Does a component lie at the point of its cell?
    pub(crate) fn is_centred(&self, component: usize) -> bool {
        self.halves[component] == CENTRE
    }

    /// Returns the components that lie elsewhere than at the points of cells, each with its offset from there along x, y, z
    /// in cells.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = (&str, [f64; 3])> {
        let all = self.components.iter().zip(&self.halves);
        let moved = all.filter(|(_, halves)| **halves != CENTRE);
        moved.map(|(name, halves)| (name.as_str(), halves.map(|half| if half { 0.5 } else { 0.0 })))
    }

    /// Returns a part for each component.
    pub(super) fn component_parts(&self) -> Vec<Part> {
        (0..self.components.len()).map(|component| vec![Some(component)]).collect()
    }

    /// Checks that names can be those of files and of arrays.
    pub(crate) fn check_names(&self) -> Result<(), FrameError> {
        for name in self.components.iter().chain(self.variables.iter().map(|v| &v.name)) {
            let reason = if name.is_empty() {
                "it has no characters"
            } else if name.contains(['/', '\\', ':', '\0']) || name.chars().any(char::is_control) {
                "it has a `/`, `\\`, `:` or a control character"
            } else if name.starts_with('.') || name.ends_with(['.', ' ']) {
                "it begins with a dot, or ends with a dot or a blank"
            } else if name == "zarr.json" {
                "it is the name of the description of arrays"
            } else {
                continue;
            };
            return Err(FrameError::Name { name: name.clone(), reason });
        }
        for (at, name) in self.components.iter().enumerate() {
            if self.components[..at].contains(name) {
                let reason = "there are two of this name";
                return Err(FrameError::Name { name: name.clone(), reason });
            }
        }
        Ok(())
    }
}
