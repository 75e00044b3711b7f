//! Systems of equations, declared in Rust or read from text.

use std::path::Path;
use std::sync::Arc;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::Model;
use stencil_compiler::schedule::{Schedule, heuristic, presets};
use stencil_compiler::{algorithm, discretize, model, schedule};

use crate::Error;
use crate::program::CompiledKernel;

/// A system declared with [`pde!`](crate::pde): a type without values that carries its definition.
pub trait System {
    /// The declaration, and what it was compiled to.
    const DEFINITION: Definition;
}

/// What `pde!` leaves in the program.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The system's name.
    pub name: &'static str,
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

#[derive(Debug)]
struct Parts {
    model: Model,
    algorithm: Algorithm,
    schedule: Schedule,
    kernels: Option<&'static [CompiledKernel]>,
}

impl SystemDef {
    /// The system that a definition describes.
    ///
    /// # Errors
    /// Only if the macro and the runtime do not belong together.
    pub fn new(definition: &Definition) -> Result<Self, Error> {
        let bug = |what: &str, error: &dyn std::fmt::Display| {
            Error::Bug(format!(
                "the {what} of {} does not read: {error}",
                definition.name
            ))
        };
        let model = model::parse::parse_str(definition.model).map_err(|e| bug("model", &e))?;
        let algorithm =
            algorithm::text::parse(definition.algorithm).map_err(|e| bug("algorithm", &e))?;
        let schedule =
            schedule::text::parse(definition.schedule).map_err(|e| bug("schedule", &e))?;
        Ok(SystemDef(Arc::new(Parts {
            model,
            algorithm,
            schedule,
            kernels: definition.kernels,
        })))
    }

    /// The system that a text declares, as a `.pde` file holds it; `source` is its name in messages.
    ///
    /// # Errors
    /// All errors of the declaration, each with its line.
    pub fn from_text(source: &str, text: &str) -> Result<Self, Error> {
        let render =
            |e: stencil_compiler::diag::Diagnostics| Error::Declaration(e.render(source, text));
        let model = model::parse::parse_str(text).map_err(render)?;
        let algorithm = discretize::discretize(&model).map_err(|e| {
            let at = if e.span.is_known() {
                format!("{source}:{}: ", e.span.start.line)
            } else {
                format!("{source}: ")
            };
            Error::Declaration(format!("{at}{}", e.message))
        })?;
        let schedule = heuristic::cpu(&algorithm);
        Ok(SystemDef(Arc::new(Parts {
            model,
            algorithm,
            schedule,
            kernels: None,
        })))
    }

    /// The system that a `.pde` file declares.
    ///
    /// # Errors
    /// Where the file cannot be read, and all errors of the declaration.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
            path: path.to_path_buf(),
            source,
        })?;
        Self::from_text(&path.display().to_string(), &text)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.model.name
    }

    /// The equations as they were written and understood.
    pub fn model(&self) -> &Model {
        &self.0.model
    }

    /// The discrete problem.
    pub fn algorithm(&self) -> &Algorithm {
        &self.0.algorithm
    }

    /// The schedule of the host's processor, which the compiled program follows if there is one.
    pub fn schedule(&self) -> &Schedule {
        &self.0.schedule
    }

    /// Whether the program holds compiled kernels of the system.
    pub fn is_compiled(&self) -> bool {
        self.0.kernels.is_some()
    }

    pub(crate) fn kernels(&self) -> Option<&'static [CompiledKernel]> {
        self.0.kernels
    }

    /// A schedule by the name of a preset, such as `decomposed`.
    ///
    /// # Errors
    /// If there is no preset of this name.
    pub fn preset(&self, name: &str, precision: Precision) -> Result<Schedule, Error> {
        let names = || presets::ALL.iter().map(|p| p.name);
        let preset = presets::find(name)
            .ok_or_else(|| Error::unknown("the list of presets", "schedule", name, names()))?;
        Ok((preset.make)(self.algorithm(), precision))
    }

    /// One line for each intermediate and each equation, as they were understood.
    pub fn equations(&self) -> Vec<String> {
        let model = &self.0.model;
        let lets = model
            .lets
            .iter()
            .map(|l| format!("{} = {}", l.name, model::text::expression(model, &l.value)));
        let equations = model.equations.iter().filter_map(|e| {
            let field = model.fields.get(e.field)?;
            Some(format!(
                "ddt({}) = {}",
                field.name,
                model::text::expression(model, &e.rhs)
            ))
        });
        lets.chain(equations).collect()
    }
}

/// What a [`Simulation`](crate::Simulation) can be made of: a declared type or a [`SystemDef`].
pub trait ToSystem {
    /// The system.
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
