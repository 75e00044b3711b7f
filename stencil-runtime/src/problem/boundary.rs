//! Boundary conditions of a problem file.

use stencil_compiler::diag::counted;
use stencil_compiler::diag::{Code, nearest};

use super::document::{Data, Entry, Item, Table};
use super::expression::{Expression, Scope};
use super::mistakes::At;
use super::open_faces::{self, Absorbing};
use super::reader::{Name, Reader};
use super::system::Group;
use crate::{Axis, Face, Mesh, Side};

/// A kind of boundary condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// One of [`KINDS`]: a kind without a number.
    Named(&'static str),
    /// This value on the face.
    Dirichlet(Expression),
    /// This derivative along the outward normal.
    Neumann(Expression),
    /// Waves leave, and none come in but those of this state: each component with its value far away.
    Characteristic(Vec<(String, Expression)>),
    /// A layer in which fields relax towards a far state, before a face as `outflow`.
    Absorbing(Absorbing),
    /// Ghost values. The components of the expression are mirror images first, then, with `near_` in front, values in
    /// the cell next to the face.
    Formula(Expression),
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Named(name) => f.write_str(name),
            Kind::Dirichlet(value) => write!(f, "dirichlet = {}", value.text()),
            Kind::Neumann(slope) => write!(f, "neumann = {}", slope.text()),
            Kind::Characteristic(far) => write!(f, "characteristic, far {}", state(far)),
            Kind::Absorbing(Absorbing { width, strength, far }) => write!(
                f,
                "absorbing layer of width {width}, strength {strength}, far {}",
                state(far)
            ),
            Kind::Formula(ghost) => write!(f, "expr = {}", ghost.text()),
        }
    }
}

/// Writes `h = 1, m_x = 0`.
fn state(far: &[(String, Expression)]) -> String {
    let values = far.iter().map(|(name, value)| format!("{name} = {}", value.text()));
    values.collect::<Vec<_>>().join(", ")
}

/// The kinds without a number.
pub const KINDS: [&str; 4] = ["periodic", "wall", "outflow", "extrapolate"];

/// The kind of one face, of all components or of one.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceKind {
    /// The face.
    pub face: Face,
    /// The component; all if `None`.
    pub component: Option<String>,
    /// The boundary condition.
    pub kind: Kind,
}

/// Names and numbers that the reading of boundaries needs.
pub(super) struct Context<'a> {
    pub(super) scope: &'a Scope,
    pub(super) fields: &'a [Group],
    pub(super) dimension: usize,
    pub(super) mesh: Option<Mesh>,
}

const WAY_OUT: &str = "write \"periodic\", \"wall\", \"outflow\", \"extrapolate\", { dirichlet = 1 }, { neumann = 0 } or { expr = \"..\" }";

/// Reads `[boundary]`; faces that it does not name are periodic.
pub(super) fn read(table: &Table, context: &Context<'_>, reader: &mut Reader) -> Vec<FaceKind> {
    let axes = &Axis::ALL[..context.dimension];
    let mut all = Vec::new();
    for entry in &table.entries {
        match axes.iter().find(|axis| axis.name() == entry.key) {
            Some(axis) => read_axis(*axis, &entry.item, context, reader, &mut all),
            None => {
                let message = format!("no axis `{}`", entry.key);
                let known = axes.iter().map(|axis| axis.name());
                reader.unknown(entry.at, message, &entry.key, known);
            }
        }
    }
    all
}

