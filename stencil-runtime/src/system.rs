//! Systems of equations, declared in Rust or read from text.

use std::path::Path;
use std::sync::Arc;

use stencil_compiler::algorithm::open_faces::OpenFaces;
use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::catalogue::{Centering, Halves, Rank};
use stencil_compiler::diag::{Diagnostic, Diagnostics};
use stencil_compiler::discretize::{DiscretizeError, Observation};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::Model;
use stencil_compiler::schedule::Schedule;
use stencil_compiler::search::{heuristic, presets};
use stencil_compiler::{algorithm, discretize, model, schedule};

use crate::io::read_text;
use crate::program::{CompiledKernel, Entry};
use crate::{Error, Number};

mod open_faces;
mod schemes;

/// A system declared with [`pde!`](crate::pde): a type without values that carries its definition.
pub trait System {
    /// The declaration, and its compiled form.
    const DEFINITION: Definition;
}

/// The data that `pde!` leaves in the program.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The system's name.
    pub name: &'static str,
    /// The file that holds the declaration, as rustc names it.
    pub file: &'static str,
    /// The declaration, printed.
    pub model: &'static str,
    /// The discrete problem, printed.
    pub algorithm: &'static str,
    /// The schedule that the kernels were made by, printed.
    pub schedule: &'static str,
    /// One kernel for each launch; `None` for `#[interpreted]` systems.
    pub kernels: Option<&'static [CompiledKernel]>,
}

/// A system at run time: its equations, its discrete problem and, if it was declared in Rust, its
/// compiled program. Cheap to clone.
///
/// ```
/// use stencil_runtime::SystemDef;
///
/// let advection = SystemDef::from_text("advection.pde", "
///     pub system Advection in 1d {
///         field q: scalar;
///         param speed: real = 1;
///         ddt(q) = -speed * d[x](q);
///     }
///     scheme central6 for Advection { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
/// ")?;
/// assert_eq!(advection.equations(), ["ddt(q) = -speed * d[x](q)"]);
///
/// let error = SystemDef::from_text("typo.pde", "pub system Typo in 1d { field q: scalr; }").unwrap_err();
/// assert!(error.to_string().contains("typo.pde:1:34"), "{error}");
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SystemDef(Arc<Parts>);

/// A component of a field, which one array holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    /// Its name: `u_x`.
    pub(crate) name: String,
    /// The field's name: `u`.
    pub(crate) field: String,
    /// Index of the field in the model.
    pub(crate) of: usize,
    /// Its axes: none of a scalar, one of a vector, two of a tensor.
    pub(crate) indices: Vec<usize>,
    /// Are its values on a face or an edge, or in the centre of a cell?
    pub(crate) centering: Centering,
    /// The place of its values in their cells.
    pub(crate) halves: Halves,
}

#[derive(Debug)]
struct Parts {
    /// The file that declares it.
    source: String,
    model: Model,
    algorithm: Algorithm,
    schedule: Schedule,
    /// The observables and speeds of a run.
    observation: Option<Observation>,
    kernels: Option<&'static [CompiledKernel]>,
    /// The rules of values on faces of the mesh.
    open_faces: Option<OpenFaces>,
}

impl Parts {
    /// Discretizes a model; no kernels.
    fn discretize(model: Model, source: &str) -> Result<Self, DiscretizeError> {
        let model = with_speeds(model);
        let mut algorithm = discretize::discretize(&model)?;
        algorithm.file = source.to_string();
        Ok(Parts {
            source: source.to_string(),
            schedule: heuristic::cpu(&algorithm),
            observation: discretize::observe(&model)?,
            kernels: None,
            open_faces: None,
            algorithm,
            model,
        })
    }
}

/// Returns the model with the speeds of its waves, if it declares none and its fluxes imply them.
fn with_speeds(mut model: Model) -> Model {
    model.speeds.extend(model.implied_speeds());
    model
}

