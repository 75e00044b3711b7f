//! `riemann exact { let ..; rho = ..; u = ..; p = ..; }`: Riemann solvers.

use super::{equals, let_item, name, semicolon};
use crate::model::Gives;
use crate::model::parse::ast::{SolvedItem, SolverItem, System, WaveItem};
use crate::model::parse::expression;
use crate::model::parse::tokens::{Cursor, Kind, Parsed};

/// Reads a solver behind the word `riemann`.
pub(super) fn solver(cursor: &mut Cursor, system: &mut System) -> Parsed<()> {
    let name = name(cursor, "the name of the solver")?;
    let mut solver =
        SolverItem { name, lets: Vec::new(), values: Vec::new(), waves: Vec::new(), whole: false };
    let outcome = lines(cursor, &mut solver);
    solver.whole = outcome.is_ok();
    // Known even if a line is wrong, so that schemes that name it are not reported as well.
    system.solvers.push(solver);
    outcome
}

fn lines(cursor: &mut Cursor, solver: &mut SolverItem) -> Parsed<()> {
    cursor.expect_open('{')?;
    while !cursor.is_close() {
        super::docs(cursor);
        let at = cursor.position();
        if cursor.eat_word("let") {
            let (item, outcome) = let_item(cursor, at)?;
            outcome?;
            solver.lets.push(item);
        } else if is_wave(cursor) {
            solver.waves.push(wave(cursor, at)?);
            // The brackets end it.
            cursor.eat_punct(';');
            continue;
        } else {
            solver.values.push(solved(cursor, at)?);
        }
        // The last one may go without.
        if !cursor.is_close() {
            semicolon(cursor)?;
        }
    }
    cursor.expect_close('}')
}

/// Does a wave begin here? A field may have its name.
fn is_wave(cursor: &Cursor) -> bool {
    cursor.is_word("wave") && !matches!(cursor.peek_at(1), Kind::Punct('=', _))
}

/// `wave a at s spread b { h = 1; m = ..; }`
fn wave(cursor: &mut Cursor, at: usize) -> Parsed<WaveItem> {
    let start = cursor.span();
    cursor.advance();
    let strength = expression::whole(cursor)?;
    if !cursor.eat_word("at") {
        return Err(cursor.expected("`at` and the speed of the wave"));
    }
    let speed = expression::whole(cursor)?;
    let spread = match cursor.eat_word("spread") {
        true => Some(expression::whole(cursor)?),
        false => None,
    };
    let span = start.join(cursor.last_span());
    cursor.expect_open('{')?;
    let mut vector = Vec::new();
    while !cursor.is_close() {
        let at = cursor.position();
        vector.push(solved(cursor, at)?);
        // The last one may go without.
        if !cursor.is_close() {
            semicolon(cursor)?;
        }
    }
    cursor.expect_close('}')?;
    Ok(WaveItem { strength, speed, spread, vector, span, at })
}

/// `p = ..` or `flux m -> ..`
fn solved(cursor: &mut Cursor, at: usize) -> Parsed<SolvedItem> {
    let start = cursor.span();
    let of_flux = cursor.eat_word("flux");
    let gives = if of_flux { Gives::Fluxes } else { Gives::State };
    let name = name(cursor, "a field, a `let` or `flux`")?;
    let value = match of_flux {
        false => equals(cursor)?,
        true if cursor.eat_pair(['-', '>']) => expression::whole(cursor)?,
        true => return Err(cursor.expected("`->` and what flows")),
    };
    let span = start.join(cursor.last_span());
    Ok(SolvedItem { name, gives, value, span, at })
}
