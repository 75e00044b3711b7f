//! Fields that are given from outside.

use std::fmt;
use std::sync::Arc;

use ndarray::Array3;
use stencil_compiler::model::formula::Formula;

use super::Mesh;
use super::boundary::PointFunction;

/// The values of a component of a `source`.
///
/// Functions are evaluated on the host, in `f64`, in every cell: once, or in every substep if they depend on time.
/// Each operation of a formula is done only as often as its arguments change. Nothing is evaluated beyond a face:
/// there the values of cells are continued, by the conditions of the fields on the face.
///
/// | face | ghost cells of sources hold |
/// | --- | --- |
/// | periodic | the other end of the axis |
/// | a wall, for any component | the mirror image; the component of a vector along the axis changes its sign |
/// | outflow, for all components | the cell next to the face |
/// | any other | the polynomial of the scheme's order (at most six) through the cells next to the face; a line where fluxes are differentiated |
#[derive(Clone)]
pub struct Source(pub(crate) Given);

/// The kinds of sources.
#[derive(Clone)]
pub(crate) enum Given {
    Constant(f64),
    Steady(Arc<SteadyFunction>),
    Unsteady(PointFunction),
    /// Values `[z, y, x]`.
    Values(Array3<f64>),
    /// A formula, prepared when the simulation is built.
    Written(Written),
}

/// A formula of a user.
#[derive(Clone)]
pub(crate) enum Written {
    /// A text of x, y, z, t and the parameters.
    Text(String),
    /// A formula of x, y, z and t.
    Formula(Formula),
}

pub(crate) type SteadyFunction = dyn Fn(f64, f64, f64) -> f64 + Send + Sync;

impl Source {
    /// Returns a source that is the same everywhere and always.
    pub fn constant(value: f64) -> Self {
        Source(Given::Constant(value))
    }

    /// Returns a source by a function of x, y and z, evaluated once.
    pub fn steady(value: impl Fn(f64, f64, f64) -> f64 + Send + Sync + 'static) -> Self {
        Source(Given::Steady(Arc::new(value)))
    }

    /// Returns a source by a function of x, y, z and t, evaluated in every substep at its time.
    pub fn unsteady(value: impl Fn(f64, f64, f64, f64) -> f64 + Send + Sync + 'static) -> Self {
        Source(Given::Unsteady(PointFunction::new(value)))
    }

    /// Returns a source of values `[z, y, x]`, one for each cell.
    pub fn array(values: Array3<f64>) -> Self {
        Source(Given::Values(values))
    }

    /// Returns a source by a formula such as `"sin(x - t)"` of x, y, z, t and the parameters. It is evaluated in every
    /// substep if it has `t`, else once.
    pub fn text(value: impl Into<String>) -> Self {
        Source(Given::Written(Written::Text(value.into())))
    }

    /// Returns a source by a formula of x, y, z and t.
    pub(crate) fn formula(formula: Formula) -> Self {
        Source(Given::Written(Written::Formula(formula)))
    }
}

impl From<f64> for Source {
    fn from(value: f64) -> Self {
        Source::constant(value)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Constant(value) => write!(f, "{value}"),
            Given::Steady(_) => f.write_str("a function of space"),
            Given::Unsteady(_) => f.write_str("a function of space and time"),
            Given::Values(values) => write!(f, "values {:?}", values.dim()),
            Given::Written(Written::Text(text)) => write!(f, "{text:?}"),
            Given::Written(Written::Formula(_)) => f.write_str("a formula"),
        }
    }
}

/// A source, ready to be evaluated.
pub(crate) enum Sampled {
    Steady(Arc<SteadyFunction>),
    Unsteady(PointFunction),
    Values(Array3<f64>),
}

impl std::fmt::Debug for Sampled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Sampled::Steady(_) => "steady",
            Sampled::Unsteady(_) => "unsteady",
            Sampled::Values(_) => "values",
        })
    }
}

impl Sampled {
    /// Calls `then` with the values in cells at a time.
    pub(crate) fn in_cells<R>(
        &self,
        mesh: &Mesh,
        t: f64,
        then: impl FnOnce(&(dyn Fn([isize; 3]) -> f64 + Sync)) -> R,
    ) -> R {
        match self {
            Sampled::Unsteady(value) => value.in_cells(mesh, t, then),
            Sampled::Steady(_) | Sampled::Values(_) => then(&|cell| self.at(mesh, cell, t)),
        }
    }

    /// Returns its value in a cell.
    pub(crate) fn at(&self, mesh: &Mesh, cell: [isize; 3], t: f64) -> f64 {
        let point @ [x, y, z] = mesh.point(cell);
        match self {
            Sampled::Steady(value) => value(x, y, z),
            Sampled::Unsteady(value) => value.at(point, t),
            Sampled::Values(values) => {
                let [x, y, z] = cell.map(|i| i as usize);
                values[[z, y, x]]
            }
        }
    }
}