impl SystemDef {
    /// Returns the system of a definition.
    ///
    /// # Errors
    /// Only if the macro and the runtime do not belong together.
    pub fn new(definition: &Definition) -> Result<Self, Error> {
        let bug = |what: &str, error: &dyn std::fmt::Display| {
            Error::Bug(format!("the {what} of {} does not read: {error}", definition.name))
        };
        let model = model::parse::parse_str(definition.model).map_err(|e| bug("model", &e))?;
        // Its places are in the printed text; the algorithm has the places in the declaration.
        let model = with_speeds(model.without_spans());
        let mut algorithm =
            algorithm::text::parse(definition.algorithm).map_err(|e| bug("algorithm", &e))?;
        algorithm.file = definition.file.to_string();
        let schedule =
            schedule::text::parse(definition.schedule).map_err(|e| bug("schedule", &e))?;
        let observation = discretize::observe(&model).map_err(|e| bug("observables", &e))?;
        Ok(SystemDef(Arc::new(Parts {
            source: definition.file.to_string(),
            observation,
            model,
            algorithm,
            schedule,
            kernels: definition.kernels,
            open_faces: None,
        })))
    }

    /// Reads the system that a text declares, as a `.pde` file holds it; `source` is its name in messages.
    ///
    /// # Errors
    /// All errors of the declaration, each with its line; a system `in nd` needs
    /// [`from_text_in`](Self::from_text_in).
    pub fn from_text(source: &str, text: &str) -> Result<Self, Error> {
        Self::from_text_in(source, text, None)
    }

    /// Reads the system that a text declares, in a number of dimensions if it is declared `in nd`.
    ///
    /// ```
    /// use stencil_runtime::SystemDef;
    /// let heat = "pub system Heat in nd { field q: scalar; ddt(q) = lap(q); }";
    /// assert_eq!(SystemDef::from_text_in("heat.pde", heat, Some(2))?.model().dimension, 2);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`from_text`](Self::from_text); if the system is declared in another number.
    pub fn from_text_in(source: &str, text: &str, dimension: Option<usize>) -> Result<Self, Error> {
        let render = |errors: Diagnostics| Error::Declaration(errors.render(source, text));
        let model = model::parse::parse_str_in(text, dimension).map_err(render)?;
        let parts = Parts::discretize(model, source)
            .map_err(|error| render(Diagnostics::from(Diagnostic::from(error))))?;
        Ok(SystemDef(Arc::new(parts)))
    }

    /// Reads the system that a text declares, by one of its schemes: the one of this name, or the first. Other schemes
    /// may be wrong.
    ///
    /// # Errors
    /// See [`from_text_in`](Self::from_text_in).
    pub fn from_text_with(
        source: &str,
        text: &str,
        dimension: Option<usize>,
        scheme: Option<&str>,
    ) -> Result<Self, Error> {
        let render = |errors: Diagnostics| Error::Declaration(errors.render(source, text));
        let model = model::parse::parse_str_with(text, dimension, scheme).map_err(render)?;
        let parts = Parts::discretize(model, source)
            .map_err(|error| render(Diagnostics::from(Diagnostic::from(error))))?;
        Ok(SystemDef(Arc::new(parts)))
    }

    /// Makes the system of a model; `source` is its name in messages.
    ///
    /// # Errors
    /// If the model cannot be discretized.
    pub fn from_model(source: &str, model: Model) -> Result<Self, Error> {
        let parts = Parts::discretize(model, source)
            .map_err(|error| Error::Declaration(format!("error: {source}: {error}")))?;
        Ok(SystemDef(Arc::new(parts)))
    }

    /// Returns the same system by another of its declared schemes. Only its first one is compiled.
    ///
    /// ```
    /// use stencil_runtime::SystemDef;
    /// let heat = SystemDef::from_text("heat.pde", "
    ///     pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme coarse for Heat { space: central<order = 2>; time: euler; }
    ///     scheme fine for Heat { space: central<order = 8>; time: rk4; }
    /// ")?;
    /// assert!(heat.with_scheme("fine")?.algorithm().scheme.contains("order 8"));
    /// let error = heat.with_scheme("fime").unwrap_err();
    /// assert!(error.to_string().contains("did you mean `fine`?"), "{error}");
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is none of this name, or it cannot be discretized.
    pub fn with_scheme(&self, name: &str) -> Result<Self, Error> {
        if self.model().scheme.name == name {
            return Ok(self.clone());
        }
        let known = self.model().schemes().map(|s| s.name.as_str());
        let model = self
            .model()
            .with_scheme(name)
            .ok_or_else(|| Error::unknown(self.name(), "scheme", name, known))?;
        let failed = |e: DiscretizeError| Error::Declaration(format!("scheme `{name}`: {e}"));
        let parts = Parts::discretize(model, &self.0.source).map_err(failed)?;
        Ok(SystemDef(Arc::new(parts)))
    }

