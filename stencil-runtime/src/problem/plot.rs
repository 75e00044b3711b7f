//! Pictures of a problem.

use stencil_compiler::catalogue::{Centering, Function};
use stencil_compiler::diag::Code;

use super::document::{self, Data, Item, Table};
use super::expression::{Expression, Scope};
use super::reader::{Name, Reader};
use super::system::{Group, Resolved, components};
use crate::plot::ColorMap;
use crate::{Axis, Mesh, Quantity};

/// A picture, or one panel of several in one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The quantity in the picture.
    pub value: Shown,
    /// The plane of a picture in 3d: an axis, and the coordinate nearest to which it is cut.
    pub slice: Option<(Axis, f64)>,
    /// The name of the file, without `.png`.
    pub file: String,
    /// The line above the picture.
    pub title: String,
    /// The label of the colours.
    pub label: String,
    /// The colours; chosen by the values if not given.
    pub map: Option<ColorMap>,
    /// Whether colours are by the logarithm of the value.
    pub log: bool,
    /// The values at both ends of the colours.
    pub range: Option<[f64; 2]>,
}

/// The quantity in a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// A formula of all components, in the order of the system.
    Pointwise(Expression),
    /// An expression of the language, with derivatives.
    Quantity(Box<Quantity>),
}

impl Shown {
    /// Returns the expression as it was written.
    pub fn text(&self) -> &str {
        match self {
            Shown::Pointwise(expression) => expression.text(),
            Shown::Quantity(quantity) => quantity.text(),
        }
    }
}

/// Derivatives by their number.
const DERIVATIVES: [&str; 8] = ["d", "d2", "d3", "d4", "d5", "d6", "d7", "d8"];

/// Is it a word that only the language has: a derivative, or a function of fields with components?
fn is_operator(word: &str) -> bool {
    let mut functions = Function::all().filter(|f| f.differentiates() || f.is_multilinear());
    DERIVATIVES.contains(&word) || functions.any(|function| function.name() == word)
}

/// Does a text use operators of the language or parts of fields, such as `u.x`?
fn is_language(text: &str, fields: &[Group]) -> bool {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut words = words.filter(|w| !w.is_empty());
    let vector = |w: &str| fields.iter().any(|f| f.name == w && f.components != [w]);
    words.any(|w| is_operator(w) || vector(w))
}

fn shown(item: &Item, scope: &Scope, resolved: &Resolved, reader: &mut Reader) -> Option<Shown> {
    let name = Name("plot", "value");
    if let Data::Text(text) = &item.data
        && is_language(text, &resolved.fields)
    {
        return match Quantity::new(&resolved.system, text) {
            Ok(quantity) => Some(Shown::Quantity(Box::new(quantity))),
            Err(errors) => {
                reader.mistakes.expression(item.at, text, &errors);
                None
            }
        };
    }
    let names: Vec<String> = components(&resolved.fields).map(str::to_string).collect();
    let value = scope.read(name, item, &names, reader);
    value.map(Shown::Pointwise)
}

/// Reads all `[[plot]]`; the first fields if there is none.
pub(super) fn read(
    document: &Table,
    scope: &Scope,
    resolved: &Resolved,
    mesh: Option<&Mesh>,
    reader: &mut Reader,
) -> Vec<Plot> {
    let Some(item) = document.get("plot") else {
        return of_fields(resolved);
    };
    let list = match &item.data {
        Data::List(list) => &list[..],
        Data::Table(_) => std::slice::from_ref(item),
        _ => {
            let message = format!("`plot` is a section, not {}", item.data.kind());
            let help =
                "write [[plot]] in a line of its own for each picture, and its keys below it";
            reader.mistakes.add(Code::WrongKind, item.at, message, help);
            return Vec::new();
        }
    };
    let plots =
        list.iter().filter_map(|item| read_one(item, document, (scope, resolved, mesh), reader));
    plots.collect()
}

