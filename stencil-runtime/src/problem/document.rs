//! A TOML document as a tree in which every key and value knows its place.

use stencil_compiler::diag::Code;
use toml::de::{DeTable, DeValue};

use super::mistakes::{At, Mistakes};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
    Date,
    List(Vec<Item>),
    Table(Table),
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) data: Data,
    pub(super) at: At,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// The place of the key.
    pub(super) at: At,
    pub(super) item: Item,
}

/// Keys with values, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
}

impl Table {
    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        self.entry(key).map(|entry| &entry.item)
    }

    /// Returns a key with its value.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Returns the table under a key, if it is one.
    pub(super) fn table(&self, key: &str) -> Option<&Table> {
        match &self.get(key)?.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Sets a value; a key that is there keeps its place, as names of `[let]` further down use it.
    pub(super) fn set(&mut self, key: &str, at: At, item: Item) {
        let key = key.to_string();
        let entry = Entry { key, at, item };
        match self.entries.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
    }

    /// Removes a key.
    pub(super) fn remove(&mut self, key: &str) {
        self.entries.retain(|entry| entry.key != key);
    }

    /// Returns the value of a key; if there is none, an empty table is made.
    pub(super) fn item_mut(&mut self, key: &str, at: At) -> Option<&mut Item> {
        if self.get(key).is_none() {
            let data = Data::Table(Table::default());
            self.set(key, at, Item { data, at });
        }
        let entry = self.entries.iter_mut().find(|entry| entry.key == key)?;
        Some(&mut entry.item)
    }
}

impl Data {
    /// Returns the kind of the value, for a message.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Data::Text(_) => "a string",
            Data::Integer(_) => "a whole number",
            Data::Number(_) => "a number",
            Data::Flag(_) => "true or false",
            Data::Date => "a date",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
        }
    }
}

/// Reads a whole source.
pub(super) fn parse(source: usize, text: &str, mistakes: &mut Mistakes) -> Option<Table> {
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let range = error.span().unwrap_or(0..0);
        let at = At { source, start: range.start, end: range.end };
        mistakes.add(Code::NotToml, at, error.message(), way_out(error.message()));
    }
    // Data that was read after an error may be a guess.
    errors.is_empty().then(|| table(source, document.get_ref(), mistakes))
}

fn way_out(message: &str) -> &'static str {
    if message.contains("duplicate") {
        "each key stands once; remove one of the two"
    } else if message.contains("quoted") || message.contains("boolean") {
        "write text in quotes: key = \"text\""
    } else {
        "a line is `key = value` or `[section]`; text stands in quotes, lists in brackets: cells = [64, 64]"
    }
}

fn table(source: usize, table: &DeTable<'_>, mistakes: &mut Mistakes) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            at: At { source, start: key.span().start, end: key.span().end },
            item: item(source, value, mistakes),
        })
        .collect();
    entries.sort_by_key(|entry| entry.at.start);
    Table { entries }
}

fn item(source: usize, value: &toml::Spanned<DeValue<'_>>, mistakes: &mut Mistakes) -> Item {
    let at = At { source, start: value.span().start, end: value.span().end };
    let data = match value.get_ref() {
        DeValue::String(text) => Data::Text(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Data::Integer(number),
            Err(_) => {
                let message = format!("the number {} is too large", number.as_str());
                mistakes.add(Code::BadSetting, at, message, "write at most 18 digits");
                Data::Integer(0)
            }
        },
        // A number that is too large becomes infinite, which no setting accepts.
        DeValue::Float(number) => Data::Number(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Data::Flag(*flag),
        DeValue::Datetime(_) => Data::Date,
        DeValue::Array(list) => {
            Data::List(list.iter().map(|v| item(source, v, mistakes)).collect())
        }
        DeValue::Table(entries) => Data::Table(table(source, entries, mistakes)),
    };
    Item { data, at }
}
