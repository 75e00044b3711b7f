//! Values of any expression of the language on the state of a run.

use ndarray::{Array2, Array3};
use stencil_compiler::diag::{Code, Diagnostic, Diagnostics, Place, Span};
use stencil_compiler::discretize::{Observation, observe};
use stencil_compiler::model::{Model, parse, text};

use super::Simulation;
use crate::backend::cpu::Evaluation;
use crate::{Axis, Error, Number, SystemDef};

/// The name under which an expression is observed.
const NAME: &str = "evaluated";

/// A scalar expression over a system's fields, parameters, sources and intermediates, with the
/// operators of the language, read and discretized by the system's scheme.
///
/// ```
/// use stencil_runtime::{Quantity, SystemDef};
///
/// let flow = SystemDef::from_text("flow.pde", "
///     pub system Flow in 2d { field u: vector; ddt(u) = lap(u); }
/// ")?;
/// assert!(Quantity::new(&flow, "d[x](u.y) - d[y](u.x)").is_ok());
/// let error = Quantity::new(&flow, "div(v)").unwrap_err();
/// assert!(error.to_string().contains("1:5"), "{error}");
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    text: String,
    observation: Observation,
}

impl Quantity {
    /// Reads an expression.
    ///
    /// # Errors
    /// All errors, with places in the expression; if it is not a scalar.
    pub fn new(system: &SystemDef, expression: &str) -> Result<Self, Diagnostics> {
        let mut bare = system.model().clone();
        bare.observables.clear();
        bare.speeds.clear();
        bare.others.clear();
        let declaration = text::print(&bare);
        // The declaration ends at the first brace that begins a line; the added item is its last one.
        let end = declaration.find("\n}\n").map_or(declaration.len(), |at| at + 1);
        let (head, tail) = declaration.split_at(end);
        let before = format!("observe {NAME} = max(");
        let one_line = expression.replace(['\n', '\r'], " ");
        let whole = format!("{head}{before}{one_line});\n{tail}");
        let line = head.matches('\n').count() as u32 + 1;
        let inside = |span: Span| inside(span, line, before.len() as u32, expression);
        let model = parse::parse_str_in(&whole, Some(bare.dimension)).map_err(|errors| {
            let mut moved = Diagnostics::new();
            errors.iter().for_each(|e| moved.push(relocated(e, inside)));
            moved
        })?;
        let observation = discretized(&model)?;
        Ok(Quantity { text: expression.to_string(), observation })
    }

    /// Returns the ghost cells that it reads.
    pub(crate) fn halo(&self) -> Result<[usize; 3], Error> {
        crate::step::halo_of(&self.observation)
    }

    /// Returns the expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn discretized(model: &Model) -> Result<Observation, Diagnostics> {
    let nothing = || Diagnostic::new(Code::Syntax, Span::default(), "this is no expression");
    match observe(model) {
        Ok(observation) => observation.ok_or_else(|| nothing().into()),
        Err(error) => {
            let mut diagnostic = Diagnostic::from(error);
            diagnostic.span = Span::default();
            Err(diagnostic.into())
        }
    }
}

/// Returns an error with the places that lie in the expression, and without all others.
fn relocated(error: &Diagnostic, inside: impl Fn(Span) -> Option<Span>) -> Diagnostic {
    let mut moved = error.clone();
    moved.span = inside(error.span).unwrap_or_default();
    for (span, _) in &mut moved.notes {
        *span = span.and_then(&inside);
    }
    moved
}

/// Returns a place in the declaration as one in the expression, which is alone in its line.
fn inside(span: Span, line: u32, before: u32, expression: &str) -> Option<Span> {
    let length = expression.chars().count() as u32;
    let column =
        |place: Place| Place { line: 1, column: place.column.saturating_sub(before).min(length) };
    (span.start.line == line && span.end.line == line)
        .then(|| Span { start: column(span.start), end: column(span.end) })
}

impl<T: Number> Simulation<T> {
    /// Returns the values of an expression in all cells, `[z, y, x]`, at this time. They are computed in the precision
    /// of the run, from ghost cells if derivatives reach them.
    ///
    /// ```
    /// use std::f64::consts::TAU;
    /// use stencil_runtime::{Quantity, Simulation, SystemDef};
    ///
    /// let flow = SystemDef::from_text("flow.pde", "
    ///     pub system Flow in 2d { field u: vector; ddt(u) = lap(u); }
    /// ")?;
    /// let mut simulation = Simulation::<f64>::builder(&flow).cells([64, 8, 1]).dt(1e-5).build()?;
    /// simulation.set("u_y", |x, _, _| (TAU * x).sin() / TAU)?;
    /// let vorticity = Quantity::new(&flow, "d[x](u.y) - d[y](u.x)").unwrap();
    /// assert!((simulation.evaluate(&vorticity)?[[0, 3, 0]] - 1.0).abs() < 1e-6);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the expression reads more ghost cells than the simulation has, see [`Builder::evaluates`](crate::Builder::evaluates);
    /// if it is one of another system.
    pub fn evaluate(&mut self, quantity: &Quantity) -> Result<Array3<f64>, Error> {
        let [nx, ny, nz] = self.cells();
        let rows =
            self.evaluated(quantity, |_| true, |row| row.iter().map(|v| v.to_f64()).collect())?;
        Array3::from_shape_vec((nz, ny, nx), rows.concat())
            .map_err(|e| Error::Bug(format!("`{}`: {e}", quantity.text)))
    }

