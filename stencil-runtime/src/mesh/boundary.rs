//! Kinds of boundaries: rules for ghost cells.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use stencil_compiler::model::formula::Formula;

use super::sampler::Sampler;
use super::{Face, Mesh};
use crate::Error;

/// The boundary condition on a face of the mesh.
///
/// A boundary is met half a cell beyond the outermost cells (see [`Mesh::wall`](crate::Mesh::wall)).
/// The ghost cell that is k cells beyond the face (k = 1, 2, ..) is filled from the interior of the
/// same line of cells: from its mirror image, the k-th cell inside, or from the nearest cell. At
/// edges and corners the faces of x act first, then those of y also on the ghost cells of x, then
/// those of z on both.
///
/// ```
/// use stencil_runtime::{Axis, Boundary, Face, Simulation, SystemDef};
///
/// let heat = SystemDef::from_text("heat.pde", "
///     pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
///     scheme s for Heat { space: central<order = 2>; mixed: bidiagonal; time: euler; }
/// ")?;
/// let mut plate = Simulation::<f64>::builder(&heat)
///     .cells([16, 8, 1])
///     .boundary(Axis::Y, Boundary::wall())
///     .boundary(Face::X_LO, Boundary::dirichlet(1.0))
///     .boundary(Face::X_HI, Boundary::dirichlet_with(|_, _, _, t| -t))
///     .dt(1e-3)
///     .build()?;
/// plate.run(100, |_, _| ())?;
/// assert!(plate.field("q")?[[0, 4, 0]] > 0.5);
///
/// let slip = Simulation::<f64>::builder(&heat).cells([8, 8, 1]).dt(1e-3);
/// let error = slip.boundary(Face::X_LO, Boundary::wall()).build().unwrap_err();
/// assert!(error.to_string().contains("x.hi is periodic"), "{error}");
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Boundary(pub(crate) Kind);

/// The kinds of boundaries.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Periodic,
    Outflow,
    Wall,
    Extrapolate,
    Dirichlet(Value),
    Neumann(Value),
    /// The far value of each component.
    Characteristic(Vec<(String, f64)>),
    Custom(Custom),
}

/// A number on a face.
#[derive(Clone)]
pub(crate) enum Value {
    Constant(f64),
    /// A function of x, y, z and t.
    Function(PointFunction),
    /// A formula of x, y, z, t and the parameters, read when the simulation is built.
    Text(String),
}

/// A function of x, y, z and t.
#[derive(Clone)]
pub(crate) struct PointFunction {
    value: Arc<dyn Fn(f64, f64, f64, f64) -> f64 + Send + Sync>,
    formula: Option<Arc<PointFormula>>,
}

/// A formula with the values of its parameters, and its preparation for the cells of a mesh.
#[derive(Debug)]
struct PointFormula {
    formula: Formula,
    params: Vec<f64>,
    sampler: Mutex<Option<Sampler>>,
}

impl PointFunction {
    pub(crate) fn new(value: impl Fn(f64, f64, f64, f64) -> f64 + Send + Sync + 'static) -> Self {
        PointFunction { value: Arc::new(value), formula: None }
    }

    /// Adds its formula of these parameters, x, y, z and t, which a card can evaluate, too.
    pub(crate) fn with_formula(self, formula: Formula, params: &[f64]) -> Self {
        let formula = PointFormula { formula, params: params.to_vec(), sampler: Mutex::new(None) };
        PointFunction { formula: Some(Arc::new(formula)), ..self }
    }

    /// Calls `then` with the function of cells of a mesh at a time. Operations of a formula that do not differ from cell
    /// to cell are done before.
    pub(crate) fn in_cells<R>(
        &self,
        mesh: &Mesh,
        t: f64,
        then: impl FnOnce(&(dyn Fn([isize; 3]) -> f64 + Sync)) -> R,
    ) -> R {
        let Some(prepared) = &self.formula else {
            return then(&|cell| self.at(mesh.point(cell), t));
        };
        // A panic leaves a sampler that is renewed before its next use.
        let mut held = prepared.sampler.lock().unwrap_or_else(PoisonError::into_inner);
        let known = held.take().filter(|sampler| sampler.is_for(mesh));
        let make = || Sampler::new(&prepared.formula, &prepared.params, mesh);
        let mut sampler = known.unwrap_or_else(make);
        sampler.renew(t);
        let result = then(&|cell| sampler.at(cell.map(|i| i as usize)));
        *held = Some(sampler);
        result
    }

    pub(crate) fn at(&self, [x, y, z]: [f64; 3], t: f64) -> f64 {
        (self.value)(x, y, z, t)
    }

    /// Returns the formula, if it is one.
    pub(crate) fn formula(&self) -> Option<&Formula> {
        self.formula.as_ref().map(|prepared| &prepared.formula)
    }
}

