//! Problem files: the system, the mesh, the initial values, the length of the run, and its output.
//!
//! ```toml
//! system = "gray_scott.pde"     # beside this file; or a system of the library; or the declaration
//!
//! [mesh]
//! cells = [128, 128]            # along x, y, z
//! extent = [2.5, 2.5]
//!
//! [boundary]                    # periodic by default
//! y = { lo = "wall", hi = { dirichlet = 0 } }
//!
//! [params]
//! Du = 2e-5
//!
//! [init]                        # formulas of x, y, z, the parameters, pi and names from [let]
//! U = "1 - 0.5*exp(-80*((x - 1.25)^2 + (y - 1.25)^2))"
//!
//! [time]
//! dt = "cfl(0.4)"               # or a number
//! end = 2000                    # or steps = ..
//! ```
//!
//! [`KEYS`] lists every setting. [`Problem::open`] reads a file, [`Problem::builder`] and
//! [`Problem::initialize`] set up a [`Simulation`](crate::Simulation), and [`Problem::to_toml`]
//! writes the problem with everything resolved: running that file gives the same bits.

use std::collections::BTreeMap;
use std::path::Path;

use stencil_compiler::diag::Code;
use stencil_compiler::expr::real::Precision;

use crate::io::{read_text, way_out};
use crate::{Axis, Devices, Mesh, Stream, SystemDef};

pub mod boundary;
mod change;
mod checkpoint;
mod document;
mod expression;
mod identity;
mod keys;
mod library;
mod mistakes;
mod open_faces;
mod output;
mod plot;
mod random;
mod reader;
mod record;
mod settings;
mod setup;
mod system;
#[cfg(test)]
mod tests;
mod values;
mod write;

pub use boundary::FaceKind;
pub use change::{Change, OneOfEach, Over, combinations};
pub use checkpoint::Checkpoint;
pub use expression::Expression;
pub use identity::branched;
pub use keys::{KEYS, Key};
pub use library::Library;
pub use mistakes::ProblemError;
pub use open_faces::Absorbing;
pub use output::Output;
pub use plot::{Plot, Shown, picture_names};
pub use random::Random;
pub use settings::{Time, TimeStep};
pub use setup::Norms;
pub use system::Origin;
pub use values::Initial;

use document::Table;
use expression::Scope;
use reader::{Name, Reader};
use system::{Group, Resolved};

/// A problem, read and checked.
///
/// ```
/// use stencil_runtime::problem::{Change, Library, Problem};
///
/// let text = "
/// system = 'pub system Heat in 2d { field q: scalar; param k: real = 1; ddt(q) = k * lap(q); }'
/// [mesh]
/// cells = 32
/// [init]
/// q = 'exp(-50*((x - 0.5)^2 + (y - 0.5)^2))'
/// [time]
/// dt = '0.1*h^2/k'
/// steps = 100
/// ";
/// let fewer = Change::set("time.steps=10");
/// let problem = Problem::parse("heat.toml", text, ".", &Library::empty(), &[fewer])?;
/// let mut simulation = problem.builder::<f64>().build()?;
/// problem.initialize(&mut simulation)?;
/// simulation.run(problem.time.steps.unwrap(), |_, _| ())?;
/// assert_eq!(simulation.step_count(), 10);
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The name of the file without its ending.
    pub name: String,
    /// One line that describes it.
    pub title: String,
    /// The system, with the chosen scheme.
    pub system: SystemDef,
    /// The origin of the system.
    pub origin: Origin,
    /// Precision of the values.
    pub precision: Precision,
    /// The mesh.
    pub mesh: Mesh,
    /// Patches along x, y, z that it is cut into; one for each device if not given.
    pub patches: Option<[usize; 3]>,
    /// The devices that share the patches.
    pub devices: Devices,
    /// Whether the mesh passes through its device slab by slab.
    pub stream: Stream,
    /// Faces that are not periodic, and single components of such faces.
    pub boundary: Vec<FaceKind>,
    /// All parameters with their values, in the order of the system.
    pub params: Vec<(String, f64)>,
    /// Named expressions with their texts, in the order of the file.
    pub lets: Vec<(String, String)>,
    /// Random fields that initial values are made of, in the order of the file.
    pub random: Vec<Random>,
    /// Initial values.
    pub initial: Initial,
    /// Sources, by component.
    pub sources: BTreeMap<String, Expression>,
    /// The far values of absorbing layers that vary, by the names of their sources.
    varying: open_faces::Varying,
    /// The exact solution, by component.
    pub exact: BTreeMap<String, Expression>,
    /// The time steps and the length of the run.
    pub time: Time,
    /// The output files.
    pub output: Output,
    /// The states that are written on the way.
    pub checkpoint: Checkpoint,
    /// Pictures.
    pub plots: Vec<Plot>,
}

