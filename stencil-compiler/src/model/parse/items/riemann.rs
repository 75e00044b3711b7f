//! `riemann exact { let ..; rho = ..; u = ..; p = ..; }`: Riemann solvers.

use super::{equals, let_item, name, semicolon};
use crate::model::Gives;
use crate::model::parse::ast::{SolvedItem, SolverItem, System};
use crate::model::parse::expression;
use crate::model::parse::tokens::{Cursor, Parsed};

/// Reads a solver behind the word `riemann`.
pub(super) fn solver(cursor: &mut Cursor, system: &mut System) -> Parsed<()> {
    let name = name(cursor, "the name of the solver")?;
    let mut solver = SolverItem { name, lets: Vec::new(), values: Vec::new(), whole: false };
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
        match cursor.eat_word("let") {
            true => {
                let (item, outcome) = let_item(cursor, at)?;
                outcome?;
                solver.lets.push(item);
            }
            false => solver.values.push(solved(cursor, at)?),
        }
        // The last one may go without.
        if !cursor.is_close() {
            semicolon(cursor)?;
        }
    }
    cursor.expect_close('}')
}

/// `p = ..` or `flux m -> ..`
fn solved(cursor: &mut Cursor, at: usize) -> Parsed<SolvedItem> {
    let start = cursor.span();
    let gives = match cursor.eat_word("flux") {
        true => Gives::Fluxes,
        false => Gives::State,
    };
    let name = name(cursor, "a field, a `let` or `flux`")?;
    let value = match gives {
        Gives::State => equals(cursor)?,
        Gives::Fluxes if cursor.eat_pair(['-', '>']) => expression::whole(cursor)?,
        Gives::Fluxes => return Err(cursor.expected("`->` and what flows")),
    };
    let span = start.join(cursor.last_span());
    Ok(SolvedItem { name, gives, value, span, at })
}