pub(crate) type GhostFunction = dyn Fn(&BoundaryPoint<'_>) -> f64 + Send + Sync;

/// A ghost value of the user's own.
#[derive(Clone)]
pub(crate) enum Custom {
    Function {
        /// Names of the components that it reads.
        reads: Vec<String>,
        ghost: Arc<GhostFunction>,
    },
    /// A formula of x, y, z, t, parameters and components, read when the simulation is built.
    Text(String),
}

/// A ghost cell that a function fills; see [`Boundary::custom`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BoundaryPoint<'a> {
    /// The face that the ghost cell lies beyond.
    pub face: Face,
    /// The number of cells that it lies beyond the face; 1 is next to it.
    pub depth: usize,
    /// Its coordinates x, y, z.
    pub position: [f64; 3],
    /// The coordinates of the point of the face that is nearest to it.
    pub wall: [f64; 3],
    /// The time of the substep.
    pub t: f64,
    /// Values of the components that are read, in the cell next to the face.
    pub nearest: &'a [f64],
    /// Their values in the mirror image of the ghost cell.
    pub mirrored: &'a [f64],
}

/// Boundaries without a number, by name.
const NAMED: [(&str, Kind); 4] = [
    ("periodic", Kind::Periodic),
    ("outflow", Kind::Outflow),
    ("wall", Kind::Wall),
    ("extrapolate", Kind::Extrapolate),
];

impl Boundary {
    /// Returns the periodic boundary: the opposite side of the mesh. Both faces of an axis are periodic, or none, and
    /// for all fields. It is the default of all faces.
    pub fn periodic() -> Self {
        Boundary(Kind::Periodic)
    }

    /// Returns zero gradient: ghost cells repeat the cell next to the face.
    pub fn outflow() -> Self {
        Boundary(Kind::Outflow)
    }

    /// Returns an impenetrable wall without friction, a plane of symmetry: ghost cells are mirror images. The
    /// component of a vector that is normal to the face changes its sign, and a component of a tensor changes it for
    /// each index that is normal. For no slip, set the tangential components to `Boundary::dirichlet(0.0)`.
    pub fn wall() -> Self {
        Boundary(Kind::Wall)
    }

    /// Returns linear extrapolation of the two cells next to the face: exact for linear functions, of second order.
    pub fn extrapolate() -> Self {
        Boundary(Kind::Extrapolate)
    }

    /// Returns a condition with this value on the face. Ghost cells lie on the polynomial through the value and the
    /// cells next to the face, of the order of the scheme's differences, at most six. Ghost cells of a field without
    /// smoothing (its own equation has no second derivative of it), or with a flux, are of second order: 2 * value -
    /// mirror image. A polynomial of high order would let its disturbances grow. If a conservation law differentiates
    /// nothing but fluxes, all ghost cells of its fields have this value: the solver meets the given state. A component of
    /// a field on faces or edges that lies on the face has this value there, and is a mirror image about it.
    pub fn dirichlet(value: f64) -> Self {
        Boundary(Kind::Dirichlet(Value::Constant(value)))
    }

    /// Returns a value on the face that is a function of x, y, z and t; see [`dirichlet`](Self::dirichlet). It is
    /// called with points of the face, at the time of each substep, on several threads. Of a component on faces or edges
    /// these are the points where it lies; one that lies on an upper face takes numbers alone.
    pub fn dirichlet_with(
        value: impl Fn(f64, f64, f64, f64) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Boundary(Kind::Dirichlet(Value::Function(PointFunction::new(value))))
    }

    /// Returns a value on the face from a formula such as `"sin(t) * y"` of x, y, z, t and the parameters.
    pub fn dirichlet_text(value: impl Into<String>) -> Self {
        Boundary(Kind::Dirichlet(Value::Text(value.into())))
    }

    /// Returns this derivative along the outward normal on the face. Ghost cells lie on a polynomial as for
    /// [`dirichlet`](Self::dirichlet); of second order they are the mirror image + slope * distance of the two.
    pub fn neumann(slope: f64) -> Self {
        Boundary(Kind::Neumann(Value::Constant(slope)))
    }

    /// Returns a derivative along the outward normal that is a function of x, y, z and t; see
    /// [`dirichlet_with`](Self::dirichlet_with).
    pub fn neumann_with(slope: impl Fn(f64, f64, f64, f64) -> f64 + Send + Sync + 'static) -> Self {
        Boundary(Kind::Neumann(Value::Function(PointFunction::new(slope))))
    }

    /// Returns a derivative along the outward normal from a formula of x, y, z, t and the parameters.
    pub fn neumann_text(slope: impl Into<String>) -> Self {
        Boundary(Kind::Neumann(Value::Text(slope.into())))
    }

