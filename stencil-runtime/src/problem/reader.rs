//! Typed reading of single settings: mistakes are noted, with a correct example.

use stencil_compiler::diag::counted;
use stencil_compiler::diag::{Code, nearest};

use super::document::{Data, Entry, Item, Table};
use super::expression::Constants;
use super::keys;
use super::mistakes::{At, Mistakes};

/// Reads settings and notes mistakes in them.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) mistakes: Mistakes,
    /// Names that constant formulas may use.
    pub(super) constants: Constants,
}

/// The name of a setting: a section and a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a>(pub(super) &'a str, pub(super) &'a str);

impl Name<'_> {
    /// Returns the path: `mesh.cells`.
    pub(super) fn path(self) -> String {
        match self {
            Name("", key) => key.to_string(),
            Name(section, key) => format!("{section}.{key}"),
        }
    }

    /// Returns an example of the setting.
    fn help(self) -> String {
        format!("write, for example, {}", keys::example(self.0, self.1))
    }
}

impl Reader {
    /// Notes a setting of the wrong kind.
    pub(super) fn wrong(&mut self, name: Name<'_>, item: &Item, expected: &str) {
        let message = format!("`{}` is {expected}, not {}", name.path(), item.data.kind());
        self.mistakes.add(Code::WrongKind, item.at, message, name.help());
    }

    /// Notes a setting that has the right kind and a wrong value.
    pub(super) fn bad(&mut self, at: At, message: impl Into<String>, help: impl Into<String>) {
        self.mistakes.add(Code::BadSetting, at, message, help);
    }

    /// Notes a mistake by a message whose way out stands behind a `; `.
    pub(super) fn told(&mut self, at: At, text: &str) {
        let (message, help) = text.split_once("; ").unwrap_or((text, ""));
        self.bad(at, message, help);
    }