fn read_axis(
    axis: Axis,
    item: &Item,
    context: &Context<'_>,
    reader: &mut Reader,
    all: &mut Vec<FaceKind>,
) {
    let sides = match &item.data {
        Data::Table(table) if Side::ALL.iter().any(|s| table.get(s.name()).is_some()) => table,
        _ => {
            for side in Side::ALL {
                read_face(Face::new(axis, side), item, context, reader, all);
            }
            return;
        }
    };
    for Entry { key, at, .. } in &sides.entries {
        if !Side::ALL.iter().any(|side| side.name() == key) {
            let message = format!("axis {axis} has no face `{key}`");
            reader.unknown(*at, message, key, ["lo", "hi"].into_iter());
        }
    }
    let mut periodic = Vec::new();
    for side in Side::ALL {
        let face = Face::new(axis, side);
        match sides.get(side.name()) {
            Some(item) => {
                let first = all.len();
                read_face(face, item, context, reader, all);
                let whole = |f: &FaceKind| f.component.is_none();
                let kind = all[first..].iter().find(|f| whole(f)).map(|f| &f.kind);
                periodic.push((item.at, kind == Some(&Kind::Named("periodic"))));
            }
            None => {
                let message = format!("nothing is said about {face}");
                let help = format!("add {} = .. beside the other face; {WAY_OUT}", side.name());
                reader.mistakes.add(Code::MissingSetting, item.at, message, help);
            }
        }
    }
    if let [(at, true), (_, false)] | [(_, false), (at, true)] = periodic[..] {
        one_sided(axis, at, reader);
    }
}

fn one_sided(axis: Axis, at: At, reader: &mut Reader) {
    let message = format!("one face of {axis} is periodic and the other is not");
    let help = format!("both are, or none: {axis} = \"periodic\", or another kind here");
    reader.mistakes.add(Code::Contradiction, at, message, help);
}

/// Reads the settings of one face, of all fields and of single ones.
fn read_face(
    face: Face,
    item: &Item,
    context: &Context<'_>,
    reader: &mut Reader,
    all: &mut Vec<FaceKind>,
) {
    let Data::Table(table) = &item.data else {
        let kind = named(item, reader);
        all.extend(kind.map(|kind| FaceKind { face, component: None, kind }));
        return;
    };
    if let Some(word) = open_faces::word(table) {
        let kind = open_faces::read((word, face), table, item, context, reader);
        all.extend(kind.map(|kind| FaceKind { face, component: None, kind }));
        return;
    }
    let is_kind = |e: &&Entry| matches!(e.key.as_str(), "kind" | "dirichlet" | "neumann" | "expr");
    let whole = Table { entries: table.entries.iter().filter(is_kind).cloned().collect() };
    let at = item.at;
    let kinds = kind_of_table(&whole, at, 1, context, reader);
    all.extend(kinds.into_iter().flatten().map(|kind| FaceKind { face, component: None, kind }));
    for entry in table.entries.iter().filter(|e| !is_kind(e)) {
        read_component(face, entry, context, reader, all);
    }
}

fn read_component(
    face: Face,
    entry: &Entry,
    context: &Context<'_>,
    reader: &mut Reader,
    all: &mut Vec<FaceKind>,
) {
    let Some(components) = lookup(&entry.key, context.fields) else {
        let message = format!("no kind of boundary, field or component `{}`", entry.key);
        let own = ["kind", "dirichlet", "neumann", "expr"].into_iter();
        let fields = context.fields.iter().flat_map(|f| {
            std::iter::once(f.name.as_str()).chain(f.components.iter().map(String::as_str))
        });
        let kinds = KINDS.into_iter();
        reader.unknown(entry.at, message, &entry.key, own.chain(fields).chain(kinds));
        return;
    };
    let kinds = match &entry.item.data {
        Data::Table(table) => {
            kind_of_table(table, entry.item.at, components.len(), context, reader)
        }
        _ => named(&entry.item, reader).map(|kind| vec![kind; components.len()]),
    };
    for (component, kind) in components.iter().zip(kinds.into_iter().flatten()) {
        if kind == Kind::Named("periodic") {
            let message = format!("`{component}` alone cannot be periodic");
            let help = "periodic is the whole axis, for all fields";
            reader.mistakes.add(Code::Contradiction, entry.item.at, message, help);
            return;
        }
        all.push(FaceKind { face, component: Some(component.clone()), kind });
    }
}

