//! Comparisons, and the `if` expressions that they decide.

use super::ast::{Ast, AstKind, Binary};
use super::expression::{inner, node};
use super::tokens::{Cursor, Parsed};
use crate::diag::{Code, Diagnostic};

/// The operators of two characters, which are tried before those of one.
const PAIRS: &[([char; 2], Binary)] = &[
    (['|', '|'], Binary::Or),
    (['&', '&'], Binary::And),
    (['<', '='], Binary::LessEqual),
    (['>', '='], Binary::GreaterEqual),
    (['=', '='], Binary::Equal),
    (['!', '='], Binary::NotEqual),
];

/// Reads an operator of conditions, if one is next.
pub(super) fn operator(cursor: &mut Cursor) -> Parsed<Option<Binary>> {
    if let Some((_, operator)) = PAIRS.iter().find(|(pair, _)| cursor.eat_pair(*pair)) {
        return Ok(Some(*operator));
    }
    if cursor.eat_punct('<') {
        return Ok(Some(Binary::Less));
    }
    if cursor.eat_punct('>') {
        return Ok(Some(Binary::Greater));
    }
    if let Some(single) = ['&', '|'].into_iter().find(|c| cursor.is_punct(*c)) {
        let message = format!("there is no operator `{single}`");
        let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), message)
            .help(format!("conditions are joined by `{single}{single}`"));
        return Err(cursor.report(diagnostic));
    }
    Ok(None)
}

/// `if a > b { c } else { d }`, with the word `if` next.
pub(super) fn if_expression(cursor: &mut Cursor, nesting: u32) -> Parsed<Ast> {
    let start = cursor.span();
    cursor.advance();
    let condition = inner(cursor, nesting + 1)?;
    if cursor.is_punct('=') {
        let diagnostic =
            Diagnostic::new(Code::Syntax, cursor.span(), "`=` is no comparison").help("write `==`");
        return Err(cursor.report(diagnostic));
    }
    let then = branch(cursor, nesting)?;
    if !cursor.eat_word("else") {
        let span = start.join(cursor.last_span());
        let diagnostic = Diagnostic::new(Code::IfWithoutElse, span, "`if` without `else`")
            .help("an `if` has a value in every cell: write `if a > b { c } else { d }`");
        return Err(cursor.report(diagnostic));
    }
    let otherwise = match cursor.is_word("if") {
        true => if_expression(cursor, nesting + 1)?,
        false => branch(cursor, nesting)?,
    };
    let parts = [condition, then, otherwise];
    let below = parts.iter().map(|part| part.depth).max().unwrap_or(0);
    let span = start.join(cursor.last_span());
    node(cursor, AstKind::If(Box::new(parts)), span, below)
}

/// `{ c }`
fn branch(cursor: &mut Cursor, nesting: u32) -> Parsed<Ast> {
    cursor.expect_open('{')?;
    let value = inner(cursor, nesting + 1)?;
    if cursor.is_punct(';') {
        let message = "a branch is one expression, without `;`";
        let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), message)
            .help("name parts of it with `let` above the `if`");
        return Err(cursor.report(diagnostic));
    }
    cursor.expect_close('}')?;
    Ok(value)
}
