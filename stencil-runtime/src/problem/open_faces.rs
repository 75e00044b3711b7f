//! Open faces of a problem file: characteristic ones, and absorbing layers beside faces.

use std::collections::BTreeMap;

use stencil_compiler::diag::Code;
use stencil_compiler::model::layer::{Far, Layer, LayerFace, far_name};

use super::boundary::{Context, FaceKind, Kind, expressions, lookup};
use super::document::{Data, Item, Table};
use super::expression::Expression;
use super::reader::{Name, Reader};
use super::system::Resolved;
use super::write::{number, quoted};
use crate::{Axis, Face, Mesh, Side, SystemDef};

/// The kinds of open faces, each with its settings.
const OPEN: [(&str, &[&str]); 2] =
    [("characteristic", &["far"]), ("absorbing", &["width", "strength", "far"])];

/// A layer beside a face that absorbs what enters it.
#[derive(Clone, Debug, PartialEq)]
pub struct Absorbing {
    /// Its width, from the face inwards.
    pub width: f64,
    /// The rate at which fields relax at the face, in units of 1/time; it falls to zero with the third power of the depth.
    pub strength: f64,
    /// The values that components relax towards, in the order of the file; others are left alone.
    pub far: Vec<(String, Expression)>,
}

/// Is a setting of a face an open one? Returns the word.
pub(super) fn word(table: &Table) -> Option<&'static str> {
    let Data::Text(kind) = &table.get("kind")?.data else {
        return None;
    };
    OPEN.iter().find(|(word, _)| word == kind).map(|(word, _)| *word)
}

/// Returns an example of an open face, if this is its word.
pub(super) fn example(word: &str) -> Option<&'static str> {
    match word {
        "characteristic" => Some("{ kind = \"characteristic\", far = { h = 1, m = [0, 0] } }"),
        "absorbing" => Some(
            "{ kind = \"absorbing\", width = 0.2, strength = 50, far = { h = 1, m = [0, 0] } }",
        ),
        _ => None,
    }
}

