//! The system of a problem, and its scheme.

use std::path::Path;

use stencil_compiler::algorithm::Role;
use stencil_compiler::catalogue::{Rank, integrators, predictors};
use stencil_compiler::diag::{Code, nearest};
use stencil_compiler::model::parse::{Dimensions, dimensions};
use stencil_compiler::model::{Arith, Formulation, Mixed, Model, Scheme, Symmetry, text};

use super::document::{Data, Item, Table};
use super::library::Library;
use super::mistakes::At;
use super::reader::{Name, Reader};
use crate::io::read_text;
use crate::{Error, SystemDef};

/// The origin of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The library, by this name.
    Library(String),
    /// A declaration: of a file, or of the problem file itself.
    Text(String),
}

/// A system with the names of its components.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) system: SystemDef,
    pub(super) origin: Origin,
    pub(super) fields: Vec<Group>,
    pub(super) sources: Vec<Group>,
}

/// A field or source and its components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) components: Vec<String>,
}

/// Returns all components of some fields or sources.
pub(super) fn components(groups: &[Group]) -> impl Iterator<Item = &str> + Clone {
    groups.iter().flat_map(|g| g.components.iter().map(String::as_str))
}

/// Reads `system` and `scheme`; `cells` gives the number of dimensions if it is open.
pub(super) fn read(
    document: &Table,
    folder: &Path,
    library: &Library,
    reader: &mut Reader,
) -> Option<Resolved> {
    let Some(item) = document.get("system") else {
        let names: Vec<&str> = library.names().collect();
        let known = match names.is_empty() {
            true => String::new(),
            false => format!(", or a name: {}", names.join(", ")),
        };
        let help = format!("add system = \"FILE.pde\", a file beside this one{known}");
        reader.mistakes.add(Code::MissingSetting, At::FILE, "no `system` is given", help);
        return None;
    };
    let name = reader.lines(Name("", "system"), item)?;
    let wanted = Wanted {
        dimension: dimension(document, reader),
        scheme: match document.get("scheme").map(|item| &item.data) {
            Some(Data::Text(name)) => Some(name.as_str()),
            _ => None,
        },
    };
    let (system, origin) = if name.contains('{') {
        // Places in the declaration are then places in the file.
        let (line, column) = reader.mistakes.start_of(item.at, &name);
        let padded = "\n".repeat(line) + &" ".repeat(column) + &name;
        let source = reader.mistakes.name(item.at).to_string();
        (declared(&source, &padded, wanted, reader)?, Origin::Text(name))
    } else if name.contains(['.', '/', '\\']) {
        from_file(folder, &name, item, wanted, reader)?
    } else {
        let system = from_library(library, &name, item, wanted.dimension, reader)?;
        let origin = Origin::Library(system.name().to_string());
        (system, origin)
    };
    let system = match document.get("scheme") {
        Some(item) => change_scheme(system, item, reader)?,
        None => system,
    };
    Some(resolve(system, origin))
}

/// Returns the number of axes that the file asks for, or that its mesh has.
fn dimension(document: &Table, reader: &mut Reader) -> Option<usize> {
    if let Some(item) = document.get("dimension") {
        let count = reader.count(Name("", "dimension"), item)?;
        if count > 3 {
            let message = format!("there are no meshes of {count} dimensions");
            reader.bad(item.at, message, "give 1, 2 or 3");
            return None;
        }
        return usize::try_from(count).ok();
    }
    match &document.table("mesh")?.get("cells")?.data {
        Data::List(list) => Some(list.len()).filter(|n| (1..=3).contains(n)),
        _ => None,
    }
}

/// The file's choices for a declaration.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    /// The number of axes, if the file gives it.
    dimension: Option<usize>,
    /// A scheme by name.
    scheme: Option<&'a str>,
}

fn declared(
    source: &str,
    text: &str,
    wanted: Wanted<'_>,
    reader: &mut Reader,
) -> Option<SystemDef> {
    // A system with a number of its own has it whatever the number of the mesh, which is checked there.
    let dimension = match dimensions(text) {
        Some(Dimensions::Fixed(_)) | None => None,
        Some(Dimensions::Any) => wanted.dimension,
    };
    match SystemDef::from_text_with(source, text, dimension, wanted.scheme) {
        Ok(system) => Some(system),
        Err(error) => {
            reader.mistakes.rendered(error.to_string());
            None
        }
    }
}