impl Problem {
    /// Reads a problem file, with some settings changed.
    ///
    /// # Errors
    /// If the file cannot be read or has mistakes; the error lists each mistake with its place and a way out.
    pub fn open(
        path: impl AsRef<Path>,
        library: &Library,
        changes: &[Change],
    ) -> Result<Self, ProblemError> {
        let path = path.as_ref();
        let source = path.display().to_string();
        match read_text(path) {
            Ok(text) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                Self::parse(&source, &text, folder, library, changes)
            }
            Err(error) => {
                let mut reader = Reader::default();
                let out = way_out(&error);
                let message =
                    format!("error[{}]: cannot read `{source}`: {error}{out}", Code::CannotRead);
                reader.mistakes.rendered(message);
                reader.mistakes.into_result(None)
            }
        }
    }

    /// Reads a problem from text; `source` is its name in messages, and paths in it begin at
    /// `folder`.
    ///
    /// # Errors
    /// If the text has mistakes; the error lists each with its place and a way out.
    pub fn parse(
        source: &str,
        text: &str,
        folder: impl AsRef<Path>,
        library: &Library,
        changes: &[Change],
    ) -> Result<Self, ProblemError> {
        let mut reader = Reader::default();
        let at = reader.mistakes.source(source, text);
        let document = document::parse(at, text, &mut reader.mistakes);
        let problem = document.and_then(|mut document| {
            // One number for all axes needs the number of axes.
            let (first, others): (Vec<_>, Vec<_>) =
                changes.iter().partition(|change| change.is_of_dimension());
            for change in first.into_iter().chain(others) {
                change.apply(&mut document, &mut reader.mistakes);
            }
            read(&name_of(source), &document, folder.as_ref(), library, &mut reader)
        });
        reader.mistakes.into_result(problem)
    }

    /// Returns the names of all components, in the order of the system.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        let states = self.system.algorithm().states.iter();
        let fields = states.filter(|s| s.role == stencil_compiler::algorithm::Role::Field);
        fields.map(|s| s.name.as_str())
    }

    /// Is an axis periodic?
    pub fn is_periodic(&self, axis: Axis) -> bool {
        let mut of_axis = self.boundary.iter().filter(|f| f.face.axis == axis);
        of_axis.all(|f| f.kind == boundary::Kind::Named("periodic"))
    }

    /// Returns the boundaries in words, a line each.
    pub fn boundary_lines(&self) -> Vec<String> {
        if self.boundary.is_empty() {
            return vec!["periodic".to_string()];
        }
        let line = |of: &FaceKind| match &of.component {
            None => format!("{}: {}", of.face, of.kind),
            Some(component) => format!("{} of {component}: {}", of.face, of.kind),
        };
        self.boundary.iter().map(line).collect()
    }

    /// Returns the file, with its folder, that the initial values are read from, if they are.
    pub fn initial_file(&self) -> Option<&Path> {
        self.initial.file.as_deref()
    }
}

