//! Sections with an expression for each component: initial values, sources, the exact solution.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stencil_compiler::diag::{Code, nearest};

use super::boundary::{expressions, lookup};
use super::document::{Item, Table};
use super::expression::{Expression, Scope};
use super::mistakes::At;
use super::reader::{Name, Reader};
use super::system::{Group, Resolved, components};
use crate::Mesh;
use crate::io::{Npz, Value};

/// Initial values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initial {
    /// A file with an array for each component that has no expression.
    pub file: Option<PathBuf>,
    /// Expressions by component.
    pub values: BTreeMap<String, Expression>,
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
    let what = format!("{} has no field or component", resolved.system.name());
    let mut values = by_component("init", &table, &resolved.fields, &what, (scope, random), reader);
    if document.get("init").is_none() && exact.is_empty() {
        let example = components(&resolved.fields).next().unwrap_or("u");
        let help = format!("add [init] and, for each field, a line such as {example} = \"sin(x)\"");
        let message = "there are no initial values";
        reader.mistakes.add(Code::MissingSetting, at, message, help);
        return Initial::default();
    }
    let Some(item) = file else {
        for component in components(&resolved.fields) {
            let zero = || scope.number(0.0);
            let start = || exact.get(component).cloned().unwrap_or_else(zero);
            values.entry(component.to_string()).or_insert_with(start);
        }
        return Initial { file: None, values };
    };
    let lacking = components(&resolved.fields).filter(|c| !values.contains_key(*c));
    let lacking: Vec<&str> = lacking.collect();
    let file = reader.text(Name("init", "file"), &item).map(|name| folder.join(name));
    if let (Some(path), Some(mesh)) = (&file, mesh) {
        let dimension = resolved.system.model().dimension;
        check_file(path, &lacking, mesh, dimension, item.at, reader);
    }
    Initial { file, values }
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
