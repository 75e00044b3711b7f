//! Random fields for initial values.

use std::f64::consts::TAU;

use ndarray::Array3;
use stencil_compiler::diag::Code;

use super::Problem;
use super::document::{Data, Item, Table};
use super::expression::{Expression, Scope};
use super::reader::{Name, Reader};
use super::write::{number, quoted};
use crate::Mesh;
use crate::spectrum::{Waves, random, white_noise, whole_shells};

/// A random field, on a box that is periodic along all axes.
#[derive(Clone, Debug)]
pub struct Random {
    /// Its name.
    pub name: String,
    /// Its waves; `None` for independent numbers in all cells.
    pub waves: Option<Waves>,
    /// Its energy by wavenumber, a formula of `k`; the same for all if not given.
    pub spectrum: Option<Expression>,
    /// The least and the largest wavenumber of its waves; all if not given.
    pub band: Option<[f64; 2]>,
    /// The root of the mean square of its values, of a vector's length; the spectrum decides if not given.
    pub rms: Option<f64>,
    /// The number that distinguishes fields with the same spectrum.
    pub seed: u64,
}

/// The words for the kinds of random fields.
const KINDS: [(&str, Option<Waves>); 5] = [
    ("solenoidal", Some(Waves::Solenoidal)),
    ("compressive", Some(Waves::Compressive)),
    ("mixed", Some(Waves::Mixed)),
    ("scalar", Some(Waves::Scalar)),
    ("white", None),
];

/// The settings of a random field.
const SETTINGS: [&str; 5] = ["kind", "spectrum", "band", "rms", "seed"];

impl Random {
    /// Returns the names of its components.
    fn components(&self, dimension: usize) -> impl Iterator<Item = String> {
        let is_vector = !matches!(self.waves, None | Some(Waves::Scalar));
        let axes = ["x", "y", "z"].into_iter().take(if is_vector { dimension } else { 0 });
        let vector = axes.map(|axis| format!("{}_{axis}", self.name));
        vector.chain((!is_vector).then(|| self.name.clone()))
    }

    /// Returns half the mean square by wavenumber before `rms` scales it.
    fn density(&self, k: f64) -> f64 {
        match self.band {
            Some(band) if !holds(band, k) => 0.0,
            _ => self.spectrum.as_ref().map_or(1.0, |f| f.at([0.0; 3], 0.0, &[k])).max(0.0),
        }
    }

    /// Returns the root of the mean square that the spectrum gives on a mesh.
    fn own_rms(&self, mesh: &Mesh) -> f64 {
        let shells = whole_shells(mesh.cells, mesh.spacing());
        let width = shells.first().copied().unwrap_or(TAU);
        let energy: f64 = shells.iter().map(|k| self.density(*k) * width).sum();
        (2.0 * energy).sqrt()
    }

    /// Returns its components on a mesh.
    fn values(&self, mesh: &Mesh, dimension: usize) -> Vec<Array3<f64>> {
        let Some(waves) = self.waves else {
            let rms = self.rms.unwrap_or(1.0);
            return vec![white_noise(mesh.cells, self.seed) * rms];
        };
        let scale = self.rms.map_or(1.0, |rms| (rms / self.own_rms(mesh)).powi(2));
        let density = |k: f64| scale * self.density(k);
        random(mesh.cells, mesh.spacing(), dimension, waves, self.seed, density)
    }

    /// Returns its settings as a value of a problem file.
    pub(super) fn to_toml(&self) -> String {
        let kind = KINDS.iter().find(|(_, waves)| *waves == self.waves).map(|(word, _)| *word);
        let kind = kind.filter(|_| self.waves != Some(Waves::Solenoidal));
        let band = self
            .band
            .map(|[least, largest]| format!("band = [{}, {}]", number(least), number(largest)));
        let settings = [
            kind.map(|word| format!("kind = {}", quoted(word))),
            self.spectrum.as_ref().map(|formula| format!("spectrum = {}", formula.to_toml())),
            band,
            self.rms.map(|rms| format!("rms = {}", number(rms))),
            Some(format!("seed = {}", self.seed)),
        ];
        let settings: Vec<String> = settings.into_iter().flatten().collect();
        format!("{{ {} }}", settings.join(", "))
    }
}