fn from_file(
    folder: &Path,
    name: &str,
    item: &Item,
    wanted: Wanted<'_>,
    reader: &mut Reader,
) -> Option<(SystemDef, Origin)> {
    let path = folder.join(name);
    match read_text(&path) {
        Ok(text) => {
            let system = declared(&path.display().to_string(), &text, wanted, reader)?;
            Some((system, Origin::Text(text)))
        }
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", path.display());
            let help = beside(folder, name);
            reader.mistakes.add(Code::CannotRead, item.at, message, help);
            None
        }
    }
}

/// Lists the declarations in a folder.
fn beside(folder: &Path, name: &str) -> String {
    let place = "a path begins at the folder of the problem file";
    let shown = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let Ok(entries) = std::fs::read_dir(shown) else {
        return place.to_string();
    };
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|n| n.ends_with(".pde")).collect();
    names.sort();
    match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!("{place}, which has no .pde file"),
        None => format!("{place}; there are: {}", names.join(", ")),
    }
}

fn from_library(
    library: &Library,
    name: &str,
    item: &Item,
    dimension: Option<usize>,
    reader: &mut Reader,
) -> Option<SystemDef> {
    let found = match library.find(name) {
        Ok(found) => found,
        Err(error) => {
            reader.mistakes.rendered(format!("error: {error}"));
            return None;
        }
    };
    let fits = |system: &&SystemDef| Some(system.model().dimension) == dimension;
    if let Some(system) = found.iter().find(fits).or(found.first()) {
        return Some(system.clone());
    }
    let near = nearest(name, library.names());
    let names: Vec<&str> = library.names().collect();
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "name a file: system = \"FILE.pde\"".to_string(),
        None => format!("there are: {}; a file's name ends in .pde", names.join(", ")),
    };
    let message = format!("no system `{name}` in the library");
    reader.mistakes.add(Code::NoSuchSetting, item.at, message, help);
    None
}

fn resolve(system: SystemDef, origin: Origin) -> Resolved {
    let model = system.model();
    let states = |role: Role| {
        let states = system.algorithm().states.iter();
        states.filter(move |s| s.role == role).map(|s| s.name.clone())
    };
    let mut names = states(Role::Field);
    let fields = model.fields.iter().map(|field| Group {
        name: field.name.clone(),
        components: names
            .by_ref()
            .take(count(field.rank, field.symmetry, model.components))
            .collect(),
    });
    let fields = fields.collect();
    let mut names = states(Role::Given);
    let sources = model.sources.iter().map(|source| Group {
        name: source.name.clone(),
        components: names
            .by_ref()
            .take(count(source.rank, Symmetry::General, model.components))
            .collect(),
    });
    let sources = sources.collect();
    Resolved { fields, sources, origin, system: system.clone() }
}

/// Returns the number of independent components.
fn count(rank: Rank, symmetry: Symmetry, n: usize) -> usize {
    match (rank, symmetry) {
        (Rank::Scalar, _) => 1,
        (Rank::Vector, _) => n,
        (Rank::Tensor, Symmetry::General) => n * n,
        (Rank::Tensor, Symmetry::Symmetric) => n * (n + 1) / 2,
        (Rank::Tensor, Symmetry::Antisymmetric) => n * (n - 1) / 2,
    }
}

/// Returns the system with the scheme that the file asks for.
fn change_scheme(system: SystemDef, item: &Item, reader: &mut Reader) -> Option<SystemDef> {
    let model = system.model();
    let scheme = match &item.data {
        Data::Text(name) => named_scheme(model, name, item.at, reader)?,
        Data::Table(table) => edited_scheme(model, table, reader)?,
        _ => {
            reader.wrong(Name("", "scheme"), item, "a name or a table");
            return None;
        }
    };
    if scheme == model.scheme {
        return Some(system);
    }
    let settles = scheme.settles(&model.scheme);
    let mut changed = model.clone();
    changed.scheme = scheme;
    if !settles {
        changed.others = Vec::new();
    }
    if let Err(problem) = changed.check() {
        reader.bad(item.at, problem.to_string(), "change the scheme");
        return None;
    }
    let found = match settles {
        true => system.settled(changed),
        false => with_model(&changed),
    };
    match found {
        Ok(system) => Some(system),
        Err(error) => {
            let message = format!("this scheme does not go with the system: {error}");
            reader.bad(item.at, message, "leave the line out, or change it");
            None
        }
    }
}

/// Makes a system of a model that was changed after it was read.
fn with_model(model: &Model) -> Result<SystemDef, Error> {
    SystemDef::from_text_in(&model.name, &text::print(model), Some(model.dimension))
}

