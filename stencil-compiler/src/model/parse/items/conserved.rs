//! Conservation laws: `flux`, `primitive` and `waves`.

use super::{name, semicolon, split};
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{FluxItem, PrimitiveItem, SpeedItem, System};
use crate::model::parse::expression;
use crate::model::parse::tokens::{Cursor, Parsed};

/// `u -> outer(u, u)`
pub(super) fn flux(cursor: &mut Cursor, system: &mut System, at: usize, start: Span) -> Parsed<()> {
    let field = name(cursor, "the name of a field")?;
    let (value, outcome) = match cursor.eat_pair(['-', '>']) {
        true => split(expression::whole(cursor)),
        false => (None, Err(cursor.expected("`->` and what flows"))),
    };
    system.fluxes.push(FluxItem {
        field,
        value,
        span: start.join(cursor.last_span()),
        at,
    });
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
    let word = cursor.last_span();
    if let Some(first) = system.primitive {
        let diagnostic = Diagnostic::new(Code::BadPrimitive, word, "a second `primitive`")
            .note_at(first, "the first is here")
            .help("put all primitives into one `primitive { .. }`");
        cursor.report(diagnostic);
    }
    system.primitive = Some(system.primitive.unwrap_or(word));
    cursor.expect_open('{')?;
    while !cursor.is_close() {
        let (at, start) = (cursor.position(), cursor.span());
        let name = name(cursor, "a field or a `let`")?;
        let value = match cursor.eat_punct('=') {
            true => Some(expression::whole(cursor)?),
            false => None,
        };
        system.primitives.push(PrimitiveItem {
            name,
            value,
            span: start.join(cursor.last_span()),
            at,
        });
        // The last one may go without.
        if !cursor.is_close() {
            semicolon(cursor)?;
        }
    }
    cursor.expect_close('}')
}