    /// Returns a problem with the same arrays and as many operations, but every read in the cell itself: it shows the
    /// speed of a machine without a stencil. It solves nothing.
    ///
    /// ```
    /// let heat = stencil_runtime::SystemDef::from_text("heat.pde", "
    ///     pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme fine for Heat { space: central<order = 6>; mixed: bidiagonal; time: rk4; }
    /// ")?;
    /// let bare = heat.without_neighbours();
    /// assert_eq!(bare.algorithm().functions.len(), heat.algorithm().functions.len());
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn without_neighbours(&self) -> Self {
        let parts = &self.0;
        let algorithm = parts.algorithm.without_neighbours();
        SystemDef(Arc::new(Parts {
            source: parts.source.clone(),
            model: parts.model.clone(),
            schedule: heuristic::cpu(&algorithm),
            observation: None,
            kernels: None,
            open_faces: None,
            algorithm,
        }))
    }

    /// Reads the system that a `.pde` file declares.
    ///
    /// # Errors
    /// If the file cannot be read, and all errors of the declaration.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_file_in(path, None)
    }

    /// Reads the system that a `.pde` file declares, in a number of dimensions if it is declared `in nd`.
    ///
    /// # Errors
    /// See [`from_file`](Self::from_file); if the system is declared in another number.
    pub fn from_file_in(path: impl AsRef<Path>, dimension: Option<usize>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text =
            read_text(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
        Self::from_text_in(&path.display().to_string(), &text, dimension)
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.0.model.name
    }

    /// Returns the equations as they were written and understood.
    pub fn model(&self) -> &Model {
        &self.0.model
    }

    /// Returns the discrete problem.
    pub fn algorithm(&self) -> &Algorithm {
        &self.0.algorithm
    }

    /// Returns the components of all fields, in the order of the algorithm's states.
    pub(crate) fn components(&self) -> Vec<Component> {
        let states = self.algorithm().states_of(Role::Field);
        states
            .filter_map(|(_, state)| {
                let fields = self.model().fields.iter().enumerate();
                let mut parts = fields.filter_map(|(of, field)| {
                    Some(Component {
                        name: state.name.clone(),
                        field: field.name.clone(),
                        of,
                        indices: indices(&field.name, field.rank, &state.name)?,
                        centering: field.centering,
                        halves: state.halves,
                    })
                });
                parts.next()
            })
            .collect()
    }

    /// Has it speeds (`cfl { .. }`, or the waves of a law, declared or implied by its fluxes), so that time steps may
    /// adapt to them?
    pub fn has_speeds(&self) -> bool {
        self.model().limits_steps()
    }

    /// Returns the observables and speeds that are evaluated in a run.
    pub(crate) fn observation(&self) -> Option<&Observation> {
        self.0.observation.as_ref()
    }

    /// Returns the schedule of the host's processor, which the compiled program follows if there is one.
    pub fn schedule(&self) -> &Schedule {
        &self.0.schedule
    }

    /// Does the program hold compiled kernels of the system?
    pub fn is_compiled(&self) -> bool {
        self.0.kernels.is_some()
    }

    /// Returns the compiled kernels, if there are some for this precision.
    pub(crate) fn kernels<T: Number>(&self) -> Option<&'static [CompiledKernel]> {
        let is_there = |kernel: &CompiledKernel| !matches!(T::entry(kernel), Entry::Missing);
        self.0.kernels.filter(|kernels| kernels.iter().all(is_there))
    }

    /// Returns the same system with compiled kernels, which follow its own schedule.
    pub(crate) fn with_kernels(&self, kernels: &'static [CompiledKernel]) -> Self {
        let parts = &self.0;
        SystemDef(Arc::new(Parts {
            source: parts.source.clone(),
            model: parts.model.clone(),
            algorithm: parts.algorithm.clone(),
            schedule: parts.schedule.clone(),
            observation: parts.observation.clone(),
            kernels: Some(kernels),
            open_faces: parts.open_faces.clone(),
        }))
    }

    /// Returns a schedule by the name of a preset, such as `decomposed`.
    ///
    /// # Errors
    /// If there is no preset of this name.
    pub fn preset(&self, name: &str, precision: Precision) -> Result<Schedule, Error> {
        let names = || presets::ALL.iter().map(|p| p.name);
        let preset = presets::find(name)
            .ok_or_else(|| Error::unknown("the list of presets", "schedule", name, names()))?;
        Ok(preset.schedule(self.algorithm(), precision))
    }

    /// Returns the equation of a component, as a message names it, with its place in the file that declares it.
    pub(crate) fn equation_of(&self, component: &str) -> String {
        let all = self.components();
        let component = all.iter().find(|c| c.name == component);
        let equations = &self.0.model.equations;
        let found = component.and_then(|c| Some((c, equations.iter().find(|e| e.field == c.of)?)));
        let Some((component, equation)) = found else {
            return "its equation".to_string();
        };
        let rates = model::text::rates(&self.0.model, equation);
        let rates: Vec<String> = rates.map(|(left, right)| left + &right).collect();
        let text = format!("`{}`", rates.join("; "));
        // The model of a compiled system was printed; its algorithm keeps the places.
        let rate = format!("ddt_{}", component.name);
        let algorithm = self.algorithm();
        // If axes are swept one after the other, the first of its rates.
        let function = algorithm.find(&rate).or_else(|| algorithm.find(&format!("{rate}_x")));
        let place = match function {
            Some(id) if !equation.span.is_known() => self.algorithm().function(id).span,
            _ => equation.span,
        };
        if !place.is_known() {
            return text;
        }
        // Columns count from 1, as in compilers' messages.
        let (line, column) = (place.start.line, place.start.column + 1);
        format!("{text} ({}:{line}:{column})", self.0.source)
    }

    /// Returns one line for each intermediate and each equation, as they were understood.
    pub fn equations(&self) -> Vec<String> {
        let model = &self.0.model;
        let lets = model::text::lets(model).into_iter();
        let lets = lets.map(|(name, value)| format!("{name} = {value}"));
        let rates = model.equations.iter();
        let rates = rates.flat_map(|equation| model::text::rates(model, equation));
        lets.chain(rates.map(|(left, right)| left + &right)).collect()
    }
}