/// Reads an open face.
pub(super) fn read(
    (word, face): (&'static str, Face),
    table: &Table,
    item: &Item,
    context: &Context<'_>,
    reader: &mut Reader,
) -> Option<Kind> {
    let settings = OPEN.iter().find(|(other, _)| *other == word).map_or(&[][..], |(_, all)| *all);
    let mut known = true;
    for entry in table.entries.iter().filter(|entry| entry.key != "kind") {
        if !settings.contains(&entry.key.as_str()) {
            let message = format!("a face that is {word} has no `{}`", entry.key);
            reader.unknown(entry.at, message, &entry.key, settings.iter().copied());
            known = false;
        }
    }
    let mut given = |key: &str| {
        let found = table.get(key);
        if found.is_none() {
            let message = format!("a face that is {word} has no `{key}`");
            let help = format!("write, for example, {}", example(word).unwrap_or_default());
            reader.mistakes.add(Code::MissingSetting, item.at, message, help);
        }
        found
    };
    let far = given("far");
    if word == "characteristic" {
        let far = far_state(far?, true, context, reader)?;
        return known.then_some(Kind::Characteristic(far));
    }
    let (width, strength) = (given("width"), given("strength"));
    let width = width_of(width?, face.axis, context, reader);
    let strength = reader.positive(Name("boundary", "strength"), strength?);
    let far = far_state(far?, false, context, reader)?;
    let absorbing = Absorbing { width: width?, strength: strength?, far };
    known.then_some(Kind::Absorbing(absorbing))
}

/// Reads the width of a layer; those of both faces of an axis do not meet.
fn width_of(item: &Item, axis: Axis, context: &Context<'_>, reader: &mut Reader) -> Option<f64> {
    let width = reader.positive(Name("boundary", "width"), item)?;
    let axis = axis.index();
    let Some((least, most)) =
        context.mesh.map(|mesh| (4.0 * mesh.spacing()[axis], mesh.extent[axis] / 2.0))
    else {
        return Some(width);
    };
    let reason = if width > most {
        "wider than half of the mesh"
    } else if width < least {
        "narrower than four cells"
    } else {
        return Some(width);
    };
    let message = format!("the absorbing layer is {reason}");
    let help = format!("give a width from {least} to {most}, the longest wave that it absorbs");
    reader.bad(item.at, message, help);
    None
}

/// Reads `{ h = 1, m = [0, 0] }`: numbers, or expressions of the place and the time as well.
fn far_state(
    item: &Item,
    constant: bool,
    context: &Context<'_>,
    reader: &mut Reader,
) -> Option<Vec<(String, Expression)>> {
    let name = Name("boundary", "far");
    let Data::Table(table) = &item.data else {
        reader.wrong(name, item, "a table of fields and their values far away");
        return None;
    };
    let mut all: Vec<(String, Expression)> = Vec::new();
    for entry in &table.entries {
        let Some(components) = lookup(&entry.key, context.fields) else {
            let message = format!("no field or component `{}`", entry.key);
            let known = super::known_names(context.fields);
            reader.unknown(entry.at, message, &entry.key, known.iter().map(String::as_str));
            return None;
        };
        let read = |item: &Item, reader: &mut Reader| context.scope.read(name, item, &[], reader);
        let values = expressions(name, &entry.item, components.len(), read, reader)?;
        if constant && values.iter().any(Expression::varies) {
            let message = "the far state of characteristic waves depends on the place or the time";
            let help = "give numbers and parameters; the far state of an absorbing layer may vary";
            reader.bad(entry.item.at, message, help);
            return None;
        }
        for (component, value) in components.into_iter().zip(values) {
            if all.iter().any(|(other, _)| *other == component) {
                let message = format!("`{component}` is given twice");
                reader.bad(entry.at, message, "give it once, by itself or with its field");
                return None;
            }
            all.push((component, value));
        }
    }
    if all.is_empty() {
        reader.bad(item.at, "the far state is empty", "name fields, and their values far away");
        return None;
    }
    Some(all)
}

/// Returns the numbers of a far state.
pub(super) fn numbers(far: &[(String, Expression)]) -> Vec<(String, f64)> {
    let value = |(name, value): &(String, Expression)| Some((name.clone(), value.constant()?));
    far.iter().filter_map(value).collect()
}

/// Writes a far state: `far = { h = 1, m_x = 0 }`.
fn far_line(far: &[(String, Expression)]) -> String {
    let values = far.iter().map(|(name, value)| format!("{name} = {}", value.to_toml()));
    format!("far = {{ {} }}", values.collect::<Vec<_>>().join(", "))
}

/// Writes the settings of a characteristic face.
pub(super) fn characteristic_lines(far: &[(String, Expression)]) -> Vec<String> {
    vec![format!("kind = {}", quoted("characteristic")), far_line(far)]
}

impl Absorbing {
    /// Writes the settings of the layer.
    pub(super) fn lines(&self) -> Vec<String> {
        vec![
            format!("kind = {}", quoted("absorbing")),
            format!("width = {}", number(self.width)),
            format!("strength = {}", number(self.strength)),
            far_line(&self.far),
        ]
    }
}

/// Far values that vary, by the names of their sources.
pub(super) type Varying = Vec<(String, Expression)>;

/// Returns the system with the terms of all absorbing layers, and the far values that vary.
pub(super) fn with_layers(
    resolved: &Resolved,
    mesh: &Mesh,
    faces: &[FaceKind],
    reader: &mut Reader,
) -> Option<(SystemDef, Varying)> {
    let absorbing = faces.iter().filter_map(|of| match &of.kind {
        Kind::Absorbing(absorbing) => Some((of.face, absorbing)),
        _ => None,
    });
    let mut layers: Vec<(Layer, &[(String, Expression)])> = Vec::new();
    for (face, absorbing) in absorbing {
        let beside = beside(face, absorbing, mesh);
        match layers.iter_mut().find(|(_, far)| *far == absorbing.far) {
            Some((layer, _)) => layer.faces.push(beside),
            None => {
                let far = absorbing.far.iter().map(|(component, value)| {
                    (component.clone(), value.constant().map_or(Far::Given, Far::Number))
                });
                let far: BTreeMap<String, Far> = far.collect();
                layers.push((Layer { faces: vec![beside], far }, &absorbing.far));
            }
        }
    }
    if layers.is_empty() {
        return Some((resolved.system.clone(), Vec::new()));
    }
    let mut varying = Vec::new();
    for (number, (_, far)) in layers.iter().enumerate() {
        let given = far.iter().filter(|(_, value)| value.constant().is_none());
        varying.extend(given.map(|(name, value)| (far_name(number, name), value.clone())));
    }
    let layers: Vec<Layer> = layers.into_iter().map(|(layer, _)| layer).collect();
    let name = resolved.system.name();
    let made = resolved.system.model().with_layers(&layers);
    let made = made
        .and_then(|model| SystemDef::from_model(name, model).map_err(|error| error.to_string()));
    match made {
        Ok(system) => Some((system, varying)),
        Err(problem) => {
            let message = format!("absorbing layers do not go with {name}: {problem}");
            let help =
                "change the far state or the name that it tells of, or take another kind of face";
            reader.bad(super::mistakes::At::FILE, message, help);
            None
        }
    }
}

/// Returns the place of a layer.
fn beside(face: Face, absorbing: &Absorbing, mesh: &Mesh) -> LayerFace {
    let (upper, wall) = (face.side == Side::Hi, mesh.wall(face));
    let Absorbing { width, strength, .. } = *absorbing;
    let begin = if upper { wall - width } else { wall + width };
    LayerFace { axis: face.axis.index(), upper, begin, width, strength }
}
