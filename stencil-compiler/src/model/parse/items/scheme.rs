//! `scheme central6 for IsothermalNs { .. }`

use super::{name, progress, semicolon, words};
use crate::model::check::SETTINGS as KEYS;
use crate::model::parse::ast::{Name, SchemeItem, Setting};
use crate::model::parse::tokens::{Cursor, Kind, Parsed, Reported};

/// `central6 for IsothermalNs { .. }`
pub(super) fn block(cursor: &mut Cursor) -> Parsed<SchemeItem> {
    let scheme_name = name(cursor, "the name of the scheme")?;
    cursor.expect_word("for")?;
    let system = name(cursor, "the name of the system")?;
    cursor.expect_open('{')?;
    let mut settings = Vec::new();
    while !cursor.is_close() {
        let before = cursor.position();
        match setting(cursor) {
            Ok(setting) => settings.push(setting),
            Err(Reported) => cursor.recover(before, KEYS),
        }
        progress(cursor, before);
    }
    cursor.expect_close('}')?;
    Ok(SchemeItem { name: scheme_name, system, settings })
}

/// `space: central<order = 6>;` or `reconstruct: weno_z in primitive;`
fn setting(cursor: &mut Cursor) -> Parsed<Setting> {
    words::docs(cursor);
    let key = name(cursor, &format!("`{}`", KEYS.join("`, `")))?;
    cursor.expect_punct(':')?;
    let choice = name(cursor, "a choice")?;
    let mut arguments = Vec::new();
    if cursor.eat_punct('<') {
        arguments.push(argument(cursor)?);
        while cursor.eat_punct(',') {
            arguments.push(argument(cursor)?);
        }
        cursor.expect_punct('>')?;
    }
    let variables = match cursor.eat_word("in") {
        true => Some(name(cursor, "`conserved`, `primitive`, `characteristic` or `fluxes`")?),
        false => None,
    };
    semicolon(cursor)?;
    Ok(Setting { key, choice, arguments, variables })
}

/// `order = 6` or `limiter = mc`
fn argument(cursor: &mut Cursor) -> Parsed<(Name, Name)> {
    let key = name(cursor, "`order`, `limiter`, `theta`, `fix`, `stages` or `storage`")?;
    cursor.expect_punct('=')?;
    let (Kind::Number(text) | Kind::Word(text)) = cursor.peek() else {
        return Err(cursor.expected("a literal number or a name"));
    };
    let value = Name { text: text.clone(), span: cursor.span() };
    cursor.advance();
    Ok((key, value))
}