/// Fields in the picture of a problem without `[[plot]]`.
const MOST_FIELDS: usize = 4;

/// Makes one picture of the first fields: scalars as they are, lengths of the others.
fn of_fields(resolved: &Resolved) -> Vec<Plot> {
    let first = resolved.fields.iter().take(MOST_FIELDS);
    let plots = first.filter_map(|field| {
        let is_scalar = field.components == [field.name.as_str()];
        let (name, model) = (&field.name, resolved.system.model());
        let declared = model.fields.iter().find(|declared| declared.name == *name);
        let (text, label) = match declared {
            _ if is_scalar => (name.clone(), name.clone()),
            Some(field) if field.centering != Centering::Cell => {
                (format!("norm(to_cells({name}))"), format!("|{name}|"))
            }
            _ => (format!("norm({name})"), format!("|{name}|")),
        };
        let quantity = Quantity::new(&resolved.system, &text).ok()?;
        Some(Plot {
            value: Shown::Quantity(Box::new(quantity)),
            slice: None,
            file: "fields".into(),
            title: label.clone(),
            label,
            map: None,
            log: false,
            range: None,
        })
    });
    plots.collect()
}

fn read_one(
    item: &Item,
    document: &Table,
    (scope, resolved, mesh): (&Scope, &Resolved, Option<&Mesh>),
    reader: &mut Reader,
) -> Option<Plot> {
    let Data::Table(table) = &item.data else {
        reader.wrong(Name("plot", "value"), item, "a table");
        return None;
    };
    reader.keys("plot", table);
    let name = |key| Name("plot", key);
    let Some(value) = table.get("value") else {
        let help = "add value = .., a field or a formula of components";
        let message = "nothing says what the picture shows";
        reader.mistakes.add(Code::MissingSetting, item.at, message, help);
        return None;
    };
    let value = shown(value, scope, resolved, reader);
    let text = |key: &str, reader: &mut Reader| {
        let item = table.get(key)?;
        reader.text(Name("plot", key), item)
    };
    let title = text("title", reader);
    let label = text("label", reader);
    let file = table.get("file");
    let file = file.map(|item| picture_name(item, document, reader));
    let slice = table.get("slice").map(|item| slice(Name("plot", "slice"), item, mesh, reader));
    let map = table.get("map").map(|item| reader.choice(name("map"), item, &ColorMap::ALL));
    let log = table.get("log").map(|item| reader.flag(name("log"), item));
    let range = table.get("range").map(|item| range(item, reader));
    let value = value?;
    let text = value.text().to_string();
    Some(Plot {
        slice: slice.map_or(Some(None), |slice| slice.map(Some))?,
        file: file.unwrap_or_else(|| Some(file_name(&text)))?,
        title: title.unwrap_or_else(|| text.clone()),
        label: label.unwrap_or(text),
        map: map.map_or(Some(None), |map| map.map(Some))?,
        log: log.unwrap_or(Some(false))?,
        range: range.map_or(Some(None), |range| range.map(Some))?,
        value,
    })
}

/// Reads `z = 0.5`.
pub(super) fn slice(
    name: Name<'_>,
    item: &Item,
    mesh: Option<&Mesh>,
    reader: &mut Reader,
) -> Option<(Axis, f64)> {
    let text = reader.text(name, item)?;
    let split = text.split_once('=');
    let axis = split.and_then(|(axis, _)| Axis::from_name(axis.trim()));
    let (Some((_, number)), Some(axis)) = (split, axis) else {
        let message = format!("`{text}` names no plane");
        reader.bad(item.at, message, "write an axis, = and a coordinate: slice = \"z = 0.5\"");
        return None;
    };
    let mut inner = item.clone();
    inner.data = Data::Text(number.trim().to_string());
    let at = reader.number(name, &inner)?;
    let mesh = mesh?;
    let (low, high) = (
        mesh.coordinate(axis.index(), 0),
        mesh.coordinate(axis.index(), mesh.cells[axis.index()] as isize - 1),
    );
    let half = 0.5 * mesh.spacing()[axis.index()];
    if !(low - half..=high + half).contains(&at) {
        let message = format!("the plane {axis} = {at} is not inside the mesh");
        reader.bad(item.at, message, format!("cells are from {low} to {high} along {axis}"));
        return None;
    }
    Some((axis, at))
}