impl Problem {
    /// Returns the components of all random fields on the mesh, in the order of the file.
    pub(super) fn random_values(&self) -> Vec<Array3<f64>> {
        let dimension = self.system.model().dimension;
        let fields = self.random.iter();
        fields.flat_map(|field| field.values(&self.mesh, dimension)).collect()
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
    (mesh, dimension): (Option<&Mesh>, usize),
    scope: &Scope,
    taken: &[String],
    reader: &mut Reader,
) -> Vec<Random> {
    let (table, _) = reader.section(document, "random");
    let mut fields: Vec<Random> = Vec::new();
    for entry in &table.entries {
        let mut known = taken.to_vec();
        known.extend(components(&fields, dimension));
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let Some(field) = one(&entry.key, &entry.item, scope, reader) else {
            continue;
        };
        if !fits(&field, &entry.item, (mesh, dimension), reader) {
            continue;
        }
        let bad = field.components(dimension).find_map(|name| scope.bad_name(&name, &known));
        match bad {
            Some((message, help)) => reader.bad(entry.at, message, help),
            None => fields.push(field),
        }
    }
    fields
}

/// Reads `{ kind = "scalar", spectrum = "k^4*exp(-k^2/8)", band = [1, 8], rms = 0.1, seed = 1 }`.
fn one(name: &str, item: &Item, scope: &Scope, reader: &mut Reader) -> Option<Random> {
    let own = Name("random", name);
    let Data::Table(table) = &item.data else {
        reader.wrong(own, item, "a table with a spectrum and a seed");
        return None;
    };
    for entry in &table.entries {
        if !SETTINGS.contains(&entry.key.as_str()) {
            let message = format!("a random field has no `{}`", entry.key);
            reader.unknown(entry.at, message, &entry.key, SETTINGS.into_iter());
        }
    }
    let waves = match table.get("kind") {
        Some(item) => reader.choice(own, item, &KINDS)?,
        None => Some(Waves::Solenoidal),
    };
    let spectrum = match table.get("spectrum") {
        Some(formula) => Some(spectrum(own, formula, scope, reader)?),
        None => None,
    };
    let band = match table.get("band") {
        Some(item) => Some(band(own, item, reader)?),
        None => None,
    };
    let rms = match table.get("rms") {
        Some(item) => Some(reader.positive(own, item)?),
        None => None,
    };
    let seed = match table.get("seed") {
        Some(item) => reader.count(own, item)?,
        None => 1,
    };
    Some(Random { name: name.to_string(), waves, spectrum, band, rms, seed })
}

/// Reads a formula of the wavenumber.
fn spectrum(
    own: Name<'_>,
    formula: &Item,
    scope: &Scope,
    reader: &mut Reader,
) -> Option<Expression> {
    if let Some((message, help)) = scope.bad_name("k", &[]) {
        reader.bad(formula.at, message, help);
        return None;
    }
    let spectrum = scope.read(own, formula, &["k".to_string()], reader)?;
    if spectrum.varies() {
        let message = "the spectrum depends on the place or the time";
        let help = "write a formula of the wavenumber k, parameters and constants";
        reader.bad(formula.at, message, help);
        return None;
    }
    Some(spectrum)
}

/// Reads the ends of a band of wavenumbers.
fn band(own: Name<'_>, item: &Item, reader: &mut Reader) -> Option<[f64; 2]> {
    let list = reader.list(own, item)?;
    let ends: Vec<Option<f64>> = list.iter().map(|end| reader.number(own, end)).collect();
    let ends: Option<Vec<f64>> = ends.into_iter().collect();
    match ends?[..] {
        [least, largest] if 0.0 <= least && least < largest => Some([least, largest]),
        _ => {
            let message = format!("the band of `{}` is no interval", own.path());
            let help = "give the least and the largest wavenumber: band = [1, 8]";
            reader.bad(item.at, message, help);
            None
        }
    }
}

/// Notes settings that do not go together, or not with the mesh; says whether there are none.
fn fits(
    field: &Random,
    item: &Item,
    (mesh, dimension): (Option<&Mesh>, usize),
    reader: &mut Reader,
) -> bool {
    let name = &field.name;
    let formed = field.spectrum.is_some() || field.band.is_some();
    let (code, message, help) = match field.waves {
        None if formed => (
            Code::Contradiction,
            format!("`random.{name}` is white: its cells are independent, so it has no spectrum"),
            "leave out spectrum and band, or take kind = \"scalar\"".to_string(),
        ),
        None if field.rms.is_none() => (
            Code::MissingSetting,
            format!("`random.{name}` has no size"),
            "add rms = .., the root of the mean square of its values".to_string(),
        ),
        None => return true,
        Some(Waves::Solenoidal) if dimension == 1 => (
            Code::Contradiction,
            "there is no field without divergence in one dimension".to_string(),
            "take kind = \"scalar\" or \"compressive\", or a mesh in two or three dimensions"
                .to_string(),
        ),
        Some(_) if !formed => (
            Code::MissingSetting,
            format!("`random.{name}` has no spectrum"),
            "add spectrum = \"..\", a formula of the wavenumber k, or band = [1, 8] and rms"
                .to_string(),
        ),
        Some(_) if field.spectrum.is_none() && field.rms.is_none() => (
            Code::MissingSetting,
            format!("`random.{name}` has no size"),
            "add rms = .., the root of the mean square of its values".to_string(),
        ),
        Some(_) => match mesh.and_then(|mesh| beyond(field, mesh)) {
            Some((message, help)) => (Code::Contradiction, message, help),
            None => return true,
        },
    };
    reader.mistakes.add(code, item.at, message, help);
    false
}

/// Does a band hold a wavenumber? Rounding does not decide at its ends.
fn holds([least, largest]: [f64; 2], k: f64) -> bool {
    (least * (1.0 - 1e-9)..=largest * (1.0 + 1e-9)).contains(&k)
}

/// Returns the reason why a mesh cannot hold the waves, and the way out.
fn beyond(field: &Random, mesh: &Mesh) -> Option<(String, String)> {
    let shells = whole_shells(mesh.cells, mesh.spacing());
    let name = &field.name;
    let Some((first, last)) = shells.first().zip(shells.last()) else {
        let message = format!("the mesh has too few cells for waves, and `random.{name}` has some");
        return Some((message, "give each axis at least 3 cells".to_string()));
    };
    let held = format!("waves that go all ways have k from {first} to {last} on this mesh");
    if let Some([least, largest]) = field.band {
        if largest >= last + first / 2.0 {
            let message = format!("the band of `random.{name}` ends at k = {largest}; {held}");
            return Some((message, "take more cells, or a band that ends before".to_string()));
        }
        if !shells.iter().any(|k| holds([least, largest], *k)) {
            let message = format!("the band of `random.{name}` lies between two shells; {held}");
            let help = format!("shells are {first} apart: widen the band");
            return Some((message, help));
        }
    }
    let rms = field.own_rms(mesh);
    if !rms.is_finite() {
        let message = format!("the spectrum of `random.{name}` is infinite for some wave; {held}");
        return Some((message, "write a spectrum that is finite for all of these".to_string()));
    }
    if field.rms.is_some() && rms == 0.0 {
        let message = format!("the spectrum of `random.{name}` is nowhere above zero; {held}");
        return Some((message, "write a spectrum that is positive for some of these".to_string()));
    }
    None
}