fn named_scheme(model: &Model, name: &str, at: At, reader: &mut Reader) -> Option<Scheme> {
    let mut all = std::iter::once(&model.scheme).chain(&model.others);
    let found = all.clone().find(|scheme| scheme.name == name);
    if found.is_none() {
        let message = format!("{} has no scheme `{name}`", model.name);
        let known: Vec<&str> = all.by_ref().map(|s| s.name.as_str()).collect();
        reader.unknown(at, message, name, known.iter().copied());
    }
    found.cloned()
}

fn edited_scheme(model: &Model, table: &Table, reader: &mut Reader) -> Option<Scheme> {
    let declared = &model.scheme;
    let mut scheme = declared.clone();
    let mut whole = true;
    for entry in &table.entries {
        let (name, item) = (Name("scheme", &entry.key), &entry.item);
        let read = match entry.key.as_str() {
            "space" => reader.choice(name, item, &[("central", ())]),
            "order" => order(name, item, reader).map(|order| scheme.order = order),
            "mixed" => reader.choice(name, item, Mixed::ALL).map(|mixed| scheme.mixed = mixed),
            "arith" => reader.choice(name, item, Arith::ALL).map(|arith| scheme.arith = arith),
            "time" => {
                let others = predictors::ALL.iter().map(|predictor| &predictor.method);
                let others = others.filter(|_| !model.fluxes.is_empty());
                let all = integrators::ALL.iter().copied().chain(others);
                let all: Vec<_> = all.map(|i| (i.name, i.name)).collect();
                reader.choice(name, item, &all).map(|time| scheme.time = time.to_string())
            }
            "riemann" | "reconstruct" | "sweep" | "source" | "repair" | "path" => {
                fluxes((model, &scheme), name, item, reader).map(|changed| scheme = changed)
            }
            key => {
                let message = format!("a scheme has no `{key}`");
                // The order is a setting of its own here.
                let (first, others) = Scheme::SETTINGS.split_at(1);
                let known = first.iter().chain(&["order"]).chain(others).copied();
                reader.unknown(entry.at, message, key, known);
                None
            }
        };
        whole &= read.is_some();
    }
    // A declared scheme with choices that it leaves open keeps its name.
    if !scheme.settles(declared) {
        let same = |of: &&Scheme| Scheme { name: of.name.clone(), ..scheme.clone() }.settles(of);
        let named = model.others.iter().find(same);
        scheme.name = named.map_or("problem".to_string(), |of| of.name.clone());
    }
    whole.then_some(scheme)
}

/// Writes `riemann = "hllc"` and `reconstruct = "plm<limiter = mc> in primitive"`, as in the language.
fn fluxes(
    (model, scheme): (&Model, &Scheme),
    name: Name<'_>,
    item: &Item,
    reader: &mut Reader,
) -> Option<Scheme> {
    let text = reader.text(name, item)?;
    let errors = match scheme.with_fluxes(name.1, &text, &model.solvers) {
        Ok(changed) => return Some(changed),
        Err(errors) => errors,
    };
    for error in errors.iter() {
        let help = error.help.as_deref();
        let help = help.unwrap_or("write it as a scheme of the language does");
        reader.bad(item.at, error.message.clone(), help);
    }
    None
}

fn order(name: Name<'_>, item: &Item, reader: &mut Reader) -> Option<u32> {
    let order = reader.count(name, item)?;
    if matches!(order, 2 | 4 | 6 | 8 | 10) {
        return u32::try_from(order).ok();
    }
    let message = format!("no central differences of order {order}");
    reader.bad(item.at, message, "there are the orders 2, 4, 6, 8 and 10");
    None
}

/// Writes the scheme of a model as a value of a problem file.
pub(super) fn scheme_text(model: &Model) -> String {
    // The file of a run leaves no choice open.
    let scheme = &model.scheme.by(Formulation::default());
    let path = match model.products.is_empty() {
        true => String::new(),
        false => format!(", path = \"{}\"", scheme.path_text()),
    };
    let fluxes = match model.fluxes.is_empty() {
        true => String::new(),
        false => format!(
            ", riemann = \"{}\", reconstruct = \"{}\", sweep = \"{}\", source = \"{}\", repair = \"{}\"{path}",
            scheme.riemann_text(),
            scheme.reconstruction_text(),
            scheme.sweep.name(),
            scheme.source.name(),
            scheme.repair.name()
        ),
    };
    format!(
        "{{ space = \"central\", order = {}, mixed = \"{}\", arith = \"{}\", time = \"{}\"{fluxes} }}",
        scheme.order,
        scheme.mixed.name(),
        scheme.arith.name(),
        scheme.time
    )
}