    /// Notes a name that does not exist; a similar one is suggested, else all are listed.
    pub(super) fn unknown<'a>(
        &mut self,
        at: At,
        message: impl Into<String>,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) {
        let help = match nearest(name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let known: Vec<&str> = known.collect();
                match known.is_empty() {
                    true => "there is none; remove the line".to_string(),
                    false => format!("there are: {}", known.join(", ")),
                }
            }
        };
        self.mistakes.add(Code::NoSuchSetting, at, message, help);
    }

    /// Notes the keys of a table that are not among the known ones.
    pub(super) fn keys(&mut self, section: &str, table: &Table) {
        for Entry { key, at, .. } in &table.entries {
            let sections = keys::SECTIONS.iter().filter(|_| section.is_empty());
            let known = keys::of(section).chain(sections.copied());
            if known.clone().any(|k| k == key) {
                continue;
            }
            let message = match section {
                "" => format!("no key or section `{key}`"),
                _ => format!("no key `{key}` in [{section}]"),
            };
            // A key of another section was probably put below the wrong line.
            match keys::KEYS.iter().find(|k| k.key == key && k.key != "NAME") {
                Some(other) => {
                    let place = match other.section {
                        "" => "at the top of the file, above all sections".to_string(),
                        section => format!("under [{section}]"),
                    };
                    let help = format!("`{key}` stands {place}");
                    self.mistakes.add(Code::NoSuchSetting, *at, message, help);
                }
                None => self.unknown(*at, message, key, known),
            }
        }
    }

    /// Returns the table of a section; empty if it is not given.
    pub(super) fn section(&mut self, document: &Table, section: &str) -> (Table, At) {
        match document.entry(section) {
            None => (Table::default(), At::FILE),
            Some(entry) => match &entry.item.data {
                Data::Table(table) => (table.clone(), entry.item.at),
                _ => {
                    let message =
                        format!("`{section}` is a section, not {}", entry.item.data.kind());
                    let help =
                        format!("write [{section}] in a line of its own, and its keys below it");
                    self.mistakes.add(Code::WrongKind, entry.item.at, message, help);
                    (Table::default(), entry.item.at)
                }
            },
        }
    }

    /// Reads a string without control characters but tabs: they could do anything to a terminal.
    pub(super) fn text(&mut self, name: Name<'_>, item: &Item) -> Option<String> {
        let text = self.lines(name, item)?;
        let Some(c) = text.chars().find(|c| c.is_control() && *c != '\t') else {
            return Some(text);
        };
        let (path, c) = (name.path(), c.escape_unicode());
        let message = format!("`{path}` has the control character {c}");
        self.bad(item.at, message, "write it without");
        None
    }

    /// Reads a string of any characters, such as a declaration.
    pub(super) fn lines(&mut self, name: Name<'_>, item: &Item) -> Option<String> {
        match &item.data {
            Data::Text(text) => Some(text.clone()),
            _ => {
                self.wrong(name, item, "a string");
                None
            }
        }
    }

    /// Reads `true` or `false`.
    pub(super) fn flag(&mut self, name: Name<'_>, item: &Item) -> Option<bool> {
        match item.data {
            Data::Flag(flag) => Some(flag),
            _ => {
                self.wrong(name, item, "true or false");
                None
            }
        }
    }

    /// Reads a whole number, at least 1.
    pub(super) fn count(&mut self, name: Name<'_>, item: &Item) -> Option<u64> {
        self.whole(name, item, 1)
    }

    /// Reads a whole number, at least this one.
    pub(super) fn whole(&mut self, name: Name<'_>, item: &Item, least: i64) -> Option<u64> {
        match item.data {
            Data::Integer(number) if number >= least => u64::try_from(number).ok(),
            Data::Integer(number) => {
                let message = format!("`{}` is {number}", name.path());
                let help = format!("give a whole number from {least} on");
                self.bad(item.at, message, help);
                None
            }
            _ => {
                self.wrong(name, item, "a whole number");
                None
            }
        }
    }

    /// Reads a finite number, or a constant formula in a string.
    pub(super) fn number(&mut self, name: Name<'_>, item: &Item) -> Option<f64> {
        let value = match &item.data {
            Data::Integer(number) => *number as f64,
            Data::Number(number) => *number,
            Data::Text(text) => {
                let value = self.constants.evaluate(text);
                match value {
                    Ok(value) => value,
                    Err(errors) => {
                        self.mistakes.expression(item.at, text, &errors);
                        return None;
                    }
                }
            }
            _ => {
                self.wrong(name, item, "a number or a formula in quotes");
                return None;
            }
        };
        if value.is_finite() {
            return Some(value);
        }
        let message = format!("`{}` is {value}", name.path());
        self.bad(item.at, message, "give a finite number");
        None
    }

    /// Reads a number above zero.
    pub(super) fn positive(&mut self, name: Name<'_>, item: &Item) -> Option<f64> {
        let value = self.number(name, item)?;
        if value > 0.0 {
            return Some(value);
        }
        let message = format!("`{}` is {value}", name.path());
        self.bad(item.at, message, "give a number above zero");
        None
    }

    /// Reads a list.
    pub(super) fn list<'a>(&mut self, name: Name<'_>, item: &'a Item) -> Option<&'a [Item]> {
        match &item.data {
            Data::List(list) => Some(list),
            _ => {
                self.wrong(name, item, "a list");
                None
            }
        }
    }

    /// Reads one value for each axis; a single one is for all axes.
    pub(super) fn axes<T: Copy>(
        &mut self,
        name: Name<'_>,
        item: &Item,
        dimension: usize,
        read: impl Fn(&mut Self, &Item) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Data::List(list) = &item.data else {
            return Some(vec![read(self, item)?; dimension]);
        };
        if list.len() != dimension {
            let message = format!(
                "`{}` has {} for {}",
                name.path(),
                counted(list.len(), "value"),
                counted(dimension, "axis")
            );
            let axes = &["x", "y", "z"][..dimension];
            let help = format!("give one value for each of {}", axes.join(", "));
            self.mistakes.add(Code::WrongCount, item.at, message, help);
            return None;
        }
        // All are read, so that all mistakes are found.
        let values: Vec<Option<T>> = list.iter().map(|item| read(self, item)).collect();
        values.into_iter().collect()
    }

    /// Reads one of some words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: Name<'_>,
        item: &Item,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let text = self.text(name, item)?;
        let found = choices.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let known = choices.iter().map(|(word, _)| *word);
            let message = format!("`{}` cannot be `{text}`", name.path());
            self.unknown(item.at, message, &text, known);
        }
        found.map(|(_, choice)| *choice)
    }
}