/// Returns the components of a field or component with this name.
pub(super) fn lookup(name: &str, groups: &[Group]) -> Option<Vec<String>> {
    if let Some(group) = groups.iter().find(|g| g.name == name) {
        return Some(group.components.clone());
    }
    let mut all = groups.iter().flat_map(|g| &g.components);
    all.find(|c| *c == name).map(|c| vec![c.clone()])
}

fn named(item: &Item, reader: &mut Reader) -> Option<Kind> {
    let Data::Text(text) = &item.data else {
        let message = format!("a boundary is not {}", item.data.kind());
        reader.mistakes.add(Code::WrongKind, item.at, message, WAY_OUT);
        return None;
    };
    let found = KINDS.into_iter().find(|kind| kind == text);
    if found.is_none() {
        let open = open_faces::example(text);
        let help = match (nearest(text, KINDS), open) {
            (_, Some(example)) => format!("write, for example, {example}"),
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, _) => WAY_OUT.to_string(),
        };
        let message = match open {
            Some(_) => format!("`{text}` needs a far state, and is for all fields of a face"),
            None => format!("no kind of boundary `{text}`"),
        };
        reader.mistakes.add(Code::NoSuchSetting, item.at, message, help);
    }
    found.map(Kind::Named)
}

/// Returns the kind of a table, for each of some components.
fn kind_of_table(
    table: &Table,
    at: At,
    components: usize,
    context: &Context<'_>,
    reader: &mut Reader,
) -> Option<Vec<Kind>> {
    let [Entry { key, item, .. }] = &table.entries[..] else {
        let (code, message) = match table.entries.len() {
            0 => (Code::MissingSetting, "no kind of boundary is given"),
            _ => (Code::Contradiction, "this says more than one kind of boundary"),
        };
        reader.mistakes.add(code, at, message, WAY_OUT);
        return None;
    };
    let make: fn(Expression) -> Kind = match key.as_str() {
        "kind" => return Some(vec![named(item, reader)?; components]),
        "dirichlet" => Kind::Dirichlet,
        "neumann" => Kind::Neumann,
        "expr" => Kind::Formula,
        _ => {
            let message = format!("no kind of boundary `{key}`");
            let known = ["kind", "dirichlet", "neumann", "expr"].into_iter();
            reader.unknown(item.at, message, key, known);
            return None;
        }
    };
    let reads = match key.as_str() {
        "expr" => ghost_names(context.fields),
        _ => Vec::new(),
    };
    let expressions = expressions(
        Name("boundary", key),
        item,
        components,
        |item, reader| context.scope.read(Name("boundary", key), item, &reads, reader),
        reader,
    )?;
    Some(expressions.into_iter().map(make).collect())
}

/// Returns the names that ghost values may use: mirror images, and values next to the face.
fn ghost_names(fields: &[Group]) -> Vec<String> {
    let components = super::system::components(fields).map(str::to_string);
    let near = super::system::components(fields).map(|c| format!("near_{c}"));
    components.chain(near).collect()
}

/// Reads one expression for all components, or a list with one for each.
pub(super) fn expressions(
    name: Name<'_>,
    item: &Item,
    components: usize,
    read: impl Fn(&Item, &mut Reader) -> Option<Expression>,
    reader: &mut Reader,
) -> Option<Vec<Expression>> {
    let Data::List(list) = &item.data else {
        return Some(vec![read(item, reader)?; components]);
    };
    if list.len() != components {
        let (found, expected) = (counted(list.len(), "value"), counted(components, "component"));
        let message = format!("`{}` has {found} for {expected}", name.path());
        let help = format!("give {expected}, or one value for all");
        reader.mistakes.add(Code::WrongCount, item.at, message, help);
        return None;
    }
    let all: Vec<_> = list.iter().map(|item| read(item, reader)).collect();
    all.into_iter().collect()
}