/// Reads all sections; `None` if a required setting is wrong or missing.
fn read(
    name: &str,
    document: &Table,
    folder: &Path,
    library: &Library,
    reader: &mut Reader,
) -> Option<Problem> {
    reader.keys("", document);
    let title = document.get("title");
    let title = title.and_then(|item| reader.text(Name("", "title"), item));
    let precision = precision(document, reader);
    let mut resolved = system::read(document, folder, library, reader)?;
    let model = resolved.system.model();
    let params = settings::params(document, &resolved, reader);
    let scope = scope(document, &resolved, params.clone(), reader);
    let mut mesh = settings::mesh(document, model.dimension, reader);
    let devices = settings::devices(document, reader);
    let stream = settings::stream(document, reader);
    let on = (mesh.as_ref(), devices.as_ref());
    let patches = settings::patches(document, on, model.dimension, reader);
    let (boundary, layers) = faces(document, (&resolved, &scope), &mut mesh, reader);
    let exact = values::exact(document, &resolved, &scope, reader);
    let sources = values::sources(document, &resolved, &scope, reader);
    let taken = taken(&resolved);
    let (system, varying) = layers.unzip();
    resolved.system = system.unwrap_or(resolved.system);
    let model = resolved.system.model();
    let on = (mesh.as_ref(), model.dimension);
    let random = random::read(document, on, &scope, &taken, reader);
    let initial = values::initial(
        document,
        folder,
        &resolved,
        (&scope, &random::components(&random, model.dimension)),
        &exact,
        mesh.as_ref(),
        reader,
    );
    let h = mesh.map(|mesh| smallest(&mesh.spacing()[..model.dimension]));
    let time = settings::time(document, model, h, reader);
    let of_run = (&resolved, precision);
    let output = output::output(document, name, of_run, (mesh.as_ref(), &boundary), reader);
    let checkpoint = checkpoint::read(document, reader);
    let plots = plot::read(document, &scope, &resolved, mesh.as_ref(), reader);
    Some(Problem {
        name: name.to_string(),
        title: title.unwrap_or_else(|| name.replace('_', " ")),
        precision: precision?,
        mesh: mesh?,
        patches: patches?,
        devices: devices?,
        stream: stream?,
        boundary,
        params,
        lets: scope.lets().map(|(name, text)| (name.to_string(), text.to_string())).collect(),
        random,
        initial,
        sources,
        varying: varying.unwrap_or_default(),
        exact,
        time: time?,
        output: output?,
        checkpoint: checkpoint?,
        plots,
        origin: resolved.origin,
        system: resolved.system,
    })
}

/// The system with its absorbing layers, and their sources.
type Layered = (SystemDef, open_faces::Varying);

/// Reads the faces of the mesh. Its points are in the middle of cells, unless it says so itself, if an axis has ends.
fn faces(
    document: &Table,
    (resolved, scope): (&Resolved, &Scope),
    mesh: &mut Option<Mesh>,
    reader: &mut Reader,
) -> (Vec<FaceKind>, Option<Layered>) {
    let dimension = resolved.system.model().dimension;
    let context = boundary::Context { scope, fields: &resolved.fields, dimension, mesh: *mesh };
    let (table, _) = reader.section(document, "boundary");
    let boundary = boundary::read(&table, &context, reader);
    if let Some(mesh) = mesh {
        let has_ends = boundary.iter().any(|f| f.kind != boundary::Kind::Named("periodic"));
        mesh.centered = settings::centered(document, reader).unwrap_or(has_ends);
    }
    let layers =
        mesh.as_ref().and_then(|m| open_faces::with_layers(resolved, m, &boundary, reader));
    (boundary, layers)
}

/// Reads the precision, `f64` if not given; `None` if it is wrong.
fn precision(document: &Table, reader: &mut Reader) -> Option<Precision> {
    let all = [("f32", Precision::F32), ("f64", Precision::F64)];
    match document.get("precision") {
        Some(item) => reader.choice(Name("", "precision"), item, &all),
        None => Some(Precision::F64),
    }
}

/// Returns the smallest of some spacings.
fn smallest(spacings: &[f64]) -> f64 {
    spacings.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns the name of a problem: of `<name>` or of a path.
fn name_of(source: &str) -> String {
    let inner = source.strip_prefix('<').and_then(|s| s.strip_suffix('>'));
    let stem = Path::new(inner.unwrap_or(source)).file_stem();
    let visible = |c: char| if c.is_control() { '_' } else { c };
    stem.map_or("problem".into(), |s| s.to_string_lossy().chars().map(visible).collect())
}

/// Returns the names that expressions may use, `[let]` included.
fn scope(
    document: &Table,
    resolved: &Resolved,
    params: Vec<(String, f64)>,
    reader: &mut Reader,
) -> Scope {
    let mut scope = Scope::new(resolved.system.model().dimension, params);
    let (table, _) = reader.section(document, "let");
    let taken = taken(resolved);
    let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
    scope.read_lets(&table, &taken, reader);
    scope
}

/// Returns the names of the system.
fn taken(resolved: &Resolved) -> Vec<String> {
    let mut taken = known_names(&resolved.fields);
    taken.extend(known_names(&resolved.sources));
    taken
}

/// Returns the names of fields or sources, and of their components.
fn known_names(groups: &[Group]) -> Vec<String> {
    let mut names: Vec<String> = groups.iter().map(|g| g.name.clone()).collect();
    for component in system::components(groups) {
        if !names.iter().any(|name| name == component) {
            names.push(component.to_string());
        }
    }
    names
}
