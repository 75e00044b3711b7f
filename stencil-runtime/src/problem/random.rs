//! Random fields for initial values.

use ndarray::Array3;
use stencil_compiler::diag::Code;

use super::Problem;
use super::document::{Data, Item, Table};
use super::expression::{Expression, Scope};
use super::reader::{Name, Reader};
use crate::spectrum::solenoidal;

/// A random vector field without divergence, on a box that is periodic along all axes.
#[derive(Clone, Debug)]
pub struct Random {
    /// Its name.
    pub name: String,
    /// Its energy by wavenumber, a formula of `k`.
    pub spectrum: Expression,
    /// The number that distinguishes fields with the same spectrum.
    pub seed: u64,
}

impl Random {
    /// Returns the names of its components.
    fn components(&self, dimension: usize) -> impl Iterator<Item = String> {
        let axes = ["x", "y", "z"].into_iter().take(dimension);
        axes.map(|axis| format!("{}_{axis}", self.name))
    }
}

impl Problem {
    /// Returns the components of all random fields on the mesh, in the order of the file.
    pub(super) fn random_values(&self) -> Vec<Array3<f64>> {
        let (cells, spacing) = (self.mesh.cells, self.mesh.spacing());
        let dimension = self.system.model().dimension;
        let fields = self.random.iter().flat_map(|field| {
            let density = |k: f64| field.spectrum.at([0.0; 3], 0.0, &[k]);
            solenoidal(cells, spacing, dimension, field.seed, density)
        });
        fields.collect()
    }
}

/// Returns the names of the components of all random fields.
pub(super) fn components(fields: &[Random], dimension: usize) -> Vec<String> {
    let all = fields.iter().flat_map(|field| field.components(dimension));
    all.collect()
}

/// Reads `[random]`.
pub(super) fn read(
    document: &Table,
    dimension: usize,
    scope: &Scope,
    taken: &[String],
    reader: &mut Reader,
) -> Vec<Random> {
    let (table, at) = reader.section(document, "random");
    if dimension == 1 && !table.entries.is_empty() {
        let message = "there is no field without divergence in one dimension";
        let help = "leave [random] out, or take a mesh in two or three dimensions";
        reader.mistakes.add(Code::Contradiction, at, message, help);
        return Vec::new();
    }
    let mut fields: Vec<Random> = Vec::new();
    for entry in &table.entries {
        let mut known = taken.to_vec();
        known.extend(components(&fields, dimension));
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let Some(field) = one(&entry.key, &entry.item, scope, reader) else {
            continue;
        };
        let bad = field.components(dimension).find_map(|name| scope.bad_name(&name, &known));
        match bad {
            Some((message, help)) => reader.bad(entry.at, message, help),
            None => fields.push(field),
        }
    }
    fields
}

/// Reads `{ spectrum = "k^4*exp(-k^2/8)", seed = 1 }`.
fn one(name: &str, item: &Item, scope: &Scope, reader: &mut Reader) -> Option<Random> {
    let own = Name("random", name);
    let Data::Table(table) = &item.data else {
        reader.wrong(own, item, "a table with a spectrum and a seed");
        return None;
    };
    for entry in &table.entries {
        if !["spectrum", "seed"].contains(&entry.key.as_str()) {
            let message = format!("a random field has no `{}`", entry.key);
            let known = ["spectrum", "seed"].into_iter();
            reader.unknown(entry.at, message, &entry.key, known);
        }
    }
    let Some(formula) = table.get("spectrum") else {
        let message = format!("`{}` has no spectrum", own.path());
        let help = "add spectrum = \"..\", a formula of the wavenumber k";
        reader.mistakes.add(Code::MissingSetting, item.at, message, help);
        return None;
    };
    if let Some((message, help)) = scope.bad_name("k", &[]) {
        reader.bad(formula.at, message, help);
        return None;
    }
    let seed = match table.get("seed") {
        Some(item) => reader.count(own, item)?,
        None => 1,
    };
    let spectrum = scope.read(own, formula, &["k".to_string()], reader)?;
    if spectrum.varies() {
        let message = "the spectrum depends on the place or the time";
        let help = "write a formula of the wavenumber k, parameters and constants";
        reader.bad(formula.at, message, help);
        return None;
    }
    Some(Random { name: name.to_string(), spectrum, seed })
}
