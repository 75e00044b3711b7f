//! Sections with an expression for each component: initial values, sources, the exact solution.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stencil_compiler::catalogue::Centering;
use stencil_compiler::diag::{Code, nearest};
use stencil_compiler::model::Field;

use super::boundary::{expressions, lookup};
use super::document::{Data, Entry, Item, Table};
use super::expression::{Expression, Scope};
use super::mistakes::At;
use super::reader::{Name, Reader};
use super::system::{Group, Resolved, components};
use crate::Mesh;
use crate::io::{Npz, Value};

/// The key of a vector potential.
const POTENTIAL: &str = "potential";

/// Initial values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initial {
    /// A file with an array for each component that has no expression.
    pub file: Option<PathBuf>,
    /// Expressions by component.
    pub values: BTreeMap<String, Expression>,
    /// Vector potentials of fields on faces, by field: three expressions each.
    pub potentials: BTreeMap<String, Vec<Expression>>,
}

impl Initial {
    /// Returns the fields that are curls, each with its value as in a file.
    pub(super) fn curls(&self) -> impl Iterator<Item = (&str, String)> {
        self.potentials.iter().map(|(name, potential)| {
            let potential: Vec<String> = potential.iter().map(Expression::to_toml).collect();
            (name.as_str(), format!("{{ potential = [{}] }}", potential.join(", ")))
        })
    }
}

/// Reads the expressions of a section by component; they may use `more` names.
fn by_component(
    section: &'static str,
    table: &Table,
    groups: &[Group],
    what: &str,
    (scope, more): (&Scope, &[String]),
    reader: &mut Reader,
) -> BTreeMap<String, Expression> {
    let mut values = BTreeMap::new();
    for entry in &table.entries {
        let Some(components) = lookup(&entry.key, groups) else {
            let message = format!("{what} `{}`", entry.key);
            let known = super::known_names(groups);
            let known = known.iter().map(String::as_str);
            reader.unknown(entry.at, message, &entry.key, known);
            continue;
        };
        let name = Name(section, &entry.key);
        let read = |item: &Item, reader: &mut Reader| scope.read(name, item, more, reader);
        let all = expressions(name, &entry.item, components.len(), read, reader);
        for (component, expression) in components.into_iter().zip(all.into_iter().flatten()) {
            // A component by its own name counts before its field.
            let own = component == entry.key || !values.contains_key(&component);
            if own {
                values.insert(component, expression);
            }
        }
    }
    values
}

/// Reads `[exact]`.
pub(super) fn exact(
    document: &Table,
    resolved: &Resolved,
    scope: &Scope,
    reader: &mut Reader,
) -> BTreeMap<String, Expression> {
    let (table, _) = reader.section(document, "exact");
    let what = format!("{} has no field or component", resolved.system.name());
    by_component("exact", &table, &resolved.fields, &what, (scope, &[]), reader)
}

/// Reads `[source]`.
pub(super) fn sources(
    document: &Table,
    resolved: &Resolved,
    scope: &Scope,
    reader: &mut Reader,
) -> BTreeMap<String, Expression> {
    let (table, at) = reader.section(document, "source");
    let what = format!("{} has no source", resolved.system.name());
    let values = by_component("source", &table, &resolved.sources, &what, (scope, &[]), reader);
    let declared = &resolved.system.model().sources;
    for (source, group) in declared.iter().zip(&resolved.sources) {
        let given = |component: &String| values.contains_key(component);
        let lacking = group.components.iter().find(|c| !given(c));
        let none = !group.components.iter().any(given);
        // All components of a vector are given or none.
        if let Some(lacking) = lacking
            && !(none && source.value.is_some())
        {
            let message = format!("the source `{lacking}` has no value");
            let help = format!(
                "add {lacking} = .. under [source], a number or a formula of x, y, z and t"
            );
            reader.mistakes.add(Code::MissingSetting, at, message, help);
        }
    }
    values
}

/// Reads `[init]`; its expressions may use components of random fields. A component that it does not name begins with
/// the exact solution, or zero.
pub(super) fn initial(
    document: &Table,
    folder: &Path,
    resolved: &Resolved,
    (scope, random): (&Scope, &[String]),
    exact: &BTreeMap<String, Expression>,
    mesh: Option<&Mesh>,
    reader: &mut Reader,
) -> Initial {
    let (mut table, at) = reader.section(document, "init");
    let file = table.get("file").cloned();
    table.remove("file");
    let potentials = potentials(&mut table, resolved, scope, reader);
    let what = format!("{} has no field or component", resolved.system.name());
    let mut values = by_component("init", &table, &resolved.fields, &what, (scope, random), reader);
    let by_potential: Vec<&str> = (resolved.fields.iter())
        .filter(|group| potentials.contains_key(&group.name))
        .flat_map(|group| group.components.iter().map(String::as_str))
        .collect();
    if document.get("init").is_none() && exact.is_empty() {
        let example = components(&resolved.fields).next().unwrap_or("u");
        let help = format!("add [init] and, for each field, a line such as {example} = \"sin(x)\"");
        let message = "there are no initial values";
        reader.mistakes.add(Code::MissingSetting, at, message, help);
        return Initial::default();
    }
    let Some(item) = file else {
        let rest = components(&resolved.fields).filter(|c| !by_potential.contains(c));
        for component in rest {
            let zero = || scope.number(0.0);
            let start = || exact.get(component).cloned().unwrap_or_else(zero);
            values.entry(component.to_string()).or_insert_with(start);
        }
        return Initial { file: None, values, potentials };
    };
    let given = |c: &&str| values.contains_key(*c) || by_potential.contains(c);
    let lacking = components(&resolved.fields).filter(|c| !given(c));
    let lacking: Vec<&str> = lacking.collect();
    let file = reader.text(Name("init", "file"), &item).map(|name| folder.join(name));
    if let (Some(path), Some(mesh)) = (&file, mesh) {
        let dimension = resolved.system.model().dimension;
        check_file(path, &lacking, mesh, dimension, item.at, reader);
    }
    Initial { file, values, potentials }
}