    /// Returns an open face of a conservation law: waves leave, and none come in but those of a far state, which has a value
    /// for each component. Ghost cells hold the far state and, of the difference of the cell next to the face from it, the
    /// part in outgoing waves: those of the fluxes along the normal, linear about the far state. Fields without flux
    /// repeat the cell next to the face. It is for all components of the face.
    ///
    /// ```
    /// use stencil_runtime::{Axis, Boundary, Simulation, SystemDef};
    ///
    /// let sound = SystemDef::from_text("sound.pde", "
    ///     system Sound in 1d { conserved p: scalar; conserved u: vector; flux p -> 4*u; flux u -> p*I; }
    ///     scheme s for Sound { reconstruct: plm<limiter = mc>; riemann: roe; time: ssprk2; }
    /// ")?;
    /// let open = Boundary::characteristic([("p", 1.0), ("u_x", 0.0)]);
    /// let tube = Simulation::<f64>::builder(&sound).cells([100, 1, 1]).boundary(Axis::X, open);
    /// let mut tube = tube.cfl(0.4).build()?;
    /// tube.set("p", |x, _, _| 1.0 + (-200.0 * (x - 0.5).powi(2)).exp())?;
    /// tube.run_until(1.0, |_, _| ())?;
    /// assert!(tube.field("p")?.iter().all(|p| (p - 1.0).abs() < 1e-3));
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn characteristic<N: Into<String>>(far: impl IntoIterator<Item = (N, f64)>) -> Self {
        let far = far.into_iter().map(|(name, value)| (name.into(), value));
        Boundary(Kind::Characteristic(far.collect()))
    }

    /// Returns ghost values by a function of the point and of the components that are named in `reads`.
    ///
    /// ```
    /// use stencil_runtime::Boundary;
    /// // Carries the invariant u + 2 c of a simple wave outwards.
    /// let open = Boundary::custom(["u", "c"], |at| at.mirrored[0] + 2.0 * (at.mirrored[1] - at.nearest[1]));
    /// # let _ = open;
    /// ```
    pub fn custom<N: Into<String>>(
        reads: impl IntoIterator<Item = N>,
        ghost: impl Fn(&BoundaryPoint<'_>) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Boundary(Kind::Custom(Custom::Function {
            reads: reads.into_iter().map(Into::into).collect(),
            ghost: Arc::new(ghost),
        }))
    }

    /// Returns ghost values from a formula of the ghost cell's x, y, z, of t, of the parameters and of components:
    /// `u_x` is the value in the mirror image, `near_u_x` in the cell next to the face. A wall is `"-u_x"` for the
    /// normal component.
    pub fn text(ghost: impl Into<String>) -> Self {
        Boundary(Kind::Custom(Custom::Text(ghost.into())))
    }

    /// Is it periodic?
    pub(crate) fn is_periodic(&self) -> bool {
        matches!(self.0, Kind::Periodic)
    }

    /// Returns the boundary of a name: `periodic`, `outflow`, `wall` or `extrapolate`.
    ///
    /// ```
    /// # use stencil_runtime::Boundary;
    /// assert!(Boundary::from_name("wall").is_ok());
    /// let error = Boundary::from_name("outflw").unwrap_err();
    /// assert!(error.to_string().contains("did you mean `outflow`?"), "{error}");
    /// ```
    ///
    /// # Errors
    /// If there is none; the error lists all.
    pub fn from_name(name: &str) -> Result<Self, Error> {
        let found = NAMED.into_iter().find(|(n, _)| *n == name);
        let known = || NAMED.iter().map(|(n, _)| *n);
        found
            .map(|(_, kind)| Boundary(kind))
            .ok_or_else(|| Error::unknown("the list of boundaries", "boundary", name, known()))
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Periodic => f.write_str("periodic"),
            Kind::Outflow => f.write_str("outflow"),
            Kind::Wall => f.write_str("wall"),
            Kind::Extrapolate => f.write_str("extrapolate"),
            Kind::Dirichlet(value) => write!(f, "dirichlet {value:?}"),
            Kind::Neumann(value) => write!(f, "neumann {value:?}"),
            Kind::Characteristic(far) => {
                let values = far.iter().map(|(name, value)| format!("{name} = {value}"));
                write!(f, "characteristic {}", values.collect::<Vec<_>>().join(", "))
            }
            Kind::Custom(custom) => write!(f, "{custom:?}"),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Constant(value) => write!(f, "{value}"),
            Value::Function(_) => f.write_str("by a function"),
            Value::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Custom::Function { reads, .. } => {
                write!(f, "a function of {}", reads.join(", "))
            }
            Custom::Text(text) => write!(f, "{text:?}"),
        }
    }
}