fn range(item: &Item, reader: &mut Reader) -> Option<[f64; 2]> {
    let name = Name("plot", "range");
    let [low, high] = reader.list(name, item)? else {
        reader.bad(item.at, "a range has two values", "write range = [0, 1]");
        return None;
    };
    let (low, high) = (reader.number(name, low), reader.number(name, high));
    let (low, high) = (low?, high?);
    if low < high {
        return Some([low, high]);
    }
    let message = format!("the range goes from {low} to {high}");
    reader.bad(item.at, message, "put the smaller number first");
    None
}

/// Bytes of a picture's name at most: with its ending and that of a partial file it is still a valid name.
const MOST_OF_A_NAME: usize = 200;

/// Reads the name of a picture, without folders: pictures stay in the folder of the run.
fn picture_name(item: &Item, document: &Table, reader: &mut Reader) -> Option<String> {
    let name = reader.text(Name("plot", "file"), item)?;
    if let Err((reason, help)) = is_plain(&name) {
        reader.bad(item.at, format!("`file` is `{name}`, {reason}"), help);
        return None;
    }
    let spectrum = document.table("output").and_then(|t| t.get("spectrum"));
    if name == "spectrum" && spectrum.is_some_and(|item| item.data == Data::Flag(true)) {
        let message = "the picture of the energy spectrum has the name `spectrum`";
        let help = "give this one another name, or leave `spectrum = true` out";
        reader.mistakes.add(Code::Contradiction, item.at, message, help);
        return None;
    }
    Some(name)
}

/// Checks that a text is a plain name of a file; else returns the reason, and the way out.
fn is_plain(name: &str) -> Result<(), (&'static str, &'static str)> {
    const FOLDER: &str = "pictures go into the folder of the run, which `dir` under [output] names";
    if name.is_empty() {
        Err(("which is no name", "write, for example, file = \"density\""))
    } else if name.contains(['/', '\\']) {
        Err(("which names a folder", FOLDER))
    } else if name.contains(char::is_control) {
        Err(("which has a control character", "write it without"))
    } else if name.starts_with('.') {
        Err(("which begins with a dot", FOLDER))
    } else if name.len() > MOST_OF_A_NAME {
        Err(("which is longer than 200 bytes", "choose a shorter name"))
    } else {
        Ok(())
    }
}

/// Returns the names of pictures in a problem file, as far as it can be read.
///
/// ```
/// use stencil_runtime::problem::picture_names;
///
/// let text = "[[plot]]\nvalue = 'q'\nfile = 'density'\n[[plot]]\nfile = '../x'\n";
/// assert_eq!(picture_names(text), ["density"]);
/// ```
pub fn picture_names(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    let at = reader.mistakes.source("", text);
    let document = document::parse(at, text, &mut reader.mistakes);
    let plots = document.as_ref().and_then(|document| document.get("plot"));
    let plots = match plots.map(|item| &item.data) {
        Some(Data::List(list)) => &list[..],
        _ => &[],
    };
    let file = |item: &Item| match &item.data {
        Data::Table(table) => match &table.get("file")?.data {
            Data::Text(name) => is_plain(name).is_ok().then(|| name.clone()),
            _ => None,
        },
        _ => None,
    };
    plots.iter().filter_map(file).collect()
}

/// Returns a text as letters, digits and single underscores.
fn file_name(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match words.is_empty() {
        true => "picture".to_string(),
        false => words.join("_"),
    }
}