/// Takes the fields out of a section that are curls: `b = { potential = [0, 0, "cos(x)"] }`.
fn potentials(
    table: &mut Table,
    resolved: &Resolved,
    scope: &Scope,
    reader: &mut Reader,
) -> BTreeMap<String, Vec<Expression>> {
    let mut all = BTreeMap::new();
    let of_potential =
        |entry: &&Entry| matches!(&entry.item.data, Data::Table(of) if of.get(POTENTIAL).is_some());
    let entries: Vec<Entry> = table.entries.iter().filter(of_potential).cloned().collect();
    let model = resolved.system.model();
    for Entry { key, at, item } in entries {
        table.remove(&key);
        let known = |field: &&Field| field.name == key;
        let on_faces = model
            .fields
            .iter()
            .find(known)
            .is_some_and(|field| field.centering == Centering::Face && model.components == 3);
        if !on_faces {
            let message = format!("`{key}` is not a vector field of three components on faces");
            let help = "only a field that is declared as `face .. : vector<3>` is the curl of a potential; give a value for each component";
            reader.mistakes.add(Code::BadSetting, at, message, help);
            continue;
        }
        let Data::Table(of) = &item.data else { continue };
        for other in of.entries.iter().filter(|entry| entry.key != POTENTIAL) {
            let message = format!("`{key}` has no `{}`", other.key);
            reader.unknown(other.at, message, &other.key, [POTENTIAL].into_iter());
        }
        let Some(potential) = of.get(POTENTIAL) else { continue };
        let name = Name("init", &key);
        let read = |item: &Item, reader: &mut Reader| scope.read(name, item, &[], reader);
        if let Some(potential) = expressions(name, potential, 3, read, reader) {
            all.insert(key, potential);
        }
    }
    all
}

/// Notes arrays that are missing or do not fit.
fn check_file(
    path: &Path,
    wanted: &[&str],
    mesh: &Mesh,
    dimension: usize,
    at: At,
    reader: &mut Reader,
) {
    let mut file = match Npz::open(path) {
        Ok(file) => file,
        Err(error) => {
            let help =
                "a path begins at the folder of the problem file; numpy.savez writes such files";
            return reader.mistakes.add(Code::CannotRead, at, error.to_string(), help);
        }
    };
    let names: Vec<String> = file.names().map(str::to_string).collect();
    for component in wanted {
        if !names.iter().any(|name| name == component) {
            let message = format!("`{}` has no array `{component}`", path.display());
            let near = nearest(component, names.iter().map(String::as_str));
            let has = match near {
                Some(near) => format!("it has `{near}`"),
                None => format!("it has: {}", names.join(", ")),
            };
            let help =
                format!("{has}; write the array {component}, or add {component} = .. under [init]");
            reader.mistakes.add(Code::BadData, at, message, help);
            continue;
        }
        let value = file.shape(component).and_then(|shape| {
            let fits = fits(&shape, mesh.cells, dimension);
            let value = fits.then(|| file.get_within(component, array_bytes(mesh.cells)));
            Ok((shape, value.transpose()?))
        });
        let misfit = match &value {
            Err(error) => Some(error.to_string()),
            Ok((_, Some(Value::F32(_) | Value::F64(_)))) => None,
            Ok((shape, None)) => Some(format!("has the shape {shape:?}")),
            Ok((_, Some(_))) => Some("is no array of f32 or f64".to_string()),
        };
        let problem = misfit.map(|misfit| match value {
            Err(_) => misfit,
            Ok(_) => format!("`{component}` of `{}` {misfit}", path.display()),
        });
        if let Some(message) = problem {
            let shape = shape(mesh.cells, dimension);
            let order = ["[x]", "[y, x]", "[z, y, x]"][dimension - 1];
            let help = format!("arrays of f32 or f64 have the shape {shape:?}, which is {order}");
            reader.mistakes.add(Code::BadData, at, message, help);
        }
    }
}

/// Returns the shape of an array of values without axes that the system lacks.
fn shape([nx, ny, nz]: [usize; 3], dimension: usize) -> Vec<usize> {
    [nz, ny, nx][3 - dimension..].to_vec()
}

fn fits(found: &[usize], cells: [usize; 3], dimension: usize) -> bool {
    let [nx, ny, nz] = cells;
    found == shape(cells, dimension) || found == [nz, ny, nx]
}

/// Returns the bytes that an array of a mesh takes in a file, in either precision and with its header.
pub(super) fn array_bytes(cells: [usize; 3]) -> u64 {
    let points = cells.iter().fold(1_u64, |all, n| all.saturating_mul(*n as u64));
    points.saturating_mul(8).saturating_add(1 << 16)
}
