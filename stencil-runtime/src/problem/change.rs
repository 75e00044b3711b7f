//! Changes of single settings, as a command line makes them.

use stencil_compiler::diag::Code;

use super::document::{self, Data, Entry, Item, Table};
use super::mistakes::{At, Mistakes};

mod over;
mod path;

pub use over::{OneOfEach, Over, combinations};

/// A setting in place of the file's: `mesh.cells = [64, 64]`.
///
/// The path has the names of sections and a key, with dots. Entries of lists are numbered from 1:
/// `plot.2.value` is the value of the second `[[plot]]`.
///
/// ```
/// use stencil_runtime::problem::Change;
/// let change = Change::set("mesh.cells=64,64");
/// assert_eq!(change.to_string(), "--set mesh.cells=64,64");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The text as it was written.
    shown: String,
    /// The place of the path in that text, if it is there at all.
    path: Option<(usize, usize)>,
    /// The path, with dots.
    key: String,
    value: To,
}

/// The new value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    /// The value that begins at this byte.
    Value(usize),
    /// The string that begins at this byte, whatever it looks like.
    Text(usize),
    /// Its default.
    Default,
}

impl Change {
    /// Reads `PATH=VALUE`: the value is a TOML value, a bare word or a list without brackets.
    pub fn set(text: &str) -> Self {
        Self::assign("--set", "", text)
    }

    /// Reads `KEY=VALUE` in a section, by an option of its own: `Change::assign("--param", "params", "nu=1e-3")`.
    pub fn assign(option: &str, section: &str, text: &str) -> Self {
        let shown = format!("{option} {text}");
        let start = shown.len() - text.len();
        let equals = text.find('=').unwrap_or(text.len());
        let key = text[..equals].trim();
        Change {
            key: match section {
                "" => key.to_string(),
                section => format!("{section}.{key}"),
            },
            path: Some((start, start + equals)),
            value: To::Value((start + equals + 1).min(shown.len())),
            shown,
        }
    }

    /// Makes a setting by an option of its own: `Change::option("--steps", "time.steps", "100")`.
    pub fn option(option: &str, key: &str, value: &str) -> Self {
        Change {
            shown: format!("{option} {value}"),
            path: None,
            key: key.to_string(),
            value: To::Value(option.len() + 1),
        }
    }

    /// Makes a string by an option of its own, whatever it looks like: a path or a name.
    pub fn text(option: &str, key: &str, value: &str) -> Self {
        Change { value: To::Text(option.len() + 1), ..Self::option(option, key, value) }
    }

    /// Removes a setting, so that its default holds.
    pub fn remove(key: &str) -> Self {
        Change { shown: String::new(), path: None, key: key.to_string(), value: To::Default }
    }

    /// Does it set the number of dimensions?
    pub(super) fn is_of_dimension(&self) -> bool {
        self.key == "dimension"
    }

    /// Carries the change out.
    pub(super) fn apply(&self, document: &mut Table, mistakes: &mut Mistakes) {
        let start = match self.value {
            To::Value(start) | To::Text(start) => start,
            To::Default => return self.take(document),
        };
        let source = mistakes.source("command line", &self.shown);
        let whole = At { source, start: 0, end: self.shown.len() };
        let at = self.path.map_or(whole, |(start, end)| At { source, start, end });
        let text = &self.shown[start..];
        let path: Vec<&str> = self.key.split('.').map(str::trim).collect();
        if self.shown.as_bytes().get(start - 1) != Some(&b'=') && self.path.is_some()
            || path.iter().any(|key| key.is_empty())
            || text.trim().is_empty()
        {
            let help = "write a path, `=` and a value: --set mesh.cells=64,64";
            return mistakes.add(Code::BadSetting, whole, "this sets nothing", help);
        }
        let value = match self.value {
            To::Text(_) => Item { data: Data::Text(text.to_string()), at: whole },
            To::Value(_) | To::Default => value(text, source, start),
        };
        if let Err((message, help)) = path::put(document, &path, at, value) {
            mistakes.add(Code::BadSetting, at, message, help);
        }
    }

    fn take(&self, document: &mut Table) {
        let Some((section, key)) = self.key.rsplit_once('.') else {
            return document.remove(&self.key);
        };
        if document.table(section).is_some()
            && let Some(item) = document.item_mut(section, At::default())
            && let Data::Table(table) = &mut item.data
        {
            table.remove(key);
        }
    }
}

/// Reads a TOML value; else a list without brackets; else a bare word.
fn value(text: &str, source: usize, start: usize) -> Item {
    let at = At { source, start, end: start + text.len() };
    if let Some(item) = toml_value(text, source, start) {
        return item;
    }
    if text.contains(',') && !text.contains(['[', '{', '(', '"', '\'']) {
        let mut from = start;
        let mut list = Vec::new();
        for part in text.split(',') {
            list.push(value(part, source, from));
            from += part.len() + 1;
        }
        let data = Data::List(list);
        return Item { data, at };
    }
    let blanks = text.len() - text.trim_start().len();
    let word = text.trim();
    let at = At { source, start: start + blanks, end: start + blanks + word.len() };
    let data = Data::Text(word.to_string());
    Item { data, at }
}

fn toml_value(text: &str, source: usize, start: usize) -> Option<Item> {
    const KEY: &str = "v=";
    // A parse of its own: an error here is no mistake, since the text may be a bare word.
    let mut table =
        document::parse(source, &format!("{KEY}{}", text.trim_end()), &mut Mistakes::default())?;
    let Entry { mut item, .. } = table.entries.pop().filter(|_| table.entries.is_empty())?;
    shift(&mut item, start as isize - KEY.len() as isize);
    Some(item)
}

fn shift(item: &mut Item, by: isize) {
    let moved = |at: &mut At| {
        at.start = at.start.saturating_add_signed(by);
        at.end = at.end.saturating_add_signed(by);
    };
    moved(&mut item.at);
    match &mut item.data {
        Data::List(list) => list.iter_mut().for_each(|item| shift(item, by)),
        Data::Table(table) => {
            for entry in &mut table.entries {
                moved(&mut entry.at);
                shift(&mut entry.item, by);
            }
        }
        Data::Text(_) | Data::Integer(_) | Data::Number(_) | Data::Flag(_) | Data::Date => {}
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}
