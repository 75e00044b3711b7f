//! Paths to settings: keys of tables, and numbers of the entries of lists, from 1.

use crate::problem::document::{Data, Item, Table};
use crate::problem::mistakes::At;

/// The fault of a path, and the way out.
type Wrong = (String, String);

/// More names than the path of any setting.
const LONGEST: usize = 16;

/// Sets the value at a path; missing sections are made, entries of lists are not.
pub(super) fn put(table: &mut Table, path: &[&str], at: At, value: Item) -> Result<(), Wrong> {
    if path.len() > LONGEST {
        let message = format!("a path of {} names", path.len());
        return Err((message, format!("a path has at most {LONGEST}")));
    }
    let axes = table.get("dimension").and_then(|item| match item.data {
        Data::Integer(number) => usize::try_from(number).ok(),
        _ => None,
    });
    in_table(table, "", path, at, New { value, axes })
}

/// A new value, and the number of dimensions if it is given beside the mesh: lists may then have another length.
struct New {
    value: Item,
    axes: Option<usize>,
}

/// Sets the value at a path in the table `name`.
fn in_table(
    table: &mut Table,
    name: &str,
    path: &[&str],
    at: At,
    mut new: New,
) -> Result<(), Wrong> {
    let (key, rest) = match path {
        [] => return Ok(()),
        [key, rest @ ..] => (*key, rest),
    };
    let inner = joined(name, key);
    if rest.is_empty() {
        if let Some(old) = table.get(key) {
            spread(old, &mut new);
        }
        table.set(key, at, new.value);
        return Ok(());
    }
    if let (None, Some(number)) = (table.get(key), rest.first().and_then(|n| number(n))) {
        let message = format!("there is no `{inner}`, so it has no entry {number}");
        let help = match rest {
            [_, key, ..] => format!("set `{inner}.{key}`, or `{inner}` as a whole"),
            _ => format!("set `{inner}` as a whole"),
        };
        return Err((message, help));
    }
    match table.item_mut(key, at) {
        Some(item) => in_item(item, &inner, rest, at, new),
        None => Ok(()),
    }
}

/// Sets the value at a path in the value `name`; the path has at least one more name.
fn in_item(item: &mut Item, name: &str, path: &[&str], at: At, new: New) -> Result<(), Wrong> {
    match &mut item.data {
        Data::Table(table) => in_table(table, name, path, at, new),
        Data::List(list) => in_list(list, name, path, at, new),
        other => {
            let message = format!("`{name}` is {}, not a table with keys", other.kind());
            Err((message, format!("set `{name}` as a whole")))
        }
    }
}

fn in_list(list: &mut [Item], name: &str, path: &[&str], at: At, new: New) -> Result<(), Wrong> {
    let [first, rest @ ..] = path else {
        return Ok(());
    };
    let Some(number) = number(first) else {
        let message = format!("`{name}` is a list, and `{first}` is no number of an entry");
        let help = format!("write `{name}.1.{}`: {}", path.join("."), entries(name, list));
        return Err((message, help));
    };
    let there = entries(name, list);
    let Some(entry) = number.checked_sub(1).and_then(|at| list.get_mut(at)) else {
        let message = format!("`{name}` has no entry {number}");
        return Err((message, there));
    };
    if rest.is_empty() {
        *entry = new.value;
        return Ok(());
    }
    in_item(entry, &joined(name, first), rest, at, new)
}

/// Lists the entries of a list: `plot.1 is exp(lnrho), plot.2 is norm(u)`.
fn entries(name: &str, list: &[Item]) -> String {
    let shown = |(i, item): (usize, &Item)| match text(item) {
        Some(text) => format!("{name}.{} is {text}", i + 1),
        None => format!("{name}.{}", i + 1),
    };
    match list {
        [] => format!("`{name}` is an empty list"),
        list => {
            let all: Vec<String> = list.iter().enumerate().map(shown).collect();
            format!("there are: {}", all.join(", "))
        }
    }
}

/// Returns the text that tells an entry from others: itself, or its `value`.
fn text(item: &Item) -> Option<String> {
    match &item.data {
        Data::Text(text) => Some(text.clone()),
        Data::Integer(number) => Some(number.to_string()),
        Data::Number(number) => Some(number.to_string()),
        Data::Table(table) => match &table.get("value")?.data {
            Data::Text(text) => Some(text.clone()),
            _ => None,
        },
        Data::Flag(_) | Data::Date | Data::List(_) => None,
    }
}

fn number(word: &str) -> Option<usize> {
    word.parse().ok()
}

fn joined(name: &str, key: &str) -> String {
    match name {
        "" => key.to_string(),
        name => format!("{name}.{key}"),
    }
}

/// Spreads one number over the axes of a list. In place of a list of numbers it is for all axes that have more than
/// one cell; in place of a list for another number of dimensions it is for all axes.
fn spread(old: &Item, new: &mut New) {
    let (Data::List(old), Data::Integer(_) | Data::Number(_)) = (&old.data, &new.value.data) else {
        return;
    };
    if new.axes.is_some_and(|axes| axes != old.len()) {
        return;
    }
    let each = |old: &Item| match old.data {
        Data::Integer(1) => old.clone(),
        _ => new.value.clone(),
    };
    new.value.data = Data::List(old.iter().map(each).collect());
}