/// Returns the axes of a component of a field; `None` if it is none of its components.
pub(crate) fn indices(field: &str, rank: Rank, component: &str) -> Option<Vec<usize>> {
    let letters = match rank {
        Rank::Scalar => return (field == component).then(Vec::new),
        Rank::Vector | Rank::Tensor => component.strip_prefix(field)?.strip_prefix('_')?,
    };
    let axes: Option<Vec<usize>> = letters.chars().map(|c| "xyz".find(c)).collect();
    let count = if rank == Rank::Vector { 1 } else { 2 };
    axes.filter(|axes| axes.len() == count)
}

/// A source of the system of a [`Simulation`](crate::Simulation): a declared type or a [`SystemDef`].
pub trait ToSystem {
    /// Returns the system.
    ///
    /// # Errors
    /// See [`SystemDef::new`].
    fn to_system(&self) -> Result<SystemDef, Error>;
}

impl<S: System> ToSystem for S {
    fn to_system(&self) -> Result<SystemDef, Error> {
        SystemDef::new(&S::DEFINITION)
    }
}

impl ToSystem for SystemDef {
    fn to_system(&self) -> Result<SystemDef, Error> {
        Ok(self.clone())
    }
}

impl ToSystem for Definition {
    fn to_system(&self) -> Result<SystemDef, Error> {
        SystemDef::new(self)
    }
}