    /// Returns the values of an expression in the cells of this number along an axis: `[z, y]`, `[z, x]` or `[y, x]`. They are
    /// those of [`evaluate`](Self::evaluate), and [ranks](crate::Builder::ranks) gather no others.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_plane(
        &mut self,
        quantity: &Quantity,
        (normal, at): (Axis, usize),
    ) -> Result<Array2<f64>, Error> {
        check_plane(self.cells(), (normal, at))?;
        let ny = self.cells()[1];
        let is_wanted = |row: usize| match normal {
            Axis::X => true,
            Axis::Y => row % ny == at,
            Axis::Z => row / ny == at,
        };
        let of_row = |row: &[T]| match normal {
            Axis::X => vec![row[at].to_f64()],
            Axis::Y | Axis::Z => row.iter().map(|v| v.to_f64()).collect(),
        };
        let values = self.evaluated(quantity, is_wanted, of_row)?.concat();
        Array2::from_shape_vec(plane_shape(self.cells(), normal), values)
            .map_err(|e| Error::Bug(format!("`{}`: {e}", quantity.text)))
    }

    /// Evaluates an expression in the rows that are wanted, and takes values of each.
    fn evaluated(
        &mut self,
        quantity: &Quantity,
        is_wanted: impl Fn(usize) -> bool + Send + Sync,
        of_row: impl Fn(&[T]) -> Vec<f64> + Send + Sync,
    ) -> Result<Vec<Vec<f64>>, Error> {
        let observation = self.system().on_open_faces(&quantity.observation);
        let Observation { algorithm, quantities } = &observation;
        let at = quantities.iter().position(|q| q.name.as_str() == NAME);
        let at = at.ok_or_else(|| Error::Bug(format!("`{}` is not observed", quantity.text)))?;
        check_halo(&quantity.text, quantity.halo()?, self.device.fields().shape().halo)?;
        let params: Result<Vec<f64>, Error> = algorithm
            .params
            .iter()
            .map(|param| {
                let found = self.params().find(|(name, _)| *name == param.name);
                let missing = || Error::Bug(format!("`{}` has no value", param.name));
                found.map(|(_, value)| value).ok_or_else(missing)
            })
            .collect();
        let mesh = self.setup.mesh;
        let fields = self.device.fields();
        let evaluation = Evaluation::new(algorithm, &[at], fields, self.setup.instructions)?;
        self.settle()?;
        if evaluation.reads_given {
            self.sample_unsteady(self.t)?;
        }
        let uniforms =
            algorithm.uniform_values(T::PRECISION, &params?, mesh.spacing(), (0.0, self.t));
        let t = self.t;
        let mut rows = Vec::new();
        self.device.on_host(&mut |fields| {
            rows = evaluation.rows_of(fields, (&uniforms, t), &is_wanted, |rows| {
                of_row(rows.first().copied().unwrap_or_default())
            });
        })?;
        Ok(rows)
    }
}

/// Is there a cell of this number along an axis?
pub(super) fn check_plane(cells: [usize; 3], (normal, at): (Axis, usize)) -> Result<(), Error> {
    if at < cells[normal.index()] {
        return Ok(());
    }
    Err(Error::Value {
        what: format!("the cell of a plane along {normal}"),
        value: at as f64,
        help: format!("there are {} cells, counted from 0", cells[normal.index()]),
    })
}

/// Returns the numbers of cells of a plane, vertical first.
pub(super) fn plane_shape([nx, ny, nz]: [usize; 3], normal: Axis) -> (usize, usize) {
    match normal {
        Axis::X => (nz, ny),
        Axis::Y => (nz, nx),
        Axis::Z => (ny, nx),
    }
}

/// Are there as many ghost cells as the evaluation of an expression reads?
fn check_halo(expression: &str, wanted: [usize; 3], there: [usize; 3]) -> Result<(), Error> {
    if (0..3).all(|axis| wanted[axis] <= there[axis]) {
        return Ok(());
    }
    Err(Error::Value {
        what: format!("the number of ghost cells that `{expression}` reads"),
        value: wanted.into_iter().max().unwrap_or(0) as f64,
        help: format!("this run has {there:?}: name the expression to `Builder::evaluates`"),
    })
}
