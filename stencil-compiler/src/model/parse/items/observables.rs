//! Quantities that a run watches: `observe` and `cfl`.

use super::{name, semicolon};
use crate::diag::{Code, Diagnostic};
use crate::model::parse::ast::{ObserveItem, SpeedItem, System};
use crate::model::parse::expression;
use crate::model::parse::tokens::{Cursor, Parsed};

/// `energy = mean(dot(u, u) / 2)`
pub(super) fn observe(cursor: &mut Cursor, system: &mut System, at: usize) -> Parsed<()> {
    let name = name(cursor, "the name of the observable")?;
    cursor.expect_punct('=')?;
    let reduction = super::name(cursor, "`sum`, `mean`, `max` or `min`")?;
    cursor.expect_open('(')?;
    let value = expression::whole(cursor);
    system.observables.push(ObserveItem { name, reduction, value: None, at });
    let value = value?;
    if cursor.is_punct(',') {
        let message = "a reduction is of one expression";
        let diagnostic = Diagnostic::new(Code::BadReduction, cursor.span(), message)
            .help("`max(max(a, b))` is the largest `max(a, b)` of all cells");
        return Err(cursor.report(diagnostic));
    }
    cursor.expect_close(')')?;
    if !cursor.is_punct(';') && !cursor.is_close() {
        let message = format!("expected `;`, found {}", cursor.found());
        let diagnostic = Diagnostic::new(Code::BadReduction, cursor.span(), message).help(
            "an observable is one reduction; what is made of several is made of their values",
        );
        return Err(cursor.report(diagnostic));
    }
    if let Some(item) = system.observables.last_mut() {
        item.value = Some(value);
    }
    Ok(())
}

/// `{ advective: norm(u) + cs; diffusive: nu; }`
pub(super) fn cfl(cursor: &mut Cursor, system: &mut System) -> Parsed<()> {
    let word = cursor.last_span();
    if let Some(first) = system.cfl {
        let diagnostic = Diagnostic::new(Code::BadSpeed, word, "a second `cfl`")
            .note_at(first, "the first is here")
            .help("put all speeds into one `cfl { .. }`");
        cursor.report(diagnostic);
    }
    system.cfl = Some(system.cfl.unwrap_or(word));
    cursor.expect_open('{')?;
    while !cursor.is_close() {
        let at = cursor.position();
        let kind = name(cursor, "`advective`, `diffusive`, `dispersive` or `hyperdiffusive`")?;
        cursor.expect_punct(':')?;
        let value = expression::whole(cursor)?;
        system.speeds.push(SpeedItem { kind, value, at });
        // The last one may go without.
        if !cursor.is_close() {
            semicolon(cursor)?;
        }
    }
    cursor.expect_close('}')
}
