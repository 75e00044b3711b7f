//! Conservation laws: `flux`, `primitive`, `face`, `average` and `waves`.

use super::{name, semicolon, split};
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{FluxItem, SpeedItem, System, VariableItem, VariablesBlock};
use crate::model::parse::expression;
use crate::model::parse::tokens::{Cursor, Parsed};

/// `u -> outer(u, u)`, behind `flux` or `product`
pub(super) fn flux(
    cursor: &mut Cursor,
    all: &mut Vec<FluxItem>,
    at: usize,
    start: Span,
) -> Parsed<()> {
    let field = name(cursor, "the name of a field")?;
    let (value, outcome) = match cursor.eat_pair(['-', '>']) {
        true => split(expression::whole(cursor)),
        false => (None, Err(cursor.expected("`->` and what flows"))),
    };
    all.push(FluxItem { field, value, span: start.join(cursor.last_span()), at });
    outcome
}

/// `{ flow: u; sound: c; }`
pub(super) fn waves(cursor: &mut Cursor, system: &mut System) -> Parsed<()> {
    let word = cursor.last_span();
    if let Some(first) = system.waves {
        let diagnostic = Diagnostic::new(Code::BadWaves, word, "a second `waves`")
            .note_at(first, "the first is here")
            .help("put both speeds into one `waves { .. }`");
        cursor.report(diagnostic);
    }
    system.waves = Some(system.waves.unwrap_or(word));
    cursor.expect_open('{')?;
    while !cursor.is_close() {
        let at = cursor.position();
        let kind = name(cursor, "`flow`, `sound`, `density` or `pressure`")?;
        cursor.expect_punct(':')?;
        let value = expression::whole(cursor)?;
        system.wave_speeds.push(SpeedItem { kind, value, at });
        // The last one may go without.
        if !cursor.is_close() {
            semicolon(cursor)?;
        }
    }
    cursor.expect_close('}')
}

/// `{ rho; u; m = rho*u; }`
pub(super) fn primitive(cursor: &mut Cursor, system: &mut System) -> Parsed<()> {
    variables(cursor, "primitive", &mut system.primitive)
}

/// `{ bed by max; h = max(surface - bed, 0); }`
pub(super) fn face(cursor: &mut Cursor, system: &mut System) -> Parsed<()> {
    variables(cursor, "face", &mut system.face)
}

/// `{ h; u by sqrt(h); m = h*u; }`
pub(super) fn average(cursor: &mut Cursor, system: &mut System) -> Parsed<()> {
    variables(cursor, "average", &mut system.average)
}

fn variables(cursor: &mut Cursor, word: &str, block: &mut Option<VariablesBlock>) -> Parsed<()> {
    let span = cursor.last_span();
    if let Some(first) = block {
        let diagnostic = Diagnostic::new(Code::BadPrimitive, span, format!("a second `{word}`"))
            .note_at(first.span, "the first is here")
            .help(format!("put all variables into one `{word} {{ .. }}`"));
        cursor.report(diagnostic);
    }
    let items = &mut block.get_or_insert(VariablesBlock { span, items: Vec::new() }).items;
    cursor.expect_open('{')?;
    while !cursor.is_close() {
        let (at, start) = (cursor.position(), cursor.span());
        let name = name(cursor, "a field or a `let`")?;
        let value = match cursor.eat_punct('=') {
            true => Some(expression::whole(cursor)?),
            false => None,
        };
        let weighs = word != "primitive" && value.is_none() && cursor.eat_word("by");
        let weight = match weighs {
            true => Some(expression::whole(cursor)?),
            false => None,
        };
        items.push(VariableItem { name, value, weight, span: start.join(cursor.last_span()), at });
        // The last one may go without.
        if !cursor.is_close() {
            semicolon(cursor)?;
        }
    }
    cursor.expect_close('}')
}
